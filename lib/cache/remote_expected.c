/* Expected frequencies with several ranks. The frequencies of each rank's batches are made by all
 * of them, one rank after the other: a rank keeps what is known of its own nodes, walks over its
 * own edges, and sends what other ranks' nodes are given to their ranks. */
#include <string.h>

#include "lib/cache/access_impl.h"
#include "lib/comm/comm.h"

struct gift { /* what travels: to the owner of a node in a hop, ... */
    uint64_t sum;
    uint32_t node, type;
};
struct told { /* ... and from it at the end */
    float p;
    uint32_t node, type;
};

struct ranks_walk {
    struct gnn_store *s;
    const struct gnn_sampling *m;
    struct gnn_comm *c;
    uint64_t **first; /* [nntypes][ranks] */
    struct gnn_exchange x;
    struct gnn_buf *out;     /* [ranks] */
    uint64_t *nout;          /* [ranks] bytes */
    struct gnn_scores known; /* of this rank's own nodes */
    float **picked;          /* [netypes] */
    uint64_t **sum;          /* [nntypes] */
    uint32_t *seeds;         /* this rank's */
    uint64_t nseeds, seed_gives;
    struct gnn_err *e;
};

static uint64_t first_of(const struct ranks_walk *w, uint32_t t, uint32_t r)
{
    return r < w->c->size ? w->first[t][r] : w->s->meta.schema.ntype[t].count;
}

static int put(struct ranks_walk *w, uint32_t r, const void *what, size_t bytes)
{
    const int rc =
        gnn_buf_reserve(&w->out[r], w->nout[r] + bytes, 1, "messages between ranks", w->e);
    if (rc)
        return rc;
    memcpy((char *)w->out[r].data + w->nout[r], what, bytes);
    w->nout[r] += bytes;
    return 0;
}

static int send_all(struct ranks_walk *w)
{
    for (uint32_t r = 0; r < w->c->size; r++) {
        w->x.out[r] = (struct gnn_span){w->out[r].data, w->nout[r]};
        w->nout[r] = 0;
    }
    return gnn_comm_exchange(w->c, &w->x, w->e);
}

/* Whether what came names a node of rank `of`. */
static bool fits(const struct ranks_walk *w, uint32_t t, uint32_t node, uint32_t of)
{
    return t < w->s->meta.schema.nntypes && node >= first_of(w, t, of) &&
           node < first_of(w, t, of + 1);
}

static int garbled(const struct ranks_walk *w, uint32_t r)
{
    return gnn_fail(w->e, GNN_E_RANK, "malformed reply from rank %u", r);
}

/* Gifts to other ranks' nodes go there, theirs come here; then the sums become what is known. */
static int share_gifts(struct ranks_walk *w)
{
    const struct gnn_schema *c = &w->s->meta.schema;
    const uint32_t self = w->c->rank;
    int rc = 0;
    for (uint32_t t = 0; t < c->nntypes; t++)
        for (uint32_t r = 0; !rc && r < w->c->size; r++)
            for (uint64_t i = first_of(w, t, r); !rc && r != self && i < first_of(w, t, r + 1); i++)
                if (w->sum[t][i])
                    rc = put(w, r, &(struct gift){w->sum[t][i], (uint32_t)i, t},
                             sizeof(struct gift));
    if (!rc)
        rc = send_all(w);
    for (uint32_t r = 0; !rc && r < w->c->size; r++) {
        const struct gift *g = w->x.in[r].data;
        if (w->x.in[r].bytes % sizeof *g)
            return garbled(w, r);
        for (uint64_t i = 0; !rc && r != self && i < w->x.in[r].bytes / sizeof *g; i++) {
            if (!fits(w, g[i].type, g[i].node, self) || g[i].sum > UINT64_MAX / 2)
                return garbled(w, r);
            uint64_t *sum = &w->sum[g[i].type][g[i].node];
            *sum += *sum < GNN_ACCESS_FULL ? g[i].sum : 0;
        }
    }
    for (uint32_t t = 0; !rc && t < c->nntypes; t++)
        for (uint64_t i = first_of(w, t, self); i < first_of(w, t, self + 1); i++)
            w->known.of[t][i] = gnn_access_from_fixed(w->sum[t][i]);
    return rc;
}

static void begin_sums(struct ranks_walk *w, uint32_t of)
{
    const struct gnn_schema *c = &w->s->meta.schema;
    for (uint32_t t = 0; t < c->nntypes; t++)
        memset(w->sum[t], 0, c->ntype[t].count * sizeof **w->sum);
    for (uint64_t i = 0; of == w->c->rank && i < w->nseeds; i++)
        w->sum[w->m->seed_ntype][w->seeds[i]] = w->seed_gives;
}

static int one_hop(struct ranks_walk *w, uint32_t of, uint32_t hop)
{
    const struct gnn_schema *c = &w->s->meta.schema;
    int rc = 0;
    begin_sums(w, of);
    for (uint32_t et = 0; !rc && et < c->netypes; et++) {
        const uint32_t dst = c->etype[et].dst;
        const struct gnn_giving g = {w->picked[et], w->known.of[dst], NULL,
                                     gnn_sampling_rule(w->m, hop * c->netypes + et)};
        if (w->picked[et])
            rc = gnn_access_walk(w->s, et, &g, w->sum[c->etype[et].src], w->e);
    }
    return rc ? rc : share_gifts(w);
}

/* What all know of their own nodes goes to the rank whose batches these are. */
static int collect(struct ranks_walk *w, uint32_t of, struct gnn_scores *x)
{
    const struct gnn_schema *c = &w->s->meta.schema;
    const uint32_t self = w->c->rank;
    int rc = 0;
    for (uint32_t t = 0; t < c->nntypes; t++)
        for (uint64_t i = first_of(w, t, self); !rc && i < first_of(w, t, self + 1); i++)
            if (w->known.of[t][i] > 0)
                rc = put(w, of, &(struct told){w->known.of[t][i], (uint32_t)i, t},
                         sizeof(struct told));
    if (!rc)
        rc = send_all(w);
    for (uint32_t r = 0; !rc && of == self && r < w->c->size; r++) {
        const struct told *v = w->x.in[r].data;
        if (w->x.in[r].bytes % sizeof *v)
            return garbled(w, r);
        for (uint64_t i = 0; i < w->x.in[r].bytes / sizeof *v; i++) {
            if (!fits(w, v[i].type, v[i].node, r) || !(v[i].p > 0 && v[i].p <= 1))
                return garbled(w, r);
            x->of[v[i].type][v[i].node] = v[i].p;
        }
    }
    return rc;
}

/* The frequencies of rank `of`. */
static int walk_for(struct ranks_walk *w, uint32_t of, struct gnn_scores *x)
{
    const struct gnn_schema *c = &w->s->meta.schema;
    for (uint32_t et = 0; et < c->netypes; et++)
        if (w->picked[et])
            memset(w->picked[et], 0, c->ntype[c->etype[et].dst].count * sizeof **w->picked);
    begin_sums(w, of);
    int rc = share_gifts(w);
    for (uint32_t h = 0; !rc && h < w->m->nhops; h++)
        rc = one_hop(w, of, h);
    return rc ? rc : collect(w, of, x);
}

static int walk_init(struct ranks_walk *w)
{
    const struct gnn_schema *c = &w->s->meta.schema;
    w->out = gnn_alloc_zero(w->c->size, sizeof *w->out, "ranks", w->e);
    w->nout = gnn_alloc_zero(w->c->size, sizeof *w->nout, "ranks", w->e);
    w->picked = gnn_alloc_zero(c->netypes, sizeof *w->picked, "node scores", w->e);
    w->sum = gnn_alloc_zero(c->nntypes, sizeof *w->sum, "node scores", w->e);
    if (!w->out || !w->nout || !w->picked || !w->sum || gnn_scores_init(&w->known, c, w->e) ||
        gnn_store_firsts(w->s, w->c->size, &w->first, w->e) ||
        gnn_exchange_init(&w->x, w->c, gnn_comm_tag(GNN_COMM_CONTROL, GNN_COMM_ACCESS), w->e))
        return w->e->code;
    for (uint32_t t = 0; t < c->nntypes; t++)
        if (!(w->sum[t] = gnn_alloc(c->ntype[t].count, sizeof **w->sum, "node scores", w->e)))
            return w->e->code;
    for (uint32_t i = 0; i < w->m->nhops * c->netypes; i++) {
        const uint32_t et = i % c->netypes;
        if (gnn_pick_any(gnn_sampling_rule(w->m, i)) && !w->picked[et] &&
            !(w->picked[et] = gnn_alloc(c->ntype[c->etype[et].dst].count, sizeof **w->picked,
                                        "node scores", w->e)))
            return w->e->code;
    }
    return 0;
}

static void walk_release(struct ranks_walk *w)
{
    const struct gnn_schema *c = &w->s->meta.schema;
    for (uint32_t r = 0; w->out && r < w->c->size; r++)
        gnn_buf_release(&w->out[r]);
    for (uint32_t t = 0; w->picked && t < c->netypes; t++)
        gnn_free(w->picked[t]);
    for (uint32_t t = 0; w->sum && t < c->nntypes; t++)
        gnn_free(w->sum[t]);
    gnn_exchange_release(&w->x);
    gnn_scores_release(&w->known);
    gnn_free(w->first ? w->first[0] : NULL);
    gnn_free(w->first);
    gnn_free(w->out);
    gnn_free(w->nout);
    gnn_free(w->picked);
    gnn_free(w->sum);
    gnn_free(w->seeds);
}

/* Of the seeds that batches come from, those in this rank's parts. */
static int own_seeds(struct ranks_walk *w)
{
    double share, steps;
    uint64_t n;
    const uint64_t *book = w->s->book[w->m->seed_ntype];
    const int rc = gnn_access_seeds(w->s, w->m, &w->seeds, &n, &share, &steps, w->e);
    for (uint64_t i = 0; !rc && i < n; i++)
        if (w->seeds[i] >= book[w->s->from] && w->seeds[i] < book[w->s->to])
            w->seeds[w->nseeds++] = w->seeds[i];
    w->seed_gives = rc ? 0 : gnn_access_to_fixed(share);
    return rc;
}

int gnn_access_of_rank(struct gnn_store *s, const struct gnn_sampling *m, struct gnn_comm *c,
                       struct gnn_scores *x, struct gnn_err *e)
{
    struct ranks_walk w = {.s = s, .m = m, .c = c, .e = e};
    *x = (struct gnn_scores){0};
    int rc = gnn_scores_init(x, &s->meta.schema, e);
    if (!rc)
        rc = own_seeds(&w);
    if (!rc)
        rc = walk_init(&w);
    for (uint32_t r = 0; !rc && r < c->size; r++)
        rc = walk_for(&w, r, x);
    walk_release(&w);
    if (rc)
        gnn_scores_release(x);
    return rc;
}
