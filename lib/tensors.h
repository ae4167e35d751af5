/* An ordered set of named tensors: what one GNB frame holds. */
#ifndef GNN_LIB_TENSORS_H
#define GNN_LIB_TENSORS_H

#include "formats/tensor.h"
#include "lib/mem.h"

/* Zeroed object = empty set. Pointers to tensors stay valid until _clear or _release. The set owns
 * names and data; both are kept by _clear for reuse, so a recycled set allocates nothing. */
struct gnn_tensors {
    struct gnn_tensor_slot **slot;
    uint32_t n;       /* tensors in the set */
    uint32_t room;    /* slots that exist */
    uint32_t *index; /* [2 * room] slots by hash of their names, from 1; 0 is free */
};

struct gnn_tensor_slot {
    struct gnn_tensor t;
    struct gnn_buf buf;
    char name[GNN_NAME_MAX + 1];
};

/* A tensor's name, printf-formatted; "", which is no tensor's, where it would be longer than any may be. Returns name. */
const char *gnn_tensor_name(char name[GNN_NAME_MAX + 1], const char *fmt, ...) GNN_PRINTF(2, 3);

/* Adds a tensor with room for its bytes (64-byte aligned, contents undefined). Fails with
 * GNN_E_NOMEM, or GNN_E_INPUT if the name is taken or the size overflows. */
int gnn_tensors_add(struct gnn_tensors *s, const char *name, enum gnn_dtype dtype, uint32_t ndim,
                    const uint64_t *shape, struct gnn_tensor **out, struct gnn_err *e) GNN_MUST_USE;
/* Gives tensor t of this set another first dimension, growing its data if needed; the contents survive. */
int gnn_tensors_resize(struct gnn_tensors *s, struct gnn_tensor *t, uint64_t rows,
                       struct gnn_err *e) GNN_MUST_USE;
/* NULL if there is none. */
struct gnn_tensor *gnn_tensors_find(const struct gnn_tensors *s, const char *name);
static inline struct gnn_tensor *gnn_tensors_at(const struct gnn_tensors *s, uint32_t i)
{
    return &s->slot[i]->t;
}
/* The first n elements of t as f32: f32, f16 and bf16 are understood. False for any other type. */
bool gnn_tensor_floats(const struct gnn_tensor *t, uint64_t n, float *out) GNN_MUST_USE;
void gnn_tensors_clear(struct gnn_tensors *s);
void gnn_tensors_release(struct gnn_tensors *s);

#endif
