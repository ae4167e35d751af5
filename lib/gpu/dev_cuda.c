/* SPDX-License-Identifier: Apache-2.0 */
/* lib/gpu/dev.h over the CUDA runtime, which is linked statically and looks for the driver when it
 * is first called. */
#include "lib/gpu/dev.h"

#include <cuda_runtime_api.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limit.h"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define NVTX 1
#endif

/* Records what failed, and forgets it in the runtime, which would report it again. */
static int record_failure(cudaError_t rc, const char *what, struct gnn_err *e)
{
    (void)cudaGetLastError();
    return gnn_fail(e, rc == cudaErrorMemoryAllocation ? GNN_E_NOMEM : GNN_E_DEVICE, "CUDA: %s: %s",
                    what, cudaGetErrorString(rc));
}

static int status_of(cudaError_t rc, const char *what, struct gnn_err *e)
{
    return rc ? record_failure(rc, what, e) : 0;
}

int gnn_dev_count(unsigned *n, struct gnn_err *e)
{
    int count = 0;
    *n = 0;
    const cudaError_t rc = cudaGetDeviceCount(&count);
    if (rc == cudaErrorInsufficientDriver) { /* also said where there is no driver at all */
        int driver = 0;
        (void)cudaGetLastError();
        (void)cudaDriverGetVersion(&driver);
        return driver ? gnn_fail(e, GNN_E_DEVICE,
                                 "no CUDA device: the driver is too old (it knows CUDA %d.%d)",
                                 driver / 1000, driver % 1000 / 10)
                      : gnn_fail(e, GNN_E_DEVICE, "no CUDA device: no driver is installed");
    }
    if (rc == cudaErrorNoDevice || (!rc && !count)) {
        (void)cudaGetLastError();
        return gnn_fail(e, GNN_E_DEVICE, "no CUDA device");
    }
    if (rc)
        return record_failure(rc, "looking for devices", e);
    *n = (unsigned)count;
    return 0;
}

int gnn_dev_ask(unsigned device, struct gnn_dev_info *info, struct gnn_err *e)
{
    struct cudaDeviceProp p;
    size_t free = 0, total = 0;
    int rc =
        status_of(cudaGetDeviceProperties(&p, (int)device), "querying a device's properties", e);
    if (!rc)
        rc = gnn_dev_use(device, e);
    if (!rc)
        rc = status_of(cudaMemGetInfo(&free, &total), "querying a device's memory", e);
    if (rc)
        return rc;
    *info = (struct gnn_dev_info){.major = p.major,
                                  .minor = p.minor,
                                  .least = GNN_CUDA_LEAST,
                                  .multiprocessors = (unsigned)p.multiProcessorCount,
                                  .bytes = total,
                                  .free = free};
    snprintf(info->name, sizeof info->name, "%.63s", p.name);
    return 0;
}

int gnn_dev_id(unsigned device, uint64_t *id, struct gnn_err *e)
{
    struct cudaDeviceProp p;
    uint64_t half[2];
    int rc =
        status_of(cudaGetDeviceProperties(&p, (int)device), "querying a device's properties", e);
    if (rc)
        return rc;
    _Static_assert(sizeof p.uuid == sizeof half, "a UUID's size");
    memcpy(half, &p.uuid, sizeof half);
    *id = half[0] ^ half[1];
    return 0;
}

int gnn_dev_versions(int *driver, int *runtime, struct gnn_err *e)
{
    return status_of(cudaDriverGetVersion(driver), "querying the driver's version", e) ||
                   status_of(cudaRuntimeGetVersion(runtime), "querying the runtime's version", e)
               ? e->code
               : 0;
}

static _Atomic uint64_t devices_in_use; /* bits: only these have a context that can be waited for */

int gnn_dev_use(unsigned device, struct gnn_err *e)
{
    const int rc = status_of(cudaSetDevice((int)device), "selecting a device", e);
    if (!rc && device < 64) /* no machine has more */
        atomic_fetch_or(&devices_in_use, UINT64_C(1) << device);
    return rc;
}

/* Waits for all work on the devices in `which`, and leaves the thread the one it has. What fails is
 * found by the next call that can say so. */
static void wait_for_devices(uint64_t which)
{
    int now = 0;
    if (cudaGetDevice(&now))
        return;
    for (int d = 0; d < 64; d++)
        if (which >> d & 1 && !cudaSetDevice(d))
            (void)cudaDeviceSynchronize();
    (void)cudaSetDevice(now);
}

/* ---- memory ---- */

int gnn_dev_alloc(void **p, uint64_t bytes, const char *what, struct gnn_err *e)
{
    const cudaError_t rc = cudaMalloc(p, bytes ? bytes : 1);
    if (!rc)
        return 0;
    (void)cudaGetLastError();
    *p = NULL;
    return rc == cudaErrorMemoryAllocation
               ? gnn_fail(e, GNN_E_NOMEM, "not enough device memory: %llu bytes for %s",
                          (unsigned long long)bytes, what)
               : record_failure(rc, what, e);
}

/* cudaFree waits, too, as far as is known, but is not documented to. */
void gnn_dev_free(void *p)
{
    struct cudaPointerAttributes of;
    if (!p)
        return;
    if (!cudaPointerGetAttributes(&of, p) && of.device >= 0 && of.device < 64)
        wait_for_devices(UINT64_C(1) << of.device);
    (void)cudaFree(p);
}

int gnn_dev_pin(void **p, uint64_t bytes, const char *what, struct gnn_err *e)
{
    const cudaError_t rc =
        cudaHostAlloc(p, bytes ? bytes : 1, cudaHostAllocPortable | cudaHostAllocMapped);
    if (!rc)
        return 0;
    (void)cudaGetLastError();
    *p = NULL;
    return rc == cudaErrorMemoryAllocation
               ? gnn_fail(e, GNN_E_NOMEM, "not enough memory to pin: %llu bytes for %s",
                          (unsigned long long)bytes, what)
               : record_failure(rc, what, e);
}

void gnn_dev_unpin(void *p)
{
    if (!p)
        return;
    wait_for_devices(devices_in_use);
    (void)cudaFreeHost(p);
}

/* What the system says it has available counts for nothing: the memory of a virtual machine may
 * grow as it is used. */
uint64_t gnn_dev_pinnable(void)
{
    return gnn_limit_memory("");
}

/* Can the thread's device pin what is only read? Asked, not tried: tools that watch the runtime
 * count each refusal as an error. */
static int pins_files(struct gnn_err *e)
{
    int now = 0, can = 0;
    int rc = status_of(cudaGetDevice(&now), "querying the thread's device", e);
    if (!rc)
        rc = status_of(cudaDeviceGetAttribute(&can, cudaDevAttrHostRegisterReadOnlySupported, now),
                       "querying what memory a device can pin", e);
    return rc || can
               ? rc
               : gnn_fail(e, GNN_E_DEVICE, "device %d cannot pin memory that is only read", now);
}

int gnn_dev_map(const void *p, uint64_t bytes, bool ours, const void **at, struct gnn_err *e)
{
    void *host = (void *)(uintptr_t)p, *device = NULL;
    const unsigned flags =
        cudaHostRegisterPortable | cudaHostRegisterMapped | (ours ? 0 : cudaHostRegisterReadOnly);
    int rc = ours ? 0 : pins_files(e);
    if (!rc)
        rc = status_of(cudaHostRegister(host, bytes, flags), "pinning memory", e);
    if (rc)
        return rc;
    rc = status_of(cudaHostGetDevicePointer(&device, host, 0), "pinning memory", e);
    if (rc)
        (void)cudaHostUnregister(host);
    *at = device;
    return rc;
}

void gnn_dev_unmap(const void *p)
{
    wait_for_devices(devices_in_use);
    (void)cudaHostUnregister((void *)(uintptr_t)p);
}

/* ---- streams and events ---- */

int gnn_dev_stream_new(void **stream, struct gnn_err *e)
{
    return gnn_dev_stream_at(GNN_DEV_LOW, stream, e);
}

int gnn_dev_stream_at(enum gnn_dev_priority priority, void **stream, struct gnn_err *e)
{
    int least = 0, greatest = 0; /* the greatest is the lowest number */
    int rc = status_of(cudaDeviceGetStreamPriorityRange(&least, &greatest),
                       "querying priorities of streams", e);
    const int high = greatest + 1 < least ? greatest + 1 : greatest;
    const int is = priority == GNN_DEV_HIGHEST ? greatest : priority == GNN_DEV_HIGH ? high : least;
    return rc ? rc
              : status_of(
                    cudaStreamCreateWithPriority((cudaStream_t *)stream, cudaStreamNonBlocking, is),
                    "creating a stream", e);
}

int gnn_dev_stream_wait(void *stream, struct gnn_err *e)
{
    return status_of(cudaStreamSynchronize(stream), "waiting for a stream", e);
}

void gnn_dev_stream_free(void *stream)
{
    if (!stream)
        return;
    (void)cudaStreamSynchronize(stream);
    (void)cudaStreamDestroy(stream);
}

int gnn_dev_event_new(void **event, struct gnn_err *e)
{
    return status_of(cudaEventCreateWithFlags((cudaEvent_t *)event, cudaEventDisableTiming),
                     "creating an event", e);
}

int gnn_dev_event_timed(void **event, struct gnn_err *e)
{
    return status_of(cudaEventCreateWithFlags((cudaEvent_t *)event, cudaEventDefault),
                     "creating an event", e);
}

void gnn_dev_event_free(void *event)
{
    if (event)
        (void)cudaEventDestroy(event);
}

int gnn_dev_event_record(void *event, void *stream, struct gnn_err *e)
{
    return status_of(cudaEventRecord(event, stream), "recording an event", e);
}

int gnn_dev_event_wait(void *event, struct gnn_err *e)
{
    return status_of(cudaEventSynchronize(event), "waiting for an event", e);
}

int gnn_dev_event_done(void *event, bool *done, struct gnn_err *e)
{
    const cudaError_t rc = cudaEventQuery(event);
    *done = rc == cudaSuccess;
    if (rc != cudaErrorNotReady)
        return status_of(rc, "querying an event", e);
    (void)cudaGetLastError();
    return 0;
}

int gnn_dev_event_after(void *stream, void *event, struct gnn_err *e)
{
    return status_of(cudaStreamWaitEvent(stream, event, 0), "waiting for an event", e);
}

int gnn_dev_event_ms(void *from, void *to, float *ms, struct gnn_err *e)
{
    return status_of(cudaEventElapsedTime(ms, from, to), "measuring time", e);
}

int gnn_dev_copy(void *to, const void *from, uint64_t bytes, void *stream, struct gnn_err *e)
{
    return bytes ? status_of(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "copying",
                             e)
                 : 0;
}

int gnn_dev_set(void *to, int byte, uint64_t bytes, void *stream, struct gnn_err *e)
{
    return bytes ? status_of(cudaMemsetAsync(to, byte, bytes, stream), "filling memory", e) : 0;
}

/* ---- graphs ---- */

int gnn_dev_graph_begin(void *stream, struct gnn_err *e)
{
    return status_of(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
                     "capturing a graph", e);
}

int gnn_dev_graph_end(void *stream, void **graph, struct gnn_err *e)
{
    cudaGraph_t g = NULL;
    *graph = NULL;
    int rc = status_of(cudaStreamEndCapture(stream, &g), "capturing a graph", e);
    if (!rc)
        rc = status_of(cudaGraphInstantiate((cudaGraphExec_t *)graph, g, 0), "creating a graph", e);
    if (g)
        (void)cudaGraphDestroy(g);
    return rc;
}

int gnn_dev_graph_launch(void *graph, void *stream, struct gnn_err *e)
{
    return status_of(cudaGraphLaunch(graph, stream), "launching a graph", e);
}

void gnn_dev_graph_free(void *graph)
{
    if (graph)
        (void)cudaGraphExecDestroy(graph);
}

/* ---- other devices, other processes ---- */

bool gnn_dev_peer(unsigned device, unsigned peer)
{
    int can = 0;
    return device != peer && !cudaDeviceCanAccessPeer(&can, (int)device, (int)peer) && can;
}

int gnn_dev_peer_open(unsigned device, unsigned peer, struct gnn_err *e)
{
    if (gnn_dev_use(device, e))
        return e->code;
    const cudaError_t got = cudaDeviceEnablePeerAccess((int)peer, 0);
    if (got != cudaErrorPeerAccessAlreadyEnabled)
        return status_of(got, "enabling peer access to another device", e);
    (void)cudaGetLastError();
    return 0;
}

int gnn_dev_export(const void *p, struct gnn_dev_handle *h, struct gnn_err *e)
{
    _Static_assert(sizeof(cudaIpcMemHandle_t) == sizeof h->bytes, "a handle's size");
    return status_of(cudaIpcGetMemHandle((cudaIpcMemHandle_t *)h, (void *)(uintptr_t)p),
                     "exporting device memory", e);
}

/* How much memory there is from p on, as the driver knows, which may not be there when the program
 * starts; where it does not tell, no limit. */
static uint64_t extent_from(const void *p)
{
    static const char name[] = "cuMemGetAddressRange";
    int (*ask)(unsigned long long *base, size_t *bytes, unsigned long long p) = NULL;
    unsigned long long base = 0;
    size_t n = 0;
    enum cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
    const cudaError_t rc =
        cudaGetDriverEntryPointByVersion(name, (void **)&ask, 3020, cudaEnableDefault, &found);
#else
    const cudaError_t rc = cudaGetDriverEntryPoint(name, (void **)&ask, cudaEnableDefault, &found);
#endif
    if (rc || found != cudaDriverEntryPointSuccess || !ask || ask(&base, &n, (uintptr_t)p)) {
        (void)cudaGetLastError();
        return UINT64_MAX;
    }
    return base + n - (uintptr_t)p;
}

int gnn_dev_import(const struct gnn_dev_handle *h, void **p, uint64_t *bytes, struct gnn_err *e)
{
    cudaIpcMemHandle_t handle;
    memcpy(&handle, h, sizeof handle);
    const int rc = status_of(cudaIpcOpenMemHandle(p, handle, cudaIpcMemLazyEnablePeerAccess),
                             "importing another process's device memory", e);
    *bytes = rc ? 0 : extent_from(*p);
    return rc;
}

void gnn_dev_import_close(void *p)
{
    if (!p)
        return;
    wait_for_devices(devices_in_use);
    (void)cudaIpcCloseMemHandle(p);
}

/* ---- for whoever looks for faults or time ---- */

bool gnn_dev_debugging(void)
{
    static int sync = -1;
    if (sync < 0) {
        const char *v = getenv("GNN_DEBUG_SYNC");
        sync = v && *v && strcmp(v, "0") != 0;
    }
    return sync;
}

int gnn_dev_launched(const char *what, struct gnn_err *e)
{
    const int rc = status_of(cudaGetLastError(), what, e);
    return rc || !gnn_dev_debugging() ? rc : status_of(cudaDeviceSynchronize(), what, e);
}

void gnn_dev_range_begin(const char *name)
{
#ifdef NVTX
    nvtxRangePushA(name);
#else
    (void)name;
#endif
}

void gnn_dev_range_end(void)
{
#ifdef NVTX
    nvtxRangePop();
#endif
}
