/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/temp_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/path.h"
#include "lib/base/temp.h"

/* ---- names ---- */

bool gnn_temp_in_store(const char *name)
{
    if (!strcmp(name, "store.json"))
        return true;
    const size_t digits = strncmp(name, "part-", 5) ? 0 : strspn(name + 5, "0123456789");
    return digits && !strcmp(name + 5 + digits, ".gnb");
}

bool gnn_temp_is_dgl_part(const char *name)
{
    return !strncmp(name, "part", 4) && name[4] && !name[4 + strspn(name + 4, "0123456789")];
}

bool gnn_temp_in_dgl(const char *name, const char *graph, size_t n)
{
    return !strcmp(name, "orig_nids.dgl") || !strcmp(name, "orig_eids.dgl") ||
           gnn_temp_is_dgl_part(name) || (!strncmp(name, graph, n) && gnn_ends_with(name, ".json"));
}

bool gnn_temp_in_dgl_part(const char *name)
{
    return !strcmp(name, "graph.dgl") || !strcmp(name, "node_feat.dgl") ||
           !strcmp(name, "edge_feat.dgl");
}

/* ---- directories ---- */

void gnn_temp_each(int fd, bool (*fn)(int fd, const char *name, void *arg), void *arg)
{
    _Alignas(struct dirent64) char buf[4096];
    (void)lseek(fd, 0, SEEK_SET);
    for (ssize_t n; (n = getdents64(fd, buf, sizeof buf)) > 0;)
        for (const char *p = buf; p < buf + n;
             p += ((const struct dirent64 *)(const void *)p)->d_reclen)
            if (!fn(fd, ((const struct dirent64 *)(const void *)p)->d_name, arg))
                return;
}

static int open_dir(int parent, const char *name)
{
    return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* What is removed. */
struct removal {
    const char *graph; /* n bytes of it */
    size_t n;
    bool more; /* something was removed */
};

static bool remove_of_part(int fd, const char *name, void *arg)
{
    if (gnn_temp_in_dgl_part(name) && !unlinkat(fd, name, 0))
        ((struct removal *)arg)->more = true;
    return true;
}

/* Calls fn until it removes nothing: what is removed meanwhile may hide what follows. */
static void remove_each(int fd, bool (*fn)(int fd, const char *name, void *arg), struct removal *r)
{
    for (r->more = fd >= 0; r->more;) {
        r->more = false;
        gnn_temp_each(fd, fn, r);
    }
}

static bool remove_entry(int fd, const char *name, void *arg)
{
    struct removal *r = arg, part = {0};
    const bool ours = gnn_temp_in_store(name) || gnn_temp_in_dgl(name, r->graph, r->n);
    const bool is_part = gnn_temp_is_dgl_part(name);
    const int folder = is_part ? open_dir(fd, name) : -1;
    if (folder >= 0)
        (void)!fchmod(folder, 0700); /* it may have had the mode of one that was read-only */
    remove_each(folder, remove_of_part, &part);
    if (folder >= 0)
        close(folder);
    if (ours && !unlinkat(fd, name, is_part ? AT_REMOVEDIR : 0))
        r->more = true;
    return true;
}

void gnn_temp_remove_dir(int parent, const char *name)
{
    const char *base = gnn_base_name(name), *suffix = strstr(base, ".tmp.");
    struct removal r = {.graph = base, .n = suffix ? (size_t)(suffix - base) : strlen(base)};
    const int fd = open_dir(parent, name);
    remove_each(fd, remove_entry, &r);
    if (fd >= 0)
        close(fd);
    unlinkat(parent, name, AT_REMOVEDIR);
}

/* ---- modes ---- */

static bool set_of_part(int fd, const char *name, void *mode)
{
    if (gnn_temp_in_dgl_part(name))
        (void)!fchmodat(fd, name, *(const mode_t *)mode, 0);
    return true;
}

static bool set_entry(int fd, const char *name, void *arg)
{
    mode_t mode = *(const mode_t *)arg;
    const int folder = gnn_temp_is_dgl_part(name) ? open_dir(fd, name) : -1;
    if (folder >= 0) {
        gnn_temp_each(folder, set_of_part, &mode);
        (void)!fchmod(folder, mode | (mode & 0444) >> 2);
        close(folder);
    } else if (gnn_temp_in_store(name) || gnn_temp_in_dgl(name, "", 0)) {
        (void)!fchmodat(fd, name, mode, 0);
    }
    return true;
}

void gnn_temp_set_modes(int fd, mode_t mode)
{
    gnn_temp_each(fd, set_entry, &mode);
}
