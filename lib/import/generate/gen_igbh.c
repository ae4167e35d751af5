/* SPDX-License-Identifier: Apache-2.0 */
/* The generator igbh: a graph with the node types, relations and sizes of IGBH-full, the
 * heterogeneous graph of the Illinois Graph Benchmark (Khatua et al., KDD 2023), on which MLPerf
 * trained R-GAT.
 *
 * The nodes of each type stand in an order in which classes are contiguous and of uneven size; a
 * keyed permutation maps positions to ids. An edge starts at a node, and ends in the same class
 * with probability `homophily`, else in the class of a random node. Within a class, nodes of low
 * rank are more popular, so that degrees follow a power law. Nothing is kept per node or per edge:
 * memory does not depend on the scale. */
#include <math.h>

#include "kernels/perm.h"
#include "kernels/simd.h"
#include "lib/base/mem.h"
#include "lib/import/generate/gen.h"
#include "lib/base/rand.h"

enum purpose { P_IDS = 1, P_SPLIT, P_EDGE, P_CENTRE, P_X, P_FLIP };
enum { PAPER, AUTHOR, INSTITUTE, FOS, JOURNAL, CONFERENCE, NTYPES };

#define PAPERS 269346174
#define LABELLED 227130858 /* papers with one of the 2983 classes */

static const struct {
    const char *name;
    double count;
} types[NTYPES] = {{"paper", PAPERS}, {"author", 277220883}, {"institute", 26918},
                   {"fos", 712960},   {"journal", 49052},    {"conference", 4547}};

/* Of n ranks, that of a uniform number x is n x^(skew/2): the popularity of rank r falls as
 * r^(2/skew - 1). The publications do not give the number of edges of published and venue; it is
 * assumed that a third and a fiftieth of the papers have one. Citations are without the loop of
 * each paper that the published count has. */
static const struct relation {
    const char *name;
    uint8_t src, dst;
    double edges;
    uint8_t src_skew, dst_skew;
} relations[] = {{"cites", PAPER, PAPER, 3996442004.0 - PAPERS, 3, 4},
                 {"written_by", PAPER, AUTHOR, 716761549, 3, 3},
                 {"affiliated_to", AUTHOR, INSTITUTE, 48521486, 2, 4},
                 {"topic", PAPER, FOS, 1050280600, 2, 6},
                 {"published", PAPER, JOURNAL, PAPERS / 3, 2, 4},
                 {"venue", PAPER, CONFERENCE, PAPERS / 50, 2, 4}};

struct igbh {
    struct gnn_dataset d;
    struct gnn_gen_params p;
    uint64_t labelled;
    struct gnn_perm ids[NTYPES], split;
    uint64_t *bound[NTYPES]; /* [classes + 1] first position of each class */
    uint64_t stride[NTYPES]; /* of positions from rank to rank; has no divisor with their number */
    int8_t *centre;          /* [classes][features] +-1 */
    uint64_t in_class;       /* homophily as a threshold on 32 bits */
};

static double unit_from(uint64_t w)
{
    return (double)(w >> 11) * 0x1p-53;
}

static uint64_t nodes_of(const struct igbh *g, unsigned type)
{
    return g->d.schema.ntype[type].count;
}

/* Class c has positions from n sqrt(c / classes) on: the first is the largest, the last half the
 * mean. */
static uint32_t class_at(const struct igbh *g, unsigned type, uint64_t position)
{
    const uint64_t *bound = g->bound[type];
    const double x = ((double)position + 0.5) / (double)nodes_of(g, type);
    uint32_t c = (uint32_t)(x * x * g->p.classes);
    while (c + 1 < g->p.classes && bound[c + 1] <= position)
        c++;
    while (c && bound[c] > position)
        c--;
    return c;
}

/* A rank below n: with skew 2, all alike; more of it favours low ones. */
static uint64_t draw_rank(uint64_t n, unsigned skew, struct gnn_rand *r)
{
    const double x = unit_from(gnn_rand_next(r));
    const double even = skew >= 6 ? x * x * x : skew >= 4 ? x * x : x;
    const uint64_t rank = (uint64_t)((double)n * (skew & 1 ? even * sqrt(x) : even));
    return rank < n ? rank : n - 1;
}

/* A node of class c, by popularity. A class without nodes of this type uses the nearest class. */
static uint64_t draw_member(const struct igbh *g, unsigned type, uint32_t c, unsigned skew,
                            struct gnn_rand *r)
{
    const uint64_t n = nodes_of(g, type), *bound = g->bound[type];
    const uint64_t first = bound[c] < n ? bound[c] : n - 1;
    return first + draw_rank(bound[c + 1] > first ? bound[c + 1] - first : 1, skew, r);
}

/* Any node, by popularity; neighbouring ranks lie far apart, so that each class has its share. */
static uint64_t draw_node(const struct igbh *g, unsigned type, unsigned skew, struct gnn_rand *r)
{
    const uint64_t n = nodes_of(g, type);
    return draw_rank(n, skew, r) * g->stride[type] % n;
}

/* Edge i's source: each node once, if there are edges enough, and then by popularity; else evenly
 * spaced nodes, none twice. */
static uint64_t draw_source(const struct igbh *g, const struct relation *e, uint64_t i, uint64_t m,
                            struct gnn_rand *r)
{
    const uint64_t n = nodes_of(g, e->src);
    if (m < n)
        return (uint64_t)((gnn_u128)i * n / m);
    return i < n
               ? i
               : draw_member(g, e->src, class_at(g, e->src, gnn_rand_below(r, n)), e->src_skew, r);
}

/* Positions become ids. */
GNN_SIMD static void make_ids(const struct gnn_perm *p, uint64_t n, uint32_t *v)
{
    uint64_t to[GNN_PERM_MANY];
    for (uint64_t at = 0; at < n; at += GNN_PERM_MANY, v += GNN_PERM_MANY) {
        const uint32_t k = (uint32_t)(n - at < GNN_PERM_MANY ? n - at : GNN_PERM_MANY);
        for (uint32_t i = 0; i < k; i++)
            to[i] = v[i];
        gnn_perm_each(p, k, to);
        for (uint32_t i = 0; i < k; i++)
            v[i] = (uint32_t)to[i];
    }
}

static void fill_edges(const struct gnn_dataset *d, uint32_t t, uint64_t from, uint64_t n,
                       uint32_t *src, uint32_t *dst, void *const *field)
{
    const struct igbh *g = (const struct igbh *)d;
    const struct relation *e = &relations[t];
    const uint64_t m = g->d.schema.etype[t].count;
    struct gnn_rand r = gnn_rand_key(g->p.seed, P_EDGE + ((uint64_t)t << 32), from);
    (void)field;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t s = draw_source(g, e, from + i, m, &r);
        const uint32_t own = class_at(g, e->src, s);
        uint64_t v;
        bool in = (gnn_rand_next(&r) >> 32) < g->in_class;
        do {
            v = in ? draw_member(g, e->dst, own, e->dst_skew, &r)
                   : draw_node(g, e->dst, e->dst_skew, &r);
            in = false; /* the only one of its class would meet itself for ever */
        } while (e->src == e->dst && v == s);
        src[i] = (uint32_t)s;
        dst[i] = (uint32_t)v;
    }
    make_ids(&g->ids[e->src], n, src);
    make_ids(&g->ids[e->dst], n, dst);
}

static int igbh_edges(struct gnn_dataset *d, uint32_t t, bool fields, gnn_edge_fn *fn, void *arg,
                      struct gnn_err *e)
{
    return gnn_gen_edges(d, &((struct igbh *)d)->p, t, d->schema.etype[t].count, fill_edges, fields,
                         fn, arg, e);
}

/* -1 for papers without a label; now and then another class than the one that made the edges. */
static int32_t paper_label(const struct igbh *g, uint64_t v)
{
    struct gnn_rand r = gnn_rand_key(g->p.seed, P_FLIP, v);
    if (gnn_perm_at(&g->split, v) >= g->labelled)
        return -1;
    if (unit_from(gnn_rand_next(&r)) < g->p.flip)
        return (int32_t)gnn_rand_below(&r, g->p.classes);
    return (int32_t)class_at(g, PAPER, gnn_perm_back(&g->ids[PAPER], v));
}

/* Words of a sequence that is stepped over, instead of one after the other: many abreast. */
GNN_SIMD static void noisy_row(uint64_t state, uint32_t n, const int8_t *restrict centre,
                               float signal, float *restrict x)
{
    for (uint32_t j = 0; j < n; j++) {
        struct gnn_rand r = {state + GNN_RAND_STEP * j};
        x[j] = gnn_rand_normal(gnn_rand_next(&r)) + signal * (float)centre[j];
    }
}

static void feature_row(const struct igbh *g, uint32_t type, uint64_t v, float *x)
{
    const struct gnn_rand r = gnn_rand_key(g->p.seed, P_X + ((uint64_t)type << 32), v);
    const uint32_t c = class_at(g, type, gnn_perm_back(&g->ids[type], v));
    noisy_row(r.state, g->p.features, g->centre + (size_t)c * g->p.features, (float)g->p.signal, x);
}

static void fill_row(const struct gnn_dataset *d, uint32_t type, bool y, uint64_t v, void *row)
{
    const struct igbh *g = (const struct igbh *)d;
    if (y)
        *(int32_t *)row = paper_label(g, v);
    else
        feature_row(g, type, v, row);
}

static int igbh_rows(struct gnn_dataset *d, uint32_t type, uint32_t f, gnn_rows_fn *fn, void *arg,
                     struct gnn_err *e)
{
    return gnn_gen_rows(d, &((struct igbh *)d)->p, type, f, fill_row, fn, arg, e);
}

static int igbh_set(struct gnn_dataset *d, uint32_t set, uint32_t *ids, struct gnn_err *e)
{
    struct igbh *g = (struct igbh *)d;
    uint64_t from = 0, k = 0;
    (void)e;
    for (uint32_t s = 0; s < set; s++)
        from += d->schema.set[s].count;
    const uint64_t to = from + d->schema.set[set].count;
    for (uint64_t v = 0; v < nodes_of(g, PAPER); v++) {
        const uint64_t q = gnn_perm_at(&g->split, v);
        if (q >= from && q < to)
            ids[k++] = (uint32_t)v;
    }
    return GNN_OK;
}

static void igbh_free(struct gnn_dataset *d)
{
    struct igbh *g = (struct igbh *)d;
    for (unsigned t = 0; t < NTYPES; t++)
        gnn_free(g->bound[t]);
    gnn_free(g->centre);
    gnn_free(g);
}

static const struct gnn_dataset_ops igbh_ops = {igbh_edges, igbh_rows, igbh_set, igbh_free};

static uint64_t scale_count(const struct igbh *g, double count, uint64_t min)
{
    const uint64_t n = (uint64_t)(count * g->p.factor + 0.5);
    return n < min ? min : n;
}

static int add_sets(struct igbh *g, struct gnn_err *e)
{
    static const char *const names[] = {"train", "valid", "test"};
    const uint64_t n = g->labelled, train = (uint64_t)((double)n * g->p.share[0] + 0.5);
    uint64_t valid = (uint64_t)((double)n * g->p.share[1] + 0.5);
    int rc = GNN_OK;
    valid = valid < n - train ? valid : n - train;
    const uint64_t count[] = {train, valid, n - train - valid};
    for (int i = 0; !rc && i < 3; i++)
        rc = gnn_schema_add_set(&g->d.schema, "random", names[i], PAPER, count[i], e);
    return rc;
}

static int igbh_schema(struct igbh *g, struct gnn_err *e)
{
    struct gnn_schema *s = &g->d.schema;
    int rc = GNN_OK;
    for (uint32_t t = 0; !rc && t < NTYPES; t++) {
        rc = gnn_schema_add_ntype(s, types[t].name,
                                  scale_count(g, types[t].count, t == PAPER ? 2 : 1), e);
        if (!rc && g->p.features)
            rc = gnn_schema_add_nfield(s, t, "x", g->p.wide ? GNN_F32 : GNN_F16, g->p.features, e);
        if (!rc && t == PAPER)
            rc = gnn_schema_add_nfield(s, t, "y", GNN_I32, 0, e);
    }
    for (size_t t = 0; !rc && t < sizeof relations / sizeof *relations; t++)
        rc = gnn_schema_add_etype(s, relations[t].src, relations[t].name, relations[t].dst,
                                  scale_count(g, relations[t].edges, 1), e);
    s->task = g->p.classes == 2 ? GNN_TASK_BINARY : GNN_TASK_MULTICLASS;
    s->label_ntype = PAPER;
    s->nclasses = g->p.classes;
    s->nparts = 1;
    g->labelled = scale_count(g, LABELLED, 1);
    return rc ? rc : add_sets(g, e);
}

static void make_perm(const struct igbh *g, struct gnn_perm *p, uint64_t n, enum purpose why,
                      uint32_t type)
{
    const uint64_t w = gnn_rand_key(g->p.seed, why, type).state;
    const uint32_t key[2] = {(uint32_t)w, (uint32_t)(w >> 32)};
    gnn_perm_init(p, n, key);
}

/* The golden section of n, or what follows it without a common divisor. */
static uint64_t stride_of(uint64_t n)
{
    for (uint64_t s = (uint64_t)((double)n * 0.6180339887) + 1;; s++) {
        uint64_t a = n, b = s;
        while (b) {
            const uint64_t t = a % b;
            a = b, b = t;
        }
        if (a == 1)
            return s;
    }
}

static int igbh_init(struct igbh *g, struct gnn_err *e)
{
    const uint32_t classes = g->p.classes;
    g->centre = gnn_alloc(classes, g->p.features, "class centres", e);
    if (e->code)
        return e->code;
    struct gnn_rand r = gnn_rand_key(g->p.seed, P_CENTRE, 0);
    for (uint64_t i = 0; i < (uint64_t)classes * g->p.features; i++)
        g->centre[i] = gnn_rand_next(&r) >> 63 ? 1 : -1;
    for (uint32_t t = 0; t < NTYPES; t++) {
        const uint64_t n = nodes_of(g, t);
        uint64_t *bound = g->bound[t] = gnn_alloc(classes + 1, sizeof *bound, "classes", e);
        if (!bound)
            return e->code;
        for (uint32_t c = 0; c < classes; c++)
            bound[c] = (uint64_t)((double)n * sqrt((double)c / classes));
        bound[classes] = n;
        g->stride[t] = stride_of(n);
        make_perm(g, &g->ids[t], n, P_IDS, t);
    }
    make_perm(g, &g->split, nodes_of(g, PAPER), P_SPLIT, 0);
    return GNN_OK;
}

int gnn_igbh_open(struct gnn_dataset **out, const struct gnn_gen_params *p, struct gnn_err *e)
{
    *out = NULL;
    struct igbh *g = gnn_alloc_zero(1, sizeof *g, "generator", e);
    if (!g)
        return e->code;
    g->p = *p;
    g->d.ops = &igbh_ops;
    g->d.format = g->d.name = p->name;
    g->d.mirror = g->d.made = true;
    g->in_class = (uint64_t)(p->homophily * 4294967296.0);
    if (igbh_schema(g, e) || igbh_init(g, e)) {
        gnn_dataset_free(&g->d);
        return e->code;
    }
    *out = &g->d;
    return GNN_OK;
}
