/* SPDX-License-Identifier: Apache-2.0 */
/* Values of pickles as formats/pickle*.c keep them, and the names that are read. */
#ifndef GNN_FORMATS_PICKLE_IMPL_H
#define GNN_FORMATS_PICKLE_IMPL_H

#include "formats/pickle.h"

/* 16 bytes. Values are numbered, and fields hold numbers: 0 is None, which also stands for "no
 * value". */
struct gnn_pickle_value {
    uint8_t kind;  /* enum gnn_pickle_kind */
    uint8_t flags; /* PICKLE_* */
    uint16_t high; /* GLOBAL, OBJECT: which of gnn_pickle_globals; STR, BYTES: bits 32.. of count */
    uint32_t count; /* parts, two a pair; STR, BYTES: bytes; OBJECT: arguments; PERSISTENT: id */
    union {
        int64_t i;
        double f;
        uint64_t at; /* STR, BYTES: place in the pickle; containers: first of p->item */
        struct {
            uint32_t state, items;
        } o;
    } u;
};

enum {
    PICKLE_PYTHON2 = 1, /* a str of Python 2: text and bytes are one */
    PICKLE_DECODED = 2, /* bytes whose place is one in p->decoded */
    PICKLE_BUILT = 4    /* an object that has its state */
};

/* Values that every pickle has, so that common ones take no memory: None, False, True, 0 to 255,
 * the empty tuple. */
enum { PICKLE_NONE, PICKLE_FALSE, PICKLE_TRUE, PICKLE_SMALL, PICKLE_EMPTY = 259, PICKLE_FIXED };

/* Uses of a name in a pickle. */
enum {
    PICKLE_CALL = 1,  /* REDUCE: the name stands for a function or class that is called */
    PICKLE_NEW = 2,   /* NEWOBJ: for a class whose instance is made */
    PICKLE_STATE = 4, /* BUILD: the result gets a state */
    PICKLE_PAIRS = 8  /* SETITEM, SETITEMS: and pairs, as a dict */
};

/* Meanings of a name to those who look at values. */
enum gnn_pickle_role {
    PICKLE_PLAIN,
    PICKLE_MAP,         /* a dict that is made without arguments */
    PICKLE_DEFAULT_MAP, /* or of a factory, which is not looked at */
    PICKLE_A_SET,
    PICKLE_A_BYTES,
    PICKLE_A_BYTEARRAY,
    PICKLE_A_SIZE,
    PICKLE_AN_EDGE_TYPE,
    PICKLE_ENCODE,
    PICKLE_RECONSTRUCT,
    PICKLE_FROMBUFFER,
    PICKLE_SCALAR,
    PICKLE_DTYPE,
    PICKLE_TENSOR,
    PICKLE_TENSOR_V3,
    PICKLE_PARAMETER,
    PICKLE_FROM_TYPE,  /* a tensor of a subclass, or with attributes */
    PICKLE_SUBCLASS,   /* a subclass that has its tensor as the attribute _data */
    PICKLE_STORAGE,    /* with the type of its elements */
    PICKLE_SAVED,      /* a storage, as the bytes of a file of torch.save */
    PICKLE_TORCH_DTYPE /* with its type */
};

struct gnn_pickle_global {
    const char *name;  /* as pickles have it: the module, a dot, and a name without dots */
    const char *shown; /* the same under the name that it is known by */
    uint8_t uses;      /* PICKLE_CALL and so on */
    uint8_t role;      /* enum gnn_pickle_role */
    uint8_t dtype;     /* enum gnn_dtype */
    bool is_bool;
};

extern const struct gnn_pickle_global gnn_pickle_globals[];
/* The index of a name; -1 if it is not on the list. */
int gnn_pickle_find_global(const struct gnn_word *module, const struct gnn_word *name);

/* The entry of a global or object; one that means nothing for other values. */
const struct gnn_pickle_global *gnn_pickle_global_of(const struct gnn_pickle_value *v);
/* A tuple of at most GNN_NDIM_MAX counts; NULL, or what is wrong with it (a static text). */
const char *gnn_pickle_sizes(const struct gnn_pickle *p, const struct gnn_pickle_value *v,
                             uint64_t size[GNN_NDIM_MAX], uint32_t *n);
static inline uint64_t pickle_length(const struct gnn_pickle_value *v)
{
    return (uint64_t)v->high << 32 | v->count;
}

#endif
