/* SPDX-License-Identifier: Apache-2.0 */
/* A partition's memory. */
#include "lib/model/full_impl.h"

void gnn_full_keep_sums(struct full_part *p, uint64_t w, uint64_t rows)
{
    const struct gnn_ops *o = p->net.pass.o;
    o->fetch(o, p->sum, p->net.pass.sums.data, 2 * w * sizeof(double));
    p->sum[2 * w] = (double)rows;
}

void gnn_full_view(const struct full_part *p, struct gnn_conv_run *c, uint32_t q, const float *rows)
{
    const struct full_block *b = &p->rel[c->conv->rel].block[q];
    struct gnn_adj *a = &c->adj;
    a->seg = b->csr.data;
    a->nseg = 1;
    a->back = a->seg + 1;
    a->parts = b->parts.seg ? &b->parts : NULL;
    a->nsrc = b->n;
    c->other_part = q != p->at;
    a->edges = b->edges;
    a->loop_feature = p->rel[c->conv->rel].mean.data;
    a->id = b->id.data;
    a->node_id = p->type[c->conv->dst].node;
    a->number = b->number;
    a->value = b->value.data;
    a->feature = b->feature.data;
    a->features = c->s->m->c.etype[c->conv->rel].features;
    gnn_adj_tell(c->s->o, a, (struct gnn_block_shape){.to = a->ndst, .edges = b->edges});
    if (c->message)
        c->messages = rows;
    else
        c->x = rows;
}

const float *gnn_full_own_rows(const struct gnn_conv_run *c)
{
    return c->message ? c->sent.data : c->x;
}

/* The smallest buffer that is large enough; else the largest one. */
static bool fits_better(const struct gnn_buf *a, const struct gnn_buf *b, uint64_t bytes)
{
    const bool is = a->cap >= bytes, was = b->cap >= bytes;
    return is == was ? (is ? a->cap < b->cap : a->cap > b->cap) : is;
}

/* A buffer that is too small is made larger: otherwise it would stay besides. Few bytes get none,
 * as more would need it later; but one is freed so that they can be had besides. */
void gnn_full_take_spare(const struct gnn_full *f, struct full_part *p, struct gnn_buf *to,
                         uint64_t bytes)
{
    struct gnn_buf *best = NULL;
    if (f->swap || to->data)
        return;
    for (uint32_t i = 0; i < p->nspare; i++) {
        struct gnn_buf *b = &p->spare[i];
        if (b->data && (!best || fits_better(b, best, bytes)))
            best = b;
    }
    if (!best)
        return;
    if (bytes >= p->large) {
        *to = *best;
        *best = (struct gnn_buf){0};
    } else if (bytes >= best->cap / 4 && !f->o->async)
        f->o->release(f->o, best);
}

void gnn_full_give_spare(const struct gnn_full *f, struct full_part *p, struct gnn_buf *from)
{
    if (f->swap) {
        gnn_swap_forget(f->swap, from);
        return;
    }
    for (uint32_t i = 0; from->cap >= p->large && from->data && i < p->nspare; i++) {
        if (p->spare[i].data)
            continue;
        p->spare[i] = *from;
        *from = (struct gnn_buf){0};
    }
    if (!f->o->async)
        f->o->release(f->o, from);
}

/* The original ids of a part's nodes, which dropout is keyed by. */
static int set_ids(struct gnn_full *f, struct full_part *p, uint32_t t, struct gnn_err *e)
{
    const uint64_t n = gnn_full_rows(f, p, 0, t);
    const uint32_t *order = p->order ? p->order[t].data : NULL;
    const struct gnn_tensor *id =
        gnn_store_findf(f->s, p->at, "node/%s/id", f->s->meta.schema.ntype[t].name);
    if (id && order) {
        if (gnn_full_needed_rows(f, p, t, id->data, sizeof(uint32_t), &p->id[t], e) ||
            gnn_full_table_put(f, &p->id[t], e))
            return e->code;
        p->type[t].node = p->id[t].data;
        return 0;
    }
    if (id) {
        p->type[t].node =
            gnn_full_bring(f, &p->id[t].there, id->data, n * sizeof(uint32_t), "ids", e);
        return e->code;
    }
    if (gnn_full_table_make(&p->id[t], n, sizeof(uint32_t), "ids", e))
        return e->code;
    uint32_t *x = p->id[t].data;
    for (uint64_t i = 0; i < n; i++)
        x[i] = (uint32_t)(f->s->book[t][p->at] + (order ? order[i] : i));
    if (gnn_full_table_put(f, &p->id[t], e))
        return e->code;
    p->type[t].node = p->id[t].data;
    return 0;
}

int gnn_full_part_make(struct gnn_full *f, struct full_part *p, struct gnn_err *e)
{
    const struct gnn_model *m = f->m;
    const uint32_t nt = m->c.nntypes;
    uint64_t widest = 0, most = 0;
    if (gnn_net_init(&p->net, m, f->o, e))
        return e->code;
    for (uint32_t i = 0; i < m->nstages * nt; i++) {
        if (m->width[i] > widest)
            widest = m->width[i];
        p->net.rows[i] = m->width[i] ? gnn_full_rows(f, p, m->stage[i / nt].level, i % nt) : 0;
        const uint64_t floats = i < nt ? 0 : (uint64_t)p->net.rows[i] * m->width[i];
        most = floats > most ? floats : most;
    }
    p->large = most * sizeof(float) / 2;
    p->type = gnn_alloc_zero(nt, sizeof *p->type, "parts", e);
    p->id = gnn_alloc_zero(nt, sizeof *p->id, "parts", e);
    p->rel = gnn_alloc_zero(m->c.netypes, sizeof *p->rel, "parts", e);
    p->ask = gnn_alloc_zero((uint64_t)m->c.netypes * f->k, sizeof *p->ask, "parts", e);
    p->kept = gnn_alloc_zero((uint64_t)m->nconvs * f->k, sizeof *p->kept, "parts", e);
    p->mail = gnn_alloc_zero((uint64_t)m->nconvs * f->k, sizeof *p->mail, "parts", e);
    p->back_mail = gnn_alloc_zero(f->k, sizeof *p->back_mail, "parts", e);
    /* Of each stage and type rows, the norm's and a gradient; messages and results of
     * convolutions; and gradients of messages. */
    p->nspare = 3 * m->nstages * nt + 2 * m->nconvs + 1;
    p->spare = gnn_alloc_zero(p->nspare, sizeof *p->spare, "parts", e);
    p->gone = gnn_alloc_zero((uint64_t)m->nstages * nt, sizeof *p->gone, "parts", e);
    p->features = gnn_alloc_zero(nt, sizeof *p->features, "parts", e);
    if (f->o->fit_host(f->o, &p->moments, 2 * widest + 1, sizeof *p->sum, "moments", e))
        return e->code;
    p->sum = p->moments.data;
    p->batch = (struct gnn_batch){.type = p->type, .nntypes = nt, .netypes = m->c.netypes};
    p->net.b = &p->batch;
    for (uint32_t t = 0; !e->code && t < nt; t++)
        (void)!set_ids(f, p, t, e);
    return e->code;
}

static void free_buffers(const struct gnn_ops *o, struct gnn_buf *b, uint64_t n)
{
    for (uint64_t i = 0; b && i < n; i++)
        o->release(o, &b[i]);
    gnn_free(b);
}

void gnn_full_part_free(struct gnn_full *f, struct full_part *p)
{
    const struct gnn_ops *o = f->o;
    gnn_full_blocks_free(f, p);
    for (uint32_t t = 0; t < f->m->c.nntypes; t++) {
        if (p->id)
            gnn_full_table_free(f, &p->id[t]);
        if (p->features)
            gnn_full_table_free(f, &p->features[t]);
        if (p->order)
            gnn_buf_release(&p->order[t]);
    }
    gnn_full_table_free(f, &p->seed);
    gnn_full_table_free(f, &p->place);
    gnn_free(p->order);
    gnn_free(p->count);
    o->release_host(o, &p->moments);
    struct gnn_buf *const buf[] = {&p->fetched, &p->pushed[0], &p->pushed[1], &p->dmessages,
                                   &p->rows};
    for (size_t i = 0; i < sizeof buf / sizeof *buf; i++)
        o->release(o, buf[i]);
    free_buffers(o, p->spare, p->nspare);
    free_buffers(o, p->mail, (uint64_t)f->m->nconvs * f->k);
    free_buffers(o, p->back_mail, f->k);
    free_buffers(o, p->kept, (uint64_t)f->m->nconvs * f->k);
    gnn_free(p->gone);
    gnn_free(p->type);
    gnn_free(p->id);
    gnn_free(p->features);
    gnn_net_release(&p->net);
}
