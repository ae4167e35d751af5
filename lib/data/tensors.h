/* SPDX-License-Identifier: Apache-2.0 */
/* An ordered set of named tensors: what one GNB frame holds.
 *
 * The set owns names and data. A cleared set keeps its memory for the next use. Not thread-safe. */
#ifndef GNN_LIB_DATA_TENSORS_H
#define GNN_LIB_DATA_TENSORS_H

#include "formats/tensor.h"
#include "lib/base/hash.h"

struct gnn_share;                  /* lib/base/shared.h */
enum { GNN_SHARE_MIN = 16 << 10 }; /* smaller tensors are not worth a place in shared memory */

/* A lease: data of a set lie in another process's memory, which that process reuses once give_back
 * is called. give_back NULL: no lease. */
struct gnn_lease {
    void (*give_back)(struct gnn_lease *l);
    void *owner;
    uint32_t slot;
};

/* Zeroed object = empty set. Pointers to tensors stay valid until _clear or _release. The set owns
 * names and data; both are kept by _clear for reuse, so a recycled set allocates nothing. */
struct gnn_tensors {
    struct gnn_tensor_slot **slot;
    uint32_t n;            /* tensors in the set */
    uint32_t capacity;     /* slots that exist */
    struct gnn_hash index; /* slots by hash of their names */
    /* NULL, or where large tensors are made from now on; see gnn_tensors_share */
    struct gnn_share *share;
    struct gnn_lease lease;
};

struct gnn_tensor_slot {
    struct gnn_tensor t;
    struct gnn_buf buf; /* t.data, unless that is leased */
    /* the kind of memory that buf is; NULL: the heap, or a piece of the set's share */
    const struct gnn_mem *mem;
    bool shared;         /* buf is such a piece */
    struct gnn_buf name; /* t.name */
};

/* A tensor's name, printf-formatted; "", which is no tensor's, where it would be longer than any
 * may be. Returns name. */
const char *gnn_tensor_name(char name[GNN_NAME_MAX + 1], const char *fmt, ...) GNN_PRINTF(2, 3);

/* Adds a tensor with space for its bytes (64-byte aligned, contents undefined). Fails with
 * GNN_E_NOMEM, or GNN_E_INPUT if the name is taken or the size overflows. */
int gnn_tensors_add(struct gnn_tensors *s, const char *name, enum gnn_dtype dtype, uint32_t ndim,
                    const uint64_t *shape, struct gnn_tensor **out, struct gnn_err *e) GNN_MUST_USE;
/* As gnn_tensors_add, in memory of a certain kind, which must outlive the set; contents do not
 * survive growth there, and a share is not used for it. */
int gnn_tensors_add_in(struct gnn_tensors *s, const struct gnn_mem *mem, const char *name,
                       enum gnn_dtype dtype, uint32_t ndim, const uint64_t *shape,
                       struct gnn_tensor **out, struct gnn_err *e) GNN_MUST_USE;
/* Gives tensor t of this set another first dimension, growing its data if needed; the contents
 * survive. */
int gnn_tensors_resize(struct gnn_tensors *s, struct gnn_tensor *t, uint64_t rows,
                       struct gnn_err *e) GNN_MUST_USE;
/* Space for at least `bytes` behind t->data, which may move; the contents survive. */
int gnn_tensors_space(struct gnn_tensors *s, struct gnn_tensor *t, uint64_t bytes,
                      struct gnn_err *e) GNN_MUST_USE;
/* Large tensors added from now on are made in `share`, as long as it has space. A set has one
 * share, the first. */
void gnn_tensors_share(struct gnn_tensors *s, struct gnn_share *share);
/* Moves large tensors of the heap into the share, which the set must have, while it has
 * space; what points to their data, as a batch's view does, is void then. Leased data and those in
 * memory of a certain kind stay. */
void gnn_tensors_move(struct gnn_tensors *s);
/* Forgets the share and all data in it, which stay as they are for a process that has them mapped.
 */
void gnn_tensors_unshare(struct gnn_tensors *s);
/* Copies leased data into the set's own memory and gives them back. */
int gnn_tensors_own(struct gnn_tensors *s, struct gnn_err *e) GNN_MUST_USE;
/* Gives leased data back, if there are some: tensors that lie there may not be used any more.
 * _clear and _release do it too. */
void gnn_tensors_give_back(struct gnn_tensors *s);
/* NULL if there is none. */
struct gnn_tensor *gnn_tensors_find(const struct gnn_tensors *s, const char *name);
static inline struct gnn_tensor *gnn_tensors_at(const struct gnn_tensors *s, uint32_t i)
{
    return &s->slot[i]->t;
}
/* The tensor's rows from this one on. */
struct gnn_tensor gnn_tensor_from(const struct gnn_tensor *t, uint64_t row);
/* The first n elements of t as f32: f32, f16, bf16, and rows of int8 are understood.
 * False for any other type. */
bool gnn_tensor_floats(const struct gnn_tensor *t, uint64_t n, float *out) GNN_MUST_USE;
void gnn_tensors_clear(struct gnn_tensors *s);
void gnn_tensors_release(struct gnn_tensors *s);

#endif
