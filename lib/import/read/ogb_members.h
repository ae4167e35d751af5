/* SPDX-License-Identifier: Apache-2.0 */
/* Members of an archive in the layout of the Open Graph Benchmark, and its splits. Private to
 * lib/import. */
#ifndef GNN_LIB_IMPORT_OGB_MEMBERS_H
#define GNN_LIB_IMPORT_OGB_MEMBERS_H

#include "lib/import/read/pairs.h"

enum { GNN_OGB_WORD = GNN_TYPE_NAME_MAX + 1, GNN_OGB_PATH = 1024, GNN_OGB_TYPES = 256 };

struct gnn_ogb_members {
    struct gnn_input *in;
    char root[GNN_OGB_PATH]; /* "cora/", or "" */
    bool *used;              /* [members] */
};

/* The member root + name, which may be compressed, and is marked as used; -1 if there is none. */
int gnn_ogb_find(const struct gnn_ogb_members *g, const char *fmt, ...) GNN_PRINTF(2, 3);
/* The member STEM.csv or STEM.npy. */
int gnn_ogb_find_rows(const struct gnn_ogb_members *g, const char *dir, const char *stem);
bool gnn_ogb_is_array(const struct gnn_ogb_members *g, int member);
/* Lists such as nodetype-has-feat, where present, promise members BEFORE + type + AFTER: an archive
 * that lost some shows. */
int gnn_ogb_check_declared(const struct gnn_ogb_members *g, const char *list, const char *before,
                           const char *after, struct gnn_err *e) GNN_MUST_USE;
/* The name that --map gives a file edge_NAME or node_NAME, by its whole name or by NAME; `own` if
 * it says nothing. */
const char *gnn_ogb_map(const struct gnn_import_opts *o, const char *stem, const char *name,
                        const char *own);
/* GNN_E_INPUT for a number of nodes that raw/MEMBER cannot have; for another number of edges than
 * was declared. */
int gnn_ogb_check_nodes(const struct gnn_ogb_members *g, const char *member, uint64_t n,
                        struct gnn_err *e) GNN_MUST_USE;
int gnn_ogb_check_edges(struct gnn_pairs *p, const struct gnn_input *in, uint64_t n,
                        struct gnn_err *e) GNN_MUST_USE;
/* Adds an edge type, whose edges are p, to the schema and to pairs[schema.netypes], which is to be
 * freed with gnn_free. */
int gnn_ogb_add_pairs(struct gnn_src *s, struct gnn_pairs **pairs, uint32_t src, const char *rel,
                      uint32_t dst, const struct gnn_pairs *p, struct gnn_err *e) GNN_MUST_USE;
/* Reads the layout of typed graphs whose arrays are in dicts, an .npz for each: num_nodes_dict with
 * members TYPE, edge_index_dict and num_edges_dict with SRC___REL___DST, fields node_NAME and
 * edge_NAME, and node-label. */
int gnn_ogb_dicts_read(struct gnn_src *s, const struct gnn_ogb_members *g, struct gnn_pairs **pairs,
                       struct gnn_err *e) GNN_MUST_USE;
/* Adds the sets of nodes below split/, of CSV files, NumPy's arrays or files of torch.save. Sets of
 * links are noted. */
int gnn_ogb_splits_add(struct gnn_src *s, const struct gnn_ogb_members *g,
                       struct gnn_err *e) GNN_MUST_USE;

#endif
