/* SPDX-License-Identifier: Apache-2.0 */
/* One field of one type, from the parts of a store into a tensor of a batch. */
#ifndef GNN_LIB_GATHER_FIELD_ROWS_H
#define GNN_LIB_GATHER_FIELD_ROWS_H

#include "kernels/edges.h"
#include "kernels/gather.h"
#include "lib/data/batch.h"
#include "lib/store/store.h"

struct gather_job {
    bool edge, label,
        original;  /* label: rows for the seeds only; original: ids in the unpartitioned store */
    uint32_t type; /* node or edge type */
    const struct gnn_field *field;
    enum gnn_dtype wire;
    bool as_sent; /* rows are gathered as they travel (gnn_gather_job_sent) */
    uint32_t nparts;
    struct gnn_gather_part *part; /* [nparts]; edges are numbered through all parts */
    struct gnn_edges_part *edges; /* [nparts], of an edge field */
    const struct gnn_tensor
        *in_place; /* all rows, which batches refer to; or NULL: rows are copied */
    /* their pages are read before, as not all of them were in memory when the job was made */
    bool touch;
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

/* Bytes of a row in the store, its scale not counted, and what happens to it on its way into a
 * batch. */
size_t gnn_gather_job_bytes(const struct gather_job *j);
enum gnn_gather_cast gnn_gather_job_cast(const struct gather_job *j);
/* Conversions of a row that travels to another rank, or is copied into a cache: where it is read,
 * where it may become narrow, and where it arrives. int8 travels packed with its scale. */
enum gnn_gather_cast gnn_gather_job_sent(const struct gather_job *j);
enum gnn_gather_cast gnn_gather_job_then(const struct gather_job *j);
/* Bytes of a row as it travels. */
static inline size_t gnn_gather_job_out(const struct gather_job *j)
{
    return gnn_gather_out_bytes(gnn_gather_job_sent(j), gnn_gather_job_bytes(j));
}

/* Rows ids[n] or rows[n] (the other is NULL) into t, and, if sums, t's checksum. Returns n, or the
 * first index that no part has. */
uint64_t gnn_gather_job_rows(const struct gather_job *j, const uint32_t *ids, const uint64_t *rows,
                             uint64_t n, bool sums, struct gnn_tensor *t);

#endif
