/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of a store and of a stream: header, schema, tensors and totals. */
#include "lib/inspect/inspect.h"

#include "lib/base/mem.h"
#include "lib/data/class_names.h"
#include "lib/data/source.h"
#include "lib/inspect/report.h"

static json_t *report_fields(const struct gnn_field *f, uint32_t n, bool *bad)
{
    json_t *a = json_array();
    for (uint32_t i = 0; a && i < n; i++) {
        json_t *o = json_object();
        report_put(o, "name", json_string(f[i].name), bad);
        report_put(o, "dtype", json_string(gnn_dtype_name(f[i].dtype)), bad);
        report_put(o, "width", report_num(f[i].width), bad);
        if (f[i].standard)
            report_put(o, "standardized", json_true(), bad);
        report_push(a, o, bad);
    }
    return a;
}

static void report_schema(json_t *o, const struct gnn_schema *s, bool *bad)
{
    json_t *nt = json_array(), *et = json_array(), *sets = json_array();
    char key[GNN_ETYPE_KEY_ROOM];

    for (uint32_t t = 0; t < s->nntypes; t++) {
        json_t *x = json_object();
        report_put(x, "name", json_string(s->ntype[t].name), bad);
        report_put(x, "count", report_num(s->ntype[t].count), bad);
        report_put(x, "fields", report_fields(s->ntype[t].field, s->ntype[t].nfields, bad), bad);
        report_push(nt, x, bad);
    }
    for (uint32_t t = 0; t < s->netypes; t++) {
        json_t *x = json_object();
        report_put(x, "name", json_string(gnn_etype_key(s, t, key, sizeof key)), bad);
        report_put(x, "count", report_num(s->etype[t].count), bad);
        report_put(x, "fields", report_fields(s->etype[t].field, s->etype[t].nfields, bad), bad);
        if (s->etype[t].order)
            report_put(x, "order", json_string(s->etype[t].order), bad);
        report_push(et, x, bad);
    }
    for (uint32_t i = 0; i < s->nsets; i++) {
        json_t *x = json_object();
        report_put(x, "split", json_string(s->set[i].split), bad);
        report_put(x, "set", json_string(s->set[i].set), bad);
        report_put(x, "node_type", json_string(s->ntype[s->set[i].ntype].name), bad);
        report_put(x, "count", report_num(s->set[i].count), bad);
        report_push(sets, x, bad);
    }
    report_put(o, "parts", report_num(s->nparts), bad);
    report_put(o, "task", json_string(gnn_task_name(s->task)), bad);
    if (s->task) {
        report_put(o, "label_type", json_string(s->ntype[s->label_ntype].name), bad);
        report_put(o, "classes", report_num(s->nclasses), bad);
    }
    if (s->class_name)
        report_put(o, "class_names", gnn_class_names_to_json(s->class_name, s->nclasses), bad);
    report_put(o, "node_types", nt, bad);
    report_put(o, "edge_types", et, bad);
    report_put(o, "splits", sets, bad);
}

/* As in the header, but for numbers and names that are easier to read. */
static json_t *report_sampling(const struct gnn_meta *m, struct gnn_err *e)
{
    const struct gnn_sampling *s = &m->sampling;
    json_t *o = gnn_meta_sampling_json(m, e), *sets = json_array();
    bool bad = !o;
    for (uint32_t i = 0; i < s->nsplits; i++) {
        json_t *x = json_object();
        report_put(x, "set", json_string(s->split[i]), &bad);
        report_put(x, "seeds", report_num(s->split_seeds[i]), &bad);
        report_put(x, "steps", report_num(s->steps[i]), &bad);
        report_push(sets, x, &bad);
    }
    report_put(o, "seed", report_num(s->seed), &bad);
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
    json_t *o = *out = json_object();
    if (!o)
        return no_json(e);
    report_put(o, "kind", json_string(m->is_stream ? "stream" : "store"), &bad);
    report_put(o, "identity", json_string(m->identity), &bad);
    report_schema(o, &m->schema, &bad);
    if (m->is_stream)
        report_put(o, "sampling", report_sampling(m, e), &bad);
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

static void put_totals(json_t *o, const struct totals *t, uint32_t nhops, unsigned what, bool *bad)
{
    report_put(o, "batches", report_num(t->batches), bad);
    report_put(o, "bytes", report_num(t->bytes), bad);
    if (t->batches) {
        report_put(o, "first",
                   json_pack("{s:I,s:I}", "epoch", (json_int_t)t->first[0], "step",
                             (json_int_t)t->first[1]),
                   bad);
        report_put(
            o, "last",
            json_pack("{s:I,s:I}", "epoch", (json_int_t)t->last[0], "step", (json_int_t)t->last[1]),
            bad);
    }
    report_put(o, "seeds", report_num(t->seeds), bad);
    report_put(o, "mean_nodes", report_means(t->nodes, nhops + 1, t->batches, bad), bad);
    report_put(o, "mean_edges", report_means(t->edges, nhops, t->batches, bad), bad);
    if (what & GNN_REPORT_TENSORS)
        report_put(o, "tensors", json_incref(t->tensors), bad);
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
        if (src->meta->sampling.ranks > 1)
            report_put(*out, "share_of",
                       json_pack("{s:I,s:I}", "rank", (json_int_t)src->meta->sampling.rank, "ranks",
                                 (json_int_t)src->meta->sampling.ranks),
                       &bad);
        put_totals(*out, &t, nhops, what, &bad);
        rc = bad ? no_json(e) : GNN_OK;
    }
    gnn_free(t.nodes);
    gnn_free(t.edges);
    json_decref(t.tensors);
    gnn_source_free(src);
    return rc;
}
