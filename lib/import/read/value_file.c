/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/read/value_file.h"

#include <string.h>

#include "formats/le.h"
#include "lib/base/mem.h"
#include "lib/import/read/dgl_refuse.h"

bool gnn_value_file_is_torch(const uint8_t *p, size_t n)
{
    static const char member[] = "/data.pkl";
    const size_t head = 30, end = sizeof member - 1;
    if (gnn_torch_is_legacy(p, n))
        return true;
    const size_t len = n >= head && gnn_torch_is_zip(p, n) ? load_le16(p + 26) : 0;
    return len > end && head + len <= n && !memcmp(p + head + len - end, member, end);
}

bool gnn_value_file_begins(const uint8_t *p, size_t n)
{
    return gnn_value_file_is_torch(p, n) || (n > 1 && p[0] == 0x80 && p[1] >= 2 && p[1] <= 5);
}

static void free_values(void *p)
{
    gnn_torch_release(p);
    gnn_free(p);
}

int gnn_value_file_open(const struct gnn_torch_file **f, struct gnn_array_list *l, const char *path,
                        struct gnn_stage *s, bool pickles, const char *name, struct gnn_err *e)
{
    char why[512];
    const uint8_t *bytes = NULL;
    uint64_t n = 0;
    struct gnn_torch_file *t = gnn_alloc_zero(1, sizeof *t, "input", e);
    int rc = t ? gnn_array_list_hold(l, t, free_values, e) : GNN_E_NOMEM;
    if (!rc)
        rc = gnn_array_list_bytes(l, path, s, &bytes, &n, e);
    if (rc)
        return rc;
    *f = t;
    const bool torch = !pickles || gnn_torch_is_zip(bytes, n) || gnn_torch_is_legacy(bytes, n);
    const int bad = torch ? gnn_torch_open(t, bytes, n, why, sizeof why)
                          : gnn_pickle_read(&t->pickle, bytes, n, 0, why, sizeof why);
    if (bad && gnn_dgl_refuse_is_graph(why))
        return gnn_dgl_refuse_graph(name, e);
    return bad == GNN_PICKLE_NO_MEMORY ? gnn_fail_nomem(e, n, "a file of torch.save")
           : bad                       ? gnn_fail(e, GNN_E_INPUT, "%s: %s", name, why)
                                       : GNN_OK;
}
