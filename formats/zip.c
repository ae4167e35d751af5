/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of a zip archive (formats/zip.h, APPNOTE.TXT of PKWARE): its end, its entries, and
 * the header before each member, which must say the same. A reader that believes one of them only
 * can be led past members, or to other ones; lib/import/read/zip_check.c compares all. */
#include "formats/zip.h"

#include "formats/le.h"

enum { END = 22, LOCATOR = 20, END64 = 56, EXTRA64 = 1 };
enum { SHARED = 0x2849 }; /* flags that both headers have: encrypted, described, UTF-8, masked */

static int has_signature(const uint8_t *p, uint32_t signature)
{
    return load_le32(p) == signature;
}

/* The ZIP64 record that stands right before the locator at p; `before` bytes lie before p. */
static const char *read_end64(struct gnn_zip_end *z, const uint8_t *p, size_t before, uint64_t at)
{
    if (before < END64 || load_le64(p + 8) != at - END64 || !has_signature(p - END64, 0x06064b50))
        return "the ZIP64 end record is not at its recorded offset";
    p -= END64;
    if (load_le64(p + 4) != END64 - 12 || load_le32(p + 16) || load_le32(p + 20) ||
        load_le64(p + 24) != load_le64(p + 32))
        return "the ZIP64 end record is damaged";
    *z = (struct gnn_zip_end){
        .entries = load_le64(p + 32), .bytes = load_le64(p + 40), .at = load_le64(p + 48)};
    return NULL;
}

const char *gnn_zip_end(struct gnn_zip_end *z, const uint8_t *tail, size_t n, uint64_t total)
{
    /* The record is the last thing in the file but for a comment of unknown length, so it is
     * searched from the end. */
    size_t i = n < END ? 0 : n - END + 1;
    while (i && !has_signature(tail + i - 1, 0x06054b50))
        i--;
    if (!i)
        return "cut short: the directory at the end of the zip archive is missing";
    const uint8_t *p = tail + --i;
    size_t comment = load_le16(p + 20);
    if (n - i - END < comment)
        return "cut short in the comment at the end of the zip archive";
    if (n - i - END > comment)
        return "bytes after the end of the zip archive";
    if (load_le16(p + 4) || load_le16(p + 6) || load_le16(p + 8) != load_le16(p + 10))
        return "a zip archive in several files, or its end record is damaged";
    *z = (struct gnn_zip_end){
        .entries = load_le16(p + 10), .bytes = load_le32(p + 12), .at = load_le32(p + 16)};
    uint64_t at = total - n + i;
    if (i >= LOCATOR && has_signature(p - LOCATOR, 0x07064b50)) {
        const struct gnn_zip_end old = *z;
        const char *bad = read_end64(z, p - LOCATOR, i - LOCATOR, at -= LOCATOR);
        if (bad)
            return bad;
        at -= END64;
        /* A field of the old record that overflows is all ones; any other must agree with the new
         * one. */
        if ((old.entries != UINT16_MAX && old.entries != z->entries) ||
            (old.bytes != UINT32_MAX && old.bytes != z->bytes) ||
            (old.at != UINT32_MAX && old.at != z->at))
            return "the two end records of the zip archive differ";
    }
    if (z->at > at || z->bytes != at - z->at)
        return "the directory of the zip archive is not where its end record says, or bytes before it are missing";
    return NULL;
}

uint32_t gnn_zip_entry_bytes(const uint8_t *p)
{
    return has_signature(p, 0x02014b50)
               ? (uint32_t)GNN_ZIP_ENTRY + load_le16(p + 28) + load_le16(p + 30) + load_le16(p + 32)
               : 0;
}

uint32_t gnn_zip_local_bytes(const uint8_t *p)
{
    return has_signature(p, 0x04034b50)
               ? (uint32_t)GNN_ZIP_LOCAL + load_le16(p + 26) + load_le16(p + 28)
               : 0;
}

/* Values that are all ones in 32 bits have their 64 bits in the ZIP64 extra field, in this order.
 * If there is no such field they mean what they say. */
static const char *widen_values(uint64_t **v, int n, const uint8_t *extra, size_t len)
{
    const uint8_t *p = NULL;
    size_t left = 0;
    for (size_t i = 0; len - i >= 4 && !p; i += 4 + left) {
        left = load_le16(extra + i + 2);
        if (left > len - i - 4)
            break; /* what is no list of extra fields holds none */
        p = load_le16(extra + i) == EXTRA64 ? extra + i + 4 : NULL;
    }
    for (int k = 0; p && k < n; k++) {
        if (*v[k] != UINT32_MAX)
            continue;
        if (left < 8)
            return "its ZIP64 field is too short";
        *v[k] = load_le64(p);
        p += 8;
        left -= 8;
    }
    return NULL;
}

const char *gnn_zip_entry(struct gnn_zip_entry *z, const uint8_t *p)
{
    *z = (struct gnn_zip_entry){.flags = load_le16(p + 8),
                                .method = load_le16(p + 10),
                                .crc = load_le32(p + 16),
                                .name = load_le16(p + 28)};
    z->packed = load_le32(p + 20);
    z->bytes = load_le32(p + 24);
    z->at = load_le32(p + 42);
    uint64_t *v[] = {&z->bytes, &z->packed, &z->at};
    if (z->flags & 0x2041)
        return "it is encrypted";
    if (load_le16(p + 34))
        return "it is in another file of the archive";
    return widen_values(v, 3, p + GNN_ZIP_ENTRY + z->name, load_le16(p + 30));
}

/* If the true values follow the data in a descriptor, the header may hold zeros or ones instead. */
static int sizes_agree(uint64_t v, uint64_t want, int described)
{
    return v == want || (described && (v == 0 || v == UINT32_MAX));
}

const char *gnn_zip_local(const struct gnn_zip_entry *z, const char *name, const uint8_t *p)
{
    uint64_t crc = load_le32(p + 14), packed = load_le32(p + 18), bytes = load_le32(p + 22);
    uint64_t *v[] = {&bytes, &packed};
    int d = gnn_zip_described(z);
    if (load_le16(p + 26) != z->name || memcmp(p + GNN_ZIP_LOCAL, name, z->name))
        return "its name differs from the directory's";
    const char *bad = widen_values(v, 2, p + GNN_ZIP_LOCAL + z->name, load_le16(p + 28));
    if (bad)
        return bad;
    if (((load_le16(p + 6) ^ z->flags) & SHARED) || load_le16(p + 8) != z->method ||
        !sizes_agree(crc, z->crc, d) || !sizes_agree(packed, z->packed, d) ||
        !sizes_agree(bytes, z->bytes, d))
        return "its header differs from the directory";
    return NULL;
}

uint32_t gnn_zip_descriptor(const struct gnn_zip_entry *z, const uint8_t *p, size_t n)
{
    for (int k = 0; k < 4;
         k++) { /* with its signature, which is usual, or without; sizes of 32 or 64 bits */
        uint32_t sig = k < 2 ? 4 : 0, wide = k & 1 ? 8 : 0;
        const uint8_t *q = p + sig;
        if (n < sig + 12 + wide || (sig && !has_signature(p, 0x08074b50)) || load_le32(q) != z->crc)
            continue;
        if (wide ? load_le64(q + 4) == z->packed && load_le64(q + 12) == z->bytes
                 : load_le32(q + 4) == z->packed && load_le32(q + 8) == z->bytes)
            return sig + 12 + wide;
    }
    return 0;
}
