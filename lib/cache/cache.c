/* SPDX-License-Identifier: Apache-2.0 */
/* Caches of several sizes at once (lib/cache/cache.h), as gnn-gather --plan compares them. A cache
 * of a size holds the first rows of a ranking, so a larger one contains each smaller one, and one
 * byte per row - the smallest cache that holds it - describes them all. */
#include "lib/cache/cache.h"

#include <inttypes.h>
#include <string.h>

#include "kernels/gather.h"
#include "lib/cache/fill.h"

/* ---- rows ---- */

static int add_field(struct gnn_rows *r, const struct gnn_schema *c, const char *name,
                     struct gnn_err *e)
{
    bool found = false;
    for (uint32_t t = 0; t < c->nntypes; t++) {
        const struct gnn_field *f = gnn_field_find(c->ntype[t].field, c->ntype[t].nfields, name);
        if (!f)
            continue;
        found = true;
        if (__builtin_add_overflow(r->bytes[t], gnn_field_row_bytes(f), &r->bytes[t]))
            return gnn_fail(e, GNN_E_INPUT, "field '%s': rows too long", name);
    }
    return found ? 0 : gnn_schema_no_field(c, "--fields", name, e);
}

int gnn_rows_init(struct gnn_rows *r, const struct gnn_schema *c, const char *fields,
                  struct gnn_err *e)
{
    const char *list = fields ? fields : "x";
    *r = (struct gnn_rows){.bytes = gnn_alloc_zero(c->nntypes, sizeof *r->bytes, "fields", e)};
    int rc = r->bytes ? 0 : e->code;
    for (const char *p = list, *end; !rc && p; p = *end ? end + 1 : NULL) {
        char name[GNN_NAME_MAX + 1];
        end = p + strcspn(p, ",");
        const size_t n = (size_t)(end - p);
        if (!n || n > GNN_NAME_MAX)
            return gnn_fail(e, GNN_E_USAGE, "fields '%s': not a list of names", list);
        memcpy(name, p, n);
        name[n] = 0;
        /* Labels are small and asked for seeds only, so no cache holds them. */
        rc = strcmp(name, "y") ? add_field(r, c, name, e) : 0;
    }
    for (uint32_t t = 0; !rc && t < c->nntypes; t++) {
        uint64_t bytes;
        r->count += r->bytes[t] ? c->ntype[t].count : 0;
        if (__builtin_mul_overflow(c->ntype[t].count, r->bytes[t], &bytes) ||
            __builtin_add_overflow(r->all_bytes, bytes, &r->all_bytes))
            return gnn_fail(e, GNN_E_INPUT, "fields '%s': rows too long", list);
    }
    if (!rc && !r->all_bytes)
        return gnn_fail(e, GNN_E_USAGE, "fields '%s': nothing to cache", list);
    return rc;
}

void gnn_rows_release(struct gnn_rows *r)
{
    gnn_free(r->bytes);
    *r = (struct gnn_rows){0};
}

/* ---- caches ---- */

/* At first no cache holds a row; rows of parts [from, to) need none, as the rank has them. */
static int init_level(struct gnn_cache *k, const struct gnn_store *s, uint32_t t, uint32_t from,
                      uint32_t to, struct gnn_err *e)
{
    const uint64_t n = s->meta.schema.ntype[t].count, *book = s->book[t];
    if (!(k->level[t] = gnn_alloc(n, 1, "a cache", e)))
        return e->code;
    memset(k->level[t], (int)k->nsizes, n);
    memset(k->level[t] + book[from], GNN_CACHE_OWN, book[to] - book[from]);
    return 0;
}

/* What the cache of size i holds beyond those before it. */
static void fill_level(struct gnn_cache *k, const struct gnn_ranking *ranked, uint32_t i,
                       uint64_t size, uint64_t *at)
{
    uint64_t before[GNN_TYPES_MAX];
    memcpy(before, at, k->ntypes * sizeof *at);
    k->rows[i] = i ? k->rows[i - 1] : 0;
    k->bytes[i] = i ? k->bytes[i - 1] : 0;
    /* The walk goes on where the next smaller cache ended. */
    gnn_fill_one(ranked, size - k->bytes[i], at);
    for (uint32_t t = 0; t < k->ntypes; t++) {
        for (uint64_t n = before[t]; n < at[t]; n++)
            k->level[t][ranked->row[t][n]] = (uint8_t)i;
        k->rows[i] += at[t] - before[t];
        k->bytes[i] += (at[t] - before[t]) * ranked->bytes[t];
    }
}

int gnn_cache_init(struct gnn_cache *k, struct gnn_store *s, const struct gnn_rows *r,
                   const struct gnn_scores *x, const uint64_t *size, uint32_t nsizes, int64_t part,
                   struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    const uint32_t from = part < 0 ? 0 : (uint32_t)part, to = part < 0 ? 0 : from + 1;
    struct gnn_ranking ranked = {0};
    uint64_t *at = NULL;
    *k = (struct gnn_cache){.nsizes = nsizes, .ntypes = c->nntypes};
    if (nsizes > GNN_CACHE_SIZES_MAX)
        return gnn_fail(e, GNN_E_USAGE, "more than %d sizes", GNN_CACHE_SIZES_MAX);
    k->level = gnn_alloc_zero(c->nntypes, sizeof *k->level, "a cache", e);
    at = gnn_alloc_zero(c->nntypes, sizeof *at, "a cache", e);
    int rc = k->level && at ? gnn_ranking_init(&ranked, s, r->bytes, x, from, to, e) : e->code;
    for (uint32_t t = 0; !rc && t < c->nntypes; t++)
        rc = r->bytes[t] ? init_level(k, s, t, from, to, e) : 0;
    for (uint32_t i = 0; !rc && i < nsizes; i++)
        fill_level(k, &ranked, i, size[i], at);
    gnn_ranking_release(&ranked);
    gnn_free(at);
    return rc;
}

void gnn_cache_release(struct gnn_cache *k)
{
    for (uint32_t t = 0; k->level && t < k->ntypes; t++)
        gnn_free(k->level[t]);
    gnn_free(k->level);
    *k = (struct gnn_cache){0};
}
