/* SPDX-License-Identifier: Apache-2.0 */
/* What a stream or a store says of itself (lib/data/meta.h), as JSON and back. Sampling's JSON is
 * canonical text: two streams are of one kind if it is equal, so whatever changes a batch must be
 * in it, under the same name for good. */
#include "lib/data/meta.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/json.h"
#include "lib/base/mem.h"
#include "lib/data/rule.h"

static void sampling_release(struct gnn_sampling *s)
{
    for (uint32_t i = 0; s->split && i < s->nsplits; i++)
        gnn_free(s->split[i]);
    gnn_free(s->split);
    gnn_free(s->fanout);
    gnn_free(s->weight);
    gnn_free(s->weighted);
    gnn_free(s->seed_time);
    gnn_free(s->seed_weight);
    gnn_free(s->steps);
    gnn_free(s->split_seeds);
    *s = (struct gnn_sampling){0};
}

void gnn_meta_release(struct gnn_meta *m)
{
    gnn_schema_release(&m->schema);
    sampling_release(&m->sampling);
    json_decref(m->provenance);
    *m = (struct gnn_meta){0};
}

static int sampling_alloc(struct gnn_sampling *s, uint32_t netypes, struct gnn_err *e)
{
    s->fanout = gnn_alloc_zero((uint64_t)s->nhops * netypes, sizeof *s->fanout, "fan-outs", e);
    s->split = gnn_alloc_zero(s->nsplits, sizeof *s->split, "splits", e);
    s->steps = gnn_alloc_zero(s->nsplits, sizeof *s->steps, "splits", e);
    s->split_seeds = gnn_alloc_zero(s->nsplits, sizeof *s->split_seeds, "splits", e);
    return s->fanout && s->split && s->steps && s->split_seeds ? 0 : e->code;
}

static int sampling_copy(struct gnn_sampling *d, const struct gnn_sampling *s, uint32_t netypes,
                         struct gnn_err *e)
{
    *d = *s;
    d->fanout = NULL;
    d->weight = d->seed_time = d->seed_weight = NULL;
    d->weighted = NULL;
    d->split = NULL;
    d->steps = d->split_seeds = NULL;
    int rc = sampling_alloc(d, netypes, e);
    if (rc)
        return rc;
    if (s->fanout)
        memcpy(d->fanout, s->fanout, (size_t)s->nhops * netypes * sizeof *d->fanout);
    if (s->weight) {
        d->weight = gnn_strdup(s->weight, e);
        d->weighted = gnn_alloc((uint64_t)s->nhops * netypes, sizeof *d->weighted, "fan-outs", e);
        if (!d->weight || !d->weighted)
            return e->code;
        memcpy(d->weighted, s->weighted, (size_t)s->nhops * netypes * sizeof *d->weighted);
    }
    if (s->seed_time && !(d->seed_time = gnn_strdup(s->seed_time, e)))
        return e->code;
    if (s->seed_weight && !(d->seed_weight = gnn_strdup(s->seed_weight, e)))
        return e->code;
    for (uint32_t i = 0; i < s->nsplits; i++) {
        d->steps[i] = s->steps[i];
        d->split_seeds[i] = s->split_seeds[i];
        if (!(d->split[i] = gnn_strdup(s->split[i], e)))
            return e->code;
    }
    return 0;
}

int gnn_sampling_copy_rule(struct gnn_sampling *d, const struct gnn_sampling *s, uint32_t netypes,
                           struct gnn_err *e)
{
    struct gnn_sampling rule = *s;
    rule.nsplits = 0;
    const int rc = sampling_copy(d, &rule, netypes, e);
    gnn_free(d->split);
    gnn_free(d->steps);
    gnn_free(d->split_seeds);
    d->split = NULL;
    d->steps = d->split_seeds = NULL;
    return rc;
}

int gnn_meta_copy(struct gnn_meta *dst, const struct gnn_meta *src, struct gnn_err *e)
{
    struct gnn_meta m = {.is_stream = src->is_stream};
    memcpy(m.identity, src->identity, sizeof m.identity);
    memcpy(m.graph, src->graph, sizeof m.graph);
    int rc = gnn_schema_copy(&m.schema, &src->schema, e);
    if (!rc && src->is_stream)
        rc = sampling_copy(&m.sampling, &src->sampling, src->schema.netypes, e);
    if (!rc && src->provenance && !(m.provenance = json_deep_copy(src->provenance)))
        rc = gnn_fail_nomem(e, 0, "provenance");
    if (rc)
        gnn_meta_release(&m);
    *dst = m;
    return rc;
}

int gnn_meta_add_provenance(struct gnn_meta *m, const char *line, struct gnn_err *e)
{
    if (!line)
        return 0;
    if (!m->provenance)
        m->provenance = json_array();
    bool ascii = true;
    for (const char *c = line; *c; c++)
        ascii &= (unsigned char)*c < 0x80;
    json_t *s = json_string(line);
    if (!s && !ascii) /* not UTF-8: keep what can be kept rather than refuse to run */
        s = json_string("(command line is not UTF-8)");
    return json_array_append_new(m->provenance, s) ? gnn_fail_nomem(e, strlen(line), "provenance")
                                                   : 0;
}

/* "in one partition", "in 4 partitions" */
static const char *in_parts(const struct gnn_meta *m, char *text, size_t room)
{
    snprintf(text, room, m->schema.nparts > 1 ? "in %u partitions" : "in one partition",
             m->schema.nparts);
    return text;
}

int gnn_meta_other_store(const struct gnn_meta *b, const struct gnn_meta *s, const char *path,
                         struct gnn_err *e)
{
    char theirs[32], ours[32];
    if (strcmp(gnn_meta_graph(b), gnn_meta_graph(s)) != 0 || !strcmp(b->identity, s->identity))
        return gnn_fail(
            e, GNN_E_INPUT,
            "%s: the batches were sampled from another store (identity %s, this one is %s)", path,
            b->identity, s->identity);
    return gnn_fail(
        e, GNN_E_INPUT,
        "%s: this is the same graph, but %s (identity %s), and the batches were sampled from it %s (identity %s), where nodes "
        "have different ids: give that store instead, or sample from this one",
        path, in_parts(s, ours, sizeof ours), s->identity, in_parts(b, theirs, sizeof theirs),
        b->identity);
}

/* ---- JSON ---- */

json_t *gnn_meta_sampling_json(const struct gnn_meta *m, struct gnn_err *e)
{
    const struct gnn_sampling *s = &m->sampling;
    uint32_t ne = m->schema.netypes;
    json_t *fan = json_array(), *splits = json_array();
    int bad = !fan || !splits;
    for (uint32_t h = 0; !bad && h < s->nhops; h++) {
        json_t *row = json_array();
        for (uint32_t t = 0; !bad && t < ne; t++)
            bad |= json_array_append_new(row, json_integer(s->fanout[h * ne + t]));
        bad |= json_array_append_new(fan, row);
    }
    for (uint32_t i = 0; !bad && i < s->nsplits; i++)
        bad |= json_array_append_new(splits, json_pack("{s:s,s:I,s:I}", "name", s->split[i],
                                                       "steps", (json_int_t)s->steps[i], "seeds",
                                                       (json_int_t)s->split_seeds[i]));
    char seed[17];
    snprintf(seed, sizeof seed, "%016llx", (unsigned long long)s->seed);
    json_t *j =
        bad ? NULL
            : json_pack("{s:s,s:O,s:I,s:s,s:b,s:b,s:b,s:b,s:b,s:s,s:O}", "seed", seed, "fanout",
                        fan, "batch_size", (json_int_t)s->batch_size, "frontier",
                        s->frontier == GNN_FRONTIER_NEW ? "new" : "all", "replace",
                        s->rule.kind == GNN_PICK_REPLACE, "shuffle", s->shuffle, "drop_last",
                        s->drop_last, "edge_ids", s->edge_ids, "original_ids", s->original_ids,
                        "seed_type", m->schema.ntype[s->seed_ntype].name, "splits", splits);
    json_decref(fan);
    json_decref(splits);
    if (j && gnn_rule_to_json(s, j)) {
        json_decref(j);
        j = NULL;
    }
    if (j && s->ranks &&
        (json_object_set_new(j, "rank", json_integer(s->rank)) ||
         json_object_set_new(j, "ranks", json_integer(s->ranks)))) {
        json_decref(j);
        j = NULL;
    }
    if (!j)
        gnn_fail_nomem(e, 0, "a JSON header");
    return j;
}

static json_t *meta_to_json(const struct gnn_meta *m, struct gnn_err *e)
{
    json_t *schema = gnn_schema_to_json(&m->schema, e);
    if (!schema)
        return NULL;
    json_t *j = json_pack("{s:s,s:s,s:o}", "content", m->is_stream ? "batches" : "store",
                          "identity", m->identity, "schema", schema);
    int bad = !j;
    if (!bad && *m->graph)
        bad |= json_object_set_new(j, "graph", json_string(m->graph));
    if (!bad && m->is_stream)
        bad |= json_object_set_new(j, "sampling", gnn_meta_sampling_json(m, e));
    if (!bad && m->provenance)
        bad |= json_object_set(j, "provenance", m->provenance);
    if (!bad)
        return j;
    json_decref(j);
    gnn_fail_nomem(e, 0, "a JSON header");
    return NULL;
}

char *gnn_meta_difference(const struct gnn_meta *a, const struct gnn_meta *b, struct gnn_err *e)
{
    json_t *x = meta_to_json(a, e), *y = x ? meta_to_json(b, e) : NULL;
    char *text = y ? gnn_json_difference(x, y, e) : NULL;
    json_decref(x);
    json_decref(y);
    return text;
}

char *gnn_meta_to_text(const struct gnn_meta *m, struct gnn_err *e)
{
    json_t *j = meta_to_json(m, e);
    char *text = j ? gnn_json_text(j, JSON_COMPACT, e) : NULL;
    json_decref(j);
    if (text && strlen(text) > GNN_META_MAX) {
        gnn_fail(e, GNN_E_RUN,
                 "the header would be larger than %d bytes (is the provenance too long?)",
                 GNN_META_MAX);
        gnn_free(text);
        text = NULL;
    }
    return text;
}

static int sampling_numbers(struct gnn_sampling *s, const json_t *j, struct gnn_err *e)
{
    const char *seed = json_string_value(json_object_get(j, "seed"));
    const char *frontier = json_string_value(json_object_get(j, "frontier"));
    json_int_t batch = json_integer_value(json_object_get(j, "batch_size"));
    if (!seed || strlen(seed) != 16 || strspn(seed, "0123456789abcdef") != 16)
        return gnn_fail(e, GNN_E_INPUT, "header: bad sampling seed");
    s->seed = strtoull(seed, NULL, 16);
    if (batch < 1 || batch > UINT32_MAX)
        return gnn_fail(e, GNN_E_INPUT, "header: bad batch size");
    s->batch_size = (uint32_t)batch;
    if (!frontier || (strcmp(frontier, "all") && strcmp(frontier, "new")))
        return gnn_fail(e, GNN_E_INPUT, "header: bad frontier policy");
    s->frontier = frontier[0] == 'n' ? GNN_FRONTIER_NEW : GNN_FRONTIER_ALL;
    bool replace;
    const struct {
        const char *key;
        bool *v;
    } flags[] = {{"replace", &replace},
                 {"shuffle", &s->shuffle},
                 {"drop_last", &s->drop_last},
                 {"edge_ids", &s->edge_ids},
                 {"original_ids", &s->original_ids}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        const json_t *b = json_object_get(j, flags[i].key);
        if (!json_is_boolean(b))
            return gnn_fail(e, GNN_E_INPUT, "header: '%s' is missing", flags[i].key);
        *flags[i].v = json_is_true(b);
    }
    s->rule.kind = replace ? GNN_PICK_REPLACE : GNN_PICK_UNIFORM;
    const json_t *ranks = json_object_get(j, "ranks"), *rank = json_object_get(j, "rank");
    const json_int_t n = json_integer_value(ranks), r = json_integer_value(rank);
    if ((ranks || rank) && (!json_is_integer(ranks) || !json_is_integer(rank) || n < 2 ||
                            n > UINT32_MAX || r < 0 || r >= n))
        return gnn_fail(e, GNN_E_INPUT, "header: bad rank");
    s->rank = (uint32_t)r;
    s->ranks = (uint32_t)n;
    return 0;
}

int gnn_meta_sampling_parse(struct gnn_meta *m, const json_t *j, struct gnn_err *e)
{
    struct gnn_sampling *s = &m->sampling;
    const json_t *fan = json_object_get(j, "fanout"), *splits = json_object_get(j, "splits");
    const char *type = json_string_value(json_object_get(j, "seed_type"));
    int rc = sampling_numbers(s, j, e);
    if (rc)
        return rc;
    int t = type ? gnn_schema_find_ntype(&m->schema, type) : -1;
    if (t < 0 || !json_is_array(fan) || json_array_size(fan) > GNN_HOPS_MAX ||
        !json_is_array(splits) || !json_array_size(splits) ||
        json_array_size(splits) > GNN_SPLITS_MAX)
        return gnn_fail(e, GNN_E_INPUT, "header: bad seed type, fan-outs or splits");
    s->seed_ntype = (uint32_t)t;
    s->nhops = (uint32_t)json_array_size(fan);
    s->nsplits = (uint32_t)json_array_size(splits);
    if ((rc = sampling_alloc(s, m->schema.netypes, e)))
        return rc;
    for (uint32_t h = 0; h < s->nhops; h++)
        for (uint32_t i = 0; i < m->schema.netypes; i++) {
            const json_t *k = json_array_get(json_array_get(fan, h), i);
            if (!json_is_integer(k) || json_integer_value(k) < -1 ||
                json_integer_value(k) > INT32_MAX)
                return gnn_fail(e, GNN_E_INPUT, "header: bad fan-out in hop %u", h);
            s->fanout[h * m->schema.netypes + i] = (int32_t)json_integer_value(k);
        }
    if (gnn_rule_from_json(s, &m->schema, j, e))
        return e->code;
    for (uint32_t i = 0; i < s->nsplits; i++) {
        const json_t *o = json_array_get(splits, i), *steps = json_object_get(o, "steps"),
                     *seeds = json_object_get(o, "seeds");
        const char *name = json_string_value(json_object_get(o, "name"));
        if (!name || !json_is_integer(steps) || json_integer_value(steps) < 0 ||
            !json_is_integer(seeds) || json_integer_value(seeds) < 0)
            return gnn_fail(e, GNN_E_INPUT, "header: bad split %u", i);
        s->steps[i] = (uint64_t)json_integer_value(steps);
        s->split_seeds[i] = (uint64_t)json_integer_value(seeds);
        /* On failure the caller releases what has been filled in. */
        if (!(s->split[i] = gnn_strdup(name, e)))
            return e->code;
    }
    return 0;
}

static bool is_identity(const char *s)
{
    return s && strlen(s) == 16 && strspn(s, "0123456789abcdef") == 16;
}

static int from_json(struct gnn_meta *m, const json_t *j, struct gnn_err *e)
{
    const char *content = json_string_value(json_object_get(j, "content"));
    const char *identity = json_string_value(json_object_get(j, "identity"));
    const json_t *graph = json_object_get(j, "graph");
    const json_t *prov = json_object_get(j, "provenance");
    if (!content || (strcmp(content, "store") && strcmp(content, "batches")))
        return gnn_fail(e, GNN_E_INPUT, "header: unknown content");
    if (!is_identity(identity))
        return gnn_fail(e, GNN_E_INPUT, "header: bad store identity");
    memcpy(m->identity, identity, 17);
    if (graph && !is_identity(json_string_value(graph)))
        return gnn_fail(e, GNN_E_INPUT, "header: bad identity of the graph");
    if (graph)
        memcpy(m->graph, json_string_value(graph), 17);
    m->is_stream = content[0] == 'b';
    bool strings = !prov || json_is_array(prov);
    for (size_t i = 0; i < json_array_size(prov); i++)
        strings = strings && json_is_string(json_array_get(prov, i));
    if (!strings)
        return gnn_fail(e, GNN_E_INPUT, "header: provenance is not an array of strings");
    if (prov && !(m->provenance = json_deep_copy(prov)))
        return gnn_fail_nomem(e, 0, "provenance");
    int rc = gnn_schema_from_json(&m->schema, json_object_get(j, "schema"), e);
    if (!rc && m->is_stream)
        rc = gnn_meta_sampling_parse(m, json_object_get(j, "sampling"), e);
    return rc;
}

int gnn_meta_from_text(struct gnn_meta *m, const char *text, size_t n, struct gnn_err *e)
{
    struct gnn_meta c = {0};
    *m = c;
    if (n > GNN_META_MAX)
        return gnn_fail(e, GNN_E_INPUT, "header: larger than %d bytes", GNN_META_MAX);
    json_t *j = gnn_json_parse(text, n, "header", e);
    int rc = j ? from_json(&c, j, e) : e->code;
    json_decref(j);
    if (rc)
        gnn_meta_release(&c);
    *m = c;
    return rc;
}
