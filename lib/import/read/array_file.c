/* SPDX-License-Identifier: Apache-2.0 */
/* Which reader a file of arrays has (lib/import/read/array_file.h). */
#include "lib/import/read/array_file.h"

#include "lib/import/read/dgl_arrays.h"
#include "lib/import/read/torch_arrays.h"

gnn_array_file_fn *gnn_array_file_find(const uint8_t *p, size_t n, bool keyed)
{
    if (keyed && gnn_value_file_begins(p, n))
        return gnn_torch_arrays_add_keyed;
    return gnn_value_file_is_torch(p, n) ? gnn_torch_arrays_add
           : gnn_dgl_arrays_begin(p, n)  ? gnn_dgl_arrays_add
                                         : NULL;
}
