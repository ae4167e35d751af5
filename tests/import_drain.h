/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a whole data set as an import would, and throws it away but for a digest. */
#ifndef GNN_TESTS_IMPORT_DRAIN_H
#define GNN_TESTS_IMPORT_DRAIN_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/xxh.h"
#include "lib/import/import.h"
#include "lib/import/read/input.h"
#include "lib/base/mem.h"

struct drain {
    const struct gnn_schema *s;
    uint32_t etype;
    uint64_t edges, rows, digest;
    size_t row; /* bytes */
};

static void drain_digest(struct drain *d, const void *p, uint64_t n)
{
    d->digest = XXH3_64bits_withSeed(p, n, d->digest);
}

static int drain_edges(void *arg, const struct gnn_edge_chunk *c, struct gnn_err *e)
{
    struct drain *d = arg;
    const struct gnn_etype *et = &d->s->etype[d->etype];
    (void)e;
    for (uint64_t i = 0; i < c->n; i++)
        if (c->src[i] >= d->s->ntype[et->src].count || c->dst[i] >= d->s->ntype[et->dst].count)
            abort(); /* readers check ids */
    drain_digest(d, c->src, c->n * sizeof *c->src);
    drain_digest(d, c->dst, c->n * sizeof *c->dst);
    for (uint32_t f = 0; c->field && f < et->nfields; f++)
        drain_digest(d, c->field[f],
                     c->n * gnn_dtype_bytes(et->field[f].dtype) *
                         (et->field[f].width ? et->field[f].width : 1));
    d->edges += c->n;
    return GNN_OK;
}

static int drain_rows(void *arg, const void *rows, uint64_t n, struct gnn_err *e)
{
    struct drain *d = arg;
    (void)e;
    drain_digest(d, rows, n * d->row);
    d->rows += n;
    return GNN_OK;
}

/* Reads all of a data set, which it frees, unless rc says that there is none. What tells two data
 * sets apart goes to *digest, the number of edges to *edges; each may be NULL. */
__attribute__((unused)) static int drain_dataset(struct gnn_dataset *ds, int rc, uint64_t *edges,
                                                 uint64_t *digest, struct gnn_err *e)
{
    struct drain d = {.s = rc ? NULL : &ds->schema};
    for (; !rc && d.etype < d.s->netypes; d.etype++)
        rc = ds->ops->edges(ds, d.etype, true, drain_edges, &d, e);
    for (uint32_t t = 0; !rc && t < d.s->nntypes; t++)
        for (uint32_t f = 0; !rc && f < d.s->ntype[t].nfields; f++) {
            const struct gnn_field *field = &d.s->ntype[t].field[f];
            drain_digest(&d, field->name, strlen(field->name));
            d.row = gnn_dtype_bytes(field->dtype) * (field->width ? field->width : 1);
            rc = ds->ops->rows(ds, t, f, drain_rows, &d, e);
        }
    for (uint32_t i = 0; !rc && i < d.s->nsets; i++) {
        uint32_t *ids = gnn_alloc(d.s->set[i].count, sizeof *ids, "a set", e);
        rc = ids ? ds->ops->set(ds, i, ids, e) : GNN_E_NOMEM;
        if (!rc)
            drain_digest(&d, ids, d.s->set[i].count * sizeof *ids);
        gnn_free(ids);
    }
    if (edges)
        *edges = d.edges;
    if (digest)
        *digest = d.digest;
    gnn_dataset_free(ds);
    return rc;
}

/* The file `name` with these bytes becomes the data set, which drain_dataset reads. 0 or the
 * status. */
__attribute__((unused)) static int drain_import(const char *name, const void *data, size_t n,
                                                const struct gnn_import_opts *o, uint64_t *edges,
                                                uint64_t *digest, struct gnn_err *e)
{
    struct gnn_input *in;
    struct gnn_dataset *ds = NULL;
    (void)unlink(name); /* cheaper than to cut it, which some file systems wait for */
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, data, n) != (ssize_t)n || close(fd))
        abort();
    int rc = gnn_input_open(&in, &name, 1, e);
    if (!rc)
        rc = gnn_import_open_input(&ds, in, o, e);
    return drain_dataset(ds, rc, edges, digest, e);
}

#endif
