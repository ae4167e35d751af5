/* SPDX-License-Identifier: Apache-2.0 */
/* Inference over batches of links (lib/predict/link_outputs.h). Batches come in the order of the
 * rows, so a table is written batch by batch; an array begins with its length, which a stream does
 * not say, and is kept until the end. */
#include "lib/predict/link_outputs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/npy.h"
#include "kernels/rows.h"
#include "lib/base/io.h"
#include "lib/base/path.h"
#include "lib/model/score_ranks.h"
#include "lib/model/task.h"
#include "lib/predict/spill.h"
#include "lib/predict/pass_wanted.h"

enum { HEAD, TAIL, ENDS };

/* A batch whose numbers have been fetched. */
struct fetched {
    const struct gnn_batch *b;
    struct gnn_examples x;
};

static bool has_embeddings(const struct gnn_predict_links *q)
{
    return q->o.writes && q->o.what == GNN_OUT_EMBEDDINGS;
}

/* The buffer of an end's node type: that of heads, if both are of one. */
static unsigned of_type(const struct gnn_predict_links *q, unsigned end)
{
    return q->type[end] == q->type[HEAD] ? HEAD : TAIL;
}

/* How many links it has, without negatives. */
static uint64_t links_of(const struct fetched *f)
{
    return f->b->rows[GNN_UNIT_PAIRS];
}

/* Likewise of all ranks. */
static uint64_t all_links(const struct gnn_predict_links *q, const struct fetched *f)
{
    return q->o.comm->size > 1 ? f->b->seeds : links_of(f);
}

/* Local numbers of the ends of example i: the positives come first. */
static const uint32_t *ends_of(const struct fetched *f, uint64_t i)
{
    return i < links_of(f) ? f->b->pair + 2 * i : f->b->negative + 2 * (i - links_of(f));
}

/* The position in its set of the link, or of the negative's positive. */
static uint64_t input_of(const struct gnn_predict_links *q, const struct fetched *f, uint64_t i)
{
    const struct gnn_drawn drawn = gnn_sampling_drawn(&q->meta->sampling, f->b->split);
    const uint64_t p = links_of(f);
    return f->b->input[i < p ? i : gnn_drawn_positive(drawn, i - p, p)];
}

/* ---- a batch ---- */

/* What is written of the nodes at the ends. */
static int fetch_nodes(struct gnn_predict_links *q, const struct gnn_batch *b, unsigned end,
                       struct gnn_err *e)
{
    const struct gnn_model *m = q->m;
    const struct gnn_batch_type *t = &b->type[q->type[end]];
    const uint64_t n = t->count[0];
    const struct gnn_net_act *last =
        &q->net.act[(size_t)(m->nstages - 1) * m->c.nntypes + q->type[end]];
    if (of_type(q, end) != end)
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

static int check_finite(const struct gnn_predict_links *q, const struct fetched *f, uint64_t i,
                        const float *v, uint64_t n, const char *what, struct gnn_err *e)
{
    const uint64_t k = gnn_first_not_finite(v, n);
    if (k == n)
        return 0;
    return gnn_fail(e, GNN_E_RUN,
                    "the %s of %slink %" PRIu64 " of set %s is not finite (%g): do the features "
                    "contain NaN, or are the weights too large?",
                    what, i < links_of(f) ? "" : "a negative of ", input_of(q, f, i),
                    q->meta->sampling.split[f->b->split], (double)v[k]);
}

static int check_scores(const struct gnn_predict_links *q, const struct fetched *f,
                        struct gnn_err *e)
{
    const float *z = q->z.data;
    const uint64_t w = gnn_model_scores(&q->m->c), n = f->x.n * w, k = gnn_first_not_finite(z, n);
    return k < n ? check_finite(q, f, k / w, z + k, 1, "score", e) : 0;
}

/* Of links that have labels. */
static int fetch_labels(struct gnn_predict_links *q, const struct fetched *f, struct gnn_err *e)
{
    if (gnn_model_tells_links(&q->m->c))
        return 0;
    return gnn_examples_labelled(&f->x, q->m, e)
               ? e->code
               : gnn_predict_fetch(q->o.ops, &q->y, f->x.y->data,
                                   f->x.n * gnn_dtype_bytes(f->x.y->dtype), e);
}

/* Passes a batch through the model, and waits for what comes of it. */
static int pass_batch(struct gnn_predict_links *q, const struct gnn_batch *b, struct fetched *f,
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

/* Positives, and then negatives, are told by their places. */
static int mark_positives(struct gnn_predict_links *q, const struct gnn_examples *x,
                          struct gnn_labels *y, struct gnn_err *e)
{
    if (q->o.ops->fit_host(q->o.ops, &q->y, x->n, sizeof(float), "labels", e))
        return e->code;
    y->target = q->y.data;
    gnn_fill(y->target, x->positives, 1);
    gnn_fill(y->target + x->positives, x->n - x->positives, 0);
    return 0;
}

static int read_labels(struct gnn_predict_links *q, const struct gnn_examples *x,
                       struct gnn_labels *y, struct gnn_err *e)
{
    struct gnn_tensor t = *x->y;
    t.data = q->y.data;
    if (gnn_labels_read(&q->labels, q->m->c.task, gnn_model_scores(&q->m->c), &t, x->n, e))
        return e->code;
    *y = q->labels;
    return 0;
}

/* The nodes that links and their negatives have in common. */
static int find_asked(struct gnn_predict_links *q, const struct fetched *f, struct gnn_err *e)
{
    const unsigned end = gnn_links_fixed_end(&q->meta->sampling.links);
    const uint32_t *node = q->node[of_type(q, end)].data;
    uint32_t *to;
    if (gnn_buf_fit(&q->asked, f->x.positives, sizeof *to, "nodes", e))
        return e->code;
    to = q->asked.data;
    for (uint64_t i = 0; i < f->x.positives; i++)
        to[i] = node[ends_of(f, i)[end]];
    return 0;
}

static int measure_batch(struct gnn_predict_links *q, const struct fetched *f, struct gnn_err *e)
{
    const uint32_t n = f->x.n;
    struct gnn_labels y = {.draws = NULL};
    if (gnn_buf_fit(&q->loss, n, sizeof(double), "losses", e) ||
        (gnn_model_tells_links(&q->m->c) ? mark_positives : read_labels)(q, &f->x, &y, e))
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

/* What is written of each link, by columns; scores are as they are. */
static uint64_t count_cells(const struct gnn_predict_links *q)
{
    return q->o.what == GNN_OUT_SCORES ? 1 : gnn_output_columns(&q->form);
}

static int form_cells(struct gnn_predict_links *q, const struct fetched *f, const float **cells,
                      struct gnn_err *e)
{
    *cells = q->z.data;
    if (q->o.what == GNN_OUT_SCORES)
        return 0;
    if (gnn_buf_fit(&q->formed, f->x.n * count_cells(q), sizeof **cells, "outputs", e))
        return e->code;
    gnn_output_form(&q->form, q->z.data, f->x.n, q->formed.data);
    *cells = q->formed.data;
    return 0;
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
    if (q->spill)
        return gnn_spill_append(q->spill, v, n * sizeof *v, e);
    if (gnn_buf_reserve(&q->cells, at + n, sizeof *v, "outputs", e))
        return e->code;
    if (n)
        memcpy((float *)q->cells.data + at, v, n * sizeof *v);
    return 0;
}

static const float *embedding_of(const struct gnn_predict_links *q, const struct fetched *f,
                                 uint64_t i, unsigned end)
{
    return (const float *)q->rows[of_type(q, end)].data +
           (uint64_t)ends_of(f, i)[end] * q->m->c.outputs;
}

static int check_embedding(const struct gnn_predict_links *q, const struct fetched *f, uint64_t i,
                           unsigned end, struct gnn_err *e)
{
    return check_finite(q, f, i, embedding_of(q, f, i, end), q->m->c.outputs,
                        end ? "tail's embedding" : "head's embedding", e);
}

/* Embeddings of the ends of this rank's links, in q->formed. */
static int take_ends(struct gnn_predict_links *q, const struct fetched *f, struct gnn_err *e)
{
    const uint64_t d = q->m->c.outputs;
    if (gnn_buf_fit(&q->formed, links_of(f) * ENDS * d, sizeof(float), "outputs", e))
        return e->code;
    float *to = q->formed.data;
    for (uint64_t i = 0; i < links_of(f); i++)
        for (unsigned end = 0; end < ENDS; end++, to += d) {
            if (check_embedding(q, f, i, end, e))
                return e->code;
            memcpy(to, embedding_of(q, f, i, end), d * sizeof *to);
        }
    return 0;
}

/* Of an array, rank 0 keeps what all have of a batch. */
static int keep_batch(struct gnn_predict_links *q, const struct fetched *f, struct gnn_err *e)
{
    const bool ends = q->o.what == GNN_OUT_EMBEDDINGS;
    const uint64_t w = ends ? (uint64_t)ENDS * q->m->c.outputs : count_cells(q);
    const float *cells, *merged;
    if (ends ? take_ends(q, f, e) : form_cells(q, f, &cells, e))
        return e->code;
    if (gnn_link_merge_rows(&q->merge, f->b->at, links_of(f), all_links(q, f),
                            ends ? q->formed.data : cells, w, &merged, e))
        return e->code;
    return q->o.comm->rank ? 0 : keep_numbers(q, merged, all_links(q, f) * w, q->links * w, e);
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
    const uint64_t d = q->m->c.outputs, w = embeddings ? ENDS : count_cells(q),
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

/* ---- a table ---- */

static bool has_negatives(const struct gnn_predict_links *q)
{
    return q->o.what == GNN_OUT_SCORES && q->meta->sampling.links.negatives; /* of no other */
}

static enum gnn_dtype time_type(const struct gnn_predict_links *q)
{
    const struct gnn_sampling *s = &q->meta->sampling;
    return gnn_sampling_is_temporal(s) ? gnn_sampling_time_dtype(s) : 0;
}

/* Names of the columns of outputs. */
static int put_names(const struct gnn_predict_links *q, struct gnn_csv *c, struct gnn_err *e)
{
    const bool embeddings = q->o.what == GNN_OUT_EMBEDDINGS;
    const uint64_t n = embeddings ? q->m->c.outputs : count_cells(q);
    /* Of two classes with one output, it is the second's. */
    const uint64_t from = q->o.what == GNN_OUT_PROBS && n == 1;
    if (q->o.what == GNN_OUT_SCORES || q->o.what == GNN_OUT_CLASSES)
        return gnn_csv_text(
            c, q->o.what == GNN_OUT_SCORES ? ",score,probability" : ",class,probability", e);
    for (uint64_t k = from; k < from + n; k++)
        if (gnn_csv_text(c,
                         embeddings                    ? ",embedding_"
                         : q->o.what == GNN_OUT_VALUES ? ",value_"
                                                       : ",probability_",
                         e) ||
            gnn_csv_count(c, k, e))
            return e->code;
    return 0;
}

/* The names of columns. */
static int write_head(struct gnn_predict_links *q, struct gnn_io *io, struct gnn_err *e)
{
    const bool ends = q->o.what == GNN_OUT_EMBEDDINGS;
    struct gnn_csv c = {&q->text, 0};
    int rc = !q->o.listed || ends ? gnn_csv_text(&c, "input,", e) : 0;
    rc = rc ? rc : gnn_csv_text(&c, ends ? "end,id" : "head,tail", e);
    rc = !rc && time_type(q) ? gnn_csv_text(&c, ",time", e) : rc;
    rc = rc ? rc : put_names(q, &c, e);
    rc = !rc && has_negatives(q) ? gnn_csv_text(&c, ",negative", e) : rc;
    rc = !rc && !q->o.listed ? gnn_csv_text(&c, ",set", e) : rc;
    rc = rc ? rc : gnn_csv_text(&c, "\n", e);
    return rc ? rc : gnn_io_write(io, q->text.data, c.n, e);
}

/* What the data set calls an end; of a stream, its id. */
static int put_id(const struct gnn_predict_links *q, const struct fetched *f, uint64_t i,
                  unsigned end, struct gnn_csv *c, struct gnn_err *e)
{
    char buf[GNN_NODE_NAME_CAPACITY];
    const uint32_t local = ends_of(f, i)[end];
    size_t n;
    if (!q->o.s)
        return gnn_csv_count(c, ((const uint32_t *)q->node[of_type(q, end)].data)[local], e);
    const char *name = gnn_batch_names_of(&q->names[of_type(q, end)], local, buf, &n);
    return gnn_csv_cell(c, name, n, e);
}

static int put_time(const struct gnn_predict_links *q, const struct fetched *f, uint64_t i,
                    struct gnn_csv *c, struct gnn_err *e)
{
    if (!time_type(q))
        return 0;
    return gnn_csv_text(c, ",", e) ||
                   gnn_csv_time(c, ((const int64_t *)q->time.data)[ends_of(f, i)[HEAD]],
                                time_type(q), e)
               ? e->code
               : 0;
}

static int put_input(const struct gnn_predict_links *q, const struct fetched *f, uint64_t i,
                     struct gnn_csv *c, struct gnn_err *e)
{
    return gnn_csv_count(c, input_of(q, f, i), e) || gnn_csv_text(c, ",", e) ? e->code : 0;
}

/* The end of a line. */
static int put_set(const struct gnn_predict_links *q, const struct fetched *f, struct gnn_csv *c,
                   struct gnn_err *e)
{
    const char *name = gnn_base_name(q->meta->sampling.split[f->b->split]); /* of "SPLIT/SET" */
    int rc = q->o.listed ? 0 : gnn_csv_text(c, ",", e);
    rc = rc || q->o.listed ? rc : gnn_csv_cell(c, name, strlen(name), e);
    return rc ? rc : gnn_csv_text(c, "\n", e);
}

/* The outputs of a link: a score has its probability. */
static int put_cells(const struct gnn_predict_links *q, const float *cells, struct gnn_csv *c,
                     struct gnn_err *e)
{
    float p = cells[0];
    for (uint64_t k = 0; k < count_cells(q); k++)
        if (gnn_csv_text(c, ",", e) || gnn_csv_number(c, cells[k], e))
            return e->code;
    if (q->o.what != GNN_OUT_SCORES)
        return 0;
    gnn_tasks[q->m->c.task].probs(&p, 1, 1);
    return gnn_csv_text(c, ",", e) || gnn_csv_number(c, p, e) ? e->code : 0;
}

static int put_link(const struct gnn_predict_links *q, const struct fetched *f, uint64_t i,
                    const float *cells, struct gnn_csv *c, struct gnn_err *e)
{
    if ((!q->o.listed && put_input(q, f, i, c, e)) || put_id(q, f, i, HEAD, c, e) ||
        gnn_csv_text(c, ",", e) || put_id(q, f, i, TAIL, c, e) || put_time(q, f, i, c, e) ||
        put_cells(q, cells, c, e) ||
        (has_negatives(q) && gnn_csv_text(c, i < links_of(f) ? ",0" : ",1", e)))
        return e->code;
    return put_set(q, f, c, e);
}

static int put_embedding(const struct gnn_predict_links *q, const struct fetched *f, uint64_t i,
                         unsigned end, struct gnn_csv *c, struct gnn_err *e)
{
    const float *v = embedding_of(q, f, i, end);
    if (check_embedding(q, f, i, end, e) || put_input(q, f, i, c, e) ||
        gnn_csv_text(c, end ? "tail," : "head,", e) || put_id(q, f, i, end, c, e) ||
        put_time(q, f, i, c, e))
        return e->code;
    for (uint32_t k = 0; k < q->m->c.outputs; k++)
        if (gnn_csv_text(c, ",", e) || gnn_csv_number(c, v[k], e))
            return e->code;
    return put_set(q, f, c, e);
}

/* The place of example i among those of all ranks: negatives follow all positives, and are in the
 * order of these, all of one or one of each in turn. */
static uint64_t place_of(const struct gnn_predict_links *q, const struct fetched *f, uint64_t i)
{
    const struct gnn_drawn drawn = gnn_sampling_drawn(&q->meta->sampling, f->b->split);
    const uint64_t p = links_of(f), all = all_links(q, f), each = gnn_drawn_each(drawn);
    if (i < p)
        return f->b->at ? f->b->at[i] : i;
    const uint64_t k = i - p, of = gnn_drawn_positive(drawn, k, p),
                   at = f->b->at ? f->b->at[of] : of;
    return all + (each ? at * each + k % each : k / p * all + at);
}

/* The lines of all examples, or of all links' ends, one after the other. */
static int form_lines(struct gnn_predict_links *q, const struct fetched *f, struct gnn_csv *c,
                      uint64_t *n, struct gnn_err *e)
{
    const bool ends = q->o.what == GNN_OUT_EMBEDDINGS;
    const float *cells = NULL;
    *n = ends ? links_of(f) : f->x.n;
    if (gnn_buf_fit(&q->lines, *n + 1, sizeof(struct gnn_merge_line), "output lines", e) ||
        (!ends && form_cells(q, f, &cells, e)))
        return e->code;
    for (uint64_t i = 0; i < *n; i++) {
        const uint64_t before = c->n;
        if (ends ? put_embedding(q, f, i, HEAD, c, e) || put_embedding(q, f, i, TAIL, c, e)
                 : put_link(q, f, i, cells + i * count_cells(q), c, e))
            return e->code;
        ((struct gnn_merge_line *)q->lines.data)[i] =
            (struct gnn_merge_line){place_of(q, f, i), c->n - before};
    }
    return 0;
}

static int find_names(struct gnn_predict_links *q, const struct fetched *f, struct gnn_err *e)
{
    for (unsigned end = 0; q->o.s && end < ENDS; end++)
        if (of_type(q, end) == end && gnn_batch_names_find(&q->names[end], q->node[end].data,
                                                           f->b->type[q->type[end]].count[0], e))
            return e->code;
    return 0;
}

/* Rank 0 writes the lines that all have of a batch. */
static int write_batch(struct gnn_predict_links *q, const struct fetched *f, struct gnn_io *io,
                       struct gnn_err *e)
{
    struct gnn_csv c = {&q->text, 0};
    const struct gnn_span *merged = NULL;
    uint64_t n, all;
    if (find_names(q, f, e) || form_lines(q, f, &c, &n, e))
        return e->code;
    if (q->o.comm->size == 1)
        return gnn_io_write(io, q->text.data, c.n, e);
    if (gnn_link_merge_lines(&q->merge, q->lines.data, n, q->text.data, &merged, &all, e))
        return e->code;
    for (uint64_t i = 0; i < all; i++)
        if (gnn_io_write(io, merged[i].data, merged[i].bytes, e))
            return e->code;
    return 0;
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
    struct fetched f;
    if (pass_batch(q, b, &f, e) || (q->o.scores && measure_batch(q, &f, e)))
        return e->code;
    if (q->o.writes && (q->o.text ? write_batch(q, &f, r->io, e) : keep_batch(q, &f, e)))
        return e->code;
    q->links += all_links(q, &f);
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
        if (of_type(q, end) == end && gnn_batch_names_init(&q->names[end], q->o.s, q->type[end], e))
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
        (o->fd >= 0 && o->text && write_head(q, &io, e)) || all_batches(q, src, &io, e) ||
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
