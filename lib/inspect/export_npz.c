/* SPDX-License-Identifier: Apache-2.0 */
/* Stores and streams as .npz, written through libarchive. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "formats/npy.h"
#include "lib/inspect/inspect.h"
#include "lib/base/io.h"
#include "lib/model/model_file.h"
#include "lib/data/source.h"

struct zip {
    struct archive *a;
    struct gnn_io io;
    struct gnn_err *e;
    locale_t utf8, before; /* of this thread while libarchive writes: it converts names from the
                              locale's encoding */
};

/* libarchive's writer: errors are kept in e, where the first one wins. */
static la_ssize_t zip_write(struct archive *a, void *arg, const void *data, size_t n)
{
    struct zip *z = arg;
    if (!gnn_io_write(&z->io, data, n, z->e))
        return (la_ssize_t)n;
    archive_set_error(a, EIO, "write failed");
    return -1;
}

static int zip_fail(struct zip *z)
{
    const char *why = archive_error_string(z->a);
    return gnn_fail(z->e, GNN_E_RUN, "%s: %s", z->io.name, why ? why : "cannot write the archive");
}

static int zip_begin(struct zip *z, int fd, const char *name, struct gnn_err *e)
{
    *z = (struct zip){
        .a = archive_write_new(), .e = e, .utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0)};
    if (z->utf8)
        z->before = uselocale(z->utf8);
    if (!z->a)
        return gnn_fail_nomem(e, 0, "archive");
    gnn_io_init(&z->io, fd, name);
    /* One block per write, no padding of the last: a zip may not be followed by zeros. */
    if (archive_write_set_format_zip(z->a) ||
        (z->utf8 && archive_write_set_options(z->a, "hdrcharset=UTF-8")) ||
        archive_write_zip_set_compression_store(z->a) ||
        archive_write_set_bytes_per_block(z->a, 0) ||
        archive_write_set_bytes_in_last_block(z->a, 1) ||
        archive_write_open(z->a, z, NULL, zip_write, NULL))
        return zip_fail(z);
    return GNN_OK;
}

static int zip_put(struct zip *z, const void *data, uint64_t n)
{
    const char *at = data;
    while (n) {
        la_ssize_t got = archive_write_data(z->a, at, n < (1 << 24) ? (size_t)n : (size_t)1 << 24);
        if (got <= 0)
            return zip_fail(z);
        at += got;
        n -= (uint64_t)got;
    }
    return GNN_OK;
}

/* ---- names of members ---- */

enum { MEMBER_CAPACITY = 3 * GNN_NAME_MAX + 64 };

/* n bytes as one component of a path, written as in a URL: no slash in a name, and no name of dots,
 * leads out of the directory that an archive is unpacked to, and none is a hidden file. */
static char *put_name(char *to, const char *name, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strchr("%/\\", name[i]) || (!i && *name == '.'))
            to += snprintf(to, 4, "%%%02X", (unsigned)(unsigned char)name[i]);
        else
            *to++ = name[i];
    *to = 0;
    return to;
}

/* The name of a node type, or of the three parts of an edge type. */
static char *put_type(char *to, const struct gnn_schema *c, const char *name, size_t n)
{
    char key[GNN_NAME_MAX + 1];
    snprintf(key, sizeof key, "%.*s", (int)n, name);
    const int et = gnn_schema_find_etype(c, key);
    if (et < 0)
        return put_name(to, name, n);
    const struct gnn_etype *t = &c->etype[et];
    const char *const part[] = {c->ntype[t->src].name, t->rel, c->ntype[t->dst].name};
    for (int k = 0; k < 3; k++) {
        to = put_name(to, part[k], strlen(part[k]));
        if (k < 2)
            *to++ = '/';
    }
    return to;
}

/* The member for a tensor of a batch or a part: what a slash in its name separates, one in the name
 * of a type does not. */
static void name_member(char *to, const struct gnn_schema *c, const char *name)
{
    const char *at = name, *last = strrchr(name, '/');
    const bool sets = !strncmp(name, "split/", 6), hop = !strncmp(name, "hop/", 4),
               field = hop || !strncmp(name, "node/", 5) || !strncmp(name, "edge/", 5) ||
                       !strncmp(name, "halo/", 5);
    /* "node/", "hop/H/", "split/SPLIT/" */
    for (int k = 0; c && k <= (hop || sets) && strchr(at, '/'); k++) {
        const size_t n = strcspn(at, "/");
        to = put_name(to, at, n);
        *to++ = '/';
        at += n + 1;
    }
    if (c && at > name && (field || sets) && last > at) {
        to = field ? put_type(to, c, at, (size_t)(last - at))
                   : put_name(to, at, (size_t)(last - at));
        *to++ = '/';
        at = last + 1;
    }
    to = c && at > name && !field ? put_type(to, c, at, strlen(at)) : put_name(to, at, strlen(at));
    memcpy(to, ".npy", 5);
}

/* c: whose types the tensor's name has, or NULL. */
static int zip_tensor(struct zip *z, const struct gnn_schema *c, const struct gnn_tensor *t,
                      const char *prefix)
{
    /* NumPy has no bf16: its bits go as u16. */
    struct gnn_npy h = {.dtype = t->dtype == GNN_BF16 ? GNN_U16 : t->dtype, .ndim = t->ndim};
    uint8_t head[256];
    char name[MEMBER_CAPACITY];
    uint64_t n, bytes = 0;

    if (!gnn_tensor_bytes(t, &bytes))
        return gnn_fail(z->e, GNN_E_INPUT, "tensor %s: its size overflows", t->name);
    memcpy(h.shape, t->shape, sizeof h.shape);
    n = gnn_npy_header(&h, head);
    struct archive_entry *en = archive_entry_new();
    if (!en)
        return gnn_fail_nomem(z->e, 0, "archive entry");
    name_member(name + snprintf(name, sizeof name, "%s", prefix), c, t->name);
    archive_entry_set_pathname(en, name);
    archive_entry_set_filetype(en, AE_IFREG);
    archive_entry_set_perm(en, 0644);
    archive_entry_set_mtime(en, 0, 0);
    archive_entry_set_size(en, (la_int64_t)(n + bytes));
    int rc = archive_write_header(z->a, en) == ARCHIVE_OK ? GNN_OK : zip_fail(z);
    archive_entry_free(en);
    if (!rc)
        rc = zip_put(z, head, n);
    if (!rc)
        rc = zip_put(z, t->data, bytes);
    return rc;
}

static int zip_end(struct zip *z, int rc)
{
    if (z->a) {
        if (!rc && archive_write_close(z->a))
            rc = zip_fail(z);
        if (rc)
            archive_write_fail(z->a);
        archive_write_free(z->a);
    }
    if (z->utf8) {
        uselocale(z->before);
        freelocale(z->utf8);
    }
    return rc;
}

int gnn_export_store(struct gnn_store *s, int fd, const char *name, struct gnn_err *e)
{
    struct zip z;
    char prefix[32] = "";
    int rc = zip_begin(&z, fd, name, e);
    for (uint32_t p = 0; !rc && p < s->nparts; p++) {
        if (s->nparts > 1)
            snprintf(prefix, sizeof prefix, "part-%u/", p);
        for (uint32_t i = 0; !rc && i < gnn_store_ntensors(s, p); i++)
            rc = zip_tensor(&z, &s->meta.schema, gnn_store_at(s, p, i), prefix);
    }
    if (!rc)
        rc = gnn_store_verified(s, e);
    return zip_end(&z, rc);
}

int gnn_export_model(const char *path, int fd, const char *name, struct gnn_err *e)
{
    struct gnn_st_file f;
    struct zip z;
    if (gnn_st_read(&f, path, e))
        return e->code;
    int rc = zip_begin(&z, fd, name, e);
    for (size_t i = 0; !rc && i < f.st.n; i++)
        rc = zip_tensor(&z, NULL, f.st.by_name[i], "");
    rc = zip_end(&z, rc);
    gnn_st_release(&f);
    return rc;
}

int gnn_export_stream(int in, const char *in_name, int fd, const char *name, struct gnn_err *e)
{
    struct gnn_source *src = gnn_stream_source_new(in, in_name, e);
    struct gnn_batch *b = NULL;
    struct zip z = {0};
    char prefix[48];
    uint64_t batch = 0;
    int rc = src ? zip_begin(&z, fd, name, e) : e->code;
    while (!rc && !(rc = gnn_source_next(src, &b, e))) {
        snprintf(prefix, sizeof prefix, "batch-%" PRIu64 "/", batch++);
        for (uint32_t i = 0; !rc && i < b->tensors.n; i++)
            rc = zip_tensor(&z, &src->meta->schema, gnn_tensors_at(&b->tensors, i), prefix);
        gnn_batch_put(b);
    }
    rc = zip_end(&z, rc == GNN_END ? GNN_OK : rc);
    gnn_source_free(src);
    return rc;
}
