/* Fills the GPU feature cache of a clique: memory for its rows, which the kernel that gathers
 * batches collects from the host. */
#include "lib/gather/gpu_gather.h"

enum { CHUNK = 1 << 20 }; /* rows at a time */

/* One type's rows in a clique. */
struct fill {
    struct gpu_gather *x;
    const struct gather_clique *c;
    uint32_t type;
    struct gnn_placement placement;
    struct gnn_err *e;
};

static bool is_ours(const struct fill *f, const struct gather_table *t)
{
    return gather_cacheable(t) && t->job->type == f->type;
}

/* ---- everything, on every device ---- */

static int fill_whole(const struct fill *f, struct gather_table *t, struct gather_unit *u,
                      struct gather_view *v)
{
    const uint64_t n = f->x->job->meta.schema.ntype[f->type].count;
    struct gnn_gather_part part = {.count = n, .tier = GNN_TIER_DEVICE};
    void *data, *p;
    int rc = gnn_gpu_gather_alloc(u, n * t->bytes, "the cache", &data, f->e);
    for (uint32_t i = 0; !rc && i < t->job->nparts; i++) {
        const struct gnn_gather_part *from = &t->job->part[i];
        rc = gnn_dev_copy((char *)data + from->first * t->bytes, from->data, from->count * t->bytes,
                          u->stream, f->e);
    }
    part.data = data;
    if (!rc)
        rc = gnn_gpu_gather_upload(u, &part, sizeof part, "shards of the cache", &p, f->e);
    if (rc)
        return rc;
    *v = (struct gather_view){.cached = p, .ncached = 1};
    return 0;
}

/* ---- some rows ---- */

/* Member m's memory for a table: the replicated rows, and its shard. */
struct held {
    void *part[2];
};

static int alloc_parts(const struct fill *f, const struct gather_table *t, unsigned m,
                       struct held *h)
{
    struct gather_unit *u = &f->x->unit[f->c->member[m]];
    int rc = 0;
    for (unsigned k = 0; !rc && k < 2; k++)
        rc = gnn_gpu_gather_alloc(u, gnn_placement_rows(&f->placement, k ? m + 1 : 0) * t->bytes,
                                  "the cache", &h->part[k], f->e);
    return rc;
}

/* Member m's view of the table: its own memory, then the others' shards. */
static int set_view(const struct fill *f, struct gather_table *t, unsigned m, const struct held *h,
                    const uint32_t *slot)
{
    const unsigned unit = f->c->member[m];
    void *data[GNN_GPU_MAX + 1] = {h[m].part[0]};
    for (unsigned k = 0; k < f->c->n; k++)
        data[k + 1] = h[k].part[1];
    return gnn_gpu_gather_place(&f->x->unit[unit], &t->view[unit], &f->placement, m, data, slot,
                                f->e);
}

/* Rows of slots [from, to) to member m's memory, for all tables of the type. */
static int gather_part(const struct fill *f, unsigned m, unsigned k, const struct held *h)
{
    const unsigned unit = f->c->member[m];
    struct gather_unit *u = &f->x->unit[unit];
    const uint32_t part = k ? m + 1 : 0;
    const uint64_t first = f->placement.first[part], end = f->placement.first[part + 1];
    int rc = end == first
                 ? 0
                 : gnn_buf_fit_in(&u->d->mem, &u->rows, end - first < CHUNK ? end - first : CHUNK,
                                  sizeof(uint32_t), "row ids", f->e);
    for (uint64_t at = first; !rc && at < end; at += CHUNK) {
        const uint64_t n = end - at < CHUNK ? end - at : CHUNK;
        rc = gnn_dev_copy(u->rows.data, f->placement.row + at, n * sizeof(uint32_t), u->stream,
                          f->e);
        for (uint32_t i = 0; !rc && i < f->x->job->njobs; i++) {
            struct gather_table *t = &f->x->table[i];
            if (!is_ours(f, t))
                continue;
            const struct gather_view *v = &t->view[unit];
            const struct gather_view store = {.backing = v->backing, .nbacking = v->nbacking};
            rc = gnn_gpu_gather_rows(
                u, &store, t->bytes, GNN_GATHER_AS_IS, u->rows.data, NULL, n,
                (char *)h[(size_t)i * f->c->n + m].part[k] + (at - first) * t->bytes, NULL, f->e);
        }
    }
    return rc;
}

static int fill_some(const struct fill *f)
{
    const struct gpu_gather *x = f->x;
    const unsigned n = f->c->n;
    void *slot[GNN_GPU_MAX];
    struct held *h = gnn_alloc_zero((uint64_t)x->job->njobs * n, sizeof *h, "a cache", f->e);
    int rc = h ? 0 : f->e->code;
    for (unsigned m = 0; !rc && m < n; m++)
        rc = gnn_gpu_gather_upload(&x->unit[f->c->member[m]], f->placement.slot,
                                   f->placement.nrows * sizeof(uint32_t), "the cache's slots",
                                   &slot[m], f->e);
    for (uint32_t i = 0; !rc && i < x->job->njobs; i++) {
        struct gather_table *t = &x->table[i];
        if (!is_ours(f, t))
            continue;
        for (unsigned m = 0; !rc && m < n; m++)
            rc = alloc_parts(f, t, m, &h[(size_t)i * n + m]);
        for (unsigned m = 0; !rc && m < n; m++)
            rc = set_view(f, t, m, &h[(size_t)i * n], slot[m]);
    }
    for (unsigned m = 0; !rc && m < n; m++)
        for (unsigned k = 0; !rc && k < 2; k++)
            rc = gnn_dev_use(x->unit[f->c->member[m]].d->number, f->e) || gather_part(f, m, k, h)
                     ? f->e->code
                     : 0;
    struct gnn_err late = {0};
    for (unsigned m = 0; m < n; m++) /* also after a failure: the placement goes */
        if (gnn_dev_stream_wait(x->unit[f->c->member[m]].stream, &late) && !rc)
            rc = gnn_fail(f->e, (enum gnn_status)late.code, "%s", late.msg);
    gnn_free(h);
    return rc;
}

/* ---- a clique ---- */

static int fill_type(struct fill *f, const struct gnn_ranking *ranked)
{
    const struct gather_clique *c = f->c;
    uint64_t bytes = 0;
    int rc = 0;
    for (uint32_t i = 0; i < f->x->job->njobs; i++)
        bytes += is_ours(f, &f->x->table[i]) ? f->x->table[i].bytes : 0;
    if (!bytes)
        return 0;
    for (uint32_t i = 0; i < f->x->job->njobs; i++) {
        struct gather_table *t = &f->x->table[i];
        for (unsigned m = 0; !rc && is_ours(f, t) && m < c->n; m++) {
            const unsigned unit = c->member[m];
            rc = c->whole ? fill_whole(f, t, &f->x->unit[unit], &t->view[unit])
                          : gnn_gpu_gather_backing(f->x, t, unit, f->e);
        }
    }
    if (rc || c->whole || !c->held[f->type])
        return rc;
    const struct gnn_placement_opts o = {.devices = c->n,
                                         .nrows = f->x->job->meta.schema.ntype[f->type].count,
                                         .order = ranked->row[f->type],
                                         .norder = c->held[f->type],
                                         .replicated = c->replicated[f->type],
                                         .row_bytes = bytes};
    rc = gnn_placement_init(&f->placement, &o, f->e);
    if (!rc)
        rc = fill_some(f);
    gnn_placement_release(&f->placement);
    return rc;
}

int gnn_gpu_gather_fill(struct gpu_gather *x, const struct gather_clique *c,
                        const struct gnn_ranking *ranked, struct gnn_err *e)
{
    struct fill f = {.x = x, .c = c, .e = e};
    int rc = 0;
    for (; !rc && f.type < x->job->meta.schema.nntypes; f.type++)
        rc = fill_type(&f, ranked);
    return rc;
}
