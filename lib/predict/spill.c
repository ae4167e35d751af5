/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary file of rows, and the sums of its blocks. Rows are read at random, through a mapping
 * whose pages the system brings and takes as it likes, so that no read can be checked by itself:
 * all blocks are, after the last one. */
#include "lib/predict/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "formats/xxh.h"
#include "lib/base/io.h"
#include "lib/base/mapped.h"
#include "lib/base/mem.h"
#include "lib/base/temp.h"

enum { BLOCK = 1 << 20 }; /* bytes */

struct gnn_spill {
    XXH3_state_t state; /* of the block that is being written; aligned by 64 bytes */
    char *name, *data;
    uint64_t bytes, written;
    struct gnn_buf sums; /* u64, of blocks that are written in full, and of the last one */
    int fd;              /* while it grows; or -1 */
};

/* Of a file of this size in `dir`, which is not there yet. */
static struct gnn_spill *new_spill(const char *dir, uint64_t bytes, struct gnn_err *e)
{
    struct gnn_spill *s = gnn_alloc_zero(1, sizeof *s, "activations", e);
    if (!s)
        return NULL;
    s->bytes = bytes;
    s->fd = -1;
    XXH3_64bits_reset(&s->state);
    if ((s->name = gnn_strf(e, "%s/gnn-predict", dir)) &&
        !gnn_buf_reserve(&s->sums, bytes / BLOCK + 1, sizeof(uint64_t), "sums of activations", e))
        return s;
    gnn_spill_free(s);
    return NULL;
}

static int map_file(struct gnn_spill *s, const char *dir, struct gnn_err *e)
{
    const int fd = gnn_temp_scratch(s->name, e);
    if (fd < 0)
        return e->code;
    const int sys =
        posix_fallocate(fd, 0, (off_t)s->bytes); /* a full disk is found here, not by a fault */
    errno = sys;
    if (sys)
        gnn_fail_errno(e, "%s: cannot hold %llu bytes of activations", dir,
                       (unsigned long long)s->bytes);
    else
        s->data = gnn_mapped_new(fd, 0, s->bytes, true, s->name, e);
    close(fd);
    return e->code;
}

struct gnn_spill *gnn_spill_new(const char *dir, uint64_t bytes, struct gnn_err *e)
{
    struct gnn_spill *s = new_spill(dir, bytes, e);
    if (!s || !map_file(s, dir, e))
        return s;
    gnn_spill_free(s);
    return NULL;
}

struct gnn_spill *gnn_spill_begin(const char *dir, struct gnn_err *e)
{
    struct gnn_spill *s = new_spill(dir, 0, e);
    if (!s || (s->fd = gnn_temp_scratch(s->name, e)) >= 0)
        return s;
    gnn_spill_free(s);
    return NULL;
}

void *gnn_spill_data(const struct gnn_spill *s)
{
    return s->data;
}

static void end_block(struct gnn_spill *s)
{
    ((uint64_t *)s->sums.data)[(s->written - 1) / BLOCK] = XXH3_64bits_digest(&s->state);
    XXH3_64bits_reset(&s->state);
}

static void sum_bytes(struct gnn_spill *s, const char *data, uint64_t bytes)
{
    while (bytes) {
        const uint64_t rest = BLOCK - s->written % BLOCK, n = bytes < rest ? bytes : rest;
        (void)XXH3_64bits_update(&s->state, data, n);
        s->written += n;
        data += n;
        bytes -= n;
        if (n == rest)
            end_block(s);
    }
}

void gnn_spill_written(struct gnn_spill *s, uint64_t bytes)
{
    sum_bytes(s, s->data + s->written, bytes);
    if (s->written == s->bytes && s->bytes % BLOCK)
        end_block(s);
}

int gnn_spill_append(struct gnn_spill *s, const void *rows, uint64_t bytes, struct gnn_err *e)
{
    struct gnn_io io = {.fd = s->fd, .name = s->name};
    if (gnn_buf_reserve(&s->sums, (s->bytes + bytes) / BLOCK + 1, sizeof(uint64_t),
                        "sums of activations", e) ||
        gnn_io_pwrite(&io, rows, bytes, s->bytes, e))
        return e->code;
    s->bytes += bytes;
    sum_bytes(s, rows, bytes);
    return 0;
}

int gnn_spill_end(struct gnn_spill *s, struct gnn_err *e)
{
    if (s->bytes % BLOCK)
        end_block(s);
    s->data = gnn_mapped_new(s->fd, 0, s->bytes, false, s->name, e);
    close(s->fd);
    s->fd = -1;
    return e->code;
}

int gnn_spill_check(const struct gnn_spill *s, struct gnn_err *e)
{
    uint64_t bad = UINT64_MAX;
    if (!s)
        return 0;
    const uint64_t *sum = s->sums.data;
    const uint64_t n = s->written == s->bytes ? (s->bytes + BLOCK - 1) / BLOCK : s->written / BLOCK;
#pragma omp parallel for reduction(min : bad)
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t at = i * BLOCK, rest = s->bytes - at;
        if (XXH3_64bits(s->data + at, rest < BLOCK ? rest : BLOCK) != sum[i] && i < bad)
            bad = i;
    }
    if (bad == UINT64_MAX)
        return 0;
    const uint64_t at = bad * BLOCK, rest = s->bytes - at;
    return gnn_fail(e, GNN_E_RUN,
                    "%s: the temporary file of activations was damaged while it lay on disk, in "
                    "bytes %llu to %llu",
                    s->name, (unsigned long long)at,
                    (unsigned long long)(at + (rest < BLOCK ? rest : BLOCK) - 1));
}

void gnn_spill_free(struct gnn_spill *s)
{
    if (!s)
        return;
    gnn_mapped_free(s->data);
    gnn_free(s->name);
    gnn_buf_release(&s->sums);
    if (s->fd >= 0)
        close(s->fd);
    gnn_free(s);
}
