/* SPDX-License-Identifier: Apache-2.0 */
/* Gathering the features of sampled batches from a store: GB of stored rows per second, and the
 * share of the rate of sequential reading (a gather that also writes what it reads cannot come
 * nearer than about half); then what the checksums add to a stream that is read from a pipe. With a
 * second store of the same graph, of int8, say: rows per second of both, in turns. Usage:
 * bench_gather STORE [THREADS [OTHER]] */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/gather/gatherer.h"
#include "lib/stream/stream.h"

#include "bench_common.h"
#include "bench_replay.h"

enum { TURNS = 3, PAIRS = 7 };

static double gather(struct gnn_store *s, struct replay *r, int threads, enum gnn_dtype dtype,
                     bool sums)
{
    struct gnn_gather_opts o = {.dtype = dtype,
                                .fields = "x",
                                .threads = threads > 1 ? (unsigned)threads : 0,
                                .sums = sums};
    struct gnn_err e = {0};
    struct gnn_batch *b;
    replay_start(r, 1000000);
    struct gnn_source *src = gnn_gather_source_new(&r->base, s, &o, &e);
    if (!src)
        bench_die(&e);
    double t = 0;
    uint64_t bytes = 0, n;
    for (int i = 0; i < 4 + 2 * REPLAY_STEPS * threads; i++) {
        if (i == 4)
            t = bench_now();
        if (gnn_source_next(src, &b, &e))
            bench_die(&e);
        n = gnn_batch_nodes(b, 0) * s->meta.schema.ntype[0].field[0].width * 4;
        bytes += i >= 4 ? n : 0;
        gnn_batch_put(b);
    }
    t = bench_now() - t;
    gnn_source_free(src);
    return (double)bytes / t / 1e9;
}

/* Reads a pipe dry in a process of its own; the end to write to. */
static int drain(pid_t *pid)
{
    static char sink[1 << 20];
    int fd[2];
    if (pipe(fd) || (*pid = fork()) < 0) {
        perror("bench");
        exit(1);
    }
    if (!*pid) {
        close(fd[1]);
        while (read(fd[0], sink, sizeof sink) > 0)
            ;
        _exit(0);
    }
    close(fd[0]);
    return fd[1];
}

struct cost {
    double elapsed, cpu;
};

static double used(const struct timeval *t)
{
    return (double)t->tv_sec + 1e-6 * (double)t->tv_usec;
}

/* Gathers and writes all steps as gnn-gather -j 1 does. The writer believes the sums it finds,
 * right or not. */
static struct cost stream(struct gnn_store *s, struct replay *r, bool sums)
{
    struct gnn_gather_opts o = {.fields = "x", .threads = 1, .sums = sums};
    struct gnn_err e = {0};
    struct gnn_writer w;
    struct gnn_batch *b;
    struct rusage from, to;
    pid_t pid;
    const int fd = drain(&pid);
    replay_start(r, REPLAY_STEPS);
    getrusage(RUSAGE_SELF, &from);
    const double t = bench_now();
    struct gnn_source *src = gnn_gather_source_new(&r->base, s, &o, &e);
    int rc =
        !src || gnn_writer_begin(&w, fd, "the pipe", src->meta, &(struct gnn_writer_opts){0}, &e);
    while (!rc && !(rc = gnn_source_next(src, &b, &e))) {
        for (uint32_t i = 0; i < b->tensors.n; i++)
            gnn_tensors_at(&b->tensors, i)->has_sum = true;
        rc = gnn_writer_batch(&w, b, &e);
        gnn_batch_put(b);
    }
    if (rc != GNN_END || gnn_writer_end(&w, &e))
        bench_die(&e);
    const double elapsed = bench_now() - t;
    getrusage(RUSAGE_SELF, &to);
    gnn_writer_release(&w);
    gnn_source_free(src);
    waitpid(pid, NULL, 0);
    return (struct cost){elapsed, used(&to.ru_utime) + used(&to.ru_stime) - used(&from.ru_utime) -
                                      used(&from.ru_stime)};
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* A-B-A-B: the median of the pairs' ratios. */
static void checksums(struct gnn_store *s, struct replay *r)
{
    double elapsed[PAIRS], cpu[PAIRS];
    (void)stream(s, r, true);
    for (int i = 0; i < PAIRS; i++) {
        const struct cost without = stream(s, r, false), with = stream(s, r, true);
        elapsed[i] = 100 * (with.elapsed / without.elapsed - 1);
        cpu[i] = 100 * (with.cpu / without.cpu - 1);
    }
    qsort(elapsed, PAIRS, sizeof *elapsed, by_value);
    qsort(cpu, PAIRS, sizeof *cpu, by_value);
    printf(
        "checksums        %8.2f %% of the time, %.2f %% of the processor time of a stream into a pipe\n",
        elapsed[PAIRS / 2], cpu[PAIRS / 2]);
}

/* A-B-A-B: rows a second of two stores, and the median of the pairs' ratios, for each type that
 * batches may have. */
static void compare(struct gnn_store *s, struct replay *r, const char *path, int threads)
{
    static const enum gnn_dtype as[] = {GNN_F32, GNN_BF16};
    static struct replay other;
    struct gnn_store o = {0};
    struct gnn_err e = {0};
    double ratio[PAIRS], a[PAIRS], b[PAIRS];
    const double row = 4e-9 * (double)s->meta.schema.ntype[0].field[0].width;
    if (gnn_store_open(&o, path, false, &e))
        bench_die(&e);
    replay_init(&other, &o);
    for (size_t k = 0; k < sizeof as / sizeof *as; k++) {
        (void)gather(s, r, threads, as[k], false);
        (void)gather(&o, &other, threads, as[k], false);
        for (int i = 0; i < PAIRS; i++) {
            a[i] = gather(s, r, threads, as[k], false) / row;
            b[i] = gather(&o, &other, threads, as[k], false) / row;
            ratio[i] = b[i] / a[i];
        }
        qsort(ratio, PAIRS, sizeof *ratio, by_value);
        qsort(a, PAIRS, sizeof *a, by_value);
        qsort(b, PAIRS, sizeof *b, by_value);
        printf("rows as %-8s %8.2f M/s of %s, %.2f M/s of %s: %.2fx (%.2f to %.2f)\n",
               gnn_dtype_name(as[k]), 1e-6 * a[PAIRS / 2], s->path, 1e-6 * b[PAIRS / 2], path,
               ratio[PAIRS / 2], ratio[0], ratio[PAIRS - 1]);
    }
    gnn_store_close(&o);
}

int main(int argc, char **argv)
{
    static struct replay r;
    struct gnn_err e = {0};
    struct gnn_store s = {0};
    const int threads = argc > 2 ? atoi(argv[2]) : 1;
    if (argc < 2 || threads < 1) {
        fprintf(stderr, "usage: bench_gather STORE [THREADS [OTHER]]\n");
        return 2;
    }
    if (gnn_store_open(&s, argv[1], false, &e))
        bench_die(&e);
    replay_init(&r, &s);
    if (argc > 3) {
        compare(&s, &r, argv[3], threads);
        return 0;
    }
    const struct gnn_tensor *x = bench_tensor(&s, "/x");
    uint64_t bytes = 0;
    (void)gnn_tensor_bytes(x, &bytes);
    static const struct {
        const char *name;
        enum gnn_dtype dtype;
        bool sums;
    } kind[] = {{"gather", GNN_F32, false},
                {"gather+sum", GNN_F32, true},
                {"gather-f16", GNN_F16, false},
                {"gather-bf16", GNN_BF16, false}};
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        struct bench_pair best = {0};
        for (int i = 0; i < TURNS; i++) {
            const double limit = bench_stream(x->data, bytes, threads);
            const double rate = gather(&s, &r, threads, kind[k].dtype, kind[k].sums);
            best.limit = limit > best.limit ? limit : best.limit;
            best.rate = rate > best.rate ? rate : best.rate;
        }
        bench_print(kind[k].name, best, "GB/s", threads, "reading, GB/s");
    }
    if (threads == 1)
        checksums(&s, &r);
    return 0;
}
