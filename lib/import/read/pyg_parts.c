/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of PyG's Partitioner (lib/import/read/pyg_parts.h): META.json, the files of the parts,
 * and what PyG's example writes beside them. */
#include "lib/import/read/pyg_parts.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/path.h"
#include "lib/data/schema.h"
#include "lib/import/read/pyg_parts_impl.h"

enum { META_MAX = 1 << 20 };

/* ---- files ---- */

/* Whether the directory of member i has node_map.pt or node_map/ */
static bool has_map(const struct gnn_input *in, uint32_t i)
{
    const char *name = gnn_input_member(in, i);
    const size_t n = (size_t)(gnn_base_name(name) - name);
    bool has = false;
    for (uint32_t k = 0; !has && k < gnn_input_members(in); k++) {
        const char *other = gnn_input_member(in, k);
        has = !strncmp(other, name, n) &&
              (!strcmp(other + n, "node_map.pt") || !strncmp(other + n, "node_map/", 9));
    }
    return has;
}

int gnn_pyg_parts_find(const struct gnn_input *in)
{
    for (uint32_t i = 0; i < gnn_input_members(in); i++)
        if (!strcmp(gnn_base_name(gnn_input_member(in, i)), "META.json") && has_map(in, i))
            return (int)i;
    return -1;
}

static int open_parts(struct pyg_parts *p, struct gnn_err *e)
{
    int rc = GNN_OK;
    p->part = gnn_alloc_zero(p->nparts, sizeof *p->part, "parts", e);
    if (!p->part)
        return GNN_E_NOMEM;
    for (uint32_t i = 0; !rc && i < p->nparts; i++) {
        rc = gnn_pyg_parts_open_file(p, &p->part[i].graph, e, "part_%u/graph.pt", i);
        if (!rc)
            rc = gnn_pyg_parts_open_file(p, &p->part[i].nodes, e, "part_%u/node_feats.pt", i);
        if (!rc)
            rc = gnn_pyg_parts_open_file(p, &p->part[i].edges, e, "part_%u/edge_feats.pt", i);
    }
    return rc;
}

/* ---- META.json ---- */

static int read_meta(struct pyg_parts *p, uint32_t member, struct gnn_err *e)
{
    struct gnn_reader *r;
    uint64_t n = 0;
    char *text = gnn_alloc(META_MAX, 1, "META.json", e);
    const char *name = gnn_input_member(p->in, member);
    p->root = gnn_strf(e, "%.*s", (int)(gnn_base_name(name) - name), name);
    int rc =
        text && p->root ? gnn_reader_open(&r, (struct gnn_input *)p->in, member, e) : GNN_E_NOMEM;
    if (!rc) {
        rc = gnn_reader_read(r, text, META_MAX, &n, e);
        gnn_reader_free(r);
    }
    if (!rc && !(p->meta = gnn_json_parse(text, n, gnn_input_where(p->in, member), e)))
        rc = e->code;
    gnn_free(text);
    p->used[member] = true;
    if (rc)
        return rc;
    const json_int_t parts = json_integer_value(json_object_get(p->meta, "num_parts"));
    const json_t *hetero = json_object_get(p->meta, "is_hetero");
    if (parts < 1 || parts > PYG_PARTS_MAX)
        return gnn_pyg_parts_fail_meta(p, "num_parts is no number from 1 to 65536", e);
    if (!json_is_boolean(hetero))
        return gnn_pyg_parts_fail_meta(p, "is_hetero is neither true nor false", e);
    p->nparts = (uint32_t)parts;
    p->hetero = json_is_true(hetero);
    return GNN_OK;
}

/* ---- beside the parts ---- */

/* The directory of a member whose name ends so, "" or with a slash; NULL: there is none. */
static char *find_directory(const struct pyg_parts *p, const char *end, struct gnn_err *e)
{
    for (uint32_t i = 0; i < gnn_input_members(p->in); i++) {
        const char *name = gnn_input_member(p->in, i);
        if (gnn_ends_with(name, end))
            return gnn_strf(e, "%.*s", (int)(gnn_base_name(name) - name), name);
    }
    return NULL;
}

/* The tensor of a file as a piece of the last array, or (`first`) of a new one. */
static int add_tensor(struct pyg_parts *p, const char *file, const char *prefix, const char *name,
                      bool first, struct gnn_err *e)
{
    const struct gnn_torch_file *f;
    struct gnn_strided a;
    char why[256] = "no tensor";
    bool fits = true;
    int rc = gnn_pyg_parts_open_member(p, &f, file, e);
    if (!rc && (!gnn_torch_is_array(f->pickle.root) ||
                gnn_torch_array(f, f->pickle.root, &a, why, sizeof why)))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %s: %s", p->in->name, file, why);
    if (!rc && first)
        rc = gnn_array_list_add(p->l, prefix, name, &a, e);
    else if (!rc)
        rc = gnn_array_list_append(p->l, &a, &fits, e);
    return rc || fits
               ? rc
               : gnn_fail(e, GNN_E_INPUT, "%s: %s: another dtype or shape than partition0.pt",
                          p->in->name, file);
}

/* The ids of a set, in files partition0.pt, partition1.pt and so on. */
static int add_set(struct pyg_parts *p, const char *prefix, const char *set, struct gnn_err *e)
{
    char end[64];
    snprintf(end, sizeof end, "%s-partitions/partition0.pt", set);
    char *dir = find_directory(p, end, e);
    snprintf(end, sizeof end, "%s_idx", set);
    int rc = e->code;
    for (uint32_t i = 0; !rc && dir; i++) {
        char *file = gnn_strf(e, "%spartition%u.pt", dir, i);
        if (!file || gnn_input_find(p->in, file) < 0) {
            rc = file ? GNN_OK : GNN_E_NOMEM;
            gnn_free(file);
            break;
        }
        rc = add_tensor(p, file, prefix, end, !i, e);
        gnn_free(file);
    }
    gnn_free(dir);
    return rc;
}

/* The type whose labels and sets lie beside the parts: the only one, or the only one with as many
 * nodes as there are labels. NULL: nobody knows. */
static const char *labelled_type(const struct pyg_parts *p, uint64_t labels)
{
    const char *found = NULL;
    for (uint32_t i = 0; i < p->l->n; i++) {
        const struct gnn_listed_array *a = &p->l->array[i];
        if (strcmp(gnn_base_name(a->name), "part") != 0)
            continue;
        if (p->hetero && a->rows != labels)
            continue;
        if (found)
            return NULL;
        found = a->name;
    }
    return found;
}

/* Labels and sets. Without labels nothing tells of which of several types the sets are. */
static int add_beside(struct pyg_parts *p, struct gnn_err *e)
{
    static const char *const sets[] = {"train", "val", "test"};
    char *dir = find_directory(p, "label/label.pt", e);
    char *file = dir ? gnn_strf(e, "%slabel.pt", dir) : NULL;
    int rc = e->code;
    const uint32_t y = p->l->n;
    if (!rc && file)
        rc = add_tensor(p, file, "", "y", true, e);
    gnn_free(dir);
    gnn_free(file);
    if (rc)
        return rc;
    const bool labels = p->l->n > y;
    const char *part = labelled_type(p, labels ? p->l->array[y].rows : 0);
    if (!part)
        return labels ? gnn_fail(e, GNN_E_INPUT,
                                 "%s: label.pt: %llu labels, and not just one node type has as "
                                 "many nodes: import the folder of the parts alone, with "
                                 "--labels TYPE=FILE",
                                 p->in->name, (unsigned long long)p->l->array[y].rows)
                      : GNN_OK;
    char *prefix = gnn_strf(e, "%.*s", (int)(gnn_base_name(part) - part), part);
    char *name = prefix && labels ? gnn_strf(e, "%sy", prefix) : NULL;
    if (!prefix || (labels && !name))
        rc = GNN_E_NOMEM;
    if (!rc && labels) {
        gnn_free(p->l->array[y].name);
        p->l->array[y].name = name;
    }
    for (int k = 0; !rc && k < 3; k++)
        rc = add_set(p, prefix, sets[k], e);
    gnn_free(prefix);
    return rc;
}

int gnn_pyg_parts_finish(struct pyg_parts *p, int rc, struct gnn_err *e)
{
    if (!rc)
        rc = add_beside(p, e);
    json_decref(p->meta);
    gnn_free(p->part);
    gnn_free(p->root);
    return rc;
}

int gnn_pyg_parts_add(struct gnn_array_list *l, const struct gnn_input *in, uint32_t meta,
                      bool *used, struct gnn_err *e)
{
    struct pyg_parts p = {.meta_name = "META.json",
                          .map = "map",
                          .part_name = "part_",
                          .add = {gnn_pyg_parts_add_nodes, gnn_pyg_parts_add_edges},
                          .l = l,
                          .in = in,
                          .used = used};
    l->typed = true;
    int rc = read_meta(&p, meta, e);
    if (!rc)
        rc = open_parts(&p, e);
    if (!rc)
        rc = gnn_pyg_parts_add_types(&p, e);
    return gnn_pyg_parts_finish(&p, rc, e);
}
