/* SPDX-License-Identifier: Apache-2.0 */
/* One field of one type, from the parts of a store into a tensor of a batch. */
#ifndef GNN_LIB_GATHER_FIELD_ROWS_H
#define GNN_LIB_GATHER_FIELD_ROWS_H

#include "kernels/edges.h"
#include "kernels/gather.h"
#include "lib/base/flag.h"
#include "lib/data/batch.h"
#include "lib/store/store.h"

/* Whether rows are touched when batches refer to them, so that their pages are read from the disk
 * ahead of training. That ends when all pages are in memory, which is looked at for batch 1, 2, 4
 * and so on, of all threads. */
struct gather_touch {
    struct gnn_flag on;
    uint32_t batches;
};

struct gather_job {
    bool edge, label,
        original;  /* label: rows for the seeds only; original: ids in the unpartitioned store */
    uint32_t type; /* node or edge type */
    const struct gnn_field *field;
    enum gnn_dtype wire;
    bool as_sent; /* rows are gathered as they travel */
    uint32_t nparts;
    struct gnn_gather_part *part; /* [nparts]; edges are numbered through all parts */
    struct gnn_edges_part *edges; /* [nparts], of an edge field */
    /* all rows, which batches may refer to; or NULL: rows are copied */
    const struct gnn_tensor *in_place;
    /* NULL: all pages were in memory when the job was made */
    struct gather_touch *touch;
    void *own; /* part[0].data if it is not the store's: freed with the job */
    /* if it is out of core, so that rows are asked for before they are read; or NULL */
    const struct gnn_store *ahead;
};

/* Look the field up in all parts of the store. dtype: as in gnn_gather_opts. */
int gnn_gather_job_node(struct gather_job *j, struct gnn_store *s, uint32_t type,
                        const struct gnn_field *f, bool label, enum gnn_dtype dtype,
                        struct gnn_err *e) GNN_MUST_USE;
int gnn_gather_job_edge(struct gather_job *j, struct gnn_store *s, uint32_t type,
                        const struct gnn_field *f, enum gnn_dtype dtype,
                        struct gnn_err *e) GNN_MUST_USE;
/* Lets batches refer to the rows of a job of nodes, if they can (gnn_gather_opts.in_place). */
void gnn_gather_job_in_place(struct gather_job *j, struct gnn_store *s);
/* Reads the pages of rows ids[n] of such a job, if need be. Returns n, or the first index that has
 * no row. */
uint64_t gnn_gather_job_refer(const struct gather_job *j, const uint32_t *ids, uint64_t n);
/* A field that is not in the store: one number of four bytes for each of n nodes.
 * Takes over `of`. */
int gnn_gather_job_numbers(struct gather_job *j, uint32_t type, const struct gnn_field *f, void *of,
                           uint64_t n, struct gnn_err *e) GNN_MUST_USE;
void gnn_gather_job_release(struct gather_job *j);

/* How rows are copied: as in struct gnn_gather. */
struct gather_copy {
    enum gnn_gather_cast cast;
    size_t bytes;
};
/* From the store into a batch. */
struct gather_copy gnn_gather_job_copy(const struct gather_job *j);
/* From the store to another rank, or into a replica: f32 becomes narrow there, if batches have it
 * so, and int8 stays as it is. And from what has arrived into a batch. */
struct gather_copy gnn_gather_job_sent(const struct gather_job *j);
struct gather_copy gnn_gather_job_then(const struct gather_job *j);
/* Bytes of a row as it travels. */
static inline size_t gnn_gather_job_out(const struct gather_job *j)
{
    const struct gather_copy c = gnn_gather_job_sent(j);
    return gnn_gather_out_bytes(c.cast, c.bytes);
}

/* Rows ids[n] or rows[n] (the other is NULL) into t, and, if sums, t's checksum. Returns n, or the
 * first index that no part has. */
uint64_t gnn_gather_job_rows(const struct gather_job *j, struct gather_copy c, const uint32_t *ids,
                             const uint64_t *rows, uint64_t n, bool sums, struct gnn_tensor *t);

#endif
