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

static uint64_t units(uint64_t degree)
{
    return (degree + GNN_SAMPLE_NEAR - 1) / GNN_SAMPLE_NEAR;
}

/* 0 where the offsets are damaged, too: that is told when a batch comes by. */
static uint32_t degree_of(const struct gnn_sample_part *a, uint64_t i)
{
    const uint64_t b = a->indptr[i], e = a->indptr[i + 1];
    return b <= e && e <= a->nedges && e - b <= UINT32_MAX ? (uint32_t)(e - b) : 0;
}

static void count(const struct gnn_sample_graph *g, struct class *c)
{
    for (uint32_t p = 0; p < g->nparts; p++)
        for (uint64_t i = 0; i < g->part[p].count; i++) {
            const uint32_t d = degree_of(&g->part[p], i);
            struct class *k = &c[class_of(d)];
            k->rows++;
            k->sources += d;
            k->units += units(d);
        }
}

/* A draw that makes a node a destination finds it in proportion to its out-degree, for which its
 * in-degree stands: the same where edges go both ways. Once there, it costs as many reads as it has
 * neighbours, or as are picked. */
static void score(const struct sampler *s, const struct gpu_room *r, uint32_t et, struct class *c)
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

static int better(const void *a, const void *b)
{
    const double x = (*(struct class *const *)a)->score, y = (*(struct class *const *)b)->score;
    return x > y ? -1 : x < y;
}

/* Deals the room out, the best classes first; returns how much is used. */
static uint64_t deal(struct class *c, struct class **order, uint64_t n, uint64_t room)
{
    uint64_t used = 0;
    for (uint64_t i = 0; i < n; i++)
        order[i] = &c[i];
    qsort(order, n, sizeof(struct class *), better);
    for (uint64_t i = 0; i < n && order[i]->score > 0; i++) {
        order[i]->taken = order[i]->units < room - used ? order[i]->units : room - used;
        used += order[i]->taken;
    }
    return used;
}

/* Rows get places in the order of their ids; of a class that is not taken whole, the first. */
static void choose(struct gpu_near *n, const struct gnn_sample_part *a, struct class *c,
                   uint32_t *at)
{
    for (uint64_t i = 0; i < a->count; i++) {
        const uint32_t d = degree_of(a, i);
        struct class *k = &c[class_of(d)];
        const uint64_t u = units(d);
        const bool take = d && u <= k->taken;
        at[i] = take ? (uint32_t)n->units : UINT32_MAX;
        n->units += take ? u : 0;
        k->taken -= take ? u : 0;
    }
}

int gpu_near_init(struct gpu_near *n, const struct sampler *s, const struct gpu_room *r,
                  uint64_t bytes, struct gnn_err *e)
{
    const uint32_t netypes = s->meta.schema.netypes, nparts = s->store->nparts;
    uint64_t index = 0, room = UINT32_MAX - UINT64_C(1);
    for (uint32_t et = 0; et < netypes; et++)
        for (uint32_t p = 0; s->graph[et].part && p < nparts; p++)
            index += gpu_align(s->graph[et].part[p].count * sizeof(uint32_t));
    *n = (struct gpu_near){.narrays = (uint64_t)netypes * nparts};
    if (bytes <= index)
        return 0;
    room = (bytes - index) / (GNN_SAMPLE_NEAR * sizeof(uint32_t)) < room
               ? (bytes - index) / (GNN_SAMPLE_NEAR * sizeof(uint32_t))
               : room;
    n->at = gnn_alloc_zero(n->narrays, sizeof *n->at, "cached rows of the graph", e);
    struct class *c = gnn_alloc_zero((uint64_t)netypes * CLASSES, sizeof *c, "degrees", e);
    struct class **order =
        gnn_alloc((uint64_t)netypes * CLASSES, sizeof(struct class *), "degrees", e);
    int rc = n->at && c && order ? 0 : e->code;
    for (uint32_t et = 0; !rc && et < netypes; et++)
        if (s->graph[et].part) {
            count(&s->graph[et], c + (size_t)et * CLASSES);
            score(s, r, et, c + (size_t)et * CLASSES);
        }
    if (!rc)
        (void)deal(c, order, (uint64_t)netypes * CLASSES, room);
    for (uint32_t et = 0; !rc && et < netypes; et++)
        for (uint32_t p = 0; !rc && s->graph[et].part && p < nparts; p++) {
            const struct gnn_sample_part *a = &s->graph[et].part[p];
            uint32_t *at = n->at[(size_t)et * nparts + p] =
                gnn_alloc(a->count, sizeof *at, "cached rows of the graph", e);
            if (at)
                choose(n, a, c + (size_t)et * CLASSES, at);
            else
                rc = e->code;
        }
    gnn_free(c);
    gnn_free(order);
    return rc;
}

void gpu_near_release(struct gpu_near *n)
{
    for (uint64_t i = 0; n->at && i < n->narrays; i++)
        gnn_free(n->at[i]);
    gnn_free(n->at);
    *n = (struct gpu_near){0};
}

/* ---- their sources ---- */

struct stage {
    uint32_t *buf; /* pinned, of CHUNK bytes */
    uint64_t n;    /* sources in it */
    uint32_t *to;
    void *stream;
    struct gnn_err *e;
};

static int flush(struct stage *g)
{
    int rc = gnn_dev_copy(g->to, g->buf, g->n * sizeof *g->buf, g->stream, g->e);
    if (!rc)
        rc = gnn_dev_stream_wait(g->stream, g->e);
    g->to += g->n;
    g->n = 0;
    return rc;
}

/* A row, and what is missing to its last unit. */
static int put(struct stage *g, const uint32_t *v, uint64_t n)
{
    const uint64_t whole = units(n) * GNN_SAMPLE_NEAR, most = CHUNK / sizeof *g->buf;
    for (uint64_t i = 0; i < whole;) {
        if (g->n == most) {
            int rc = flush(g);
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

int gpu_near_copy(const struct gpu_near *n, const struct sampler *s, const struct gpu_far *far,
                  uint32_t *to, void *stream, struct gnn_err *e)
{
    struct stage g = {.to = to, .stream = stream, .e = e};
    void *buf = NULL;
    int rc = n->units ? gnn_dev_pin(&buf, CHUNK, "copying the graph", e) : 0;
    g.buf = buf;
    for (uint64_t k = 0; !rc && n->units && k < n->narrays; k++) {
        const struct gnn_sample_graph *graph = &s->graph[k / s->store->nparts];
        const struct gnn_sample_part *a = graph->part ? &graph->part[k % s->store->nparts] : NULL;
        const uint32_t *copy = a ? gpu_host_copy(far->g, a->indices) : NULL,
                       *indices = copy ? copy
                                  : a  ? a->indices
                                       : NULL;
        for (uint64_t i = 0; !rc && a && i < a->count; i++)
            if (n->at[k][i] != UINT32_MAX)
                rc = put(&g, indices + a->indptr[i], degree_of(a, i));
    }
    if (!rc && g.n)
        rc = flush(&g);
    gnn_dev_unpin(buf);
    return rc;
}
