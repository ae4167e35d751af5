/* SPDX-License-Identifier: Apache-2.0 */
/* Which backend: one process alone, or MPI, whose plug-in is looked for beside the programs. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/path.h"
#include "lib/comm/mpi_comm.h"

/* $GNN_MPI, or ../lib/gnn-tools/gnn-mpi.so as seen from the program's folder. */
static int plugin_path(char *path, size_t capacity, struct gnn_err *e)
{
    char folder[PATH_MAX];
    const char *set = getenv("GNN_MPI");
    int n;
    if (set && *set)
        n = snprintf(path, capacity, "%s", set);
    else {
        if (gnn_program_folder(folder, sizeof folder, e))
            return e->code;
        n = snprintf(path, capacity, "%s/../lib/gnn-tools/gnn-mpi.so", folder);
    }
    return n < 0 || (size_t)n >= capacity
               ? gnn_fail(e, GNN_E_RANK, "the path of MPI's plug-in is too long")
               : 0;
}

static const struct gnn_mpi *load_plugin(const struct gnn_launch *l, struct gnn_err *e)
{
    char path[PATH_MAX + 64];
    if (plugin_path(path, sizeof path, e))
        return NULL;
    void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct gnn_mpi *m = so ? dlsym(so, GNN_MPI_SYMBOL) : NULL;
    if (m && m->version == GNN_MPI_VERSION)
        return m;
    if (m)
        gnn_fail(e, GNN_E_RUN, "%s: built for another version of gnn-tools", path);
    else if (!so && access(path, F_OK))
        gnn_fail(
            e, GNN_E_RUN,
            "%s started %u ranks, but the MPI plug-in is missing: %s (make builds it with mpicc; GNN_MPI names another)",
            l->by, l->size, path);
    else
        gnn_fail(e, GNN_E_RUN, "%s started %u ranks, but MPI cannot be loaded: %s", l->by, l->size,
                 dlerror());
    return NULL;
}

int gnn_comm_open(struct gnn_comm **c, double timeout, bool quiet, struct gnn_err *e)
{
    struct gnn_launch l;
    *c = NULL;
    if (gnn_launch_find(&l, getenv, e))
        return e->code;
    if (l.size == 1) {
        *c = gnn_comm_self();
        return 0;
    }
    const struct gnn_mpi *m = load_plugin(&l, e);
    if (!m || gnn_comm_mpi(c, m, timeout, e))
        return e->code;
    if (quiet && m->silence)
        m->silence();
    if ((*c)->size != l.size || (*c)->rank != l.rank)
        return gnn_fail(
            e, GNN_E_RANK,
            "%s says that this is rank %u of %u, %s says %u of %u: does the launcher belong to another MPI?",
            l.by, l.rank, l.size, m->name, (*c)->rank, (*c)->size);
    return 0;
}
