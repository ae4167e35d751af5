/* SPDX-License-Identifier: Apache-2.0 */
/* torch.save's zip archives (formats/torch_file.h): under one folder the pickle data.pkl, and
 * storages as data/KEY. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/torch_impl.h"
#include "formats/zip_members.h"

enum { FOLDER_MAX = 1024, KEY_MAX = 64 };

struct archive {
    struct gnn_zip_member *member;
    uint64_t members;
    struct gnn_word folder; /* with its slash */
};

static bool ends_with(const struct gnn_zip_member *m, const char *end)
{
    const size_t n = strlen(end);
    return m->name_bytes >= n && !memcmp(m->name + m->name_bytes - n, end, n);
}

/* The member of this name in the folder. */
static const struct gnn_zip_member *find_member(const struct archive *a, const char *name,
                                                size_t name_bytes)
{
    char full[FOLDER_MAX + KEY_MAX + 16];
    memcpy(full, a->folder.p, a->folder.n);
    memcpy(full + a->folder.n, name, name_bytes);
    return gnn_zip_find(a->member, a->members, full, a->folder.n + name_bytes);
}

static bool is_inside(const struct archive *a, const struct gnn_zip_member *m, const char *folder)
{
    const size_t n = a->folder.n, k = strlen(folder);
    return m->name_bytes >= n + k && !memcmp(m->name, a->folder.p, n) &&
           !memcmp(m->name + n, folder, k);
}

/* The folder is that of data.pkl: its name is the file's when it was written. */
static int find_folder(struct gnn_torch_opening *o, struct archive *a)
{
    for (uint64_t i = 0; i < a->members; i++) {
        const struct gnn_zip_member *m = &a->member[i];
        const char *slash = memchr(m->name, '/', m->name_bytes);
        const size_t n = slash ? (size_t)(slash - m->name) + 1 : 0;
        if (!ends_with(m, "/data.pkl") || n + 8 != m->name_bytes)
            continue;
        if (a->folder.n)
            return gnn_torch_fail(o, "a zip archive with two members data.pkl");
        a->folder = (struct gnn_word){m->name, n};
    }
    if (!a->folder.n)
        return gnn_torch_fail(o, "a zip archive without a member data.pkl: not one of torch.save");
    return a->folder.n > FOLDER_MAX ? gnn_torch_fail(o, "the name of the archive's folder is too "
                                                        "long")
                                    : 0;
}

static int check_archive(struct gnn_torch_opening *o, const struct archive *a)
{
    char shown[128];
    for (uint64_t i = 0; i < a->members; i++)
        if (is_inside(a, &a->member[i], "code/") || is_inside(a, &a->member[i], "constants.pkl"))
            return gnn_torch_fail(o, "an archive of TorchScript, whose objects are made by code in "
                                     "it: load it in Python, take its tensors out, and write these "
                                     "with torch.save or numpy.savez");
    for (uint64_t i = 0; i < a->members; i++)
        if (a->member[i].compressed)
            return gnn_torch_fail(
                o, "member '%s': it is compressed, as torch.save never does",
                gnn_text_shown(shown, sizeof shown, a->member[i].name, a->member[i].name_bytes));
    const struct gnn_zip_member *m = find_member(a, "byteorder", 9);
    if (m && (m->bytes != 6 || memcmp(o->f->bytes + m->at, "little", 6) != 0))
        return gnn_torch_fail(o, "its byte order is not little-endian");
    return 0;
}

static int map_storage(struct gnn_torch_opening *o, const struct archive *a,
                       struct gnn_torch_storage *s)
{
    char name[KEY_MAX + 8] = "data/", what[128];
    if (s->key.n > KEY_MAX)
        return gnn_torch_fail_storage(o, s, "its name is too long");
    memcpy(name + 5, s->key.p, s->key.n);
    const struct gnn_zip_member *m = find_member(a, name, 5 + s->key.n);
    if (!m)
        return gnn_torch_fail_storage(o, s, "the archive has no such member");
    if (m->bytes != s->bytes) {
        snprintf(what, sizeof what, "it has %llu bytes in the archive, and %llu by the pickle",
                 (unsigned long long)m->bytes, (unsigned long long)s->bytes);
        return gnn_torch_fail_storage(o, s, what);
    }
    s->data = o->f->bytes + m->at;
    return 0;
}

static int read_archive(struct gnn_torch_opening *o, struct archive *a)
{
    struct gnn_pickle *p = &o->f->pickle;
    char why[256];
    int rc = find_folder(o, a);
    if (!rc)
        rc = check_archive(o, a);
    if (rc)
        return rc;
    const struct gnn_zip_member *m = find_member(a, "data.pkl", 8);
    rc = gnn_pickle_read(p, o->f->bytes + m->at, m->bytes, GNN_PICKLE_PERSISTENT_IDS, why,
                         sizeof why);
    if (rc) {
        gnn_torch_fail(o, "data.pkl: %s", why);
        return rc;
    }
    if (p->used != m->bytes)
        return gnn_torch_fail(o, "data.pkl: %llu bytes after the pickle",
                              (unsigned long long)(m->bytes - p->used));
    rc = gnn_torch_list_storages(o);
    for (uint64_t i = 0; !rc && i < o->f->storages; i++)
        rc = map_storage(o, a, &o->f->storage[i]);
    return rc;
}

int gnn_torch_open_zip(struct gnn_torch_opening *o)
{
    struct archive a = {0};
    int rc = gnn_zip_members(o->f->bytes, o->n, &a.member, &a.members, o->why, o->capacity);
    if (!rc)
        rc = read_archive(o, &a);
    free(a.member);
    return rc;
}
