/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a store: store.json, and of each part the frames, their tables and checksums. All files are
 * opened relative to one descriptor of the directory, so that they are those of one store although
 * another process may replace it meanwhile. */
#include "lib/store/store_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/xxh.h"
#include "formats/gnb.h"
#include "formats/le.h"
#include "lib/comm/comm.h"
#include "lib/base/io.h"
#include "lib/base/kind.h"
#include "lib/base/mapped.h"
#include "lib/base/mem.h"
#include "lib/base/plural.h"
#include "lib/store/base_store.h"
#include "lib/store/write.h"

/* ---- one part ---- */

static int fail_part(const struct gnn_part *p, uint64_t at, const char *what, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT, "%s: at byte %llu: %s", p->path, (unsigned long long)at, what);
}

static int zero_between(const struct gnn_part *p, uint64_t from, uint64_t to, struct gnn_err *e)
{
    /* A page between tensors is usual: all bytes are like the first, which is zero. */
    if (from < to && !p->map[from] && !memcmp(p->map + from, p->map + from + 1, to - from - 1))
        return 0;
    for (; from < to; from++)
        if (p->map[from])
            return fail_part(p, from, "padding is not zero", e);
    return 0;
}

/* Decodes the frame at *at; its entries go to *entry (heap). Moves *at past the frame. f->major is
 * the one that the frame must have, or 0: one that stores may have. */
static int frame_at(const struct gnn_part *p, uint64_t *at, enum gnb_kind kind, uint64_t seq,
                    struct gnb_frame *f, struct gnb_entry **entry, struct gnn_err *e)
{
    if (p->bytes < *at || p->bytes - *at < GNB_HEADER_BYTES)
        return gnn_fail(e, GNN_E_INPUT, "%s: cut short at byte %llu", p->path,
                        (unsigned long long)p->bytes);
    const uint8_t *h = p->map + *at, *table = h + GNB_HEADER_BYTES;
    const unsigned major = f->major;
    const char *text = gnn_gnb_frame_decode(f, h);
    if (!text && f->major != GNB_MAJOR && f->major != GNB_MAJOR_LATEST)
        text = "a version of GNB that is not one of stores";
    if (!text && major && f->major != major)
        text = "is of another version than its HEADER";
    if (text)
        return fail_part(p, *at, text, e);
    /* Before anything is added to them: sizes in a damaged header can be any numbers. */
    uint64_t rest = p->bytes - *at - GNB_HEADER_BYTES;
    if (f->table_bytes > rest || f->payload_bytes > rest - f->table_bytes)
        return gnn_fail(e, GNN_E_INPUT, "%s: cut short at byte %llu", p->path,
                        (unsigned long long)p->bytes);
    if ((text = gnn_gnb_frame_check(f, h, table)))
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
        if ((text = gnn_gnb_entry_decode(&t[i], f, table, &table_at, &end)))
            return fail_part(p, *at, text, e);
        if (t[i].codec != GNB_RAW)
            return fail_part(p, *at, "store tensors must be raw", e);
        rc = zero_between(p, base + before, base + t[i].offset, e);
    }
    if (!rc && (text = gnn_gnb_table_end(f, table, table_at, end)))
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
    /* Sorted for searches by name; equal names are neighbours then. */
    qsort(p->by_name, f->ntensors, sizeof *p->by_name, gnn_part_compare);
    for (uint32_t i = 1; i < f->ntensors; i++)
        if (!gnn_part_compare(&p->by_name[i - 1], &p->by_name[i]))
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor '%s' appears twice", p->path,
                            p->by_name[i]->name);
    p->n = p->all = f->ntensors;
    p->hash = f->sum;
    return 0;
}

/* The frame HEADER. f->major is then the one that the other frames must have. */
static int read_meta(struct gnn_part *p, uint64_t *at, struct gnb_frame *f, struct gnb_entry **t,
                     struct gnn_meta *meta, struct gnn_err *e)
{
    const uint8_t *data;
    struct gnn_err why = {0};
    int rc = frame_at(p, at, GNB_HEADER, 0, f, t, e);
    if (!rc)
        rc = one_tensor(p, 0, f, *t, "meta", GNN_U8, &data, e);
    if (!rc && gnn_meta_from_text(meta, (const char *)data, (*t)->raw, &why))
        rc = gnn_fail(e, (enum gnn_status)why.code, "%s: %s", p->path, why.msg);
    if (rc)
        return rc;
    const unsigned major = gnn_schema_version(&meta->schema);
    return f->major == major
               ? 0
               : fail_part(p, 0,
                           major == GNB_MAJOR ? "stores without int8 features and lists of "
                                                "candidates require version 1"
                                              : "stores with int8 features or lists of candidates "
                                                "require version 4",
                           e);
}

static int read_frames(struct gnn_part *p, struct gnn_meta *meta, struct gnn_err *e)
{
    struct gnb_frame f = {0};
    struct gnb_entry *t[3] = {0};
    const uint8_t *data;
    uint64_t at = 0, from;
    int rc = read_meta(p, &at, &f, &t[0], meta, e);
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
    if (!rc &&
        (t[2]->raw != 16 || load_le64(data) != 2 || load_le64(data + 8) != from || at != p->bytes))
        rc = fail_part(p, from, "END does not match the partition", e);
    for (int i = 0; i < 3; i++)
        gnn_free(t[i]);
    return rc;
}

static int part_open(struct gnn_part *p, int dir, struct gnn_meta *meta, struct gnn_err *e)
{
    struct stat st;
    struct gnn_err why = {0};
    const int fd = gnn_io_open_at(dir, strrchr(p->path, '/') + 1, p->path, &st, &why);
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

static int read_json(struct gnn_store *s, int dir, struct gnn_err *e)
{
    char *path = gnn_strf(e, "%s/store.json", s->path);
    if (!path)
        return e->code;
    struct stat st;
    struct gnn_err unread = {0};
    int rc = 0, fd = gnn_io_open_at(dir, "store.json", path, &st, &unread);
    if (fd < 0)
        rc = errno == ENOENT ? no_store(s->path, e) : gnn_fail_as(e, &unread);
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
        gnn_fail(e, GNN_E_INPUT, "%s: is of another store than store.json, where %s", p->path,
                 differ);
    gnn_free(differ);
    return e->code;
}

/* Each rank opens a range of the parts only. */
static int open_parts(struct gnn_store *s, int dir, struct gnn_err *e)
{
    const struct gnn_comm *c = s->comm;
    const uint32_t n = s->meta.schema.nparts;
    if (!(s->part = gnn_alloc_zero(n, sizeof *s->part, "parts", e)))
        return e->code;
    s->nparts = n;
    s->from = gnn_store_rank_from(s, c->rank);
    s->to = gnn_store_rank_from(s, c->rank + 1);
    if (n < c->size)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: has %u partition%s, too few for %u rank%s: use gnn-partition -k %u",
                        s->path, n, n == 1 ? "" : "s", c->size, gnn_plural(c->size), c->size);
    for (uint32_t i = 0; i < n; i++) {
        struct gnn_meta meta = {0};
        struct gnn_part *p = s->part[i] = gnn_alloc_zero(1, sizeof *p, "a partition", e);
        if (!p || !(p->path = gnn_strf(e, "%s/part-%05u.gnb", s->path, i)))
            return e->code;
        pthread_mutex_init(&p->lock, NULL);
        if (!gnn_store_has(s, i))
            continue;
        int rc = part_open(p, dir, &meta, e);
        if (!rc)
            rc = check_same(s, p, &meta, e);
        p->verify = s->verify;
        gnn_meta_release(&meta);
        if (rc)
            return rc;
    }
    return 0;
}

/* Opens what this rank has of the store that is there now. *replaced: another has its name since,
 * and what failed may be there. */
static int open_own(struct gnn_store *s, const char *path, bool verify, bool *replaced,
                    struct gnn_err *e)
{
    struct stat was, now;
    *replaced = false;
    if (!(s->path = gnn_strdup(path, e)))
        return e->code;
    const int dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return errno == ENOENT || errno == ENOTDIR ? no_store(path, e) : gnn_fail_open(e, path);
    int rc = read_json(s, dir, e);
    if (!rc && verify && !(s->verify = gnn_verify_new(e)))
        rc = e->code;
    if (!rc)
        rc = open_parts(s, dir, e);
    *replaced = !fstat(dir, &was) && !stat(path, &now) &&
                (was.st_ino != now.st_ino || was.st_dev != now.st_dev);
    close(dir);
    return rc;
}

/* The parts, of which each rank knows its own, are those of one store. */
static int check_identity(struct gnn_store *s, struct gnn_err *e)
{
    char identity[17];
    uint64_t *hash = gnn_alloc_zero(s->nparts, sizeof *hash, "parts", e);
    for (uint32_t i = s->from; hash && i < s->to; i++)
        hash[i] = s->part[i]->hash;
    /* Each part's hash is that of one rank, and 0 in the others. */
    if (hash && !gnn_comm_all_reduce(s->comm, hash, s->nparts, GNN_REDUCE_U64, e))
        gnn_store_identity(&s->meta, hash, identity, e);
    gnn_free(hash);
    if (e->code)
        return e->code;
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    memcpy(identity, s->meta.identity, sizeof identity);
#endif
    return strcmp(identity, s->meta.identity)
               ? gnn_fail(e, GNN_E_INPUT,
                          "%s: partitions are missing, swapped or from another store", s->path)
               : 0;
}

/* Without a base store, and what is checked with that. */
static int open_alone(struct gnn_store *s, const char *path, bool verify, struct gnn_comm *c,
                      struct gnn_err *e)
{
    enum { TRIES = 100 };
    char text[sizeof s->meta.identity + 16];
    bool again;
    *s = (struct gnn_store){.comm = c};
    int rc = open_own(s, path, verify, &again, e);
    for (int i = 0; rc && again && i < TRIES; i++) {
        gnn_store_close(s);
        *s = (struct gnn_store){.comm = c};
        *e = (struct gnn_err){0};
        rc = open_own(s, path, verify, &again, e);
    }
    snprintf(text, sizeof text, "%s %u", s->meta.identity, s->meta.schema.nparts);
    if (!rc)
        /* Ranks may have different file systems: all must have opened the same store. */
        rc = gnn_comm_agree(c, "store", text, e);
    return rc ? rc : check_identity(s, e);
}

static int open_base(struct gnn_store *s, bool verify, struct gnn_err *e)
{
    const struct gnn_base *want = &s->meta.base;
    char *path = gnn_base_find(s, e);
    struct gnn_store *b = s->base = path ? gnn_alloc_zero(1, sizeof *b, "a base store", e) : NULL;
    if (b && !open_alone(b, path, verify, s->comm, e)) {
        if (strcmp(b->meta.identity, want->identity) != 0)
            gnn_fail(e, GNN_E_INPUT, "%s: its base store %s has changed: identity %s instead of %s",
                     s->path, path, b->meta.identity, want->identity);
        else if (b->meta.base.path)
            gnn_fail(e, GNN_E_INPUT, "%s: its base store %s has a base store itself", s->path,
                     path);
        else if (!gnn_store_check(b, e))
            (void)!gnn_base_join(s, e);
    }
    gnn_free(path);
    return e->code;
}

int gnn_store_open_ranks(struct gnn_store *s, const char *path, bool verify, struct gnn_comm *c,
                         struct gnn_err *e)
{
    int rc = open_alone(s, path, verify, c, e);
    if (!rc && s->meta.base.path)
        rc = open_base(s, verify, e);
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
