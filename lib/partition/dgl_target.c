/* SPDX-License-Identifier: Apache-2.0 */
/* Where a folder of DGL may be written (lib/partition/dgl_layout.h). */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/mem.h"
#include "lib/base/path.h"
#include "lib/base/temp_files.h"
#include "lib/data/text_check.h"
#include "lib/partition/dgl_layout.h"

/* The first entry of a directory that is not one of a folder of DGL whose graph has that name; or
 * of a part of it, if that is NULL. "": all are. False: it cannot be read. */
static bool find_other(const char *path, const char *graph, char other[NAME_MAX + 1], bool *json)
{
    DIR *d = opendir(path);
    *other = 0;
    for (struct dirent *f; d && (f = readdir(d));) {
        const char *n = f->d_name;
        const size_t length = graph ? strlen(graph) : 0;
        const bool is_json = graph && !strncmp(n, graph, length) && !strcmp(n + length, ".json");
        *json = *json || is_json;
        if (!is_json && strcmp(n, ".") != 0 && strcmp(n, "..") != 0 &&
            !(graph ? gnn_temp_in_dgl(n, "", 0) && !gnn_ends_with(n, ".json")
                    : gnn_temp_in_dgl_part(n)))
            snprintf(other, NAME_MAX + 1, "%s", n);
    }
    if (d)
        closedir(d);
    return d != NULL;
}

/* Looks into the folders of the parts, which follow one another. */
static int find_in_parts(const char *path, char other[NAME_MAX + 1], struct gnn_err *e)
{
    bool there = true, json = false;
    for (uint32_t p = 0; there && !*other && !e->code; p++) {
        char *part = gnn_strf(e, "%s/part%u", path, p);
        there = part && find_other(part, NULL, other, &json);
        gnn_free(part);
    }
    return e->code;
}

/* Only a directory that looks like such a folder, and holds nothing else, may be replaced. */
static int check_folder(const char *path, const char *name, struct gnn_err *e)
{
    char other[NAME_MAX + 1];
    bool json = false;
    if (!find_other(path, gnn_base_name(path), other, &json) && errno != ENOTDIR)
        return gnn_fail_errno(e, "%s: cannot replace", name);
    if (!json)
        return gnn_fail(e, GNN_E_USAGE,
                        "%s: exists and is not a partition of DGL of that name; not replaced",
                        name);
    if (!*other && find_in_parts(path, other, e))
        return e->code;
    return *other ? gnn_fail(e, GNN_E_USAGE,
                             "%s: holds '%s' besides a partition of DGL; not replaced", name, other)
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
