/* SPDX-License-Identifier: Apache-2.0 */
/* What a stream or a store says of itself (lib/data/meta.h), as JSON and back; how batches are
 * drawn: lib/data/sampling_json.c. */
#include "lib/data/meta.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/json.h"
#include "lib/base/mem.h"
#include "lib/data/sampling_list.h"

void gnn_meta_release(struct gnn_meta *m)
{
    gnn_schema_release(&m->schema);
    gnn_sampling_release(&m->sampling);
    gnn_free(m->base.path);
    json_decref(m->provenance);
    *m = (struct gnn_meta){0};
}

int gnn_meta_copy(struct gnn_meta *dst, const struct gnn_meta *src, struct gnn_err *e)
{
    struct gnn_meta m = {.is_stream = src->is_stream};
    memcpy(m.identity, src->identity, sizeof m.identity);
    memcpy(m.graph, src->graph, sizeof m.graph);
    memcpy(m.base.identity, src->base.identity, sizeof m.base.identity);
    int rc = gnn_schema_copy(&m.schema, &src->schema, e);
    if (!rc && src->base.path && !(m.base.path = gnn_strdup(src->base.path, e)))
        rc = e->code;
    if (!rc && src->is_stream)
        rc = gnn_sampling_copy(&m.sampling, &src->sampling, src->schema.netypes, e);
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
static const char *in_parts(const struct gnn_meta *m, char *text, size_t capacity)
{
    snprintf(text, capacity, m->schema.nparts > 1 ? "in %u partitions" : "in one partition",
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
    if (!bad && m->base.path && !m->is_stream)
        bad |= json_object_set_new(
            j, "base", json_pack("{s:s,s:s}", "path", m->base.path, "identity", m->base.identity));
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

static bool is_identity(const char *s)
{
    return s && strlen(s) == 16 && strspn(s, "0123456789abcdef") == 16;
}

/* Absent in a store that has all of its tensors. */
static int get_base(struct gnn_meta *m, const json_t *base, struct gnn_err *e)
{
    const char *path = json_string_value(json_object_get(base, "path")),
               *identity = json_string_value(json_object_get(base, "identity"));
    if (!base)
        return 0;
    if (m->is_stream || !path || !*path || !is_identity(identity))
        return gnn_fail(e, GNN_E_INPUT,
                        "header: a base store without a path or an identity, or of batches");
    memcpy(m->base.identity, identity, 17);
    return (m->base.path = gnn_strdup(path, e)) ? 0 : e->code;
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
    int rc = get_base(m, json_object_get(j, "base"), e);
    if (!rc)
        rc = gnn_schema_from_json(&m->schema, json_object_get(j, "schema"), e);
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
