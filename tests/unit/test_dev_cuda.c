/* SPDX-License-Identifier: Apache-2.0 */
/* lib/gpu/dev_cuda.c: which calls of CUDA's run-time it makes where that is all that can be seen
 * without a device. */
#include "tap.h"

#ifdef GNN_CUDA_LEAST /* with nvcc */
#include <cuda_runtime_api.h>
#include <string.h>

/* The calls so far, a letter each, and the device that each was made on. */
static char calls[256];
static int device_now, owner, range[2];

static void call(char what)
{
    const size_t n = strlen(calls);
    snprintf(calls + n, sizeof calls - n, "%c%d ", what, device_now);
}
static cudaError_t fake_set(int device)
{
    device_now = device;
    return device < 4 ? cudaSuccess : cudaErrorInvalidDevice;
}
static cudaError_t fake_get(int *device)
{
    *device = device_now;
    return cudaSuccess;
}
static cudaError_t fake_wait(void)
{
    call('w');
    return cudaSuccess;
}
static cudaError_t fake_attributes(struct cudaPointerAttributes *of, const void *p)
{
    (void)p;
    of->device = owner;
    return cudaSuccess;
}
static cudaError_t fake_free(void *p)
{
    (void)p;
    call('f');
    return cudaSuccess;
}
static cudaError_t fake_range(int *least, int *greatest)
{
    *least = range[0];
    *greatest = range[1];
    return cudaSuccess;
}
static cudaError_t fake_stream(cudaStream_t *stream, unsigned flags, int priority)
{
    *stream = NULL;
    const size_t n = strlen(calls);
    snprintf(calls + n, sizeof calls - n, "%u:%d ", flags, priority);
    return cudaSuccess;
}
#define cudaSetDevice fake_set
#define cudaGetDevice fake_get
#define cudaDeviceSynchronize fake_wait
#define cudaPointerGetAttributes fake_attributes
#define cudaFree fake_free
#define cudaFreeHost fake_free
#define cudaHostUnregister fake_free
#define cudaIpcCloseMemHandle fake_free
#define cudaDeviceGetStreamPriorityRange fake_range
#define cudaStreamCreateWithPriority fake_stream
#include "lib/gpu/dev_cuda.c"

/* The calls since the last time. */
static bool called(const char *want)
{
    const bool same = !strcmp(calls, want);
    if (!same)
        printf("# '%s' instead of '%s'\n", calls, want);
    *calls = 0;
    return same;
}

static void test_freeing(void)
{
    struct gnn_err e = {0};
    int x;
    bool used = !gnn_dev_use(3, &e) && !gnn_dev_use(1, &e) && gnn_dev_use(4, &e);
    device_now = 1;
    owner = 3;
    gnn_dev_free(&x);
    ok(used && called("w3 f1 "), "gnn_dev_free waits for the memory's device first");
    gnn_dev_unpin(&x);
    ok(called("w1 w3 f1 "), "gnn_dev_unpin waits for all devices in use first");
    gnn_dev_unmap(&x);
    ok(called("w1 w3 f1 "), "gnn_dev_unmap waits for all devices in use first");
    gnn_dev_import_close(&x);
    ok(called("w1 w3 f1 "), "gnn_dev_import_close waits for all devices in use first");
    gnn_dev_free(NULL);
    gnn_dev_unpin(NULL);
    gnn_dev_import_close(NULL);
    ok(called(""), "freeing nothing does nothing");
}

static void test_priorities(void)
{
    static const struct {
        int range[2];
        const char *want;
    } of[] = {{{0, -5}, "1:0 1:0 1:-4 1:-5 "},
              {{0, -1}, "1:0 1:0 1:-1 1:-1 "},
              {{0, 0}, "1:0 1:0 1:0 1:0 "}};
    struct gnn_err e = {0};
    void *s;
    for (unsigned i = 0; i < 3; i++) {
        memcpy(range, of[i].range, sizeof range);
        int rc = gnn_dev_stream_new(&s, &e);
        for (int p = GNN_DEV_LOW; p <= GNN_DEV_HIGHEST; p++)
            rc |= gnn_dev_stream_at((enum gnn_dev_priority)p, &s, &e);
        ok(!rc && called(of[i].want), "streams have priorities from %d to %d", range[0], range[1]);
    }
}

int main(void)
{
    test_freeing();
    test_priorities();
    return tap_done();
}
#else
int main(void)
{
    printf("1..0 # SKIP built without CUDA\n");
    return 0;
}
#endif
