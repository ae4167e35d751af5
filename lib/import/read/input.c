/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs (lib/import/read/input.h): a file, a directory, an archive, or an archive in an archive,
 * all as a sorted list of members that can be read again and again. A reader is a stack of stages
 * (lib/import/read/stage.h), made anew each time. Members are sorted by name, so results do not
 * depend on the order in a directory. */
#include "lib/import/read/input.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/import/read/stage.h"
#include "lib/import/read/zip.h"
#include "lib/base/mem.h"

/* Limits on what a hostile archive or a wrong directory can make of the program's memory. */
enum { MEMBERS_MAX = 100000, DEPTH_MAX = 8, NAME_MAX_BYTES = 4096 };

struct member {
    char *name;
    char *path; /* of a plain file; NULL in an archive */
};

struct gnn_input {
    char *name;
    struct member *m;
    uint32_t n;
    bool archive;             /* members are in an archive */
    enum gnn_packing packing; /* of the archive itself */
    char *path;               /* of the archive */
    const void *mem;          /* or its bytes */
    size_t nmem;
    uint64_t bytes;          /* of the files */
    struct gnn_input *outer; /* or the archive that holds it */
    uint32_t outer_member;
};

struct gnn_reader {
    struct gnn_stage *top;
    char *name;
};

static int add_member(struct gnn_input *in, const char *name, const char *path, struct gnn_err *e)
{
    if (in->n == MEMBERS_MAX)
        return gnn_fail(e, GNN_E_INPUT, "%s: more than %d members", in->name, MEMBERS_MAX);
    if (strlen(name) > NAME_MAX_BYTES)
        return gnn_fail(e, GNN_E_INPUT, "%s: a member's name is longer than %d bytes", in->name,
                        NAME_MAX_BYTES);
    if (gnn_grow(&in->m, in->n, sizeof *in->m, "members", e))
        return e->code;
    struct member *m = &in->m[in->n++];
    m->name = gnn_strdup(name, e);
    m->path = path ? gnn_strdup(path, e) : NULL;
    return m->name && (m->path || !path) ? GNN_OK : GNN_E_NOMEM;
}

static int list_dir(struct gnn_input *in, const char *dir, const char *prefix, int depth,
                    struct gnn_err *e)
{
    if (depth > DEPTH_MAX)
        return gnn_fail(e, GNN_E_INPUT, "%s: directories nested too deep", in->name);
    DIR *d = opendir(dir);
    if (!d)
        return gnn_fail_open(e, dir);
    int rc = GNN_OK;
    for (struct dirent *de; !rc && (de = readdir(d));) {
        if (de->d_name[0] == '.')
            continue;
        struct stat st;
        char *path = gnn_strf(e, "%s/%s", dir, de->d_name);
        char *name = gnn_strf(e, "%s%s", prefix, de->d_name);
        if (!path || !name)
            rc = GNN_E_NOMEM;
        else if (stat(path, &st))
            rc = gnn_fail_open(e, path);
        else if (S_ISREG(st.st_mode)) {
            in->bytes += (uint64_t)st.st_size;
            rc = add_member(in, name, path, e);
        } else if (S_ISDIR(st.st_mode)) {
            char *sub = gnn_strf(e, "%s/", name);
            rc = sub ? list_dir(in, path, sub, depth + 1, e) : GNN_E_NOMEM;
            gnn_free(sub);
        }
        gnn_free(path);
        gnn_free(name);
    }
    closedir(d);
    return rc;
}

static int member_stage(struct gnn_input *in, uint32_t i, struct gnn_stage **top,
                        struct gnn_err *e);

/* The bytes of the archive, or of a lone file, still packed. */
static int base_stage(struct gnn_input *in, struct gnn_stage **s, struct gnn_err *e)
{
    if (in->outer)
        return member_stage(in->outer, in->outer_member, s, e);
    if (in->path)
        return gnn_stage_file(s, in->path, in->name, e);
    return gnn_stage_mem(s, in->mem, in->nmem, in->name, e);
}

/* Member i as it lies there, still packed. */
static int member_stage(struct gnn_input *in, uint32_t i, struct gnn_stage **top, struct gnn_err *e)
{
    *top = NULL;
    if (!in->archive && in->m[i].path)
        return gnn_stage_file(top, in->m[i].path, in->name, e);
    int rc = base_stage(in, top, e);
    if (rc || !in->archive)
        return rc;
    rc = gnn_stage_unpack(top, in->packing, e);
    if (!rc)
        /* Archives are read from their start to the member: tar has no directory. */
        rc = gnn_stage_archive(top, e);
    const char *name = "";
    while (!rc && name) {
        rc = gnn_stage_next(*top, &name, e);
        if (!rc && name && !strcmp(name, in->m[i].name))
            break;
    }
    if (!rc && !name)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: member '%s' no longer exists", in->name, in->m[i].name);
    if (rc) {
        gnn_stage_free(*top);
        *top = NULL;
    }
    return rc;
}

static int cmp_member(const void *a, const void *b)
{
    return strcmp(((const struct member *)a)->name, ((const struct member *)b)->name);
}

static int sort_members(struct gnn_input *in, struct gnn_err *e)
{
    if (in->n)
        qsort(in->m, in->n, sizeof *in->m, cmp_member);
    for (uint32_t i = 1; i < in->n; i++)
        if (!strcmp(in->m[i].name, in->m[i - 1].name))
            return gnn_fail(e, GNN_E_INPUT, "%s: member '%.200s' occurs twice", in->name,
                            in->m[i].name);
    return GNN_OK;
}

static const char *base_name(const char *path)
{
    const char *p = strrchr(path, '/');
    return p && p[1] ? p + 1 : path;
}

/* The bytes of the archive, unpacked. */
static int archive_bytes(void *arg, struct gnn_stage **s, struct gnn_err *e)
{
    struct gnn_input *in = arg;
    int rc = base_stage(in, s, e);
    return rc ? rc : gnn_stage_unpack(s, in->packing, e);
}

static int list_archive(struct gnn_input *in, bool zip, struct gnn_err *e)
{
    struct gnn_stage *s = NULL;
    const char *name = "";
    in->archive = true;
    int rc = zip ? gnn_zip_check(archive_bytes, in, e) : GNN_OK;
    /* Zip archives are seekable: a fresh stage stands at the start, so that libarchive finds the
     * directory. */
    if (!rc)
        rc = archive_bytes(in, &s, e);
    if (!rc)
        rc = gnn_stage_archive(&s, e);
    while (!rc && name) {
        rc = gnn_stage_next(s, &name, e);
        if (!rc && name)
            rc = add_member(in, name, NULL, e);
    }
    gnn_stage_free(s);
    if (!rc && !in->n)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: the archive is empty", in->name);
    return rc ? rc : sort_members(in, e);
}

/* Whether the name says that this is an archive: one that is cut in its first bytes does not look
 * like one. */
static bool named_archive(const char *name)
{
    static const char *const packed[] = {".gz", ".zst", ".xz"}, *const ends[] = {".zip", ".npz",
                                                                                 ".tar", ".tgz"};
    size_t n = strlen(name);
    for (int k = 0; k < 3; k++)
        if (n > strlen(packed[k]) && !strcmp(name + n - strlen(packed[k]), packed[k])) {
            n -= strlen(packed[k]);
            break;
        }
    for (int k = 0; k < 4; k++)
        if (n > 4 && !memcmp(name + n - 4, ends[k], 4))
            return true;
    return false;
}

/* Looks at the first bytes: an archive is listed, anything else is a lone member. */
static int list_lone(struct gnn_input *in, struct gnn_err *e)
{
    struct gnn_stage *s = NULL;
    const uint8_t *p;
    size_t n;
    int rc = base_stage(in, &s, e);
    if (!rc)
        rc = gnn_stage_peek(s, &p, &n, e);
    if (!rc)
        in->packing = gnn_stage_packing(p, n);
    if (!rc && in->packing != GNN_PLAIN) {
        rc = gnn_stage_unpack(&s, in->packing, e);
        if (!rc)
            rc = gnn_stage_peek(s, &p, &n, e);
    }
    bool archive = !rc && gnn_stage_is_archive(p, n), zip = archive && *p == 'P';
    gnn_stage_free(s);
    if (!rc && !archive && n && named_archive(in->name))
        rc = gnn_fail(
            e, GNN_E_INPUT,
            "%s: cut short in its first bytes, or not an archive of the kind that its name suggests",
            in->name);
    if (rc)
        return rc;
    return archive ? list_archive(in, zip, e) : add_member(in, base_name(in->name), NULL, e);
}

static int open_path(struct gnn_input *in, const char *path, struct gnn_err *e)
{
    struct stat st;
    if (!strcmp(path, "-"))
        return gnn_fail(e, GNN_E_USAGE,
                        "inputs are read several times and cannot be standard input");
    if (stat(path, &st))
        return gnn_fail_open(e, path);
    if (S_ISDIR(st.st_mode)) {
        int rc = list_dir(in, path, "", 0, e);
        if (!rc && !in->n)
            rc = gnn_fail(e, GNN_E_INPUT, "%s: the directory is empty", path);
        return rc ? rc : sort_members(in, e);
    }
    if (!S_ISREG(st.st_mode))
        return gnn_fail(e, GNN_E_USAGE,
                        "%s: not a file or directory; inputs are read several times", path);
    in->bytes = (uint64_t)st.st_size;
    in->path = gnn_strdup(path, e);
    return in->path ? list_lone(in, e) : GNN_E_NOMEM;
}

static int new_input(struct gnn_input **in, const char *name, struct gnn_err *e)
{
    *in = gnn_alloc_zero(1, sizeof **in, "input", e);
    if (!*in)
        return GNN_E_NOMEM;
    (*in)->name = gnn_strdup(name, e);
    return (*in)->name ? GNN_OK : GNN_E_NOMEM;
}

static int finish_open(struct gnn_input **in, int rc)
{
    if (rc) {
        gnn_input_free(*in);
        *in = NULL;
    }
    return rc;
}

int gnn_input_open(struct gnn_input **in, const char *const *path, uint32_t n, struct gnn_err *e)
{
    int rc = new_input(in, path[0], e);
    if (!rc && n == 1)
        rc = open_path(*in, path[0], e);
    for (uint32_t i = 0; !rc && n > 1 && i < n; i++) {
        struct stat st;
        if (stat(path[i], &st))
            rc = gnn_fail_open(e, path[i]);
        else if (!S_ISREG(st.st_mode))
            rc = gnn_fail(e, GNN_E_USAGE, "%s: several inputs must be plain files", path[i]);
        else {
            (*in)->bytes += (uint64_t)st.st_size;
            rc = add_member(*in, base_name(path[i]), path[i], e);
        }
    }
    if (!rc && n > 1)
        rc = sort_members(*in, e);
    return finish_open(in, rc);
}

int gnn_input_open_mem(struct gnn_input **in, const char *name, const void *data, size_t n,
                       struct gnn_err *e)
{
    int rc = new_input(in, name, e);
    if (!rc) {
        (*in)->mem = data;
        (*in)->nmem = (*in)->bytes = n;
        rc = list_lone(*in, e);
    }
    return finish_open(in, rc);
}

int gnn_input_open_inner(struct gnn_input **in, struct gnn_input *outer, uint32_t member,
                         struct gnn_err *e)
{
    *in = NULL;
    char *name = gnn_strf(e, "%s: %s", outer->name, outer->m[member].name);
    int rc = name ? new_input(in, name, e) : GNN_E_NOMEM;
    gnn_free(name);
    if (!rc) {
        (*in)->outer = outer;
        (*in)->outer_member = member;
        rc = list_lone(*in, e);
    }
    return finish_open(in, rc);
}

void gnn_input_free(struct gnn_input *in)
{
    if (!in)
        return;
    for (uint32_t i = 0; i < in->n; i++) {
        gnn_free(in->m[i].name);
        gnn_free(in->m[i].path);
    }
    gnn_free(in->m);
    gnn_free(in->name);
    gnn_free(in->path);
    gnn_free(in);
}

const char *gnn_input_name(const struct gnn_input *in)
{
    return in->name;
}

uint64_t gnn_input_bytes(const struct gnn_input *in)
{
    return in->bytes;
}

uint32_t gnn_input_members(const struct gnn_input *in)
{
    return in->n;
}

const char *gnn_input_member(const struct gnn_input *in, uint32_t i)
{
    return in->m[i].name;
}

int gnn_input_lone(const struct gnn_input *in, const char *what, struct gnn_err *e)
{
    if (in->n > 1)
        return gnn_fail(e, GNN_E_INPUT, "%s: several members, but %s must be one file", in->name,
                        what);
    return GNN_OK;
}

/* Index of the member called name + end; -1 if there is none. Members are sorted. */
static int find_exact(const struct gnn_input *in, const char *name, const char *end)
{
    size_t len = strlen(name);
    uint32_t lo = 0, hi = in->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        const char *m = in->m[mid].name;
        int c = strncmp(name, m, len);
        if (!c)
            c = strcmp(end, m + len);
        if (!c)
            return (int)mid;
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return -1;
}

int gnn_input_find(const struct gnn_input *in, const char *name)
{
    static const char *const ends[] = {"", ".gz", ".zst", ".xz"};
    int found = -1;
    for (unsigned k = 0; found < 0 && k < sizeof ends / sizeof *ends; k++)
        found = find_exact(in, name, ends[k]);
    return found;
}

int gnn_reader_open(struct gnn_reader **r, struct gnn_input *in, uint32_t member, struct gnn_err *e)
{
    *r = gnn_alloc_zero(1, sizeof **r, "reader", e);
    if (!*r)
        return GNN_E_NOMEM;
    bool lone = !in->archive && !in->m[member].path;
    const char *path = in->m[member].path;
    (*r)->name = lone || path ? gnn_strdup(path ? path : in->name, e)
                              : gnn_strf(e, "%s: %s", in->name, in->m[member].name);
    int rc = (*r)->name ? member_stage(in, member, &(*r)->top, e) : GNN_E_NOMEM;
    const uint8_t *p;
    size_t n;
    if (!rc) {
        /* Names in messages are those of the reader, which has the archive's in front. */
        (*r)->top->name = (*r)->name;
        rc = gnn_stage_peek((*r)->top, &p, &n, e);
    }
    if (!rc)
        rc = gnn_stage_unpack(&(*r)->top, gnn_stage_packing(p, n), e);
    if (rc) {
        gnn_reader_free(*r);
        *r = NULL;
        return rc;
    }
    return GNN_OK;
}

int gnn_reader_peek(struct gnn_reader *r, const uint8_t **p, size_t *n, struct gnn_err *e)
{
    if (!r->top->npeek) {
        int rc = gnn_stage_peek(r->top, p, n, e);
        if (rc)
            return rc;
    }
    *p = r->top->peek;
    *n = r->top->npeek;
    return GNN_OK;
}

int gnn_reader_read(struct gnn_reader *r, void *buf, uint64_t n, uint64_t *got, struct gnn_err *e)
{
    *got = 0;
    while (*got < n) {
        size_t k = 0, want = n - *got < 1u << 30 ? (size_t)(n - *got) : 1u << 30;
        int rc = gnn_stage_read(r->top, (char *)buf + *got, want, &k, e);
        if (rc)
            return rc;
        if (!k)
            break;
        *got += k;
    }
    return GNN_OK;
}

int gnn_reader_skip(struct gnn_reader *r, uint64_t n, struct gnn_err *e)
{
    uint8_t buf[1 << 15];
    while (n) {
        uint64_t got;
        int rc = gnn_reader_read(r, buf, n < sizeof buf ? n : sizeof buf, &got, e);
        if (rc)
            return rc;
        if (!got)
            return gnn_fail(e, GNN_E_INPUT, "%s: cut short", r->name);
        n -= got;
    }
    return GNN_OK;
}

const char *gnn_reader_name(const struct gnn_reader *r)
{
    return r->name;
}

void gnn_reader_free(struct gnn_reader *r)
{
    if (!r)
        return;
    gnn_stage_free(r->top);
    gnn_free(r->name);
    gnn_free(r);
}
