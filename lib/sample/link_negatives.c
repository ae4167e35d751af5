/* SPDX-License-Identifier: Apache-2.0 */
/* Negatives of links (lib/sample/links.h): each is a function of its positive's place in the global
 * batch and of its number among the negatives of that, whatever threads, parts and ranks there are.
 */

#include "kernels/owner.h"
#include "kernels/pick.h"
#include "lib/sample/links.h"

void gnn_link_negatives_release(struct link_negatives *x)
{
    for (int i = 0; i < LINK_KNOWN; i++) {
        gnn_free(x->known[i].absent);
        for (unsigned end = 0; end < LINK_ENDS; end++)
            gnn_link_rows_release(&x->known[i].rows[end]);
    }
    for (unsigned end = 0; end < LINK_ENDS; end++) {
        gnn_free(x->sum[end]);
        gnn_free(x->there[end]);
    }
    *x = (struct link_negatives){0};
}

/* Sums of what each head is not joined to, for pairs of which both ends are drawn. */
static int add_absent(struct link_negatives *x, enum link_known known, struct gnn_err *e)
{
    const struct link_rows *r = &x->known[known].rows[LINK_HEAD];
    uint64_t *absent = x->known[known].absent =
        gnn_alloc(r->nodes + 1, sizeof *absent, "negatives", e);
    if (!absent)
        return e->code;
    absent[0] = 0;
    for (uint64_t v = 0; v < r->nodes; v++)
        absent[v + 1] = gnn_link_owns(x->edges, LINK_HEAD, (uint32_t)v)
                            ? gnn_link_rows_absent(r, (uint32_t)v)
                            : 0;
    if (gnn_comm_all_reduce(x->edges->store->comm, absent + 1, r->nodes, GNN_REDUCE_U64, e))
        return e->code;
    for (uint64_t v = 0; v < r->nodes; v++)
        absent[v + 1] += absent[v];
    return absent[r->nodes]
               ? 0
               : gnn_fail(e, GNN_E_INPUT, "%s: no negatives: '%s' joins all nodes to all",
                          x->edges->store->path, x->m->links.type);
}

/* Weights and times of the nodes of an end that is drawn. */
static int describe_end(struct link_negatives *x, unsigned end, struct gnn_err *e)
{
    const struct gnn_links *l = &x->m->links;
    if (((l->by[end].quarters || l->by[end].n) &&
         gnn_link_weights_get(x->edges, l, end, &x->sum[end], e)) ||
        (gnn_sampling_is_temporal(x->m) &&
         gnn_link_times_get(x->edges, end, gnn_sampling_time_dtype(x->m), &x->there[end], e)))
        return e->code;
    if (x->there[end] && l->strict && l->end == GNN_NEGATIVE_BOTH)
        return gnn_fail(e, GNN_E_USAGE,
                        "%s: nodes have times, and pairs that are no edges are drawn among all: "
                        "--strict cannot be used with --negative-end both",
                        x->edges->store->path);
    return 0;
}

int gnn_link_negatives_init(struct link_negatives *x, const struct gnn_sampling *m,
                            const struct link_edges *edges, int trained, const bool use[LINK_KNOWN],
                            struct gnn_err *e)
{
    const unsigned fixed = gnn_links_fixed_end(&m->links);
    const int set[LINK_KNOWN] = {trained, LINK_ALL_SETS};
    *x = (struct link_negatives){.m = m,
                                 .edges = edges,
                                 .real = gnn_sampling_is_temporal(m) &&
                                         gnn_sampling_time_dtype(m) == GNN_F64};
    for (unsigned i = 0; m->links.strict && i < LINK_KNOWN; i++)
        if (use[i] && (gnn_link_rows_get(edges, fixed, set[i], &x->known[i].rows[fixed], e) ||
                       (m->links.end == GNN_NEGATIVE_BOTH && add_absent(x, i, e))))
            return e->code;
    for (unsigned end = 0; end < LINK_ENDS; end++)
        if ((end != fixed || m->links.end == GNN_NEGATIVE_BOTH) && describe_end(x, end, e))
            return e->code;
    return 0;
}

/* The place of a draw: which positive it is for, and its number among the draws for that. */
struct place {
    uint32_t positive, number;
};
static struct place place_of(const struct link_draw *d, uint64_t i)
{
    const uint64_t each = gnn_drawn_each(d->drawn);
    return (struct place){(uint32_t)gnn_drawn_positive(d->drawn, i, d->n),
                          (uint32_t)(each ? i % each : i / d->n)};
}

/* Tags of draws for one place: the end, or one beyond them for pairs, and above it: */
enum { TAG_AGAIN = 1 << 8, TAG_SHARED = 1 << 16 }; /* how many were in vain; of a group */
static uint64_t draw_below(const struct link_draw *d, struct place p, unsigned tag, uint64_t n)
{
    return gnn_rng_below64(d->key, p.positive, p.number, tag, GNN_RNG_PLAIN, n);
}

/* A node at an end, whatever it is joined to. */
static uint32_t draw_node(const struct link_negatives *x, const struct link_draw *d, struct place p,
                          unsigned end, unsigned tag)
{
    const uint64_t *sum = x->sum[end], n = x->edges->nodes[end];
    return sum ? gnn_owner_find(sum, sizeof *sum, (uint32_t)n, draw_below(d, p, end + tag, sum[n]))
               : (uint32_t)draw_below(d, p, end + tag, n);
}

/* A pair that is no edge, of all heads: its head, and its rank among those of that. */
static uint32_t draw_absent(const struct link_negatives *x, const struct link_draw *d, uint64_t i,
                            uint64_t *rank)
{
    const struct link_rows *r = &x->known[d->known].rows[LINK_HEAD];
    const uint64_t *absent = x->known[d->known].absent;
    *rank = draw_below(d, place_of(d, i), LINK_ENDS, absent[r->nodes]);
    const uint32_t head = gnn_owner_find(absent, sizeof *absent, (uint32_t)r->nodes, *rank);
    *rank -= absent[head];
    return head;
}

uint32_t gnn_link_fixed_node(const struct link_negatives *x, const struct link_draw *d, uint64_t i,
                             const struct link *positive)
{
    uint64_t rank;
    return x->m->links.end == GNN_NEGATIVE_BOTH ? draw_absent(x, d, i, &rank)
                                                : positive->end[gnn_links_fixed_end(&x->m->links)];
}

static int fail_joined(const struct link_negatives *x, uint32_t node, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT,
                    "%s: no negative for a link of node %u: '%s' joins it to all nodes%s",
                    x->edges->store->path, node, x->m->links.type,
                    x->m->links.weight ? " with a weight (--negative-weight)" : "");
}

static int fail_rows(const struct link_negatives *x, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT, "%s.index: rows of edges are damaged", x->edges->store->path);
}

/* Whether the node that was drawn for an end may be there: at the time of its positive and, as the
 * last of the pair, as no neighbour of the other. */
static bool is_negative(const struct link_negatives *x, const struct link_draw *d, uint64_t i,
                        const struct link *pair, unsigned end)
{
    const unsigned fixed = gnn_links_fixed_end(&x->m->links);
    const struct link_rows *r = &x->known[d->known].rows[fixed];
    const int64_t *there = x->there[end];
    uint64_t at;
    if (there && there[pair->end[end]] >
                     gnn_time_order(x->real, d->time[gnn_drawn_positive(d->drawn, i, d->n)]))
        return false;
    return !x->m->links.strict || end == fixed ||
           (!gnn_link_rows_find(r, pair->end[fixed], pair->end[!fixed], &at) &&
            (!r->same || pair->end[LINK_HEAD] != pair->end[LINK_TAIL]));
}

/* A node that other positives have, too; false: it may not be a negative of this one, which gets
 * one of its own, so that its negatives have the law that they would have alone. */
static bool draw_shared(const struct link_negatives *x, const struct link_draw *d, uint64_t i,
                        struct link *to)
{
    const unsigned end = !gnn_links_fixed_end(&x->m->links);
    struct place p = place_of(d, i);
    const uint32_t own = to->end[end];
    if (d->drawn.kind == GNN_NEGATIVES_IN_BATCH) {
        to->end[end] = d->every[(p.positive + UINT64_C(1) + p.number) % d->n].end[end];
        return to->end[end] != own && is_negative(x, d, i, to, end);
    }
    if (d->drawn.kind != GNN_NEGATIVES_JOINT)
        return false;
    p.positive = d->drawn.group ? p.positive / d->drawn.group : 0;
    to->end[end] = draw_node(x, d, p, end, TAG_SHARED);
    return is_negative(x, d, i, to, end);
}

/* Draws for a node that may be there, before it is found among all. */
enum { DRAWS = 32 };

/* Goes over all nodes of an end that may be negative i's, up to the one that has number `rank`
 * among their weights; returns the weight of those before it, or of all. */
static uint64_t walk_there(const struct link_negatives *x, const struct link_draw *d, uint64_t i,
                           unsigned end, uint64_t rank, struct link *to)
{
    const uint64_t *sum = x->sum[end];
    uint64_t before = 0;
    for (uint32_t v = 0; v < x->edges->nodes[end]; v++) {
        const uint64_t w = sum ? sum[v + UINT64_C(1)] - sum[v] : 1;
        to->end[end] = v;
        if (!is_negative(x, d, i, to, end))
            continue;
        if (rank < before + w)
            break;
        before += w;
    }
    return before;
}

/* A node among all that are there at the time of their positive. */
static int find_there(const struct link_negatives *x, const struct link_draw *d, uint64_t i,
                      unsigned end, struct link *to, struct gnn_err *e)
{
    const uint64_t all = walk_there(x, d, i, end, UINT64_MAX, to);
    const uint32_t *positive = d->every[gnn_drawn_positive(d->drawn, i, d->n)].end;
    if (!all)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: no negative for link %u-%u: no node '%s'%s is there at its time%s",
                        x->edges->store->path, positive[LINK_HEAD], positive[LINK_TAIL],
                        x->edges->store->meta.schema.ntype[x->edges->ntype[end]].name,
                        x->sum[end] ? " with a weight" : "",
                        x->m->links.strict ? " and no neighbour of its other end" : "");
    (void)walk_there(x, d, i, end, draw_below(d, place_of(d, i), end + TAG_AGAIN * DRAWS, all), to);
    return 0;
}

/* By weight or time: nodes are drawn until one may be there. If none may, as where a node is joined
 * to most, it is found among all that may: without times, by one pass over the row. Both have the
 * same law. */
static int draw_end(const struct link_negatives *x, const struct link_draw *d, uint64_t i,
                    unsigned end, struct link *to, struct gnn_err *e)
{
    const struct link_rows *r = &x->known[d->known].rows[!end];
    const struct place p = place_of(d, i);
    for (unsigned again = 0; again < DRAWS; again++) {
        to->end[end] = draw_node(x, d, p, end, TAG_AGAIN * again);
        if (is_negative(x, d, i, to, end))
            return 0;
    }
    if (x->there[end])
        return find_there(x, d, i, end, to, e);
    const uint64_t absent = gnn_link_weights_absent(x->sum[end], r, to->end[!end]);
    if (!absent)
        return fail_joined(x, to->end[!end], e);
    to->end[end] = gnn_link_weights_nth(x->sum[end], r, to->end[!end],
                                        draw_below(d, p, end + TAG_AGAIN * DRAWS, absent));
    return to->end[end] < x->edges->nodes[end] ? 0 : fail_rows(x, e);
}

static int draw_strict(const struct link_negatives *x, const struct link_draw *d, uint64_t i,
                       struct link *to, struct gnn_err *e)
{
    const unsigned fixed = gnn_links_fixed_end(&x->m->links);
    const struct link_rows *r = &x->known[d->known].rows[fixed];
    uint64_t rank, absent;
    if (x->m->links.end == GNN_NEGATIVE_BOTH) {
        to->end[fixed] = draw_absent(x, d, i, &rank);
    } else {
        if (!(absent = gnn_link_rows_absent(r, to->end[fixed])))
            return fail_joined(x, to->end[fixed], e);
        rank = draw_below(d, place_of(d, i), !fixed, absent);
    }
    to->end[!fixed] = gnn_link_rows_nth(r, to->end[fixed], rank);
    return to->end[!fixed] < x->edges->nodes[!fixed] ? 0 : fail_rows(x, e);
}

int gnn_link_negative(const struct link_negatives *x, const struct link_draw *d, uint64_t i,
                      struct link *to, struct gnn_err *e)
{
    const unsigned fixed = gnn_links_fixed_end(&x->m->links);
    if (draw_shared(x, d, i, to))
        return 0;
    if (x->m->links.strict &&
        (x->m->links.end == GNN_NEGATIVE_BOTH || (!x->sum[!fixed] && !x->there[!fixed])))
        return draw_strict(x, d, i, to, e);
    if (x->m->links.end == GNN_NEGATIVE_BOTH && draw_end(x, d, i, fixed, to, e))
        return e->code;
    return draw_end(x, d, i, !fixed, to, e);
}
