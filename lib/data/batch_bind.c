/* SPDX-License-Identifier: Apache-2.0 */
/* From the tensors of a BATCH frame to the typed view of a batch, trusting nothing. The columns are
 * gone through twice: by the table of the frame, so that nothing is read, unpacked or allocated for
 * what cannot be in it, and then with their data. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/plural.h"
#include "lib/data/columns.h"
#include "lib/data/label_check.h"

struct bind {
    struct gnn_batch *b; /* NULL: by the table */
    const struct gnn_tensors *set;
    const struct gnn_meta *m;
    struct gnn_err *e;
    uint32_t known; /* tensors recognised so far */
};

/* A column of a node type, or of a block: of hop `hop` and edge type `type`. */
struct place {
    enum gnn_column c;
    uint32_t hop, type;
    const struct gnn_tensor *t;
    /* whose rows say how many t can have: nodes, offsets or edges */
    const struct gnn_tensor *of;
};

GNN_PRINTF(3, 4)
static int refuse_tensor(const struct bind *s, const char *name, const char *fmt, ...)
{
    char what[256], batch[64] = "";
    va_list ap;
    va_start(ap, fmt);
    (void)!vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    if (s->b)
        snprintf(batch, sizeof batch, "batch %" PRIu64 "/%" PRIu64 ": ", s->b->epoch, s->b->step);
    return gnn_fail(s->e, GNN_E_INPUT, "%stensor '%s': %s", batch, name, what);
}

static int bad_element(const struct bind *s, const struct place *p, uint64_t i, uint64_t v,
                       const char *what)
{
    return refuse_tensor(s, p->t->name, "element %" PRIu64 ": %" PRIu64 " %s", i, v, what);
}

static const struct gnn_tensor *find_column(const struct bind *s, enum gnn_column c, uint32_t hop,
                                            uint32_t type)
{
    char name[GNN_NAME_MAX + 1];
    return gnn_tensors_find(s->set, gnn_column_name(name, &s->m->schema, c, hop, type));
}

/* ---- how many rows ---- */

/* Pairs of a walk that does not end early: each node with up to `window` before it and after it. */
static uint64_t pairs_max(const struct gnn_walks *w)
{
    const uint64_t n = w->length + UINT64_C(1),
                   window = w->window < w->length ? w->window : w->length;
    return 2 * n * window - window * (window + 1);
}

struct range {
    uint64_t least, most;
};
static struct range just_rows(uint64_t n)
{
    return (struct range){n, n};
}

/* By the header, the schema and the columns before it. */
static struct range table_rows(const struct bind *s, const struct place *p)
{
    const struct gnn_sampling *m = &s->m->sampling;
    const uint64_t walks = (uint64_t)m->batch_size * m->walks.per_seed;
    const uint64_t n = p->of ? p->of->shape[0] : 0;
    switch (gnn_column[p->c].rows) {
    case GNN_ROWS_KEY:
        return just_rows(4);
    case GNN_ROWS_ONE:
        return just_rows(1);
    case GNN_ROWS_HOPS:
        return just_rows(m->nhops + UINT64_C(1));
    case GNN_ROWS_NODES:
        return p->of ? just_rows(n)
                     : (struct range){0,
                                      gnn_sampling_nodes_max(m, s->m->schema.ntype[p->type].count)};
    case GNN_ROWS_SEEDS:
    case GNN_ROWS_EXPANDED:
        return (struct range){0, n};
    case GNN_ROWS_OFFSETS:
        return (struct range){1, n + 1};
    case GNN_ROWS_EDGES:
        return p->c == GNN_COLUMN_EDGE_ID
                   ? just_rows(n)
                   : (struct range){0, gnn_column_edges_max(s->m, p->hop, p->type, n - 1)};
    case GNN_ROWS_WALKS:
        return (struct range){0, walks};
    case GNN_ROWS_PAIRS:
        break;
    }
    return (struct range){0, walks * pairs_max(&m->walks)};
}

/* By the counts, and the offsets where these are in the host's memory; or UINT64_MAX. */
static uint64_t bound_rows(const struct bind *s, const struct place *p)
{
    const struct gnn_batch *b = s->b;
    const enum gnn_column_per per = gnn_column[p->c].per;
    const uint64_t *count = per == GNN_PER_NTYPE ? b->type[p->type].count : NULL;
    const struct gnn_block *k = per == GNN_PER_BLOCK ? gnn_batch_block(b, p->hop, p->type) : NULL;
    switch (gnn_column[p->c].rows) {
    case GNN_ROWS_NODES:
        return count[b->nhops];
    case GNN_ROWS_SEEDS:
        return count[0];
    case GNN_ROWS_EXPANDED:
        return b->nhops ? count[b->nhops - 1] : 0;
    case GNN_ROWS_OFFSETS:
        return k->n + UINT64_C(1);
    case GNN_ROWS_EDGES:
        return b->place ? UINT64_MAX : k->indptr[k->n];
    default:
        return UINT64_MAX;
    }
}

/* ---- the values of a column ---- */

static int check_key(struct bind *s, const struct place *p)
{
    const uint64_t *v = p->t->data;
    const struct gnn_sampling *m = &s->m->sampling;
    s->b->epoch = v[0];
    s->b->step = v[1];
    if (v[2] >= m->nsplits)
        return bad_element(s, p, 2, v[2], "is not the index of a split");
    if (m->steps[v[2]] && v[1] >= m->steps[v[2]]) /* 0: not known, of seeds from a pipe */
        return bad_element(s, p, 1, v[1], "is a step after the last one of its split");
    if (v[3] != m->rank)
        return bad_element(s, p, 3, v[3], "is not the rank of the header");
    s->b->split = (uint32_t)v[2];
    s->b->rank = (uint32_t)v[3];
    s->b->seeds = 0;
    return 0;
}

static int check_seeds(struct bind *s, const struct place *p)
{
    const uint64_t n = s->b->seeds = *(const uint64_t *)p->t->data;
    return n > s->m->sampling.split_seeds[s->b->split]
               ? bad_element(s, p, 0, n, "are more seeds than the split has")
               : 0;
}

/* Seeds of type t, of all that ranks have together. */
static int check_cluster_seeds(struct bind *s, const struct place *p, uint64_t n)
{
    const struct gnn_sampling *m = &s->m->sampling;
    return n > m->batch_size ? refuse_tensor(s, p->t->name, "more seeds than a batch has")
           : n > s->b->seeds ? refuse_tensor(s, p->t->name, "more seeds than all ranks have")
           : p->type == m->seed_ntype && !m->ranks && n != s->b->seeds
               ? refuse_tensor(s, p->t->name,
                               "fewer seeds than the batch has, and there are no other ranks")
               : 0;
}

static int check_counts(struct bind *s, const struct place *p)
{
    const struct gnn_sampling *m = &s->m->sampling;
    const uint64_t *c = p->t->data;
    for (uint32_t h = 0; h < m->nhops; h++)
        if (c[h] > c[h + 1])
            return refuse_tensor(s, p->t->name, "counts decrease");
    if (c[m->nhops] > gnn_sampling_nodes_max(m, s->m->schema.ntype[p->type].count))
        return refuse_tensor(s, p->t->name, "more nodes than the store has");
    if (gnn_sampling_counts_seeds(m) && check_cluster_seeds(s, p, c[0]))
        return s->e->code;
    return c[0] && p->type != m->seed_ntype
               ? refuse_tensor(s, p->t->name, "seeds of a type other than the seed type")
               : 0;
}

static int check_ids(struct bind *s, const struct place *p)
{
    const uint32_t *v = p->t->data;
    const uint64_t limit = s->m->schema.ntype[p->type].count;
    for (uint64_t i = 0; i < p->t->shape[0]; i++)
        if (v[i] >= limit)
            return bad_element(s, p, i, v[i], "is a node id out of range");
    return 0;
}

/* Trees are positions in a global batch, of seeds or of clusters. These are all there in order; so
 * seeds' trees are different, and those of a cluster's seeds are not. */
static int check_trees(struct bind *s, const struct place *p)
{
    const struct gnn_sampling *m = &s->m->sampling;
    const uint32_t *v = p->t->data;
    for (uint64_t i = 0; i < p->t->shape[0]; i++)
        if (v[i] >= gnn_sampling_trees(m))
            return bad_element(s, p, i, v[i], "is not a position in a batch");
    for (uint64_t i = 1; i < s->b->type[p->type].count[0]; i++)
        if (v[i] < v[i - 1] || (v[i] == v[i - 1] && !m->clusters))
            return bad_element(s, p, i, v[i], "is not after the seed before");
    return 0;
}

static int check_times(struct bind *s, const struct place *p)
{
    const double *v = p->t->data;
    for (uint64_t i = 0; p->t->dtype == GNN_F64 && i < p->t->shape[0]; i++)
        if (isnan(v[i]))
            return refuse_tensor(s, p->t->name, "a time is nan");
    return 0;
}

/* How often seeds were drawn; all of them together, at most as often as a batch has seeds. */
static int check_draws(struct bind *s, const struct place *p)
{
    const uint32_t *v = p->t->data;
    uint64_t all = 0;
    for (uint64_t i = 0; i < p->t->shape[0]; i++) {
        all += v[i];
        if (!v[i] || all > s->m->sampling.batch_size)
            return bad_element(s, p, i, v[i], "is not how often a seed was drawn");
    }
    return 0;
}

static int check_offsets(struct bind *s, const struct place *p)
{
    const uint32_t *ptr = p->t->data, n = (uint32_t)p->t->shape[0] - 1;
    uint32_t falls = 0, fall = 0;
    if (ptr[0])
        return refuse_tensor(s, p->t->name, "does not start at 0");
    for (uint32_t i = 0; i < n; i++) /* without a branch */
        falls |= ptr[i] > ptr[i + 1];
    while (falls && ptr[fall] <= ptr[fall + 1])
        fall++;
    return falls ? bad_element(s, p, fall + 1, ptr[fall + 1],
                               "is less than the one before: not monotone")
                 : 0;
}

static int check_sources(struct bind *s, const struct place *p)
{
    const uint32_t *v = p->t->data, n = (uint32_t)p->t->shape[0];
    const uint32_t limit = (uint32_t)s->b->type[s->m->schema.etype[p->type].src].count[p->hop + 1];
    uint32_t worst = 0, at = 0;
    for (uint32_t i = 0; i < n; i++) /* without a branch */
        worst |= v[i] >= limit;
    while (worst && v[at] < limit)
        at++;
    return worst ? bad_element(s, p, at, v[at], "is a local id out of range") : 0;
}

/* Local numbers of the types that the path leads to, the first of a seed. A seed that is given
 * twice walks for itself each time, but is one node. */
static int check_walks(struct bind *s, const struct place *p)
{
    const struct gnn_sampling *m = &s->m->sampling;
    const struct gnn_schema *c = &s->m->schema;
    const uint64_t width = p->t->shape[1];
    const uint32_t *v = p->t->data;
    for (uint64_t at = 0; at < width; at++) {
        const struct gnn_etype *step =
            &c->etype[gnn_sampling_step(m, c->netypes, at ? (uint32_t)at - 1 : 0)];
        const uint64_t limit = s->b->type[at ? step->src : step->dst].count[at ? m->nhops : 0];
        for (uint64_t i = 0; i < p->t->shape[0]; i++) {
            const uint32_t x = v[i * width + at];
            const bool ended = at && x == UINT32_MAX;
            s->b->steps += at && !ended;
            if (!ended && (x >= limit || (at && v[i * width + at - 1] == UINT32_MAX)))
                return bad_element(s, p, i * width + at, x, "is a local id out of range");
        }
    }
    return 0;
}

static int check_pairs(struct bind *s, const struct place *p)
{
    const struct gnn_schema *c = &s->m->schema;
    const struct gnn_etype *step = &c->etype[gnn_sampling_step(&s->m->sampling, c->netypes, 0)];
    const uint64_t limit = gnn_batch_nodes(s->b, step->src);
    const uint32_t *v = p->t->data;
    for (uint64_t i = 0; i < 2 * p->t->shape[0]; i++)
        if (v[i] >= limit)
            return bad_element(s, p, i, v[i], "is a local id out of range");
    return 0;
}

/* By column; NULL: any values will do. */
static int (*const check_values[GNN_NCOLUMNS])(struct bind *s, const struct place *p) = {
    [GNN_COLUMN_KEY] = check_key,         [GNN_COLUMN_SEEDS] = check_seeds,
    [GNN_COLUMN_NODES] = check_ids,       [GNN_COLUMN_TREE] = check_trees,
    [GNN_COLUMN_TIME] = check_times,      [GNN_COLUMN_COUNTS] = check_counts,
    [GNN_COLUMN_DRAWS] = check_draws,     [GNN_COLUMN_INDPTR] = check_offsets,
    [GNN_COLUMN_INDICES] = check_sources, [GNN_COLUMN_WALK] = check_walks,
    [GNN_COLUMN_PAIR] = check_pairs,
};

/* ---- all columns ---- */

/* Whether a tensor has the column's dtype and shape. */
static int check_shape(const struct bind *s, const struct place *p)
{
    const struct gnn_tensor *t = p->t;
    const uint64_t n = t->shape[0], width = gnn_column_width(s->m, p->c);
    const uint64_t bound = s->b ? bound_rows(s, p) : UINT64_MAX;
    const struct range rows = bound == UINT64_MAX ? table_rows(s, p) : just_rows(bound);
    if (t->dtype != gnn_column_dtype(s->m, p->c) || t->ndim != (width ? 2u : 1u) ||
        (width && t->shape[1] != width) || n < rows.least || (bound != UINT64_MAX && n > rows.most))
        return refuse_tensor(s, t->name, "wrong dtype or shape");
    return n <= rows.most
               ? 0
               : refuse_tensor(s, t->name, "has %" PRIu64 " row%s, where there can be %" PRIu64, n,
                               gnn_plural(n), rows.most);
}

/* Of walks, as many as the seeds have. */
static int count_walks(struct bind *s, const struct place *p)
{
    const struct gnn_sampling *m = &s->m->sampling;
    const uint64_t n = p->t->shape[0], each = m->walks.per_seed;
    *(p->c == GNN_COLUMN_WALK ? &s->b->nwalks : &s->b->npairs) = n;
    return p->c == GNN_COLUMN_WALK && (n % each || n < s->b->type[m->seed_ntype].count[0] * each ||
                                       n / each > m->batch_size)
               ? refuse_tensor(s, p->t->name, "not the walks of the seeds")
               : 0;
}

/* Checks a column that is there; with data, points the batch's view to it. */
static int take_found(struct bind *s, const struct place *p)
{
    const struct gnn_column_info *i = &gnn_column[p->c];
    s->known++;
    int rc = check_shape(s, p);
    if (rc || !s->b)
        return rc;
    if (i->view || i->per != GNN_PER_BATCH)
        *gnn_column_view(s->b, p->c, p->hop, p->type) = p->t->data;
    if (p->c == GNN_COLUMN_INDICES)
        gnn_batch_block(s->b, p->hop, p->type)->edges = (uint32_t)p->t->shape[0];
    if (i->per == GNN_PER_BATCH && i->view)
        rc = count_walks(s, p);
    return rc || !check_values[p->c] || (s->b->place && !i->host) ? rc : check_values[p->c](s, p);
}

/* Finds a column, and takes it if it is there. */
static int take_column(struct bind *s, struct place *p)
{
    enum gnn_presence must = gnn_column_presence(s->m, p->c, p->hop, p->type);
    char name[GNN_NAME_MAX + 1];
    p->t = NULL;
    if (p->c == GNN_COLUMN_DRAWS && must) /* of one split, which the key tells */
        must = !s->b ? GNN_OPTIONAL : s->b->split ? GNN_ABSENT : GNN_REQUIRED;
    if (!must)
        return 0;
    if ((p->t = find_column(s, p->c, p->hop, p->type)))
        return take_found(s, p);
    if (s->b && gnn_column[p->c].view)
        *gnn_column_view(s->b, p->c, p->hop, p->type) = NULL;
    return must == GNN_OPTIONAL
               ? 0
               : refuse_tensor(s, gnn_column_name(name, &s->m->schema, p->c, p->hop, p->type),
                               "missing");
}

/* Counts come first: they say how many rows the others have. Without data, the nodes do. */
static int take_type(struct bind *s, uint32_t t)
{
    struct place p = {.c = GNN_COLUMN_COUNTS, .type = t};
    const struct gnn_tensor *nodes = NULL;
    int rc = take_column(s, &p);
    for (uint32_t c = 0; !rc && c < GNN_NCOLUMNS; c++) {
        p = (struct place){.c = c, .type = t, .of = nodes};
        if (gnn_column[c].per == GNN_PER_NTYPE && c != GNN_COLUMN_COUNTS)
            rc = take_column(s, &p);
        nodes = c == GNN_COLUMN_NODES ? p.t : nodes;
    }
    return rc;
}

/* A block that has no offsets has nothing. */
static int take_block(struct bind *s, uint32_t hop, uint32_t et)
{
    const struct gnn_sampling *m = &s->m->sampling;
    const uint32_t type = s->m->schema.etype[et].dst;
    struct place p = {.c = GNN_COLUMN_INDPTR, .hop = hop, .type = et};
    struct gnn_block *k = s->b ? gnn_batch_block(s->b, hop, et) : NULL;
    if (k)
        *k = (struct gnn_block){0};
    if (!gnn_column_presence(s->m, p.c, hop, et) || !(p.t = find_column(s, p.c, hop, et)))
        return 0;
    if (k) {
        const uint64_t *dst = s->b->type[type].count;
        k->first = gnn_sampling_new_rows(m, hop) ? (uint32_t)dst[hop - 1] : 0;
        k->n = (uint32_t)dst[hop] - k->first;
    } else {
        p.of = find_column(s, GNN_COLUMN_NODES, 0, type);
    }
    int rc = take_found(s, &p);
    for (uint32_t c = p.c + 1; !rc && gnn_column[c].per == GNN_PER_BLOCK; c++) {
        p = (struct place){.c = c, .hop = hop, .type = et, .of = p.t};
        rc = take_column(s, &p);
    }
    return rc;
}

/* What is wrong with the type and the columns of gathered rows, or NULL. */
static const char *misfit_rows(const struct gnn_rows_of *x, const struct gnn_tensor *t)
{
    const struct gnn_field *f = x->field;
    if (!f)
        return "no such field in the schema";
    const bool real = t->dtype >= GNN_F16 && f->dtype >= GNN_F16;
    return (t->dtype != f->dtype && !real) || t->ndim != (f->width ? 2u : 1u) ||
                   (f->width && t->shape[1] != f->width)
               ? "wrong dtype or shape"
               : NULL;
}

/* Gathered rows must be of a field of the schema, as many as there are nodes or edges. Floats may
 * have been narrowed on the way. What else there is, is not known. */
static int take_rows(struct bind *s, const struct gnn_tensor *t)
{
    struct gnn_rows_of x;
    if (!gnn_rows_of(s->m, t->name, &x))
        return 0;
    const char *why = misfit_rows(&x, t);
    const struct gnn_tensor *of = x.edges ? find_column(s, GNN_COLUMN_INDICES, x.hop, x.type)
                                          : find_column(s, GNN_COLUMN_NODES, 0, x.type);
    const uint64_t all = of ? of->shape[0] : 0,
                   most = x.labels && s->b ? s->b->type[x.type].count[0] : all;
    s->known++;
    if (!why && (t->shape[0] > most || (t->shape[0] < most && (s->b || !x.labels))))
        why = "wrong dtype or shape";
    if (why)
        return refuse_tensor(s, t->name, "%s", why);
    struct gnn_err bad = {0};
    return s->b && x.labels && x.type == s->m->schema.label_ntype && !s->b->place &&
                   gnn_labels_valid(&s->m->schema, t, &bad)
               ? refuse_tensor(s, t->name, "%s", bad.msg)
               : 0;
}

static int take_all(struct bind *s)
{
    const struct gnn_schema *c = &s->m->schema;
    int rc = 0;
    for (uint32_t i = 0; !rc && i < GNN_COLUMN_WALK; i++)
        if (gnn_column[i].per == GNN_PER_BATCH)
            rc = take_column(s, &(struct place){.c = i});
    for (uint32_t t = 0; !rc && t < c->nntypes; t++)
        rc = take_type(s, t);
    for (uint32_t h = 0; !rc && h < s->m->sampling.nhops; h++)
        for (uint32_t t = 0; !rc && t < c->netypes; t++)
            rc = take_block(s, h, t);
    for (uint32_t i = GNN_COLUMN_WALK; !rc && i < GNN_NCOLUMNS; i++)
        rc = take_column(s, &(struct place){.c = i});
    for (uint32_t i = 0; !rc && i < s->set->n; i++)
        rc = take_rows(s, gnn_tensors_at(s->set, i));
    return rc;
}

int gnn_batch_check_table(const struct gnn_tensors *t, const struct gnn_meta *m, struct gnn_err *e)
{
    struct bind s = {.set = t, .m = m, .e = e};
    const int rc = take_all(&s);
    return rc || s.known == t->n
               ? rc
               : gnn_fail(e, GNN_E_INPUT, "has tensors that its header does not declare");
}

int gnn_batch_bind(struct gnn_batch *b, const struct gnn_meta *m, struct gnn_err *e)
{
    struct bind s = {.b = b, .set = &b->tensors, .m = m, .e = e};
    b->nwalks = b->npairs = b->steps = 0;
    const int rc = take_all(&s);
    return rc || s.known == b->tensors.n
               ? rc
               : gnn_fail(e, GNN_E_INPUT,
                          "batch %" PRIu64 "/%" PRIu64
                          ": has tensors that its header does not declare",
                          b->epoch, b->step);
}
