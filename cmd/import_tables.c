/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/import_tables.h"

#include <string.h>
#include <unistd.h>

#include "cmd/cli.h"
#include "lib/base/io.h"
#include "lib/base/json.h"
#include "lib/base/mem.h"
#include "lib/base/path.h"

enum { BYTES_MAX = 1 << 24 };

static json_t *read_json(const char *path)
{
    struct gnn_err e = {0};
    struct stat st;
    struct gnn_io io;
    const int fd = gnn_io_open(path, &st, &e);
    if (fd < 0)
        cli_fail(&e);
    const uint64_t n = (uint64_t)st.st_size;
    if (n > BYTES_MAX)
        cli_die(3, "%s: %llu bytes, more than a list of tables has", path, (unsigned long long)n);
    char *text = gnn_alloc(n, 1, "a list of tables", &e);
    gnn_io_init(&io, fd, path);
    if (!text || gnn_io_read_exact(&io, text, n, "a list of tables", &e))
        cli_fail(&e);
    json_t *j = gnn_json_parse(text, n, path, &e);
    if (!j)
        cli_fail(&e);
    gnn_free(text);
    close(fd);
    return j;
}

/* KEY=VALUE, where a file is seen from the directory of the list. It lives as long as the program.
 */
static const char *make_value(const char *path, const char *key, const char *value, bool file)
{
    struct gnn_err e = {0};
    const int dir = file && *value != '/' ? (int)(gnn_base_name(path) - path) : 0;
    const char *text = gnn_strf(&e, "%s=%.*s%s", key, dir, path, value);
    if (!text)
        cli_fail(&e);
    return text;
}

static void add_member(const char *path, const struct import_member *m, json_t *values)
{
    struct gnn_err e = {0};
    const char *key;
    json_t *v;
    if (!json_is_object(values))
        cli_die(3, "%s: '%s' is no object, {\"NAME\": \"VALUE\", ...}", path, m->name);
    const uint32_t n = (uint32_t)json_object_size(values);
    const char **list = gnn_alloc(m->list->n + n, sizeof *list, "options", &e);
    if (!list)
        cli_fail(&e);
    for (uint32_t i = 0; i < m->list->n; i++)
        list[i] = m->list->v[i];
    m->list->v = list;
    json_object_foreach(values, key, v)
    {
        if (!json_is_string(v) || !*key || !*json_string_value(v))
            cli_die(3, "%s: '%s' of '%s' is no text", path, key, m->name);
        list[m->list->n++] = make_value(path, key, json_string_value(v), m->files);
    }
}

void import_tables(const char *path, const struct import_member *member, unsigned n)
{
    json_t *all = read_json(path), *values;
    const char *key;
    if (!json_is_object(all))
        cli_die(3, "%s: no object, {\"nodes\": {\"TYPE\": \"FILE\"}, \"edges\": ...}", path);
    json_object_foreach(all, key, values)
    {
        unsigned i = 0;
        while (i < n && strcmp(key, member[i].name) != 0)
            i++;
        if (i == n)
            cli_die(3, "%s: '%s' is none of nodes, edges, encode, features, labels, map", path,
                    key);
        add_member(path, &member[i], values);
    }
    json_decref(all);
}
