/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs of other ranks (lib/gpu/peers.h): which of them this rank's devices can read through CUDA
 * IPC, found out by trying, and their memory, once it is exported. Whether it works depends on
 * driver, container and topology together, and no query tells. */
#include "lib/gpu/peers.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "formats/xxh.h"

enum { TRIAL = 256 }; /* bytes */

/* What a rank reports of each device. */
struct device_report {
    uint64_t host, id, bytes, exports;
    struct gnn_dev_handle handle;
};

static uint32_t message_tag(void)
{
    return gnn_comm_tag(GNN_COMM_CONTROL, GNN_COMM_DEVICES);
}

/* ---- identities ---- */

/* One number for a host: processes of one machine, since one boot of it, with the same host name
 * (containers have their own). */
static uint64_t host_id(void)
{
    char text[256] = "";
    (void)gethostname(text, 128);
    const size_t n = strlen(text);
    const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? 0 : read(fd, text + n, sizeof text - n);
    if (fd >= 0)
        close(fd);
    return XXH3_64bits(text, n + (got > 0 ? (size_t)got : 0));
}

/* What tells a device from all others of all ranks. */
struct identity {
    uint64_t host, id;
};

int gnn_gpu_peers_users(const struct gnn_gpu *g, struct gnn_comm *comm, uint32_t *users,
                        struct gnn_err *e)
{
    struct identity own[GNN_GPU_MAX] = {{0}};
    struct gnn_exchange x = {0};
    int rc = gnn_exchange_init(&x, comm, message_tag(), e);
    for (unsigned u = 0; !rc && u < g->n; u++) {
        own[u].host = host_id();
        users[u] = 0;
        rc = gnn_dev_id(g->device[u], &own[u].id, e);
    }
    if (!rc)
        rc = gnn_comm_all_gather(comm, &x, own, g->n * sizeof *own, e);
    for (uint32_t r = 0; !rc && r < comm->size; r++) {
        const struct identity *other = x.in[r].data;
        if (!x.in[r].bytes || x.in[r].bytes % sizeof *other)
            rc = gnn_fail(e, GNN_E_RANK, "malformed reply from rank %u about its devices", r);
        for (uint64_t i = 0; !rc && i < x.in[r].bytes / sizeof *other; i++)
            for (unsigned u = 0; u < g->n; u++)
                users[u] += !memcmp(&other[i], &own[u], sizeof *other);
    }
    gnn_exchange_release(&x);
    return rc;
}

/* The device of this host that has the id. *device == *n: this process does not see it. */
static int find_device(uint64_t id, unsigned *device, unsigned *n, struct gnn_err *e)
{
    int rc = gnn_dev_count(n, e);
    for (*device = 0; !rc && *device < *n; ++*device) {
        uint64_t v;
        rc = gnn_dev_id(*device, &v, e);
        if (!rc && v == id)
            return 0;
    }
    return rc;
}

/* Can device `unit` import what the peer, a device of another rank, exports? *apart says why
 * not. */
static int try_import(const struct gnn_gpu_peers *p, unsigned unit, const struct gnn_gpu_peer *peer,
                      unsigned char *apart, struct gnn_err *e)
{
    const unsigned own = p->g->device[unit];
    struct gnn_err refused = {0};
    unsigned device, n;
    uint64_t bytes;
    void *at;
    if (find_device(peer->id, &device, &n, e) || gnn_dev_use(own, e))
        return e->code;
    *apart = device == n                                            ? GNN_GPU_HIDDEN
             : device != own && !gnn_dev_peer(own, device)          ? GNN_GPU_NO_PATH
             : gnn_dev_import(&peer->handle, &at, &bytes, &refused) ? GNN_GPU_REFUSED
                                                                    : GNN_GPU_TOGETHER;
    if (*apart == GNN_GPU_TOGETHER)
        gnn_dev_import_close(at);
    return 0;
}

static int fill_own_reach(struct gnn_gpu_peers *p, const bool *exports, unsigned char *apart,
                          struct gnn_err *e)
{
    const struct gnn_gpu_peer *self = &p->peer[p->self];
    int rc = 0;
    for (unsigned u = 0; u < p->g->n; u++)
        for (uint32_t i = 0; !rc && i < p->n; i++) {
            const struct gnn_gpu_peer *q = &p->peer[i];
            unsigned char *a = &apart[(size_t)u * p->n + i];
            *a = GNN_GPU_NO_PATH;
            if (q->rank == self->rank &&
                (q->unit == u || gnn_dev_peer(p->g->device[u], p->g->device[q->unit])))
                *a = GNN_GPU_TOGETHER;
            else if (q->rank != self->rank && q->host == self->host && exports[i])
                rc = try_import(p, u, q, a, e);
            else if (q->rank != self->rank && q->host == self->host)
                *a = GNN_GPU_REFUSED;
        }
    return rc;
}

/* ---- exchanging reports ---- */

static int fail_malformed(uint32_t rank, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_RANK, "malformed reply from rank %u about its devices", rank);
}

/* All ranks' devices, from their reports. exports[n]. */
static int read_all(struct gnn_gpu_peers *p, const struct gnn_exchange *x, bool **exports,
                    struct gnn_err *e)
{
    for (uint32_t r = 0; r < p->comm->size; r++) {
        if (x->in[r].bytes % sizeof(struct device_report) || !x->in[r].bytes)
            return fail_malformed(r, e);
        p->n += (uint32_t)(x->in[r].bytes / sizeof(struct device_report));
    }
    p->peer = gnn_alloc_zero(p->n, sizeof *p->peer, "devices of other ranks", e);
    p->apart = gnn_alloc_zero((uint64_t)p->n * p->n, 1, "devices of other ranks", e);
    *exports = gnn_alloc_zero(p->n, sizeof **exports, "devices of other ranks", e);
    if (!p->peer || !p->apart || !*exports)
        return e->code;
    for (uint32_t r = 0, i = 0; r < p->comm->size; r++) {
        const struct device_report *s = x->in[r].data;
        if (r == p->comm->rank)
            p->self = i;
        for (uint32_t u = 0; u < x->in[r].bytes / sizeof *s; u++, i++) {
            p->peer[i] = (struct gnn_gpu_peer){r, u, s[u].host, s[u].id, s[u].bytes, s[u].handle};
            (*exports)[i] = s[u].exports;
        }
    }
    return 0;
}

/* Reports of this rank's devices, with memory of each that others try to import. */
static int describe_own(const struct gnn_gpu_peers *p, const uint64_t *bytes,
                        struct device_report *s, void **trial, struct gnn_err *e)
{
    const uint64_t host = host_id();
    int rc = 0;
    for (unsigned u = 0; !rc && u < p->g->n; u++) {
        struct gnn_err refused = {0};
        s[u].host = host;
        s[u].bytes = bytes[u];
        rc = gnn_dev_id(p->g->device[u], &s[u].id, e) || gnn_dev_use(p->g->device[u], e) ||
                     gnn_dev_alloc(&trial[u], TRIAL, "a trial", e)
                 ? e->code
                 : 0;
        if (!rc)
            /* A refusal is no failure: this rank then caches without the others. */
            s[u].exports = !gnn_dev_export(trial[u], &s[u].handle, &refused);
    }
    return rc;
}

static int share_reach(struct gnn_gpu_peers *p, struct gnn_exchange *x, const unsigned char *apart,
                       struct gnn_err *e)
{
    int rc = gnn_comm_all_gather(p->comm, x, apart, (uint64_t)p->g->n * p->n, e);
    for (uint32_t r = 0, i = 0; !rc && r < p->comm->size; r++) {
        uint32_t units = 0;
        while (i + units < p->n && p->peer[i + units].rank == r)
            units++;
        if (x->in[r].bytes != (uint64_t)units * p->n)
            return fail_malformed(r, e);
        memcpy(p->apart + (size_t)i * p->n, x->in[r].data, x->in[r].bytes);
        i += units;
    }
    return rc;
}

int gnn_gpu_peers_meet(struct gnn_gpu_peers **out, struct gnn_gpu *g, struct gnn_comm *comm,
                       const uint64_t *bytes, struct gnn_err *e)
{
    struct gnn_gpu_peers *p = *out = gnn_alloc(1, sizeof *p, "devices of other ranks", e);
    struct device_report *s = gnn_alloc_zero(g->n, sizeof *s, "devices of other ranks", e);
    void *trial[GNN_GPU_MAX] = {NULL};
    struct gnn_exchange x = {0};
    unsigned char *apart = NULL;
    bool *exports = NULL;
    int rc = p && s ? 0 : e->code;
    if (p)
        *p = (struct gnn_gpu_peers){.comm = comm, .g = g};
    if (!rc)
        rc = gnn_exchange_init(&x, comm, message_tag(), e) || describe_own(p, bytes, s, trial, e) ||
                     gnn_comm_all_gather(comm, &x, s, g->n * sizeof *s, e) ||
                     read_all(p, &x, &exports, e)
                 ? e->code
                 : 0;
    if (!rc && !(apart = gnn_alloc_zero((uint64_t)g->n * p->n, 1, "devices of other ranks", e)))
        rc = e->code;
    if (!rc)
        rc = fill_own_reach(p, exports, apart, e);
    /* Also a barrier: after it all have tried, and the trial's memory may go. */
    if (!rc)
        rc = share_reach(p, &x, apart, e); /* all have tried */
    for (unsigned u = 0; u < g->n; u++)
        gnn_dev_free(trial[u]);
    gnn_exchange_release(&x);
    gnn_free(s);
    gnn_free(apart);
    gnn_free(exports);
    return rc;
}

bool gnn_gpu_clique(uint32_t n, bool (*together)(const void *arg, uint32_t a, uint32_t b),
                    const void *arg, bool *taken, uint32_t *member, uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool all = !taken[i];
        /* Both directions: a clique's devices all read each other. */
        for (uint32_t m = 0; all && m < *count; m++)
            all = together(arg, i, member[m]) && together(arg, member[m], i);
        if (!all)
            continue;
        taken[i] = true;
        member[(*count)++] = i;
    }
    return *count > 0;
}

bool gnn_gpu_peers_together(const void *peers, uint32_t a, uint32_t b)
{
    const struct gnn_gpu_peers *p = peers;
    return p->apart[(size_t)a * p->n + b] == GNN_GPU_TOGETHER;
}

enum gnn_gpu_apart gnn_gpu_peers_apart(const struct gnn_gpu_peers *p, uint32_t *rank)
{
    enum gnn_gpu_apart worst = GNN_GPU_TOGETHER;
    for (uint32_t i = 0; i < p->n; i++)
        for (uint32_t k = 0; k < p->n; k++)
            if (p->peer[i].host == p->peer[k].host && p->peer[i].rank != p->peer[k].rank &&
                p->apart[(size_t)i * p->n + k] > worst) {
                worst = (enum gnn_gpu_apart)p->apart[(size_t)i * p->n + k];
                rank[0] = p->peer[i].rank;
                rank[1] = p->peer[k].rank;
            }
    return worst;
}

/* ---- memory ---- */

int gnn_gpu_peers_export(struct gnn_gpu_peers *p, void *const *memory, struct gnn_err *e)
{
    const unsigned units = p->g->n;
    struct gnn_dev_handle *h = gnn_alloc_zero(units, sizeof *h, "devices of other ranks", e);
    struct gnn_exchange x = {0};
    int rc = h ? gnn_exchange_init(&x, p->comm, message_tag(), e) : e->code;
    for (unsigned u = 0; !rc && u < units; u++)
        if (memory[u])
            rc = gnn_dev_export(memory[u], &h[u], e);
    if (!rc)
        rc = gnn_comm_all_gather(p->comm, &x, h, units * sizeof *h, e);
    for (uint32_t i = 0; !rc && i < p->n; i++) {
        struct gnn_gpu_peer *q = &p->peer[i];
        if (x.in[q->rank].bytes < (q->unit + 1) * sizeof *h)
            rc = fail_malformed(q->rank, e);
        else
            memcpy(&q->handle, (const struct gnn_dev_handle *)x.in[q->rank].data + q->unit,
                   sizeof q->handle);
    }
    gnn_exchange_release(&x);
    gnn_free(h);
    return rc;
}

int gnn_gpu_peers_open(struct gnn_gpu_peers *p, unsigned unit, uint32_t peer, void **at,
                       struct gnn_err *e)
{
    uint64_t bytes;
    int rc = gnn_grow(&p->opened, p->nopened, sizeof *p->opened, "devices of other ranks", e) ||
                     gnn_dev_use(p->g->device[unit], e) ||
                     gnn_dev_import(&p->peer[peer].handle, at, &bytes, e)
                 ? e->code
                 : 0;
    if (!rc)
        p->opened[p->nopened++] = *at;
    return rc;
}

void gnn_gpu_peers_close(struct gnn_gpu_peers *p)
{
    struct gnn_err ignored = {0};
    uint64_t n = 0;
    if (!p)
        return;
    /* What was imported must be closed before its owner frees it, so all ranks close first, and
     * then wait for each other. A rank that is lost is not waited for. */
    for (uint64_t i = 0; i < p->nopened; i++)
        gnn_dev_import_close(p->opened[i]);
    if (!p->comm->lost)
        (void)!gnn_comm_all_reduce(p->comm, &n, 1, GNN_REDUCE_MAX, &ignored);
    gnn_free(p->peer);
    gnn_free(p->apart);
    gnn_free(p->opened);
    gnn_free(p);
}
