/* SPDX-License-Identifier: Apache-2.0 */
/* Members of a zip archive in memory, to be used where they lie. */
#ifndef GNN_FORMATS_ZIP_MEMBERS_H
#define GNN_FORMATS_ZIP_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gnn_zip_member {
    const char *name; /* in the archive, without a NUL */
    uint16_t name_bytes;
    bool compressed;   /* its data are not what it holds */
    uint64_t from, to; /* place of its header, and of the end of what belongs to it */
    uint64_t at;       /* place of the data; at + bytes <= to */
    uint64_t bytes;
};

/* All members of the archive, in the order of their names, at *m, which is freed with free().
 * Directory, headers and data must agree, and follow one another without gaps or overlaps, and
 * names not repeat. Checksums are not looked at: that would read all of the file, and PyTorch can
 * leave them out. Returns 0, or with one line in why -1, or -2 if memory is short. Takes 48 bytes
 * for each member, of which the archive has 46 at least in its directory. */
int gnn_zip_members(const uint8_t *bytes, uint64_t n, struct gnn_zip_member **m, uint64_t *count,
                    char *why, size_t capacity);
/* The member of this name; NULL: there is none. */
const struct gnn_zip_member *gnn_zip_find(const struct gnn_zip_member *m, uint64_t count,
                                          const char *name, size_t name_bytes);

#endif
