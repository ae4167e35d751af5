/* SPDX-License-Identifier: Apache-2.0 */
/* Negatives of links (lib/sample/links.h): each is a function of its positive's place in the global
 * batch and of its number among the negatives of that, whatever threads, parts and ranks there are.
 */

#include "kernels/owner.h"
#include "lib/sample/links.h"

void gnn_link_negatives_release(struct link_negatives *x)
{
    for (int i = 0; i < LINK_KNOWN; i++)
        gnn_free(x->known[i].absent);
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
        absent[v + 1] = absent[v] + gnn_link_rows_absent(r, (uint32_t)v);
    return absent[r->nodes]
               ? 0
               : gnn_fail(e, GNN_E_INPUT, "%s: no negatives: '%s' joins all nodes to all",
                          x->edges->store->path, x->m->links.type);
}

int gnn_link_negatives_init(struct link_negatives *x, const struct gnn_sampling *m,
                            const struct link_edges *edges, int trained, const bool use[LINK_KNOWN],
                            struct gnn_err *e)
{
    /* The row that the other end must not be in: by the end that a negative has from its positive.
     */
    const unsigned fixed = m->links.end == GNN_NEGATIVE_HEAD ? LINK_TAIL : LINK_HEAD;
    const int set[LINK_KNOWN] = {trained, LINK_ALL_SETS};
    *x = (struct link_negatives){.m = m, .edges = edges};
    for (unsigned i = 0; m->links.strict && i < LINK_KNOWN; i++)
        if (use[i] && (gnn_link_rows_get(edges, fixed, set[i], &x->known[i].rows[fixed], e) ||
                       (m->links.end == GNN_NEGATIVE_BOTH && add_absent(x, i, e))))
            return e->code;
    return 0;
}

/* A draw: which positive it is for, and its number among the draws for that. */
struct draw {
    enum link_known known;
    const uint32_t *key;
    uint32_t positive, number;
};

static uint64_t draw_below(const struct draw *d, unsigned end, uint64_t n)
{
    return gnn_rng_below64(d->key, d->positive, d->number, end, GNN_RNG_PLAIN, n);
}

/* A pair that is no edge: rank r among those of all heads. */
static struct link draw_absent(const struct link_negatives *x, const struct draw *d)
{
    const struct link_rows *r = &x->known[d->known].rows[LINK_HEAD];
    const uint64_t *absent = x->known[d->known].absent,
                   rank = draw_below(d, LINK_ENDS, absent[r->nodes]);
    const uint32_t head = gnn_owner_find(absent, sizeof *absent, (uint32_t)r->nodes, rank);
    return (struct link){{head, gnn_link_rows_nth(r, head, rank - absent[head])}};
}

/* *to keeps the end that is not drawn. */
static int draw_one(const struct link_negatives *x, const struct draw *d, struct link *to,
                    struct gnn_err *e)
{
    const struct gnn_links *m = &x->m->links;
    const uint64_t *nodes = x->edges->nodes;
    const unsigned end = m->end == GNN_NEGATIVE_HEAD ? LINK_HEAD : LINK_TAIL;
    const struct link_rows *r = &x->known[d->known].rows[!end];
    uint64_t absent;
    if (m->end == GNN_NEGATIVE_BOTH && m->strict)
        *to = draw_absent(x, d);
    else if (m->end == GNN_NEGATIVE_BOTH)
        *to = (struct link){{(uint32_t)draw_below(d, LINK_HEAD, nodes[LINK_HEAD]),
                             (uint32_t)draw_below(d, LINK_TAIL, nodes[LINK_TAIL])}};
    else if (!m->strict)
        to->end[end] = (uint32_t)draw_below(d, end, nodes[end]);
    else if ((absent = gnn_link_rows_absent(r, to->end[!end])))
        to->end[end] = gnn_link_rows_nth(r, to->end[!end], draw_below(d, end, absent));
    else
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: no negative for a link of node %u: '%s' joins it to all nodes",
                        x->edges->store->path, to->end[!end], m->type);
    return 0;
}

int gnn_link_negatives_draw(const struct link_negatives *x, enum link_known known,
                            struct gnn_drawn drawn, const uint32_t key[2],
                            const struct link *positive, uint64_t n, struct link *negative,
                            struct gnn_err *e)
{
    const uint64_t many = gnn_drawn_negatives(drawn, n), each = (uint64_t)drawn.amount;
    for (uint64_t i = 0; i < many; i++) {
        const uint64_t of = gnn_drawn_positive(drawn, i, n);
        const struct draw d = {known, key, (uint32_t)of,
                               (uint32_t)(drawn.kind == GNN_NEGATIVES_TRIPLET ? i % each : i / n)};
        negative[i] = positive[of];
        if (draw_one(x, &d, &negative[i], e))
            return e->code;
        if (negative[i].end[LINK_HEAD] >= x->edges->nodes[LINK_HEAD] ||
            negative[i].end[LINK_TAIL] >= x->edges->nodes[LINK_TAIL])
            return gnn_fail(e, GNN_E_INPUT, "%s.index: rows of edges are damaged",
                            x->edges->store->path);
    }
    return 0;
}
