/* SPDX-License-Identifier: Apache-2.0 */
/* Which region comes and which one goes: those needed last go first, by the order of uses of the
 * last cycle. */
#include <string.h>
#include <sys/mman.h>

#include "lib/base/swap_impl.h"

/* How much of the limit may be on its way from the file: as much again as a turn holds should be
 * there when the turn begins, and the rest is better used for what would have to be read again. */
enum { AHEAD_SHARE = 3 };

void gnn_swap_unmap(struct gnn_swap *s, struct swap_region *r, enum swap_state state)
{
    (void)madvise(r->data, r->bytes, MADV_DONTNEED);
    (void)mprotect(r->data, r->bytes, PROT_NONE);
    s->there -= r->bytes;
    r->state = state;
}

void gnn_swap_map(struct gnn_swap *s, struct swap_region *r, enum swap_state state)
{
    if (mprotect(r->data, r->bytes, PROT_READ | PROT_WRITE) && !s->failed.code)
        gnn_fail_errno(&s->failed, "--memory: cannot map a buffer; more than vm.max_map_count?");
    s->there += r->bytes;
    r->state = state;
}

static void queue_region(struct gnn_swap *s, struct swap_region *r)
{
    s->queue[(s->head + s->queued++) % s->ring] = r;
    *(r->state == SWAP_WRITING ? &s->writing : &s->reading) += r->bytes;
    pthread_cond_signal(&s->work);
}

void gnn_swap_read(struct gnn_swap *s, struct swap_region *r)
{
    gnn_swap_map(s, r, SWAP_READING);
    queue_region(s, r);
}

/* The region in memory that is needed last, and not before use `from`; NULL: there is none. */
static struct swap_region *find_last(const struct gnn_swap *s, uint64_t from)
{
    struct swap_region *last = NULL;
    for (uint64_t i = 0; i < s->n; i++) {
        struct swap_region *r = s->all[i];
        if (r->state == SWAP_THERE && !r->held && r->next >= from &&
            (!last || r->next > last->next))
            last = r;
    }
    return last;
}

static uint64_t taken_besides(const struct gnn_swap *s)
{
    return s->besides + s->aside + s->margin;
}

static uint64_t capacity_of(const struct gnn_swap *s)
{
    const uint64_t taken = taken_besides(s);
    return s->limit > taken ? s->limit - taken : 0;
}

/* Region r, which is THERE and not held, goes. */
static void evict_region(struct gnn_swap *s, struct swap_region *r)
{
    if (r->changed) {
        r->state = SWAP_WRITING;
        r->changed = false;
        queue_region(s, r);
    } else {
        gnn_swap_unmap(s, r, SWAP_FILED);
    }
}

void gnn_swap_clear(struct gnn_swap *s)
{
    for (uint64_t i = 0; i < s->n; i++)
        if (s->all[i]->state == SWAP_THERE)
            evict_region(s, s->all[i]);
    while (s->writing && !s->failed.code)
        pthread_cond_wait(&s->done, &s->lock);
}

bool gnn_swap_make_space(struct gnn_swap *s, uint64_t bytes, uint64_t from)
{
    const uint64_t more = taken_besides(s) + bytes;
    while (s->there - s->writing + more > s->limit) {
        struct swap_region *r = find_last(s, from);
        if (!r)
            return false;
        evict_region(s, r);
    }
    return s->there + more <= s->limit;
}

void gnn_swap_plan(struct gnn_swap *s)
{
    const uint64_t most = capacity_of(s) / AHEAD_SHARE, n = s->order.n;
    uint64_t ahead = 0;
    for (uint64_t i = s->pos;
         !s->failed.code && !s->strict && !s->wanted && i < s->pos + n && ahead <= most; i++) {
        struct swap_region *r = s->order.use[i % n].r;
        ahead += r ? r->bytes : 0;
        if (!r || r->state != SWAP_FILED)
            continue;
        if (s->reading + r->bytes > most || !gnn_swap_make_space(s, r->bytes, i))
            return;
        gnn_swap_read(s, r);
    }
}

static int add_use(struct gnn_swap *s, struct swap_region *r, struct gnn_err *e)
{
    struct swap_uses *u = &s->seen;
    if (gnn_grow(&u->use, u->n, sizeof *u->use, "order of uses", e))
        return e->code;
    u->use[u->n++] = (struct swap_use){r, SWAP_NEVER};
    return 0;
}

/* The order goes on after the first use of r from s->pos on; what lies between was left out. */
int gnn_swap_used(struct gnn_swap *s, struct swap_region *r, struct gnn_err *e)
{
    uint64_t i = s->pos;
    while (i < s->order.n && s->order.use[i].r != r)
        i++;
    for (; i < s->order.n && s->pos <= i; s->pos++)
        if (s->order.use[s->pos].r)
            s->order.use[s->pos].r->next = s->order.use[s->pos].next;
    return add_use(s, r, e);
}

void gnn_swap_cycle(struct gnn_swap *s)
{
    pthread_mutex_lock(&s->lock);
    gnn_free(s->order.use);
    s->order = s->seen;
    s->seen = (struct swap_uses){0};
    for (uint64_t i = 0; i < s->n; i++)
        s->all[i]->next = SWAP_NEVER;
    /* From the back: what comes after the last use is the first one of the next cycle. */
    for (uint64_t i = 2 * s->order.n; i-- > 0;) {
        struct swap_use *u = &s->order.use[i % s->order.n];
        if (!u->r)
            continue;
        u->next = u->r->next;
        u->r->next = i;
    }
    s->pos = 0;
    gnn_swap_plan(s);
    pthread_mutex_unlock(&s->lock);
}

void gnn_swap_forget_uses(struct gnn_swap *s, const struct swap_region *r)
{
    for (uint64_t i = 0; i < s->order.n; i++)
        if (s->order.use[i].r == r)
            s->order.use[i].r = NULL;
    for (uint64_t i = 0; i < s->seen.n; i++)
        if (s->seen.use[i].r == r)
            s->seen.use[i].r = NULL;
}

void gnn_swap_uses_release(struct gnn_swap *s)
{
    gnn_free(s->order.use);
    gnn_free(s->seen.use);
}
