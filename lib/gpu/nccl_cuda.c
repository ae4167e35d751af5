/* SPDX-License-Identifier: Apache-2.0 */
/* lib/gpu/nccl.h over NCCL, which is loaded when a job of several ranks on devices asks for it:
 * nobody else needs it. */
#include "lib/gpu/nccl.h"

#include "lib/comm/comm.h"

#if __has_include(<nccl.h>)
#include <nccl.h>
#endif

#if defined(NCCL_VERSION_CODE) &&                                                                  \
    NCCL_VERSION_CODE >= 21400 /* the first whose calls need not wait */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* What is used of the library. */
#define FUNCTIONS(F)                                                                               \
    F(version, ncclGetVersion)                                                                     \
    F(text, ncclGetErrorString)                                                                    \
    F(last, ncclGetLastError)                                                                      \
    F(id, ncclGetUniqueId)                                                                         \
    F(join, ncclCommInitRankConfig)                                                                \
    F(state, ncclCommGetAsyncError)                                                                \
    F(sum, ncclAllReduce)                                                                          \
    F(open, ncclGroupStart)                                                                        \
    F(close, ncclGroupEnd)                                                                         \
    F(send, ncclSend)                                                                              \
    F(receive, ncclRecv)                                                                           \
    F(leave, ncclCommFinalize)                                                                     \
    F(destroy, ncclCommDestroy)                                                                    \
    F(cancel, ncclCommAbort)
struct lib {
#define DECLARE(name, of) __typeof__(of) *name;
    FUNCTIONS(DECLARE)
};
struct nccl {
    struct lib lib;
    uint32_t size;    /* ranks */
    ncclComm_t comm;  /* NULL: not joined, or aborted */
    const char *what; /* was asked for last */
};

/* In one line: of what NCCL says beyond the code, the first. */
static int record_failure(const struct nccl *c, ncclResult_t rc, struct gnn_err *e)
{
    const char *last = c->lib.last(c->comm);
    const size_t n = last ? strcspn(last, "\n") : 0;
    return gnn_fail(e, GNN_E_RANK, "NCCL: %s: %s%s%.*s", c->what, c->lib.text(rc), n ? ": " : "",
                    (int)n, n ? last : "");
}

static bool is_begun(ncclResult_t rc)
{
    return rc == ncclSuccess || rc == ncclInProgress;
}

/* What was asked for has begun, or has been done already. */
static int check_begun(struct nccl *c, ncclResult_t rc, struct gnn_err *e)
{
    return is_begun(rc) ? 0 : record_failure(c, rc, e);
}

static int find_symbols(struct lib *l, void *so, struct gnn_err *e)
{
    const struct {
        void *to;
        const char *name;
    } f[] = {
#define ENTRY(name, of) {&l->name, #of},
        FUNCTIONS(ENTRY)};
    for (size_t i = 0; i < sizeof f / sizeof *f; i++) {
        void *p = dlsym(so, f[i].name);
        if (!p)
            return gnn_fail(e, GNN_E_DEVICE, "NCCL is too old: it has no %s", f[i].name);
        memcpy(f[i].to, &p, sizeof p);
    }
    return 0;
}

/* It stays loaded: it has threads of its own. */
static int load_library(struct lib *l, const char *path, struct gnn_err *e)
{
    const char *const name[] = {path ? path : "libnccl.so.2",
                                path ? NULL : "/usr/local/cuda/lib64/libnccl.so.2"};
    char why[128] = "";
    void *so = NULL;
    for (size_t i = 0; !so && i < sizeof name / sizeof *name && name[i]; i++) {
        so = dlopen(name[i], RTLD_NOW | RTLD_LOCAL);
        if (!so && !*why)
            snprintf(why, sizeof why, "%s", dlerror());
    }
    return so ? find_symbols(l, so, e) : gnn_fail(e, GNN_E_DEVICE, "%s", why);
}

int gnn_nccl_new(void **h, const char *path, unsigned *version, struct gnn_err *e)
{
    struct nccl *c = gnn_alloc_zero(1, sizeof *c, "all-reduce on devices", e);
    int v = 0;
    *h = NULL;
    int rc = c ? load_library(&c->lib, path, e) : e->code;
    if (!rc && (c->what = "its version", c->lib.version(&v)))
        rc = gnn_fail(e, GNN_E_DEVICE, "NCCL does not tell its version");
    *version = (unsigned)v;
    if (rc) {
        gnn_free(c);
        return rc;
    }
    *h = c;
    return 0;
}

int gnn_nccl_make_id(void *h, struct gnn_nccl_id *id, struct gnn_err *e)
{
    struct nccl *c = h;
    _Static_assert(sizeof(ncclUniqueId) == sizeof *id, "an id's size");
    c->what = "creating an id";
    const ncclResult_t rc = c->lib.id((ncclUniqueId *)id);
    return rc ? record_failure(c, rc, e) : 0;
}

int gnn_nccl_join(void *h, const struct gnn_nccl_id *id, uint32_t rank, uint32_t size,
                  struct gnn_err *e)
{
    struct nccl *c = h;
    ncclConfig_t how = NCCL_CONFIG_INITIALIZER;
    ncclUniqueId at;
    memcpy(&at, id, sizeof at);
    how.blocking = 0;
    c->size = size;
    c->what = "connecting the ranks";
    return check_begun(c, c->lib.join(&c->comm, (int)size, at, (int)rank, &how), e);
}

int gnn_nccl_busy(void *h, bool *busy, bool *other, struct gnn_err *e)
{
    struct nccl *c = h;
    ncclResult_t now = ncclSuccess;
    const ncclResult_t rc = c->lib.state(c->comm, &now);
    *busy = now == ncclInProgress;
    *other = false;
    if (rc)
        return record_failure(c, rc, e);
    *other = now == ncclRemoteError;
    return check_begun(c, now, e);
}

int gnn_nccl_all_reduce(void *h, void *data, uint64_t n, int kind, void *stream, struct gnn_err *e)
{
    static const ncclDataType_t type[] = {[GNN_REDUCE_F32] = ncclFloat32,
                                          [GNN_REDUCE_F64] = ncclFloat64,
                                          [GNN_REDUCE_U64] = ncclUint64};
    struct nccl *c = h;
    c->what = "summing";
    return check_begun(c, c->lib.sum(data, data, n, type[kind], ncclSum, c->comm, stream), e);
}

/* As one group, so that no send waits for a receive that comes later. */
int gnn_nccl_exchange(void *h, const struct gnn_span *out, const struct gnn_span *in, void *stream,
                      struct gnn_err *e)
{
    struct nccl *c = h;
    c->what = "exchanging rows";
    ncclResult_t rc = c->lib.open();
    const bool opened = !rc;
    for (uint32_t r = 0; is_begun(rc) && r < c->size; r++) {
        if (out[r].bytes)
            rc = c->lib.send(out[r].data, out[r].bytes, ncclUint8, (int)r, c->comm, stream);
        if (is_begun(rc) && in[r].bytes)
            rc =
                c->lib.receive((void *)in[r].data, in[r].bytes, ncclUint8, (int)r, c->comm, stream);
    }
    const ncclResult_t end = opened ? c->lib.close() : rc;
    return check_begun(c, is_begun(rc) ? end : rc, e);
}

int gnn_nccl_leave(void *h, struct gnn_err *e)
{
    struct nccl *c = h;
    c->what = "disconnecting the ranks";
    return check_begun(c, c->lib.leave(c->comm), e);
}

void gnn_nccl_abort(void *h)
{
    struct nccl *c = h;
    if (c->comm)
        (void)c->lib.cancel(c->comm);
    c->comm = NULL;
}

void gnn_nccl_free(void *h)
{
    struct nccl *c = h;
    if (c && c->comm)
        (void)c->lib.destroy(c->comm);
    gnn_free(c);
}

#else /* no header, or of a library that is too old: only the first of these is ever called */
#pragma GCC diagnostic ignored "-Wunused-parameter"

int gnn_nccl_new(void **h, const char *path, unsigned *version, struct gnn_err *e)
{
    *h = NULL;
    *version = 0;
    return gnn_fail(e, GNN_E_DEVICE, "built without NCCL");
}

int gnn_nccl_make_id(void *h, struct gnn_nccl_id *id, struct gnn_err *e)
{
    return GNN_E_DEVICE;
}

int gnn_nccl_join(void *h, const struct gnn_nccl_id *id, uint32_t rank, uint32_t size,
                  struct gnn_err *e)
{
    return GNN_E_DEVICE;
}

int gnn_nccl_busy(void *h, bool *busy, bool *other, struct gnn_err *e)
{
    return GNN_E_DEVICE;
}

int gnn_nccl_all_reduce(void *h, void *data, uint64_t n, int kind, void *stream, struct gnn_err *e)
{
    return GNN_E_DEVICE;
}

int gnn_nccl_exchange(void *h, const struct gnn_span *out, const struct gnn_span *in, void *stream,
                      struct gnn_err *e)
{
    return GNN_E_DEVICE;
}

int gnn_nccl_leave(void *h, struct gnn_err *e)
{
    return GNN_E_DEVICE;
}

void gnn_nccl_abort(void *h)
{
}

void gnn_nccl_free(void *h)
{
}

#endif
