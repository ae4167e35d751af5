/* SPDX-License-Identifier: Apache-2.0 */
/* A plug-in for MPI ($GNN_MPI) that passes everything on to the real one, and has something happen
 * to one rank. FAULT_MPI    the real plug-in FAULT_RANK   the rank FAULT_AT     before which of its
 * calls that send, receive, sum, start or finish, from 1; 0: none FAULT_LATER  microseconds after
 * that (default: 0) FAULT_HOW    kill, segv, stop, or exit: with status 0. The last two not after
 * the ranks' common end, when nobody looks any more FAULT_TOLD   file in which its time is written,
 * in seconds FAULT_COUNT  file in which the rank writes its number of calls at the end Ranks are
 * those of mpirun of Open MPI or of srun. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/comm/mpi.h"

extern struct gnn_mpi gnn_mpi;
static const struct gnn_mpi *real;
static long at, later, calls; /* calls come one at a time */
static atomic_bool over;

static void note(const char *variable, double value)
{
    const char *path = getenv(variable);
    FILE *f = path ? fopen(path, "w") : NULL;
    if (f) {
        fprintf(f, "%.6f\n", value);
        fclose(f);
    }
}

static void *happen(void *arg)
{
    const char *how = getenv("FAULT_HOW");
    struct timespec t;
    (void)arg;
    usleep((useconds_t)later);
    if (atomic_load(&over) && how && (!strcmp(how, "exit") || !strcmp(how, "stop")))
        return NULL;
    clock_gettime(CLOCK_REALTIME, &t);
    note("FAULT_TOLD", (double)t.tv_sec + 1e-9 * (double)t.tv_nsec);
    if (how && !strcmp(how, "exit"))
        _exit(0);
    kill(getpid(), how && !strcmp(how, "segv")   ? SIGSEGV
                   : how && !strcmp(how, "stop") ? SIGSTOP
                                                 : SIGKILL);
    return NULL;
}

static void count(void)
{
    pthread_t thread;
    if (++calls != at)
        return;
    if (!later)
        happen(NULL);
    else if (!pthread_create(&thread, NULL, happen, NULL))
        pthread_detach(thread);
}

static int start(void **world, struct gnn_mpi_place *place)
{
    count();
    return real->start(world, place);
}

static void finish(void *world)
{
    count();
    if (!at)
        note("FAULT_COUNT", (double)calls);
    atomic_store(&over, true);
    real->finish(world);
}

static void *send(void *world, uint32_t to, uint32_t tag, const void *data, uint64_t bytes)
{
    count();
    return real->send(world, to, tag, data, bytes);
}

static void *receive(void *world, void **message, void *data, uint64_t bytes)
{
    count();
    return real->receive(world, message, data, bytes);
}

static void *reduce(void *world, void *data, uint64_t n, int kind)
{
    count();
    return real->reduce(world, data, n, kind);
}

static long number(const char *variable)
{
    const char *s = getenv(variable);
    return s ? strtol(s, NULL, 10) : 0;
}

struct gnn_mpi gnn_mpi; /* of another version than ours unless the real one is there */

__attribute__((constructor)) static void load(void)
{
    const char *path = getenv("FAULT_MPI"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    void *so = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    real = so ? dlsym(so, GNN_MPI_SYMBOL) : NULL;
    if (!real)
        return;
    gnn_mpi = *real;
    if (!rank)
        rank = getenv("SLURM_PROCID");
    if (!rank || strtol(rank, NULL, 10) != number("FAULT_RANK"))
        return;
    at = number("FAULT_AT");
    later = number("FAULT_LATER");
    gnn_mpi.start = start;
    gnn_mpi.finish = finish;
    gnn_mpi.send = send;
    gnn_mpi.receive = receive;
    gnn_mpi.reduce = reduce;
}
