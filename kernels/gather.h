/* SPDX-License-Identifier: Apache-2.0 */
/* Collecting rows by id from the parts of a store, changing their elements' type on the way if
 * asked. */
#ifndef GNN_KERNELS_GATHER_H
#define GNN_KERNELS_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/hd.h"
#include "kernels/int8_row.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a row lies, as seen from the device or the process that wants it; the fastest first. */
enum gnn_tier {
    GNN_TIER_DEVICE,  /* memory of the device itself */
    GNN_TIER_PEER,    /* of another device, which it reads */
    GNN_TIER_HOST,    /* of this process, pinned, which a device reads */
    GNN_TIER_REPLICA, /* of this process: a copy of a remote row */
    GNN_TIER_STORE,   /* parts of the store that this process has mapped: the page cache */
    GNN_TIER_REMOTE,  /* another rank, which sends it on request */
    GNN_TIERS,
    GNN_TIERS_CUDA = GNN_TIER_HOST + 1 /* kernels read these, and count them */
};

/* Rows that were found in each tier, and bytes that were read there. */
struct gnn_tier_hits {
    uint64_t rows[GNN_TIERS], bytes[GNN_TIERS];
};

/* Rows [first, first + count), one after the other. */
struct gnn_gather_part {
    uint64_t first, count;
    const void *data;
    uint32_t tier; /* enum gnn_tier; counted on devices only, and only up to GNN_TIERS_CUDA */
};

/* The conversion of rows as they are copied. f32 becomes f16 or bf16 to the nearest, ties to even;
 * beyond the range infinity; a NaN stays a NaN, but its payload may differ between host and device.
 * int8 (kernels/int8_row.h) becomes element * scale of the row, rounded to f32 and then, if that is
 * asked for, as f32 is. */
enum gnn_gather_cast {
    GNN_GATHER_AS_IS,
    GNN_GATHER_F32_F16,
    GNN_GATHER_F32_BF16,
    GNN_GATHER_I8_F32,
    GNN_GATHER_I8_F16,
    GNN_GATHER_I8_BF16
};

/* Are rows int8 with scales? */
static GNN_HD bool gnn_gather_scaled(enum gnn_gather_cast cast)
{
    return cast >= GNN_GATHER_I8_F32;
}

/* Bytes of a row of a part, whose elements have `bytes`. */
static GNN_HD size_t gnn_gather_row_bytes(enum gnn_gather_cast cast, size_t bytes)
{
    return gnn_gather_scaled(cast) ? gnn_int8_row_bytes(bytes) : bytes;
}

/* Bytes of a row that goes out. */
static GNN_HD size_t gnn_gather_out_bytes(enum gnn_gather_cast cast, size_t bytes)
{
    return cast == GNN_GATHER_AS_IS    ? bytes
           : cast == GNN_GATHER_I8_F32 ? bytes * 4
           : gnn_gather_scaled(cast)   ? bytes * 2
                                       : bytes / 2;
}

struct gnn_gather {
    const struct gnn_gather_part *part; /* [nparts], ascending by first without gaps from 0 */
    uint32_t nparts;
    enum gnn_gather_cast cast;
    size_t bytes;         /* of a stored row's elements */
    uint64_t n;           /* rows wanted */
    const uint32_t *id;   /* [n] */
    const uint64_t *id64; /* [n], if id is NULL: edges */
    void *out;            /* (n, gnn_gather_out_bytes); does not overlap the parts */
    /* If not NULL: is shown the output, all of it in order, a piece at a time, while the piece is
     * in the nearest cache and the next rows are on their way. */
    void (*show)(void *arg, const void *piece, size_t bytes);
    void *arg;
};

/* out[i] = row id[i], for i < n. Returns n, or the first i whose id is in no part; out is then
 * unfinished. Thread-safe. */
uint64_t gnn_gather_rows(const struct gnn_gather *g);

/* Counts of a device, added up over launches. Before the first one all is 0, but first_missing
 * UINT64_MAX. */
struct gnn_gather_count {
    uint64_t rows[GNN_TIERS_CUDA], bytes[GNN_TIERS_CUDA]; /* read from each tier */
    uint64_t missing;                                     /* ids that are in no part */
    uint64_t first_missing;                               /* the lowest i of one */
};

/* gnn_gather_rows on a device, over all tiers at once. A row is looked for in the cached parts, by
 * its slot, then in the backing ones, by its id. Whatever is pointed to is memory that the device
 * can reach - its own, its peers', pinned memory of the host - except this struct itself, which is
 * read before the call returns. */
struct gnn_cuda_gather {
    /* [ncached], over slots, ascending by first without gaps from 0 */
    const struct gnn_gather_part *cached;
    const struct gnn_gather_part *backing; /* [nbacking], over ids, likewise */
    uint32_t ncached, nbacking;
    /* [nslots], by id; what is in no cached part, UINT32_MAX say, is not cached. NULL: the ids are
     * slots already, the store being in the order of the cache */
    const uint32_t *slot;
    uint64_t nslots; /* ids from here on are not cached */
    enum gnn_gather_cast cast;
    /* of a stored row's elements, at most 2^30. Data is aligned to its elements if cast, rows of
     * int8 to 4 bytes, and else as it comes; out as well. Multiples of 16 bytes, aligned to 16,
     * travel fastest */
    size_t bytes;
    const uint32_t *n; /* rows wanted, if not more than capacity; NULL: capacity */
    uint64_t capacity; /* of id and out, at most 2^40 */
    const uint32_t *id;
    const uint64_t *id64; /* if id is NULL */
    void *out;            /* (capacity, gnn_gather_out_bytes); rows from n on are left alone */
    struct gnn_gather_count *count; /* or NULL */
    /* At most so many, such as GNN_CUDA_GATHER_BLOCKS for each multiprocessor of the device; 0: as
     * many as other kernels. */
    uint32_t blocks;
};
enum {
    GNN_CUDA_GATHER_BLOCKS = 5,      /* that a multiprocessor runs at once */
    GNN_CUDA_GATHER_HOST_BLOCKS = 32 /* enough reads under way for the host's memory: the other
                                        multiprocessors are left to training */
};

/* out[i] = row id[i], or zeros where no part has it, for i < n. Asynchronous. */
void gnn_cuda_gather_rows(const struct gnn_cuda_gather *g, void *stream);

#ifdef __cplusplus
}
#endif

#endif
