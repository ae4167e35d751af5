/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the public functions, given as texts, and the error of each thread. */
#ifndef GNN_LIB_API_OPTIONS_H
#define GNN_LIB_API_OPTIONS_H

#include "lib/base/temp.h"
#include "lib/data/sampling_list.h"

/* Sets the values of the options that are given: those of the table, and of the recipe, unless that
 * is NULL; of_train: those that gnn-train has. GNN_E_USAGE "--NAME: ...", as programs have it, for
 * any other, and for those of the recipe that do not fit together. */
int gnn_api_options(const char *const given[], const struct opt *own, struct gnn_sampling *s,
                    bool of_train, struct gnn_err *e) GNN_MUST_USE;
/* Whether given[], which a NULL ends, has the option; as struct gnn_given asks. */
bool gnn_api_given(const void *given, const char *name);
/* This thread's error, cleared. */
struct gnn_err *gnn_api_err(void);

#endif
