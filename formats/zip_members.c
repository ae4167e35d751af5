/* SPDX-License-Identifier: Apache-2.0 */
/* Members of a zip archive in memory (formats/zip_members.h). */
#include "formats/zip_members.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/text.h"
#include "formats/zip.h"

enum { NO_MEMORY = -2 };

struct walk {
    const uint8_t *bytes;
    struct gnn_zip_end end;
    struct gnn_zip_member *member;
    char *why;
    size_t capacity;
};

__attribute__((format(printf, 2, 3))) static int fail_archive(struct walk *w, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(w->why, w->capacity, fmt, ap);
    va_end(ap);
    return -1;
}

static int fail_member(struct walk *w, const char *name, size_t n, const char *what)
{
    char shown[128];
    return fail_archive(w, "member '%s': %s", gnn_text_shown(shown, sizeof shown, name, n), what);
}

/* What stands before a member's data, and behind them, says the same as its entry. */
static const char *check_place(struct walk *w, const struct gnn_zip_entry *z, const char *name,
                               uint64_t *end)
{
    const uint64_t limit = w->end.at;
    if (z->at > limit || limit - z->at < GNN_ZIP_LOCAL)
        return "it is not where the directory says";
    const uint32_t head = gnn_zip_local_bytes(w->bytes + z->at);
    if (!head || head > limit - z->at)
        return "it is not where the directory says";
    const char *bad = gnn_zip_local(z, name, w->bytes + z->at);
    if (bad)
        return bad;
    const uint64_t at = z->at + head;
    if ((!z->method && z->packed != z->bytes) || z->packed > limit - at)
        return "its data reach beyond the archive's members";
    *end = at + z->packed;
    if (!gnn_zip_described(z))
        return NULL;
    const uint32_t more = gnn_zip_descriptor(z, w->bytes + *end, (size_t)(limit - *end));
    *end += more;
    return more ? NULL : "the descriptor after its data differs from the directory";
}

/* The entry at *at, behind which it moves. */
static int read_entry(struct walk *w, uint64_t *at, struct gnn_zip_member *m)
{
    const uint64_t left = w->end.at + w->end.bytes - *at;
    const uint8_t *p = w->bytes + *at;
    const uint32_t size = left < GNN_ZIP_ENTRY ? 0 : gnn_zip_entry_bytes(p);
    struct gnn_zip_entry z;
    uint64_t end = 0;
    if (!size || size > left)
        return fail_archive(w, "the directory of the zip archive is damaged");
    const char *bad = gnn_zip_entry(&z, p), *name = (const char *)p + GNN_ZIP_ENTRY;
    if (!bad)
        bad = check_place(w, &z, name, &end);
    if (bad)
        return fail_member(w, name, z.name, bad);
    *at += size;
    *m = (struct gnn_zip_member){.name = name,
                                 .name_bytes = z.name,
                                 .from = z.at,
                                 .to = end,
                                 .at = z.at + gnn_zip_local_bytes(w->bytes + z.at),
                                 .bytes = z.packed,
                                 .compressed = z.method != 0};
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const uint64_t x = ((const struct gnn_zip_member *)a)->from,
                   y = ((const struct gnn_zip_member *)b)->from;
    return (x > y) - (x < y);
}

static int by_name(const void *a, const void *b)
{
    const struct gnn_zip_member *x = a, *y = b;
    const size_t n = x->name_bytes < y->name_bytes ? x->name_bytes : y->name_bytes;
    const int c = memcmp(x->name, y->name, n);
    return c ? c : (x->name_bytes > y->name_bytes) - (x->name_bytes < y->name_bytes);
}

/* In the order of their places gaps and overlaps show between neighbours, and in that of their
 * names, repeated ones. */
static int check_order(struct walk *w, uint64_t n)
{
    uint64_t at = 0;
    qsort(w->member, n, sizeof *w->member, by_place);
    for (uint64_t i = 0; i < n; i++) {
        const struct gnn_zip_member *m = &w->member[i];
        if (m->from != at)
            return fail_member(w, m->name, m->name_bytes,
                               m->from < at ? "it overlaps another"
                                            : "the bytes before it belong to no listed member");
        at = m->to;
    }
    if (at != w->end.at)
        return fail_archive(w, "the bytes before the directory of the zip archive belong to no "
                               "listed member");
    qsort(w->member, n, sizeof *w->member, by_name);
    for (uint64_t i = 1; i < n; i++)
        if (!by_name(&w->member[i - 1], &w->member[i]))
            return fail_member(w, w->member[i].name, w->member[i].name_bytes, "it is there twice");
    return 0;
}

static int read_members(struct walk *w)
{
    const uint64_t n = w->end.entries;
    uint64_t at = w->end.at;
    if (!n || n > w->end.bytes / GNN_ZIP_ENTRY)
        return fail_archive(w, n ? "the directory of the zip archive is damaged"
                                 : "the zip archive is empty");
    w->member = malloc(n * sizeof *w->member);
    if (!w->member) {
        fail_archive(w, "out of memory for %llu members", (unsigned long long)n);
        return NO_MEMORY;
    }
    for (uint64_t i = 0; i < n; i++)
        if (read_entry(w, &at, &w->member[i]))
            return -1;
    if (at != w->end.at + w->end.bytes)
        return fail_archive(w, "the directory of the zip archive is damaged");
    return check_order(w, n);
}

int gnn_zip_members(const uint8_t *bytes, uint64_t n, struct gnn_zip_member **m, uint64_t *count,
                    char *why, size_t capacity)
{
    struct walk w = {.bytes = bytes, .why = why, .capacity = capacity};
    const uint64_t tail = n < GNN_ZIP_TAIL ? n : GNN_ZIP_TAIL;
    const char *bad = gnn_zip_end(&w.end, bytes + n - tail, (size_t)tail, n);
    *m = NULL;
    *count = 0;
    if (bad)
        return fail_archive(&w, "%s", bad);
    const int rc = read_members(&w);
    if (rc) {
        free(w.member);
        return rc;
    }
    *m = w.member;
    *count = w.end.entries;
    return 0;
}

const struct gnn_zip_member *gnn_zip_find(const struct gnn_zip_member *m, uint64_t count,
                                          const char *name, size_t name_bytes)
{
    const struct gnn_zip_member key = {.name = name, .name_bytes = (uint16_t)name_bytes};
    return name_bytes <= UINT16_MAX && count ? bsearch(&key, m, count, sizeof *m, by_name) : NULL;
}
