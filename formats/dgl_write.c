/* SPDX-License-Identifier: Apache-2.0 */
/* DGL's files, written (formats/dgl_write.h). */
#include "formats/dgl_write.h"

#include <string.h>

#include "formats/dgl_file.h"
#include "formats/dgl_numbers.h"
#include "formats/le.h"

/* What is written to; the first failure is kept, and nothing is written after it. */
struct writing {
    const struct gnn_dgl_to *to;
    int rc;
};

static void put_bytes(struct writing *w, const void *data, uint64_t n)
{
    if (!w->rc && n)
        w->rc = w->to->put(w->to->arg, data, n);
}

static void put_u64(struct writing *w, uint64_t v)
{
    uint8_t raw[8];
    store_le64(raw, v);
    put_bytes(w, raw, sizeof raw);
}

static void put_text(struct writing *w, const char *text)
{
    put_u64(w, strlen(text));
    put_bytes(w, text, strlen(text));
}

/* ---- arrays ---- */

static unsigned kind_of(enum gnn_dtype d)
{
    switch (d) {
    case GNN_U8:
    case GNN_U16:
    case GNN_U32:
    case GNN_U64:
        return GNN_DGL_UINT;
    case GNN_BF16:
        return GNN_DGL_BFLOAT;
    case GNN_F16:
    case GNN_F32:
    case GNN_F64:
        return GNN_DGL_FLOAT;
    default:
        return GNN_DGL_INT;
    }
}

/* All of an array but its elements. */
static void put_head(struct writing *w, enum gnn_dtype d, uint32_t ndim, const uint64_t *shape)
{
    uint8_t raw[24] = {0};
    uint64_t bytes = gnn_dtype_bytes(d);
    store_le32(raw + 8, GNN_DGL_CPU);
    store_le32(raw + 16, ndim);
    raw[20] = (uint8_t)kind_of(d);
    raw[21] = (uint8_t)(8 * bytes);
    raw[22] = 1; /* of a vector, if elements were such */
    put_u64(w, GNN_DGL_MAGIC_ARRAY);
    put_bytes(w, raw, sizeof raw);
    for (uint32_t i = 0; i < ndim; i++) {
        put_u64(w, shape[i]);
        bytes *= shape[i];
    }
    put_u64(w, bytes);
}

static void put_column(struct writing *w, const struct gnn_dgl_column *c)
{
    put_head(w, c->dtype, c->ndim, c->shape);
    if (!w->rc)
        w->rc = c->write(c, w->to);
}

static void put_columns(struct writing *w, const struct gnn_dgl_column *c, uint64_t n)
{
    put_u64(w, n);
    for (uint64_t i = 0; i < n; i++) {
        put_text(w, c[i].name);
        put_column(w, &c[i]);
    }
}

static void put_ids(struct writing *w, const int64_t *id, uint64_t n)
{
    put_head(w, GNN_I64, 1, &n);
    put_bytes(w, id, n * sizeof *id);
}

int gnn_dgl_write_tensors(const struct gnn_dgl_to *to, const struct gnn_dgl_column *c, uint64_t n)
{
    struct writing w = {.to = to};
    put_u64(&w, GNN_DGL_MAGIC_TENSORS);
    put_u64(&w, n);
    put_columns(&w, c, n);
    return w.rc;
}

/* ---- graphs ---- */

/* The graph of types: one of nodes, with one of edges from it to itself. */
static void put_types(struct writing *w)
{
    static const int64_t indptr[2] = {0, 1}, zero = 0;
    put_u64(w, GNN_DGL_MAGIC_TYPES);
    put_u64(w, GNN_DGL_MAGIC_CSR);
    put_u64(w, 1);
    put_u64(w, 1);
    put_ids(w, indptr, 2);
    put_ids(w, &zero, 1);
    put_ids(w, &zero, 1);
    put_bytes(w, "", 1); /* columns are not said to be sorted */
}

static void put_edges(struct writing *w, const struct gnn_dgl_homograph *g)
{
    put_u64(w, GNN_DGL_MAGIC_UNIT);
    put_u64(w, UINT64_C(1) << 32 | GNN_DGL_COO);
    put_u64(w, UINT64_C(1) << 32 | GNN_DGL_COO | GNN_DGL_CSR | GNN_DGL_CSC);
    put_types(w);
    put_u64(w, GNN_DGL_MAGIC_COO);
    put_u64(w, g->nodes);
    put_u64(w, g->nodes);
    put_column(w, &g->end[0]);
    put_column(w, &g->end[1]);
    put_ids(w, NULL, 0); /* ids are places */
    put_bytes(w, "\0", 2);
}

static void put_graph(struct writing *w, const struct gnn_dgl_homograph *g)
{
    put_u64(w, GNN_DGL_MAGIC_HETERO);
    put_types(w);
    put_u64(w, 1);
    put_edges(w, g);
    put_u64(w, 1);
    put_u64(w, g->nodes);
    put_u64(w, 1);
    put_columns(w, g->node, g->nnode);
    put_u64(w, 1);
    put_columns(w, g->edge, g->nedge);
    put_u64(w, 1);
    put_text(w, "_N");
    put_u64(w, 1);
    put_text(w, "_E");
}

int gnn_dgl_write_graph(const struct gnn_dgl_to *to, const struct gnn_dgl_homograph *g)
{
    static const uint8_t zeros[GNN_DGL_HEAD - 32] = {0};
    const uint64_t begin = GNN_DGL_HEAD + 2 * sizeof(uint64_t);
    struct writing w = {.to = to};
    put_u64(&w, GNN_DGL_MAGIC_GRAPHS);
    put_u64(&w, GNN_DGL_VERSION);
    put_u64(&w, GNN_DGL_TYPE_HETERO);
    put_u64(&w, 1);
    put_bytes(&w, zeros, sizeof zeros);
    put_u64(&w, begin);
    put_u64(&w, 0); /* labels of the graph */
    put_graph(&w, g);
    put_u64(&w, 2 * sizeof(uint64_t)); /* where each graph begins: bytes of that, */
    put_u64(&w, 1);
    put_u64(&w, begin);
    put_u64(&w, 2 * sizeof(uint64_t)); /* and once more */
    return w.rc;
}
