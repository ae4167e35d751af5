/* SPDX-License-Identifier: Apache-2.0 */
/* Stages of a reader (lib/import/read/stage.h): a file at the bottom, then unpacking,
 * then the member of an archive, each reading from the one below. Damage must be found, and every
 * byte has to be accounted for, so gzip goes through zlib, and ends of archives are checked here.
 */
#include "lib/import/read/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/base/io.h"
#include "lib/base/mem.h"

enum { BLOCK = 1 << 16 };

struct file_stage {
    struct gnn_stage s;
    int fd;
};

static int file_read(struct gnn_stage *s, void *buf, size_t n, size_t *got, struct gnn_err *e)
{
    ssize_t k;
    do
        k = read(((struct file_stage *)s)->fd, buf, n);
    while (k < 0 && errno == EINTR);
    if (k < 0)
        return gnn_fail_errno(e, "%s: cannot read", s->name);
    *got = (size_t)k;
    return GNN_OK;
}

/* Never seeks beyond the end: libarchive skips data by seeking, and a file that is cut there would
 * look like one that ends. */
static int64_t file_seek(struct gnn_stage *s, int64_t at, int whence)
{
    int fd = ((struct file_stage *)s)->fd;
    int64_t now = lseek(fd, 0, SEEK_CUR), end = lseek(fd, 0, SEEK_END);
    int64_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? now : end;
    if (now < 0 || end < 0 || __builtin_add_overflow(from, at, &from) || from < 0 || from > end)
        from = -1;
    return lseek(fd, from < 0 ? now : from, SEEK_SET) < 0 ? -1 : from;
}

static void file_free(struct gnn_stage *s)
{
    close(((struct file_stage *)s)->fd);
    gnn_free(s);
}

int gnn_stage_file(struct gnn_stage **s, const char *path, const char *name, struct gnn_err *e)
{
    struct file_stage *f = gnn_alloc_zero(1, sizeof *f, "input", e);
    if (!f)
        return GNN_E_NOMEM;
    f->s =
        (struct gnn_stage){.read = file_read, .seek = file_seek, .free = file_free, .name = name};
    struct stat st;
    f->fd = gnn_io_open(path, &st, e);
    if (f->fd < 0) {
        gnn_free(f);
        return e->code;
    }
    *s = &f->s;
    return GNN_OK;
}

/* gzip through zlib, because libarchive does not check gzip's checksums. Several gzip members may
 * follow one another. */
struct gunzip_stage {
    struct gnn_stage s;
    z_stream z;
    bool ended, any;
    uint8_t in[BLOCK];
};

static int gunzip_fill(struct gunzip_stage *g, struct gnn_err *e)
{
    size_t got = 0;
    int rc = gnn_stage_read(g->s.below, g->in, sizeof g->in, &got, e);
    g->z.next_in = g->in;
    g->z.avail_in = (uInt)got;
    return rc;
}

static int gunzip_read(struct gnn_stage *s, void *buf, size_t n, size_t *got, struct gnn_err *e)
{
    struct gunzip_stage *g = (struct gunzip_stage *)s;
    g->z.next_out = buf;
    g->z.avail_out = n < BLOCK * 16 ? (uInt)n : BLOCK * 16;
    uInt capacity = g->z.avail_out;
    *got = 0;
    while (g->z.avail_out == capacity) {
        if (!g->z.avail_in) {
            int rc = gunzip_fill(g, e);
            if (rc)
                return rc;
            if (!g->z.avail_in && g->ended)
                return GNN_OK;
            if (!g->z.avail_in)
                return gnn_fail(e, GNN_E_INPUT, "%s: the gzip data is cut short", s->name);
        }
        if (g->ended) {
            if (*g->z.next_in != 0x1f)
                return gnn_fail(e, GNN_E_INPUT, "%s: bytes after the gzip data", s->name);
            inflateReset(&g->z);
            g->ended = false;
        }
        int z = inflate(&g->z, Z_NO_FLUSH);
        if (z == Z_STREAM_END)
            g->ended = true;
        else if (z == Z_MEM_ERROR)
            return gnn_fail_nomem(e, BLOCK, "inflating");
        else if (z != Z_OK)
            return gnn_fail(e, GNN_E_INPUT, "%s: the gzip data is damaged near byte %llu (%s)",
                            s->name, (unsigned long long)s->out, g->z.msg ? g->z.msg : "cut");
    }
    *got = capacity - g->z.avail_out;
    return GNN_OK;
}

static void gunzip_free(struct gnn_stage *s)
{
    inflateEnd(&((struct gunzip_stage *)s)->z);
    gnn_free(s);
}

/* zstd, xz, zip and tar through libarchive. */
struct archive_stage {
    struct gnn_stage s;
    struct archive *a;
    struct gnn_err *e; /* of the call in progress, for the callbacks */
    int failed;        /* what reading from below said: libarchive may take it for the end */
    uint64_t at;       /* where in the bytes below `in` ends, which holds the last n of them */
    size_t n;
    bool inside; /* a member has begun */
    uint8_t in[BLOCK];
};

static la_ssize_t ar_read(struct archive *a, void *arg, const void **buf)
{
    struct archive_stage *s = arg;
    size_t got = 0;
    s->failed = gnn_stage_read(s->s.below, s->in, sizeof s->in, &got, s->e);
    if (s->failed) {
        archive_set_error(a, EIO, "read error");
        return -1;
    }
    *buf = s->in;
    s->n = got;
    s->at += got;
    return (la_ssize_t)got;
}

static la_int64_t ar_seek(struct archive *a, void *arg, la_int64_t at, int whence)
{
    struct archive_stage *s = arg;
    /* What was peeked at belongs to the old place. */
    s->s.below->npeek = 0;
    int64_t to = s->s.below->seek(s->s.below, at, whence);
    if (to < 0)
        archive_set_error(a, EINVAL, "it is cut short");
    else
        s->at = (uint64_t)to;
    s->n = 0;
    return to;
}

static int ar_fail(struct archive_stage *s, struct gnn_err *e)
{
    const char *why = archive_error_string(s->a);
    if (e->code) /* a callback failed first */
        return e->code;
    if (archive_errno(s->a) == ENOMEM)
        return gnn_fail_nomem(e, 0, "reading an archive");
    return gnn_fail(e, GNN_E_INPUT, "%s: damaged: %s", s->s.name, why ? why : "unreadable");
}

static int ar_data(struct gnn_stage *st, void *buf, size_t n, size_t *got, struct gnn_err *e)
{
    struct archive_stage *s = (struct archive_stage *)st;
    s->e = e;
    la_ssize_t k = archive_read_data(s->a, buf, n);
    if (k < 0 || s->failed)
        return s->failed ? s->failed : ar_fail(s, e);
    *got = (size_t)k;
    return GNN_OK;
}

static void ar_free(struct gnn_stage *st)
{
    archive_read_free(((struct archive_stage *)st)->a);
    gnn_free(st);
}

static int ar_open(struct gnn_stage **below, bool raw, struct gnn_err *e)
{
    struct archive_stage *s = gnn_alloc(1, sizeof *s, "archive", e);
    if (!s)
        return GNN_E_NOMEM;
    memset(s, 0, offsetof(struct archive_stage, in));
    s->s = (struct gnn_stage){
        .read = ar_data, .free = ar_free, .below = *below, .name = (*below)->name};
    s->e = e;
    s->a = archive_read_new();
    if (!s->a) {
        gnn_free(s);
        return gnn_fail_nomem(e, sizeof *s, "archive");
    }
    int r = ARCHIVE_OK; /* the worst answer; FATAL here is a lack of memory */
#define WORST(CALL) r = r == ARCHIVE_FATAL ? r : CALL
    if (raw) {
        WORST(archive_read_support_filter_zstd(s->a));
        WORST(archive_read_support_filter_xz(s->a));
        WORST(archive_read_support_format_raw(s->a));
    } else {
        WORST(archive_read_support_format_zip(s->a));
        WORST(archive_read_support_format_tar(s->a));
    }
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION /* what lies behind the checksums is to be reached \
                                                 */
    if (!raw)
        WORST(archive_read_set_option(s->a, "zip", "ignorecrc32", "1"));
#endif
    if (r == ARCHIVE_FATAL) {
        ar_free(&s->s);
        return gnn_fail_nomem(e, 0, "reading an archive");
    }
    archive_read_set_read_callback(s->a, ar_read);
    if ((*below)->seek)
        archive_read_set_seek_callback(s->a, ar_seek);
    archive_read_set_callback_data(s->a, s);
    struct archive_entry *entry;
    int rc = archive_read_open1(s->a) == ARCHIVE_OK ? GNN_OK : ar_fail(s, e);
    if (!rc && raw && archive_read_next_header(s->a, &entry) != ARCHIVE_OK)
        rc = ar_fail(s, e);
    if (rc) {
        ar_free(&s->s);
        return rc;
    }
    *below = &s->s;
    return GNN_OK;
}

int gnn_stage_unpack(struct gnn_stage **s, enum gnn_packing how, struct gnn_err *e)
{
    if (how == GNN_PLAIN)
        return GNN_OK;
    if (how != GNN_GZIP)
        return ar_open(s, true, e);
    struct gunzip_stage *g = gnn_alloc(1, sizeof *g, "inflating", e);
    if (!g)
        return GNN_E_NOMEM;
    memset(g, 0, offsetof(struct gunzip_stage, in));
    g->s = (struct gnn_stage){
        .read = gunzip_read, .free = gunzip_free, .below = *s, .name = (*s)->name};
    if (inflateInit2(&g->z, 15 + 16) != Z_OK) {
        gnn_free(g);
        return gnn_fail_nomem(e, BLOCK, "inflating");
    }
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    inflateValidate(&g->z, 0);
#endif
    *s = &g->s;
    return GNN_OK;
}

int gnn_stage_archive(struct gnn_stage **s, struct gnn_err *e)
{
    return ar_open(s, false, e);
}

static bool all_zero(const uint8_t *p, size_t n)
{
    return !n || (!*p && !memcmp(p, p + 1, n - 1));
}

/* libarchive takes a tar file that is cut at the end of a member for a whole one. Here it has to
 * end with two blocks of zeros, of which libarchive has just read `seen` bytes, and only zeros may
 * follow. What lies below is read to its end, where gzip and the like have their checksums. */
static int ar_end(struct archive_stage *s, uint64_t seen, struct gnn_err *e)
{
    if ((archive_format(s->a) & ARCHIVE_FORMAT_BASE_MASK) != ARCHIVE_FORMAT_TAR)
        return GNN_OK; /* gnn_zip_check has seen the end of the others */
    uint64_t left = s->at - (uint64_t)archive_filter_bytes(s->a, 0);
    if (seen < 1024)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: cut short: the tar archive lacks %s of zeros at its end", s->s.name,
                        seen ? "the second of the two blocks" : "the two blocks");
    size_t got = left < s->n ? (size_t)left : s->n;
    bool zero = all_zero(s->in + s->n - got, got);
    do {
        int rc = gnn_stage_read(s->s.below, s->in, sizeof s->in, &got, e);
        if (rc)
            return rc;
        zero = zero && all_zero(s->in, got);
    } while (zero && got);
    return zero ? GNN_OK
                : gnn_fail(e, GNN_E_INPUT, "%s: bytes after the end of the tar archive", s->s.name);
}

/* Nothing is unpacked into the file system, so such a name could do no harm; but an archive that
 * has one is hostile. */
static bool leads_out(const char *name)
{
    if (*name == '/')
        return true;
    for (const char *p = name; *p; p += strcspn(p, "/"), p += *p == '/')
        if (p[0] == '.' && p[1] == '.' && (p[2] == '/' || !p[2]))
            return true;
    return false;
}

int gnn_stage_next(struct gnn_stage *st, const char **name, struct gnn_err *e)
{
    struct archive_stage *s = (struct archive_stage *)st;
    struct archive_entry *entry;
    st->npeek = 0;
    s->e = e;
    for (;;) {
        *name = NULL;
        int rc = s->inside ? archive_read_data_skip(s->a) : ARCHIVE_OK;
        if (!s->failed && rc != ARCHIVE_OK && rc != ARCHIVE_WARN && rc != ARCHIVE_EOF)
            return ar_fail(s, e);
        int64_t at = archive_filter_bytes(s->a, 0);
        rc = s->failed ? rc : archive_read_next_header(s->a, &entry);
        if (s->failed)
            return s->failed;
        if (rc == ARCHIVE_EOF)
            return ar_end(s, (uint64_t)(archive_filter_bytes(s->a, 0) - at), e);
        if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN)
            return ar_fail(s, e);
        s->inside = true;
        const char *n = archive_entry_pathname(entry);
        if (!n) /* not in the locale's encoding */
            n = archive_entry_pathname_utf8(entry);
        if (!n || !*n)
            return gnn_fail(e, GNN_E_INPUT, "%s: a member has no readable name", st->name);
        if (leads_out(n))
            return gnn_fail(e, GNN_E_INPUT, "%s: member '%.200s' leads out of the archive",
                            st->name, n);
        if (archive_entry_is_encrypted(entry))
            return gnn_fail(e, GNN_E_INPUT, "%s: member '%.200s' is encrypted", st->name, n);
        mode_t type = archive_entry_filetype(entry);
        if (type == AE_IFDIR && archive_entry_size(entry) <= 0)
            continue;
        if ((type && type != AE_IFREG) || archive_entry_hardlink(entry))
            return gnn_fail(e, GNN_E_INPUT, "%s: member '%.200s' is %s", st->name, n,
                            type == AE_IFDIR ? "a directory with data"
                            : type == AE_IFLNK || archive_entry_hardlink(entry)
                                ? "a link, and links are not followed"
                                : "neither a file nor a directory");
        while (n[0] == '.' && n[1] == '/')
            n += 2;
        *name = n;
        return GNN_OK;
    }
}

int gnn_stage_read(struct gnn_stage *s, void *buf, size_t n, size_t *got, struct gnn_err *e)
{
    if (s->peek_at < s->npeek) {
        *got = n < s->npeek - s->peek_at ? n : s->npeek - s->peek_at;
        memcpy(buf, s->peek + s->peek_at, *got);
        s->peek_at += *got;
        return GNN_OK;
    }
    int rc = s->read(s, buf, n, got, e);
    if (rc)
        return rc;
    s->out += *got;
    /* Checked here and not where members are read, so that skipping a member does not avoid the
     * check. deflate packs at most 1:1032. */
    const struct gnn_stage *base = s;
    while (base->below)
        base = base->below;
    if (s->out >> 28 && s->out / 1100 > base->out)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: implausible: it decompresses to more than 1100 times its size",
                        s->name);
    return GNN_OK;
}

int gnn_stage_peek(struct gnn_stage *s, const uint8_t **p, size_t *n, struct gnn_err *e)
{
    s->npeek = s->peek_at = 0;
    size_t got = 1;
    /* Several reads, as one may return less than is there. */
    while (got && s->npeek < sizeof s->peek) {
        int rc = s->read(s, s->peek + s->npeek, sizeof s->peek - s->npeek, &got, e);
        if (rc)
            return rc;
        s->npeek += got;
        s->out += got;
    }
    *p = s->peek;
    *n = s->npeek;
    return GNN_OK;
}

enum gnn_packing gnn_stage_packing(const uint8_t *p, size_t n)
{
    if (n >= 3 && !memcmp(p, "\x1f\x8b\x08", 3))
        return GNN_GZIP;
    if (n >= 4 && !memcmp(p, "\x28\xb5\x2f\xfd", 4))
        return GNN_ZSTD;
    if (n >= 6 && !memcmp(p,
                          "\xfd"
                          "7zXZ",
                          6))
        return GNN_XZ;
    return GNN_PLAIN;
}

bool gnn_stage_is_archive(const uint8_t *p, size_t n)
{
    return (n >= 4 && (!memcmp(p, "PK\3\4", 4) || !memcmp(p, "PK\5\6", 4))) ||
           (n >= 262 && !memcmp(p + 257, "ustar", 5));
}

void gnn_stage_free(struct gnn_stage *s)
{
    while (s) {
        struct gnn_stage *below = s->below;
        s->free(s);
        s = below;
    }
}
