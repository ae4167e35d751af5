/* SPDX-License-Identifier: Apache-2.0 */
/* From a batch to the layers' blocks. Where edges are induced, all layers read the last hop, of
 * which the last layer needs the rows of seeds only. Else, under the rule "all", layer l of L reads
 * hop L-1-l; under "new", layer l reads the rows of hops 0 .. L-1-l one after the other: each
 * further layer drops the outermost rows, which no later layer needs (PyG's trim_to_layer). */
#include <string.h>

#include "lib/model/net_impl.h"
#include "lib/model/row_source.h"
#include "lib/base/plural.h"

/* Whether the transposed block is needed: gradients flow back to inputs that are not features, and
 * to messages, since these are made with parameters. */
static bool needs_way_back(const struct gnn_conv_run *run)
{
    return run->s->train && (run->inputs || run->message || run->layer->transposes);
}

/* What layers use of the edges from hop `first` on. */
static void set_edges(const struct gnn_net *n, struct gnn_adj *a, uint32_t r, uint32_t first,
                      uint32_t dst)
{
    const struct gnn_net_edges *x = &n->edge[r];
    const struct gnn_model_config *c = &n->pass.m->c;
    const bool ids = n->pass.train && gnn_layer_needs_ids(c);
    uint64_t at = 0;
    for (uint32_t h = 0; h < first; h++)
        at += gnn_batch_block(n->b, h, r)->edges;
    a->value = c->edge_weight ? (const float *)x->value.data + at : NULL;
    a->degree = x->degree;
    a->loop = x->loop;
    a->features = c->etype[r].features;
    a->feature = a->features ? (const float *)x->feature.data + at * a->features : NULL;
    a->id = ids ? (const uint64_t *)x->id.data + at : NULL;
    a->node_id = n->b->type[dst].orig ? n->b->type[dst].orig : n->b->type[dst].node;
}

/* The hops that convolution v reads. */
static void hops_of(const struct gnn_net *n, const struct gnn_conv *v, const struct gnn_sampling *s,
                    uint32_t *first, uint32_t *last)
{
    const struct gnn_model *m = n->pass.m;
    *last = s->induced ? s->nhops - 1 : m->c.nlayers - m->stage[v->stage].level;
    *first = s->induced || s->frontier == GNN_FRONTIER_ALL ? *last : 0;
}

/* A block's rows, as far as they are wanted. How many edges these have, only the host can tell; on
 * a device all are space enough. */
static struct gnn_block cut_block(const struct gnn_net *n, const struct gnn_block *k, uint32_t rows)
{
    struct gnn_block x = *k;
    if (rows >= k->first && rows - k->first < k->n) {
        x.n = rows - k->first;
        x.edges = n->b->place ? k->edges : k->indptr[x.n];
    }
    return x;
}

/* What of hop h convolution v reads: nothing where no edge along it has been in training. */
static struct gnn_block hop_block(const struct gnn_net *n, const struct gnn_conv *v, uint32_t h,
                                  uint32_t rows)
{
    return !n->pass.train && gnn_conv_untrained(n->pass.m, v)
               ? (struct gnn_block){0}
               : cut_block(n, gnn_batch_block(n->b, h, v->rel), rows);
}

/* The features that v sums up as they are: those of the store, or the batch's in bf16; NULL: rows
 * of f32 are made of them before. Factors of symmetric norm are by the batch's numbers of nodes. */
static const struct gnn_tensor *features_as_they_are(const struct gnn_net *n,
                                                     const struct gnn_conv *v)
{
    const struct gnn_conv_run *run = net_run(n, v);
    const struct gnn_model_config *c = &n->pass.m->c;
    const struct gnn_tensor *x;
    struct gnn_err ignored = {0};
    if (v->from || v->rel == GNN_ROWS || n->drops_features || run->message ||
        c->feature_norm != GNN_FEATURES_AS_IS || !run->layer->linear ||
        gnn_rows_of_batch(n->pass.m, n->b, v->src, run->adj.nsrc, &x, &ignored) || !x)
        return NULL;
    if (x == n->b->type[v->src].x)
        return gnn_adj_needs_degrees(run->layer->norm) ? NULL : x;
    return x->dtype == GNN_BF16 && n->pass.o->aggregate_bf16 ? x : NULL;
}

/* Sources of a block's edges, by their rows in the store, to `to`. */
static void number_sources(const struct gnn_net *n, const struct gnn_conv *v,
                           const struct gnn_block *k, uint32_t *to)
{
    const uint32_t *node = n->b->type[v->src].node;
#pragma omp parallel for schedule(static)
    for (uint32_t i = 0; i < k->edges; i++)
        to[i] = node[k->indices[i]];
}

/* Whether v reads features in the store. */
static bool reads_in_place(const struct gnn_net *n, const struct gnn_conv *v)
{
    const struct gnn_tensor *x = net_run(n, v)->features;
    return x && x == n->b->type[v->src].x;
}

/* Appends block k, whose edges have numbers from `at` on, to the segments. */
static void add_segment(const struct gnn_net *n, const struct gnn_conv *v,
                        const struct gnn_block *k, uint64_t at, struct gnn_csr *segments)
{
    struct gnn_adj *a = &net_run(n, v)->adj;
    struct gnn_csr *seg = segments + a->nseg++;
    *seg = gnn_adj_segment(a);
    seg->first = k->first;
    seg->n = k->n;
    seg->indptr = k->indptr;
    seg->value = a->value ? a->value + at : NULL;
    seg->indices = k->indices;
    if (reads_in_place(n, v)) {
        uint32_t *to = (uint32_t *)net_run(n, v)->source.data + at;
        number_sources(n, v, k, to);
        seg->indices = to;
    }
}

/* Lists the blocks of convolution v from seg[0] on, at least one, and the transposed one. */
static int collect_blocks(struct gnn_net *n, const struct gnn_conv *v, const struct gnn_sampling *s,
                          struct gnn_csr *seg, struct gnn_err *e)
{
    const uint32_t r = v->rel;
    struct gnn_conv_run *run = net_run(n, v);
    struct gnn_adj *a = &run->adj;
    uint32_t first, last;
    hops_of(n, v, s, &first, &last);
    a->edges = 0;
    a->at_most = false;
    for (uint32_t h = first; h <= last; h++) {
        const struct gnn_block k = hop_block(n, v, h, a->ndst);
        a->edges += k.edges;
        a->at_most = a->at_most || (n->b->place && k.edges && k.n < gnn_batch_block(n->b, h, r)->n);
    }
    if (a->edges > UINT32_MAX)
        return gnn_fail(e, GNN_E_INPUT, "a batch has more than 2^32 edges");
    a->node = n->node[r].data;
    set_edges(n, a, r, first, v->dst);
    run->message = run->layer->messages ? run->layer->messages(run) : 0;
    run->features = features_as_they_are(n, v);
    a->half = run->features && run->features->dtype == GNN_BF16 ? run->features->data : NULL;
    if (gnn_adj_open(n->pass.o, a, needs_way_back(run), e) ||
        (reads_in_place(n, v) &&
         n->pass.o->fit(n->pass.o, &run->source, a->edges, sizeof(uint32_t), "sources", e)))
        return e->code;
    a->nseg = 0;
    uint64_t at = 0;
    for (uint32_t h = first; h <= last; h++) {
        const struct gnn_block k = hop_block(n, v, h, a->ndst);
        if (k.n == 0)
            continue;
        add_segment(n, v, &k, at, seg);
        at += k.edges;
    }
    /* Layers expect at least one block, even if no node has an edge. */
    if (a->nseg == 0)
        seg[a->nseg++] = gnn_adj_segment(a);
    seg[a->nseg] = gnn_adj_transposed(a);
    n->pass.edges += a->edges;
    return 0;
}

/* A number for each of the relation's nodes in the batch; NULL and e: there is none. */
static const struct gnn_tensor *node_numbers(const struct gnn_net *n, uint32_t r, const char *field,
                                             enum gnn_dtype dtype, struct gnn_err *e)
{
    const struct gnn_model_config *c = &n->pass.m->c;
    const struct gnn_model_etype *et = &c->etype[r];
    char name[GNN_NAME_MAX + 1], remedy[GNN_REMEDY_CAPACITY];
    gnn_tensor_name(name, "node/%s/%s", c->ntype[et->src].name, field);
    const struct gnn_tensor *t = gnn_tensors_find(&n->b->tensors, name);
    if (t && t->dtype == dtype && t->ndim == 1 && t->shape[0] == gnn_batch_nodes(n->b, et->src))
        return t;
    gnn_fail(e, GNN_E_INPUT, "%s requires the degrees of nodes, but the batches have no %s: %s",
             c->layer->name, name, gnn_net_remedy(c, remedy, sizeof remedy));
    return NULL;
}

static int take_degrees(struct gnn_net *n, uint32_t r, struct gnn_err *e)
{
    const struct gnn_model_config *c = &n->pass.m->c;
    const struct gnn_ops *o = n->pass.o;
    const struct gnn_model_etype *et = &c->etype[r];
    const uint64_t nodes = gnn_batch_nodes(n->b, et->src);
    char field[GNN_WORD_MAX + 1];
    const struct gnn_tensor *t =
        node_numbers(n, r, gnn_degree_field(field, et->rel, r), GNN_U32, e);
    if (!t || o->fit(o, &n->node[r], nodes, sizeof(float), "degrees", e))
        return e->code;
    n->edge[r].degree = t->data;
    if (!c->edge_weight) {
        o->gcn_degrees(o, t->data, nodes, n->node[r].data);
        return 0;
    }
    t = node_numbers(n, r, gnn_weight_field(field, true, c->edge_weight, et->rel, r), GNN_F32, e);
    n->edge[r].loop = t ? t->data : NULL;
    if (t)
        t = node_numbers(n, r, gnn_weight_field(field, false, c->edge_weight, et->rel, r), GNN_F32,
                         e);
    if (!t)
        return e->code;
    o->weight_degrees(o, t->data, nodes, n->node[r].data);
    return 0;
}

static void count_rows(struct gnn_net *n, const struct gnn_sampling *s)
{
    const struct gnn_model *m = n->pass.m;
    const uint32_t nt = m->c.nntypes;
    for (uint32_t i = 0; i < m->nstages; i++) {
        const uint32_t left = m->c.nlayers - m->stage[i].level;
        for (uint32_t t = 0; t < nt; t++)
            n->rows[i * nt + t] =
                n->b->type[t].count && gnn_model_width(m, i, t)
                    ? (uint32_t)n->b->type[t].count[left && s->induced ? s->nhops : left]
                    : 0;
    }
}

static void start_runs(struct gnn_net *n)
{
    const struct gnn_model *m = n->pass.m;
    EACH_CONV(v, m) {
        struct gnn_conv_run *run = net_run(n, v);
        gnn_conv_run_init(run, &n->pass, v);
        run->lead = net_run(n, gnn_conv_lead(m, v));
        run->adj.edges = 0;
        run->adj.ndst = run->most = net_rows(n, v->stage, v->dst);
        run->adj.nsrc = net_rows(n, v->from, v->src);
    }
}

static bool has_blocks(const struct gnn_conv *v)
{
    return v->needed && v->rel != GNN_ROWS;
}

/* All relations' blocks, brought to where they are used in one go; seg becomes the place there. */
static int list_blocks(struct gnn_net *n, const struct gnn_sampling *s, struct gnn_err *e)
{
    const struct gnn_model *m = n->pass.m;
    uint64_t capacity = 0, at = 0;
    EACH_CONV(v, m) {
        uint32_t first, last;
        hops_of(n, v, s, &first, &last);
        capacity += has_blocks(v) ? 2 + last - first : 0;
    }
    if (gnn_buf_fit(&n->segs, capacity, sizeof(struct gnn_csr), "blocks", e) ||
        n->pass.o->fit(n->pass.o, &n->blocks, capacity, sizeof(struct gnn_csr), "blocks", e))
        return e->code;
    struct gnn_csr *seg = n->segs.data, *there = n->blocks.data;
    EACH_CONV(v, m) {
        struct gnn_conv_run *run = net_run(n, v);
        if (!has_blocks(v))
            continue;
        if (collect_blocks(n, v, s, seg + at, e))
            return e->code;
        run->adj.seg = there + at;
        at += run->adj.nseg + 1;
        run->adj.back = needs_way_back(run) ? there + at - 1 : NULL;
    }
    /* One copy for all layers: a copy to a device costs more than its few bytes. */
    n->pass.o->put(n->pass.o, there, seg, at * sizeof(*seg));
    return 0;
}

/* What the blocks of convolution v have at least, by the batch's shape alone. A row has no more
 * edges than the fan-out, where there is one. Each node that a hop has found is the source of one
 * of its edges: of this relation, if no other one has edges from nodes of the type. */
static struct gnn_block_shape least_shape(const struct gnn_net *n, const struct gnn_conv *v,
                                          const struct gnn_sampling *s)
{
    const struct gnn_model_config *c = &n->pass.m->c;
    const uint32_t src = c->etype[v->rel].src;
    struct gnn_block_shape least = {.to = net_run(n, v)->adj.ndst};
    bool alone = !s->induced;
    uint32_t first, last;
    hops_of(n, v, s, &first, &last);
    for (uint32_t h = first; h <= last; h++) {
        const struct gnn_block *whole = gnn_batch_block(n->b, h, v->rel),
                               k = hop_block(n, v, h, (uint32_t)least.to);
        const int64_t most =
            s->induced || !s->fanout ? -1 : s->fanout[(size_t)h * c->netypes + v->rel];
        alone = alone && k.n == whole->n;
        for (uint32_t r = 0; r < c->netypes; r++)
            if (r != v->rel && c->etype[r].src == src && gnn_batch_block(n->b, h, r)->edges)
                alone = false;
        if (n->b->place && k.n < whole->n) /* only the device knows */
            continue;
        least.edges += k.edges;
        least.rows += most > 0 ? (k.edges + (uint64_t)most - 1) / (uint64_t)most : k.edges > 0;
    }
    if (alone)
        least.sources = n->b->type[src].count[last + 1] - n->b->type[src].count[first];
    return least;
}

int gnn_net_blocks(struct gnn_net *n, const struct gnn_meta *meta, struct gnn_err *e)
{
    const struct gnn_model *m = n->pass.m;
    if (!meta->sampling.induced && n->b->nhops != m->c.nlayers)
        return gnn_fail(e, GNN_E_INPUT, "batches have %u hop%s, the model %u layer%s", n->b->nhops,
                        gnn_plural(n->b->nhops), m->c.nlayers, gnn_plural(m->c.nlayers));
    count_rows(n, &meta->sampling);
    start_runs(n);
    for (uint32_t r = 0; gnn_adj_needs_degrees(gnn_layer_variant(&m->c)->norm) && r < m->c.netypes;
         r++)
        if (take_degrees(n, r, e))
            return e->code;
    for (uint32_t r = 0; r < m->c.netypes; r++)
        if (gnn_net_edges(n, meta, r, e))
            return e->code;
    if (list_blocks(n, &meta->sampling, e))
        return e->code;
    EACH_CONV(v, m)
        if (has_blocks(v)) {
            struct gnn_adj *a = &net_run(n, v)->adj;
            gnn_adj_tell(n->pass.o, a, least_shape(n, v, &meta->sampling));
            gnn_adj_normalise(n->pass.o, a, 0, a->ndst);
            if (a->back)
                gnn_adj_transpose(n->pass.o, a);
        }
    return 0;
}

/* Whether a view whose edges only the device can count has some. */
static int count_on_device(struct gnn_net *n, const struct gnn_adj *a, bool *any, struct gnn_err *e)
{
    const struct gnn_ops *o = n->pass.o;
    const struct gnn_csr *seg =
        (const struct gnn_csr *)n->segs.data + (a->seg - (const struct gnn_csr *)n->blocks.data);
    if (o->fit_host(o, &n->counts, a->nseg, sizeof(uint32_t), "counts of edges", e))
        return e->code;
    uint32_t *count = n->counts.data;
    for (uint32_t k = 0; k < a->nseg; k++) {
        count[k] = 0;
        if (seg[k].n)
            o->fetch(o, &count[k], seg[k].indptr + seg[k].n, sizeof *count);
    }
    o->mark(o, GNN_OPS_MARK_NET);
    if (o->wait(o, GNN_OPS_MARK_NET, e))
        return e->code;
    for (uint32_t k = 0; k < a->nseg; k++)
        *any = *any || count[k];
    return 0;
}

int gnn_net_reached(struct gnn_net *n, bool *untrained, struct gnn_err *e)
{
    const struct gnn_model *m = n->pass.m;
    EACH_CONV(v, m) {
        const struct gnn_adj *a = &net_run(n, v)->adj;
        if (!has_blocks(v) || !gnn_conv_untrained(m, v))
            continue;
        bool any = a->edges && !a->at_most;
        if (a->edges && a->at_most && count_on_device(n, a, &any, e))
            return e->code;
        if (any)
            untrained[(size_t)m->stage[v->stage].layer * m->c.netypes + v->rel] = false;
    }
    return 0;
}
