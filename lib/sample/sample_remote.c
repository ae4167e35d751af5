/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling with several ranks: one round trip of requests and replies a hop. A hop's destinations
 * go to the ranks that own them, this one included, which sample their neighbours and send them
 * back. Put together in the order of the destinations they are what one rank would have sampled, as
 * a draw depends on the destination only.
 *
 *   request: per edge type, u32 n, destinations[n]
 *   reply:   per edge type with n > 0, u32 e, u32 picks of each[n], u32 sources[e], and, from the
 *            next multiple of 8 bytes on, as far as wanted, u64 ids[e], i64 or f64 times[e]
 *
 * and after these what lib/sample/remote_dedup.c adds. A step of walks is the same for one edge
 * type, with u32 n of all destinations to each rank; what node2vec asks about edges is
 *
 *   request: u32 n, u32 destinations[n], u32 sources[n]
 *   reply:   u8 whether there is such an edge[n], up to the next multiple of 4 bytes */
#include <inttypes.h>
#include <string.h>

#include "lib/sample/sample_impl.h"

/* What is left to read of one rank's reply along one edge type. */
struct reply {
    const uint32_t *count, *source;
    const uint64_t *id;
    const int64_t *time;
    const uint8_t *has; /* of questions after edges */
};

struct sample_remote {
    struct gnn_request q; /* where there is a halo it is the last owner, and asked for its rows */
    uint32_t *wanted;     /* [netypes][owners] destinations asked of each */
    struct gnn_buf owner; /* u32, by destination of all edge types in turn */
    struct gnn_buf ask_for, indptr;
    struct gnn_buf time;                  /* i64 or f64: times of a block's edges */
    struct gnn_buf source;                /* u32, without a numbering: its sources */
    struct reply *from;                   /* [owners] */
    struct gnn_sample_remote_stats stats; /* of one hop */
    struct sample_dedup *dedup;           /* or NULL */
};

void gnn_sample_remote_free(struct sample_remote *f)
{
    if (!f)
        return;
    gnn_sample_dedup_free(f->dedup);
    gnn_request_release(&f->q);
    gnn_buf_release(&f->owner);
    gnn_buf_release(&f->ask_for);
    gnn_buf_release(&f->indptr);
    gnn_buf_release(&f->time);
    gnn_buf_release(&f->source);
    gnn_free(f->wanted);
    gnn_free(f->from);
    gnn_free(f);
}

struct sample_remote *gnn_sample_remote_new(const struct sampler *s, struct gnn_err *e)
{
    struct sample_remote *f = gnn_alloc_zero(1, sizeof *f, "ranks", e);
    if (!f)
        return NULL;
    const uint32_t n = s->comm->size + (s->halo != NULL);
    f->from = gnn_alloc_zero(n, sizeof *f->from, "ranks", e);
    f->wanted = gnn_alloc_zero((uint64_t)n * s->meta.schema.netypes, sizeof *f->wanted, "ranks", e);
    if (f->from && f->wanted && !gnn_request_init(&f->q, s->comm, s->halo != NULL, e) &&
        (!s->count_once || s->meta.sampling.disjoint || (f->dedup = gnn_sample_dedup_new(s, e))))
        return f;
    gnn_sample_remote_free(f);
    return NULL;
}

struct gnn_request *gnn_sample_remote_request(const struct sample_draw *d)
{
    return &d->w->remote->q;
}

struct gnn_request *gnn_sample_remote_begin(const struct sample_draw *d)
{
    struct gnn_request *q = &d->w->remote->q;
    gnn_request_begin(q, gnn_comm_tag(GNN_COMM_SAMPLE, d->b->nth), d->b);
    return q;
}

/* ---- requests ---- */

/* Destinations of one edge type to their owners. *at: where their part of f->owner begins. counted:
 * the statistics have these nodes from another edge type. */
static int ask_entries(const struct sample_draw *d, uint32_t et, struct gnn_entries entry,
                       uint32_t n, bool counted, uint64_t *at)
{
    struct sample_remote *f = d->w->remote;
    const uint32_t dst = d->s->meta.schema.etype[et].dst, self = d->s->comm->rank;
    const struct sample_halo *halo = d->s->halo;
    if (gnn_buf_reserve(&f->owner, *at + n, sizeof(uint32_t), "requests", d->e) ||
        gnn_buf_fit(&f->ask_for, n, sizeof(uint32_t), "requests", d->e))
        return d->e->code;
    uint32_t *owner = (uint32_t *)f->owner.data + *at, *ask_for = f->ask_for.data;
    for (uint32_t i = 0; i < n; i++) {
        owner[i] = gnn_store_rank_of(d->s->store, dst, entry.node[i]);
        ask_for[i] = entry.node[i];
        const uint32_t row = halo && owner[i] != self
                                 ? gnn_node_map_find(&halo->of[dst], entry.node[i])
                                 : UINT32_MAX;
        if (!counted) {
            f->stats.rows++;
            f->stats.remote += owner[i] != self;
            f->stats.halo += row != UINT32_MAX;
        }
        if (row != UINT32_MAX) {
            owner[i] = f->q.ranks;
            ask_for[i] = row;
        }
    }
    entry.node = ask_for;
    *at += n;
    return gnn_request_put(&f->q, owner, entry, n, f->wanted + (size_t)et * f->q.owners, d->e);
}

/* The edge types of a hop that lead to one node type, and sample, have the same destinations. */
static bool is_counted(const struct sample_draw *d, uint32_t hop, uint32_t et)
{
    const struct gnn_etype *type = d->s->meta.schema.etype;
    uint32_t first;
    for (uint32_t i = 0; i < et; i++)
        if (type[i].dst == type[et].dst && gnn_sample_rows(d, hop, i, &first))
            return true;
    return false;
}

static int ask_block(const struct sample_draw *d, uint32_t hop, uint32_t et, uint64_t *at)
{
    uint32_t first;
    const uint32_t n = gnn_sample_rows(d, hop, et, &first);
    const struct gnn_entries all = d->w->type[d->s->meta.schema.etype[et].dst].list;
    return ask_entries(d, et, gnn_entries_from(all, first), n, is_counted(d, hop, et), at);
}

/* ---- replies to others ---- */

static bool all_own(const struct sample_draw *d, uint32_t et, const uint32_t *dst, uint32_t n)
{
    const uint32_t t = d->s->meta.schema.etype[et].dst;
    for (uint32_t i = 0; i < n; i++)
        if (!gnn_store_owns(d->s->store, t, dst[i]))
            return false;
    return true;
}

/* What rank r asked for along one edge type, or this one of its halo: destinations with the columns
 * of `like`. */
static int reply_block(const struct sample_draw *d, uint32_t et, struct gnn_sample_job job,
                       struct gnn_entries like, uint32_t r)
{
    struct sample_remote *f = d->w->remote;
    struct gnn_packet *out = &f->q.staging[r];
    const uint32_t *n = gnn_packet_read(&f->q.in[r], 1);
    struct gnn_entries dst;
    if (!n || !gnn_packet_read_entries(&f->q.in[r], like, *n, &dst))
        return gnn_request_malformed(&f->q, r, d->e);
    if (!*n)
        return 0;
    /* Another rank may only ask for what this one owns; the check keeps a wrong book from giving
     * wrong samples. */
    if (!gnn_pick_any(job.rule) || (r < f->q.ranks && !all_own(d, et, dst.node, *n)))
        return gnn_request_malformed(&f->q, r, d->e);
    int rc = gnn_buf_fit(&f->indptr, (uint64_t)*n + 1, sizeof(uint32_t), "replies", d->e);
    if (rc)
        return rc;
    if (r == f->q.ranks)
        job.graph = d->s->halo->graph[et];
    job.dst = dst;
    job.n = *n;
    job.indptr = f->indptr.data;
    rc = gnn_sample_count_block(d, et, &job);
    if (rc)
        return rc;
    const uint32_t *indptr = job.indptr, edges = indptr[*n];
    uint32_t *w = gnn_packet_add(out, 1 + (uint64_t)*n + edges, d->e);
    if (!w)
        return d->e->code;
    *w++ = edges;
    for (uint32_t i = 0; i < *n; i++)
        *w++ = indptr[i + 1] - indptr[i];
    const bool ids = d->s->meta.sampling.edge_ids, times = job.rule.time.by_edge;
    const uint64_t at = (uint64_t)(w - (uint32_t *)out->buf.data);
    if (!ids && !times)
        return gnn_sample_pick_block(d, et, &job, NULL, w, NULL);
    if (gnn_packet_align(out, sizeof(uint64_t), d->e))
        return d->e->code;
    const uint64_t first = out->n;
    if (!gnn_packet_add(out, 2 * (uint64_t)edges * (ids + times), d->e))
        return d->e->code;
    w = out->buf.data; /* it may have moved */
    uint64_t *id = (void *)(w + first);
    if (times)
        job.times = (int64_t *)id + (ids ? edges : 0);
    return gnn_sample_pick_block(d, et, &job, NULL, w + at, ids ? id : NULL);
}

/* ---- putting replies together ---- */

/* Finds what each rank replied along one edge type. */
static int read_replies(const struct sample_draw *d, uint32_t et)
{
    struct sample_remote *f = d->w->remote;
    const bool ids = d->s->meta.sampling.edge_ids, times = d->s->meta.sampling.rule.time.by_edge;
    for (uint32_t r = 0; r < f->q.owners; r++) {
        struct gnn_packet_in *in = &f->q.in[r];
        struct reply *a = &f->from[r];
        const uint32_t n = f->wanted[(size_t)et * f->q.owners + r];
        uint64_t picks = 0;
        if (!n)
            continue;
        const uint32_t *edges = gnn_packet_read(in, 1);
        a->count = edges ? gnn_packet_read(in, n) : NULL;
        a->source = a->count ? gnn_packet_read(in, *edges) : NULL;
        for (uint32_t i = 0; a->source && i < n; i++)
            picks += a->count[i];
        bool good = a->source && picks == *edges;
        if (good && (ids || times))
            good = gnn_packet_skip(in, sizeof(uint64_t));
        if (good && ids)
            good = (a->id = (const void *)gnn_packet_read(in, 2 * picks)) != NULL;
        if (good && times)
            good = (a->time = (const void *)gnn_packet_read(in, 2 * picks)) != NULL;
        if (!good)
            return gnn_request_malformed(&f->q, r, d->e);
    }
    return 0;
}

/* The edges of n destinations in turn, from their owners' replies. *times: theirs, or NULL. */
static int take_edges(const struct sample_draw *d, const uint32_t *owner, uint32_t n,
                      const uint32_t *ptr, uint32_t *source, uint64_t *id, const int64_t **times)
{
    struct sample_remote *f = d->w->remote;
    int64_t *time = NULL;
    if (d->s->meta.sampling.rule.time.by_edge) {
        if (gnn_buf_fit(&f->time, ptr[n] + UINT64_C(1), sizeof *time, "times", d->e))
            return d->e->code;
        time = f->time.data;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct reply *a = &f->from[owner[i]];
        const uint32_t c = ptr[i + 1] - ptr[i];
        for (uint32_t k = 0; k < c; k++)
            source[ptr[i] + k] = a->source[k];
        a->source += c;
        if (id) {
            memcpy(id + ptr[i], a->id, c * sizeof *id);
            a->id += c;
        }
        if (time) {
            memcpy(time + ptr[i], a->time, c * sizeof *time);
            a->time += c;
        }
    }
    *times = time;
    return 0;
}

/* Where each destination's edges begin, from the numbers in the replies, which are in the order of
 * the requests: each owner's are consumed in the order of the destinations. */
static int add_counts(const struct sample_draw *d, uint32_t et, const uint32_t *owner, uint32_t n,
                      uint32_t *ptr)
{
    uint64_t total = 0;
    ptr[0] = 0;
    for (uint32_t i = 0; i < n; i++) {
        total += *d->w->remote->from[owner[i]].count++;
        ptr[i + 1] = (uint32_t)total;
    }
    return total < UINT32_MAX
               ? 0
               : gnn_sample_damaged(d->s, et, GNN_SAMPLE_MANY, &(struct gnn_sample_place){0}, d->e);
}

/* Cuts a block's tensors to its edges, and shows it in the batch, if that keeps it. */
static int finish_block(const struct sample_draw *d, uint32_t hop, uint32_t et, struct gnn_block k,
                        struct gnn_tensor *indptr, struct gnn_tensor *indices,
                        struct gnn_tensor *id)
{
    struct gnn_tensors *to = gnn_sample_block_tensors(d, hop);
    if (gnn_tensors_resize(to, indices, k.edges, d->e) ||
        (id && gnn_tensors_resize(to, id, k.edges, d->e)))
        return d->e->code;
    k.indptr = indptr->data;
    k.indices = indices->data;
    k.id = id ? id->data : NULL;
    if (gnn_sampling_keeps(&d->s->meta.sampling, hop))
        *gnn_batch_block(d->b, hop, et) = k;
    return 0;
}

static int merge_block(const struct sample_draw *d, uint32_t hop, uint32_t et, uint64_t *at)
{
    struct sample_remote *f = d->w->remote;
    struct gnn_relabel *src = &d->w->type[d->s->meta.schema.etype[et].src];
    struct gnn_tensor *indptr, *indices, *id;
    uint32_t first;
    const uint32_t n = gnn_sample_rows(d, hop, et, &first),
                   *owner = (const uint32_t *)f->owner.data + *at;
    if (!n)
        return 0;
    int rc = read_replies(d, et);
    if (!rc)
        rc = gnn_sample_add_indptr(d, hop, et, n, &indptr);
    if (rc)
        return rc;
    uint32_t *ptr = indptr->data;
    rc = add_counts(d, et, owner, n, ptr);
    if (rc)
        return rc;
    const uint32_t total = ptr[n];
    rc = gnn_sample_add_edges(d, hop, et, total, &indices, &id);
    if (rc)
        return rc;
    uint32_t *source = indices->data;
    const int64_t *times = NULL;
    if (take_edges(d, owner, n, ptr, source, id ? id->data : NULL, &times))
        return d->e->code;
    const struct gnn_sampling *m = &d->s->meta.sampling;
    const struct gnn_entries dst =
        gnn_entries_from(d->w->type[d->s->meta.schema.etype[et].dst].list, first);
    const bool induces = gnn_sampling_induces(m, hop);
    if (induces && gnn_sample_filter(d, et))
        return d->e->code;
    const uint64_t good = induces ? gnn_relabel_keep(src, d->w->filter.data, dst, n, ptr, source,
                                                     id ? id->data : NULL)
                                  : gnn_relabel_number(src, dst, times, n, ptr, source);
    if (good < total)
        /* This rank's own nodes were checked when they were drawn; another rank's are checked
         * here. */
        return gnn_fail(d->e, GNN_E_RANK,
                        "a reply has a node that is not in the store (%" PRIu32 ")", source[good]);
    *at += n;
    return finish_block(d, hop, et, (struct gnn_block){.first = first, .n = n, .edges = ptr[n]},
                        indptr, indices, id);
}

/* Adds the hop's figures to those of all threads. */
static void add_stats(const struct sample_draw *d)
{
    struct gnn_sample_remote_stats *all = d->s->remote, *own = &d->w->remote->stats;
    if (all) {
        pthread_mutex_lock(&d->s->barrier->lock);
        all->rows += own->rows;
        all->remote += own->remote;
        all->halo += own->halo;
        pthread_mutex_unlock(&d->s->barrier->lock);
    }
    *own = (struct gnn_sample_remote_stats){0};
}

/* What rank r asked for, all of it. */
static int reply_to(const struct sample_draw *d, struct sample_dedup *dedup, uint32_t hop,
                    uint32_t r)
{
    int rc = 0;
    for (uint32_t et = 0; !rc && et < d->b->netypes; et++)
        rc = reply_block(d, et, gnn_sample_job_of(d->s, d->w->keys, hop * d->b->netypes + et),
                         d->w->type[d->s->meta.schema.etype[et].dst].list, r);
    return rc || !dedup || r >= d->s->comm->size
               ? rc
               : gnn_sample_dedup_reply(d, dedup, &d->w->remote->q, r);
}

int gnn_sample_remote_hop(const struct sample_draw *d, uint32_t hop)
{
    struct gnn_request *q = gnn_sample_remote_begin(d);
    struct sample_dedup *dedup = d->b->split ? NULL : d->w->remote->dedup;
    uint64_t at = 0;
    int rc = 0;
    for (uint32_t et = 0; !rc && et < d->b->netypes; et++)
        rc = ask_block(d, hop, et, &at);
    /* Which rank counts a node for batch norm is decided with the same messages. */
    if (!rc && dedup)
        rc = gnn_sample_dedup_ask(d, dedup, q, hop);
    if (!rc)
        rc = gnn_request_ask(q, d->e);
    for (uint32_t r = 0; !rc && r < q->owners; r++)
        rc = reply_to(d, dedup, hop, r);
    if (!rc)
        rc = gnn_request_reply(q, d->e);
    at = 0;
    for (uint32_t et = 0; !rc && et < d->b->netypes; et++)
        rc = merge_block(d, hop, et, &at);
    if (!rc && dedup)
        rc = gnn_sample_dedup_read(d, dedup, q, hop);
    add_stats(d);
    return rc;
}

/* A number from each rank to all, with its requests: appended to them; and, when they have been
 * read, the sum. */
static int say_to_all(struct gnn_request *q, uint32_t n, struct gnn_err *e)
{
    for (uint32_t r = 0; r < q->ranks; r++) {
        uint32_t *w = gnn_packet_add(&q->queue[r], 1, e);
        if (!w)
            return e->code;
        *w = n;
    }
    return 0;
}

static int hear_all(struct gnn_request *q, uint64_t *sum, struct gnn_err *e)
{
    *sum = 0;
    for (uint32_t r = 0; r < q->ranks; r++) {
        const uint32_t *n = gnn_packet_read(&q->in[r], 1);
        if (!n)
            return gnn_request_malformed(q, r, e);
        *sum += *n;
    }
    return 0;
}

int gnn_sample_remote_edges(const struct sample_draw *d, uint32_t et, const uint32_t *dst,
                            const uint32_t *src, uint32_t n, uint8_t *has)
{
    struct sample_remote *f = d->w->remote;
    struct gnn_request *q = gnn_sample_remote_begin(d);
    const uint32_t type = d->s->meta.schema.etype[et].dst;
    const struct gnn_entries pair = {.node = (uint32_t *)(uintptr_t)dst,
                                     .tree = (uint32_t *)(uintptr_t)src};
    uint32_t *asked = f->wanted + (size_t)et * q->owners;
    if (gnn_buf_fit(&f->owner, n, sizeof(uint32_t), "requests", d->e))
        return d->e->code;
    uint32_t *owner = f->owner.data;
    for (uint32_t i = 0; i < n; i++)
        owner[i] = gnn_store_rank_of(d->s->store, type, dst[i]);
    if (gnn_request_put(q, owner, pair, n, asked, d->e) || gnn_request_ask(q, d->e))
        return d->e->code;
    for (uint32_t r = 0; r < q->ranks; r++) {
        const uint32_t *m = gnn_packet_read(&q->in[r], 1);
        struct gnn_entries x;
        if (!m || !gnn_packet_read_entries(&q->in[r], pair, *m, &x) || !all_own(d, et, x.node, *m))
            return gnn_request_malformed(q, r, d->e);
        uint32_t *out = gnn_packet_add(&q->staging[r], (*m + UINT64_C(3)) / 4, d->e);
        if (!out)
            return d->e->code;
        if (*m)
            out[(*m - 1) / 4] = 0; /* its last bytes are sent, too */
        gnn_sample_has_edges(d->s, et, x.node, x.tree, *m, (uint8_t *)out);
    }
    if (gnn_request_reply(q, d->e))
        return d->e->code;
    for (uint32_t r = 0; r < q->ranks; r++) {
        f->from[r].has = (const uint8_t *)gnn_packet_read(&q->in[r], (asked[r] + UINT64_C(3)) / 4);
        if (!f->from[r].has)
            return gnn_request_malformed(q, r, d->e);
    }
    for (uint32_t i = 0; i < n; i++)
        has[i] = *f->from[owner[i]].has++;
    return 0;
}

int gnn_sample_remote_pick(const struct sample_draw *d, uint32_t et,
                           const struct gnn_sample_job *job, const uint32_t **source, uint64_t *all)
{
    struct sample_remote *f = d->w->remote;
    struct gnn_request *q = gnn_sample_remote_begin(d);
    const int64_t *times;
    uint64_t at = 0;
    int rc = ask_entries(d, et, job->dst, job->n, false, &at);
    if (!rc)
        rc = say_to_all(q, job->n, d->e);
    if (!rc)
        rc = gnn_request_ask(q, d->e);
    for (uint32_t r = 0; !rc && r < q->owners; r++)
        rc = reply_block(d, et, *job, job->dst, r);
    if (!rc)
        rc = hear_all(q, all, d->e);
    if (!rc)
        rc = gnn_request_reply(q, d->e);
    if (!rc)
        rc = read_replies(d, et);
    if (!rc)
        rc = add_counts(d, et, f->owner.data, job->n, job->indptr);
    if (!rc)
        rc = gnn_buf_fit(&f->source, job->indptr[job->n] + UINT64_C(1), sizeof(uint32_t), "replies",
                         d->e);
    if (!rc)
        rc = take_edges(d, f->owner.data, job->n, job->indptr, f->source.data, NULL, &times);
    *source = f->source.data;
    add_stats(d);
    return rc;
}
