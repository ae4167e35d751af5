/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to other ranks and their replies: one round trip, under remote sampling, gathering and
 * access frequencies.
 *
 * A rank sorts what it needs by owner into one request queue for each. _ask exchanges the queues;
 * every rank then reads the requests of each rank, its own among them, and appends what answers
 * them, in the same order, to a staging buffer for that rank. _reply exchanges these. Replies come
 * in the order of the requests, so who kept the owner of each id puts them together by reading on.
 * All ranks make the same round trips, with empty queues where they need nothing. */
#ifndef GNN_LIB_COMM_REQUEST_H
#define GNN_LIB_COMM_REQUEST_H

#include "lib/comm/packet.h"
#include "lib/data/batch.h"

#define GNN_REQUEST_NOBODY UINT32_MAX /* owner of what is not asked for */

/* One thread's; used again and again it allocates nothing. */
struct gnn_request {
    struct gnn_comm *comm;
    /* owners: the ranks, and after them queues that stay here and are answered by this rank, such
     * as a halo's */
    uint32_t ranks, owners;
    struct gnn_packet *queue;   /* [owners] requests to each */
    struct gnn_packet *staging; /* [owners] replies to each */
    /* [owners] what came from each, to be read from its start: after _ask requests, after _reply
     * replies. Until the next of these */
    struct gnn_packet_in *in;
    struct gnn_exchange x;
    struct gnn_entries *to;        /* [owners] where the next entry goes */
    const struct gnn_batch *batch; /* that messages name, or NULL */
};
int gnn_request_init(struct gnn_request *q, struct gnn_comm *c, uint32_t more_owners,
                     struct gnn_err *e) GNN_MUST_USE;
void gnn_request_release(struct gnn_request *q); /* takes a zeroed object */

/* Empties the queues and the staging buffers, for a round trip with this tag, for a batch or NULL.
 */
void gnn_request_begin(struct gnn_request *q, uint32_t tag, const struct gnn_batch *b);
/* Appends to each queue how many of n entries have this owner, u32, and these, in their order.
 * count: [owners] out, the numbers. */
int gnn_request_put(struct gnn_request *q, const uint32_t *owner, struct gnn_entries entry,
                    uint32_t n, uint32_t *count, struct gnn_err *e) GNN_MUST_USE;
int gnn_request_ask(struct gnn_request *q, struct gnn_err *e) GNN_MUST_USE;
int gnn_request_reply(struct gnn_request *q, struct gnn_err *e) GNN_MUST_USE;
/* GNN_E_RANK, "malformed reply from rank N": of what cannot be read as what it should be. */
int gnn_request_malformed(const struct gnn_request *q, uint32_t rank, struct gnn_err *e);

#endif
