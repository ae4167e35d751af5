/* SPDX-License-Identifier: Apache-2.0 */
/* GNB frames as bytes (gnb(5)): a 64-byte header, a tensor table, a payload. Pure: no I/O, no
 * allocation. Functions that read bytes return NULL, or a text that says what is wrong with them.
 */
#ifndef GNN_FORMATS_GNB_H
#define GNN_FORMATS_GNB_H

#include "formats/tensor.h"

enum {
    GNB_MAJOR = 1,
    /* Streams whose batches have trees or times, where nodes may be there repeatedly, or induced
     * edges */
    GNB_MAJOR_TREES = 2,
    /* Streams whose batches begin with both ends of links */
    GNB_MAJOR_LINKS = 3,
    /* Stores with rows of int8 that have scales, and all streams that are sampled from them */
    GNB_MAJOR_SCALED = 4,
    /* Streams of links of which some are no negatives but fill the places of these, and stores of
     * lists of candidates of different lengths */
    GNB_MAJOR_RAGGED = 4,
    GNB_MAJOR_LATEST = 4,
    GNB_MINOR_REFERENCE = 1, /* of frames with references; of all others 0 */
    GNB_HEADER_BYTES = 64,
    GNB_ENTRY_BYTES = 40,            /* of a table entry, before shape and name */
    GNB_REFERENCE_BYTES = 24,        /* stored for a tensor that is elsewhere; */
    GNB_ROWS_REFERENCE_BYTES = 40,   /* of which a file has the rows, among others; */
    GNB_DEVICE_REFERENCE_BYTES = 96, /* in the memory of a device */
    GNB_HANDLE_BYTES = 64,
    GNB_ALIGN = 64, /* of tensors in streams */
    GNB_STORE_ALIGN = 4096,
    GNB_TABLE_MAX = 64 << 20,
    GNB_TENSORS_MAX = 1 << 14,
};

enum gnb_kind { GNB_HEADER = 1, GNB_BATCH = 2, GNB_TENSORS = 3, GNB_END = 4 };
enum gnb_codec { GNB_RAW = 0, GNB_ZSTD = 1, GNB_REFERENCE = 2 };

struct gnb_frame {
    enum gnb_kind kind;
    uint16_t major, minor; /* major: GNB_MAJOR, for which 0 is written too, or a later one */
    uint32_t ntensors;
    uint32_t align;
    uint64_t seq;
    uint64_t table_bytes;   /* padded: header + table is a multiple of align */
    uint64_t payload_bytes; /* a multiple of align */
    uint64_t sum;
};

struct gnb_entry {
    struct gnn_tensor t; /* data NULL; name points into the table and is NOT terminated */
    size_t name_len;
    enum gnb_codec codec;
    uint64_t offset; /* from the start of the payload */
    uint64_t stored, raw;
    uint64_t sum; /* XXH3-64 of the stored bytes */
};

/* The payload of codec reference: the place of the raw bytes in memory that writer and reader
 * share. */
struct gnb_reference {
    uint64_t offset;
    uint64_t sum; /* XXH3-64 of the raw bytes, if has_sum */
    uint32_t slot;
    bool has_sum, on_device, in_file; /* in_file: neither of the others */
    /* if in_file: the rows of the tensor that begins at `offset` of file number `file`, of which
     * the batch's nodes say which are meant */
    uint64_t rows, file;
    uint64_t device; /* if on_device: which it is, and what opens the memory */
    uint8_t handle[GNB_HANDLE_BYTES];
};

/* Returns how many bytes were written; n of _decode are those that are stored. */
uint32_t gnn_gnb_reference_encode(const struct gnb_reference *r,
                                  uint8_t out[GNB_DEVICE_REFERENCE_BYTES]);
const char *gnn_gnb_reference_decode(struct gnb_reference *r, const uint8_t *in, uint64_t n);

/* Whether these four bytes begin a frame. */
bool gnn_gnb_frame_is(const uint8_t h[4]);
/* Reads a frame header. Checks magic, version, kind, limits, reserved fields; not the checksum. */
const char *gnn_gnb_frame_decode(struct gnb_frame *f, const uint8_t header[GNB_HEADER_BYTES]);
/* Checks the checksum over header and table. */
const char *gnn_gnb_frame_check(const struct gnb_frame *f, const uint8_t header[GNB_HEADER_BYTES],
                                const uint8_t *table);
/* The checksum in an encoded header, which covers the header and the table. */
uint64_t gnn_gnb_frame_sum(const uint8_t header[GNB_HEADER_BYTES]);
/* Reads the table entry at *at and moves *at past it. `end` is the end of the previous entry's
 * bytes in the payload and is updated: entries come in payload order, aligned, without overlap or
 * holes beyond padding. */
const char *gnn_gnb_entry_decode(struct gnb_entry *t, const struct gnb_frame *f,
                                 const uint8_t *table, uint64_t *at, uint64_t *end);
/* After the last entry: the rest of the table is padding, and the payload ends where the last
 * tensor does. */
const char *gnn_gnb_table_end(const struct gnb_frame *f, const uint8_t *table, uint64_t at,
                              uint64_t end);

/* Lays out a table: sets f->table_bytes and payload_bytes and each entry's offset, from align,
 * ntensors and the entries' names, shapes and stored sizes. False if a size overflows or a limit is
 * passed. */
bool gnn_gnb_layout(struct gnb_frame *f, struct gnb_entry *t);
/* Writes the header with its checksum (64 bytes) and the table (f->table_bytes) at `out`. */
void gnn_gnb_frame_encode(const struct gnb_frame *f, const struct gnb_entry *t, uint8_t *out);

#endif
