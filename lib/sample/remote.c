/* Sampling with several ranks. A hop's destinations go to the ranks that own them, this one
 * included, which draw their neighbours and send them back; put together in the order of the
 * destinations they are what one rank would have drawn, since a draw depends on the destination
 * only. Two exchanges a hop: asked:    per edge type, u32 n, destinations[n] answered: per edge
 * type with n > 0, u32 e, u32 picks of each[n], u32 sources[e], and with edge ids, from the next
 *             multiple of 8 bytes on, u64 ids[e]
 * and after these what lib/sample/remote_once.c has to say. */
#include <inttypes.h>
#include <string.h>

#include "kernels/owner.h"
#include "lib/sample/sample_impl.h"

/* Of one edge type, what one rank answered. */
struct answer {
    const uint32_t *count, *source;
    const uint64_t *id;
};

struct sample_far {
    struct gnn_exchange ask, answer;
    uint32_t ranks, owners; /* owners: the ranks, and last, where there is one, the halo, which is
                               asked for rows instead of nodes */
    uint64_t **first;       /* [nntypes][ranks] first node of each rank */
    struct gnn_words *asked, *answered; /* [owners] */
    struct gnn_words_in *in;            /* [owners] */
    uint32_t *wanted;                   /* [netypes][owners] destinations that were asked for */
    struct gnn_entries *to;             /* [owners] where the next of them goes */
    struct gnn_buf owner;               /* u32, by destination of all edge types in turn */
    struct gnn_buf ask_for, indptr;
    struct answer *from;               /* [owners] */
    struct gnn_sample_far_stats stats; /* of one hop */
    struct sample_once *once;          /* or NULL */
};

void gnn_sample_far_free(struct sample_far *f)
{
    if (!f)
        return;
    gnn_sample_once_free(f->once);
    gnn_exchange_release(&f->ask);
    gnn_exchange_release(&f->answer);
    for (uint32_t r = 0; r < f->owners; r++) {
        if (f->asked)
            gnn_buf_release(&f->asked[r].buf);
        if (f->answered)
            gnn_buf_release(&f->answered[r].buf);
    }
    gnn_buf_release(&f->owner);
    gnn_buf_release(&f->ask_for);
    gnn_buf_release(&f->indptr);
    gnn_free(f->first ? f->first[0] : NULL);
    gnn_free(f->first);
    gnn_free(f->asked);
    gnn_free(f->answered);
    gnn_free(f->in);
    gnn_free(f->wanted);
    gnn_free(f->to);
    gnn_free(f->from);
    gnn_free(f);
}

struct sample_far *gnn_sample_far_new(const struct sampler *s, struct gnn_err *e)
{
    struct sample_far *f = gnn_alloc_zero(1, sizeof *f, "ranks", e);
    if (!f)
        return NULL;
    const uint32_t ranks = f->ranks = s->comm->size, n = f->owners = ranks + (s->halo != NULL);
    f->asked = gnn_alloc_zero(n, sizeof *f->asked, "ranks", e);
    f->answered = gnn_alloc_zero(n, sizeof *f->answered, "ranks", e);
    f->in = gnn_alloc_zero(n, sizeof *f->in, "ranks", e);
    f->from = gnn_alloc_zero(n, sizeof *f->from, "ranks", e);
    f->wanted = gnn_alloc_zero((uint64_t)n * s->meta.schema.netypes, sizeof *f->wanted, "ranks", e);
    f->to = gnn_alloc_zero(n, sizeof *f->to, "ranks", e);
    if (f->asked && f->answered && f->in && f->from && f->wanted && f->to &&
        !gnn_store_firsts(s->store, ranks, &f->first, e) &&
        !gnn_exchange_init(&f->ask, s->comm, 0, e) &&
        !gnn_exchange_init(&f->answer, s->comm, 0, e) &&
        (!s->count_once || (f->once = gnn_sample_once_new(s, f->first, e))))
        return f;
    gnn_sample_far_free(f);
    return NULL;
}

/* ---- asking ---- */

/* One edge type's destinations to their owners. *at: where its part of f->owner begins. */
static int ask_block(const struct sample_draw *d, uint32_t hop, uint32_t et, uint64_t *at)
{
    struct sample_far *f = d->w->far;
    const uint32_t dst = d->s->meta.schema.etype[et].dst, self = d->s->comm->rank;
    const struct sample_halo *halo = d->s->halo;
    uint32_t first, *wanted = f->wanted + (size_t)et * f->owners;
    const uint32_t n = gnn_sample_rows(d, hop, et, &first);
    struct gnn_entries entry = gnn_entries_from(d->w->type[dst].list, first);
    int rc = gnn_buf_reserve(&f->owner, *at + n, sizeof(uint32_t), "messages between ranks", d->e);
    if (!rc)
        rc = gnn_buf_fit(&f->ask_for, n, sizeof(uint32_t), "messages between ranks", d->e);
    if (rc)
        return rc;
    uint32_t *owner = (uint32_t *)f->owner.data + *at, *ask_for = f->ask_for.data;
    memset(wanted, 0, f->owners * sizeof *wanted);
    for (uint32_t i = 0; i < n; i++) {
        owner[i] = gnn_owner_find(f->first[dst], sizeof **f->first, f->ranks, entry.node[i]);
        ask_for[i] = entry.node[i];
        const uint32_t row = halo && owner[i] != self
                                 ? gnn_node_map_find(&halo->of[dst], entry.node[i])
                                 : UINT32_MAX;
        f->stats.rows++;
        f->stats.others += owner[i] != self;
        f->stats.halo += row != UINT32_MAX;
        if (row != UINT32_MAX) {
            owner[i] = f->ranks;
            ask_for[i] = row;
        }
        wanted[owner[i]]++;
    }
    for (uint32_t r = 0; r < f->owners; r++) {
        uint32_t *w = gnn_words_add(&f->asked[r], 1, d->e);
        if (!w)
            return d->e->code;
        *w = wanted[r];
        rc = gnn_words_add_entries(&f->asked[r], entry, wanted[r], &f->to[r], d->e);
        if (rc)
            return rc;
    }
    entry.node = ask_for;
    for (uint32_t i = 0; i < n; i++)
        gnn_entry_append(&f->to[owner[i]], &entry, i);
    *at += n;
    return 0;
}

/* Sends what `out` holds; what comes is in f->in, to be read from the start. */
static int exchange(const struct sample_draw *d, struct gnn_exchange *x,
                    const struct gnn_words *out)
{
    struct sample_far *f = d->w->far;
    x->tag = gnn_comm_tag(GNN_COMM_SAMPLE, d->b->nth);
    for (uint32_t r = 0; r < f->ranks; r++)
        x->out[r] = gnn_words_span(&out[r]);
    const int rc = gnn_comm_exchange(d->s->comm, x, d->e);
    for (uint32_t r = 0; !rc && r < f->ranks; r++)
        f->in[r] = gnn_words_open(x->in[r]);
    if (f->owners > f->ranks)
        f->in[f->ranks] = gnn_words_open(gnn_words_span(&out[f->ranks]));
    return rc;
}

static int garbled(const struct sample_draw *d, uint32_t r)
{
    return gnn_fail(d->e, GNN_E_RANK,
                    "malformed reply from rank %u (epoch %" PRIu64 ", step %" PRIu64 ")", r,
                    d->b->epoch, d->b->step);
}

/* ---- answering ---- */

/* Are these nodes all this rank's own? */
static bool all_own(const struct sample_draw *d, uint32_t et, const uint32_t *dst, uint32_t n)
{
    const uint32_t t = d->s->meta.schema.etype[et].dst;
    const uint64_t *book = d->s->store->book[t], from = book[d->s->store->from],
                   to = book[d->s->store->to];
    for (uint32_t i = 0; i < n; i++)
        if (dst[i] < from || dst[i] >= to)
            return false;
    return true;
}

/* What rank r asked for along one edge type, or this one of its halo. */
static int answer_block(const struct sample_draw *d, uint32_t hop, uint32_t et, uint32_t r)
{
    struct sample_far *f = d->w->far;
    struct gnn_words *out = &f->answered[r];
    const struct gnn_entries like = d->w->type[d->s->meta.schema.etype[et].dst].list;
    const uint32_t *n = gnn_words_read(&f->in[r], 1);
    struct gnn_entries dst;
    if (!n || !gnn_words_read_entries(&f->in[r], like, *n, &dst))
        return garbled(d, r);
    if (!*n)
        return 0;
    struct gnn_sample_job job = gnn_sample_job_of(d->s, d->w->keys, hop * d->b->netypes + et);
    if (!gnn_pick_any(job.rule) || (r < f->ranks && !all_own(d, et, dst.node, *n)))
        return garbled(d, r);
    int rc =
        gnn_buf_fit(&f->indptr, (uint64_t)*n + 1, sizeof(uint32_t), "messages between ranks", d->e);
    if (rc)
        return rc;
    if (r == f->ranks)
        job.graph = d->s->halo->graph[et];
    job.dst = dst;
    job.n = *n;
    job.indptr = f->indptr.data;
    rc = gnn_sample_count_block(d, et, &job);
    if (rc)
        return rc;
    const uint32_t *indptr = job.indptr, edges = indptr[*n];
    uint32_t *w = gnn_words_add(out, 1 + (uint64_t)*n + edges, d->e);
    if (!w)
        return d->e->code;
    *w++ = edges;
    for (uint32_t i = 0; i < *n; i++)
        *w++ = indptr[i + 1] - indptr[i];
    uint64_t *id = NULL;
    if (d->s->meta.sampling.edge_ids) {
        const uint64_t at = (uint64_t)(w - (uint32_t *)out->buf.data);
        if (gnn_words_align(out, sizeof *id, d->e) ||
            !(id = (void *)gnn_words_add(out, 2 * (uint64_t)edges, d->e)))
            return d->e->code;
        w = (uint32_t *)out->buf.data + at; /* it may have moved */
    }
    return gnn_sample_pick_block(d, et, &job, NULL, w, id);
}

/* ---- putting together ---- */

/* Finds what each rank answered along one edge type. */
static int read_answers(const struct sample_draw *d, uint32_t et)
{
    struct sample_far *f = d->w->far;
    for (uint32_t r = 0; r < f->owners; r++) {
        struct gnn_words_in *in = &f->in[r];
        struct answer *a = &f->from[r];
        const uint32_t n = f->wanted[(size_t)et * f->owners + r];
        uint64_t picks = 0;
        if (!n)
            continue;
        const uint32_t *edges = gnn_words_read(in, 1);
        a->count = edges ? gnn_words_read(in, n) : NULL;
        a->source = a->count ? gnn_words_read(in, *edges) : NULL;
        for (uint32_t i = 0; a->source && i < n; i++)
            picks += a->count[i];
        a->id = NULL;
        if (a->source && d->s->meta.sampling.edge_ids) {
            a->id = gnn_words_skip(in, sizeof *a->id)
                        ? (const void *)gnn_words_read(in, 2 * (uint64_t)*edges)
                        : NULL;
        }
        if (!a->source || picks != *edges || (d->s->meta.sampling.edge_ids && !a->id))
            return garbled(d, r);
    }
    return 0;
}

static int merge_block(const struct sample_draw *d, uint32_t hop, uint32_t et, uint64_t *at)
{
    struct sample_far *f = d->w->far;
    struct gnn_relabel *src = &d->w->type[d->s->meta.schema.etype[et].src];
    struct gnn_tensor *indptr, *indices, *id;
    uint32_t first;
    const uint32_t n = gnn_sample_rows(d, hop, et, &first),
                   *owner = (const uint32_t *)f->owner.data + *at;
    if (!n)
        return 0;
    int rc = read_answers(d, et);
    if (!rc)
        rc = gnn_sample_add_indptr(d, hop, et, n, &indptr);
    if (rc)
        return rc;
    uint32_t *ptr = indptr->data;
    uint64_t total = 0;
    ptr[0] = 0;
    for (uint32_t i = 0; i < n; i++) {
        total += *f->from[owner[i]].count++;
        ptr[i + 1] = (uint32_t)total;
    }
    if (total >= UINT32_MAX)
        return gnn_sample_damaged(d->s, et, GNN_SAMPLE_MANY, &(struct gnn_sample_place){0}, d->e);
    rc = gnn_sample_add_edges(d, hop, et, (uint32_t)total, &indices, &id);
    if (rc)
        return rc;
    uint32_t *source = indices->data;
    for (uint32_t i = 0; i < n; i++) {
        struct answer *a = &f->from[owner[i]];
        const uint32_t c = ptr[i + 1] - ptr[i];
        for (uint32_t k = 0; k < c; k++)
            source[ptr[i] + k] = a->source[k];
        a->source += c;
        if (id) {
            memcpy((uint64_t *)id->data + ptr[i], a->id, c * sizeof *a->id);
            a->id += c;
        }
    }
    const uint64_t good = gnn_relabel_number(src, source, total, source);
    if (good < total)
        return gnn_fail(d->e, GNN_E_RANK,
                        "a reply has a node that is not in the store (%" PRIu32 ")", source[good]);
    *gnn_batch_block(d->b, hop, et) =
        (struct gnn_block){first, n, (uint32_t)total, ptr, source, id ? id->data : NULL};
    *at += n;
    return 0;
}

/* Adds the hop's figures to those of all threads. */
static void tell(const struct sample_draw *d)
{
    struct gnn_sample_far_stats *all = d->s->far, *own = &d->w->far->stats;
    if (all) {
        pthread_mutex_lock(&d->s->barrier->lock);
        all->rows += own->rows;
        all->others += own->others;
        all->halo += own->halo;
        pthread_mutex_unlock(&d->s->barrier->lock);
    }
    *own = (struct gnn_sample_far_stats){0};
}

int gnn_sample_far_hop(const struct sample_draw *d, uint32_t hop)
{
    struct sample_far *f = d->w->far;
    const uint32_t netypes = d->b->netypes;
    struct sample_once *once = d->b->split ? NULL : f->once;
    uint64_t at = 0;
    int rc = 0;
    for (uint32_t r = 0; r < f->owners; r++)
        f->asked[r].n = f->answered[r].n = 0;
    for (uint32_t et = 0; !rc && et < netypes; et++)
        rc = ask_block(d, hop, et, &at);
    if (!rc && once)
        rc = gnn_sample_once_ask(d, once, hop, f->first, f->asked);
    if (!rc)
        rc = exchange(d, &f->ask, f->asked);
    for (uint32_t r = 0; !rc && r < f->owners; r++) {
        for (uint32_t et = 0; !rc && et < netypes; et++)
            rc = answer_block(d, hop, et, r);
        if (!rc && once && r < f->ranks &&
            (rc = gnn_sample_once_answer(d, once, f->first, r, &f->in[r], &f->answered[r])) ==
                GNN_END)
            rc = garbled(d, r);
    }
    if (!rc)
        rc = exchange(d, &f->answer, f->answered);
    at = 0;
    for (uint32_t et = 0; !rc && et < netypes; et++)
        rc = merge_block(d, hop, et, &at);
    if (!rc && once && (rc = gnn_sample_once_read(d, once, hop, f->first, f->in)) == GNN_END)
        rc = gnn_fail(d->e, GNN_E_RANK,
                      "malformed replies from other ranks (epoch %" PRIu64 ", step %" PRIu64 ")",
                      d->b->epoch, d->b->step);
    tell(d);
    return rc;
}
