/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/unused.h"

#include <stdio.h>
#include <string.h>

#include "cmd/cli.h"
#include "lib/data/sampling_list.h"

static bool edges_have(const struct gnn_schema *s, const char *name)
{
    for (uint32_t t = 0; t < s->netypes; t++)
        if (gnn_field_find(s->etype[t].field, s->etype[t].nfields, name))
            return true;
    return false;
}

void unused_edge_fields(const struct gnn_schema *s, const char *fields, const char *instead)
{
    char list[128] = "", name[GNN_WORD_MAX + 1];
    unsigned found = 0;
    for (const char *p = fields; *p; p += strspn(p, " ")) {
        const int n = (int)strcspn(p, " ");
        snprintf(name, sizeof name, "%.*s", n, p);
        p += n;
        const size_t used = strlen(list);
        if (edges_have(s, name))
            snprintf(list + used, sizeof list - used, "%s%s%s", found++ ? ", " : "", name,
                     strcmp(name, "x") ? "" : " (features)");
    }
    if (found)
        cli_note("warning: edge field%s %s %s not used: %s", found > 1 ? "s" : "", list,
                 found > 1 ? "are" : "is", instead);
}

/* Whether neighbours are picked by a field; NULL: by any. */
static bool picks_by(const struct gnn_sampling *m, const char *name)
{
    const char *field;
    return m && gnn_sampling_edge_field(m, &field) && (!name || !strcmp(field, name));
}

/* Whether the field exists, and neither sampling nor the model goes by it. */
static bool lies_idle(const struct gnn_schema *s, const struct unused_by *by, const char *name)
{
    const char *weight = by->model ? by->model->edge_weight : NULL;
    return edges_have(s, name) && !picks_by(by->sampling, name) &&
           !(weight && !strcmp(weight, name));
}

static bool takes_all(const struct gnn_sampling *m, uint32_t netypes)
{
    bool all = true;
    for (uint64_t i = 0; i < (uint64_t)m->nhops * netypes; i++)
        all = all && m->fanout[i] <= 0;
    return all;
}

/* What sampling does without weights, or without times. */
static void say_sampling(const struct gnn_schema *s, const struct gnn_sampling *m, bool weight,
                         bool time, char *text, size_t capacity)
{
    const char *among = gnn_sampling_is_temporal(m) ? " among those of their time" : "",
               *whatever = time ? ", whatever their time" : "", *picks = gnn_sampling_picks(m);
    if (picks)
        snprintf(text, capacity, "%s", picks);
    else if (takes_all(m, s->netypes))
        snprintf(text, capacity, "all neighbours%s are taken%s", *among ? " of their time" : "",
                 whatever);
    else if (weight)
        snprintf(text, capacity, "neighbours are sampled uniformly%s%s", among, whatever);
    else
        snprintf(text, capacity, "neighbours are sampled whatever their time");
}

/* What a model makes of edges. */
static void say_model(const struct gnn_model_config *c, bool several, char *text, size_t capacity)
{
    if (c->edge_weight)
        snprintf(text, capacity, "the model weights edges by %s", c->edge_weight);
    else if (c->edge_features)
        snprintf(text, capacity, "the model uses the features of edges");
    else if (c->layer->attends)
        snprintf(text, capacity, "attention does not depend on %s", several ? "them" : "it");
    else
        snprintf(text, capacity, "the model treats all edges equally");
}

void unused_tell(const struct gnn_schema *s, const struct unused_by *by)
{
    const struct gnn_sampling *m = by->samples ? by->sampling : NULL;
    const struct gnn_model_config *c = by->model;
    /* Who has named other weights does not mean these. */
    const bool weight = lies_idle(s, by, "weight"), sampling = weight && m && !picks_by(m, NULL),
               model = weight && c && !c->edge_weight,
               time =
                   (by->whole || (m && !gnn_sampling_is_temporal(m))) && lies_idle(s, by, "time"),
               x = c && !c->edge_features && lies_idle(s, by, "x");
    const unsigned several = (sampling || model) + time + x > 1;
    char fields[32], text[400] = "";
    if (by->whole && time)
        snprintf(text, sizeof text, "full batches have edges of all times");
    else if (m && (sampling || time))
        say_sampling(s, m, sampling, time, text, sizeof text);
    if (c && (sampling || model || x)) {
        const size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s", n ? ", and " : "");
        say_model(c, several, text + strlen(text), sizeof text - strlen(text));
    }
    snprintf(fields, sizeof fields, "%s%s%s", sampling || model ? "weight " : "",
             time ? "time " : "", x ? "x" : "");
    unused_edge_fields(s, fields, text);
}
