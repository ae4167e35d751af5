/* SPDX-License-Identifier: Apache-2.0 */
/* One graph of DGL's files (formats/dgl_file.h): the graph of its types, whose nodes are node types
 * and whose edges are edge types; for each of these a matrix in one or more forms; then counts of
 * nodes, tensors, and names. */
#include <stdlib.h>

#include "formats/dgl_impl.h"
#include "formats/le.h"

enum { UNIT_LEAST = 320, COUNT_LEAST = 8 };

/* A matrix: of COO with the row and column of each element, of CSR with offsets of rows instead.
 * `data` has their ids, or no elements: then they are numbered as they are listed. */
struct matrix {
    uint64_t rows, cols, count;
    struct gnn_strided first, second, data;
};

/* What is read, and of each edge type how many nodes of its source and destination type its matrix
 * has. */
struct reading {
    struct gnn_dgl_cursor c;
    struct gnn_dgl_graph *g;
    uint64_t (*nodes)[2];
};

static void read_ids(struct gnn_dgl_cursor *c, struct gnn_strided *s, const char *what)
{
    const uint64_t at = c->at;
    gnn_dgl_array(c, s, what);
    if (!c->rc && (s->ndim != 1 || (s->dtype != GNN_I32 && s->dtype != GNN_I64)))
        gnn_dgl_fail(c, at, "%s: an array of %u dimensions and type %s instead of i32 or i64", what,
                     s->ndim, gnn_dtype_name(s->dtype));
}

static void read_matrix(struct gnn_dgl_cursor *c, struct matrix *m, bool coo)
{
    const uint64_t at = c->at;
    gnn_dgl_magic(c, coo ? GNN_DGL_MAGIC_COO : GNN_DGL_MAGIC_CSR,
                  coo ? "a COO matrix" : "a CSR matrix");
    m->cols = gnn_dgl_u64(c, "columns of a matrix");
    m->rows = gnn_dgl_u64(c, "rows of a matrix");
    read_ids(c, &m->first, coo ? "rows" : "offsets of rows");
    read_ids(c, &m->second, "columns");
    read_ids(c, &m->data, "ids of edges");
    gnn_dgl_skip(c, coo ? 2 : 1, "what is sorted");
    m->count = m->second.count;
    if (c->rc)
        return;
    const uint64_t there = m->first.count;
    if (coo ? there != m->count : !there || there - 1 != m->rows)
        gnn_dgl_fail(c, at, "a matrix with %llu %s; %llu are expected", (unsigned long long)there,
                     coo ? "rows of elements" : "offsets",
                     (unsigned long long)(coo ? m->count : m->rows + 1));
    else if (m->data.count && m->data.count != m->count)
        gnn_dgl_fail(c, at, "a matrix with %llu ids of %llu edges",
                     (unsigned long long)m->data.count, (unsigned long long)m->count);
}

/* ---- types ---- */

static void add_etype(struct reading *r, uint64_t at, int64_t i, uint32_t src, int64_t dst)
{
    struct gnn_dgl_graph *g = r->g;
    if (i < 0 || i >= g->etypes || g->etype[i].form || dst < 0 || dst >= g->ntypes) {
        gnn_dgl_fail(&r->c, at, "the graph of types: edge type %lld, to node type %lld, of %u",
                     (long long)i, (long long)dst, g->etypes);
        return;
    }
    g->etype[i].src = src;
    g->etype[i].dst = (uint32_t)dst;
    g->etype[i].form = GNN_DGL_COO; /* it is there; its matrix says which it is */
}

static void add_etypes(struct reading *r, uint64_t at, const struct matrix *m)
{
    int64_t from = gnn_dgl_id(&m->first, 0);
    if (from)
        gnn_dgl_fail(&r->c, at, "the graph of types: its offsets begin with %lld", (long long)from);
    for (uint32_t t = 0; !r->c.rc && t < r->g->ntypes; t++) {
        const int64_t to = gnn_dgl_id(&m->first, t + 1);
        if (to < from || (uint64_t)to > m->count)
            gnn_dgl_fail(&r->c, at, "the graph of types: offset %lld after %lld", (long long)to,
                         (long long)from);
        for (; !r->c.rc && from < to; from++)
            add_etype(r, at, m->data.count ? gnn_dgl_id(&m->data, (uint64_t)from) : from, t,
                      gnn_dgl_id(&m->second, (uint64_t)from));
    }
    if (!r->c.rc && (uint64_t)from != m->count)
        gnn_dgl_fail(&r->c, at, "the graph of types: %lld of its %llu edges begin somewhere",
                     (long long)from, (unsigned long long)m->count);
}

static void read_types(struct reading *r)
{
    struct gnn_dgl_cursor *c = &r->c;
    struct matrix m = {0};
    gnn_dgl_magic(c, GNN_DGL_MAGIC_HETERO, "a graph");
    gnn_dgl_magic(c, GNN_DGL_MAGIC_TYPES, "the graph of types");
    const uint64_t at = c->at;
    read_matrix(c, &m, false);
    if (c->rc)
        return;
    if (m.rows != m.cols || !m.rows || m.rows >= INT32_MAX || m.count >= INT32_MAX ||
        m.count > (c->end - c->at) / UNIT_LEAST) {
        gnn_dgl_fail(c, at, "the graph of types: %llu x %llu node types, %llu edge types",
                     (unsigned long long)m.rows, (unsigned long long)m.cols,
                     (unsigned long long)m.count);
        return;
    }
    r->g->ntype = gnn_dgl_alloc(c, m.rows, sizeof *r->g->ntype, "node types");
    r->g->etype = gnn_dgl_alloc(c, m.count, sizeof *r->g->etype, "edge types");
    r->nodes = gnn_dgl_alloc(c, m.count, sizeof *r->nodes, "edge types");
    if (c->rc)
        return;
    r->g->ntypes = (uint32_t)m.rows;
    r->g->etypes = (uint32_t)m.count;
    add_etypes(r, at, &m);
}

/* ---- edges ---- */

/* The forms that follow: bits of them in a word whose upper half is 1, or, before DGL 0.6, the
 * number of one. */
static unsigned read_forms(struct gnn_dgl_cursor *c)
{
    const uint64_t at = c->at, saved = gnn_dgl_u64(c, "forms of edges");
    gnn_dgl_u64(c, "forms of edges");
    const unsigned all = GNN_DGL_COO | GNN_DGL_CSR | GNN_DGL_CSC;
    const bool bits = saved >> 32 == 1;
    const uint64_t low = saved & UINT32_MAX, forms = bits             ? low
                                                     : low && low < 4 ? 1u << (low - 1)
                                                                      : 0;
    if (!c->rc && ((saved >> 32 && !bits) || !forms || forms & ~(uint64_t)all))
        gnn_dgl_fail(c, at, "edges in form %llx; COO, CSR and CSC are read",
                     (unsigned long long)saved);
    return c->rc ? 0 : (unsigned)forms;
}

static void keep_matrix(struct reading *r, uint32_t i, const struct matrix *m,
                        enum gnn_dgl_form form, uint64_t at)
{
    struct gnn_dgl_etype *t = &r->g->etype[i];
    const uint64_t src = form == GNN_DGL_CSC ? m->cols : m->rows,
                   dst = form == GNN_DGL_CSC ? m->rows : m->cols;
    const bool is_first = !t->second.dtype;
    if (!is_first && (t->count != m->count || r->nodes[i][0] != src || r->nodes[i][1] != dst))
        gnn_dgl_fail(&r->c, at, "edge type %u: %llu edges in one form, %llu in another", i,
                     (unsigned long long)t->count, (unsigned long long)m->count);
    r->nodes[i][0] = src;
    r->nodes[i][1] = dst;
    t->count = m->count;
    if (!is_first && (t->form == GNN_DGL_COO || form == GNN_DGL_CSR))
        return;
    t->form = form;
    t->first = m->first;
    t->second = m->second;
    t->ids = m->data;
}

static void read_edges(struct reading *r, uint32_t i)
{
    static const enum gnn_dgl_form order[] = {GNN_DGL_COO, GNN_DGL_CSR, GNN_DGL_CSC};
    struct gnn_dgl_cursor *c = &r->c;
    gnn_dgl_magic(c, GNN_DGL_MAGIC_UNIT, "edges");
    const unsigned forms = read_forms(c);
    for (unsigned k = 0; !c->rc && k < 3; k++) {
        struct matrix types = {0}, m = {0};
        if (!(forms & order[k]))
            continue;
        gnn_dgl_magic(c, GNN_DGL_MAGIC_TYPES, "the graph of types");
        read_matrix(c, &types, false);
        const uint64_t at = c->at;
        read_matrix(c, &m, order[k] == GNN_DGL_COO);
        if (!c->rc)
            keep_matrix(r, i, &m, order[k], at);
    }
}

static void read_all_edges(struct reading *r)
{
    const uint64_t at = r->c.at, n = gnn_dgl_count(&r->c, UNIT_LEAST, "edge types");
    if (!r->c.rc && n != r->g->etypes)
        gnn_dgl_fail(&r->c, at, "edges of %llu types; the graph has %u", (unsigned long long)n,
                     r->g->etypes);
    for (uint32_t i = 0; !r->c.rc && i < n; i++)
        read_edges(r, i);
}

/* ---- counts, tensors, names ---- */

/* The count of a list that has an entry for each of n types. */
static void expect_count(struct gnn_dgl_cursor *c, uint32_t n, const char *what)
{
    const uint64_t at = c->at, there = gnn_dgl_count(c, COUNT_LEAST, what);
    if (!c->rc && there != n)
        gnn_dgl_fail(c, at, "%s of %llu types; the graph has %u", what, (unsigned long long)there,
                     n);
}

static void read_counts(struct reading *r)
{
    const uint64_t at = r->c.at;
    const struct gnn_dgl_graph *g = r->g;
    expect_count(&r->c, g->ntypes, "numbers of nodes");
    for (uint32_t i = 0; !r->c.rc && i < g->ntypes; i++)
        g->ntype[i].count = gnn_dgl_u64(&r->c, "numbers of nodes");
    for (uint32_t i = 0; !r->c.rc && i < g->etypes; i++) {
        const uint64_t src = g->ntype[g->etype[i].src].count, dst = g->ntype[g->etype[i].dst].count;
        if (r->nodes[i][0] != src || r->nodes[i][1] != dst)
            gnn_dgl_fail(&r->c, at,
                         "edge type %u is of %llu x %llu nodes; the graph has %llu, %llu", i,
                         (unsigned long long)r->nodes[i][0], (unsigned long long)r->nodes[i][1],
                         (unsigned long long)src, (unsigned long long)dst);
    }
}

static void read_tensors(struct reading *r)
{
    const struct gnn_dgl_graph *g = r->g;
    expect_count(&r->c, g->ntypes, "tensors of nodes");
    for (uint32_t i = 0; !r->c.rc && i < g->ntypes; i++)
        gnn_dgl_tensors(&r->c, &g->ntype[i].tensors, "tensor of nodes");
    expect_count(&r->c, g->etypes, "tensors of edges");
    for (uint32_t i = 0; !r->c.rc && i < g->etypes; i++)
        gnn_dgl_tensors(&r->c, &g->etype[i].tensors, "tensor of edges");
}

static void read_names(struct reading *r)
{
    const struct gnn_dgl_graph *g = r->g;
    expect_count(&r->c, g->ntypes, "names of nodes");
    for (uint32_t i = 0; !r->c.rc && i < g->ntypes; i++)
        gnn_dgl_text(&r->c, &g->ntype[i].name, "the name of a node type");
    expect_count(&r->c, g->etypes, "names of edges");
    for (uint32_t i = 0; !r->c.rc && i < g->etypes; i++)
        gnn_dgl_text(&r->c, &g->etype[i].name, "the name of an edge type");
}

int gnn_dgl_graph_read(struct gnn_dgl_graph *g, const struct gnn_dgl_file *f, uint64_t i, char *why,
                       size_t capacity)
{
    const uint64_t end = i + 1 < f->graphs ? load_le64(f->place + (i + 1) * 8) : f->end;
    struct reading r = {.g = g,
                        .c = {.bytes = f->bytes,
                              .at = load_le64(f->place + i * 8),
                              .end = end,
                              .why = why,
                              .capacity = capacity}};
    *g = (struct gnn_dgl_graph){0};
    read_types(&r);
    read_all_edges(&r);
    read_counts(&r);
    read_tensors(&r);
    read_names(&r);
    if (!r.c.rc && r.c.at != end)
        gnn_dgl_fail(&r.c, r.c.at, "%llu bytes after the graph",
                     (unsigned long long)(end - r.c.at));
    free(r.nodes);
    if (r.c.rc)
        gnn_dgl_graph_release(g);
    return r.c.rc;
}

void gnn_dgl_graph_release(struct gnn_dgl_graph *g)
{
    for (uint32_t i = 0; i < g->ntypes; i++)
        gnn_dgl_tensors_release(&g->ntype[i].tensors);
    for (uint32_t i = 0; i < g->etypes; i++)
        gnn_dgl_tensors_release(&g->etype[i].tensors);
    free(g->ntype);
    free(g->etype);
    *g = (struct gnn_dgl_graph){0};
}
