/* SPDX-License-Identifier: Apache-2.0 */
/* torch.save's files before PyTorch 1.6 (formats/torch_file.h): five pickles in a row (a magic
 * number, a version, facts of the system, the object, the keys of storages), then for each key the
 * number of elements and these. */
#include <stdlib.h>
#include <string.h>

#include "formats/le.h"
#include "formats/torch_impl.h"

/* The magic number, 80 bits, as the pickle of an int of ten bytes. */
static const uint8_t magic[] = {0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9,
                                0x20, 0x6a, 0xa8, 0x50, 0x19, '.'};
enum { FRAME = 9, VERSION = 1001 };

/* Bytes of the first pickle; 0: it is another one. Protocols 4 and 5 put it into a frame. */
static size_t magic_bytes(const uint8_t *b, uint64_t n)
{
    if (n < 2 || b[0] != 0x80 || b[1] < 2 || b[1] > 5)
        return 0;
    const size_t at = n > 2 + FRAME && b[2] == 0x95 ? 2 + FRAME : 2;
    return n - at >= sizeof magic && !memcmp(b + at, magic, sizeof magic) ? at + sizeof magic : 0;
}

bool gnn_torch_is_legacy(const void *bytes, uint64_t n)
{
    return magic_bytes(bytes, n) != 0;
}

/* The pickle at *at, behind which it moves. */
static int read_next(struct gnn_torch_opening *o, const char *what, uint64_t *at,
                     struct gnn_pickle *p)
{
    char why[256];
    const uint64_t end = o->n < o->pickles ? o->n : o->pickles;
    const int rc = gnn_pickle_read(p, o->f->bytes + *at, end - *at, GNN_PICKLE_PERSISTENT_IDS, why,
                                   sizeof why);
    if (rc)
        gnn_torch_fail(o, "the pickle of %s, from byte %llu on: %s", what, (unsigned long long)*at,
                       why);
    else
        *at += p->used;
    return rc;
}

static int check_version(struct gnn_torch_opening *o, uint64_t *at)
{
    struct gnn_pickle p;
    int64_t version = 0;
    int rc = read_next(o, "the version", at, &p);
    if (!rc && (!gnn_pickle_int(p.root, &version) || version != VERSION))
        rc = gnn_torch_fail(o, "a file of version %lld of torch.save; 1001 is read",
                            (long long)version);
    gnn_pickle_release(&p);
    return rc;
}

static int check_system(struct gnn_torch_opening *o, uint64_t *at)
{
    struct gnn_pickle p;
    bool little = false;
    int rc = read_next(o, "the system", at, &p);
    if (!rc && (!gnn_pickle_bool(gnn_pickle_get(&p, p.root, "little_endian"), &little) || !little))
        rc = gnn_torch_fail(o, "its byte order is not little-endian");
    gnn_pickle_release(&p);
    return rc;
}

/* The storage at *at, behind which it moves. */
static int map_storage(struct gnn_torch_opening *o, const struct gnn_word *key, uint64_t *at)
{
    struct gnn_torch_storage *s = gnn_torch_find_storage(o->f, key);
    const struct gnn_torch_storage unknown = {.key = *key};
    if (!s)
        return gnn_torch_fail_storage(o, &unknown, "the object does not have it");
    if (s->data)
        return gnn_torch_fail_storage(o, s, "it is there twice");
    if (o->n - *at < 8)
        return gnn_torch_fail_storage(o, s, "the file ends before it");
    if (load_le64(o->f->bytes + *at) != s->bytes / gnn_dtype_bytes(s->dtype))
        return gnn_torch_fail_storage(o, s, "its length is another than the pickle says");
    *at += 8;
    if (o->n - *at < s->bytes)
        return gnn_torch_fail_storage(o, s, "the file ends in it");
    s->data = o->f->bytes + *at;
    *at += s->bytes;
    return 0;
}

static int map_storages(struct gnn_torch_opening *o, const struct gnn_pickle *keys, uint64_t at)
{
    const uint64_t n = gnn_pickle_count(keys, keys->root);
    int rc = 0;
    if (gnn_pickle_kind(keys->root) != GNN_PICKLE_LIST)
        return gnn_torch_fail(o, "the keys of its storages are no list");
    for (uint64_t i = 0; !rc && i < n; i++) {
        struct gnn_word key;
        if (!gnn_pickle_text(keys, gnn_pickle_item(keys, keys->root, i), &key))
            return gnn_torch_fail(o, "key %llu of its storages is no text", (unsigned long long)i);
        rc = map_storage(o, &key, &at);
    }
    for (uint64_t i = 0; !rc && i < o->f->storages; i++)
        if (!o->f->storage[i].data)
            rc = gnn_torch_fail_storage(o, &o->f->storage[i], "the file does not have it");
    if (!rc && at != o->n)
        rc =
            gnn_torch_fail(o, "%llu bytes after the last storage", (unsigned long long)(o->n - at));
    return rc;
}

int gnn_torch_open_legacy(struct gnn_torch_opening *o)
{
    struct gnn_pickle keys = {0};
    uint64_t at = magic_bytes(o->f->bytes, o->n);
    o->f->legacy = true;
    int rc = check_version(o, &at);
    if (!rc)
        rc = check_system(o, &at);
    if (!rc)
        rc = read_next(o, "the object", &at, &o->f->pickle);
    if (!rc)
        rc = gnn_torch_list_storages(o);
    if (!rc)
        rc = read_next(o, "the keys of storages", &at, &keys);
    if (!rc)
        rc = map_storages(o, &keys, at);
    gnn_pickle_release(&keys);
    return rc;
}
