/* SPDX-License-Identifier: Apache-2.0 */
/* Links with several ranks (lib/sample/links.h). A rank has the links whose tails it owns. Before
 * the first hop of a batch, all learn each other's links, whose edges they exclude, and the rank
 * that has a node's row draws the negatives that depend on it. That is one round trip:
 *
 *   request: u32 n, u32 places[n], heads[n], tails[n] and, from the next multiple of 8 bytes on,
 *            i64 or f64 times[n], if picks depend on times; places are those in the global batch
 *   reply:   with --strict: u32 an end for each negative of the other rank's links whose other end
 *            has its row here, in the order of negatives
 */
#include <string.h>

#include "lib/sample/links.h"

static int ask_rank(const struct link_batch *b, struct gnn_packet *to, struct gnn_err *e)
{
    uint32_t *w = gnn_packet_add(to, 1 + 3 * b->n, e);
    if (!w)
        return e->code;
    *w++ = (uint32_t)b->n;
    for (uint64_t i = 0; i < b->n; i++) {
        w[i] = b->at[i];
        w[b->n + i] = b->every[b->at[i]].end[LINK_HEAD];
        w[2 * b->n + i] = b->every[b->at[i]].end[LINK_TAIL];
    }
    if (!b->time)
        return 0;
    if (gnn_packet_align(to, sizeof(int64_t), e) || !(w = gnn_packet_add(to, 2 * b->n, e)))
        return e->code;
    int64_t *time = (void *)w;
    for (uint64_t i = 0; i < b->n; i++)
        time[i] = b->time[b->at[i]];
    return 0;
}

/* The links of rank k: each place is one rank's. False: they are malformed. */
static bool read_rank(const struct link_edges *q, struct link_batch *b, struct gnn_packet_in *in,
                      uint32_t k, uint64_t *seen)
{
    const uint32_t *n = gnn_packet_read(in, 1),
                   *w = n ? gnn_packet_read(in, 3 * (uint64_t)*n) : NULL;
    const int64_t *time = NULL;
    if (!w)
        return false;
    if (b->time && (!gnn_packet_skip(in, sizeof *time) ||
                    !(time = (const void *)gnn_packet_read(in, 2 * (uint64_t)*n))))
        return false;
    for (uint32_t i = 0; i < *n; i++) {
        const struct link x = {{w[*n + i], w[2 * (uint64_t)*n + i]}};
        if (w[i] >= b->all || b->owner[w[i]] != UINT32_MAX ||
            x.end[LINK_HEAD] >= q->nodes[LINK_HEAD] || x.end[LINK_TAIL] >= q->nodes[LINK_TAIL])
            return false;
        b->owner[w[i]] = k;
        b->every[w[i]] = x;
        if (time)
            b->time[w[i]] = time[i];
    }
    *seen += *n;
    return true;
}

int gnn_link_ranks_share(const struct sample_draw *d, const struct link_edges *q,
                         struct link_batch *b)
{
    struct gnn_request *r = gnn_sample_remote_begin(d);
    uint64_t seen = 0;
    for (uint32_t k = 0; k < r->ranks; k++)
        if (ask_rank(b, &r->queue[k], d->e))
            return d->e->code;
    if (gnn_request_ask(r, d->e))
        return d->e->code;
    memset(b->owner, 0xff, b->all * sizeof *b->owner);
    for (uint32_t k = 0; k < r->ranks; k++)
        if (!read_rank(q, b, &r->in[k], k, &seen) || (k + 1 == r->ranks && seen != b->all))
            return gnn_request_malformed(r, k, d->e);
    return 0;
}

/* Draws what depends on this rank's rows, for all ranks. */
static int reply_negatives(const struct sample_draw *d, const struct link_negatives *x,
                           const struct link_draw *draw, const struct link_batch *b,
                           struct gnn_request *r)
{
    const unsigned fixed = gnn_links_fixed_end(&x->m->links);
    const uint64_t many = draw->many;
    for (uint64_t i = 0; i < many; i++) {
        const uint64_t of = gnn_drawn_positive(draw->drawn, i, b->all);
        struct link l = b->every[of];
        uint32_t *w;
        if (!gnn_link_owns(x->edges, fixed, gnn_link_fixed_node(x, draw, i, &l)))
            continue;
        if (gnn_link_negative(x, draw, i, &l, d->e) ||
            !(w = gnn_packet_add(&r->staging[b->owner[of]], 1, d->e)))
            return d->e->code;
        *w = l.end[!fixed];
    }
    return gnn_request_reply(r, d->e);
}

int gnn_link_ranks_negatives(const struct sample_draw *d, const struct link_negatives *x,
                             const struct link_draw *draw, const struct link_batch *b,
                             struct link *negative)
{
    struct gnn_request *r = gnn_sample_remote_request(d);
    const unsigned fixed = gnn_links_fixed_end(&x->m->links);
    const uint64_t many = draw->many;
    if (reply_negatives(d, x, draw, b, r))
        return d->e->code;
    for (uint64_t i = 0; i < many; i++) {
        const uint64_t of = gnn_drawn_positive(draw->drawn, i, b->all);
        if (b->owner[of] != d->s->comm->rank)
            continue;
        const uint32_t node = gnn_link_fixed_node(x, draw, i, &b->every[of]),
                       from = gnn_link_rank_of(x->edges, fixed, node),
                       *w = gnn_packet_read(&r->in[from], 1);
        if (!w || *w >= x->edges->nodes[!fixed])
            return gnn_request_malformed(r, from, d->e);
        negative->end[fixed] = node;
        negative->end[!fixed] = *w;
        negative++;
    }
    return 0;
}
