/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/inspect/npz_out.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdio.h>

#include "lib/base/mem.h"

/* libarchive's writer: errors are kept in e, where the first one wins. */
static la_ssize_t zip_write(struct archive *a, void *arg, const void *data, size_t n)
{
    struct gnn_npz_out *z = arg;
    if (!gnn_io_write(&z->io, data, n, z->e))
        return (la_ssize_t)n;
    archive_set_error(a, EIO, "write failed");
    return -1;
}

static int zip_fail(struct gnn_npz_out *z)
{
    const char *why = archive_error_string(z->a);
    return gnn_fail(z->e, GNN_E_RUN, "%s: %s", z->io.name, why ? why : "cannot write the archive");
}

int gnn_npz_out_begin(struct gnn_npz_out *z, int fd, const char *name, struct gnn_err *e)
{
    *z = (struct gnn_npz_out){
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

int gnn_npz_out_put(struct gnn_npz_out *z, const void *data, uint64_t n)
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

int gnn_npz_out_member(struct gnn_npz_out *z, const char *member, const struct gnn_npy *h)
{
    uint8_t head[256];
    const uint32_t n = gnn_npy_header(h, head);
    struct archive_entry *en = archive_entry_new();
    char *path = gnn_strf(z->e, "%s.npy", member);
    if (!en || !path) {
        archive_entry_free(en);
        gnn_free(path);
        return gnn_fail_nomem(z->e, 0, "archive entry");
    }
    archive_entry_set_pathname(en, path);
    archive_entry_set_filetype(en, AE_IFREG);
    archive_entry_set_perm(en, 0644);
    archive_entry_set_mtime(en, 0, 0);
    archive_entry_set_size(en, (la_int64_t)(n + h->bytes));
    int rc = archive_write_header(z->a, en) == ARCHIVE_OK ? GNN_OK : zip_fail(z);
    archive_entry_free(en);
    gnn_free(path);
    return rc ? rc : gnn_npz_out_put(z, head, n);
}

int gnn_npz_out_end(struct gnn_npz_out *z, int rc)
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
    *z = (struct gnn_npz_out){0};
    return rc;
}
