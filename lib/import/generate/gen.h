/* SPDX-License-Identifier: Apache-2.0 */
/* Generated graphs. */
#ifndef GNN_LIB_IMPORT_GEN_H
#define GNN_LIB_IMPORT_GEN_H

#include "lib/import/dataset.h"

enum gnn_gen_kind { GNN_GEN_RMAT, GNN_GEN_SBM, GNN_GEN_PRODUCTS, GNN_GEN_IGBH };

/* The parameters of a specification such as "sbm:nodes=1000,classes=4", with defaults filled in. */
struct gnn_gen_params {
    enum gnn_gen_kind kind;
    const char *name;
    uint64_t nodes, edges; /* per type, per edge type; an undirected edge counts once */
    uint64_t train, valid; /* labelled nodes; the rest is "test" */
    uint64_t seed;
    uint32_t types, classes, features, community, scale;
    uint32_t targets; /* > 0: labels are that many numbers, for a regression */
    uint32_t quad[3]; /* rmat: probabilities a, b, c in 1/65536 */
    double homophily, signal, flip;
    double factor,
        share[2]; /* igbh: what sizes are multiplied by; of labelled papers in train, valid */
    bool skewed, mirror, weights, times, seed_given, wide; /* wide: f32, of igbh */
    int threads;
};

/* True if the input names a generator ("rmat:...", "sbm:...", "products:...", "igbh:..."). */
bool gnn_gen_is(const char *input);
/* GNN_E_USAGE names the parameter that is unknown or out of range. */
int gnn_gen_parse(struct gnn_gen_params *p, const char *spec, struct gnn_err *e) GNN_MUST_USE;
/* The seed holds unless the specification has seed=. wide: features are f32 whatever it says, as
 * they will be stored in another type. */
int gnn_gen_open(struct gnn_dataset **out, const char *spec, uint64_t seed, unsigned threads,
                 bool wide, struct gnn_err *e) GNN_MUST_USE;
/* ops.edges and ops.rows of a generator, on p->threads threads. Edges [from, from + n) of m of type
 * t are made at once, by one thread; field[i] is the place of the type's field i, or NULL if fields
 * were not asked for. A type has two fields at most. */
typedef void gnn_gen_edges_fn(const struct gnn_dataset *d, uint32_t t, uint64_t from, uint64_t n,
                              uint32_t *src, uint32_t *dst, void *const *field);
int gnn_gen_edges(struct gnn_dataset *d, const struct gnn_gen_params *p, uint32_t t, uint64_t m,
                  gnn_gen_edges_fn *fill, bool fields, gnn_edge_fn *fn, void *arg,
                  struct gnn_err *e) GNN_MUST_USE;
/* Makes the row of node v, its features in f32 or its labels (y) in f32 or i32. */
typedef void gnn_gen_row_fn(const struct gnn_dataset *d, uint32_t type, bool y, uint64_t v,
                            void *row);
int gnn_gen_rows(struct gnn_dataset *d, const struct gnn_gen_params *p, uint32_t type, uint32_t f,
                 gnn_gen_row_fn *make, gnn_rows_fn *fn, void *arg, struct gnn_err *e) GNN_MUST_USE;
/* Graphs like IGBH; p is complete. */
int gnn_igbh_open(struct gnn_dataset **out, const struct gnn_gen_params *p,
                  struct gnn_err *e) GNN_MUST_USE;
/* n edges of rmat from random words that begin after `state` (lib/base/rand.h). */
void gnn_rmat_edges(const struct gnn_gen_params *p, uint64_t state, uint64_t n, uint32_t *src,
                    uint32_t *dst);

#endif
