/* SPDX-License-Identifier: Apache-2.0 */
/* Inference over batches of links (lib/predict/link_outputs.h). Batches come in the order of the
 * rows, so a table is written batch by batch; an array begins with its length, which a stream does
 * not say, and is kept until the end. */
#include "lib/predict/link_outputs.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "formats/npy.h"
#include "kernels/rows.h"
#include "lib/base/io.h"
#include "lib/model/score_ranks.h"
#include "lib/model/task.h"
#include "lib/predict/link_table.h"
#include "lib/predict/passed_links.h"
#include "lib/predict/pass_wanted.h"
#include "lib/predict/spill.h"

/* ---- metrics ---- */

/* Positives, and then negatives, are told by their places. */
static int mark_positives(struct gnn_predict_links *q, const struct gnn_passed *f,
                          struct gnn_labels *y, struct gnn_err *e)
{
    if (q->o.ops->fit_host(q->o.ops, &q->y, f->x.n, sizeof(float), "labels", e))
        return e->code;
    y->target = q->y.data;
    gnn_examples_mark(&f->x, q->meta, f->b, y->target);
    return 0;
}

static int read_labels(struct gnn_predict_links *q, const struct gnn_passed *f,
                       struct gnn_labels *y, struct gnn_err *e)
{
    const struct gnn_examples *x = &f->x;
    struct gnn_tensor t = *x->y;
    t.data = q->y.data;
    if (gnn_labels_read(&q->labels, q->m->c.task, gnn_model_scores(&q->m->c), &t, x->n, e))
        return e->code;
    *y = q->labels;
    return 0;
}

/* The nodes that links and their negatives have in common. */
static int find_asked(struct gnn_predict_links *q, const struct gnn_passed *f, struct gnn_err *e)
{
    const unsigned end = gnn_sampling_fixed_end(&q->meta->sampling, f->b->split);
    const uint32_t *node = q->node[passed_buffer(q, end)].data;
    uint32_t *to;
    if (gnn_buf_fit(&q->asked, f->x.positives, sizeof *to, "nodes", e))
        return e->code;
    to = q->asked.data;
    for (uint64_t i = 0; i < f->x.positives; i++)
        to[i] = node[passed_ends(f, i)[end]];
    return 0;
}

static int measure_batch(struct gnn_predict_links *q, const struct gnn_passed *f, struct gnn_err *e)
{
    const uint32_t n = f->x.n;
    struct gnn_labels y = {.draws = NULL};
    if (gnn_buf_fit(&q->loss, n, sizeof(double), "losses", e) ||
        (gnn_model_tells_links(&q->m->c) ? mark_positives : read_labels)(q, f, &y, e))
        return e->code;
    if (gnn_score_by_node(&q->score[f->b->split])) {
        if (find_asked(q, f, e))
            return e->code;
        y.node = q->asked.data;
    }
    double *loss = q->loss.data;
    if (gnn_examples_loss(&f->x, q->m, &gnn_ops_cpu, q->z.data, y.target, 1, loss, NULL, e))
        return e->code;
    /* Among negatives that are not of each, it would be another loss than that of training. */
    for (uint32_t i = 0; q->m->c.loss == GNN_LOSS_SOFTMAX && !f->x.each && i < n; i++)
        loss[i] = NAN;
    return gnn_score_add(&q->score[f->b->split], q->z.data, &y, n, loss, e);
}

/* ---- an array ---- */

/* Appends n numbers, in memory or, if they are too many, in a file. `at`: of those before. */
static int keep_numbers(struct gnn_predict_links *q, const float *v, uint64_t n, uint64_t at,
                        struct gnn_err *e)
{
    if (!q->spill && (at + n) * sizeof *v > q->o.memory) {
        if (!(q->spill = gnn_spill_begin(q->o.tmpdir, e)) ||
            gnn_spill_append(q->spill, q->cells.data, at * sizeof *v, e))
            return e->code;
        gnn_buf_release(&q->cells);
    }
    if (q->spill) {
        q->spilled = (at + n) * sizeof *v;
        return gnn_spill_append(q->spill, v, n * sizeof *v, e);
    }
    if (gnn_buf_reserve(&q->cells, at + n, sizeof *v, "outputs", e))
        return e->code;
    if (n)
        memcpy((float *)q->cells.data + at, v, n * sizeof *v);
    return 0;
}

/* Embeddings of the ends of this rank's links, in q->formed. */
static int take_ends(struct gnn_predict_links *q, const struct gnn_passed *f, struct gnn_err *e)
{
    const uint64_t d = q->m->c.outputs;
    if (gnn_buf_fit(&q->formed, passed_own(f) * ENDS * d, sizeof(float), "outputs", e))
        return e->code;
    float *to = q->formed.data;
    for (uint64_t i = 0; i < passed_own(f); i++)
        for (unsigned end = 0; end < ENDS; end++, to += d) {
            if (gnn_passed_check_end(q, f, i, end, e))
                return e->code;
            memcpy(to, passed_embedding(q, f, i, end), d * sizeof *to);
        }
    return 0;
}

/* Of an array, rank 0 keeps what all have of a batch. */
static int keep_batch(struct gnn_predict_links *q, const struct gnn_passed *f, struct gnn_err *e)
{
    const bool ends = q->o.what == GNN_OUT_EMBEDDINGS;
    const uint64_t w = ends ? (uint64_t)ENDS * q->m->c.outputs : passed_width(q);
    const float *cells, *merged;
    if (ends ? take_ends(q, f, e) : gnn_passed_form(q, f, &cells, e))
        return e->code;
    if (gnn_link_merge_rows(&q->merge, f->b->at, passed_own(f), passed_all(q, f),
                            ends ? q->formed.data : cells, w, &merged, e))
        return e->code;
    return q->o.comm->rank ? 0 : keep_numbers(q, merged, passed_all(q, f) * w, q->links * w, e);
}

/* Classes are whole numbers in a file, and f32 until then. */
static int write_classes(const struct gnn_predict_links *q, struct gnn_io *io, const float *cells,
                         struct gnn_err *e)
{
    for (uint64_t i = 0; i < q->links; i++) {
        const int32_t k = (int32_t)cells[i];
        if (gnn_io_write(io, &k, sizeof k, e))
            return e->code;
    }
    return 0;
}

static int write_array(struct gnn_predict_links *q, struct gnn_io *io, struct gnn_err *e)
{
    uint8_t head[256];
    const bool embeddings = q->o.what == GNN_OUT_EMBEDDINGS, classes = q->o.what == GNN_OUT_CLASSES;
    const uint64_t d = q->m->c.outputs, w = embeddings ? ENDS : passed_width(q),
                   each = embeddings ? ENDS * d : w;
    const struct gnn_npy t = {.dtype = classes ? GNN_I32 : GNN_F32,
                              .ndim = embeddings ? 3
                                      : w > 1    ? 2
                                                 : 1,
                              .shape = {q->links, w, d}};
    if (q->spill && gnn_spill_end(q->spill, e))
        return e->code;
    const void *data = q->spill ? gnn_spill_data(q->spill) : q->cells.data;
    return gnn_io_write(io, head, gnn_npy_header(&t, head), e) ||
                   (classes ? write_classes(q, io, data, e)
                            : gnn_io_write(io, data, q->links * each * sizeof(float), e)) ||
                   gnn_spill_check(q->spill, e)
               ? e->code
               : 0;
}

/* ---- all of them ---- */

/* A run, and where its table goes. */
struct run {
    struct gnn_predict_links *q;
    struct gnn_io *io;
};

static int one_batch(void *arg, const struct gnn_batch *b, struct gnn_err *e)
{
    const struct run *r = arg;
    struct gnn_predict_links *q = r->q;
    struct gnn_passed f;
    if (gnn_passed_take(q, b, &f, e) || (q->o.scores && measure_batch(q, &f, e)))
        return e->code;
    if (q->o.writes && (q->o.text ? gnn_link_table_batch(q, &f, r->io, e) : keep_batch(q, &f, e)))
        return e->code;
    q->links += passed_all(q, &f);
    return 0;
}

static void show_progress(void *arg, uint64_t total)
{
    const struct gnn_predict_links *q = ((const struct run *)arg)->q;
    if (q->o.progress)
        q->o.progress(q->o.arg, q->links, total);
}

static int all_batches(struct gnn_predict_links *q, struct gnn_source *src, struct gnn_io *io,
                       struct gnn_err *e)
{
    const struct gnn_wanted_pass p = {q->o.wanted, one_batch, show_progress, &(struct run){q, io}};
    return gnn_predict_wanted(src, &p, e);
}

static int start_run(struct gnn_predict_links *q, struct gnn_err *e)
{
    const struct gnn_model *m = q->m;
    const struct gnn_sampling *s = &q->meta->sampling;
    const struct gnn_ops *o = q->o.ops;
    if (gnn_net_fits(m, q->meta, e))
        return e->code;
    const bool told = gnn_model_tells_links(&m->c);
    if (q->o.scores && told && !s->links.negatives)
        return gnn_fail(e, GNN_E_USAGE,
                        "metrics tell links from negatives, and the batches have none "
                        "(gnn-sample --negatives)");
    for (unsigned end = 0; q->o.s && end < ENDS; end++)
        if (passed_buffer(q, end) == end &&
            gnn_batch_names_init(&q->names[end], q->o.s, q->type[end], e))
            return e->code;
    if (gnn_net_init(&q->net, m, o, e) ||
        o->fit(o, &q->params, m->nfloats, sizeof(float), "parameters", e) ||
        !(q->score = gnn_alloc_zero(s->nsplits, sizeof *q->score, "scores", e)))
        return e->code;
    o->put(o, q->params.data, m->slab, m->nfloats * sizeof(float));
    for (uint32_t i = 0; i < s->nsplits; i++) {
        if (gnn_score_init(&q->score[i], m->c.task, gnn_model_scores(&m->c),
                           gnn_metric_ranks(q->o.measure.metric), e) ||
            (q->o.scores && told && gnn_score_links(&q->score[i], q->o.measure, e)))
            return e->code;
        q->score[i].class_weight = gnn_examples_weight(m);
    }
    return 0;
}

static int sum_ranks(struct gnn_predict_links *q, struct gnn_err *e)
{
    for (uint32_t i = 0; q->o.scores && i < q->meta->sampling.nsplits; i++)
        if (gnn_score_sum(&q->score[i], q->o.comm, e))
            return e->code;
    return 0;
}

int gnn_predict_links_run(struct gnn_predict_links *q, const struct gnn_model *m,
                          struct gnn_source *src, const struct gnn_predict_links_opts *o,
                          struct gnn_err *e)
{
    struct gnn_io io;
    *q = (struct gnn_predict_links){
        .m = m,
        .meta = src->meta,
        .o = *o,
        .type = {m->c.heads, m->c.target},
        .form = {.m = m, .what = o->what, .text = o->text, .width = gnn_model_scores(&m->c)}};
    gnn_io_init(&io, o->fd, o->file);
    if (gnn_link_merge_init(&q->merge, o->comm, e) || start_run(q, e) ||
        (o->fd >= 0 && o->text && gnn_link_table_head(q, &io, e)) || all_batches(q, src, &io, e) ||
        sum_ranks(q, e) || (o->s && gnn_store_verified(o->s, e)) ||
        (o->fd >= 0 && !o->text && write_array(q, &io, e))) {
        if (o->fd >= 0)
            close(o->fd);
        gnn_predict_links_release(q);
        return e->code;
    }
    return o->fd >= 0 ? gnn_io_close(&io, true, e) : 0;
}

void gnn_predict_links_release(struct gnn_predict_links *q)
{
    const struct gnn_ops *o = q->o.ops;
    if (!q->m)
        return;
    for (uint32_t i = 0; q->score && i < q->meta->sampling.nsplits; i++)
        gnn_score_release(&q->score[i]);
    gnn_free(q->score);
    gnn_net_release(&q->net);
    o->release(o, &q->params);
    struct gnn_buf *const fetched[] = {&q->z,          &q->node[HEAD], &q->node[TAIL], &q->time,
                                       &q->rows[HEAD], &q->rows[TAIL], &q->y};
    for (size_t i = 0; i < sizeof fetched / sizeof *fetched; i++)
        o->release_host(o, fetched[i]);
    struct gnn_buf *const kept[] = {&q->loss,  &q->asked, &q->text,
                                    &q->lines, &q->cells, &q->formed};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        gnn_buf_release(kept[i]);
    for (unsigned end = 0; end < ENDS; end++)
        gnn_batch_names_release(&q->names[end]);
    gnn_labels_release(&q->labels);
    gnn_link_merge_release(&q->merge);
    gnn_spill_free(q->spill);
    *q = (struct gnn_predict_links){0};
}
