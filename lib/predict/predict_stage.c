/* SPDX-License-Identifier: Apache-2.0 */
/* One stage for all nodes of a type, in chunks of rows. */
#include "lib/base/mapped.h"
#include "lib/predict/predict_impl.h"

/* A chunk: rows [at, at + n) of part `part`, store ids from `first` on. */
struct chunk {
    uint32_t part;
    uint64_t at, first, n;
};

/* Offsets are made to begin at 0: only this chunk's edges are there then. */
static int rebase_offsets(struct gnn_predict *p, struct gnn_csr *k, struct gnn_err *e)
{
    const uint64_t first = k->indptr64[0];
    if (gnn_buf_fit(&p->offsets, k->n + UINT64_C(1), sizeof(uint64_t), "a chunk of edges", e))
        return e->code;
    uint64_t *offset = p->offsets.data;
    for (uint32_t i = 0; i <= k->n; i++)
        offset[i] = k->indptr64[i] - first;
    k->indptr64 = offset;
    k->indices += first;
    return 0;
}

/* Brings the chunk's part of the adjacency to a device. */
static int bring_segment(struct gnn_predict *p, struct gnn_csr *k, struct gnn_err *e)
{
    const struct gnn_ops *o = p->o.ops;
    const uint64_t edges = k->indptr64[k->n];
    if (o->fit(o, &p->indptr, k->n + 1, sizeof(uint64_t), "a chunk of edges", e) ||
        o->fit(o, &p->indices, edges, sizeof(uint32_t), "a chunk of edges", e) ||
        o->fit(o, &p->block, 1, sizeof *k, "a chunk of edges", e))
        return e->code;
    o->put(o, p->indptr.data, k->indptr64, (k->n + UINT64_C(1)) * sizeof *k->indptr64);
    o->put(o, p->indices.data, k->indices, edges * sizeof *k->indices);
    k->indptr64 = p->indptr.data;
    k->indices = p->indices.data;
    o->put(o, p->block.data, k, sizeof *k);
    return 0;
}

/* Rows [first, first + n) of a field of relation r's edges, `width` columns, as f32. */
static int bring_field(struct gnn_predict *p, uint32_t part, uint32_t r, const char *field,
                       uint64_t first, uint64_t n, uint32_t width, struct gnn_buf *to,
                       struct gnn_err *e)
{
    const struct gnn_ops *o = p->o.ops;
    const struct gnn_tensor *x = gnn_predict_adjacency(p, part, r, field);
    const uint64_t count = n * width;
    if (!x || x->shape[0] < first + n || (x->ndim == 2 ? x->shape[1] : 1) != width)
        return gnn_fail(e, GNN_E_INPUT, "%s: edge field %s is not %u wide, or missing",
                        gnn_store_part_path(p->s, part), field, width);
    struct gnn_tensor rows = *x;
    rows.data = (char *)x->data + first * width * gnn_dtype_bytes(x->dtype);
    if (o->fit(o, to, count, sizeof(float), "a chunk of edges", e) ||
        gnn_buf_fit(&p->widened, o->async ? count : 0, sizeof(float), "a chunk of edges", e))
        return e->code;
    float *y = o->async ? p->widened.data : to->data;
    if (count && !gnn_tensor_floats(&rows, count, y))
        return gnn_fail(e, GNN_E_INPUT, "%s: edge field %s is %s, not f32, f16 or bf16",
                        gnn_store_part_path(p->s, part), field, gnn_dtype_name(x->dtype));
    if (o->async)
        o->put(o, to->data, y, count * sizeof *y);
    gnn_mapped_forget(rows.data, count * gnn_dtype_bytes(x->dtype));
    return 0;
}

/* What layers use of the chunk's edges, which are `n` from number `first` of the part on. */
static int bring_edges(struct gnn_predict *p, uint32_t r, uint32_t part, uint64_t first, uint64_t n,
                       struct gnn_err *e)
{
    const struct gnn_model_config *c = &p->m->c;
    struct gnn_adj *a = &p->rel[r].run.adj;
    a->features = c->etype[r].features;
    if ((c->edge_weight && bring_field(p, part, r, c->edge_weight, first, n, 1, &p->value, e)) ||
        (a->features && bring_field(p, part, r, "x", first, n, a->features, &p->feature, e)))
        return e->code;
    a->value = c->edge_weight ? p->value.data : NULL;
    a->feature = a->features ? p->feature.data : NULL;
    return 0;
}

/* The chunk's rows without an edge: none along convolution v has been in training. */
static int leave_out_edges(struct gnn_predict *p, const struct gnn_conv *v, const struct chunk *c,
                           struct gnn_err *e)
{
    const struct gnn_ops *o = p->o.ops;
    const uint64_t end = c->first + c->n;
    struct gnn_adj *a = &p->rel[v->rel].run.adj;
    if (o->async && o->fit(o, &p->block, 1, sizeof p->csr, "a chunk of edges", e))
        return e->code;
    p->csr = gnn_adj_segment(a);
    a->edges = 0;
    a->features = p->m->c.etype[v->rel].features;
    a->value = a->feature = NULL;
    if (o->async)
        o->put(o, p->block.data, &p->csr, sizeof p->csr);
    a->seg = o->async ? p->block.data : &p->csr;
    a->nseg = 1;
    gnn_adj_tell(o, a, (struct gnn_block_shape){.from = c->first, .to = end});
    gnn_adj_normalise(o, a, (uint32_t)c->first, (uint32_t)end);
    p->rel[v->rel].normalised = 0; /* these factors are not those of the edges */
    return 0;
}

/* The chunk's edges along relation r become the adjacency of its run. */
static int make_segment(struct gnn_predict *p, uint32_t r, const struct chunk *c, struct gnn_err *e)
{
    const struct gnn_ops *o = p->o.ops;
    struct gnn_predict_rel *q = &p->rel[r];
    struct gnn_adj *a = &q->run.adj;
    struct gnn_csr *k = &p->csr;
    const uint64_t end = c->first + c->n;
    *k = gnn_adj_segment(a);
    k->first = (uint32_t)c->first;
    k->n = (uint32_t)c->n;
    k->indptr64 = (const uint64_t *)gnn_predict_adjacency(p, c->part, r, "indptr")->data + c->at;
    k->indices = gnn_predict_adjacency(p, c->part, r, "indices")->data;
    const uint64_t first = k->indptr64[0], edges = k->indptr64[c->n] - first;
    p->pass.edges += edges;
    a->edges = edges;
    if (rebase_offsets(p, k, e) || bring_edges(p, r, c->part, first, edges, e))
        return e->code;
    k->value = a->value;
    if (o->async && bring_segment(p, k, e))
        return e->code;
    a->seg = o->async ? p->block.data : k;
    a->nseg = 1;
    gnn_adj_tell(o, a, (struct gnn_block_shape){.from = c->first, .to = end, .edges = edges});
    if (q->normalised < end) { /* rows come in order, and to each layer the same */
        gnn_adj_normalise(o, a, k->first, (uint32_t)end);
        q->normalised = end;
    }
    return 0;
}

static struct gnn_conv_run *conv_run(const struct gnn_predict *p, const struct gnn_conv *v)
{
    return v->rel == GNN_ROWS ? &p->dense[v - p->m->conv] : &p->rel[v->rel].run;
}

static int conv_chunk(struct gnn_predict *p, const struct gnn_conv *v, const struct chunk *c,
                      float *y, bool acc, const struct gnn_epilogue *ep, struct gnn_err *e)
{
    struct gnn_conv_run *run = conv_run(p, v);
    if ((v->rel != GNN_ROWS && (gnn_conv_untrained(p->m, v) ? leave_out_edges(p, v, c, e)
                                                            : make_segment(p, v->rel, c, e))) ||
        (run->layer->own &&
         gnn_predict_rows(p, predict_made(p, v->from, v->dst), c->first, c->n, &run->own, e)))
        return e->code;
    return run->layer->rows(run, (uint32_t)c->first, (uint32_t)(c->first + c->n), y, acc, ep, e);
}

/* What the layer makes of all sources before they are aggregated. */
static int make_messages(struct gnn_predict *p, const struct gnn_conv *v, struct gnn_err *e)
{
    struct gnn_conv_run *run = conv_run(p, v);
    struct gnn_table *z = &p->rel[v->rel].messages;
    const struct gnn_table *in = predict_made(p, v->from, v->src);
    if (gnn_predict_table_new(p, z, in->rows, run->message, p->o.ops->bf16 && v->layer->linear, e))
        return e->code;
    for (uint64_t i = 0; i < in->rows; i += p->chunk) {
        const uint64_t n = in->rows - i < p->chunk ? in->rows - i : p->chunk;
        const float *x;
        float *y;
        if (gnn_predict_rows(p, in, i, n, &x, e) || gnn_predict_open_rows(p, z, i, n, &y, e) ||
            run->layer->send(run, x, (uint32_t)n, y, e) || gnn_predict_keep_rows(p, z, i, n, y, e))
            return e->code;
    }
    run->messages = z->data;
    run->adj.half = z->half;
    return 0;
}

static int start_conv(struct gnn_predict *p, const struct gnn_conv *v, struct gnn_err *e)
{
    const struct gnn_schema *s = &p->s->meta.schema;
    struct gnn_conv_run *run = conv_run(p, v);
    gnn_conv_run_init(run, &p->pass, v);
    run->lead = conv_run(p, gnn_conv_lead(p->m, v));
    run->adj.ndst = (uint32_t)s->ntype[v->dst].count;
    run->adj.nsrc = (uint32_t)s->ntype[v->src].count;
    run->most = p->chunk;
    run->x = predict_made(p, v->from, v->src)->data;
    run->adj.half = predict_made(p, v->from, v->src)->half;
    if (v->rel != GNN_ROWS) {
        run->adj.node = p->rel[v->rel].node.data;
        run->adj.loop = p->rel[v->rel].loop.data;
        run->adj.degree = p->rel[v->rel].degree.data;
        run->adj.edges = s->etype[v->rel].count;
        run->message = run->layer->messages ? run->layer->messages(run) : 0;
        if (gnn_adj_open(p->o.ops, &run->adj, false, e) || (run->message && make_messages(p, v, e)))
            return e->code;
    }
    return run->layer->open ? run->layer->open(run, e) : 0;
}

static int start_stage(struct gnn_predict *p, uint32_t stage, uint32_t type, struct gnn_err *e)
{
    if (gnn_predict_table_new(p, predict_made(p, stage, type), p->s->meta.schema.ntype[type].count,
                              gnn_model_width(p->m, stage, type),
                              gnn_predict_halves(p, stage, type), e) ||
        gnn_activation_of_stage(&p->pass, &p->after, stage, type, e) ||
        gnn_activation_open(&p->pass, &p->after, p->chunk, e))
        return e->code;
    /* Before the first chunk: layers may work on all rows at once, e.g. make messages of all
     * sources. */
    EACH_CONV_INTO(v, p->m, stage, type)
        if (start_conv(p, v, e))
            return e->code;
    return 0;
}

/* Fewer rows, if they have too many edges along one of the relations. */
static uint64_t rows_that_fit(const struct gnn_predict *p, uint32_t stage, uint32_t type,
                              const struct chunk *c)
{
    uint64_t n = c->n;
    EACH_CONV_INTO(v, p->m, stage, type) {
        if (v->rel == GNN_ROWS)
            continue;
        const uint64_t *ptr =
            (const uint64_t *)gnn_predict_adjacency(p, c->part, v->rel, "indptr")->data + c->at;
        while (n > 1 && ptr[n] - ptr[0] > PREDICT_EDGES)
            n /= 2;
    }
    return n;
}

static int stage_chunk(struct gnn_predict *p, uint32_t stage, uint32_t type, const struct chunk *c,
                       struct gnn_err *e)
{
    const struct gnn_model *m = p->m;
    struct gnn_table *made = predict_made(p, stage, type);
    float *y;
    bool acc = false;
    if (gnn_predict_open_rows(p, made, c->first, c->n, &y, e))
        return e->code;
    EACH_CONV_INTO(v, m, stage, type) {
        const struct gnn_epilogue *last =
            gnn_conv_next(m, stage, type, v) ? NULL : gnn_activation_first(&p->after);
        if (conv_chunk(p, v, c, y, acc, last, e))
            return e->code;
        acc = true;
    }
    gnn_activation_rows(&p->pass, &p->after, (uint32_t)c->first, (uint32_t)(c->first + c->n), y);
    return gnn_predict_keep_rows(p, made, c->first, c->n, y, e);
}

/* The chunk's edges have been read, in order: until the next stage they need not stay in this
 * process's memory. */
static void forget_edges(const struct gnn_predict *p, uint32_t stage, uint32_t type,
                         const struct chunk *c)
{
    EACH_CONV_INTO(v, p->m, stage, type) {
        if (v->rel == GNN_ROWS)
            continue;
        const uint64_t *ptr =
            (const uint64_t *)gnn_predict_adjacency(p, c->part, v->rel, "indptr")->data + c->at;
        const uint32_t *source = gnn_predict_adjacency(p, c->part, v->rel, "indices")->data;
        gnn_mapped_forget(source + ptr[0], (ptr[c->n] - ptr[0]) * sizeof *source);
    }
}

int gnn_predict_stage(struct gnn_predict *p, uint32_t stage, uint32_t type, struct gnn_err *e)
{
    const struct gnn_ops *o = p->o.ops;
    const uint64_t total = p->s->meta.schema.ntype[type].count;
    uint64_t done = 0;
    if (start_stage(p, stage, type, e))
        return e->code;
    for (uint32_t k = 0; k < p->s->nparts; k++) {
        const uint64_t own = gnn_store_owned(p->s, k, type);
        for (struct chunk c = {.part = k}; c.at < own; c.at += c.n) {
            c.first = p->s->book[type][k] + c.at;
            c.n = own - c.at < p->chunk ? own - c.at : p->chunk;
            c.n = rows_that_fit(p, stage, type, &c);
            if (stage_chunk(p, stage, type, &c, e))
                return e->code;
            forget_edges(p, stage, type, &c);
            done += c.n;
            if (p->o.progress)
                p->o.progress(p->o.arg, p->m->stage[stage].layer, done, total);
        }
    }
    for (uint32_t r = 0; r < p->m->c.netypes; r++)
        if (gnn_predict_table_end(p, &p->rel[r].messages, e))
            return e->code;
    /* Rows may still be on their way from the device to the host. */
    o->mark(o, 0);
    return o->wait(o, 0, e);
}
