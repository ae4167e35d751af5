/* SPDX-License-Identifier: Apache-2.0 */
/* Features that a batch has in place (gnn_batch_type.x): where they are, and how they are copied
 * for a reader that does not take them there. */
#include <string.h>

#include "kernels/gather.h"
#include "lib/data/batch.h"

const struct gnn_tensor *gnn_batch_features(const struct gnn_batch *b, uint32_t t, const char *name)
{
    char key[GNN_NAME_MAX + 1];
    return b->type[t].x ? b->type[t].x
                        : gnn_tensors_find(&b->tensors, gnn_tensor_name(key, "node/%s/x", name));
}

bool gnn_batch_has_in_place(const struct gnn_batch *b)
{
    for (uint32_t t = 0; t < b->nntypes; t++)
        if (b->type[t].x)
            return true;
    return false;
}

int gnn_batch_in_place(const struct gnn_batch *b, const struct gnn_tensor *t, struct gnn_tensor *as)
{
    for (uint32_t i = 0; i < b->nntypes && !t->shape[0] && gnn_batch_is_rows(t); i++) {
        const struct gnn_tensor *all = b->type[i].x;
        if (!all || strcmp(all->name, t->name) != 0)
            continue;
        *as = *t;
        as->shape[0] = gnn_batch_nodes(b, i); /* counts are a few bytes, which never move */
        as->data = NULL;
        return (int)i;
    }
    return -1;
}

/* Rows of `all` for the nodes whose ids are in `node`. */
static int copy_rows(struct gnn_batch *b, struct gnn_tensor *t, const struct gnn_tensor *all,
                     const struct gnn_tensor *node, struct gnn_err *e)
{
    if (gnn_tensors_resize(&b->tensors, t, node->shape[0], e))
        return e->code;
    const struct gnn_gather_part part = {.count = all->shape[0], .data = all->data};
    const struct gnn_gather g = {.part = &part,
                                 .nparts = 1,
                                 .bytes = all->shape[1] * gnn_dtype_bytes(all->dtype),
                                 .n = node->shape[0],
                                 .id = node->data,
                                 .out = t->data};
    return gnn_gather_rows(&g) == g.n
               ? 0
               : gnn_fail(e, GNN_E_INPUT, "tensor '%s': node id out of range", t->name);
}

int gnn_batch_copy_features(struct gnn_batch *b, struct gnn_err *e)
{
    char key[GNN_NAME_MAX + 1];
    struct gnn_tensor as;
    int type;
    for (uint32_t i = 0; i < b->tensors.n; i++) {
        struct gnn_tensor *t = gnn_tensors_at(&b->tensors, i);
        if ((type = gnn_batch_in_place(b, t, &as)) < 0)
            continue;
        /* "node/T/x" to "nodes/T": the view may be void. */
        const int n = (int)strlen(t->name) - (int)strlen("node/") - (int)strlen("/x");
        gnn_tensor_name(key, "nodes/%.*s", n, t->name + strlen("node/"));
        if (copy_rows(b, t, b->type[type].x, gnn_tensors_find(&b->tensors, key), e))
            return e->code;
        b->type[type].x = NULL;
    }
    return 0;
}
