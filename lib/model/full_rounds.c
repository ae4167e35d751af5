/* SPDX-License-Identifier: Apache-2.0 */
/* What travels between parts: rows, round by round, gradients the other way, and sums of numbers
 * over all parts, which are added up in their order.
 *
 * A message between two ranks holds, for one round, the rows of all pairs of their partitions, in
 * the order of the partitions that own the rows. */
#include <string.h>

#include "lib/model/full_impl.h"

uint32_t gnn_full_rank_of(const struct gnn_full *f, uint32_t at)
{
    uint32_t rank = (uint32_t)((uint64_t)at * f->comm->size / f->k);
    while (rank + 1 < f->comm->size && at >= gnn_store_rank_from(f->s, rank + 1))
        rank++;
    return rank;
}

static struct full_block *block_of(const struct gnn_full *f, struct full_part *p, uint32_t r,
                                   uint32_t c)
{
    return &p->rel[r].block[gnn_full_source(f, p->at, c)];
}

/* ---- rows ---- */

/* What a rank is sent in round c: each of this rank's partitions whose user is there. Returns its
 * length; `to` may be NULL. */
static uint64_t rows_for(struct gnn_full *f, uint32_t rank, const struct full_flow *x, uint32_t c,
                         char *to)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        struct full_part *q = &f->part[i];
        const uint32_t user = gnn_full_user(f, q->at, c);
        if (gnn_full_rank_of(f, user) != rank || gnn_full_own(f, user))
            continue;
        const struct full_message m = gnn_full_message(f, x, q->at, user);
        if (to)
            gnn_full_pack_rows(f, &m, q->table, to + bytes);
        bytes += gnn_full_message_bytes(&m);
    }
    return bytes;
}

/* The same of gradients: what this rank's partitions have made for those of the rank. */
static uint64_t gradients_for(struct gnn_full *f, uint32_t rank, const struct full_flow *x,
                              uint32_t c, char *to)
{
    uint64_t bytes = 0;
    for (uint32_t q = gnn_store_rank_from(f->s, rank);
         rank != f->comm->rank && q < gnn_store_rank_from(f->s, rank + 1); q++) {
        const struct full_part *p = gnn_full_own(f, gnn_full_user(f, q, c));
        if (!p)
            continue;
        const struct full_message m = gnn_full_message(f, x, q, p->at);
        if (to)
            gnn_full_pack_gradients(f, &m, p->pushed[c % 2].data, to + bytes);
        bytes += gnn_full_message_bytes(&m);
    }
    return bytes;
}

/* The gradients of a rank's only partition, all of one message, are sent from where they were made;
 * NULL: they are packed. */
static const char *gradients_in_place(const struct gnn_full *f, const struct full_flow *x,
                                      uint32_t c)
{
    const struct full_part *p = &f->part[0];
    const struct full_message m = gnn_full_message(f, x, gnn_full_source(f, p->at, c), p->at);
    return f->n == 1 && !f->o->async && gnn_full_message_is_plain(&m) ? p->pushed[c % 2].data
                                                                      : NULL;
}

/* Messages to all ranks lie in one buffer, one after the other. What a rank is sent rows of, it is
 * sent back the gradients of. */
static int send_round(struct gnn_full *f, struct full_wire *w, const struct full_flow *x,
                      uint32_t c, bool back, struct gnn_err *e)
{
    const char *made = back ? gradients_in_place(f, x, c) : NULL;
    uint64_t bytes = 0;
    for (int write = 0; write < 2; write++) {
        char *to = write && !made ? w->out.data : NULL;
        for (uint32_t rank = 0; rank < f->comm->size; rank++) {
            const uint64_t n =
                back ? gradients_for(f, rank, x, c, to) : rows_for(f, rank, x, c, to);
            w->x.out[rank] = (struct gnn_span){made ? made : to, n};
            w->expect[rank] =
                back ? rows_for(f, rank, x, c, NULL) : gradients_for(f, rank, x, c, NULL);
            bytes += n;
            if (to)
                to += n;
        }
        if (!write && !made && gnn_full_buffer_take(f, &w->out, bytes, e))
            return e->code;
    }
    return gnn_full_wire_open(f, w, e) ? e->code : gnn_full_wire_begin(f, w, e);
}

/* The next rows in what a rank has sent, `bytes` of them; *at is what was read before. */
static const void *next_rows(const struct full_wire *w, uint32_t rank, uint64_t *at, uint64_t bytes)
{
    const char *rows = (const char *)w->in[rank].data + *at;
    *at += bytes;
    return rows;
}

/* p->view of those parts whose rows of round c came from other ranks. */
static int receive_rows(struct gnn_full *f, struct full_wire *w, const struct full_flow *x,
                        uint32_t c, struct gnn_err *e)
{
    const int rc = gnn_full_wire_end(f, w, e);
    if (rc)
        return rc;
    gnn_full_buffer_give(f, &w->out);
    for (uint32_t rank = 0; rank < f->comm->size; rank++) {
        const uint32_t lo = gnn_store_rank_from(f->s, rank),
                       hi = gnn_store_rank_from(f->s, rank + 1);
        uint64_t at = 0;
        for (uint32_t q = lo; q < hi && rank != f->comm->rank; q++) {
            struct full_part *p = gnn_full_own(f, gnn_full_user(f, q, c));
            if (!p)
                continue;
            const struct full_message m = gnn_full_message(f, x, q, p->at);
            const void *rows = next_rows(w, rank, &at, gnn_full_message_bytes(&m));
            if (gnn_full_unpack_rows(f, &m, rows, &p->fetched, &p->view, e))
                return e->code;
        }
    }
    return 0;
}

static int view_rows(struct gnn_full *f, struct full_part *p, const struct full_flow *x, uint32_t c,
                     struct gnn_err *e)
{
    const uint32_t from = gnn_full_source(f, p->at, c);
    const struct full_part *q = gnn_full_own(f, from);
    if (!c) {
        p->view = p->table;
        return 0;
    }
    const struct full_message m = gnn_full_message(f, x, from, p->at);
    *(f->pass.train ? &f->stats.fetched : &f->stats.evaluated) += gnn_full_message_bytes(&m);
    return q ? gnn_full_hand_rows(f, &m, q->table, &p->fetched, &p->view, e) : 0;
}

static struct full_wire *wire_of(const struct gnn_full *f, uint32_t c)
{
    return &f->rows[c % (f->depth + 1)];
}

/* Before round 0. */
static int start_fetching(struct gnn_full *f, const struct full_flow *x, struct gnn_err *e)
{
    for (uint32_t c = 1; f->comm->size > 1 && !x->kept && c < f->k && c <= f->depth; c++) {
        const int rc = send_round(f, wire_of(f, c), x, c, false, e);
        if (rc)
            return rc;
    }
    return 0;
}

/* The rows of the round are kept, or are those that were. */
static int keep_rows(struct gnn_full *f, struct full_part *p, const struct full_flow *x, uint32_t c,
                     struct gnn_err *e)
{
    const uint64_t n = (uint64_t)block_of(f, p, x->r, c)->n * x->d;
    struct gnn_buf *b = &p->kept[(x->conv - f->m->conv) * f->k + c];
    if (!x->kept && f->o->fit(f->o, b, n, sizeof(float), "rows of other partitions", e))
        return e->code;
    if (!x->kept)
        f->o->copy(f->o, b->data, p->view, n * sizeof(float));
    p->view = b->data;
    return 0;
}

/* Of the last round, too, the rows have been used. */
static void end_fetching(struct gnn_full *f, const struct full_flow *x)
{
    if (f->k > 1 && f->comm->size > 1 && !x->kept)
        gnn_full_wire_give(f, wire_of(f, f->k - 1));
}

/* The views of round c, while the rows of later rounds travel. */
static int fetch_round(struct gnn_full *f, const struct full_flow *x, uint32_t c, struct gnn_err *e)
{
    const uint32_t ahead = c + f->depth;
    int rc = 0;
    if (c && f->comm->size > 1 && !x->kept) {
        if (c > 1)
            gnn_full_wire_give(f, wire_of(f, c - 1));
        rc = receive_rows(f, wire_of(f, c), x, c, e);
        if (!rc && ahead < f->k)
            rc = send_round(f, wire_of(f, ahead), x, ahead, false, e);
    }
    for (uint32_t i = 0; !rc && i < f->n; i++) {
        if (!c || !x->kept)
            rc = view_rows(f, &f->part[i], x, c, e);
        if (!rc && c && x->keep)
            rc = keep_rows(f, &f->part[i], x, c, e);
    }
    return rc;
}

static int end_rounds(struct gnn_full *f, const struct full_flow *x, bool fetches, void *arg,
                      struct gnn_err *e)
{
    if (fetches)
        end_fetching(f, x);
    for (uint32_t i = 0; x->over && i < f->n; i++)
        if (x->over(f, &f->part[i], arg, e))
            return e->code;
    return gnn_full_each(f, &x->last, arg, e);
}

int gnn_full_fetch(struct gnn_full *f, const struct full_flow *x, full_use *use, void *arg,
                   struct gnn_err *e)
{
    if (f->swap)
        return gnn_full_fetch_in_turns(f, x, use, arg, e);
    int rc = gnn_full_each(f, &x->first, arg, e);
    if (!rc)
        rc = start_fetching(f, x, e);
    for (uint32_t c = 0; !rc && c < f->k; c++) {
        rc = fetch_round(f, x, c, e);
        for (uint32_t i = 0; !rc && i < f->n; i++)
            rc = use(f, &f->part[i], c, arg, e);
    }
    return rc ? rc : end_rounds(f, x, true, arg, e);
}

/* ---- gradients ---- */

/* Waits for the gradients of round c from other ranks, and adds them to the rows of this rank's
 * partitions. */
static int receive_gradients(struct gnn_full *f, struct full_wire *w, const struct full_flow *x,
                             uint32_t c, struct gnn_err *e)
{
    const int rc = gnn_full_wire_end(f, w, e);
    uint64_t *at = rc ? NULL : gnn_alloc_zero(f->comm->size, sizeof *at, "gradients", e);
    for (uint32_t i = 0; at && !e->code && i < f->n; i++) {
        struct full_part *q = &f->part[i];
        const uint32_t user = gnn_full_user(f, q->at, c), rank = gnn_full_rank_of(f, user);
        if (gnn_full_own(f, user))
            continue;
        const struct full_message m = gnn_full_message(f, x, q->at, user);
        gnn_full_add_gradients(f, &m, next_rows(w, rank, &at[rank], gnn_full_message_bytes(&m)),
                               q->into);
    }
    gnn_free(at);
    if (rc || e->code)
        return rc ? rc : e->code;
    gnn_full_buffer_give(f, &w->out);
    gnn_full_wire_give(f, w);
    return 0;
}

/* The same of gradients that this rank's own partitions have made. */
static int add_gradients(struct gnn_full *f, const struct full_flow *x, uint32_t c,
                         struct gnn_err *e)
{
    for (uint32_t i = 0; i < f->n; i++) {
        struct full_part *q = &f->part[i];
        const struct full_part *p = gnn_full_own(f, gnn_full_user(f, q->at, c));
        if (!p)
            continue;
        const struct full_message m = gnn_full_message(f, x, q->at, p->at);
        if (gnn_full_hand_gradients(f, &m, p->pushed[c % 2].data, q->into, e))
            return e->code;
    }
    for (uint32_t i = 0; i < f->n; i++)
        gnn_full_buffer_give(f, &f->part[i].pushed[c % 2]);
    return 0;
}

static int make_gradients(struct gnn_full *f, const struct full_flow *x, uint32_t c,
                          full_make *make, void *arg, struct gnn_err *e)
{
    for (uint32_t i = 0; i < f->n; i++) {
        struct full_part *p = &f->part[i];
        struct gnn_buf *b = &p->pushed[c % 2];
        const uint64_t n = (uint64_t)block_of(f, p, x->r, c)->n * x->d;
        if ((c && gnn_full_buffer_take(f, b, n * sizeof(float), e)) ||
            make(f, p, c, c ? b->data : p->into, arg, e))
            return e->code;
        if (!c)
            continue;
        const struct full_message m = gnn_full_message(f, x, gnn_full_source(f, p->at, c), p->at);
        f->stats.pushed += gnn_full_message_bytes(&m);
    }
    return 0;
}

/* While the gradients of a round travel, those of the next are made. A row gets them in the order
 * of rounds, whether they come from this rank or another. */
int gnn_full_push(struct gnn_full *f, const struct full_flow *x, bool fetches, full_make *make,
                  void *arg, struct gnn_err *e)
{
    const bool ranks = f->comm->size > 1;
    if (f->swap)
        return gnn_full_push_in_turns(f, x, fetches, make, arg, e);
    int rc = gnn_full_each(f, &x->first, arg, e);
    if (!rc && fetches)
        rc = start_fetching(f, x, e);
    for (uint32_t c = 0; !rc && c <= f->k; c++) {
        if (fetches && c < f->k)
            rc = fetch_round(f, x, c, e);
        if (!rc && c < f->k)
            rc = make_gradients(f, x, c, make, arg, e);
        if (!rc && c > 1 && ranks)
            rc = receive_gradients(f, &f->grads[(c - 1) % FULL_WIRES], x, c - 1, e);
        if (!rc && c > 1)
            rc = add_gradients(f, x, c - 1, e);
        if (!rc && c && c < f->k && ranks)
            rc = send_round(f, &f->grads[c % FULL_WIRES], x, c, true, e);
    }
    return rc ? rc : end_rounds(f, x, fetches, arg, e);
}

/* ---- sums in the order of parts ---- */

int gnn_full_sum_numbers(struct gnn_full *f, uint64_t n, struct gnn_err *e)
{
    struct gnn_exchange *x = &f->sums;
    const struct gnn_ops *o = f->o;
    o->mark(o, GNN_OPS_MARK_NET);
    if (o->wait(o, GNN_OPS_MARK_NET, e) ||
        o->fit_host(o, &f->share, f->n * n, sizeof(double), "sums", e) ||
        o->fit_host(o, &f->total, n, sizeof(double), "sums", e))
        return e->code;
    for (uint32_t i = 0; i < f->n; i++)
        memcpy((double *)f->share.data + i * n, f->part[i].sum, n * sizeof(double));
    int rc = gnn_comm_all_gather(f->comm, x, f->share.data, f->n * n * sizeof(double), e);
    f->sum = f->total.data;
    memset(f->sum, 0, n * sizeof(double));
    for (uint32_t p = 0; !rc && p < f->k; p++) {
        const uint32_t rank = gnn_full_rank_of(f, p), i = p - gnn_store_rank_from(f->s, rank);
        if (x->in[rank].bytes < (i + 1) * n * sizeof(double))
            rc = gnn_fail(e, GNN_E_RANK, "malformed sums from rank %u", rank);
        for (uint64_t j = 0; !rc && j < n; j++)
            f->sum[j] += ((const double *)x->in[rank].data)[i * n + j];
    }
    return rc;
}

/* Each rank adds up a slice of the gradients of all parts; then all get all slices. */
static void slice_of(const struct gnn_full *f, uint32_t rank, uint64_t *from, uint64_t *to)
{
    const uint64_t n = f->m->trained, size = f->comm->size;
    *from = n * rank / size;
    *to = n * (rank + 1) / size;
}

static int send_slices(struct gnn_full *f, struct full_wire *w, struct gnn_err *e)
{
    const struct gnn_ops *o = f->o;
    uint64_t own, own_end;
    slice_of(f, f->comm->rank, &own, &own_end);
    if (o->fit(o, &w->out, f->n * f->m->trained, sizeof(float), "gradients", e))
        return e->code;
    float *to = w->out.data;
    for (uint32_t rank = 0; rank < f->comm->size; rank++) {
        const uint32_t parts =
            gnn_store_rank_from(f->s, rank + 1) - gnn_store_rank_from(f->s, rank);
        uint64_t from, end;
        slice_of(f, rank, &from, &end);
        w->x.out[rank] = (struct gnn_span){to, f->n * (end - from) * sizeof *to};
        w->expect[rank] = parts * (own_end - own) * sizeof *to;
        for (uint32_t i = 0; i < f->n; i++, to += end - from)
            o->copy(o, to, f->part[i].net.pass.grad + from, (end - from) * sizeof *to);
    }
    return gnn_full_wire_begin(f, w, e);
}

/* The sum of the slices of all parts. */
static void add_slices(struct gnn_full *f, const struct full_wire *w, float *sum)
{
    uint64_t from, to;
    slice_of(f, f->comm->rank, &from, &to);
    const uint64_t n = to - from;
    for (uint32_t p = 0; p < f->k; p++) {
        const uint32_t rank = gnn_full_rank_of(f, p), i = p - gnn_store_rank_from(f->s, rank);
        const float *g = (const float *)w->in[rank].data + i * n;
        if (p)
            f->o->add(f->o, g, n, sum);
        else
            f->o->copy(f->o, sum, g, n * sizeof *g);
    }
}

/* All ranks get all sums. */
static int share_sums(struct gnn_full *f, struct full_wire *w, const float *sum, struct gnn_err *e)
{
    const struct gnn_ops *o = f->o;
    uint64_t own, own_end, from, to;
    slice_of(f, f->comm->rank, &own, &own_end);
    if (o->fit(o, &w->out, own_end - own, sizeof *sum, "gradients", e))
        return e->code;
    o->copy(o, w->out.data, sum, (own_end - own) * sizeof *sum);
    for (uint32_t rank = 0; rank < f->comm->size; rank++) {
        slice_of(f, rank, &from, &to);
        w->x.out[rank] = (struct gnn_span){w->out.data, (own_end - own) * sizeof *sum};
        w->expect[rank] = (to - from) * sizeof *sum;
    }
    return gnn_full_wire_begin(f, w, e);
}

static void add_own_gradients(struct gnn_full *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (i)
            f->o->add(f->o, f->part[i].net.pass.grad, f->m->trained, f->grad.data);
        else
            f->o->copy(f->o, f->grad.data, f->part[i].net.pass.grad, f->m->trained * sizeof(float));
}

int gnn_full_sum_gradients(struct gnn_full *f, struct gnn_err *e)
{
    struct full_wire *w = &f->slices;
    float *grad = f->grad.data;
    uint64_t from, to;
    if (f->comm->size == 1) {
        add_own_gradients(f);
        return 0;
    }
    slice_of(f, f->comm->rank, &from, &to);
    int rc = send_slices(f, w, e);
    if (!rc)
        rc = gnn_full_wire_end(f, w, e);
    if (rc)
        return rc;
    add_slices(f, w, grad + from);
    rc = share_sums(f, w, grad + from, e);
    if (!rc)
        rc = gnn_full_wire_end(f, w, e);
    for (uint32_t rank = 0; !rc && rank < f->comm->size; rank++) {
        slice_of(f, rank, &from, &to);
        f->o->copy(f->o, grad + from, w->in[rank].data, (to - from) * sizeof *grad);
    }
    return rc;
}
