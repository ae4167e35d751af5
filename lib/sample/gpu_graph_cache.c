/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows' sources a device keeps when the edges are in the host's memory: those that save most
 * reads a byte. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sample/gpu_sample.h"

enum { EXACT = 1024, STEPS = 8, CLASSES = EXACT + 22 * STEPS, CHUNK = 4 << 20 };

/* Rows of about one degree. */
struct class
{
    double score; /* expected reads of a batch, for each source that is kept */
    uint64_t rows, sources, units;
    uint64_t taken; /* of the units */
};

static uint32_t class_of(uint32_t degree)
{
    if (degree < EXACT)
        return degree;
    const uint32_t log = 31 - (uint32_t)__builtin_clz(degree);
    return EXACT + (log - 10) * STEPS + (degree >> (log - 3)) % STEPS;
}

static uint64_t row_units(uint64_t degree)
{
    return (degree + GNN_SAMPLE_RESIDENT - 1) / GNN_SAMPLE_RESIDENT;
}

/* 0 where the offsets are damaged, too: a batch that meets them reports that. */
static uint32_t degree_of(const struct gnn_sample_part *a, uint64_t i)
{
    const uint64_t b = a->indptr[i], e = a->indptr[i + 1];
    return b <= e && e <= a->nedges && e - b <= UINT32_MAX ? (uint32_t)(e - b) : 0;
}

static void count_classes(const struct gnn_sample_graph *g, struct class *c)
{
    for (uint32_t p = 0; p < g->nparts; p++)
        for (uint64_t i = 0; i < g->part[p].count; i++) {
            const uint32_t d = degree_of(&g->part[p], i);
            struct class *k = &c[class_of(d)];
            k->rows++;
            k->sources += d;
            k->units += row_units(d);
        }
}

/* A draw that makes a node a destination finds it in proportion to its out-degree, for which its
 * in-degree stands: the same where edges go both ways. Once there, it costs as many reads as it has
 * neighbours, or as are picked. */
static void score_classes(const struct sampler *s, const struct gpu_capacity *r, uint32_t et,
                          struct class *c)
{
    const struct gnn_schema *schema = &s->meta.schema;
    const struct gnn_sampling *m = &s->meta.sampling;
    double draws = 0, edges = 0, picks = 0;
    for (uint32_t h = 0; h < m->nhops; h++) {
        const struct gnn_pick_rule rule = gnn_sampling_rule(m, h * schema->netypes + et);
        picks = fmax(picks, (double)gnn_pick_bound(rule, 1, UINT32_MAX));
        for (uint32_t k = 0; h + 1 < m->nhops && k < schema->netypes; k++)
            if (schema->etype[k].src == schema->etype[et].dst)
                draws += r->edges[h * schema->netypes + k];
    }
    for (uint32_t i = 0; i < CLASSES; i++)
        edges += (double)c[i].sources;
    for (uint32_t i = 0; i < CLASSES; i++) {
        const double d = c[i].rows ? (double)c[i].sources / (double)c[i].rows : 0;
        c[i].score = d > 0 ? -expm1(-fmax(draws, 1) * d / edges) * fmin(1, picks / d) : 0;
    }
}

static int compare_scores(const void *a, const void *b)
{
    const double x = (*(struct class *const *)a)->score, y = (*(struct class *const *)b)->score;
    return x > y ? -1 : x < y;
}

/* Gives the capacity to the best classes first; returns how much is used. */
static uint64_t give_capacity(struct class *c, struct class **order, uint64_t n, uint64_t capacity)
{
    uint64_t used = 0;
    for (uint64_t i = 0; i < n; i++)
        order[i] = &c[i];
    qsort(order, n, sizeof(struct class *), compare_scores);
    for (uint64_t i = 0; i < n && order[i]->score > 0; i++) {
        order[i]->taken = order[i]->units < capacity - used ? order[i]->units : capacity - used;
        used += order[i]->taken;
    }
    return used;
}

/* Rows get places in the order of their ids; of a class that is not taken whole, the first. */
static void choose_rows(struct gpu_resident *n, const struct gnn_sample_part *a, struct class *c,
                        uint32_t *at)
{
    for (uint64_t i = 0; i < a->count; i++) {
        const uint32_t d = degree_of(a, i);
        struct class *k = &c[class_of(d)];
        const uint64_t u = row_units(d);
        const bool take = d && u <= k->taken;
        at[i] = take ? (uint32_t)n->units : UINT32_MAX;
        n->units += take ? u : 0;
        k->taken -= take ? u : 0;
    }
}

int gnn_gpu_resident_init(struct gpu_resident *n, const struct sampler *s,
                          const struct gpu_capacity *r, uint64_t bytes, struct gnn_err *e)
{
    const uint32_t netypes = s->meta.schema.netypes, nparts = s->store->nparts;
    uint64_t index = 0, capacity = UINT32_MAX - UINT64_C(1);
    for (uint32_t et = 0; et < netypes; et++)
        for (uint32_t p = 0; s->graph[et].part && p < nparts; p++)
            index += gpu_align(s->graph[et].part[p].count * sizeof(uint32_t));
    *n = (struct gpu_resident){.narrays = (uint64_t)netypes * nparts};
    if (bytes <= index)
        return 0;
    capacity = (bytes - index) / (GNN_SAMPLE_RESIDENT * sizeof(uint32_t)) < capacity
                   ? (bytes - index) / (GNN_SAMPLE_RESIDENT * sizeof(uint32_t))
                   : capacity;
    n->at = gnn_alloc_zero(n->narrays, sizeof *n->at, "cached rows of the graph", e);
    struct class *c = gnn_alloc_zero((uint64_t)netypes * CLASSES, sizeof *c, "degrees", e);
    struct class **order =
        gnn_alloc((uint64_t)netypes * CLASSES, sizeof(struct class *), "degrees", e);
    int rc = n->at && c && order ? 0 : e->code;
    for (uint32_t et = 0; !rc && et < netypes; et++)
        if (s->graph[et].part) {
            count_classes(&s->graph[et], c + (size_t)et * CLASSES);
            score_classes(s, r, et, c + (size_t)et * CLASSES);
        }
    if (!rc)
        (void)give_capacity(c, order, (uint64_t)netypes * CLASSES, capacity);
    for (uint32_t et = 0; !rc && et < netypes; et++)
        for (uint32_t p = 0; !rc && s->graph[et].part && p < nparts; p++) {
            const struct gnn_sample_part *a = &s->graph[et].part[p];
            uint32_t *at = n->at[(size_t)et * nparts + p] =
                gnn_alloc(a->count, sizeof *at, "cached rows of the graph", e);
            if (at)
                choose_rows(n, a, c + (size_t)et * CLASSES, at);
            else
                rc = e->code;
        }
    gnn_free(c);
    gnn_free(order);
    return rc;
}

void gnn_gpu_resident_release(struct gpu_resident *n)
{
    for (uint64_t i = 0; n->at && i < n->narrays; i++)
        gnn_free(n->at[i]);
    gnn_free(n->at);
    *n = (struct gpu_resident){0};
}

/* ---- their sources ---- */

struct stage {
    uint32_t *buf; /* pinned, of CHUNK bytes */
    uint64_t n;    /* sources in it */
    uint32_t *to;
    void *stream;
    struct gnn_err *e;
};

static int flush_staging(struct stage *g)
{
    int rc = gnn_dev_copy(g->to, g->buf, g->n * sizeof *g->buf, g->stream, g->e);
    if (!rc)
        rc = gnn_dev_stream_wait(g->stream, g->e);
    g->to += g->n;
    g->n = 0;
    return rc;
}

/* A row, and what is missing to its last unit. */
static int stage_row(struct stage *g, const uint32_t *v, uint64_t n)
{
    const uint64_t whole = row_units(n) * GNN_SAMPLE_RESIDENT, most = CHUNK / sizeof *g->buf;
    for (uint64_t i = 0; i < whole;) {
        if (g->n == most) {
            int rc = flush_staging(g);
            if (rc)
                return rc;
        }
        const uint64_t left = i < n ? n - i : whole - i,
                       m = left < most - g->n ? left : most - g->n;
        if (i < n)
            memcpy(g->buf + g->n, v + i, m * sizeof *v);
        else
            memset(g->buf + g->n, 0, m * sizeof *v);
        g->n += m;
        i += m;
    }
    return 0;
}

int gnn_gpu_resident_copy(const struct gpu_resident *n, const struct sampler *s,
                          const struct gpu_host_edges *host_edges, uint32_t *to, void *stream,
                          struct gnn_err *e)
{
    struct stage g = {.to = to, .stream = stream, .e = e};
    void *buf = NULL;
    int rc = n->units ? gnn_gpu_pin(&buf, CHUNK, "copying the graph", e) : 0;
    g.buf = buf;
    for (uint64_t k = 0; !rc && n->units && k < n->narrays; k++) {
        const struct gnn_sample_graph *graph = &s->graph[k / s->store->nparts];
        const struct gnn_sample_part *a = graph->part ? &graph->part[k % s->store->nparts] : NULL;
        const uint32_t *copy = a ? gnn_gpu_host_copy(host_edges->g, a->indices) : NULL,
                       *indices = copy ? copy
                                  : a  ? a->indices
                                       : NULL;
        for (uint64_t i = 0; !rc && a && i < a->count; i++)
            if (n->at[k][i] != UINT32_MAX)
                rc = stage_row(&g, indices + a->indptr[i], degree_of(a, i));
    }
    if (!rc && g.n)
        rc = flush_staging(&g);
    gnn_gpu_unpin(buf);
    return rc;
}
