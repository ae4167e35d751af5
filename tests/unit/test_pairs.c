/* SPDX-License-Identifier: Apache-2.0 */
/* The laws of pick rules that are combined: of which neighbours are picked, by a rule, in
 * proportion to weights, among those of eligible times; and of two such picks together: by two
 * trees, in two hops, at the time of the edge that the first one picked, by LABOR's variates at two
 * times. Rows are so short that all outcomes are enumerated, from definitions that know nothing of
 * the kernel; of long ones, the probabilities that neighbours are picked. Seeds are fixed, so a
 * pass is a pass. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/sample.h"

#include "chi.h"
#include "inclusion.h"
#include "tap.h"

enum {
    ROWS = 64,             /* destinations that draw at once */
    SPAN = 8,              /* edges of a row */
    NODES = ROWS * SPAN,   /* destinations, among them what the first ROWS lead to */
    SOURCES = NODES * SPAN /* so that no two rows have one in common */
};

/* ---- what is combined ---- */

enum shape { PLAIN, EVEN, STEEP, ONE, HOLES, AROUND, SHAPES };
static const char *const shapes[] = {
    "no", "equal", "steep", "dominating one", "some are 0", "large at the ends"};
static const uint64_t weights[SHAPES][SPAN] = {
    [PLAIN] = {1, 1, 1, 1, 1, 1, 1, 1},
    [EVEN] = {3, 3, 3, 3, 3, 3, 3, 3},
    [STEEP] = {1, 4, 16, 64, 256, 1024, 4096, 16384},
    [ONE] = {1, 1, 1, 4096, 1, 1, 1, 1},
    [HOLES] = {0, 4, 0, 1, 2, 0, 6, 0},
    [AROUND] = {UINT64_C(1) << 40, 5, 1, 2, 7, 3, 4, UINT64_C(1) << 40}, /* not eligible by time */
};

/* Which times are eligible. A window begins inside the row. */
enum when { ANY, LE, LT, LE_WINDOW, LT_WINDOW, WHENS };
static const char *const whens[] = {"", ", until", ", before", ", until in a window",
                                    ", before in a window of real time"};
static const int times[SPAN] = {10, 20, 20, 30, 40, 40, 50, 60};
static const int entries[WHENS] = {0, 40, 40, 50, 60};
enum { WINDOW = 30, EARLIER = 20 /* by which the other entry of LABOR is */ };

/* What a second pick has to do with the first. */
enum joint { ALONE, TREES, HOPS, EDGE, SHARED };
static const char *const joints[] = {"", ", two trees", ", two hops", ", the time of the edge",
                                     ", shared variates"};

struct trial {
    struct gnn_pick_rule rule;
    enum shape shape;
    enum when when;
    enum joint joint;
};

static bool is_real(enum when when)
{
    return when == LT_WINDOW;
}

static int64_t time_of(const struct trial *t, int at)
{
    return is_real(t->when) ? gnn_time_bits((double)at / 4) : at;
}

static struct gnn_pick_rule rule_of(enum gnn_pick_kind kind, enum shape shape, enum when when,
                                    bool by_edge)
{
    struct gnn_pick_rule r = {.kind = kind, .weighted = shape != PLAIN};
    r.time.until = when == ANY                       ? GNN_PICK_ANY_TIME
                   : when == LT || when == LT_WINDOW ? GNN_PICK_BEFORE
                                                     : GNN_PICK_UNTIL;
    r.time.windowed = when >= LE_WINDOW;
    r.time.real = is_real(when);
    r.time.window = WINDOW;
    r.time.window_real = WINDOW / 4.0;
    r.time.by_edge = by_edge;
    return r;
}

/* The manual's table of rules that combine. */
static bool may_combine(enum gnn_pick_kind kind, enum shape shape, enum when when, enum joint joint)
{
    if (kind == GNN_PICK_LABOR && (shape != PLAIN || joint == TREES))
        return false;
    if (kind == GNN_PICK_LATEST && (shape != PLAIN || when == ANY))
        return false;
    return (joint != EDGE || when != ANY) && (joint != SHARED || kind == GNN_PICK_LABOR);
}

/* ---- laws ---- */

/* What a destination picks, as a number: the set of positions, or, where some may be picked twice,
 * 1 and then the digits of some of them in order; 0: nothing. */
enum { ONE_OUTCOME = 1024, TWO_OUTCOMES = 256 };

static uint32_t digits_of(const struct trial *t)
{
    const uint32_t most = t->joint == ALONE ? 3 : 2, k = (uint32_t)t->rule.fanout;
    return k < most ? k : most;
}
/* Which draw digit i is: the first, the last, or one between them. */
static uint32_t digit_at(const struct trial *t, uint32_t i)
{
    const uint32_t n = digits_of(t);
    return n < 2 ? 0 : i * ((uint32_t)t->rule.fanout - 1) / (n - 1);
}

static unsigned eligible_at(const struct trial *t, int entry)
{
    unsigned set = 0;
    for (uint32_t i = 0; i < SPAN; i++) {
        const int x = times[i];
        const bool late = t->when == LT || t->when == LT_WINDOW ? x >= entry : x > entry;
        if (weights[t->shape][i] &&
            (t->when == ANY || (!late && (t->when < LE_WINDOW || x >= entry - WINDOW))))
            set |= 1u << i;
    }
    return set;
}

/* Goes on with each draw of `more`, from those that are left: without replacement, each takes one
 * of them. drawn: the set of those so far, or with replacement, their digits after a 1. */
static void add_draws(const struct trial *t, unsigned left, uint32_t drawn, uint32_t more, double p,
                      double *law)
{
    const bool again = t->rule.kind == GNN_PICK_REPLACE;
    double total = 0;
    if (!more) {
        law[drawn] += p;
        return;
    }
    for (uint32_t i = 0; i < SPAN; i++)
        total += left >> i & 1 ? (double)weights[t->shape][i] : 0;
    for (uint32_t i = 0; i < SPAN; i++)
        if (left >> i & 1)
            add_draws(t, again ? left : left & ~(1u << i),
                      again ? drawn * SPAN + i : drawn | 1u << i, more - 1,
                      p * (double)weights[t->shape][i] / total, law);
}

static unsigned latest_of(unsigned set, uint32_t k)
{
    while ((uint32_t)__builtin_popcount(set) > k)
        set &= set - 1;
    return set;
}

/* The probability of each outcome of a destination that is entered at some time. */
static void law_at(const struct trial *t, int entry, double law[ONE_OUTCOME])
{
    const unsigned set = eligible_at(t, entry);
    const uint32_t k = (uint32_t)t->rule.fanout, n = (uint32_t)__builtin_popcount(set);
    memset(law, 0, ONE_OUTCOME * sizeof *law);
    if (!n)
        law[0] = 1;
    else if (t->rule.kind == GNN_PICK_REPLACE)
        add_draws(t, set, 1, digits_of(t), 1, law);
    else if (t->rule.kind == GNN_PICK_LATEST)
        law[latest_of(set, k)] = 1;
    else
        add_draws(t, set, 0, k < n ? k : n, 1, law);
}

/* The edge of an outcome whose time counts, and whose source draws next: the first. */
static uint32_t first_of(const struct trial *t, uint32_t outcome)
{
    if (t->rule.kind != GNN_PICK_REPLACE)
        return (uint32_t)__builtin_ctz(outcome);
    while (outcome >= 2 * SPAN)
        outcome /= SPAN;
    return outcome % SPAN;
}

/* Goes on with each order of variates in which those of `done` are smallest, which a and b, the
 * picks of both destinations so far, come from. */
static void add_orders(const struct trial *t, const unsigned set[2], unsigned done, unsigned a,
                       unsigned b, double p, double *want)
{
    const unsigned left = ((1u << SPAN) - 1) & ~done;
    const int k = t->rule.fanout;
    if (!left) {
        want[a * TWO_OUTCOMES + b] += p;
        return;
    }
    for (uint32_t i = 0; i < SPAN; i++)
        if (left >> i & 1) {
            const unsigned bit = 1u << i, to_a = __builtin_popcount(a) < k ? set[0] & bit : 0,
                           to_b = __builtin_popcount(b) < k ? set[1] & bit : 0;
            add_orders(t, set, done | bit, a | to_a, b | to_b, p / __builtin_popcount(left), want);
        }
}

/* The probability of each pair of outcomes a, b: at [a * TWO_OUTCOMES + b], or, ALONE, at [a]. */
enum { CELLS = TWO_OUTCOMES * TWO_OUTCOMES };
static void law_of(const struct trial *t, double *want)
{
    double first[ONE_OUTCOME], second[ONE_OUTCOME];
    const int entry = entries[t->when];
    law_at(t, entry, first);
    memset(want, 0, CELLS * sizeof *want);
    if (t->joint == ALONE) {
        memcpy(want, first, sizeof first);
        return;
    }
    if (t->joint == SHARED) {
        const unsigned set[2] = {eligible_at(t, entry), eligible_at(t, entry - EARLIER)};
        add_orders(t, set, 0, 0, 0, 1, want);
        return;
    }
    for (uint32_t a = 0; a < TWO_OUTCOMES; a++) {
        if (first[a] == 0)
            continue;
        law_at(t, t->joint == EDGE && a ? times[first_of(t, a)] : entry, second);
        for (uint32_t b = 0; b < TWO_OUTCOMES; b++)
            want[a * TWO_OUTCOMES + b] = first[a] * (t->joint == EDGE && !a ? !b : second[b]);
    }
}

/* ---- draws ---- */

static struct {
    uint64_t ptr[NODES + 1], sum[SOURCES];
    uint32_t src[SOURCES], positive[SOURCES];
    int64_t time[SOURCES];
    struct gnn_sample_part part;
} world;

static void make_world(const struct trial *t)
{
    bool holes = false;
    for (uint32_t e = 0; e < SOURCES; e++) {
        const uint32_t i = e % SPAN;
        const uint64_t w = weights[t->shape][i];
        world.src[e] = e;
        world.ptr[e / SPAN + 1] = e + 1;
        world.sum[e] = w + (i ? world.sum[e - 1] : 0);
        world.positive[e] = (w > 0) + (i ? world.positive[e - 1] : 0);
        world.time[e] = time_of(t, times[i]);
        holes = holes || !w;
    }
    world.part =
        (struct gnn_sample_part){.count = NODES,
                                 .indptr = world.ptr,
                                 .indices = world.src,
                                 .nedges = SOURCES,
                                 .pick = {world.sum, holes ? world.positive : NULL, world.time}};
}

/* ROWS destinations and what they picked. */
struct rows {
    uint32_t node[ROWS], tree[ROWS], indptr[ROWS + 1], out[NODES];
    int64_t time[ROWS], times[NODES];
    uint64_t id[NODES];
    uint32_t outcome[ROWS];
};

/* False if the kernel fails, or picks what another row has. */
static bool draw_rows(const struct trial *t, uint32_t round, uint32_t hop, struct rows *x)
{
    static struct gnn_sample_row row[ROWS];
    static struct gnn_sample_span span[ROWS];
    static uint8_t scratch[1 << 20] __attribute__((aligned(64)));
    struct gnn_sample_place bad;
    uint32_t key[2];
    const bool timed = t->when != ANY, trees = t->joint == TREES || t->joint == EDGE;
    const struct gnn_sample_job job = {
        .graph = {&world.part, 1, SOURCES},
        .dst = {.node = x->node,
                .time = timed ? x->time : NULL,
                .tree = trees && t->rule.kind != GNN_PICK_LABOR ? x->tree : NULL},
        .n = ROWS,
        .rule = t->rule,
        .key = key,
        .indptr = x->indptr,
        .scratch = scratch,
        .row = row,
        .span = t->rule.weighted ? span : NULL,
        .times = timed ? x->times : NULL};
    if (gnn_sample_scratch(t->rule) > sizeof scratch)
        return false;
    gnn_rng_key(37, round, 0, hop, gnn_rng_tag(GNN_RNG_NEIGHBOUR, 0, 0), key);
    if (gnn_sample_count(&job, &bad) || gnn_sample_pick(&job, NULL, x->out, x->id, &bad))
        return false;
    for (uint32_t i = 0; i < ROWS; i++) {
        const uint64_t *id = x->id + x->indptr[i];
        const uint32_t n = x->indptr[i + 1] - x->indptr[i];
        uint32_t *c = &x->outcome[i];
        *c = t->rule.kind == GNN_PICK_REPLACE && n;
        for (uint32_t j = 0; j < n; j++)
            if (id[j] / SPAN != x->node[i])
                return false;
        for (uint32_t j = 0; n && t->rule.kind == GNN_PICK_REPLACE && j < digits_of(t); j++)
            *c = *c * SPAN + id[digit_at(t, j)] % SPAN;
        for (uint32_t j = 0; t->rule.kind != GNN_PICK_REPLACE && j < n; j++)
            *c |= 1u << id[j] % SPAN;
        if (t->rule.kind != GNN_PICK_REPLACE && (uint32_t)__builtin_popcount(*c) != n)
            return false; /* one of them twice */
    }
    return true;
}

/* The entries of a round: a destination for each row or two. */
static bool is_shared(const struct trial *t)
{
    return t->joint == TREES || t->joint == SHARED ||
           (t->joint == EDGE && t->rule.kind != GNN_PICK_LABOR);
}
static void enter_rows(const struct trial *t, uint32_t round, struct rows *x)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        x->node[i] = is_shared(t) ? i / 2 : i;
        x->tree[i] = round % 50 + i % 2 * (1 + round % 3);
        x->time[i] =
            time_of(t, entries[t->when] - (t->joint == SHARED && i % 2 ? (int)EARLIER : 0));
    }
}

/* The next hop starts at the sources of the first picks, at the times of their edges. Rows without
 * picks stay where they are; nobody looks at what these draw. */
static bool follow_edges(const struct trial *t, const struct rows *x, struct rows *y)
{
    memcpy(y->tree, x->tree, sizeof x->tree);
    for (uint32_t i = 0; i < ROWS; i++) {
        y->node[i] = x->node[i];
        y->time[i] = x->time[i];
        if (!x->outcome[i])
            continue;
        const uint32_t v = x->node[i] * SPAN + first_of(t, x->outcome[i]);
        uint32_t j = x->indptr[i];
        while (j < x->indptr[i + 1] && x->out[j] != v)
            j++;
        if (j == x->indptr[i + 1] || x->id[j] != v)
            return false;
        y->node[i] = v;
        y->time[i] = x->times[j];
    }
    return true;
}

/* One round; how many it added to seen, 0 on failure. */
static uint32_t play_round(const struct trial *t, uint32_t round, uint32_t *seen)
{
    static struct rows x, y;
    const bool pairs = t->joint == TREES || t->joint == SHARED;
    enter_rows(t, round, &x);
    if (!draw_rows(t, round, 0, &x))
        return 0;
    for (uint32_t i = 0; t->joint == ALONE && i < ROWS; i++)
        seen[x.outcome[i]]++;
    for (uint32_t i = 0; pairs && i < ROWS; i += 2)
        seen[x.outcome[i] * TWO_OUTCOMES + x.outcome[i + 1]]++;
    if (t->joint == ALONE || pairs)
        return pairs ? ROWS / 2 : ROWS;
    if (t->joint == HOPS)
        enter_rows(t, round, &y);
    else if (!follow_edges(t, &x, &y))
        return 0;
    if (!draw_rows(t, round, 1, &y))
        return 0;
    for (uint32_t i = 0; i < ROWS; i++)
        seen[x.outcome[i] * TWO_OUTCOMES +
             (t->joint == EDGE && !x.outcome[i] ? 0 : y.outcome[i])]++;
    return ROWS;
}

/* ---- the test ---- */

static uint32_t draws = 1 << 20; /* of each rule that is tried, at least */
static unsigned trials;

/* Of which there are two fan-outs at least where there are weights. */
static uint32_t rounds_of(const struct trial *t)
{
    const bool twice = t->joint == HOPS || t->joint == EDGE;
    return (draws >> twice >> t->rule.weighted) / (ROWS * (uint32_t)t->rule.fanout) + 1;
}

/* Whether the draws follow the law; *z: how far they are from it, if that is further. */
static bool follows_law(const struct trial *t, double *z)
{
    static double want[CELLS];
    static uint32_t seen[CELLS];
    const uint32_t rounds = rounds_of(t);
    struct chi c = {0};
    bool good = true;
    double n = 0;
    make_world(t);
    law_of(t, want);
    memset(seen, 0, sizeof seen);
    trials++;
    for (uint32_t r = 0; good && r < rounds; r++) {
        const uint32_t more = play_round(t, r, seen);
        good = more > 0;
        n += more;
    }
    for (uint32_t i = 0; good && i < CELLS; i++)
        if (want[i] > 0)
            chi_add(&c, seen[i], want[i] * n);
        else
            good = !seen[i];
    *z = worst_of(*z, chi_z(&c));
    if (!good || !chi_pass(&c))
        printf("# fan-out %d, weights: %s: %s, %.2f sigma, %u cells\n", t->rule.fanout,
               shapes[t->shape], good ? "another law" : "what cannot be", chi_z(&c), c.cells);
    return good && chi_pass(&c);
}

static bool one_shape(struct trial *t, double *z)
{
    const int n = __builtin_popcount(eligible_at(t, entries[t->when]));
    const int fanouts[] = {1, n / 2, n - 1};
    bool good = true;
    for (int i = 0; i < 3; i++)
        if (fanouts[i] > (i ? fanouts[i - 1] : 0)) {
            t->rule.fanout = fanouts[i];
            good = follows_law(t, z) && good;
        }
    return good;
}

static void combine(enum gnn_pick_kind kind, bool weighted, enum when when, enum joint joint)
{
    static const char *const kinds[] = {"without replacement", "with replacement", "LABOR",
                                        "the latest"};
    bool good = true, any = false;
    double z = -INFINITY;
    for (unsigned s = weighted ? EVEN : PLAIN; s < (weighted ? SHAPES : EVEN); s++)
        if (may_combine(kind, (enum shape)s, when, joint)) {
            struct trial t = {rule_of(kind, (enum shape)s, when, joint == EDGE), (enum shape)s,
                              when, joint};
            good = one_shape(&t, &z) && good;
            any = true;
        }
    if (any)
        ok(good, "picks have their law: %s%s%s%s (at most %.2f sigma)", kinds[kind],
           weighted ? ", by weight" : "", whens[when], joints[joint], z);
}

/* The test must be able to fail. */
static void control(void)
{
    struct trial t = {rule_of(GNN_PICK_UNIFORM, STEEP, LE_WINDOW, false), STEEP, LE_WINDOW, TREES};
    static double want[CELLS], other[CELLS];
    struct chi c = {0};
    t.rule.fanout = 3;
    law_of(&t, want);
    t.shape = EVEN;
    law_of(&t, other);
    for (uint32_t i = 0; i < CELLS; i++) /* one draw in two hundred is not by weight */
        chi_add(&c, (0.995 * want[i] + 0.005 * other[i]) * (1 << 17), want[i] * (1 << 17));
    ok(!chi_pass(&c), "the test sees one draw of two hundred that ignores weights (%.1f sigma)",
       chi_z(&c));
}

/* ---- long rows ---- */

enum { CUTS = 8, KINDS = 4, LONG_ROWS = 64 };

/* Rows of d eligible neighbours, behind which, and after which, there are others. */
struct many {
    enum gnn_pick_kind pick;
    enum when when;
    bool trees;
    uint32_t d;
    int32_t k;
    struct kind kinds[KINDS]; /* as often as it says they have a weight; one kind: rules without */
};

struct long_row {
    uint64_t ptr[2], *sum;
    uint32_t *src, *of, span, from; /* of: the cell that an eligible neighbour counts for */
    int64_t *time;
    struct gnn_sample_part part[LONG_ROWS]; /* of one destination each, with the same row */
    uint32_t rows;
};

static bool is_weighted(const struct many *m)
{
    return m->kinds[1].n > 0;
}

static unsigned kinds_of(const struct many *m)
{
    unsigned n = 1;
    while (n < KINDS && m->kinds[n].n)
        n++;
    return n;
}

/* Kinds are spread over the row; those that are not eligible outweigh them all. */
static void make_long(const struct many *m, struct long_row *r)
{
    *r = (struct long_row){.from = m->when >= LE_WINDOW ? m->d / 3 : 0};
    r->span = r->from + m->d + (m->when == ANY ? 0 : m->d / 5);
    r->rows = m->pick == GNN_PICK_LABOR ? 1 : LONG_ROWS; /* all rows have the same sources */
    r->ptr[1] = r->span;
    r->sum = malloc(r->span * sizeof *r->sum);
    r->src = malloc(r->span * sizeof *r->src);
    r->of = malloc(m->d * sizeof *r->of);
    r->time = malloc(r->span * sizeof *r->time);
    for (uint32_t kind = 0, at = 0; kind < kinds_of(m); kind++)
        for (uint32_t j = 0; j < m->kinds[kind].n; j++, at++) {
            const uint32_t x = (uint32_t)((uint64_t)at * 7919 % m->d); /* d is no multiple */
            r->of[x] = kind * CUTS + (uint32_t)((uint64_t)x * CUTS / m->d);
        }
    for (uint32_t i = 0; i < r->span; i++) {
        const bool in = i >= r->from && i - r->from < m->d;
        const uint64_t w = in ? m->kinds[r->of[i - r->from] / CUTS].w : UINT64_C(1) << 33;
        r->src[i] = i;
        r->sum[i] = w + (i ? r->sum[i - 1] : 0);
        r->time[i] = i < r->from ? 0 : in ? 100 + (int64_t)i : 1000000;
    }
    for (uint32_t i = 0; i < r->rows; i++)
        r->part[i] = (struct gnn_sample_part){.first = i,
                                              .count = 1,
                                              .indptr = r->ptr,
                                              .indices = r->src,
                                              .nedges = r->span,
                                              .pick = {r->sum, NULL, r->time}};
}

static void free_long(struct long_row *r)
{
    free(r->sum);
    free(r->src);
    free(r->of);
    free(r->time);
}

/* How often neighbours of each cell are picked. */
static bool count_long(const struct many *m, const struct long_row *r, uint32_t rounds,
                       uint64_t *count)
{
    struct gnn_sample_row row[LONG_ROWS];
    struct gnn_sample_span span[LONG_ROWS];
    struct gnn_sample_place bad;
    const uint64_t most = (uint64_t)LONG_ROWS * (uint32_t)m->k;
    uint32_t node[LONG_ROWS], tree[LONG_ROWS], indptr[LONG_ROWS + 1], key[2],
        *out = malloc(most * sizeof *out);
    int64_t time[LONG_ROWS];
    struct gnn_sample_job job = {
        .graph = {r->part, r->rows, r->span},
        .dst = {node, m->when == ANY ? NULL : time, m->trees ? tree : NULL},
        .n = r->rows,
        .rule = rule_of(m->pick, is_weighted(m) ? ONE : PLAIN, m->when, false),
        .key = key,
        .indptr = indptr,
        .row = row,
        .span = is_weighted(m) ? span : NULL};
    job.rule.fanout = m->k;
    job.rule.time.window = 400000;
    job.rule.time.real = false;
    job.scratch = aligned_alloc(64, gnn_sample_scratch(job.rule));
    for (uint32_t i = 0; i < r->rows; i++) {
        node[i] = m->trees ? i / 2 : i;
        tree[i] = i % 2 * 70000;
        time[i] = 400100; /* the window begins at 100, and there is nothing between that and it */
    }
    bool good = true;
    for (uint32_t t = 0; good && t < rounds; t++) {
        gnn_rng_key(41, t, 0, 0, 0, key);
        good = !gnn_sample_count(&job, &bad) && !gnn_sample_pick(&job, NULL, out, NULL, &bad) &&
               indptr[r->rows] == r->rows * (uint32_t)m->k;
        for (uint32_t j = 0; good && j < indptr[r->rows]; j++) {
            const uint32_t x = out[j] - r->from;
            good = x < m->d;
            if (good)
                count[r->of[x]]++;
        }
    }
    free(job.scratch);
    free(out);
    return good;
}

static void long_rows(const struct many *m)
{
    uint64_t count[KINDS * CUTS] = {0};
    uint32_t members[KINDS * CUTS] = {0};
    struct long_row r;
    double z = 0, total = 0;
    make_long(m, &r);
    const uint32_t rounds = draws / (r.rows * (uint32_t)m->k) + 1;
    const bool good = count_long(m, &r, rounds, count);
    for (uint32_t x = 0; x < m->d; x++) {
        members[r.of[x]]++;
        total += (double)m->kinds[r.of[x] / CUTS].w;
    }
    /* Numbers of a cell's members that are taken vary less than if each were taken by itself. */
    for (unsigned kind = 0; kind < kinds_of(m); kind++) {
        const uint64_t w = m->kinds[kind].w;
        const bool again = m->pick == GNN_PICK_REPLACE;
        const double p = again ? (double)w / total * m->k
                         : is_weighted(m)
                             ? inclusion(m->kinds, kinds_of(m), kind, (uint32_t)m->k, total)
                             : m->k / (double)m->d;
        for (unsigned i = kind * CUTS; i < (kind + 1) * CUTS; i++) {
            const double n = (double)rounds * r.rows * members[i],
                         sd = sqrt(n * p * (again ? 1 : 1 - p)) + 1;
            z = worst_of(z, fabs((double)count[i] - n * p) / sd);
        }
    }
    ok(good && z < 4.8,
       "%d of %u eligible neighbours are taken as often as they should be%s%s%s%s "
       "(at most %.2f sigma)",
       (int)m->k, m->d, is_weighted(m) ? ", by weight" : "",
       m->pick == GNN_PICK_REPLACE ? ", with replacement"
       : m->pick == GNN_PICK_LABOR ? ", LABOR"
                                   : "",
       whens[m->when], m->trees ? ", trees" : "", z);
    free_long(&r);
}

static void all_long_rows(void)
{
    static const struct many all[] = {
        {GNN_PICK_UNIFORM, LE_WINDOW, false, 1000, 15, {{1, 1000}}},
        {GNN_PICK_UNIFORM, LE, true, 100000, 100, {{1, 100000}}},
        {GNN_PICK_REPLACE, LE_WINDOW, true, 1000, 15, {{1, 1000}}},
        {GNN_PICK_REPLACE, LE, false, 100000, 100, {{1, 100000}}},
        {GNN_PICK_LABOR, LE_WINDOW, false, 1000, 15, {{1, 1000}}},
        {GNN_PICK_LABOR, LE, false, 100000, 5000, {{1, 100000}}},
        {GNN_PICK_UNIFORM, LE_WINDOW, false, 1000, 15, {{1, 900}, {10, 100}}},
        {GNN_PICK_UNIFORM, LE_WINDOW, true, 1000, 100, {{1, 600}, {5, 399}, {10000, 1}}},
        {GNN_PICK_UNIFORM, LE_WINDOW, true, 101, 100, {{1, 60}, {10, 41}}},
        {GNN_PICK_UNIFORM, LE, true, 100000, 10, {{1, 99999}, {1000000000, 1}}},
        {GNN_PICK_UNIFORM,
         LE_WINDOW,
         false,
         100000,
         15,
         {{1, 50000}, {3, 40000}, {100, 9000}, {5000, 1000}}},
        {GNN_PICK_UNIFORM,
         ANY,
         true,
         100000,
         200,
         {{1, 50000}, {3, 40000}, {100, 9000}, {5000, 1000}}},
        {GNN_PICK_REPLACE, LE_WINDOW, true, 1000, 15, {{1, 900}, {10, 100}}},
        {GNN_PICK_REPLACE, LE_WINDOW, false, 100000, 100, {{1, 90000}, {1000, 10000}}},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        long_rows(&all[i]);
}

int main(void)
{
    if (getenv("GNN_SAN") && *getenv("GNN_SAN"))
        draws /= 16; /* whose instructions are slow; the law is that of other builds */
    else if (!tap_wide())
        draws /= 10;
    for (unsigned kind = GNN_PICK_UNIFORM; kind <= GNN_PICK_LATEST; kind++)
        for (int weighted = 0; weighted < 2; weighted++)
            for (unsigned when = ANY; when < WHENS; when++)
                for (unsigned joint = ALONE; joint <= SHARED; joint++)
                    combine((enum gnn_pick_kind)kind, weighted, (enum when)when, (enum joint)joint);
    control();
    all_long_rows();
    printf("# %u trials of short rows\n", trials);
    return tap_done();
}
