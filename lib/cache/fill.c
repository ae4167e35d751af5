/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/cache/fill.h"

/* The type whose next row has the highest score, the first of several; -1: no rows are left. */
static int64_t next_type(const struct gnn_fill *f)
{
    const struct gnn_ranking *k = f->rows;
    int64_t best = -1;
    float highest = 0;
    for (uint32_t t = 0; t < k->ntypes; t++) {
        if (f->at[t] == k->n[t])
            continue;
        const float score = k->score->of[t][k->row[t][f->at[t]]];
        if (best < 0 || score > highest) {
            best = t;
            highest = score;
        }
    }
    return best;
}

static uint16_t freest_holder(const struct gnn_fill *f, uint32_t from, uint32_t to, uint64_t bytes)
{
    uint16_t best = GNN_HOLDER_NONE;
    for (uint32_t m = from; m < to; m++)
        if (f->left[m] >= bytes && (best == GNN_HOLDER_NONE || f->left[m] > f->left[best]))
            best = (uint16_t)m;
    return best;
}

static uint16_t choose_holder(const struct gnn_fill *f, uint32_t t)
{
    const uint64_t bytes = f->rows->bytes[t];
    uint16_t m = GNN_HOLDER_NONE;
    uint32_t from, to;
    if (f->prefer) {
        f->prefer(f->arg, t, f->rows->row[t][f->at[t]], &from, &to);
        m = freest_holder(f, from, to, bytes);
    }
    return m == GNN_HOLDER_NONE ? freest_holder(f, 0, f->nholders, bytes) : m;
}

void gnn_fill_run(struct gnn_fill *f)
{
    uint64_t smallest = UINT64_MAX;
    for (uint32_t t = 0; t < f->rows->ntypes; t++)
        if (f->rows->n[t] && f->rows->bytes[t] < smallest)
            smallest = f->rows->bytes[t];
    for (int64_t t; (t = next_type(f)) >= 0; f->at[t]++) {
        const uint16_t m = choose_holder(f, (uint32_t)t);
        if (m == GNN_HOLDER_NONE &&
            !(f->skip && freest_holder(f, 0, f->nholders, smallest) != GNN_HOLDER_NONE))
            return;
        if (m != GNN_HOLDER_NONE)
            f->left[m] -= f->rows->bytes[t];
        if (f->holder)
            f->holder[t][f->at[t]] = m;
    }
}

void gnn_fill_one(const struct gnn_ranking *rows, uint64_t bytes, uint64_t *at)
{
    gnn_fill_run(&(struct gnn_fill){.rows = rows, .at = at, .left = &bytes, .nholders = 1});
}
