/* SPDX-License-Identifier: Apache-2.0 */
/* Names of files. */
#ifndef GNN_LIB_BASE_PATH_H
#define GNN_LIB_BASE_PATH_H

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "lib/base/err.h"

/* The part after the last slash. */
static inline const char *gnn_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static inline bool gnn_ends_with(const char *s, const char *end)
{
    const size_t n = strlen(s), k = strlen(end);
    return n >= k && !strcmp(s + n - k, end);
}

/* The length of a name without the end of what is packed, in any case: .gz, .zst or .xz. */
static inline size_t gnn_unpacked_length(const char *name)
{
    static const char *const packed[] = {".gz", ".zst", ".xz"};
    const size_t n = strlen(name);
    for (int i = 0; i < 3; i++)
        if (n > strlen(packed[i]) && !strcasecmp(name + n - strlen(packed[i]), packed[i]))
            return n - strlen(packed[i]);
    return n;
}

/* The folder of the running program, links resolved, into out (capacity). */
int gnn_program_folder(char *out, size_t capacity, struct gnn_err *e) GNN_MUST_USE;

#endif
