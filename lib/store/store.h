/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a store for reading: a directory of GNB parts, mapped into memory.
 *
 * The store owns all tensors that it returns; they are read-only and stay valid until
 * gnn_store_close. Lookups are thread-safe, opening and closing are not. */
#ifndef GNN_LIB_STORE_STORE_H
#define GNN_LIB_STORE_STORE_H

#include "lib/comm/comm.h"
#include "lib/data/meta.h"

/*- A store may have a base store, and only the tensors that differ from those of that: edges of
 * some types, sets of links. It is opened with it, and what it does not have itself is found there,
 * in the same part.
 *
 * Tensors of a part (gnb(5) has the table). T is a node type, S/R/D an edge type's key:
 *
 *   node/T/id          u32 (n)      id in the unpartitioned store; absent when equal to the id here
 *   node/T/key         i64 (n)      id in the data set, when those were sparse
 *   node/T/name        u8 (bytes)   the data set's words for nodes,
 *   node/T/name_offsets u64 (n+1)   and where each begins
 *   node/T/<field>                  fields of the schema: x, y, time, ...
 *                      u8 (n,...)   of a field of int8: rows as in kernels/int8_row.h
 *   edge/S/R/D/indptr  u64 (n_D+1)  in-edges of the part's nodes of D,
 *   edge/S/R/D/indices u32 (e)      and their sources: store ids of S
 *   edge/S/R/D/id      u64 (e)      position of the edge in the unpartitioned store's indices.
 *                                   Absent when equal to the position here, and from parts that
 *                                   leave it out (no fields): it follows from node/D/id and all
 *                                   parts' offsets (lib/store/view.h)
 *   edge/S/R/D/<field>              fields of edges
 *   split/SPLIT/SET    u32 (m)      store ids of the part's members of the set
 *                      u32 (m,2)    of links: heads and tails, of which the part owns the tails
 *   split/SPLIT/SET/order u64 (m)   their positions in the whole set; absent when 0,1,2,...
 *   split/SPLIT/SET/time (m)        of links: times, i64 or f64, if the schema says so
 *   split/SPLIT/SET/edge/<field> (m) of links: what gnn_link_field lists, likewise
 *   halo/T/ids         u32 (h)      ascending: sources of this part's edges that it does not own,
 *   halo/T/owner       u32 (h)      and the parts that do
 *   book/T             u64 (k+1)    part p owns the ids book[p] to book[p+1]-1 of T; may be absent
 *                                   when k = 1
 *
 * Only where gnn-partition was asked for the halo's edges:
 *
 *   halo/T/id          u32 (h)      ids of halo nodes in the unpartitioned store
 *   halo/S/R/D/indptr  u64 (h_D+1)  in-edges of halo nodes, all of them:
 *   halo/S/R/D/indices u32 (e)      sources,
 *   halo/S/R/D/id      u64 (e)      and ids as in edge/S/R/D/id
 */
struct gnn_part;

struct gnn_store {
    struct gnn_meta meta;
    char *path;
    uint32_t nparts;
    uint32_t from, to; /* parts that are open: all, or with several ranks this one's */
    struct gnn_part **part;
    struct gnn_store *base;     /* the base store, or NULL */
    const uint64_t **book;      /* [nntypes] -> (nparts+1) offsets */
    const uint64_t **rank_book; /* [nntypes] -> (comm->size+1): the same of the ranks' parts */
    struct gnn_comm *comm;      /* the ranks that have the other parts open */
    struct gnn_verify *verify;
    bool out_of_core; /* (lib/store/out_of_core.h) */
    /* (lib/store/derived.h) */
    struct gnn_derived_held *derived; /* arrays that were asked for */
    void (*derived_free)(struct gnn_derived_held *first);
    bool keep_derived; /* set by the caller: keep them for later runs */
};

/* Opens `path`: checks store.json, each part's header, table, padding, END, the partition book and
 * that parts belong together; maps the payloads without touching them. With `verify`, the checksum
 * of each tensor that is fetched is checked by a background thread. */
int gnn_store_open(struct gnn_store *s, const char *path, bool verify,
                   struct gnn_err *e) GNN_MUST_USE;
/* As gnn_store_open, for one of several ranks, all of which call it: rank r opens the parts [r*k/n,
 * (r+1)*k/n) only, and what the parts must be together is checked together. GNN_E_INPUT also when
 * there are fewer parts than ranks. Of parts that are not open, no tensors are found. */
int gnn_store_open_ranks(struct gnn_store *s, const char *path, bool verify, struct gnn_comm *c,
                         struct gnn_err *e) GNN_MUST_USE;
static inline bool gnn_store_has(const struct gnn_store *s, uint32_t p)
{
    return p >= s->from && p < s->to;
}
/* The first of the parts that a rank has open. */
static inline uint32_t gnn_store_rank_from(const struct gnn_store *s, uint32_t rank)
{
    return (uint32_t)((uint64_t)rank * s->nparts / s->comm->size);
}
/* The rank that owns a node of type t. */
uint32_t gnn_store_rank_of(const struct gnn_store *s, uint32_t t, uint64_t id);
/* Does this rank own it? */
static inline bool gnn_store_owns(const struct gnn_store *s, uint32_t t, uint64_t id)
{
    return id >= s->book[t][s->from] && id < s->book[t][s->to];
}
/* Part of _open (lib/store/check.c): sets s->book and ->rank_book; the parts' tensors have the
 * dtypes and shapes that the schema and the partition book ask for. Reads a few bytes of each, not
 * the contents. */
int gnn_store_check(struct gnn_store *s, struct gnn_err *e) GNN_MUST_USE;
/* Takes a zeroed object. */
void gnn_store_close(struct gnn_store *s);

/* The tensor of one part, data in place (read-only, 4096-byte aligned), or NULL if there is none.
 * The shape is checked against the schema when the store is opened; contents are not. Thread-safe.
 */
const struct gnn_tensor *gnn_store_find(struct gnn_store *s, uint32_t part, const char *name);
const struct gnn_tensor *gnn_store_findf(struct gnn_store *s, uint32_t part, const char *fmt, ...)
    GNN_PRINTF(3, 4);
/* All tensors of a part, in file order, then those of its base store. */
uint32_t gnn_store_ntensors(const struct gnn_store *s, uint32_t part);
const struct gnn_tensor *gnn_store_at(struct gnn_store *s, uint32_t part, uint32_t i);
/* As gnn_store_at and _find, without asking for verification: for looking at names and shapes. */
const struct gnn_tensor *gnn_store_peek(const struct gnn_store *s, uint32_t part, uint32_t i);
const struct gnn_tensor *gnn_store_look(const struct gnn_store *s, uint32_t part, const char *name);
/* The file of a part, whose own tensors are in it. */
const char *gnn_store_part_path(const struct gnn_store *s, uint32_t part);
/* Nodes of type t that the part owns, and the part that owns a node. */
static inline uint64_t gnn_store_owned(const struct gnn_store *s, uint32_t part, uint32_t t)
{
    return s->book[t][part + 1] - s->book[t][part];
}
uint32_t gnn_store_owner(const struct gnn_store *s, uint32_t t, uint64_t id);

/* Bytes of a part that are copied, and not read here again, need not stay in the page cache.
 * _leave, before they are copied: true if _drop is to be called for what has been copied; otherwise
 * verification, which has still to read them, does so. */
bool gnn_store_leave(struct gnn_store *s, const void *data, uint64_t bytes);
void gnn_store_drop(const struct gnn_store *s, const void *data, uint64_t bytes);
/* The pages of an open part need not stay in this process's memory: they are read again, from the
 * page cache, when they are used. */
void gnn_store_forget(const struct gnn_store *s, uint32_t part);
/* As gnn_store_forget, of all open parts, now, and of what is verified from now on. */
void gnn_store_forget_all(struct gnn_store *s);

/* Waits until every tensor fetched so far has been checked; GNN_E_INPUT names the first damaged
 * one. Programs call it before they commit a result. Without `verify` it returns 0 at once. */
int gnn_store_verified(struct gnn_store *s, struct gnn_err *e) GNN_MUST_USE;
/* The members of set `set` (index into schema.set) in the whole set's order, as store ids;
 * UINT32_MAX for those of parts that are not open. *ids has schema.set[set].count elements; free
 * with gnn_free. Checks range and completeness. */
int gnn_store_split(struct gnn_store *s, uint32_t set, uint32_t **ids,
                    struct gnn_err *e) GNN_MUST_USE;
/* Likewise, of a set of links: heads and tails in turn, as store ids, into *ends, 2 * count
 * elements; and times, in the bits of i64 or f64, into *times, or NULL if the set has none. times
 * may be NULL. */
int gnn_store_links(struct gnn_store *s, uint32_t set, uint32_t **ends, int64_t **times,
                    struct gnn_err *e) GNN_MUST_USE;
/* Likewise, a field of a set's links (gnn_link_field): count numbers of its dtype in *rows; zero
 * for those of parts that are not open. */
int gnn_store_link_field(struct gnn_store *s, uint32_t set, const struct gnn_field *f, void **rows,
                         struct gnn_err *e) GNN_MUST_USE;

#endif
