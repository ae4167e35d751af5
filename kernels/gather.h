/* Collecting rows by id from the parts of a store, narrowing them on the way if asked. */
#ifndef GNN_KERNELS_GATHER_H
#define GNN_KERNELS_GATHER_H

#include <stddef.h>
#include <stdint.h>

/* Rows [first, first + count) of a field, one after the other. */
struct gnn_gather_part {
    uint64_t first, count;
    const void *data;
};

/* What happens to rows on the way. f32 becomes f16 or bf16 to the nearest, ties to even; beyond the range infinity; a
 * NaN stays a NaN. */
enum gnn_gather_cast { GNN_GATHER_AS_IS, GNN_GATHER_F32_F16, GNN_GATHER_F32_BF16 };

struct gnn_gather {
    const struct gnn_gather_part *part; /* [nparts], ascending by first without gaps from 0 */
    uint32_t nparts;
    enum gnn_gather_cast cast;
    size_t bytes;         /* of a stored row */
    uint64_t n;           /* rows wanted */
    const uint32_t *id;   /* [n] */
    const uint64_t *id64; /* [n], if id is NULL: edges */
    void *out;            /* (n, bytes), half of that if cast; does not overlap the parts */
    /* If not NULL: is shown the output, all of it in order, a piece at a time, while the piece is in the nearest cache
     * and the next rows are on their way. */
    void (*show)(void *arg, const void *piece, size_t bytes);
    void *arg;
};

/* out[i] = row id[i], for i < n. Returns n, or the first i whose id is in no part; out is then unfinished.
 * Thread-safe. */
uint64_t gnn_gather_rows(const struct gnn_gather *g);

#endif
