/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a batch is what its header promises (lib/data/batch.h): first by the table of its frame,
 * so that nothing is read, unpacked or allocated for what cannot be in it, and then, when it has
 * been bound, by the counts in it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/data/batch_impl.h"
#include "lib/base/plural.h"

/* ---- names ---- */

/* The node type called name[0..n), or UINT32_MAX. */
static uint32_t find_ntype(const struct gnn_schema *c, const char *name, size_t n)
{
    for (uint32_t t = 0; t < c->nntypes; t++)
        if (!strncmp(c->ntype[t].name, name, n) && !c->ntype[t].name[n])
            return t;
    return UINT32_MAX;
}

/* What follows "NAME/" at p; NULL if something else is there. */
static const char *after_name(const char *p, const char *name)
{
    const size_t n = strlen(name);
    return p && !strncmp(p, name, n) && p[n] == '/' ? p + n + 1 : NULL;
}

/* The hop of "H/SRC/REL/DST/FIELD" and the number of its edge type; false if there are no such. */
static bool find_block(const struct gnn_meta *m, const char *p, const char *field, uint32_t *hop,
                       uint32_t *et)
{
    const struct gnn_schema *c = &m->schema;
    const size_t n = strcspn(p, "/");
    char h[12];
    *hop = n < 10 ? (uint32_t)strtoul(p, NULL, 10) : UINT32_MAX;
    snprintf(h, sizeof h, "%u", *hop); /* the one way to write it */
    p = after_name(p, h);
    for (*et = 0; p && *hop < m->sampling.nhops && *et < c->netypes; ++*et) {
        const struct gnn_etype *t = &c->etype[*et];
        if (after_name(after_name(after_name(p, c->ntype[t->src].name), t->rel),
                       c->ntype[t->dst].name) == field)
            return true;
    }
    return false;
}

bool gnn_batch_rows_of(const struct gnn_meta *m, const char *name, struct gnn_rows_of *x)
{
    const struct gnn_schema *c = &m->schema;
    const char *slash = strrchr(name, '/'), *field = slash ? slash + 1 : "";
    *x = (struct gnn_rows_of){.edges = !strncmp(name, "hop/", 4)};
    if (!slash || !strcmp(field, "indptr") || !strcmp(field, "indices") || !strcmp(field, "id"))
        return false;
    if (x->edges) {
        if (!find_block(m, name + 4, field, &x->hop, &x->type))
            return false;
        x->field = gnn_field_find(c->etype[x->type].field, c->etype[x->type].nfields, field);
        return true;
    }
    if (strncmp(name, "node/", 5) || field <= name + 5)
        return false;
    x->type = find_ntype(c, name + 5, (size_t)(slash - (name + 5)));
    if (x->type == UINT32_MAX)
        return false;
    x->field = gnn_field_find(c->ntype[x->type].field, c->ntype[x->type].nfields, field);
    x->labels = !strcmp(field, "y");
    return true;
}

const char *gnn_batch_rows_fit(const struct gnn_rows_of *x, const struct gnn_tensor *t)
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

enum gnn_dtype gnn_batch_narrowed(const struct gnn_batch *b, const struct gnn_meta *m)
{
    struct gnn_rows_of x;
    for (uint32_t i = 0; i < b->tensors.n; i++) {
        const struct gnn_tensor *t = &b->tensors.slot[i]->t;
        if ((t->dtype == GNN_F16 || t->dtype == GNN_BF16) && gnn_batch_rows_of(m, t->name, &x) &&
            x.field && x.field->dtype == GNN_F32)
            return t->dtype;
    }
    return 0;
}

/* ---- the table ---- */

struct table {
    const struct gnn_tensors *set;
    const struct gnn_meta *m;
    struct gnn_err *e;
    uint32_t known; /* tensors recognised so far */
};

static int refuse_tensor(struct gnn_err *e, const char *name, const char *what)
{
    return gnn_fail(e, GNN_E_INPUT, "tensor '%s': %s", name, what);
}

/* A tensor with `least` to `most` rows of `width` columns (0: one dimension). *rows is 0 if it is
 * not there and need not be. */
static int take_tensor(struct table *s, const char *name, enum gnn_dtype dtype, uint64_t width,
                       uint64_t least, uint64_t most, bool required, uint64_t *rows)
{
    const struct gnn_tensor *t = gnn_tensors_find(s->set, name);
    *rows = 0;
    if (!t)
        return required ? refuse_tensor(s->e, name, "missing") : 0;
    s->known++;
    if (t->dtype != dtype || t->ndim != (width ? 2u : 1u) || (width && t->shape[1] != width) ||
        t->shape[0] < least)
        return refuse_tensor(s->e, name, "wrong dtype or shape");
    *rows = t->shape[0];
    return *rows <= most
               ? 0
               : gnn_fail(s->e, GNN_E_INPUT,
                          "tensor '%s': has %" PRIu64 " row%s, where there can be %" PRIu64, name,
                          *rows, gnn_plural(*rows), most);
}

/* What a batch has of a node type. */
static int take_nodes(struct table *s, uint32_t t)
{
    const struct gnn_sampling *m = &s->m->sampling;
    const struct gnn_ntype *nt = &s->m->schema.ntype[t];
    const uint64_t hops = m->nhops + UINT64_C(1);
    uint64_t n, got;
    char name[GNN_NAME_MAX + 1];
    int rc = take_tensor(s, gnn_tensor_name(name, "counts/%s", nt->name), GNN_U64, 0, hops, hops,
                         true, &got);
    if (!rc)
        rc = take_tensor(s, gnn_tensor_name(name, "nodes/%s", nt->name), GNN_U32, 0, 0,
                         gnn_sampling_nodes_max(m, nt->count), true, &n);
    if (!rc && m->disjoint)
        rc = take_tensor(s, gnn_tensor_name(name, "tree/%s", nt->name), GNN_U32, 0, n, n, true,
                         &got);
    if (!rc && gnn_sampling_is_temporal(m))
        rc = take_tensor(s, gnn_tensor_name(name, "time/%s", nt->name), gnn_sampling_time_dtype(m),
                         0, n, n, true, &got);
    if (!rc && t == m->seed_ntype &&
        gnn_sampling_counts_draws(m, 0)) /* of split 0: then required */
        rc = take_tensor(s, gnn_tensor_name(name, "draws/%s", nt->name), GNN_U32, 0, 0, n, false,
                         &got);
    if (!rc)
        rc = take_tensor(s, gnn_tensor_name(name, "node/%s/id", nt->name), GNN_U32, 0, n, n, false,
                         &got);
    return rc ? rc
              : take_tensor(s, gnn_tensor_name(name, "counted/%s", nt->name), GNN_U8, 0, 0, n,
                            false, &got);
}

/* How many edges of a type n rows of a hop have at most. */
static uint64_t edges_max(const struct gnn_meta *m, uint32_t hop, uint32_t et, uint64_t n)
{
    const struct gnn_sampling *s = &m->sampling;
    const struct gnn_pick_rule rule = gnn_sampling_rule(s, (uint64_t)hop * m->schema.netypes + et);
    const uint64_t all = gnn_pick_repeats(rule) || s->rule.time.by_edge ? UINT64_MAX
                         : m->schema.etype[et].count > UINT64_MAX / gnn_sampling_copies(s)
                             ? UINT64_MAX
                             : m->schema.etype[et].count * gnn_sampling_copies(s),
                   picks = gnn_pick_bound(rule, n, all);
    return picks < all ? picks : all;
}

static int take_block(struct table *s, uint32_t hop, uint32_t et, const char *key)
{
    const struct gnn_sampling *m = &s->m->sampling;
    const char *dst = s->m->schema.ntype[s->m->schema.etype[et].dst].name;
    const struct gnn_pick_rule rule =
        gnn_sampling_rule(m, (uint64_t)hop * s->m->schema.netypes + et);
    uint64_t rows, edges, ids;
    char name[GNN_NAME_MAX + 1];
    const struct gnn_tensor *nodes =
        gnn_tensors_find(s->set, gnn_tensor_name(name, "nodes/%s", dst));
    int rc = take_tensor(s, gnn_tensor_name(name, "hop/%u/%s/indptr", hop, key), GNN_U32, 0, 1,
                         nodes->shape[0] + 1, false, &rows);
    if (rc || !rows)
        return rc;
    rc = take_tensor(s, gnn_tensor_name(name, "hop/%u/%s/indices", hop, key), GNN_U32, 0, 0,
                     gnn_pick_any(rule) ? edges_max(s->m, hop, et, rows - 1) : UINT64_MAX, true,
                     &edges);
    if (!rc && edges && !gnn_pick_any(rule))
        return gnn_fail(s->e, GNN_E_INPUT, "hop %u has edges of a type that is not sampled: %s",
                        hop, key);
    return rc ? rc
              : take_tensor(s, gnn_tensor_name(name, "hop/%u/%s/id", hop, key), GNN_U64, 0, edges,
                            edges, m->edge_ids, &ids);
}

/* Pairs of a walk that does not end early: each node with up to `window` before it and after it. */
static uint64_t pairs_max(const struct gnn_walks *w)
{
    const uint64_t n = w->length + UINT64_C(1),
                   window = w->window < w->length ? w->window : w->length;
    return 2 * n * window - window * (window + 1);
}

static int take_walks(struct table *s)
{
    const struct gnn_walks *w = &s->m->sampling.walks;
    const uint64_t most = (uint64_t)s->m->sampling.batch_size * w->per_seed;
    uint64_t n;
    if (!w->length)
        return 0;
    return w->window ? take_tensor(s, "pair", GNN_U32, 2, 0, most * pairs_max(w), true, &n)
                     : take_tensor(s, "walk", GNN_U32, w->length + UINT64_C(1), 0, most, true, &n);
}

/* Gathered rows. */
static int take_rows(struct table *s, const struct gnn_tensor *t)
{
    struct gnn_rows_of x;
    char name[GNN_NAME_MAX + 1], key[GNN_ETYPE_KEY_ROOM];
    if (!gnn_batch_rows_of(s->m, t->name, &x))
        return 0;
    const char *why = gnn_batch_rows_fit(&x, t);
    if (why)
        return refuse_tensor(s->e, t->name, why);
    const struct gnn_tensor *of = gnn_tensors_find(
        s->set, x.edges ? gnn_tensor_name(name, "hop/%u/%s/indices", x.hop,
                                          gnn_etype_key(&s->m->schema, x.type, key, sizeof key))
                        : gnn_tensor_name(name, "nodes/%s", s->m->schema.ntype[x.type].name));
    const uint64_t rows = of ? of->shape[0] : 0;
    s->known++;
    return (x.labels ? t->shape[0] <= rows : t->shape[0] == rows)
               ? 0
               : refuse_tensor(s->e, t->name, "wrong dtype or shape");
}

int gnn_batch_check_table(const struct gnn_tensors *t, const struct gnn_meta *m, struct gnn_err *e)
{
    struct table s = {.set = t, .m = m, .e = e};
    char key[GNN_ETYPE_KEY_ROOM];
    uint64_t n;
    int rc = take_tensor(&s, "key", GNN_U64, 0, 4, 4, true, &n);
    if (!rc && m->sampling.clusters)
        rc = take_tensor(&s, "seeds", GNN_U64, 0, 1, 1, true, &n);
    for (uint32_t i = 0; !rc && i < m->schema.nntypes; i++)
        rc = take_nodes(&s, i);
    for (uint32_t i = 0; !rc && !m->sampling.walks.length && i < m->schema.netypes; i++) {
        gnn_etype_key(&m->schema, i, key, sizeof key);
        for (uint32_t h = 0; !rc && h < m->sampling.nhops; h++)
            rc = gnn_sampling_keeps(&m->sampling, h) ? take_block(&s, h, i, key) : 0;
    }
    if (!rc)
        rc = take_walks(&s);
    for (uint32_t i = 0; !rc && i < t->n; i++)
        rc = take_rows(&s, gnn_tensors_at(t, i));
    if (!rc && s.known != t->n)
        rc = gnn_fail(e, GNN_E_INPUT, "has tensors that its header does not declare");
    return rc;
}

/* ---- the counts ---- */

struct counts {
    const struct gnn_batch *b;
    const struct gnn_meta *m;
    struct gnn_err *e;
};

GNN_PRINTF(3, 4)
static int fail_batch(const struct counts *s, const char *name, const char *fmt, ...)
{
    char what[256];
    va_list ap;
    va_start(ap, fmt);
    (void)!vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    return gnn_fail(s->e, GNN_E_INPUT, "batch %" PRIu64 "/%" PRIu64 ": tensor '%s': %s",
                    s->b->epoch, s->b->step, name, what);
}

/* A batch has at least one seed, but for those of one of several ranks and of clusters; and at most
 * those that are left of its set, where their number is known. */
static int check_seeds(const struct counts *s)
{
    const struct gnn_sampling *m = &s->m->sampling;
    const uint64_t n = s->b->type[m->seed_ntype].count[0];
    uint64_t most = m->batch_size;
    char name[GNN_NAME_MAX + 1];
    gnn_tensor_name(name, "counts/%s", s->m->schema.ntype[m->seed_ntype].name);
    if (m->clusters) /* their seeds are counted in a tensor of their own */
        return 0;
    if (m->steps[s->b->split] && m->split_seeds && m->split_seeds[s->b->split]) {
        const uint64_t all = m->split_seeds[s->b->split],
                       left = s->b->step > all / most ? 0 : all - s->b->step * most;
        most = left < most ? left : most;
    }
    if (n > most)
        return fail_batch(s, name, "%" PRIu64 " seed%s, where there can be %" PRIu64, n,
                          gnn_plural(n), most);
    return n || m->ranks ? 0 : fail_batch(s, name, "no seeds");
}

/* The first row with more than `most` edges, or n. All rows are looked at without a branch, as
 * there is hardly ever one. */
static uint32_t find_over(const uint32_t *indptr, uint32_t n, uint32_t most)
{
    uint32_t over = 0, at = 0;
    for (uint32_t i = 0; i < n; i++)
        over |= indptr[i + 1] - indptr[i] > most;
    while (over && indptr[at + 1] - indptr[at] <= most)
        at++;
    return over ? at : n;
}

static int check_block(const struct counts *s, uint32_t hop, uint32_t et)
{
    const struct gnn_sampling *m = &s->m->sampling;
    const struct gnn_block *k = gnn_batch_block(s->b, hop, et);
    const uint64_t *dst = s->b->type[s->m->schema.etype[et].dst].count;
    const struct gnn_pick_rule rule = gnn_sampling_rule(m, (uint64_t)hop * s->b->netypes + et);
    const uint64_t rows = dst[hop] - (gnn_sampling_new_rows(m, hop) ? dst[hop - 1] : 0);
    char name[GNN_NAME_MAX + 1], key[GNN_ETYPE_KEY_ROOM];
    const bool missing = rows && !k->indptr && gnn_pick_any(rule);
    const uint32_t at =
        rule.fanout < 0 || s->b->place ? k->n : find_over(k->indptr, k->n, (uint32_t)rule.fanout);
    const bool many = k->edges > edges_max(s->m, hop, et, k->n);
    if (!missing && at == k->n && !many)
        return 0;
    gnn_tensor_name(name, "hop/%u/%s/indptr", hop,
                    gnn_etype_key(&s->m->schema, et, key, sizeof key));
    if (missing)
        return fail_batch(s, name, "missing, though %" PRIu64 " node%s pick neighbours", rows,
                          gnn_plural(rows));
    return at < k->n ? fail_batch(s, name, "row %u has %u edge%s, and the fan-out is %d", at,
                                  k->indptr[at + 1] - k->indptr[at],
                                  gnn_plural(k->indptr[at + 1] - k->indptr[at]), rule.fanout)
                     : fail_batch(s, name, "%u edge%s, more than there can be", k->edges,
                                  gnn_plural(k->edges));
}

/* The last hop leads to nodes that are there. */
static int check_induced(const struct counts *s, uint32_t t)
{
    const uint64_t *count = s->b->type[t].count;
    char name[GNN_NAME_MAX + 1];
    if (count[s->b->nhops] == count[s->b->nhops - 1])
        return 0;
    return fail_batch(s, gnn_tensor_name(name, "counts/%s", s->m->schema.ntype[t].name),
                      "induced edges find nodes");
}

/* Walks of one seed follow each other, and seeds come in the order of their numbers, all of them.
 */
static int check_walks(const struct counts *s)
{
    const struct gnn_sampling *m = &s->m->sampling;
    const struct gnn_batch *b = s->b;
    const uint64_t width = m->walks.length + UINT64_C(1), seeds = b->type[m->seed_ntype].count[0];
    uint64_t next = 0;
    for (uint64_t i = 0; b->walk && !b->place && i < b->nwalks; i++) {
        const uint32_t seed = b->walk[i * width];
        if (i % m->walks.per_seed ? seed != b->walk[(i - 1) * width] : seed > next)
            return fail_batch(s, "walk", "walk %" PRIu64 " does not begin at its seed", i);
        next += seed == next;
    }
    return !b->walk || b->place || next == seeds
               ? 0
               : fail_batch(s, "walk", "no walk begins at seed %" PRIu64, next);
}

int gnn_batch_check_counts(const struct gnn_batch *b, const struct gnn_meta *m, struct gnn_err *e)
{
    const struct counts s = {b, m, e};
    int rc = check_seeds(&s);
    for (uint32_t h = 0; !rc && !m->sampling.walks.length && h < b->nhops; h++)
        for (uint32_t et = 0; !rc && gnn_sampling_keeps(&m->sampling, h) && et < b->netypes; et++)
            rc = check_block(&s, h, et);
    for (uint32_t t = 0; !rc && m->sampling.induced && t < b->nntypes; t++)
        rc = check_induced(&s, t);
    return rc ? rc : check_walks(&s);
}
