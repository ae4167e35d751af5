/* SPDX-License-Identifier: Apache-2.0 */
/* Generators: rmat:, sbm: and products: (igbh: is in gen_igbh.c). Every edge, feature and label is
 * a function of the parameters, the seed and its own index, so passes can be repeated and threads
 * do not change the result.
 *
 * sbm and products share one model: nodes stand in an order in which communities are contiguous,
 * each has a number of half-edges (uniform, or log-normal with a heavy tail); half-edge i starts an
 * edge that ends at a random half-edge of the same community with probability `homophily`, else at
 * a random half-edge of all. Ids are a random permutation of that order. rmat (gen_rmat.c) is
 * Chakrabarti, Zhan, Faloutsos 2004. */
#include "lib/import/generate/gen.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "lib/base/rand.h"
#include "lib/base/mem.h"

enum { FIRST_SHIFT = 6 };
enum purpose {
    P_PERM = 1,
    P_EDGE,
    P_WEIGHT,
    P_CLASS,
    P_FLIP,
    P_CENTRE,
    P_X,
    P_SPLIT,
    P_TAIL,
    P_FIELD,
    P_TARGET
};

struct gen {
    struct gnn_dataset d;
    struct gnn_gen_params p;
    uint64_t n, m;
    uint32_t ntypes, classes;
    uint32_t **perm;           /* [ntypes] community order -> id */
    uint8_t *label_set;        /* [n] 0 train, 1 valid, 2 test, 3 none; of type 0 */
    uint16_t **label;          /* [ntypes][n] class by id, before flips */
    uint64_t *half;            /* [n+1] first half-edge of each node, in community order */
    uint32_t *first;           /* node that owns half-edge i << FIRST_SHIFT */
    uint64_t *bound;           /* [ncomm+1] first node of each community */
    uint32_t ncomm, comm_size; /* comm_size 0: communities are the classes */
    int8_t *centre;            /* [classes][features] +-1 */
    uint64_t in_comm;          /* homophily as a threshold on 32 bits */
};

/* exp by IEEE multiplications only, so that all machines agree to the bit; ample for |x| < 20. */
static double exp_fixed(double x)
{
    double t = x / 4096, y = 1 + t * (1 + t * (0.5 + t * (1.0 / 6)));
    for (int i = 0; i < 12; i++)
        y *= y;
    return y;
}

static uint32_t comm_of(const struct gen *g, uint64_t pos)
{
    if (g->comm_size)
        return (uint32_t)(pos / g->comm_size);
    return (uint32_t)(pos * g->ncomm / g->n); /* below 2^32 * 2^16 */
}

static int make_perm(struct gen *g, uint32_t type, struct gnn_err *e)
{
    uint32_t *p = g->perm[type] = gnn_alloc(g->n, sizeof *p, "permutation", e);
    if (!p)
        return GNN_E_NOMEM;
    for (uint64_t i = 0; i < g->n; i++)
        p[i] = (uint32_t)i;
    struct gnn_rand r = gnn_rand_key(g->p.seed, P_PERM, type);
    for (uint64_t i = g->n; i > 1; i--) {
        uint64_t j = gnn_rand_below(&r, i);
        uint32_t t = p[i - 1];
        p[i - 1] = p[j], p[j] = t;
    }
    return GNN_OK;
}

static int make_labels(struct gen *g, uint32_t type, struct gnn_err *e)
{
    uint16_t *y = g->label[type] = gnn_alloc(g->n, sizeof *y, "labels", e);
    if (!y)
        return GNN_E_NOMEM;
    for (uint64_t i = 0; i < g->n; i++) {
        uint32_t c = comm_of(g, i), k = c;
        if (g->comm_size) { /* many communities a class, of uneven number */
            struct gnn_rand r = gnn_rand_key(g->p.seed, P_CLASS, c);
            uint64_t a = gnn_rand_below(&r, g->classes), b = gnn_rand_below(&r, g->classes);
            k = (uint32_t)(a < b ? a : b);
        }
        y[g->perm[type][i]] = (uint16_t)k;
    }
    return GNN_OK;
}

static int make_split(struct gen *g, struct gnn_err *e)
{
    uint64_t ntrain = g->p.train, nvalid = g->p.valid;
    uint32_t *order = gnn_alloc(g->n, sizeof *order, "split", e);
    g->label_set = gnn_alloc(g->n, 1, "split", e);
    if (!order || !g->label_set) {
        gnn_free(order);
        return GNN_E_NOMEM;
    }
    for (uint64_t i = 0; i < g->n; i++)
        order[i] = (uint32_t)i;
    struct gnn_rand r = gnn_rand_key(g->p.seed, P_SPLIT, 0);
    for (uint64_t i = 0; i < g->n; i++) {
        uint64_t j = i + gnn_rand_below(&r, g->n - i);
        uint32_t t = order[i];
        order[i] = order[j], order[j] = t;
        g->label_set[order[i]] = i < ntrain ? 0 : i < ntrain + nvalid ? 1 : 2;
    }
    gnn_free(order);
    return GNN_OK;
}

static double node_weight(const struct gen *g, uint64_t i)
{
    if (!g->p.skewed)
        return 1;
    /* Median 26, mean 50.5 as in ogbn-products: sigma^2 = 2 ln(50.5 / 26). */
    struct gnn_rand r = gnn_rand_key(g->p.seed, P_WEIGHT, i);
    double z = 0;
    for (int k = 0; k < 12; k++)
        z += (double)(gnn_rand_next(&r) >> 11) * 0x1p-53;
    double w = 26 * exp_fixed(1.1523 * (z - 6));
    if (gnn_rand_below(&r, 5000) == 0) { /* the few hubs */
        double u = (double)(gnn_rand_next(&r) >> 11) * 0x1p-53 + 1e-3;
        w = 1000 / (sqrt(u) * sqrt(sqrt(sqrt(u))));
    }
    return w < 17481 ? w : 17481;
}

static int make_stubs(struct gen *g, struct gnn_err *e)
{
    double total = 0;
    for (uint64_t i = 0; i < g->n; i++)
        total += node_weight(g, i);
    double scale = 2.0 * (double)g->m / total;
    g->half = gnn_alloc(g->n + 1, sizeof *g->half, "degrees", e);
    if (!g->half)
        return GNN_E_NOMEM;
    uint64_t at = 0;
    for (uint64_t i = 0; i < g->n; i++) {
        uint64_t w = (uint64_t)(node_weight(g, i) * scale + 0.5);
        g->half[i] = at;
        at += w ? w : 1;
    }
    g->half[g->n] = at;
    uint64_t nfirst = (at >> FIRST_SHIFT) + 2;
    g->first = gnn_alloc(nfirst, sizeof *g->first, "degrees", e);
    if (!g->first)
        return GNN_E_NOMEM;
    uint64_t v = 0;
    for (uint64_t i = 0; i < nfirst; i++) {
        while (v + 1 < g->n && g->half[v + 1] <= i << FIRST_SHIFT)
            v++;
        g->first[i] = (uint32_t)v;
    }
    g->bound = gnn_alloc(g->ncomm + 1, sizeof *g->bound, "communities", e);
    if (!g->bound)
        return GNN_E_NOMEM;
    for (uint64_t c = 0, i = 0; c <= g->ncomm; c++) {
        while (i < g->n && comm_of(g, i) < c)
            i++;
        g->bound[c] = i;
    }
    return GNN_OK;
}

static uint64_t edge_owner(const struct gen *g, uint64_t half)
{
    uint64_t v = g->first[half >> FIRST_SHIFT];
    while (g->half[v + 1] <= half)
        v++;
    return v;
}

/* Edges [from, from+n) of type t. */
static void community_edges(const struct gen *g, uint32_t t, uint64_t from, uint64_t n,
                            uint32_t *src, uint32_t *dst)
{
    const struct gnn_etype *et = &g->d.schema.etype[t];
    const uint32_t *ps = g->perm[et->src], *pd = g->perm[et->dst];
    bool same = et->src == et->dst;
    uint64_t nhalves = g->half[g->n];
    struct gnn_rand r = gnn_rand_key(g->p.seed, P_EDGE + ((uint64_t)t << 32), from);
    /* Stubs in steps of nhalves / m, so sources come in community order and stay cached. */
    uint64_t step = (uint64_t)(((gnn_u128)nhalves << 32) / g->m);
    uint64_t u = edge_owner(g, (uint64_t)(((gnn_u128)from * step) >> 32)), lo = 0, hi = 0;
    bool lone = false, fresh = true;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t s = (uint64_t)(((gnn_u128)(from + i) * step) >> 32), v;
        for (; g->half[u + 1] <= s; fresh = true)
            u++;
        if (fresh) {
            uint32_t c = comm_of(g, u);
            lo = g->half[g->bound[c]], hi = g->half[g->bound[c + 1]];
            lone = same && g->bound[c + 1] - g->bound[c] < 2;
            fresh = false;
        }
        do {
            if (!lone && (gnn_rand_next(&r) >> 32) < g->in_comm)
                v = edge_owner(g, lo + gnn_rand_below(&r, hi - lo));
            else
                v = edge_owner(g, gnn_rand_below(&r, nhalves));
        } while (same && v == u);
        src[i] = ps[u], dst[i] = pd[v];
    }
}

/* Edge fields: weight in (0, 1], time in [0, edges), the same in every pass. */
static void edge_fields(const struct gen *g, uint32_t t, uint64_t from, uint64_t n,
                        void *const *field)
{
    float *w = g->p.weights ? field[0] : NULL;
    int64_t *tm = g->p.times ? field[g->p.weights] : NULL;
    for (uint64_t i = 0; i < n; i++) {
        struct gnn_rand r = gnn_rand_key(g->p.seed, P_FIELD + ((uint64_t)t << 32), from + i);
        const uint64_t word = gnn_rand_next(&r);
        if (w)
            w[i] = (float)((word >> 44) + 1) * 0x1p-20f;
        if (tm)
            tm[i] = (int64_t)gnn_rand_below(&r, g->m);
    }
}

static void fill_edges(const struct gnn_dataset *d, uint32_t t, uint64_t from, uint64_t n,
                       uint32_t *src, uint32_t *dst, void *const *field)
{
    const struct gen *g = (const struct gen *)d;
    if (g->p.kind == GNN_GEN_RMAT)
        gnn_rmat_edges(&g->p, gnn_rand_key(g->p.seed, P_EDGE, from).state, n, src, dst);
    else
        community_edges(g, t, from, n, src, dst);
    if (field[0])
        edge_fields(g, t, from, n, field);
}

static int gen_edges(struct gnn_dataset *d, uint32_t t, bool fields, gnn_edge_fn *fn, void *arg,
                     struct gnn_err *e)
{
    const struct gen *g = (struct gen *)d;
    return gnn_gen_edges(d, &g->p, t, g->m, fill_edges, fields, fn, arg, e);
}

static uint32_t class_of(const struct gen *g, uint32_t type, uint64_t v)
{
    return g->label ? g->label[type][v]
                    : (uint32_t)(gnn_rand_key(g->p.seed, P_CLASS, v).state % g->classes);
}

/* What is written as y: now and then another class than the one that made edges and features. */
static int32_t shown_class(const struct gen *g, uint64_t v)
{
    struct gnn_rand r = gnn_rand_key(g->p.seed, P_FLIP, v);
    if ((double)(gnn_rand_next(&r) >> 11) * 0x1p-53 < g->p.flip)
        return (int32_t)gnn_rand_below(&r, g->classes);
    return (int32_t)class_of(g, 0, v);
}

/* Target j is a number for each class plus noise, the class being the shown one: a model that knows
 * the class explains most of it. */
static void target_row(const struct gen *g, uint64_t v, float *y)
{
    const int32_t c = shown_class(g, v);
    struct gnn_rand r = gnn_rand_key(g->p.seed, P_TARGET, v);
    for (uint32_t j = 0; j < g->p.targets; j++) {
        const uint64_t of =
            gnn_rand_key(g->p.seed, P_TARGET + ((uint64_t)(j + 1) << 32), (uint32_t)c).state;
        y[j] = 4 * gnn_rand_normal(of) + 0.5f * gnn_rand_normal(gnn_rand_next(&r));
    }
}

static void feature_row(const struct gen *g, uint32_t type, uint64_t v, float *x)
{
    struct gnn_rand r = gnn_rand_key(g->p.seed, P_X + ((uint64_t)type << 32), v);
    float signal = (float)g->p.signal;
    const int8_t *c = g->centre + (size_t)class_of(g, type, v) * g->p.features;
    for (uint32_t j = 0; j < g->p.features; j++)
        x[j] = gnn_rand_normal(gnn_rand_next(&r)) + signal * (float)c[j];
}

static void fill_row(const struct gnn_dataset *d, uint32_t type, bool y, uint64_t v, void *row)
{
    const struct gen *g = (const struct gen *)d;
    if (y && g->p.targets)
        target_row(g, v, row);
    else if (y)
        *(int32_t *)row = shown_class(g, v);
    else
        feature_row(g, type, v, row);
}

static int gen_rows(struct gnn_dataset *d, uint32_t type, uint32_t f, gnn_rows_fn *fn, void *arg,
                    struct gnn_err *e)
{
    return gnn_gen_rows(d, &((struct gen *)d)->p, type, f, fill_row, fn, arg, e);
}

static int gen_set(struct gnn_dataset *d, uint32_t set, uint32_t *ids, struct gnn_err *e)
{
    (void)e;
    struct gen *g = (struct gen *)d;
    uint64_t k = 0;
    for (uint64_t v = 0; v < g->n; v++)
        if (g->label_set[v] == set)
            ids[k++] = (uint32_t)v;
    return GNN_OK;
}

static void gen_free(struct gnn_dataset *d)
{
    struct gen *g = (struct gen *)d;
    for (uint32_t t = 0; t < g->ntypes; t++) {
        if (g->perm)
            gnn_free(g->perm[t]);
        if (g->label)
            gnn_free(g->label[t]);
    }
    void *p[] = {g->perm, g->label, g->label_set, g->half, g->first, g->bound, g->centre, g};
    for (unsigned i = 0; i < sizeof p / sizeof *p; i++)
        gnn_free(p[i]);
}

static const struct gnn_dataset_ops gen_ops = {gen_edges, gen_rows, gen_set, gen_free};

static int gen_schema(struct gen *g, struct gnn_err *e)
{
    struct gnn_schema *s = &g->d.schema;
    int rc = GNN_OK;
    char name[32];
    for (uint32_t t = 0; !rc && t < g->ntypes; t++) {
        snprintf(name, sizeof name, g->ntypes == 1 ? "node" : "t%u", t);
        rc = gnn_schema_add_ntype(s, name, g->n, e);
        if (!rc && g->p.features)
            rc = gnn_schema_add_nfield(s, t, "x", GNN_F32, g->p.features, e);
        if (!rc && t == 0 && g->classes)
            rc = g->p.targets ? gnn_schema_add_nfield(s, t, "y", GNN_F32,
                                                      g->p.targets > 1 ? g->p.targets : 0, e)
                              : gnn_schema_add_nfield(s, t, "y", GNN_I32, 0, e);
    }
    /* One type: node-to-node. Several: within t0, and t_i <-> t_(i+1). */
    if (!rc)
        rc = gnn_schema_add_etype(s, 0, "to", 0, g->m, e);
    for (uint32_t t = 0; !rc && t + 1 < g->ntypes; t++) {
        rc = gnn_schema_add_etype(s, t, "up", t + 1, g->m, e);
        if (!rc)
            rc = gnn_schema_add_etype(s, t + 1, "down", t, g->m, e);
    }
    for (uint32_t t = 0; !rc && t < s->netypes; t++) {
        if (g->p.weights)
            rc = gnn_schema_add_efield(s, t, "weight", GNN_F32, 0, e);
        if (!rc && g->p.times)
            rc = gnn_schema_add_efield(s, t, "time", GNN_I64, 0, e);
    }
    if (!rc && g->classes) {
        static const char *const sets[] = {"train", "valid", "test"};
        uint64_t count[] = {g->p.train, g->p.valid, g->n - g->p.train - g->p.valid};
        for (int i = 0; !rc && i < 3; i++)
            rc = gnn_schema_add_set(s, "random", sets[i], 0, count[i], e);
        s->task = g->p.targets      ? GNN_TASK_REGRESSION
                  : g->classes == 2 ? GNN_TASK_BINARY
                                    : GNN_TASK_MULTICLASS;
        s->nclasses = g->p.targets ? g->p.targets : g->classes;
    }
    s->nparts = 1;
    return rc;
}

static int gen_init(struct gen *g, struct gnn_err *e)
{
    bool rmat = g->p.kind == GNN_GEN_RMAT;
    int rc = g->classes ? make_split(g, e) : GNN_OK;
    if (!rc && g->p.features) {
        uint32_t k = g->classes ? g->classes : 1;
        g->centre = gnn_alloc(k, g->p.features, "class centres", e);
        if (!g->centre)
            return GNN_E_NOMEM;
        struct gnn_rand r = gnn_rand_key(g->p.seed, P_CENTRE, 0);
        for (uint64_t i = 0; i < (uint64_t)k * g->p.features; i++)
            g->centre[i] = gnn_rand_next(&r) >> 63 ? 1 : -1;
        g->classes = k;
    }
    if (rc || rmat)
        return rc;
    g->perm = gnn_alloc_zero(g->ntypes, sizeof *g->perm, "permutation", e);
    g->label = gnn_alloc_zero(g->ntypes, sizeof *g->label, "labels", e);
    if (!g->perm || !g->label)
        return GNN_E_NOMEM;
    for (uint32_t t = 0; !rc && t < g->ntypes; t++) {
        rc = make_perm(g, t, e);
        if (!rc)
            rc = make_labels(g, t, e);
    }
    return rc ? rc : make_stubs(g, e);
}

static int open_gen(struct gnn_dataset **out, const struct gnn_gen_params *p, struct gnn_err *e)
{
    struct gen *g = gnn_alloc_zero(1, sizeof *g, "generator", e);
    if (!g)
        return GNN_E_NOMEM;
    g->p = *p;
    g->d.ops = &gen_ops;
    g->n = g->p.nodes, g->m = g->p.edges;
    g->ntypes = g->p.types;
    g->classes = g->p.classes;
    g->comm_size = g->p.community;
    g->ncomm = g->comm_size ? (uint32_t)((g->n + g->comm_size - 1) / g->comm_size) : g->classes;
    g->in_comm = (uint64_t)(g->p.homophily * 4294967296.0);
    g->d.format = g->d.name = g->p.name;
    g->d.mirror = g->p.mirror;
    g->d.made = true;
    g->d.says = g->p.mirror ? NULL : "the generated edges are directed";
    int rc = gen_schema(g, e);
    if (!rc)
        rc = gen_init(g, e);
    if (rc) {
        gnn_dataset_free(&g->d);
        return rc;
    }
    *out = &g->d;
    return GNN_OK;
}

int gnn_gen_open(struct gnn_dataset **out, const char *spec, uint64_t seed, unsigned threads,
                 bool wide, struct gnn_err *e)
{
    struct gnn_gen_params p;
    *out = NULL;
    int rc = gnn_gen_parse(&p, spec, e);
    if (rc)
        return rc;
    p.wide = p.wide || wide;
    if (!p.seed_given)
        p.seed = seed;
    p.threads = threads ? (int)threads : omp_get_max_threads();
    return p.kind == GNN_GEN_IGBH ? gnn_igbh_open(out, &p, e) : open_gen(out, &p, e);
}
