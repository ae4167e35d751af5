/* Where the rows of a table lie when devices keep some of them: which are replicated, which dealt
 * out, which stay with the host. Needs no device; lib/cache/cache.h says in what order rows are
 * worth keeping. */
#ifndef GNN_LIB_CACHE_PLACE_H
#define GNN_LIB_CACHE_PLACE_H

#include "kernels/gather.h"
#include "lib/base/err.h"

enum gnn_place_policy {
    GNN_PLACE_HOST,      /* nothing: all rows stay where they are */
    GNN_PLACE_REPLICATE, /* every device keeps the same hottest rows */
    GNN_PLACE_SHARD,     /* the devices of a clique keep different ones, dealt out by rank, and read
                            each other's */
    GNN_PLACE_MIXED      /* the hottest are replicated, the next sharded */
};

struct gnn_place_opts {
    enum gnn_place_policy policy;
    uint32_t devices; /* of a clique: each of them reaches every other's memory; >= 1 */
    uint64_t nrows;   /* of the table, at most 2^32-2 */
    const uint32_t *
        order; /* [norder] rows, the hottest first, none of them twice; the others are not cached */
    uint64_t norder;
    uint64_t row_bytes; /* that a cached row takes, a scale included; >= 1 */
    uint64_t budget;    /* bytes on each device */
    double replicate;   /* MIXED: share of the budget, or of the order if that takes less, for rows
                         * that every   device keeps: 0 to 1 */
};

/* Slots number the cached rows: the replicated ones by rank, then device 0's shard, device 1's, and
 * so on, each by rank. A device's parts are the replicated one and `devices` shards; only the
 * addresses differ between devices. */
struct gnn_place {
    uint32_t devices;
    uint64_t nrows, row_bytes;
    uint64_t nslots;
    uint64_t *first; /* [devices + 2] first slots of the parts, and their end: part 0 is replicated,
                        1 + d is device d's */
    uint32_t *slot;  /* [nrows] by row; UINT32_MAX: not cached */
    uint32_t *row;   /* [nslots] by slot */
};

/* GNN_E_INPUT when the order names a row twice or one that is not there; c is then empty. Release
 * in any case. */
int gnn_place_init(struct gnn_place *c, const struct gnn_place_opts *o,
                   struct gnn_err *e) GNN_MUST_USE;
void gnn_place_release(struct gnn_place *c);

/* The same where it is decided already who keeps which row: holder[norder], devices, or
 * GNN_PLACE_ALL, or GNN_PLACE_NONE. Of o, policy, budget and replicate are not read. Within each
 * part the rows are in the order. */
enum { GNN_PLACE_ALL = 0xfffe, GNN_PLACE_NONE = 0xffff };
int gnn_place_given(struct gnn_place *c, const struct gnn_place_opts *o, const uint16_t *holder,
                    struct gnn_err *e) GNN_MUST_USE;

/* Part k of a device's view, 0 <= k <= devices, for rows that lie at `data` and, or NULL, scales at
 * `scale`. The ids to fill it with are c->row + first. */
struct gnn_gather_part gnn_place_part(const struct gnn_place *c, uint32_t device, uint32_t k,
                                      const void *data, const float *scale);
/* Bytes that the device gives. */
uint64_t gnn_place_bytes(const struct gnn_place *c, uint32_t device);

/* hits: the sum of heat[nrows], accesses to each row as expected or counted, by the tier in which
 * the device finds the row. What is below 0 or no number counts as 0. Thread-safe. */
void gnn_place_expect(const struct gnn_place *c, uint32_t device, const float *heat,
                      double hits[GNN_GATHER_TIERS]);

/* The `replicate` for which MIXED costs a device the least, in steps of 1/128, when a row from each
 * tier costs cost[tier]; of equals the largest. o->policy and o->replicate are not read. *total,
 * unless NULL: the cost of all accesses then. Thread-safe. */
double gnn_place_split(const struct gnn_place_opts *o, const float *heat,
                       const double cost[GNN_GATHER_TIERS], double *total);

#endif
