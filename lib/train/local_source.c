/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/train/local_source.h"

#include <stdio.h>
#include <string.h>

#include "lib/gpu/gpu.h"

struct gnn_source *gnn_feed_new(struct gnn_store *store, const struct gnn_sampler_opts *s,
                                const struct gnn_gather_opts *g, struct gnn_err *e)
{
    struct gnn_gather_opts gather = *g;
    gather.beside = true;
    struct gnn_source *sampled = gnn_sampler_source_new(store, s, e);
    /* Several ranks gather before they bring batches to devices. */
    if (sampled && g->gpu && store->comm->size == 1 && gnn_sampler_assembles(s, 1))
        sampled = g->gpu->ops->bring(g->gpu, sampled, e);
    return sampled ? gnn_gather_source_new(sampled, store, &gather, e) : NULL;
}

void gnn_feed_prefetch(struct gnn_sampler_opts *s, struct gnn_gather_opts *g, unsigned n)
{
    s->threads = n;
    s->depth = n + 1; /* one is ready while n are being made: each is some hundred megabytes */
    s->background = true;
    *g = (struct gnn_gather_opts){.dtype = g->dtype,
                                  .fields = g->fields,
                                  .part_by_part = g->part_by_part,
                                  .in_place = g->in_place,
                                  .replicate = g->replicate,
                                  .hits = g->hits}; /* on the same threads */
}

/* Degrees are counted along relations within a node type; a model that needs them elsewhere is
 * refused for a better reason than the lack of the field. */
static bool has_degrees(const struct gnn_schema *s)
{
    bool any = false;
    for (uint32_t t = 0; t < s->netypes; t++)
        any = any || s->etype[t].src == s->etype[t].dst;
    return any;
}

static bool nodes_have(const struct gnn_schema *s, const char *name)
{
    for (uint32_t t = 0; t < s->nntypes; t++)
        if (gnn_field_find(s->ntype[t].field, s->ntype[t].nfields, name))
            return true;
    return false;
}

const char *gnn_feed_fields(const struct gnn_schema *c, bool labels, const char *edge_weight,
                            bool wants_degrees, char text[GNN_FEED_FIELDS])
{
    const char *weight = edge_weight ? edge_weight : "";
    const bool x = nodes_have(c, "x"), listed = x && !strcmp(weight, "x");
    const bool degrees = wants_degrees && has_degrees(c);
    if (!degrees && !*weight)
        return NULL;
    snprintf(text, GNN_FEED_FIELDS, "%s%s%s%s%s%s%s", x ? ",x" : "",
             labels && nodes_have(c, "y") ? ",y" : "", degrees ? ",degree" : "",
             degrees && *weight ? ":" : "", degrees ? weight : "", *weight && !listed ? "," : "",
             listed ? "" : weight);
    return text + 1;
}
