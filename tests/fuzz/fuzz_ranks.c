/* SPDX-License-Identifier: Apache-2.0 */
/* What other ranks say to one that samples and gathers: rank 0 of two, with what rank 1 said when
 * both worked, and changes (edits.h). Any of it gives batches of sense or a clean error. Changes:
 * message `which`; op 0 a word, 1 a bit flipped, 2 the length, 3 a small number added to a word, 4
 * another message in its place, 5 nothing, 6 zeros at the end, 7 a sum over ranks, which counts by
 * itself. A byte after the last change is the number of the rule by which neighbours are picked */
#include <sched.h>

#include "fuzz/edits.h"
#include "fuzz/fuzz.h"
#include "fuzz/walk.h"
#include "lib/comm/comm.h"
#include "lib/gather/gatherer.h"
#include "lib/sample/sampler.h"
#include "thread_ranks.h"
#include "store_divide.h"
#include "store_maker.h"

enum { RANKS = 2, PARTS = 3, MOST = 4096, ALIGN = 64 };

unsigned long fuzz_accepted;

#define BLOCKS .seed = 1, .batch_size = 10, .shuffle = true, .edge_ids = true, .walks.per_seed = 1
#define WALKS .seed = 1, .batch_size = 10, .shuffle = true
static const struct gnn_sampling rules[] = {
    {BLOCKS},
    {BLOCKS, .time_rule = GNN_PICK_UNTIL, .window = "90", .weight = "weight", .disjoint = true},
    {BLOCKS, .time_rule = GNN_PICK_BEFORE, .latest = true},
    {BLOCKS, .labor = true, .layer_dependency = true, .time_rule = GNN_PICK_UNTIL},
    {BLOCKS, .replace = true, .weight = "weight", .disjoint = true},
    {WALKS, .walks = {4, .per_seed = 2, .p = 1, .q = 1, .restart = 0.25}, .weight = "weight"},
    {WALKS, .walks = {4, .per_seed = 1, .p = 0.25, .q = 4}},
    {BLOCKS, .time_rule = GNN_PICK_UNTIL, .window = "90", .induced = true, .disjoint = true},
};
enum { RULES = sizeof rules / sizeof *rules };
static const struct gnn_sampling *rule; /* the one that is followed */

/* What rank 0 got under each rule, in order: messages of rank 1, and sums. */
struct said {
    void *data;
    uint64_t n;
};
static struct said messages[RULES][MOST], sums[RULES][MOST], *message, *sum;
static uint32_t all_messages[RULES], all_sums[RULES], nmessages, nsums;

static void follow(uint32_t r)
{
    rule = &rules[r];
    message = messages[r];
    sum = sums[r];
    nmessages = all_messages[r];
    nsums = all_sums[r];
}

static void keep(struct said *s, uint32_t *n, const void *data, uint64_t bytes)
{
    if (*n == MOST || !(s[*n].data = malloc(bytes + 1)))
        abort();
    if (bytes)
        memcpy(s[*n].data, data, bytes);
    s[(*n)++].n = bytes;
}

/* ---- what a rank does ---- */

static struct gnn_sampler_opts what_is_drawn(void)
{
    static const char *const fanout = "3,2", *const path = "a/to/a";
    const bool walks = rule->walks.length > 0;
    struct gnn_sampler_opts o;
    gnn_sampler_opts_init(&o);
    o.sampling = *rule;
    o.path = &path;
    o.npath = walks;
    o.fanout = &fanout;
    o.nfanout = !walks;
    o.count_once = !walks;
    o.step_to = 2; /* more of them would say nothing new */
    return o;
}

static int work(struct gnn_comm *c)
{
    struct gnn_err e = {0};
    struct gnn_store s;
    struct gnn_batch *b;
    const struct gnn_sampler_opts o = what_is_drawn();
    char path[256];
    int rc = gnn_store_open_ranks(&s, fuzz_path(path, "parts"), false, c, &e);
    const struct gnn_gather_opts g = {
        .fields = o.sampling.walks.length ? "x,y" : "x,y,weight,degree",
        .dtype = GNN_F16,
        .replicate = {0.5, o.sampling.walks.length ? GNN_ORDER_DEGREE : GNN_ORDER_ACCESS,
                      .or_halo = true}};
    struct gnn_source *q = rc ? NULL : gnn_sampler_source_new(&s, &o, &e);
    q = q ? gnn_gather_source_new(q, &s, &g, &e) : NULL;
    while (q && !(rc = gnn_source_next(q, &b, &e))) {
        (void)walk_batch(b, q->meta);
        gnn_batch_put(b);
    }
    if (!q || (rc && rc != GNN_END)) {
        c->lost = true;
        if (!*e.msg || strchr(e.msg, '\n'))
            abort();
    }
    gnn_source_free(q);
    gnn_store_close(&s);
    return q ? rc : e.code;
}

/* ---- two ranks that are threads, of which the first is listened to ---- */

static const struct gnn_comm_ops *whole;

static int end_heard(struct gnn_comm *c, struct gnn_exchange *x, struct gnn_err *e)
{
    const int rc = whole->end(c, x, e);
    if (!rc)
        keep(message, &nmessages, x->in[1].data, x->in[1].bytes);
    return rc;
}

struct summing {
    void *sum, *data;
    uint64_t bytes;
};

static int reduce_begin_heard(struct gnn_comm *c, void *data, uint64_t n, enum gnn_reduce kind,
                              void **out, struct gnn_err *e)
{
    struct summing *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    s->data = data;
    s->bytes = n * (kind == GNN_REDUCE_F32 ? 4 : 8);
    *out = s;
    return whole->reduce_begin(c, data, n, kind, &s->sum, e);
}

static int reduce_end_heard(struct gnn_comm *c, void **out, struct gnn_err *e)
{
    struct summing *s = *out;
    const int rc = whole->reduce_end(c, &s->sum, e);
    if (!rc)
        keep(sum, &nsums, s->data, s->bytes);
    free(s);
    *out = NULL;
    return rc;
}

static void rank(struct gnn_comm *c, void *arg)
{
    const struct gnn_comm_ops *own = c->ops;
    struct gnn_comm_ops other = *own;
    (void)arg;
    if (c->rank == 0) {
        whole = own;
        other.end = end_heard;
        other.reduce_begin = reduce_begin_heard;
        other.reduce_end = reduce_end_heard;
        c->ops = &other;
    }
    if (work(c) != GNN_END)
        abort();
    c->ops = own;
}

static void make(void)
{
    struct gnn_err e = {0};
    char from[256], to[256];
    fuzz_dir_new();
    maker_timed = true;
    if (store_make(fuzz_path(from, "whole"), 60, 200, true, 3, &e) ||
        store_divide(from, fuzz_path(to, "parts"), PARTS, true, &e))
        abort();
    for (uint32_t r = 0; r < RULES; r++) {
        follow(r);
        ranks_run(RANKS, 0, rank, NULL);
        all_messages[r] = nmessages;
        all_sums[r] = nsums;
    }
}

/* ---- one rank that hears that, and changes ---- */

static const uint8_t *edits;
static size_t nedits;
static uint32_t at_message, at_sum;
static void *heard[MOST + 1]; /* what exchanges still refer to */
static uint32_t nheard;

/* A block of just that size, aligned as messages are. */
static void *block(uint64_t n)
{
    if (nheard > MOST || posix_memalign(&heard[nheard], ALIGN, n))
        abort();
    return heard[nheard++];
}

static void change_message(const struct edit *x, struct gnn_span *in)
{
    uint8_t *p = (uint8_t *)(uintptr_t)in->data;
    const uint64_t words = in->bytes / 4;
    const struct said *other = &message[x->at % nmessages];
    uint32_t w;
    switch (x->op % 7) {
    case 0:
    case 3:
        if (!words)
            break;
        memcpy(&w, p + x->at % words * 4, 4);
        w = x->op % 7 ? w + x->value % 9 - 4 : x->value;
        memcpy(p + x->at % words * 4, &w, 4);
        break;
    case 1:
        if (in->bytes)
            p[x->at % in->bytes] ^= (uint8_t)(1u << x->value % 8);
        break;
    case 2:
        in->bytes = in->bytes ? x->at % in->bytes : 0;
        break;
    case 4:
        p = block(other->n);
        memcpy(p, other->data, other->n);
        *in = (struct gnn_span){p, other->n};
        break;
    case 5:
        in->bytes = 0;
        break;
    default:
        p = block(in->bytes + x->value % 65 * 4);
        memset(p, 0, in->bytes + x->value % 65 * 4);
        memcpy(p, in->data, in->bytes);
        *in = (struct gnn_span){p, in->bytes + x->value % 65 * 4};
    }
}

static int begin(struct gnn_comm *c, struct gnn_exchange *x, struct gnn_err *e)
{
    (void)c;
    (void)x;
    (void)e;
    return 0;
}

static int end(struct gnn_comm *c, struct gnn_exchange *x, struct gnn_err *e)
{
    const uint32_t k = at_message++;
    const struct said *m = &message[k % nmessages];
    const uint8_t *data = edits;
    size_t n = nedits;
    struct edit d;
    (void)c;
    if (k >= MOST)
        return gnn_fail(e, GNN_E_RANK, "too much is asked of rank 1");
    struct gnn_span in = {block(m->n), m->n};
    memcpy((void *)(uintptr_t)in.data, m->data, m->n);
    while (edit_next(&d, &data, &n))
        if (d.op % 8 != 7 && d.which % nmessages == k)
            change_message(&d, &in);
    if (in.bytes < m->n) { /* so that a step beyond it is seen */
        const void *longer = in.data;
        in.data = block(in.bytes);
        memcpy((void *)(uintptr_t)in.data, longer, in.bytes);
    }
    x->in[0] = x->out[0];
    x->in[1] = in;
    return 0;
}

static int reduce_begin(struct gnn_comm *c, void *data, uint64_t n, enum gnn_reduce kind,
                        void **out, struct gnn_err *e)
{
    const uint64_t bytes = n * (kind == GNN_REDUCE_F32 ? 4 : 8);
    const struct said *s = &sum[at_sum++ % (nsums ? nsums : 1)];
    const uint8_t *input = edits;
    size_t left = nedits;
    struct edit d;
    (void)c;
    (void)e;
    *out = NULL;
    if (nsums && bytes)
        memcpy(data, s->data, bytes < s->n ? bytes : s->n);
    while (bytes >= 4 && edit_next(&d, &input, &left))
        if (d.op % 8 == 7)
            memcpy((uint8_t *)data + d.at % (bytes / 4) * 4, &d.value, 4);
    return 0;
}

static int reduce_end(struct gnn_comm *c, void **out, struct gnn_err *e)
{
    (void)c;
    (void)out;
    (void)e;
    return 0;
}

static int poll_deadline(struct gnn_comm *c, struct gnn_deadline *p, struct gnn_err *e)
{
    (void)c;
    (void)p;
    (void)e;
    sched_yield();
    return 0;
}

static void kill_all(struct gnn_comm *c, int status)
{
    (void)c;
    (void)status;
}

static void comm_free(struct gnn_comm *c)
{
    (void)c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct gnn_comm_ops ops = {.begin = begin,
                                            .end = end,
                                            .reduce_begin = reduce_begin,
                                            .reduce_end = reduce_end,
                                            .poll = poll_deadline,
                                            .kill = kill_all,
                                            .free = comm_free};
    struct gnn_comm c = {.ops = &ops, .size = RANKS, .local_size = 1};
    if (!fuzz_dir[0])
        make();
    follow(n % sizeof(struct edit) ? data[n - 1] % RULES : 0);
    edits = data;
    nedits = n;
    at_message = at_sum = 0;
    fuzz_accepted += work(&c) == GNN_END;
    while (nheard)
        free(heard[--nheard]);
    return 0;
}
