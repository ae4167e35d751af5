/* One field of one type, from the parts of a store into a tensor of a batch. */
#ifndef GNN_LIB_GATHER_ROWS_H
#define GNN_LIB_GATHER_ROWS_H

#include "kernels/gather.h"
#include "lib/batch.h"
#include "lib/store.h"

/* Where a part's edges are found by destination. */
struct gather_edges {
    uint64_t first, count; /* destinations */
    const uint64_t *indptr, *id;
    uint64_t nedges;
};

struct gather_job {
    bool edge, label; /* label: rows for the seeds only */
    uint32_t type;    /* node or edge type */
    const struct gnn_field *field;
    enum gnn_dtype wire;
    struct gnn_gather_part *part; /* [nparts]; edges are numbered through all parts */
    struct gather_edges *edges;   /* [nparts], of an edge field */
};

/* Per-thread room. */
struct gather_scratch {
    struct gnn_buf node, row;
};

/* Look the field up in all parts of the store. dtype: as in gnn_gather_opts. */
int gnn_gather_job_node(struct gather_job *j, struct gnn_store *s, uint32_t type, const struct gnn_field *f,
                        bool label, enum gnn_dtype dtype, struct gnn_err *e) GNN_MUST_USE;
int gnn_gather_job_edge(struct gather_job *j, struct gnn_store *s, uint32_t type, const struct gnn_field *f,
                        enum gnn_dtype dtype, struct gnn_err *e) GNN_MUST_USE;
void gnn_gather_job_release(struct gather_job *j);

/* Rows ids[n] or rows[n] (the other is NULL) into t, and, if sums, t's checksum. Returns n, or the first index that no
 * part has. */
uint64_t gnn_gather_job_rows(const struct gather_job *j, uint32_t nparts, const uint32_t *ids,
                             const uint64_t *rows, uint64_t n, bool sums, struct gnn_tensor *t);
/* Rows of a block's edges from its edge ids and destinations dst[k->n]; false if an id is not an edge of its
 * destination. Partitioning keeps the order of a node's edges, so their ids are consecutive. */
bool gnn_gather_job_find_edges(const struct gather_job *j, uint32_t nparts, const uint32_t *dst,
                               const struct gnn_block *k, uint64_t *rows);

#endif
