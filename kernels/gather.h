/* Collecting rows by id from the parts of a store, narrowing them on the way if asked. */
#ifndef GNN_KERNELS_GATHER_H
#define GNN_KERNELS_GATHER_H

#include <stddef.h>
#include <stdint.h>

/* Rows [first, first + count) of a field, `bytes` apart and long. */
struct gnn_gather_part {
    uint64_t first, count;
    const void *data;
};

/* out[i] = row id[i], for i < n. Parts ascend by first without gaps from 0. Returns n, or the first i whose id is in
 * no part. Not safe against a source that overlaps out. */
uint64_t gnn_gather_rows(const struct gnn_gather_part *part, uint32_t nparts, size_t bytes,
                         const uint32_t *id, uint64_t n, void *out);
/* The same for ids of edges: row id[i], u64. */
uint64_t gnn_gather_rows64(const struct gnn_gather_part *part, uint32_t nparts, size_t bytes,
                           const uint64_t *id, uint64_t n, void *out);

/* memcpy past the caches, for output that is not read again soon. Any alignment; no overlap. */
void gnn_copy_past(void *out, const void *in, size_t bytes);

/* What happens to the elements of a row on the way. */
enum gnn_gather_cast { GNN_GATHER_F32_F16, GNN_GATHER_F32_BF16 };

/* Rows of `width` f32 are written as f16 or bf16: round to nearest, ties to even; beyond the range infinity;
 * a NaN stays a NaN. */
uint64_t gnn_gather_cast(const struct gnn_gather_part *part, uint32_t nparts, uint64_t width,
                         enum gnn_gather_cast cast, const uint32_t *id, uint64_t n, uint16_t *out);
uint64_t gnn_gather_cast64(const struct gnn_gather_part *part, uint32_t nparts, uint64_t width,
                           enum gnn_gather_cast cast, const uint64_t *id, uint64_t n, uint16_t *out);

#endif
