/* SPDX-License-Identifier: Apache-2.0 */
/* Batches drawn on the device. All that a sampler writes to lies in one block of memory, array by
 * array with rubbish between them, and is fetched at once. */
#include "gpu/sampling.h"
#include "lib/gpu/dev.h"

enum { GAP = 64, ARRAYS = 256 };

struct memory {
    char *there, *here; /* here: as it was when it was last fetched */
    size_t used;
    size_t end[ARRAYS], begin[ARRAYS]; /* of what lies between arrays */
    unsigned gaps;
};

struct block {
    uint32_t *indptr, *indices, *edges;
    struct gnn_entries source;
    uint64_t *ids, *all_ids; /* all_ids: of edges that are sampled where some are kept */
    void *scratch;
    struct gnn_cuda_sample_status *status;
};

struct sampler {
    const struct trial *t;
    struct capacity capacity;
    bool hash;
    struct memory memory;
    const struct gnn_sample_part *part[RELATIONS];
    const uint32_t *orig[RELATIONS];
    struct gnn_cuda_relabel type[TYPES];
    struct gnn_cuda_sample_status *status;
    uint32_t *tag, *counts, *keys, *nseeds, *edges;
    struct gnn_entries seeds;
    void *seed_scratch;
    struct block block[BLOCKS], alone[BLOCKS];
};

/* ---- memory ---- */

static void *take(struct memory *m, size_t bytes)
{
    const size_t at = (m->used + 15) / 16 * 16 + GAP;
    if (m->there && m->gaps < ARRAYS) {
        m->end[m->gaps] = m->used;
        m->begin[m->gaps++] = at;
    }
    m->used = at + bytes;
    return m->there ? m->there + at : NULL;
}
static struct gnn_entries take_entries(struct memory *m, unsigned columns, size_t n)
{
    struct gnn_entries e = {.node = take(m, n * sizeof *e.node)};
    if (columns & TREES)
        e.tree = take(m, (n + 1) * sizeof *e.tree);
    if (columns & TIMES)
        e.time = take(m, (n + 1) * sizeof *e.time);
    return e;
}

/* What the device has there, once it is fetched. */
static const void *fetched(const struct sampler *s, const void *p)
{
    return s->memory.here + ((const char *)p - s->memory.there);
}
static uint32_t word(const struct sampler *s, const uint32_t *p)
{
    return *(const uint32_t *)fetched(s, p);
}

static void fetch(struct sampler *s)
{
    struct memory *m = &s->memory;
    must(gnn_dev_launched("sampling", &failure));
    must(gnn_dev_copy(m->here, m->there, m->used, stream, &failure));
    must(gnn_dev_stream_wait(stream, &failure));
    for (unsigned g = 0; g < m->gaps; g++)
        for (size_t i = m->end[g]; i < m->begin[g]; i++)
            if (m->here[i] != m->here[0]) {
                expect(false, "a sampler writes beside array %u", g);
                return;
            }
}

static void set(void *to, const void *from, size_t bytes)
{
    if (from)
        must(gnn_dev_copy(to, from, bytes, stream, &failure));
}

/* ---- a sampler ---- */

/* The longest list that is numbered. */
static uint32_t longest(const struct sampler *s)
{
    const uint32_t rels = s->t->w->nrelations;
    uint32_t n = s->capacity.seeds;
    for (uint32_t i = 0; i < s->t->p.hops * rels; i++)
        if (!induces(&s->t->p, i / rels) && s->capacity.edges[i] > n)
            n = s->capacity.edges[i];
    return n;
}

/* As small as it may be, so that searches are long; or, of entries with columns, as it should be.
 */
static uint32_t slots_of(const struct sampler *s, uint32_t t)
{
    const bool columns = s->t->p.columns;
    const uint64_t need = (uint64_t)s->capacity.nodes[t] + longest(s), nodes = s->t->w->nodes[t];
    uint32_t slots = 2;
    if (columns && s->hash)
        return gnn_cuda_relabel_table(s->capacity.nodes[t], longest(s));
    if (!columns && !s->hash)
        return 0;
    while (slots <= (columns || need < nodes ? need : nodes))
        slots *= 2;
    return slots;
}

static void lay_type(struct sampler *s, uint32_t t)
{
    const struct trial *q = s->t;
    const bool columns = q->p.columns;
    struct gnn_cuda_relabel *r = &s->type[t];
    r->slots = slots_of(s, t);
    r->map = take(&s->memory, (r->slots ? r->slots : q->w->nodes[t]) * sizeof *r->map);
    r->key = columns ? NULL : take(&s->memory, r->slots * sizeof *r->key);
    r->nnodes = q->w->nodes[t];
    r->list = take_entries(&s->memory, q->p.columns, s->capacity.nodes[t]);
    r->capacity = s->capacity.nodes[t];
    r->bits = columns     ? 32
              : q->p.bits ? q->p.bits
                          : gnn_cuda_relabel_bits(s->capacity.nodes[t], longest(s));
}

/* Of a block of a batch; or of one by itself, whose sources have a column if times are theirs. */
static void lay_block(struct sampler *s, uint32_t i, bool alone)
{
    const struct plan *p = &s->t->p;
    const uint32_t rels = s->t->w->nrelations, edges = s->capacity.edges[i];
    struct memory *m = &s->memory;
    struct block *b = alone ? &s->alone[i] : &s->block[i];
    const bool keeps = !alone && induces(p, i / rels);
    const uint32_t kept = keeps ? s->capacity.kept[i] : edges;
    b->indptr = take(m, (s->capacity.rows[i] + UINT64_C(1)) * sizeof *b->indptr);
    b->source = take_entries(m, alone ? (p->rule.time.by_edge ? TIMES : 0) : p->columns, edges);
    b->indices = alone ? NULL : take(m, kept * sizeof *b->indices);
    b->ids = p->ids ? take(m, kept * sizeof *b->ids) : NULL;
    b->all_ids = p->ids && keeps ? take(m, edges * sizeof *b->all_ids) : NULL;
    b->scratch = take(m, gnn_cuda_sample_scratch(rule_of(p, i / rels, i % rels),
                                                 s->capacity.rows[i], edges, false));
    if (alone) {
        b->edges = take(m, sizeof *b->edges);
        b->status = take(m, sizeof *b->status);
    }
}

static void lay_out(struct sampler *s)
{
    const struct trial *t = s->t;
    const uint32_t types = t->w->ntypes, blocks = t->p.hops * t->w->nrelations;
    struct memory *m = &s->memory;
    m->used = m->gaps = 0;
    s->status = take(m, sizeof *s->status);
    s->tag = take(m, types * sizeof *s->tag);
    s->counts = take(m, (t->p.hops + 2) * types * sizeof *s->counts); /* the last row changes */
    s->keys = take(m, 2 * blocks * sizeof *s->keys);
    s->nseeds = take(m, sizeof *s->nseeds);
    s->edges = take(m, blocks * sizeof *s->edges);
    s->seeds = take_entries(m, t->p.columns, s->capacity.seeds);
    s->seed_scratch = take(m, gnn_cuda_relabel_scratch(s->capacity.seeds));
    for (uint32_t k = 0; k < types; k++)
        lay_type(s, k);
    for (uint32_t i = 0; i < (s->hash ? blocks : 2 * blocks); i++)
        lay_block(s, i % blocks, i >= blocks);
    (void)take(m, 0); /* a gap behind the last */
    for (uint32_t k = 0; k < types && m->there; k++) {
        s->type[k].count = s->counts + (t->p.hops + 1) * types + k;
        s->type[k].tag = s->tag + k;
    }
    for (uint32_t i = 0; i < blocks && m->there; i++) {
        s->block[i].edges = s->edges + i;
        s->block[i].status = s->status;
    }
}

static const struct gnn_sample_part *parts_at(const struct gnn_sample_part *part, uint32_t n)
{
    struct gnn_sample_part there[PARTS];
    for (uint32_t p = 0; p < n; p++) {
        there[p] = part[p];
        there[p].indptr = at(there[p].indptr);
        there[p].indices = at(there[p].indices);
        there[p].orig = at(there[p].orig);
        there[p].id = at(there[p].id);
        there[p].pick.sum = at(there[p].pick.sum);
        there[p].pick.positive = at(there[p].pick.positive);
        there[p].pick.order = at(there[p].pick.order);
        there[p].pick.time = at(there[p].pick.time);
        there[p].resident_at = at(there[p].resident_at);
        there[p].resident = at(there[p].resident);
    }
    return up(there, n * sizeof *there);
}

struct sampler *sampler_of(const struct trial *t, const struct capacity *capacity, bool hash)
{
    struct sampler *s = host(sizeof *s);
    s->t = t;
    s->capacity = *capacity;
    s->hash = hash;
    lay_out(s);
    s->memory.there = scratch(s->memory.used);
    s->memory.here = host(s->memory.used);
    lay_out(s);
    must(gnn_dev_set(s->tag, 0, t->w->ntypes * sizeof *s->tag, stream, &failure));
    for (uint32_t et = 0; et < t->w->nrelations; et++) {
        s->part[et] = parts_at(t->view[et], t->w->relation[et].graph.nparts);
        s->orig[et] = at(t->w->relation[et].graph.orig);
    }
    return s;
}

/* ---- a batch ---- */

/* The numbering of a list of type t, after which the counts of a hop are known; block i is the
 * first that follows. */
static struct gnn_cuda_relabel list_of(const struct sampler *s, uint32_t t, uint32_t hop,
                                       uint32_t i)
{
    const struct world *w = s->t->w;
    struct gnn_cuda_relabel r = s->type[t];
    r.live = s->counts + (s->t->p.hops + 1) * w->ntypes;
    r.counts = s->counts + hop * w->ntypes;
    r.ncounts = w->ntypes;
    r.last = true;
    for (; i < s->t->p.hops * w->nrelations; i++)
        r.last = r.last && w->relation[i % w->nrelations].src != t;
    return r;
}

static struct gnn_cuda_sample_job job_of(const struct sampler *s, uint32_t i, const struct block *b)
{
    const struct world *w = s->t->w;
    const struct plan *p = &s->t->p;
    const uint32_t hop = i / w->nrelations, et = i % w->nrelations, dst = w->relation[et].dst;
    const bool new_rows = p->only_new && hop && !induces(p, hop);
    struct gnn_cuda_sample_job job = {.what = {.graph = w->relation[et].graph,
                                               .dst = s->type[dst].list,
                                               .n = s->capacity.rows[i],
                                               .rule = rule_of(p, hop, et),
                                               .key = s->keys + 2 * i,
                                               .indptr = b->indptr,
                                               .scratch = b->scratch},
                                      .first =
                                          new_rows ? s->counts + (hop - 1) * w->ntypes + dst : NULL,
                                      .end = s->counts + hop * w->ntypes + dst,
                                      .capacity = s->capacity.edges[i],
                                      .block = i,
                                      .source = b->source,
                                      .indices = b->indices,
                                      .ids = b->ids,
                                      .edges = b->edges,
                                      .status = b->status};
    job.what.graph.part = s->part[et];
    job.what.graph.orig = s->orig[et];
    return job;
}

static void queue_block(struct sampler *s, uint32_t i)
{
    const struct world *w = s->t->w;
    const uint32_t hop = i / w->nrelations, types = w->ntypes,
                   src = w->relation[i % w->nrelations].src;
    struct block *b = &s->block[i];
    struct gnn_cuda_sample_job job = job_of(s, i, b);
    if (!induces(&s->t->p, hop)) {
        const struct gnn_cuda_relabel r = list_of(s, src, hop + 1, i + 1);
        gnn_cuda_sample_block(&job, &r, stream);
        return;
    }
    const struct gnn_cuda_kept kept = {s->capacity.kept[i], job.indices, job.ids};
    job.indices = NULL;
    job.ids = b->all_ids;
    gnn_cuda_induce_block(&job, &s->type[src], &kept, stream);
    if (i % w->nrelations + 1 == w->nrelations) /* no list has been numbered */
        must(gnn_dev_copy(s->counts + (hop + 1) * types, s->counts + (s->t->p.hops + 1) * types,
                          types * sizeof *s->counts, stream, &failure));
}

static void draw_seeds(struct sampler *s, unsigned b, struct gnn_entries seeds, uint32_t nseeds)
{
    const struct trial *t = s->t;
    const uint32_t blocks = t->p.hops * t->w->nrelations,
                   n = nseeds < s->capacity.seeds ? nseeds : s->capacity.seeds;
    const struct gnn_cuda_sample_status fresh = {0};
    uint32_t *keys = host(2 * blocks * sizeof *keys);
    for (uint32_t i = 0; i < blocks; i++)
        key_of(b, i / t->w->nrelations, i % t->w->nrelations, keys + 2 * i);
    set(s->status, &fresh, sizeof fresh);
    set(s->nseeds, &nseeds, sizeof nseeds);
    set(s->keys, keys, 2 * blocks * sizeof *keys);
    set(s->seeds.node, seeds.node, n * sizeof *seeds.node);
    set(s->seeds.tree, seeds.tree, n * sizeof *seeds.tree);
    set(s->seeds.time, seeds.time, n * sizeof *seeds.time);
    for (uint32_t k = 0; k < t->w->ntypes; k++)
        gnn_cuda_begin_batch(&s->type[k], s->status, stream);
    const struct gnn_cuda_relabel r = list_of(s, 0, 0, 0);
    gnn_cuda_relabel_seeds(&r, s->seeds, s->nseeds, s->capacity.seeds, s->seed_scratch, s->status,
                           stream);
    for (uint32_t i = 0; i < blocks; i++)
        queue_block(s, i);
    fetch(s);
    expect(!outcome(s)->ticket, "batch %u: a kernel's ticket is left", b);
}

void draw_there(struct sampler *s, unsigned b)
{
    draw_seeds(s, b, seeds_of(s->t, b), s->t->nseeds);
}
void draw_small(struct sampler *s)
{
    uint32_t zero = 0;
    struct gnn_entries seed = seeds_of(s->t, 0);
    seed.node = &zero;
    draw_seeds(s, 1, seed, 1);
}

const struct gnn_cuda_sample_status *outcome(const struct sampler *s)
{
    return fetched(s, s->status);
}

/* ---- is it right? ---- */

static void expect_bytes(const struct sampler *s, const void *there, const void *here, size_t bytes,
                         const char *what, unsigned b, uint32_t i)
{
    expect(!bytes || !here || !memcmp(fetched(s, there), here, bytes), "batch %u: %s of block %u",
           b, what, i);
}

static bool is_failure(const struct gnn_cuda_sample_status *st, const struct drawn *d)
{
    return st->code == d->code && st->block == d->bad_block && st->at.node == d->bad.node &&
           st->at.edge == d->bad.edge && st->at.part == d->bad.part;
}

/* Nothing leads a later kernel astray. */
void expect_sound(const struct sampler *s, unsigned batch)
{
    const struct trial *t = s->t;
    const struct world *w = t->w;
    const uint32_t types = w->ntypes, rels = w->nrelations, *counts = fetched(s, s->counts);
    bool good = true;
    for (uint32_t i = 0; i < t->p.hops * rels; i++) {
        const uint32_t hop = i / rels, dst = w->relation[i % rels].dst,
                       *indptr = fetched(s, s->block[i].indptr),
                       *indices = fetched(s, s->block[i].indices),
                       edges = word(s, s->block[i].edges);
        const bool keeps = induces(&t->p, hop), new_rows = t->p.only_new && hop && !keeps;
        const uint32_t first = new_rows ? counts[(hop - 1) * types + dst] : 0,
                       rows = counts[hop * types + dst] - first,
                       n = rows < s->capacity.rows[i] ? rows : s->capacity.rows[i],
                       known = counts[(hop + 1) * types + w->relation[i % rels].src];
        good = good && edges <= (keeps ? s->capacity.kept : s->capacity.edges)[i] && !indptr[0] &&
               indptr[n] == edges;
        for (uint32_t k = 0; k < n; k++)
            good = good && indptr[k] <= indptr[k + 1];
        for (uint32_t e = 0; good && e < edges; e++)
            good = indices[e] < (known ? known : 1);
    }
    for (uint32_t k = 0; k < types; k++)
        good = good && counts[(t->p.hops + 1) * types + k] <= s->capacity.nodes[k];
    expect(good, "batch %u: arrays are not valid after failure %u", batch, outcome(s)->code);
}

void expect_drawn(const struct sampler *s, unsigned b)
{
    const struct trial *t = s->t;
    const struct world *w = t->w;
    const struct drawn *d = &t->want[b];
    const struct gnn_cuda_sample_status *st = outcome(s);
    const uint32_t rels = w->nrelations;
    if (st->code)
        expect_sound(s, b);
    expect(d->code ? is_failure(st, d) : !st->code && !st->first,
           "batch %u: failure %u in block %u, not %u in block %u", b, st->code, st->block, d->code,
           d->bad_block);
    if (d->code || st->code)
        return;
    for (uint32_t h = 0; h <= t->p.hops; h++)
        expect_bytes(s, s->counts + h * w->ntypes, d->counts[h], w->ntypes * sizeof *s->counts,
                     "counts", b, h);
    for (uint32_t k = 0; k < w->ntypes; k++) {
        const uint32_t n = d->counts[t->p.hops][k];
        const struct gnn_entries *e = &s->type[k].list;
        expect_bytes(s, e->node, d->list[k].node, n * sizeof *e->node, "nodes", b, k);
        expect_bytes(s, e->tree, d->list[k].tree, n * sizeof *e->tree, "trees", b, k);
        expect_bytes(s, e->time, d->list[k].time, n * sizeof *e->time, "times", b, k);
    }
    for (uint32_t i = 0; i < t->p.hops * rels; i++) {
        const struct drawn_block *want = &d->block[i];
        const struct block *q = &s->block[i];
        expect(word(s, q->edges) == want->edges, "batch %u: edges of block %u", b, i);
        expect_bytes(s, q->indptr, want->indptr, (want->rows + 1) * sizeof *q->indptr, "offsets", b,
                     i);
        expect_bytes(s, q->indices, want->indices, want->edges * sizeof *q->indices, "indices", b,
                     i);
        expect_bytes(s, q->ids, want->ids, want->edges * sizeof *q->ids, "ids", b, i);
        const uint32_t *node = d->list[w->relation[i % rels].src].node,
                       *source = fetched(s, q->source.node);
        bool same = true;
        for (uint32_t e = 0; e < want->edges && !induces(&t->p, i / rels); e++)
            same = same && source[e] == node[want->indices[e]];
        expect(same, "batch %u: sources of block %u", b, i);
    }
}

void expect_blocks(struct sampler *s, unsigned b)
{
    const struct trial *t = s->t;
    const uint32_t rels = t->w->nrelations, blocks = t->p.hops * rels;
    const struct drawn *d = &t->want[b];
    const uint32_t n = d->code == GNN_SAMPLE_SEED ? 0 : d->code ? d->bad_block + 1 : blocks;
    const struct gnn_cuda_sample_status fresh = {0};
    for (uint32_t i = 0; i < n; i++) {
        const struct gnn_cuda_sample_job job = job_of(s, i, &s->alone[i]);
        set(s->alone[i].status, &fresh, sizeof fresh);
        gnn_cuda_sample_block(&job, NULL, stream);
    }
    fetch(s);
    for (uint32_t i = 0; i < n; i++) {
        const struct block *q = &s->alone[i];
        const struct drawn_block *want = &d->block[i];
        const struct gnn_cuda_sample_status *st = fetched(s, q->status);
        expect(!st->ticket, "batch %u: a ticket of block %u is left", b, i);
        if (d->code && i == d->bad_block) {
            expect(is_failure(st, d), "batch %u: block %u by itself fails otherwise", b, i);
            continue;
        }
        const struct gnn_entries *found = &d->list[t->w->relation[i % rels].src];
        const uint32_t *source = fetched(s, q->source.node);
        const int64_t *time = q->source.time ? fetched(s, q->source.time) : NULL;
        expect(!st->code && word(s, q->edges) == want->sampled,
               "batch %u: failure %u, or other edges, of block %u by itself", b, st->code, i);
        bool same = !st->code;
        if (induces(&t->p, i / rels))
            continue; /* the CPU has what is kept */
        expect_bytes(s, q->indptr, want->indptr, (want->rows + 1) * sizeof *q->indptr,
                     "offsets, by itself,", b, i);
        expect_bytes(s, q->ids, want->ids, want->edges * sizeof *q->ids, "ids, by itself,", b, i);
        for (uint32_t e = 0; same && e < want->edges; e++)
            same = source[e] == found->node[want->indices[e]] &&
                   (!time || time[e] == found->time[want->indices[e]]);
        expect(same, "batch %u: sources of block %u by itself", b, i);
    }
}

void sampled(const struct world *w, const struct plan *p, unsigned batches, uint32_t nseeds,
             const uint32_t *always, uint32_t nalways)
{
    struct trial t;
    draw_here(&t, w, p, batches, nseeds, always, nalways);
    while (again()) {
        struct sampler *s = sampler_of(&t, &t.capacity, turn);
        for (unsigned b = 0; b < batches; b++) {
            expect(!t.want[b].code, "the CPU fails");
            draw_there(s, b);
            expect_drawn(s, b);
            if (!turn && !b && !p->induced)
                expect_blocks(s, b);
        }
    }
    settle();
}
