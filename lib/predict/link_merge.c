/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and lines of links of several ranks (lib/predict/link_merge.h). A rank sends rank 0 the
 * places of its rows, u32 each, and then the rows, f32; or how many lines it has, u64, a place and
 * a length of each, and then these. */
#include "lib/predict/link_merge.h"

#include <string.h>

int gnn_link_merge_init(struct gnn_link_merge *m, struct gnn_comm *c, struct gnn_err *e)
{
    *m = (struct gnn_link_merge){.comm = c};
    return gnn_exchange_init(&m->x, c, gnn_comm_tag(GNN_COMM_CONTROL, GNN_COMM_OUTPUT), e);
}

void gnn_link_merge_release(struct gnn_link_merge *m)
{
    gnn_exchange_release(&m->x);
    gnn_buf_release(&m->message);
    gnn_buf_release(&m->rows);
    gnn_buf_release(&m->lines);
}

static int send_first(struct gnn_link_merge *m, uint64_t bytes, struct gnn_err *e)
{
    for (uint32_t r = 0; r < m->comm->size; r++)
        m->x.out[r] = (struct gnn_span){m->message.data, r ? 0 : bytes};
    return gnn_comm_exchange(m->comm, &m->x, e);
}

/* Puts the rows of rank r where they belong; *seen counts them. */
static int place_rows(struct gnn_link_merge *m, uint32_t r, uint64_t all, uint64_t width,
                      uint64_t *seen, struct gnn_err *e)
{
    const struct gnn_span in = m->x.in[r];
    const uint64_t row = width * sizeof(float), n = in.bytes / (sizeof(uint32_t) + row);
    const char *text = in.data;
    bool good = n * (sizeof(uint32_t) + row) == in.bytes;
    for (uint64_t i = 0; good && i < n; i++) {
        uint32_t at;
        memcpy(&at, text + i * sizeof at, sizeof at);
        good = at < all;
        if (good)
            memcpy((char *)m->rows.data + at * row, text + n * sizeof at + i * row, row);
    }
    *seen += n;
    return good ? 0 : gnn_fail(e, GNN_E_RANK, "malformed reply from rank %u", r);
}

int gnn_link_merge_rows(struct gnn_link_merge *m, const uint32_t *at, uint64_t n, uint64_t all,
                        const float *rows, uint64_t width, const float **merged, struct gnn_err *e)
{
    const uint64_t row = width * sizeof(float), bytes = n * (sizeof(uint32_t) + row);
    uint64_t seen = 0;
    *merged = m->comm->rank ? NULL : rows;
    if (m->comm->size == 1)
        return 0;
    if (gnn_buf_fit(&m->message, bytes + 1, 1, "output rows", e) ||
        gnn_buf_fit(&m->rows, all * width + 1, sizeof(float), "output rows", e))
        return e->code;
    char *to = m->message.data;
    for (uint64_t i = 0; i < n; i++)
        memcpy(to + i * sizeof *at, &at[i], sizeof *at);
    if (n)
        memcpy(to + n * sizeof *at, rows, n * row);
    if (send_first(m, bytes, e) || m->comm->rank)
        return e->code;
    for (uint32_t r = 0; r < m->comm->size; r++)
        if (place_rows(m, r, all, width, &seen, e))
            return e->code;
    *merged = m->rows.data;
    return seen == all ? 0
                       : gnn_fail(e, GNN_E_RANK, "the ranks have %llu of the %llu links of a batch",
                                  (unsigned long long)seen, (unsigned long long)all);
}

/* ---- lines ---- */

/* How many lines rank r has; false: not so many were sent. */
static bool count_lines(const struct gnn_link_merge *m, uint32_t r, uint64_t *n)
{
    const struct gnn_span in = m->x.in[r];
    if (in.bytes < sizeof *n)
        return false;
    memcpy(n, in.data, sizeof *n);
    return *n <= (in.bytes - sizeof *n) / sizeof(struct gnn_merge_line);
}

/* Puts the lines of rank r where they belong, each where none is yet. */
static bool place_lines(struct gnn_link_merge *m, uint32_t r, uint64_t all)
{
    const struct gnn_span in = m->x.in[r];
    struct gnn_span *to = m->lines.data;
    uint64_t n;
    memcpy(&n, in.data, sizeof n);
    const char *line = (const char *)in.data + sizeof n, *text = line + n * sizeof *to;
    uint64_t left = in.bytes - (uint64_t)(text - (const char *)in.data);
    for (; n; n--, line += sizeof(struct gnn_merge_line)) {
        struct gnn_merge_line x;
        memcpy(&x, line, sizeof x);
        if (x.at >= all || to[x.at].data || x.bytes > left)
            return false;
        to[x.at] = (struct gnn_span){text, x.bytes};
        text += x.bytes;
        left -= x.bytes;
    }
    return !left;
}

static int pack_lines(struct gnn_link_merge *m, const struct gnn_merge_line *line, uint64_t n,
                      const char *text, uint64_t *bytes, struct gnn_err *e)
{
    const uint64_t head = sizeof n + n * sizeof *line;
    *bytes = head;
    for (uint64_t i = 0; i < n; i++)
        *bytes += line[i].bytes;
    if (gnn_buf_fit(&m->message, *bytes, 1, "output lines", e))
        return e->code;
    char *to = m->message.data;
    memcpy(to, &n, sizeof n);
    if (n) {
        memcpy(to + sizeof n, line, n * sizeof *line);
        memcpy(to + head, text, *bytes - head);
    }
    return 0;
}

int gnn_link_merge_lines(struct gnn_link_merge *m, const struct gnn_merge_line *line, uint64_t n,
                         const char *text, const struct gnn_span **merged, uint64_t *all,
                         struct gnn_err *e)
{
    uint64_t bytes, many;
    *all = 0;
    if (pack_lines(m, line, n, text, &bytes, e) || send_first(m, bytes, e) || m->comm->rank)
        return e->code;
    for (uint32_t r = 0; r < m->comm->size; r++, *all += many)
        if (!count_lines(m, r, &many))
            return gnn_fail(e, GNN_E_RANK, "malformed reply from rank %u", r);
    if (gnn_buf_fit(&m->lines, *all + 1, sizeof **merged, "output lines", e))
        return e->code;
    memset(m->lines.data, 0, *all * sizeof **merged);
    for (uint32_t r = 0; r < m->comm->size; r++)
        if (!place_lines(m, r, *all))
            return gnn_fail(e, GNN_E_RANK, "malformed reply from rank %u", r);
    *merged = m->lines.data;
    return 0;
}
