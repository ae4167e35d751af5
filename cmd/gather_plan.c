/* SPDX-License-Identifier: Apache-2.0 */
/* gnn-gather --plan: how much a cache of each size would save, before memory is bought for it. It
 * takes the path of the batches as they are: expected frequencies, orders and their caches, then
 * the rows that real batches find in these, then the table. */
#include "cmd/gather_plan.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cli.h"
#include "cmd/plan_text.h"
#include "lib/gather/gatherer.h"

struct plan_size {
    uint64_t bytes;
    char text[32];
};

struct plan {
    struct gnn_store *s;
    const struct plan_opts *o;
    struct gnn_rows rows;
    struct plan_size size[GNN_CACHE_SIZES_MAX];
    uint64_t bytes[GNN_CACHE_SIZES_MAX], remote[GNN_CACHE_SIZES_MAX];
    uint32_t nsizes;
    struct opt_list order;
    struct gnn_cache_plan caches;
    struct gnn_err e;
};

static void fail_unless(const struct plan *p, int rc)
{
    if (rc)
        cli_fail(&p->e);
}

/* ---- what was asked ---- */

void plan_check(const struct plan_opts *o)
{
    if (!o->on) {
        opt_refuse(OPTS(&o->alpha), "requires several ranks or --plan");
        return;
    }
    if (!o->cache->size && !o->alpha.n)
        cli_usage("--plan: requires --cache or --replicate");
    (void)cache_plan_orders(o->cache, true);
    if (o->alpha.n > GNN_CACHE_SIZES_MAX)
        cli_usage("--replicate: more than %d shares", GNN_CACHE_SIZES_MAX);
    for (uint32_t i = 1; i < o->alpha.n; i++)
        if (o->alpha.v[i] <= o->alpha.v[i - 1])
            cli_usage("--replicate: the list must be ascending");
}

static int compare_sizes(const void *a, const void *b)
{
    const struct plan_size *x = a, *y = b;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static void add_size(struct plan *p, const char *text, size_t n)
{
    struct plan_size *z = &p->size[p->nsizes];
    double share;
    if (p->nsizes == GNN_CACHE_SIZES_MAX || n >= sizeof z->text)
        cli_usage("--cache: the list is too long");
    memcpy(z->text, text, n);
    z->text[n] = 0;
    cache_size(z->text, &share, &z->bytes);
    if (share >= 0)
        /* In bytes from here on, so that shares and sizes sort into one list. */
        z->bytes = (uint64_t)(share * (double)p->rows.all_bytes);
    p->nsizes++;
}

static void read_sizes(struct plan *p)
{
    for (const char *at = p->o->cache->size, *end; at; at = *end ? end + 1 : NULL) {
        end = at + strcspn(at, ",");
        add_size(p, at, (size_t)(end - at));
    }
    qsort(p->size, p->nsizes, sizeof *p->size, compare_sizes);
}

/* ---- orders and batches ---- */

static void begin_plan(struct plan *p, const struct gnn_sampling *m)
{
    const uint32_t nparts = p->s->nparts, nalphas = p->o->alpha.n;
    fail_unless(p, gnn_rows_init(&p->rows, &p->s->meta.schema, p->o->fields, &p->e));
    read_sizes(p);
    if (nalphas && (nparts < 2 || nparts > GNN_CACHE_PARTS_MAX))
        cli_usage("--replicate: requires a store of 2 to %d partitions; this one has %u",
                  GNN_CACHE_PARTS_MAX, nparts);
    for (uint32_t i = 0; i < p->nsizes; i++)
        p->bytes[i] = p->size[i].bytes;
    /* A share of an average partition's rows, as --replicate means it. */
    for (uint32_t i = 0; i < nalphas; i++)
        p->remote[i] = (uint64_t)(p->o->alpha.v[i] * (double)p->rows.all_bytes / nparts);
    const struct gnn_cache_plan_opts o = {&p->rows, p->bytes, p->remote, p->nsizes, nalphas};
    const int rc = gnn_cache_plan_init(&p->caches, p->s, m, &o, &p->e);
    if (rc == GNN_E_USAGE)
        cli_usage("--plan: %s", p->e.msg);
    fail_unless(p, rc);
    if (p->caches.access.of)
        cli_info("expected frequencies in %.2f s", p->caches.seconds);
}

static void add_orders(struct plan *p)
{
    p->order = cache_plan_orders(p->o->cache, gnn_access_is_known(p->caches.sampling));
    for (uint32_t i = 0; i < p->order.n; i++) {
        struct gnn_order order = {0};
        cache_order_read(p->order.v[i], p->s, &order);
        fail_unless(p, gnn_cache_plan_add(&p->caches, &order, &p->e));
    }
    fail_unless(p, gnn_cache_plan_parts(&p->caches, &p->e));
}

static void measure_batches(struct plan *p, struct gnn_source *src)
{
    struct gnn_batch *b;
    int rc;
    while (!(rc = gnn_source_next(src, &b, &p->e))) {
        if (!b->split) /* sets for evaluation are not planned for */
            fail_unless(p, gnn_cache_plan_count(&p->caches, b, &p->e));
        gnn_batch_put(b);
        cli_progress("batches", p->caches.batches, 0, NULL);
    }
    cli_progress_end();
    if (rc != GNN_END)
        cli_fail(&p->e);
    /* The figures depend on all parts of the store, which is still being checked in the
     * background. */
    fail_unless(p, gnn_store_verified(p->s, &p->e));
    gnn_cache_plan_finish(&p->caches);
}

static void show_plan(const struct plan *p)
{
    const struct gnn_cache_plan *k = &p->caches;
    struct plan_figures f[CACHE_ORDERS_MAX];
    const char *size[GNN_CACHE_SIZES_MAX];
    uint32_t n = 0;
    plan_show_head(k);
    for (uint32_t i = 0; i < p->nsizes; i++)
        size[i] = p->size[i].text;
    for (uint32_t i = 0; i < k->norder; i++)
        if (k->order[i].whole.nsizes)
            f[n++] = (struct plan_figures){p->order.v[i], &k->order[i].whole};
    if (p->nsizes)
        plan_show_caches(f, n, size);
    for (uint32_t i = 0; i < k->norder; i++)
        f[i] = (struct plan_figures){p->order.v[i], &k->order[i].parts};
    if (p->o->alpha.n)
        plan_show_remote(k, f, k->norder, p->o->alpha.v);
}

void plan_run(struct gnn_source *src, struct gnn_store *s, const struct plan_opts *o)
{
    struct plan p = {.s = s, .o = o};
    const struct gnn_sampling *m = &src->meta->sampling;
    if (m->ranks > 1)
        cli_usage("--plan: the batches are the share of rank %u of %u: plan with those of a single "
                  "process",
                  m->rank, m->ranks);
    fail_unless(&p, gnn_gather_check(s, src->meta, &p.e));
    begin_plan(&p, m);
    add_orders(&p);
    measure_batches(&p, src);
    show_plan(&p);
    gnn_cache_plan_release(&p.caches);
    gnn_rows_release(&p.rows);
    gnn_source_free(src);
}
