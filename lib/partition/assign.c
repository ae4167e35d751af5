/* Assignments that need no graph: a file, chance; and the weights METIS balances. */
#include <stdio.h>
#include <string.h>

#include "kernels/rng.h"
#include "lib/io.h"
#include "lib/mem.h"
#include "lib/partition.h"

/* A reader of lines that hold one number each. */
struct lines {
    struct gnn_io io;
    char buf[1 << 16];
    uint64_t at, have, line;
    bool end;
};

/* Next byte, or -1 at the end; -2 on failure. */
static int next_byte(struct lines *l, struct gnn_err *e)
{
    if (l->at == l->have) {
        if (l->end)
            return -1;
        if (gnn_io_read(&l->io, l->buf, sizeof l->buf, &l->have, e))
            return -2;
        l->at = 0;
        l->end = l->have < sizeof l->buf;
        if (!l->have)
            return -1;
    }
    return (unsigned char)l->buf[l->at++];
}

/* *n: the line's number, or UINT64_MAX for a line of white space. GNN_END after the last line. */
static int next_number(struct lines *l, uint64_t *n, struct gnn_err *e)
{
    uint64_t v = 0;
    unsigned digits = 0;
    bool over = false, any = false;
    int c;

    l->line++;
    while ((c = next_byte(l, e)) >= 0 && c != '\n') {
        any = true;
        if (c >= '0' && c <= '9' && !over && digits < 10) {
            v = v * 10 + (uint64_t)(c - '0');
            digits++;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            over = digits > 0;
        } else {
            return gnn_fail(e, GNN_E_INPUT, "%s: line %llu: not a part number", l->io.name,
                            (unsigned long long)l->line);
        }
    }
    if (c == -2)
        return e->code;
    if (c == -1 && !any)
        return GNN_END;
    *n = digits ? v : UINT64_MAX;
    return GNN_OK;
}

int gnn_assign_read(const struct gnn_view *v, int fd, const char *name, uint32_t *k, uint32_t *part,
                    struct gnn_err *e)
{
    struct lines *l = gnn_alloc(1, sizeof *l, "input buffer", e);
    uint64_t n = 0, p = 0, top = 0;
    int rc;

    if (!l)
        return e->code;
    gnn_io_init(&l->io, fd, name);
    l->at = l->have = l->line = 0;
    l->end = false;
    while (!(rc = next_number(l, &p, e))) {
        if (p == UINT64_MAX) {
            rc = gnn_fail(e, GNN_E_INPUT, "%s: line %llu: no part number", name,
                          (unsigned long long)l->line);
        } else if (n == v->nvertices) {
            rc = gnn_fail(e, GNN_E_INPUT, "%s: line %llu: the graph has only %llu nodes", name,
                          (unsigned long long)l->line, (unsigned long long)v->nvertices);
        } else if (p >= (*k ? *k : (uint32_t)GNN_PARTS_MAX)) {
            rc = gnn_fail(e, GNN_E_INPUT, "%s: line %llu: part %llu, but there are parts 0 to %llu only",
                          name, (unsigned long long)l->line, (unsigned long long)p,
                          (*k ? *k : (unsigned long long)GNN_PARTS_MAX) - 1);
        }
        if (rc)
            break;
        top = p > top ? p : top;
        part[n++] = (uint32_t)p;
    }
    if (rc == GNN_END)
        rc = n == v->nvertices
                 ? GNN_OK
                 : gnn_fail(e, GNN_E_INPUT, "%s: ends after line %llu; the graph has %llu nodes", name,
                            (unsigned long long)n, (unsigned long long)v->nvertices);
    if (!rc && !*k)
        *k = (uint32_t)top + 1;
    gnn_free(l);
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
        return gnn_fail(e, GNN_E_INPUT, "METIS's 32-bit weights cannot hold the sum of %s (over %d)", what,
                        INT32_MAX);
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
    uint64_t want = (balance & GNN_BALANCE_NODES ? 1u : 0u) + (balance & GNN_BALANCE_EDGES ? 1u : 0u) +
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
