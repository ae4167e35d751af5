/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a stream of batches (lib/stream/stream.h): a HEADER, then a frame for each batch, an END
 * with totals. Whether tensors go through the pipe, compressed, or by reference is decided for each
 * batch, as a reader may come or go. */
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "formats/gnb.h"
#include "formats/xxh.h"
#include "lib/stream/stream.h"
#include "lib/stream/transport.h"

enum { OUT_BYTES = 256 << 10, FAREWELL_MS = 5000 };

static const uint8_t zeros[GNB_ALIGN];

/* Small pieces are collected, large ones go straight through. */
static int put_bytes(struct gnn_writer *w, const void *data, uint64_t n, struct gnn_err *e)
{
    int rc = 0;
    if (w->nout + n > OUT_BYTES) {
        rc = gnn_io_write(&w->io, w->out.data, w->nout, e);
        w->nout = 0;
    }
    if (rc)
        return rc;
    if (n > OUT_BYTES)
        return gnn_io_write(&w->io, data, n, e);
    memcpy((uint8_t *)w->out.data + w->nout, data, n);
    w->nout += n;
    return 0;
}

/* Compresses tensor t to the end of w->packed, if that saves something. */
static int pack_tensor(struct gnn_writer *w, struct gnb_entry *entry, const struct gnn_tensor *t,
                       uint64_t *used, struct gnn_err *e)
{
    if (entry->raw < 256)
        return 0;
    uint64_t bound = ZSTD_compressBound(entry->raw);
    if (gnn_buf_reserve(&w->packed, *used + bound, 1, "compression", e))
        return e->code;
    if (!w->zstd && !(w->zstd = ZSTD_createCCtx()))
        return gnn_fail_nomem(e, 0, "compression");
    uint8_t *to = (uint8_t *)w->packed.data + *used;
    size_t n = ZSTD_compressCCtx(w->zstd, to, bound, t->data, entry->raw, w->zstd_level);
    if (ZSTD_isError(n))
        return gnn_fail(e, GNN_E_RUN, "%s: compression failed: %s", w->io.name,
                        ZSTD_getErrorName(n));
    if (n >= entry->raw)
        return 0;
    entry->codec = GNB_ZSTD;
    entry->stored = n;
    *used += n;
    return 0;
}

/* What a frame is made of. */
struct content {
    const struct gnn_tensors *t;
    const struct gnn_batch *b; /* they are, in a BATCH frame */
    int slot; /* what goes by reference does so through this one; -1: nothing does */
    bool pack;
};

/* Leaves tensor i where the reader can see it, or (`type`) the features where they are; what is
 * stored goes to the end of w->packed. */
static int refer_tensor(struct gnn_writer *w, struct gnb_entry *entry, const struct content *c,
                        uint32_t i, int type, uint64_t *used, struct gnn_err *e)
{
    if (gnn_buf_reserve(&w->packed, *used + GNB_DEVICE_REFERENCE_BYTES, 1, "references", e))
        return e->code;
    struct gnb_reference r;
    if (type >= 0)
        gnn_exporter_refer_rows(w->exporter, c->slot, c->b, type, &r);
    else
        gnn_exporter_refer(w->exporter, c->slot, c->b, i, entry->raw, &r);
    entry->stored = gnn_gnb_reference_encode(&r, (uint8_t *)w->packed.data + *used);
    entry->codec = GNB_REFERENCE;
    *used += entry->stored;
    return 0;
}

static bool by_reference(const struct content *c, const struct gnn_tensor *t, uint64_t bytes)
{
    return c->slot >= 0 && (c->b->place ? !gnn_batch_on_host(t) : bytes >= GNN_SHARE_MIN);
}

static int fill_entry(struct gnn_writer *w, struct gnb_entry *entry, const struct content *c,
                      uint32_t i, uint64_t *used, struct gnn_err *e)
{
    const struct gnn_tensor *t = gnn_tensors_at(c->t, i);
    *entry = (struct gnb_entry){.t = *t, .name_len = strlen(t->name), .codec = GNB_RAW};
    const int in_place = c->b ? gnn_batch_in_place(c->b, t, &entry->t) : -1;
    if (!gnn_tensor_bytes(&entry->t, &entry->raw))
        return gnn_fail(e, GNN_E_RUN, "%s: tensor '%s' is too large", w->io.name, t->name);
    entry->stored = entry->raw;
    uint64_t at = *used;
    int rc = c->pack ? pack_tensor(w, entry, t, used, e) : 0;
    if (!rc && (in_place >= 0 || by_reference(c, t, entry->raw)))
        rc = refer_tensor(w, entry, c, i, in_place, used, e);
    if (rc)
        return rc;
    /* The checksum of a raw tensor may be known from gathering; then its bytes are not read
     * again. */
    entry->sum = entry->codec != GNB_RAW
                     ? XXH3_64bits((uint8_t *)w->packed.data + at, entry->stored)
                 : t->has_sum ? t->sum
                              : XXH3_64bits(t->data, entry->raw);
    return 0;
}

static int write_frame(struct gnn_writer *w, enum gnb_kind kind, const struct content *c,
                       struct gnn_err *e)
{
    struct gnb_frame f = {.kind = kind,
                          .major = w->major,
                          .ntensors = c->t->n,
                          .align = GNB_ALIGN,
                          .seq = w->seq,
                          .minor = c->slot < 0 ? 0 : GNB_MINOR_REFERENCE};
    int rc = gnn_buf_reserve(&w->entries, f.ntensors, sizeof(struct gnb_entry), "tensor table", e);
    struct gnb_entry *entry = w->entries.data;
    uint64_t used = 0;
    for (uint32_t i = 0; !rc && i < f.ntensors; i++)
        rc = fill_entry(w, &entry[i], c, i, &used, e);
    if (rc)
        return rc;
    if (!gnn_gnb_layout(&f, entry))
        return gnn_fail(e, GNN_E_RUN, "%s: frame too large", w->io.name);
    if ((rc = gnn_buf_reserve(&w->head, GNB_HEADER_BYTES + f.table_bytes, 1, "frame header", e)))
        return rc;
    gnn_gnb_frame_encode(&f, entry, w->head.data);
    rc = put_bytes(w, w->head.data, GNB_HEADER_BYTES + f.table_bytes, e);
    uint64_t at = 0, packed = 0;
    for (uint32_t i = 0; !rc && i < f.ntensors; i++) {
        const void *data = entry[i].t.data;
        if (entry[i].codec != GNB_RAW) {
            data = (uint8_t *)w->packed.data + packed;
            packed += entry[i].stored;
        }
        rc = put_bytes(w, zeros, entry[i].offset - at, e);
        if (!rc)
            rc = put_bytes(w, data, entry[i].stored, e);
        at = entry[i].offset + entry[i].stored;
    }
    if (!rc)
        rc = put_bytes(w, zeros, f.payload_bytes - at, e);
    w->seq++;
    return rc;
}

/* A frame with a single tensor. */
static int write_one(struct gnn_writer *w, enum gnb_kind kind, const char *name,
                     enum gnn_dtype dtype, uint64_t n, const void *data, struct gnn_err *e)
{
    struct gnn_tensors t = {0};
    struct gnn_tensor *x;
    int rc = gnn_tensors_add(&t, name, dtype, 1, &n, &x, e);
    if (!rc) {
        memcpy(x->data, data, n * gnn_dtype_bytes(dtype));
        rc = write_frame(w, kind, &(struct content){.t = &t, .slot = -1}, e);
    }
    gnn_tensors_release(&t);
    return rc;
}

static int flush_buffer(struct gnn_writer *w, struct gnn_err *e)
{
    int rc = gnn_io_write(&w->io, w->out.data, w->nout, e);
    w->nout = 0;
    return rc;
}

int gnn_writer_begin(struct gnn_writer *w, int fd, const char *name, const struct gnn_meta *m,
                     const struct gnn_writer_opts *o, struct gnn_err *e)
{
    *w = (struct gnn_writer){.zstd_level = o->zstd_level,
                             .major = (uint16_t)gnn_meta_version(m),
                             .in_place = o->in_place};
    gnn_io_init(&w->io, fd, name);
    int rc = gnn_buf_reserve(&w->out, OUT_BYTES, 1, "output", e);
    if (!rc)
        rc = gnn_exporter_new(&w->exporter, fd, name, o->transport, o->gpu,
                              e); /* listens before there is anything to read */
    if (rc)
        return rc;
    char *text = gnn_meta_to_text(m, e);
    if (!text)
        return e->code;
    rc = write_one(w, GNB_HEADER, "meta", GNN_U8, strlen(text), text, e);
    gnn_free(text);
    /* The reader answers only after it has the HEADER. */
    if (rc || !w->exporter)
        return rc;
    if (w->in_place)
        gnn_flag_set(w->in_place, true);
    rc = flush_buffer(w, e);
    return rc ? rc : gnn_exporter_handshake(w->exporter, gnn_gnb_frame_sum(w->head.data), e);
}

/* Nobody is left who could open the device memory. A reader that has had enough closes the socket a
 * moment before it ends; then the pipe reports its end, as it would without devices. */
static int hung_up(struct gnn_writer *w, struct gnn_err *e)
{
    struct pollfd p = {.fd = w->io.fd};
    if (poll(&p, 1, FAREWELL_MS) > 0 && p.revents & POLLERR && gnn_io_write(&w->io, zeros, 1, e))
        return e->code;
    return gnn_fail(e, GNN_E_RUN, "%s: the reader no longer accepts device memory", w->io.name);
}

/* Whether features that are in place stay there. The gatherer is told, and copies them if not. */
static bool leaves_rows(struct gnn_writer *w, const struct gnn_batch *b)
{
    const bool yes = w->in_place && gnn_exporter_accepts_rows(w->exporter, b);
    if (w->in_place)
        gnn_flag_set(w->in_place, yes);
    return yes;
}

int gnn_writer_batch(struct gnn_writer *w, struct gnn_batch *b, struct gnn_err *e)
{
    int slot = -1, rc = leaves_rows(w, b) ? 0 : gnn_batch_copy_features(b, e);
    if (!rc && w->exporter)
        rc = gnn_exporter_slot(w->exporter, b, &slot, e);
    if (!rc && slot < 0)
        rc = b->place ? hung_up(w, e) : gnn_batch_copy_features(b, e);
    if (!rc)
        rc = write_frame(w, GNB_BATCH, &(struct content){&b->tensors, b, slot, w->zstd_level != 0},
                         e);
    if (!rc && slot >= 0) { /* the reader may see it from now on */
        gnn_exporter_hold(w->exporter, slot, b);
        w->nref++;
        w->nin_place += gnn_batch_has_in_place(b);
    }
    return rc || !w->nout ? rc : flush_buffer(w, e); /* a batch is useful to the reader at once */
}

int gnn_writer_end(struct gnn_writer *w, struct gnn_err *e)
{
    uint64_t totals[2] = {w->seq, w->io.pos + w->nout};
    int rc = write_one(w, GNB_END, "totals", GNN_U64, 2, totals, e) || flush_buffer(w, e) ||
                     gnn_io_close(&w->io, false, e)
                 ? e->code
                 : 0;
    if (!rc && w->exporter)
        gnn_exporter_drain(w->exporter);
    return rc;
}

bool gnn_writer_takes(struct gnn_writer *w, unsigned device)
{
    return gnn_exporter_accepts(w->exporter, device);
}

void gnn_writer_release(struct gnn_writer *w)
{
    const bool open = w->out.data && w->io.fd >= 0;
    if (open) /* before anything that the reader can see */
        gnn_io_mark_failed(w->io.fd);
    gnn_exporter_free(w->exporter);
    if (open)
        close(w->io.fd);
    ZSTD_freeCCtx(w->zstd);
    gnn_buf_release(&w->out);
    gnn_buf_release(&w->head);
    gnn_buf_release(&w->entries);
    gnn_buf_release(&w->packed);
    *w = (struct gnn_writer){.io.fd = -1};
}
