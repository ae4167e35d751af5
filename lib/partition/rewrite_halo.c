/* SPDX-License-Identifier: Apache-2.0 */
/* The halo of a new part: nodes of other parts that its edges come from, with their owners; on
 * request also the in-edges of these, so that sampling finds them without asking. */
#include "lib/partition/rewrite_common.h"

typedef int (*halo_fn)(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint32_t id,
                       struct gnn_err *e);

/* Calls fn for each node of type t in the part's halo, by its new id, in ascending order. */
static int each_halo_node(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint32_t t,
                          halo_fn fn, struct gnn_err *e)
{
    const uint64_t *bits = p->marks[t],
                   words = p->r->l->view->store->meta.schema.ntype[t].count / 64 + 1;
    for (uint64_t w = 0; w < words; w++)
        for (uint64_t b = bits[w]; b; b &= b - 1)
            if (fn(p, j, (uint32_t)(w * 64 + (uint64_t)__builtin_ctzll(b)), e))
                return e->code;
    return gnn_sink_flush(&j->sink, e);
}

/* ---- ids ---- */

static int put_id(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint32_t id,
                  struct gnn_err *e)
{
    (void)p;
    return gnn_sink_put(&j->sink, &id, sizeof id, e);
}

static int put_owner(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint32_t id,
                     struct gnn_err *e)
{
    const struct gnn_layout *l = p->r->l;
    return gnn_sink_put(&j->sink, &l->part[l->view->base[j->type] + l->order[j->type][id]],
                        sizeof *l->part, e);
}

static int put_original(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint32_t id,
                        struct gnn_err *e)
{
    return gnn_sink_put(&j->sink, &p->r->l->order[j->type][id], sizeof(uint32_t), e);
}

static int write_ids(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint64_t to,
                     struct gnn_err *e)
{
    (void)to;
    return each_halo_node(p, j, j->type, put_id, e);
}

static int write_owners(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint64_t to,
                        struct gnn_err *e)
{
    (void)to;
    return each_halo_node(p, j, j->type, put_owner, e);
}

static int write_originals(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint64_t to,
                           struct gnn_err *e)
{
    (void)to;
    return each_halo_node(p, j, j->type, put_original, e);
}

/* ---- in-edges; a job's type is the edge type ---- */

static struct gnn_view_row row_of(const struct gnn_rewrite_part *p, uint32_t et, uint32_t id)
{
    const struct gnn_layout *l = p->r->l;
    return gnn_view_row(l->view, et, l->order[l->view->store->meta.schema.etype[et].dst][id]);
}

static int put_offset(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint32_t id,
                      struct gnn_err *e)
{
    j->sum += row_of(p, j->type, id).n;
    return gnn_sink_put(&j->sink, &j->sum, sizeof j->sum, e);
}

static int put_sources(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint32_t id,
                       struct gnn_err *e)
{
    const struct gnn_layout *l = p->r->l;
    const uint32_t src = l->view->store->meta.schema.etype[j->type].src;
    const struct gnn_view_row row = row_of(p, j->type, id);
    for (uint64_t i = 0; i < row.n; i++) {
        const uint32_t v = l->to_new[src][gnn_view_orig(l->view, src, row.indices[i])];
        if (gnn_sink_put(&j->sink, &v, sizeof v, e))
            return e->code;
    }
    return GNN_OK;
}

static int put_edge_ids(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint32_t id,
                        struct gnn_err *e)
{
    const struct gnn_layout *l = p->r->l;
    const uint32_t orig = l->order[l->view->store->meta.schema.etype[j->type].dst][id];
    const struct gnn_view_row row = gnn_view_row(l->view, j->type, orig);
    for (uint64_t i = 0; i < row.n; i++) {
        const uint64_t v = gnn_view_edge_id(l->view, j->type, orig, &row, i);
        if (gnn_sink_put(&j->sink, &v, sizeof v, e))
            return e->code;
    }
    return GNN_OK;
}

static uint32_t dst_of(const struct gnn_rewrite_part *p, const struct gnn_rewrite_job *j)
{
    return p->r->l->view->store->meta.schema.etype[j->type].dst;
}

static int write_indptr(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint64_t to,
                        struct gnn_err *e)
{
    (void)to;
    return gnn_sink_put(&j->sink, &j->sum, sizeof j->sum, e)
               ? e->code
               : each_halo_node(p, j, dst_of(p, j), put_offset, e);
}

static int write_indices(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint64_t to,
                         struct gnn_err *e)
{
    (void)to;
    return each_halo_node(p, j, dst_of(p, j), put_sources, e);
}

static int write_edge_ids(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint64_t to,
                          struct gnn_err *e)
{
    (void)to;
    return each_halo_node(p, j, dst_of(p, j), put_edge_ids, e);
}

static uint64_t count_edges(const struct gnn_rewrite_part *p, uint32_t et, uint32_t t)
{
    const uint64_t *bits = p->marks[t],
                   words = p->r->l->view->store->meta.schema.ntype[t].count / 64 + 1;
    uint64_t n = 0;
    for (uint64_t w = 0; w < words; w++)
        for (uint64_t b = bits[w]; b; b &= b - 1)
            n += row_of(p, et, (uint32_t)(w * 64 + (uint64_t)__builtin_ctzll(b))).n;
    return n;
}

static int declare_edges(struct gnn_rewrite_part *p, uint32_t et, struct gnn_err *e)
{
    const struct gnn_schema *sc = &p->r->l->view->store->meta.schema;
    const uint32_t t = sc->etype[et].dst;
    const uint64_t rows = p->nhalo[t] + 1, n = count_edges(p, et, t);
    struct gnn_rewrite_job ptr = {.write = write_indptr, .type = et, .walk = -1},
                           ind = {.write = write_indices, .type = et, .walk = -1},
                           ids = {.write = write_edge_ids, .type = et, .walk = -1};
    char key[GNN_ETYPE_KEY_ROOM];
    gnn_etype_key(sc, et, key, sizeof key);
    p->fig->halo_edges += n;
    if (gnn_rewrite_declare(p, ptr, GNN_U64, 1, &rows, e, "halo/%s/indptr", key) ||
        gnn_rewrite_declare(p, ind, GNN_U32, 1, &n, e, "halo/%s/indices", key))
        return e->code;
    return p->r->l->no_edge_ids ? GNN_OK
                                : gnn_rewrite_declare(p, ids, GNN_U64, 1, &n, e, "halo/%s/id", key);
}

int gnn_rewrite_halo(struct gnn_rewrite_part *p, struct gnn_err *e)
{
    const struct gnn_schema *sc = &p->r->l->view->store->meta.schema;
    for (uint32_t t = 0; t < sc->nntypes; t++) {
        struct gnn_rewrite_job ids = {.write = write_ids, .type = t, .walk = -1},
                               owner = {.write = write_owners, .type = t, .walk = -1},
                               orig = {.write = write_originals, .type = t, .walk = -1};
        if (gnn_rewrite_declare(p, ids, GNN_U32, 1, &p->nhalo[t], e, "halo/%s/ids",
                                sc->ntype[t].name) ||
            gnn_rewrite_declare(p, owner, GNN_U32, 1, &p->nhalo[t], e, "halo/%s/owner",
                                sc->ntype[t].name))
            return e->code;
        if (p->r->l->halo_edges && gnn_rewrite_declare(p, orig, GNN_U32, 1, &p->nhalo[t], e,
                                                       "halo/%s/id", sc->ntype[t].name))
            return e->code;
    }
    for (uint32_t et = 0; p->r->l->halo_edges && et < sc->netypes; et++)
        if (declare_edges(p, et, e))
            return e->code;
    return GNN_OK;
}
