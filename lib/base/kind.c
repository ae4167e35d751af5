/* SPDX-License-Identifier: Apache-2.0 */
/* Guesses what a file is from its first bytes (lib/base/kind.h), only to say in a message what was
 * given in place of what: no format is chosen by it. */
#include "lib/base/kind.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/gnb.h"
#include "formats/le.h"
#include "lib/base/foreign.h"
#include "lib/base/mem.h"

static bool starts_with_magic(const uint8_t *p, size_t n, const char *want, size_t len)
{
    return n >= len && !memcmp(p, want, len);
}

/* whole: the file has no more bytes. */
static enum gnn_kind kind_of(const uint8_t *p, size_t n, bool whole)
{
    struct gnb_frame f;
    if (n >= 4 && gnn_gnb_frame_is(p))
        /* Streams and partitions of stores are GNB both, and differ in the alignment of their
         * frames. */
        return n >= GNB_HEADER_BYTES && !gnn_gnb_frame_decode(&f, p) && f.align != GNB_ALIGN
                   ? GNN_KIND_PART
                   : GNN_KIND_STREAM;
    const bool zip = starts_with_magic(p, n, "PK\3\4", 4) || starts_with_magic(p, n, "PK\5\6", 4);
    if (starts_with_magic(p, n, "\x1f\x8b", 2))
        return GNN_KIND_GZIP;
    if (starts_with_magic(p, n, "\x28\xb5\x2f\xfd", 4))
        return GNN_KIND_ZSTD;
    if (starts_with_magic(p, n,
                          "\xfd"
                          "7zXZ",
                          5))
        return GNN_KIND_XZ;
    if (starts_with_magic(p, n, "\x93NUMPY", 6))
        return GNN_KIND_NPY;
    if (starts_with_magic(p, n, "%%MatrixMarket", 14))
        return GNN_KIND_MTX;
    /* tar has its magic inside the first header, which is a file name before that. */
    if (n > 262 && !memcmp(p + 257, "ustar", 5))
        return GNN_KIND_TAR;
    /* the length of a JSON text, and its first character: text cannot begin so */
    if (n > 8 && p[8] == '{' && load_le64(p) < (uint64_t)1 << 32)
        return GNN_KIND_MODEL;
    const struct gnn_foreign *foreign = gnn_foreign_bytes(p, n, whole);
    return foreign ? (enum gnn_kind)(GNN_KIND_FOREIGN + gnn_foreign_index(foreign))
           : zip   ? GNN_KIND_ZIP
                   : GNN_KIND_UNKNOWN;
}

enum gnn_kind gnn_kind_bytes(const uint8_t *p, size_t n)
{
    return kind_of(p, n, false);
}

static bool holds_store(const char *path)
{
    struct gnn_err ignored = {0};
    char *json = gnn_strf(&ignored, "%s/store.json", path);
    const bool is = json && !access(json, F_OK);
    gnn_free(json);
    return is;
}

enum gnn_kind gnn_kind_path(const char *path)
{
    struct stat st;
    uint8_t head[GNN_KIND_BYTES];
    /* It exists, but links or permissions keep it from being looked at. */
    if (stat(path, &st))
        return access(path, F_OK) ? GNN_KIND_ABSENT : GNN_KIND_UNKNOWN;
    if (S_ISDIR(st.st_mode))
        return holds_store(path) ? GNN_KIND_STORE : GNN_KIND_DIRECTORY;
    const int fd = S_ISREG(st.st_mode) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd < 0)
        return GNN_KIND_UNKNOWN;
    const ssize_t n = read(fd, head, sizeof head);
    close(fd);
    return n > 0 ? kind_of(head, (size_t)n, n < (ssize_t)sizeof head) : GNN_KIND_UNKNOWN;
}

const char *gnn_kind_text(enum gnn_kind k)
{
    static const char *const text[] = {
        [GNN_KIND_DIRECTORY] = "a directory",
        [GNN_KIND_STORE] = "a store",
        [GNN_KIND_PART] = "one partition of a store",
        [GNN_KIND_STREAM] = "a stream of batches",
        [GNN_KIND_MODEL] = "a model or checkpoint (safetensors)",
        [GNN_KIND_ZIP] = "a zip archive",
        [GNN_KIND_TAR] = "a tar archive",
        [GNN_KIND_GZIP] = "a gzip file",
        [GNN_KIND_ZSTD] = "a zstd file",
        [GNN_KIND_XZ] = "an xz file",
        [GNN_KIND_NPY] = "a NumPy array (.npy)",
        [GNN_KIND_MTX] = "a Matrix Market file",
    };
    return k < GNN_KIND_FOREIGN ? text[k] : gnn_foreign_at((unsigned)k - GNN_KIND_FOREIGN)->name;
}

int gnn_kind_refuse(enum gnn_kind k, const char *name, const char *what, struct gnn_err *e)
{
    const char *is = gnn_kind_text(k);
    if (!is)
        return 0;
    if (k >= GNN_KIND_FOREIGN) {
        const struct gnn_foreign *f = gnn_foreign_at((unsigned)k - GNN_KIND_FOREIGN);
        return strcmp(what, "a data set") ? gnn_fail(e, GNN_E_INPUT, "%s: this is %s, not %s; %s",
                                                     name, is, what, f->remedy)
                                          : gnn_foreign_refuse(f, name, e);
    }
    if (k >= GNN_KIND_ZIP)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: this is %s, not %s; gnn-import converts it into a store", name, is,
                        what);
    return gnn_fail(
        e, GNN_E_INPUT, "%s: this is %s, not %s%s", name, is, what,
        k == GNN_KIND_STORE && !strncmp(what, "a stream", 8)
            ? "; gnn-sample samples batches from it"
        : k == GNN_KIND_PART && !strcmp(what, "a store") ? "; a store is named by its directory"
        : k == GNN_KIND_DIRECTORY && !strcmp(what, "a store") ? " (no store.json)"
        : k == GNN_KIND_DIRECTORY && !strcmp(what, "a model")
            ? "; the checkpoint in a directory of --checkpoint is checkpoint.safetensors"
            : "");
}
