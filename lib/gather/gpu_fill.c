/* Device memory for the rows that a clique of devices keeps, and the rows in it: collected from the
 * host by the kernel that will collect them for batches. */
#include "lib/cache/place.h"
#include "lib/gather/gpu_gather.h"

enum { CHUNK = 1 << 20 }; /* rows at a time */

/* One type's rows in a clique. */
struct fill {
    struct gpu_gather *x;
    const struct gather_clique *c;
    uint32_t type;
    struct gnn_place place;
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
    struct gnn_gather_part part = {.count = n, .tier = GNN_GATHER_LOCAL};
    void *data, *p;
    int rc = gpu_gather_alloc(u, n * t->bytes, "the cache", &data, f->e);
    for (uint32_t i = 0; !rc && i < t->job->nparts; i++) {
        const struct gnn_gather_part *from = &t->job->part[i];
        rc = gnn_dev_copy((char *)data + from->first * t->bytes, from->data, from->count * t->bytes,
                          u->stream, f->e);
    }
    part.data = data;
    if (!rc)
        rc = gpu_gather_upload(u, &part, sizeof part, "the cache's parts", &p, f->e);
    if (rc)
        return rc;
    *v = (struct gather_view){.cached = p, .ncached = 1};
    return 0;
}

/* ---- some rows ---- */

/* Member m's memory for a table: its copy of what is replicated, and its shard. */
struct held {
    void *part[2];
};

static int hold(const struct fill *f, const struct gather_table *t, unsigned m, struct held *h)
{
    struct gather_unit *u = &f->x->unit[f->c->member[m]];
    const uint64_t *first = f->place.first;
    int rc = 0;
    for (unsigned k = 0; !rc && k < 2; k++) {
        const uint32_t part = k ? m + 1 : 0;
        rc = gpu_gather_alloc(u, (first[part + 1] - first[part]) * t->bytes, "the cache",
                              &h->part[k], f->e);
    }
    return rc;
}

/* Member m's view of the table: its own memory, then the host's. */
static int look(const struct fill *f, struct gather_table *t, unsigned m, const struct held *h,
                const uint32_t *slot)
{
    const unsigned unit = f->c->member[m];
    struct gather_view *v = &t->view[unit];
    struct gnn_gather_part part[GNN_GPU_MAX + 1];
    void *p;
    part[0] = gnn_place_part(&f->place, m, 0, h[m].part[0], NULL);
    for (unsigned k = 0; k < f->c->n; k++)
        part[k + 1] = gnn_place_part(&f->place, m, k + 1, h[k].part[1], NULL);
    int rc = gpu_gather_upload(&f->x->unit[unit], part, (f->c->n + 1) * sizeof *part,
                               "the cache's parts", &p, f->e);
    if (rc)
        return rc;
    v->cached = p;
    v->ncached = f->c->n + 1;
    v->slot = slot;
    v->nslots = f->place.nrows;
    return 0;
}

/* Rows of slots [from, to) to member m's memory, for all tables of the type. */
static int collect(const struct fill *f, unsigned m, unsigned k, const struct held *h)
{
    const unsigned unit = f->c->member[m];
    struct gather_unit *u = &f->x->unit[unit];
    const uint32_t part = k ? m + 1 : 0;
    const uint64_t first = f->place.first[part], end = f->place.first[part + 1];
    int rc = end == first
                 ? 0
                 : gnn_buf_fit_in(&u->d->mem, &u->rows, end - first < CHUNK ? end - first : CHUNK,
                                  sizeof(uint32_t), "row ids", f->e);
    for (uint64_t at = first; !rc && at < end; at += CHUNK) {
        const uint64_t n = end - at < CHUNK ? end - at : CHUNK;
        rc = gnn_dev_copy(u->rows.data, f->place.row + at, n * sizeof(uint32_t), u->stream, f->e);
        for (uint32_t i = 0; !rc && i < f->x->job->njobs; i++) {
            struct gather_table *t = &f->x->table[i];
            if (!is_ours(f, t))
                continue;
            const struct gather_view *v = &t->view[unit];
            const struct gather_view store = {.backing = v->backing, .nbacking = v->nbacking};
            rc = gpu_gather_rows(
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
        rc = gpu_gather_upload(&x->unit[f->c->member[m]], f->place.slot,
                               f->place.nrows * sizeof(uint32_t), "the cache's slots", &slot[m],
                               f->e);
    for (uint32_t i = 0; !rc && i < x->job->njobs; i++) {
        struct gather_table *t = &x->table[i];
        if (!is_ours(f, t))
            continue;
        for (unsigned m = 0; !rc && m < n; m++)
            rc = hold(f, t, m, &h[(size_t)i * n + m]);
        for (unsigned m = 0; !rc && m < n; m++)
            rc = look(f, t, m, &h[(size_t)i * n], slot[m]);
    }
    for (unsigned m = 0; !rc && m < n; m++)
        for (unsigned k = 0; !rc && k < 2; k++)
            rc = gnn_dev_use(x->unit[f->c->member[m]].d->number, f->e) || collect(f, m, k, h)
                     ? f->e->code
                     : 0;
    struct gnn_err late = {0};
    for (unsigned m = 0; m < n; m++) /* also after a failure: the places go */
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
                          : gpu_gather_back(f->x, t, unit, f->e);
        }
    }
    if (rc || c->whole || !c->all[f->type])
        return rc;
    const uint64_t hot = c->hot[f->type], dealt = c->all[f->type] - hot,
                   room = hot + (dealt + c->n - 1) / c->n;
    const struct gnn_place_opts o = {.policy = GNN_PLACE_MIXED,
                                     .devices = c->n,
                                     .nrows = f->x->job->meta.schema.ntype[f->type].count,
                                     .order = ranked->row[f->type],
                                     .norder = c->all[f->type],
                                     .row_bytes = bytes,
                                     .budget = room * bytes,
                                     .replicate = ((double)hot + 0.5) /
                                                  (double)room}; /* rounded down to hot */
    rc = gnn_place_init(&f->place, &o, f->e);
    if (!rc)
        rc = fill_some(f);
    gnn_place_release(&f->place);
    return rc;
}

int gpu_gather_fill(struct gpu_gather *x, const struct gather_clique *c,
                    const struct gnn_ranking *ranked, struct gnn_err *e)
{
    struct fill f = {.x = x, .c = c, .e = e};
    int rc = 0;
    for (; !rc && f.type < x->job->meta.schema.nntypes; f.type++)
        rc = fill_type(&f, ranked);
    return rc;
}
