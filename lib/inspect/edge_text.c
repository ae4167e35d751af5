/* SPDX-License-Identifier: Apache-2.0 */
/* Edges of a type as text. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/data/time.h"
#include "lib/inspect/inspect.h"
#include "lib/inspect/value.h"
#include "lib/store/csc_check.h"
#include "lib/store/ids.h"
#include "lib/base/mem.h"

/* A line has two ids of at most 10 bytes, and a time of at most 24. */
enum { LINE_CAPACITY = 64, TEXT_CAPACITY = 1 << 16 };

struct edge_text {
    struct gnn_store *store;
    uint32_t etype;
    uint32_t *source_id, *dest_id; /* store id -> original id; NULL: equal */
    FILE *out;
    const char *name; /* of out */
    size_t n;
    char text[TEXT_CAPACITY]; /* n bytes to be written */
};

/* *original[store id], or NULL where the two are equal. */
static int find_originals(struct gnn_store *s, uint32_t ntype, uint32_t **original,
                          struct gnn_err *e)
{
    const uint64_t n = s->meta.schema.ntype[ntype].count;
    uint32_t *store_id;
    *original = NULL;
    if (gnn_store_inverse(s, ntype, &store_id, e))
        return e->code;
    if (!store_id)
        return GNN_OK;
    uint32_t *to = *original = gnn_alloc(n, sizeof *to, "original ids", e);
    for (uint64_t i = 0; to && i < n; i++)
        to[store_id[i]] = (uint32_t)i;
    gnn_free(store_id);
    return e->code;
}

static int write_text(struct edge_text *t, struct gnn_err *e)
{
    if (fwrite(t->text, 1, t->n, t->out) != t->n)
        return gnn_fail_errno(e, "%s: cannot write", t->name);
    t->n = 0;
    return GNN_OK;
}

static void put_decimal(struct edge_text *t, uint64_t value)
{
    char digits[20];
    size_t first = sizeof digits;
    do {
        digits[--first] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    memcpy(t->text + t->n, digits + first, sizeof digits - first);
    t->n += sizeof digits - first;
}

static void put_time(struct edge_text *t, const struct gnn_tensor *time, uint64_t edge)
{
    t->text[t->n++] = ' ';
    if (time->dtype == GNN_I64) { /* as most are: no printf for each */
        const int64_t value = ((const int64_t *)time->data)[edge];
        if (value < 0)
            t->text[t->n++] = '-';
        put_decimal(t, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
    } else {
        char *to = t->text + t->n;
        t->n += strlen(gnn_value_text(time->dtype, time->data, edge, to, TEXT_CAPACITY - t->n));
    }
}

/* Row `row` of the part's adjacency: the in-edges of one node. */
static int put_row(struct edge_text *t, uint32_t part, const struct gnn_store_adj *a, uint64_t row,
                   const struct gnn_tensor *time, struct gnn_err *e)
{
    const struct gnn_etype *type = &t->store->meta.schema.etype[t->etype];
    const uint64_t id = t->store->book[type->dst][part] + row;
    const uint64_t dest = t->dest_id ? t->dest_id[id] : id;
    uint64_t key;
    for (uint64_t k = a->indptr[row]; k < a->indptr[row + 1]; k++) {
        if (time && !gnn_time_key(time->dtype, time->data, k, &key))
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor %s: element %" PRIu64 " is nan",
                            gnn_store_part_path(t->store, part), time->name, k);
        if (t->n > TEXT_CAPACITY - LINE_CAPACITY && write_text(t, e))
            return e->code;
        const uint32_t source = a->indices[k];
        put_decimal(t, t->source_id ? t->source_id[source] : source);
        t->text[t->n++] = ' ';
        put_decimal(t, dest);
        if (time)
            put_time(t, time, k);
        t->text[t->n++] = '\n';
    }
    return GNN_OK;
}

static int put_part(struct edge_text *t, uint32_t part, struct gnn_err *e)
{
    struct gnn_store *s = t->store;
    const char *order = s->meta.schema.etype[t->etype].order;
    const struct gnn_tensor *time = NULL;
    struct gnn_store_adj a;
    char key[GNN_ETYPE_KEY_CAPACITY];

    int rc = gnn_store_adjacency(s, part, t->etype, &a, e);
    gnn_etype_key(&s->meta.schema, t->etype, key, sizeof key);
    if (!rc && order && !(time = gnn_store_findf(s, part, "edge/%s/%s", key, order)))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: tensor edge/%s/%s is missing",
                      gnn_store_part_path(s, part), key, order);
    for (uint64_t row = 0; !rc && row < a.rows; row++)
        rc = put_row(t, part, &a, row, time, e);
    return rc;
}

int gnn_edges_text(struct gnn_store *s, uint32_t etype, FILE *out, const char *name,
                   struct gnn_err *e)
{
    const struct gnn_etype *type = &s->meta.schema.etype[etype];
    struct edge_text *t = gnn_alloc_zero(1, sizeof *t, "text", e);
    if (!t)
        return e->code;
    t->store = s;
    t->etype = etype;
    t->out = out;
    t->name = name;
    int rc = find_originals(s, type->src, &t->source_id, e);
    if (!rc && type->dst == type->src)
        t->dest_id = t->source_id;
    else if (!rc)
        rc = find_originals(s, type->dst, &t->dest_id, e);
    for (uint32_t part = 0; !rc && part < s->nparts; part++)
        rc = put_part(t, part, e);
    if (!rc)
        rc = write_text(t, e);
    if (!rc && fflush(out))
        rc = gnn_fail_errno(e, "%s: cannot write", name);
    if (!rc)
        rc = gnn_store_verified(s, e);
    if (t->dest_id != t->source_id)
        gnn_free(t->dest_id);
    gnn_free(t->source_id);
    gnn_free(t);
    return rc;
}
