/* SPDX-License-Identifier: Apache-2.0 */
/* What caches miss: as expected, and of batches that were drawn. */
#include <math.h>
#include <string.h>

#include "lib/cache/cache.h"

void gnn_cache_expected(const struct gnn_cache *k, const struct gnn_schema *c,
                        const struct gnn_scores *p, double *missed)
{
    double at[256] = {0};
    for (uint32_t t = 0; t < k->ntypes; t++)
        for (uint64_t i = 0; p->of && k->level[t] && i < c->ntype[t].count; i++)
            at[k->level[t][i]] += p->of[t][i];
    double sum = p->of ? at[k->nsizes] : NAN;
    for (uint32_t i = k->nsizes; i--; sum += at[i])
        missed[i] = sum;
    missed[k->nsizes] = sum;
}

void gnn_cache_count(const struct gnn_cache *k, uint32_t t, const uint32_t *id, uint64_t n,
                     const uint64_t *with, uint64_t bits, struct gnn_cache_tally *y)
{
    const uint8_t *level = k->level[t];
    for (uint64_t i = 0; level && i < n; i++)
        if (!with || with[i] & bits)
            y->level[level[id[i]]]++;
}

void gnn_cache_missed(const struct gnn_cache *k, const struct gnn_cache_tally *y, uint64_t *missed)
{
    uint64_t sum = y->level[k->nsizes];
    for (uint32_t i = k->nsizes; i--; sum += y->level[i])
        missed[i] = sum;
    missed[k->nsizes] = sum;
}

/* ---- which part's seeds lead to a node ---- */

int gnn_reach_init(struct gnn_reach *r, uint32_t ntypes, struct gnn_err *e)
{
    *r = (struct gnn_reach){.ntypes = ntypes};
    r->bits = gnn_alloc_zero(2 * (uint64_t)ntypes, sizeof *r->bits, "partitions of nodes", e);
    r->before = r->bits ? r->bits + ntypes : NULL;
    return r->bits ? 0 : e->code;
}

void gnn_reach_release(struct gnn_reach *r)
{
    for (uint32_t t = 0; r->bits && t < 2 * r->ntypes; t++)
        gnn_buf_release(&r->bits[t]);
    gnn_free(r->bits);
    *r = (struct gnn_reach){0};
}

/* A hop's rows pass on what they had before it. */
static void pass_on(struct gnn_reach *r, const struct gnn_schema *c, const struct gnn_batch *b,
                    uint32_t hop)
{
    for (uint32_t t = 0; t < b->nntypes; t++)
        if (b->type[t].count[hop])
            memcpy(r->before[t].data, r->bits[t].data, b->type[t].count[hop] * sizeof(uint64_t));
    for (uint32_t et = 0; et < b->netypes; et++) {
        const struct gnn_block *k = gnn_batch_block(b, hop, et);
        const uint64_t *to = r->before[c->etype[et].dst].data;
        uint64_t *from = r->bits[c->etype[et].src].data;
        for (uint32_t i = 0; k->indptr && i < k->n; i++)
            for (uint32_t j = k->indptr[i]; j < k->indptr[i + 1]; j++)
                from[k->indices[j]] |= to[k->first + i];
    }
}

int gnn_reach_find(struct gnn_reach *r, const struct gnn_store *s, const struct gnn_batch *b,
                   uint32_t seed_ntype, const uint32_t *const *id, struct gnn_err *e)
{
    for (uint32_t t = 0; t < b->nntypes; t++) {
        const uint64_t n = gnn_batch_nodes(b, t);
        if (gnn_buf_fit(&r->bits[t], n, sizeof(uint64_t), "partitions of nodes", e) ||
            gnn_buf_fit(&r->before[t], n, sizeof(uint64_t), "partitions of nodes", e))
            return e->code;
        if (n)
            memset(r->bits[t].data, 0, n * sizeof(uint64_t));
    }
    uint64_t *seed = r->bits[seed_ntype].data;
    for (uint64_t i = 0; i < b->type[seed_ntype].count[0]; i++)
        seed[i] = UINT64_C(1) << gnn_store_owner(s, seed_ntype, id[seed_ntype][i]);
    for (uint32_t h = 0; h < b->nhops; h++)
        pass_on(r, &s->meta.schema, b, h);
    return 0;
}
