/* SPDX-License-Identifier: Apache-2.0 */
/* Inference over batches. Each batch makes one row for each of its seeds, which are kept as they
 * come; which row of the output each is, is found at the end. On a device, the rows of a batch are
 * taken while the next one is being computed. */
#include "lib/predict/sampled.h"

#include <inttypes.h>
#include <string.h>

#include "kernels/rows.h"
#include "lib/model/score_ranks.h"
#include "lib/predict/predict_impl.h"
#include "lib/predict/spill.h"
#include "lib/predict/pass_wanted.h"
#include "lib/store/ids.h"

/* ---- a batch ---- */

/* n bytes of what the operations have, on their way to the host. */
static int fetch_labels(struct gnn_predict_batches *q, struct gnn_predict_half *h,
                        struct gnn_err *e)
{
    struct gnn_tensor *y = &h->labels;
    if (gnn_examples_labelled(&h->x, q->m, e))
        return e->code;
    *y = *h->x.y;
    y->name = h->x.label;
    y->shape[0] = h->x.n;
    const uint64_t bytes = gnn_dtype_bytes(y->dtype) * (y->ndim == 2 ? y->shape[1] : 1);
    if (gnn_predict_fetch(q->o.ops, &h->y, y->data, bytes * h->x.n, e))
        return e->code;
    y->data = h->y.data;
    return 0;
}

/* What is to be known of the seeds themselves. */
static int fetch_seeds(struct gnn_predict_batches *q, const struct gnn_batch *b,
                       struct gnn_predict_half *h, struct gnn_err *e)
{
    const struct gnn_batch_type *t = &b->type[q->m->c.target];
    const uint32_t *ids = !q->o.s && t->orig ? t->orig : t->node;
    if (gnn_predict_fetch(q->o.ops, &h->node, ids, sizeof *ids * h->x.n, e))
        return e->code;
    return t->time ? gnn_predict_fetch(q->o.ops, &h->time, t->time, sizeof *t->time * h->x.n, e)
                   : 0;
}

static int check_finite(const struct gnn_predict_half *h, const float *rows, uint64_t w,
                        const char *what, struct gnn_err *e)
{
    const uint64_t n = h->x.n * w, k = gnn_first_not_finite(rows, n);
    if (k == n)
        return 0;
    return gnn_fail(e, GNN_E_RUN,
                    "the %s of node %u is not finite (%g at element %" PRIu64
                    "): do the features contain NaN, or are the weights too large?",
                    what, ((const uint32_t *)h->node.data)[k / w], (double)rows[k], k % w);
}

/* Appends what is written of n rows to that of all, in memory or, if it is too much, in a file. */
static int keep_cells(struct gnn_predict_batches *q, float *rows, uint64_t n, struct gnn_err *e)
{
    const uint64_t c = gnn_output_columns(&q->out), row = c * sizeof(float);
    if (!q->spill && (q->seeds + n) * row > q->o.memory) {
        if (!(q->spill = gnn_spill_begin(q->o.tmpdir, e)) ||
            gnn_spill_append(q->spill, q->cells.data, q->seeds * row, e))
            return e->code;
        gnn_buf_release(&q->cells);
    }
    const uint64_t at = q->spill ? 0 : q->seeds;
    if (gnn_buf_reserve(&q->cells, (at + n) * c, sizeof(float), "outputs", e))
        return e->code;
    float *cells = (float *)q->cells.data + at * c;
    gnn_output_form(&q->out, rows, n, cells);
    if (!q->spill)
        return 0;
    q->spilled = (q->seeds + n) * row;
    return gnn_spill_append(q->spill, cells, n * row, e);
}

/* Appends the batch's rows to those that are kept. */
static int keep_rows(struct gnn_predict_batches *q, const struct gnn_predict_half *h, float *rows,
                     struct gnn_err *e)
{
    const uint64_t at = q->seeds, n = h->x.n;
    const bool timed = q->out.time_type != 0;
    if (at + n >= UINT32_MAX)
        return gnn_fail(e, GNN_E_RUN, "more than 2^32 seeds");
    if (gnn_buf_reserve(&q->nodes, at + n, sizeof(uint32_t), "seeds", e) ||
        gnn_buf_reserve(&q->split, at + n, sizeof(uint16_t), "seeds", e) ||
        (timed && gnn_buf_reserve(&q->times, at + n, sizeof(int64_t), "seeds", e)) ||
        keep_cells(q, rows, n, e))
        return e->code;
    for (uint64_t i = 0; i < n; i++)
        ((uint16_t *)q->split.data)[at + i] = (uint16_t)(h->split + 1);
    if (n)
        memcpy((uint32_t *)q->nodes.data + at, h->node.data, n * sizeof(uint32_t));
    if (n && timed)
        memcpy((int64_t *)q->times.data + at, h->time.data, n * sizeof(int64_t));
    return 0;
}

/* On the host, when the operations have made half k, if there is something in it: counts and
 * keeps. */
static int take_rows(struct gnn_predict_batches *q, struct predict_scorer *scorer, unsigned k,
                     struct gnn_err *e)
{
    const bool embeddings = q->o.keep && q->o.what == GNN_OUT_EMBEDDINGS;
    struct gnn_predict_half *h = &q->half[k];
    float *z = h->z.data;
    if (!h->open)
        return 0;
    h->open = false;
    if (q->o.ops->wait(q->o.ops, k, e) || check_finite(h, z, q->m->c.outputs, "output", e) ||
        (embeddings && check_finite(h, h->e.data, q->out.width, "embedding", e)) ||
        (q->o.scores &&
         gnn_predict_score_rows(scorer, &h->labels, z, h->x.n, &q->score[h->split], e)))
        return e->code;
    if (q->o.keep && keep_rows(q, h, embeddings ? h->e.data : z, e))
        return e->code;
    q->seeds += h->x.n;
    return 0;
}

/* Passes a batch through the model, and has what comes of it fetched to half k. */
static int pass_batch(struct gnn_predict_batches *q, const struct gnn_batch *b, unsigned k,
                      struct gnn_err *e)
{
    const struct gnn_net_mode mode = {false, 0, 0, 0};
    const struct gnn_ops *o = q->o.ops;
    const struct gnn_model *m = q->m;
    const uint32_t inner = predict_embedding_stage(m) * m->c.nntypes + m->c.target;
    struct gnn_predict_half *h = &q->half[k];
    float *z;
    if (o->enter(o, b, e) || gnn_net_forward(&q->net, q->params.data, b, q->meta, &mode, &z, e))
        return e->code;
    gnn_batch_examples(m, q->meta, b, &h->x);
    h->split = b->split;
    if (gnn_predict_fetch(q->o.ops, &h->z, z, sizeof *z * h->x.n * m->c.outputs, e) ||
        (q->o.what == GNN_OUT_EMBEDDINGS && q->o.keep &&
         gnn_predict_fetch(q->o.ops, &h->e, q->net.made[inner], sizeof *z * h->x.n * q->out.width,
                           e)) ||
        fetch_seeds(q, b, h, e) || (q->o.scores && fetch_labels(q, h, e)))
        return e->code;
    o->mark(o, k);
    o->leave(o, b);
    h->open = true;
    return 0;
}

/* A run, and what compares its outputs with labels. */
struct run {
    struct gnn_predict_batches *q;
    struct predict_scorer *scorer;
};

static int one_batch(void *arg, const struct gnn_batch *b, struct gnn_err *e)
{
    const struct run *r = arg;
    struct gnn_predict_batches *q = r->q;
    if (pass_batch(q, b, q->turn, e))
        return e->code;
    if (q->o.ops->async) /* the one before it */
        q->turn = (q->turn + 1) % GNN_PREDICT_HALVES;
    return take_rows(q, r->scorer, q->turn, e);
}

/* ---- all of them ---- */

static void show_progress(void *arg, uint64_t total)
{
    const struct gnn_predict_batches *q = ((const struct run *)arg)->q;
    if (q->o.progress)
        q->o.progress(q->o.arg, q->seeds, q->o.comm->size > 1 ? 0 : total);
}

static int all_batches(struct gnn_predict_batches *q, struct gnn_source *src,
                       struct predict_scorer *scorer, struct gnn_err *e)
{
    const struct gnn_wanted_pass p = {q->o.wanted, one_batch, show_progress,
                                      &(struct run){q, scorer}};
    if (gnn_predict_wanted(src, &p, e))
        return e->code;
    for (unsigned i = 0; i < GNN_PREDICT_HALVES; i++)
        if (take_rows(q, scorer, (q->turn + i) % GNN_PREDICT_HALVES, e))
            return e->code;
    return 0;
}

/* The members of split i in the order of the output, as positions in the store; UINT32_MAX for
 * those of other ranks. *n: of all ranks. */
static int list_seeds(const struct gnn_predict_batches *q, uint32_t i, uint32_t **ids, uint64_t *n,
                      struct gnn_err *e)
{
    const struct gnn_sampling *m = &q->meta->sampling;
    const int set = gnn_schema_find_set(&q->meta->schema, m->split[i]);
    *n = m->split_seeds[i];
    /* Of all nodes, the split has the name of no set. */
    return set < 0 ? gnn_store_nodes(q->o.s, m->seed_ntype, ids, e)
                   : gnn_store_split(q->o.s, (uint32_t)set, ids, e);
}

/* Which row of the table each row of the output is: seeds come in the order of batches, and each
 * rank has its own. */
static int order_split(struct gnn_predict_batches *q, uint32_t i, uint64_t at, uint32_t *row_of,
                       struct gnn_err *e)
{
    const uint32_t *node = q->nodes.data;
    const uint16_t *split = q->split.data;
    uint32_t *ids = NULL;
    uint64_t n;
    memset(row_of, 0xff, q->meta->schema.ntype[q->m->c.target].count * sizeof *row_of);
    for (uint64_t k = 0; k < q->seeds; k++)
        if (split[k] == i + 1)
            row_of[node[k]] = (uint32_t)k;
    if (list_seeds(q, i, &ids, &n, e))
        return e->code;
    for (uint64_t k = 0; k < n; k++)
        q->out.row[at + k] = ids[k] == UINT32_MAX ? UINT32_MAX : row_of[ids[k]];
    gnn_free(ids);
    return 0;
}

static int order_rows(struct gnn_predict_batches *q, struct gnn_err *e)
{
    const struct gnn_sampling *m = &q->meta->sampling;
    struct gnn_output *out = &q->out;
    if (q->spill && gnn_spill_end(q->spill, e))
        return e->code;
    out->data = q->spill ? gnn_spill_data(q->spill) : q->cells.data;
    out->node = q->nodes.data;
    out->time = q->times.data;
    out->set = q->split.data;
    out->n = q->seeds;
    if (!q->o.s)
        return 0;
    out->n = 0;
    for (uint32_t i = 0; i < m->nsplits; i++)
        out->n += m->split_seeds[i];
    uint32_t *row_of = gnn_alloc(q->meta->schema.ntype[q->m->c.target].count, sizeof *row_of,
                                 "the order of seeds", e);
    out->row = gnn_alloc(out->n, sizeof *out->row, "the order of seeds", e);
    uint64_t at = 0;
    for (uint32_t i = 0; row_of && out->row && !e->code && i < m->nsplits; i++) {
        (void)!order_split(q, i, at, row_of, e);
        at += m->split_seeds[i];
    }
    /* All nodes are in no set of the header's, but some are in one of the store's. */
    if (gnn_schema_find_set(&q->meta->schema, m->split[0]) < 0)
        out->set = NULL;
    gnn_free(row_of);
    return e->code;
}

static int sum_ranks(struct gnn_predict_batches *q, struct gnn_err *e)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && q->o.scores && i < q->meta->sampling.nsplits; i++)
        rc = gnn_score_sum(&q->score[i], q->o.comm, e);
    uint64_t sum[2] = {q->seeds, q->spilled};
    if (rc || gnn_comm_all_reduce(q->o.comm, sum, 2, GNN_REDUCE_U64, e))
        return e->code;
    q->seeds = sum[0];
    q->spilled = sum[1];
    return 0;
}

static int start_run(struct gnn_predict_batches *q, struct gnn_err *e)
{
    const struct gnn_model *m = q->m;
    const struct gnn_sampling *s = &q->meta->sampling;
    const struct gnn_ops *o = q->o.ops;
    const bool embeddings = q->o.what == GNN_OUT_EMBEDDINGS;
    q->out = (struct gnn_output){
        .m = m,
        .schema = &q->meta->schema,
        .what = q->o.what,
        .type = m->c.target,
        .text = q->o.text,
        .width =
            embeddings ? gnn_model_width(m, predict_embedding_stage(m), m->c.target) : m->c.outputs,
        .formed = true,
        .s = q->o.s,
        .time_type = gnn_sampling_is_temporal(s) ? gnn_sampling_time_dtype(s) : 0,
        .set_name = (const char *const *)s->split,
        .comm = q->o.comm};
    if (gnn_net_fits(m, q->meta, e) || gnn_net_init(&q->net, m, o, e) ||
        o->fit(o, &q->params, m->nfloats, sizeof(float), "parameters", e))
        return e->code;
    o->put(o, q->params.data, m->slab, m->nfloats * sizeof(float));
    q->score = gnn_alloc_zero(s->nsplits, sizeof *q->score, "scores", e);
    for (uint32_t i = 0; q->score && !e->code && i < s->nsplits; i++)
        (void)!gnn_score_init(&q->score[i], m->c.task, m->c.outputs, q->o.ranks, e);
    return e->code;
}

int gnn_predict_batches_run(struct gnn_predict_batches *q, const struct gnn_model *m,
                            struct gnn_source *src, const struct gnn_predict_batches_opts *o,
                            struct gnn_err *e)
{
    struct predict_scorer scorer = {0};
    *q = (struct gnn_predict_batches){.m = m, .meta = src->meta, .o = *o};
    if (start_run(q, e) || gnn_predict_scorer_init(&scorer, m, &src->meta->schema, o->name, e) ||
        all_batches(q, src, &scorer, e) || (q->o.keep && order_rows(q, e)) || sum_ranks(q, e))
        gnn_predict_batches_release(q);
    gnn_predict_scorer_release(&scorer);
    return e->code;
}

int gnn_predict_batches_check(const struct gnn_predict_batches *q, struct gnn_err *e)
{
    return gnn_spill_check(q->spill, e);
}

void gnn_predict_batches_release(struct gnn_predict_batches *q)
{
    const struct gnn_ops *o = q->o.ops;
    if (!q->m)
        return;
    for (uint32_t i = 0; q->score && i < q->meta->sampling.nsplits; i++)
        gnn_score_release(&q->score[i]);
    gnn_free(q->score);
    gnn_output_release(&q->out);
    gnn_net_release(&q->net);
    o->release(o, &q->params);
    for (unsigned k = 0; k < GNN_PREDICT_HALVES; k++) {
        struct gnn_predict_half *h = &q->half[k];
        struct gnn_buf *const fetched[] = {&h->z, &h->e, &h->y, &h->node, &h->time};
        for (size_t i = 0; i < sizeof fetched / sizeof *fetched; i++)
            o->release_host(o, fetched[i]);
    }
    struct gnn_buf *const kept[] = {&q->cells, &q->nodes, &q->times, &q->split};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        gnn_buf_release(kept[i]);
    gnn_spill_free(q->spill);
    *q = (struct gnn_predict_batches){0};
}
