/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/read/files.h"

#include <string.h>

#include "lib/import/read/array.h"

/* Store id of an original id, or UINT64_MAX. */
static uint64_t from_key(const struct gnn_dataset_ids *orig, uint64_t count, int64_t key)
{
    if (!orig || !orig->key)
        return key >= 0 && (uint64_t)key < count ? (uint64_t)key : UINT64_MAX;
    uint64_t lo = 0, hi = count;
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;
        if (orig->key[mid] < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < count && orig->key[lo] == key ? lo : UINT64_MAX;
}

int gnn_member_ids(struct gnn_input *in, uint32_t member, uint64_t count,
                   const struct gnn_dataset_ids *orig, uint32_t **ids, uint64_t *n,
                   struct gnn_err *e)
{
    int64_t *v = NULL;
    uint64_t width;
    *ids = NULL;
    if (orig && orig->word_at)
        return gnn_fail(e, GNN_E_USAGE, "%s: splits of named nodes cannot be given as ids",
                        gnn_input_name(in));
    int rc = gnn_array_load(in, member, GNN_I64, (void **)&v, n, &width, e);
    if (!rc && width > 1)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %s: more than one id a line", gnn_input_name(in),
                      gnn_input_member(in, member));
    if (!rc && !(*ids = gnn_alloc(*n, sizeof **ids, "node ids", e)))
        rc = GNN_E_NOMEM;
    for (uint64_t i = 0; !rc && i < *n; i++) {
        uint64_t id = from_key(orig, count, v[i]);
        if (id == UINT64_MAX)
            rc = gnn_fail(e, GNN_E_INPUT, "%s: %s: row %llu: no node %lld (there are %llu)",
                          gnn_input_name(in), gnn_input_member(in, member),
                          (unsigned long long)i + 1, (long long)v[i], (unsigned long long)count);
        (*ids)[i] = (uint32_t)id;
    }
    gnn_free(v);
    if (rc) {
        gnn_free(*ids);
        *ids = NULL;
    }
    return rc;
}

int gnn_files_ids(const char *path, uint64_t count, const struct gnn_dataset_ids *orig,
                  uint32_t **ids, uint64_t *n, struct gnn_err *e)
{
    struct gnn_input *in = NULL;
    int rc = gnn_input_open(&in, &path, 1, e);
    if (!rc)
        rc = gnn_input_lone(in, "a set of ids", e);
    if (!rc)
        rc = gnn_member_ids(in, 0, count, orig, ids, n, e);
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
