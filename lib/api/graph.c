/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/api/graph.h"

#include <stdio.h>
#include <string.h>

#include "lib/api/handles.h"
#include "lib/api/options.h"
#include "lib/base/mem.h"
#include "lib/store/out_of_core.h"

struct gnn_graph *gnn_graph_open(const char *path, const char *const options[])
{
    struct gnn_err *e = gnn_api_err();
    bool verify = true;
    const struct opt own[] = {{.kind = OPT_FLAG, .name = "verify", .value = &verify},
                              {.kind = OPT_END}};
    struct gnn_graph *g = gnn_alloc_zero(1, sizeof *g, "a graph", e);
    if (g &&
        (gnn_api_options(options, own, NULL, false, e) || gnn_store_open(&g->s, path, verify, e))) {
        gnn_free(g);
        g = NULL;
    }
    const bool all = verify && gnn_api_given(options, "verify");
    if (g && gnn_store_fit(&g->s, all, e)) {
        gnn_graph_close(g);
        g = NULL;
    }
    return g;
}

void gnn_graph_close(struct gnn_graph *g)
{
    if (g)
        gnn_store_close(&g->s);
    gnn_free(g);
}

int gnn_graph_check(struct gnn_graph *g)
{
    struct gnn_err *e = gnn_api_err();
    return g->s.verify ? gnn_store_verified(&g->s, e)
                       : gnn_fail(e, GNN_E_USAGE, "%s: opened with --no-verify: nothing is checked",
                                  g->s.path);
}

const char *gnn_graph_node_type(const struct gnn_graph *g, uint32_t i)
{
    const struct gnn_schema *c = &g->s.meta.schema;
    return i < c->nntypes ? c->ntype[i].name : NULL;
}

const char *gnn_graph_edge_type(const struct gnn_graph *g, uint32_t i)
{
    static _Thread_local char key[GNN_ETYPE_KEY_CAPACITY];
    const struct gnn_schema *c = &g->s.meta.schema;
    return i < c->netypes ? gnn_etype_key(c, i, key, sizeof key) : NULL;
}

const char *gnn_graph_set(const struct gnn_graph *g, uint32_t i)
{
    static _Thread_local char name[2 * GNN_WORD_MAX + 2];
    const struct gnn_schema *c = &g->s.meta.schema;
    if (i >= c->nsets)
        return NULL;
    snprintf(name, sizeof name, "%s/%s", c->set[i].split, c->set[i].set);
    return name;
}

uint64_t gnn_graph_count(const struct gnn_graph *g, const char *name)
{
    const struct gnn_schema *c = &g->s.meta.schema;
    const int node = gnn_schema_find_ntype(c, name), edge = gnn_schema_find_etype(c, name);
    int set = gnn_schema_find_set(c, name);
    for (uint32_t t = 0; set < 0 && t < c->netypes; t++)
        set = gnn_schema_find_links(c, t, name);
    return node >= 0   ? c->ntype[node].count
           : edge >= 0 ? c->etype[edge].count
           : set >= 0  ? c->set[set].count
                       : 0;
}

uint32_t gnn_graph_parts(const struct gnn_graph *g)
{
    return g->s.nparts;
}

const struct gnn_tensor *gnn_graph_tensor(struct gnn_graph *g, uint32_t part, const char *name)
{
    return part < g->s.nparts ? gnn_store_find(&g->s, part, name) : NULL;
}

const char *gnn_graph_tensor_name(const struct gnn_graph *g, uint32_t part, uint32_t i)
{
    return part < g->s.nparts && i < gnn_store_ntensors(&g->s, part)
               ? gnn_store_peek(&g->s, part, i)->name
               : NULL;
}

const char *gnn_tensor_dtype(const struct gnn_tensor *t)
{
    return gnn_dtype_name(t->dtype);
}

uint32_t gnn_tensor_ndim(const struct gnn_tensor *t)
{
    return t->ndim;
}

uint64_t gnn_tensor_shape(const struct gnn_tensor *t, uint32_t i)
{
    return i < t->ndim ? t->shape[i] : 1;
}

const void *gnn_tensor_data(const struct gnn_tensor *t)
{
    return t->data;
}

uint64_t gnn_tensor_size(const struct gnn_tensor *t)
{
    uint64_t bytes;
    return gnn_tensor_bytes(t, &bytes) ? bytes : 0;
}
