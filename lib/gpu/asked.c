/* SPDX-License-Identifier: Apache-2.0 */
/* What the environment asks for: what is switched off for comparisons, which times are told; and
 * streams, of which some go first unless that is switched off. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/gpu/runtime.h"

struct word {
    const char *word;
    unsigned bits;
};

/* A list of words that commas separate, each one of known[n]. Sets *bits to all of theirs together:
 * 0 if the variable is not set or empty. */
static int read_words(const char *variable, const struct word *known, unsigned n, unsigned *bits,
                      struct gnn_err *e)
{
    const char *p = getenv(variable);
    char all[128] = "";
    *bits = 0;
    if (!p || !*p)
        return 0;
    do {
        const size_t length = strcspn(p, ",");
        unsigned i = 0;
        while (i < n && (strlen(known[i].word) != length || strncmp(known[i].word, p, length)))
            i++;
        for (unsigned k = 0, at = 0; i == n && k < n; k++)
            at +=
                (unsigned)snprintf(all + at, sizeof all - at, "%s%s", k ? ", " : "", known[k].word);
        if (i == n)
            return gnn_fail(e, GNN_E_USAGE, "%s: '%.*s' is none of %s", variable,
                            length < 40 ? (int)length : 40, p, all);
        *bits |= known[i].bits;
        p += length;
    } while (*p++ == ',');
    return 0;
}

int gnn_gpu_asked_read(unsigned *asked, struct gnn_err *e)
{
    static const struct word off[] = {{"priority", GNN_GPU_OFF_PRIORITY},
                                      {"gather2", GNN_GPU_OFF_GATHER2}},
                             times[] = {{"operations", GNN_GPU_TIME_OPERATIONS},
                                        {"timeline", GNN_GPU_TIME_LINE},
                                        {"1", GNN_GPU_TIME_OPERATIONS | GNN_GPU_TIME_LINE},
                                        {"0", 0}};
    unsigned more;
    int rc = read_words("GNN_GPU_OFF", off, sizeof off / sizeof *off, asked, e);
    if (!rc)
        rc = read_words("GNN_DEBUG_TIME", times, sizeof times / sizeof *times, &more, e);
    if (!rc)
        *asked |= more;
    return rc;
}

int gnn_gpu_stream_new(const struct gpu_device *d, enum gnn_dev_priority priority, void **stream,
                       struct gnn_err *e)
{
    const int rc = gnn_dev_use(d->number, e);
    return rc ? rc
              : gnn_dev_stream_at(d->asked & GNN_GPU_OFF_PRIORITY ? GNN_DEV_LOW : priority, stream,
                                  e);
}
