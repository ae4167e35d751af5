/* SPDX-License-Identifier: Apache-2.0 */
/* How often batches had each node, as an .npy file (lib/cache/frequency.h): counted while batches
 * pass, written by original ids so that the file fits any store of the graph, and read back as
 * scores by which a cache is filled. */
#include "lib/cache/frequency.h"

#include <float.h>
#include <inttypes.h>
#include <unistd.h>

#include "formats/npy.h"
#include "lib/comm/comm.h"
#include "lib/store/ids.h"
#include "lib/base/io.h"
#include "lib/base/plural.h"

enum { CHUNK = 1 << 14 };

static void counts_free(uint32_t **n, uint32_t ntypes)
{
    for (uint32_t t = 0; n && t < ntypes; t++)
        gnn_free(n[t]);
    gnn_free(n);
}

/* A number for each node. */
static int counts_new(uint32_t ***n, const struct gnn_schema *c, struct gnn_err *e)
{
    *n = gnn_alloc_zero(c->nntypes, sizeof **n, "frequencies", e);
    for (uint32_t t = 0; *n && t < c->nntypes; t++)
        if (!((*n)[t] = gnn_alloc_zero(c->ntype[t].count, sizeof ***n, "frequencies", e)))
            return e->code;
    return e->code;
}

int gnn_frequency_init(struct gnn_frequency *f, struct gnn_store *s, bool original,
                       struct gnn_err *e)
{
    *f = (struct gnn_frequency){.store = s, .original = original};
    return counts_new(&f->n, &s->meta.schema, e);
}

void gnn_frequency_release(struct gnn_frequency *f)
{
    if (f->store) {
        counts_free(f->n, f->store->meta.schema.nntypes);
        counts_free(f->last, f->store->meta.schema.nntypes);
    }
    *f = (struct gnn_frequency){0};
}

/* Trees of a batch may have the same node, which is in one batch all the same. */
static int remember_batches(struct gnn_frequency *f, const struct gnn_batch *b, struct gnn_err *e)
{
    bool trees = false;
    for (uint32_t t = 0; t < b->nntypes; t++)
        trees = trees || b->type[t].tree;
    f->batches++;
    return trees && !f->last ? counts_new(&f->last, &f->store->meta.schema, e) : 0;
}

int gnn_frequency_add(struct gnn_frequency *f, const struct gnn_batch *b, struct gnn_err *e)
{
    if (remember_batches(f, b, e))
        return e->code;
    for (uint32_t t = 0; t < b->nntypes; t++) {
        const uint64_t n = gnn_batch_nodes(b, t), limit = f->store->meta.schema.ntype[t].count;
        const uint32_t *id = b->type[t].node;
        uint32_t *count = f->n[t], *last = f->last ? f->last[t] : NULL;
        for (uint64_t i = 0; i < n; i++) {
            if (id[i] >= limit)
                return gnn_store_bad_node(b, e);
            if (last && last[id[i]] == f->batches)
                continue;
            if (last)
                last[id[i]] = f->batches;
            /* Saturated: one node in 2^32 batches is as good as always. */
            count[id[i]] += count[id[i]] < UINT32_MAX;
        }
    }
    return 0;
}

static int write_type(const struct gnn_frequency *f, uint32_t t, struct gnn_io *io,
                      struct gnn_err *e)
{
    const uint64_t n = f->store->meta.schema.ntype[t].count;
    uint32_t *store_id = NULL, out[CHUNK];
    int rc = f->original ? 0 : gnn_store_inverse(f->store, t, &store_id, e);
    for (uint64_t i = 0; !rc && i < n; i += CHUNK) {
        const uint64_t m = n - i < CHUNK ? n - i : CHUNK;
        for (uint64_t k = 0; k < m; k++)
            /* Rows of the file are in the order of original ids. */
            out[k] = f->n[t][store_id ? store_id[i + k] : i + k];
        rc = gnn_io_write(io, out, m * sizeof *out, e);
    }
    gnn_free(store_id);
    return rc;
}

static uint64_t all_nodes(const struct gnn_schema *c)
{
    uint64_t n = 0;
    for (uint32_t t = 0; t < c->nntypes; t++)
        n += c->ntype[t].count;
    return n;
}

int gnn_frequency_write(struct gnn_frequency *f, int fd, const char *name, struct gnn_err *e)
{
    const struct gnn_npy h = {
        .dtype = GNN_U32, .ndim = 1, .shape = {all_nodes(&f->store->meta.schema)}};
    uint8_t head[256];
    struct gnn_io io;
    gnn_io_init(&io, fd, name);
    int rc = gnn_io_write(&io, head, gnn_npy_header(&h, head), e);
    for (uint32_t t = 0; !rc && t < f->store->meta.schema.nntypes; t++)
        rc = write_type(f, t, &io, e);
    if (rc) {
        close(fd);
        return rc;
    }
    return gnn_io_close(&io, true, e);
}

/* ---- reading ---- */

static int read_head(struct gnn_io *io, uint64_t want, struct gnn_npy *h, struct gnn_err *e)
{
    uint8_t prefix[GNN_NPY_PREFIX];
    int rc = gnn_io_read_exact(io, prefix, sizeof prefix, "the header", e);
    const uint32_t n = rc ? 0 : gnn_npy_header_bytes(prefix);
    if (rc)
        return rc;
    if (!n)
        return gnn_fail(e, GNN_E_INPUT, "%s: not an .npy file", io->name);
    uint8_t *head = gnn_alloc(n, 1, "a header", e);
    if (!head)
        return e->code;
    for (uint32_t i = 0; i < sizeof prefix; i++)
        head[i] = prefix[i];
    rc = gnn_io_read_exact(io, head + sizeof prefix, n - sizeof prefix, "the header", e);
    const char *why = rc ? NULL : gnn_npy_parse(h, head, n);
    gnn_free(head);
    if (why)
        return gnn_fail(e, GNN_E_INPUT, "%s: %s", io->name, why);
    if (!rc && (h->ndim != 1 || h->shape[0] != want))
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: %" PRIu64 " number%s in %u dimensions: the store has %" PRIu64
                        " node%s",
                        io->name, h->count, gnn_plural(h->count), h->ndim, want, gnn_plural(want));
    return rc;
}

/* own: the store ids that this rank has. */
static int read_type(struct gnn_io *io, const struct gnn_npy *h, uint64_t n,
                     /* double first, as any numeric type may be in the file; then float, as scores
                      * are. */
                     const uint32_t *store_id, const uint64_t own[2], float *out, struct gnn_err *e)
{
    const size_t size = gnn_dtype_bytes(h->dtype);
    double v[1024];
    uint64_t raw[1024];
    int rc = 0;
    for (uint64_t i = 0; !rc && i < n; i += 1024) {
        const uint64_t m = n - i < 1024 ? n - i : 1024;
        if ((rc = gnn_io_read_exact(io, raw, m * size, "the numbers", e)))
            break;
        if (h->swap)
            gnn_npy_swap(raw, m, size);
        gnn_npy_to_f64(h->dtype, raw, v, m);
        for (uint64_t k = 0; k < m; k++) {
            /* Negative, NaN and infinite numbers have no place in a ranking. */
            if (!(v[k] >= 0 && v[k] <= FLT_MAX))
                return gnn_fail(e, GNN_E_INPUT,
                                "%s: number %" PRIu64 " of a node type is %g: not a frequency",
                                io->name, i + k, v[k]);
            const uint64_t id = store_id ? store_id[i + k] : i + k;
            if (id >= own[0] && id < own[1])
                out[id] = (float)v[k];
        }
    }
    return rc;
}

int gnn_frequency_read(struct gnn_store *s, int fd, const char *name, struct gnn_scores *x,
                       struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    struct gnn_npy h;
    struct gnn_io io;
    uint64_t got = 0;
    char more;
    *x = (struct gnn_scores){0};
    gnn_io_init(&io, fd, name);
    int rc = read_head(&io, all_nodes(c), &h, e);
    if (!rc)
        rc = gnn_scores_init(x, c, e);
    for (uint32_t t = 0; !rc && t < c->nntypes; t++) {
        uint32_t *store_id = NULL;
        const uint64_t own[2] = {s->book[t][s->from], s->book[t][s->to]};
        rc = gnn_store_inverse(s, t, &store_id, e);
        if (!rc)
            rc = read_type(&io, &h, c->ntype[t].count, store_id, own, x->of[t], e);
        if (!rc)
            /* Each rank filled in its own nodes, and all others are 0: the sum is the whole. */
            rc = gnn_comm_all_reduce(s->comm, x->of[t], c->ntype[t].count, GNN_REDUCE_F32, e);
        gnn_free(store_id);
    }
    if (!rc)
        rc = gnn_io_read(&io, &more, 1, &got, e);
    if (!rc && got)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: bytes after the last number", name);
    if (rc)
        gnn_scores_release(x);
    return rc;
}
