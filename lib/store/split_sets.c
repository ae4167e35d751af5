/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of nodes and of links, put together from all parts. */
#include <string.h>

#include "lib/base/mem.h"
#include "lib/store/store.h"

/* The members of part p; has: (nodes of the type) which are members, of what was read so far. */
static int read_members(struct gnn_store *s, uint32_t p, const struct gnn_split_set *m, uint32_t *v,
                        uint8_t *has, struct gnn_err *e)
{
    const struct gnn_tensor *x = gnn_store_findf(s, p, "split/%s/%s", m->split, m->set),
                            *o = gnn_store_findf(s, p, "split/%s/%s/order", m->split, m->set);
    const uint64_t *book = s->book[m->ntype], *order = o ? o->data : NULL;
    const uint32_t *id = x->data;
    for (uint64_t i = 0; i < x->shape[0]; i++) {
        const uint64_t at = order ? order[i] : i;
        if (id[i] < book[p] || id[i] >= book[p + 1])
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: %s: element %llu is node %u, which the partition does not own",
                            gnn_store_part_path(s, p), x->name, (unsigned long long)i, id[i]);
        if (at >= m->count || v[at] != UINT32_MAX || has[id[i]])
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: tensor '%s': element %llu is out of range or given twice",
                            gnn_store_part_path(s, p), x->name, (unsigned long long)i);
        v[at] = id[i];
        has[id[i]] = 1;
    }
    return 0;
}

int gnn_store_split(struct gnn_store *s, uint32_t set, uint32_t **ids, struct gnn_err *e)
{
    const struct gnn_split_set *m = &s->meta.schema.set[set];
    uint32_t *v = gnn_alloc(m->count, sizeof *v, "a split", e);
    uint8_t *has = gnn_alloc_zero(s->meta.schema.ntype[m->ntype].count, 1, "a split", e);
    if (!e->code)
        memset(v, 0xff, m->count * sizeof *v); /* no node id: marks what was not given */
    for (uint32_t p = s->from; p < s->to && !e->code; p++)
        (void)!read_members(s, p, m, v, has, e);
    gnn_free(has);
    if (e->code) {
        gnn_free(v);
        return e->code;
    }
    *ids = v;
    return 0;
}

/* Those of part p; has: a bit for each link of the set that was read so far. */
static int read_links(struct gnn_store *s, uint32_t p, const struct gnn_split_set *m,
                      uint32_t *ends, int64_t *times, uint64_t *has, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    const struct gnn_tensor *x = gnn_store_findf(s, p, "split/%s/%s", m->split, m->set),
                            *o = gnn_store_findf(s, p, "split/%s/%s/order", m->split, m->set),
                            *t = m->time
                                     ? gnn_store_findf(s, p, "split/%s/%s/time", m->split, m->set)
                                     : NULL;
    const uint64_t *book = s->book[m->ntype], *order = o ? o->data : NULL,
                   heads = c->ntype[c->etype[m->etype].src].count;
    const uint32_t *id = x->data;
    for (uint64_t i = 0; i < x->shape[0]; i++, id += 2) {
        const uint64_t at = order ? order[i] : i;
        if (id[0] >= heads || id[1] < book[p] || id[1] >= book[p + 1])
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: %s: element %llu is the link of nodes %u and %u, of which the "
                            "head is out of range, or the tail is not the partition's",
                            gnn_store_part_path(s, p), x->name, (unsigned long long)i, id[0],
                            id[1]);
        if (at >= m->count || has[at / 64] >> at % 64 & 1)
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: tensor '%s': element %llu has a place that is out of range or "
                            "another's",
                            gnn_store_part_path(s, p), x->name, (unsigned long long)i);
        memcpy(ends + 2 * at, id, 2 * sizeof *id);
        if (t)
            times[at] = ((const int64_t *)t->data)[i];
        has[at / 64] |= (uint64_t)1 << at % 64;
    }
    return 0;
}

int gnn_store_links(struct gnn_store *s, uint32_t set, uint32_t **ends, int64_t **times,
                    struct gnn_err *e)
{
    const struct gnn_split_set *m = &s->meta.schema.set[set];
    const uint64_t ntimes = m->time ? m->count : 0;
    uint32_t *v = gnn_alloc(2 * m->count, sizeof *v, "a set of links", e);
    int64_t *t = gnn_alloc_zero(ntimes, sizeof *t, "times of links", e);
    uint64_t *has = gnn_alloc_zero(m->count / 64 + 1, sizeof *has, "a set of links", e);
    if (!e->code)
        memset(v, 0xff, 2 * m->count * sizeof *v);
    for (uint32_t p = s->from; p < s->to && !e->code; p++)
        (void)!read_links(s, p, m, v, t, has, e);
    gnn_free(has);
    if (e->code || !times || !m->time) {
        gnn_free(t);
        t = NULL;
    }
    if (e->code) {
        gnn_free(v);
        return e->code;
    }
    *ends = v;
    if (times)
        *times = t;
    return 0;
}

int gnn_store_link_field(struct gnn_store *s, uint32_t set, const struct gnn_field *f, void **rows,
                         struct gnn_err *e)
{
    const struct gnn_split_set *m = &s->meta.schema.set[set];
    const uint64_t bytes = gnn_dtype_bytes(f->dtype);
    char *v = gnn_alloc_zero(m->count, bytes, "fields of links", e);
    for (uint32_t p = s->from; v && !e->code && p < s->to; p++) {
        const struct gnn_tensor *x = gnn_store_findf(s, p, "split/%s/%s/edge/%s", m->split, m->set,
                                                     f->name),
                                *o = gnn_store_findf(s, p, "split/%s/%s/order", m->split, m->set);
        const uint64_t *order = o ? o->data : NULL;
        for (uint64_t i = 0; i < x->shape[0]; i++) {
            const uint64_t at = order ? order[i] : i;
            if (at < m->count) /* others are refused where the links are read */
                memcpy(v + at * bytes, (const char *)x->data + i * bytes, bytes);
        }
    }
    if (e->code)
        gnn_free(v);
    else
        *rows = v;
    return e->code;
}
