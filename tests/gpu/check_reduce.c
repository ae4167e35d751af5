/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduces on a device, of one rank: NCCL is opened, reduces what one rank has, which stays as
 * it is, and is left. The same through the host's memory. And exchanges of a rank with itself. Runs
 * on a real device, where there is NCCL, and on the emulated one. */
#include <stdlib.h>
#include <string.h>

#include "lib/comm/comm.h"
#include "lib/gpu/gpu.h"
#include "lib/ops/ops.h"
#include "lib/base/mem.h"
#include "tap.h"

enum { MANY = 3, MOST = 1 << 20 };

static const struct gnn_ops *ops;
static struct gnn_err err;

static void must(int rc)
{
    if (!rc)
        return;
    printf("Bail out! %s\n", err.msg);
    exit(1);
}

/* Several all-reduces at once of numbers that operations have just put there, and that operations
 * take away from there. */
static bool reduced_right(struct gnn_comm *c, enum gnn_reduce kind, uint64_t n, bool push)
{
    const size_t size = kind == GNN_REDUCE_F32 ? 4 : 8;
    struct gnn_buf at = {0}, back = {0};
    void *sum[MANY] = {NULL};
    char *from = malloc(MANY * n * size);
    must(!from || ops->fit(ops, &at, MANY * n, size, "a test", &err) ||
         ops->fit_host(ops, &back, MANY * n, size, "a test", &err));
    for (uint64_t i = 0; i < MANY * n; i++)
        if (kind == GNN_REDUCE_F32)
            ((float *)from)[i] = (float)i / 3;
        else if (kind == GNN_REDUCE_F64)
            ((double *)from)[i] = (double)i / 3;
        else
            ((uint64_t *)from)[i] = i << 40 | i;
    for (int k = 0; k < MANY; k++) {
        ops->put(ops, (char *)at.data + (size_t)k * n * size, from + (size_t)k * n * size,
                 n * size);
        must(c->ops->reduce_begin(c, (char *)at.data + (size_t)k * n * size, n, kind, &sum[k],
                                  &err));
    }
    must(push && gnn_comm_reduce_push(c, &err));
    for (int k = MANY; k-- > 0;)
        must(c->ops->reduce_end(c, &sum[k], &err));
    ops->fetch(ops, back.data, at.data, MANY * n * size);
    ops->mark(ops, 0);
    must(ops->wait(ops, 0, &err));
    const bool right = !memcmp(back.data, from, MANY * n * size);
    ops->release(ops, &at);
    ops->release_host(ops, &back);
    free(from);
    return right;
}

/* Two exchanges at once of bytes that operations have just put there. */
static bool moved_right(struct gnn_comm *c, uint64_t n)
{
    struct gnn_buf out = {0}, in = {0}, back = {0};
    struct gnn_span from[2], to[2];
    void *move[2] = {NULL};
    char *bytes = malloc(2 * n);
    must(!bytes || ops->fit(ops, &out, 2 * n, 1, "a test", &err) ||
         ops->fit(ops, &in, 2 * n, 1, "a test", &err) ||
         ops->fit_host(ops, &back, 2 * n, 1, "a test", &err));
    for (uint64_t i = 0; i < 2 * n; i++)
        bytes[i] = (char)(i * 7 + i / 251);
    ops->zero(ops, in.data, 2 * n);
    ops->put(ops, out.data, bytes, 2 * n);
    for (int k = 0; k < 2; k++) {
        from[k] = (struct gnn_span){(char *)out.data + (size_t)k * n, n};
        to[k] = (struct gnn_span){(char *)in.data + (size_t)k * n, n};
        must(c->ops->move_begin(c, &from[k], &to[k], &move[k], &err));
    }
    for (int k = 0; k < 2; k++)
        must(c->ops->move_end(c, &move[k], &err));
    ops->fetch(ops, back.data, in.data, 2 * n);
    ops->mark(ops, 0);
    must(ops->wait(ops, 0, &err));
    const bool right = !memcmp(back.data, bytes, 2 * n);
    ops->release(ops, &out);
    ops->release(ops, &in);
    ops->release_host(ops, &back);
    free(bytes);
    return right;
}

static void test_moves(struct gnn_comm *c, const char *name, bool host)
{
    if (host)
        ok(!c->ops->move_begin, "%s exchanges nothing on a device", name);
    for (uint64_t n = 0; !host && n <= MOST; n = n ? 100 * n : 1)
        ok(moved_right(c, n), "%s, exchanges of %llu bytes", name, (unsigned long long)n);
}

static void test_reduce(struct gnn_comm *self, const char *name)
{
    char why[GNN_REDUCE_WHY];
    struct gnn_comm *c;
    must(ops->reduce_new(ops, self, &c, why, &err));
    const bool host = *why;
    if (host && strcmp(name, "the host"))
        ok(true, "%s # SKIP %s", name, why);
    for (enum gnn_reduce kind = GNN_REDUCE_F32;
         kind <= GNN_REDUCE_U64 && host == !strcmp(name, "the host"); kind++) {
        ok(reduced_right(c, kind, 1, false), "%s, numbers of kind %d: one by one", name, (int)kind);
        ok(reduced_right(c, kind, 1000, true), "%s, numbers of kind %d: a thousand", name,
           (int)kind);
        ok(reduced_right(c, kind, MOST, true), "%s, numbers of kind %d: a million", name,
           (int)kind);
    }
    if (host == !strcmp(name, "the host"))
        test_moves(c, name, host);
    gnn_comm_free(c);
}

int main(void)
{
    struct gnn_gpu *gpu = NULL;
    struct gnn_comm *self = gnn_comm_self();
    must(gnn_gpu_open(&gpu, "cuda", NULL, 0, &err));
    must(!(ops = gnn_ops_new(gpu, GNN_PRECISION_F32, &err)));
    test_reduce(self, "NCCL");
    test_reduce(self, "NCCL, once more");
    setenv("GNN_NCCL", "none", 1);
    test_reduce(self, "the host");
    ops->free(ops);
    gnn_gpu_close(gpu);
    gnn_comm_free(self);
    return tap_done();
}
