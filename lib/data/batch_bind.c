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
    /* by unit, the first column of the place at hand, which says how many rows others have; of a
     * block also its destinations */
    const struct gnn_tensor *first[GNN_NROWS];
};

/* A column of the batch, of a node type, or of a block: of hop `hop` and edge type `type`. */
struct place {
    enum gnn_column c;
    uint32_t hop, type;
    uint32_t units; /* a bit for each that had a column */
    const struct gnn_tensor *t;
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
    const enum gnn_column_rows rows = gnn_column[p->c].rows;
    const uint64_t walks = (uint64_t)m->batch_size * m->walks.per_seed;
    if (p->units >> rows & 1)
        return just_rows(s->first[rows]->shape[0]);
    switch (rows) {
    case GNN_ROWS_KEY:
        return just_rows(4);
    case GNN_ROWS_ONE:
        return just_rows(1);
    case GNN_ROWS_HOPS:
        return just_rows(m->nhops + UINT64_C(1));
    case GNN_ROWS_NODES:
        return (struct range){0, gnn_sampling_nodes_max(m, s->m->schema.ntype[p->type].count)};
    case GNN_ROWS_SEEDS:
    case GNN_ROWS_EXPANDED:
        return (struct range){0, s->first[GNN_ROWS_NODES]->shape[0]};
    case GNN_ROWS_OFFSETS:
        return (struct range){1, s->first[GNN_ROWS_NODES]->shape[0] + 1};
    case GNN_ROWS_EDGES:
        return (struct range){0, gnn_column_edges_max(s->m, p->hop, p->type,
                                                      s->first[GNN_ROWS_OFFSETS]->shape[0] - 1)};
    case GNN_ROWS_WALKS:
        return (struct range){0, walks};
    case GNN_ROWS_NEGATIVES:
        return (struct range){0, gnn_sampling_negatives_max(m)};
    case GNN_ROWS_PAIRS:
    case GNN_NROWS:
        break;
    }
    return (struct range){0, m->links.type ? m->batch_size : walks * pairs_max(&m->walks)};
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
    if (m->clusters && check_cluster_seeds(s, p, c[0]))
        return s->e->code;
    return c[0] && !gnn_sampling_begins_with(m, &s->m->schema, p->type)
               ? refuse_tensor(s, p->t->name, "seeds of a type other than the seed type")
               : 0;
}

/* What all values in column k of the second dimension are below. */
static uint32_t value_limit(const struct bind *s, const struct place *p, uint64_t k)
{
    const struct gnn_sampling *m = &s->m->sampling;
    const struct gnn_schema *c = &s->m->schema;
    const enum gnn_column_values values = gnn_column[p->c].values;
    if (values == GNN_VALUES_ID)
        return (uint32_t)c->ntype[p->type].count;
    if (values == GNN_VALUES_TREE)
        return gnn_sampling_trees(m);
    if (gnn_column[p->c].per == GNN_PER_BLOCK)
        return (uint32_t)s->b->type[c->etype[p->type].src].count[p->hop + 1];
    if (m->links.type) /* a head or a tail, which batches begin with */
        return (uint32_t)s->b->type[k % 2 ? m->seed_ntype : c->etype[m->links.etype].src].count[0];
    const struct gnn_etype *step =
        &c->etype[gnn_sampling_step(m, c->netypes, k ? (uint32_t)k - 1 : 0)];
    return (uint32_t)(values == GNN_VALUES_WALK && !k ? s->b->type[step->dst].count[0] /* a seed */
                                                      : s->b->type[step->src].count[m->nhops]);
}

/* The first of n values, `width` apart, that is not below limit; or n. All are looked at without a
 * branch, as there is hardly ever one. */
static uint64_t find_beyond(const uint32_t *v, uint64_t n, uint64_t width, uint32_t limit)
{
    uint32_t beyond = 0;
    uint64_t at = 0;
    for (uint64_t i = 0; i < n; i++)
        beyond |= v[i * width] >= limit;
    while (beyond && v[at * width] < limit)
        at++;
    return beyond ? at : n;
}

static int check_limit(struct bind *s, const struct place *p)
{
    static const char *const why[GNN_NVALUES] = {
        [GNN_VALUES_ID] = "is a node id out of range",
        [GNN_VALUES_LOCAL] = "is a local id out of range",
        [GNN_VALUES_TREE] = "is not a position in a batch",
    };
    const uint32_t *v = p->t->data;
    const uint64_t width = p->t->ndim > 1 ? p->t->shape[1] : 1, n = p->t->shape[0] * width;
    const bool one = value_limit(s, p, 0) == value_limit(s, p, width - 1); /* mostly */
    uint64_t bad = n;
    for (uint64_t k = 0; k < (one ? 1 : width); k++) {
        const uint64_t at =
            one ? find_beyond(v, n, 1, value_limit(s, p, 0))
                : k + width * find_beyond(v + k, n / width, width, value_limit(s, p, k));
        bad = at < bad ? at : bad;
    }
    return bad < n ? bad_element(s, p, bad, v[bad], why[gnn_column[p->c].values]) : 0;
}

/* Trees are positions in a global batch, of seeds, links or clusters. These are all there in order;
 * so seeds' trees are different, and those of a cluster's seeds or of a link's ends are not. */
static int check_trees(struct bind *s, const struct place *p)
{
    const struct gnn_sampling *m = &s->m->sampling;
    const uint32_t *v = p->t->data;
    if (check_limit(s, p))
        return s->e->code;
    for (uint64_t i = 1; i < s->b->type[p->type].count[0]; i++)
        if (v[i] < v[i - 1] || (v[i] == v[i - 1] && !m->clusters && !m->links.type))
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

/* Positions of links in a batch of all ranks. */
static int check_place(struct bind *s, const struct place *p)
{
    const uint32_t *v = p->t->data;
    for (uint64_t i = 0; i < p->t->shape[0]; i++)
        if (v[i] >= s->b->seeds || (i && v[i] <= v[i - 1]))
            return bad_element(s, p, i, v[i], "is not the position of a link after the one before");
    return 0;
}

/* Positions of links among all of their split. */
static int check_input(struct bind *s, const struct place *p)
{
    const uint64_t *v = p->t->data, all = s->m->sampling.split_seeds[s->b->split];
    for (uint64_t i = 0; i < p->t->shape[0]; i++)
        if (v[i] >= all)
            return bad_element(s, p, i, v[i], "is not the position of a link");
    return 0;
}

/* Local numbers of the types that the path leads to, the first of a seed. A seed that is given
 * twice walks for itself each time, but is one node. */
static int check_walks(struct bind *s, const struct place *p)
{
    const uint64_t width = p->t->shape[1];
    const uint32_t *v = p->t->data;
    for (uint64_t at = 0; at < width; at++) {
        const uint32_t limit = value_limit(s, p, at);
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

static int (*const check_values[GNN_NVALUES])(struct bind *s, const struct place *p) = {
    [GNN_VALUES_KEY] = check_key,       [GNN_VALUES_SEEDS] = check_seeds,
    [GNN_VALUES_COUNTS] = check_counts, [GNN_VALUES_DRAWS] = check_draws,
    [GNN_VALUES_ID] = check_limit,      [GNN_VALUES_LOCAL] = check_limit,
    [GNN_VALUES_WALK] = check_walks,    [GNN_VALUES_TREE] = check_trees,
    [GNN_VALUES_TIME] = check_times,    [GNN_VALUES_OFFSETS] = check_offsets,
    [GNN_VALUES_INPUT] = check_input,   [GNN_VALUES_PLACE] = check_place,
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

/* Checks a column that is there; with data, points the batch's view to it. */
static int take_found(struct bind *s, struct place *p)
{
    const struct gnn_column_info *i = &gnn_column[p->c];
    s->known++;
    int rc = check_shape(s, p);
    if (!(p->units >> i->rows & 1))
        s->first[i->rows] = p->t;
    p->units |= 1u << i->rows;
    if (rc || !s->b)
        return rc;
    const void **view = gnn_column_view(s->b, p->c, p->hop, p->type);
    if (view)
        *view = p->t->data;
    if (p->c == GNN_COLUMN_INDICES)
        gnn_batch_block(s->b, p->hop, p->type)->edges = (uint32_t)p->t->shape[0];
    if (i->rows >= GNN_ROWS_WALKS)
        s->b->rows[i->rows - GNN_ROWS_WALKS] = p->t->shape[0];
    return check_values[i->values] && (!s->b->place || i->host) ? check_values[i->values](s, p) : 0;
}

/* Finds a column, and takes it if it is there. */
static int take_column(struct bind *s, struct place *p)
{
    enum gnn_presence must = gnn_column_presence(s->m, p->c, p->hop, p->type);
    char name[GNN_NAME_MAX + 1];
    if (gnn_column[p->c].when == GNN_WITH_DRAWS && must) /* of one split, which the key tells */
        must = !s->b ? GNN_OPTIONAL : s->b->split ? GNN_ABSENT : GNN_REQUIRED;
    if (!must)
        return 0;
    if ((p->t = find_column(s, p->c, p->hop, p->type)))
        return take_found(s, p);
    const void **view = s->b ? gnn_column_view(s->b, p->c, p->hop, p->type) : NULL;
    if (view)
        *view = NULL;
    return must == GNN_OPTIONAL
               ? 0
               : refuse_tensor(s, gnn_column_name(name, &s->m->schema, p->c, p->hop, p->type),
                               "missing");
}

/* All columns of a place but the one that it has. */
static int take_others(struct bind *s, struct place *p)
{
    const enum gnn_column had = p->c;
    int rc = 0;
    for (p->c = 0; !rc && p->c < GNN_NCOLUMNS; p->c++)
        if (p->c != had && gnn_column[p->c].per == gnn_column[had].per)
            rc = take_column(s, p);
    return rc;
}

/* Counts come first: they say how many rows the others have. Without data, the nodes do. */
static int take_type(struct bind *s, uint32_t t)
{
    struct place p = {.c = GNN_COLUMN_COUNTS, .type = t};
    const int rc = take_column(s, &p);
    return rc ? rc : take_others(s, &p);
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
        s->first[GNN_ROWS_NODES] = find_column(s, GNN_COLUMN_NODES, 0, type);
    }
    const int rc = take_found(s, &p);
    return rc ? rc : take_others(s, &p);
}

/* What is wrong with the type and the columns of gathered rows, or NULL. */
static const char *misfit_rows(const struct gnn_rows_of *x, const struct gnn_tensor *t)
{
    const struct gnn_field *f = x->field;
    if (!f)
        return "no such field in the schema";
    const bool real = t->dtype >= GNN_F16 && gnn_field_is_real(f);
    return (t->dtype != gnn_field_stands_for(f) && !real) || t->ndim != (f->width ? 2u : 1u) ||
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

/* Those of the batch itself: before the others, or those of units that only the batch tells, which
 * refer to them. */
static int take_own(struct bind *s, bool after)
{
    struct place p = {0};
    int rc = 0;
    for (p.c = 0; !rc && p.c < GNN_NCOLUMNS; p.c++)
        if (gnn_column[p.c].per == GNN_PER_BATCH &&
            (gnn_column[p.c].rows >= GNN_ROWS_WALKS) == after)
            rc = take_column(s, &p);
    return rc;
}

static int take_all(struct bind *s)
{
    const struct gnn_schema *c = &s->m->schema;
    int rc = take_own(s, false);
    for (uint32_t t = 0; !rc && t < c->nntypes; t++)
        rc = take_type(s, t);
    for (uint32_t h = 0; !rc && h < s->m->sampling.nhops; h++)
        for (uint32_t t = 0; !rc && t < c->netypes; t++)
            rc = take_block(s, h, t);
    rc = rc ? rc : take_own(s, true);
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
    const int rc = take_all(&s);
    return rc || s.known == b->tensors.n
               ? rc
               : gnn_fail(e, GNN_E_INPUT,
                          "batch %" PRIu64 "/%" PRIu64
                          ": has tensors that its header does not declare",
                          b->epoch, b->step);
}
