/* Layers of other libraries, known by the names of their parameters, so that a state dict is
 * refused for the right reason. */
#include <string.h>

#include "lib/model/model_file.h"

static const struct {
    const char *end, *layer; /* of a tensor's name; of which layer that is */
} foreign[] = {
    {".att_src", "GAT (PyG's GATConv)"},
    {".att", "GATv2 (PyG's GATv2Conv)"},
    {".eps", "GIN (PyG's GINConv)"},
    {".comp", "R-GCN (PyG's RGCNConv)"},
    {".root", "R-GCN (PyG's RGCNConv)"},
    {".lin_rel.weight", "GraphConv (PyG)"},
    {".lin_key.weight", "TransformerConv (PyG)"},
    {".fc_neigh.weight", "DGL's SAGEConv"},
    {".attn_l", "DGL's GATConv"},
    {".attn", "DGL's GATv2Conv"},
};

static const char *layer_of(const char *name)
{
    const size_t len = strlen(name);
    for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++) {
        const size_t n = strlen(foreign[i].end);
        if (len > n && !strcmp(name + len - n, foreign[i].end))
            return foreign[i].layer;
    }
    return strstr(name, ".nn.") ? "GIN (PyG's GINConv)" : NULL; /* its network */
}

int gnn_model_refuse_foreign(const struct gnn_st_file *f, const char *path, struct gnn_err *e)
{
    for (size_t i = 0; i < f->st.n; i++) {
        const char *layer = layer_of(f->st.tensor[i].name);
        if (layer)
            return gnn_fail(
                e, GNN_E_INPUT,
                "%s: tensor %s belongs to a layer that is not supported, %s; supported are GraphSAGE with mean (PyG's "
                "SAGEConv: convs.0.lin_l.weight, ...) and GCN (GCNConv: convs.0.lin.weight, ...)",
                path, f->st.tensor[i].name, layer);
    }
    return 0;
}
