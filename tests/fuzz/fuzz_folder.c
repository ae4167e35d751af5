/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of several files: each file is a byte with the length of its name, the name, the length
 * of its content in four bytes, and its content. A folder of one file is that file. A file
 * tables.json is what gnn-import --tables reads; ns.pkl lies beside the folder, and has candidates
 * of links. Any files give a data set, all of which is read, or one line of why not. */
#include <ctype.h>
#include <sys/stat.h>

#include "formats/le.h"
#include "fuzz/edits.h"
#include "fuzz/fuzz.h"
#include "import_drain.h"
#include "lib/base/json.h"
#include "lib/import/link_dict.h"

unsigned long fuzz_accepted;

enum { RECORD = 5, FILES = 64, OPTIONS = 16, PATH = 512, JSON_MAX = 1 << 16 };

static const char LIST[] = "d/tables.json", CANDIDATES[] = "ns.pkl";

/* What tables.json says. */
struct options {
    json_t *all;
    char text[5][OPTIONS][PATH];
    const char *list[5][OPTIONS];
    uint32_t n[5];
};

/* ---- files ---- */

static void check_error(int rc, const struct gnn_err *e)
{
    if ((rc == 0) != (e->code == 0) || (rc && (!*e->msg || strchr(e->msg, '\n'))))
        abort(); /* a failure without a reason, or the reverse */
}

/* "d/" and a name that leads nowhere else: false if it cannot be one. */
static bool make_name(char name[256 + 2], const uint8_t *p, size_t n)
{
    size_t to = 2;
    memcpy(name, "d/", 2);
    for (size_t i = 0; i < n; i++) {
        name[to++] = (char)(isalnum(p[i]) || strchr("._-/", p[i]) ? p[i] : '_');
        if (name[to - 2] == '/' && (name[to - 1] == '/' || name[to - 1] == '.'))
            return false;
    }
    name[to] = 0;
    if (!strcmp(name + 2, CANDIDATES))
        snprintf(name, 256, "%s", CANDIDATES);
    return name[to - 1] != '/';
}

/* Writes a file below the directory; false if one of its directories is a file, or the reverse. */
static bool write_below(const char *name, const uint8_t *p, size_t n)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/%s", fuzz_dir, name);
    for (char *at = path + strlen(fuzz_dir) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = 0;
        (void)mkdir(path, 0700);
    }
    FILE *f = fopen(path, "wb");
    if (!f)
        return false;
    if ((n && fwrite(p, n, 1, f) != 1) || fclose(f))
        abort();
    return true;
}

static uint32_t write_files(const uint8_t *p, size_t n, char *last)
{
    uint32_t files = 0;
    while (n >= RECORD && files < FILES) {
        char name[256 + 2];
        const size_t words = *p < n - RECORD ? *p : n - RECORD;
        const bool good = make_name(name, p + 1, words);
        const uint32_t told = load_le32(p + 1 + words);
        p += RECORD + words;
        n -= RECORD + words;
        const size_t len = told < n ? told : n;
        if (good && write_below(name, p, len) && strcmp(name, CANDIDATES) != 0) {
            snprintf(last, 256 + 2, "%s", name);
            files++;
        }
        p += len;
        n -= len;
    }
    return files;
}

static void start_folder(void)
{
    char path[256];
    if (!*fuzz_dir)
        fuzz_dir_new();
    (void)nftw(fuzz_path(path, "d"), fuzz_unlink, 16, FTW_DEPTH | FTW_PHYS);
    if (mkdir(path, 0700))
        abort();
    (void)unlink(fuzz_path(path, CANDIDATES));
}

/* ---- tables.json ---- */

/* Members of one object as "KEY=VALUE", where a file is one of the folder. */
static void read_member(struct options *o, unsigned which, const char *name, bool file)
{
    const char *key;
    json_t *v;
    json_object_foreach(json_object_get(o->all, name), key, v)
    {
        const char *value = json_string_value(v);
        uint32_t *n = &o->n[which];
        if (!value || !*key || !*value || strstr(value, "..") || *n == OPTIONS)
            continue;
        snprintf(o->text[which][*n], PATH, "%s=%s%s%s", key, file ? fuzz_dir : "",
                 file ? "/d/" : "", value);
        o->list[which][*n] = o->text[which][*n];
        ++*n;
    }
}

static void read_options(struct options *o, struct gnn_import_opts *to)
{
    static const struct {
        const char *name;
        bool file;
    } member[5] = {
        {"nodes", true}, {"edges", true}, {"features", true}, {"labels", true}, {"encode", false}};
    char path[256], text[JSON_MAX];
    struct gnn_err e = {0};
    FILE *f = fopen(fuzz_path(path, LIST), "rb");
    if (!f)
        return;
    const size_t n = fread(text, 1, sizeof text, f);
    fclose(f);
    o->all = gnn_json_parse(text, n, path, &e);
    check_error(!o->all, &e);
    for (unsigned i = 0; i < 5; i++)
        read_member(o, i, member[i].name, member[i].file);
    *to = (struct gnn_import_opts){.task = -1,
                                   .node_table = o->list[0],
                                   .nnode_tables = o->n[0],
                                   .edge_table = o->list[1],
                                   .nedge_tables = o->n[1],
                                   .features = o->list[2],
                                   .nfeatures = o->n[2],
                                   .labels = o->list[3],
                                   .nlabels = o->n[3],
                                   .encode = o->list[4],
                                   .nencode = o->n[4]};
}

/* ---- the target ---- */

static void read_candidates(void)
{
    char path[256];
    struct link_dict d = {.name = "ns.pkl"};
    struct gnn_err e = {0};
    if (access(fuzz_path(path, CANDIDATES), F_OK))
        return;
    const int rc = gnn_link_dict_open(&d, path, &e);
    check_error(rc, &e);
    gnn_link_dict_release(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct options said;
    char path[PATH], last[256 + 2] = "d";
    struct gnn_import_opts o = {.task = -1};
    struct gnn_dataset *d = NULL;
    struct gnn_err e = {0};
    start_folder();
    memset(&said, 0, sizeof said);
    const uint32_t files = write_files(data, n, last);
    read_options(&said, &o);
    snprintf(path, sizeof path, "%s/%s", fuzz_dir, files == 1 ? last : "d");
    const char *input = path;
    int rc = gnn_import_open(&d, &input, o.nedge_tables ? 0 : 1, &o, &e);
    rc = drain_dataset(d, rc, NULL, NULL, &e);
    check_error(rc, &e);
    read_candidates();
    json_decref(said.all);
    fuzz_accepted += !rc;
    return 0;
}
