/* SPDX-License-Identifier: Apache-2.0 */
/* Where a folder of DGL may be written (lib/partition/dgl_layout.h). */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/mem.h"
#include "lib/base/path.h"
#include "lib/base/temp_files.h"
#include "lib/data/text_check.h"
#include "lib/partition/dgl_layout.h"

/* What a directory holds that may be replaced. */
struct look {
    const char *name, *graph;     /* as the user calls it; its last component */
    const char *part;             /* the folder in it that is looked into */
    bool json, data;              /* it has the JSON of that graph; it has one of its other files */
    char other[2 * NAME_MAX + 2]; /* the first entry that no folder of DGL has, or "" */
    struct gnn_err *e;
};

/* Whether an entry of a directory is of that type; links are not followed. */
static bool is_type(int fd, const char *name, mode_t type)
{
    struct stat st;
    return !fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) && (st.st_mode & S_IFMT) == type;
}

static bool is_dots(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Whether a JSON has the number of parts, as that of each partition of DGL, in whatever order. */
static bool has_parts(int fd, const char *name)
{
    static const char key[] = "\"num_parts\"";
    const int json = openat(fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    FILE *f = json < 0 ? NULL : fdopen(json, "r");
    size_t k = 0;
    for (int c; f && key[k] && (c = getc(f)) != EOF;)
        k = c == key[k] ? k + 1 : c == *key;
    if (f)
        fclose(f);
    else if (json >= 0)
        close(json);
    return !key[k];
}

static bool look_in_part(int fd, const char *name, void *arg)
{
    struct look *l = arg;
    if (is_dots(name))
        return true;
    if (gnn_temp_in_dgl_part(name) && is_type(fd, name, S_IFREG))
        l->data = l->data || !strcmp(name, "graph.dgl");
    else if (!*l->other)
        snprintf(l->other, sizeof l->other, "%s/%s", l->part, name);
    return true;
}

static bool look_at_part(int fd, const char *name, struct look *l)
{
    const int part = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (part < 0)
        return !gnn_fail_errno(l->e, "%s/%s: cannot replace", l->name, name);
    l->part = name;
    gnn_temp_each(part, look_in_part, l);
    close(part);
    return true;
}

static bool look_at(int fd, const char *name, void *arg)
{
    struct look *l = arg;
    const size_t n = strlen(l->graph);
    if (is_dots(name))
        return true;
    if (gnn_temp_is_dgl_part(name) && is_type(fd, name, S_IFDIR))
        return look_at_part(fd, name, l);
    const bool file = !gnn_temp_is_dgl_part(name) && is_type(fd, name, S_IFREG);
    if (file && !strncmp(name, l->graph, n) && !strcmp(name + n, ".json"))
        l->json = has_parts(fd, name);
    else if (file && gnn_temp_in_dgl(name, "", 0) && !gnn_ends_with(name, ".json"))
        l->data = true;
    else if (!*l->other)
        snprintf(l->other, sizeof l->other, "%s", name);
    return true;
}

/* Only a directory that is such a folder, and holds nothing else, may be replaced. */
static int check_folder(const char *path, const char *name, struct gnn_err *e)
{
    struct look l = {.name = name, .graph = gnn_base_name(path), .e = e};
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno != ENOTDIR)
        return gnn_fail_errno(e, "%s: cannot replace", name);
    if (fd >= 0) {
        gnn_temp_each(fd, look_at, &l);
        close(fd);
    }
    if (e->code)
        return e->code;
    if (!l.json || !l.data)
        return gnn_fail(e, GNN_E_USAGE,
                        "%s: exists and is not a partition of DGL of that name; not replaced",
                        name);
    return *l.other
               ? gnn_fail(e, GNN_E_USAGE, "%s: holds '%s' besides a partition of DGL; not replaced",
                          name, l.other)
               : GNN_OK;
}

/* The name of the folder is that of the graph, which stands in a JSON and names it. */
static int check_graph(const char *graph, const char *out, struct gnn_err *e)
{
    struct gnn_err why = {0};
    if (gnn_text_check(graph, "graph", NAME_MAX - 5, &why))
        return gnn_fail(e, GNN_E_USAGE, "%s: the graph has the name of the folder: %s", out,
                        why.msg);
    return strcmp(graph, "store") != 0
               ? GNN_OK
               : gnn_fail(e, GNN_E_USAGE,
                          "%s: the graph has the name of the folder, and store.json is the file of "
                          "a store: another name",
                          out);
}

char *gnn_dgl_target(const char *out, bool force, struct gnn_err *e)
{
    struct stat st;
    char *path = gnn_temp_target(out, true, e);
    int rc = path ? check_graph(gnn_base_name(path), out, e) : e->code;
    if (!rc && !lstat(path, &st))
        rc = force
                 ? check_folder(path, out, e)
                 : gnn_fail(e, GNN_E_USAGE,
                            "%s: already exists (use --force to replace a partition of DGL)", out);
    if (!rc)
        return path;
    gnn_free(path);
    return NULL;
}
