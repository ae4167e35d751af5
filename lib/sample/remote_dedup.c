/* SPDX-License-Identifier: Apache-2.0 */
/* Deduplicated ownership. With several ranks a node may be in the shares of several; what is summed
 * over the nodes of the whole batch counts it once: in the rank that finds it first, hop by hop,
 * and of those that find it in the same hop the lowest. So the rank that counts a node counts it in
 * all later hops, in which other ranks have it, too. A node's owner knows who has found it, as all
 * ask there; requests and replies travel with those of the hop (lib/sample/remote.c):
 *
 *   request: per node type, u32 n, u32 nodes[n] that are new to the rank
 *   reply:   per node type, u32 words of n bits, from the lowest on: does the rank count the node?
 */
#include <stdio.h>
#include <string.h>

#include "lib/sample/sample_impl.h"

struct sample_dedup {
    uint32_t **by; /* [nntypes] of each own node: turn * ranks + the rank that counts it */
    uint32_t nntypes, turn;
    uint32_t *wanted;            /* [nntypes][owners] nodes asked for */
    uint32_t *left;              /* [ranks] the next of their bits */
    const uint32_t **bits;       /* [ranks] */
    struct gnn_tensor **counted; /* [nntypes] of the batch */
    struct gnn_buf owner;
};

void gnn_sample_dedup_free(struct sample_dedup *o)
{
    if (!o)
        return;
    for (uint32_t t = 0; o->by && t < o->nntypes; t++)
        gnn_free(o->by[t]);
    gnn_free(o->by);
    gnn_free(o->wanted);
    gnn_free(o->left);
    gnn_free(o->bits);
    gnn_free(o->counted);
    gnn_buf_release(&o->owner);
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
    o->by = gnn_alloc_zero(nntypes, sizeof(uint32_t *), "ranks", e);
    o->wanted = gnn_alloc_zero(nntypes * (ranks + UINT64_C(1)), sizeof *o->wanted, "ranks", e);
    o->left = gnn_alloc_zero(ranks, sizeof *o->left, "ranks", e);
    o->bits = gnn_alloc_zero(ranks, sizeof(uint32_t *), "ranks", e);
    o->counted = gnn_alloc_zero(nntypes, sizeof(struct gnn_tensor *), "ranks", e);
    for (uint32_t t = 0; !e->code && t < nntypes; t++)
        o->by[t] = gnn_alloc_zero(own_nodes(s, t), sizeof **o->by, "ownership of nodes", e);
    if (!e->code)
        return o;
    gnn_sample_dedup_free(o);
    return NULL;
}

/* Nodes of type t that the hop is the first to expand. */
static const uint32_t *new_nodes(const struct sample_draw *d, uint32_t hop, uint32_t t,
                                 uint32_t *from, uint32_t *n)
{
    const uint64_t *known = d->w->counts[t];
    *from = hop > 1 ? (uint32_t)known[hop - 1] : 0;
    *n = (uint32_t)known[hop] - *from;
    return d->w->type[t].list.node + *from;
}

/* A turn is a batch: numbers of another turn say nothing. */
static int begin_turn(const struct sample_draw *d, struct sample_dedup *o)
{
    const uint64_t none = 0;
    char name[GNN_NAME_MAX + 1];
    if (++o->turn > UINT32_MAX / d->s->comm->size - 1) {
        for (uint32_t t = 0; t < o->nntypes; t++)
            memset(o->by[t], 0, own_nodes(d->s, t) * sizeof **o->by);
        o->turn = 1;
    }
    for (uint32_t t = 0; t < o->nntypes; t++)
        if (gnn_tensors_add(&d->b->tensors,
                            gnn_tensor_name(name, "counted/%s", d->s->meta.schema.ntype[t].name),
                            GNN_U8, 1, &none, &o->counted[t], d->e))
            return d->e->code;
    return 0;
}

int gnn_sample_dedup_ask(const struct sample_draw *d, struct sample_dedup *o, struct gnn_request *q,
                         uint32_t hop)
{
    if (hop == 1 && begin_turn(d, o))
        return d->e->code;
    for (uint32_t t = 0; t < o->nntypes; t++) {
        uint32_t from, n;
        const uint32_t *node = new_nodes(d, hop, t, &from, &n);
        const struct gnn_entries entry = {.node = (uint32_t *)(uintptr_t)node};
        if (gnn_buf_fit(&o->owner, n, sizeof(uint32_t), "requests", d->e))
            return d->e->code;
        uint32_t *owner = o->owner.data;
        for (uint32_t i = 0; i < n; i++)
            owner[i] = gnn_store_rank_of(d->s->store, t, node[i]);
        if (gnn_request_put(q, owner, entry, n, o->wanted + (size_t)t * q->owners, d->e))
            return d->e->code;
    }
    return 0;
}

int gnn_sample_dedup_reply(const struct sample_draw *d, struct sample_dedup *o,
                           struct gnn_request *q, uint32_t r)
{
    const struct gnn_store *s = d->s->store;
    const uint32_t ranks = q->ranks, mine = o->turn * ranks + r;
    for (uint32_t t = 0; t < o->nntypes; t++) {
        const uint32_t *n = gnn_words_read(&q->in[r], 1),
                       *node = n ? gnn_words_read(&q->in[r], *n) : NULL;
        if (!node)
            return gnn_request_malformed(q, r, d->e);
        const uint64_t words = ((uint64_t)*n + 31) / 32;
        uint32_t *bit = gnn_words_add(&q->staging[r], words, d->e);
        if (!bit)
            return d->e->code;
        memset(bit, 0, words * sizeof *bit);
        for (uint32_t i = 0; i < *n; i++) {
            if (!gnn_store_owns(s, t, node[i]))
                return gnn_request_malformed(q, r, d->e);
            uint32_t *by = &o->by[t][node[i] - s->book[t][s->from]];
            if (*by / ranks != o->turn) {
                *by = mine;
                bit[i / 32] |= UINT32_C(1) << i % 32;
            }
        }
    }
    return 0;
}

int gnn_sample_dedup_read(const struct sample_draw *d, struct sample_dedup *o,
                          struct gnn_request *q, uint32_t hop)
{
    for (uint32_t t = 0; t < o->nntypes; t++) {
        uint32_t from, n;
        const uint32_t *node = new_nodes(d, hop, t, &from, &n);
        if (gnn_tensors_resize(&d->b->tensors, o->counted[t], (uint64_t)from + n, d->e))
            return d->e->code;
        for (uint32_t r = 0; r < q->ranks; r++) {
            const uint64_t asked = o->wanted[(size_t)t * q->owners + r];
            o->left[r] = 0;
            o->bits[r] = gnn_words_read(&q->in[r], (asked + 31) / 32);
            if (!o->bits[r])
                return gnn_request_malformed(q, r, d->e);
        }
        uint8_t *counted = (uint8_t *)o->counted[t]->data + from;
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t r = gnn_store_rank_of(d->s->store, t, node[i]), k = o->left[r]++;
            counted[i] = o->bits[r][k / 32] >> k % 32 & 1;
        }
    }
    return 0;
}
