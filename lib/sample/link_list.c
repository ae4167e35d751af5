/* SPDX-License-Identifier: Apache-2.0 */
/* Links that are listed (lib/sample/links.h): by a set of the store, or a file, which has a line
 * for each, its fields between commas, semicolons, tabs or blanks. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/xxh.h"
#include "lib/base/io.h"
#include "lib/sample/links.h"
#include "lib/import/link_text.h"

enum { PIECE = 1 << 20 };

void gnn_link_list_release(struct link_list *x)
{
    gnn_buf_release(&x->links);
    gnn_buf_release(&x->times);
    gnn_buf_release(&x->label);
    gnn_buf_release(&x->first);
    *x = (struct link_list){.n = 0};
}

/* The whole file, which ends with a newline then. */
static int read_file(struct gnn_buf *text, uint64_t *n, int fd, const char *name, struct gnn_err *e)
{
    struct gnn_io io;
    uint64_t got = 1;
    gnn_io_init(&io, fd, name);
    for (*n = 0; got; *n += got)
        if (gnn_buf_reserve(text, *n + PIECE + 1, 1, "links", e) ||
            gnn_io_read(&io, (char *)text->data + *n, PIECE, &got, e))
            return e->code;
    if (*n && ((char *)text->data)[*n - 1] != '\n')
        ((char *)text->data)[(*n)++] = '\n';
    return 0;
}

int gnn_link_list_gather(struct link_list *x, struct gnn_comm *c, struct gnn_err *e)
{
    struct link *l = x->links.data;
    if (c->size == 1)
        return 0;
    uint64_t *pair = gnn_alloc(x->n, sizeof *pair, "links", e);
    if (!pair)
        return e->code;
    for (uint64_t i = 0; i < x->n; i++)
        pair[i] = l[i].end[LINK_TAIL] == UINT32_MAX
                      ? 0
                      : (uint64_t)l[i].end[LINK_HEAD] << 32 | l[i].end[LINK_TAIL];
    if (!gnn_comm_all_reduce(c, pair, x->n, GNN_REDUCE_U64, e))
        for (uint64_t i = 0; i < x->n; i++)
            l[i] = (struct link){{(uint32_t)(pair[i] >> 32), (uint32_t)pair[i]}};
    gnn_free(pair);
    return e->code;
}

void gnn_link_list_sum(const struct link_list *x, char text[LINK_SUM])
{
    uint64_t sum = XXH3_64bits(x->links.data, x->n * sizeof(struct link));
    if (x->times.data)
        sum = XXH3_64bits_withSeed(x->times.data, x->n * sizeof(int64_t), sum);
    snprintf(text, LINK_SUM, "%016" PRIx64, sum);
}

/* Rank 0 reads the file, and all ranks get it. */
static int share_file(struct gnn_comm *c, struct gnn_buf *text, uint64_t *n, struct gnn_err *e)
{
    struct gnn_exchange x;
    if (gnn_exchange_init(&x, c, gnn_comm_tag(GNN_COMM_CONTROL, GNN_COMM_LINKS), e))
        return e->code;
    if (!gnn_comm_all_gather(c, &x, text->data, *n, e) && c->rank &&
        !gnn_buf_reserve(text, x.in[0].bytes + 1, 1, "links", e)) {
        *n = x.in[0].bytes;
        memcpy(text->data, x.in[0].data, *n);
    }
    gnn_exchange_release(&x);
    return e->code;
}

int gnn_link_list_read(struct link_list *x, const struct link_edges *q, int fd, const char *name,
                       enum gnn_link_numbers numbers, enum gnn_dtype times, struct gnn_err *e)
{
    struct gnn_link_text r = {.store = q->store,
                              .name = name,
                              .numbers = numbers,
                              .times = times,
                              .untimed = "a time requires --time-rule"};
    struct gnn_buf text = {0};
    struct gnn_comm *c = q->store->comm;
    uint64_t n = 0;
    int rc = fd < 0 ? 0 : read_file(&text, &n, fd, name, e);
    if (fd >= 0)
        close(fd);
    if (!rc && c->size > 1)
        rc = share_file(c, &text, &n, e);
    for (unsigned i = 0; i < LINK_ENDS; i++) {
        r.ntype[i] = q->ntype[i];
        r.to_store[i] = q->to_store[i];
        r.to_orig[i] = q->to_orig[i];
    }
    if (!rc)
        rc = gnn_link_text_read(&r, text.data, n, e);
    if (!rc && !r.n)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: no links in it", name);
    if (!rc) {
        *x = (struct link_list){.links = r.node, .times = r.time, .n = r.n};
        r.node = r.time = (struct gnn_buf){0};
    }
    gnn_link_text_release(&r);
    gnn_buf_release(&text);
    return rc;
}

int gnn_link_list_of_set(struct link_list *x, const struct link_edges *q, uint32_t set,
                         struct gnn_err *e)
{
    const struct gnn_split_set *m = &q->store->meta.schema.set[set];
    const uint32_t *const *to_orig = (const uint32_t *const *)q->to_orig;
    uint32_t *ends = NULL;
    int64_t *times = NULL;
    if (gnn_store_links(q->store, set, &ends, &times, e) ||
        gnn_buf_reserve(&x->links, m->count, sizeof(struct link), "links", e) ||
        (times && gnn_buf_reserve(&x->times, m->count, sizeof *times, "links", e)))
        goto out;
    x->n = m->count;
    for (uint64_t i = 0; i < x->n; i++) {
        struct link *to = (struct link *)x->links.data + i;
        for (unsigned k = 0; k < LINK_ENDS; k++)
            to->end[k] = to_orig[k] && ends[2 * i + k] != UINT32_MAX ? to_orig[k][ends[2 * i + k]]
                                                                     : ends[2 * i + k];
        if (times)
            ((int64_t *)x->times.data)[i] = gnn_time_of_entry(m->time == GNN_F64, times[i]);
    }
out:
    gnn_free(ends);
    gnn_free(times);
    return e->code;
}
