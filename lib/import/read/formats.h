/* SPDX-License-Identifier: Apache-2.0 */
/* The readers of the formats. */
#ifndef GNN_LIB_IMPORT_FORMATS_H
#define GNN_LIB_IMPORT_FORMATS_H

#include "lib/import/read/attach.h"
#include "lib/import/read/table.h"

struct gnn_format {
    const char *name; /* of the data set's format, unless `fill` says another */
    size_t size;      /* of its own object, which begins with a struct gnn_src */
    const struct gnn_dataset_ops *ops;
    /* Reads the input s->in[0] into s, of which all but s->o, ops, format and name is zeroed. Takes
     * over the reading, on failure too. */
    int (*fill)(struct gnn_src *s, void *reading, struct gnn_err *e);
    /* NULL, or looks at the input first: *f becomes the format that it has, and *reading how a
     * table is read (struct gnn_reading, from gnn_alloc). */
    int (*choose)(const struct gnn_format **f, void **reading, struct gnn_input *in,
                  const struct gnn_import_opts *o, struct gnn_err *e);
};
extern const struct gnn_format gnn_ogb_format;      /* OGB node property: CSV, binary, typed CSV */
extern const struct gnn_format gnn_npz_format;      /* .npz, a directory of .npy, a lone .npy */
extern const struct gnn_format gnn_edgelist_format; /* text tables: SNAP, CSV, and triples if not
                                                       asked for by name */
extern const struct gnn_format gnn_mtx_format;      /* Matrix Market */
extern const struct gnn_format gnn_metis_format;    /* METIS graphs */
extern const struct gnn_format gnn_jodie_format;    /* what users did with items, when */
extern const struct gnn_format gnn_triples_format;  /* (head, relation, tail) words */
extern const struct gnn_format gnn_ntriples_format; /* statements of N-Triples */

/* Whether the n characters of a first line are the header of gnn_jodie_format. */
bool gnn_jodie_is(const char *line, size_t n);

/* Opens an input, which it takes over, on failure too, with what --nodes, --features and --labels
 * add. */
int gnn_format_open(struct gnn_dataset **out, const struct gnn_format *f, struct gnn_input *in,
                    const struct gnn_import_opts *o, struct gnn_err *e) GNN_MUST_USE;

#endif
