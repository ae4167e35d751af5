/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs (lib/import/read/input.h): a file, a directory, an archive, or an archive in an archive,
 * all as a sorted list of members that can be read again and again. A reader is a stack of stages
 * (lib/import/read/stage.h), made anew each time. Members are sorted by name, so results do not
 * depend on the order in a directory. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/import/read/array_file.h"
#include "lib/import/read/companion.h"
#include "lib/import/read/dgl_refuse.h"
#include "lib/import/read/input_impl.h"
#include "lib/import/read/ondisk.h"
#include "lib/import/read/planetoid.h"
#include "lib/import/read/glt_parts.h"
#include "lib/import/read/pyg_parts.h"
#include "lib/import/read/spool.h"
#include "lib/import/read/zip_check.h"
#include "lib/base/mem.h"
#include "lib/base/path.h"
#include "lib/base/suggest.h"

/* Limits on what a hostile archive or a wrong directory can make of the program's memory. */
enum { MEMBERS_MAX = 100000, DEPTH_MAX = 8, NAME_MAX_BYTES = 4096 };

static int note_left(struct gnn_input *in, const char *name, struct gnn_err *e)
{
    if (in->nleft++ >= GNN_INPUT_LEFT)
        return GNN_OK;
    char *copy = gnn_strdup(name, e);
    in->left[in->nleft - 1] = copy;
    return copy ? GNN_OK : GNN_E_NOMEM;
}

static int add_member(struct gnn_input *in, const char *name, const char *path, struct gnn_err *e)
{
    if (in->n + in->nleft >= MEMBERS_MAX)
        return gnn_fail(e, GNN_E_INPUT, "%s: more than %d members", in->name, MEMBERS_MAX);
    if (strlen(name) > NAME_MAX_BYTES)
        return gnn_fail(e, GNN_E_INPUT, "%s: a member's name is longer than %d bytes", in->name,
                        NAME_MAX_BYTES);
    if (gnn_grow(&in->m, in->n, sizeof *in->m, "members", e))
        return e->code;
    struct gnn_input_member *m = &in->m[in->n++];
    m->name = gnn_strdup(name, e);
    m->path = path ? gnn_strdup(path, e) : NULL;
    m->given = in->n - 1;
    return m->name && (m->path || !path) ? GNN_OK : GNN_E_NOMEM;
}

static void empty_member(struct gnn_input_member *m)
{
    gnn_free(m->name);
    gnn_free(m->path);
    m->name = NULL;
}

/* Takes out members that are emptied. */
static void close_gaps(struct gnn_input *in)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < in->n; i++)
        if (in->m[i].name)
            in->m[kept++] = in->m[i];
    in->n = kept;
}

int gnn_input_leave(struct gnn_input *in, uint32_t i, struct gnn_err *e)
{
    int rc = note_left(in, in->m[i].name, e);
    empty_member(&in->m[i]);
    close_gaps(in);
    return rc;
}

int gnn_input_set_aside(struct gnn_input *in, uint32_t i, struct gnn_err *e)
{
    const struct gnn_input_member *m = &in->m[i];
    if (gnn_grow(&in->table, in->ntables, sizeof *in->table, "tables of nodes", e))
        return GNN_E_NOMEM;
    char *spec = m->path ? gnn_strdup(m->path, e) : gnn_strf(e, "%s:%s", in->name, m->name);
    if (!spec)
        return GNN_E_NOMEM;
    in->table[in->ntables++] = spec;
    empty_member(&in->m[i]);
    close_gaps(in);
    return GNN_OK;
}

const char *gnn_input_table(const struct gnn_input *in, uint32_t k)
{
    return k < in->ntables ? in->table[k] : NULL;
}

/* Those that cannot be data. */
static int leave_companions(struct gnn_input *in, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (uint32_t i = 0; !rc && i < in->n; i++)
        if (gnn_companion_is(in->m[i].name)) {
            rc = note_left(in, in->m[i].name, e);
            empty_member(&in->m[i]);
        }
    close_gaps(in);
    char text[400];
    if (!rc && !in->n && gnn_input_left(in, text, sizeof text))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: nothing in it is data: %s", in->name, text);
    return rc;
}

bool gnn_input_left(const struct gnn_input *in, char *text, size_t capacity)
{
    size_t used = 0;
    uint32_t i = 0;
    *text = 0;
    for (; i < in->nleft && i < GNN_INPUT_LEFT; i++) {
        const int n = snprintf(text + used, capacity - used, "%s%s", i ? ", " : "", in->left[i]);
        if (n < 0 || (size_t)n + 24 >= capacity - used)
            break;
        used += (size_t)n;
    }
    text[used] = 0;
    if (i < in->nleft)
        snprintf(text + used, capacity - used, "%s%u%s", i ? " and " : "", in->nleft - i,
                 i ? " more" : " files");
    return in->nleft > 0;
}

static int list_dir(struct gnn_input *in, const char *dir, const char *prefix, int depth,
                    struct gnn_err *e)
{
    if (depth > DEPTH_MAX)
        return gnn_fail(e, GNN_E_INPUT, "%s: directories more than %d deep, or a loop of links",
                        dir, DEPTH_MAX);
    DIR *d = opendir(dir);
    if (!d)
        return gnn_fail_open(e, dir);
    int rc = GNN_OK;
    for (struct dirent *de; !rc && (de = readdir(d));) {
        if (!strcmp(de->d_name, ".") || !strcmp(de->d_name, ".."))
            continue;
        struct stat st;
        char *path = gnn_strf(e, "%s/%s", dir, de->d_name);
        char *name = gnn_strf(e, "%s%s", prefix, de->d_name);
        if (!path || !name)
            rc = GNN_E_NOMEM;
        else if (de->d_name[0] == '.')
            rc = note_left(in, name, e);
        else if (stat(path, &st))
            rc = gnn_fail_open(e, path);
        else if (S_ISREG(st.st_mode)) {
            in->bytes += (uint64_t)st.st_size;
            rc = add_member(in, name, path, e);
        } else if (S_ISDIR(st.st_mode)) {
            char *sub = gnn_strf(e, "%s/", name);
            rc = sub ? list_dir(in, path, sub, depth + 1, e) : GNN_E_NOMEM;
            gnn_free(sub);
        } else {
            rc = note_left(in, name, e);
        }
        gnn_free(path);
        gnn_free(name);
    }
    closedir(d);
    return rc;
}

static int cmp_member(const void *a, const void *b)
{
    return strcmp(((const struct gnn_input_member *)a)->name,
                  ((const struct gnn_input_member *)b)->name);
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

/* Makes the arrays of a list, which the input takes over, on failure too, its members. */
static int show_arrays(struct gnn_input *in, struct gnn_array_list *l, struct gnn_err *e)
{
    int rc = GNN_OK;
    in->arrays = l;
    in->archive = true;
    for (uint32_t i = 0; !rc && i < l->n; i++)
        rc = add_member(in, l->array[i].name, NULL, e);
    for (uint32_t i = 0; !rc && i < l->nleft; i++)
        rc = note_left(in, l->left[i], e);
    return rc ? rc : sort_members(in, e);
}

typedef int folder_fn(struct gnn_array_list *l, const struct gnn_input *in, uint32_t member,
                      bool *used, struct gnn_err *e);

/* Shows the arrays of a folder that another program wrote, in place of its files. */
static int list_folder(struct gnn_input *in, folder_fn *add, uint32_t meta, struct gnn_err *e)
{
    struct gnn_array_list *l = gnn_alloc_zero(1, sizeof *l, "input", e);
    bool *used = l ? gnn_alloc_zero(in->n, sizeof *used, "members", e) : NULL;
    int rc = used ? add(l, in, meta, used, e) : GNN_E_NOMEM;
    for (uint32_t i = 0; !rc && i < in->n; i++) {
        if (!used[i])
            rc = note_left(in, in->m[i].name, e);
        empty_member(&in->m[i]);
    }
    gnn_free(used);
    if (rc) {
        gnn_array_list_free(l);
        return rc;
    }
    in->n = 0;
    return show_arrays(in, l, e);
}

/* Folders that other programs wrote are read whole, and only where they lie open. */
static int take_folder(struct gnn_input *in, folder_fn *add, int member, const char *what,
                       struct gnn_err *e)
{
    return in->archive ? gnn_fail(e, GNN_E_INPUT, "%s: %s: an archive of %s: unpack it first",
                                  in->name, in->m[member].name, what)
                       : list_folder(in, add, (uint32_t)member, e);
}

static int check_folder(struct gnn_input *in, struct gnn_err *e)
{
    static const struct {
        int (*find)(const struct gnn_input *in);
        folder_fn *add;
        const char *what;
    } known[] = {{gnn_pyg_parts_find, gnn_pyg_parts_add, "a folder of PyG's Partitioner"},
                 {gnn_glt_parts_find, gnn_glt_parts_add, "a folder of GLT's Partitioner"},
                 {gnn_planetoid_find, gnn_planetoid_add, "Planetoid's raw files"}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const int member = known[k].find(in);
        if (member >= 0)
            return take_folder(in, known[k].add, member, known[k].what, e);
    }
    int member, rc = gnn_ondisk_find(in, &member, e);
    if (rc || member < 0)
        return rc ? rc : gnn_dgl_refuse_folder(in, e);
    return take_folder(in, gnn_ondisk_add, member, "an OnDiskDataset of GraphBolt", e);
}

/* The bytes of the archive, unpacked. */
static int archive_bytes(void *arg, struct gnn_stage **s, struct gnn_err *e)
{
    struct gnn_input *in = arg;
    int rc = gnn_input_base(in, s, e);
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
    if (!rc)
        rc = sort_members(in, e);
    return rc ? rc : check_folder(in, e);
}

/* The path of the file that an input is; NULL: it is packed, or lies in an archive. */
static const char *plain_path(const struct gnn_input *in)
{
    if (in->packing != GNN_PLAIN)
        return NULL;
    return in->outer ? in->outer->m[in->outer_member].path : in->path;
}

/* The arrays of a file of torch.save or DGL, which `s` has unpacked, if it is no plain file. */
static int list_arrays(struct gnn_input *in, struct gnn_stage *s, gnn_array_file_fn *add,
                       struct gnn_err *e)
{
    struct gnn_array_list *l = gnn_alloc_zero(1, sizeof *l, "input", e);
    int rc = l ? add(l, plain_path(in), s, in->name, e) : GNN_E_NOMEM;
    if (rc) {
        gnn_array_list_free(l);
        return rc;
    }
    return show_arrays(in, l, e);
}

/* Whether the name says that this is an archive: one that is cut in its first bytes does not look
 * like one. */
static bool named_archive(const char *name)
{
    static const char *const ends[] = {".zip", ".npz", ".tar", ".tgz"};
    const size_t n = gnn_unpacked_length(name);
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
    int rc = gnn_input_base(in, &s, e);
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
    gnn_array_file_fn *add = rc ? NULL : gnn_array_file_find(p, n, in->keyed);
    if (add)
        rc = list_arrays(in, s, add, e);
    gnn_stage_free(s);
    if (rc || add)
        return rc;
    if (!archive && n && named_archive(in->name))
        return gnn_fail(
            e, GNN_E_INPUT,
            "%s: cut short in its first bytes, or not an archive of the kind that its name suggests",
            in->name);
    return archive ? list_archive(in, zip, e) : add_member(in, gnn_base_name(in->name), NULL, e);
}

/* What comes once only is copied to a file. */
static int open_pipe(struct gnn_input *in, const char *path, struct gnn_err *e)
{
    struct gnn_spool s;
    int rc = gnn_spool_open(&s, path, e);
    if (rc)
        return rc;
    in->spool = s.fd + 1;
    in->bytes = s.bytes;
    in->path = gnn_strdup(s.path, e);
    return in->path ? list_lone(in, e) : GNN_E_NOMEM;
}

static int open_path(struct gnn_input *in, const char *path, struct gnn_err *e)
{
    struct stat st;
    if (!strcmp(path, "-") ? fstat(0, &st) : stat(path, &st))
        return gnn_fail_open(e, path);
    if (S_ISFIFO(st.st_mode) || (!strcmp(path, "-") && !S_ISCHR(st.st_mode)))
        return open_pipe(in, path, e);
    if (S_ISDIR(st.st_mode)) {
        int rc = list_dir(in, path, "", 0, e);
        if (!rc && !in->n && !in->nleft)
            rc = gnn_fail(e, GNN_E_INPUT, "%s: the directory is empty", path);
        if (!rc)
            rc = sort_members(in, e);
        return rc ? rc : check_folder(in, e);
    }
    if (!S_ISREG(st.st_mode))
        return gnn_fail(e, GNN_E_USAGE, "%s: not a file, directory or pipe", path);
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

int gnn_input_of_arrays(struct gnn_input **out, struct gnn_array_list *l, const char *name,
                        uint64_t bytes, struct gnn_err *e)
{
    struct gnn_input *in = *out = gnn_alloc_zero(1, sizeof *in, "input", e);
    if (!in) {
        gnn_array_list_free(l);
        return GNN_E_NOMEM;
    }
    in->bytes = bytes;
    in->name = gnn_strdup(name, e);
    int rc = show_arrays(in, l, e);
    return finish_open(out, in->name ? rc : GNN_E_NOMEM);
}

/* The colon of ARCHIVE:MEMBER, the last one before which there is a file; NULL: none. */
static const char *member_colon(const char *path)
{
    struct stat st;
    struct gnn_err ignored = {0};
    if (!stat(path, &st) || errno == ENOMEM)
        return NULL;
    char *copy = gnn_strdup(path, &ignored);
    const char *found = NULL;
    for (char *c; copy && !found && (c = strrchr(copy, ':')); *c = 0) {
        *c = 0;
        if (c > copy && path[c - copy + 1] && !stat(copy, &st))
            found = path + (c - copy);
    }
    gnn_free(copy);
    return found;
}

bool gnn_input_is_member(const char *path)
{
    return member_colon(path) != NULL;
}

static int no_member(const struct gnn_input *in, const char *want, struct gnn_err *e)
{
    struct gnn_suggest s = {.word = want};
    for (uint32_t i = 0; i < in->n; i++)
        gnn_suggest_add(&s, in->m[i].name);
    return gnn_fail(e, GNN_E_INPUT, "%s: no member '%.200s'%s", in->name, want,
                    gnn_suggest_text(&s, "members"));
}

/* Keeps what lies below a directory. */
static int keep_below(struct gnn_input *in, const char *want, struct gnn_err *e)
{
    const size_t n = strlen(want) - (want[strlen(want) - 1] == '/');
    bool any = false;
    for (uint32_t i = 0; i < in->n && !any; i++)
        any = !strncmp(in->m[i].name, want, n) && in->m[i].name[n] == '/';
    if (!any)
        return no_member(in, want, e);
    for (uint32_t i = 0; i < in->n; i++)
        if (strncmp(in->m[i].name, want, n) || in->m[i].name[n] != '/')
            empty_member(&in->m[i]);
    close_gaps(in);
    return leave_companions(in, e);
}

/* Of MEMBER:KEY, the member whose arrays have keys, and the key; -1: there is none. */
static int find_keyed(const struct gnn_input *in, const char *want, const char **key)
{
    char name[NAME_MAX_BYTES + 1];
    int found = -1;
    snprintf(name, sizeof name, "%s", want);
    for (char *c; found < 0 && (c = strrchr(name, ':'));) {
        *c = 0;
        *key = want + (c - name) + 1;
        found = **key ? gnn_input_find(in, name) : -1;
    }
    return found;
}

/* The member, which may be an archive itself; takes over `outer`, on failure too. */
static int open_inside(struct gnn_input **in, struct gnn_input *outer, uint32_t member,
                       const char *name, bool keyed, struct gnn_err *e)
{
    if (new_input(in, name, e)) {
        gnn_input_free(outer);
        return e->code;
    }
    (*in)->outer = outer;
    (*in)->owns_outer = true;
    (*in)->outer_member = member;
    (*in)->bytes = outer->bytes;
    (*in)->keyed = keyed;
    int rc = list_lone(*in, e);
    return !rc && (*in)->archive && !(*in)->arrays ? leave_companions(*in, e) : rc;
}

/* A member by its name, or what is in it, or what lies below a directory. */
static int open_member(struct gnn_input **in, const char *path, const char *colon, bool keyed,
                       struct gnn_err *e)
{
    struct gnn_input *outer = NULL;
    const char *want = colon + 1, *key = NULL;
    char *file = gnn_strf(e, "%.*s", (int)(colon - path), path);
    int rc = file ? new_input(&outer, file, e) : GNN_E_NOMEM;
    if (!rc) {
        outer->keyed = true;
        rc = open_path(outer, file, e);
    }
    gnn_free(file);
    *in = outer;
    if (rc)
        return rc;
    int at = gnn_input_find(outer, want);
    const int holder = at < 0 ? find_keyed(outer, want, &key) : -1;
    if (holder >= 0) {
        char *name = gnn_strf(e, "%.*s", (int)(key - 1 - path), path);
        *in = NULL;
        if (name)
            rc = open_inside(in, outer, (uint32_t)holder, name, true, e);
        else
            gnn_input_free(outer);
        gnn_free(name);
        if (!name || rc)
            return e->code;
        outer = *in;
        want = key;
        at = gnn_input_find(outer, want);
    }
    if (at < 0)
        return keep_below(outer, want, e);
    *in = NULL;
    return open_inside(in, outer, (uint32_t)at, path, keyed, e);
}

/* For files of one name in several directories. */
static int name_by_path(struct gnn_input *in, struct gnn_err *e)
{
    for (uint32_t i = 0; i < in->n; i++) {
        gnn_free(in->m[i].name);
        if (!(in->m[i].name = gnn_strdup(in->m[i].path, e)))
            return GNN_E_NOMEM;
    }
    return GNN_OK;
}

static int open_several(struct gnn_input *in, const char *const *path, uint32_t n,
                        struct gnn_err *e)
{
    struct gnn_err twice = {0};
    int rc = GNN_OK;
    in->several = true;
    for (uint32_t i = 0; !rc && i < n; i++) {
        struct stat st;
        if (stat(path[i], &st))
            rc = gnn_input_is_member(path[i])
                     ? gnn_fail(e, GNN_E_USAGE, "%s: several inputs must be plain files", path[i])
                     : gnn_fail_open(e, path[i]);
        else if (!S_ISREG(st.st_mode))
            rc = gnn_fail(e, GNN_E_USAGE, "%s: several inputs must be plain files", path[i]);
        else {
            in->bytes += (uint64_t)st.st_size;
            rc = add_member(in, gnn_base_name(path[i]), path[i], e);
        }
    }
    if (!rc && sort_members(in, &twice))
        rc = name_by_path(in, e);
    return rc ? rc : sort_members(in, e);
}

static int open_paths(struct gnn_input **in, const char *const *path, uint32_t n, bool keyed,
                      struct gnn_err *e)
{
    const char *colon = n == 1 ? member_colon(path[0]) : NULL;
    *in = NULL;
    if (colon)
        return finish_open(in, open_member(in, path[0], colon, keyed, e));
    char *name = n > 1 ? gnn_strf(e, "%s and %u more", path[0], n - 1) : gnn_strdup(path[0], e);
    int rc = name ? new_input(in, name, e) : GNN_E_NOMEM;
    gnn_free(name);
    if (!rc)
        (*in)->keyed = keyed;
    if (!rc && n == 1)
        rc = open_path(*in, path[0], e);
    if (!rc && n > 1)
        rc = open_several(*in, path, n, e);
    if (!rc && n == 1 && !(*in)->arrays && ((*in)->archive || !(*in)->path))
        rc = leave_companions(*in, e);
    return finish_open(in, rc);
}

int gnn_input_open(struct gnn_input **in, const char *const *path, uint32_t n, struct gnn_err *e)
{
    return open_paths(in, path, n, false, e);
}

int gnn_input_open_keyed(struct gnn_input **in, const char *path, struct gnn_err *e)
{
    return open_paths(in, &path, 1, true, e);
}

static int open_inner(struct gnn_input **in, struct gnn_input *outer, uint32_t member, bool keyed,
                      struct gnn_err *e)
{
    *in = NULL;
    char *name = gnn_strf(e, "%s: %s", outer->name, outer->m[member].name);
    int rc = name ? new_input(in, name, e) : GNN_E_NOMEM;
    gnn_free(name);
    if (!rc) {
        (*in)->outer = outer;
        (*in)->outer_member = member;
        (*in)->keyed = keyed;
        rc = list_lone(*in, e);
    }
    return finish_open(in, rc);
}

int gnn_input_open_inner(struct gnn_input **in, struct gnn_input *outer, uint32_t member,
                         struct gnn_err *e)
{
    return open_inner(in, outer, member, false, e);
}

int gnn_input_open_inner_keyed(struct gnn_input **in, struct gnn_input *outer, uint32_t member,
                               struct gnn_err *e)
{
    return open_inner(in, outer, member, true, e);
}

void gnn_input_free(struct gnn_input *in)
{
    if (!in || in->holders--)
        return;
    for (uint32_t i = 0; i < in->n; i++)
        empty_member(&in->m[i]);
    for (uint32_t i = 0; i < in->nleft && i < GNN_INPUT_LEFT; i++)
        gnn_free(in->left[i]);
    for (uint32_t i = 0; i < in->ntables; i++)
        gnn_free(in->table[i]);
    gnn_free(in->table);
    if (in->owns_outer)
        gnn_input_free(in->outer);
    gnn_array_list_free(in->arrays);
    if (in->spool)
        close(in->spool - 1);
    gnn_free(in->m);
    gnn_free(in->name);
    gnn_free(in->path);
    gnn_free(in);
}

struct gnn_input *gnn_input_hold(struct gnn_input *in)
{
    in->holders++;
    return in;
}
