/* SPDX-License-Identifier: Apache-2.0 */
/* The description of an OnDiskDataset, for the files that read it: ondisk.c, ondisk_meta.c,
 * ondisk_nodes.c, ondisk_links.c. */
#ifndef GNN_LIB_IMPORT_ONDISK_IMPL_H
#define GNN_LIB_IMPORT_ONDISK_IMPL_H

#include <jansson.h>

#include "lib/import/read/input_impl.h"
#include "lib/import/read/ondisk.h"

struct ondisk_type {
    const char *name; /* "paper", "author:writes:paper"; NULL: there is one type */
    char *prefix;     /* of its arrays' names: "paper/", "author/writes/paper/" */
    uint64_t count;   /* of nodes */
    uint32_t end[2];  /* of edges: the node types, as numbered in `node` */
    bool labelled;    /* of nodes: y is there */
};

struct ondisk {
    struct gnn_array_list *l;
    char *folder; /* "DIR/" */
    char *yaml;   /* "DIR/metadata.yaml" */
    json_t *meta;
    struct ondisk_type *node, *edge; /* (nnodes), (nedges) */
    uint32_t nnodes, nedges;
    bool typed;
    bool fields; /* features are read, and what is not read is named */
    /* Members of the folder, and which of them were read; or NULL. */
    const struct gnn_input *in;
    const char *meta_member; /* the name of metadata.yaml among them */
    bool *used;
};

/* Where something stands: "graph.edges[0]". */
struct ondisk_place {
    char text[160];
};
/* A place below another, or (NULL) at the top: "WHERE.key" or "WHERE.key[i]"; i -1: no number. */
struct ondisk_place gnn_ondisk_below(const struct ondisk_place *at, const char *key, int64_t i);

/* Loads DIR/metadata.yaml and finds the types. o->l, and o->in with what belongs to it, may have
 * been set. *o is to be released in any case. */
int gnn_ondisk_load(struct ondisk *o, const char *folder, struct gnn_err *e) GNN_MUST_USE;
void gnn_ondisk_release(struct ondisk *o);

/* The name of member i below the folder; "": it lies elsewhere. */
const char *gnn_ondisk_member(const struct ondisk *o, uint32_t i);
/* GNN_E_INPUT "DIR/metadata.yaml: WHERE: ...". */
int gnn_ondisk_fail(const struct ondisk *o, const struct ondisk_place *at, struct gnn_err *e,
                    const char *fmt, ...) GNN_PRINTF(4, 5);
/* Whether v is a mapping; its keys that are none of `known`, each with a blank behind it, are named
 * as not read. */
int gnn_ondisk_keys(struct ondisk *o, const json_t *v, const struct ondisk_place *at,
                    const char *known, struct gnn_err *e) GNN_MUST_USE;
/* The text of a key; NULL, which `needed` makes GNN_E_INPUT: it is missing or null. */
int gnn_ondisk_text(const struct ondisk *o, const json_t *v, const struct ondisk_place *at,
                    const char *key, bool needed, const char **text,
                    struct gnn_err *e) GNN_MUST_USE;
/* The list of a key, without items if it is missing or null. */
int gnn_ondisk_list(const struct ondisk *o, const json_t *v, const struct ondisk_place *at,
                    const char *key, const json_t **list, struct gnn_err *e) GNN_MUST_USE;
/* The type of nodes, or of edges, that the key "type" names, or the only one; -1: it is none of
 * them, and so is one of the other kind. */
int gnn_ondisk_type(const struct ondisk *o, const json_t *v, const struct ondisk_place *at,
                    bool edges, int *type, struct gnn_err *e) GNN_MUST_USE;

/* The file that the key "path" names; free with gnn_free. GNN_E_INPUT for one outside the folder.
 */
int gnn_ondisk_path(const struct ondisk *o, const json_t *v, const struct ondisk_place *at,
                    char **path, struct gnn_err *e) GNN_MUST_USE;
/* The array of the file that "format" and "path" name; it lives as long as the list. */
int gnn_ondisk_array(const struct ondisk *o, const json_t *v, const struct ondisk_place *at,
                     struct gnn_strided *a, struct gnn_err *e) GNN_MUST_USE;

/* Whether the list has an array of that name. */
bool gnn_ondisk_has(const struct ondisk *o, const char *prefix, const char *name);

/* The arrays of a set: nodes or links, their labels, negatives of links, and which links belong
 * together. */
enum ondisk_data {
    ONDISK_SEEDS,
    ONDISK_LABELS,
    ONDISK_HEADS,
    ONDISK_TAILS,
    ONDISK_INDEXES,
    ONDISK_DATA
};

/* A set of a task, of one type. */
struct ondisk_set {
    const json_t *task;
    uint32_t number; /* of the task, from 0 */
    int set;         /* 0 train, 1 valid, 2 test */
    bool links;      /* pairs of nodes */
    uint32_t type;   /* of nodes, or of edges */
    bool has[ONDISK_DATA];
    struct gnn_strided data[ONDISK_DATA]; /* all of as many rows */
    struct ondisk_place at[ONDISK_DATA];
};

typedef int ondisk_set_fn(void *arg, const struct ondisk_set *s, struct gnn_err *e);
/* All sets of all tasks. */
int gnn_ondisk_sets(struct ondisk *o, ondisk_set_fn *fn, void *arg, struct gnn_err *e) GNN_MUST_USE;
/* A name as splits have it, made of a text: of letters, digits, - and _. */
struct ondisk_name {
    char text[40];
};
struct ondisk_name gnn_ondisk_name(const char *text);
/* The name of a set's task; "": it is the only one, and has none. */
struct ondisk_name gnn_ondisk_task(const struct ondisk *o, const struct ondisk_set *s);

/* Adds sets of nodes and their labels, and notes those of links. */
int gnn_ondisk_add_sets(struct ondisk *o, struct gnn_err *e) GNN_MUST_USE;

#endif
