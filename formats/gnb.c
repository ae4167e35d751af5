/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of GNB, the format of stores and streams (formats/gnb.h, gnb(5)), to and from bytes: the
 * frame header, references to memory of another program, entries of the tensor table, and the
 * layout of a whole frame. Decoding returns NULL or a text that says what is wrong, and trusts no
 * number: sizes are checked before anything is added to them. */
#include "formats/gnb.h"

#include "formats/le.h"

#include "formats/xxh.h"

static const uint8_t magic[4] = {0xb7, 'G', 'N', 'B'};

static uint64_t align_up(uint64_t n, uint64_t a)
{
    return (n + a - 1) & ~(a - 1);
}

static size_t entry_bytes(uint32_t ndim, size_t name_len)
{
    return (GNB_ENTRY_BYTES + 8 * (size_t)ndim + name_len + 7) & ~(size_t)7;
}

bool gnn_gnb_frame_is(const uint8_t h[4])
{
    return !memcmp(h, magic, sizeof magic);
}

const char *gnn_gnb_frame_decode(struct gnb_frame *f, const uint8_t h[GNB_HEADER_BYTES])
{
    if (!gnn_gnb_frame_is(h))
        return "not a GNB frame (wrong magic)";
    const uint16_t major = load_le16(h + 4);
    if (major > GNB_MAJOR_LATEST)
        return "written by a newer, incompatible version of GNB";
    if (major < GNB_MAJOR)
        return "bad version";
    uint32_t kind = load_le32(h + 8);
    *f = (struct gnb_frame){
        .kind = (enum gnb_kind)kind,
        .major = major,
        .minor = load_le16(h + 6),
        .ntensors = load_le32(h + 12),
        .seq = load_le64(h + 16),
        .table_bytes = load_le64(h + 24),
        .payload_bytes = load_le64(h + 32),
        .align = load_le32(h + 40),
        .sum = load_le64(h + 56),
    };
    if (kind < GNB_HEADER || kind > GNB_END)
        return "unknown frame kind";
    if (f->align != GNB_ALIGN && f->align != GNB_STORE_ALIGN)
        return "bad alignment";
    if (load_le32(h + 44) || load_le64(h + 48))
        return "reserved bytes are not zero";
    if (f->ntensors > GNB_TENSORS_MAX || f->table_bytes > GNB_TABLE_MAX)
        return "tensor table too large";
    if ((GNB_HEADER_BYTES + f->table_bytes) % f->align || f->payload_bytes % f->align)
        return "frame is not aligned";
    /* Half of the range, so that offsets can be added to it without another check for overflow. */
    if (f->payload_bytes > (uint64_t)INT64_MAX / 2)
        return "payload too large";
    return NULL;
}

uint64_t gnn_gnb_frame_sum(const uint8_t header[GNB_HEADER_BYTES])
{
    return load_le64(header + 56);
}

static uint64_t frame_sum(const uint8_t *header, const uint8_t *table, uint64_t table_bytes)
{
    XXH3_state_t s;
    XXH3_64bits_reset(&s);
    XXH3_64bits_update(&s, header, GNB_HEADER_BYTES - 8);
    if (table_bytes)
        XXH3_64bits_update(&s, table, table_bytes);
    return XXH3_64bits_digest(&s);
}

const char *gnn_gnb_frame_check(const struct gnb_frame *f, const uint8_t header[GNB_HEADER_BYTES],
                                const uint8_t *table)
{
/* A fuzzer cannot find checksums, and would never get past this. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    (void)f, (void)header, (void)table;
    return NULL;
#else
    return frame_sum(header, table, f->table_bytes) == f->sum ? NULL : "header checksum mismatch";
#endif
}

enum { HAS_SUM = 1, ON_DEVICE = 2, IN_FILE = 4 };

uint32_t gnn_gnb_reference_encode(const struct gnb_reference *r,
                                  uint8_t out[GNB_DEVICE_REFERENCE_BYTES])
{
    store_le64(out, r->offset);
    store_le64(out + 8, r->has_sum ? r->sum : 0);
    store_le32(out + 16, r->slot);
    store_le32(out + 20, (r->has_sum ? (uint32_t)HAS_SUM : 0) |
                             (r->on_device ? (uint32_t)ON_DEVICE : 0) |
                             (r->in_file ? (uint32_t)IN_FILE : 0));
    if (r->in_file) {
        store_le64(out + 24, r->rows);
        store_le64(out + 32, r->file);
        return GNB_ROWS_REFERENCE_BYTES;
    }
    if (!r->on_device)
        return GNB_REFERENCE_BYTES;
    store_le64(out + 24, r->device);
    memcpy(out + 32, r->handle, GNB_HANDLE_BYTES);
    return GNB_DEVICE_REFERENCE_BYTES;
}

static bool reference_size(uint64_t n)
{
    return n == GNB_REFERENCE_BYTES || n == GNB_ROWS_REFERENCE_BYTES ||
           n == GNB_DEVICE_REFERENCE_BYTES;
}

const char *gnn_gnb_reference_decode(struct gnb_reference *r, const uint8_t *in, uint64_t n)
{
    *r = (struct gnb_reference){0};
    if (!reference_size(n))
        return "reference of a wrong size";
    const uint32_t flags = load_le32(in + 20);
    r->offset = load_le64(in);
    r->sum = load_le64(in + 8);
    r->slot = load_le32(in + 16);
    r->has_sum = flags & HAS_SUM;
    r->on_device = flags & ON_DEVICE;
    r->in_file = flags & IN_FILE;
    if ((flags > (HAS_SUM | ON_DEVICE) && flags != IN_FILE) || (!r->has_sum && r->sum))
        return "reserved bits of a reference are not zero";
    if (r->on_device != (n == GNB_DEVICE_REFERENCE_BYTES) ||
        r->in_file != (n == GNB_ROWS_REFERENCE_BYTES))
        return "reference of a wrong size";
    if (r->in_file) {
        r->rows = load_le64(in + 24);
        r->file = load_le64(in + 32);
    }
    if (r->on_device) {
        r->device = load_le64(in + 24);
        memcpy(r->handle, in + 32, GNB_HANDLE_BYTES);
    }
    return NULL;
}

static const char *entry_shape(struct gnb_entry *t)
{
    uint64_t bytes;
    if (!gnn_dtype_bytes(t->t.dtype))
        return "unknown dtype";
    if (!gnn_tensor_bytes(&t->t, &bytes) || bytes > (uint64_t)INT64_MAX / 2)
        return "tensor size overflows";
    if (bytes != t->raw)
        return "tensor size does not fit its shape";
    if (t->codec == GNB_RAW && t->stored != t->raw)
        return "raw tensor with another stored size";
    if (t->codec == GNB_REFERENCE && !reference_size(t->stored))
        return "reference of a wrong size";
    return NULL;
}

static const char *entry_name(const char *name, size_t n)
{
    if (!n || n > GNN_NAME_MAX)
        return "bad tensor name length";
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f)
            return "control character in a tensor name";
    return NULL;
}

const char *gnn_gnb_entry_decode(struct gnb_entry *t, const struct gnb_frame *f,
                                 const uint8_t *table, uint64_t *at, uint64_t *end)
{
    if (f->table_bytes - *at < GNB_ENTRY_BYTES)
        return "tensor table is cut";
    const uint8_t *p = table + *at;
    uint32_t ndim = p[2];
    size_t name_len = load_le16(p + 4);
    if (ndim > GNN_NDIM_MAX)
        return "too many dimensions";
    size_t size = entry_bytes(ndim, name_len);
    if (f->table_bytes - *at < size)
        return "tensor table is cut";
    if (p[1] > GNB_REFERENCE)
        return "unknown codec";
    if (p[3] || load_le16(p + 6))
        return "reserved bytes are not zero";
    *t = (struct gnb_entry){
        .t = {.name = (const char *)p + GNB_ENTRY_BYTES + 8 * ndim,
              .dtype = (enum gnn_dtype)p[0],
              .ndim = ndim},
        .name_len = name_len,
        .codec = (enum gnb_codec)p[1],
        .offset = load_le64(p + 8),
        .stored = load_le64(p + 16),
        .raw = load_le64(p + 24),
        .sum = load_le64(p + 32),
    };
    for (uint32_t i = 0; i < ndim; i++)
        t->t.shape[i] = load_le64(p + GNB_ENTRY_BYTES + 8 * i);
    for (size_t i = GNB_ENTRY_BYTES + 8 * ndim + name_len; i < size; i++)
        if (p[i])
            return "padding is not zero";
    const char *bad = entry_name(t->t.name, name_len);
    if (!bad)
        bad = entry_shape(t);
    if (bad)
        return bad;
    /* Tensors lie one after the other, padded to the alignment: no two can overlap, and no bytes
     * are hidden between them. */
    if (t->offset != align_up(*end, f->align) || t->stored > f->payload_bytes ||
        t->offset > f->payload_bytes - t->stored)
        return "tensor lies outside its place in the payload";
    *end = t->offset + t->stored;
    *at += size;
    return NULL;
}

const char *gnn_gnb_table_end(const struct gnb_frame *f, const uint8_t *table, uint64_t at,
                              uint64_t end)
{
    if (f->table_bytes - at >= f->align)
        return "tensor table is longer than its tensors";
    for (; at < f->table_bytes; at++)
        if (table[at])
            return "padding is not zero";
    return align_up(end, f->align) == f->payload_bytes ? NULL
                                                       : "payload size does not fit its tensors";
}

bool gnn_gnb_layout(struct gnb_frame *f, struct gnb_entry *t)
{
    uint64_t table = 0, end = 0;
    if (f->ntensors > GNB_TENSORS_MAX)
        return false;
    for (uint32_t i = 0; i < f->ntensors; i++) {
        table += entry_bytes(t[i].t.ndim, t[i].name_len);
        /* A quarter of the range each: the sum and its padding cannot overflow. */
        if (end > (uint64_t)INT64_MAX / 4 || t[i].stored > (uint64_t)INT64_MAX / 4)
            return false;
        t[i].offset = align_up(end, f->align);
        end = t[i].offset + t[i].stored;
    }
    f->table_bytes = align_up(GNB_HEADER_BYTES + table, f->align) - GNB_HEADER_BYTES;
    f->payload_bytes = align_up(end, f->align);
    return f->table_bytes <= GNB_TABLE_MAX;
}

void gnn_gnb_frame_encode(const struct gnb_frame *f, const struct gnb_entry *t, uint8_t *out)
{
    memset(out, 0, GNB_HEADER_BYTES + f->table_bytes);
    memcpy(out, magic, sizeof magic);
    store_le16(out + 4, f->major ? f->major : GNB_MAJOR);
    store_le16(out + 6, f->minor);
    store_le32(out + 8, (uint32_t)f->kind);
    store_le32(out + 12, f->ntensors);
    store_le64(out + 16, f->seq);
    store_le64(out + 24, f->table_bytes);
    store_le64(out + 32, f->payload_bytes);
    store_le32(out + 40, f->align);
    uint8_t *p = out + GNB_HEADER_BYTES;
    for (uint32_t i = 0; i < f->ntensors; i++, t++) {
        p[0] = (uint8_t)t->t.dtype;
        p[1] = (uint8_t)t->codec;
        p[2] = (uint8_t)t->t.ndim;
        store_le16(p + 4, (uint16_t)t->name_len);
        store_le64(p + 8, t->offset);
        store_le64(p + 16, t->stored);
        store_le64(p + 24, t->raw);
        store_le64(p + 32, t->sum);
        for (uint32_t d = 0; d < t->t.ndim; d++)
            store_le64(p + GNB_ENTRY_BYTES + 8 * d, t->t.shape[d]);
        memcpy(p + GNB_ENTRY_BYTES + 8 * t->t.ndim, t->t.name, t->name_len);
        p += entry_bytes(t->t.ndim, t->name_len);
    }
    /* The checksum covers the header but for its own 8 bytes, so it is made last. */
    store_le64(out + 56, frame_sum(out, out + GNB_HEADER_BYTES, f->table_bytes));
}
