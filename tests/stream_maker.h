/* SPDX-License-Identifier: Apache-2.0 */
/* Small streams for unit tests: a header, batches of the caller's filling, and frames that no
 * writer of ours would make. */
#ifndef GNN_TESTS_STREAM_MAKER_H
#define GNN_TESTS_STREAM_MAKER_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/gnb.h"
#include "formats/xxh.h"
#include "lib/base/mem.h"
#include "lib/stream/stream.h"

/* A header of batches of two seeds and one hop over node/to/node; x is f32 and `width` wide. */
__attribute__((unused)) static void stream_make_meta(struct gnn_meta *meta, uint64_t nodes,
                                                     uint64_t width, uint64_t steps)
{
    struct gnn_err e = {0};
    struct gnn_sampling *s = &meta->sampling;
    int rc = gnn_schema_add_ntype(&meta->schema, "node", nodes, &e);
    if (!rc)
        rc = gnn_schema_add_etype(&meta->schema, 0, "to", 0, 500, &e);
    if (!rc)
        rc = gnn_schema_add_nfield(&meta->schema, 0, "x", GNN_F32, width, &e);
    meta->schema.nparts = 1;
    meta->is_stream = true;
    memcpy(meta->identity, "0123456789abcdef", 17);
    *s = (struct gnn_sampling){.seed = 5, .nhops = 1, .batch_size = 2, .nsplits = 1};
    s->fanout = gnn_alloc_zero(1, sizeof *s->fanout, "test", &e);
    s->split = gnn_alloc_zero(1, sizeof *s->split, "test", &e);
    s->steps = gnn_alloc_zero(1, sizeof *s->steps, "test", &e);
    s->split_seeds = gnn_alloc_zero(1, sizeof *s->split_seeds, "test", &e);
    if (rc || !s->fanout || !s->split || !s->steps || !s->split_seeds)
        exit(99);
    s->fanout[0] = 3;
    s->split[0] = gnn_strdup("train", &e);
    s->steps[0] = steps;
    s->split_seeds[0] = 2 * steps;
}

__attribute__((unused)) static void *stream_make_tensor(struct gnn_batch *b, const char *name,
                                                        enum gnn_dtype d, uint64_t rows,
                                                        uint64_t width)
{
    struct gnn_err e = {0};
    struct gnn_tensor *t;
    if (gnn_tensors_add(&b->tensors, name, d, width ? 2 : 1, (uint64_t[]){rows, width}, &t, &e))
        exit(99);
    return t->data;
}

/* What every batch of stream_make_meta needs, of n nodes; returns the space for their ids. */
__attribute__((unused)) static uint32_t *stream_make_blocks(struct gnn_batch *b, uint64_t step,
                                                            uint64_t n)
{
    memcpy(stream_make_tensor(b, "key", GNN_U64, 4, 0), (uint64_t[]){1, step, 0, 0}, 32);
    memcpy(stream_make_tensor(b, "counts/node", GNN_U64, 2, 0), (uint64_t[]){2, n}, 16);
    uint32_t *nodes = stream_make_tensor(b, "nodes/node", GNN_U32, n, 0);
    memcpy(stream_make_tensor(b, "hop/0/node/to/node/indptr", GNN_U32, 3, 0), (uint32_t[]){0, 3, 4},
           12);
    memcpy(stream_make_tensor(b, "hop/0/node/to/node/indices", GNN_U32, 4, 0),
           (uint32_t[]){2, 3, 4, 1}, 16);
    return nodes;
}

/* Writes steps 0 to n-1 as `fill` makes them to fd, which it closes; *nref (or NULL): how many went
 * by reference. */
__attribute__((unused)) static int
stream_make(int fd, const char *name, const struct gnn_meta *meta, const struct gnn_writer_opts *o,
            struct gnn_batch_pool *pool, void (*fill)(struct gnn_batch *, uint64_t step),
            uint64_t n, uint64_t *nref, struct gnn_err *e)
{
    struct gnn_writer w;
    int rc = gnn_writer_begin(&w, fd, name, meta, o, e);
    for (uint64_t step = 0; !rc && step < n; step++) {
        struct gnn_batch *b;
        if ((rc = gnn_batch_get(pool, &b, e)))
            break;
        fill(b, step);
        rc = gnn_writer_batch(&w, b, e);
        gnn_batch_put(b);
    }
    if (!rc)
        rc = gnn_writer_end(&w, e);
    if (nref)
        *nref = w.nref;
    gnn_writer_release(&w);
    return rc;
}

/* A frame of one tensor to a file: as it is declared, of `raw` bytes, and what is stored of it. */
__attribute__((unused)) static void stream_make_one(int fd, enum gnb_kind kind, uint64_t seq,
                                                    const struct gnn_tensor *as, const void *data,
                                                    uint64_t stored, enum gnb_codec codec,
                                                    uint64_t raw)
{
    struct gnb_entry t = {.t = *as,
                          .name_len = strlen(as->name),
                          .codec = codec,
                          .stored = stored,
                          .raw = raw,
                          .sum = XXH3_64bits(data, stored)};
    struct gnb_frame f = {.kind = kind, .ntensors = 1, .align = GNB_ALIGN, .seq = seq};
    if (!gnn_gnb_layout(&f, &t))
        exit(99);
    const uint64_t head = GNB_HEADER_BYTES + f.table_bytes;
    uint8_t *p = calloc(head + f.payload_bytes, 1);
    if (!p)
        exit(99);
    gnn_gnb_frame_encode(&f, &t, p);
    memcpy(p + head, data, stored);
    if (write(fd, p, head + f.payload_bytes) != (ssize_t)(head + f.payload_bytes))
        exit(99);
    free(p);
}

/* Likewise, of u8. */
__attribute__((unused)) static void stream_make_frame(int fd, enum gnb_kind kind, uint64_t seq,
                                                      const char *name, const void *data,
                                                      uint64_t stored, enum gnb_codec codec,
                                                      uint64_t raw)
{
    const struct gnn_tensor as = {.name = name, .dtype = GNN_U8, .ndim = 1, .shape = {raw}};
    stream_make_one(fd, kind, seq, &as, data, stored, codec, raw);
}

/* The header's frame, of a text. */
__attribute__((unused)) static void stream_make_header(int fd, const char *text)
{
    stream_make_frame(fd, GNB_HEADER, 0, "meta", text, strlen(text), GNB_RAW, strlen(text));
}

#endif
