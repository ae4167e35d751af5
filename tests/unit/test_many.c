/* SPDX-License-Identifier: Apache-2.0 */
/* As many tensors as a frame may have, and a model of more, with names that differ only far from
 * their start: found, bound and refused. The processor time is printed; looked up one by one they
 * would take seconds. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "formats/xxh.h"

#include "formats/gnb.h"
#include "lib/data/batch.h"
#include "lib/base/mem.h"
#include "lib/model/model_file.h"
#include "lib/model/layer.h"
#include "lib/store/store.h"
#include "lib/store/write.h"
#include "scratch.h"
#include "tap.h"

/* As word() makes them of 7, 0 and 9. */
#define ZEROS "00000000000000000000000000000000000000000000000"
#define SEVEN ZEROS "7"

/* Seconds of processor time. */
static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char *word(char out[GNN_WORD_MAX + 1], uint32_t i)
{
    snprintf(out, GNN_WORD_MAX + 1, "%0*u", GNN_WORD_MAX, i);
    return out;
}

static void test_index(void)
{
    struct gnn_tensors s = {0};
    struct gnn_err e = {0};
    char name[GNN_NAME_MAX + 1];
    const uint64_t one = 1;
    const double from = cpu();
    bool good = true;
    for (int turn = 0; turn < 2; turn++, gnn_tensors_clear(&s)) {
        for (uint32_t i = 0; i < GNB_TENSORS_MAX && good; i++) {
            snprintf(name, sizeof name, "node/%0100u", i);
            good = !gnn_tensors_add(&s, name, GNN_U8, 1, &one, NULL, &e);
        }
        for (uint32_t i = 0; i < s.n && good; i++) {
            snprintf(name, sizeof name, "node/%0100u", i);
            good = gnn_tensors_find(&s, name) == gnn_tensors_at(&s, i);
        }
        good = good && !gnn_tensors_find(&s, "node/x") &&
               gnn_tensors_add(&s, name, GNN_U8, 1, &one, NULL, &e) == GNN_E_INPUT;
    }
    good = good && !gnn_tensors_find(&s, name);
    const double t = cpu() - from;
    ok(good, "gnn_tensors_find finds each of %d tensors, none twice, none after clearing",
       GNB_TENSORS_MAX);
    printf("# gnn_tensors_find took %.3f s for all tensors\n", t);
    gnn_tensors_release(&s);
}

static bool add(struct gnn_batch *b, const char *name, enum gnn_dtype dtype, uint64_t rows,
                struct gnn_err *e)
{
    struct gnn_tensor *t;
    uint64_t bytes;
    if (gnn_tensors_add(&b->tensors, name, dtype, 1, &rows, &t, e) || !gnn_tensor_bytes(t, &bytes))
        return false;
    memset(t->data, 0, bytes);
    return true;
}

/* A batch of n tensors, of as many edge types and hops as may be: fields of edges without rows, and
 * the tensor `more`, for which it is to be refused with `why`, if that is not NULL. */
static void test_bind(uint32_t n, const char *more, enum gnn_dtype dtype, uint64_t rows,
                      const char *why)
{
    enum { HOPS = 64 };
    uint64_t steps = 1;
    struct gnn_meta m = {
        .is_stream = true,
        .sampling = {.nhops = HOPS, .nsplits = 1, .batch_size = 1, .steps = &steps}};
    struct gnn_err e = {0};
    struct gnn_batch *b;
    char w[GNN_WORD_MAX + 1], name[GNN_NAME_MAX + 1];
    bool good = !gnn_schema_add_ntype(&m.schema, "a", 1, &e) &&
                !gnn_schema_add_nfield(&m.schema, 0, "x", GNN_F32, 0, &e);
    for (uint32_t t = 0; good && t < GNN_TYPES_MAX; t++)
        good = !gnn_schema_add_etype(&m.schema, 0, word(w, t), 0, 0, &e) &&
               !gnn_schema_add_efield(&m.schema, t, "f", GNN_F32, 0, &e);
    struct gnn_batch_pool *pool = good ? gnn_batch_pool_new(&m, &e) : NULL;
    if (!pool || gnn_batch_get(pool, &b, &e))
        exit(99);
    good = add(b, "key", GNN_U64, 4, &e) && add(b, "counts/a", GNN_U64, HOPS + 1, &e) &&
           add(b, "nodes/a", GNN_U32, 0, &e);
    for (uint32_t i = 0; good && b->tensors.n + 1 < n; i++) {
        snprintf(name, sizeof name, "hop/%u/a/%s/a/f", 63 - i / GNN_TYPES_MAX,
                 word(w, GNN_TYPES_MAX - 1 - i % GNN_TYPES_MAX));
        good = add(b, name, GNN_F32, 0, &e);
    }
    good = good && add(b, more, dtype, rows, &e);
    const double from = cpu();
    const int rc = gnn_batch_bind(b, &m, &e);
    const double t = cpu() - from;
    ok(good && (why ? rc == GNN_E_INPUT && strstr(e.msg, why) : !rc),
       "gnn_batch_bind takes %u tensors and %s: %s", n - 1, more, rc ? e.msg : "bound");
    printf("# gnn_batch_bind took %.3f s for %u tensors and %s\n", t, n - 1, more);
    gnn_batch_put(b);
    gnn_batch_pool_free(pool);
    m.is_stream = false;
    m.sampling = (struct gnn_sampling){0};
    gnn_meta_release(&m);
}

/* A part of as many tensors: 255 fields of the first of 64 node types, 256 of the others, and one
 * that is none. */
static void make_store(void)
{
    struct gnn_meta m = {0};
    struct gnn_err e = {0};
    struct gnn_store_writer w = {0};
    char name[GNN_NAME_MAX + 1], x[GNN_WORD_MAX + 1];
    const uint64_t none = 0;
    uint32_t id;
    bool good = true;
    m.schema.nparts = 1;
    for (uint32_t t = 0; good && t < GNB_TENSORS_MAX / GNN_FIELDS_MAX; t++) {
        good = !gnn_schema_add_ntype(&m.schema, word(x, t), 0, &e);
        for (uint32_t f = !t; good && f < GNN_FIELDS_MAX; f++)
            good = !gnn_schema_add_nfield(&m.schema, t, word(x, f), GNN_U8, 0, &e);
    }
    good = good && !gnn_store_create(&w, "S", &m, true, &e) && !gnn_part_begin(&w, 0, &e);
    for (uint32_t t = 0; good && t < m.schema.nntypes; t++)
        for (uint32_t f = 0; good && f < GNN_FIELDS_MAX; f++) {
            snprintf(name, sizeof name, "node/%s/%s", m.schema.ntype[t].name, word(x, f));
            good = !gnn_part_declare(&w, name, GNN_U8, 1, &none, &id, &e);
        }
    good =
        good && !gnn_part_layout(&w, &e) && !gnn_part_finish(&w, &e) && !gnn_store_commit(&w, &e);
    gnn_store_abandon(&w);
    gnn_meta_release(&m);
    if (!good)
        exit(99);
}

/* Gives a tensor of the part another one's name, in a table whose checksum is right. */
static void rename_tensor(const char *from, const char *to)
{
    int fd = open("S/part-00000.gnb", O_RDWR);
    const off_t size = lseek(fd, 0, SEEK_END);
    uint8_t *p = malloc((size_t)size);
    struct gnb_frame f;
    if (!p || pread(fd, p, (size_t)size, 0) != (ssize_t)size || gnn_gnb_frame_decode(&f, p))
        exit(99);
    uint8_t *h = p + GNB_HEADER_BYTES + f.table_bytes + f.payload_bytes;
    char *at = gnn_gnb_frame_decode(&f, h)
                   ? NULL
                   : memmem(h, GNB_HEADER_BYTES + f.table_bytes, from, strlen(from));
    if (!at || strlen(from) != strlen(to))
        exit(99);
    memcpy(at, to, strlen(to));
    XXH3_state_t s;
    XXH3_64bits_reset(&s);
    XXH3_64bits_update(&s, h, GNB_HEADER_BYTES - 8);
    XXH3_64bits_update(&s, h + GNB_HEADER_BYTES, f.table_bytes);
    const uint64_t sum = XXH3_64bits_digest(&s);
    memcpy(h + GNB_HEADER_BYTES - 8, &sum, 8); /* tests run on little-endian machines */
    if (pwrite(fd, p, (size_t)size, 0) != (ssize_t)size)
        exit(99);
    close(fd);
    free(p);
}

/* Opens the store; refused for `why`, if that is not NULL. */
static void open_store(const char *why)
{
    struct gnn_err e = {0};
    struct gnn_store s;
    const double from = cpu();
    const int rc = gnn_store_open(&s, "S", false, &e);
    const double t = cpu() - from;
    bool good = why ? rc == GNN_E_INPUT && strstr(e.msg, why) : !rc;
    for (uint32_t i = 0; !rc && good && i < gnn_store_ntensors(&s, 0); i++)
        good = gnn_store_find(&s, 0, gnn_store_peek(&s, 0, i)->name) == gnn_store_at(&s, 0, i);
    good =
        good &&
        (rc || (!gnn_store_find(&s, 0, "node/x") && gnn_store_ntensors(&s, 0) == GNB_TENSORS_MAX));
    ok(good, "gnn_store_open opens a part of %d tensors: %s", GNB_TENSORS_MAX,
       rc ? e.msg : "each is found");
    printf("# gnn_store_open took %.3f s for all tensors\n", t);
    if (!rc)
        gnn_store_close(&s);
}

/* A model of some 25 000 parameters: three of each of 1024 relations and 8 layers. */
static void test_model(void)
{
    struct gnn_schema s = {.task = GNN_TASK_MULTICLASS, .nclasses = 2};
    struct gnn_model_config c = {
        .layer = &gnn_layer_sage, .nlayers = 8, .width = {1, 1, 1, 1, 1, 1, 1, 2}};
    struct gnn_err e = {0};
    struct gnn_model m, again;
    struct gnn_st_file f;
    char w[GNN_WORD_MAX + 1];
    bool good =
        !gnn_schema_add_ntype(&s, "a", 9, &e) && !gnn_schema_add_nfield(&s, 0, "x", GNN_F32, 1, &e);
    for (uint32_t t = 0; good && t < GNN_TYPES_MAX; t++)
        good = !gnn_schema_add_etype(&s, 0, word(w, t), 0, 9, &e);
    if (!good || gnn_model_config_fit(&c, &s, &e) || gnn_model_init(&m, &c, &e))
        exit(99);
    gnn_model_reset(&m, 1);
    if (gnn_model_write(&m, m.slab, NULL, open("m", O_WRONLY | O_CREAT | O_TRUNC, 0666), "m", &e) ||
        gnn_st_read(&f, "m", &e))
        exit(99);
    const double from = cpu();
    const int rc = gnn_model_open(&again, &f, "m", &s, NULL, &e);
    const double t = cpu() - from;
    ok(!rc && !memcmp(m.slab, again.slab, m.nfloats * sizeof *m.slab),
       "gnn_model_open reads a model of %u parameters: %s", m.nparams, rc ? e.msg : "the same");
    printf("# gnn_model_open took %.3f s for %u parameters\n", t, m.nparams);
    gnn_st_release(&f);
    gnn_model_release(&m);
    if (!rc)
        gnn_model_release(&again);
    gnn_schema_release(&s);
}

int main(void)
{
    scratch_enter();
    test_index();
    test_bind(GNB_TENSORS_MAX, "node/a/x", GNN_F32, 0, NULL);
    test_bind(GNB_TENSORS_MAX, "x", GNN_F32, 0, "does not declare");
    test_bind(9, "node/a/f", GNN_F32, 0, "'node/a/f': no such field");
    test_bind(9, "node/a/x", GNN_F32, 1, "'node/a/x': wrong dtype or shape");
    test_bind(9, "node/a/id/x", GNN_F32, 0, "does not declare");
    test_bind(9, "node/x", GNN_F32, 0, "does not declare");
    test_bind(9, "hop/0/a/" SEVEN "/a/f", GNN_F64, 0, NULL);
    test_bind(9, "hop/0/a/" SEVEN "/a/f", GNN_F32, 1, "wrong dtype or shape");
    test_bind(9, "hop/0/a/" SEVEN "/a/x", GNN_F32, 0, "no such field");
    test_bind(9, "hop/0/a/" SEVEN "/a/a/f", GNN_F32, 0, "does not declare");
    test_bind(9, "hop/0/a/" SEVEN "/b/f", GNN_F32, 0, "does not declare");
    test_bind(9, "hop/0/a/" SEVEN, GNN_F32, 0, "does not declare");
    test_bind(9, "hop/00/a/" SEVEN "/a/f", GNN_F32, 0, "does not declare");
    test_bind(9, "hop/64/a/" SEVEN "/a/f", GNN_F32, 0, "does not declare");
    test_model();
    make_store();
    open_store(NULL);
    rename_tensor("node/" ZEROS "0/" ZEROS "0", "node/" ZEROS "0/" ZEROS "9");
    open_store("appears twice");
    return scratch_done();
}
