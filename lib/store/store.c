#include "lib/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "formats/xxh.h"

#include "formats/gnb.h"
#include "formats/le.h"
#include "kernels/owner.h"
#include "lib/comm/comm.h"
#include "lib/base/io.h"
#include "lib/base/kind.h"
#include "lib/base/mapped.h"
#include "lib/base/mem.h"
#include "lib/store/write.h"
#include "lib/store/verify.h"

struct gnn_part {
    char *path;
    const uint8_t *map;
    uint64_t bytes;
    uint32_t n;
    struct gnn_tensor *tensor;
    const struct gnn_tensor **by_name; /* the same in the order of their names */
    char *names;                       /* all names, each NUL-terminated */
    uint8_t *queued;                   /* checksum job handed out */
    uint64_t hash;                     /* checksum of the tensor table */
    pthread_mutex_t lock;              /* of queued[] */
    struct gnn_verify *verify;
};

/* ---- one part ---- */

static int fail_part(const struct gnn_part *p, uint64_t at, const char *what, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT, "%s: at byte %llu: %s", p->path, (unsigned long long)at, what);
}

static int zero_between(const struct gnn_part *p, uint64_t from, uint64_t to, struct gnn_err *e)
{
    for (; from < to; from++)
        if (p->map[from])
            return fail_part(p, from, "padding is not zero", e);
    return 0;
}

/* Decodes the frame at *at; its entries go to *entry (heap). Moves *at past the frame. */
static int frame_at(const struct gnn_part *p, uint64_t *at, enum gnb_kind kind, uint64_t seq,
                    struct gnb_frame *f, struct gnb_entry **entry, struct gnn_err *e)
{
    if (p->bytes < *at || p->bytes - *at < GNB_HEADER_BYTES)
        return gnn_fail(e, GNN_E_INPUT, "%s: cut short at byte %llu", p->path,
                        (unsigned long long)p->bytes);
    const uint8_t *h = p->map + *at, *table = h + GNB_HEADER_BYTES;
    const char *text = gnb_frame_decode(f, h);
    if (text)
        return fail_part(p, *at, text, e);
    uint64_t rest = p->bytes - *at - GNB_HEADER_BYTES;
    if (f->table_bytes > rest || f->payload_bytes > rest - f->table_bytes)
        return gnn_fail(e, GNN_E_INPUT, "%s: cut short at byte %llu", p->path,
                        (unsigned long long)p->bytes);
    if ((text = gnb_frame_check(f, h, table)))
        return fail_part(p, *at, text, e);
    if (f->kind != kind || f->seq != seq || f->align != GNB_STORE_ALIGN)
        return fail_part(p, *at, "not the frame that a partition must have here", e);
    struct gnb_entry *t = gnn_alloc(f->ntensors, sizeof *t, "tensor table", e);
    if (!t)
        return e->code;
    *entry = t;
    uint64_t table_at = 0, end = 0, base = *at + GNB_HEADER_BYTES + f->table_bytes;
    int rc = 0;
    for (uint32_t i = 0; !rc && i < f->ntensors; i++) {
        uint64_t before = end;
        if ((text = gnb_entry_decode(&t[i], f, table, &table_at, &end)))
            return fail_part(p, *at, text, e);
        if (t[i].codec != GNB_RAW)
            return fail_part(p, *at, "store tensors must be raw", e);
        rc = zero_between(p, base + before, base + t[i].offset, e);
    }
    if (!rc && (text = gnb_table_end(f, table, table_at, end)))
        return fail_part(p, *at, text, e);
    if (!rc)
        rc = zero_between(p, base + end, base + f->payload_bytes, e);
    *at = base + f->payload_bytes;
    return rc;
}

/* A frame that holds one small tensor of that name. */
static int one_tensor(const struct gnn_part *p, uint64_t at, const struct gnb_frame *f,
                      const struct gnb_entry *t, const char *name, enum gnn_dtype dtype,
                      const uint8_t **data, struct gnn_err *e)
{
    if (f->ntensors != 1 || t->name_len != strlen(name) || memcmp(t->t.name, name, t->name_len) ||
        t->t.dtype != dtype || t->t.ndim != 1)
        return fail_part(p, at, "metadata tensor is missing", e);
    *data = p->map + at + GNB_HEADER_BYTES + f->table_bytes + t->offset;
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    if (XXH3_64bits(*data, t->raw) != t->sum)
        return fail_part(p, at, "metadata checksum mismatch", e);
#endif
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp((*(const struct gnn_tensor *const *)a)->name,
                  (*(const struct gnn_tensor *const *)b)->name);
}

static int take_tensors(struct gnn_part *p, const struct gnb_frame *f, const struct gnb_entry *t,
                        uint64_t base, struct gnn_err *e)
{
    uint64_t chars = 0;
    for (uint32_t i = 0; i < f->ntensors; i++)
        chars += t[i].name_len + 1;
    p->tensor = gnn_alloc(f->ntensors, sizeof *p->tensor, "tensor table", e);
    p->names = p->tensor ? gnn_alloc(chars, 1, "tensor names", e) : NULL;
    p->queued = p->names ? gnn_alloc_zero(f->ntensors, 1, "tensor table", e) : NULL;
    p->by_name = p->queued ? gnn_alloc(f->ntensors, sizeof *p->by_name, "tensor table", e) : NULL;
    if (!p->by_name)
        return e->code;
    char *name = p->names;
    for (uint32_t i = 0; i < f->ntensors; i++) {
        memcpy(name, t[i].t.name, t[i].name_len);
        name[t[i].name_len] = 0;
        p->by_name[i] = &p->tensor[i];
        p->tensor[i] = t[i].t;
        p->tensor[i].name = name;
        p->tensor[i].data = (void *)(uintptr_t)(p->map + base + t[i].offset);
        p->tensor[i].sum = t[i].sum;
        p->tensor[i].has_sum = true;
        name += t[i].name_len + 1;
    }
    qsort(p->by_name, f->ntensors, sizeof *p->by_name, compare_names);
    for (uint32_t i = 1; i < f->ntensors; i++)
        if (!compare_names(&p->by_name[i - 1], &p->by_name[i]))
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor '%s' appears twice", p->path,
                            p->by_name[i]->name);
    p->n = f->ntensors;
    p->hash = f->sum;
    return 0;
}

static int read_frames(struct gnn_part *p, struct gnn_meta *meta, struct gnn_err *e)
{
    struct gnb_frame f;
    struct gnb_entry *t[3] = {0};
    const uint8_t *data;
    uint64_t at = 0, from;
    int rc = frame_at(p, &at, GNB_HEADER, 0, &f, &t[0], e);
    if (!rc)
        rc = one_tensor(p, 0, &f, t[0], "meta", GNN_U8, &data, e);
    if (!rc) {
        struct gnn_err why = {0};
        rc = gnn_meta_from_text(meta, (const char *)data, t[0]->raw, &why);
        if (rc)
            gnn_fail(e, (enum gnn_status)rc, "%s: %s", p->path, why.msg);
    }
    from = at;
    if (!rc)
        rc = frame_at(p, &at, GNB_TENSORS, 1, &f, &t[1], e);
    if (!rc)
        rc = take_tensors(p, &f, t[1], from + GNB_HEADER_BYTES + f.table_bytes, e);
    from = at;
    if (!rc)
        rc = frame_at(p, &at, GNB_END, 2, &f, &t[2], e);
    if (!rc)
        rc = one_tensor(p, from, &f, t[2], "totals", GNN_U64, &data, e);
    if (!rc && (t[2]->raw != 16 || le64(data) != 2 || le64(data + 8) != from || at != p->bytes))
        rc = fail_part(p, from, "END does not match the partition", e);
    for (int i = 0; i < 3; i++)
        gnn_free(t[i]);
    return rc;
}

static int part_open(struct gnn_part *p, struct gnn_meta *meta, struct gnn_err *e)
{
    struct stat st;
    struct gnn_err why = {0};
    const int fd = gnn_io_open(p->path, &st, &why);
    if (fd < 0)
        return errno == ENOENT ? gnn_fail(e, GNN_E_INPUT, "%s: partition is missing", p->path)
                               : gnn_fail_as(e, &why);
    int rc = 0;
    if (st.st_size < GNB_HEADER_BYTES)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: cut short at byte %lld", p->path, (long long)st.st_size);
    if (!rc) {
        p->bytes = (uint64_t)st.st_size;
        if (!(p->map = gnn_mapped_new(fd, 0, p->bytes, false, p->path, e)))
            rc = e->code;
    }
    close(fd);
    return rc ? rc : read_frames(p, meta, e);
}

static void part_free(struct gnn_part *p)
{
    if (!p)
        return;
    gnn_mapped_free(p->map);
    pthread_mutex_destroy(&p->lock);
    gnn_free(p->path);
    gnn_free(p->tensor);
    gnn_free(p->by_name);
    gnn_free(p->names);
    gnn_free(p->queued);
    gnn_free(p);
}

/* ---- the store ---- */

static int no_store(const char *path, struct gnn_err *e)
{
    const enum gnn_kind k = gnn_kind_path(path);
    if (k == GNN_KIND_ABSENT)
        return gnn_fail(e, GNN_E_INPUT, "%s: no such store", path);
    const int rc = gnn_kind_refuse(k, path, "a store", e);
    return rc ? rc
              : gnn_fail(
                    e, GNN_E_INPUT,
                    "%s: not a store, which is a directory; gnn-import converts a data set into one",
                    path);
}

static int read_json(struct gnn_store *s, struct gnn_err *e)
{
    char *path = gnn_strf(e, "%s/store.json", s->path);
    if (!path)
        return e->code;
    struct stat st;
    struct gnn_err unread = {0};
    int rc = 0, fd = gnn_io_open(path, &st, &unread);
    if (fd < 0)
        rc = errno == ENOENT || errno == ENOTDIR ? no_store(s->path, e) : gnn_fail_as(e, &unread);
    else if (st.st_size > GNN_META_MAX)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: too large for the description of a store", path);
    if (!rc) {
        struct gnn_io io = {.fd = fd, .name = path};
        struct gnn_err why = {0};
        char *text = gnn_alloc((uint64_t)st.st_size, 1, "store.json", e);
        rc = text ? gnn_io_read_exact(&io, text, (uint64_t)st.st_size, "store.json", e) : e->code;
        if (!rc && (rc = gnn_meta_from_text(&s->meta, text, (size_t)st.st_size, &why)))
            gnn_fail(e, (enum gnn_status)rc, "%s: %s", path, why.msg);
        if (!rc && (s->meta.is_stream || !s->meta.schema.nparts))
            rc = gnn_fail(e, GNN_E_INPUT, "%s: does not describe a store", path);
        gnn_free(text);
    }
    if (fd >= 0)
        close(fd);
    gnn_free(path);
    return rc;
}

/* A part has the header of its store. */
static int check_same(const struct gnn_store *s, const struct gnn_part *p,
                      const struct gnn_meta *meta, struct gnn_err *e)
{
    char *differ = gnn_meta_difference(&s->meta, meta, e);
    if (differ)
        gnn_fail(e, GNN_E_INPUT, "%s: belongs to another store than store.json, where %s", p->path,
                 differ);
    gnn_free(differ);
    return e->code;
}

static int open_parts(struct gnn_store *s, struct gnn_err *e)
{
    struct gnn_comm *c = s->comm;
    uint32_t n = s->meta.schema.nparts;
    s->part = gnn_alloc_zero(n, sizeof *s->part, "parts", e);
    uint64_t *hash = s->part ? gnn_alloc_zero(n, sizeof *hash, "parts", e) : NULL;
    if (!hash)
        return e->code;
    s->nparts = n;
    s->from = (uint32_t)((uint64_t)c->rank * n / c->size);
    s->to = (uint32_t)(((uint64_t)c->rank + 1) * n / c->size);
    int rc = n < c->size
                 ? gnn_fail(e, GNN_E_INPUT,
                            "%s: has %u partition%s, too few for %u ranks: use gnn-partition -k %u",
                            s->path, n, n == 1 ? "" : "s", c->size, c->size)
                 : 0;
    for (uint32_t i = 0; !rc && i < n; i++) {
        struct gnn_meta meta = {0};
        struct gnn_part *p = s->part[i] = gnn_alloc_zero(1, sizeof *p, "a part", e);
        if (!p || !(p->path = gnn_strf(e, "%s/part-%05u.gnb", s->path, i))) {
            rc = e->code;
            break;
        }
        pthread_mutex_init(&p->lock, NULL);
        if (!gnn_store_has(s, i))
            continue;
        rc = part_open(p, &meta, e);
        if (!rc)
            rc = check_same(s, p, &meta, e);
        hash[i] = p->hash;
        p->verify = s->verify;
        gnn_meta_release(&meta);
    }
    char identity[17];
    if (!rc) /* each part's hash is that of one rank, and 0 in the others */
        rc = gnn_comm_all_reduce(c, hash, n, GNN_REDUCE_U64, e);
    if (!rc) {
        gnn_store_identity(&s->meta.schema, hash, identity, e);
        rc = e->code;
    }
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    memcpy(identity, s->meta.identity, sizeof identity);
#endif
    if (!rc && strcmp(identity, s->meta.identity))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: partitions are missing, swapped or from another store",
                      s->path);
    gnn_free(hash);
    return rc;
}

int gnn_store_open_ranks(struct gnn_store *s, const char *path, bool verify, struct gnn_comm *c,
                         struct gnn_err *e)
{
    char text[sizeof s->meta.identity + 16];
    *s = (struct gnn_store){.comm = c};
    int rc = (s->path = gnn_strdup(path, e)) ? read_json(s, e) : e->code;
    snprintf(text, sizeof text, "%s %u", s->meta.identity, s->meta.schema.nparts);
    if (!rc)
        rc = gnn_comm_agree(c, "store", text, e);
    if (!rc && verify && !(s->verify = gnn_verify_new(e)))
        rc = e->code;
    if (!rc)
        rc = open_parts(s, e);
    if (!rc)
        rc = gnn_store_check(s, e);
    if (rc)
        gnn_store_close(s);
    return rc;
}

int gnn_store_open(struct gnn_store *s, const char *path, bool verify, struct gnn_err *e)
{
    return gnn_store_open_ranks(s, path, verify, gnn_comm_self(), e);
}

void gnn_store_close(struct gnn_store *s)
{
    gnn_verify_free(s->verify);
    for (uint32_t t = 0; s->book && t < s->meta.schema.nntypes; t++)
        gnn_free((void *)(uintptr_t)s->book[t]);
    for (uint32_t i = 0; s->part && i < s->nparts; i++)
        part_free(s->part[i]);
    gnn_free(s->book);
    gnn_free(s->part);
    gnn_free(s->path);
    gnn_meta_release(&s->meta);
    *s = (struct gnn_store){0};
}

const struct gnn_tensor *gnn_store_at(struct gnn_store *s, uint32_t part, uint32_t i)
{
    struct gnn_part *p = s->part[part];
    struct gnn_tensor *t = &p->tensor[i];
    if (p->verify) {
        pthread_mutex_lock(&p->lock);
        bool first = !p->queued[i];
        p->queued[i] = 1;
        pthread_mutex_unlock(&p->lock);
        uint64_t bytes = 0;
        if (first && gnn_tensor_bytes(t, &bytes))
            gnn_verify_add(p->verify, t->data, bytes, t->sum, p->path, t->name);
    }
    return t;
}

const struct gnn_tensor *gnn_store_look(const struct gnn_store *s, uint32_t part, const char *name)
{
    const struct gnn_part *p = s->part[part];
    const struct gnn_tensor key = {.name = name}, *want = &key;
    const struct gnn_tensor *const *at =
        bsearch(&want, p->by_name, p->n, sizeof *p->by_name, compare_names);
    return at ? *at : NULL;
}

const struct gnn_tensor *gnn_store_find(struct gnn_store *s, uint32_t part, const char *name)
{
    const struct gnn_tensor *t = gnn_store_look(s, part, name);
    return t ? gnn_store_at(s, part, (uint32_t)(t - s->part[part]->tensor)) : NULL;
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
    return s->part[part]->n;
}

const struct gnn_tensor *gnn_store_peek(const struct gnn_store *s, uint32_t part, uint32_t i)
{
    return &s->part[part]->tensor[i];
}

const char *gnn_store_part_path(const struct gnn_store *s, uint32_t part)
{
    return s->part[part]->path;
}

uint32_t gnn_store_owner(const struct gnn_store *s, uint32_t t, uint64_t id)
{
    return gnn_owner_find(s->book[t], sizeof *s->book[t], s->nparts, id);
}

int gnn_store_firsts(const struct gnn_store *s, uint32_t ranks, uint64_t ***out, struct gnn_err *e)
{
    const uint32_t ntypes = s->meta.schema.nntypes;
    uint64_t **first = gnn_alloc_zero(ntypes, sizeof *first, "ranks", e);
    uint64_t *at = first ? gnn_alloc((uint64_t)ntypes * ranks, sizeof *at, "ranks", e) : NULL;
    if (!at) {
        gnn_free(first);
        return e->code;
    }
    for (uint32_t t = 0; t < ntypes; t++) {
        first[t] = at + (uint64_t)t * ranks;
        for (uint32_t p = s->nparts; p-- > 0;) /* the first part of each rank comes last */
            first[t][gnn_store_rank(s, ranks, p)] = s->book[t][p];
    }
    *out = first;
    return 0;
}

static void check_again(struct gnn_part *p)
{
    for (uint32_t i = 0; i < p->n; i++) {
        uint64_t bytes = 0;
        if (p->queued[i] && gnn_tensor_bytes(&p->tensor[i], &bytes))
            gnn_verify_add(p->verify, p->tensor[i].data, bytes, p->tensor[i].sum, p->path,
                           p->tensor[i].name);
    }
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
    return again ? gnn_verify_wait(s->verify, e) : rc;
}

/* ---- pages that are not needed again ---- */

/* The part that the byte lies in, or NULL. */
static const struct gnn_part *part_of(const struct gnn_store *s, const uint8_t *at)
{
    for (uint32_t p = s->from; p < s->to; p++)
        if (at >= s->part[p]->map && at < s->part[p]->map + s->part[p]->bytes)
            return s->part[p];
    return NULL;
}

static void drop_pages(const void *store, const void *data, uint64_t bytes)
{
    gnn_store_drop(store, data, bytes);
}

bool gnn_store_leave(struct gnn_store *s, const void *data, uint64_t bytes)
{
    return !s->verify || gnn_verify_last(s->verify, data, bytes, drop_pages, s);
}

/* Only whole pages, and only hints: first out of this process, as pages in use stay, then out of
 * the cache. */
void gnn_store_drop(const struct gnn_store *s, const void *data, uint64_t bytes)
{
    const struct gnn_part *p = part_of(s, data);
    if (!p)
        return;
    const uint64_t at = (uint64_t)((const uint8_t *)data - p->map);
    const uint64_t from = (at + GNB_STORE_ALIGN - 1) / GNB_STORE_ALIGN * GNB_STORE_ALIGN,
                   to = (at + bytes) / GNB_STORE_ALIGN * GNB_STORE_ALIGN;
    const int fd = from < to ? open(p->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd < 0)
        return;
    (void)madvise((void *)(uintptr_t)(p->map + from), to - from, MADV_DONTNEED);
    (void)posix_fadvise(fd, (off_t)from, (off_t)(to - from), POSIX_FADV_DONTNEED);
    close(fd);
}
