/* SPDX-License-Identifier: Apache-2.0 */
/* Streams that are well formed but mean harm or break a rule that no flipped bit would show. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include "lib/gather/gatherer.h"
#include "lib/inspect/inspect.h"
#include "lib/sample/sampler.h"
#include "scratch.h"
#include "store_maker.h"
#include "stream_maker.h"
#include "tap.h"

#define HEAD                                                                                                     \
    "{\"content\":\"batches\",\"identity\":\"0123456789abcdef\",\"schema\":{\"node_types\":[{\"name\":\"node\"," \
    "\"count\":3,\"fields\":[]}],\"edge_types\":[],\"splits\":[],\"task\":\"none\",\"classes\":0,\"parts\":1},"  \
    "\"sampling\":{\"seed\":\"0000000000000000\",\"fanout\":[],\"batch_size\":2,\"frontier\":\"all\","           \
    "\"replace\":false,\"shuffle\":false,\"drop_last\":false,\"edge_ids\":false,\"original_ids\":false,"         \
    "\"seed_type\":\"node\",\"splits\":[{\"name\":\"train\",\"steps\":1,\"seeds\":1}]},\"provenance\":[]}"

/* The same with edges that are in order by times. */
#define TIMED(dtype)                                                                                                         \
    "{\"content\":\"batches\",\"identity\":\"0123456789abcdef\",\"schema\":{\"node_types\":[{\"name\":\"node\",\"count\":3," \
    "\"fields\":[{\"name\":\"x\",\"dtype\":\"f32\",\"width\":2}]}],\"edge_types\":[{\"src\":\"node\",\"rel\":\"to\","        \
    "\"dst\":\"node\",\"count\":3,\"fields\":[{\"name\":\"when\",\"dtype\":\"" dtype                                         \
    "\",\"width\":0}],\"order\":\"when\"}],\"splits\":[],\"task\":\"none\",\"classes\":0,\"parts\":1},\"sampling\":{"        \
    "\"seed\":\"0000000000000000\",\"fanout\":[[2]],\"batch_size\":2,\"frontier\":\"all\",\"replace\":false,"                \
    "\"shuffle\":false,\"drop_last\":false,\"edge_ids\":false,\"original_ids\":false,\"seed_type\":\"node\","                \
    "\"splits\":[{\"name\":\"train\",\"steps\":1,\"seeds\":1}]},\"provenance\":[]}"

static int create(void)
{
    return open("s", O_RDWR | O_CREAT | O_TRUNC, 0666);
}

/* Reads the header, and a frame if there is one. */
static int read_all(struct gnn_err *e)
{
    struct gnn_reader r;
    struct gnn_tensors t = {0};
    *e = (struct gnn_err){0};
    int rc = gnn_reader_begin(&r, open("s", O_RDONLY), "s", NULL, e);
    if (!rc)
        rc = gnn_reader_next(&r, &t, e);
    gnn_tensors_release(&t);
    gnn_reader_release(&r);
    return rc;
}

/* A header with its first `from` replaced; refused for the reason. */
static void header_of(const char *head, const char *from, const char *to, const char *why)
{
    struct gnn_err e;
    char text[2048];
    const char *at = strstr(head, from);
    if (!at)
        exit(99);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - head), head, to, at + strlen(from));
    int fd = create();
    stream_make_header(fd, text);
    close(fd);
    ok(read_all(&e) == GNN_E_INPUT && strstr(e.msg, why),
       "gnn_reader_begin refuses a header with %s for %s: %s", to, from, e.msg);
}

static void header(const char *from, const char *to, const char *why)
{
    header_of(HEAD, from, to, why);
}

/* A member `time`, of batches whose times are whole or real numbers. */
static void header_time(bool real, const char *time, const char *why)
{
    char member[256];
    snprintf(member, sizeof member, "\"time\":%s,\"seed_type\"", time);
    header_of(real ? TIMED("f64") : TIMED("i64"), "\"seed_type\"", member, why);
}

static void test_times(void)
{
    static const char *const bad[] = {"true",
                                      "\"le\"",
                                      "[]",
                                      "{\"rule\":\"ge\",\"latest\":false}",
                                      "{\"rule\":\"\",\"latest\":false}",
                                      "{\"rule\":1,\"latest\":false}",
                                      "{\"latest\":false}",
                                      "{\"rule\":\"le\"}",
                                      "{\"rule\":\"le\",\"latest\":1}",
                                      "{\"rule\":\"le\",\"latest\":\"false\"}",
                                      "{\"rule\":\"le\",\"latest\":false,\"window\":\"3\"}",
                                      "{\"rule\":\"le\",\"latest\":false,\"window\":null}",
                                      "{\"rule\":\"le\",\"latest\":false,\"hop_time\":\"seed\"}",
                                      "{\"rule\":\"le\",\"latest\":false,\"hop_time\":1}",
                                      "{\"rule\":\"le\",\"latest\":false,\"seeds\":7}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        header_time(i % 2, bad[i], "bad 'time.");
    header_time(false, "{\"rule\":\"le\",\"latest\":false,\"window\":-1}",
                "expected a whole number");
    header_time(false, "{\"rule\":\"le\",\"latest\":false,\"window\":2.5}",
                "expected a whole number");
    header_time(true, "{\"rule\":\"le\",\"latest\":false,\"window\":-0.5}", "expected a number");
    header_time(true, "{\"rule\":\"le\",\"latest\":false,\"window\":-1}", "expected a number");
    /* What JSON has no words for. */
    header_time(true, "{\"rule\":\"le\",\"latest\":false,\"window\":nan}", "header");
    header_time(true, "{\"rule\":\"le\",\"latest\":false,\"window\":1e999}", "header");
    header_time(false, "{\"rule\":\"le\",\"latest\":false,\"window\":9223372036854775808}",
                "header");
    header_time(false, "{\"rule\":\"le\",\"latest\":false,\"seeds\":\"when\"}", "no field 'when'");
    header_time(false, "{\"rule\":\"le\",\"latest\":false,\"seeds\":\"x\"}",
                "'x' of nodes 'node' is f32 with several columns");
    header_time(false,
                "{\"rule\":\"le\",\"latest\":true},\"labor\":{\"layer_dependency\":true,"
                "\"batch_dependency\":1}",
                "cannot be used with --latest");
    header("\"seed_type\"", "\"time\":{\"rule\":\"le\",\"latest\":false},\"seed_type\"",
           "no edges are sampled");
    /* Of good ones, that these frames are of version 1. */
    header_time(false, "{\"rule\":\"le\",\"latest\":true,\"window\":9223372036854775807}",
                "batches with trees, times or induced edges require version 2");
    header_time(true, "{\"rule\":\"lt\",\"latest\":false,\"window\":0.5}",
                "batches with trees, times or induced edges require version 2");
}

static void packed(const char *what, const void *data, uint64_t stored, uint64_t raw,
                   const char *why)
{
    struct gnn_err e;
    int fd = create(), rc;
    stream_make_header(fd, HEAD);
    stream_make_frame(fd, GNB_BATCH, 1, "x", data, stored, GNB_ZSTD, raw);
    close(fd);
    rc = read_all(&e);
    ok(why ? rc == GNN_E_INPUT && strstr(e.msg, why) : !rc,
       "gnn_reader_next %s a packed tensor of %s: %s", why ? "refuses" : "reads", what, e.msg);
}

static void test_packed(void)
{
    char raw[1000] = "", p[1000];
    size_t n = ZSTD_compress(p, sizeof p, raw, sizeof raw, 1);
    packed("one frame", p, n, sizeof raw, NULL);
    packed("another size", p, n, sizeof raw + 1, "unpacks to another size");
    packed("a size of terabytes", p, n, (uint64_t)1 << 42, "unpacks to another size");
    memcpy(p + n, p, n);
    packed("two frames", p, 2 * n, 2 * sizeof raw, "not one zstd frame");
    packed("no frame", p, 0, 0, "not one zstd frame");
    packed("a skippable frame", "\x50\x2a\x4d\x18\0\0\0\0", 8, 0, "not one zstd frame");
}

/* A packed tensor that the header does not let a batch have is refused before it is looked at. */
static void undeclared(const char *name, uint64_t raw, const char *why)
{
    struct gnn_err e = {0};
    struct gnn_batch *b;
    char p[4096] = "no zstd at all";
    const int fd = create();
    stream_make_header(fd, HEAD);
    stream_make_frame(fd, GNB_BATCH, 1, name, p, sizeof p, GNB_ZSTD, raw);
    close(fd);
    struct gnn_source *s = gnn_stream_source_new(open("s", O_RDONLY), "s", &e);
    const int rc = s ? gnn_source_next(s, &b, &e) : e.code;
    ok(rc == GNN_E_INPUT && strstr(e.msg, why),
       "gnn_stream_source_new refuses a packed tensor %s by the table: %s", name, e.msg);
    gnn_source_free(s);
}

/* The counts in the table: more rows than there can be, dtypes and tensors that no header asks for.
 */
static void table(const char *name, enum gnn_dtype dtype, uint64_t rows, const char *why)
{
    struct gnn_meta m = {0};
    struct gnn_err e = {0};
    struct gnn_tensors t = {0};
    struct gnn_tensor *x;
    const uint64_t none = 0;
    stream_make_meta(&m, 40, 2, 4);
    static const struct {
        const char *name;
        enum gnn_dtype dtype;
        uint64_t rows, width;
    } good[] = {{"key", GNN_U64, 4, 0},
                {"counts/node", GNN_U64, 2, 0},
                {"nodes/node", GNN_U32, 40, 0},
                {"hop/0/node/to/node/indptr", GNN_U32, 41, 0},
                {"hop/0/node/to/node/indices", GNN_U32, 120, 0},
                {"node/node/x", GNN_F32, 40, 2}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        const bool is = name && !strcmp(name, good[i].name);
        if (is && dtype == GNN_U8) /* left out */
            continue;
        if (gnn_tensors_add(&t, good[i].name, is ? dtype : good[i].dtype, 1, &none, &x, &e))
            exit(99);
        x->ndim = good[i].width ? 2 : 1;
        x->shape[0] = is ? rows : good[i].rows;
        x->shape[1] = good[i].width;
    }
    if (name && !gnn_tensors_find(&t, name) && dtype != GNN_U8 &&
        gnn_tensors_add(&t, name, dtype, 1, &none, &x, &e))
        exit(99);
    const int rc = gnn_batch_check_table(&t, &m, &e);
    ok(why ? rc == GNN_E_INPUT && strstr(e.msg, why) : !rc,
       "gnn_batch_check_table of %" PRIu64 " rows in %s: %s", rows, name ? name : "all", e.msg);
    gnn_tensors_release(&t);
    gnn_meta_release(&m);
}

static void test_tables(void)
{
    undeclared("x", (uint64_t)3 << 30, "key': missing");
    undeclared("key", (uint64_t)3 << 30, "wrong dtype or shape");
    table(NULL, 0, 0, NULL);
    table("key", GNN_U64, 5, "has 5 rows, where there can be 4");
    table("key", GNN_U64, 3, "wrong dtype or shape");
    table("key", GNN_U8, 0, "missing");
    table("counts/node", GNN_U64, UINT64_C(1) << 40, "rows, where there can be 2");
    table("counts/node", GNN_U32, 2, "wrong dtype or shape");
    table("nodes/node", GNN_U32, 41, "has 41 rows, where there can be 40");
    table("nodes/node", GNN_U32, 39, "has 41 rows, where there can be 40"); /* of offsets */
    table("nodes/node", GNN_U8, 0, "missing");
    table("hop/0/node/to/node/indptr", GNN_U32, 42, "has 42 rows, where there can be 41");
    table("hop/0/node/to/node/indptr", GNN_U32, 0, "wrong dtype or shape");
    table("hop/0/node/to/node/indptr", GNN_U32, 40, "has 120 rows, where there can be 117");
    table("hop/0/node/to/node/indptr", GNN_U8, 0, "does not declare");
    table("hop/0/node/to/node/indices", GNN_U32, 121, "has 121 rows, where there can be 120");
    table("hop/0/node/to/node/indices", GNN_U8, 0, "missing");
    table("hop/0/node/to/node/id", GNN_U64, 0, "wrong dtype or shape");
    table("node/node/x", GNN_F32, 39, "wrong dtype or shape");
    table("node/node/x", GNN_F16, 40, NULL);
    table("node/node/z", GNN_F32, 40, "no such field");
    table("node/other/x", GNN_F32, 40, "does not declare");
    table("walk", GNN_U32, 0, "does not declare");
    table("tree/node", GNN_U32, 0, "does not declare");
}

/* No writer packs metadata, and what a thousand bytes of it unpack to would take hundreds of
 * megabytes once parsed. */
static void test_packed_header(void)
{
    struct gnn_err e;
    char p[2048];
    const size_t stored = ZSTD_compress(p, sizeof p, HEAD, strlen(HEAD), 1);
    const int fd = create();
    stream_make_frame(fd, GNB_HEADER, 0, "meta", p, stored, GNB_ZSTD, strlen(HEAD));
    close(fd);
    ok(read_all(&e) == GNN_E_INPUT && strstr(e.msg, "not raw"),
       "gnn_reader_begin refuses a packed header: %s", e.msg);
}

/* Node types of which a store tells nothing but their number. */
static void test_counts(void)
{
    struct gnn_err e = {0};
    struct gnn_schema c = {.nparts = 1};
    if (gnn_schema_add_ntype(&c, "a", 1 << 23, &e) || gnn_schema_add_ntype(&c, "b", 1 << 23, &e))
        exit(99);
    ok(!gnn_schema_check_counts(&c, "S", &e),
       "gnn_schema_check_counts accepts two types of 2^23 nodes without fields");
    if (gnn_schema_add_ntype(&c, "c", 1 << 20, &e))
        exit(99);
    ok(gnn_schema_check_counts(&c, "S", &e) == GNN_E_INPUT &&
           strstr(e.msg, "S: 1048576 nodes of type c with 0 edges are implausible"),
       "gnn_schema_check_counts refuses a third type of nodes without fields: %s", e.msg);
    gnn_schema_release(&c);
}

/* A few hundred bytes that would be 60 MiB of JSON, and gigabytes once parsed. */
static void test_bomb(void)
{
    struct gnn_err e;
    size_t n = 60 << 20, capacity = ZSTD_compressBound(n);
    char *text = malloc(n), *p = malloc(capacity);
    if (!text || !p)
        exit(99);
    for (size_t i = 0; i < n; i++)
        text[i] = "[],"[i % 3];
    size_t stored = ZSTD_compress(p, capacity, text, n, 1);
    int fd = create();
    stream_make_frame(fd, GNB_HEADER, 0, "meta", p, stored, GNB_ZSTD, n);
    close(fd);
    ok(read_all(&e) == GNN_E_INPUT && strstr(e.msg, "larger than 8 MiB"),
       "gnn_reader_begin refuses a packed header of 60 MiB: %s", e.msg);
    free(text);
    free(p);
}

/* ---- batches of sense, but for one thing ---- */

enum harm { NONE, TWICE, FAR_TWICE, BEYOND, STEP, SPLIT, RANK, BELOW, ABOVE, UNLABELLED };
static enum harm harm;

/* Two seeds and three nodes more, with labels of three classes. */
static void fill(struct gnn_batch *b, uint64_t step)
{
    uint32_t *node = stream_make_blocks(b, harm == STEP ? step + 4 : step, 5);
    for (uint32_t i = 0; i < 5; i++)
        node[i] = (uint32_t)(UINT32_MAX - 2 - 7919 * i - step);
    if (harm == TWICE)
        node[4] = node[1];
    if (harm == FAR_TWICE)
        node[3] = node[4] = 5;
    if (harm == BEYOND)
        node[2] = UINT32_MAX - 1;
    if (harm == SPLIT)
        ((uint64_t *)gnn_tensors_find(&b->tensors, "key")->data)[2] = 1;
    if (harm == RANK)
        ((uint64_t *)gnn_tensors_find(&b->tensors, "key")->data)[3] = 1;
    int32_t *y = stream_make_tensor(b, "node/node/y", GNN_I32, 2, 0);
    y[0] = 2;
    y[1] = harm == BELOW ? -2 : harm == ABOVE ? 3 : harm == UNLABELLED ? -1 : 0;
}

static struct gnn_meta meta;
static struct gnn_batch_pool *pool;

/* Four batches of as many nodes as there can be, read to the end and then verified in 1 GiB, or
 * refused with a reason. */
static void batches(enum harm what, const char *name, const char *why)
{
    struct gnn_err e = {0};
    harm = what;
    if (stream_make(create(), "s", &meta, &(struct gnn_writer_opts){0}, pool, fill, 4, NULL, &e))
        exit(99);
    struct gnn_source *s = gnn_stream_source_new(open("s", O_RDONLY), "s", &e);
    struct gnn_batch *b;
    int rc = 0;
    while (s && !(rc = gnn_source_next(s, &b, &e)))
        gnn_batch_put(b);
    gnn_source_free(s);
    ok(s && (why ? rc == GNN_E_INPUT && strstr(e.msg, why) : rc == GNN_END),
       "a stream source %s a batch with %s: %s", why ? "refuses" : "reads", name, e.msg);
}

static int verify_in(uint64_t bytes)
{
    struct gnn_err e = {0};
    json_t *proofs = json_object();
    const struct rlimit limit = {bytes, bytes};
#ifdef __SANITIZE_ADDRESS__ /* which takes more address space than there is memory */
    (void)limit;
#else
    if (setrlimit(RLIMIT_AS, &limit))
        exit(99);
#endif
    const int rc = gnn_verify_stream(open("s", O_RDONLY), "s", NULL, proofs, &e);
    if (rc)
        printf("# %s\n", e.msg);
    json_decref(proofs);
    return rc != 0;
}

static void test_batches(void)
{
    struct gnn_err e = {0};
    stream_make_meta(&meta, UINT32_MAX - 1, 4, 4);
    if (gnn_schema_add_nfield(&meta.schema, 0, "y", GNN_I32, 0, &e) ||
        !(pool = gnn_batch_pool_new(&meta, &e)))
        exit(99);
    meta.schema.task = GNN_TASK_MULTICLASS;
    meta.schema.nclasses = 3;
    batches(TWICE, "a node twice",
            "frame 1: batch 1/0: tensor 'nodes/node': element 4: node 4294959374 occurs twice");
    batches(FAR_TWICE, "a node twice, on a page of its own", "element 4: node 5 occurs twice");
    batches(BEYOND, "a node id too large",
            "tensor 'nodes/node': element 2: 4294967294 is a node id out of range");
    batches(
        STEP, "a step past the set",
        "frame 1: batch 1/4: tensor 'key': element 1: 4 is a step after the last one of its split");
    batches(SPLIT, "a split too many", "tensor 'key': element 2: 1 is not the index of a split");
    batches(RANK, "another rank", "tensor 'key': element 3: 1 is not the rank of the header");
    batches(BELOW, "a label below -1",
            "frame 1: batch 1/0: tensor 'node/node/y': element 1: label -2 outside 0..2");
    batches(ABOVE, "a label that is no class",
            "tensor 'node/node/y': element 1: label 3 outside 0..2");
    batches(UNLABELLED, "no label", NULL);
    batches(NONE, "no labels at all", NULL);
    fflush(stdout);
    int status;
    const pid_t pid = fork();
    if (!pid)
        exit(verify_in(1 << 30));
    ok(waitpid(pid, &status, 0) == pid && !status,
       "a batch of 2^32 - 2 nodes of which 20 came is verified in 1 GiB");
    gnn_batch_pool_free(pool);
    gnn_meta_release(&meta);
}

/* A store of two nodes, each the other's source, the second with a label that is none. */
static int make_store(int32_t label)
{
    struct gnn_err e = {0};
    struct gnn_meta m = {.schema = {.nparts = 1, .task = GNN_TASK_MULTICLASS, .nclasses = 3}};
    struct maker k = {.e = &e};
    if (gnn_schema_add_ntype(&m.schema, "node", 2, &e) ||
        gnn_schema_add_nfield(&m.schema, 0, "y", GNN_I32, 0, &e) ||
        gnn_schema_add_etype(&m.schema, 0, "to", 0, 2, &e) ||
        gnn_schema_add_set(&m.schema, "all", "train", 0, 2, &e) ||
        gnn_store_create(&k.w, "S", &m, true, &e) || gnn_part_begin(&k.w, 0, &e))
        exit(99);
    memcpy(maker_tensor(&k, "node/node/y", GNN_I32, 2, 0), (int32_t[]){2, label}, 8);
    memcpy(maker_tensor(&k, "edge/node/to/node/indptr", GNN_U64, 3, 0), (uint64_t[]){0, 1, 2}, 24);
    memcpy(maker_tensor(&k, "edge/node/to/node/indices", GNN_U32, 2, 0), (uint32_t[]){1, 0}, 8);
    memcpy(maker_tensor(&k, "split/all/train", GNN_U32, 2, 0), (uint32_t[]){0, 1}, 8);
    return maker_finish(&k, &m);
}

/* Verified, and sampled and gathered from. */
static void labels(int32_t label, const char *why)
{
    struct gnn_err e = {0}, e2 = {0};
    struct gnn_store s;
    struct gnn_batch *b;
    struct gnn_sampler_opts o;
    const char *fanout = "1";
    json_t *proofs = json_object();
    gnn_sampler_opts_init(&o);
    o.fanout = &fanout;
    o.nfanout = 1;
    if (make_store(label) || gnn_store_open(&s, "S", true, &e))
        exit(99);
    const int rc = gnn_verify_store(&s, NULL, proofs, &e);
    ok(why ? rc == GNN_E_INPUT && strstr(e.msg, why) : !rc, "gnn_verify_store %s label %d: %s",
       why ? "refuses" : "accepts", label, e.msg);
    struct gnn_source *src = gnn_sampler_source_new(&s, &o, &e2);
    src =
        src ? gnn_gather_source_new(src, &s, &(struct gnn_gather_opts){.fields = "y"}, &e2) : NULL;
    const int got = src ? gnn_source_next(src, &b, &e2) : e2.code;
    ok(why ? got == GNN_E_INPUT && strstr(e2.msg, why) && strstr(e2.msg, "batch 0/0") : !got,
       "a gather source %s label %d: %s", why ? "refuses" : "accepts", label, e2.msg);
    if (!got)
        gnn_batch_put(b);
    gnn_source_free(src);
    gnn_store_close(&s);
    json_decref(proofs);
}

int main(void)
{
    scratch_enter();
    test_batches();
    labels(-1, NULL);
    labels(-2, "label -2 outside 0..2");
    labels(3, "label 3 outside 0..2");
    header("\"identity\":\"0123456789abcdef\"", "\"identity\":\"0123456789ABCDEF\"", "identity");
    header("\"provenance\":[]", "\"provenance\":[1]", "provenance");
    header("\"edge_types\":[]", "\"edge_types\":5", "edge_types");
    header("\"splits\":[],", "", "splits");
    header("{\"name\":\"node\",\"count\":3,\"fields\":[]}", "", "no node types");
    header("\"classes\":0", "\"classes\":65537", "classes");
    header("\"none\",\"classes\":0", "\"binary\",\"label_type\":\"node\",\"classes\":1",
           "1 classes of a binary task");
    header("\"seed_type\"", "\"labor\":true,\"seed_type\"", "bad 'labor.");
    header("\"seed_type\"", "\"labor\":{\"layer_dependency\":true},\"seed_type\"", "bad 'labor.");
    header("\"seed_type\"",
           "\"labor\":{\"layer_dependency\":true,\"batch_dependency\":0},\"seed_type\"",
           "bad 'labor.");
    header("\"seed_type\"",
           "\"labor\":{\"layer_dependency\":true,\"batch_dependency\":2},\"seed_type\"",
           "all neighbours are taken");
    header("\"replace\":false",
           "\"replace\":true,\"labor\":{\"layer_dependency\":true,\"batch_dependency\":2}",
           "cannot be used with --labor");
    test_times();
    test_packed();
    test_packed_header();
    test_tables();
    header_of(TIMED("i64"),
              "\"fanout\":[[2]],\"batch_size\":2,\"frontier\":\"all\",\"replace\":false",
              "\"fanout\":[[1]],\"walks\":{\"length\":3,\"per_seed\":4294967295,\"restart\":0.0,"
              "\"window\":0,\"p\":1.0,\"q\":1.0},\"batch_size\":4294967295,"
              "\"frontier\":\"all\",\"replace\":true",
              "bad 'walks.per_seed'");
    header_of(TIMED("i64"),
              "\"fanout\":[[2]],\"batch_size\":2,\"frontier\":\"all\",\"replace\":false",
              "\"fanout\":[[1]],\"walks\":{\"length\":3,\"per_seed\":2,\"restart\":0.0,"
              "\"window\":0,\"p\":1.0,\"q\":1.0},\"batch_size\":4294967295,"
              "\"frontier\":\"all\",\"replace\":true",
              "at most 2^31 walks");
    test_bomb();
    test_counts();
    return scratch_done();
}
