/* SPDX-License-Identifier: Apache-2.0 */
/* Pickles of Python, protocols 2 to 5, read as values. Nothing is called and nothing is imported:
 * what a pickle would call in Python becomes an object that says so, and only names on a list
 * (formats/pickle_globals.c) are read at all. Of the rest the first is refused, by its name and
 * place. Facts of the format: the documentation of Python's modules pickle and pickletools.
 *
 * Memory: at most GNN_PICKLE_MEMORY bytes for each byte that is read, whatever these bytes say, and
 * 16 KiB. Time is proportional to the bytes, too. Text and bytes are not copied.
 *
 * Values form a graph, not a tree: one may be part of many others, and of itself. No function here
 * recurses or follows more than it is asked to; whoever walks a pickle must bound the walk. Every
 * accessor takes NULL for the value, which has kind GNN_PICKLE_NOTHING and no parts, so that
 * look-ups can be chained and checked at their end.
 *
 * Thread-safety: a pickle that was read does not change. Any number of threads may look at it. */
#ifndef GNN_FORMATS_PICKLE_H
#define GNN_FORMATS_PICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/strided.h"
#include "formats/text.h"

enum { GNN_PICKLE_MEMORY = 64 };

enum gnn_pickle_kind {
    GNN_PICKLE_NOTHING, /* no value */
    GNN_PICKLE_NONE,
    GNN_PICKLE_BOOL,
    GNN_PICKLE_INT, /* 64 bits; a pickle with a longer one is refused */
    GNN_PICKLE_FLOAT,
    GNN_PICKLE_STR,   /* UTF-8 as it was found, which is not checked; str of Python 2 as bytes */
    GNN_PICKLE_BYTES, /* bytes, bytearray */
    GNN_PICKLE_TUPLE, /* tuple, torch.Size */
    GNN_PICKLE_LIST,
    GNN_PICKLE_DICT,      /* dict, OrderedDict, defaultdict */
    GNN_PICKLE_SET,       /* set, frozenset */
    GNN_PICKLE_GLOBAL,    /* a class or function, by its name */
    GNN_PICKLE_OBJECT,    /* an instance of a class, or the result of a function */
    GNN_PICKLE_PERSISTENT /* something outside of the pickle: in PyTorch's files a storage */
};

struct gnn_pickle_value;

/* Zeroed = nothing. */
struct gnn_pickle {
    const uint8_t *bytes; /* the caller's */
    uint64_t used;        /* the pickle's length: others may follow it */
    uint64_t values;
    struct gnn_pickle_value *value; /* the root is *root; the values' order is that of the file */
    const struct gnn_pickle_value *root;
    uint32_t *item;   /* indices of the parts of values */
    uint8_t *decoded; /* bytes that are no part of the file as they are */
    uint64_t memory;  /* the most that reading took, in bytes */
};

/* The value of gnn_pickle_read's options: persistent ids are read, not refused. */
enum { GNN_PICKLE_PERSISTENT_IDS = 1 };
/* Failures of gnn_pickle_read, which returns 0 otherwise. */
enum { GNN_PICKLE_BAD = -1, GNN_PICKLE_NO_MEMORY = -2 };

/* Reads one pickle from the start of n bytes, which must outlive it. Returns 0, GNN_PICKLE_BAD or
 * GNN_PICKLE_NO_MEMORY with one line without a newline in why, which begins with the place; *p is
 * then empty. Release with gnn_pickle_release. */
int gnn_pickle_read(struct gnn_pickle *p, const void *bytes, uint64_t n, unsigned options,
                    char *why, size_t capacity);
void gnn_pickle_release(struct gnn_pickle *p);

enum gnn_pickle_kind gnn_pickle_kind(const struct gnn_pickle_value *v);
static inline bool gnn_pickle_is_none(const struct gnn_pickle_value *v)
{
    return gnn_pickle_kind(v) == GNN_PICKLE_NONE;
}

/* The value itself; false if v is of another kind. A bool is no int, an int is a float. */
bool gnn_pickle_bool(const struct gnn_pickle_value *v, bool *out);
bool gnn_pickle_int(const struct gnn_pickle_value *v, int64_t *out);
bool gnn_pickle_float(const struct gnn_pickle_value *v, double *out);
/* Text of a str (an EdgeTypeStr of PyG is one), or all bytes; no NUL ends them. */
bool gnn_pickle_text(const struct gnn_pickle *p, const struct gnn_pickle_value *v,
                     struct gnn_word *out);
bool gnn_pickle_bytes(const struct gnn_pickle *p, const struct gnn_pickle_value *v,
                      struct gnn_word *out);
bool gnn_pickle_text_is(const struct gnn_pickle *p, const struct gnn_pickle_value *v,
                        const char *text);

/* Parts of a tuple, list or set in their order, or the pairs of a dict, whose item is the value. 0,
 * or NULL, if v has none or i is too large. */
uint64_t gnn_pickle_count(const struct gnn_pickle *p, const struct gnn_pickle_value *v);
const struct gnn_pickle_value *gnn_pickle_item(const struct gnn_pickle *p,
                                               const struct gnn_pickle_value *v, uint64_t i);
const struct gnn_pickle_value *gnn_pickle_key(const struct gnn_pickle *p,
                                              const struct gnn_pickle_value *v, uint64_t i);
/* The value of the key, a str, in a dict, or in the state of an object. Of several the last, as in
 * Python. NULL if there is none. Looks at one pair after the other. */
const struct gnn_pickle_value *gnn_pickle_get(const struct gnn_pickle *p,
                                              const struct gnn_pickle_value *v, const char *key);

/* The full name, "collections.OrderedDict", of a global, or of the class or function that an object
 * is made by; "" for other values. Static text. Modules that were renamed have one name: that of
 * NumPy 1, and builtins. */
const char *gnn_pickle_name(const struct gnn_pickle_value *v);
/* Arguments (a tuple) that an object was made of, and the state that it then got; NULL: none. */
const struct gnn_pickle_value *gnn_pickle_arguments(const struct gnn_pickle *p,
                                                    const struct gnn_pickle_value *v);
const struct gnn_pickle_value *gnn_pickle_state(const struct gnn_pickle *p,
                                                const struct gnn_pickle_value *v);
/* The id of a GNN_PICKLE_PERSISTENT. */
const struct gnn_pickle_value *gnn_pickle_id(const struct gnn_pickle *p,
                                             const struct gnn_pickle_value *v);

/* Whether v is an array or scalar of NumPy. */
bool gnn_pickle_is_array(const struct gnn_pickle_value *v);
/* Its description: numbers and booleans, little-endian, at most GNN_NDIM_MAX dimensions, in
 * either order (Fortran's order has the strides that say so: gnn_strided_copy transposes). data
 * points into the file or p. Returns 0, or -1 with what is wrong in why. */
int gnn_pickle_array(const struct gnn_pickle *p, const struct gnn_pickle_value *v,
                     struct gnn_strided *out, char *why, size_t capacity);

/* For messages. _describe: a value in a few words, "a dict of 3", "None". _path: the way from the
 * root to v, "[0]['x']", by one of the shortest ways, "?" if memory is short or there is none;
 * takes time and memory in proportion to the values. None, bools and ints below 256 are shared by
 * all that have them, and so is their path. Control characters are escaped. Both return out, of
 * capacity > 4. */
const char *gnn_pickle_describe(const struct gnn_pickle *p, const struct gnn_pickle_value *v,
                                char *out, size_t capacity);
const char *gnn_pickle_path(const struct gnn_pickle *p, const struct gnn_pickle_value *v, char *out,
                            size_t capacity);

#endif
