/* SPDX-License-Identifier: Apache-2.0 */
/* An open store: lookups, verification and pages. */
#include "lib/store/store_impl.h"

#include <pthread.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/gnb.h"
#include "kernels/owner.h"
#include "lib/base/mapped.h"
#include "lib/base/mem.h"

int gnn_part_compare(const void *a, const void *b)
{
    return strcmp((*(const struct gnn_tensor *const *)a)->name,
                  (*(const struct gnn_tensor *const *)b)->name);
}

static void part_free(struct gnn_part *p)
{
    if (!p)
        return;
    gnn_mapped_free(p->map);
    pthread_mutex_destroy(&p->lock);
    gnn_free(p->path);
    gnn_free(p->tensor);
    gnn_free(p->inherited);
    gnn_free(p->by_name);
    gnn_free(p->names);
    gnn_free(p->queued);
    gnn_free(p);
}

void gnn_store_close(struct gnn_store *s)
{
    gnn_verify_free(s->verify);
    if (s->derived)
        s->derived_free(s->derived);
    for (uint32_t t = 0; s->book && t < s->meta.schema.nntypes; t++)
        gnn_free((void *)(uintptr_t)s->book[t]);
    for (uint32_t i = 0; s->part && i < s->nparts; i++)
        part_free(s->part[i]);
    if (s->base)
        gnn_store_close(s->base);
    gnn_free(s->base);
    gnn_free(s->book);
    gnn_free(s->part);
    gnn_free(s->path);
    gnn_meta_release(&s->meta);
    *s = (struct gnn_store){0};
}

static void verify_tensor(const struct gnn_part *p, const struct gnn_tensor *t)
{
    struct gnn_verify_job j = {.data = t->data,
                               .sum = t->sum,
                               .file = p->path,
                               .tensor = t->name,
                               .map = p->map,
                               .mapped = p->bytes};
    if (gnn_tensor_bytes(t, &j.bytes) && (!p->verified || j.bytes < p->verified))
        gnn_verify_add(p->verify, &j);
}

/* Tensor i of the part's own. */
static const struct gnn_tensor *take_own(struct gnn_part *p, uint32_t i)
{
    struct gnn_tensor *t = &p->tensor[i];
    if (p->verify) {
        pthread_mutex_lock(&p->lock);
        bool first = !p->queued[i];
        p->queued[i] = 1;
        pthread_mutex_unlock(&p->lock);
        if (first)
            verify_tensor(p, t);
    }
    return t;
}

const struct gnn_tensor *gnn_store_look(const struct gnn_store *s, uint32_t part, const char *name)
{
    const struct gnn_part *p = s->part[part];
    const struct gnn_tensor key = {.name = name}, *want = &key;
    const struct gnn_tensor *const *at =
        bsearch(&want, p->by_name, p->all, sizeof *p->by_name, gnn_part_compare);
    return at ? *at : NULL;
}

const struct gnn_tensor *gnn_store_find(struct gnn_store *s, uint32_t part, const char *name)
{
    const struct gnn_tensor *t = gnn_store_look(s, part, name);
    struct gnn_part *p = s->part[part];
    if (!t)
        return NULL;
    const uintptr_t at = (uintptr_t)t, own = (uintptr_t)p->tensor;
    return at >= own && at < (uintptr_t)(p->tensor + p->n) ? take_own(p, (uint32_t)(t - p->tensor))
                                                           : gnn_store_find(s->base, part, name);
}

const struct gnn_tensor *gnn_store_at(struct gnn_store *s, uint32_t part, uint32_t i)
{
    struct gnn_part *p = s->part[part];
    return i < p->n ? take_own(p, i) : gnn_store_find(s->base, part, p->inherited[i - p->n]->name);
}

const struct gnn_tensor *gnn_store_findf(struct gnn_store *s, uint32_t part, const char *fmt, ...)
{
    char name[GNN_NAME_MAX + 1];
    va_list ap;
    va_start(ap, fmt);
    const int n = vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    return n < 0 || n > GNN_NAME_MAX ? NULL : gnn_store_find(s, part, name);
}

uint32_t gnn_store_ntensors(const struct gnn_store *s, uint32_t part)
{
    return s->part[part]->all;
}

const struct gnn_tensor *gnn_store_peek(const struct gnn_store *s, uint32_t part, uint32_t i)
{
    const struct gnn_part *p = s->part[part];
    return i < p->n ? &p->tensor[i] : p->inherited[i - p->n];
}

const char *gnn_store_part_path(const struct gnn_store *s, uint32_t part)
{
    return s->part[part]->path;
}

uint32_t gnn_store_rank_of(const struct gnn_store *s, uint32_t t, uint64_t id)
{
    return gnn_owner_find(s->rank_book[t], sizeof **s->rank_book, s->comm->size, id);
}

uint32_t gnn_store_owner(const struct gnn_store *s, uint32_t t, uint64_t id)
{
    return gnn_owner_find(s->book[t], sizeof *s->book[t], s->nparts, id);
}

static void check_again(struct gnn_part *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->queued[i])
            verify_tensor(p, &p->tensor[i]);
}

int gnn_store_verified(struct gnn_store *s, struct gnn_err *e)
{
    int rc = s->verify ? gnn_verify_wait(s->verify, e) : 0;
    /* What somebody has written to since may be another store now, or the same one with another
     * time. */
    bool again = false;
    for (uint32_t k = s->from; s->verify && !rc && k < s->to; k++)
        if (gnn_mapped_changed(s->part[k]->map)) {
            check_again(s->part[k]);
            again = true;
        }
    if (again)
        rc = gnn_verify_wait(s->verify, e);
    return rc || !s->base ? rc : gnn_store_verified(s->base, e);
}

/* ---- pages that are not needed again ---- */

/* The part that the byte lies in, or NULL. */
static const struct gnn_part *part_of(const struct gnn_store *s, const uint8_t *at)
{
    for (uint32_t p = s->from; p < s->to; p++)
        if (at >= s->part[p]->map && at < s->part[p]->map + s->part[p]->bytes)
            return s->part[p];
    return s->base ? part_of(s->base, at) : NULL;
}

static void drop_pages(const void *store, const void *data, uint64_t bytes)
{
    gnn_store_drop(store, data, bytes);
}

bool gnn_store_leave(struct gnn_store *s, const void *data, uint64_t bytes)
{
    const bool none = !s->verify || gnn_verify_last(s->verify, data, bytes, drop_pages, s);
    return none && (!s->base || gnn_store_leave(s->base, data, bytes));
}

/* Only whole pages, and only hints: first out of this process, as pages in use stay, then out of
 * the cache. */
void gnn_store_drop(const struct gnn_store *s, const void *data, uint64_t bytes)
{
    const struct gnn_part *p = part_of(s, data);
    if (!p)
        return;
    const uint64_t at = (uint64_t)((const uint8_t *)data - p->map), page = gnn_page_size();
    const uint64_t from = (at + page - 1) / page * page, to = (at + bytes) / page * page;
    const int fd = from < to ? open(p->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd < 0)
        return;
    gnn_mapped_forget(p->map + from, to - from);
    (void)posix_fadvise(fd, (off_t)from, (off_t)(to - from), POSIX_FADV_DONTNEED);
    close(fd);
}

void gnn_store_forget(const struct gnn_store *s, uint32_t part)
{
    const struct gnn_part *p = s->part[part];
    gnn_mapped_forget(p->map, p->bytes);
    if (s->base)
        gnn_store_forget(s->base, part);
}

void gnn_store_forget_all(struct gnn_store *s)
{
    if (s->verify)
        gnn_verify_keep_none(s->verify);
    for (uint32_t p = s->from; p < s->to; p++)
        gnn_store_forget(s, p);
    if (s->base)
        gnn_store_forget_all(s->base);
}
