/* SPDX-License-Identifier: Apache-2.0 */
/* What walks a store that could be opened, and a batch that was accepted. */
#ifndef GNN_TESTS_FUZZ_WALK_H
#define GNN_TESTS_FUZZ_WALK_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/inspect/inspect.h"
#include "lib/base/mem.h"
#include "lib/partition/partition.h"
#include "lib/data/source.h"
#include "lib/store/store.h"

/* Reports, proofs, and METIS's graph. */
__attribute__((unused)) static void walk_store(struct gnn_store *s)
{
    struct gnn_err e = {0};
    struct gnn_view v = {0};
    struct gnn_symgraph g = {0};
    json_t *report = NULL, *proofs = json_object();
    if (!gnn_report_store(s, GNN_REPORT_TENSORS | GNN_REPORT_STATS, &report, &e))
        e = (struct gnn_err){0};
    json_decref(report);
    if (!gnn_verify_store(s, s, proofs, &e))
        e = (struct gnn_err){0};
    json_decref(proofs);
    if (!gnn_view_init(&v, s, &e) && v.nvertices < 1 << 20 &&
        gnn_symgraph_init(&g, &v, GNN_METIS_LIMIT, 1, &e) && !e.code)
        abort();
    gnn_symgraph_release(&g);
    gnn_view_release(&v);
}

/* What a batch says of one of its nodes; there is a tree and a time if the header says so. */
__attribute__((unused)) static uint64_t walk_entry(const struct gnn_batch_type *x, uint64_t i,
                                                   uint64_t count, const struct gnn_sampling *s)
{
    double real = 0;
    if (x->node[i] >= count || s->disjoint != (x->tree != NULL) ||
        gnn_sampling_is_temporal(s) != (x->time != NULL) ||
        (x->tree && x->tree[i] >= s->batch_size))
        abort();
    if (x->time && s->rule.time.real)
        memcpy(&real, &x->time[i], sizeof real);
    if (isnan(real))
        abort();
    return (x->orig ? x->orig[i] : 0) + (x->time ? (uint64_t)x->time[i] : 0);
}

/* Walks end where they end, and lead to nodes of the batch, as pairs do. Types are not looked at.
 */
__attribute__((unused)) static void walk_walks(const struct gnn_batch *b, const struct gnn_meta *m)
{
    const struct gnn_walks *w = &m->sampling.walks;
    uint64_t most = 0, steps = 0;
    if ((!w->length || w->window) && (b->walk || b->rows[GNN_UNIT_WALKS]))
        abort();
    if (!w->window && (b->pair || b->rows[GNN_UNIT_PAIRS]))
        abort();
    for (uint32_t t = 0; t < b->nntypes; t++)
        most = gnn_batch_nodes(b, t) > most ? gnn_batch_nodes(b, t) : most;
    for (uint64_t i = 0; i < 2 * b->rows[GNN_UNIT_PAIRS]; i++)
        if (b->pair[i] >= most)
            abort();
    for (uint64_t i = 0; i < b->rows[GNN_UNIT_WALKS]; i++) {
        const uint32_t *x = b->walk + i * (w->length + UINT64_C(1));
        for (uint32_t s = 0; s <= w->length; s++) {
            const bool ended = x[s] == UINT32_MAX;
            if (ended ? s == 0 : x[s] >= most || (s && x[s - 1] == UINT32_MAX))
                abort();
            steps += s && !ended;
        }
    }
    if (b->walk && steps != b->steps)
        abort();
}

/* Reads all of a batch's structure, which must lead nowhere but into the batch. Returns something
 * of it. */
__attribute__((unused)) static uint64_t walk_batch(const struct gnn_batch *b,
                                                   const struct gnn_meta *m)
{
    uint64_t sum = 0;
    walk_walks(b, m);
    for (uint32_t t = 0; t < b->nntypes; t++)
        for (uint64_t i = 0; i < gnn_batch_nodes(b, t); i++)
            sum += walk_entry(&b->type[t], i, m->schema.ntype[t].count, &m->sampling);
    for (uint32_t h = 0; h < b->nhops; h++)
        for (uint32_t et = 0; et < b->netypes; et++) {
            const struct gnn_block *k = gnn_batch_block(b, h, et);
            const struct gnn_etype *c = &m->schema.etype[et];
            if (k->n && (k->indptr[0] || k->indptr[k->n] != k->edges ||
                         (uint64_t)k->first + k->n > gnn_batch_nodes(b, c->dst)))
                abort();
            for (uint32_t i = 0; i < k->n; i++)
                if (k->indptr[i] > k->indptr[i + 1])
                    abort();
            if (k->edges && !gnn_sampling_keeps(&m->sampling, h))
                abort();
            for (uint32_t i = 0; i < k->edges; i++) {
                if (k->indices[i] >= gnn_batch_nodes(b, c->src))
                    abort();
                sum += k->id ? k->id[i] : 0;
            }
        }
    for (uint32_t i = 0; i < b->tensors.n; i++) { /* and the last byte of everything */
        const struct gnn_tensor *x = gnn_tensors_at(&b->tensors, i);
        uint64_t bytes;
        sum += gnn_tensor_bytes(x, &bytes) && bytes ? ((const uint8_t *)x->data)[bytes - 1] : 0;
    }
    return sum;
}

#endif
