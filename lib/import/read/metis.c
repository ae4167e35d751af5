/* SPDX-License-Identifier: Apache-2.0 */
/* METIS graphs: line i holds the neighbours of vertex i, so the adjacency of the file is that of
 * the store. */
#include "formats/metis_graph.h"

#include <string.h>

#include "lib/import/read/formats.h"
#include "lib/base/rand.h"
#include "lib/import/read/table.h"
#include "lib/base/plural.h"

enum { CHUNK = 1 << 13 };

struct metis {
    struct gnn_src s;
    struct gnn_metis_head h;
};

/* A line, blank ones included, but not comments; GNN_END after the last. */
static int raw_line(struct gnn_table *t, struct gnn_err *e)
{
    int rc;
    while (!(rc = gnn_table_any(t, e)) && *t->p == '%')
        gnn_table_next(t);
    return rc;
}

static int open_table(struct gnn_table *t, struct metis *m, bool parse, struct gnn_err *e)
{
    int rc = gnn_table_open(t, m->s.in[0], 0, '%', e);
    if (!rc && !t->ncols)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: empty", gnn_reader_name(t->r));
    if (rc)
        return rc;
    t->sep = GNN_TEXT_SPACE;
    const char *bad = parse ? gnn_metis_parse(&m->h, t->p) : NULL;
    if (bad)
        return gnn_table_fail(t, NULL, bad, e);
    gnn_table_next(t);
    return GNN_OK;
}

/* A number of a vertex line, or an error. */
static int read_number(struct gnn_table *t, const char **p, uint64_t *v, const char *what,
                       struct gnn_err *e)
{
    const char *q = gnn_text_u64(*p, v);
    if (!q || (*q != ' ' && *q != '\t' && *q != '\n' && *q != '\r'))
        return gnn_table_fail(t, *p, what, e);
    *p = gnn_text_blanks(q);
    return GNN_OK;
}

/* A pass over the edges; weights go to the same place in a second array. */
struct pass {
    struct metis *m;
    struct gnn_table t;
    uint32_t src[CHUNK], dst[CHUNK];
    float w[CHUNK];
    uint64_t n; /* edges in the arrays */
    gnn_edge_fn *fn;
    void *arg;
    bool fields;
    /* The scan's: */
    uint64_t entries, balance;
    struct gnn_lost lost;
    struct gnn_buf prefix; /* sizes and weights of vertices, as they come */
    uint64_t nprefix;
};

static int flush_edges(struct pass *ps, struct gnn_err *e)
{
    const void *field[1] = {ps->w};
    struct gnn_edge_chunk c = {ps->n, ps->src, ps->dst, ps->fields ? field : NULL};
    int rc = ps->n && ps->fn ? ps->fn(ps->arg, &c, e) : GNN_OK;
    ps->n = 0;
    return rc;
}

static int vertex_prefix(struct pass *ps, const char **p, struct gnn_err *e)
{
    uint32_t n = ps->m->h.sizes + ps->m->h.ncon;
    uint64_t v;
    for (uint32_t k = 0; k < n; k++) {
        int rc = read_number(&ps->t, p, &v, "not a vertex weight or size", e);
        if (!rc && !ps->fn) {
            rc =
                gnn_buf_reserve(&ps->prefix, ps->nprefix + 1, sizeof(int64_t), "vertex weights", e);
            if (!rc && v > INT64_MAX)
                rc = gnn_table_fail(&ps->t, NULL, "a vertex weight is too large", e);
        }
        if (rc)
            return rc;
        if (!ps->fn)
            ((int64_t *)ps->prefix.data)[ps->nprefix++] = (int64_t)v;
    }
    return GNN_OK;
}

/* One vertex line. Each edge must be listed from both ends: signed hashes of the entries cancel
 * out. */
static int read_vertex(struct pass *ps, uint64_t v, struct gnn_err *e)
{
    struct gnn_metis_head *h = &ps->m->h;
    const char *p = gnn_text_blanks(ps->t.p);
    int rc = vertex_prefix(ps, &p, e);
    while (!rc && *p != '\n') {
        uint64_t u, w = 1;
        const char *at = p;
        rc = read_number(&ps->t, &p, &u, "not a neighbour", e);
        if (!rc && (u < 1 || u > h->n))
            rc = gnn_table_fail(&ps->t, at, "no such vertex:", e);
        else if (!rc && u == v + 1)
            rc = gnn_table_fail(&ps->t, at, "the vertex is its own neighbour:", e);
        if (!rc && h->edge_weights)
            rc = *p == '\n' ? gnn_table_fail(&ps->t, NULL, "an edge weight is missing", e)
                            : read_number(&ps->t, &p, &w, "not an edge weight", e);
        if (rc)
            return rc;
        u--;
        uint64_t hash = gnn_mix64(gnn_mix64((u < v ? u : v) << 32 | (u < v ? v : u)) + w);
        ps->balance += u < v ? hash : 0 - hash;
        ps->entries++;
        ps->src[ps->n] = (uint32_t)u;
        ps->dst[ps->n] = (uint32_t)v;
        gnn_lost_add_whole(&ps->lost, w, (double)w);
        ps->w[ps->n] = (float)w;
        if (++ps->n == CHUNK)
            rc = flush_edges(ps, e);
    }
    if (!rc)
        ps->t.p = p + 1;
    ps->t.line++;
    return rc;
}

/* fn NULL: the scan, which also reads the header and keeps the vertices' numbers. */
static int walk_vertices(struct metis *m, struct pass *ps, struct gnn_err *e)
{
    ps->m = m;
    int rc = open_table(&ps->t, m, !ps->fn, e);
    for (uint64_t v = 0; !rc && v < m->h.n; v++) {
        rc = raw_line(&ps->t, e);
        if (rc == GNN_END)
            rc = gnn_fail(e, GNN_E_INPUT, "%s: ends after %llu of %llu vertices",
                          gnn_reader_name(ps->t.r), (unsigned long long)v,
                          (unsigned long long)m->h.n);
        if (!rc)
            rc = read_vertex(ps, v, e);
    }
    if (!rc) {
        rc = gnn_table_line(&ps->t, e);
        rc = rc == GNN_END ? GNN_OK
             : rc          ? rc
                           : gnn_table_fail(&ps->t, NULL, "more lines than vertices", e);
    }
    if (!rc && ps->entries != 2 * m->h.m)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %llu neighbour%s listed, but %llu edge%s need %llu",
                      gnn_reader_name(ps->t.r), (unsigned long long)ps->entries,
                      gnn_plural(ps->entries), (unsigned long long)m->h.m, gnn_plural(m->h.m),
                      (unsigned long long)m->h.m * 2);
    if (!rc && ps->balance)
        rc = gnn_fail(e, GNN_E_INPUT,
                      "%s: not every edge is listed from both its ends with one weight",
                      gnn_reader_name(ps->t.r));
    if (!rc)
        rc = flush_edges(ps, e);
    gnn_table_close(&ps->t);
    return rc;
}

static int metis_edges(struct gnn_dataset *d, uint32_t t, bool fields, gnn_edge_fn *fn, void *arg,
                       struct gnn_err *e)
{
    struct pass ps = {.fn = fn, .arg = arg};
    ps.fields = fields && d->schema.etype[t].nfields;
    int rc = walk_vertices((struct metis *)d, &ps, e);
    return rc || !ps.fields ? rc : gnn_lost_tell(d, d->name, "weight", &ps.lost, e);
}

static const struct gnn_dataset_ops metis_ops = {metis_edges, gnn_src_rows, gnn_src_set,
                                                 gnn_src_free};

/* The numbers before the neighbours become node fields "size" (n) and "weight" (n) or (n, ncon). */
static int add_fields(struct metis *m, const struct pass *ps, struct gnn_err *e)
{
    uint32_t all = m->h.sizes + m->h.ncon, from = 0;
    for (int k = 0; k < 2; k++) {
        uint32_t width = k ? m->h.ncon : m->h.sizes;
        if (!width)
            continue;
        int64_t *v = gnn_alloc(m->h.n * width, sizeof *v, "vertex weights", e);
        if (!v)
            return GNN_E_NOMEM;
        for (uint64_t i = 0; i < m->h.n; i++)
            memcpy(v + i * width, (const int64_t *)ps->prefix.data + i * all + from,
                   width * sizeof *v);
        from += width;
        int rc = gnn_src_mem(&m->s, 0, k ? "weight" : "size", GNN_I64, width > 1 ? width : 0, v,
                             gnn_input_name(m->s.in[0]), e);
        if (rc)
            return rc;
    }
    return GNN_OK;
}

static int fill_metis(struct gnn_src *s, void *reading, struct gnn_err *e)
{
    struct metis *m = (struct metis *)s;
    struct pass ps = {0};
    (void)reading;
    s->d.says = "a METIS graph, which lists each edge in both directions";
    int rc = gnn_input_lone(s->in[0], "a graph", e);
    if (!rc)
        rc = walk_vertices(m, &ps, e);
    if (!rc)
        rc = gnn_schema_add_ntype(&m->s.d.schema, "node", m->h.n, e);
    if (!rc)
        rc = gnn_schema_add_etype(&m->s.d.schema, 0, "to", 0, 2 * m->h.m, e);
    if (!rc && m->h.edge_weights)
        rc = gnn_schema_add_efield(&m->s.d.schema, 0, "weight", GNN_F32, 0, e);
    if (!rc)
        rc = add_fields(m, &ps, e);
    gnn_buf_release(&ps.prefix);
    return rc;
}

const struct gnn_format gnn_metis_format = {"metis", sizeof(struct metis), &metis_ops, fill_metis,
                                            NULL};
