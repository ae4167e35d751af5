/* SPDX-License-Identifier: Apache-2.0 */
/* Assignments that need no graph: a file, chance; and the weights METIS balances. */
#include "kernels/rng.h"
#include "lib/store/ids.h"
#include "lib/base/mem.h"
#include "lib/partition/partition.h"

/* One number a line: so says the line that the reader found it in. */
static int check_line(const struct gnn_id_reader *r, const struct gnn_view *v, uint64_t n, bool end,
                      struct gnn_err *e)
{
    if (end && n < v->nvertices)
        return gnn_fail(e, GNN_E_INPUT, "%s: ends after line %llu; the graph has %llu nodes",
                        r->name, (unsigned long long)n, (unsigned long long)v->nvertices);
    if (end)
        return GNN_OK;
    if (r->at_line != n + 1)
        return gnn_fail(e, GNN_E_INPUT, "%s: line %llu: %s", r->name,
                        (unsigned long long)(r->at_line > n ? n + 1 : n),
                        r->at_line > n ? "no partition number" : "two partition numbers");
    return n < v->nvertices
               ? GNN_OK
               : gnn_fail(e, GNN_E_INPUT, "%s: line %llu: the graph has only %llu nodes", r->name,
                          (unsigned long long)r->at_line, (unsigned long long)v->nvertices);
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

static int add_weight(int32_t *w, uint64_t more, uint64_t *sum, const char *what, struct gnn_err *e)
{
    *sum += more;
    if (*sum > INT32_MAX)
        return gnn_fail(
            e, GNN_E_INPUT,
            "METIS's 32-bit weights cannot hold the sum of %s (over %d); --method fennel and ldg can",
            what, INT32_MAX);
    *w += (int32_t)more;
    return GNN_OK;
}

static int edge_weights(const struct gnn_view *v, uint32_t ncon, int32_t *w, struct gnn_err *e)
{
    const struct gnn_schema *sc = &v->store->meta.schema;
    uint64_t sum = 0;
    for (uint32_t et = 0; et < sc->netypes; et++) {
        uint32_t t = sc->etype[et].dst;
        for (uint64_t i = 0; i < sc->ntype[t].count; i++)
            if (add_weight(&w[(v->base[t] + i) * ncon], gnn_view_row(v, et, i).n, &sum, "edges", e))
                return e->code;
    }
    return GNN_OK;
}

static int set_weights(const struct gnn_view *v, uint32_t set, uint32_t ncon, int32_t *w,
                       struct gnn_err *e)
{
    const struct gnn_split_set *ss = &v->store->meta.schema.set[set];
    uint32_t *ids = NULL;
    if (gnn_store_split(v->store, set, &ids, e))
        return e->code;
    for (uint64_t i = 0; i < ss->count; i++)
        w[(v->base[ss->ntype] + gnn_view_orig(v, ss->ntype, ids[i])) * ncon] = 1;
    gnn_free(ids);
    return GNN_OK;
}

int gnn_balance_weights(const struct gnn_view *v, unsigned balance, const uint32_t *sets,
                        uint32_t nsets, uint32_t *ncon, int32_t **wgt, struct gnn_err *e)
{
    const struct gnn_schema *sc = &v->store->meta.schema;
    uint64_t want = (balance & GNN_BALANCE_NODES ? 1u : 0u) +
                    (balance & GNN_BALANCE_EDGES ? 1u : 0u) +
                    (balance & GNN_BALANCE_SETS ? (uint64_t)nsets : 0) +
                    (balance & GNN_BALANCE_TYPES ? (uint64_t)sc->nntypes : 0);
    uint32_t c = 0, n;

    if (want > GNN_METIS_CONSTRAINTS_MAX || want == 0)
        return gnn_fail(e, GNN_E_USAGE, "%llu balance constraints; METIS takes 1 to %d",
                        (unsigned long long)want, GNN_METIS_CONSTRAINTS_MAX);
    *ncon = n = (uint32_t)want;
    int32_t *w = *wgt = gnn_alloc_zero(v->nvertices * n, sizeof *w, "balance weights", e);
    if (!w)
        return e->code;
    if (balance & GNN_BALANCE_NODES) {
        for (uint64_t i = 0; i < v->nvertices; i++)
            w[i * n] = 1;
        c++;
    }
    if (balance & GNN_BALANCE_EDGES)
        if (edge_weights(v, n, w + c++, e))
            return e->code;
    if (balance & GNN_BALANCE_SETS)
        for (uint32_t i = 0; i < nsets; i++)
            if (set_weights(v, sets[i], n, w + c++, e))
                return e->code;
    if (balance & GNN_BALANCE_TYPES)
        for (uint32_t t = 0; t < sc->nntypes; t++, c++)
            for (uint64_t i = v->base[t]; i < v->base[t + 1]; i++)
                w[i * n + c] = 1;
    return GNN_OK;
}
