/* SPDX-License-Identifier: Apache-2.0 */
/* An OnDiskDataset: each file is a byte that says which it is, its length in four bytes, and its
 * content. Any files give a data set, all of which is read, and sets of links, or one line of why
 * not. */
#include <sys/stat.h>

#include "formats/le.h"
#include "fuzz/edits.h"
#include "fuzz/fuzz.h"
#include "import_drain.h"
#include "lib/import/link_archive.h"

unsigned long fuzz_accepted;

enum { RECORD = 5, FILES = 7 };

static const char *const name[FILES] = {"p/metadata.yaml", "p/e.csv", "p/a.npy", "p/b.npy",
                                        "p/c.npy",         "p/d.npy", "p/t.pt"};

static void make_folder(void)
{
    char path[256];
    fuzz_dir_new();
    if (mkdir(fuzz_path(path, "p"), 0700))
        abort();
}

static void write_files(const uint8_t *p, size_t n)
{
    char path[256];
    for (int i = 0; i < FILES; i++)
        (void)unlink(fuzz_path(path, name[i]));
    while (n >= RECORD) {
        const uint32_t told = load_le32(p + 1);
        const size_t len = told < n - RECORD ? told : n - RECORD;
        fuzz_write(name[*p % FILES], p + RECORD, len);
        p += RECORD + len;
        n -= RECORD + len;
    }
}

static void check_error(int rc, const struct gnn_err *e)
{
    if ((rc == 0) != (e->code == 0) || (rc && (!*e->msg || strchr(e->msg, '\n'))))
        abort(); /* a failure without a reason, or the reverse */
}

/* The links and negatives of all sets of an edge type. */
static void read_links(const char *path, char *src, char *rel, char *dst)
{
    struct gnn_ntype ntype[] = {{.name = src}, {.name = dst}};
    struct gnn_etype etype = {.src = 0, .dst = 1, .rel = rel};
    const struct gnn_schema c = {.ntype = ntype, .etype = &etype, .nntypes = 2, .netypes = 1};
    struct gnn_link_archive a = {0};
    struct gnn_err e = {0};
    char text[300];
    snprintf(text, sizeof text, "graphbolt:%s", path);
    check_error(gnn_link_archive_open(&a, text, &c, 0, &e), &e);
    gnn_link_archive_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static char types[][5] = {"node", "to", "a", "r", "b"};
    static bool made;
    char path[256];
    struct gnn_import_opts o = {.task = -1};
    struct gnn_dataset *d = NULL;
    struct gnn_err e = {0};
    if (!made)
        make_folder();
    made = true;
    write_files(data, n);
    const char *input = fuzz_path(path, "p");
    int rc = gnn_import_open(&d, &input, 1, &o, &e);
    rc = drain_dataset(d, rc, NULL, NULL, &e);
    check_error(rc, &e);
    read_links(input, types[0], types[1], types[0]);
    read_links(input, types[2], types[3], types[4]);
    fuzz_accepted += !rc;
    return 0;
}
