/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs, and what the CPU draws from them. */
#include "gpu/sampling.h"

#include "kernels/rng.h"

/* ---- graphs ---- */

uint32_t graph_scale(void)
{
    return size_scale < 20 ? size_scale : 20;
}

uint32_t the_degree;

uint32_t some_degree(uint64_t i)
{
    static const uint32_t d[] = {0, 0,  1,  1,  2,  3,  4,  5,  6,  7,  8,
                                 9, 12, 15, 16, 17, 20, 31, 33, 34, 40, 65};
    (void)i;
    return d[below(COUNT(d))];
}
uint32_t same_degree(uint64_t i)
{
    (void)i;
    return the_degree;
}
uint32_t near_degree(uint64_t i)
{
    return the_degree + (uint32_t)i % 3;
}
static uint32_t up_to_six(uint64_t i)
{
    return (uint32_t)i % 7;
}

/* Every other row has weights between 1 and 8, the others have one that outweighs the rest. */
static void weigh(struct gnn_sample_part *a, bool zeros)
{
    uint64_t *sum = array(a->nedges, sizeof *sum);
    uint32_t *positive = array(a->nedges, sizeof *positive);
    for (uint64_t i = 0; i < a->count; i++) {
        uint64_t all = 0;
        uint32_t n = 0;
        for (uint64_t k = a->indptr[i]; k < a->indptr[i + 1]; k++) {
            const bool some = !zeros || below(3);
            all += !some ? 0 : i % 2 || below(5) ? 1 + below(8) : UINT64_C(1) << 40;
            n += some;
            sum[k] = all;
            positive[k] = n;
        }
    }
    a->pick.sum = sum;
    a->pick.positive = zeros ? positive : NULL;
}

/* Each row in an order at random. */
static void order(struct gnn_sample_part *a)
{
    uint32_t *of = array(a->nedges, sizeof *of);
    for (uint64_t i = 0; i < a->count; i++) {
        uint32_t *row = of + a->indptr[i];
        for (uint32_t k = 0; k < a->indptr[i + 1] - a->indptr[i]; k++) {
            const uint32_t other = below(k + 1);
            row[k] = row[other];
            row[other] = k;
        }
    }
    a->pick.order = of;
}

/* A time of a store: a whole number, or the bits of a quarter of it, of which 0 may have a sign. */
static int64_t time_of(int64_t t, bool real)
{
    double d = (double)t / 4;
    int64_t bits;
    if (!real)
        return t;
    if (!t && below(2))
        d = -0.0;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

static void date(struct gnn_sample_part *a, bool real)
{
    int64_t *time = array(a->nedges, sizeof *time);
    for (uint64_t i = 0; i < a->count; i++) {
        int64_t t = (int64_t)below(10) - 12;
        for (uint64_t k = a->indptr[i]; k < a->indptr[i + 1]; k++)
            time[k] = time_of(t += below(3), real);
    }
    a->pick.time = time;
}

static struct gnn_sample_part part_of(uint64_t first, uint64_t end, uint64_t nsrc,
                                      uint32_t (*degree)(uint64_t i))
{
    struct gnn_sample_part a = {.first = first, .count = end - first};
    uint64_t *ptr = array(a.count + 1, sizeof *ptr);
    ptr[0] = 0;
    for (uint64_t i = first; i < end; i++)
        ptr[i - first + 1] = ptr[i - first] + degree(i);
    a.nedges = ptr[a.count];
    uint32_t *indices = host(a.nedges * sizeof *indices);
    for (uint64_t k = 0; k < a.nedges; k++)
        indices[k] = below((uint32_t)nsrc);
    a.indptr = ptr;
    a.indices = indices;
    return a;
}

struct relation *add_relation(struct world *w, uint32_t src, uint32_t dst, uint32_t nparts,
                              unsigned with, uint32_t (*degree)(uint64_t i))
{
    struct relation *r = &w->relation[w->nrelations++];
    const uint64_t ndst = w->nodes[dst], nsrc = w->nodes[src];
    *r = (struct relation){.src = src, .dst = dst};
    for (uint64_t p = 0, first = 0, id = 1000; p < nparts; p++) {
        const uint64_t end = p + 1 == nparts                 ? ndst
                             : p + 2 == nparts && nparts > 2 ? first
                                                             : first + (ndst - first) / 3;
        struct gnn_sample_part *a = &r->part[p];
        *a = part_of(first, end, nsrc, degree);
        r->held[p] = a->nedges;
        first = end;
        if (with & EDGE_IDS && p % 3 != 1) {
            uint64_t *ids = array(a->nedges, sizeof *ids);
            for (uint64_t k = 0; k < a->nedges; k++)
                ids[k] = id += 3;
            a->id = ids;
        }
        if (with & ORIGINAL_IDS && p % 3 != 2) {
            uint32_t *orig = array(a->count, sizeof *orig);
            for (uint64_t i = 0; i < a->count; i++)
                orig[i] = (uint32_t)((a->first + i) * 2654435761u);
            a->orig = orig;
        }
        if (with & WEIGHTS)
            weigh(a, p % 3 == 0);
        if (with & WEIGHTS)
            order(a);
        if (with & (EDGE_TIMES | REAL_TIMES))
            date(a, with & REAL_TIMES);
    }
    uint32_t *orig = with & ORIGINAL_IDS ? array(nsrc, sizeof *orig) : NULL;
    for (uint64_t i = 0; i < nsrc && orig; i++)
        orig[i] = (uint32_t)(i * 2654435761u + 7);
    r->graph = (struct gnn_sample_graph){.nparts = nparts, .nsrc = nsrc, .orig = orig};
    return r;
}

struct world one_type(uint64_t nodes, uint32_t nparts, unsigned with)
{
    struct world w = {.ntypes = 1, .nodes = {nodes}};
    add_relation(&w, 0, 0, nparts, with, some_degree);
    return w;
}

struct world two_types(uint32_t nparts, unsigned with)
{
    struct world w = {.ntypes = 2, .nodes = {300 * graph_scale(), 170 * graph_scale()}};
    add_relation(&w, 0, 0, nparts, with, some_degree);
    add_relation(&w, 1, 0, nparts, with, up_to_six);
    add_relation(&w, 0, 1, nparts, with, some_degree);
    return w;
}

/* Part p as the device has it, the second one in the host's memory. Where it hurts no other row,
 * there is rubbish in the place of a row that is resident. */
static struct gnn_sample_part view_of(const struct relation *r, uint32_t p)
{
    struct gnn_sample_part a = r->part[p];
    const uint64_t held = r->held[p];
    uint32_t *indices = array(held, sizeof *indices), *where = array(a.count, sizeof *where),
             *row = host((held + GNN_SAMPLE_RESIDENT * a.count) * sizeof *row);
    uint64_t used = 0;
    bool sound = a.indptr[a.count] <= held;
    for (uint64_t i = 0; i < a.count; i++)
        sound = sound && a.indptr[i] <= a.indptr[i + 1];
    memcpy(indices, a.indices, held * sizeof *indices);
    for (uint64_t i = 0; i < a.count; i++) {
        const uint64_t b = a.indptr[i], e = a.indptr[i + 1];
        where[i] = UINT32_MAX;
        if (i % 3 || b > e || e > held)
            continue;
        where[i] = (uint32_t)(used / GNN_SAMPLE_RESIDENT);
        memcpy(row + used, a.indices + b, (e - b) * sizeof *row);
        used += e - b;
        for (; used % GNN_SAMPLE_RESIDENT; used++)
            row[used] = 0xabababab;
        if (sound && p != 3)
            memset(indices + b, 0xcd, (e - b) * sizeof *indices);
    }
    if (p == 1) {
        in_host_memory(a.indptr);
        in_host_memory(indices);
    }
    a.indices = indices;
    a.resident_at = p == 3 ? NULL : where; /* or there are no such rows */
    a.resident = memcpy(array(used, sizeof *row), row, used * sizeof *row);
    return a;
}

/* ---- batches ---- */

struct gnn_pick_rule rule_of(const struct plan *p, uint32_t hop, uint32_t relation)
{
    struct gnn_pick_rule r = p->rule;
    r.fanout = p->fanout[hop][relation];
    return r;
}
bool induces(const struct plan *p, uint32_t hop)
{
    return p->induced && hop + 1 == p->hops;
}

static void *longer(const void *old, uint64_t had, uint64_t bytes)
{
    void *p = host(bytes);
    if (had)
        memcpy(p, old, had);
    return p;
}

/* Space for n entries of type t, and for `extra` more in their numbering; the hash table is as
 * small as may be. */
static void lengthen(struct drawn *d, const struct plan *p, struct gnn_relabel *r, uint32_t t,
                     uint64_t extra)
{
    struct gnn_entries *e = &d->list[t];
    const uint64_t had = d->capacity[t], want = r->count + extra + 1;
    if (want > had) {
        d->capacity[t] = 2 * want;
        e->node = longer(e->node, had * sizeof *e->node, 2 * want * sizeof *e->node);
        if (p->columns & TREES)
            e->tree = longer(e->tree, had * sizeof *e->tree, 2 * want * sizeof *e->tree);
        if (p->columns & TIMES)
            e->time = longer(e->time, had * sizeof *e->time, 2 * want * sizeof *e->time);
    }
    r->list = *e;
    const uint64_t slots = gnn_relabel_slots(r->count + extra);
    if (p->columns && slots > r->slots)
        gnn_relabel_table(r, host(slots * sizeof *r->slot), slots, 7);
    if (!gnn_relabel_fit(r, extra))
        must(gnn_fail(&failure, GNN_E_RUN, "the CPU cannot number"));
}

void key_of(uint32_t step, uint32_t hop, uint32_t relation, uint32_t key[2])
{
    gnn_rng_key(77, 3, step, hop, gnn_rng_tag(GNN_RNG_NEIGHBOUR, 1, relation), key);
}

/* Up to the numbering of the sources, for which r is, or NULL. */
static void pick_here(struct gnn_sample_job *job, struct drawn_block *b, struct drawn *d,
                      struct gnn_relabel *r)
{
    if (job->rule.time.by_edge)
        job->times = host((b->sampled + 1) * sizeof *job->times);
    d->code = gnn_sample_pick(job, job->times ? NULL : r, b->indices, b->ids, &d->bad);
    if (!d->code && job->times && r)
        (void)gnn_relabel_number(r, job->dst, job->times, job->n, b->indptr, b->indices);
}

static void draw_block(struct trial *t, struct gnn_relabel *r, uint32_t step, uint32_t hop,
                       uint32_t et, struct drawn *d)
{
    const struct plan *p = &t->p;
    const struct relation *rel = &t->w->relation[et];
    const bool keeps = induces(p, hop);
    const uint32_t first = p->only_new && hop && !keeps ? d->counts[hop - 1][rel->dst] : 0,
                   n = d->counts[hop][rel->dst] - first;
    struct drawn_block *b = &d->block[hop * t->w->nrelations + et];
    uint32_t key[2];
    struct gnn_sample_job job = {.graph = rel->graph,
                                 .dst = gnn_entries_from(d->list[rel->dst], first),
                                 .n = n,
                                 .rule = rule_of(p, hop, et),
                                 .key = key,
                                 .row = host((n + 1) * sizeof *job.row),
                                 .span = p->rule.weighted ? host((n + 1) * sizeof *job.span) : NULL,
                                 .indptr = b->indptr = host((n + 1) * sizeof *b->indptr)};
    job.scratch = host(gnn_sample_scratch(job.rule) + 64);
    job.scratch = (char *)job.scratch + (64 - (uintptr_t)job.scratch % 64) % 64;
    job.graph.part = rel->part;
    key_of(step, hop, et, key);
    d->bad_block = hop * t->w->nrelations + et;
    b->rows = n;
    d->code = gnn_sample_count(&job, &d->bad);
    if (d->code)
        return;
    b->sampled = b->edges = b->indptr[n];
    b->indices = host((b->sampled + 1) * sizeof *b->indices);
    b->ids = p->ids ? host((b->sampled + 1) * sizeof *b->ids) : NULL;
    lengthen(d, p, &r[rel->src], rel->src, b->sampled);
    job.dst = gnn_entries_from(d->list[rel->dst], first); /* it may have moved */
    pick_here(&job, b, d, keeps ? NULL : &r[rel->src]);
    if (d->code || !keeps)
        return;
    (void)gnn_relabel_keep(&r[rel->src], NULL, job.dst, n, b->indptr, b->indices, b->ids);
    b->edges = b->indptr[n];
}

/* Of seed i, tree i, and a time; times repeat themselves. */
struct gnn_entries seeds_of(const struct trial *t, unsigned b)
{
    const struct plan *p = &t->p;
    const uint32_t n = t->nseeds + 1; /* not NULL */
    struct gnn_entries e = {.node = t->seed[b]};
    if (p->columns & TREES)
        e.tree = host(n * sizeof *e.tree);
    if (p->columns & TIMES)
        e.time = host(n * sizeof *e.time);
    for (uint32_t i = 0; i < n; i++) {
        if (e.tree)
            e.tree[i] = i;
        if (e.time) /* an entry has no zero with a sign */
            e.time[i] = gnn_time_of_entry(p->rule.time.real,
                                          time_of((int64_t)(i * i % 23) - 12, p->rule.time.real));
    }
    return e;
}

static void draw_batch(struct trial *t, struct gnn_relabel *r, unsigned batch)
{
    const struct world *w = t->w;
    struct drawn *d = &t->want[batch];
    *d = (struct drawn){0};
    for (uint32_t k = 0; k < w->ntypes; k++) {
        r[k].count = 0;
        lengthen(d, &t->p, &r[k], k, 1);
        gnn_relabel_begin(&r[k]);
    }
    lengthen(d, &t->p, &r[0], 0, t->nseeds);
    const uint64_t got = gnn_relabel_add(&r[0], seeds_of(t, batch), t->nseeds);
    if (got < t->nseeds) {
        d->code = GNN_SAMPLE_SEED;
        d->bad = (struct gnn_sample_place){.node = t->seed[batch][got], .edge = got};
        return;
    }
    d->counts[0][0] = r[0].count;
    for (uint32_t hop = 0; hop < t->p.hops; hop++) {
        for (uint32_t et = 0; et < w->nrelations; et++) {
            draw_block(t, r, batch, hop, et, d);
            if (d->code)
                return;
        }
        for (uint32_t k = 0; k < w->ntypes; k++)
            d->counts[hop + 1][k] = r[k].count;
    }
    d->bad_block = 0;
}

static void need(uint32_t *capacity, uint32_t n)
{
    *capacity = n > *capacity ? n : *capacity;
}

void draw_here(struct trial *t, const struct world *w, const struct plan *p, unsigned batches,
               uint32_t nseeds, const uint32_t *always, uint32_t nalways)
{
    struct gnn_relabel r[TYPES] = {{0}};
    *t = (struct trial){.w = w, .p = *p, .batches = batches, .nseeds = nalways + nseeds};
    for (uint32_t k = 0; k < w->ntypes; k++) {
        r[k].nnodes = w->nodes[k];
        r[k].map = host((w->nodes[k] + 1) * sizeof *r[k].map);
    }
    for (uint32_t et = 0; et < w->nrelations; et++)
        for (uint32_t k = 0; k < w->relation[et].graph.nparts; k++)
            t->view[et][k] = view_of(&w->relation[et], k);
    t->capacity.seeds = t->nseeds;
    for (unsigned b = 0; b < batches; b++) {
        t->seed[b] = host((t->nseeds + 1) * sizeof **t->seed);
        for (uint32_t i = 0; i < t->nseeds; i++)
            t->seed[b][i] = i < nalways ? always[i] : below((uint32_t)w->nodes[0]);
        draw_batch(t, r, b);
        for (uint32_t k = 0; k < w->ntypes; k++)
            need(&t->capacity.nodes[k], r[k].count);
        for (uint32_t i = 0; i < p->hops * w->nrelations; i++) {
            const struct drawn_block *a = &t->want[b].block[i];
            need(&t->capacity.rows[i], a->indptr ? a->rows : 1);
            need(&t->capacity.edges[i], a->sampled);
            need(&t->capacity.kept[i], a->edges);
        }
    }
}
