/* SPDX-License-Identifier: Apache-2.0 */
/* Entries with columns beside the node: their numbers and draws against a plain reference, and the
 * independence of trees. Seeds are fixed, so a pass is a pass. */
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/number.h"
#include "kernels/sample.h"

#include "chi.h"
#include "sample_ref.h"
#include "tap.h"

enum { TREES = 1, TIMES = 2, MOST = 6000 };

/* Entries with some columns, of `most`. */
static struct gnn_entries entries_new(unsigned columns, uint64_t most)
{
    return (struct gnn_entries){malloc(most * sizeof(uint32_t)),
                                columns & TIMES ? malloc(most * sizeof(int64_t)) : NULL,
                                columns & TREES ? malloc(most * sizeof(uint32_t)) : NULL};
}

static void entries_free(struct gnn_entries e)
{
    free(e.node);
    free(e.time);
    free(e.tree);
}

static bool same_entry(const struct gnn_entries *a, uint64_t i, uint32_t node,
                       const struct gnn_entries *b, uint64_t k)
{
    return a->node[i] == node && (!a->time || a->time[i] == b->time[k]) &&
           (!a->tree || a->tree[i] == b->tree[k]);
}

/* The number of an entry by a search through all of the list. */
static uint32_t plain_number(struct gnn_entries *list, uint32_t *count, uint32_t node,
                             const struct gnn_entries *e, uint64_t k)
{
    uint32_t i = 0;
    while (i < *count && !same_entry(list, i, node, e, k))
        i++;
    if (i < *count)
        return i;
    list->node[i] = node;
    if (list->time)
        list->time[i] = e->time[k];
    if (list->tree)
        list->tree[i] = e->tree[k];
    return (*count)++;
}

static void fit_table(struct gnn_relabel *r, uint64_t extra)
{
    const uint64_t slots = gnn_relabel_slots(r->count + extra);
    uint64_t *old = r->slot;
    if (slots > r->slots) {
        gnn_relabel_table(r, calloc(slots, sizeof *r->slot), slots, 5);
        free(old);
    }
    if (!gnn_relabel_fit(r, extra))
        abort();
}

/* ---- numbers ---- */

enum { MANY = 40, PLAIN = GNN_ISA_AVX512 + 1 /* beside levels: gnn_relabel_number itself */ };

/* gnn_relabel_number, with instructions of a level. */
static uint64_t number_on(unsigned isa, struct gnn_relabel *r, struct gnn_entries dst,
                          const uint32_t *indptr, uint32_t *source)
{
    if (isa == PLAIN)
        return gnn_relabel_number(r, dst, NULL, MANY, indptr, source);
    uint64_t hash[MANY * 8];
    const uint32_t n = indptr[MANY];
    gnn_hash_sources(r, &dst, indptr, 0, 0, source, n, hash);
    (void)gnn_number_sources_on((enum gnn_isa)isa, r, &dst, indptr, 0, 0, source, n, hash, source);
    return n;
}

/* Seeds and blocks of made-up sources; `range` nodes, so that few or many are equal. */
static bool numbers_match(unsigned columns, uint32_t range, uint32_t batches, uint64_t seed,
                          unsigned isa)
{
    struct gnn_relabel r = {.nnodes = range, .list = entries_new(columns, MOST)};
    struct gnn_entries list = entries_new(columns, MOST), dst = entries_new(columns, MANY);
    uint32_t indptr[MANY + 1], source[MANY * 8], want[MANY * 8];
    bool same = true;
    fit_table(&r, 1);
    for (uint32_t b = 0; same && b < batches; b++) {
        uint32_t count = 0;
        gnn_relabel_begin(&r);
        for (uint32_t round = 0; same && round < (batches > 100 ? 1u : 12u); round++) {
            indptr[0] = 0;
            for (uint32_t i = 0; i < MANY; i++) {
                dst.node[i] = (uint32_t)(toy_rand(&seed) % range);
                if (dst.time)
                    dst.time[i] = (int64_t)(toy_rand(&seed) % 3) - 1;
                if (dst.tree)
                    dst.tree[i] = i / 8;
                indptr[i + 1] = indptr[i] + (uint32_t)(toy_rand(&seed) % 9);
            }
            fit_table(&r, MANY);
            same = gnn_relabel_add(&r, dst, MANY) == MANY;
            for (uint32_t i = 0; i < MANY; i++)
                (void)plain_number(&list, &count, dst.node[i], &dst, i);
            for (uint32_t i = 0; i < MANY; i++)
                for (uint32_t j = indptr[i]; j < indptr[i + 1]; j++) {
                    source[j] = (uint32_t)(toy_rand(&seed) % range);
                    want[j] = plain_number(&list, &count, source[j], &dst, i);
                }
            fit_table(&r, indptr[MANY]);
            same = same && number_on(isa, &r, dst, indptr, source) == indptr[MANY] &&
                   r.count == count && !memcmp(source, want, indptr[MANY] * sizeof *want);
        }
        for (uint32_t i = 0; same && i < count; i++)
            same = same_entry(&r.list, i, list.node[i], &list, i);
    }
    entries_free(r.list);
    entries_free(list);
    entries_free(dst);
    free(r.slot);
    return same;
}

/* Nodes of tree 3 that begin their search in the same slot, with the same bits of the hash. */
static void equal_hashes(const struct gnn_relabel *r, uint32_t *node, uint32_t n)
{
    uint32_t tree = 3, found = 0;
    const struct gnn_entries e = {.tree = &tree};
    const uint64_t more = gnn_entry_hash_more(&e, 0), wanted = gnn_slot_hash(r, more, 0);
    for (uint32_t v = 0; found < n; v++) {
        node[found] = v;
        found += gnn_slot_hash(r, more, v) == wanted;
    }
}

/* So that only the entries themselves tell which is which, in a table that they nearly fill. */
static bool collisions_match(unsigned isa)
{
    enum { NODES = 40 };
    struct gnn_relabel r = {.nnodes = UINT32_MAX - 1, .list = entries_new(TREES, MOST)};
    struct gnn_entries list = entries_new(TREES, MOST), dst = entries_new(TREES, MANY);
    uint32_t node[NODES], indptr[MANY + 1] = {0}, source[MANY * 8], want[MANY * 8], count = 0;
    uint64_t seed = 5;
    bool same = true;
    gnn_relabel_table(&r, calloc(64, sizeof *r.slot), 64, 5);
    equal_hashes(&r, node, NODES);
    for (uint32_t i = 0; i < MANY; i++) {
        dst.node[i] = 0;
        dst.tree[i] = 3;
        indptr[i + 1] = indptr[i] + 8;
    }
    for (uint32_t b = 0; same && b < 200; b++) {
        gnn_relabel_begin(&r);
        count = 0;
        for (uint32_t j = 0; j < indptr[MANY]; j++) {
            source[j] = node[toy_rand(&seed) % (1 + b % NODES)];
            want[j] = plain_number(&list, &count, source[j], &dst, 0);
        }
        same = number_on(isa, &r, dst, indptr, source) == indptr[MANY] && r.count == count &&
               !memcmp(source, want, indptr[MANY] * sizeof *want);
    }
    entries_free(r.list);
    entries_free(list);
    entries_free(dst);
    free(r.slot);
    return same;
}

static void numbers(void)
{
    static const char *const names[] = {"", "trees", "times", "trees and times"};
    for (unsigned columns = 1; columns < 4; columns++) {
        bool all = numbers_match(columns, 400, 5, columns, PLAIN);
        for (unsigned isa = GNN_ISA_PORTABLE; isa <= gnn_isa_best(); isa++)
            all = all && numbers_match(columns, 7, 5, columns, isa) &&
                  numbers_match(columns, 400, 5, columns, isa) &&
                  numbers_match(columns, 1000000, 5, columns, isa);
        ok(all, "entries with %s have the numbers of a plain search, as the table grows",
           names[columns]);
        ok(numbers_match(columns, 3, 70000, columns + 9, PLAIN),
           "entries with %s have them when generations start anew", names[columns]);
    }
    bool all = collisions_match(PLAIN);
    for (unsigned isa = GNN_ISA_PORTABLE; isa <= gnn_isa_best(); isa++)
        all = all && collisions_match(isa);
    ok(all, "entries whose hashes are equal have numbers of their own");
    struct gnn_relabel r = {.nnodes = 3, .list = entries_new(TREES, 10)};
    uint32_t node[] = {1, 2, 3}, tree[] = {0, 0, 0}, ptr[] = {0, 3};
    fit_table(&r, 3);
    gnn_relabel_begin(&r);
    const struct gnn_entries e = {.node = node, .tree = tree};
    ok(gnn_relabel_add(&r, e, 3) == 2 && gnn_relabel_number(&r, e, NULL, 1, ptr, node) == 2,
       "entries with trees whose node is out of range are named");
    ok(!gnn_relabel_fit(&r, 1000) && !gnn_relabel_fit(&r, UINT64_MAX),
       "gnn_relabel_fit says that a table is too small");
    entries_free(r.list);
    free(r.slot);
}

/* ---- draws ---- */

static uint32_t degree_of(uint64_t i, uint64_t noise)
{
    return i % 5 == 0 ? 900 : (uint32_t)(noise % 40);
}

/* One block of destinations in trees 0 to 4, 70000 and so on. */
static bool block_matches(int32_t fanout, bool replace, bool numbered)
{
    enum { ROWS = 61, NODES = 50 };
    struct toy t;
    toy_make(&t, NODES, 30, 5, degree_of);
    const struct gnn_sample_part part = {
        .count = NODES, .indptr = t.indptr, .indices = t.indices, .nedges = t.nedges};
    const struct gnn_pick_rule rule = {replace ? GNN_PICK_REPLACE : GNN_PICK_UNIFORM, fanout,
                                       false};
    uint32_t node[ROWS], tree[ROWS], key[2] = {3, 4}, indptr[ROWS + 1];
    struct gnn_sample_row row[ROWS];
    struct gnn_sample_place bad;
    for (uint32_t i = 0; i < ROWS; i++) {
        node[i] = i * 7 % NODES / 2;
        tree[i] = i / 12 * 17500;
    }
    struct gnn_sample_job job = {.graph = {&part, 1, 30},
                                 .dst = {.node = node, .tree = tree},
                                 .n = ROWS,
                                 .rule = rule,
                                 .key = key,
                                 .indptr = indptr,
                                 .row = row,
                                 .scratch = aligned_alloc(64, gnn_sample_scratch(rule))};
    bool same = !gnn_sample_count(&job, &bad);
    const uint32_t edges = indptr[ROWS];
    struct gnn_relabel r = {.nnodes = 30, .list = entries_new(TREES, edges + 1)};
    struct gnn_entries list = entries_new(TREES, edges + 1);
    uint32_t *out = malloc((edges + 1) * sizeof *out), *x = malloc((edges + 1) * sizeof *x),
             count = 0;
    fit_table(&r, edges);
    gnn_relabel_begin(&r);
    same = same && !gnn_sample_pick(&job, numbered ? &r : NULL, out, NULL, &bad);
    for (uint32_t i = 0; same && i < ROWS; i++) {
        const uint64_t at = t.indptr[node[i]];
        const uint32_t n = ref_pick_in(key, node[i], tree[i],
                                       (uint32_t)(t.indptr[node[i] + 1] - at), fanout, replace, x);
        same = indptr[i + 1] - indptr[i] == n;
        for (uint32_t j = 0; same && j < n; j++) {
            const uint32_t v = t.indices[at + x[j]];
            same =
                out[indptr[i] + j] == (numbered ? plain_number(&list, &count, v, &job.dst, i) : v);
        }
    }
    entries_free(r.list);
    entries_free(list);
    free(r.slot);
    free(job.scratch);
    free(out);
    free(x);
    toy_free(&t);
    return same;
}

static void draws(void)
{
    static const int32_t fanouts[] = {0, 1, 5, 15, 64, 65, 300, -1};
    for (unsigned how = 0; how < 4; how++) {
        bool same = true;
        for (size_t i = 0; i < sizeof fanouts / sizeof *fanouts; i++)
            same = same && block_matches(fanouts[i], how & 1, how & 2);
        ok(same, "gnn_sample_pick draws in trees what a plain sampler does%s%s",
           how & 1 ? ", with replacement" : "", how & 2 ? ", and numbers it" : "");
    }
}

/* ---- independence ---- */

/* Two trees pick one of d neighbours of the same node: all pairs are equally frequent. equal: the
 * trees are the same, which the test must see. */
static double pairs_z(uint32_t d, bool weighted, bool equal, bool *pass)
{
    enum { ROUNDS = 200000 };
    uint64_t sum[16];
    double *count = calloc((size_t)d * d, sizeof *count);
    struct chi c = {0};
    for (uint32_t i = 0; i < d; i++)
        sum[i] = i + 1;
    const struct gnn_weights w = {.sum = sum, .total = d, .span = d};
    const struct gnn_pick_rule rule = {GNN_PICK_UNIFORM, 1, weighted};
    for (uint32_t t = 0; t < ROUNDS; t++) {
        uint32_t key[2], x[2];
        gnn_rng_key(31, t, 0, 0, 0, key);
        for (uint32_t k = 0; k < 2; k++) {
            const uint32_t tree = equal ? 1 : t % 50 + k * (1 + t % 3);
            x[k] = weighted ? gnn_weight_find(&w, gnn_weight_draw(&w, key, 8, tree, 0, d))
                            : gnn_pick_draw(rule, key, 8, tree, d, 0);
        }
        count[x[0] * d + x[1]]++;
    }
    for (uint32_t i = 0; i < d * d; i++)
        chi_add(&c, count[i], (double)ROUNDS / (d * d));
    free(count);
    *pass = chi_pass(&c);
    return chi_z(&c);
}

static void independence(void)
{
    bool pass;
    for (int weighted = 0; weighted < 2; weighted++)
        for (uint32_t d = 2; d < 16; d += 5) {
            const double z = pairs_z(d, weighted, false, &pass);
            ok(pass, "two trees draw from %u neighbours of a node independently%s (z %.2f)", d,
               weighted ? ", by weight" : "", z);
        }
    const double z = pairs_z(7, false, true, &pass);
    ok(!pass, "the test sees trees that draw the same (z %.0f)", z);
}

int main(void)
{
    numbers();
    draws();
    independence();
    return tap_done();
}
