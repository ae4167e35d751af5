/* SPDX-License-Identifier: Apache-2.0 */
/* Stores as graphs. */
#include <stdio.h>

#include "lib/base/mem.h"
#include "lib/inspect/export_out.h"
#include "lib/inspect/export_text.h"
#include "lib/inspect/graph_arrays.h"

static int put_arrays(struct gnn_view *v, struct gnn_export *x, struct gnn_err *e)
{
    struct gnn_graph_arrays g = {0};
    struct gnn_export_out o = {0};
    int rc = gnn_graph_arrays_init(&g, v, e);
    if (!rc)
        rc = gnn_export_out_begin(&o, x, e);
    for (uint32_t i = 0; !rc && i < g.n; i++)
        rc = gnn_export_out_array(&o, &g.array[i]->out, g.array[i]->name, e);
    if (!rc) /* before the archive is complete */
        rc = gnn_store_verified(v->store, e);
    if (!x->ntensors)
        snprintf(x->left_out, sizeof x->left_out, "%s", g.left_out);
    rc = gnn_export_out_end(&o, v->store->path, rc, e);
    gnn_graph_arrays_release(&g);
    return rc;
}

int gnn_export_graph(struct gnn_store *s, struct gnn_export *x, struct gnn_err *e)
{
    struct gnn_view v = {0};
    int rc = gnn_view_init(&v, s, e);
    if (!rc && x->nodes)
        rc = gnn_export_nodes(&v, x, e);
    else if (!rc && (x->edges || x->format == GNN_EXPORT_MTX))
        rc = gnn_export_edges(&v, x, e);
    else if (!rc)
        rc = put_arrays(&v, x, e);
    if (!rc)
        rc = gnn_store_verified(s, e);
    gnn_view_release(&v);
    return rc;
}
