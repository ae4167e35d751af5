/* SPDX-License-Identifier: Apache-2.0 */
/* Edges and rows of generators, a piece at a time (lib/import/generate/gen.h). */
#include <string.h>

#include "kernels/half.h"
#include "lib/base/mem.h"
#include "lib/import/generate/gen.h"

/* CHUNK: edges that one thread makes at once; the random sequence begins anew in each. */
enum { CHUNK = 1 << 15, CHUNKS = 16, FIELDS = 2 };

int gnn_gen_edges(struct gnn_dataset *d, const struct gnn_gen_params *p, uint32_t t, uint64_t m,
                  gnn_gen_edges_fn *fill, bool fields, gnn_edge_fn *fn, void *arg,
                  struct gnn_err *e)
{
    const struct gnn_etype *et = &d->schema.etype[t];
    const uint64_t capacity = (uint64_t)CHUNKS * CHUNK;
    const uint32_t nfields = fields ? et->nfields : 0;
    uint32_t *src = gnn_alloc(2 * capacity, sizeof *src, "edges", e);
    uint32_t *dst = gnn_alloc(2 * capacity, sizeof *dst, "edges", e);
    char *row[FIELDS] = {NULL};
    size_t size[FIELDS] = {0};
    for (uint32_t f = 0; f < nfields; f++) {
        size[f] = gnn_dtype_bytes(et->field[f].dtype);
        row[f] = gnn_alloc(2 * capacity, size[f], "edge fields", e);
    }
    /* While fn takes one half of the buffers, the `ready` edges that end before `at`, the other one
     * is filled. */
    int rc = e->code;
    for (uint64_t at = 0, n, ready = 0, half = 0; !rc && (at < m || ready);
         half ^= capacity, at += n, ready = n) {
        const uint64_t last = half ^ capacity;
        n = m - at < capacity ? m - at : capacity;
        const int nchunks = (int)((n + CHUNK - 1) / CHUNK);
#pragma omp parallel for schedule(dynamic) num_threads(p->threads)
        for (int c = 0; c <= nchunks; c++) {
            const uint64_t o = c ? (uint64_t)(c - 1) * CHUNK : 0, from = c ? half + o : last;
            void *field[FIELDS];
            for (uint32_t f = 0; f < FIELDS; f++)
                field[f] = row[f] ? row[f] + from * size[f] : NULL;
            struct gnn_edge_chunk ch = {ready, src + from, dst + from,
                                        nfields ? (const void *const *)field : NULL};
            if (c)
                fill(d, t, at + o, n - o < CHUNK ? n - o : CHUNK, src + from, dst + from, field);
            else if (ready)
                rc = fn(arg, &ch, e);
        }
    }
    gnn_free(src);
    gnn_free(dst);
    for (uint32_t f = 0; f < nfields; f++)
        gnn_free(row[f]);
    return rc;
}

int gnn_gen_rows(struct gnn_dataset *d, const struct gnn_gen_params *p, uint32_t type, uint32_t f,
                 gnn_gen_row_fn *make, gnn_rows_fn *fn, void *arg, struct gnn_err *e)
{
    const struct gnn_ntype *nt = &d->schema.ntype[type];
    const struct gnn_field *field = &nt->field[f];
    const bool y = !strcmp(field->name, "y"), narrow = field->dtype == GNN_F16;
    const uint64_t width = field->width ? field->width : 1, rows = 1 + (1u << 20) / width;
    char *buf = gnn_alloc(rows * width, 4, "feature rows", e);
    uint16_t *half = narrow ? gnn_alloc(rows * width, sizeof *half, "feature rows", e) : NULL;
    int rc = e->code;
    for (uint64_t at = 0; !rc && at < nt->count; at += rows) {
        const uint64_t n = nt->count - at < rows ? nt->count - at : rows;
#pragma omp parallel for schedule(static) num_threads(p->threads)
        for (uint64_t i = 0; i < n; i++)
            make(d, type, y, at + i, buf + i * width * 4);
        if (narrow)
            gnn_f32_to_f16((const float *)(const void *)buf, n * width, half);
        rc = fn(arg, narrow ? (void *)half : buf, n, e);
    }
    gnn_free(buf);
    gnn_free(half);
    return rc;
}
