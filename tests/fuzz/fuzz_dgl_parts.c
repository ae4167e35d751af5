/* SPDX-License-Identifier: Apache-2.0 */
/* A partition of DGL: each file is a byte that says which it is, its length in four bytes, and its
 * content, where a file of graphs lacks the rest of its head as in fuzz_dgl.c. Any files give a
 * data set, all of which is read, or one line of why not. */
#include <sys/stat.h>

#include "formats/le.h"
#include "fuzz/edits.h"
#include "fuzz/fuzz.h"
#include "import_drain.h"

unsigned long fuzz_accepted;

enum { HEAD = 4096, KEPT = 32, RECORD = 5, FILES = 12 };

static const char *const name[FILES] = {"p/g.json",
                                        "p/part0/graph.dgl",
                                        "p/part0/node_feat.dgl",
                                        "p/part0/edge_feat.dgl",
                                        "p/part1/graph.dgl",
                                        "p/part1/node_feat.dgl",
                                        "p/part1/edge_feat.dgl",
                                        "p/orig_nids.dgl",
                                        "p/orig_eids.dgl",
                                        "p/node_map.npy",
                                        "nids",
                                        "eids"};

static void make_folders(void)
{
    static const char *const folder[] = {"p", "p/part0", "p/part1"};
    char path[256];
    fuzz_dir_new();
    for (int i = 0; i < 3; i++)
        if (mkdir(fuzz_path(path, folder[i]), 0700))
            abort();
}

static void write_file(const char *file, const uint8_t *p, size_t n)
{
    if (n < KEPT || *p) {
        fuzz_write(file, p, n);
        return;
    }
    uint8_t *whole = calloc(1, n - KEPT + HEAD);
    if (!whole)
        abort();
    memcpy(whole, p, KEPT);
    *whole = 0x3f;
    memcpy(whole + HEAD, p + KEPT, n - KEPT);
    fuzz_write(file, whole, n - KEPT + HEAD);
    free(whole);
}

/* Writes the files; which of them there are, as bits. */
static unsigned write_files(const uint8_t *p, size_t n)
{
    unsigned there = 0;
    char path[256];
    for (int i = 0; i < FILES; i++)
        (void)unlink(fuzz_path(path, name[i]));
    while (n >= RECORD) {
        const unsigned which = *p % FILES;
        const uint32_t told = load_le32(p + 1);
        const size_t len = told < n - RECORD ? told : n - RECORD;
        there |= 1u << which;
        write_file(name[which], p + RECORD, len);
        p += RECORD + len;
        n -= RECORD + len;
    }
    return there;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static bool made;
    char path[256], nids[256], eids[256];
    struct gnn_import_opts o = {.task = -1};
    struct gnn_dataset *d = NULL;
    struct gnn_err e = {0};
    if (!made)
        make_folders();
    made = true;
    const unsigned there = write_files(data, n);
    o.orig_nids = there & 1u << 10 ? fuzz_path(nids, name[10]) : NULL;
    o.orig_eids = there & 1u << 11 ? fuzz_path(eids, name[11]) : NULL;
    const char *input = fuzz_path(path, name[0]);
    int rc = gnn_import_open(&d, &input, 1, &o, &e);
    rc = drain_dataset(d, rc, NULL, NULL, &e);
    if ((rc == 0) != (e.code == 0) || (rc && (!*e.msg || strchr(e.msg, '\n'))))
        abort(); /* a failure without a reason, or the reverse */
    fuzz_accepted += !rc;
    return 0;
}
