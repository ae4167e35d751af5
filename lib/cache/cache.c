#include "lib/cache/cache.h"

#include <inttypes.h>
#include <string.h>

#include "lib/comm/comm.h"
#include "lib/store/ids.h"

/* ---- rows ---- */

static int add_field(struct gnn_rows *r, const struct gnn_schema *c, const char *name,
                     struct gnn_err *e)
{
    bool found = false;
    for (uint32_t t = 0; t < c->nntypes; t++) {
        const struct gnn_field *f = gnn_field_find(c->ntype[t].field, c->ntype[t].nfields, name);
        uint64_t bytes;
        if (!f)
            continue;
        found = true;
        if (__builtin_mul_overflow(f->width ? f->width : 1, gnn_dtype_bytes(f->dtype), &bytes) ||
            __builtin_add_overflow(r->bytes[t], bytes, &r->bytes[t]))
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

/* ---- orders ---- */

struct entry {
    uint32_t key, id;
};

/* Least significant digit first, so that equal keys keep their order. */
static struct entry *sort(struct entry *a, struct entry *b, uint64_t n)
{
    enum { BITS = 11, SIZE = 1 << BITS };
    for (uint32_t shift = 0; shift < 32; shift += BITS) {
        uint64_t at[SIZE] = {0}, sum = 0;
        for (uint64_t i = 0; i < n; i++)
            at[a[i].key >> shift & (SIZE - 1)]++;
        for (uint32_t d = 0; d < SIZE; d++) {
            const uint64_t here = at[d];
            at[d] = sum;
            sum += here;
        }
        for (uint64_t i = 0; i < n; i++)
            b[at[a[i].key >> shift & (SIZE - 1)]++] = a[i];
        struct entry *swap = a;
        a = b;
        b = swap;
    }
    return a;
}

/* Descending scores, none of them negative, as ascending keys. */
static uint32_t key_of(float score)
{
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    return ~(bits & 0x7fffffff);
}

int gnn_cache_order(struct gnn_store *s, uint32_t t, const struct gnn_scores *x, uint32_t *order,
                    uint64_t *used, struct gnn_err *e)
{
    const uint64_t n = s->meta.schema.ntype[t].count;
    const float *score = x->of[t];
    uint32_t *store_id = NULL;
    uint64_t m = 0;
    int rc = s->comm->size > 1 ? 0 : gnn_store_inverse(s, t, &store_id, e);
    if (rc)
        return rc;
    struct entry *a = gnn_alloc(n, sizeof *a, "an order", e),
                 *b = gnn_alloc(n, sizeof *b, "an order", e);
    for (uint64_t i = 0; a && b && i < n; i++) {
        const uint32_t id = store_id ? store_id[i] : (uint32_t)i;
        if (score[id] >= 0)
            a[m++] = (struct entry){key_of(score[id]), id};
    }
    if (a && b) {
        const struct entry *in = sort(a, b, m);
        for (uint64_t i = 0; i < m; i++)
            order[i] = in[i].id;
        *used = m;
    }
    rc = a && b ? 0 : e->code;
    gnn_free(a);
    gnn_free(b);
    gnn_free(store_id);
    return rc;
}

/* ---- caches ---- */

/* The orders of all types, and how far each has been taken. */
struct queue {
    uint32_t **order; /* [ntypes] */
    uint64_t *at, *end;
    const uint64_t *own_from, *own_to; /* [ntypes] rows that need no cache */
};

static void queue_release(struct queue *q, uint32_t ntypes)
{
    for (uint32_t t = 0; q->order && t < ntypes; t++)
        gnn_free(q->order[t]);
    gnn_free(q->order);
    gnn_free(q->at);
}

static int queue_init(struct queue *q, struct gnn_store *s, const struct gnn_rows *r,
                      const struct gnn_scores *x, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    q->order = gnn_alloc_zero(c->nntypes, sizeof *q->order, "an order", e);
    q->at = gnn_alloc_zero(2 * (uint64_t)c->nntypes, sizeof *q->at, "an order", e);
    int rc = q->order && q->at ? 0 : e->code;
    q->end = rc ? NULL : q->at + c->nntypes;
    for (uint32_t t = 0; !rc && t < c->nntypes; t++) {
        if (!r->bytes[t])
            continue;
        q->order[t] = gnn_alloc(c->ntype[t].count, sizeof **q->order, "an order", e);
        rc = q->order[t] ? gnn_cache_order(s, t, x, q->order[t], &q->end[t], e) : e->code;
    }
    return rc;
}

/* The type whose next row has the highest score, the first of several; -1: no more. */
static int64_t best(const struct queue *q, const struct gnn_scores *x)
{
    int64_t t = -1;
    for (uint32_t i = 0; i < x->ntypes; i++)
        if (q->at[i] < q->end[i] &&
            (t < 0 || x->of[i][q->order[i][q->at[i]]] > x->of[t][q->order[t][q->at[t]]]))
            t = i;
    return t;
}

static void fill(struct gnn_cache *k, struct queue *q, const struct gnn_rows *r,
                 const struct gnn_scores *x, const uint64_t *size)
{
    uint32_t level = 0;
    uint64_t rows = 0, bytes = 0;
    for (int64_t t; level < k->nsizes && (t = best(q, x)) >= 0; q->at[t]++) {
        uint8_t *at = &k->level[t][q->order[t][q->at[t]]];
        if (*at == GNN_CACHE_OWN)
            continue;
        for (; level < k->nsizes && bytes + r->bytes[t] > size[level]; level++) {
            k->rows[level] = rows;
            k->bytes[level] = bytes;
        }
        if (level == k->nsizes)
            break;
        *at = (uint8_t)level;
        rows++;
        bytes += r->bytes[t];
    }
    for (; level < k->nsizes; level++) {
        k->rows[level] = rows;
        k->bytes[level] = bytes;
    }
}

int gnn_cache_init(struct gnn_cache *k, struct gnn_store *s, const struct gnn_rows *r,
                   const struct gnn_scores *x, const uint64_t *size, uint32_t nsizes, int64_t part,
                   struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    struct queue q = {0};
    *k = (struct gnn_cache){.nsizes = nsizes, .ntypes = c->nntypes};
    if (nsizes > GNN_CACHE_SIZES_MAX)
        return gnn_fail(e, GNN_E_USAGE, "more than %d sizes", GNN_CACHE_SIZES_MAX);
    k->level = gnn_alloc_zero(c->nntypes, sizeof *k->level, "a cache", e);
    int rc = k->level ? queue_init(&q, s, r, x, e) : e->code;
    for (uint32_t t = 0; !rc && t < c->nntypes; t++) {
        if (!r->bytes[t])
            continue;
        if (!(k->level[t] = gnn_alloc(c->ntype[t].count, 1, "a cache", e))) {
            rc = e->code;
            break;
        }
        memset(k->level[t], (int)nsizes, c->ntype[t].count);
        if (part >= 0)
            memset(k->level[t] + s->book[t][part], GNN_CACHE_OWN,
                   gnn_store_owned(s, (uint32_t)part, t));
    }
    if (!rc)
        fill(k, &q, r, x, size);
    queue_release(&q, c->nntypes);
    return rc;
}

void gnn_cache_release(struct gnn_cache *k)
{
    for (uint32_t t = 0; k->level && t < k->ntypes; t++)
        gnn_free(k->level[t]);
    gnn_free(k->level);
    *k = (struct gnn_cache){0};
}
