/* SPDX-License-Identifier: Apache-2.0 */
/* Assignments that need no graph: a file, a field, chance; and the weights METIS balances. */
#include "formats/npy.h"
#include "kernels/rng.h"
#include "lib/store/ids.h"
#include "lib/base/mem.h"
#include "lib/base/plural.h"
#include "lib/partition/loads.h"

/* One number a line: so says the line that the reader found it in. */
static int check_line(const struct gnn_id_reader *r, const struct gnn_view *v, uint64_t n, bool end,
                      struct gnn_err *e)
{
    if (end && n < v->nvertices)
        return gnn_fail(e, GNN_E_INPUT, "%s: ends after line %llu; the graph has %llu node%s",
                        r->name, (unsigned long long)n, (unsigned long long)v->nvertices,
                        gnn_plural(v->nvertices));
    if (end)
        return GNN_OK;
    if (r->at_line != n + 1)
        return gnn_fail(e, GNN_E_INPUT, "%s: line %llu: %s", r->name,
                        (unsigned long long)(r->at_line > n ? n + 1 : n),
                        r->at_line > n ? "no partition number" : "two partition numbers");
    return n < v->nvertices
               ? GNN_OK
               : gnn_fail(e, GNN_E_INPUT, "%s: line %llu: the graph has only %llu node%s", r->name,
                          (unsigned long long)r->at_line, (unsigned long long)v->nvertices,
                          gnn_plural(v->nvertices));
}

int gnn_assign_read(const struct gnn_view *v, int fd, const char *name, uint32_t *k, uint32_t *part,
                    struct gnn_err *e)
{
    struct gnn_id_reader *r = gnn_alloc(1, sizeof *r, "input buffer", e);
    uint64_t got = 1;
    uint32_t p, top = 0;
    int rc = r ? GNN_OK : GNN_E_NOMEM;

    if (r)
        gnn_id_reader_init(r, fd, name, "partition number", *k ? *k : (uint64_t)GNN_PARTS_MAX);
    for (uint64_t n = 0; !rc && got; n++) {
        rc = gnn_id_reader_next(r, &p, 1, &got, e);
        if (!rc)
            rc = check_line(r, v, n, !got, e);
        if (!rc && got) {
            top = p > top ? p : top;
            part[n] = p;
        }
    }
    if (!rc && !*k)
        *k = top + 1;
    gnn_free(r);
    return rc;
}

/* The part of one node, whose row in the tensor is `row`. */
static int part_of_row(const struct gnn_view *v, uint64_t orig, const struct gnn_tensor *x,
                       uint64_t row, uint32_t k, uint32_t *part, struct gnn_err *e)
{
    int64_t p = 0;
    uint64_t bad;
    const uint64_t most = k ? k : GNN_PARTS_MAX;
    if (!gnn_npy_to_i64(x->dtype, (const uint8_t *)x->data + row * gnn_dtype_bytes(x->dtype), &p, 1,
                        &bad) ||
        p < 0 || (uint64_t)p >= most)
        return gnn_fail(e, GNN_E_INPUT, "%s: %s: node %llu: %lld is no partition number below %llu",
                        v->store->path, x->name, (unsigned long long)orig, (long long)p,
                        (unsigned long long)most);
    *part = (uint32_t)p;
    return GNN_OK;
}

static int no_such_field(const struct gnn_view *v, const char *type, const char *field,
                         struct gnn_err *e)
{
    char text[512];
    gnn_schema_fields_text(&v->store->meta.schema, field, text, sizeof text);
    return gnn_fail(e, GNN_E_USAGE,
                    "nodes of type %s of %s have no field '%s' of one integer each%s", type,
                    v->store->path, field, text);
}

int gnn_assign_field(const struct gnn_view *v, const char *field, uint32_t *k, uint32_t *part,
                     struct gnn_err *e)
{
    const struct gnn_schema *c = &v->store->meta.schema;
    uint32_t top = 0;
    int rc = GNN_OK;
    for (uint32_t t = 0; !rc && t < c->nntypes; t++) {
        const struct gnn_ntype *n = &c->ntype[t];
        const struct gnn_field *f = gnn_field_find(n->field, n->nfields, field);
        if (!f || f->width || gnn_field_is_real(f))
            return no_such_field(v, n->name, field, e);
        for (uint64_t i = 0; !rc && i < n->count; i++) {
            uint32_t at, *to = &part[v->base[t] + i];
            const uint64_t row = gnn_view_locate(v, t, i, &at);
            const struct gnn_tensor *x =
                gnn_store_findf(v->store, at, "node/%s/%s", n->name, field);
            rc = x ? part_of_row(v, i, x, row, *k, to, e) : no_such_field(v, n->name, field, e);
            top = !rc && *to > top ? *to : top;
        }
    }
    if (!rc && !*k)
        *k = top + 1;
    return rc;
}

void gnn_assign_random(const struct gnn_view *v, uint32_t k, uint64_t seed, uint32_t *part)
{
    uint32_t nt = v->store->meta.schema.nntypes;
    for (uint32_t t = 0; t < nt; t++) {
        uint32_t n = (uint32_t)(v->base[t + 1] - v->base[t]), *own = part + v->base[t];
        uint32_t tag = gnn_rng_tag(GNN_RNG_PARTITION, 0, t), key[2];
        gnn_rng_key(seed, 0, 0, 0, tag, key);
        for (uint32_t i = 0; i < n; i++)
            own[i] = i % k;
        for (uint32_t i = n; i-- > 1;) {
            uint32_t j = gnn_rng_below(key, i, 0, tag, i + 1), swap = own[i];
            own[i] = own[j];
            own[j] = swap;
        }
    }
}

int gnn_balance_weights(const struct gnn_view *v, const struct gnn_even *even, uint32_t k,
                        uint32_t *ncon, int32_t **wgt, struct gnn_err *e)
{
    const struct gnn_schema *sc = &v->store->meta.schema;
    struct gnn_loads l;
    int rc = gnn_loads_init(&l, v, even, k, k, 1, e);
    *ncon = l.ncon;
    *wgt = NULL;
    for (uint32_t c = 0; !rc && c < l.ncon; c++)
        if (l.con[c].total > INT32_MAX) /* nodes are fewer */
            rc = gnn_fail(
                e, GNN_E_INPUT,
                "METIS's 32-bit weights cannot hold the sum of edges (over %d); --method fennel and ldg can",
                INT32_MAX);
    if (!rc && (l.ncon > 1 || l.con[0].what != GNN_BALANCE_NODES) &&
        !(*wgt = gnn_alloc(v->nvertices * l.ncon, sizeof **wgt, "balance weights", e)))
        rc = e->code;
    for (uint32_t t = 0; !rc && *wgt && t < sc->nntypes; t++)
        for (uint64_t d = 0; d < sc->ntype[t].count; d++) {
            const struct gnn_weights w = gnn_loads_weigh(&l, t, d);
            for (uint32_t c = 0; c < l.ncon; c++)
                (*wgt)[(v->base[t] + d) * l.ncon + c] = (int32_t)w.of[c];
        }
    gnn_loads_release(&l);
    return rc;
}
