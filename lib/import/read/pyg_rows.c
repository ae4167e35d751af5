/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the parts of a partition that PyG or GLT wrote (lib/import/read/pyg_parts_impl.h). An
 * array of the graph is the parts' pieces, one after the other, with an order over them, so that
 * features stay where they lie in the files. */
#include <string.h>

#include "formats/npy.h"
#include "lib/base/mem.h"
#include "lib/base/plural.h"
#include "lib/data/schema.h"
#include "lib/import/read/pyg_parts_impl.h"

enum { BLOCK = 8192 };
static const uint64_t UNSET = UINT64_MAX;

int gnn_pyg_parts_fail_value(const struct pyg_parts *p, uint32_t part, const char *file,
                             const struct pyg_type *t, const char *name, const char *why,
                             struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT, "%s: %s%s%u/%s: %s%s: %s", p->in->name, p->root, p->part_name,
                    part, file, t->nkeys ? t->prefix : "", name, why);
}

/* Notes that the rows of a part have these ids, which begin at `offset`. */
int gnn_pyg_parts_place_ids(const struct pyg_parts *p, uint32_t part, const char *file,
                            struct pyg_type *t, const struct gnn_strided *ids, uint64_t offset,
                            struct gnn_err *e)
{
    int64_t id[BLOCK];
    char why[128];
    const uint64_t rows = gnn_strided_rows(ids);
    for (uint64_t i = 0; i < rows; i += BLOCK) {
        const uint64_t n = rows - i < BLOCK ? rows - i : BLOCK;
        gnn_strided_copy(ids, i, n, id);
        for (uint64_t k = 0; k < n; k++) {
            const uint64_t v = (uint64_t)id[k] - offset;
            if (v < t->n && t->order[v] == UNSET) {
                t->order[v] = t->at + i + k;
                continue;
            }
            snprintf(why, sizeof why, v < t->n ? "%lld is there twice" : "%lld is none of %llu",
                     (long long)id[k], (unsigned long long)t->n);
            return gnn_pyg_parts_fail_value(p, part, file, t, "ids", why, e);
        }
    }
    t->rows[part] += rows;
    t->at += rows;
    return GNN_OK;
}

int gnn_pyg_parts_begin_order(struct pyg_parts *p, struct pyg_type *t, struct gnn_err *e)
{
    t->order = gnn_alloc(t->n ? t->n : 1, sizeof *t->order, "ids of parts", e);
    if (!t->order)
        return GNN_E_NOMEM;
    memset(t->order, 0xff, t->n * sizeof *t->order);
    int rc = gnn_array_list_hold(p->l, t->order, gnn_free, e);
    t->rows = rc ? NULL : gnn_alloc_zero(p->nparts, sizeof *t->rows, "parts", e);
    if (!rc && !t->rows)
        rc = GNN_E_NOMEM;
    return rc ? rc : gnn_array_list_hold(p->l, t->rows, gnn_free, e);
}

int gnn_pyg_parts_check_all(const struct pyg_parts *p, const struct pyg_type *t, const char *what,
                            struct gnn_err *e)
{
    const char *of = t->nkeys ? " of " : "", *type = t->nkeys ? t->prefix : "";
    if (t->at != t->n)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: all parts together have %llu %s%s%s%s, and the map has %llu",
                        p->in->name, (unsigned long long)t->at, what, gnn_plural(t->at), of, type,
                        (unsigned long long)t->n);
    for (uint32_t part = 0; part < p->nparts; part++)
        if (t->rows[part] != t->told[part])
            return gnn_fail(e, GNN_E_INPUT, "%s: %s%s%u has %llu %s%s%s%s, and %llu by the map",
                            p->in->name, p->root, p->part_name, part,
                            (unsigned long long)t->rows[part], what, gnn_plural(t->rows[part]), of,
                            type, (unsigned long long)t->told[part]);
    return GNN_OK;
}

int gnn_pyg_parts_add_piece(struct pyg_parts *p, uint32_t part, const char *file,
                            const struct pyg_type *t, const struct gnn_strided *a, const char *name,
                            bool first, struct gnn_err *e)
{
    bool fits;
    if (first) {
        int rc = gnn_array_list_add(p->l, t->prefix, name, a, e);
        if (!rc)
            p->l->array[p->l->n - 1].order = t->order;
        return rc;
    }
    int rc = gnn_array_list_append(p->l, a, &fits, e);
    char why[128];
    snprintf(why, sizeof why, "another dtype or shape of rows than in %s0", p->part_name);
    return rc || fits ? rc : gnn_pyg_parts_fail_value(p, part, file, t, name, why, e);
}

/* ---- types ---- */

/* The names of a type: a text, or a list of three. */
static int read_type(const struct pyg_parts *p, const json_t *j, struct pyg_type *t,
                     struct gnn_err *e)
{
    const bool edge = json_is_array(j);
    t->nkeys = edge ? (uint32_t)json_array_size(j) : 1;
    if (t->nkeys != (edge ? 3 : 1))
        return gnn_pyg_parts_fail_meta(p, "an edge type is no list of three names", e);
    for (uint32_t i = 0; i < t->nkeys; i++) {
        const char *s = t->key[i] = json_string_value(edge ? json_array_get(j, i) : j);
        if (!s || !*s || strchr(s, '/') || strlen(s) > GNN_TYPE_NAME_MAX)
            return gnn_pyg_parts_fail_meta(
                p, "a type has no name, or one with a slash, or a name that is not UTF-8", e);
    }
    t->prefix = edge ? gnn_strf(e, "%s/%s/%s/", t->key[0], t->key[1], t->key[2])
                     : gnn_strf(e, "%s/", t->key[0]);
    return t->prefix ? GNN_OK : GNN_E_NOMEM;
}

/* Counts the nodes or edges of each part, by the map. */
static int count_parts(struct pyg_parts *p, struct pyg_type *t, const struct gnn_strided *a,
                       const char *what, struct gnn_err *e)
{
    uint8_t raw[BLOCK * 8];
    int64_t part[BLOCK];
    uint64_t bad;
    int rc;
    t->told = gnn_alloc_zero(p->nparts, sizeof *t->told, "parts", e);
    if (!t->told || (rc = gnn_array_list_hold(p->l, t->told, gnn_free, e)) != GNN_OK)
        return e->code;
    for (uint64_t i = 0; i < t->n; i += BLOCK) {
        const uint64_t n = t->n - i < BLOCK ? t->n - i : BLOCK;
        gnn_strided_copy(a, i, n, raw);
        if (!gnn_npy_to_i64(a->dtype, raw, part, n, &bad))
            part[bad] = -1;
        for (uint64_t k = 0; k < n; k++) {
            if (part[k] < 0 || part[k] >= (int64_t)p->nparts)
                return gnn_fail(e, GNN_E_INPUT, "%s: %s%s_%s%s%s: row %llu is no part of %u",
                                p->in->name, p->root, what, p->map, t->nkeys ? " of " : "",
                                t->nkeys ? t->prefix : "", (unsigned long long)(i + k), p->nparts);
            t->told[part[k]]++;
        }
    }
    return GNN_OK;
}

/* The part of each node or edge: its rows are all there are. */
int gnn_pyg_parts_open_map(struct pyg_parts *p, struct pyg_type *t, const char *what, bool keep,
                           struct gnn_err *e)
{
    const struct gnn_torch_file *f;
    struct gnn_strided a;
    char why[256] = "no tensor of integers, one for each";
    int rc = t->nkeys == 0 ? gnn_pyg_parts_open_file(p, &f, e, "%s_%s.pt", what, p->map)
             : t->nkeys == 1
                 ? gnn_pyg_parts_open_file(p, &f, e, "%s_%s/%s.pt", what, p->map, t->key[0])
                 : gnn_pyg_parts_open_file(p, &f, e, "%s_%s/%s__%s__%s.pt", what, p->map, t->key[0],
                                           t->key[1], t->key[2]);
    if (rc)
        return rc;
    if (!gnn_torch_is_array(f->pickle.root) ||
        gnn_torch_array(f, f->pickle.root, &a, why, sizeof why) || a.ndim != 1 || a.is_bool ||
        a.dtype >= GNN_F16)
        return gnn_fail(e, GNN_E_INPUT, "%s: %s%s_%s of %s: %s", p->in->name, p->root, what, p->map,
                        t->nkeys ? t->prefix : "all", why);
    t->n = gnn_strided_rows(&a);
    rc = count_parts(p, t, &a, what, e);
    if (!rc)
        rc = gnn_pyg_parts_begin_order(p, t, e);
    return rc || !keep ? rc : gnn_array_list_add(p->l, t->prefix, "part", &a, e);
}

int gnn_pyg_parts_add_types(struct pyg_parts *p, struct gnn_err *e)
{
    static const char *const lists[] = {"node_types", "edge_types"};
    uint64_t offset = 0;
    int rc = GNN_OK;
    for (int k = 0; k < 2; k++) {
        const json_t *list = json_object_get(p->meta, lists[k]);
        const size_t n = p->hetero ? json_array_size(list) : 1;
        if (!n || n > GNN_TYPES_MAX)
            return gnn_pyg_parts_fail_meta(p, "node_types or edge_types is no list of 1 to 1024",
                                           e);
        for (size_t i = 0; !rc && i < n; i++) {
            struct pyg_type t = {0};
            if (p->hetero)
                rc = read_type(p, json_array_get(list, i), &t, e);
            else if (!(t.prefix = gnn_strdup(k ? "node/to/node/" : "node/", e)))
                rc = GNN_E_NOMEM;
            if (!rc && p->hetero && (t.nkeys == 3) != (k == 1))
                rc = gnn_pyg_parts_fail_meta(
                    p, "a node type is no name, or an edge type no list of three", e);
            if (!rc)
                rc = p->add[k](p, &t, offset, e);
            offset += k ? t.n : 0;
            gnn_free(t.prefix);
        }
    }
    return rc;
}
