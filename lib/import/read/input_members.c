/* SPDX-License-Identifier: Apache-2.0 */
/* What an input is, and its members by name and by number (lib/import/read/input.h), and their
 * bytes as they lie there. */
#include <stdio.h>
#include <string.h>

#include "lib/base/path.h"
#include "lib/import/read/input_impl.h"

bool gnn_input_several(const struct gnn_input *in)
{
    return in->several;
}

bool gnn_input_is_archive(const struct gnn_input *in)
{
    return in->archive;
}

const char *gnn_input_name(const struct gnn_input *in)
{
    return in->name;
}

uint64_t gnn_input_bytes(const struct gnn_input *in)
{
    return in->bytes;
}

uint64_t gnn_input_spooled(const struct gnn_input *in)
{
    return in->spool ? in->bytes : 0;
}

uint32_t gnn_input_members(const struct gnn_input *in)
{
    return in->joined ? 1 : in->n;
}

const char *gnn_input_where(const struct gnn_input *in, uint32_t i)
{
    static _Thread_local char text[1024];
    if (in->joined || (!in->archive && !in->m[i].path))
        return in->name;
    snprintf(text, sizeof text, "%s: %s", in->name, in->m[i].name);
    return text;
}

const char *gnn_input_member(const struct gnn_input *in, uint32_t i)
{
    return in->m[i].name;
}

int gnn_input_lone(const struct gnn_input *in, const char *what, struct gnn_err *e)
{
    if (gnn_input_members(in) <= 1)
        return GNN_OK;
    if (in->arrays)
        return gnn_fail(e, GNN_E_INPUT, "%s: holds several arrays, of which %s:%s is one", in->name,
                        in->name, in->m[0].name);
    return gnn_fail(e, GNN_E_INPUT, "%s: several members, but %s must be one file", in->name, what);
}

/* Index of the member called name + end; -1 if there is none. Members are sorted. */
static int find_exact(const struct gnn_input *in, const char *name, const char *end)
{
    size_t len = strlen(name);
    uint32_t lo = 0, hi = in->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        const char *m = in->m[mid].name;
        int c = strncmp(name, m, len);
        if (!c)
            c = strcmp(end, m + len);
        if (!c)
            return (int)mid;
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return -1;
}

int gnn_input_find(const struct gnn_input *in, const char *name)
{
    static const char *const ends[] = {"", ".gz", ".zst", ".xz"};
    int found = -1;
    for (unsigned k = 0; found < 0 && k < sizeof ends / sizeof *ends; k++)
        found = find_exact(in, name, ends[k]);
    return found;
}

int gnn_input_base(struct gnn_input *in, struct gnn_stage **s, struct gnn_err *e)
{
    if (in->outer)
        return gnn_input_stage(in->outer, in->outer_member, s, e);
    return gnn_stage_file(s, in->path, in->name, e);
}

int gnn_input_stage(struct gnn_input *in, uint32_t i, struct gnn_stage **top, struct gnn_err *e)
{
    *top = NULL;
    if (in->arrays)
        return gnn_array_list_stage(top, in->arrays, in->m[i].given, in->name, e);
    if (!in->archive && in->m[i].path)
        return gnn_stage_file(top, in->m[i].path, in->name, e);
    int rc = gnn_input_base(in, top, e);
    if (rc || !in->archive)
        return rc;
    rc = gnn_stage_unpack(top, in->packing, e);
    if (!rc)
        /* Archives are read from their start to the member: tar has no directory. */
        rc = gnn_stage_archive(top, e);
    const char *name = "";
    while (!rc && name) {
        rc = gnn_stage_next(*top, &name, e);
        if (!rc && name && !strcmp(name, in->m[i].name))
            break;
    }
    if (!rc && !name)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: member '%s' no longer exists", in->name, in->m[i].name);
    if (rc) {
        gnn_stage_free(*top);
        *top = NULL;
    }
    return rc;
}
