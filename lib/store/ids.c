/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of nodes (lib/store/ids.h): from original ones to those of the store, and ids read from text.
 * Partitions renumber nodes so that each owns a range; node/TYPE/id says what they were. */
#include "lib/store/ids.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fill_inverse(struct gnn_store *s, uint32_t t, uint32_t *inv, struct gnn_err *e)
{
    const struct gnn_ntype *nt = &s->meta.schema.ntype[t];
    memset(inv, 0xff, nt->count * sizeof *inv);
    for (uint32_t p = s->from; p < s->to; p++) {
        const struct gnn_tensor *x = gnn_store_findf(s, p, "node/%s/id", nt->name);
        const uint64_t first = s->book[t][p], n = gnn_store_owned(s, p, t);
        const uint32_t *id = x ? x->data : NULL;
        for (uint64_t i = 0; i < n; i++) {
            const uint64_t o = id ? id[i] : first + i;
            if (o >= nt->count || inv[o] != UINT32_MAX)
                return gnn_fail(e, GNN_E_INPUT,
                                "%s: tensor 'node/%s/id': row %" PRIu64 ": id %" PRIu64 " is %s",
                                gnn_store_part_path(s, p), nt->name, i, o,
                                o >= nt->count ? "out of range" : "a duplicate");
            inv[o] = (uint32_t)(first + i);
        }
    }
    return 0;
}

int gnn_store_inverse(struct gnn_store *s, uint32_t t, uint32_t **inverse, struct gnn_err *e)
{
    const struct gnn_ntype *nt = &s->meta.schema.ntype[t];
    bool renamed = false;
    *inverse = NULL;
    for (uint32_t p = s->from; p < s->to; p++)
        renamed = renamed || gnn_store_findf(s, p, "node/%s/id", nt->name);
    if (!renamed)
        return 0;
    uint32_t *inv = gnn_alloc(nt->count, sizeof *inv, "original ids", e);
    if (!inv)
        return e->code;
    int rc = fill_inverse(s, t, inv, e);
    if (rc)
        gnn_free(inv);
    else
        *inverse = inv;
    return rc;
}

static int compare_u32(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void gnn_u32_sort(uint32_t *v, uint64_t n)
{
    qsort(v, n, sizeof *v, compare_u32);
}

void gnn_id_reader_init(struct gnn_id_reader *r, int fd, const char *name, const char *what,
                        uint64_t limit)
{
    r->fd = fd;
    r->name = name;
    r->what = what;
    r->limit = limit;
    r->line = 1;
    r->at_line = 0;
    r->at = r->have = 0;
    r->over = false;
}

/* The next byte, or -1 at the end, or -2 on failure. */
static int next_byte(struct gnn_id_reader *r, struct gnn_err *e)
{
    while (r->at == r->have) {
        if (r->over)
            return -1;
        ssize_t n = read(r->fd, r->buf, sizeof r->buf);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            (void)(errno == EISDIR ? gnn_fail_open(e, r->name)
                                   : gnn_fail_errno(e, "%s: cannot read", r->name));
            return -2;
        }
        r->over = n == 0;
        r->at = 0;
        r->have = (uint32_t)n;
    }
    return (unsigned char)r->buf[r->at++];
}

int gnn_id_reader_next(struct gnn_id_reader *r, uint32_t *ids, uint64_t want, uint64_t *got,
                       struct gnn_err *e)
{
    *got = 0;
    while (*got < want) {
        int c = next_byte(r, e);
        while (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
            r->line += c == '\n';
            c = next_byte(r, e);
        }
        if (c < 0)
            return c == -1 ? 0 : e->code;
        uint64_t v = 0;
        for (; c >= '0' && c <= '9'; c = next_byte(r, e))
            v = v < 1000000000000 ? v * 10 + (uint64_t)(c - '0') : v; /* too large already */
        if (c == -2)
            return e->code;
        if (c != -1 && c != ' ' && c != '\t' && c != '\r' && c != '\n')
            return gnn_fail(e, GNN_E_INPUT, "%s: line %" PRIu64 ": not a %s", r->name, r->line,
                            r->what);
        if (v >= r->limit)
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: line %" PRIu64 ": %s %" PRIu64
                            " is out of range: there are %" PRIu64,
                            r->name, r->line, r->what, v, r->limit);
        r->at_line = r->line;
        r->line += c == '\n';
        ids[(*got)++] = (uint32_t)v;
    }
    return 0;
}
