/* SPDX-License-Identifier: Apache-2.0 */
/* Proofs about a store. */
#include <inttypes.h>
#include <string.h>

#include "lib/inspect/inspect.h"
#include "lib/inspect/report.h"
#include "lib/data/int8_rows.h"
#include "lib/data/label_check.h"
#include "lib/data/time.h"
#include "lib/store/names.h"
#include "lib/store/ragged.h"
#include "lib/base/mem.h"
#include "lib/base/plural.h"

static int verify_checksums(struct gnn_store *s, json_t *report, struct gnn_err *e)
{
    uint64_t n = 0, sum = 0, bytes = 0;
    for (uint32_t p = 0; p < s->nparts; p++)
        for (uint32_t i = 0; i < gnn_store_ntensors(s, p); i++, n++) {
            const struct gnn_tensor *t = gnn_store_at(s, p, i);
            if (t && gnn_tensor_bytes(t, &bytes))
                sum += bytes;
        }
    if (gnn_store_verified(s, e))
        return e->code;
    return gnn_report_proved(report, e, "checksums: %" PRIu64 " tensor%s, %" PRIu64 " byte%s", n,
                             gnn_plural(n), sum, gnn_plural(sum));
}

/* Edge ids are positions in the unpartitioned store, so in original order they count 0, 1, 2, ...
 * That makes them a permutation, and every edge present once. */
static int edge_ids(struct gnn_view *v, json_t *report, struct gnn_err *e)
{
    struct gnn_store *s = v->store;
    const struct gnn_schema *sc = &s->meta.schema;
    char key[GNN_ETYPE_KEY_CAPACITY];
    uint64_t total = 0;

    for (uint32_t et = 0; et < sc->netypes; et++) {
        uint64_t next = 0;
        gnn_etype_key(sc, et, key, sizeof key);
        for (uint64_t d = 0; d < sc->ntype[sc->etype[et].dst].count; d++) {
            struct gnn_view_row row = gnn_view_row(v, et, d);
            for (uint64_t i = 0; i < row.n; i++, next++) {
                uint64_t id = gnn_view_edge_id(v, et, d, &row, i);
                if (id != next)
                    return gnn_fail(e, GNN_E_INPUT,
                                    "%s: tensor edge/%s/id: element %" PRIu64 " is %" PRIu64
                                    ", where edge %" PRIu64 " belongs",
                                    gnn_store_part_path(s, row.part), key, row.first + i, id, next);
            }
        }
        if (next != sc->etype[et].count)
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: edge type %s has %" PRIu64 " edge%s instead of %" PRIu64, s->path,
                            key, next, gnn_plural(next), sc->etype[et].count);
        total += next;
    }
    return gnn_report_proved(report, e, "edges: %" PRIu64 ", each once, ids a permutation", total);
}

/* ---- order ---- */

static int rows_ascend(struct gnn_view *v, uint32_t p, uint32_t et, struct gnn_err *e)
{
    struct gnn_store *s = v->store;
    const struct gnn_etype *t = &s->meta.schema.etype[et];
    const struct gnn_view_part *ep = &v->ep[(size_t)et * s->nparts + p];
    char key[GNN_ETYPE_KEY_CAPACITY];
    gnn_etype_key(&s->meta.schema, et, key, sizeof key);
    const struct gnn_tensor *x = gnn_store_findf(s, p, "edge/%s/%s", key, t->order);
    for (uint64_t i = 0, n = gnn_store_owned(s, p, t->dst); i < n; i++) {
        uint64_t time, last = 0;
        for (uint64_t k = ep->indptr[i]; k < ep->indptr[i + 1]; k++, last = time) {
            const bool number = gnn_time_key(x->dtype, x->data, k, &time);
            if (!number || time < last)
                return gnn_fail(e, GNN_E_INPUT, "%s: tensor %s: element %" PRIu64 " %s",
                                gnn_store_part_path(s, p), x->name, k,
                                number ? "is less than the one before it, of the same node"
                                       : "is nan");
        }
    }
    return GNN_OK;
}

/* Types that are marked as ordered are. */
static int verify_order(struct gnn_view *v, json_t *report, struct gnn_err *e)
{
    const struct gnn_schema *sc = &v->store->meta.schema;
    uint64_t edges = 0;
    bool any = false;
    for (uint32_t et = 0; et < sc->netypes; et++) {
        if (!sc->etype[et].order)
            continue;
        any = true;
        edges += sc->etype[et].count;
        for (uint32_t p = 0; p < v->store->nparts; p++)
            if (rows_ascend(v, p, et, e))
                return e->code;
    }
    return any ? gnn_report_proved(report, e, "order: %" PRIu64 " in-edges, ascending by time",
                                   edges)
               : GNN_OK;
}

/* ---- halo ---- */

static int halo_of_type(struct gnn_view *v, uint32_t p, uint32_t t, uint64_t *bits, uint64_t *total,
                        struct gnn_err *e)
{
    struct gnn_store *s = v->store;
    const struct gnn_schema *sc = &s->meta.schema;
    const char *name = sc->ntype[t].name, *path = gnn_store_part_path(s, p);
    const struct gnn_tensor *ids_t = gnn_store_findf(s, p, "halo/%s/ids", name);
    const struct gnn_tensor *own_t = gnn_store_findf(s, p, "halo/%s/owner", name);
    uint64_t lo = s->book[t][p], hi = s->book[t][p + 1], n = ids_t ? ids_t->shape[0] : 0, at = 0;
    const uint32_t *ids = ids_t ? ids_t->data : NULL, *own = own_t ? own_t->data : NULL;

    if (!!ids_t != !!own_t || (!ids_t && s->nparts > 1))
        return gnn_fail(e, GNN_E_INPUT, "%s: tensor halo/%s/%s is missing", path, name,
                        ids_t ? "owner" : "ids");
    if (ids_t && (ids_t->dtype != GNN_U32 || own_t->dtype != GNN_U32 || ids_t->ndim != 1 ||
                  own_t->ndim != 1 || own_t->shape[0] != n))
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: tensors halo/%s/ids and owner are not two lists of u32", path, name);
    memset(bits, 0, (sc->ntype[t].count / 64 + 1) * sizeof *bits);
    for (uint32_t et = 0; et < sc->netypes; et++) {
        if (sc->etype[et].src != t)
            continue;
        const struct gnn_view_part *ep = &v->ep[(size_t)et * s->nparts + p];
        uint64_t m = ep->indptr[gnn_store_owned(s, p, sc->etype[et].dst)];
        for (uint64_t i = 0; i < m; i++) {
            uint32_t id = ep->indices[i];
            if (id < lo || id >= hi)
                bits[id / 64] |= (uint64_t)1 << id % 64;
        }
    }
    for (uint64_t w = 0; w <= sc->ntype[t].count / 64; w++)
        for (uint64_t b = bits[w]; b; b &= b - 1, at++) {
            uint64_t want = w * 64 + (uint64_t)__builtin_ctzll(b);
            if (at >= n || ids[at] != want)
                return gnn_fail(e, GNN_E_INPUT,
                                "%s: tensor halo/%s/ids: element %" PRIu64 " should be %" PRIu64,
                                path, name, at, want);
            if (own[at] != gnn_store_owner(s, t, want))
                return gnn_fail(e, GNN_E_INPUT,
                                "%s: tensor halo/%s/owner: element %" PRIu64
                                " is %u; partition %u owns node %" PRIu64,
                                path, name, at, own[at], gnn_store_owner(s, t, want), want);
        }
    if (at != n)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: tensor halo/%s/ids: element %" PRIu64
                        " (%u) is no source of the partition",
                        path, name, at, ids[at]);
    *total += n;
    return GNN_OK;
}

/* In-edges that a part keeps of its halo's nodes are those that the nodes have. *total: how many.
 */
static int halo_edges(struct gnn_view *v, uint32_t p, uint32_t et, uint64_t *total,
                      struct gnn_err *e)
{
    struct gnn_store *s = v->store;
    const struct gnn_schema *sc = &s->meta.schema;
    const uint32_t t = sc->etype[et].dst;
    char key[GNN_ETYPE_KEY_CAPACITY];
    gnn_etype_key(sc, et, key, sizeof key);
    const char *path = gnn_store_part_path(s, p);
    const struct gnn_tensor *ptr_t = gnn_store_findf(s, p, "halo/%s/indptr", key),
                            *idx_t = gnn_store_findf(s, p, "halo/%s/indices", key);
    const struct gnn_tensor *id_t = gnn_store_findf(s, p, "halo/%s/id", key),
                            *node_t = gnn_store_findf(s, p, "halo/%s/ids", sc->ntype[t].name);
    const struct gnn_tensor *orig_t = gnn_store_findf(s, p, "halo/%s/id", sc->ntype[t].name);
    if (!ptr_t)
        return GNN_OK;
    const uint64_t *ptr = ptr_t->data, *id = id_t ? id_t->data : NULL;
    const uint32_t *idx = idx_t->data, *node = node_t->data, *orig = orig_t->data;
    for (uint64_t i = 0; i < node_t->shape[0]; i++) {
        const uint32_t v_orig =
            gnn_view_orig(v, t, node[i]); /* checked: it is a node of another part */
        const struct gnn_view_row row = gnn_view_row(v, et, v_orig);
        bool same = orig[i] == v_orig && ptr[i + 1] - ptr[i] == row.n &&
                    ptr[i + 1] <= idx_t->shape[0] && (i || !ptr[0]);
        for (uint64_t k = 0; same && k < row.n; k++)
            same = idx[ptr[i] + k] == row.indices[k] &&
                   (!id || id[ptr[i] + k] == gnn_view_edge_id(v, et, v_orig, &row, k));
        if (!same)
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: tensors halo/%s: row %" PRIu64 " is not what node %u has", path,
                            key, i, node[i]);
        *total += row.n;
    }
    return GNN_OK;
}

static int verify_halos(struct gnn_view *v, json_t *report, struct gnn_err *e)
{
    const struct gnn_schema *sc = &v->store->meta.schema;
    uint64_t most = 0, total = 0, edges = 0;
    int rc = GNN_OK;
    for (uint32_t t = 0; t < sc->nntypes; t++)
        most = sc->ntype[t].count > most ? sc->ntype[t].count : most;
    uint64_t *bits = gnn_alloc(most / 64 + 1, sizeof *bits, "marks of nodes", e);
    if (!bits)
        return e->code;
    for (uint32_t p = 0; !rc && p < v->store->nparts; p++)
        for (uint32_t t = 0; !rc && t < sc->nntypes; t++)
            rc = halo_of_type(v, p, t, bits, &total, e);
    gnn_free(bits);
    for (uint32_t p = 0; !rc && p < v->store->nparts; p++)
        for (uint32_t et = 0; !rc && et < sc->netypes; et++)
            rc = halo_edges(v, p, et, &edges, e);
    if (rc || !edges)
        return rc ? rc
                  : gnn_report_proved(report, e,
                                      "halo: %" PRIu64 " node%s, exact, with their owners", total,
                                      gnn_plural(total));
    return gnn_report_proved(
        report, e, "halo: %" PRIu64 " node%s, exact, with their owners and %" PRIu64 " in-edges",
        total, gnn_plural(total), edges);
}

/* ---- splits and names ---- */

static int verify_sets(struct gnn_store *s, json_t *report, struct gnn_err *e)
{
    const struct gnn_schema *sc = &s->meta.schema;
    uint64_t total = 0;
    for (uint32_t i = 0; i < sc->nsets; i++) {
        const struct gnn_split_set *ss = &sc->set[i];
        uint32_t *ids = NULL;
        if (ss->links ? gnn_store_links(s, i, &ids, NULL, e) : gnn_store_split(s, i, &ids, e))
            return e->code;
        gnn_free(ids);
        if (gnn_schema_given_kind(ss) == GNN_GIVEN_RAGGED && gnn_ragged_verify(s, i, e))
            return e->code;
        total += ss->count;
    }
    return gnn_report_proved(report, e, "splits: %u set%s, %" PRIu64 " member%s, complete",
                             sc->nsets, gnn_plural(sc->nsets), total, gnn_plural(total));
}

static int verify_labels(struct gnn_store *s, json_t *report, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    struct gnn_err why = {0};
    uint64_t total = 0;
    for (uint32_t p = 0; c->task && p < s->nparts; p++) {
        const struct gnn_tensor *y =
            gnn_store_findf(s, p, "node/%s/y", c->ntype[c->label_ntype].name);
        uint64_t n = 0;
        if (y && gnn_labels_valid(c, y, &why))
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor %s: %s", gnn_store_part_path(s, p), y->name,
                            why.msg);
        total += y && gnn_tensor_count(y, &n) ? n : 0;
    }
    return total ? gnn_report_proved(report, e, "labels: %" PRIu64 ", in range", total) : GNN_OK;
}

static int verify_int8_part(struct gnn_store *s, uint32_t p, const struct gnn_ntype *t,
                            const struct gnn_field *f, uint64_t *total, struct gnn_err *e)
{
    const struct gnn_tensor *x = gnn_store_findf(s, p, "node/%s/%s", t->name, f->name);
    char why[96];
    for (uint64_t i = 0; x && i < x->shape[0]; i++, ++*total)
        if (!gnn_int8_row_valid((const char *)x->data + i * x->shape[1], x->int8, why, sizeof why))
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor %s: row %" PRIu64 ": %s",
                            gnn_store_part_path(s, p), x->name, i, why);
    return GNN_OK;
}

static int verify_int8(struct gnn_store *s, json_t *report, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    uint64_t total = 0;
    for (uint32_t t = 0; t < c->nntypes; t++)
        for (uint32_t i = 0; i < c->ntype[t].nfields; i++)
            for (uint32_t p = 0; c->ntype[t].field[i].scaled && p < s->nparts; p++)
                if (verify_int8_part(s, p, &c->ntype[t], &c->ntype[t].field[i], &total, e))
                    return e->code;
    return total ? gnn_report_proved(report, e, "rows of int8: %" PRIu64 ", scales finite", total)
                 : GNN_OK;
}

static int verify_names(struct gnn_store *s, json_t *report, struct gnn_err *e)
{
    uint64_t total = 0;
    for (uint32_t t = 0; t < s->meta.schema.nntypes; t++) {
        struct gnn_names n;
        if (gnn_names_init(&n, s, t, e))
            return e->code;
        for (uint32_t p = 0; p < s->nparts; p++)
            total += n.part[p].word_end ? gnn_store_owned(s, p, t) : 0;
        gnn_names_release(&n);
    }
    return total ? gnn_report_proved(report, e, "names: %" PRIu64 ", in order", total) : GNN_OK;
}

static int against_store(struct gnn_view *v, struct gnn_store *other, json_t *report,
                         struct gnn_err *e)
{
    struct gnn_view w = {0};
    struct gnn_diff d = {0};
    int rc = gnn_view_init(&w, other, e);
    if (!rc)
        rc = gnn_same_graph(v, &w, &d, e);
    gnn_view_release(&w);
    if (rc)
        return rc;
    if (d.differ)
        return gnn_fail(e, GNN_E_INPUT, "%s is not the graph of %s: %s: %s against %s",
                        v->store->path, other->path, d.where, d.a, d.b);
    return gnn_report_proved(report, e, "same graph as %s", other->path);
}

int gnn_verify_store(struct gnn_store *s, struct gnn_store *against, json_t *report,
                     struct gnn_err *e)
{
    struct gnn_view v = {0};
    int rc = verify_checksums(s, report, e);
    if (!rc)
        rc = gnn_view_init(&v, s, e);
    if (!rc)
        rc = gnn_report_proved(
            report, e,
            "offsets monotone, indices in range, original ids a bijection: %" PRIu64 " node%s",
            v.nvertices, gnn_plural(v.nvertices));
    if (!rc)
        rc = edge_ids(&v, report, e) || verify_order(&v, report, e) ||
                     verify_halos(&v, report, e) || verify_sets(s, report, e) ||
                     verify_names(s, report, e) || verify_labels(s, report, e) ||
                     verify_int8(s, report, e) || (against && against_store(&v, against, report, e))
                 ? e->code
                 : 0;
    gnn_view_release(&v);
    return rc;
}
