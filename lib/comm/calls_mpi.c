/* SPDX-License-Identifier: Apache-2.0 */
/* The plug-in: MPI's own calls behind lib/comm/mpi.h. */
#include "lib/comm/mpi.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/comm/comm.h"

struct world {
    MPI_Comm comm; /* used by nobody else */
};

extern const struct gnn_mpi gnn_mpi;

static int start_mpi(void **out, struct gnn_mpi_place *at)
{
    static struct world w;
    int level, rank, size, local_rank, local_size;
    MPI_Comm host;
#ifdef OPEN_MPI
    /* With more ranks than processors it would call sched_yield at each poll; mpi_comm.c knows when
     * to do so. A setting in the environment wins. */
    setenv("OMPI_MCA_mpi_yield_when_idle", "0", 0);
#endif
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) ||
        level < MPI_THREAD_SERIALIZED || MPI_Comm_dup(MPI_COMM_WORLD, &w.comm) ||
        MPI_Comm_set_errhandler(w.comm, MPI_ERRORS_RETURN) || MPI_Comm_rank(w.comm, &rank) ||
        MPI_Comm_size(w.comm, &size) ||
        MPI_Comm_split_type(w.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host) ||
        MPI_Comm_rank(host, &local_rank) || MPI_Comm_size(host, &local_size) ||
        MPI_Comm_free(&host))
        return -1;
    *at = (struct gnn_mpi_place){(uint32_t)rank, (uint32_t)size, (uint32_t)local_rank,
                                 (uint32_t)local_size};
    *out = &w;
    return 0;
}

static void finish_mpi(void *world)
{
    struct world *w = world;
    MPI_Comm_free(&w->comm);
    MPI_Finalize();
}

static void kill_all(void *world, int status)
{
    MPI_Abort(((struct world *)world)->comm, status);
}

#ifdef OPEN_MPI
/* Open MPI explains a lost peer, and each call of MPI_Abort, in a dozen lines for each rank, which
 * bury the one line that names the rank. In version 4 all of them come through this pointer, which
 * the launcher's support sets in MPI_Init; no documented setting turns them off from within a
 * process. */
extern int (*opal_show_help)(const char *file, const char *topic, bool header, ...)
    __attribute__((weak));

static int show_nothing(const char *file, const char *topic, bool header, ...)
{
    (void)file;
    (void)topic;
    (void)header;
    return 0;
}

static void silence_mpi(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int n;
    if (&opal_show_help && !MPI_Get_library_version(version, &n) &&
        !strncmp(version, "Open MPI v4.", 12))
        opal_show_help = show_nothing;
}
#endif

static MPI_Request *request_new(void)
{
    return malloc(sizeof(MPI_Request));
}

static void *request_started(MPI_Request *r, int rc)
{
    if (!rc)
        return r;
    free(r);
    return NULL;
}

static void *send_bytes(void *world, uint32_t to, uint32_t tag, const void *data, uint64_t bytes)
{
    MPI_Request *r = request_new();
    return r ? request_started(r, MPI_Isend(data, (int)bytes, MPI_BYTE, (int)to, (int)tag,
                                            ((struct world *)world)->comm, r))
             : NULL;
}

static int probe_message(void *world, uint32_t *from, uint32_t tag, void **message, uint64_t *bytes)
{
    MPI_Message m;
    MPI_Status s;
    int there, n;
    if (MPI_Improbe(*from == GNN_MPI_ANY ? MPI_ANY_SOURCE : (int)*from, (int)tag,
                    ((struct world *)world)->comm, &there, &m, &s))
        return -1;
    if (!there)
        return 0;
    MPI_Message *keep = malloc(sizeof *keep);
    if (!keep || MPI_Get_count(&s, MPI_BYTE, &n) || n < 0) {
        free(keep);
        return -1;
    }
    *keep = m;
    *message = keep;
    *bytes = (uint64_t)n;
    *from = (uint32_t)s.MPI_SOURCE;
    return 1;
}

static void *receive_message(void *world, void **message, void *data, uint64_t bytes)
{
    MPI_Request *r = request_new();
    MPI_Message *m = *message;
    (void)world;
    void *got = r ? request_started(r, MPI_Imrecv(data, (int)bytes, MPI_BYTE, m, r)) : NULL;
    free(m);
    *message = NULL;
    return got;
}

static void *all_reduce(void *world, void *data, uint64_t n, int kind)
{
    const MPI_Datatype type = kind == GNN_REDUCE_F32   ? MPI_FLOAT
                              : kind == GNN_REDUCE_F64 ? MPI_DOUBLE
                                                       : MPI_UINT64_T;
    const MPI_Op op = kind == GNN_REDUCE_MAX ? MPI_MAX : MPI_SUM;
    MPI_Request *r = request_new();
    return r ? request_started(r, MPI_Iallreduce(MPI_IN_PLACE, data, (int)n, type, op,
                                                 ((struct world *)world)->comm, r))
             : NULL;
}

static int test_request(void *world, void **request)
{
    int is;
    (void)world;
    if (MPI_Test(*request, &is, MPI_STATUS_IGNORE))
        return -1;
    if (is) {
        free(*request);
        *request = NULL;
    }
    return is;
}

const struct gnn_mpi gnn_mpi = {.version = GNN_MPI_VERSION,
                                .chunk = 1 << 30,
#ifdef OPEN_MPI
                                .name = "Open MPI",
                                .silence = silence_mpi,
#elif defined(MPICH_VERSION)
                                .name = "MPICH",
#else
                                .name = "MPI",
#endif
                                .start = start_mpi,
                                .finish = finish_mpi,
                                .kill = kill_all,
                                .send = send_bytes,
                                .probe = probe_message,
                                .receive = receive_message,
                                .reduce = all_reduce,
                                .done = test_request};
