/* SPDX-License-Identifier: Apache-2.0 */
/* ZIP archives (PKWARE's APPNOTE.TXT, with ZIP64): the directory at the end, and what stands before
 * and after the data of a member, so that the two can be compared. Members are unpacked elsewhere.
 */
#ifndef GNN_FORMATS_ZIP_H
#define GNN_FORMATS_ZIP_H

#include <stddef.h>
#include <stdint.h>

enum {
    GNN_ZIP_TAIL = 76 + 22 + 65535, /* the end records lie in so many last bytes */
    GNN_ZIP_ENTRY = 46,             /* the fixed part of an entry of the directory */
    GNN_ZIP_LOCAL = 30,             /* and of a local header */
    GNN_ZIP_DESCRIPTOR = 24,        /* the longest data descriptor */
};

struct gnn_zip_end {
    uint64_t entries;
    uint64_t at, bytes; /* of the directory; at + bytes <= the archive's length */
};

struct gnn_zip_entry {
    uint16_t flags, method;
    uint32_t crc;
    uint64_t packed, bytes; /* of the data */
    uint64_t at;            /* of the local header */
    uint16_t name;          /* bytes of the name, which follows the fixed part */
};

/* Each function returns NULL or what is wrong (a static text). */

/* The end records from the last n bytes of an archive of `total` bytes: all of them, or at least
 * GNN_ZIP_TAIL. */
const char *gnn_zip_end(struct gnn_zip_end *z, const uint8_t *tail, size_t n, uint64_t total);
/* Bytes of the whole entry, or local header, whose fixed part is at p; 0 if none is there. */
uint32_t gnn_zip_entry_bytes(const uint8_t *p);
uint32_t gnn_zip_local_bytes(const uint8_t *p);
/* A whole entry of the directory. */
const char *gnn_zip_entry(struct gnn_zip_entry *z, const uint8_t *p);
/* Whether a whole local header says the same as the entry and its name. */
const char *gnn_zip_local(const struct gnn_zip_entry *z, const char *name, const uint8_t *p);
/* Whether a data descriptor follows the data. */
static inline int gnn_zip_described(const struct gnn_zip_entry *z)
{
    return z->flags >> 3 & 1;
}
/* The length of the data descriptor at p, of which n bytes are there; 0 if it is not this entry's.
 */
uint32_t gnn_zip_descriptor(const struct gnn_zip_entry *z, const uint8_t *p, size_t n);

#endif
