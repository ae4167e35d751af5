/* SPDX-License-Identifier: Apache-2.0 */
/* Times from which nodes are there (lib/sample/links.h): their field `time`. */
#include <string.h>

#include "kernels/pick.h"
#include "lib/sample/links.h"

/* This rank's nodes, by original ids. */
static int read_part(const struct link_edges *q, unsigned end, uint32_t p, bool real,
                     int64_t *there, struct gnn_err *e)
{
    struct gnn_store *s = q->store;
    const uint32_t t = q->ntype[end], *to_orig = q->to_orig[end];
    const char *name = s->meta.schema.ntype[t].name;
    const uint64_t first = s->book[t][p], n = gnn_store_owned(s, p, t);
    const struct gnn_tensor *x = gnn_store_findf(s, p, "node/%s/time", name);
    if (!x)
        return gnn_fail(e, GNN_E_INPUT, "%s: tensor 'node/%s/time' is missing",
                        gnn_store_part_path(s, p), name);
    const int64_t *time = x->data;
    for (uint64_t i = 0; i < n; i++)
        there[to_orig ? to_orig[first + i] : first + i] = gnn_time_order(real, time[i]);
    return 0;
}

int gnn_link_times_get(const struct link_edges *q, unsigned end, enum gnn_dtype times,
                       int64_t **there, struct gnn_err *e)
{
    struct gnn_store *s = q->store;
    const struct gnn_ntype *t = &s->meta.schema.ntype[q->ntype[end]];
    const struct gnn_field *f = gnn_field_find(t->field, t->nfields, "time");
    *there = NULL;
    if (!f)
        return 0;
    if (f->dtype != times || f->width > 1)
        return gnn_fail(e, GNN_E_USAGE,
                        "%s: field 'time' of nodes '%s' is %s%s, but times of links are %s",
                        s->path, t->name, gnn_dtype_name(f->dtype),
                        f->width > 1 ? " with several columns" : "", gnn_dtype_name(times));
    if (!(*there = gnn_alloc_zero(q->nodes[end], sizeof **there, "times of nodes", e)))
        return e->code;
    for (uint32_t p = s->from; p < s->to; p++)
        if (read_part(q, end, p, times == GNN_F64, *there, e))
            return e->code;
    /* Others have 0 where a rank has a node: as sums of unsigned numbers, all are kept. */
    return gnn_comm_all_reduce(s->comm, *there, q->nodes[end], GNN_REDUCE_U64, e);
}
