/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the public functions, given as texts, and the error of each thread. */
#ifndef GNN_LIB_API_OPTIONS_H
#define GNN_LIB_API_OPTIONS_H

#include "lib/base/temp.h"
#include "lib/data/sampling_list.h"

struct api_option {
    enum {
        API_FLAG,   /* bool */
        API_U32,    /* uint32_t */
        API_U64,    /* uint64_t */
        API_F64,    /* double */
        API_CHOICE, /* int: index into `choices` */
        API_TEXT,   /* const char * */
        API_LIST,   /* struct api_list, to which each adds one */
        API_PAIR,   /* double[2]: "A,B" */
        API_RANGE   /* struct api_range: "A:B:STRIDE", and, of `count`, "B" */
    } kind;
    const char *name;
    void *value;
    const char *choices; /* "any|le|lt" */
    double min, max;     /* where they differ */
    bool count;
};
struct api_list {
    const char **v; /* to be freed with gnn_free */
    uint32_t n;
};
struct api_range {
    uint64_t from, to, stride;
};

/* Sets the values of the options that are given: those of the table, which ends with no name, and
 * of the recipe, unless that is NULL; of_train: those that gnn-train has. GNN_E_USAGE "NAME: ..."
 * for any other, and for those of the recipe that do not fit together. */
int gnn_api_options(const char *const given[], const struct api_option *own, struct gnn_sampling *s,
                    bool of_train, struct gnn_err *e) GNN_MUST_USE;
bool gnn_api_given(const char *const given[], const char *name);
/* Begins the file that gets the name `path` by gnn_temp_commit, and a descriptor to write it. NULL
 * on failure. */
struct gnn_temp *gnn_api_file(const char *path, int *fd, struct gnn_err *e) GNN_MUST_USE;
/* This thread's error, cleared. */
struct gnn_err *gnn_api_err(void);

#endif
