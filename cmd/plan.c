#include "cmd/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli.h"
#include "cmd/plan_text.h"
#include "lib/clock.h"
#include "lib/frequency.h"
#include "lib/gatherer.h"
#include "lib/ids.h"

enum { ORDERS_MAX = 16, PARTS_MAX = 64 };
enum order_kind { BY_DEGREE, BY_ACCESS, BY_HALO, BY_FILE };

struct plan_size {
    uint64_t bytes;
    char text[32];
};

/* One order: its scores, and the caches made by them. */
struct plan_order {
    const char *name;
    enum order_kind kind;
    struct gnn_scores score;        /* not BY_ACCESS, BY_HALO */
    struct gnn_cache cache;         /* of the sizes */
    struct gnn_cache_tally tally;
    struct gnn_cache *remote;       /* [nparts], of the alphas */
    struct gnn_cache_tally remotes; /* over all parts */
    struct plan_figures fig, remote_fig;
};

struct plan {
    struct gnn_store *s;
    const struct gnn_sampling *m;
    const struct plan_opts *o;
    struct gnn_err *e;
    struct gnn_rows rows;
    struct plan_size size[GNN_CACHE_SIZES_MAX];
    uint64_t alpha_bytes[GNN_CACHE_SIZES_MAX];
    uint32_t nsizes, nalphas, norders;
    struct plan_order order[ORDERS_MAX];
    struct gnn_scores access;
    uint32_t *seeds;
    uint64_t nseeds;
    double share, steps, seconds;
    uint32_t **inverse;      /* [nntypes] original id to store id, where batches carry original ids and they differ */
    struct gnn_buf *ids;     /* [nntypes] */
    const uint32_t **id;     /* [nntypes] store ids of the batch at hand */
    struct gnn_reach reach;
    uint64_t batches, nodes; /* measured; nodes: gathered rows */
};

static void must(const struct plan *p, int rc)
{
    if (rc)
        cli_fail(p->e);
}

static void *need(void *q)
{
    if (!q)
        cli_die(1, "out of memory");
    return q;
}

/* ---- what was asked ---- */

static enum order_kind kind_of(const char *name)
{
    return !strcmp(name, "degree") ? BY_DEGREE : !strcmp(name, "access") ? BY_ACCESS : !strcmp(name, "halo") ? BY_HALO : BY_FILE;
}

void plan_check(const struct plan_opts *o)
{
    if (!o->on) {
        opt_refuse(OPTS(&o->sizes, &o->order, &o->alpha), "goes with --plan");
        return;
    }
    if (!o->sizes && !o->alpha.n)
        cli_usage("--plan: of which caches? --cache or --replicate is missing");
    if (o->order.n > ORDERS_MAX)
        cli_usage("--cache-order: more than %d", ORDERS_MAX);
    for (uint32_t i = 0; i < o->order.n; i++)
        if (kind_of(o->order.v[i]) == BY_HALO && !o->alpha.n)
            cli_usage("--cache-order halo: goes with --replicate");
    if (o->alpha.n > GNN_CACHE_SIZES_MAX)
        cli_usage("--replicate: more than %d", GNN_CACHE_SIZES_MAX);
    for (uint32_t i = 1; i < o->alpha.n; i++)
        if (o->alpha.v[i] <= o->alpha.v[i - 1])
            cli_usage("--replicate: not ascending");
}

static int compare_sizes(const void *a, const void *b)
{
    const struct plan_size *x = a, *y = b;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* A number up to 1 without a suffix is a share of all rows, any other a number of bytes. */
static void add_size(struct plan *p, const char *text, size_t n)
{
    static const char suffix[] = "kMGT";
    struct plan_size *z = &p->size[p->nsizes];
    char *end;
    if (p->nsizes == GNN_CACHE_SIZES_MAX || n >= sizeof z->text)
        cli_usage("--cache: too long a list");
    memcpy(z->text, text, n);
    z->text[n] = 0;
    double v = strtod(z->text, &end);
    const char *s = *end ? strchr(suffix, *end == 'K' ? 'k' : *end) : NULL;
    const bool whole = !*end || (s && !end[1]);
    if (end == z->text || !whole || !isfinite(v) || v < 0 || *z->text == '+')
        cli_usage("--cache: '%s' is not a share such as 0.2 or a size such as 4G", z->text);
    if (!s && v <= 1)
        v *= (double)p->rows.all_bytes;
    for (; s && s >= suffix; s--)
        v *= 1024;
    z->bytes = v < 0x1p63 ? (uint64_t)v : UINT64_MAX;
    p->nsizes++;
}

static void read_sizes(struct plan *p)
{
    for (const char *at = p->o->sizes, *end; at; at = *end ? end + 1 : NULL) {
        end = at + strcspn(at, ",");
        add_size(p, at, (size_t)(end - at));
    }
    qsort(p->size, p->nsizes, sizeof *p->size, compare_sizes);
    p->nalphas = p->o->alpha.n;
    if (p->nalphas && (p->s->nparts < 2 || p->s->nparts > PARTS_MAX))
        cli_usage("--replicate: takes a store of 2 to %d parts, this one has %u", PARTS_MAX, p->s->nparts);
    for (uint32_t i = 0; i < p->nalphas; i++)
        p->alpha_bytes[i] = (uint64_t)(p->o->alpha.v[i] * (double)p->rows.all_bytes / p->s->nparts);
}

/* The seeds that the stream was drawn from. */
static void read_seeds(struct plan *p)
{
    const struct gnn_schema *c = &p->s->meta.schema;
    const int set = gnn_schema_find_set(c, p->m->split[0]);
    if (set < 0 || c->set[set].ntype != p->m->seed_ntype || c->set[set].count != p->m->split_seeds[0])
        cli_usage("--plan: the batches' seeds '%s' are not a set of the store", p->m->split[0]);
    must(p, gnn_store_split(p->s, (uint32_t)set, &p->seeds, p->e));
    p->nseeds = c->set[set].count;
    const double n = (double)p->nseeds / p->m->batch_size;
    p->share = n > 1 ? 1 / n : 1;
    p->steps = p->m->drop_last ? floor(n) : n > 1 ? n : 1;
}

/* ---- orders and their caches ---- */

static void read_orders(struct plan *p)
{
    static const char *const usual[] = {"degree", "access", "halo"};
    const bool given = p->o->order.n;
    p->norders = given ? p->o->order.n : p->nalphas ? 3 : 2;
    for (uint32_t i = 0; i < p->norders; i++) {
        struct plan_order *r = &p->order[i];
        r->name = given ? p->o->order.v[i] : usual[i];
        r->kind = kind_of(r->name);
        if (r->kind == BY_DEGREE)
            must(p, gnn_access_degree(p->s, p->m, &r->score, p->e));
        if (r->kind == BY_FILE) {
            const char *name;
            const int fd = cli_in(r->name, &name);
            must(p, gnn_frequency_read(p->s, fd, name, &r->score, p->e));
            close(fd);
        }
        if (p->nsizes && r->kind != BY_HALO) {
            uint64_t bytes[GNN_CACHE_SIZES_MAX];
            for (uint32_t k = 0; k < p->nsizes; k++)
                bytes[k] = p->size[k].bytes;
            must(p, gnn_cache_init(&r->cache, p->s, &p->rows, r->kind == BY_ACCESS ? &p->access : &r->score, bytes,
                                   p->nsizes, -1, p->e));
            gnn_cache_expected(&r->cache, &p->s->meta.schema, &p->access, r->fig.expected);
        }
    }
}

/* 1 for the nodes in the part's halo, which are kept in the order of their ids; nothing else is. */
static void halo_scores(struct plan *p, uint32_t part, struct gnn_scores *x)
{
    const struct gnn_schema *c = &p->s->meta.schema;
    must(p, gnn_scores_init(x, c, p->e));
    for (uint32_t t = 0; t < c->nntypes; t++) {
        const struct gnn_tensor *ids = gnn_store_findf(p->s, part, "halo/%s/ids", c->ntype[t].name);
        for (uint64_t i = 0; i < c->ntype[t].count; i++)
            x->of[t][i] = -1;
        for (uint64_t i = 0; ids && i < ids->shape[0]; i++) {
            const uint32_t id = ((const uint32_t *)ids->data)[i];
            if (id >= c->ntype[t].count)
                cli_die(3, "%s: tensor 'halo/%s/ids': out of range", gnn_store_part_path(p->s, part), c->ntype[t].name);
            x->of[t][id] = 1;
        }
    }
}

/* What a part that takes the seeds it owns of each batch asks of others. */
static void one_part(struct plan *p, uint32_t part)
{
    const uint64_t from = p->s->book[p->m->seed_ntype][part], to = p->s->book[p->m->seed_ntype][part + 1];
    uint32_t *own = need(malloc((p->nseeds + 1) * sizeof *own));
    uint64_t n = 0;
    struct gnn_scores access;
    for (uint64_t i = 0; i < p->nseeds; i++)
        if (p->seeds[i] >= from && p->seeds[i] < to)
            own[n++] = p->seeds[i];
    must(p, gnn_access_expected(p->s, p->m, own, n, p->share, &access, p->e));
    free(own);
    for (uint32_t i = 0; i < p->norders; i++) {
        struct plan_order *r = &p->order[i];
        struct gnn_scores halo = {0};
        double missed[GNN_CACHE_SIZES_MAX + 1];
        if (r->kind == BY_HALO)
            halo_scores(p, part, &halo);
        must(p, gnn_cache_init(&r->remote[part], p->s, &p->rows,
                               r->kind == BY_HALO     ? &halo
                               : r->kind == BY_ACCESS ? &access
                                                      : &r->score,
                               p->alpha_bytes, p->nalphas, part, p->e));
        gnn_cache_expected(&r->remote[part], &p->s->meta.schema, &access, missed);
        for (uint32_t k = 0; k <= p->nalphas; k++)
            r->remote_fig.expected[k] += missed[k] * p->steps;
        gnn_scores_release(&halo);
    }
    gnn_scores_release(&access);
}

/* ---- batches ---- */

static void store_ids(struct plan *p, const struct gnn_batch *b, uint32_t t)
{
    const uint64_t n = gnn_batch_nodes(b, t), limit = p->s->meta.schema.ntype[t].count;
    const uint32_t *id = b->type[t].node;
    for (uint64_t i = 0; i < n; i++)
        if (id[i] >= limit)
            cli_die(3, "batch %llu/%llu: node id out of range", (unsigned long long)b->epoch, (unsigned long long)b->step);
    p->id[t] = id;
    if (!p->inverse[t])
        return;
    must(p, gnn_buf_fit(&p->ids[t], n, sizeof *id, "node ids", p->e));
    uint32_t *v = p->ids[t].data;
    for (uint64_t i = 0; i < n; i++)
        v[i] = p->inverse[t][id[i]];
    p->id[t] = v;
}

static void count(struct plan *p, const struct gnn_batch *b)
{
    for (uint32_t t = 0; t < b->nntypes; t++) {
        store_ids(p, b, t);
        p->nodes += p->rows.bytes[t] ? gnn_batch_nodes(b, t) : 0;
    }
    p->batches++;
    if (p->nalphas)
        must(p, gnn_reach_find(&p->reach, p->s, b, p->m->seed_ntype, p->id, p->e));
    for (uint32_t i = 0; i < p->norders; i++) {
        struct plan_order *r = &p->order[i];
        for (uint32_t t = 0; t < b->nntypes; t++) {
            const uint64_t n = gnn_batch_nodes(b, t);
            if (r->cache.level)
                gnn_cache_count(&r->cache, t, p->id[t], n, NULL, 0, &r->tally);
            for (uint32_t k = 0; p->nalphas && k < p->s->nparts; k++)
                gnn_cache_count(&r->remote[k], t, p->id[t], n, p->reach.bits[t].data, UINT64_C(1) << k, &r->remotes);
        }
    }
}

static void measure(struct plan *p, struct gnn_source *src)
{
    struct gnn_batch *b;
    int rc;
    while (!(rc = gnn_source_next(src, &b, p->e))) {
        if (!b->split) /* sets for evaluation are not planned for */
            count(p, b);
        gnn_batch_put(b);
        cli_progress("batches", p->batches, 0, NULL);
    }
    cli_progress_end();
    if (rc != GNN_END)
        cli_fail(p->e);
    must(p, gnn_store_verified(p->s, p->e));
}

/* ---- the whole ---- */

static void prepare(struct plan *p)
{
    const struct gnn_schema *c = &p->s->meta.schema;
    must(p, gnn_rows_init(&p->rows, c, p->o->fields, p->e));
    read_sizes(p);
    read_seeds(p);
    p->inverse = need(calloc(c->nntypes, sizeof *p->inverse));
    p->ids = need(calloc(c->nntypes, sizeof *p->ids));
    p->id = need(calloc(c->nntypes, sizeof *p->id));
    for (uint32_t t = 0; p->m->original_ids && t < c->nntypes; t++)
        must(p, gnn_store_inverse(p->s, t, &p->inverse[t], p->e));
    must(p, gnn_reach_init(&p->reach, c->nntypes, p->e));
    const double begin = gnn_clock();
    must(p, gnn_access_expected(p->s, p->m, p->seeds, p->nseeds, p->share, &p->access, p->e));
    p->seconds = gnn_clock() - begin;
    cli_info("expected frequencies in %.2f s", p->seconds);
    read_orders(p);
    for (uint32_t i = 0; p->nalphas && i < p->norders; i++)
        p->order[i].remote = need(calloc(p->s->nparts, sizeof(struct gnn_cache)));
    for (uint32_t k = 0; p->nalphas && k < p->s->nparts; k++)
        one_part(p, k);
}

/* From tallies to rows. */
static void figures(struct plan *p)
{
    uint64_t missed[GNN_CACHE_SIZES_MAX + 1];
    for (uint32_t i = 0; i < p->norders; i++) {
        struct plan_order *r = &p->order[i];
        r->fig.order = r->remote_fig.order = r->name;
        r->fig.k = &r->cache;
        r->remote_fig.k = r->remote;
        if (r->cache.level)
            gnn_cache_missed(&r->cache, &r->tally, missed);
        for (uint32_t k = 0; r->cache.level && k <= p->nsizes; k++)
            r->fig.measured[k] = (double)missed[k];
        if (!p->nalphas)
            continue;
        gnn_cache_missed(&r->remote[0], &r->remotes, missed);
        for (uint32_t k = 0; k <= p->nalphas; k++)
            r->remote_fig.measured[k] = p->batches ? (double)missed[k] * (double)p->m->steps[0] / (double)p->batches : 0;
        for (uint32_t k = 1; k < p->s->nparts; k++)
            for (uint32_t j = 0; j < p->nalphas; j++)
                r->remote[0].rows[j] += r->remote[k].rows[j];
    }
}

static void show(const struct plan *p)
{
    struct plan_summary m = {p->m->batch_size, p->steps, p->seconds, p->batches, &p->rows};
    struct plan_figures f[ORDERS_MAX];
    char *size[GNN_CACHE_SIZES_MAX];
    double all = 0;
    uint32_t n = 0;
    for (uint32_t t = 0; t < p->access.ntypes; t++)
        for (uint64_t i = 0; p->rows.bytes[t] && i < p->s->meta.schema.ntype[t].count; i++)
            all += p->access.of[t][i];
    plan_show_head(&m, all, p->batches ? (double)p->nodes / (double)p->batches : 0);
    for (uint32_t i = 0; i < p->nsizes; i++)
        size[i] = (char *)(uintptr_t)p->size[i].text;
    for (uint32_t i = 0; i < p->norders; i++)
        if (p->order[i].cache.level)
            f[n++] = p->order[i].fig;
    if (p->nsizes)
        plan_show_caches(&m, f, n, size);
    for (uint32_t i = 0; i < p->norders; i++)
        f[i] = p->order[i].remote_fig;
    if (p->nalphas)
        plan_show_remote(&m, f, p->norders, p->o->alpha.v, p->s->nparts);
}

static void release(struct plan *p)
{
    for (uint32_t i = 0; i < p->norders; i++) {
        struct plan_order *r = &p->order[i];
        gnn_scores_release(&r->score);
        gnn_cache_release(&r->cache);
        for (uint32_t k = 0; r->remote && k < p->s->nparts; k++)
            gnn_cache_release(&r->remote[k]);
        free(r->remote);
    }
    for (uint32_t t = 0; t < p->s->meta.schema.nntypes; t++) {
        gnn_free(p->inverse[t]);
        gnn_buf_release(&p->ids[t]);
    }
    free(p->inverse);
    free(p->ids);
    free(p->id);
    gnn_free(p->seeds);
    gnn_scores_release(&p->access);
    gnn_reach_release(&p->reach);
    gnn_rows_release(&p->rows);
}

void plan_run(struct gnn_source *src, struct gnn_store *s, const struct plan_opts *o)
{
    static struct plan p; /* large */
    struct gnn_err e = {0};
    p = (struct plan){.s = s, .m = &src->meta->sampling, .o = o, .e = &e};
    must(&p, gnn_gather_check(s, src->meta, &e));
    prepare(&p);
    measure(&p, src);
    figures(&p);
    show(&p);
    release(&p);
    gnn_source_free(src);
}
