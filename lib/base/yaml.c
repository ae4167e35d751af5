/* SPDX-License-Identifier: Apache-2.0 */
/* YAML (lib/base/yaml.h), by the events of libyaml's parser, so that nothing is built of more than
 * the limits allow. */
#include "lib/base/yaml.h"

#include <string.h>
#include <unistd.h>
#include <yaml.h>

#include "formats/text.h"
#include "lib/base/io.h"
#include "lib/base/json.h"
#include "lib/base/mem.h"

enum { DEPTH_MAX = 16, VALUES_MAX = 100000 };

struct loading {
    const char *path;
    struct gnn_err *e;
    json_t *root;
    /* (depth) the lists and mappings that are open; the values belong to the root */
    json_t *open[DEPTH_MAX];
    char *key[DEPTH_MAX]; /* of a mapping, whose value comes next; or NULL */
    uint32_t depth, values;
    uint64_t bytes;
    bool more; /* the end of the text has not been met */
};

static int fail_at(const struct loading *l, size_t line, const char *what, const char *text)
{
    char shown[128];
    return gnn_fail(l->e, GNN_E_INPUT, "%s: line %zu: YAML: %s%s%s%s", l->path, line + 1, what,
                    text ? " '" : "",
                    text ? gnn_text_shown(shown, sizeof shown, text, strlen(text)) : "",
                    text ? "'" : "");
}

static int fail_json(const struct loading *l)
{
    return gnn_fail_nomem(l->e, l->bytes, l->path);
}

/* Puts a value, which it takes over, into what is open. */
static int add_value(struct loading *l, json_t *v, size_t line)
{
    int rc = v ? GNN_OK : fail_json(l);
    if (!rc && ++l->values > VALUES_MAX)
        rc = fail_at(l, line, "too many values", NULL);
    json_t *in = l->depth ? l->open[l->depth - 1] : NULL;
    char **key = l->depth ? &l->key[l->depth - 1] : NULL;
    if (rc) {
        json_decref(v);
        return rc;
    }
    if (!in)
        l->root = v;
    else if (json_is_array(in) ? json_array_append_new(in, v) : json_object_set_new(in, *key, v))
        rc = fail_json(l);
    if (key) {
        gnn_free(*key);
        *key = NULL;
    }
    return rc;
}

/* Whether the next value would be the key of a mapping. */
static bool wants_key(const struct loading *l)
{
    return l->depth && json_is_object(l->open[l->depth - 1]) && !l->key[l->depth - 1];
}

static int take_key(struct loading *l, const char *text, size_t line)
{
    if (json_object_get(l->open[l->depth - 1], text))
        return fail_at(l, line, "a second key", text);
    char *key = l->key[l->depth - 1] = gnn_strdup(text, l->e);
    return key ? GNN_OK : GNN_E_NOMEM;
}

static bool is_null(const char *text)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};
    bool is = false;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        is = is || !strcmp(text, words[i]);
    return is;
}

static int take_scalar(struct loading *l, const yaml_event_t *v)
{
    const char *text = (const char *)v->data.scalar.value;
    const size_t line = v->start_mark.line;
    if (v->data.scalar.tag)
        return fail_at(l, line, "a tag, which is not read:", (const char *)v->data.scalar.tag);
    if (strlen(text) != v->data.scalar.length)
        return fail_at(l, line, "a character of code 0 behind", text);
    if (wants_key(l))
        return take_key(l, text, line);
    const bool plain = v->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    return add_value(l, plain && is_null(text) ? json_null() : json_string(text), line);
}

static int open_value(struct loading *l, json_t *v, const yaml_char_t *tag, size_t line)
{
    int rc = GNN_OK;
    if (tag)
        rc = fail_at(l, line, "a tag, which is not read:", (const char *)tag);
    else if (wants_key(l))
        rc = fail_at(l, line, "a key that is a list or a mapping", NULL);
    else if (l->depth == DEPTH_MAX)
        rc = fail_at(l, line, "lists and mappings that are too deep", NULL);
    if (rc) {
        json_decref(v);
        return rc;
    }
    rc = add_value(l, v, line);
    if (!rc)
        l->open[l->depth++] = v;
    return rc;
}

static int take_event(struct loading *l, const yaml_event_t *v)
{
    const size_t line = v->start_mark.line;
    switch (v->type) {
    case YAML_DOCUMENT_START_EVENT:
        return l->root ? fail_at(l, line, "a second document", NULL) : GNN_OK;
    case YAML_ALIAS_EVENT:
        return fail_at(l, line, "an alias, in whose place must stand what it means:",
                       (const char *)v->data.alias.anchor);
    case YAML_SCALAR_EVENT:
        return take_scalar(l, v);
    case YAML_SEQUENCE_START_EVENT:
        return open_value(l, json_array(), v->data.sequence_start.tag, line);
    case YAML_MAPPING_START_EVENT:
        return open_value(l, json_object(), v->data.mapping_start.tag, line);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        l->depth--;
        return GNN_OK;
    case YAML_STREAM_END_EVENT:
        l->more = false;
        return GNN_OK;
    default:
        return GNN_OK;
    }
}

static int fail_parser(const struct loading *l, const yaml_parser_t *p)
{
    const char *problem = p->problem ? p->problem : "not well-formed";
    if (p->error == YAML_MEMORY_ERROR)
        return fail_json(l);
    if (p->error == YAML_READER_ERROR)
        return gnn_fail(l->e, GNN_E_INPUT, "%s: byte %zu: YAML: %s", l->path, p->problem_offset,
                        problem);
    return fail_at(l, p->problem_mark.line, problem, NULL);
}

static int take_text(struct loading *l, const char *text, size_t n)
{
    yaml_parser_t p = {.error = YAML_NO_ERROR};
    int rc = GNN_OK;
    if (!yaml_parser_initialize(&p))
        return p.error == YAML_MEMORY_ERROR
                   ? fail_json(l)
                   : gnn_fail(l->e, GNN_E_RUN, "%s: libyaml cannot be loaded", l->path);
    yaml_parser_set_input_string(&p, (const unsigned char *)text, n);
    for (l->more = true; !rc && l->more;) {
        yaml_event_t v;
        if (!yaml_parser_parse(&p, &v)) {
            rc = fail_parser(l, &p);
            break;
        }
        rc = take_event(l, &v);
        yaml_event_delete(&v);
    }
    yaml_parser_delete(&p);
    for (uint32_t i = 0; i < DEPTH_MAX; i++)
        gnn_free(l->key[i]);
    l->root = l->root ? l->root : json_null();
    return rc;
}

json_t *gnn_yaml_parse(const char *text, uint64_t n, const char *path, struct gnn_err *e)
{
    struct loading l = {.path = path, .e = e, .bytes = n};
    gnn_json_watch();
    int rc = n > GNN_YAML_BYTES_MAX ? gnn_fail(e, GNN_E_INPUT, "%s: more than %d bytes of YAML",
                                               path, GNN_YAML_BYTES_MAX)
                                    : take_text(&l, text, n);
    if (!rc && gnn_json_starved())
        rc = fail_json(&l);
    if (!rc)
        return l.root;
    json_decref(l.root);
    return NULL;
}

static int read_text(const char *path, char *text, uint64_t *n, struct gnn_err *e)
{
    struct stat st;
    struct gnn_io io;
    const int fd = gnn_io_open(path, &st, e);
    if (fd < 0)
        return e->code;
    gnn_io_init(&io, fd, path);
    int rc = gnn_io_read(&io, text, GNN_YAML_BYTES_MAX + 1, n, e);
    close(fd);
    return rc;
}

json_t *gnn_yaml_load(const char *path, struct gnn_err *e)
{
    uint64_t n = 0;
    char *text = gnn_alloc(GNN_YAML_BYTES_MAX + 1, 1, path, e);
    int rc = text ? read_text(path, text, &n, e) : GNN_E_NOMEM;
    json_t *v = rc ? NULL : gnn_yaml_parse(text, n, path, e);
    gnn_free(text);
    if (!json_is_null(v))
        return v;
    (void)gnn_fail(e, GNN_E_INPUT, "%s: empty", path);
    return NULL;
}
