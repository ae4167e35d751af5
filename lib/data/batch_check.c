/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a batch that has been bound is what its header promises (lib/data/batch.h): by the counts
 * in it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/data/columns.h"
#include "lib/base/node_set.h"
#include "lib/base/plural.h"

struct counts {
    const struct gnn_batch *b;
    const struct gnn_meta *m;
    struct gnn_err *e;
};

GNN_PRINTF(3, 4)
static int fail_batch(const struct counts *s, const char *name, const char *fmt, ...)
{
    char what[256];
    va_list ap;
    va_start(ap, fmt);
    (void)!vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    return gnn_fail(s->e, GNN_E_INPUT, "batch %" PRIu64 "/%" PRIu64 ": tensor '%s': %s",
                    s->b->epoch, s->b->step, name, what);
}

/* A batch has as many links as its number of seeds says, where there are no other ranks; and the
 * negatives of these, and no more nodes to begin with than the ends of both. */
static int check_links(const struct counts *s)
{
    const struct gnn_sampling *m = &s->m->sampling;
    const struct gnn_batch *b = s->b;
    const uint64_t n = b->rows[GNN_UNIT_PAIRS], most = gnn_sampling_seeds_of(m, b->split, b->step);
    if (b->seeds > most || n > b->seeds || (!m->ranks && n < b->seeds) || !b->seeds)
        return fail_batch(s, "pair",
                          "%" PRIu64 " link%s, where the batch has %" PRIu64
                          " and its step can have %" PRIu64,
                          n, gnn_plural(n), b->seeds, most);
    const uint64_t negatives = gnn_sampling_negatives(m, b->split, b->step, b->seeds);
    if (b->rows[GNN_UNIT_NEGATIVES] > negatives ||
        (!m->ranks && b->rows[GNN_UNIT_NEGATIVES] < negatives))
        return fail_batch(s, "negative", "%" PRIu64 " negative%s, and there should be %" PRIu64,
                          b->rows[GNN_UNIT_NEGATIVES], gnn_plural(b->rows[GNN_UNIT_NEGATIVES]),
                          negatives);
    for (uint32_t t = 0; t < b->nntypes; t++)
        if (b->type[t].count[0] > 2 * (n + b->rows[GNN_UNIT_NEGATIVES]))
            return fail_batch(s, "pair", "not the ends of the nodes that the batch begins with");
    return 0;
}

/* A batch has at least one seed, but for those of one of several ranks and of clusters; and at most
 * those that are left of its set, where their number is known. */
static int check_seeds(const struct counts *s)
{
    const struct gnn_sampling *m = &s->m->sampling;
    const uint64_t n = s->b->type[m->seed_ntype].count[0];
    const uint64_t most = gnn_sampling_seeds_of(m, s->b->split, s->b->step);
    char name[GNN_NAME_MAX + 1];
    gnn_column_name(name, &s->m->schema, GNN_COLUMN_COUNTS, 0, m->seed_ntype);
    if (m->links.type)
        return check_links(s);
    if (m->clusters)
        return 0;
    if (n > most)
        return fail_batch(s, name, "%" PRIu64 " seed%s, where there can be %" PRIu64, n,
                          gnn_plural(n), most);
    return n || m->ranks ? 0 : fail_batch(s, name, "no seeds");
}

/* The first row with more than `most` edges, or n. All rows are looked at without a branch, as
 * there is hardly ever one. */
static uint32_t find_over(const uint32_t *indptr, uint32_t n, uint32_t most)
{
    uint32_t over = 0, at = 0;
    for (uint32_t i = 0; i < n; i++)
        over |= indptr[i + 1] - indptr[i] > most;
    while (over && indptr[at + 1] - indptr[at] <= most)
        at++;
    return over ? at : n;
}

static int check_block(const struct counts *s, uint32_t hop, uint32_t et)
{
    const struct gnn_sampling *m = &s->m->sampling;
    const struct gnn_block *k = gnn_batch_block(s->b, hop, et);
    const uint64_t *dst = s->b->type[s->m->schema.etype[et].dst].count;
    const struct gnn_pick_rule rule = gnn_sampling_rule(m, (uint64_t)hop * s->b->netypes + et);
    const uint64_t rows = dst[hop] - (gnn_sampling_new_rows(m, hop) ? dst[hop - 1] : 0);
    char name[GNN_NAME_MAX + 1];
    const bool missing = rows && !k->indptr && gnn_pick_any(rule);
    const uint32_t at =
        rule.fanout < 0 || s->b->place ? k->n : find_over(k->indptr, k->n, (uint32_t)rule.fanout);
    const bool many = k->edges > gnn_column_edges_max(s->m, hop, et, k->n);
    if (!missing && at == k->n && !many)
        return 0;
    gnn_column_name(name, &s->m->schema, GNN_COLUMN_INDPTR, hop, et);
    if (missing)
        return fail_batch(s, name, "missing, though %" PRIu64 " node%s pick neighbours", rows,
                          gnn_plural(rows));
    return at < k->n ? fail_batch(s, name, "row %u has %u edge%s, and the fan-out is %d", at,
                                  k->indptr[at + 1] - k->indptr[at],
                                  gnn_plural(k->indptr[at + 1] - k->indptr[at]), rule.fanout)
                     : fail_batch(s, name, "%u edge%s, more than there can be", k->edges,
                                  gnn_plural(k->edges));
}

/* The last hop leads to nodes that are there. */
static int check_induced(const struct counts *s, uint32_t t)
{
    const uint64_t *count = s->b->type[t].count;
    char name[GNN_NAME_MAX + 1];
    if (count[s->b->nhops] == count[s->b->nhops - 1])
        return 0;
    return fail_batch(s, gnn_column_name(name, &s->m->schema, GNN_COLUMN_COUNTS, 0, t),
                      "induced edges find nodes");
}

/* As many walks as the seeds have. Those of one seed follow each other, and seeds come in the order
 * of their numbers, all of them. */
static int check_walks(const struct counts *s)
{
    const struct gnn_sampling *m = &s->m->sampling;
    const struct gnn_batch *b = s->b;
    const uint64_t width = m->walks.length + UINT64_C(1), seeds = b->type[m->seed_ntype].count[0],
                   n = b->rows[GNN_UNIT_WALKS], each = m->walks.per_seed;
    uint64_t next = 0;
    if (b->walk && (n % each || n < seeds * each || n / each > m->batch_size))
        return fail_batch(s, "walk", "not the walks of the seeds");
    for (uint64_t i = 0; !b->place && i < n; i++) {
        const uint32_t seed = b->walk[i * width];
        if (i % each ? seed != b->walk[(i - 1) * width] : seed > next)
            return fail_batch(s, "walk", "walk %" PRIu64 " does not begin at its seed", i);
        next += seed == next;
    }
    return !b->walk || b->place || next == seeds
               ? 0
               : fail_batch(s, "walk", "no walk begins at seed %" PRIu64, next);
}

int gnn_batch_check_counts(const struct gnn_batch *b, const struct gnn_meta *m, struct gnn_err *e)
{
    const struct counts s = {b, m, e};
    int rc = check_seeds(&s);
    for (uint32_t h = 0; !rc && !m->sampling.walks.length && h < b->nhops; h++)
        for (uint32_t et = 0; !rc && gnn_sampling_keeps(&m->sampling, h) && et < b->netypes; et++)
            rc = check_block(&s, h, et);
    for (uint32_t t = 0; !rc && m->sampling.induced && t < b->nntypes; t++)
        rc = check_induced(&s, t);
    return rc ? rc : check_walks(&s);
}

int gnn_batch_check_nodes(const struct gnn_batch *b, const struct gnn_meta *m,
                          struct gnn_node_set *set, struct gnn_err *e)
{
    for (uint32_t t = 0; t < b->nntypes; t++) {
        const uint64_t n = gnn_batch_nodes(b, t);
        const struct gnn_batch_type *v = &b->type[t];
        const struct gnn_entries x = {(uint32_t *)(uintptr_t)v->node, (int64_t *)(uintptr_t)v->time,
                                      (uint32_t *)(uintptr_t)v->tree};
        uint64_t at;
        if (gnn_entries_plain(&x) ? gnn_node_set_repeat(set, v->node, n, &at, e)
                                  : gnn_node_set_repeat_in(set, &x, n, &at, e))
            return e->code;
        if (at < n)
            return gnn_fail(e, GNN_E_INPUT,
                            "batch %" PRIu64 "/%" PRIu64 ": tensor 'nodes/%s': element %" PRIu64
                            ": node %u occurs twice%s",
                            b->epoch, b->step, m->schema.ntype[t].name, at, v->node[at],
                            v->tree   ? " in its tree"
                            : v->time ? " at its time"
                                      : "");
    }
    return 0;
}

enum gnn_dtype gnn_batch_narrowed(const struct gnn_batch *b, const struct gnn_meta *m)
{
    struct gnn_rows_of x;
    for (uint32_t i = 0; i < b->tensors.n; i++) {
        const struct gnn_tensor *t = &b->tensors.slot[i]->t;
        if ((t->dtype == GNN_F16 || t->dtype == GNN_BF16) && gnn_rows_of(m, t->name, &x) &&
            x.field && gnn_field_stands_for(x.field) == GNN_F32)
            return t->dtype;
    }
    return 0;
}
