/* Reads a whole data set from memory as an import would, and throws it away. */
#ifndef IMPORT_DRAIN_H
#define IMPORT_DRAIN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/import.h"
#include "lib/import/input.h"
#include "lib/mem.h"

struct drain {
    const struct gnn_schema *s;
    uint32_t etype;
    uint64_t edges, rows;
};

static int drain_edges(void *arg, const struct gnn_edge_chunk *c, struct gnn_err *e)
{
    struct drain *d = arg;
    const struct gnn_etype *et = &d->s->etype[d->etype];
    (void)e;
    for (uint64_t i = 0; i < c->n; i++)
        if (c->src[i] >= d->s->ntype[et->src].count || c->dst[i] >= d->s->ntype[et->dst].count)
            abort(); /* readers check ids */
    for (uint32_t f = 0; c->field && f < et->nfields; f++) {
        uint64_t bytes = c->n * gnn_dtype_bytes(et->field[f].dtype) * (et->field[f].width ? et->field[f].width : 1);
        volatile uint8_t sum = 0;
        for (uint64_t i = 0; i < bytes; i += 61)
            sum = (uint8_t)(sum + ((const uint8_t *)c->field[f])[i]);
    }
    d->edges += c->n;
    return GNN_OK;
}

static int drain_rows(void *arg, const void *rows, uint64_t n, struct gnn_err *e)
{
    struct drain *d = arg;
    (void)rows;
    (void)e;
    d->rows += n;
    return GNN_OK;
}

/* 0 or the status; the data set's edges are added to *edges, which may be NULL. */
__attribute__((unused)) static int drain_import(const char *name, const void *data, size_t n,
                                                const struct gnn_import_opts *o, uint64_t *edges,
                                                struct gnn_err *e)
{
    struct gnn_input *in;
    struct gnn_dataset *ds = NULL;
    int rc = gnn_input_open_mem(&in, name, data, n, e);
    if (!rc)
        rc = gnn_import_open_input(&ds, in, o, e);
    struct drain d = {.s = rc ? NULL : &ds->schema};
    for (; !rc && d.etype < d.s->netypes; d.etype++)
        rc = ds->ops->edges(ds, d.etype, true, drain_edges, &d, e);
    for (uint32_t t = 0; !rc && t < d.s->nntypes; t++)
        for (uint32_t f = 0; !rc && f < d.s->ntype[t].nfields; f++)
            rc = ds->ops->rows(ds, t, f, drain_rows, &d, e);
    for (uint32_t i = 0; !rc && i < d.s->nsets; i++) {
        uint32_t *ids = gnn_alloc(d.s->set[i].count, sizeof *ids, "a set", e);
        rc = ids ? ds->ops->set(ds, i, ids, e) : GNN_E_NOMEM;
        gnn_free(ids);
    }
    if (edges)
        *edges = d.edges;
    gnn_dataset_free(ds);
    return rc;
}

#endif
