/* SPDX-License-Identifier: Apache-2.0 */
/* What of DGL is not read (lib/import/read/dgl_refuse.h). */
#include "lib/import/read/dgl_refuse.h"

#include <string.h>

#include "lib/import/read/input_impl.h"
#include "lib/base/path.h"

/* Rows are sources: GraphBolt keeps edges by destination. */
#define SAVE                                                                                       \
    "scipy.sparse.save_npz('edges.npz', scipy.sparse.csc_matrix((numpy.ones(len(g.indices)), "     \
    "g.indices, g.csc_indptr)))"

bool gnn_dgl_refuse_is_graph(const char *why)
{
    return strstr(why, "dgl.graphbolt.") && strstr(why, "FusedCSCSamplingGraph");
}

int gnn_dgl_refuse_graph(const char *name, struct gnn_err *e)
{
    return gnn_fail(
        e, GNN_E_INPUT,
        "%s: a graph of GraphBolt, which holds TorchScript and is not read; in Python, after "
        "import dgl.graphbolt: g = torch.load(FILE); " SAVE,
        name);
}

int gnn_dgl_refuse_folder(const struct gnn_input *in, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (uint32_t i = 0; !rc && i < in->n; i++) {
        const char *name = in->m[i].name;
        if (in->archive && gnn_ends_with(name, "part0/graph.dgl"))
            rc = gnn_fail(e, GNN_E_INPUT,
                          "%s: %s: an archive of a partition of DGL: unpack it first", in->name,
                          name);
    }
    return rc;
}
