/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a zip archive as a whole before libarchive reads it (lib/import/read/zip_check.h):
 * directory, headers and data must follow one another without gaps or overlaps, and agree. Archives
 * that were cut or put together by hand would otherwise be read in part, without an error. */
#include "lib/import/read/zip_check.h"

#include <stdlib.h>
#include <string.h>

#include "formats/text.h"
#include "formats/zip.h"
#include "lib/base/mem.h"

struct entry {
    struct gnn_zip_entry z;
    uint64_t name; /* where in the walk's names */
};

/* The archive's bytes from anywhere. If they cannot be sought, because they are packed themselves,
 * a step back reads them again from the start. */
struct walk {
    gnn_zip_open_fn *open;
    void *arg;
    struct gnn_stage *s;
    uint64_t at;
    struct gnn_zip_end end;
    struct entry *entry;
    struct gnn_buf names, buf;
    uint64_t nnames;
};

static int open_again(struct walk *w, struct gnn_err *e)
{
    gnn_stage_free(w->s);
    w->s = NULL;
    w->at = 0;
    return w->open(w->arg, &w->s, e);
}

static int fail_cut(const struct walk *w, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT, "%s: cut short at byte %llu", w->s->name,
                    (unsigned long long)w->at);
}

static int read_exactly(struct walk *w, void *buf, size_t n, struct gnn_err *e)
{
    for (size_t done = 0, got = 1; done < n; done += got) {
        int rc = gnn_stage_read(w->s, (char *)buf + done, n - done, &got, e);
        if (rc || !got)
            return rc ? rc : fail_cut(w, e);
        w->at += got;
    }
    return GNN_OK;
}

static int go_to(struct walk *w, uint64_t at, struct gnn_err *e)
{
    uint8_t skipped[1 << 14];
    int rc = GNN_OK;
    if (w->s->seek) {
        w->s->npeek = 0;
        if (w->s->seek(w->s, (int64_t)at, SEEK_SET) != (int64_t)at)
            return fail_cut(w, e);
        w->at = at;
        return GNN_OK;
    }
    if (at < w->at)
        rc = open_again(w, e);
    while (!rc && w->at < at)
        rc = read_exactly(w, skipped,
                          at - w->at < sizeof skipped ? (size_t)(at - w->at) : sizeof skipped, e);
    return rc;
}

/* The last bytes, GNN_ZIP_TAIL of them if there are so many, at *tail. */
static int read_tail(struct walk *w, uint8_t *buf, uint8_t **tail, size_t *n, struct gnn_err *e)
{
    size_t have = 0, got = 1;
    int rc = GNN_OK;
    if (w->s->seek) {
        int64_t all = w->s->seek(w->s, 0, SEEK_END);
        rc = go_to(w, all < GNN_ZIP_TAIL ? 0 : (uint64_t)all - GNN_ZIP_TAIL, e);
    }
    while (!rc && got) {
        /* A window of twice the tail: at each moment the last GNN_ZIP_TAIL bytes are in it. */
        if (have == 2 * GNN_ZIP_TAIL) {
            memmove(buf, buf + GNN_ZIP_TAIL, GNN_ZIP_TAIL);
            have = GNN_ZIP_TAIL;
        }
        rc = gnn_stage_read(w->s, buf + have, 2 * GNN_ZIP_TAIL - have, &got, e);
        have += rc ? 0 : got;
        w->at += rc ? 0 : got;
    }
    *n = have < GNN_ZIP_TAIL ? have : GNN_ZIP_TAIL;
    *tail = buf + have - *n;
    return rc;
}

static int find_directory(struct walk *w, struct gnn_err *e)
{
    uint8_t *buf = gnn_alloc(2 * GNN_ZIP_TAIL, 1, "the end of an archive", e), *tail;
    size_t n;
    int rc = buf ? read_tail(w, buf, &tail, &n, e) : GNN_E_NOMEM;
    const char *bad = rc ? NULL : gnn_zip_end(&w->end, tail, n, w->at);
    if (bad)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %s", w->s->name, bad);
    gnn_free(buf);
    return rc;
}

/* A header of some kind at the present place, whole, in w->buf. */
static int read_header(struct walk *w, size_t fixed, uint32_t (*bytes)(const uint8_t *p),
                       uint64_t end, bool *is, struct gnn_err *e)
{
    uint8_t head[GNN_ZIP_ENTRY];
    *is = false;
    if (w->at > end || end - w->at < fixed)
        return GNN_OK;
    int rc = read_exactly(w, head, fixed, e);
    uint32_t all = rc ? 0 : bytes(head);
    if (rc || !all || all - fixed > end - w->at)
        return rc;
    rc = gnn_buf_reserve(&w->buf, all, 1, "an archive's header", e);
    if (rc)
        return rc;
    memcpy(w->buf.data, head, fixed);
    *is = true;
    return read_exactly(w, (uint8_t *)w->buf.data + fixed, all - fixed, e);
}

static int bad_member(const struct walk *w, const char *name, size_t n, const char *why,
                      struct gnn_err *e)
{
    char shown[256];
    return gnn_fail(e, GNN_E_INPUT, "%s: member '%s': %s", w->s->name,
                    gnn_text_shown(shown, sizeof shown, name, n), why);
}

static int read_entry(struct walk *w, uint64_t i, struct gnn_err *e)
{
    bool is;
    int rc = read_header(w, GNN_ZIP_ENTRY, gnn_zip_entry_bytes, w->end.at + w->end.bytes, &is, e);
    if (!rc && !is)
        rc = gnn_fail(
            e, GNN_E_INPUT,
            "%s: the directory of the zip archive is damaged: %llu members declared, %llu found",
            w->s->name, (unsigned long long)w->end.entries, (unsigned long long)i);
    if (!rc)
        rc = gnn_grow(&w->entry, i, sizeof *w->entry, "members", e);
    if (rc)
        return rc;
    struct entry *n = &w->entry[i];
    const char *bad = gnn_zip_entry(&n->z, w->buf.data),
               *name = (char *)w->buf.data + GNN_ZIP_ENTRY;
    if (bad)
        return bad_member(w, name, n->z.name, bad, e);
    rc = gnn_buf_reserve(&w->names, w->nnames + n->z.name, 1, "members", e);
    if (rc)
        return rc;
    memcpy((char *)w->names.data + w->nnames, name, n->z.name);
    n->name = w->nnames;
    w->nnames += n->z.name;
    return GNN_OK;
}

static int read_directory(struct walk *w, struct gnn_err *e)
{
    int rc = go_to(w, w->end.at, e);
    for (uint64_t i = 0; !rc && i < w->end.entries; i++)
        rc = read_entry(w, i, e);
    if (!rc && w->at != w->end.at + w->end.bytes)
        rc = gnn_fail(
            e, GNN_E_INPUT,
            "%s: the directory of the zip archive is damaged: %llu members declared, more found",
            w->s->name, (unsigned long long)w->end.entries);
    return rc;
}

/* The member at *at, which it moves behind it. */
static int check_member(struct walk *w, const struct entry *n, uint64_t *at, struct gnn_err *e)
{
    const char *name = (char *)w->names.data + n->name;
    bool is = false;
    if (n->z.at != *at)
        return bad_member(w, name, n->z.name,
                          n->z.at < *at ? "it overlaps another"
                                        : "the bytes before it belong to no listed member",
                          e);
    int rc = go_to(w, *at, e);
    if (!rc)
        rc = read_header(w, GNN_ZIP_LOCAL, gnn_zip_local_bytes, w->end.at, &is, e);
    const char *bad =
        !is ? "it is not where the directory says" : gnn_zip_local(&n->z, name, w->buf.data);
    if (!rc && bad)
        return bad_member(w, name, n->z.name, bad, e);
    if (rc || n->z.packed > w->end.at - w->at)
        return rc ? rc : bad_member(w, name, n->z.name, "its data overlap the directory", e);
    *at = w->at + n->z.packed;
    if (!gnn_zip_described(&n->z))
        return GNN_OK;
    uint8_t d[GNN_ZIP_DESCRIPTOR];
    size_t capacity = w->end.at - *at < sizeof d ? (size_t)(w->end.at - *at) : sizeof d;
    rc = go_to(w, *at, e);
    if (!rc)
        rc = read_exactly(w, d, capacity, e);
    uint32_t k = rc ? 0 : gnn_zip_descriptor(&n->z, d, capacity);
    *at += k;
    return rc || k ? rc
                   : bad_member(w, name, n->z.name,
                                "the descriptor after its data differs from the directory", e);
}

static int by_place(const void *a, const void *b)
{
    uint64_t x = ((const struct entry *)a)->z.at, y = ((const struct entry *)b)->z.at;
    return (x > y) - (x < y);
}

int gnn_zip_check(gnn_zip_open_fn *open, void *arg, struct gnn_err *e)
{
    struct walk w = {.open = open, .arg = arg};
    uint64_t at = 0;
    int rc = open_again(&w, e);
    if (!rc)
        rc = find_directory(&w, e);
    if (!rc)
        rc = read_directory(&w, e);
    if (!rc && w.end.entries)
        /* In the order of their places, gaps and overlaps show between neighbours. */
        qsort(w.entry, w.end.entries, sizeof *w.entry, by_place);
    for (uint64_t i = 0; !rc && i < w.end.entries; i++)
        rc = check_member(&w, &w.entry[i], &at, e);
    if (!rc && at != w.end.at)
        rc = gnn_fail(
            e, GNN_E_INPUT,
            "%s: the bytes before the directory of the zip archive belong to no listed member",
            w.s->name);
    gnn_stage_free(w.s);
    gnn_free(w.entry);
    gnn_buf_release(&w.names);
    gnn_buf_release(&w.buf);
    return rc;
}
