/* SPDX-License-Identifier: Apache-2.0 */
/* Files in folders of PyG's Partitioner (lib/import/read/pyg_parts.h), by their names. */
#include <string.h>

#include "lib/base/mem.h"
#include "lib/data/schema.h"
#include "lib/import/read/pyg_parts_impl.h"
#include "lib/import/read/value_file.h"

enum { NAME_CAPACITY = 4 * GNN_TYPE_NAME_MAX };

/* Opens a member of the input, a file of torch.save, by its name. */
int gnn_pyg_parts_open_member(struct pyg_parts *p, const struct gnn_torch_file **f,
                              const char *name, struct gnn_err *e)
{
    const int m = gnn_input_find(p->in, name);
    if (m < 0 || !p->in->m[m].path)
        return gnn_fail(e, GNN_E_INPUT, "%s: %s is missing", p->in->name, name);
    p->used[m] = true;
    return gnn_value_file_open(f, p->l, p->in->m[m].path, NULL, false, p->in->m[m].path, e);
}

int gnn_pyg_parts_open_file(struct pyg_parts *p, const struct gnn_torch_file **f, struct gnn_err *e,
                            const char *fmt, ...)
{
    char name[NAME_CAPACITY];
    va_list ap;
    va_start(ap, fmt);
    const int n = vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof name)
        return gnn_fail(e, GNN_E_INPUT, "%s: a type's name is too long", p->in->name);
    char *full = gnn_strf(e, "%s%s", p->root, name);
    int rc = full ? gnn_pyg_parts_open_member(p, f, full, e) : GNN_E_NOMEM;
    gnn_free(full);
    return rc;
}

int gnn_pyg_parts_fail_meta(const struct pyg_parts *p, const char *what, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT, "%s: %s%s: %s", p->in->name, p->root, p->meta_name, what);
}
