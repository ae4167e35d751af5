/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of the members of an input (lib/import/read/input.h): their bytes, unpacked. */
#include <stdlib.h>
#include <string.h>

#include "lib/import/read/input_impl.h"
#include "lib/import/read/value_file.h"
#include "lib/base/mem.h"

struct gnn_reader {
    struct gnn_stage *top;
    char *name;
    struct gnn_input *in; /* whose members follow one another; NULL: there is one */
    uint32_t member;
    uint64_t at;   /* bytes of the member that have been read */
    uint64_t mark; /* bytes of its byte order mark, if it follows another */
    char last;     /* byte of it */
};

int gnn_reader_peek(struct gnn_reader *r, const uint8_t **p, size_t *n, struct gnn_err *e)
{
    if (!r->top->npeek) {
        int rc = gnn_stage_peek(r->top, p, n, e);
        if (rc)
            return rc;
    }
    *p = r->top->peek;
    *n = r->top->npeek;
    return GNN_OK;
}

static int open_stage(struct gnn_reader *r, struct gnn_input *in, uint32_t member,
                      struct gnn_err *e)
{
    const uint8_t *p;
    size_t n;
    int rc = gnn_input_stage(in, member, &r->top, e);
    if (rc)
        return rc;
    /* Names in messages are those of the reader, which has the archive's in front. */
    r->top->name = r->in ? in->m[member].name : r->name;
    rc = gnn_stage_peek(r->top, &p, &n, e);
    if (!rc)
        rc = gnn_stage_unpack(&r->top, gnn_stage_packing(p, n), e);
    if (rc || !r->in || !member)
        return rc;
    rc = gnn_reader_peek(r, &p, &n, e);
    r->mark = !rc && n > 2 && !memcmp(p, "\xef\xbb\xbf", 3) ? 3 : 0;
    return rc;
}

int gnn_reader_open(struct gnn_reader **r, struct gnn_input *in, uint32_t member, struct gnn_err *e)
{
    *r = gnn_alloc_zero(1, sizeof **r, "reader", e);
    if (!*r)
        return GNN_E_NOMEM;
    bool lone = in->joined || (!in->archive && !in->m[member].path);
    const char *path = in->joined ? NULL : in->m[member].path;
    (*r)->name = lone || path ? gnn_strdup(path ? path : in->name, e)
                              : gnn_strf(e, "%s: %s", in->name, in->m[member].name);
    (*r)->in = in->joined ? in : NULL;
    (*r)->member = member;
    int rc = (*r)->name ? open_stage(*r, in, member, e) : GNN_E_NOMEM;
    if (rc) {
        gnn_reader_free(*r);
        *r = NULL;
        return rc;
    }
    return GNN_OK;
}

/* Blanks in place of bytes `from` to `to` of a member, of which the n in buf have just been read.
 */
static void blank_bytes(const struct gnn_reader *r, char *buf, size_t n, uint64_t from, uint64_t to)
{
    for (uint64_t i = from > r->at ? from : r->at; i < to && i < r->at + n; i++)
        buf[i - r->at] = ' ';
}

/* What has just been read of a joined member, without its byte order mark and header. */
static void blank_header(struct gnn_reader *r, char *buf, size_t n)
{
    const struct gnn_input_member *m = &r->in->m[r->member];
    blank_bytes(r, buf, n, m->blank, m->blank_to);
    blank_bytes(r, buf, n, 0, r->mark);
    r->at += n;
    r->last = n ? buf[n - 1] : r->last;
}

/* At the end of a joined member: on to the next one. A line does not go on in it: *got is 1 for the
 * newline that had to be added, and 0 otherwise. */
static int next_member(struct gnn_reader *r, char *buf, size_t *got, bool *more, struct gnn_err *e)
{
    *got = 0;
    *more = r->in && r->member + 1 < r->in->n;
    if (!*more)
        return GNN_OK;
    if (r->at && r->last != '\n') {
        *buf = r->last = '\n';
        *got = 1;
        return GNN_OK;
    }
    gnn_stage_free(r->top);
    r->top = NULL;
    r->at = 0;
    return open_stage(r, r->in, ++r->member, e);
}

int gnn_reader_read(struct gnn_reader *r, void *buf, uint64_t n, uint64_t *got, struct gnn_err *e)
{
    bool more = true;
    *got = 0;
    while (*got < n && more) {
        char *to = (char *)buf + *got;
        size_t k = 0, want = n - *got < 1u << 30 ? (size_t)(n - *got) : 1u << 30;
        int rc = gnn_stage_read(r->top, to, want, &k, e);
        if (!rc && k && r->in)
            blank_header(r, to, k);
        else if (!rc && !k)
            rc = next_member(r, to, &k, &more, e);
        if (rc)
            return rc;
        *got += k;
    }
    return GNN_OK;
}

int gnn_reader_skip(struct gnn_reader *r, uint64_t n, struct gnn_err *e)
{
    uint8_t buf[1 << 15];
    while (n) {
        uint64_t got;
        int rc = gnn_reader_read(r, buf, n < sizeof buf ? n : sizeof buf, &got, e);
        if (rc)
            return rc;
        if (!got)
            return gnn_fail(e, GNN_E_INPUT, "%s: cut short", r->name);
        n -= got;
    }
    return GNN_OK;
}

const char *gnn_reader_name(const struct gnn_reader *r)
{
    return r->name;
}

void gnn_reader_free(struct gnn_reader *r)
{
    if (!r)
        return;
    gnn_stage_free(r->top);
    gnn_free(r->name);
    gnn_free(r);
}

static int by_given(const void *a, const void *b)
{
    const struct gnn_input_member *x = a, *y = b;
    return (x->given > y->given) - (x->given < y->given);
}

void gnn_input_as_given(struct gnn_input *in)
{
    if (in->several)
        qsort(in->m, in->n, sizeof *in->m, by_given);
}

void gnn_input_join(struct gnn_input *in)
{
    in->joined = true;
}

uint32_t gnn_input_parts(const struct gnn_input *in, const char **first, const char **last)
{
    *first = in->joined ? in->m[0].name : NULL;
    *last = in->joined ? in->m[in->n - 1].name : NULL;
    return in->joined ? in->n : 0;
}

void gnn_input_blank(struct gnn_input *in, uint32_t i, uint64_t from, uint64_t to)
{
    in->m[i].blank = from;
    in->m[i].blank_to = to;
}

/* Lines of a member, which end as the text tables read them: with a line feed, a carriage return or
 * both. */
static int count_lines(struct gnn_input *in, uint32_t member, uint64_t *lines, struct gnn_err *e)
{
    struct gnn_reader r = {.name = in->name};
    char buf[1 << 14], last = '\n';
    uint64_t got = 1;
    int rc = open_stage(&r, in, member, e);
    for (*lines = 0; !rc && got;) {
        rc = gnn_reader_read(&r, buf, sizeof buf, &got, e);
        for (uint64_t i = 0; !rc && i < got; last = buf[i++])
            *lines += buf[i] == '\r' || (buf[i] == '\n' && last != '\r');
    }
    *lines += last != '\n' && last != '\r';
    gnn_stage_free(r.top);
    return rc;
}

int gnn_input_line(struct gnn_input *in, uint64_t line, const char **member, uint64_t *at,
                   struct gnn_err *e)
{
    uint64_t n = 0;
    uint32_t i = 0;
    int rc = GNN_OK;
    for (*at = line; !rc && i + 1 < in->n; i++, *at -= n) {
        rc = count_lines(in, i, &n, e);
        if (rc || *at <= n)
            break;
    }
    *member = in->m[i].path ? in->m[i].path : in->m[i].name;
    return rc;
}

int gnn_input_values(struct gnn_input *in, struct gnn_array_list *l,
                     const struct gnn_torch_file **f, struct gnn_err *e)
{
    struct gnn_reader *r;
    const uint8_t *p;
    size_t n;
    int rc = gnn_reader_open(&r, in, 0, e);
    *f = NULL;
    if (!rc)
        rc = gnn_reader_peek(r, &p, &n, e);
    if (!rc && gnn_value_file_begins(p, n) && !gnn_value_file_is_torch(p, n)) {
        const bool plain = in->path && !in->archive && in->packing == GNN_PLAIN;
        rc = gnn_value_file_open(f, l, plain ? in->path : NULL, r->top, true, in->name, e);
    }
    gnn_reader_free(r);
    return rc;
}
