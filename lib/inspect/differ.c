/* SPDX-License-Identifier: Apache-2.0 */
/* The first difference between two stores, streams or models (lib/inspect/differ.h). A function
 * that finds one writes where it is and what both sides have into struct gnn_diff; the callers stop
 * there. What may differ, such as provenance, is taken out of both sides before they are
 * compared. */
#include "lib/inspect/differ.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/inspect/value.h"

int gnn_differ(struct gnn_diff *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(d->where, sizeof d->where, fmt, ap);
    va_end(ap);
    d->differ = true;
    return GNN_OK;
}

int gnn_differ_text(struct gnn_diff *d, const char *a, const char *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(d->where, sizeof d->where, fmt, ap);
    va_end(ap);
    snprintf(d->a, sizeof d->a, "%s", a);
    snprintf(d->b, sizeof d->b, "%s", b);
    d->differ = true;
    return GNN_OK;
}

int gnn_differ_elements(struct gnn_diff *d, enum gnn_dtype dtype, const void *a, const void *b,
                        uint64_t n, uint64_t first, const char *where)
{
    size_t size = gnn_dtype_bytes(dtype);
    /* The whole is compared first: equal data, the usual case, cost one pass. */
    if (!n || memcmp(a, b, (size_t)n * size) == 0)
        return GNN_OK;
    uint64_t i = 0;
    while (memcmp((const char *)a + i * size, (const char *)b + i * size, size) == 0)
        i++;
    gnn_value_text(dtype, a, i, d->a, sizeof d->a);
    gnn_value_text(dtype, b, i, d->b, sizeof d->b);
    return gnn_differ(d, "%s, element %llu", where, (unsigned long long)(first + i));
}

static const char *shape_text(const struct gnn_tensor *t, char *out, size_t capacity)
{
    size_t n = (size_t)snprintf(out, capacity, "%s (", gnn_dtype_name(t->dtype));
    for (uint32_t i = 0; i < t->ndim && n < capacity; i++)
        n += (size_t)snprintf(out + n, capacity - n, "%s%llu", i ? ", " : "",
                              (unsigned long long)t->shape[i]);
    if (n < capacity)
        snprintf(out + n, capacity - n, ")");
    return out;
}

int gnn_differ_tensor(struct gnn_diff *d, const struct gnn_tensor *a, const struct gnn_tensor *b,
                      const char *where)
{
    uint64_t n = 0;
    if (strcmp(a->name, b->name) != 0)
        return gnn_differ_text(d, a->name, b->name, "%s: name of tensor", where);
    if (a->dtype != b->dtype || a->ndim != b->ndim ||
        memcmp(a->shape, b->shape, a->ndim * sizeof *a->shape) != 0) {
        shape_text(a, d->a, sizeof d->a);
        shape_text(b, d->b, sizeof d->b);
        return gnn_differ(d, "%s, tensor %s", where, a->name);
    }
    char place[GNN_NAME_MAX + 64];
    snprintf(place, sizeof place, "%s, tensor %s", where, a->name);
    return gnn_tensor_count(a, &n) ? gnn_differ_elements(d, a->dtype, a->data, b->data, n, 0, place)
                                   : GNN_OK;
}

static void json_text(const json_t *j, char *out, size_t capacity)
{
    memset(out, 0, capacity);
    if (!j || !json_dumpb(j, out, capacity - 1, JSON_ENCODE_ANY | JSON_COMPACT))
        snprintf(out, capacity, "(absent)");
}

int gnn_differ_json(struct gnn_diff *d, const json_t *a, const json_t *b, const char *where)
{
    char place[400];
    /* Only the first difference is kept. */
    if (json_equal(a, b) || d->differ)
        return GNN_OK;
    if (json_is_object(a) && json_is_object(b)) {
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)(uintptr_t)a, key, value)
        {
            snprintf(place, sizeof place, "%s.%s", where, key);
            if (gnn_differ_json(d, value, json_object_get(b, key), place), d->differ)
                return GNN_OK;
        }
        json_object_foreach((json_t *)(uintptr_t)b, key, value)
        {
            snprintf(place, sizeof place, "%s.%s", where, key);
            if (gnn_differ_json(d, json_object_get(a, key), value, place), d->differ)
                return GNN_OK;
        }
    } else if (json_is_array(a) && json_is_array(b) && json_array_size(a) == json_array_size(b)) {
        for (size_t i = 0; i < json_array_size(a) && !d->differ; i++) {
            snprintf(place, sizeof place, "%s[%zu]", where, i);
            gnn_differ_json(d, json_array_get(a, i), json_array_get(b, i), place);
        }
        return GNN_OK;
    }
    json_text(a, d->a, sizeof d->a);
    json_text(b, d->b, sizeof d->b);
    return gnn_differ(d, "%s", where);
}

int gnn_differ_meta(struct gnn_diff *d, const struct gnn_meta *a, const struct gnn_meta *b,
                    unsigned flags, struct gnn_err *e)
{
    json_t *x = NULL, *y = NULL;
    int rc = gnn_report_meta(a, &x, e);
    if (!rc)
        rc = gnn_report_meta(b, &y, e);
    if (!rc) {
        json_t *side[2] = {x, y};
        for (int i = 0; i < 2; i++) {
            if (!(flags & GNN_DIFF_PROVENANCE))
                json_object_del(side[i], "provenance");
            if (!(flags & GNN_DIFF_IDENTITY))
                json_object_del(side[i], "identity");
            json_object_del(side[i], "base");
            json_t *s = json_object_get(side[i], "sampling");
            if (s) /* says in words what other members say */
                json_object_del(s, "options");
            /* Streams with original ids are the same however the store was partitioned. */
            if (flags & GNN_DIFF_ORIGINAL) {
                json_object_del(side[i], "parts");
                if (s)
                    json_object_del(s, "original_ids");
            }
        }
        gnn_differ_json(d, x, y, "header");
    }
    json_decref(x);
    json_decref(y);
    return rc;
}
