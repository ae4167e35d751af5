/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of links of several ranks (lib/predict/link_merge.h). A rank sends rank 0 the places of its
 * rows, u32 each, and then the rows, f32. */
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
    for (uint32_t r = 0; r < m->comm->size; r++)
        m->x.out[r] = (struct gnn_span){to, r ? 0 : bytes};
    if (gnn_comm_exchange(m->comm, &m->x, e) || m->comm->rank)
        return e->code;
    for (uint32_t r = 0; r < m->comm->size; r++)
        if (place_rows(m, r, all, width, &seen, e))
            return e->code;
    *merged = m->rows.data;
    return seen == all ? 0
                       : gnn_fail(e, GNN_E_RANK, "the ranks have %llu of the %llu links of a batch",
                                  (unsigned long long)seen, (unsigned long long)all);
}
