/* SPDX-License-Identifier: Apache-2.0 */
/* Small random stores for unit tests: every kind of tensor a store can have. */
#ifndef GNN_TESTS_STORE_MAKER_H
#define GNN_TESTS_STORE_MAKER_H

#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/store/store.h"
#include "lib/store/write.h"

static uint64_t maker_state;
static uint32_t maker_rand(uint32_t n)
{
    uint64_t z = maker_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) % n);
}

struct maker {
    struct gnn_store_writer w;
    struct gnn_err *e;
    int rc;
    struct {
        void *data;
        uint64_t bytes;
        uint32_t id;
    } t[64];
    uint32_t n;
};

/* Declares a tensor and returns zeroed memory for its contents. */
static void *maker_tensor(struct maker *m, const char *name, enum gnn_dtype d, uint64_t rows,
                          uint64_t width)
{
    uint64_t bytes = rows * (width ? width : 1) * gnn_dtype_bytes(d);
    void *data = calloc(bytes + 8, 1);
    if (!m->rc)
        m->rc = gnn_part_declare(&m->w, name, d, width ? 2 : 1, (uint64_t[]){rows, width},
                                 &m->t[m->n].id, m->e);
    m->t[m->n].data = data;
    m->t[m->n++].bytes = bytes;
    return data;
}

/* Writes what was declared, if nothing has failed, and releases both. Returns 0 or the status. */
static int maker_finish(struct maker *m, struct gnn_meta *meta)
{
    if (!m->rc)
        m->rc = gnn_part_layout(&m->w, m->e);
    for (uint32_t i = 0; i < m->n; i++) {
        if (!m->rc)
            m->rc = gnn_part_write(&m->w, m->t[i].id, m->t[i].data, m->t[i].bytes, m->e);
        free(m->t[i].data);
    }
    if (!m->rc)
        m->rc = gnn_part_finish(&m->w, m->e);
    if (!m->rc)
        m->rc = gnn_store_commit(&m->w, m->e);
    gnn_store_abandon(&m->w);
    gnn_meta_release(meta);
    return m->rc;
}

/* Set before store_make: nodes of type "a" and edges have times, too, by which the latter are in
 * order. */
static bool maker_timed;

static void maker_times(struct maker *m, const char *key, const uint64_t *ptr, uint32_t nd,
                        uint64_t ne)
{
    char name[128];
    snprintf(name, sizeof name, "edge/%s/time", key);
    int64_t *time = maker_tensor(m, name, GNN_I64, ne, 0);
    for (uint32_t i = 0; i < nd; i++)
        for (uint64_t j = ptr[i]; j < ptr[i + 1]; j++)
            time[j] = (j > ptr[i] ? time[j - 1] : 0) + maker_rand(nd);
}

static void maker_edges(struct maker *m, const char *key, uint32_t ns, uint32_t nd, uint64_t ne)
{
    char name[128];
    snprintf(name, sizeof name, "edge/%s/indptr", key);
    uint64_t *ptr = maker_tensor(m, name, GNN_U64, (uint64_t)nd + 1, 0);
    snprintf(name, sizeof name, "edge/%s/indices", key);
    uint32_t *ind = maker_tensor(m, name, GNN_U32, ne, 0);
    snprintf(name, sizeof name, "edge/%s/weight", key);
    float *w = maker_tensor(m, name, GNN_F32, ne, 0);
    for (uint64_t i = 0; i < ne; i++)
        ptr[1 + maker_rand(maker_rand(2) ? nd : (nd + 3) / 4)]++;
    for (uint32_t i = 0; i < nd; i++)
        ptr[i + 1] += ptr[i];
    for (uint64_t i = 0; i < ne; i++) {
        ind[i] = maker_rand(ns);
        w[i] = (float)maker_rand(1000) / 8;
    }
    if (maker_timed)
        maker_times(m, key, ptr, nd, ne);
}

static void maker_nodes(struct maker *m, const char *type, uint32_t n)
{
    char name[128];
    snprintf(name, sizeof name, "node/%s/x", type);
    float *x = maker_tensor(m, name, GNN_F32, n, 3);
    snprintf(name, sizeof name, "node/%s/key", type);
    int64_t *key = maker_tensor(m, name, GNN_I64, n, 0);
    snprintf(name, sizeof name, "node/%s/name", type);
    char *text = maker_tensor(m, name, GNN_U8, 3 * (uint64_t)n / 2, 0);
    snprintf(name, sizeof name, "node/%s/name_offsets", type);
    uint64_t *off = maker_tensor(m, name, GNN_U64, (uint64_t)n + 1, 0);
    for (uint32_t i = 0; i < n; i++) {
        key[i] = 1000 + 3 * (int64_t)i;
        off[i + 1] = 3 * ((uint64_t)i + 1) / 2;
        for (int j = 0; j < 3; j++)
            x[3 * i + (uint32_t)j] = (float)i + 0.25f * (float)j;
    }
    for (uint64_t i = 0; i < 3 * (uint64_t)n / 2; i++)
        text[i] = (char)('a' + maker_rand(26));
}

/* n nodes of type "a" with ne edges a/to/a; with typed also n/2+1 nodes "b" and ne edges a/of/b and
 * b/rev/a. Fields x, y, key, names, weights, and times if maker_timed; sets random/train and
 * random/valid. Returns 0 or the status in e. */
__attribute__((unused)) static int store_make(const char *path, uint32_t n, uint64_t ne, bool typed,
                                              uint64_t seed, struct gnn_err *e)
{
    struct maker m = {.e = e};
    struct gnn_meta meta = {0};
    struct gnn_schema *s = &meta.schema;
    uint32_t nb = n / 2 + 1, nt = n / 2, nv = n / 4;

    maker_state = seed;
    bool bad = gnn_schema_add_ntype(s, "a", n, e) ||
               (typed && gnn_schema_add_ntype(s, "b", nb, e)) ||
               gnn_schema_add_nfield(s, 0, "x", GNN_F32, 3, e) ||
               gnn_schema_add_nfield(s, 0, "y", GNN_I64, 0, e) ||
               (typed && gnn_schema_add_nfield(s, 1, "x", GNN_F32, 3, e)) ||
               gnn_schema_add_etype(s, 0, "to", 0, ne, e) ||
               gnn_schema_add_efield(s, 0, "weight", GNN_F32, 0, e) ||
               (typed && (gnn_schema_add_etype(s, 0, "of", 1, ne, e) ||
                          gnn_schema_add_etype(s, 1, "rev", 0, ne, e) ||
                          gnn_schema_add_efield(s, 1, "weight", GNN_F32, 0, e) ||
                          gnn_schema_add_efield(s, 2, "weight", GNN_F32, 0, e))) ||
               gnn_schema_add_set(s, "random", "train", 0, nt, e) ||
               gnn_schema_add_set(s, "random", "valid", 0, nv, e);
    bad = bad || (maker_timed && gnn_schema_add_nfield(s, 0, "time", GNN_I64, 0, e));
    for (uint32_t t = 0; !bad && maker_timed && t < s->netypes; t++)
        bad = gnn_schema_add_efield(s, t, "time", GNN_I64, 0, e) ||
              gnn_schema_set_order(s, t, "time", e);
    s->nparts = 1;
    s->task = GNN_TASK_MULTICLASS;
    s->nclasses = 4;
    m.rc = bad ? e->code : gnn_store_create(&m.w, path, &meta, true, e);
    if (!m.rc)
        m.rc = gnn_part_begin(&m.w, 0, e);
    if (!m.rc) {
        maker_nodes(&m, "a", n);
        int64_t *y = maker_tensor(&m, "node/a/y", GNN_I64, n, 0);
        int64_t *time = maker_timed ? maker_tensor(&m, "node/a/time", GNN_I64, n, 0) : NULL;
        for (uint32_t i = 0; i < n; i++)
            y[i] = maker_rand(4);
        for (uint32_t i = 0; time && i < n; i++)
            time[i] = 3 * (int64_t)i;
        if (typed)
            maker_nodes(&m, "b", nb);
        maker_edges(&m, "a/to/a", n, n, ne);
        if (typed) {
            maker_edges(&m, "a/of/b", n, nb, ne);
            maker_edges(&m, "b/rev/a", nb, n, ne);
        }
        uint32_t *train = maker_tensor(&m, "split/random/train", GNN_U32, nt, 0);
        uint32_t *valid = maker_tensor(&m, "split/random/valid", GNN_U32, nv, 0);
        for (uint32_t i = 0; i < nt; i++)
            train[i] = nt - 1 - i; /* not ascending: the order has to survive */
        for (uint32_t i = 0; i < nv; i++)
            valid[i] = nt + i;
    }
    return maker_finish(&m, &meta);
}

#endif
