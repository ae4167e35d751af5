/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a stream of batches frame by frame (lib/stream/stream.h): frame header and table first,
 * which must fit the stream's header, then tensor by tensor, each checked as it arrives - a frame
 * is never trusted to be as large, or of the kind, that it says. Tensors may also be compressed, or
 * lie in memory of the producer, to which they refer. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "formats/xxh.h"
#include <zstd.h>

#include "formats/gnb.h"
#include "formats/le.h"
#include "lib/base/kind.h"
#include "lib/stream/stream.h"
#include "lib/stream/transport.h"

enum {
    PIECE = 256 << 10, /* read and summed while still in cache */
    TRUST = 64 << 20   /* allocated on a length's word alone; more only as bytes arrive */
};

static int fail_frame(const struct gnn_reader *r, uint64_t at, const char *what, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT, "%s: frame %llu at byte %llu: %s", r->io.name,
                    (unsigned long long)r->seq, (unsigned long long)at, what);
}

static int bad_tensor(const struct gnn_reader *r, const struct gnb_entry *t, const char *what,
                      struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT, "%s: frame %llu: tensor '%.*s': %s", r->io.name,
                    (unsigned long long)r->seq, (int)t->name_len, t->t.name, what);
}

/* Reads the next frame header and its table. GNN_END at a clean end of input. */
static int read_head(struct gnn_reader *r, struct gnb_frame *f, struct gnn_err *e)
{
    uint8_t h[GNB_HEADER_BYTES];
    uint64_t got, at = r->io.pos;
    if (r->importer)
        gnn_importer_wait(r->importer, r->io.fd);
    int rc = gnn_io_read(&r->io, h, sizeof h, &got, e);
    if (rc)
        return rc;
    if (!got && !r->in_stream) {
        if (r->streams)
            return GNN_END;
        return gnn_fail(e, GNN_E_INPUT, "%s: empty input", r->io.name);
    }
    if (got >= 4 && !gnn_gnb_frame_is(h)) { /* a short text, say, is not a stream cut short */
        rc = at ? 0 : gnn_kind_refuse(gnn_kind_bytes(h, got), r->io.name, "a stream of batches", e);
        const char *what = at ? "not a GNB frame (wrong magic)"
                              : "not a GNB frame (wrong magic), so not a stream of batches";
        return rc ? rc : fail_frame(r, at, what, e);
    }
    if (got < sizeof h)
        return gnn_fail(e, GNN_E_INPUT, "%s: cut short at byte %llu (%s)", r->io.name,
                        (unsigned long long)r->io.pos,
                        got ? "in a frame header" : "the stream has no END");
    const char *text = gnn_gnb_frame_decode(f, h);
    if (text)
        return fail_frame(r, at, text, e);
    uint64_t capacity = f->table_bytes;
    if ((rc = gnn_buf_reserve(&r->table, capacity + 1, 1, "tensor table", e)) ||
        (rc = gnn_io_read_exact(&r->io, r->table.data, capacity, "a tensor table", e)))
        return rc;
    const bool header = f->kind == GNB_HEADER;
    text = gnn_gnb_frame_check(f, h, r->table.data);
    if (!text)
        text = f->seq != r->seq                 ? "out of sequence"
               : r->seq && f->major != r->major ? "is of another version than its HEADER"
               : f->align != GNB_ALIGN          ? "this is a partition of a store, not a stream"
               : f->kind == GNB_TENSORS || header != (r->seq == 0) ? "frame kind out of place"
                                                                   : NULL;
    r->major = f->major;
    return text ? fail_frame(r, at, text, e) : 0;
}

static int read_padding(struct gnn_reader *r, uint64_t n, struct gnn_err *e)
{
    uint8_t pad[GNB_ALIGN];
    uint64_t at = r->io.pos;
    int rc = gnn_io_read_exact(&r->io, pad, n, "padding", e);
    for (uint64_t i = 0; !rc && i < n; i++)
        if (pad[i])
            rc = fail_frame(r, at + i, "padding is not zero", e);
    return rc;
}

/* Space for what is read: in tensor x of the set, or, if x is NULL, in r->packed. The contents
 * survive. */
static int grow_buffer(struct gnn_reader *r, struct gnn_tensors *set, struct gnn_tensor *x,
                       uint64_t bytes, uint8_t **to, struct gnn_err *e)
{
    int rc = x ? gnn_tensors_space(set, x, bytes, e)
               : gnn_buf_reserve(&r->packed, bytes, 1, "a tensor", e);
    *to = x ? x->data : r->packed.data;
    return rc;
}

/* Reads the stored bytes of a tensor, asks for space as they arrive, and checks the sum. */
static int read_stored(struct gnn_reader *r, const struct gnb_entry *t, struct gnn_tensors *set,
                       struct gnn_tensor *x, struct gnn_err *e)
{
    XXH3_state_t sum;
    XXH3_64bits_reset(&sum);
    uint8_t *to = NULL;
    for (uint64_t done = 0, capacity = 0; done < t->stored;) {
        const uint64_t n = t->stored - done < PIECE ? t->stored - done : PIECE;
        if (done + n > capacity) {
            /* Doubles from TRUST on: a length that lies costs TRUST at most, or twice what really
             * arrives. */
            capacity = 2 * capacity > TRUST ? 2 * capacity : TRUST;
            capacity = capacity < t->stored ? capacity : t->stored;
            int rc = grow_buffer(r, set, x, capacity, &to, e);
            if (rc)
                return rc;
        }
        if (gnn_io_read_exact(&r->io, to + done, n, "a tensor", e))
            return e->code;
        XXH3_64bits_update(&sum, to + done, n);
        done += n;
    }
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    if (XXH3_64bits_digest(&sum) != t->sum)
        return bad_tensor(r, t, "checksum mismatch", e);
#endif
    return 0;
}

/* Follows a reference to a device's memory. All of a batch lies on one device, but for what the
 * host reads. */
static int refer_device(struct gnn_reader *r, const struct gnb_entry *t,
                        const struct gnn_tensor *as, const struct gnb_reference *ref,
                        struct gnn_tensors *set, struct gnn_err *e)
{
    struct gnn_err why = {0};
    unsigned device;
    if (r->kind != GNB_BATCH || gnn_batch_on_host(as))
        return bad_tensor(r, t, "must be in host memory, but is on a device", e);
    const int rc = gnn_importer_copy(r->importer, ref, as, set, &device, &why);
    if (rc)
        return rc == GNN_E_INPUT ? bad_tensor(r, t, why.msg, e)
                                 : gnn_fail(e, (enum gnn_status)rc, "%s", why.msg);
    if (r->on_device && device != r->device)
        return bad_tensor(r, t, "is on another device than those before it", e);
    r->on_device = true;
    r->device = device;
    r->ndevice++;
    return 0;
}

/* The bits of a feature can do no harm, so it stays in shared memory. But an index that changes
 * between its check and its use would lead out of bounds: whatever is used to find memory is copied
 * to where its producer cannot reach it, and neither can the reader of what this program writes. */
static int keep_shared(struct gnn_reader *r, const struct gnn_tensor *as, void *data,
                       uint64_t bytes, struct gnn_tensors *set, struct gnn_tensor **x,
                       struct gnn_err *e)
{
    const uint64_t none = 0;
    if (!gnn_batch_is_rows(as)) {
        const int rc =
            gnn_tensors_add_in(set, &gnn_mem_heap, as->name, as->dtype, as->ndim, as->shape, x, e);
        if (!rc && bytes)
            memcpy((*x)->data, data, bytes);
        return rc;
    }
    if (gnn_tensors_add(set, as->name, as->dtype, 1, &none, x, e))
        return e->code;
    (*x)->data = data;
    (*x)->ndim = as->ndim;
    memcpy((*x)->shape, as->shape, sizeof as->shape);
    r->nshared++;
    return 0;
}

/* Follows a reference to rows in a file. The features are not in the set, but r->rows has them. */
static int refer_rows(struct gnn_reader *r, const struct gnb_entry *t, const struct gnn_tensor *as,
                      const struct gnb_reference *ref, struct gnn_tensors *set, struct gnn_err *e)
{
    struct gnn_err why = {0};
    const struct gnn_tensor *all;
    if (r->kind != GNB_BATCH || !gnn_batch_is_rows(as) || as->ndim != 2 ||
        (as->dtype != GNN_F32 && as->dtype != GNN_BF16))
        return bad_tensor(r, t, "must not be in a file", e);
    if (gnn_buf_reserve(&r->row_list, r->nrows + UINT64_C(1), sizeof *r->rows, "features in place",
                        e))
        return e->code;
    r->rows = r->row_list.data;
    const int rc = gnn_importer_rows(r->importer, ref, as, set, &all, &why);
    if (rc)
        return rc == GNN_E_INPUT ? bad_tensor(r, t, why.msg, e)
                                 : gnn_fail(e, (enum gnn_status)rc, "%s", why.msg);
    r->rows[r->nrows++] = all;
    r->nshared++; /* the batch keeps its lease, and with it the importer's mapping */
    return 0;
}

/* Follows a reference. */
static int follow_reference(struct gnn_reader *r, const struct gnb_entry *t,
                            const struct gnn_tensor *as, struct gnn_tensors *set, struct gnn_err *e)
{
    struct gnb_reference ref;
    struct gnn_tensor *x;
    void *data;
    const char *text = gnn_gnb_reference_decode(&ref, r->packed.data, t->stored);
    if (text)
        return bad_tensor(r, t, text, e);
    if (ref.on_device)
        return refer_device(r, t, as, &ref, set, e);
    if (ref.in_file)
        return refer_rows(r, t, as, &ref, set, e);
    if ((text = gnn_importer_map(r->importer, &ref, t->raw, set, &data)))
        return bad_tensor(r, t, text, e);
    if (keep_shared(r, as, data, t->raw, set, &x, e))
        return e->code;
    if (ref.has_sum && XXH3_64bits(x->data, t->raw) != ref.sum)
        return bad_tensor(r, t, "checksum mismatch in shared memory", e);
    x->sum = ref.sum;
    x->has_sum = ref.has_sum;
    return 0;
}

/* One frame, all of it, and of the promised size: before anything is allocated for what is in it.
 */
static int check_packed(struct gnn_reader *r, const struct gnb_entry *t, struct gnn_err *e)
{
    const void *p = r->packed.data;
    if (t->stored < 4 || load_le32(p) != ZSTD_MAGICNUMBER ||
        ZSTD_findFrameCompressedSize(p, t->stored) != t->stored)
        return bad_tensor(r, t, "not one zstd frame", e);
    unsigned long long n = ZSTD_getFrameContentSize(p, t->stored);
    if (n != ZSTD_CONTENTSIZE_UNKNOWN && n != t->raw)
        return bad_tensor(r, t, "unpacks to another size", e);
    /* zstd shrinks at most about 2^15-fold in practice; more is a bomb. */
    if (t->raw / 32768 > t->stored)
        return bad_tensor(r, t, "implausible compression ratio", e);
    return 0;
}

static int unpack_tensor(struct gnn_reader *r, const struct gnb_entry *t, struct gnn_tensor *x,
                         struct gnn_err *e)
{
    if (!r->zstd && !(r->zstd = ZSTD_createDCtx()))
        return gnn_fail_nomem(e, 0, "decompression");
    size_t n = ZSTD_decompressDCtx(r->zstd, x->data, t->raw, r->packed.data, t->stored);
    if (ZSTD_isError(n))
        return bad_tensor(r, t, ZSTD_getErrorName(n), e);
    return n == t->raw ? 0 : bad_tensor(r, t, "unpacks to another size", e);
}

/* as: the tensor as it was declared. */
static int read_tensor(struct gnn_reader *r, const struct gnb_entry *t, const struct gnn_tensor *as,
                       struct gnn_tensors *set, struct gnn_err *e)
{
    struct gnn_tensor *x;
    uint64_t none = 0;
    int rc;
    if (t->codec == GNB_REFERENCE) {
        rc = read_stored(r, t, set, NULL, e);
        return rc ? rc : follow_reference(r, t, as, set, e);
    }
    /* The set's tensor starts empty and grows with what arrives. */
    rc = gnn_tensors_add(set, as->name, as->dtype, 1, &none, &x, e);
    if (rc)
        return rc;
    x->has_sum = false;
    if ((rc = read_stored(r, t, set, t->codec == GNB_RAW ? x : NULL, e)))
        return rc;
    if (t->codec == GNB_ZSTD) {
        rc = check_packed(r, t, e);
        if (!rc)
            rc = gnn_tensors_space(set, x, t->raw, e);
        if (!rc)
            rc = unpack_tensor(r, t, x, e);
    } else {
        x->sum = t->sum;
        x->has_sum = true;
    }
    x->ndim = t->t.ndim;
    memcpy(x->shape, t->t.shape, sizeof x->shape);
    return rc;
}

/* A batch that lies on a device does so with all that is not for the host, and takes nothing from
 * shared memory. */
static const char *check_place(const struct gnn_reader *r, const struct gnn_tensors *set)
{
    uint32_t host = 0;
    for (uint32_t i = 0; i < set->n; i++)
        host += gnn_batch_on_host(gnn_tensors_at(set, i));
    return r->on_device && (set->lease.give_back || r->ndevice != set->n - host)
               ? "some tensors are on a device, others are not"
               : NULL;
}

/* Adds what an entry of the table says of a tensor to r->declared. */
static int declare_tensor(struct gnn_reader *r, const struct gnb_entry *t, struct gnn_err *e)
{
    char name[GNN_NAME_MAX + 1];
    const uint64_t none = 0;
    struct gnn_tensor *x;
    memcpy(name, t->t.name, t->name_len);
    name[t->name_len] = 0;
    if (gnn_tensors_add(&r->declared, name, t->t.dtype, 1, &none, &x, e))
        return e->code;
    x->ndim = t->t.ndim;
    memcpy(x->shape, t->t.shape, sizeof x->shape);
    return 0;
}

/* All entries of the table, into r->entries: what can be refused by them costs no memory, however
 * much the frame says that it unpacks to. */
static int read_table(struct gnn_reader *r, const struct gnb_frame *f, uint64_t frame,
                      struct gnn_err *e)
{
    uint64_t at = 0, end = 0;
    const char *text = NULL;
    gnn_tensors_clear(&r->declared);
    if (gnn_buf_reserve(&r->entries, f->ntensors + UINT64_C(1), sizeof(struct gnb_entry),
                        "tensor table", e))
        return e->code;
    struct gnb_entry *t = r->entries.data;
    for (uint32_t i = 0; !text && i < f->ntensors; i++) {
        text = gnn_gnb_entry_decode(&t[i], f, r->table.data, &at, &end);
        if (!text && f->kind != GNB_BATCH && t[i].raw > GNN_META_MAX)
            text = "metadata larger than 8 MiB";
        if (!text && f->kind != GNB_BATCH && t[i].codec != GNB_RAW)
            text = "metadata that is not raw";
        if (!text && declare_tensor(r, &t[i], e))
            return e->code;
    }
    if (!text)
        text = gnn_gnb_table_end(f, r->table.data, at, end);
    if (text)
        return fail_frame(r, frame, text, e);
    struct gnn_err why = {0};
    const int rc =
        f->kind == GNB_BATCH && r->check_table ? r->check_table(&r->declared, &r->meta, &why) : 0;
    return rc ? gnn_fail(e, (enum gnn_status)rc, "%s: frame %llu: %s", r->io.name,
                         (unsigned long long)r->seq, why.msg)
              : 0;
}

static int read_frame(struct gnn_reader *r, struct gnb_frame *f, struct gnn_tensors *set,
                      struct gnn_err *e)
{
    uint64_t frame = r->io.pos;
    int rc = read_head(r, f, e);
    if (rc || (rc = read_table(r, f, frame, e)))
        return rc;
    gnn_tensors_clear(set);
    r->kind = f->kind;
    r->on_device = false;
    r->ndevice = r->nshared = r->nrows = 0;
    const uint64_t base = r->io.pos;
    const struct gnb_entry *t = r->entries.data;
    for (uint32_t i = 0; i < f->ntensors; i++)
        if ((rc = read_padding(r, base + t[i].offset - r->io.pos, e)) ||
            (rc = read_tensor(r, &t[i], gnn_tensors_at(&r->declared, i), set, e)))
            return rc;
    const char *text = check_place(r, set);
    if (text)
        return fail_frame(r, frame, text, e);
    if ((rc = read_padding(r, base + f->payload_bytes - r->io.pos, e)))
        return rc;
    r->seq++;
    if (!r->nshared)
        gnn_tensors_give_back(set);
    return r->importer ? gnn_importer_release(r->importer, set, r->nrows > 0, e) : 0;
}

/* Streams may follow one another if their headers are the same but for who made them. */
static int check_same(struct gnn_reader *r, const struct gnn_meta *next, struct gnn_err *e)
{
    struct gnn_meta a = r->meta, b = *next;
    a.provenance = b.provenance = NULL;
    char *differ = gnn_meta_difference(&a, &b, e);
    if (differ)
        gnn_fail(e, GNN_E_INPUT,
                 "%s: frame 0 at byte %llu: concatenated streams have different headers: %s",
                 r->io.name, (unsigned long long)r->start, differ);
    gnn_free(differ);
    return e->code;
}

/* What is wrong with frames of this version for such batches, or NULL. */
static const char *other_version(unsigned major, const struct gnn_meta *m)
{
    static const char *const batches[] = {
        [GNB_MAJOR] = "batches without trees, times, induced edges or links require version 1",
        [GNB_MAJOR_TREES] = "batches with trees, times or induced edges require version 2",
        [GNB_MAJOR_LINKS] = "batches of links require version 3",
        [GNB_MAJOR_LATEST] =
            "batches of stores with int8 features, and links with different numbers of negatives, require version 4"};
    const unsigned needed = gnn_meta_version(m);
    return major == needed ? NULL : batches[needed];
}

static int take_header(struct gnn_reader *r, const struct gnn_tensors *t, struct gnn_err *e)
{
    const struct gnn_tensor *m = t->n == 1 ? gnn_tensors_find(t, "meta") : NULL;
    if (!m || m->dtype != GNN_U8 || m->ndim != 1)
        return fail_frame(r, r->start, "HEADER without metadata", e);
    struct gnn_meta meta;
    struct gnn_err why = {0};
    int rc = gnn_meta_from_text(&meta, m->data, m->shape[0], &why);
    if (rc)
        return gnn_fail(e, (enum gnn_status)rc, "%s: %s", r->io.name, why.msg);
    const char *text = !meta.is_stream ? "this is a partition of a store, not a stream"
                                       : other_version(r->major, &meta);
    if (text || r->have_meta) {
        rc = text ? fail_frame(r, r->start, text, e) : check_same(r, &meta, e);
        gnn_meta_release(&meta);
        return rc;
    }
    r->meta = meta;
    r->have_meta = true;
    return 0;
}

static int check_totals(struct gnn_reader *r, const struct gnn_tensors *t, uint64_t at,
                        struct gnn_err *e)
{
    const struct gnn_tensor *x = t->n == 1 ? gnn_tensors_find(t, "totals") : NULL;
    if (!x || x->dtype != GNN_U64 || x->ndim != 1 || x->shape[0] != 2)
        return fail_frame(r, at, "END without totals", e);
    const uint64_t *v = x->data;
    if (v[0] != r->seq - 1 || v[1] != at - r->start)
        return fail_frame(r, at, "END does not fit the frames before it", e);
    return 0;
}

int gnn_reader_next(struct gnn_reader *r, struct gnn_tensors *t, struct gnn_err *e)
{
    for (;;) {
        struct gnb_frame f;
        uint64_t at = r->io.pos;
        int rc = read_frame(r, &f, t, e);
        /* The program before this one has failed and reported why: this error is only what follows
         * from that. */
        e->told = rc == GNN_E_INPUT && r->io.ended && gnn_io_has_failed(r->io.fd);
        if (rc)
            return rc;
        switch (f.kind) {
        case GNB_BATCH:
            return 0;
        case GNB_HEADER:
            r->start = at;
            r->in_stream = true;
            if ((rc = take_header(r, t, e)))
                return rc;
            r->importer = gnn_importer_new(r->io.fd, f.sum, r->gpu, r->in_place);
            if (!r->streams && !r->begun)
                return 0;
            break;
        default: /* END; read_head let nothing else through */
            if ((rc = check_totals(r, t, at, e)))
                return rc;
            if (gnn_importer_changed(r->importer, e))
                return e->code;
            gnn_importer_free(r->importer);
            r->importer = NULL;
            r->in_stream = false;
            r->seq = 0;
            r->streams++;
        }
    }
}

int gnn_reader_begin(struct gnn_reader *r, int fd, const char *name,
                     const struct gnn_stream_opts *o, struct gnn_err *e)
{
    *r = (struct gnn_reader){.gpu = o ? o->gpu : NULL, .in_place = o && o->in_place};
    gnn_io_init(&r->io, fd, name);
    struct stat st;
    if (!fstat(fd, &st) && S_ISDIR(st.st_mode)) { /* the name of standard input tells nothing */
        const enum gnn_kind kind = gnn_kind_path(name);
        return gnn_kind_refuse(kind == GNN_KIND_STORE ? kind : GNN_KIND_DIRECTORY, name,
                               "a stream of batches", e);
    }
    struct gnn_tensors t = {0};
    int rc = gnn_reader_next(r, &t, e);
    gnn_tensors_release(&t);
    r->begun = true;
    return rc;
}

void gnn_reader_release(struct gnn_reader *r)
{
    if (r->io.name && r->io.fd >= 0)
        close(r->io.fd);
    if (r->have_meta)
        gnn_meta_release(&r->meta);
    gnn_importer_free(r->importer);
    ZSTD_freeDCtx(r->zstd);
    gnn_buf_release(&r->table);
    gnn_buf_release(&r->entries);
    gnn_buf_release(&r->packed);
    gnn_buf_release(&r->row_list);
    gnn_tensors_release(&r->declared);
    *r = (struct gnn_reader){.io.fd = -1};
}
