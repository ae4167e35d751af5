/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/data/recipe.h"

#include <string.h>

#include "lib/base/json.h"
#include "lib/base/mem.h"

char *gnn_recipe_text(const struct gnn_meta *m, bool full, struct gnn_err *e)
{
    /* Neither changes what is trained; the graph's identity is that of all its partitions. */
    struct gnn_meta same = *m;
    same.sampling.edge_ids = same.sampling.original_ids = false;
    same.sampling.rank = same.sampling.ranks = 0;
    json_t *sampling = gnn_meta_sampling_json(&same, e);
    if (!sampling)
        return NULL;
    gnn_json_watch();
    json_t *j = json_pack("{s:s, s:o}", "graph", gnn_meta_graph(m), "sampling", sampling);
    if (j && full)
        json_object_set_new(j, "full_batch", json_true());
    char *text = j && !gnn_json_starved() ? gnn_json_text(j, JSON_COMPACT, e) : NULL;
    if (!text && !e->code)
        gnn_fail_nomem(e, 0, "the record of the training");
    json_decref(j);
    return text;
}

int gnn_recipe_parse(struct gnn_recipe *r, const char *text, const char *path, struct gnn_err *e)
{
    *r = (struct gnn_recipe){0};
    if (!(r->j = gnn_json_parse(text, strlen(text), path, e)))
        return e->code;
    const char *graph = json_string_value(json_object_get(r->j, "graph"));
    r->sampling = json_object_get(r->j, "sampling");
    r->full = json_is_true(json_object_get(r->j, "full_batch"));
    if (graph && strlen(graph) == sizeof r->graph - 1 && gnn_recipe_set(r, 0)) {
        memcpy(r->graph, graph, sizeof r->graph);
        return 0;
    }
    gnn_recipe_release(r);
    return gnn_fail(e, GNN_E_INPUT, "%s: damaged: the record of the training has no graph or set",
                    path);
}

char *gnn_recipe_arrange(const char *text, const char *path, const uint32_t *order, uint32_t n,
                         struct gnn_err *e)
{
    struct gnn_recipe r;
    json_t *hop;
    size_t i;
    if (!order)
        return gnn_strdup(text, e);
    if (gnn_recipe_parse(&r, text, path, e))
        return NULL;
    gnn_json_watch();
    json_t *hops = json_object_get(r.sampling, "fanout");
    json_array_foreach(hops, i, hop)
    {
        json_t *to = json_array();
        for (uint32_t k = 0; k < n; k++)
            json_array_append(to, json_array_get(hop, order[k]));
        json_array_set_new(hops, i, to);
    }
    char *out = gnn_json_starved() ? NULL : gnn_json_text(r.j, JSON_COMPACT, e);
    if (!out && !e->code)
        gnn_fail_nomem(e, 0, "the record of the training");
    gnn_recipe_release(&r);
    return out;
}

void gnn_recipe_release(struct gnn_recipe *r)
{
    json_decref(r->j);
    *r = (struct gnn_recipe){0};
}

const char *gnn_recipe_set(const struct gnn_recipe *r, uint32_t i)
{
    const json_t *set = json_array_get(json_object_get(r->sampling, "splits"), i);
    return json_string_value(json_object_get(set, "name"));
}
