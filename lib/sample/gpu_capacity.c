/* SPDX-License-Identifier: Apache-2.0 */
/* The capacities of a batch. Bounds follow from the seeds and pick rules, hop by hop, and from the
 * sizes of the graph. */
#include <math.h>

#include "lib/sample/gpu_sample.h"

enum { SMALL = 1 << 12, LARGE = 1 << 22 };
static const uint64_t EDGES_MAX = UINT32_MAX - UINT64_C(2);

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t edges_of(const struct sampler *s, uint32_t et)
{
    uint64_t n = 0;
    for (uint32_t p = 0; s->graph[et].part && p < s->graph[et].nparts; p++)
        n += s->graph[et].part[p].nedges;
    return n;
}

/* What n things, nodes or edges, are at most in a batch: each once, or once in each tree or at the
 * time of each seed; or, at the times of edges, no bound is known. */
static uint64_t in_trees(const struct gpu_capacity *r, const struct sampler *s, uint64_t n)
{
    return s->meta.sampling.rule.time.by_edge             ? INT32_MAX
           : !gnn_sampling_has_repeats(&s->meta.sampling) ? n
           : n < INT32_MAX / ((uint64_t)r->seeds + 1)     ? n * r->seeds
                                                          : INT32_MAX;
}

/* Draws of a block with so many destinations. */
static uint64_t block_edges(const struct gpu_capacity *r, const struct sampler *s, uint32_t hop,
                            uint32_t et, uint64_t rows)
{
    const struct gnn_pick_rule rule =
        gnn_sampling_rule(&s->meta.sampling, hop * s->meta.schema.netypes + et);
    if (!rows)
        return 0;
    const double all = fmax(SMALL, fmin(1e18, (double)rows * r->mean[et]));
    uint64_t n = gnn_pick_bound(rule, rows, (uint64_t)all);
    if (!gnn_pick_repeats(rule)) /* the destinations differ, and so do their edges */
        n = least_of(n, in_trees(r, s, edges_of(s, et)));
    return least_of(least_of(n, EDGES_MAX), r->guess);
}

/* How many of n nodes, of which some are known, become known by so many draws: many draws find the
 * same. */
static uint64_t nodes_found(uint64_t known, uint64_t draws, uint64_t n)
{
    if (draws <= LARGE)
        return least_of(draws, n);
    return least_of(
        n,
        (uint64_t)((double)(n - least_of(known, n)) * -expm1(-(double)draws / (double)n)) + LARGE);
}

/* Edges of a block that a batch keeps, of so many sampled. Those that lead from one of its nodes to
 * another are those along which these were found, and others: how many, batches will show. */
static uint64_t kept_edges(const struct gpu_capacity *r, const struct sampler *s, uint32_t hop,
                           uint32_t et, uint64_t sampled)
{
    uint64_t n = SMALL;
    if (!gnn_sampling_induces(&s->meta.sampling, hop))
        return sampled;
    for (uint32_t h = 0; h < hop; h++)
        n += r->edges[h * s->meta.schema.netypes + et];
    return least_of(n, sampled);
}

/* Capacities of a block with so many destinations. */
static void fit_block(struct gpu_capacity *r, const struct sampler *s, uint32_t hop, uint32_t et,
                      uint64_t rows)
{
    const uint32_t b = hop * s->meta.schema.netypes + et;
    const bool induces = gnn_sampling_induces(&s->meta.sampling, hop);
    r->rows[b] = rows > r->rows[b] ? (uint32_t)rows : r->rows[b];
    const uint64_t edges = block_edges(r, s, hop, et, r->rows[b]);
    if (induces)
        r->seen[et] = edges > r->seen[et] ? (uint32_t)edges : r->seen[et];
    const uint64_t kept = kept_edges(r, s, hop, et, edges);
    r->edges[b] = kept > r->edges[b] ? (uint32_t)kept : r->edges[b];
    if (!induces && r->edges[b] > r->list)
        r->list = r->edges[b];
}

/* From the first hop to the last, each array at least as it was. */
static void derive_capacities(struct gpu_capacity *r, const struct sampler *s)
{
    const struct gnn_schema *c = &s->meta.schema;
    const struct gnn_sampling *m = &s->meta.sampling;
    uint64_t *known = (uint64_t *)(void *)(r->mean + c->netypes), *fresh = known + c->nntypes,
             *drawn = fresh + c->nntypes;
    r->list = r->seeds;
    for (uint32_t t = 0; t < c->nntypes; t++)
        known[t] = fresh[t] =
            t == m->seed_ntype ? least_of(r->seeds, in_trees(r, s, c->ntype[t].count)) : 0;
    for (uint32_t h = 0; h < m->nhops; h++) {
        for (uint32_t t = 0; t < c->nntypes; t++)
            drawn[t] = 0;
        for (uint32_t et = 0; et < c->netypes; et++) {
            const uint32_t b = h * c->netypes + et;
            if (!gnn_pick_any(gnn_sampling_rule(m, b)))
                continue;
            fit_block(r, s, h, et, (gnn_sampling_new_rows(m, h) ? fresh : known)[c->etype[et].dst]);
            drawn[c->etype[et].src] += r->edges[b];
        }
        for (uint32_t t = 0; t < c->nntypes && !gnn_sampling_induces(m, h); t++) {
            const uint64_t all = in_trees(r, s, c->ntype[t].count);
            fresh[t] = nodes_found(known[t], drawn[t], all);
            known[t] = least_of(known[t] + fresh[t], all);
        }
    }
    for (uint32_t t = 0; t < c->nntypes; t++)
        r->nodes[t] = known[t] > r->nodes[t] ? (uint32_t)known[t] : r->nodes[t];
    r->turn++;
}

int gnn_gpu_capacity_init(struct gpu_capacity *r, const struct sampler *s, uint64_t free,
                          struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    const struct gnn_sampling *m = &s->meta.sampling;
    const uint64_t blocks = (uint64_t)m->nhops * c->netypes;
    uint64_t seeds = 0;
    *r = (struct gpu_capacity){.guess = free >> 11 > SMALL ? free >> 11 : SMALL};
    r->nodes = gnn_alloc_zero(c->nntypes, sizeof *r->nodes, "capacities of batches", e);
    r->rows = gnn_alloc_zero(blocks, sizeof *r->rows, "capacities of batches", e);
    r->edges = gnn_alloc_zero(blocks, sizeof *r->edges, "capacities of batches", e);
    r->seen = gnn_alloc_zero(c->netypes, sizeof *r->seen, "capacities of batches", e);
    r->mean = gnn_alloc_zero(c->netypes + 3 * (uint64_t)c->nntypes, sizeof *r->mean,
                             "capacities of batches", e);
    if (!r->nodes || !r->rows || !r->edges || !r->seen || !r->mean)
        return e->code;
    for (uint32_t i = 0; i < m->nsplits; i++)
        seeds = m->split_seeds[i] > seeds ? m->split_seeds[i] : seeds;
    r->seeds = (uint32_t)least_of(m->batch_size, s->seeds->next ? SMALL : seeds);
    for (uint32_t et = 0; et < c->netypes; et++)
        r->mean[et] =
            2 * (double)edges_of(s, et) / fmax(1, (double)c->ntype[c->etype[et].dst].count);
    derive_capacities(r, s);
    return 0;
}

void gnn_gpu_capacity_release(struct gpu_capacity *r)
{
    gnn_free(r->nodes);
    gnn_free(r->rows);
    gnn_free(r->edges);
    gnn_free(r->seen);
    gnn_free(r->mean);
    *r = (struct gpu_capacity){0};
}

void gnn_gpu_capacity_seeds(struct gpu_capacity *r, const struct sampler *s, uint64_t n)
{
    if (n <= r->seeds)
        return;
    r->seeds = (uint32_t)least_of(n + n / 4, s->meta.sampling.batch_size);
    derive_capacities(r, s);
}

/* A quarter more, so that the next batches fit too. */
static int grow_array(uint32_t *capacity, uint64_t need, uint64_t most, const char *what,
                      struct gnn_err *e)
{
    if (need > most || need <= *capacity)
        return gnn_fail(e, GNN_E_USAGE,
                        "a batch of more than 2^32 %s: reduce the batch size or the fan-outs",
                        what);
    *capacity = (uint32_t)least_of(need + need / 4, most);
    return 0;
}

int gnn_gpu_capacity_grow(struct gpu_capacity *r, const struct sampler *s,
                          const struct gnn_cuda_sample_status *st, uint32_t rows, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    const uint32_t b = st->block, et = b % c->netypes;
    int rc = 0;
    switch ((enum gnn_cuda_sample_capacity)st->at.edge) {
    case GNN_CUDA_CAPACITY_ROWS:
        rc = grow_array(&r->rows[b], st->at.node, in_trees(r, s, c->ntype[c->etype[et].dst].count),
                        "nodes", e);
        break;
    case GNN_CUDA_CAPACITY_EDGES:
        rc = grow_array(gnn_sampling_induces(&s->meta.sampling, b / c->netypes) ? &r->seen[et]
                                                                                : &r->edges[b],
                        st->at.node, EDGES_MAX, "edges", e);
        if (rows)
            r->mean[et] = fmax(r->mean[et], 1.25 * (double)st->at.node / rows);
        break;
    case GNN_CUDA_CAPACITY_KEPT:
        rc = grow_array(&r->edges[b], st->at.node, r->seen[et], "edges", e);
        break;
    case GNN_CUDA_CAPACITY_NODES:
        rc = grow_array(&r->nodes[c->etype[et].src], st->at.node,
                        in_trees(r, s, c->ntype[c->etype[et].src].count), "nodes", e);
        break;
    case GNN_CUDA_CAPACITY_SEEDS:
        rc = grow_array(&r->seeds, st->at.node, s->meta.sampling.batch_size, "seeds", e);
        break;
    }
    if (!rc)
        derive_capacities(r, s);
    return rc;
}
