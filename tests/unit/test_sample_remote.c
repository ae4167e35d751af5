/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling of several ranks, which are threads: together their batches are those of one, and a
 * malformed reply is an error. */
#include <inttypes.h>

#include "lib/sample/sampler.h"
#include "thread_ranks.h"
#include "scratch.h"
#include "store_divide.h"
#include "store_maker.h"
#include "tap.h"

enum { RANKS = 3, BATCHES = 12, NODES = 600 };

static atomic_int wrong;
static void must(bool right)
{
    if (!right)
        atomic_fetch_add(&wrong, 1);
}

/* ---- batches ---- */

static struct gnn_sampler_opts opts(unsigned threads)
{
    static const char *const fanout = "4,-1,3";
    struct gnn_sampler_opts o;
    gnn_sampler_opts_init(&o);
    o.fanout = &fanout;
    o.nfanout = 1;
    o.sampling.batch_size = 50;
    o.epoch_to = 2;
    o.sampling.seed = 9;
    o.sampling.edge_ids = true;
    o.threads = threads;
    return o;
}

static struct gnn_batch *one[BATCHES];
/* Has a rank drawn for the node? [batch][hop][type] */
static atomic_uchar found[BATCHES][3][2][NODES];

/* The row of node v in a block of one's batch; NULL: there is none. */
static const struct gnn_block *row_of(const struct gnn_batch *b, uint32_t hop, uint32_t et,
                                      uint32_t dst, uint32_t v, uint32_t *row)
{
    const struct gnn_block *k = gnn_batch_block(b, hop, et);
    for (*row = 0; *row < k->n; ++*row)
        if (b->type[dst].node[k->first + *row] == v)
            return k;
    return NULL;
}

static bool same_row(const struct gnn_batch *a, const struct gnn_block *x, uint32_t i,
                     const struct gnn_batch *b, const struct gnn_block *y, uint32_t k, uint32_t src)
{
    const uint32_t n = x->indptr[i + 1] - x->indptr[i];
    bool same = y->indptr[k + 1] - y->indptr[k] == n;
    for (uint32_t j = 0; same && j < n; j++) {
        const uint32_t p = x->indptr[i] + j, q = y->indptr[k] + j;
        same = a->type[src].node[x->indices[p]] == b->type[src].node[y->indices[q]] &&
               x->id[p] == y->id[q];
    }
    return same;
}

/* Does every row of a rank's batch stand in that of one? */
static void compare(const struct gnn_batch *b, uint32_t nth, const struct gnn_schema *c)
{
    must(nth < BATCHES && one[nth] && b->epoch == one[nth]->epoch && b->step == one[nth]->step);
    if (nth >= BATCHES || !one[nth])
        return;
    for (uint32_t hop = 0; hop < b->nhops; hop++)
        for (uint32_t et = 0; et < b->netypes; et++) {
            const struct gnn_block *x = gnn_batch_block(b, hop, et);
            const uint32_t dst = c->etype[et].dst;
            for (uint32_t i = 0; i < x->n; i++) {
                const uint32_t v = b->type[dst].node[x->first + i];
                uint32_t row;
                const struct gnn_block *y = row_of(one[nth], hop, et, dst, v, &row);
                must(y && same_row(b, x, i, one[nth], y, row, c->etype[et].src));
                atomic_store(&found[nth][hop][dst][v], 1);
            }
        }
}

/* And does every row of one's stand in some rank's? */
static uint32_t missing(const struct gnn_schema *c)
{
    uint32_t n = 0;
    for (uint32_t nth = 0; nth < BATCHES; nth++)
        for (uint32_t hop = 0; hop < one[nth]->nhops; hop++)
            for (uint32_t et = 0; et < one[nth]->netypes; et++) {
                const struct gnn_block *y = gnn_batch_block(one[nth], hop, et);
                const uint32_t dst = c->etype[et].dst;
                for (uint32_t i = 0; i < y->n; i++)
                    n +=
                        !atomic_load(&found[nth][hop][dst][one[nth]->type[dst].node[y->first + i]]);
            }
    return n;
}

static void rank(struct gnn_comm *c, void *arg)
{
    struct gnn_err e = {0};
    struct gnn_store s;
    struct gnn_batch *b;
    uint32_t n = 0;
    const struct gnn_sampler_opts o = opts(*(const unsigned *)arg);
    int rc = gnn_store_open_ranks(&s, "parts", true, c, &e);
    struct gnn_source *src = rc ? NULL : gnn_sampler_source_new(&s, &o, &e);
    while (src && !(rc = gnn_source_next(src, &b, &e))) {
        compare(b, n++, &s.meta.schema);
        gnn_batch_put(b);
    }
    must(src && rc == GNN_END && n == BATCHES);
    gnn_source_free(src);
    gnn_store_close(&s);
}

static void test_together(void)
{
    struct gnn_err e = {0};
    struct gnn_store s;
    const struct gnn_sampler_opts o = opts(0);
    int rc = gnn_store_open(&s, "parts", true, &e);
    struct gnn_source *src = rc ? NULL : gnn_sampler_source_new(&s, &o, &e);
    uint32_t n = 0;
    while (src && n < BATCHES && !gnn_source_next(src, &one[n], &e))
        n++;
    if (!ok(n == BATCHES, "gnn_sampler_source_new draws the %u batches of one process %s", n,
            e.msg))
        exit(1);
    for (unsigned threads = 0; threads < 4; threads += 3) {
        memset(found, 0, sizeof found);
        atomic_store(&wrong, 0);
        ranks_run(RANKS, 0, rank, &threads);
        ok(!wrong && !missing(&s.meta.schema),
           "the sampler with %u threads on %d ranks draws what one does (%d wrong, %u missing)",
           threads, RANKS, (int)wrong, missing(&s.meta.schema));
    }
    for (uint32_t i = 0; i < n; i++)
        gnn_batch_put(one[i]);
    gnn_source_free(src);
    gnn_store_close(&s);
}

/* ---- what comes garbled ---- */

enum harm { CUT, LENGTH, PICKS, NODE, OTHERS };
struct garbling {
    const char *name;
    unsigned nth; /* of the sampler's exchanges: requests, replies, requests, ... */
    enum harm harm;
    unsigned step;    /* that the error names, ... */
    const char *says; /* ... unless it says this */
};
static __thread const struct gnn_comm_ops *whole;
static __thread const struct garbling *garbling;
static __thread unsigned exchanges;

/* Does harm to what came from the next rank, on all ranks in the same exchange, so that none waits
 * for another. */
static int end_garbled(struct gnn_comm *c, struct gnn_exchange *x, struct gnn_err *e)
{
    const int rc = whole->end(c, x, e);
    struct gnn_span *in = &x->in[(c->rank + 1) % c->size];
    uint32_t *word = (uint32_t *)(uintptr_t)in->data;
    const uint64_t n = in->bytes / sizeof *word;
    if (rc || x->tag >> 12 != GNN_COMM_SAMPLE || exchanges++ != garbling->nth)
        return rc;
    must(n > 2 && word[0]);
    switch (garbling->harm) {
    case CUT:
        in->bytes -= sizeof *word;
        break;
    case LENGTH: /* of the first list */
        word[0] = UINT32_MAX;
        break;
    case PICKS: /* of the first destination */
        word[1]++;
        break;
    case NODE: /* the last source */
        word[n - 1] = UINT32_MAX;
        break;
    case OTHERS: /* the first destination: the asking rank's own */
        word[1] = (c->rank + 1) % c->size ? NODES - 1 : 0;
        break;
    }
    return 0;
}

static void rank_garbled(struct gnn_comm *c, void *arg)
{
    const struct gnn_comm_ops *ops = whole = c->ops;
    struct gnn_comm_ops other = *ops;
    struct gnn_err e = {0};
    struct gnn_store s;
    struct gnn_batch *b;
    struct gnn_sampler_opts o = opts(0);
    o.sampling.edge_ids = false; /* sources are the last thing in a message then */
    int rc = gnn_store_open_ranks(&s, "parts", true, c, &e);
    struct gnn_source *src = rc ? NULL : gnn_sampler_source_new(&s, &o, &e);
    garbling = arg;
    exchanges = 0;
    other.end = end_garbled;
    c->ops = &other;
    while (src && !(rc = gnn_source_next(src, &b, &e)))
        gnn_batch_put(b);
    c->lost = true;
    char says[64];
    snprintf(says, sizeof says, "malformed reply from rank %u (epoch 0, step %u)",
             (c->rank + 1) % c->size, garbling->step);
    if (!src || rc != GNN_E_RANK || strcmp(e.msg, garbling->says ? garbling->says : says)) {
        printf("# rank %u: %d, %s\n", c->rank, rc, e.msg);
        must(false);
    }
    gnn_source_free(src);
    gnn_store_close(&s);
    c->ops = ops;
}

static void test_garbled(void)
{
    static const struct garbling garblings[] = {
        {"requests that are cut short", 0, CUT, 0, NULL},
        {"requests without an end", 2, LENGTH, 0, NULL},
        {"requests for nodes of another rank", 0, OTHERS, 0, NULL},
        {"replies that are cut short", 1, CUT, 0, NULL},
        {"replies without an end", 5, LENGTH, 1, NULL},
        {"replies with one pick more than sources", 3, PICKS, 0, NULL},
        {"a node that is in no part", 1, NODE, 0,
         "a reply has a node that is not in the store (4294967295)"}};
    for (unsigned i = 0; i < sizeof garblings / sizeof *garblings; i++) {
        struct garbling g = garblings[i];
        atomic_store(&wrong, 0);
        ranks_run(RANKS, 0, rank_garbled, &g);
        ok(!wrong, "the sampler reports %s as malformed", g.name);
    }
}

int main(void)
{
    struct gnn_err e = {0};
    scratch_enter();
    const int rc = store_make("whole", NODES, 4000, true, 3, &e);
    if (ok(!rc && !store_divide("whole", "parts", 5, false, &e),
           "store_divide divides a store into five parts %s", e.msg)) {
        test_together();
        test_garbled();
    }
    return scratch_done();
}
