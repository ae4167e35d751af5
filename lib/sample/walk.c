/* SPDX-License-Identifier: Apache-2.0 */
/* Random walks: all of a batch take a step together, which is a pick of one in-edge for each, with
 * replacement. So a step is drawn where and how neighbours are: by the CPU or a device, in
 * proportion to weights, on several ranks by the owner of the node. The walk's number in the global
 * batch takes the place of the tree in the key of its draws (kernels/rng.h): walks that meet go on
 * independently of each other. */
#include <math.h>
#include <string.h>

#include "kernels/cpu/draw.h"
#include "kernels/rng.h"
#include "lib/sample/sample_impl.h"

/* Walks in the making. */
struct walking {
    const struct sample_draw *d;
    uint32_t *walk; /* (n, length + 1) local numbers */
    uint64_t n;
    uint32_t width;
    uint32_t *node, *tree; /* (n) where each is, as an id, and its number in the batch */
    uint32_t *before;      /* (n) where each was */
    /* Those that go on, of which there are `left`, come first. */
    uint32_t left, *at; /* (n) which walk each is */
    uint64_t steps;     /* so far */
    uint32_t *indptr;   /* (n + 1) */
    struct gnn_buf *picked;
};

static int begin_walks(struct walking *w, uint64_t seeds)
{
    const struct sample_draw *d = w->d;
    const struct gnn_walks *m = &d->s->meta.sampling.walks;
    struct gnn_tensor *t = NULL;
    w->n = seeds * m->per_seed;
    w->width = m->length + 1;
    if (gnn_buf_fit(&d->w->walk[0], 5 * w->n + 1, sizeof(uint32_t), "walks", d->e) ||
        (m->window
             ? gnn_buf_fit(&d->w->walk[3], w->n * w->width, sizeof(uint32_t), "walks", d->e)
             : gnn_column_add(&d->b->tensors, &d->s->meta, GNN_COLUMN_WALK, 0, 0, w->n, &t, d->e)))
        return d->e->code;
    w->walk = t ? t->data : d->w->walk[3].data;
    memset(w->walk, 0xff, w->n * w->width * sizeof *w->walk);
    w->node = d->w->walk[0].data;
    w->tree = w->node + w->n;
    w->before = w->tree + w->n;
    w->at = w->before + w->n;
    w->indptr = w->at + w->n;
    w->picked = &d->w->walk[1];
    for (uint32_t i = 0; i < w->n; i++) {
        const uint32_t seed = i / m->per_seed;
        w->node[i] = d->w->seeds.node[seed];
        w->tree[i] = d->w->seeds.tree[seed] * m->per_seed + i % m->per_seed;
        w->at[i] = i;
    }
    w->left = (uint32_t)w->n;
    return 0;
}

/* All that go on are at these nodes after step s: numbers them. */
static int arrive_at(struct walking *w, uint32_t type, uint32_t s)
{
    const struct sample_draw *d = w->d;
    const uint32_t ptr[2] = {0, w->left};
    if (gnn_sample_fit_nodes(d, type, w->left) ||
        gnn_buf_fit(&d->w->walk[2], w->left, sizeof(uint32_t), "walks", d->e))
        return d->e->code;
    uint32_t *local = d->w->walk[2].data;
    memcpy(local, w->node, w->left * sizeof *local);
    if (gnn_relabel_number(&d->w->type[type], (struct gnn_entries){0}, NULL, 1, ptr, local) <
        w->left)
        return gnn_fail(d->e, GNN_E_RANK, "a reply has a node that is not in the store");
    for (uint32_t i = 0; i < w->left; i++)
        w->walk[w->at[i] * (uint64_t)w->width + s] = local[i];
    return 0;
}

/* One pick, or what job->rule.fanout says, for each of job's destinations. *all: of all ranks. */
static int pick_sources(struct walking *w, uint32_t et, struct gnn_sample_job *job,
                        const uint32_t **source, uint64_t *all)
{
    const struct sample_draw *d = w->d;
    *all = job->n;
    *source = NULL;
    if (!job->n && !d->w->remote)
        return 0;
    if (d->w->remote)
        return gnn_sample_remote_pick(d, et, job, source, all);
    if (gnn_sample_count_block(d, et, job) ||
        gnn_buf_fit(w->picked, job->indptr[job->n], sizeof(uint32_t), "walks", d->e) ||
        gnn_sample_pick_block(d, et, job, NULL, w->picked->data, NULL))
        return d->e->code;
    *source = w->picked->data;
    return 0;
}

/* The key of what is drawn for step s, in attempt `round`. */
static void key_of(const struct walking *w, uint32_t s, uint32_t round,
                   enum gnn_rng_purpose purpose, uint32_t low, uint32_t key[2])
{
    const struct sample_draw *d = w->d;
    gnn_rng_key(d->s->meta.sampling.seed, (uint32_t)d->b->epoch, (uint32_t)d->b->step,
                s | round << 16, gnn_rng_tag(purpose, d->s->seeds->tag[d->b->split], low), key);
}

/* Walk i of those that go on goes on as number `to`. */
static void keep_walk(struct walking *w, uint32_t i, uint32_t to, uint32_t node)
{
    w->before[to] = w->node[i];
    w->node[to] = node;
    w->tree[to] = w->tree[i];
    w->at[to] = w->at[i];
}

/* Step s, from 0, of all that go on; those that cannot end here. *all: how many there were, of all
 * ranks. */
static int take_step(struct walking *w, uint32_t s, uint64_t *all)
{
    const struct sample_draw *d = w->d;
    const struct gnn_sampling *m = &d->s->meta.sampling;
    const uint32_t netypes = d->b->netypes, et = gnn_sampling_step(m, netypes, s);
    const uint32_t *source;
    uint32_t key[2], kept = 0;
    struct gnn_sample_job job = gnn_sample_job_of(d->s, d->w->keys, s % m->nhops * netypes + et);
    key_of(w, s, 0, GNN_RNG_NEIGHBOUR, et, key);
    job.key = key;
    job.dst = (struct gnn_entries){.node = w->node, .tree = w->tree};
    job.n = w->left;
    job.indptr = w->indptr;
    if (pick_sources(w, et, &job, &source, all))
        return d->e->code;
    for (uint32_t i = 0; i < w->left; i++)
        if (w->indptr[i] < w->indptr[i + 1])
            keep_walk(w, i, kept++, source[w->indptr[i]]);
    w->left = kept;
    w->steps += kept;
    return 0;
}

/* ---- node2vec ---- */

/* Candidates of some walks, and what is asked about them. */
struct attempt {
    struct walking *w;
    struct node2vec rule;
    uint32_t et, n;        /* walks that have not found one yet */
    uint32_t *node, *tree; /* (n) */
    uint32_t *which;       /* (n) which of those that go on each is */
    uint32_t *next;        /* (left) by that: the node that it goes to */
    uint32_t *draw;        /* (candidates) what decides about each */
    uint32_t *dst, *src;   /* edges asked about, and whether there are such */
    uint8_t *has;
};

/* How many candidates are looked at together: few, while most walks find one among these. */
static int32_t candidates_in(uint32_t round)
{
    return round < 8 ? 2 : 64;
}

/* The draws that decide: draw j of each walk is that of its candidate j. */
static void draw_verdicts(const struct attempt *a, const uint32_t key[2])
{
    enum { LANES = GNN_DRAW_LANES };
    const uint32_t *ptr = a->w->indptr;
    uint32_t id[LANES] __attribute__((aligned(64))) = {0},
                       tree[LANES] __attribute__((aligned(64))) = {0},
                       word[4 * LANES] __attribute__((aligned(64)));
    for (uint32_t i = 0; i < a->n; i += LANES) {
        const uint32_t n = a->n - i < LANES ? a->n - i : LANES;
        uint32_t most = 0;
        for (uint32_t l = 0; l < n; l++) {
            tree[l] = a->tree[i + l];
            most = ptr[i + l + 1] - ptr[i + l] > most ? ptr[i + l + 1] - ptr[i + l] : most;
        }
        for (uint32_t j = 0; j < most; j++) {
            if (j % 4 == 0)
                gnn_draw16_words(key, id, tree, j / 4, 0, word);
            for (uint32_t l = 0; l < n; l++)
                if (j < ptr[i + l + 1] - ptr[i + l])
                    a->draw[ptr[i + l] + j] = word[j % 4 * LANES + l];
        }
    }
}

/* What the draws say of the candidates of walk i, from the first on: the one that is taken, or
 * UINT32_MAX. Asks about edges as far as this may matter, or, if that has been answered, uses the
 * answers, of which *ask is the next. */
static uint32_t judge_candidates(struct attempt *a, uint32_t i, const uint32_t *source,
                                 bool answered, uint32_t *ask)
{
    const struct walking *w = a->w;
    const uint32_t before = w->before[a->which[i]], from = w->indptr[i], to = w->indptr[i + 1];
    uint32_t taken = UINT32_MAX;
    for (uint32_t k = from; k < to; k++) {
        const enum node2vec_verdict v = gnn_node2vec_judge(&a->rule, before, source[k], a->draw[k]);
        if (v == NODE2VEC_YES)
            return taken == UINT32_MAX ? source[k] : taken;
        if (v == NODE2VEC_NO)
            continue;
        if (!answered) {
            a->dst[*ask] = before;
            a->src[*ask] = source[k];
        } else if ((v == NODE2VEC_IF_EDGE) == a->has[*ask] && taken == UINT32_MAX)
            taken = source[k];
        ++*ask;
    }
    return taken;
}

static int fit_questions(struct attempt *a, uint32_t candidates)
{
    struct gnn_buf *b = a->w->d->w->walk;
    struct gnn_err *e = a->w->d->e;
    if (gnn_buf_fit(&b[5], 3 * (uint64_t)candidates + 1, sizeof(uint32_t), "walks", e) ||
        gnn_buf_fit(&b[6], candidates + UINT64_C(1), 1, "walks", e))
        return e->code;
    a->dst = b[5].data;
    a->src = a->dst + candidates;
    a->draw = a->src + candidates;
    a->has = b[6].data;
    return 0;
}

/* Of the walks that have no candidate yet, finds those that take one; *all: of all ranks, how many
 * there were. */
static int try_again(struct attempt *a, uint32_t s, uint32_t round, uint64_t *all)
{
    struct walking *w = a->w;
    const struct sample_draw *d = w->d;
    const uint32_t *source;
    uint32_t key[2], accept[2], asked = 0, answer = 0, left = 0;
    struct gnn_sample_job job = gnn_sample_job_of(d->s, d->w->keys, a->et);
    key_of(w, s, round, GNN_RNG_NEIGHBOUR, a->et, key);
    key_of(w, s, round, GNN_RNG_ACCEPT, 0, accept);
    job.key = key;
    job.rule.fanout = candidates_in(round);
    job.dst = (struct gnn_entries){.node = a->node, .tree = a->tree};
    job.n = a->n;
    job.indptr = w->indptr;
    if (pick_sources(w, a->et, &job, &source, all) || !*all)
        return d->e->code;
    if (fit_questions(a, w->indptr[a->n]))
        return d->e->code;
    draw_verdicts(a, accept);
    for (uint32_t i = 0; i < a->n; i++)
        (void)judge_candidates(a, i, source, false, &asked);
    if (!d->w->remote)
        gnn_sample_has_edges(d->s, a->et, a->dst, a->src, asked, a->has);
    else if (gnn_sample_remote_edges(d, a->et, a->dst, a->src, asked, a->has))
        return d->e->code;
    for (uint32_t i = 0; i < a->n; i++) {
        const uint32_t to = judge_candidates(a, i, source, true, &answer);
        a->next[a->which[i]] = to;
        if (to != UINT32_MAX || w->indptr[i] == w->indptr[i + 1])
            continue;
        a->node[left] = a->node[i];
        a->tree[left] = a->tree[i];
        a->which[left++] = a->which[i];
    }
    a->n = left;
    return 0;
}

/* Step s, from 1, of walks that remember where they came from. *any: likewise. */
static int step_node2vec(struct walking *w, uint32_t s, uint64_t *any)
{
    const struct sample_draw *d = w->d;
    const struct gnn_walks *m = &d->s->meta.sampling.walks;
    struct attempt a = {.w = w,
                        .rule = gnn_node2vec_of(m->p, m->q),
                        .et = gnn_sampling_step(&d->s->meta.sampling, d->b->netypes, s),
                        .n = w->left};
    uint64_t all = 1;
    uint32_t kept = 0;
    *any = 0;
    if (gnn_buf_fit(&d->w->walk[4], 4 * (uint64_t)w->left + 1, sizeof(uint32_t), "walks", d->e))
        return d->e->code;
    a.node = d->w->walk[4].data;
    a.tree = a.node + w->left;
    a.which = a.tree + w->left;
    a.next = a.which + w->left;
    memcpy(a.node, w->node, w->left * sizeof *a.node);
    memcpy(a.tree, w->tree, w->left * sizeof *a.tree);
    for (uint32_t i = 0; i < w->left; i++)
        a.which[i] = i;
    /* Alone, a process need not ask whether others are ready. */
    for (uint32_t round = 0; all && (d->w->remote || a.n); round++) {
        if (round > UINT16_MAX)
            return gnn_fail(d->e, GNN_E_USAGE, "node2vec: no step is taken: p or q is too extreme");
        if (try_again(&a, s, round, &all))
            return d->e->code;
        *any = round ? *any : all;
    }
    for (uint32_t i = 0; i < w->left; i++)
        if (a.next[i] != UINT32_MAX)
            keep_walk(w, i, kept++, a.next[i]);
    w->left = kept;
    w->steps += kept;
    return 0;
}

/* Those of which a draw says so are at their seeds after step s, wherever that led. */
static void go_back(struct walking *w, uint32_t s)
{
    const struct sample_draw *d = w->d;
    const struct gnn_sampling *m = &d->s->meta.sampling;
    const uint64_t limit = (uint64_t)ldexp(m->walks.restart, 32);
    uint32_t key[2];
    key_of(w, s, 0, GNN_RNG_RESTART, 0, key);
    for (uint32_t i = 0; s && limit && i < w->left; i++)
        if (gnn_rng_word(key, 0, 0, w->tree[i], 0) < limit)
            w->node[i] = d->w->seeds.node[w->at[i] / m->walks.per_seed];
}

/* Pairs in a walk of n nodes: each with up to `window` before it and after it. */
static uint64_t count_pairs(uint64_t n, uint64_t window)
{
    return window + 1 >= n ? n * (n - 1) : 2 * n * window - window * (window + 1);
}

/* In place of walks, pairs of nodes that are at most `window` steps apart, both ways. */
static int make_pairs(const struct walking *w)
{
    const struct sample_draw *d = w->d;
    const uint32_t window = d->s->meta.sampling.walks.window;
    struct gnn_tensor *t;
    uint64_t many = 0;
    for (uint64_t i = 0; i < w->n; i++) {
        uint32_t n = 0;
        while (n < w->width && w->walk[i * w->width + n] != UINT32_MAX)
            n++;
        many += count_pairs(n, window);
    }
    if (gnn_column_add(&d->b->tensors, &d->s->meta, GNN_COLUMN_PAIR, 0, 0, many, &t, d->e))
        return d->e->code;
    uint32_t *out = t->data;
    for (uint64_t i = 0; i < w->n; i++) {
        const uint32_t *x = w->walk + i * w->width;
        for (uint32_t a = 0; a < w->width && x[a] != UINT32_MAX; a++)
            for (uint32_t b = a > window ? a - window : 0;
                 b < w->width && b <= a + (uint64_t)window && x[b] != UINT32_MAX; b++)
                if (a != b) {
                    *out++ = x[a];
                    *out++ = x[b];
                }
    }
    d->b->pair = t->data;
    d->b->rows[GNN_UNIT_PAIRS] = many;
    return 0;
}

int gnn_sample_walk(const struct sample_draw *d, uint64_t seeds)
{
    const struct gnn_sampling *m = &d->s->meta.sampling;
    struct walking w = {.d = d};
    int rc = begin_walks(&w, seeds);
    if (!rc)
        rc = arrive_at(&w, m->seed_ntype, 0);
    /* Until all walks of all ranks have ended, if that comes first. */
    for (uint32_t s = 0; !rc && s < m->walks.length; s++) {
        uint64_t all;
        rc = s && gnn_walks_second_order(&m->walks) ? step_node2vec(&w, s, &all)
                                                    : take_step(&w, s, &all);
        if (rc || !all)
            break;
        go_back(&w, s);
        const uint32_t et = gnn_sampling_step(m, d->b->netypes, s);
        rc = arrive_at(&w, d->s->meta.schema.etype[et].src, s + 1);
    }
    for (uint32_t t = 0; !rc && t < d->b->nntypes; t++)
        for (uint32_t h = 1; h <= m->nhops; h++)
            d->w->counts[t][h] = d->w->type[t].count;
    d->b->steps = w.steps;
    if (rc || m->walks.window)
        return rc ? rc : make_pairs(&w);
    d->b->walk = w.walk;
    d->b->rows[GNN_UNIT_WALKS] = w.n;
    return 0;
}
