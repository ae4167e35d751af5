/* SPDX-License-Identifier: Apache-2.0 */
/* Splits in arrays (lib/import/read/masks.h). */
#include "lib/import/read/masks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/import/read/array.h"
#include "lib/import/read/files.h"
#include "lib/base/path.h"

int gnn_masks_add(struct gnn_src *s, struct gnn_input *in, uint32_t member, const char *set,
                  uint32_t ntype, struct gnn_err *e)
{
    float *v;
    uint64_t rows, width, n = s->d.schema.ntype[ntype].count;
    int rc = gnn_array_load(in, member, GNN_F32, (void **)&v, &rows, &width, e);
    bool across = !rc && width == n && rows != n; /* a mask is a row */
    uint64_t nsplits = across ? rows : width;
    if (!rc && ((!across && rows != n) || nsplits < 1 || nsplits > 1000))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: not a mask of %llu nodes", gnn_input_where(in, member),
                      (unsigned long long)n);
    for (uint64_t i = 0; !rc && i < rows * width; i++)
        if (v[i] != 0 && v[i] != 1)
            rc = gnn_fail(e, GNN_E_INPUT, "%s: row %llu: %.9g is not 0 or 1, the values of a mask",
                          gnn_input_where(in, member), (unsigned long long)(i / width + 1),
                          isnan(v[i]) ? (double)NAN : (double)v[i]);
    for (uint64_t k = 0; !rc && k < nsplits; k++) {
        char split[24];
        snprintf(split, sizeof split, nsplits == 1 ? "mask" : "%llu", (unsigned long long)k);
        uint64_t m = 0;
        uint32_t *ids = gnn_alloc(n, sizeof *ids, "splits", e);
        if (!ids) {
            rc = GNN_E_NOMEM;
            break;
        }
        for (uint64_t i = 0; i < n; i++)
            if (v[across ? k * n + i : i * nsplits + k] == 1)
                ids[m++] = (uint32_t)i;
        rc = gnn_src_add_set(s, split, set, ntype, ids, m, e);
    }
    gnn_free(v);
    return rc;
}

int gnn_masks_add_ids(struct gnn_src *s, struct gnn_input *in, uint32_t member, const char *split,
                      const char *set, uint32_t ntype, struct gnn_err *e)
{
    uint32_t *ids;
    uint64_t n;
    int rc = gnn_member_ids(in, member, s->d.schema.ntype[ntype].count, NULL, &ids, &n, e);
    return rc ? rc : gnn_src_add_set(s, split, set, ntype, ids, n, e);
}

bool gnn_masks_named(const char *role, char split[GNN_WORD_MAX + 1], char set[GNN_WORD_MAX + 1])
{
    const char *point = strchr(role, '.');
    const size_t n = point ? (size_t)(point - role) : 0, all = strlen(role);
    if (!n || n > GNN_WORD_MAX || !gnn_ends_with(point, "_idx") || all < n + 6 ||
        all - n - 5 > GNN_WORD_MAX)
        return false;
    snprintf(split, GNN_WORD_MAX + 1, "%.*s", (int)n, role);
    snprintf(set, GNN_WORD_MAX + 1, "%.*s", (int)(all - n - 5), point + 1);
    return true;
}
