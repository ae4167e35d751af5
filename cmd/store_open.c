/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/store_open.h"

#include <inttypes.h>

#include "cmd/cli.h"
#include "cmd/opt.h"
#include "lib/base/clock.h"
#include "lib/base/mem.h"
#include "lib/store/out_of_core.h"

enum { WATCHED = 16 /* batches, after which it is said what they took */ };

static void tell_large(const struct gnn_store *s, bool verify, bool all)
{
    const double bytes = (double)gnn_store_bytes(s), memory = (double)gnn_store_memory(s);
    cli_note("%s: %.0f MB%s, and %.0f MB of memory: at least %.0f %% of it stays on the disk%s",
             s->path, bytes / 1e6, s->comm->size > 1 ? " of rank 0" : "", memory / 1e6,
             bytes > memory ? 100 * (bytes - memory) / bytes : 0.,
             all      ? "; all of it has been verified"
             : verify ? "; tensors of 64 MiB or more are not verified (--verify does so first)"
                      : "");
}

static void copy_to_huge_pages(struct gnn_store *s, unsigned what)
{
    struct gnn_err e = {0};
    struct gnn_huge_pages h;
    const double began = gnn_clock();
    if (s->out_of_core)
        cli_usage("--huge-pages: %s is larger than memory, which has no place for copies", s->path);
    if (!gnn_huge_pages_offered("")) {
        cli_note("--huge-pages has no effect: the kernel makes none "
                 "(/sys/kernel/mm/transparent_hugepage/enabled)");
        return;
    }
    if (gnn_store_huge_pages(s, what, &h, &e))
        cli_fail(&e);
    if (!s->comm->rank && !h.wanted)
        cli_note("%s: --huge-pages has no effect: nothing that would be copied has 4 MiB", s->path);
    else if (!s->comm->rank)
        cli_note("%s: %.0f of %.0f MB copied in %.2f s, %.0f MB of it in huge pages", s->path,
                 (double)h.copied / 1e6, (double)h.wanted / 1e6, gnn_clock() - began,
                 (double)h.huge / 1e6);
}

unsigned store_huge(bool wanted, unsigned what, const struct gnn_gpu *g)
{
    if (wanted && g)
        cli_note("--huge-pages has no effect: devices read pinned memory");
    return wanted && !g ? what : 0;
}

void store_open(struct gnn_store *s, const char *path, const bool *verify, unsigned huge,
                struct gnn_comm *c)
{
    const bool all = *verify && opt_given(verify);
    struct gnn_err e = {0};
    if (gnn_store_open_ranks(s, path, *verify, c, &e) || gnn_store_fit(s, all, &e))
        cli_fail(&e);
    if (s->out_of_core && !c->rank)
        tell_large(s, *verify, all);
    if (huge)
        copy_to_huge_pages(s, huge);
}

/* ---- what batches take of the disk ---- */

struct watch {
    struct gnn_source base, *up;
    const struct gnn_store *store;
    uint64_t batches, bytes; /* so far; read from the disk before the first one */
    double began;
};

static void tell_reads(const struct watch *w)
{
    const double n = (double)w->batches;
    cli_note("%s: %" PRIu64 " batches took %.1f MB of the disk and %.2f s each", w->store->path,
             w->batches, (double)(gnn_mem_read() - w->bytes) / 1e6 / n,
             (gnn_clock() - w->began) / n);
}

static int watch_next(struct gnn_source *s, struct gnn_batch **b, struct gnn_err *e)
{
    struct watch *w = (struct watch *)s;
    const int rc = gnn_source_next(w->up, b, e);
    if (!rc && ++w->batches == WATCHED)
        tell_reads(w);
    return rc;
}

static void watch_free(struct gnn_source *s)
{
    struct watch *w = (struct watch *)s;
    if (w->batches && w->batches < WATCHED)
        tell_reads(w);
    gnn_source_free(w->up);
    gnn_free(w);
}

struct gnn_source *store_watch(struct gnn_source *up, const struct gnn_store *s, struct gnn_err *e)
{
    if (!up || !s->out_of_core || s->comm->rank)
        return up;
    struct watch *w = gnn_alloc_zero(1, sizeof *w, "a source", e);
    if (!w) {
        gnn_source_free(up);
        return NULL;
    }
    *w = (struct watch){
        .base = {.next = watch_next, .free = watch_free, .meta = up->meta, .live = up->live},
        .up = up,
        .store = s,
        .bytes = gnn_mem_read(),
        .began = gnn_clock()};
    return &w->base;
}
