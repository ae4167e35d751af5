/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of a store and of a stream: header, schema, tensors and totals. */
#include "lib/inspect/inspect.h"

#include "lib/base/mem.h"
#include "lib/data/class_names.h"
#include "lib/data/sampling_list.h"
#include "lib/data/source.h"
#include "lib/inspect/report.h"

static json_t *report_fields(const struct gnn_field *f, uint32_t n, bool *bad)
{
    json_t *a = json_array();
    for (uint32_t i = 0; a && i < n; i++) {
        json_t *o = json_pack("{s:s, s:s, s:o, s:o*}", "name", f[i].name, "dtype",
                              gnn_field_type(&f[i]), "width", report_num(f[i].width),
                              "standardized", f[i].standard ? json_true() : NULL);
        report_push(a, o, bad);
    }
    return a;
}

static json_t *report_schema(const struct gnn_schema *s, bool *bad)
{
    json_t *nt = json_array(), *et = json_array(), *sets = json_array();
    char key[GNN_ETYPE_KEY_CAPACITY], rev[GNN_ETYPE_KEY_CAPACITY];

    for (uint32_t t = 0; t < s->nntypes; t++) {
        const struct gnn_ntype *x = &s->ntype[t];
        report_push(nt,
                    json_pack("{s:s, s:o, s:o}", "name", x->name, "count", report_num(x->count),
                              "fields", report_fields(x->field, x->nfields, bad)),
                    bad);
    }
    for (uint32_t t = 0; t < s->netypes; t++) {
        const struct gnn_etype *x = &s->etype[t];
        report_push(
            et,
            json_pack("{s:s, s:o, s:o, s:s*, s:s*}", "name", gnn_etype_key(s, t, key, sizeof key),
                      "count", report_num(x->count), "fields",
                      report_fields(x->field, x->nfields, bad), "order", x->order, "reverse_of",
                      x->reverse_of ? gnn_etype_key(s, x->reverse_of - 1, rev, sizeof rev) : NULL),
            bad);
    }
    for (uint32_t i = 0; i < s->nsets; i++) {
        const struct gnn_split_set *x = &s->set[i];
        const char *of =
            x->links ? gnn_etype_key(s, x->etype, key, sizeof key) : s->ntype[x->ntype].name;
        report_push(sets,
                    json_pack("{s:s, s:s, s:s, s:s*, s:o*, s:o}", "split", x->split, "set", x->set,
                              x->links ? "links" : "node_type", of, "time",
                              x->time ? gnn_dtype_name(x->time) : NULL, "messages",
                              x->messages ? json_true() : NULL, "count", report_num(x->count)),
                    bad);
    }
    const bool labels = s->task;
    return json_pack("{s:o, s:s, s:s*, s:o*, s:o*, s:o, s:o, s:o}", "parts", report_num(s->nparts),
                     "task", gnn_task_name(s->task), "label_type",
                     labels ? s->ntype[s->label_ntype].name : NULL, "classes",
                     labels ? report_num(s->nclasses) : NULL, "class_names",
                     s->class_name ? gnn_class_names_to_json(s->class_name, s->nclasses) : NULL,
                     "node_types", nt, "edge_types", et, "splits", sets);
}

/* As in the header, but for numbers and names that are easier to read. */
static json_t *report_sampling(const struct gnn_meta *m, struct gnn_err *e)
{
    const struct gnn_sampling *s = &m->sampling;
    json_t *o = gnn_meta_sampling_json(m, e), *sets = json_array();
    bool bad = !o;
    for (uint32_t i = 0; i < s->nsplits; i++)
        report_push(sets,
                    json_pack("{s:s, s:o, s:o}", "set", s->split[i], "seeds",
                              report_num(s->split_seeds[i]), "steps", report_num(s->steps[i])),
                    &bad);
    char *options = gnn_sampling_options(s, e);
    report_put(o, "seed", report_num(s->seed), &bad);
    report_put(o, "options", options ? json_string(options) : NULL, &bad);
    gnn_free(options);
    /* The rank is of the producer, and no part of how batches are sampled; splits are shown as
     * sets. */
    json_object_del(o, "splits");
    json_object_del(o, "rank");
    json_object_del(o, "ranks");
    report_put(o, "sets", sets, &bad);
    if (!bad)
        return o;
    json_decref(o);
    return NULL;
}

int gnn_report_meta(const struct gnn_meta *m, json_t **out, struct gnn_err *e)
{
    bool bad = false;
    json_t *o = *out = json_pack("{s:s, s:s}", "kind", m->is_stream ? "stream" : "store",
                                 "identity", m->identity),
           *schema = report_schema(&m->schema, &bad);
    bad = bad || json_object_update(o, schema);
    json_decref(schema);
    if (m->is_stream)
        report_put(o, "sampling", report_sampling(m, e), &bad);
    else if (m->base.path)
        report_put(o, "base",
                   json_pack("{s:s, s:s}", "path", m->base.path, "identity", m->base.identity),
                   &bad);
    report_put(o, "provenance", m->provenance ? json_deep_copy(m->provenance) : json_array(), &bad);
    return bad ? no_json(e) : GNN_OK;
}

int gnn_report_store(struct gnn_store *s, unsigned what, json_t **out, struct gnn_err *e)
{
    bool bad = false;
    uint64_t sum = 0;
    if (gnn_report_meta(&s->meta, out, e))
        return e->code;
    json_t *list = json_array();
    for (uint32_t p = 0; list && p < s->nparts; p++)
        for (uint32_t i = 0; i < gnn_store_ntensors(s, p); i++) {
            const struct gnn_tensor *t = gnn_store_peek(s, p, i);
            uint64_t bytes = 0;
            if (gnn_tensor_bytes(t, &bytes))
                sum += bytes;
            if (!(what & GNN_REPORT_TENSORS))
                continue;
            json_t *o = gnn_report_tensor(t, &bad);
            report_put(o, "part", report_num(p), &bad);
            report_push(list, o, &bad);
        }
    report_put(*out, "path", json_string(s->path), &bad);
    report_put(*out, "bytes", report_num(sum), &bad);
    if (what & GNN_REPORT_TENSORS)
        report_put(*out, "tensors", list, &bad);
    else
        json_decref(list);
    if (bad)
        return no_json(e);
    if (what & GNN_REPORT_STATS) {
        struct gnn_view v = {0};
        int rc = gnn_view_init(&v, s, e);
        if (!rc)
            rc = gnn_report_stats(&v, *out, e);
        gnn_view_release(&v);
        return rc;
    }
    return GNN_OK;
}

/* ---- streams ---- */

struct totals {
    uint64_t batches, seeds, bytes, first[2], last[2];
    uint64_t *nodes; /* [nhops+1] over all types, cumulated */
    uint64_t *edges; /* [nhops] */
    json_t *tensors; /* of the first batch, if wanted */
};

static void count_batch(struct totals *t, const struct gnn_batch *b, unsigned what, bool *bad)
{
    for (uint32_t n = 0; n < b->nntypes; n++) {
        if (!b->type[n].count)
            continue;
        for (uint32_t h = 0; h <= b->nhops; h++)
            t->nodes[h] += b->type[n].count[h];
        t->seeds += b->type[n].count[0];
    }
    for (uint32_t h = 0; h < b->nhops; h++)
        for (uint32_t et = 0; et < b->netypes; et++) {
            const struct gnn_block *k = gnn_batch_block(b, h, et);
            t->edges[h] += k->edges;
        }
    for (uint32_t i = 0; i < b->tensors.n; i++) {
        const struct gnn_tensor *x = gnn_tensors_at(&b->tensors, i);
        uint64_t bytes = 0;
        if (gnn_tensor_bytes(x, &bytes))
            t->bytes += bytes;
        if (t->batches == 0 && (what & GNN_REPORT_TENSORS))
            report_push(t->tensors, gnn_report_tensor(x, bad), bad);
    }
    if (t->batches++ == 0) {
        t->first[0] = b->epoch;
        t->first[1] = b->step;
    }
    t->last[0] = b->epoch;
    t->last[1] = b->step;
}

/* Over all batches, those for evaluation among them; null if there is none. */
static json_t *report_means(const uint64_t *sum, uint32_t n, uint64_t batches, bool *bad)
{
    json_t *a = json_array();
    for (uint32_t i = 0; i < n; i++)
        report_push(a, report_real(batches ? (double)sum[i] / (double)batches : NAN), bad);
    return a;
}

static json_t *key_json(const uint64_t key[2])
{
    return json_pack("{s:o, s:o}", "epoch", report_num(key[0]), "step", report_num(key[1]));
}

/* Adds them to a report. */
static void put_totals(json_t *o, const struct totals *t, const struct gnn_sampling *m,
                       unsigned what, bool *bad)
{
    json_t *x = json_pack("{s:o*, s:o, s:o, s:o*, s:o*, s:o, s:o, s:o, s:O*}", "share_of",
                          m->ranks > 1 ? json_pack("{s:o, s:o}", "rank", report_num(m->rank),
                                                   "ranks", report_num(m->ranks))
                                       : NULL,
                          "batches", report_num(t->batches), "bytes", report_num(t->bytes), "first",
                          t->batches ? key_json(t->first) : NULL, "last",
                          t->batches ? key_json(t->last) : NULL, "seeds", report_num(t->seeds),
                          "mean_nodes", report_means(t->nodes, m->nhops + 1, t->batches, bad),
                          "mean_edges", report_means(t->edges, m->nhops, t->batches, bad),
                          "tensors", what & GNN_REPORT_TENSORS ? t->tensors : NULL);
    *bad = *bad || json_object_update(o, x);
    json_decref(x);
}

int gnn_report_stream(int fd, const char *name, unsigned what, json_t **out, struct gnn_err *e)
{
    struct gnn_source *src = gnn_stream_source_new(fd, name, e);
    struct totals t = {.tensors = json_array()};
    struct gnn_batch *b = NULL;
    bool bad = !t.tensors;
    int rc = src ? gnn_report_meta(src->meta, out, e) : e->code;
    uint32_t nhops = src ? src->meta->sampling.nhops : 0;

    t.nodes = gnn_alloc_zero(nhops + 1, sizeof *t.nodes, "hops", e);
    t.edges = gnn_alloc_zero(nhops + 1, sizeof *t.edges, "hops", e);
    if (!rc && (!t.nodes || !t.edges))
        rc = e->code;
    while (!rc && !(rc = gnn_source_next(src, &b, e))) {
        count_batch(&t, b, what, &bad);
        gnn_batch_put(b);
    }
    if (rc == GNN_END) {
        put_totals(*out, &t, &src->meta->sampling, what, &bad);
        rc = bad ? no_json(e) : GNN_OK;
    }
    gnn_free(t.nodes);
    gnn_free(t.edges);
    json_decref(t.tensors);
    gnn_source_free(src);
    return rc;
}
