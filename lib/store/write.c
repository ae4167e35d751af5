/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a store (lib/store/write.h): all of it in a temporary directory, one partition after the
 * other. Within a partition tensors are declared, laid out, and then written in any order. Headers
 * hold the identity of the store, a hash of all partitions, so they are written last. */
#include "lib/store/write.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "formats/xxh.h"

#include "formats/gnb.h"
#include "lib/base/io.h"
#include "lib/base/json.h"
#include "lib/base/mem.h"

struct part_tensor {
    struct gnn_tensor t;
    uint64_t bytes, written, at; /* at: file offset, once laid out */
    XXH3_state_t sum;
    char name[];
};

struct gnn_part_writer {
    struct gnn_io io;
    char *path;
    uint32_t index, n;
    bool laid_out;
    struct part_tensor **tensor;
    struct gnn_buf list;
    struct gnb_frame frame;
    struct gnn_buf entries, head;
    uint64_t base; /* file offset of the TENSORS frame */
};

/* ---- encoding ---- */

static struct gnb_frame frame_of(const struct gnn_meta *m, enum gnb_kind kind, uint32_t ntensors)
{
    static const uint64_t seq[] = {[GNB_HEADER] = 0, [GNB_TENSORS] = 1, [GNB_END] = 2};
    return (struct gnb_frame){.kind = kind,
                              .major = (uint16_t)gnn_schema_version(&m->schema),
                              .ntensors = ntensors,
                              .align = GNB_STORE_ALIGN,
                              .seq = seq[kind]};
}

/* Encodes a frame of one tensor, header to padding, at the end of `out`. */
static int encode_one(struct gnn_buf *out, uint64_t *used, const struct gnb_frame *of,
                      const char *name, enum gnn_dtype dtype, uint64_t n, const void *data,
                      struct gnn_err *e)
{
    struct gnb_entry t = {.t = {.name = name, .dtype = dtype, .ndim = 1, .shape = {n}},
                          .name_len = strlen(name)};
    struct gnb_frame f = *of;
    t.raw = t.stored = n * gnn_dtype_bytes(dtype);
    t.sum = XXH3_64bits(data, t.raw);
    if (!gnn_gnb_layout(&f, &t))
        return gnn_fail(e, GNN_E_RUN, "header too large");
    uint64_t head = GNB_HEADER_BYTES + f.table_bytes;
    if (gnn_buf_reserve(out, *used + head + f.payload_bytes, 1, "a store header", e))
        return e->code;
    uint8_t *p = (uint8_t *)out->data + *used;
    memset(p, 0, head + f.payload_bytes);
    gnn_gnb_frame_encode(&f, &t, p);
    memcpy(p + head, data, t.raw);
    *used += head + f.payload_bytes;
    return 0;
}

static int header_bytes(const struct gnn_meta *m, struct gnn_buf *out, uint64_t *used,
                        struct gnn_err *e)
{
    char *text = gnn_meta_to_text(m, e);
    if (!text)
        return e->code;
    *used = 0;
    const struct gnb_frame f = frame_of(m, GNB_HEADER, 1);
    int rc = encode_one(out, used, &f, "meta", GNN_U8, strlen(text), text, e);
    gnn_free(text);
    return rc;
}

/* ---- the store ---- */

static char *part_path(const char *dir, uint32_t part, struct gnn_err *e)
{
    return gnn_strf(e, "%s/part-%05u.gnb", dir, part);
}

/* Only a directory that looks like a store, and holds nothing else, may be replaced. */
static int check_replaceable(const char *path, const char *name, struct gnn_err *e)
{
    DIR *d = opendir(path);
    if (!d && errno != ENOTDIR)
        return gnn_fail_errno(e, "%s: cannot replace", name);
    char other[NAME_MAX + 1] = "";
    bool has_json = false;
    for (struct dirent *f; d && (f = readdir(d));) {
        const char *n = f->d_name;
        if (!strcmp(n, "store.json"))
            has_json = true;
        else if (strcmp(n, ".") != 0 && strcmp(n, "..") != 0 && !gnn_temp_in_store(n))
            snprintf(other, sizeof other, "%s", n);
    }
    if (d)
        closedir(d);
    if (!has_json)
        return gnn_fail(e, GNN_E_USAGE, "%s: exists and is not a store; not replaced", name);
    if (*other)
        return gnn_fail(e, GNN_E_USAGE, "%s: holds '%s' besides a store; not replaced", name,
                        other);
    return 0;
}

char *gnn_store_target(const char *out, bool force, struct gnn_err *e)
{
    struct stat st;
    char *path = gnn_temp_target(out, true, e);
    if (!path || lstat(path, &st))
        return path;
    if (!force)
        gnn_fail(e, GNN_E_USAGE, "%s: already exists (use --force to replace a store)", out);
    else
        (void)!check_replaceable(path, out, e);
    if (!e->code)
        return path;
    gnn_free(path);
    return NULL;
}

/* Begins a store that gets the name `target`, which the user calls `out`. */
static int create_store(struct gnn_store_writer *w, const char *target, const char *out,
                        const struct gnn_meta *meta, struct gnn_err *e)
{
    if ((w->path = gnn_strdup(out, e)) && !gnn_meta_copy(&w->meta, meta, e)) {
        w->meta.is_stream = false;
        /* A header of the same length as the final one: the identity is not known yet. */
        memcpy(w->meta.identity, "0000000000000000", 17);
        w->part_hash = gnn_alloc_zero(meta->schema.nparts, sizeof *w->part_hash, "parts", e);
    }
    if (w->part_hash)
        w->temp = gnn_temp_dir(target, e);
    return e->code;
}

int gnn_store_create(struct gnn_store_writer *w, const char *out, const struct gnn_meta *meta,
                     bool force, struct gnn_err *e)
{
    *w = (struct gnn_store_writer){.force = force};
    char *target = gnn_store_target(out, force, e);
    int rc = target ? create_store(w, target, out, meta, e) : e->code;
    gnn_free(target);
    return rc;
}

int gnn_store_scratch(struct gnn_store_writer *w, const char *out, const struct gnn_meta *meta,
                      struct gnn_err *e)
{
    *w = (struct gnn_store_writer){.scratch = true};
    char *target = gnn_temp_target(out, true, e);
    int rc = target ? create_store(w, target, out, meta, e) : e->code;
    gnn_free(target);
    return rc;
}

static void part_free(struct gnn_part_writer *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->n; i++)
        gnn_free(p->tensor[i]);
    if (p->io.fd >= 0)
        close(p->io.fd);
    gnn_buf_release(&p->list);
    gnn_buf_release(&p->entries);
    gnn_buf_release(&p->head);
    gnn_free(p->path);
    gnn_free(p);
}

int gnn_part_begin(struct gnn_store_writer *w, uint32_t part, struct gnn_err *e)
{
    struct gnn_part_writer *p = gnn_alloc_zero(1, sizeof *p, "a partition of a store", e);
    if (!p)
        return e->code;
    part_free(w->part);
    w->part = p;
    p->io.fd = -1;
    p->index = part;
    if (!(p->path = part_path(w->temp->name, part, e)))
        return e->code;
    /* gnn_temp_abort must not run between the creation and the end of it (lib/base/temp.h). */
    gnn_temp_enter();
    int fd = open(p->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    gnn_temp_leave();
    if (fd < 0)
        return gnn_fail_errno(e, "%s: cannot create", p->path);
    p->io = (struct gnn_io){.fd = fd, .name = p->path};
    return header_bytes(&w->meta, &p->head, &p->base, e);
}

int gnn_part_declare(struct gnn_store_writer *w, const char *name, enum gnn_dtype dtype,
                     uint32_t ndim, const uint64_t *shape, uint32_t *id, struct gnn_err *e)
{
    struct gnn_part_writer *p = w->part;
    size_t len = strlen(name);
    if (len > GNN_NAME_MAX || ndim > GNN_NDIM_MAX)
        return gnn_fail(e, GNN_E_RUN, "tensor name '%.40s...' is too long", name);
    if (gnn_buf_reserve(&p->list, p->n + 1u, sizeof(void *), "tensor table", e))
        return e->code;
    p->tensor = p->list.data;
    struct part_tensor *t = gnn_alloc_zero(1, sizeof *t + len + 1, "a tensor", e);
    if (!t)
        return e->code;
    memcpy(t->name, name, len + 1);
    t->t = (struct gnn_tensor){.name = t->name, .dtype = dtype, .ndim = ndim};
    memcpy(t->t.shape, shape, ndim * sizeof *shape);
    XXH3_64bits_reset(&t->sum);
    p->tensor[p->n] = t;
    *id = p->n++;
    return gnn_tensor_bytes(&t->t, &t->bytes)
               ? 0
               : gnn_fail(e, GNN_E_RUN, "tensor '%s' is too large", name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct part_tensor *const *)a)->name,
                  (*(const struct part_tensor *const *)b)->name);
}

static int check_names(const struct gnn_part_writer *p, struct gnn_err *e)
{
    const struct part_tensor **t = gnn_alloc(p->n, sizeof *t, "tensor table", e);
    int rc = t ? 0 : e->code;
    if (t && p->n) {
        memcpy(t, p->tensor, p->n * sizeof *t);
        qsort(t, p->n, sizeof *t, by_name);
    }
    for (uint32_t i = 1; !rc && i < p->n; i++)
        if (!by_name(&t[i - 1], &t[i]))
            rc = gnn_fail(e, GNN_E_RUN, "tensor '%s' declared twice", t[i]->name);
    gnn_free(t);
    return rc;
}

int gnn_part_layout(struct gnn_store_writer *w, struct gnn_err *e)
{
    struct gnn_part_writer *p = w->part;
    p->frame = frame_of(&w->meta, GNB_TENSORS, p->n);
    if (check_names(p, e) ||
        gnn_buf_reserve(&p->entries, p->n, sizeof(struct gnb_entry), "tensor table", e))
        return e->code;
    struct gnb_entry *t = p->entries.data;
    for (uint32_t i = 0; i < p->n; i++)
        t[i] = (struct gnb_entry){.t = p->tensor[i]->t,
                                  .name_len = strlen(p->tensor[i]->name),
                                  .stored = p->tensor[i]->bytes,
                                  .raw = p->tensor[i]->bytes};
    if (!gnn_gnb_layout(&p->frame, t))
        return gnn_fail(e, GNN_E_RUN, "%s: too large", p->path);
    uint64_t payload = p->base + GNB_HEADER_BYTES + p->frame.table_bytes;
    for (uint32_t i = 0; i < p->n; i++)
        p->tensor[i]->at = payload + t[i].offset;
    p->laid_out = true;
    /* A full disk is found here, before edges are sorted. */
    int sys = posix_fallocate(p->io.fd, 0, (off_t)(payload + p->frame.payload_bytes));
    if (sys) {
        errno = sys;
        return gnn_fail_errno(e, "%s: cannot reserve %llu bytes", w->path,
                              (unsigned long long)(payload + p->frame.payload_bytes));
    }
    return 0;
}

int gnn_part_write(struct gnn_store_writer *w, uint32_t id, const void *data, uint64_t bytes,
                   struct gnn_err *e)
{
    struct part_tensor *t = w->part->tensor[id];
    if (bytes > t->bytes - t->written)
        return gnn_fail(e, GNN_E_RUN, "tensor '%s': written beyond its size", t->name);
    if (gnn_io_pwrite(&w->part->io, data, bytes, t->at + t->written, e))
        return e->code;
    XXH3_64bits_update(&t->sum, data, bytes);
    t->written += bytes;
    return 0;
}

int gnn_part_finish(struct gnn_store_writer *w, struct gnn_err *e)
{
    struct gnn_part_writer *p = w->part;
    struct gnb_entry *entry = p->entries.data;
    for (uint32_t i = 0; i < p->n; i++) {
        struct part_tensor *t = p->tensor[i];
        if (t->written < t->bytes)
            return gnn_fail(e, GNN_E_RUN, "tensor '%s' was not written in full", t->name);
        entry[i].sum = XXH3_64bits_digest(&t->sum);
    }
    uint64_t head = GNB_HEADER_BYTES + p->frame.table_bytes, used = 0;
    const struct gnb_frame last = frame_of(&w->meta, GNB_END, 1);
    struct gnn_buf buf = {0};
    int rc = gnn_buf_reserve(&buf, head, 1, "tensor table", e);
    if (!rc) {
        gnn_gnb_frame_encode(&p->frame, entry, buf.data);
        /* The checksum of the frame covers those of its tensors, and so stands for the whole
         * partition. */
        memcpy(&w->part_hash[p->index], (uint8_t *)buf.data + 56, sizeof *w->part_hash);
        rc = gnn_io_pwrite(&p->io, buf.data, head, p->base, e);
    }
    uint64_t end = p->base + head + p->frame.payload_bytes, totals[2] = {2, end};
    if (!rc)
        rc = encode_one(&buf, &used, &last, "totals", GNN_U64, 2, totals, e);
    if (!rc)
        rc = gnn_io_pwrite(&p->io, buf.data, used, end, e);
    gnn_buf_release(&buf);
    if (!rc)
        rc = gnn_io_close(&p->io, false, e);
    if (!rc) {
        part_free(p);
        w->part = NULL;
    }
    return rc;
}

void gnn_part_abandon(struct gnn_store_writer *w)
{
    part_free(w->part);
    w->part = NULL;
}

/* ---- commit ---- */

void gnn_store_identity(const struct gnn_meta *m, const uint64_t *part_hash, char out[17],
                        struct gnn_err *e)
{
    XXH3_state_t h;
    XXH3_64bits_reset(&h);
    json_t *j = gnn_schema_to_json(&m->schema, e);
    char *text = gnn_json_text(j, JSON_COMPACT, e);
    json_decref(j);
    if (!text)
        return;
    XXH3_64bits_update(&h, text, strlen(text));
    XXH3_64bits_update(&h, part_hash, m->schema.nparts * sizeof *part_hash);
    if (m->base.path)
        XXH3_64bits_update(&h, m->base.identity, strlen(m->base.identity));
    snprintf(out, 17, "%016llx", (unsigned long long)XXH3_64bits_digest(&h));
    gnn_free(text);
}

static int write_header(struct gnn_store_writer *w, uint32_t part, const struct gnn_buf *head,
                        uint64_t bytes, struct gnn_err *e)
{
    char *path = part_path(w->temp->name, part, e);
    if (!path)
        return e->code;
    struct gnn_io io = {.fd = open(path, O_WRONLY | O_CLOEXEC), .name = path};
    int rc = io.fd < 0 ? gnn_fail_errno(e, "%s: cannot open", path)
                       : gnn_io_pwrite(&io, head->data, bytes, 0, e);
    if (io.fd >= 0) {
        struct gnn_err late = {0};
        int rc2 = gnn_io_close(&io, !rc && !w->scratch, &late);
        if (!rc && rc2)
            rc = gnn_fail(e, (enum gnn_status)rc2, "%s", late.msg);
    }
    gnn_free(path);
    return rc;
}

static int write_headers(struct gnn_store_writer *w, struct gnn_err *e)
{
    struct gnn_buf buf = {0};
    uint64_t used = 0;
    uint32_t n = w->meta.schema.nparts;
    int rc = header_bytes(&w->meta, &buf, &used, e);
    /* Syncing is waiting: many at once share a commit of the file system's journal. */
    uint32_t todo = rc ? 0 : n;
#pragma omp parallel for schedule(dynamic) num_threads(n < 16 ? n : 16)
    for (uint32_t i = 0; i < todo; i++) {
        struct gnn_err late = {0};
        int rc2 = write_header(w, i, &buf, used, &late);
        if (rc2) {
#pragma omp critical(write_headers)
            rc = gnn_fail(e, (enum gnn_status)rc2, "%s", late.msg);
        }
    }
    gnn_buf_release(&buf);
    return rc;
}

static int write_json(struct gnn_store_writer *w, struct gnn_err *e)
{
    char *text = gnn_meta_to_text(&w->meta, e), *pretty = NULL;
    json_t *j = text ? gnn_json_parse(text, strlen(text), "store.json", e) : NULL;
    if (j)
        pretty = gnn_json_text(j, JSON_INDENT(2), e);
    json_decref(j);
    gnn_free(text);
    if (!pretty)
        return gnn_fail_nomem(e, 0, "store.json");
    char *path = gnn_strf(e, "%s/store.json", w->temp->name);
    int rc = path ? 0 : e->code;
    if (!rc) {
        gnn_temp_enter();
        struct gnn_io io = {.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666),
                            .name = path};
        gnn_temp_leave();
        rc = io.fd < 0 ? gnn_fail_errno(e, "%s: cannot create", path)
                       : gnn_io_write(&io, pretty, strlen(pretty), e);
        if (!rc)
            rc = gnn_io_write(&io, "\n", 1, e);
        if (!rc)
            rc = gnn_io_close(&io, !w->scratch, e);
        else if (io.fd >= 0)
            close(io.fd);
    }
    gnn_free(path);
    gnn_free(pretty);
    return rc;
}

int gnn_store_complete(struct gnn_store_writer *w, struct gnn_err *e)
{
    gnn_store_identity(&w->meta, w->part_hash, w->meta.identity, e);
    int rc = e->code;
    if (!rc)
        rc = write_headers(w, e);
    return rc ? rc : write_json(w, e);
}

int gnn_store_commit(struct gnn_store_writer *w, struct gnn_err *e)
{
    /* Order: headers and JSON with the identity, then the directory, then the name. A crash before
     * the last leaves no store. */
    int rc = gnn_store_complete(w, e);
    if (!rc)
        rc = gnn_io_sync_dir(w->temp->name, e);
    struct stat st;
    if (!rc && w->force && !lstat(w->temp->path, &st)) /* something else may be there by now */
        rc = check_replaceable(w->temp->path, w->path, e);
    return rc ? rc : gnn_temp_commit(w->temp, w->force, e);
}

void gnn_store_abandon(struct gnn_store_writer *w)
{
    gnn_part_abandon(w);
    gnn_temp_free(w->temp);
    gnn_meta_release(&w->meta);
    gnn_free(w->path);
    gnn_free(w->part_hash);
    *w = (struct gnn_store_writer){0};
}
