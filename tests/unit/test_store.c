/* SPDX-License-Identifier: Apache-2.0 */
/* Stores: what is written comes back, and no damage goes unnoticed. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/mem.h"
#include "lib/store/store.h"
#include "lib/store/write.h"
#include "scratch.h"
#include "tap.h"

static const uint64_t indptr[2][4] = {{0, 1, 3, 4}, {0, 0, 2}};
static const uint32_t indices[2][4] = {{4, 0, 2, 1}, {3, 0}};
static const uint64_t book[3] = {0, 3, 5};
static const uint32_t ids[2][3] = {{0, 2, 4}, {1, 3}};
static const uint64_t edge_ids[2][4] = {{0, 3, 4, 5}, {1, 2}};
static const float x[2][3 * 2] = {{1, 2, 3, 4, 5, 6}, {7, 8, 9, 10}};
static const uint32_t members[2][2] = {{2, 0}, {4}};
static const uint64_t order[2][2] = {{0, 2}, {1}};

struct piece {
    const char *name;
    enum gnn_dtype dtype;
    uint64_t rows, width;
    const void *data;
};

/* Declares, lays out and fills a part. */
static int write_part(struct gnn_store_writer *w, uint32_t p, struct gnn_err *e)
{
    uint64_t n = book[p + 1] - book[p], edges = indptr[p][n], sets = p ? 1 : 2;
    const struct piece piece[] = {
        {"book/node", GNN_U64, 3, 0, book},
        {"node/node/id", GNN_U32, n, 0, ids[p]},
        {"node/node/x", GNN_F32, n, 2, x[p]},
        {"edge/node/to/node/indptr", GNN_U64, n + 1, 0, indptr[p]},
        {"edge/node/to/node/indices", GNN_U32, edges, 0, indices[p]},
        {"edge/node/to/node/id", GNN_U64, edges, 0, edge_ids[p]},
        {"split/random/train", GNN_U32, sets, 0, members[p]},
        {"split/random/train/order", GNN_U64, sets, 0, order[p]},
    };
    enum { N = sizeof piece / sizeof *piece };
    uint32_t id[N];
    int rc = gnn_part_begin(w, p, e);
    for (int i = 0; !rc && i < N; i++)
        rc = gnn_part_declare(w, piece[i].name, piece[i].dtype, piece[i].width ? 2 : 1,
                              (uint64_t[]){piece[i].rows, piece[i].width}, &id[i], e);
    if (!rc)
        rc = gnn_part_layout(w, e);
    for (int i = 0; !rc && i < N; i++) {
        uint64_t bytes =
            piece[i].rows * (piece[i].width ? piece[i].width : 1) * gnn_dtype_bytes(piece[i].dtype);
        rc = gnn_part_write(w, id[i], piece[i].data, bytes, e);
    }
    return rc ? rc : gnn_part_finish(w, e);
}

static int write_store(const char *path, bool force, struct gnn_err *e)
{
    struct gnn_meta m = {0};
    struct gnn_schema *s = &m.schema;
    struct gnn_store_writer w = {0};
    int rc = gnn_schema_add_ntype(s, "node", 5, e);
    if (!rc)
        rc = gnn_schema_add_etype(s, 0, "to", 0, 6, e);
    if (!rc)
        rc = gnn_schema_add_nfield(s, 0, "x", GNN_F32, 2, e);
    if (!rc)
        rc = gnn_schema_add_set(s, "random", "train", 0, 3, e);
    s->nparts = 2;
    if (!rc)
        rc = gnn_meta_add_provenance(&m, "test 1: made by a test", e);
    if (!rc)
        rc = gnn_store_create(&w, path, &m, force, e);
    for (uint32_t p = 0; !rc && p < 2; p++)
        rc = write_part(&w, p, e);
    if (!rc)
        rc = gnn_store_commit(&w, e);
    gnn_store_abandon(&w);
    gnn_meta_release(&m);
    return rc;
}

static bool same(struct gnn_store *s, uint32_t p, const char *name, const void *want, size_t bytes)
{
    const struct gnn_tensor *t = gnn_store_find(s, p, name);
    return t && !memcmp(t->data, want, bytes);
}

static void test_roundtrip(void)
{
    struct gnn_err e = {0};
    struct gnn_store s;
    ok(!write_store("a", false, &e), "gnn_store_commit writes a store %s", e.msg);
    ok(!gnn_store_open(&s, "a", true, &e), "gnn_store_open opens a store %s", e.msg);
    ok(s.nparts == 2 && s.meta.schema.ntype[0].count == 5,
       "gnn_store_open reads the schema of a store");
    ok(gnn_store_owner(&s, 0, 2) == 0 && gnn_store_owner(&s, 0, 3) == 1,
       "gnn_store_owner knows the part of a node");
    ok(same(&s, 1, "node/node/x", x[1], 16) &&
           same(&s, 0, "edge/node/to/node/indices", indices[0], 16),
       "gnn_store_find finds the tensors of a store");
    ok(((uintptr_t)gnn_store_find(&s, 0, "node/node/x")->data & 4095) == 0,
       "gnn_store_find finds tensors that begin at pages");
    uint32_t *train;
    ok(!gnn_store_split(&s, 0, &train, &e) && train[0] == 2 && train[1] == 4 && train[2] == 0,
       "gnn_store_split gives a split in its order %s", e.msg);
    gnn_free(train);
    ok(!gnn_store_verified(&s, &e), "gnn_store_verified accepts a store %s", e.msg);
    gnn_store_close(&s);
    ok(write_store("a", false, &e) == GNN_E_USAGE,
       "gnn_store_create does not overwrite a store: %s", e.msg);
    e = (struct gnn_err){0};
    ok(!write_store("a", true, &e), "gnn_store_create replaces a store by force %s", e.msg);
    ok(!mkdir("other", 0777) && write_store("other", true, &e) == GNN_E_USAGE,
       "gnn_store_create replaces nothing but stores by force: %s", e.msg);
}

/* Opens and reads everything; GNN_E_INPUT expected for any damage. */
static int read_all(const char *path, struct gnn_err *e)
{
    struct gnn_store s;
    int rc = gnn_store_open(&s, path, true, e);
    if (rc)
        return rc;
    for (uint32_t p = 0; p < s.nparts; p++)
        for (uint32_t i = 0; i < gnn_store_ntensors(&s, p); i++)
            gnn_store_at(&s, p, i);
    rc = gnn_store_verified(&s, e);
    gnn_store_close(&s);
    return rc;
}

static uint64_t rng = 7;

static size_t draw(size_t n)
{
    rng = rng * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(rng >> 33) % n;
}

static void test_damage(void)
{
    const char *path = "a/part-00001.gnb";
    struct stat st;
    int fd = open(path, O_RDWR);
    if (fd < 0 || fstat(fd, &st))
        exit(99);
    size_t n = (size_t)st.st_size;
    uint8_t *bytes = malloc(n);
    if (!bytes || pread(fd, bytes, n, 0) != (ssize_t)n)
        exit(99);
    int missed = 0, failed = 0;
    for (int i = 0; i < 500; i++) {
        size_t at = draw(n);
        uint8_t flipped = (uint8_t)(bytes[at] ^ (1u << (i & 7)));
        failed |= pwrite(fd, &flipped, 1, (off_t)at) != 1;
        struct gnn_err e = {0};
        if (read_all("a", &e) != GNN_E_INPUT) {
            missed++;
            printf("# flip at %zu was not noticed\n", at);
        }
        failed |= pwrite(fd, &bytes[at], 1, (off_t)at) != 1;
    }
    ok(!missed && !failed, "gnn_store_verified notices each of 500 flipped bits");
    for (int i = 0; i < 200; i++) {
        failed |= ftruncate(fd, (off_t)draw(n));
        struct gnn_err e = {0};
        missed += read_all("a", &e) != GNN_E_INPUT;
        failed |= ftruncate(fd, (off_t)n) || pwrite(fd, bytes, n, 0) != (ssize_t)n;
    }
    ok(!missed && !failed, "gnn_store_open notices each of 200 cuts");
    struct gnn_err e = {0};
    ok(!read_all("a", &e), "gnn_store_verified accepts the store when it is whole again: %s",
       e.msg);
    ok(!rename("a/part-00000.gnb", "a/x") && !rename("a/part-00001.gnb", "a/part-00000.gnb") &&
           !rename("a/x", "a/part-00001.gnb") && read_all("a", &e) == GNN_E_INPUT,
       "gnn_store_open notices parts that are swapped: %s", e.msg);
    close(fd);
    free(bytes);
}

int main(void)
{
    scratch_enter();
    test_roundtrip();
    test_damage();
    return scratch_done();
}
