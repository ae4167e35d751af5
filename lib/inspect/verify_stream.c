/* SPDX-License-Identifier: Apache-2.0 */
/* Proofs about a batch stream. */
#include <inttypes.h>
#include <string.h>

#include "lib/inspect/inspect.h"
#include "lib/inspect/report.h"
#include "lib/base/mem.h"
#include "lib/data/source.h"

/* What is kept between batches. */
struct check {
    const char *name;
    const struct gnn_meta *meta;
    struct gnn_view view; /* of the store, if there is one */
    uint64_t (*last)[2];  /* [nsplits] epoch and step */
    bool *started;        /* [nsplits] */
    uint64_t batch, edges;
};

static int check_init(struct check *c, struct gnn_store *store, struct gnn_err *e)
{
    c->last = gnn_alloc_zero(c->meta->sampling.nsplits, sizeof *c->last, "splits", e);
    c->started = gnn_alloc_zero(c->meta->sampling.nsplits, sizeof *c->started, "splits", e);
    if (!c->last || !c->started)
        return e->code;
    if (!store)
        return GNN_OK;
    if (strcmp(store->meta.identity, c->meta->identity) != 0)
        return gnn_meta_other_store(c->meta, &store->meta, store->path, e);
    return gnn_view_init(&c->view, store, e);
}

static void check_release(struct check *c)
{
    gnn_free(c->last);
    gnn_free(c->started);
    gnn_view_release(&c->view);
}

/* Within a split, steps count up by one and epochs do not fall. */
static int check_key(struct check *c, const struct gnn_batch *b, struct gnn_err *e)
{
    uint64_t *last = c->last[b->split];
    if (c->started[b->split] &&
        !(b->epoch > last[0] || (b->epoch == last[0] && b->step == last[1] + 1)))
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: batch %" PRIu64 ": epoch %" PRIu64 " step %" PRIu64
                        " follows epoch %" PRIu64 " step %" PRIu64,
                        c->name, c->batch, b->epoch, b->step, last[0], last[1]);
    c->started[b->split] = true;
    last[0] = b->epoch;
    last[1] = b->step;
    return GNN_OK;
}

/* That ids are in range, and none is there twice, the source of the batches has found. */
static int check_nodes(struct check *c, const struct gnn_batch *b, struct gnn_err *e)
{
    for (uint32_t t = 0; c->view.store && t < b->nntypes; t++)
        for (uint64_t i = 0; b->type[t].orig && i < gnn_batch_nodes(b, t); i++)
            if (b->type[t].orig[i] != gnn_view_orig(&c->view, t, b->type[t].node[i]))
                return gnn_fail(
                    e, GNN_E_INPUT,
                    "%s: batch %" PRIu64 ": node/%s/id: element %" PRIu64 ": not node %u's",
                    c->name, c->batch, c->meta->schema.ntype[t].name, i, b->type[t].node[i]);
    return GNN_OK;
}

static bool in_row(const struct gnn_view *v, const struct gnn_view_row *r, uint32_t et,
                   uint32_t dst, uint32_t src, const uint64_t *id)
{
    for (uint64_t i = 0; i < r->n; i++)
        if (r->indices[i] == src && (!id || *id == gnn_view_edge_id(v, et, dst, r, i)))
            return true;
    return false;
}

static int check_block(struct check *c, const struct gnn_batch *b, uint32_t hop, uint32_t et,
                       struct gnn_err *e)
{
    const struct gnn_etype *t = &c->meta->schema.etype[et];
    const struct gnn_block *k = gnn_batch_block(b, hop, et);
    bool original = c->meta->sampling.original_ids;

    for (uint32_t i = 0; i < k->n; i++) {
        uint32_t dst = b->type[t->dst].node[k->first + i];
        uint32_t orig = original ? dst : gnn_view_orig(&c->view, t->dst, dst);
        struct gnn_view_row row = gnn_view_row(&c->view, et, orig);
        for (uint32_t j = k->indptr[i]; j < k->indptr[i + 1]; j++, c->edges++) {
            uint32_t src = b->type[t->src].node[k->indices[j]];
            uint32_t at = original ? gnn_view_store_id(&c->view, t->src, src) : src;
            if (!in_row(&c->view, &row, et, orig, at, k->id ? &k->id[j] : NULL))
                return gnn_fail(e, GNN_E_INPUT,
                                "%s: batch %" PRIu64 ": hop %u: edge %u -> %u is not in the store",
                                c->name, c->batch, hop, src, dst);
        }
    }
    return GNN_OK;
}

/* A source is in the tree of its destination. */
static int check_trees(const struct check *c, const struct gnn_batch *b, uint32_t hop, uint32_t et,
                       struct gnn_err *e)
{
    const struct gnn_etype *t = &c->meta->schema.etype[et];
    const struct gnn_block *k = gnn_batch_block(b, hop, et);
    const uint32_t *dst = b->type[t->dst].tree, *src = b->type[t->src].tree;
    for (uint32_t i = 0; dst && src && i < k->n; i++)
        for (uint32_t j = k->indptr[i]; j < k->indptr[i + 1]; j++)
            if (src[k->indices[j]] != dst[k->first + i])
                return gnn_fail(e, GNN_E_INPUT,
                                "%s: batch %" PRIu64
                                ": hop %u: an edge leads from tree %u to tree %u",
                                c->name, c->batch, hop, src[k->indices[j]], dst[k->first + i]);
    return GNN_OK;
}

static int check_batch(struct check *c, const struct gnn_batch *b, struct gnn_err *e)
{
    if (check_key(c, b, e) || check_nodes(c, b, e))
        return e->code;
    for (uint32_t h = 0; h < b->nhops; h++)
        for (uint32_t et = 0; et < b->netypes; et++)
            if (check_trees(c, b, h, et, e) || (c->view.store && check_block(c, b, h, et, e)))
                return e->code;
    c->batch++;
    return GNN_OK;
}

static int report_checks(const struct check *c, json_t *out, struct gnn_err *e)
{
    bool bad = false;
    json_t *a = json_array();
    report_push(
        a, json_sprintf("frames: %" PRIu64 " batches, checksums right, END there", c->batch), &bad);
    report_push(a,
                json_string(c->meta->sampling.disjoint ? "batches: valid, no node twice in a tree"
                                                       : "batches: valid, no node twice"),
                &bad);
    report_push(a, json_string("keys: in sequence"), &bad);
    if (c->view.store)
        report_push(a, json_sprintf("edges: %" PRIu64 ", all in %s", c->edges, c->view.store->path),
                    &bad);
    report_put(out, "proved", a, &bad);
    return bad ? no_json(e) : GNN_OK;
}

int gnn_verify_stream(int fd, const char *name, struct gnn_store *against, json_t *out,
                      struct gnn_err *e)
{
    struct gnn_source *src = gnn_stream_source_new(fd, name, e);
    struct check c = {.name = name};
    struct gnn_batch *b = NULL;
    int rc;

    if (!src)
        return e->code;
    c.meta = src->meta;
    rc = check_init(&c, against, e);
    while (!rc && !(rc = gnn_source_next(src, &b, e))) {
        rc = check_batch(&c, b, e);
        gnn_batch_put(b);
    }
    if (rc == GNN_END)
        rc = report_checks(&c, out, e);
    check_release(&c);
    gnn_source_free(src);
    return rc;
}
