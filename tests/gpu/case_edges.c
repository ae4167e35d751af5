/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of edges by their ids: parts, hubs, ids that are positions or not, ids and destinations that
 * are wrong, damaged offsets. */
#include "gpu/case.h"
#include "gpu/on_device.h"
#include "kernels/edges.h"

enum { PARTS = 7 };
enum wrong { NOTHING, IDS, NODES };

struct graph {
    struct gnn_edges_part part[PARTS];
    uint32_t nparts, nodes;
};

/* Parts of uneven size, every third one empty, some in the host's memory; one hub of `hub` edges.
 * With ids: blocks of consecutive ones, each node's somewhere else. */
static struct graph graph_of(uint32_t nparts, bool ids, uint32_t hub)
{
    struct graph g = {.nparts = nparts};
    uint64_t rows = 0;
    for (uint32_t p = 0; p < nparts; p++) {
        const uint32_t n = p % 3 == 1 ? 0 : (20 + below(40)) * size_scale;
        uint64_t *ptr = array(n + 1, sizeof *ptr);
        ptr[0] = 0;
        for (uint32_t i = 0; i < n; i++)
            ptr[i + 1] = ptr[i] + (hub && i == n / 2 && !p ? hub : below(4) ? below(12) : 0);
        uint64_t *id = ids ? array(ptr[n], sizeof *id) : NULL;
        for (uint32_t i = 0; i < n && ids; i++) {
            const uint64_t at = 1000 * (uint64_t)below(1u << 30) + g.nodes + i;
            for (uint64_t k = ptr[i]; k < ptr[i + 1]; k++)
                id[k] = at + k - ptr[i];
        }
        if (p % 2) {
            in_host_memory(ptr);
            if (ids)
                in_host_memory(id);
        }
        g.part[p] = (struct gnn_edges_part){g.nodes, n, rows, ptr[n], ptr, id};
        g.nodes += n;
        rows += ptr[n];
    }
    return g;
}

static const struct gnn_edges_part *part_of(const struct graph *g, uint32_t node)
{
    const struct gnn_edges_part *a = g->part;
    while (node - a->first >= a->count)
        a++;
    return a;
}

/* As the contract says it: the row of the edge of this node that has the id. */
static uint64_t search(const struct gnn_edges_part *a, uint32_t node, uint64_t id)
{
    const uint64_t *ptr = a->indptr + (node - a->first);
    for (uint64_t k = ptr[0]; k < ptr[1]; k++)
        if ((a->id ? a->id[k] : k) == id)
            return a->row + k;
    return UINT64_MAX;
}

/* Picks of n destinations, all of those with many edges, some of them wrong; and their rows. */
struct picks {
    uint32_t n, *dst, *ptr;
    uint64_t *id, *want;
};
static struct picks picks_of(const struct graph *g, uint32_t n, enum wrong wrong)
{
    struct picks k = {.n = n, .dst = array(n, 4), .ptr = array(n + 1, 4)};
    k.ptr[0] = 0;
    for (uint32_t i = 0; i < n; i++) {
        k.dst[i] = below(g->nodes);
        const struct gnn_edges_part *a = part_of(g, k.dst[i]);
        const uint64_t *ptr = a->indptr + (k.dst[i] - a->first), degree = ptr[1] - ptr[0];
        k.ptr[i + 1] = k.ptr[i] + (degree > 1000 ? (uint32_t)degree : degree ? below(20) : 0);
    }
    k.id = array(k.ptr[n], sizeof *k.id);
    k.want = host(k.ptr[n] * sizeof *k.want);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t node = k.dst[i];
        const struct gnn_edges_part *a = part_of(g, node);
        const uint64_t *ptr = a->indptr + (node - a->first), degree = ptr[1] - ptr[0];
        const bool gone = wrong == NODES && !below(10);
        for (uint32_t q = k.ptr[i]; q < k.ptr[i + 1]; q++) {
            const uint64_t at = ptr[0] + (degree > 1000 ? q - k.ptr[i] : below((uint32_t)degree));
            const bool bad = wrong == IDS && !below(30);
            k.id[q] = bad ? below(2) * UINT64_MAX + below(1000) : a->id ? a->id[at] : at;
            k.want[q] = gone ? UINT64_MAX : bad ? search(a, node, k.id[q]) : a->row + at;
        }
        k.dst[i] = gone ? g->nodes + below(1u << 31) : node;
    }
    return k;
}

/* How many were no edges. */
static uint64_t find(const struct graph *g, const struct picks *k, const uint64_t *want)
{
    const uint32_t picks = k->ptr[k->n];
    uint64_t *row = array(picks, sizeof *row);
    struct gnn_edges f = {
        .part = g->part, .nparts = g->nparts, .n = k->n, .dst = k->dst, .indptr = k->ptr};
    f.id = k->id;
    f.row = row;
    while (again()) {
        struct gnn_edges_part part[PARTS];
        struct gnn_edges q = f;
        for (uint32_t p = 0; p < g->nparts; p++) {
            part[p] = g->part[p];
            part[p].indptr = at(part[p].indptr);
            part[p].id = at(part[p].id);
        }
        q.part = up(part, g->nparts * sizeof *part);
        q.dst = at(q.dst), q.indptr = at(q.indptr), q.id = at(q.id), q.row = at(q.row);
        gnn_cuda_find_edges(&q, stream);
    }
    const uint64_t missing = gnn_edges_find(&f);
    uint64_t expected = 0;
    for (uint32_t q = 0; q < picks && want; q++) {
        expected += want[q] == UINT64_MAX;
        expect(row[q] == want[q], "the CPU finds for pick %u another row", q);
    }
    expect(!want || missing == expected, "the CPU finds that %llu are no edges, not %llu",
           (unsigned long long)missing, (unsigned long long)expected);
    return missing;
}

static void edges(uint32_t nparts, bool ids, uint32_t hub, uint32_t n, enum wrong wrong)
{
    const struct graph g = graph_of(nparts, ids, hub);
    const struct picks k = picks_of(&g, n, wrong);
    const uint64_t missing = find(&g, &k, k.want);
    expect(wrong == NOTHING || missing, "nothing is wrong");
    verdict("edges of %u nodes in %u parts by %s%s, %llu of %u wrong", n, nparts,
            ids ? "ids" : "positions", hub ? ", of a hub" : "", (unsigned long long)missing,
            k.ptr[n]);
}

/* None are found by offsets that are none; there is no crash. */
static void damaged(void)
{
    const struct graph g = graph_of(1, true, 0);
    const struct picks k = picks_of(&g, 500, NOTHING);
    uint64_t *ptr = (uint64_t *)(uintptr_t)g.part[0].indptr;
    for (uint32_t i = 3; i <= g.nodes; i += 5)
        ptr[i] = below(2) ? UINT64_MAX - below(4) : below(5);
    expect(find(&g, &k, NULL), "nothing is damaged");
    verdict("edges by damaged offsets");
}

void case_edges(void)
{
    for (uint32_t parts = 1; parts <= PARTS; parts += 3)
        for (int ids = 0; ids < 2; ids++) {
            edges(parts, ids, 0, 0, NOTHING);
            edges(parts, ids, 0, 1, NOTHING);
            edges(parts, ids, 0, 300 * size_scale, NOTHING);
            edges(parts, ids, 0, 300 * size_scale, IDS);
            edges(parts, ids, 0, 300 * size_scale, NODES);
        }
    edges(2, true, 100000, 20, NOTHING);
    damaged();
}
