/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/inspect/laws.h"
#include "lib/base/plural.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- nodes are in the order of their first occurrence ---- */

static int check_occurrence(struct gnn_laws *l, uint32_t type, uint32_t v, const char *where,
                            uint32_t which, struct gnn_err *e)
{
    if (v > l->next[type])
        return gnn_fail(e, GNN_E_INPUT,
                        "%s %u: node number %u of '%s' occurs before number %" PRIu64, where, which,
                        v, l->m->schema.ntype[type].name, l->next[type]);
    l->next[type] += v == l->next[type];
    return GNN_OK;
}

static int check_numbers(struct gnn_laws *l, const struct gnn_batch *b, uint32_t hop, bool last,
                         struct gnn_err *e)
{
    for (uint32_t t = 0; t < b->nntypes; t++)
        if (l->next[t] != b->type[t].count[hop + 1])
            return gnn_fail(e, GNN_E_INPUT, "%s %u: node number %" PRIu64 " of '%s' does not occur",
                            last ? "walks of length" : "hop",
                            last ? l->m->sampling.walks.length : hop, l->next[t],
                            l->m->schema.ntype[t].name);
    return GNN_OK;
}

static int check_hop(struct gnn_laws *l, const struct gnn_batch *b, uint32_t hop, struct gnn_err *e)
{
    for (uint32_t t = 0; t < b->nntypes; t++)
        l->next[t] = b->type[t].count[hop];
    for (uint32_t et = 0; et < b->netypes; et++) {
        const struct gnn_block *k = gnn_batch_block(b, hop, et);
        for (uint32_t j = 0; j < k->edges; j++)
            if (check_occurrence(l, l->m->schema.etype[et].src, k->indices[j], "hop", hop, e))
                return e->code;
    }
    return check_numbers(l, b, hop, false, e);
}

static int check_walks(struct gnn_laws *l, const struct gnn_batch *b, struct gnn_err *e)
{
    const struct gnn_sampling *m = &l->m->sampling;
    const struct gnn_schema *c = &l->m->schema;
    for (uint32_t t = 0; t < b->nntypes; t++)
        l->next[t] = b->type[t].count[0];
    for (uint32_t s = 1; s <= m->walks.length; s++) {
        const uint32_t type = c->etype[gnn_sampling_step(m, c->netypes, s - 1)].src;
        for (uint64_t i = 0; i < b->rows[GNN_UNIT_WALKS]; i++) {
            const uint32_t v = b->walk[i * (m->walks.length + UINT64_C(1)) + s];
            if (v != UINT32_MAX && check_occurrence(l, type, v, "step", s, e))
                return e->code;
        }
    }
    return check_numbers(l, b, b->nhops - 1, true, e);
}

/* ---- edges are there once ---- */

static int compare_ids(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Whether an id is twice among n; *twice is it. */
static bool find_twice(struct gnn_laws *l, const uint64_t *id, uint32_t n, uint64_t *twice)
{
    uint64_t *sorted = l->ids.data;
    bool found = false;
    if (n)
        memcpy(sorted, id, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_ids);
    for (uint32_t i = 1; i < n; i++)
        if (sorted[i] == sorted[i - 1]) {
            *twice = sorted[i];
            found = true;
        }
    return found;
}

/* In the rows of a block, or, where a node may be there repeatedly, in each. */
static int check_ids(struct gnn_laws *l, const struct gnn_batch *b, uint32_t hop, uint32_t et,
                     struct gnn_err *e)
{
    const struct gnn_block *k = gnn_batch_block(b, hop, et);
    const uint64_t block = (uint64_t)hop * b->netypes + et;
    char key[GNN_ETYPE_KEY_CAPACITY];
    uint64_t twice;
    bool found = false;
    if (!k->id || gnn_pick_repeats(gnn_sampling_rule(&l->m->sampling, block)))
        return GNN_OK;
    if (gnn_buf_fit(&l->ids, k->edges + UINT64_C(1), sizeof *k->id, "edge ids", e))
        return e->code;
    if (!gnn_sampling_has_repeats(&l->m->sampling))
        found = find_twice(l, k->id, k->edges, &twice);
    else
        for (uint32_t i = 0; !found && i < k->n; i++)
            found = find_twice(l, k->id + k->indptr[i], k->indptr[i + 1] - k->indptr[i], &twice);
    return found ? gnn_fail(e, GNN_E_INPUT, "hop %u: edge %" PRIu64 " of %s is there twice", hop,
                            twice, gnn_etype_key(&l->m->schema, et, key, sizeof key))
                 : GNN_OK;
}

/* ---- seeds ---- */

static bool has_bit(const uint64_t *bits, uint64_t i)
{
    return bits[i / 64] >> i % 64 & 1;
}

static void set_bit(uint64_t *bits, uint64_t i)
{
    bits[i / 64] |= UINT64_C(1) << i % 64;
}

/* How many seeds a batch has, each as often as it was drawn. */
static uint64_t count_draws(const struct gnn_batch_type *x)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < x->count[0]; i++)
        n += x->draws ? x->draws[i] : 1;
    return n;
}

/* Seeds of a set are its members, none twice in an epoch, unless they are drawn; and, of one rank,
 * as many as promised. */
static int check_seeds(struct gnn_laws *l, const struct gnn_batch *b, struct gnn_err *e)
{
    const struct gnn_sampling *m = &l->m->sampling;
    const struct gnn_batch_type *x = &b->type[m->seed_ntype];
    const uint64_t words = l->m->schema.ntype[m->seed_ntype].count / 64 + 1;
    if (!l->member || !l->member[b->split])
        return GNN_OK;
    const bool drawn = gnn_sampling_draws_seeds(m) && !b->split;
    uint64_t *seen = l->seen[b->split];
    if (l->epoch[b->split] != b->epoch)
        memset(seen, 0, words * sizeof *seen);
    l->epoch[b->split] = b->epoch;
    for (uint64_t i = 0; i < x->count[0]; i++) {
        const uint32_t v =
            m->original_ids ? gnn_view_store_id(l->view, m->seed_ntype, x->node[i]) : x->node[i];
        const bool member = has_bit(l->member[b->split], v);
        if (!member || (!drawn && has_bit(seen, v)))
            return gnn_fail(e, GNN_E_INPUT, "seed %u is %s '%s'", x->node[i],
                            member ? "twice in an epoch of" : "not in the set", m->split[b->split]);
        set_bit(seen, v);
    }
    const uint64_t want = gnn_sampling_seeds_of(m, b->split, b->step), n = count_draws(x);
    /* What walks begin with repeatedly is one node. */
    return gnn_sampling_counts_seeds(m) || m->ranks || n == want ||
                   (drawn && m->walks.length && n < want)
               ? GNN_OK
               : gnn_fail(e, GNN_E_INPUT, "has %" PRIu64 " seed%s, and should have %" PRIu64, n,
                          gnn_plural(n), want);
}

/* The members of split i, if it is a set of the store that has each of them once. */
static int find_members(struct gnn_laws *l, struct gnn_store *store, uint32_t i, struct gnn_err *e)
{
    const struct gnn_sampling *m = &l->m->sampling;
    const struct gnn_schema *c = &store->meta.schema;
    const int set = gnn_sampling_find_set(m, i, c);
    const uint64_t words = c->ntype[m->seed_ntype].count / 64 + 1;
    uint32_t *ids;
    /* A list of ids is called "seeds", too, and may have one repeatedly. */
    if (set < 0 || !strcmp(m->split[i], "seeds"))
        return GNN_OK;
    if (gnn_store_split(store, (uint32_t)set, &ids, e))
        return e->code;
    l->member[i] = gnn_alloc_zero(words, sizeof **l->member, "a set", e);
    l->seen[i] = gnn_alloc_zero(words, sizeof **l->seen, "a set", e);
    bool once = l->member[i] && l->seen[i];
    for (uint64_t k = 0; once && k < c->set[set].count; k++) {
        once = ids[k] / 64 < words && !has_bit(l->member[i], ids[k]);
        if (once)
            set_bit(l->member[i], ids[k]);
    }
    gnn_free(ids);
    if (!once) {
        gnn_free(l->member[i]);
        l->member[i] = NULL;
    }
    return e->code;
}

int gnn_laws_init(struct gnn_laws *l, const struct gnn_meta *m, struct gnn_store *store,
                  const struct gnn_view *view, struct gnn_err *e)
{
    const uint32_t n = m->sampling.nsplits;
    *l = (struct gnn_laws){.m = m, .view = store ? view : NULL};
    l->next = gnn_alloc_zero(m->schema.nntypes, sizeof *l->next, "node types", e);
    if (!l->next || !store)
        return e->code;
    l->member = gnn_alloc_zero(n, sizeof *l->member, "splits", e);
    l->seen = gnn_alloc_zero(n, sizeof *l->seen, "splits", e);
    l->epoch = gnn_alloc_zero(n, sizeof *l->epoch, "splits", e);
    for (uint32_t i = 0; !e->code && i < n; i++)
        if (find_members(l, store, i, e))
            return e->code;
    return e->code;
}

int gnn_laws_check(struct gnn_laws *l, const struct gnn_batch *b, struct gnn_err *e)
{
    const struct gnn_sampling *m = &l->m->sampling;
    if (check_seeds(l, b, e) || (b->walk && check_walks(l, b, e)))
        return e->code;
    for (uint32_t h = 0; h < b->nhops; h++) {
        if (m->walks.length || !gnn_sampling_keeps(m, h))
            continue;
        if (!gnn_sampling_induces(m, h) && check_hop(l, b, h, e))
            return e->code;
        for (uint32_t et = 0; et < b->netypes; et++)
            if (check_ids(l, b, h, et, e))
                return e->code;
    }
    return GNN_OK;
}

void gnn_laws_release(struct gnn_laws *l)
{
    for (uint32_t i = 0; l->m && i < l->m->sampling.nsplits; i++) {
        gnn_free(l->member ? l->member[i] : NULL);
        gnn_free(l->seen ? l->seen[i] : NULL);
    }
    gnn_free(l->member);
    gnn_free(l->seen);
    gnn_free(l->epoch);
    gnn_free(l->next);
    gnn_buf_release(&l->ids);
    *l = (struct gnn_laws){0};
}
