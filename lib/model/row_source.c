/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/row_source.h"

#include "lib/data/tensors.h"

static bool rows_fit(const struct gnn_tensor *x, uint64_t rows, uint64_t width)
{
    return x && x->shape[0] >= rows && gnn_tensor_columns(x) == width;
}

int gnn_rows_of_batch(const struct gnn_model *m, const struct gnn_batch *b, uint32_t type,
                      uint64_t rows, const struct gnn_tensor **x, struct gnn_err *e)
{
    const struct gnn_model_ntype *c = &m->c.ntype[type];
    char name[GNN_NAME_MAX + 1];
    gnn_tensor_name(name, "node/%s/x", c->name);
    *x = c->width ? gnn_batch_features(b, type, c->name) : NULL;
    if (!c->width || !rows || rows_fit(*x, *x == b->type[type].x ? 0 : rows, c->width))
        return 0;
    return gnn_fail(e, GNN_E_INPUT, "batches have no features %s (%u wide): run gnn-gather first",
                    name, c->width);
}

int gnn_rows_of_part(const struct gnn_model *m, struct gnn_store *s, uint32_t part, uint32_t type,
                     const struct gnn_tensor **x, struct gnn_err *e)
{
    const struct gnn_model_ntype *c = &m->c.ntype[type];
    *x = c->width ? gnn_store_findf(s, part, "node/%s/x", c->name) : NULL;
    if (!c->width || rows_fit(*x, gnn_store_owned(s, part, type), c->width))
        return 0;
    return gnn_fail(e, GNN_E_INPUT, "%s: no features node/%s/x of width %u",
                    gnn_store_part_path(s, part), c->name, c->width);
}
