/* SPDX-License-Identifier: Apache-2.0 */
/* What reaches the next program of gathered batches, in GB/s: through a pipe that is read dry by a
 * program that knows nothing of streams, through a pipe into our reader, and in shared memory into
 * our reader, which drops the batches or reads all their bytes first; and what the gatherer makes
 * for nobody, which is the limit. In turns, A-B-C-D-E-A-B-C-D-E; the ratios are of medians. Usage:
 * bench_transport STORE */
#include <sys/wait.h>
#include <unistd.h>

#include "lib/gather/gatherer.h"
#include "lib/stream/stream.h"

#include "bench_common.h"
#include "bench_replay.h"

enum { TURNS = 3, WARM = 3 * REPLAY_STEPS, THREADS = 2 /* as gnn-gather by itself */ };
static const double enough = 6e9; /* bytes to time */
static uint64_t steps = 2 * WARM;

enum reading { DRY, DROP, TOUCH, NOBODY };

static const struct way {
    const char *name;
    enum gnn_transport how;
    enum reading reading;
} way[] = {{"pipe, read dry", GNN_TRANSPORT_INLINE, DRY},
           {"pipe, reader", GNN_TRANSPORT_INLINE, DROP},
           {"transport, reader", GNN_TRANSPORT_SHM, DROP},
           {"transport, bytes read", GNN_TRANSPORT_SHM, TOUCH},
           {"gathering alone", GNN_TRANSPORT_INLINE, NOBODY}};
enum { WAYS = sizeof way / sizeof *way };

static uint64_t touch(const struct gnn_batch *b)
{
    uint64_t sum = 0, bytes = 0;
    for (uint32_t i = 0; i < b->tensors.n; i++) {
        const struct gnn_tensor *t = gnn_tensors_at(&b->tensors, i);
        const uint64_t *v = t->data;
        const uint64_t n = gnn_tensor_bytes(t, &bytes) ? bytes / 8 : 0;
        for (uint64_t k = 0; k < n; k++)
            sum += v[k];
    }
    return sum;
}

static int drain(int fd, enum reading how)
{
    static char sink[1 << 20];
    static volatile uint64_t kept; /* so that touching is not left out */
    struct gnn_err e = {0};
    struct gnn_batch *b;
    if (how == DRY) {
        while (read(fd, sink, sizeof sink) > 0)
            ;
        return 0;
    }
    struct gnn_source *src = gnn_stream_source_new(fd, "the pipe", &e);
    int rc = src ? 0 : e.code;
    while (!rc && !(rc = gnn_source_next(src, &b, &e))) {
        if (how == TOUCH)
            kept = kept + touch(b);
        gnn_batch_put(b);
    }
    gnn_source_free(src);
    (void)kept;
    return rc != GNN_END;
}

/* GB/s of all tensors. The next run is longer if this one was too short to tell. */
static double run(struct gnn_store *s, struct replay *r, const struct way *w)
{
    const bool nobody = w->reading == NOBODY;
    const struct gnn_gather_opts o = {.fields = "x", .threads = THREADS, .sums = !nobody};
    struct gnn_err e = {0};
    struct gnn_writer out;
    struct gnn_batch *b;
    int fd[2], st = 0;
    double t = 0;
    uint64_t bytes = 0, n;
    if (pipe(fd))
        exit(1);
    const pid_t pid = nobody ? 1 : fork();
    if (!pid) {
        close(fd[1]);
        _exit(drain(fd[0], w->reading));
    }
    if (!nobody)
        close(fd[0]);
    replay_start(r, steps);
    struct gnn_source *src = gnn_gather_source_new(&r->base, s, &o, &e);
    int rc = !src || gnn_writer_begin(&out, fd[1], "the pipe", src->meta,
                                      &(struct gnn_writer_opts){.transport = w->how}, &e);
    for (uint64_t i = 0; !rc && !(rc = gnn_source_next(src, &b, &e)); i++) {
        if (i == WARM) { /* by then the memory is made */
            t = bench_now();
            bytes = 0;
        }
        for (uint32_t k = 0; k < b->tensors.n; k++)
            bytes += gnn_tensor_bytes(gnn_tensors_at(&b->tensors, k), &n) ? n : 0;
        rc = nobody ? 0 : gnn_writer_batch(&out, b, &e);
        gnn_batch_put(b);
    }
    if (rc != GNN_END || (!nobody && gnn_writer_end(&out, &e)))
        bench_die(&e);
    gnn_source_free(src);
    gnn_writer_release(&out);
    if (nobody)
        close(fd[0]);
    else if (waitpid(pid, &st, 0) != pid || st) {
        fprintf(stderr, "bench: the reader failed\n");
        exit(1);
    }
    const double rate = (double)bytes / (bench_now() - t) / 1e9;
    if ((double)bytes < enough)
        steps = WARM + 1 + (uint64_t)(enough / (double)bytes * (double)(steps - WARM));
    return rate;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    static struct replay r = {.edges = true};
    struct gnn_err e = {0};
    struct gnn_store s = {0};
    double rate[WAYS][TURNS];
    if (argc != 2) {
        fprintf(stderr, "usage: bench_transport STORE\n");
        return 2;
    }
    if (gnn_store_open(&s, argv[1], false, &e))
        bench_die(&e);
    replay_init(&r, &s);
    (void)run(&s, &r, &way[0]);
    for (int i = 0; i < TURNS; i++) {
        for (int k = 0; k < WAYS; k++)
            printf("%s%.2f", k ? " " : "GB/s: ", rate[k][i] = run(&s, &r, &way[k]));
        printf("\n");
        fflush(stdout);
    }
    for (int k = 0; k < WAYS; k++) {
        qsort(rate[k], TURNS, sizeof **rate, by_value);
        printf("%-22s %8.2f GB/s (%.2f to %.2f)\n", way[k].name, rate[k][TURNS / 2], rate[k][0],
               rate[k][TURNS - 1]);
    }
    const int m = TURNS / 2;
    printf("transport %.2f x a pipe into it, %.2f x one read dry, %.2f x gathering alone\n",
           rate[2][m] / rate[1][m], rate[2][m] / rate[0][m], rate[2][m] / rate[4][m]);
    printf("limit %.2f x a pipe read dry\n", rate[4][m] / rate[0][m]);
    return 0;
}
