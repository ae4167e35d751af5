/* Streams: roundtrip raw and packed, concatenation, cuts at every byte, flipped bits. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/source.h"
#include "lib/stream.h"
#include "tap.h"

static struct gnn_meta meta;

static void make_meta(struct gnn_err *e)
{
    struct gnn_sampling *s = &meta.sampling;
    int rc = gnn_schema_add_ntype(&meta.schema, "node", 100, e);
    if (!rc)
        rc = gnn_schema_add_etype(&meta.schema, 0, "to", 0, 500, e);
    if (!rc)
        rc = gnn_schema_add_nfield(&meta.schema, 0, "x", GNN_F32, 64, e);
    meta.schema.nparts = 1;
    meta.is_stream = true;
    memcpy(meta.identity, "0123456789abcdef", 17);
    *s = (struct gnn_sampling){.seed = 5, .nhops = 1, .batch_size = 2, .nsplits = 1};
    s->fanout = gnn_alloc_zero(1, sizeof *s->fanout, "test", e);
    s->split = gnn_alloc_zero(1, sizeof *s->split, "test", e);
    s->steps = gnn_alloc_zero(1, sizeof *s->steps, "test", e);
    s->split_seeds = gnn_alloc_zero(1, sizeof *s->split_seeds, "test", e);
    if (rc || !s->fanout || !s->split || !s->steps || !s->split_seeds)
        exit(99);
    s->fanout[0] = 3;
    s->split[0] = gnn_strdup("train", e);
    s->steps[0] = 4;
}

static void *add(struct gnn_batch *b, const char *name, enum gnn_dtype d, uint64_t rows, uint64_t width)
{
    struct gnn_err e = {0};
    struct gnn_tensor *t;
    if (gnn_tensors_add(&b->tensors, name, d, width ? 2 : 1, (uint64_t[]){rows, width}, &t, &e))
        exit(99);
    return t->data;
}

static void fill(struct gnn_batch *b, uint64_t step)
{
    uint64_t *key = add(b, "key", GNN_U64, 4, 0), *counts = add(b, "counts/node", GNN_U64, 2, 0);
    uint32_t *nodes = add(b, "nodes/node", GNN_U32, 5, 0);
    uint32_t *indptr = add(b, "hop/0/node/to/node/indptr", GNN_U32, 3, 0);
    uint32_t *indices = add(b, "hop/0/node/to/node/indices", GNN_U32, 4, 0);
    float *x = add(b, "node/node/x", GNN_F32, 5, 64);
    memcpy(key, (uint64_t[]){1, step, 0, 0}, 32);
    memcpy(counts, (uint64_t[]){2, 5}, 16);
    memcpy(nodes, (uint32_t[]){7, (uint32_t)step, 9, 11, 13}, 20);
    memcpy(indptr, (uint32_t[]){0, 3, 4}, 12);
    memcpy(indices, (uint32_t[]){2, 3, 4, 1}, 16);
    for (int i = 0; i < 5 * 64; i++)
        x[i] = (float)(i % 5);
}

static int write_stream(const char *path, int flags, int level, struct gnn_err *e)
{
    struct gnn_writer w;
    struct gnn_batch_pool *pool = gnn_batch_pool_new(&meta, e);
    int rc = gnn_writer_begin(&w, open(path, O_WRONLY | O_CREAT | flags, 0666), path, &meta, &(struct gnn_writer_opts){.zstd_level = level}, e);
    for (uint64_t step = 0; !rc && step < 4; step++) {
        struct gnn_batch *b;
        if ((rc = gnn_batch_get(pool, &b, e)))
            break;
        fill(b, step);
        rc = gnn_writer_batch(&w, b, e);
        gnn_batch_put(b);
    }
    if (!rc)
        rc = gnn_writer_end(&w, e);
    gnn_writer_release(&w);
    gnn_batch_pool_free(pool);
    return rc;
}

/* Reads all; *n counts the batches. */
static int read_fd(int fd, const char *path, int *n, struct gnn_err *e)
{
    *n = 0;
    struct gnn_source *s = gnn_stream_source_new(fd, path, e);
    if (!s)
        return e->code;
    int rc;
    for (struct gnn_batch *b; !(rc = gnn_source_next(s, &b, e)); gnn_batch_put(b), ++*n) {
        const struct gnn_block *k = gnn_batch_block(b, 0, 0);
        if (b->epoch != 1 || b->step != (uint64_t)(*n % 4) || b->type[0].node[0] != 7 || k->n != 2 ||
            k->indices[3] != 1 || gnn_batch_nodes(b, 0) != 5)
            exit(98);
    }
    gnn_source_free(s);
    return rc;
}

static int read_stream(const char *path, int *n, struct gnn_err *e)
{
    return read_fd(open(path, O_RDONLY), path, n, e);
}

/* The same from memory: files by the thousand would wait for the disk. */
static int read_bytes(const uint8_t *p, size_t size, int *n, struct gnn_err *e)
{
    int fd = memfd_create("t", MFD_CLOEXEC);
    if (write(fd, p, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET))
        exit(99);
    return read_fd(fd, "t", n, e);
}

static uint8_t *slurp(const char *path, size_t *n)
{
    int fd = open(path, O_RDONLY);
    off_t size = lseek(fd, 0, SEEK_END);
    uint8_t *p = malloc((size_t)size);
    *n = (size_t)size;
    if (!p || pread(fd, p, *n, 0) != (ssize_t)*n)
        exit(99);
    close(fd);
    return p;
}

static void test_roundtrip(int level)
{
    struct gnn_err e = {0};
    int n;
    unlink("s");
    ok(!write_stream("s", O_EXCL, level, &e), "writes at level %d %s", level, e.msg);
    ok(read_stream("s", &n, &e) == GNN_END && n == 4, "reads four batches %s", e.msg);
    ok(!write_stream("s", O_APPEND, level, &e) && read_stream("s", &n, &e) == GNN_END && n == 8,
       "concatenated streams read as one %s", e.msg);
    meta.sampling.seed ^= 1;
    ok(!write_stream("s", O_APPEND, level, &e) && read_stream("s", &n, &e) == GNN_E_INPUT && n == 8,
       "with another header they do not: %s", e.msg);
    meta.sampling.seed ^= 1;
}

static void test_damage(int level)
{
    struct gnn_err e = {0};
    size_t size;
    int missed = 0, n;
    unlink("s");
    if (write_stream("s", O_EXCL, level, &e))
        exit(99);
    uint8_t *p = slurp("s", &size);
    for (size_t cut = 0; cut < size; cut++) {
        e = (struct gnn_err){0};
        missed += read_bytes(p, cut, &n, &e) != GNN_E_INPUT;
    }
    ok(!missed, "level %d: a cut at any of %zu bytes is noticed", level, size);
    for (size_t at = 0; at < size; at++) {
        e = (struct gnn_err){0};
        p[at] ^= (uint8_t)(1u << (at & 7));
        if (read_bytes(p, size, &n, &e) != GNN_E_INPUT) {
            missed++;
            printf("# flip at %zu\n", at);
        }
        p[at] ^= (uint8_t)(1u << (at & 7));
    }
    ok(!missed, "level %d: a flipped bit in any of them is noticed", level);
    free(p);
}

int main(void)
{
    struct gnn_err e = {0};
    make_meta(&e);
    for (int level = 0; level < 2; level++) {
        test_roundtrip(level);
        test_damage(level);
    }
    gnn_meta_release(&meta);
    return tap_done();
}
