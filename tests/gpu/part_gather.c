/* SPDX-License-Identifier: Apache-2.0 */
/* Gathering: from device memory and the host's, with one to five blocks a multiprocessor; and
 * whether it goes on beside products on another stream. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gpu/bench.h"
#include "kernels/gather.h"
#include "lib/gpu/dev.h"
#include "lib/gpu/device_gemm.h"
#include "lib/gpu/gpu.h"

enum {
    LINES = 512, /* bytes of a row of whole cache lines, unlike one of BENCH_WIDTH floats */
    FULL = BENCH_WIDTH * sizeof(float)
};

/* A gather, and where. */
struct fetch {
    struct gnn_cuda_gather g;
    void *stream;
};

static int fetch(const void *arg, struct gnn_err *e)
{
    const struct fetch *f = arg;
    (void)e;
    gnn_cuda_gather_rows(&f->g, f->stream);
    return 0;
}

static void row_of(const char *what, const struct fetch *f, double passes, double limit)
{
    bench_rate(what, passes * (double)(f->g.capacity * f->g.bytes), limit, fetch, f);
}

/* Rows of `bytes` bytes from a table on the device; and one on the host, where the next part is. */
static struct fetch make_fetch(uint32_t wanted, uint64_t bytes, bool with_host)
{
    const uint64_t all = bench.all * bytes;
    uint32_t *id = bench_pinned(wanted * sizeof *id);
    void *there = with_host ? bench_pinned(all) : NULL;
    for (uint32_t i = 0; id && i < wanted;
         i++) /* each at most once, in no order: an odd factor permutes 32 bits */
        id[i] = (uint32_t)((uint64_t)(i * 2654435761u) * bench.all >> 32);
    if (there)
        memset(there, 1, all);
    const struct gnn_gather_part table[2] = {
        {.count = bench.all,
         .data = bench_numbers(all / sizeof(float), 0),
         .tier = GNN_TIER_DEVICE},
        {.count = bench.all, .data = there, .tier = GNN_TIER_HOST}};
    return (struct fetch){.g = {.backing = bench_up(table, sizeof table),
                                .nbacking = 1,
                                .bytes = bytes,
                                .capacity = wanted,
                                .id = bench_up(id, wanted * sizeof *id),
                                .out = bench_buffer(wanted * bytes),
                                .blocks = GNN_CUDA_GATHER_BLOCKS * bench.multiprocessors},
                          .stream = bench.stream};
}

static void from_host(struct fetch *f)
{
    if (f->g.backing)
        f->g.backing++;
    f->g.capacity /= 4;
    f->g.blocks = GNN_CUDA_GATHER_HOST_BLOCKS;
}

void bench_gather(void)
{
    const double device = bench_device_limit(), host = bench_host_limit();
    struct fetch f = make_fetch(bench.all / 5, LINES, true);
    row_of("random rows, 512 bytes", &f, 2, device);
    f.g.bytes = FULL;
    row_of("gather, device memory", &f, 2, device);
    for (uint32_t n = 1; n <= GNN_CUDA_GATHER_BLOCKS; n++) {
        char what[64];
        f.g.blocks = n * bench.multiprocessors;
        snprintf(what, sizeof what, "gather, device memory, blocks a multiprocessor: %u", n);
        row_of(what, &f, 2, device);
    }
    from_host(&f);
    f.g.blocks = GNN_CUDA_GATHER_BLOCKS * bench.multiprocessors;
    row_of("gather, pinned, all blocks", &f, 1, host);
    f.g.blocks = GNN_CUDA_GATHER_HOST_BLOCKS;
    row_of("gather, pinned host memory", &f, 1, host);
    f.g.bytes = LINES;
    row_of("gather, pinned, 512 bytes", &f, 1, host);
}

/* ---- beside products ---- */

struct multiplication {
    struct gnn_dev_product p;
    void *stream;
};

static int multiply(const void *arg, struct gnn_err *e)
{
    const struct multiplication *m = arg;
    bool able = true;
    if (gnn_dev_multiply(bench.gemm, &m->p, &able, m->stream, e))
        return e->code;
    return able ? 0 : gnn_fail(e, GNN_E_DEVICE, "cuBLASLt has no way to multiply so");
}

/* One of two things at once: so many times, on a stream of its own. */
struct side {
    bench_fn *f;
    const void *arg;
    unsigned times;
};

struct meeting {
    struct side here, there; /* there: on the other stream */
    void *other, *began, *done;
};

/* Both at once; what is to be done 0 times is not there. */
static int meet(const struct meeting *m, double *us, struct gnn_err *e)
{
    double ms[BENCH_ROUNDS];
    const unsigned rounds = bench.tiny ? 1 : 7;
    for (unsigned r = 0; r < rounds; r++) {
        if (bench_plug(16, e) || bench_start(e) ||
            gnn_dev_event_record(m->began, bench.stream, e) ||
            gnn_dev_event_after(m->other, m->began, e))
            return e->code;
        for (unsigned i = 0; i < m->here.times || i < m->there.times; i++)
            if ((i < m->here.times && m->here.f(m->here.arg, e)) ||
                (i < m->there.times && m->there.f(m->there.arg, e)))
                return e->code;
        if (gnn_dev_event_record(m->done, m->other, e) ||
            gnn_dev_event_after(bench.stream, m->done, e) || bench_stop(&ms[r], e))
            return e->code;
    }
    *us = 1000 * bench_median(ms, rounds);
    return 0;
}

/* How often something is to be done to take two milliseconds. */
static int times_of(struct side *s, struct gnn_err *e)
{
    const double ms = bench_time(3, s->f, s->arg, e);
    if (e->code)
        return e->code;
    s->times = bench.tiny || ms >= 2 ? 1 : ms < 0.02 ? 100 : (unsigned)ceil(2 / ms);
    return 0;
}

/* Each alone, then both. */
static int meet_all(struct meeting *m, double us[3], struct gnn_err *e)
{
    const unsigned here = m->here.times, there = m->there.times;
    m->there.times = 0;
    if (meet(m, &us[0], e))
        return e->code;
    m->there.times = there, m->here.times = 0;
    if (meet(m, &us[1], e))
        return e->code;
    m->here.times = here;
    return meet(m, &us[2], e);
}

static void row_beside(const char *what, const struct fetch *f, struct multiplication *p,
                       struct meeting *m)
{
    struct gnn_err e = bench.failed;
    double us[3];
    m->here = (struct side){.f = fetch, .arg = f};
    m->there = (struct side){.f = multiply, .arg = p};
    p->stream = bench.stream; /* where times are taken */
    if (e.code || times_of(&m->here, &e) || times_of(&m->there, &e)) {
        bench_row_failed(what, &e);
        return;
    }
    p->stream = m->other;
    if (meet_all(m, us, &e)) {
        bench_row_failed(what, &e);
        return;
    }
    const double sum = us[0] + us[1], least = fmin(us[0], us[1]);
    bench_row(
        what,
        "%.0f us together | %.0f us of gathers (%u), %.0f us of products (%u): %.0f %% of the "
        "shorter one hidden",
        us[2], us[0], m->here.times, us[1], m->there.times, 100 * (sum - us[2]) / least);
}

static void beside(struct fetch *f, struct multiplication *p, struct meeting *m, const char *name)
{
    char what[96];
    for (uint32_t n = 1; n <= GNN_CUDA_GATHER_BLOCKS; n++) {
        f->g.blocks = n * bench.multiprocessors;
        snprintf(what, sizeof what, "gather beside %s, blocks a multiprocessor: %u", name, n);
        row_beside(what, f, p, m);
    }
    struct fetch host = *f;
    from_host(&host);
    snprintf(what, sizeof what, "gather from pinned host memory beside %s", name);
    row_beside(what, &host, p, m);
}

/* Products that are limited by arithmetic, and those that need memory as gathering does. */
void bench_overlap(void)
{
    struct fetch f = make_fetch(bench.all / 5, FULL, true);
    const size_t rows = bench_block(0).rows;
    struct multiplication p = {.p = {.tb = true, .m = rows, .n = BENCH_HIDDEN, .k = BENCH_WIDTH}};
    struct meeting m = {0};
    struct gnn_err e = {0};
    if (!bench.gemm) {
        bench_row_absent("gather beside products", bench.no_gemm.msg);
        return;
    }
    p.p.a = bench_numbers(rows * p.p.k, 0);
    p.p.b = bench_numbers(p.p.n * p.p.k, 1);
    p.p.c = bench_numbers(rows * p.p.n, 2);
    if (gnn_dev_stream_new(&m.other, &e) || gnn_dev_event_new(&m.began, &e) ||
        gnn_dev_event_new(&m.done, &e)) {
        bench_row_failed("gather beside products", &e);
    } else {
        beside(&f, &p, &m, "products in f32");
        p.p.precision = GNN_PRECISION_TF32;
        beside(&f, &p, &m, "products in tf32");
    }
    gnn_dev_stream_free(m.other);
    gnn_dev_event_free(m.began);
    gnn_dev_event_free(m.done);
}
