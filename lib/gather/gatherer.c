#include "lib/gatherer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "formats/xxh.h"

#include "lib/gather/degree.h"
#include "lib/gather/rows.h"
#include "lib/ids.h"

/* A relation whose nodes' degrees travel, as field "degree.REL" of its node type. */
struct gather_degree {
    uint32_t type;
    char field[GNN_NAME_MAX + 1];
    uint32_t *of; /* by store id */
};

struct gatherer {
    struct gnn_store *store;
    struct gnn_meta meta;
    struct gather_job *job;
    uint32_t njobs;
    struct gather_job *orig; /* [nntypes] original ids, where they differ from those in the batches */
    struct gather_degree *degree;
    uint32_t ndegrees;
    bool sums;
    uint32_t **inverse; /* [nntypes] original id to store id, where batches carry original ids and they differ */
};

static void gatherer_free(void *arg)
{
    struct gatherer *g = arg;
    for (uint32_t i = 0; g->job && i < g->njobs; i++)
        gnn_gather_job_release(&g->job[i]);
    for (uint32_t t = 0; g->inverse && t < g->meta.schema.nntypes; t++)
        gnn_free(g->inverse[t]);
    for (uint32_t t = 0; g->orig && t < g->meta.schema.nntypes; t++)
        gnn_gather_job_release(&g->orig[t]);
    gnn_free(g->orig);
    for (uint32_t i = 0; g->degree && i < g->ndegrees; i++)
        gnn_free(g->degree[i].of);
    gnn_free(g->degree);
    gnn_free(g->job);
    gnn_free(g->inverse);
    gnn_meta_release(&g->meta);
    gnn_free(g);
}

/* ---- which tensors to add ---- */

/* Adds a job for each type that has the field. *found counts them; edges count only where batches name them. */
static int add_field(struct gatherer *g, const struct gnn_gather_opts *o, const char *name, uint32_t *found,
                     struct gnn_err *e)
{
    const struct gnn_schema *c = &g->meta.schema;
    const struct gnn_sampling *m = &g->meta.sampling;
    const bool label = !strcmp(name, "y");
    int rc = 0;
    *found = 0;
    for (uint32_t t = 0; !rc && t < c->nntypes; t++) {
        const struct gnn_field *f = gnn_field_find(c->ntype[t].field, c->ntype[t].nfields, name);
        if (!f || (label && t != m->seed_ntype))
            continue;
        rc = gnn_gather_job_node(&g->job[g->njobs++], g->store, t, f, label, o->dtype, e);
        ++*found;
    }
    for (uint32_t t = 0; !rc && m->edge_ids && t < c->netypes; t++) {
        const struct gnn_field *f = gnn_field_find(c->etype[t].field, c->etype[t].nfields, name);
        bool used = false;
        for (uint32_t h = 0; h < m->nhops; h++)
            used = used || m->fanout[(size_t)h * c->netypes + t];
        if (!f || !used)
            continue;
        rc = gnn_gather_job_edge(&g->job[g->njobs++], g->store, t, f, o->dtype, e);
        ++*found;
    }
    return rc;
}

/* The word "degree": the degrees of every relation within one node type. They are fields of the schema from here on. */
static int add_degrees(struct gatherer *g, const char *list, struct gnn_err *e)
{
    struct gnn_schema *c = &g->meta.schema;
    bool asked = false;
    for (const char *p = list; p; p = strchr(p, ','), p += p != NULL)
        asked = asked || (!strncmp(p, "degree", 6) && (!p[6] || p[6] == ','));
    if (!asked)
        return 0;
    g->degree = gnn_alloc_zero(c->netypes, sizeof *g->degree, "degrees", e);
    if (!g->degree)
        return e->code;
    for (uint32_t r = 0; r < c->netypes; r++) {
        struct gather_degree *d = &g->degree[g->ndegrees];
        if (c->etype[r].src != c->etype[r].dst)
            continue;
        d->type = c->etype[r].dst;
        if (snprintf(d->field, sizeof d->field, "degree.%s", c->etype[r].rel) >= (int)sizeof d->field)
            return gnn_fail(e, GNN_E_USAGE, "relation '%s' has too long a name for its degrees", c->etype[r].rel);
        int rc = gnn_schema_add_nfield(c, d->type, d->field, GNN_U32, 0, e);
        if (!rc)
            rc = gnn_store_degrees(g->store, r, &d->of, e);
        if (rc)
            return rc;
        g->ndegrees++;
    }
    return 0;
}

static int unknown_field(const struct gatherer *g, const char *name, struct gnn_err *e)
{
    const struct gnn_schema *c = &g->meta.schema;
    for (uint32_t t = 0; t < c->netypes; t++)
        if (gnn_field_find(c->etype[t].field, c->etype[t].nfields, name))
            return gnn_fail(e, GNN_E_USAGE, "field '%s' is one of edges: the batches must carry edge ids", name);
    return gnn_fail(e, GNN_E_USAGE, "%s: no field '%s'", g->store->path, name);
}

static int add_fields(struct gatherer *g, const struct gnn_gather_opts *o, struct gnn_err *e)
{
    const struct gnn_schema *c = &g->meta.schema;
    const char *list = o->fields ? o->fields : "x,y";
    uint64_t most = 1;
    for (const char *p = list; *p; p++)
        most += *p == ',';
    g->job = gnn_alloc_zero(most * (c->nntypes + c->netypes), sizeof *g->job, "fields", e);
    if (!g->job || add_degrees(g, list, e)) /* first: jobs point into the schema, which this extends */
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
                return gnn_fail(e, GNN_E_USAGE, "fields '%s': '%s' is there twice", list, name);
        uint32_t found;
        int rc = add_field(g, o, name, &found, e);
        if (!strcmp(name, "degree"))
            found += g->ndegrees;
        if (!rc && !found && o->fields)
            rc = unknown_field(g, name, e);
        if (rc)
            return rc;
    }
    return 0;
}

/* Batches in store ids of several parts also get the original ones, for what must not depend on the parts. */
static int add_originals(struct gatherer *g, struct gnn_err *e)
{
    static char name[] = "id";
    static const struct gnn_field id = {.name = name, .dtype = GNN_U32};
    int rc = 0;
    if (g->store->nparts == 1 || g->meta.sampling.original_ids)
        return 0;
    g->orig = gnn_alloc_zero(g->meta.schema.nntypes, sizeof *g->orig, "original ids", e);
    if (!g->orig)
        return e->code;
    for (uint32_t t = 0; !rc && t < g->meta.schema.nntypes; t++)
        rc = gnn_gather_job_node(&g->orig[t], g->store, t, &id, false, 0, e);
    return rc;
}

int gnn_gather_check(const struct gnn_store *s, const struct gnn_meta *batches, struct gnn_err *e)
{
    const struct gnn_meta *own = &s->meta;
    if (strcmp(batches->identity, own->identity) || !gnn_schema_equal(&batches->schema, &own->schema))
        return gnn_fail(e, GNN_E_INPUT, "%s: the batches were drawn from another store (identity %s, this one is %s)",
                        s->path, batches->identity, own->identity);
    return 0;
}

static int gatherer_init(struct gatherer *g, const struct gnn_meta *up, const struct gnn_gather_opts *o,
                         struct gnn_err *e)
{
    int rc = gnn_meta_copy(&g->meta, up, e);
    if (!rc)
        rc = gnn_meta_add_provenance(&g->meta, o->provenance, e);
    if (!rc)
        rc = gnn_gather_check(g->store, up, e);
    if (rc)
        return rc;
    if (o->dtype && o->dtype != GNN_F32 && o->dtype != GNN_F16 && o->dtype != GNN_BF16)
        return gnn_fail(e, GNN_E_USAGE, "features cannot travel as %s", gnn_dtype_name(o->dtype));
    g->sums = o->sums;
    rc = add_fields(g, o, e);
    if (!rc)
        rc = add_originals(g, e);
    g->inverse = gnn_alloc_zero(g->meta.schema.nntypes, sizeof(uint32_t *), "original ids", e);
    if (!g->inverse)
        return e->code;
    for (uint32_t t = 0; !rc && g->meta.sampling.original_ids && t < g->meta.schema.nntypes; t++)
        rc = gnn_store_inverse(g->store, t, &g->inverse[t], e);
    return rc;
}

/* ---- the work ---- */

static void *worker_new(void *arg, struct gnn_err *e)
{
    (void)arg;
    return gnn_alloc_zero(1, sizeof(struct gather_scratch), "a gathering thread", e);
}

static void worker_free(void *worker)
{
    struct gather_scratch *w = worker;
    gnn_buf_release(&w->node);
    gnn_buf_release(&w->row);
    gnn_free(w);
}

/* Whether sums are wanted: not of what will be handed off in shared memory, as nothing verifies it there. */
static bool summed(const struct gatherer *g, const struct gnn_batch *b)
{
    return g->sums && !b->tensors.share;
}

/* Store ids of n nodes of type t of the batch. */
static int store_ids(const struct gatherer *g, struct gather_scratch *w, const struct gnn_batch *b, uint32_t t,
                     uint64_t n, const uint32_t **ids, struct gnn_err *e)
{
    const uint32_t *inv = g->inverse[t];
    *ids = b->type[t].node;
    if (!inv)
        return 0;
    int rc = gnn_buf_fit(&w->node, n, sizeof **ids, "node ids", e);
    uint32_t *v = w->node.data;
    const uint64_t limit = g->meta.schema.ntype[t].count;
    for (uint64_t i = 0; !rc && i < n; i++) {
        if ((*ids)[i] >= limit)
            return gnn_fail(e, GNN_E_INPUT, "batch %" PRIu64 "/%" PRIu64 ": node id out of range", b->epoch, b->step);
        v[i] = inv[(*ids)[i]];
    }
    *ids = v;
    return rc;
}

/* Room for a tensor that the batch does not have yet. */
static int add(struct gnn_batch *b, const char *name, enum gnn_dtype dtype, uint32_t ndim, const uint64_t *shape,
               struct gnn_tensor **t, struct gnn_err *e)
{
    if (gnn_tensors_find(&b->tensors, name))
        return gnn_fail(e, GNN_E_INPUT, "batch %" PRIu64 "/%" PRIu64 ": '%s' is there already: gathered before?", b->epoch,
                        b->step, name);
    return gnn_tensors_add(&b->tensors, name, dtype, ndim, shape, t, e);
}

static int gather_nodes(const struct gatherer *g, const struct gather_job *j, struct gather_scratch *w,
                        struct gnn_batch *b, struct gnn_err *e)
{
    const uint64_t n = j->label ? b->type[j->type].count[0] : gnn_batch_nodes(b, j->type);
    const uint32_t *ids;
    struct gnn_tensor *t;
    char name[GNN_NAME_MAX + 1];
    snprintf(name, sizeof name, "node/%s/%s", g->meta.schema.ntype[j->type].name, j->field->name);
    const uint64_t shape[2] = {n, j->field->width};
    int rc = add(b, name, j->wire, j->field->width ? 2 : 1, shape, &t, e);
    if (!rc)
        rc = store_ids(g, w, b, j->type, n, &ids, e);
    if (rc)
        return rc;
    const uint64_t got = gnn_gather_job_rows(j, g->store->nparts, ids, NULL, n, summed(g, b), t);
    return got == n ? 0 : gnn_fail(e, GNN_E_INPUT, "batch %" PRIu64 "/%" PRIu64 ": tensor '%s': node id out of range",
                                   b->epoch, b->step, name);
}

/* A gnn-gather before this one may have done it. */
static int gather_originals(const struct gatherer *g, struct gather_scratch *w, struct gnn_batch *b, struct gnn_err *e)
{
    int rc = 0;
    for (uint32_t t = 0; !rc && g->orig && t < g->meta.schema.nntypes; t++) {
        if (b->type[t].orig)
            continue;
        rc = gather_nodes(g, &g->orig[t], w, b, e);
        if (!rc)
            b->type[t].orig = gnn_tensors_at(&b->tensors, b->tensors.n - 1)->data;
    }
    return rc;
}

static int gather_degrees(const struct gatherer *g, const struct gather_degree *d, struct gather_scratch *w,
                          struct gnn_batch *b, struct gnn_err *e)
{
    const uint64_t n = gnn_batch_nodes(b, d->type), limit = g->meta.schema.ntype[d->type].count;
    const uint32_t *ids;
    struct gnn_tensor *t;
    char name[2 * GNN_NAME_MAX + 8];
    snprintf(name, sizeof name, "node/%s/%s", g->meta.schema.ntype[d->type].name, d->field);
    int rc = add(b, name, GNN_U32, 1, &n, &t, e);
    if (!rc)
        rc = store_ids(g, w, b, d->type, n, &ids, e);
    if (rc)
        return rc;
    uint32_t *v = t->data;
    for (uint64_t i = 0; i < n; i++) {
        if (ids[i] >= limit)
            return gnn_fail(e, GNN_E_INPUT, "batch %" PRIu64 "/%" PRIu64 ": tensor '%s': node id out of range",
                            b->epoch, b->step, name);
        v[i] = d->of[ids[i]];
    }
    t->has_sum = summed(g, b);
    if (t->has_sum)
        t->sum = XXH3_64bits(v, n * sizeof *v);
    return 0;
}

static int gather_edges(const struct gatherer *g, const struct gather_job *j, struct gather_scratch *w,
                        struct gnn_batch *b, uint32_t hop, struct gnn_err *e)
{
    const struct gnn_block *k = gnn_batch_block(b, hop, j->type);
    const uint32_t dst = g->meta.schema.etype[j->type].dst;
    if (!k->indptr)
        return 0;
    const uint64_t n = k->edges;
    char key[GNN_ETYPE_KEY_ROOM], name[GNN_NAME_MAX + 1];
    gnn_etype_key(&g->meta.schema, j->type, key, sizeof key);
    snprintf(name, sizeof name, "hop/%u/%s/%s", hop, key, j->field->name);
    struct gnn_tensor *t;
    const uint32_t *ids;
    const uint64_t *rows;
    const uint64_t shape[2] = {n, j->field->width};
    int rc = add(b, name, j->wire, j->field->width ? 2 : 1, shape, &t, e);
    if (!rc)
        rc = store_ids(g, w, b, dst, (uint64_t)k->first + k->n, &ids, e);
    if (!rc)
        rc = gnn_buf_fit(&w->row, n, sizeof *rows, "edge rows", e);
    if (rc)
        return rc;
    if (!gnn_gather_job_find_edges(j, g->store->nparts, ids + k->first, k, w->row.data) ||
        gnn_gather_job_rows(j, g->store->nparts, NULL, w->row.data, n, summed(g, b), t) < n)
        return gnn_fail(e, GNN_E_INPUT, "batch %" PRIu64 "/%" PRIu64 ": tensor 'hop/%u/%s/id': not an edge of its node",
                        b->epoch, b->step, hop, key);
    return 0;
}

static int apply(void *arg, void *worker, struct gnn_batch *b, struct gnn_err *e)
{
    const struct gatherer *g = arg;
    struct gather_scratch *w = worker;
    int rc = 0;
    for (uint32_t i = 0; !rc && i < g->njobs; i++) {
        const struct gather_job *j = &g->job[i];
        if (!j->edge)
            rc = gather_nodes(g, j, w, b, e);
        for (uint32_t h = 0; !rc && j->edge && h < b->nhops; h++)
            rc = gather_edges(g, j, w, b, h, e);
    }
    for (uint32_t i = 0; !rc && i < g->ndegrees; i++)
        rc = gather_degrees(g, &g->degree[i], w, b, e);
    return rc ? rc : gather_originals(g, w, b, e);
}

static int end(void *arg, struct gnn_err *e)
{
    return gnn_store_verified(((struct gatherer *)arg)->store, e);
}

struct gnn_source *gnn_gather_source_new(struct gnn_source *up, struct gnn_store *s,
                                         const struct gnn_gather_opts *o, struct gnn_err *e)
{
    static const struct gnn_map_ops ops = {.worker_new = worker_new,
                                           .worker_free = worker_free,
                                           .apply = apply,
                                           .end = end,
                                           .arg_free = gatherer_free};
    struct gatherer *g = gnn_alloc_zero(1, sizeof *g, "a gatherer", e);
    if (g)
        g->store = s;
    if (!g || gatherer_init(g, up->meta, o, e)) {
        gnn_source_free(up);
        if (g)
            gatherer_free(g);
        return NULL;
    }
    return gnn_map_new(up, &g->meta, &ops, g, o->threads, o->depth ? o->depth : 2 * o->threads, e);
}
