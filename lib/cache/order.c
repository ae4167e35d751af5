/* SPDX-License-Identifier: Apache-2.0 */
/* Orders by which caches are filled (lib/cache/order.h): a score for each node - its degree, its
 * expected access, the halo, or what a file says - and the ranking of nodes by score. The ranking
 * is stable in the original ids, so that partitioned stores give the same caches as whole ones. */
#include "lib/cache/order.h"

#include <string.h>

#include "lib/comm/comm.h"
#include "lib/store/ids.h"

enum gnn_order_by gnn_order_parse(const char *text)
{
    static const char words[] = GNN_ORDER_WORDS;
    int by = GNN_ORDER_DEGREE;
    for (const char *w = words, *end; w; w = *end ? end + 1 : NULL, by++) {
        end = w + strcspn(w, "|");
        if (strlen(text) == (size_t)(end - w) && !strncmp(w, text, (size_t)(end - w)))
            return (enum gnn_order_by)by;
    }
    return GNN_ORDER_FILE;
}

void gnn_order_release(struct gnn_order *o)
{
    gnn_scores_release(&o->file);
}

static int sum_scores(struct gnn_store *s, struct gnn_scores *x, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    int rc = 0;
    for (uint32_t t = 0; !rc && t < c->nntypes; t++)
        rc = gnn_comm_all_reduce(s->comm, x->of[t], c->ntype[t].count, GNN_REDUCE_F32, e);
    return rc;
}

static int make_scores(enum gnn_order_by by, const struct gnn_order_scope *w, struct gnn_scores *x,
                       struct gnn_err *e)
{
    if (by == GNN_ORDER_ACCESS)
        return gnn_access_of_batches(w->store, w->sampling, x, e);
    /* Over the edges of one part, or those that this rank has: other than own nodes, only those of
     * the halo have edges there. */
    const bool part = by == GNN_ORDER_HALO && w->one_part;
    return gnn_access_degree(w->store, w->sampling, part ? w->part : w->store->from,
                             part ? w->part + 1 : w->store->to, x, e);
}

int gnn_order_scores(const struct gnn_order *o, const struct gnn_order_scope *w,
                     struct gnn_scores *made, const struct gnn_scores **x, struct gnn_err *e)
{
    *x = o->by == GNN_ORDER_FILE ? &o->file : o->by == GNN_ORDER_ACCESS ? w->access : NULL;
    if (*x)
        return 0;
    *x = made;
    return make_scores(o->by, w, made, e) ||
                   ((w->all_ranks || o->by == GNN_ORDER_DEGREE) && sum_scores(w->store, made, e))
               ? e->code
               : 0;
}

/* ---- ranked rows ---- */

struct entry {
    uint32_t key, id;
};

/* A radix sort, least significant digit first: equal keys keep their order. */
static struct entry *sort_entries(struct entry *a, struct entry *b, uint64_t n)
{
    enum { BITS = 11, SIZE = 1 << BITS };
    for (uint32_t shift = 0; shift < 32; shift += BITS) {
        uint64_t at[SIZE] = {0}, sum = 0;
        for (uint64_t i = 0; i < n; i++)
            at[a[i].key >> shift & (SIZE - 1)]++;
        for (uint32_t d = 0; d < SIZE; d++) {
            const uint64_t here = at[d];
            at[d] = sum;
            sum += here;
        }
        for (uint64_t i = 0; i < n; i++)
            b[at[a[i].key >> shift & (SIZE - 1)]++] = a[i];
        struct entry *swap = a;
        a = b;
        b = swap;
    }
    return a;
}

/* Bits of a float that is not negative ascend with its value; inverted they descend. */
static uint32_t key_of(float score)
{
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    return ~(bits & 0x7fffffff);
}

/* Ranks the rows of one type except those of ids [from, to). For `copies` of remote rows, those
 * that nothing leads to are left out. */
static int rank_rows(struct gnn_ranking *k, struct gnn_store *s, uint32_t t, uint64_t from,
                     uint64_t to, bool copies, struct gnn_err *e)
{
    const uint64_t n = s->meta.schema.ntype[t].count;
    const float *score = k->score->of[t];
    uint32_t *store_id = NULL;
    uint64_t m = 0;
    int rc = copies || s->to - s->from < s->nparts ? 0 : gnn_store_inverse(s, t, &store_id, e);
    if (rc)
        return rc;
    struct entry *a = gnn_alloc(n, sizeof *a, "an order", e),
                 *b = gnn_alloc(n, sizeof *b, "an order", e);
    k->row[t] = gnn_alloc(n, sizeof *k->row[t], "an order", e);
    rc = a && b && k->row[t] ? 0 : e->code;
    for (uint64_t i = 0; !rc && i < n; i++) {
        const uint32_t id = store_id ? store_id[i] : (uint32_t)i;
        if ((copies ? score[id] > 0 : score[id] >= 0) && !(id >= from && id < to))
            a[m++] = (struct entry){key_of(score[id]), id};
    }
    const struct entry *in = rc ? NULL : sort_entries(a, b, m);
    for (uint64_t i = 0; in && i < m; i++)
        k->row[t][i] = in[i].id;
    k->n[t] = rc ? 0 : m;
    gnn_free(a);
    gnn_free(b);
    gnn_free(store_id);
    return rc;
}

int gnn_ranking_init(struct gnn_ranking *k, struct gnn_store *s, const uint64_t *bytes,
                     const struct gnn_scores *x, uint32_t from, uint32_t to, struct gnn_err *e)
{
    *k = (struct gnn_ranking){.ntypes = x->ntypes, .bytes = bytes, .score = x};
    k->row = gnn_alloc_zero(k->ntypes, sizeof *k->row, "an order", e);
    k->n = gnn_alloc_zero(k->ntypes, sizeof *k->n, "an order", e);
    int rc = k->row && k->n ? 0 : e->code;
    for (uint32_t t = 0; !rc && t < k->ntypes; t++)
        rc = bytes[t] ? rank_rows(k, s, t, s->book[t][from], s->book[t][to], from < to, e) : 0;
    return rc;
}

void gnn_ranking_release(struct gnn_ranking *k)
{
    for (uint32_t t = 0; k->row && t < k->ntypes; t++)
        gnn_free(k->row[t]);
    gnn_free(k->row);
    gnn_free(k->n);
    *k = (struct gnn_ranking){0};
}
