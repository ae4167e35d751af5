/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of kernels on a device share: memory there and here, which is released at the end of a
 * case, copies between them, and contents. For one file of a program: all of it is static. */
#ifndef GNN_TESTS_GPU_ON_DEVICE_H
#define GNN_TESTS_GPU_ON_DEVICE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/gpu/dev.h"
#include "tap.h"

static struct gnn_err err;
static void *stream;

static void must(int rc)
{
    if (!rc)
        return;
    printf("Bail out! %s\n", err.msg);
    exit(1);
}

/* ---- memory: everything is released at the end of a case ---- */

enum { KEPT = 64 };
static void *kept[KEPT], *pinned[KEPT], *heap[KEPT];
static int nkept, npinned, nheap;

static void *host(size_t bytes)
{
    void *p = calloc(bytes + 1, 1);
    if (!p || nheap == KEPT)
        must(gnn_fail_nomem(&err, bytes, "a test"));
    return heap[nheap++] = p;
}
static void *room(size_t bytes)
{
    void *p = NULL;
    must(gnn_dev_alloc(&p, bytes, "a test", &err));
    must(gnn_dev_set(p, 0xa5, bytes, stream, &err));
    return kept[nkept++] = p;
}
static void *up(const void *from, size_t bytes)
{
    void *p = room(bytes);
    must(gnn_dev_copy(p, from, bytes, stream, &err));
    must(gnn_dev_stream_wait(stream, &err));
    return p;
}
static void *pin(const void *from, size_t bytes)
{
    void *p = NULL;
    must(gnn_dev_pin(&p, bytes, "a test", &err));
    memcpy(p, from, bytes);
    return pinned[npinned++] = p;
}
/* A copy of what is on the device now. */
static void *down(const void *from, size_t bytes)
{
    void *p = host(bytes);
    must(gnn_dev_launched("a kernel", &err));
    must(gnn_dev_copy(p, from, bytes, stream, &err));
    must(gnn_dev_stream_wait(stream, &err));
    return p;
}
static void release(void)
{
    while (nkept)
        gnn_dev_free(kept[--nkept]);
    while (npinned)
        gnn_dev_unpin(pinned[--npinned]);
    while (nheap)
        free(heap[--nheap]);
}

/* ---- contents ---- */

static uint64_t state = 1;
static uint32_t draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = state;
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    return (uint32_t)(x >> 32);
}
static uint32_t below(uint32_t n)
{
    return (uint32_t)((uint64_t)draw() * n >> 32);
}
static float *numbers(size_t n)
{
    float *v = host(n * sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i] = (float)(draw() >> 8) / (float)(1 << 23) - 1;
    return v;
}
static float *copy_of(const float *v, size_t n)
{
    return memcpy(host(n * sizeof *v), v, n * sizeof *v);
}
static size_t differ(const float *a, const float *b, size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        k += memcmp(&a[i], &b[i], sizeof *a) && !(isnan(a[i]) && isnan(b[i]));
    return k;
}
/* Largest difference, beside what it should be or 1. */
static double apart(const float *a, const float *b, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        const double d = fabs((double)a[i] - (double)b[i]) / fmax(1, fabs((double)b[i]));
        most = d > most || isnan(d) ? d : most;
    }
    return most;
}
/* The lowest bad position, all bits set. */
static uint64_t *nothing_bad(void)
{
    const uint64_t none = UINT64_MAX;
    return up(&none, sizeof none);
}
static bool was_bad(const uint64_t *bad)
{
    return *(uint64_t *)down(bad, sizeof *bad) != UINT64_MAX;
}

#endif
