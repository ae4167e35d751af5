/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/store/out_of_core.h"

#include <sys/mman.h>

#include "lib/base/limit.h"
#include "lib/base/mem.h"
#include "lib/store/store_impl.h"

enum {
    SMALL = 64 << 20, /* bytes of tensors that are verified all the same */
    SHORT = 32 << 10  /* bytes that are asked for as a whole */
};

uint64_t gnn_store_bytes(const struct gnn_store *s)
{
    uint64_t bytes = s->base ? gnn_store_bytes(s->base) : 0;
    for (uint32_t p = s->from; p < s->to; p++)
        bytes += s->part[p]->bytes;
    return bytes;
}

uint64_t gnn_store_memory(const struct gnn_store *s)
{
    return gnn_limit_all() / (s->comm->local_size ? s->comm->local_size : 1);
}

/* All tensors of its own are queued for verification. */
static void verify_all(struct gnn_store *s)
{
    for (uint32_t p = s->from; p < s->to; p++)
        for (uint32_t i = 0; i < s->part[p]->n; i++)
            (void)gnn_store_at(s, p, i);
}

static void verify_small(struct gnn_store *s)
{
    for (uint32_t p = s->from; p < s->to; p++)
        s->part[p]->verified = SMALL;
}

int gnn_store_fit(struct gnn_store *s, bool all, struct gnn_err *e)
{
    const uint64_t memory = gnn_store_memory(s);
    if (gnn_store_bytes(s) <= memory - memory / 8)
        return GNN_OK;
    s->out_of_core = true;
    for (struct gnn_store *x = s; x; x = x->base) {
        if (all)
            verify_all(x);
        else
            verify_small(x);
    }
    return all ? gnn_store_verified(s, e) : GNN_OK;
}

/* The whole pages that have any of the bytes. */
static void advise_pages(const void *data, uint64_t bytes, int how)
{
    const uint64_t page = gnn_page_size(), from = (uintptr_t)data / page * page,
                   to = (uintptr_t)data + bytes;
    (void)!madvise((void *)from, to - from, how);
}

void gnn_store_at_random(const struct gnn_store *s, const void *data, uint64_t bytes)
{
    if (s->out_of_core && data && bytes)
        advise_pages(data, bytes, MADV_RANDOM);
}

void gnn_store_ask(const struct gnn_store *s, const void *data, uint64_t bytes)
{
    if (s->out_of_core && data && bytes && bytes <= SHORT)
        advise_pages(data, bytes, MADV_WILLNEED);
}
