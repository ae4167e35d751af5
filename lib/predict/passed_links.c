/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/predict/passed_links.h"

#include <inttypes.h>

#include "kernels/rows.h"
#include "lib/model/task.h"
#include "lib/predict/pass_wanted.h"

static bool has_embeddings(const struct gnn_predict_links *q)
{
    return q->o.writes && q->o.what == GNN_OUT_EMBEDDINGS;
}

/* What is written of the nodes at the ends. */
static int fetch_nodes(struct gnn_predict_links *q, const struct gnn_batch *b, unsigned end,
                       struct gnn_err *e)
{
    const struct gnn_model *m = q->m;
    const struct gnn_batch_type *t = &b->type[q->type[end]];
    const uint64_t n = t->count[0];
    const struct gnn_net_act *last =
        &q->net.act[(size_t)(m->nstages - 1) * m->c.nntypes + q->type[end]];
    if (passed_buffer(q, end) != end)
        return 0;
    return gnn_predict_fetch(q->o.ops, &q->node[end], !q->o.s && t->orig ? t->orig : t->node,
                             n * sizeof *t->node, e) ||
                   (end == HEAD && t->time &&
                    gnn_predict_fetch(q->o.ops, &q->time, t->time, n * sizeof *t->time, e)) ||
                   (has_embeddings(q) && gnn_predict_fetch(q->o.ops, &q->rows[end], last->out.data,
                                                           n * m->c.outputs * sizeof(float), e))
               ? e->code
               : 0;
}

static int check_finite(const struct gnn_predict_links *q, const struct gnn_passed *f, uint64_t i,
                        const float *v, uint64_t n, const char *what, struct gnn_err *e)
{
    const uint64_t k = gnn_first_not_finite(v, n);
    if (k == n)
        return 0;
    return gnn_fail(e, GNN_E_RUN,
                    "the %s of %slink %" PRIu64 " of set %s is not finite (%g): do the features "
                    "contain NaN, or are the weights too large?",
                    what, i < passed_own(f) ? "" : "a negative of ", passed_input(q, f, i),
                    q->meta->sampling.split[f->b->split], (double)v[k]);
}

static int check_scores(const struct gnn_predict_links *q, const struct gnn_passed *f,
                        struct gnn_err *e)
{
    const float *z = q->z.data;
    const uint64_t w = gnn_model_scores(&q->m->c), n = f->x.n * w, k = gnn_first_not_finite(z, n);
    return k < n ? check_finite(q, f, k / w, z + k, 1, "score", e) : 0;
}

/* Of links that have labels. */
static int fetch_labels(struct gnn_predict_links *q, const struct gnn_passed *f, struct gnn_err *e)
{
    if (gnn_model_tells_links(&q->m->c))
        return 0;
    return gnn_examples_labelled(&f->x, q->m, e)
               ? e->code
               : gnn_predict_fetch(q->o.ops, &q->y, f->x.y->data,
                                   f->x.n * gnn_dtype_bytes(f->x.y->dtype), e);
}

/* Passes a batch through the model, and waits for what comes of it. */
int gnn_passed_take(struct gnn_predict_links *q, const struct gnn_batch *b, struct gnn_passed *f,
                    struct gnn_err *e)
{
    const struct gnn_net_mode mode = {false, 0, 0, 0};
    const struct gnn_ops *o = q->o.ops;
    float *z;
    f->b = b;
    if (o->enter(o, b, e) || gnn_net_forward(&q->net, q->params.data, b, q->meta, &mode, &z, e))
        return e->code;
    gnn_batch_examples(q->m, q->meta, b, &f->x);
    if (gnn_predict_fetch(q->o.ops, &q->z, z, f->x.n * gnn_model_scores(&q->m->c) * sizeof *z, e) ||
        (q->o.scores && fetch_labels(q, f, e)) || fetch_nodes(q, b, HEAD, e) ||
        fetch_nodes(q, b, TAIL, e))
        return e->code;
    o->mark(o, 0);
    o->leave(o, b);
    return o->wait(o, 0, e) || check_scores(q, f, e) ? e->code : 0;
}

int gnn_passed_form(struct gnn_predict_links *q, const struct gnn_passed *f, const float **cells,
                    struct gnn_err *e)
{
    *cells = q->z.data;
    if (q->o.what == GNN_OUT_SCORES)
        return 0;
    if (gnn_buf_fit(&q->formed, f->x.n * passed_width(q), sizeof **cells, "outputs", e))
        return e->code;
    gnn_output_form(&q->form, q->z.data, f->x.n, q->formed.data);
    *cells = q->formed.data;
    return 0;
}

int gnn_passed_check_end(const struct gnn_predict_links *q, const struct gnn_passed *f, uint64_t i,
                         unsigned end, struct gnn_err *e)
{
    return check_finite(q, f, i, passed_embedding(q, f, i, end), q->m->c.outputs,
                        end ? "tail's embedding" : "head's embedding", e);
}
