/* SPDX-License-Identifier: Apache-2.0 */
/* Deduplicated ownership. With several ranks a node may be in the shares of several; what is summed
 * over the nodes of the whole batch counts it once: in the rank that finds it first, hop by hop,
 * and of those that find it in the same hop the lowest. So the rank that counts a node counts it in
 * all later hops, in which other ranks have it, too. A node's owner knows who has found it, as all
 * ask there; requests and replies travel with those of the hop (lib/sample/sample_remote.c):
 *
 *   request: per node type, u32 n, entries[n] that are new to the rank
 *   reply:   per node type, u32 words of n bits, from the lowest on: does the rank count the node?
 *
 * Where entries have times, a node counts once for each time. Trees are of one rank each: with
 * these nothing is to be decided. */
#include <stdio.h>
#include <string.h>

#include "lib/sample/sample_impl.h"

/* Of one type: this rank's nodes in the batch, less the first that it has. */
struct known {
    struct gnn_relabel number;
    struct gnn_buf node, time; /* its list */
};

struct sample_dedup {
    struct known *known; /* [nntypes] */
    uint32_t nntypes;
    uint32_t *wanted;            /* [nntypes][owners] nodes asked for */
    uint32_t *left;              /* [ranks] the next of their bits */
    const uint32_t **bits;       /* [ranks] */
    struct gnn_tensor **counted; /* [nntypes] of the batch */
    struct gnn_buf ids;          /* owners of what is asked for, or nodes less the first */
};

void gnn_sample_dedup_free(struct sample_dedup *o)
{
    if (!o)
        return;
    for (uint32_t t = 0; o->known && t < o->nntypes; t++) {
        gnn_sample_numbering_free(&o->known[t].number);
        gnn_buf_release(&o->known[t].node);
        gnn_buf_release(&o->known[t].time);
    }
    gnn_free(o->known);
    gnn_free(o->wanted);
    gnn_free(o->left);
    gnn_free(o->bits);
    gnn_free(o->counted);
    gnn_buf_release(&o->ids);
    gnn_free(o);
}

static uint64_t own_nodes(const struct sampler *s, uint32_t t)
{
    return s->store->book[t][s->store->to] - s->store->book[t][s->store->from];
}

struct sample_dedup *gnn_sample_dedup_new(const struct sampler *s, struct gnn_err *e)
{
    const uint32_t nntypes = s->meta.schema.nntypes, ranks = s->comm->size;
    struct sample_dedup *o = gnn_alloc_zero(1, sizeof *o, "ranks", e);
    if (!o)
        return NULL;
    o->nntypes = nntypes;
    o->known = gnn_alloc_zero(nntypes, sizeof *o->known, "ranks", e);
    o->wanted = gnn_alloc_zero(nntypes * (ranks + UINT64_C(1)), sizeof *o->wanted, "ranks", e);
    o->left = gnn_alloc_zero(ranks, sizeof *o->left, "ranks", e);
    o->bits = gnn_alloc_zero(ranks, sizeof(uint32_t *), "ranks", e);
    o->counted = gnn_alloc_zero(nntypes, sizeof(struct gnn_tensor *), "ranks", e);
    bool good = !e->code;
    for (uint32_t t = 0; good && t < nntypes; t++)
        good = !gnn_sample_numbering(s, own_nodes(s, t), &o->known[t].number, e);
    if (good)
        return o;
    gnn_sample_dedup_free(o);
    return NULL;
}

/* Entries of type t that the hop is the first to expand. */
static struct gnn_entries new_entries(const struct sample_draw *d, uint32_t hop, uint32_t t,
                                      uint32_t *from, uint32_t *n)
{
    const uint64_t *known = d->w->counts[t];
    *from = hop > gnn_sample_remote_from(d->s) ? (uint32_t)known[hop - 1] : 0;
    *n = (uint32_t)known[hop] - *from;
    return gnn_entries_from(d->w->type[t].list, *from);
}

static int begin_batch(const struct sample_draw *d, struct sample_dedup *o)
{
    for (uint32_t t = 0; t < o->nntypes; t++) {
        gnn_relabel_begin(&o->known[t].number);
        if (gnn_column_add(&d->b->tensors, &d->s->meta, GNN_COLUMN_COUNTED, 0, t, 0, &o->counted[t],
                           d->e))
            return d->e->code;
    }
    return 0;
}

int gnn_sample_dedup_ask(const struct sample_draw *d, struct sample_dedup *o, struct gnn_request *q,
                         uint32_t hop)
{
    if (hop == gnn_sample_remote_from(d->s) && begin_batch(d, o))
        return d->e->code;
    for (uint32_t t = 0; t < o->nntypes; t++) {
        uint32_t from, n;
        const struct gnn_entries entry = new_entries(d, hop, t, &from, &n);
        if (gnn_buf_fit(&o->ids, n, sizeof(uint32_t), "requests", d->e))
            return d->e->code;
        uint32_t *owner = o->ids.data;
        for (uint32_t i = 0; i < n; i++)
            owner[i] = gnn_store_rank_of(d->s->store, t, entry.node[i]);
        if (gnn_request_put(q, owner, entry, n, o->wanted + (size_t)t * q->owners, d->e))
            return d->e->code;
    }
    return 0;
}

/* Space for n more. */
static int fit_known(const struct sample_draw *d, struct known *k, uint32_t n)
{
    const uint64_t capacity = k->number.count + (uint64_t)n + 1;
    if (gnn_buf_reserve(&k->node, capacity, sizeof(uint32_t), "nodes of a batch", d->e) ||
        (gnn_sampling_is_temporal(&d->s->meta.sampling) &&
         gnn_buf_reserve(&k->time, capacity, sizeof(int64_t), "times of a batch", d->e)))
        return d->e->code;
    k->number.list = (struct gnn_entries){.node = k->node.data, .time = k->time.data};
    if (gnn_sample_fit_numbering(d->s, &k->number, capacity, d->e))
        return d->e->code;
    return gnn_relabel_fit(&k->number, n)
               ? 0
               : gnn_fail(d->e, GNN_E_RANK, "ranks ask for more than 2^31 nodes of a batch");
}

/* Which of n entries nobody has asked for in this batch. None is there twice, so that these are
 * the ones that get new numbers, in order. */
static int find_new(const struct sample_draw *d, struct sample_dedup *o, uint32_t t,
                    struct gnn_entries entry, uint32_t n, uint32_t *bit)
{
    const struct gnn_store *s = d->s->store;
    struct known *k = &o->known[t];
    uint32_t next = k->number.count;
    if (fit_known(d, k, n) || gnn_buf_fit(&o->ids, n, sizeof(uint32_t), "nodes", d->e))
        return d->e->code;
    uint32_t *own = o->ids.data;
    for (uint32_t i = 0; i < n; i++) /* those of others become large */
        own[i] = entry.node[i] - (uint32_t)s->book[t][s->from];
    entry.node = own;
    if (gnn_relabel_add(&k->number, entry, n) < n)
        return GNN_E_RANK;
    for (uint32_t i = 0; i < n && next < k->number.count; i++)
        if (gnn_entry_same(&k->number.list, next, own[i], &entry, i)) {
            bit[i / 32] |= UINT32_C(1) << i % 32;
            next++;
        }
    return 0;
}

int gnn_sample_dedup_reply(const struct sample_draw *d, struct sample_dedup *o,
                           struct gnn_request *q, uint32_t r)
{
    for (uint32_t t = 0; t < o->nntypes; t++) {
        const uint32_t *n = gnn_packet_read(&q->in[r], 1);
        struct gnn_entries entry;
        if (!n || !gnn_packet_read_entries(&q->in[r], d->w->type[t].list, *n, &entry))
            return gnn_request_malformed(q, r, d->e);
        const uint64_t words = ((uint64_t)*n + 31) / 32;
        uint32_t *bit = gnn_packet_add(&q->staging[r], words, d->e);
        if (!bit)
            return d->e->code;
        memset(bit, 0, words * sizeof *bit);
        if (find_new(d, o, t, entry, *n, bit))
            return d->e->code ? d->e->code : gnn_request_malformed(q, r, d->e);
    }
    return 0;
}

int gnn_sample_dedup_read(const struct sample_draw *d, struct sample_dedup *o,
                          struct gnn_request *q, uint32_t hop)
{
    for (uint32_t t = 0; t < o->nntypes; t++) {
        uint32_t from, n;
        const struct gnn_entries entry = new_entries(d, hop, t, &from, &n);
        if (gnn_tensors_resize(&d->b->tensors, o->counted[t], (uint64_t)from + n, d->e))
            return d->e->code;
        for (uint32_t r = 0; r < q->ranks; r++) {
            const uint64_t asked = o->wanted[(size_t)t * q->owners + r];
            o->left[r] = 0;
            o->bits[r] = gnn_packet_read(&q->in[r], (asked + 31) / 32);
            if (!o->bits[r])
                return gnn_request_malformed(q, r, d->e);
        }
        uint8_t *counted = (uint8_t *)o->counted[t]->data + from;
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t r = gnn_store_rank_of(d->s->store, t, entry.node[i]), k = o->left[r]++;
            counted[i] = o->bits[r][k / 32] >> k % 32 & 1;
        }
    }
    return 0;
}
