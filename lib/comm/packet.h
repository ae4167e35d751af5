/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between ranks as arrays of 32-bit words: written piece by piece, read with their length
 * in mind. */
#ifndef GNN_LIB_COMM_PACKET_H
#define GNN_LIB_COMM_PACKET_H

#include "kernels/entry.h"
#include "lib/comm/comm.h"

struct gnn_packet {
    struct gnn_buf buf;
    uint64_t n;
};
/* Space for n more words, where they go, which the caller fills; NULL on failure. Valid until the
 * next call. */
static inline uint32_t *gnn_packet_add(struct gnn_packet *w, uint64_t n, struct gnn_err *e)
{
    if (gnn_buf_reserve(&w->buf, w->n + n, sizeof(uint32_t), "messages between ranks", e))
        return NULL;
    w->n += n;
    return (uint32_t *)w->buf.data + (w->n - n);
}
/* Unspecified words up to the next multiple of `bytes`, a power of two, from 8 to 64. */
static inline int gnn_packet_align(struct gnn_packet *w, uint64_t bytes, struct gnn_err *e)
{
    const uint64_t m = bytes / sizeof(uint32_t), more = (m - w->n % m) % m;
    return gnn_packet_add(w, more, e) ? 0 : e->code;
}
/* Space for n frontier entries with the columns of `like`. */
static inline int gnn_packet_add_entries(struct gnn_packet *w, struct gnn_entries like, uint64_t n,
                                         struct gnn_entries *to, struct gnn_err *e)
{
    uint64_t at = w->n * sizeof(uint32_t), end = at;
    (void)gnn_entries_lay(NULL, &end, like, n);
    if (!gnn_packet_add(w, (end - at) / sizeof(uint32_t), e))
        return e->code;
    *to = gnn_entries_lay(w->buf.data, &at, like, n);
    return 0;
}
static inline struct gnn_span gnn_packet_span(const struct gnn_packet *w)
{
    const struct gnn_span s = {w->buf.data, w->n * sizeof(uint32_t)};
    return s;
}

/* A packet received. */
struct gnn_packet_in {
    const uint32_t *w;
    uint64_t n, at;
};
static inline struct gnn_packet_in gnn_packet_open(struct gnn_span s)
{
    const struct gnn_packet_in in = {(const uint32_t *)s.data, s.bytes / sizeof(uint32_t), 0};
    return in;
}
/* The next n words; NULL if there are not so many. */
static inline const uint32_t *gnn_packet_read(struct gnn_packet_in *in, uint64_t n)
{
    if (n > in->n - in->at)
        return NULL;
    in->at += n;
    return in->w + (in->at - n);
}
/* The next n frontier entries with the columns of `like`, not to be written to; false if there are
 * not so many. */
static inline bool gnn_packet_read_entries(struct gnn_packet_in *in, struct gnn_entries like,
                                           uint64_t n, struct gnn_entries *e)
{
    uint64_t at = in->at * sizeof(uint32_t), end = at;
    (void)gnn_entries_lay(NULL, &end, like, n);
    if (!gnn_packet_read(in, (end - at) / sizeof(uint32_t)))
        return false;
    *e = gnn_entries_lay((void *)(uintptr_t)in->w, &at, like, n);
    return true;
}
static inline bool gnn_packet_skip(struct gnn_packet_in *in, uint64_t bytes)
{
    const uint64_t m = bytes / sizeof(uint32_t);
    return gnn_packet_read(in, (m - in->at % m) % m) != NULL;
}

#endif
