#include "lib/feed.h"

#include <string.h>

#include "lib/mem.h"

struct feed {
    struct gnn_source base;
    struct gnn_source *inner;
    struct gnn_meta meta;
    struct gnn_store *store;
    struct gnn_sampler_opts s;
    struct gnn_gather_opts g;
    uint64_t rest; /* first epoch that inner does not cover */
};

static int open_inner(struct feed *f, uint64_t from, uint64_t to, uint64_t step, struct gnn_err *e)
{
    struct gnn_sampler_opts s = f->s;
    gnn_source_free(f->inner);
    f->inner = NULL;
    s.epoch_from = from;
    s.epoch_to = to;
    s.step_from = step;
    struct gnn_source *sampled = gnn_sampler_source_new(f->store, &s, e);
    if (sampled)
        f->inner = gnn_gather_source_new(sampled, f->store, &f->g, e);
    f->rest = to;
    return f->inner ? 0 : e->code;
}

static int feed_next(struct gnn_source *src, struct gnn_batch **b, struct gnn_err *e)
{
    struct feed *f = (struct feed *)src;
    for (;;) {
        int rc = gnn_source_next(f->inner, b, e);
        if (rc != GNN_END || f->rest >= f->s.epoch_to)
            return rc;
        if ((rc = open_inner(f, f->rest, f->s.epoch_to, 0, e)))
            return rc;
    }
}

static void feed_free(struct gnn_source *src)
{
    struct feed *f = (struct feed *)src;
    gnn_source_free(f->inner);
    gnn_meta_release(&f->meta);
    gnn_free(f);
}

struct gnn_source *gnn_feed_new(struct gnn_store *store, const struct gnn_sampler_opts *s,
                                const struct gnn_gather_opts *g, struct gnn_err *e)
{
    struct feed *f = gnn_alloc_zero(1, sizeof(*f), "feed", e);
    if (!f)
        return NULL;
    f->base = (struct gnn_source){.next = feed_next, .free = feed_free, .meta = &f->meta};
    f->store = store;
    f->s = *s;
    f->g = *g;
    if (open_inner(f, s->epoch_from, s->epoch_to, s->step_from, e) ||
        gnn_meta_copy(&f->meta, f->inner->meta, e)) {
        feed_free(&f->base);
        return NULL;
    }
    return &f->base;
}

void gnn_feed_prefetch(struct gnn_sampler_opts *s, struct gnn_gather_opts *g, unsigned n)
{
    s->threads = n;
    s->depth = n + 1; /* one is ready while n are being made: each is some hundred megabytes */
    s->background = true;
    *g = (struct gnn_gather_opts){.dtype = g->dtype, .fields = g->fields, .comm = g->comm, .replicate = g->replicate, .far = g->far}; /* on the same threads */
}

int gnn_feed_seek(struct gnn_source *feed, uint64_t epoch, uint64_t step, struct gnn_err *e)
{
    struct feed *f = (struct feed *)feed;
    if (epoch >= f->s.epoch_to)
        return gnn_fail(e, GNN_E_USAGE, "the checkpoint was made in epoch %llu, past the last one asked for",
                        (unsigned long long)epoch);
    return open_inner(f, epoch, epoch + 1, step, e);
}
