/* SPDX-License-Identifier: Apache-2.0 */
/* State dicts of other programs: which layer they are of, read off names and shapes. Layers that
 * are not supported are known by the names of their parameters, so that such a file is refused for
 * the right reason. */
#include <stdio.h>
#include <string.h>

#include "lib/model/model_file.h"
#include "lib/model/layer.h"

static const struct {
    const char *end, *layer; /* of a tensor's name; of which layer that is */
} foreign[] = {
    {".att_src", "GAT (PyG's GATConv) with other parameters"},
    {".att", "GATv2 (PyG's GATv2Conv) with other parameters"},
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
    return strstr(name, ".nn.") ? "GIN (PyG's GINConv) with this network" : NULL;
}

/* Adds the names of a table's parameters to l. */
static void add_names(const struct gnn_layer *table, const struct gnn_conv_shape *s,
                      struct gnn_param_list *l)
{
    if (table)
        table->params(s, l);
    if (table && table->common)
        table->common(s, l);
}

/* The parameters of a layer as far as their names go, in a graph of one type or of several: first
 * its own, then those that convolutions have in common, then those of the parts around it. */
static struct gnn_param_list names_of(const struct gnn_layer *layer,
                                      const struct gnn_model_config *c, bool typed)
{
    struct gnn_model_etype any = {.features = 1};
    struct gnn_model_config with = *c;
    struct gnn_param_list l = {0};
    with.nntypes = with.netypes = typed ? 2 : 1;
    with.nlayers = 1;
    with.etype = &any;
    const struct gnn_conv_shape s = {&with, 0, 0, 1, 1, 1};
    add_names(layer, &s, &l);
    add_names(layer->before, &s, &l);
    add_names(layer->after, &s, &l);
    add_names(layer->beside ? layer->beside(&with) : NULL, &s, &l);
    return l;
}

/* Whether a name is that of a parameter, whose '*' is any text. */
static bool is_named(const char *name, const char *param)
{
    const char *star = strchr(param, '*');
    if (!star)
        return !strcmp(name, param);
    const size_t head = (size_t)(star - param), tail = strlen(star + 1), n = strlen(name);
    return n > head + tail && !strncmp(name, param, head) && !strcmp(name + n - tail, star + 1);
}

static void set_defaults(struct gnn_model_config *c, const struct gnn_layer *layer)
{
    c->layer = layer;
    for (uint32_t k = 0; k < layer->noptions; k++)
        c->option[k] = layer->option[k].init;
}

/* Appends to text[capacity] which layers are supported: with `titles` "GraphSAGE (PyG's
 * SAGEConv: convs.0.lin_l.weight, ...), ...", else the names only. Returns text. */
static const char *list_supported(char *text, size_t capacity, bool titles)
{
#define LAYER_TITLE(name, title) title,
    static const char *const title[] = {GNN_LAYERS(LAYER_TITLE)};
#undef LAYER_TITLE
    struct gnn_model_config c = {0};
    *text = 0;
    for (size_t i = 0; gnn_layers[i]; i++) {
        set_defaults(&c, gnn_layers[i]);
        const struct gnn_param_list l = names_of(gnn_layers[i], &c, false);
        const char *weight = l.p[gnn_layers[i]->weight].name, *last = titles ? " and " : " or ",
                   *between = !i                  ? ""
                              : gnn_layers[i + 1] ? ", "
                                                  : last;
        const size_t at = strlen(text);
        if (titles)
            snprintf(text + at, capacity - at, "%s%s (PyG's %s: convs.0.%s, ...)", between,
                     title[i], gnn_layers[i]->module, weight);
        else
            snprintf(text + at, capacity - at, "%sconvs.0.%s", between, weight);
    }
    return text;
}

/* The parameter's name within its convolution, "lin_l.weight" of "convs.0.lin_l.weight" and of
 * "convs.0.convs.<a___to___b>.lin_l.weight", of a typed graph, and the layer's number; NULL: of no
 * convolution. */
static const char *name_in_conv(const char *name, uint32_t *l, bool *typed)
{
    int at = 0;
    if (sscanf(name, "convs.%u.%n", l, &at) != 1 || !at || *l >= GNN_LAYERS_MAX)
        return NULL;
    name += at;
    const char *end = strncmp(name, "convs.<", 7) ? NULL : strstr(name, ">."); /* has no dots */
    *typed = end != NULL;
    return end ? end + 2 : name;
}

/* The layer's options, as far as single tensors tell them. */
static void take_options(struct gnn_model_config *c, const struct gnn_st_file *f)
{
    for (size_t i = 0; c->layer->tell && i < f->st.n; i++) {
        uint32_t l;
        bool typed;
        const char *name = name_in_conv(f->st.tensor[i].name, &l, &typed);
        if (name)
            c->layer->tell(c, name, &f->st.tensor[i]);
    }
}

static uint32_t width_by_weight(const struct gnn_tensor *t)
{
    return t && t->ndim == 2 && t->shape[0] <= 1u << 20 ? (uint32_t)t->shape[0] : 0;
}

/* Takes the file for one of the layer: options, widths and their number, 0 if its weight is
 * nowhere. Returns how many tensors of convolutions are none of its parameters. */
static size_t read_as(struct gnn_model_config *c, const struct gnn_layer *layer,
                      const struct gnn_st_file *f)
{
    const struct gnn_tensor *of[GNN_LAYERS_MAX][GNN_PARAMS_MAX] = {0}; /* of any convolution */
    size_t others = 0;
    set_defaults(c, layer);
    take_options(c, f);
    const struct gnn_param_list list[2] = {names_of(layer, c, false), names_of(layer, c, true)};
    for (size_t i = 0; i < f->st.n; i++) {
        uint32_t l, k = 0;
        bool typed = false;
        const char *name = name_in_conv(f->st.tensor[i].name, &l, &typed);
        while (name && k < list[typed].n && !is_named(name, list[typed].p[k].name))
            k++;
        if (name && k == list[typed].n)
            others++;
        else if (name)
            of[l][k] = &f->st.tensor[i];
    }
    for (uint32_t l = 0; l < GNN_LAYERS_MAX; l++) {
        c->width[l] =
            layer->recognise ? layer->recognise(c, of[l]) : width_by_weight(of[l][layer->weight]);
        if (c->width[l])
            c->nlayers = l + 1;
    }
    return others;
}

/* Norms, within convolutions too, layer and widths. Of several layers that one of which there are
 * the fewest other tensors; returns their number. nlayers is 0 if there is none. */
static size_t recognise_layer(struct gnn_model_config *c, const struct gnn_st_file *f)
{
    size_t least = SIZE_MAX;
    bool norms = false;
    for (size_t i = 0; i < f->st.n; i++) {
        const char *norm = strstr(f->st.tensor[i].name, "norms.");
        norms = norms || norm;
        c->batch_norm = c->batch_norm || (norm && strstr(norm, ".running_mean"));
    }
    c->layer_norm = norms && !c->batch_norm;
    const struct gnn_model_config begun = *c;
    for (size_t i = 0; gnn_layers[i]; i++) {
        struct gnn_model_config is = begun;
        const size_t others = read_as(&is, gnn_layers[i], f);
        if (is.nlayers && others < least) {
            least = others;
            *c = is;
            c->edge_features = is.edge_features || is.layer->needs_features;
        }
    }
    return least;
}

int gnn_model_refuse_foreign(const struct gnn_st_file *f, const char *path, struct gnn_err *e)
{
    char supported[1024];
    struct gnn_model_config c = {0};
    if (!recognise_layer(&c, f))
        return 0;
    for (size_t i = 0; i < f->st.n; i++) {
        const char *layer = layer_of(f->st.tensor[i].name);
        if (layer)
            return gnn_fail(
                e, GNN_E_INPUT,
                "%s: tensor %s is of a layer that is not supported, %s; supported are %s", path,
                f->st.tensor[i].name, layer, list_supported(supported, sizeof supported, true));
    }
    return 0;
}

int gnn_model_guess(struct gnn_model_config *c, const struct gnn_st_file *f, const char *path,
                    struct gnn_err *e)
{
    char names[256];
    if (gnn_model_refuse_foreign(f, path, e))
        return e->code;
    (void)recognise_layer(c, f);
    if (c->nlayers == 0)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: no tensor has the name of a layer's parameter (%s)%s%s", path,
                        list_supported(names, sizeof names, false), f->st.n ? ", but " : "",
                        f->st.n ? f->st.tensor[0].name : "");
    for (uint32_t l = 0; l < c->nlayers; l++)
        if (!c->width[l])
            return gnn_fail(e, GNN_E_INPUT, "%s: no tensor of layer %u, but of layer %u", path, l,
                            c->nlayers - 1);
    return 0;
}
