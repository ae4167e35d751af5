/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: roundtrip raw and packed, concatenation, cuts at every byte, flipped bits. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/data/source.h"

#include "scratch.h"
#include "stream_maker.h"
#include "tap.h"

static struct gnn_meta meta;

static void fill(struct gnn_batch *b, uint64_t step)
{
    memcpy(stream_make_blocks(b, step, 5), (uint32_t[]){7, (uint32_t)step, 9, 11, 13}, 20);
    float *x = stream_make_tensor(b, "node/node/x", GNN_F32, 5, 64);
    for (int i = 0; i < 5 * 64; i++)
        x[i] = (float)(i % 5);
}

static int write_stream(const char *path, int flags, int level, struct gnn_err *e)
{
    const struct gnn_writer_opts o = {.zstd_level = level};
    struct gnn_batch_pool *pool = gnn_batch_pool_new(&meta, e);
    const int rc = stream_make(open(path, O_WRONLY | O_CREAT | flags, 0666), path, &meta, &o, pool,
                               fill, 4, NULL, e);
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
        if (b->epoch != 1 || b->step != (uint64_t)(*n % 4) || b->type[0].node[0] != 7 ||
            k->n != 2 || k->indices[3] != 1 || gnn_batch_nodes(b, 0) != 5)
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
    ok(!write_stream("s", O_EXCL, level, &e), "stream_make writes a stream at level %d %s", level,
       e.msg);
    ok(read_stream("s", &n, &e) == GNN_END && n == 4,
       "gnn_stream_source_new reads four batches of a stream at level %d %s", level, e.msg);
    ok(!write_stream("s", O_APPEND, level, &e) && read_stream("s", &n, &e) == GNN_END && n == 8,
       "gnn_stream_source_new reads two joined streams at level %d as one %s", level, e.msg);
    meta.sampling.seed ^= 1;
    ok(!write_stream("s", O_APPEND, level, &e) && read_stream("s", &n, &e) == GNN_E_INPUT && n == 8,
       "gnn_stream_source_new refuses a joined stream of another header at level %d: %s", level,
       e.msg);
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
    ok(!missed, "gnn_stream_source_new notices at level %d a cut at any of %zu bytes", level, size);
    for (size_t at = 0; at < size; at++) {
        e = (struct gnn_err){0};
        p[at] ^= (uint8_t)(1u << (at & 7));
        if (read_bytes(p, size, &n, &e) != GNN_E_INPUT) {
            missed++;
            printf("# flip at %zu\n", at);
        }
        p[at] ^= (uint8_t)(1u << (at & 7));
    }
    ok(!missed, "gnn_stream_source_new notices at level %d a flipped bit in any byte", level);
    free(p);
}

int main(void)
{
    scratch_enter();
    stream_make_meta(&meta, 100, 64, 4);
    for (int level = 0; level < 2; level++) {
        test_roundtrip(level);
        test_damage(level);
    }
    gnn_meta_release(&meta);
    return scratch_done();
}
