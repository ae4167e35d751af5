/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/predict/link_table.h"

#include <string.h>

#include "lib/base/path.h"
#include "lib/model/task.h"

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
    const uint64_t n = embeddings ? q->m->c.outputs : passed_width(q);
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

int gnn_link_table_head(struct gnn_predict_links *q, struct gnn_io *io, struct gnn_err *e)
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
static int put_id(const struct gnn_predict_links *q, const struct gnn_passed *f, uint64_t i,
                  unsigned end, struct gnn_csv *c, struct gnn_err *e)
{
    char buf[GNN_NODE_NAME_CAPACITY];
    const uint32_t local = passed_ends(f, i)[end];
    size_t n;
    if (!q->o.s)
        return gnn_csv_count(c, ((const uint32_t *)q->node[passed_buffer(q, end)].data)[local], e);
    const char *name = gnn_batch_names_of(&q->names[passed_buffer(q, end)], local, buf, &n);
    return gnn_csv_cell(c, name, n, e);
}

static int put_time(const struct gnn_predict_links *q, const struct gnn_passed *f, uint64_t i,
                    struct gnn_csv *c, struct gnn_err *e)
{
    if (!time_type(q))
        return 0;
    return gnn_csv_text(c, ",", e) ||
                   gnn_csv_time(c, ((const int64_t *)q->time.data)[passed_ends(f, i)[HEAD]],
                                time_type(q), e)
               ? e->code
               : 0;
}

static int put_input(const struct gnn_predict_links *q, const struct gnn_passed *f, uint64_t i,
                     struct gnn_csv *c, struct gnn_err *e)
{
    return gnn_csv_count(c, passed_input(q, f, i), e) || gnn_csv_text(c, ",", e) ? e->code : 0;
}

/* The end of a line. */
static int put_set(const struct gnn_predict_links *q, const struct gnn_passed *f, struct gnn_csv *c,
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
    for (uint64_t k = 0; k < passed_width(q); k++)
        if (gnn_csv_text(c, ",", e) || gnn_csv_number(c, cells[k], e))
            return e->code;
    if (q->o.what != GNN_OUT_SCORES)
        return 0;
    gnn_tasks[q->m->c.task].probs(&p, 1, 1);
    return gnn_csv_text(c, ",", e) || gnn_csv_number(c, p, e) ? e->code : 0;
}

static int put_link(const struct gnn_predict_links *q, const struct gnn_passed *f, uint64_t i,
                    const float *cells, struct gnn_csv *c, struct gnn_err *e)
{
    if ((!q->o.listed && put_input(q, f, i, c, e)) || put_id(q, f, i, HEAD, c, e) ||
        gnn_csv_text(c, ",", e) || put_id(q, f, i, TAIL, c, e) || put_time(q, f, i, c, e) ||
        put_cells(q, cells, c, e) ||
        (has_negatives(q) && gnn_csv_text(c, i < passed_own(f) ? ",0" : ",1", e)))
        return e->code;
    return put_set(q, f, c, e);
}

static int put_embedding(const struct gnn_predict_links *q, const struct gnn_passed *f, uint64_t i,
                         unsigned end, struct gnn_csv *c, struct gnn_err *e)
{
    const float *v = passed_embedding(q, f, i, end);
    if (gnn_passed_check_end(q, f, i, end, e) || put_input(q, f, i, c, e) ||
        gnn_csv_text(c, end ? "tail," : "head,", e) || put_id(q, f, i, end, c, e) ||
        put_time(q, f, i, c, e))
        return e->code;
    for (uint32_t k = 0; k < q->m->c.outputs; k++)
        if (gnn_csv_text(c, ",", e) || gnn_csv_number(c, v[k], e))
            return e->code;
    return put_set(q, f, c, e);
}

/* The lines of all examples, or of all links' ends, one after the other. */
static int form_lines(struct gnn_predict_links *q, const struct gnn_passed *f, struct gnn_csv *c,
                      uint64_t *n, struct gnn_err *e)
{
    const bool ends = q->o.what == GNN_OUT_EMBEDDINGS;
    const float *cells = NULL;
    *n = ends ? passed_own(f) : f->x.n;
    if (gnn_buf_fit(&q->lines, *n + 1, sizeof(struct gnn_merge_line), "output lines", e) ||
        (!ends && gnn_passed_form(q, f, &cells, e)))
        return e->code;
    for (uint64_t i = 0; i < *n; i++) {
        const uint64_t before = c->n;
        /* In place of a negative that there is not, a line without a byte. */
        if (passed_lacks(q, f, i) ? 0
            : ends ? put_embedding(q, f, i, HEAD, c, e) || put_embedding(q, f, i, TAIL, c, e)
                   : put_link(q, f, i, cells + i * passed_width(q), c, e))
            return e->code;
        ((struct gnn_merge_line *)q->lines.data)[i] =
            (struct gnn_merge_line){passed_place(q, f, i), c->n - before};
    }
    return 0;
}

static int find_names(struct gnn_predict_links *q, const struct gnn_passed *f, struct gnn_err *e)
{
    for (unsigned end = 0; q->o.s && end < ENDS; end++)
        if (passed_buffer(q, end) == end &&
            gnn_batch_names_find(&q->names[end], q->node[end].data,
                                 f->b->type[q->type[end]].count[0], e))
            return e->code;
    return 0;
}

int gnn_link_table_batch(struct gnn_predict_links *q, const struct gnn_passed *f, struct gnn_io *io,
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
