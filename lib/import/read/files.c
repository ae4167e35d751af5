/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/read/files.h"

#include <string.h>

#include "lib/import/read/array.h"

/* The node of an id, or UINT64_MAX. */
static uint64_t node_of(const struct gnn_nodeids *of, uint64_t count, int64_t key)
{
    if (key < 0)
        return UINT64_MAX;
    if (of)
        return gnn_nodeids_number(of, (uint64_t)key);
    return (uint64_t)key < count ? (uint64_t)key : UINT64_MAX;
}

int gnn_member_ids(struct gnn_input *in, uint32_t member, uint64_t count,
                   const struct gnn_nodeids *of, uint32_t **node, uint64_t *n, struct gnn_err *e)
{
    int64_t *v = NULL;
    uint64_t width;
    *node = NULL;
    if (of && of->kind == GNN_IDS_WORDS)
        return gnn_fail(e, GNN_E_USAGE, "%s: splits of named nodes cannot be given as ids",
                        gnn_input_name(in));
    int rc = gnn_array_load(in, member, GNN_I64, (void **)&v, n, &width, e);
    if (!rc && width > 1)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %s: more than one id a line", gnn_input_name(in),
                      gnn_input_member(in, member));
    if (!rc && !(*node = gnn_alloc(*n, sizeof **node, "node ids", e)))
        rc = GNN_E_NOMEM;
    for (uint64_t i = 0; !rc && i < *n; i++) {
        uint64_t id = node_of(of, count, v[i]);
        if (id == UINT64_MAX)
            rc = gnn_fail(e, GNN_E_INPUT, "%s: %s: row %llu: no node %lld (there are %llu)",
                          gnn_input_name(in), gnn_input_member(in, member),
                          (unsigned long long)i + 1, (long long)v[i], (unsigned long long)count);
        (*node)[i] = (uint32_t)id;
    }
    gnn_free(v);
    if (rc) {
        gnn_free(*node);
        *node = NULL;
    }
    return rc;
}

int gnn_files_ids(const char *path, uint64_t count, const struct gnn_nodeids *of, uint32_t **node,
                  uint64_t *n, struct gnn_err *e)
{
    struct gnn_input *in = NULL;
    int rc = gnn_input_open(&in, &path, 1, e);
    if (!rc)
        rc = gnn_input_lone(in, "a set of ids", e);
    if (!rc)
        rc = gnn_member_ids(in, 0, count, of, node, n, e);
    gnn_input_free(in);
    return rc;
}

int gnn_member_number(struct gnn_input *in, uint32_t member, uint64_t *v, struct gnn_err *e)
{
    int64_t *a = NULL;
    uint64_t rows, width;
    int rc = gnn_array_load(in, member, GNN_I64, (void **)&a, &rows, &width, e);
    if (!rc && (rows != 1 || width != 1))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %s: expected one number, found %s", gnn_input_name(in),
                      gnn_input_member(in, member),
                      rows && width ? "several (several graphs are not supported)" : "none");
    if (!rc && a[0] < 0)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %s: %lld: expected a count >= 0", gnn_input_name(in),
                      gnn_input_member(in, member), (long long)a[0]);
    *v = rc ? 0 : (uint64_t)a[0];
    gnn_free(a);
    return rc;
}
