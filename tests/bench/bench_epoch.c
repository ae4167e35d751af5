/* SPDX-License-Identifier: Apache-2.0 */
/* Is sampling and gathering hidden behind training? Turns of STEPS batches: A trains on batches
 * held in memory, B on the next ones as gnn-train --store makes them. (At the start of a turn B the
 * feed has three batches ready that A gave time to make: STEPS must be many more.) Prints the ratio
 * of the medians, and how busy the cores were. Usage: bench_epoch STORE [TURNS [STEPS]] */
#include <omp.h>
#include <sys/resource.h>

#include "lib/train/local_source.h"

#include "bench_step.h"

enum { HELD = 8, SEEDS = 1024, TURNS_MAX = 64 };

struct turn {
    double wall, cpu, wait;
};

static double cpu_now(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static struct gnn_source *feed(struct gnn_store *s, struct gnn_err *e)
{
    struct gnn_sampler_opts o;
    struct gnn_gather_opts g = {0};
    bench_sampling(&o);
    o.sampling.batch_size = SEEDS;
    gnn_feed_prefetch(&o, &g, 2);
    return gnn_feed_new(s, &o, &g, e);
}

static struct turn alone(struct bench_model *m, struct gnn_batch **held, int steps,
                         const struct gnn_meta *meta)
{
    struct turn t = {-bench_now(), -cpu_now(), 0};
    for (int i = 0; i < steps; i++)
        bench_step(m, held[i % HELD], meta);
    t.wall += bench_now();
    t.cpu += cpu_now();
    return t;
}

static struct turn fed(struct bench_model *m, struct gnn_source *src, int steps)
{
    struct gnn_err e = {0};
    struct turn t = {-bench_now(), -cpu_now(), 0};
    for (int i = 0; i < steps; i++) {
        struct gnn_batch *b;
        t.wait -= bench_now();
        if (gnn_source_next(src, &b, &e))
            bench_die(&e);
        t.wait += bench_now();
        bench_step(m, b, src->meta);
        gnn_batch_put(b);
    }
    t.wall += bench_now();
    t.cpu += cpu_now();
    return t;
}

static int by_wall(const void *a, const void *b)
{
    const double x = ((const struct turn *)a)->wall, y = ((const struct turn *)b)->wall;
    return (x > y) - (x < y);
}

static double report(const char *what, struct turn *t, int turns, int steps)
{
    qsort(t, (size_t)turns, sizeof(*t), by_wall);
    const struct turn m = t[turns / 2];
    printf(
        "%-6s %7.1f ms a step (median of %d turns; %.1f-%.1f), %.1f CPU-ms, %.2f cores busy, %.1f ms waiting\n",
        what, 1e3 * m.wall / steps, turns, 1e3 * t[0].wall / steps, 1e3 * t[turns - 1].wall / steps,
        1e3 * m.cpu / steps, m.cpu / m.wall, 1e3 * m.wait / steps);
    return m.wall;
}

int main(int argc, char **argv)
{
    struct gnn_err e = {0};
    struct gnn_store s = {0};
    struct bench_model m;
    struct gnn_batch *held[HELD];
    static struct turn a[TURNS_MAX], b[TURNS_MAX];
    const int turns = argc > 2 ? atoi(argv[2]) : 5, steps = argc > 3 ? atoi(argv[3]) : 64;
    if (argc < 2 || turns < 1 || turns > TURNS_MAX || steps < 1) {
        fprintf(stderr, "usage: bench_epoch STORE [TURNS [STEPS]]\n");
        return 2;
    }
    if (gnn_store_open(&s, argv[1], false, &e))
        bench_die(&e);
    struct gnn_source *src = feed(&s, &e);
    for (int i = 0; src && i < HELD; i++)
        if (gnn_source_next(src, &held[i], &e))
            break;
    if (e.code)
        bench_die(&e);
    bench_model_init(&m, &gnn_ops_cpu, &src->meta->schema, src->meta->sampling.nhops, SEEDS);
    (void)alone(&m, held, HELD, src->meta); /* buffers grow, pages are touched */
    (void)fed(&m, src, HELD);
    for (int i = 0; i < turns; i++) {
        a[i] = alone(&m, held, steps, src->meta);
        b[i] = fed(&m, src, steps);
    }
    printf("%d threads\n", omp_get_max_threads());
    const double one = report("alone", a, turns, steps), two = report("epoch", b, turns, steps);
    printf("epoch over training alone: %.3f\n", two / one);
    for (int i = 0; i < HELD; i++)
        gnn_batch_put(held[i]);
    gnn_source_free(src);
    gnn_store_close(&s);
    return 0;
}
