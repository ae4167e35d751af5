/* SPDX-License-Identifier: Apache-2.0 */
/* From a list of fields to the jobs of a gatherer. */
#include <stdio.h>
#include <string.h>

#include "lib/store/degree.h"
#include "lib/data/rule.h"
#include "lib/gather/gather_impl.h"
#include "lib/gather/replica.h"
#include "lib/store/ids.h"

void gnn_gatherer_free(void *gatherer)
{
    struct gatherer *g = gatherer;
    for (uint32_t i = 0; g->job && i < g->njobs; i++)
        gnn_gather_job_release(&g->job[i]);
    for (uint32_t t = 0; g->inverse && t < g->meta.schema.nntypes; t++)
        gnn_free(g->inverse[t]);
    gnn_gather_replica_free(g->replica);
    pthread_mutex_destroy(&g->lock);
    gnn_free(g->job);
    gnn_free(g->inverse);
    gnn_free(g->map);
    gnn_meta_release(&g->meta);
    gnn_free(g);
}

/* Adds a job for each type that has the field. *found counts them; edges count only where batches
 * name them. */
static int add_field(struct gatherer *g, const struct gnn_gather_opts *o, const char *name,
                     uint32_t *found, struct gnn_err *e)
{
    const struct gnn_schema *c = &g->meta.schema;
    const struct gnn_sampling *m = &g->meta.sampling;
    const bool label = !strcmp(name, "y");
    int rc = 0;
    *found = 0;
    for (uint32_t t = 0; !rc && t < c->nntypes; t++) {
        const struct gnn_field *f = gnn_field_find(c->ntype[t].field, c->ntype[t].nfields, name);
        if (!f || (label && (t != m->seed_ntype || m->links.type)))
            continue;
        rc = gnn_gather_job_node(&g->job[g->njobs], g->store, t, f, label, o->dtype, e);
        if (!rc && o->in_place)
            gnn_gather_job_in_place(&g->job[g->njobs], g->store);
        g->njobs++;
        ++*found;
    }
    for (uint32_t t = 0; !rc && m->edge_ids && t < c->netypes; t++) {
        const struct gnn_field *f = gnn_field_find(c->etype[t].field, c->etype[t].nfields, name);
        if (!f || !gnn_sampling_uses(m, c->netypes, t))
            continue;
        rc = gnn_gather_job_edge(&g->job[g->njobs++], g->store, t, f, o->dtype, e);
        ++*found;
    }
    return rc;
}

/* The word "degree": a relation within one node type, whose nodes' degrees travel as a field of
 * that type. */
static bool has_degrees(const struct gnn_etype *r)
{
    return r->src == r->dst;
}

/* Which of them a list of fields asks for: "degree", or "degree:WEIGHT" with the sums of a weight
 * as well. */
struct degrees {
    bool asked;
    char weight[GNN_WORD_MAX + 1]; /* "": none */
    uint32_t n;                    /* relations that have them */
};

static int read_degrees(struct degrees *d, const char *list, struct gnn_err *e)
{
    for (const char *p = list; p; p = (p = strchr(p, ',')) ? p + 1 : NULL) {
        const size_t n = strcspn(p, ",");
        if (strncmp(p, "degree", 6) != 0 || (n > 6 && p[6] != ':'))
            continue;
        if (d->asked)
            return gnn_fail(e, GNN_E_USAGE, "fields '%s': 'degree' is given twice", list);
        if (n == 7 || n > 7 + GNN_WORD_MAX)
            return gnn_fail(e, GNN_E_USAGE,
                            "fields '%s': expected degree:WEIGHT, WEIGHT being an "
                            "edge field",
                            list);
        d->asked = true;
        snprintf(d->weight, sizeof d->weight, "%.*s", n > 7 ? (int)(n - 7) : 0, p + 7);
    }
    return 0;
}

/* They are fields of the schema from here on. */
static int declare_degrees(struct gatherer *g, const char *list, struct degrees *d,
                           struct gnn_err *e)
{
    struct gnn_schema *c = &g->meta.schema;
    char name[GNN_WORD_MAX + 1];
    if (read_degrees(d, list, e) ||
        (*d->weight && gnn_schema_need_edge_field(c, g->store->path, d->weight, e)))
        return e->code;
    for (uint32_t r = 0; !e->code && d->asked && r < c->netypes; r++) {
        const struct gnn_etype t = c->etype[r];
        if (!has_degrees(&t))
            continue;
        (void)!gnn_schema_add_nfield(c, t.dst, gnn_degree_field(name, t.rel, r), GNN_U32, 0, e);
        for (int loop = 0; *d->weight && !e->code && loop < 2; loop++)
            (void)!gnn_schema_add_nfield(
                c, t.dst, gnn_weight_field(name, loop, d->weight, t.rel, r), GNN_F32, 0, e);
        d->n++;
    }
    return e->code;
}

/* A job that brings `of`, a number for each node of type t, which it takes over. */
static int add_numbers(struct gatherer *g, uint32_t t, const char *name, void *of,
                       struct gnn_err *e)
{
    const struct gnn_ntype *type = &g->meta.schema.ntype[t];
    return gnn_gather_job_numbers(&g->job[g->njobs++], t,
                                  gnn_field_find(type->field, type->nfields, name), of, type->count,
                                  e);
}

static int add_weights(struct gatherer *g, const struct degrees *d, uint32_t r, struct gnn_err *e)
{
    const struct gnn_etype *t = &g->meta.schema.etype[r];
    char name[GNN_WORD_MAX + 1];
    float *degree, *loop;
    if (gnn_store_weights(g->store, r, d->weight, &degree, &loop, e))
        return e->code;
    if (add_numbers(g, t->dst, gnn_weight_field(name, false, d->weight, t->rel, r), degree, e)) {
        gnn_free(loop);
        return e->code;
    }
    return add_numbers(g, t->dst, gnn_weight_field(name, true, d->weight, t->rel, r), loop, e);
}

static int add_degrees(struct gatherer *g, const struct degrees *d, struct gnn_err *e)
{
    const struct gnn_schema *c = &g->meta.schema;
    char name[GNN_WORD_MAX + 1];
    for (uint32_t r = 0; !e->code && r < c->netypes; r++) {
        const struct gnn_etype *t = &c->etype[r];
        uint32_t *of;
        if (has_degrees(t) && !gnn_store_degrees(g->store, r, &of, e) &&
            !add_numbers(g, t->dst, gnn_degree_field(name, t->rel, r), of, e) && *d->weight)
            (void)!add_weights(g, d, r, e);
    }
    return e->code;
}

static int unknown_field(const struct gatherer *g, const char *name, struct gnn_err *e)
{
    const struct gnn_schema *c = &g->meta.schema;
    if (g->meta.sampling.links.type && !strcmp(name, "y"))
        return gnn_fail(e, GNN_E_USAGE, "field 'y': labels are of nodes, and the seeds are links");
    for (uint32_t t = 0; t < c->netypes; t++)
        if (gnn_field_find(c->etype[t].field, c->etype[t].nfields, name))
            return gnn_fail(
                e, GNN_E_USAGE,
                "edge field '%s': requires batches with edge ids (gnn-sample --edge-ids)", name);
    return gnn_schema_no_field(c, g->store->path, name, e);
}

static int add_fields(struct gatherer *g, const struct gnn_gather_opts *o, struct gnn_err *e)
{
    const struct gnn_schema *c = &g->meta.schema;
    const char *list = o->fields ? o->fields : "x,y";
    uint64_t most = 4; /* two more for degrees, one for original ids */
    struct degrees degrees = {0};
    for (const char *p = list; *p; p++)
        most += *p == ',';
    g->job = gnn_alloc_zero(most * (c->nntypes + c->netypes), sizeof *g->job, "fields", e);
    if (!g->job || declare_degrees(g, list, &degrees,
                                   e)) /* first: jobs point into the schema, which this extends */
        return e->code;
    for (const char *p = list, *end; p; p = *end ? end + 1 : NULL) {
        end = p + strcspn(p, ",");
        char name[GNN_NAME_MAX + 1];
        const size_t n = (size_t)(end - p);
        if (!n || n > GNN_NAME_MAX)
            return gnn_fail(e, GNN_E_USAGE, "fields '%s': not a list of names", list);
        memcpy(name, p, n);
        name[n] = 0;
        for (uint32_t i = 0; i < g->njobs; i++)
            if (!strcmp(g->job[i].field->name, name))
                return gnn_fail(e, GNN_E_USAGE, "fields '%s': '%s' is given twice", list, name);
        uint32_t found;
        int rc = add_field(g, o, name, &found, e);
        const bool degree = !strncmp(name, "degree", 6) && (!name[6] || name[6] == ':');
        if (degree && !degrees.n && !found)
            return gnn_fail(e, GNN_E_USAGE,
                            "fields '%s': degrees are counted along edge types within one node "
                            "type, and %s has none",
                            list, g->store->path);
        found += degree ? degrees.n : 0;
        if (!rc && !found && o->fields)
            rc = unknown_field(g, name, e);
        if (rc)
            return rc;
    }
    return degrees.n ? add_degrees(g, &degrees, e) : 0;
}

/* Batches in store ids of several parts also get the original ones, for what must not depend on the
 * parts. */
static int add_originals(struct gatherer *g, struct gnn_err *e)
{
    static char name[] = "id";
    static const struct gnn_field id = {.name = name, .dtype = GNN_U32};
    int rc = 0;
    if (g->store->nparts == 1 || g->meta.sampling.original_ids)
        return 0;
    for (uint32_t t = 0; !rc && t < g->meta.schema.nntypes; t++) {
        struct gather_job *j = &g->job[g->njobs++];
        rc = gnn_gather_job_node(j, g->store, t, &id, false, 0, e);
        j->original = true;
    }
    return rc;
}

int gnn_gather_check(const struct gnn_store *s, const struct gnn_meta *batches, struct gnn_err *e)
{
    const struct gnn_meta *own = &s->meta;
    if (strcmp(batches->identity, own->identity) ||
        (!gnn_schema_equal(&batches->schema, &own->schema, e) && !e->code))
        return gnn_meta_other_store(batches, own, s->path, e);
    return e->code;
}

static int gatherer_init(struct gatherer *g, const struct gnn_meta *up,
                         const struct gnn_gather_opts *o, struct gnn_err *e)
{
    const struct gnn_schema *c = &g->meta.schema;
    if (gnn_meta_copy(&g->meta, up, e) || gnn_meta_add_provenance(&g->meta, o->provenance, e) ||
        gnn_gather_check(g->store, up, e) ||
        gnn_comm_check(g->comm, up->sampling.rank, up->sampling.ranks, e))
        return e->code;
    if (o->dtype && o->dtype != GNN_F32 && o->dtype != GNN_F16 && o->dtype != GNN_BF16)
        return gnn_fail(e, GNN_E_USAGE, "features cannot be converted to %s",
                        gnn_dtype_name(o->dtype));
    g->sums = o->sums;
    g->part_by_part = o->part_by_part;
    g->in_place = o->in_place;
    int rc = 0;
    if (add_fields(g, o, e) || add_originals(g, e))
        return e->code;
    g->inverse = gnn_alloc_zero(c->nntypes, sizeof(uint32_t *), "original ids", e);
    g->map = gnn_alloc((uint64_t)c->nntypes + c->netypes, sizeof *g->map, "the tiers of rows", e);
    if (!g->inverse || !g->map)
        return e->code;
    for (uint32_t k = 0; k < c->nntypes + c->netypes; k++)
        g->map[k] = (struct gnn_tier_map){
            .store = g->store, .type = k < c->nntypes ? k : c->etype[k - c->nntypes].dst};
    for (uint32_t t = 0; !rc && g->meta.sampling.original_ids && t < c->nntypes; t++)
        rc = gnn_store_inverse(g->store, t, &g->inverse[t], e);
    if (!rc && o->replicate.share > 0 &&
        !(g->replica = gnn_gather_replica_new(g, &o->replicate, o->copying, e)))
        rc = e->code;
    for (uint32_t t = 0; !rc && g->replica && t < c->nntypes; t++)
        g->map[t].replicated = &g->replica->of[t].map;
    return rc;
}

struct gatherer *gnn_gatherer_new(const struct gnn_meta *up, struct gnn_store *s,
                                  const struct gnn_gather_opts *o, struct gnn_err *e)
{
    struct gatherer *g = gnn_alloc_zero(1, sizeof *g, "a gatherer", e);
    if (!g)
        return NULL;
    g->store = s;
    pthread_mutex_init(&g->lock, NULL);
    g->hits = o->hits;
    g->comm = s->comm;
    if (!gatherer_init(g, up, o, e))
        return g;
    gnn_gatherer_free(g);
    return NULL;
}
