/* SPDX-License-Identifier: Apache-2.0 */
/* Which node goes where: the methods of gnn-partition. */
#ifndef GNN_CMD_PARTITION_ASSIGN_H
#define GNN_CMD_PARTITION_ASSIGN_H

#include "cmd/opt.h"
#include "cmd/partition_text.h"

enum { METHOD_METIS, METHOD_FENNEL, METHOD_LDG, METHOD_ACCESS, METHOD_RANDOM };
#define METHODS "metis|fennel|ldg|access|random"

enum { START_BEST, START_FENNEL };
#define STARTS "best|fennel"

struct partition_opts {
    uint32_t k, threads, passes;
    int method, objective;
    uint64_t seed;
    double imbalance;
    const char *from, *balance;
    struct opt_i32s levels; /* --two-level: machines, parts of each */
    const char *split;      /* access: */
    struct opt_list fanout;
    uint32_t batch;
    int start;
};

/* Refuses options that do not go together, and sets k from the others. */
void partition_check(struct partition_opts *o);
/* part: (v->nvertices), out. Sets o->k if the assignment file decides; fills what f says about the
 * method. */
void partition_assign(struct partition_opts *o, const struct gnn_view *v, uint32_t *part,
                      struct partition_figures *f);

#endif
