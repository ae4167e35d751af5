/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/limit.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 3 * PATH_MAX, V1 = 0, V2 = 1 };

static FILE *open_below(const char *root, const char *path)
{
    char name[3 * PATH_MAX];
    const int n = snprintf(name, sizeof name, "%s%s", root, path);
    return n < (int)sizeof name ? fopen(name, "re") : NULL;
}

/* The next line, without what is beyond `capacity`, as of mounts that have many options. */
static bool next_line(FILE *f, char *line, int capacity)
{
    if (!fgets(line, capacity, f))
        return false;
    const size_t n = strcspn(line, "\n");
    if (!line[n])
        for (int c = getc(f); c != '\n' && c != EOF;)
            c = getc(f);
    line[n] = 0;
    return true;
}

/* Is the word one of a list that commas separate? */
static bool has_word(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = list; *p; p += strspn(p, ",")) {
        const size_t k = strcspn(p, ",");
        if (k == n && !strncmp(p, word, n))
            return true;
        p += k;
    }
    return false;
}

/* The paths of this process's groups below the hierarchy's root: of version 1, that which limits
 * memory, and of version 2. "": it is in none. Lines are "NUMBER:CONTROLLERS:PATH". */
static void find_groups(const char *root, char path[2][PATH_MAX])
{
    char line[LINE];
    FILE *f = open_below(root, "/proc/self/cgroup");
    path[V1][0] = path[V2][0] = 0;
    while (f && next_line(f, line, sizeof line)) {
        char *words = strchr(line, ':'), *at = words ? strchr(words + 1, ':') : NULL;
        if (!at)
            continue;
        *at++ = 0;
        words++;
        if (!*words || has_word(words, "memory"))
            snprintf(path[*words ? V1 : V2], PATH_MAX, "%s", at);
    }
    if (f)
        (void)fclose(f);
}

/* mountinfo writes spaces and the like as three octal digits after a backslash. */
static void unescape_octal(char *s)
{
    char *to = s;
    for (; *s; to++) {
        unsigned c;
        if (*s == '\\' && sscanf(s + 1, "%3o", &c) == 1) {
            *to = (char)c;
            s += 4;
        } else {
            *to = *s++;
        }
    }
    *to = 0;
}

static uint64_t limit_in(const char *root, const char *dir, const char *name)
{
    char path[2 * PATH_MAX + 64];
    unsigned long long n = UINT64_MAX;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = open_below(root, path);
    if (f && fscanf(f, "%llu", &n) != 1) /* "max" */
        n = UINT64_MAX;
    if (f)
        (void)fclose(f);
    return n;
}

/* Of the group `path`, and of those above it, up to the mount's. */
static uint64_t least_limit(const char *root, const char *mount, const char *path, int version)
{
    char dir[2 * PATH_MAX];
    uint64_t least = UINT64_MAX;
    const size_t top = strlen(mount);
    snprintf(dir, sizeof dir, "%s%s", mount, path);
    for (;;) {
        /* Above the high one, the system lets processes wait until it has taken memory from them,
         * which it cannot take if it is pinned. */
        static const char *const names[2][2] = {{"memory.limit_in_bytes", NULL},
                                                {"memory.max", "memory.high"}};
        for (int i = 0; i < 2 && names[version][i]; i++) {
            const uint64_t n = limit_in(root, dir, names[version][i]);
            least = n < least ? n : least;
        }
        char *last = strrchr(dir, '/');
        if (!last || strlen(dir) <= top)
            return least;
        *last = 0;
    }
}

/* The group's path below a mount that shows the hierarchy from `from` on. A group that is not in
 * it, as in a container that has the path of the host's, is taken for the mount's own. */
static const char *path_below(const char *path, const char *from)
{
    const size_t n = strcmp(from, "/") ? strlen(from) : 0;
    const char *rest = path + n;
    if (strncmp(path, from, n) || (*rest && *rest != '/') || strstr(path, "/.."))
        return "";
    return strcmp(rest, "/") ? rest : "";
}

uint64_t gnn_limit_memory(const char *root)
{
    char group[2][PATH_MAX], line[LINE], from[PATH_MAX], mount[PATH_MAX], type[16];
    uint64_t least = UINT64_MAX;
    find_groups(root, group);
    FILE *f = open_below(root, "/proc/self/mountinfo");
    while (f && next_line(f, line, sizeof line)) {
        const char *rest = strstr(line, " - "); /* what is before it may have more words */
        int options = 0;
        if (!rest || sscanf(line, "%*s %*s %*s %4095s %4095s", from, mount) != 2 ||
            sscanf(rest, " - %15s %*s %n", type, &options) != 1)
            continue;
        const int version = strcmp(type, "cgroup2") ? V1 : V2;
        if (version == V1 && (strcmp(type, "cgroup") || !has_word(rest + options, "memory")))
            continue;
        if (!group[version][0])
            continue;
        unescape_octal(from);
        unescape_octal(mount);
        const uint64_t n = least_limit(root, mount, path_below(group[version], from), version);
        least = n < least ? n : least;
    }
    if (f)
        (void)fclose(f);
    return least;
}

uint64_t gnn_limit_all(void)
{
    const uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE),
                   most = gnn_limit_memory("");
    return most < all ? most : all;
}
