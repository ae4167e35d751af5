/* With several ranks a node may be in the shares of several. What is summed over the nodes of the
 * whole batch counts it once: in the rank that finds it first, hop by hop, and of those that find
 * it in the same hop the lowest. So who counts a node counts it in all later hops, in which the
 * others have it, too. Its owner knows who has found it, as all ask there; both questions and
 * answers travel with those of the hop (lib/sample/remote.c):
 *   asked:    per node type, u32 n, u32 nodes[n] that are new to the rank
 *   answered: per node type with n > 0, their bits, from the lowest of words u32 on: does the rank
 * count it? */
#include <stdio.h>
#include <string.h>

#include "kernels/owner.h"
#include "lib/sample/sample_impl.h"

struct sample_once {
    uint32_t **by; /* [nntypes] of each own node: turn * ranks + the rank that counts it */
    uint64_t *own; /* [nntypes] their number */
    uint32_t nntypes, turn;
    uint32_t *wanted;            /* [nntypes][ranks] nodes asked for */
    uint32_t *left;              /* [ranks] the next of their bits */
    const uint32_t **bits;       /* [ranks] */
    uint32_t **to;               /* [ranks] where the next node goes */
    struct gnn_tensor **counted; /* [nntypes] of the batch */
    struct gnn_buf owner;
};

void gnn_sample_once_free(struct sample_once *o)
{
    if (!o)
        return;
    for (uint32_t t = 0; o->by && t < o->nntypes; t++)
        gnn_free(o->by[t]);
    gnn_free(o->by);
    gnn_free(o->own);
    gnn_free(o->wanted);
    gnn_free(o->left);
    gnn_free(o->bits);
    gnn_free(o->to);
    gnn_free(o->counted);
    gnn_buf_release(&o->owner);
    gnn_free(o);
}

struct sample_once *gnn_sample_once_new(const struct sampler *s, uint64_t *const *first,
                                        struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    const uint32_t ranks = s->comm->size, self = s->comm->rank;
    struct sample_once *o = gnn_alloc_zero(1, sizeof *o, "ranks", e);
    if (!o)
        return NULL;
    o->nntypes = c->nntypes;
    o->by = gnn_alloc_zero(c->nntypes, sizeof(uint32_t *), "ranks", e);
    o->own = gnn_alloc_zero(c->nntypes, sizeof *o->own, "ranks", e);
    o->wanted = gnn_alloc_zero((uint64_t)c->nntypes * ranks, sizeof *o->wanted, "ranks", e);
    o->left = gnn_alloc_zero(ranks, sizeof *o->left, "ranks", e);
    o->bits = gnn_alloc_zero(ranks, sizeof(uint32_t *), "ranks", e);
    o->to = gnn_alloc_zero(ranks, sizeof(uint32_t *), "ranks", e);
    o->counted = gnn_alloc_zero(c->nntypes, sizeof(struct gnn_tensor *), "ranks", e);
    for (uint32_t t = 0; !e->code && t < c->nntypes; t++) {
        o->own[t] = (self + 1 < ranks ? first[t][self + 1] : c->ntype[t].count) - first[t][self];
        o->by[t] = gnn_alloc_zero(o->own[t], sizeof **o->by, "ownership of nodes", e);
    }
    if (!e->code)
        return o;
    gnn_sample_once_free(o);
    return NULL;
}

/* Nodes of type t that the hop is the first to expand. */
static uint32_t fresh(const struct sample_draw *d, uint32_t hop, uint32_t t, uint32_t *from)
{
    const uint64_t *known = d->w->counts[t];
    *from = hop > 1 ? (uint32_t)known[hop - 1] : 0;
    return (uint32_t)known[hop] - *from;
}

static int begin(const struct sample_draw *d, struct sample_once *o)
{
    const uint64_t none = 0;
    char name[GNN_NAME_MAX + 1];
    if (++o->turn > UINT32_MAX / d->s->comm->size - 1) {
        for (uint32_t t = 0; t < o->nntypes; t++)
            memset(o->by[t], 0, o->own[t] * sizeof **o->by);
        o->turn = 1;
    }
    for (uint32_t t = 0; t < o->nntypes; t++)
        if (gnn_tensors_add(&d->b->tensors,
                            gnn_tensor_name(name, "counted/%s", d->s->meta.schema.ntype[t].name),
                            GNN_U8, 1, &none, &o->counted[t], d->e))
            return d->e->code;
    return 0;
}

int gnn_sample_once_ask(const struct sample_draw *d, struct sample_once *o, uint32_t hop,
                        uint64_t *const *first, struct gnn_words *asked)
{
    const uint32_t ranks = d->s->comm->size;
    if (hop == 1 && begin(d, o))
        return d->e->code;
    for (uint32_t t = 0; t < o->nntypes; t++) {
        uint32_t from, *wanted = o->wanted + (size_t)t * ranks;
        const uint32_t n = fresh(d, hop, t, &from), *node = d->w->type[t].list.node + from;
        if (gnn_buf_fit(&o->owner, n, sizeof(uint32_t), "messages between ranks", d->e))
            return d->e->code;
        uint32_t *owner = o->owner.data;
        memset(wanted, 0, ranks * sizeof *wanted);
        for (uint32_t i = 0; i < n; i++)
            wanted[owner[i] = gnn_owner_find(first[t], sizeof **first, ranks, node[i])]++;
        for (uint32_t r = 0; r < ranks; r++) {
            uint32_t *w = gnn_words_add(&asked[r], 1 + (uint64_t)wanted[r], d->e);
            if (!w)
                return d->e->code;
            *w = wanted[r];
            o->to[r] = w + 1;
        }
        for (uint32_t i = 0; i < n; i++)
            *o->to[owner[i]]++ = node[i];
    }
    return 0;
}

int gnn_sample_once_answer(const struct sample_draw *d, struct sample_once *o,
                           uint64_t *const *first, uint32_t r, struct gnn_words_in *in,
                           struct gnn_words *out)
{
    const uint32_t ranks = d->s->comm->size, self = d->s->comm->rank, mine = o->turn * ranks + r;
    for (uint32_t t = 0; t < o->nntypes; t++) {
        const uint32_t *n = gnn_words_read(in, 1), *node = n ? gnn_words_read(in, *n) : NULL;
        uint32_t *by = o->by[t];
        if (!node)
            return GNN_END;
        const uint64_t words = ((uint64_t)*n + 31) / 32;
        uint32_t *bit = gnn_words_add(out, words, d->e);
        if (!bit)
            return d->e->code;
        memset(bit, 0, words * sizeof *bit);
        for (uint32_t i = 0; i < *n; i++) {
            const uint64_t v = node[i] - first[t][self];
            if (node[i] < first[t][self] || v >= o->own[t])
                return GNN_END;
            if (by[v] / ranks != o->turn) {
                by[v] = mine;
                bit[i / 32] |= UINT32_C(1) << i % 32;
            }
        }
    }
    return 0;
}

int gnn_sample_once_read(const struct sample_draw *d, struct sample_once *o, uint32_t hop,
                         uint64_t *const *first, struct gnn_words_in *in)
{
    const uint32_t ranks = d->s->comm->size;
    for (uint32_t t = 0; t < o->nntypes; t++) {
        uint32_t from;
        const uint32_t n = fresh(d, hop, t, &from), *node = d->w->type[t].list.node + from;
        if (gnn_tensors_resize(&d->b->tensors, o->counted[t], (uint64_t)from + n, d->e))
            return d->e->code;
        for (uint32_t r = 0; r < ranks; r++) {
            o->left[r] = 0;
            o->bits[r] =
                gnn_words_read(&in[r], ((uint64_t)o->wanted[(size_t)t * ranks + r] + 31) / 32);
            if (!o->bits[r])
                return GNN_END;
        }
        uint8_t *counted = (uint8_t *)o->counted[t]->data + from;
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t r = gnn_owner_find(first[t], sizeof **first, ranks, node[i]),
                           k = o->left[r]++;
            counted[i] = o->bits[r][k / 32] >> k % 32 & 1;
        }
    }
    return 0;
}
