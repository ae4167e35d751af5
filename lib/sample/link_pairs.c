/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of nodes that ranks send to those that own an end of them (lib/sample/links.h), of which
 * these make rows. */
#include <string.h>

#include "lib/sample/links.h"

enum { PIECE = 1 << 22 }; /* pairs that a rank sends at a time */

/* A place among the pairs that a rank sends: edges of its parts, then links. */
struct cursor {
    const struct link_edges *q;
    const struct link *links;
    uint64_t nlinks, link;
    bool both, back; /* links are sent in both directions; the next one is a reverse */
    uint32_t part;
    uint64_t row, edge;
};

static bool next_edge(struct cursor *c, struct link *x)
{
    const struct link_edges *q = c->q;
    for (; c->part < q->store->to; c->part++, c->row = c->edge = 0) {
        const struct link_part *p = &q->part[c->part];
        if (c->edge == p->nedges)
            continue;
        while (p->indptr[c->row + 1] <= c->edge)
            c->row++;
        const uint64_t tail = q->store->book[q->ntype[LINK_TAIL]][c->part] + c->row;
        const uint32_t head = p->indices[c->edge++];
        *x = (struct link){{q->to_orig[LINK_HEAD] ? q->to_orig[LINK_HEAD][head] : head,
                            q->to_orig[LINK_TAIL] ? q->to_orig[LINK_TAIL][tail] : (uint32_t)tail}};
        return true;
    }
    return false;
}

static bool next_pair(struct cursor *c, struct link *x)
{
    if (next_edge(c, x))
        return true;
    while (c->link < c->nlinks && c->links[c->link].end[LINK_TAIL] == UINT32_MAX)
        c->link++; /* another rank's */
    if (c->link == c->nlinks)
        return false;
    *x = c->links[c->link];
    if (c->back)
        *x = (struct link){{x->end[LINK_TAIL], x->end[LINK_HEAD]}};
    c->back = c->both && !c->back;
    c->link += !c->back;
    return true;
}

static int send_piece(struct cursor *c, unsigned end, struct gnn_request *r, struct gnn_err *e)
{
    struct link x;
    gnn_request_begin(r, gnn_comm_tag(GNN_COMM_CONTROL, GNN_COMM_LINKS), NULL);
    for (uint32_t i = 0; i < PIECE && next_pair(c, &x); i++) {
        uint32_t *w =
            gnn_packet_add(&r->queue[gnn_link_rank_of(c->q, end, x.end[end])], LINK_ENDS, e);
        if (!w)
            return e->code;
        memcpy(w, x.end, sizeof x.end);
    }
    return gnn_request_ask(r, e);
}

static int read_piece(const struct link_edges *q, unsigned end, struct gnn_request *r,
                      struct gnn_buf *pairs, uint64_t *n, struct gnn_err *e)
{
    for (uint32_t k = 0; k < r->ranks; k++) {
        const uint64_t many = r->in[k].n / LINK_ENDS;
        const struct link *x = (const void *)gnn_packet_read(&r->in[k], many * LINK_ENDS);
        if (gnn_buf_reserve(pairs, *n + many, sizeof *x, "rows of edges", e))
            return e->code;
        for (uint64_t i = 0; i < many; i++)
            if (x[i].end[LINK_HEAD] >= q->nodes[LINK_HEAD] ||
                x[i].end[LINK_TAIL] >= q->nodes[LINK_TAIL] || !gnn_link_owns(q, end, x[i].end[end]))
                return gnn_request_malformed(r, k, e);
        if (many)
            memcpy((struct link *)pairs->data + *n, x, many * sizeof *x);
        *n += many;
    }
    return 0;
}

int gnn_link_ranks_pairs(const struct link_edges *q, unsigned end, const struct link *links,
                         uint64_t nlinks, bool both, struct gnn_buf *pairs, uint64_t *n,
                         struct gnn_err *e)
{
    struct cursor c = {
        .q = q, .links = links, .nlinks = nlinks, .both = both, .part = q->store->from};
    struct gnn_request r;
    uint64_t most = nlinks * (both ? 2 : 1);
    *n = 0;
    for (uint32_t p = q->store->from; p < q->store->to; p++)
        most += q->part[p].nedges;
    if (gnn_request_init(&r, q->store->comm, 0, e))
        return e->code;
    (void)!gnn_comm_all_reduce(q->store->comm, &most, 1, GNN_REDUCE_MAX, e);
    for (uint64_t at = 0; !e->code && at < most; at += PIECE)
        if (!send_piece(&c, end, &r, e))
            (void)!read_piece(q, end, &r, pairs, n, e);
    gnn_request_release(&r);
    return e->code;
}
