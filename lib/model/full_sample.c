/* SPDX-License-Identifier: Apache-2.0 */
/* Boundary-node sampling (BNS-GCN: Wan et al., "BNS-GCN: Efficient Full-Graph Training of Graph
 * Convolutional Networks with Partition-Parallelism and Random Boundary Node Sampling", MLSys
 * 2022): in a step, a partition uses some of the rows of other partitions, the same in all layers.
 * The draw for a row is keyed by its id and the partition that uses it, so that owner and user find
 * the same sample without a word. */
#include <math.h>

#include "kernels/rng.h"
#include "lib/model/full_impl.h"

void gnn_full_sample_init(struct gnn_full *f, double boundary)
{
    if (boundary <= 0)
        return;
    const double keep = rint(boundary * 0x1p32);
    f->keep32 = keep < 1 ? 1 : (uint64_t)keep;
    f->scale = (float)(0x1p32 / (double)f->keep32);
}

void gnn_full_sample_free(struct gnn_full *f, struct full_sample *s)
{
    f->o->release(f->o, &s->row);
    f->o->release(f->o, &s->at);
}

static int put_list(struct gnn_full *f, struct gnn_buf *to, const uint32_t *from, uint32_t n,
                    struct gnn_err *e)
{
    if (f->o->fit(f->o, to, n, sizeof *from, "rows of the sample", e))
        return e->code;
    f->o->put(f->o, to->data, from, n * sizeof *from);
    return 0;
}

/* Space in the host's memory for three lists of n rows, the first of which is `row`, from where the
 * operations are. */
static uint32_t *bring_rows(struct gnn_full *f, const uint32_t *row, uint32_t n, struct gnn_err *e)
{
    const struct gnn_ops *o = f->o;
    if (o->fit_host(o, &f->draws, 3 * (uint64_t)n + 1, sizeof *row, "rows of the sample", e))
        return NULL;
    if (n)
        o->fetch(o, f->draws.data, row, n * sizeof *row);
    o->mark(o, GNN_OPS_MARK_NET);
    return o->wait(o, GNN_OPS_MARK_NET, e) ? NULL : f->draws.data;
}

/* Which of the n rows that partition `user` uses of partition `owner` stay. */
static int draw_sample(struct gnn_full *f, uint32_t r, uint32_t owner, uint32_t user,
                       const uint32_t *row, uint32_t n, struct full_sample *s, struct gnn_err *e)
{
    const uint32_t tag = gnn_rng_tag(GNN_RNG_BOUNDARY, 0, r);
    const uint32_t first = (uint32_t)f->s->book[f->m->c.etype[r].src][owner];
    uint32_t key[2], *all = bring_rows(f, row, n, e);
    if (!all)
        return e->code;
    uint32_t *stay = all + n, *at = stay + n;
    gnn_rng_key(f->pass.seed, f->pass.epoch, f->pass.step, user, tag, key);
    s->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        stay[s->n] = all[i];
        at[s->n] = i;
        s->n += gnn_rng_word(key, first + all[i], 0, tag, 0) < f->keep32;
    }
    return put_list(f, &s->row, stay, s->n, e) ? e->code : put_list(f, &s->at, at, s->n, e);
}

/* Both ends of what goes between ranks, and what stays on this one. */
static int draw_relation(struct gnn_full *f, struct full_part *p, uint32_t r, struct gnn_err *e)
{
    for (uint32_t q = 0; q < f->k; q++) {
        struct full_block *b = &p->rel[r].block[q];
        struct full_ask *a = gnn_full_ask(f, p, r, q);
        if (q != p->at && draw_sample(f, r, q, p->at, b->need.data, b->n, &b->sample, e))
            return e->code;
        if (!gnn_full_own(f, q) && draw_sample(f, r, p->at, q, a->row, a->n, &a->sample, e))
            return e->code;
    }
    return 0;
}

int gnn_full_sample_draw(struct gnn_full *f, struct gnn_err *e)
{
    for (uint32_t r = 0; f->keep32 && r < f->m->c.netypes; r++)
        for (uint32_t i = 0; i < f->n; i++)
            if (f->part[i].rel[r].block && draw_relation(f, &f->part[i], r, e))
                return e->code;
    return 0;
}
