/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling on a device beside the CPU's, for check_kernels: without numbering, and what is kept of
 * it where it is. */
#ifndef GNN_TESTS_GPU_SAMPLE_CASE_H
#define GNN_TESTS_GPU_SAMPLE_CASE_H

#include "gpu/on_device.h"
#include "kernels/sample.h"

/* ---- sampling, without the numbering ---- */

struct drawn {
    uint32_t *indptr, *source;
    uint64_t *id;
};

/* By the CPU; *j gets what its draw needs to know. */
static struct drawn draw_here(struct gnn_sample_job *j)
{
    struct gnn_sample_place bad;
    struct gnn_sample_row *row = host(j->n * sizeof *row);
    struct drawn d = {.indptr = host((j->n + 1) * sizeof *d.indptr)};
    j->row = row;
    j->indptr = d.indptr;
    if (gnn_sample_count(j, &bad))
        must(gnn_fail(&err, GNN_E_RUN, "the CPU cannot count"));
    d.source = host(d.indptr[j->n] * sizeof *d.source);
    d.id = host(d.indptr[j->n] * sizeof *d.id);
    j->scratch = (char *)host(gnn_sample_scratch(j->rule) + 64) + 63;
    j->scratch = (char *)j->scratch - (uintptr_t)j->scratch % 64;
    if (gnn_sample_pick(j, NULL, d.source, d.id, &bad))
        must(gnn_fail(&err, GNN_E_RUN, "the CPU cannot draw"));
    return d;
}

/* Nodes with up to so many in-edges, a fifth of them with none. */
static struct gnn_sample_part some_edges(uint32_t nodes, uint32_t degree)
{
    uint64_t *ptr = host((nodes + 1) * sizeof *ptr);
    for (uint32_t i = 0; i < nodes; i++)
        ptr[i + 1] = ptr[i] + (i % 5 ? below(degree) : 0);
    uint32_t *index = host(ptr[nodes] * sizeof *index);
    for (uint64_t k = 0; k < ptr[nodes]; k++)
        index[k] = below(nodes);
    return (struct gnn_sample_part){
        .count = nodes, .indptr = ptr, .indices = index, .nedges = ptr[nodes]};
}
/* The same there, as the only part. */
static struct gnn_sample_part *edges_there(struct gnn_sample_part part)
{
    part.indptr = up(part.indptr, (part.count + 1) * sizeof *part.indptr);
    part.indices = up(part.indices, part.nedges * sizeof *part.indices);
    return up(&part, sizeof part);
}

static void sampling(uint32_t nodes, uint32_t n, uint32_t degree, int32_t fanout, bool replace)
{
    const struct gnn_sample_part part = some_edges(nodes, degree);
    uint32_t *dst = host(n * sizeof *dst);
    for (uint32_t i = 0; i < n; i++)
        dst[i] = below(nodes);
    const uint32_t key[2] = {draw(), draw()};
    struct gnn_sample_job j = {.graph = {&part, 1, nodes},
                               .dst.node = dst,
                               .n = n,
                               .rule = {replace ? GNN_PICK_REPLACE : GNN_PICK_UNIFORM, fanout},
                               .key = key};
    const struct drawn want = draw_here(&j);
    const uint32_t edges = want.indptr[n];
    struct gnn_cuda_sample_job c = {.what = j, .end = up(&n, sizeof n), .capacity = edges};
    c.what.graph.part = edges_there(part);
    c.what.dst.node = up(dst, n * sizeof *dst);
    c.what.key = up(key, sizeof key);
    size_t wrong = 0;
    for (int run = 0; run < 2; run++) {
        const struct gnn_cuda_sample_status none = {0};
        c.what.indptr = room((n + 1) * sizeof *c.what.indptr);
        c.source.node = room(edges * sizeof *c.source.node);
        c.ids = room(edges * sizeof *c.ids);
        c.edges = room(sizeof *c.edges);
        c.what.scratch = room(gnn_cuda_sample_scratch(j.rule, n, edges));
        c.status = up(&none, sizeof none);
        gnn_cuda_sample_block(&c, NULL, stream);
        wrong += ((struct gnn_cuda_sample_status *)down(c.status, sizeof none))->code != 0;
        wrong += memcmp(down(c.what.indptr, (n + 1) * sizeof *want.indptr), want.indptr,
                        (n + 1) * sizeof *want.indptr) != 0;
        wrong += memcmp(down(c.source.node, edges * sizeof *c.source.node), want.source,
                        edges * sizeof *c.source.node) != 0;
        wrong += memcmp(down(c.ids, edges * sizeof *c.ids), want.id, edges * sizeof *c.ids) != 0;
    }
    ok(!wrong, "sampling: %d of up to %u neighbours%s, %u nodes, %u edges", (int)fanout, degree,
       replace ? ", with replacement" : "", n, edges);
    release();
}

/* ---- edges among nodes ---- */

/* What the CPU keeps of j's draw of all: d becomes that. The numbered entries are j's
 * destinations. */
static void keep_here(struct gnn_sample_job *j, struct drawn *d, uint32_t nodes)
{
    const uint64_t slots = gnn_relabel_slots(j->n + 1);
    struct gnn_relabel r = {.nnodes = nodes, .list = j->dst, .map = host(nodes * sizeof *r.map)};
    if (j->dst.tree)
        gnn_relabel_table(&r, host(slots * sizeof *r.slot), slots, 1);
    gnn_relabel_begin(&r);
    if (!gnn_relabel_fit(&r, j->n) || gnn_relabel_add(&r, j->dst, j->n) < j->n || r.count < j->n)
        must(gnn_fail(&err, GNN_E_RUN, "the CPU cannot number"));
    (void)gnn_relabel_keep(&r, NULL, j->dst, j->n, d->indptr, d->source, d->id);
}

/* All different: n nodes, or about n / trees nodes in each of so many trees. */
static struct gnn_entries some_entries(uint32_t nodes, uint32_t n, uint32_t trees)
{
    struct gnn_entries e = {.node = host((n + 1) * sizeof *e.node),
                            .tree = trees ? host((n + 1) * sizeof *e.tree) : NULL};
    const uint32_t each = trees ? (n + trees - 1) / trees : n, last = below(nodes);
    for (uint32_t i = 0; i < n; i++) {
        e.node[i] = (last + nodes - i % each) % nodes;
        if (trees)
            e.tree[i] = i / each;
    }
    return e;
}

/* Numbers c's destinations there and keeps the edges among them. */
static void induce_there(struct gnn_cuda_sample_job *c, struct gnn_entries dst,
                         const struct gnn_cuda_kept *to, uint32_t nodes)
{
    const uint32_t n = c->what.n, slots = dst.tree ? gnn_cuda_relabel_table(n, n)
                                                   : gnn_cuda_relabel_slots(nodes, n, n);
    struct gnn_cuda_relabel r = {.nnodes = nodes,
                                 .capacity = n,
                                 .slots = slots,
                                 .list = c->what.dst,
                                 .bits = dst.tree ? 32 : gnn_cuda_relabel_bits(n, n),
                                 .count = room(sizeof *r.count)};
    const uint32_t zero = 0;
    r.map = room((slots ? slots : nodes) * sizeof *r.map);
    r.key = slots && !dst.tree ? room(slots * sizeof *r.key) : NULL;
    r.tag = up(&zero, sizeof zero);
    gnn_cuda_begin_batch(&r, c->status, stream);
    gnn_cuda_relabel_seeds(&r, dst, c->end, n, room(gnn_cuda_relabel_scratch(n)), c->status,
                           stream);
    gnn_cuda_induce_block(c, &r, to, stream);
}

static void inducing(uint32_t nodes, uint32_t n, uint32_t degree, uint32_t trees)
{
    const uint32_t most = trees ? trees * nodes : nodes;
    n = n < most ? n : most;
    const struct gnn_sample_part part = some_edges(nodes, degree);
    const uint32_t key[2] = {draw(), draw()};
    struct gnn_sample_job j = {.graph = {&part, 1, nodes},
                               .dst = some_entries(nodes, n, trees),
                               .n = n,
                               .rule = {GNN_PICK_UNIFORM, -1},
                               .key = key};
    struct drawn want = draw_here(&j);
    const uint32_t all = want.indptr[n];
    keep_here(&j, &want, nodes);
    const uint32_t edges = want.indptr[n];
    struct gnn_cuda_sample_job c = {.what = j, .end = up(&n, sizeof n), .capacity = all};
    const struct gnn_entries dst = {.node = up(j.dst.node, n * sizeof *dst.node),
                                    .tree = trees ? up(j.dst.tree, n * sizeof *dst.tree) : NULL};
    c.what.graph.part = edges_there(part);
    c.what.key = up(key, sizeof key);
    size_t wrong = 0;
    for (int run = 0; run < 2; run++) {
        const struct gnn_cuda_sample_status none = {0};
        const struct gnn_cuda_kept to = {edges, room(edges * sizeof *to.indices),
                                         room(edges * sizeof *to.ids)};
        c.what.dst.node = room(n * sizeof *dst.node);
        c.what.dst.tree = trees ? room(n * sizeof *dst.tree) : NULL;
        c.what.indptr = room((n + 1) * sizeof *c.what.indptr);
        c.source.node = room(all * sizeof *c.source.node);
        c.source.tree = trees ? room(all * sizeof *c.source.tree) : NULL;
        c.ids = room(all * sizeof *c.ids);
        c.edges = room(sizeof *c.edges);
        c.what.scratch = room(gnn_cuda_sample_scratch(j.rule, n, all));
        c.status = up(&none, sizeof none);
        induce_there(&c, dst, &to, nodes);
        wrong += ((struct gnn_cuda_sample_status *)down(c.status, sizeof none))->code != 0;
        wrong += memcmp(down(c.what.indptr, (n + 1) * sizeof *want.indptr), want.indptr,
                        (n + 1) * sizeof *want.indptr) != 0;
        wrong += memcmp(down(to.indices, edges * sizeof *to.indices), want.source,
                        edges * sizeof *to.indices) != 0;
        wrong += memcmp(down(to.ids, edges * sizeof *to.ids), want.id, edges * sizeof *to.ids) != 0;
    }
    ok(!wrong && edges, "edges among %u of %u nodes in %u trees: %u of %u", n, nodes, trees, edges,
       all);
    release();
}

#endif
