/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON of a partition of DGL (lib/import/read/dgl_book.h). */
#include "lib/import/read/dgl_book.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/io.h"
#include "lib/base/json.h"
#include "lib/base/mem.h"
#include "lib/base/path.h"
#include "lib/base/plural.h"

enum { JSON_MAX = 64 << 20, TYPES_MAX = 65535 };

/* ---- finding it ---- */

/* The whole text, with a NUL behind it; NULL and no error if it is too long to be one. */
static char *load_text(const char *path, size_t *n, struct gnn_err *e)
{
    struct stat st;
    struct gnn_io io;
    uint64_t got = 0;
    const int fd = gnn_io_open(path, &st, e);
    if (fd < 0)
        return NULL;
    const uint64_t size = (uint64_t)st.st_size;
    char *text = size <= JSON_MAX ? gnn_alloc(size + 1, 1, "JSON", e) : NULL;
    gnn_io_init(&io, fd, path);
    if (text && gnn_io_read(&io, text, size, &got, e)) {
        gnn_free(text);
        text = NULL;
    }
    if (text)
        text[got] = 0;
    *n = (size_t)got;
    close(fd);
    return text;
}

static bool is_book(const char *path)
{
    struct gnn_err ignored = {0};
    struct stat st;
    size_t n;
    if (!gnn_ends_with(path, ".json") || stat(path, &st) || !S_ISREG(st.st_mode))
        return false;
    char *text = load_text(path, &n, &ignored);
    const bool is = text && strstr(text, "\"part-0\"") && strstr(text, "\"node_map\"") &&
                    strstr(text, "\"num_parts\"");
    gnn_free(text);
    return is;
}

static int search_folder(char **json, const char *path, DIR *d, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (struct dirent *de; !rc && (de = readdir(d));) {
        char *file = gnn_strf(e, "%s/%s", path, de->d_name);
        if (!file)
            return GNN_E_NOMEM;
        const bool is = is_book(file);
        if (is && *json)
            rc = gnn_fail(e, GNN_E_INPUT, "%s: the JSON of two partitions, %s and %s; name one",
                          path, gnn_base_name(strcmp(*json, file) < 0 ? *json : file),
                          gnn_base_name(strcmp(*json, file) < 0 ? file : *json));
        if (is && !*json)
            *json = file;
        else
            gnn_free(file);
    }
    return rc;
}

int gnn_dgl_book_find(char **json, const char *path, struct gnn_err *e)
{
    *json = NULL;
    if (is_book(path)) {
        *json = gnn_strdup(path, e);
        return *json ? GNN_OK : GNN_E_NOMEM;
    }
    DIR *d = opendir(path);
    if (!d) /* a file, or nothing, of which others say more */
        return GNN_OK;
    int rc = search_folder(json, path, d, e);
    closedir(d);
    if (rc) {
        gnn_free(*json);
        *json = NULL;
    }
    return rc;
}

/* ---- numbers and names ---- */

static int get_count(const struct gnn_dgl_book *b, json_t *j, const char *key, uint64_t *n,
                     struct gnn_err *e)
{
    json_t *v = json_object_get(j, key);
    if (!json_is_integer(v) || json_integer_value(v) < 0)
        return gnn_fail(e, GNN_E_INPUT, "%s: %s: expected a count", b->path, key);
    *n = (uint64_t)json_integer_value(v);
    return GNN_OK;
}

/* The last two words of a path, "part0/graph.dgl". */
static const char *last_two(const char *path)
{
    const char *p = gnn_base_name(path);
    for (p -= p > path; p > path && p[-1] != '/';)
        p--;
    return p;
}

/* The path of a file that the JSON names: seen from its folder; but some versions write the path
 * that they had. */
static int get_file(const struct gnn_dgl_book *b, json_t *j, const char *key, char **path,
                    struct gnn_err *e)
{
    const char *name = json_string_value(json_object_get(j, key));
    if (!name)
        return gnn_fail(e, GNN_E_INPUT, "%s: a part without '%s', the path of a file", b->path,
                        key);
    *path = *name == '/' ? gnn_strdup(name, e) : gnn_strf(e, "%s/%s", b->folder, name);
    if (!*path)
        return GNN_E_NOMEM;
    char *other = access(*path, F_OK) ? gnn_strf(e, "%s/%s", b->folder, last_two(name)) : NULL;
    if (other && !access(other, F_OK)) {
        gnn_free(*path);
        *path = other;
    } else {
        gnn_free(other);
    }
    return e->code ? e->code : GNN_OK;
}

static int add_part(struct gnn_dgl_book *b, json_t *j, uint32_t i, struct gnn_err *e)
{
    char key[32];
    struct gnn_dgl_part *p = &b->part[i];
    snprintf(key, sizeof key, "part-%u", i);
    json_t *v = json_object_get(j, key);
    if (!json_is_object(v))
        return gnn_fail(e, GNN_E_INPUT, "%s: no '%s', of %u parts", b->path, key, b->parts);
    if (!json_object_get(v, "part_graph") && json_object_get(v, "part_graph_graphbolt"))
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: %s has its graph as a %s only, which is not read: it holds "
                        "TorchScript; partition with use_graphbolt=False",
                        b->path, key, "fused_csc_sampling_graph.pt");
    int rc = get_file(b, v, "part_graph", &p->graph, e);
    if (!rc)
        rc = get_file(b, v, "node_feats", &p->node_feats, e);
    return rc ? rc : get_file(b, v, "edge_feats", &p->edge_feats, e);
}

static int read_parts(struct gnn_dgl_book *b, json_t *j, struct gnn_err *e)
{
    uint64_t n = 0;
    int rc = get_count(b, j, "num_parts", &n, e);
    if (!rc && (!n || n > GNN_DGL_PARTS_MAX))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: num_parts is %llu; 1 to %d are read", b->path,
                      (unsigned long long)n, GNN_DGL_PARTS_MAX);
    if (rc)
        return rc;
    b->part = gnn_alloc_zero(n, sizeof *b->part, "parts", e);
    b->parts = b->part ? (uint32_t)n : 0;
    rc = b->part ? GNN_OK : GNN_E_NOMEM;
    for (uint32_t i = 0; !rc && i < b->parts; i++)
        rc = add_part(b, j, i, e);
    return rc;
}

/* ---- types ---- */

static int find_type(const struct gnn_dgl_ids *ids, const char *name, size_t n)
{
    for (uint32_t i = 0; i < ids->n; i++)
        if (ids->type[i].name && strlen(ids->type[i].name) == n &&
            !memcmp(ids->type[i].name, name, n))
            return (int)i;
    return -1;
}

/* Types with their numbers, each of which is there once. Without them, there is one. */
static int name_types(struct gnn_dgl_book *b, struct gnn_dgl_ids *ids, json_t *j, const char *key,
                      const char *only, struct gnn_err *e)
{
    json_t *types = json_object_get(j, key), *v;
    const char *name;
    const size_t n = types ? json_object_size(types) : 1;
    if ((types && !json_is_object(types)) || !n || n > TYPES_MAX)
        return gnn_fail(e, GNN_E_INPUT, "%s: %s: expected names of types with their numbers",
                        b->path, key);
    ids->type = gnn_alloc_zero(n, sizeof *ids->type, "types", e);
    ids->n = ids->type ? (uint32_t)n : 0;
    if (!ids->type)
        return GNN_E_NOMEM;
    if (!types) {
        ids->type[0].name = gnn_strdup(only, e);
        return ids->type[0].name ? GNN_OK : GNN_E_NOMEM;
    }
    json_object_foreach(types, name, v)
    {
        const json_int_t i = json_is_integer(v) ? json_integer_value(v) : -1;
        if (i < 0 || (size_t)i >= n || ids->type[i].name)
            return gnn_fail(e, GNN_E_INPUT, "%s: %s: '%.100s' has no number of its own below %zu",
                            b->path, key, name, n);
        ids->type[i].name = gnn_strdup(name, e);
        if (!ids->type[i].name)
            return GNN_E_NOMEM;
    }
    return GNN_OK;
}

/* The relation, and its ends if the name tells them. A graph that has one type of nodes has no
 * other ends. */
static int read_relation(struct gnn_dgl_book *b, struct gnn_dgl_type *t, struct gnn_err *e)
{
    const char *first = strchr(t->name, ':'), *last = strrchr(t->name, ':');
    const bool three =
        first && last != first && !memchr(first + 1, ':', (size_t)(last - first - 1));
    t->src = t->dst = b->nodes.n == 1 ? 0 : -1;
    t->rel =
        three ? gnn_strf(e, "%.*s", (int)(last - first - 1), first + 1) : gnn_strdup(t->name, e);
    if (!t->rel || !three)
        return t->rel ? GNN_OK : GNN_E_NOMEM;
    t->src = find_type(&b->nodes, t->name, (size_t)(first - t->name));
    t->dst = find_type(&b->nodes, last + 1, strlen(last + 1));
    return t->src >= 0 && t->dst >= 0
               ? GNN_OK
               : gnn_fail(e, GNN_E_INPUT,
                          "%s: etypes: '%.100s' is between types that are not in "
                          "ntypes",
                          b->path, t->name);
}

/* ---- ranges ---- */

/* Space for the ranges of a type in all parts. */
static int make_ranges(struct gnn_dgl_type *t, uint32_t parts, struct gnn_err *e)
{
    t->from = gnn_alloc_zero(parts, sizeof *t->from, "ranges", e);
    t->before = gnn_alloc_zero(parts + 1u, sizeof *t->before, "ranges", e);
    return t->from && t->before ? GNN_OK : GNN_E_NOMEM;
}

static int set_range(const struct gnn_dgl_book *b, struct gnn_dgl_type *t, uint32_t part,
                     json_t *from, json_t *to, const char *key, struct gnn_err *e)
{
    const json_int_t lo = json_integer_value(from), hi = json_integer_value(to);
    if (!json_is_integer(from) || !json_is_integer(to) || lo < 0 || hi < lo ||
        (uint64_t)hi > INT64_MAX / 2)
        return gnn_fail(e, GNN_E_INPUT, "%s: %s: '%.100s' has no range of ids in part %u", b->path,
                        key, t->name, part);
    t->from[part] = (uint64_t)lo;
    t->before[part + 1] = t->before[part] + (uint64_t)(hi - lo);
    t->count = t->before[part + 1];
    return GNN_OK;
}

/* [[from, to], ...] for each part. */
static int read_ranges(const struct gnn_dgl_book *b, struct gnn_dgl_type *t, json_t *list,
                       const char *key, struct gnn_err *e)
{
    int rc = make_ranges(t, b->parts, e);
    if (!rc && (!json_is_array(list) || json_array_size(list) != b->parts))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %s: '%.100s' has %zu range%s of ids, for %u part%s",
                      b->path, key, t->name, json_array_size(list),
                      gnn_plural(json_array_size(list)), b->parts, gnn_plural(b->parts));
    for (uint32_t p = 0; !rc && p < b->parts; p++) {
        json_t *r = json_array_get(list, p);
        rc = set_range(b, t, p, json_array_get(r, 0), json_array_get(r, 1), key, e);
    }
    return rc;
}

/* Of DGL 0.5, the ends of the parts. */
static int read_ends(const struct gnn_dgl_book *b, struct gnn_dgl_type *t, json_t *list,
                     const char *key, struct gnn_err *e)
{
    json_t *zero = json_integer(0);
    int rc = zero ? make_ranges(t, b->parts, e) : gnn_fail_nomem(e, 1, "JSON");
    if (!rc && json_array_size(list) != b->parts)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %s: %zu ends, for %u part%s", b->path, key,
                      json_array_size(list), b->parts, gnn_plural(b->parts));
    for (uint32_t p = 0; !rc && p < b->parts; p++)
        rc = set_range(b, t, p, p ? json_array_get(list, p - 1u) : zero, json_array_get(list, p),
                       key, e);
    json_decref(zero);
    return rc;
}

static int cmp_span(const void *a, const void *b)
{
    const struct gnn_dgl_span *x = a, *y = b;
    return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
                              : (x->to > y->to) - (x->to < y->to);
}

/* The ranges of all types and parts, in the order of ids: they follow one another. */
static int make_spans(const struct gnn_dgl_book *b, struct gnn_dgl_ids *ids, const char *key,
                      struct gnn_err *e)
{
    uint64_t at = 0;
    ids->span = gnn_alloc((uint64_t)ids->n * b->parts, sizeof *ids->span, "ranges", e);
    if (!ids->span)
        return GNN_E_NOMEM;
    for (uint32_t t = 0; t < ids->n; t++)
        for (uint32_t p = 0; p < b->parts; p++) {
            const uint64_t from = ids->type[t].from[p], n = gnn_dgl_book_count(&ids->type[t], p);
            if (n)
                ids->span[ids->nspans++] = (struct gnn_dgl_span){from, from + n, t, p};
        }
    qsort(ids->span, ids->nspans, sizeof *ids->span, cmp_span);
    for (uint32_t i = 0; i < ids->nspans; i++) {
        const struct gnn_dgl_span *s = &ids->span[i];
        if (s->from != at)
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: %s: the ids of '%.100s' in part %u begin with %llu, where %llu "
                            "comes next: ranges %s",
                            b->path, key, ids->type[s->type].name, s->part,
                            (unsigned long long)s->from, (unsigned long long)at,
                            s->from < at ? "overlap" : "leave a gap");
        at = s->to;
    }
    if (at != ids->count)
        return gnn_fail(e, GNN_E_INPUT, "%s: %s: ranges end with %llu; the graph has %llu %s",
                        b->path, key, (unsigned long long)at, (unsigned long long)ids->count,
                        *key == 'n' ? "nodes" : "edges");
    return GNN_OK;
}

static int read_map(struct gnn_dgl_book *b, struct gnn_dgl_ids *ids, json_t *j, const char *key,
                    struct gnn_err *e)
{
    json_t *map = json_object_get(j, key);
    int rc = GNN_OK;
    if (json_is_array(map) && ids->n == 1)
        rc = read_ends(b, &ids->type[0], map, key, e);
    else if (!json_is_object(map))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %s: expected ranges of ids for each type", b->path, key);
    for (uint32_t t = 0; !rc && json_is_object(map) && t < ids->n; t++)
        rc = read_ranges(b, &ids->type[t], json_object_get(map, ids->type[t].name), key, e);
    return rc ? rc : make_spans(b, ids, key, e);
}

/* Ids that are not changed: nobody knows yet which part has which. */
static int read_dense(struct gnn_dgl_book *b, json_t *j, struct gnn_err *e)
{
    const char *name = json_string_value(json_object_get(j, "node_map"));
    if (b->nodes.n != 1 || b->edges.n != 1)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: a partition of several types with reshuffle=False, which is not read",
                        b->path);
    b->nodes.type[0].count = b->nodes.count;
    b->edges.type[0].count = b->edges.count;
    b->node_map = gnn_strf(e, "%s/%s", b->folder, gnn_base_name(name));
    int rc = b->node_map ? make_ranges(&b->nodes.type[0], b->parts, e) : GNN_E_NOMEM;
    return rc ? rc : make_ranges(&b->edges.type[0], b->parts, e);
}

/* ---- all of it ---- */

static int read_object(struct gnn_dgl_book *b, json_t *j, struct gnn_err *e)
{
    int rc = read_parts(b, j, e);
    if (!rc)
        rc = get_count(b, j, "num_nodes", &b->nodes.count, e);
    if (!rc)
        rc = get_count(b, j, "num_edges", &b->edges.count, e);
    if (!rc)
        rc = name_types(b, &b->nodes, j, "ntypes", "_N", e);
    if (!rc)
        rc = name_types(b, &b->edges, j, "etypes", "_E", e);
    for (uint32_t t = 0; !rc && t < b->edges.n; t++)
        rc = read_relation(b, &b->edges.type[t], e);
    if (!rc && json_is_string(json_object_get(j, "node_map")))
        return read_dense(b, j, e);
    if (!rc)
        rc = read_map(b, &b->nodes, j, "node_map", e);
    return rc ? rc : read_map(b, &b->edges, j, "edge_map", e);
}

int gnn_dgl_book_read(struct gnn_dgl_book *b, const char *json, struct gnn_err *e)
{
    const size_t folder = (size_t)(gnn_base_name(json) - json);
    size_t n = 0;
    b->path = gnn_strdup(json, e);
    b->folder =
        folder > 1 ? gnn_strf(e, "%.*s", (int)folder - 1, json) : gnn_strdup(folder ? "/" : ".", e);
    char *text = b->path && b->folder ? load_text(json, &n, e) : NULL;
    if (!text)
        return e->code ? e->code : GNN_E_INPUT;
    json_t *j = gnn_json_parse(text, n, b->path, e);
    int rc = j ? read_object(b, j, e) : e->code;
    json_decref(j);
    gnn_free(text);
    return rc;
}

static void free_ids(struct gnn_dgl_ids *ids)
{
    for (uint32_t t = 0; t < ids->n; t++) {
        gnn_free(ids->type[t].name);
        gnn_free(ids->type[t].rel);
        gnn_free(ids->type[t].from);
        gnn_free(ids->type[t].before);
    }
    gnn_free(ids->type);
    gnn_free(ids->span);
}

void gnn_dgl_book_release(struct gnn_dgl_book *b)
{
    for (uint32_t i = 0; i < b->parts; i++) {
        gnn_free(b->part[i].graph);
        gnn_free(b->part[i].node_feats);
        gnn_free(b->part[i].edge_feats);
    }
    gnn_free(b->part);
    free_ids(&b->nodes);
    free_ids(&b->edges);
    gnn_free(b->path);
    gnn_free(b->folder);
    gnn_free(b->node_map);
    *b = (struct gnn_dgl_book){0};
}

const struct gnn_dgl_span *gnn_dgl_book_span(const struct gnn_dgl_ids *ids, uint64_t id)
{
    uint32_t lo = 0, hi = ids->nspans;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (ids->span[mid].to <= id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < ids->nspans ? &ids->span[lo] : NULL;
}
