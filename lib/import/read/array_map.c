/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that are files (lib/import/read/array_map.h). */
#include "lib/import/read/array_map.h"

#include <string.h>

#include "formats/npy.h"
#include "lib/import/read/value_file.h"

int gnn_array_map_bytes(struct gnn_strided *a, const uint8_t *bytes, uint64_t n, const char *path,
                        const char *what, struct gnn_err *e)
{
    struct gnn_npy h;
    const uint32_t head = n >= GNN_NPY_PREFIX ? gnn_npy_header_bytes(bytes) : 0;
    if (!head || head > n || gnn_npy_parse(&h, bytes, head) || h.swap || h.text || h.objects ||
        n - head != h.bytes)
        return gnn_fail(e, GNN_E_INPUT, "%s: %s", path, what);
    *a = (struct gnn_strided){.dtype = h.dtype, .is_bool = h.is_bool, .ndim = h.ndim};
    memcpy(a->shape, h.shape, sizeof a->shape);
    a->data = bytes + head;
    const char *bad = gnn_strided_set_order(a, h.fortran) ? gnn_strided_fits(a, h.bytes)
                                                          : "its shape is too large";
    return bad ? gnn_fail(e, GNN_E_INPUT, "%s: %s", path, bad) : GNN_OK;
}

int gnn_array_map_npy(struct gnn_strided *a, struct gnn_array_list *l, const char *path,
                      struct gnn_err *e)
{
    const uint8_t *bytes;
    uint64_t n;
    int rc = gnn_array_list_map(l, path, &bytes, &n, e);
    return rc ? rc
              : gnn_array_map_bytes(a, bytes, n, path,
                                    "not a whole .npy file of numbers, little-endian", e);
}

int gnn_array_map_torch(struct gnn_strided *a, struct gnn_array_list *l, const char *path,
                        struct gnn_err *e)
{
    const struct gnn_torch_file *f;
    char why[256];
    int rc = gnn_value_file_open(&f, l, path, NULL, false, path, e);
    if (rc)
        return rc;
    if (!gnn_torch_is_array(f->pickle.root))
        return gnn_fail(e, GNN_E_INPUT, "%s: holds %s, where a tensor is expected", path,
                        gnn_pickle_describe(&f->pickle, f->pickle.root, why, sizeof why));
    return gnn_torch_array(f, f->pickle.root, a, why, sizeof why)
               ? gnn_fail(e, GNN_E_INPUT, "%s: %s", path, why)
               : GNN_OK;
}
