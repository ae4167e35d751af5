/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher that started this process, and how many: read from its environment variables. */
#include <stdlib.h>
#include <string.h>

#include "lib/comm/comm.h"

static const struct launcher {
    const char *by, *size, *rank, *also; /* also: must be set too, and not to "batch" or "extern" */
} launchers[] = {
    {"mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", NULL},
    {"mpirun", "PMI_SIZE", "PMI_RANK", NULL}, /* MPICH's */
    /* A batch script has SLURM_NTASKS and SLURM_PROCID too, and is one process. */
    {"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_STEP_ID"},
};

static bool parse_number(const char *text, uint32_t *v)
{
    char *end;
    const unsigned long n = strtoul(text, &end, 10);
    *v = (uint32_t)n;
    return end != text && !*end && *text != '-' && n < UINT32_MAX;
}

int gnn_launch_find(struct gnn_launch *l, char *(*get)(const char *), struct gnn_err *e)
{
    *l = (struct gnn_launch){.size = 1};
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const struct launcher *x = &launchers[i];
        const char *size = get(x->size), *rank = get(x->rank), *also = x->also ? get(x->also) : "";
        if (!size || !rank || !also || !strcmp(also, "batch") || !strcmp(also, "extern"))
            continue;
        l->by = x->by;
        if (!parse_number(size, &l->size) || !parse_number(rank, &l->rank) || l->rank >= l->size)
            return gnn_fail(e, GNN_E_RANK, "%s says that this is rank %s of %s (%s, %s)", x->by,
                            rank, size, x->rank, x->size);
        return 0;
    }
    return 0;
}
