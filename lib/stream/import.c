/* SPDX-License-Identifier: Apache-2.0 */
/* The reader's side of the transport of batches by reference. */
#include <fcntl.h>
#include <linux/magic.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "lib/stream/transport.h"
#include "lib/stream/handshake.h"
#include "lib/base/mapped.h"
#include "lib/base/shared.h"
#include "lib/gpu/gpu.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

enum {
    SLOTS_MAX = 64,
    CHUNK = 1 << 20,
    HINTS_MAX = 1 << 24,
    DYING_MS = 500 /* a process that dies loses its memory some moments before its sockets */
};

/* Rows of a file that batches refer to. */
struct rows_in_file {
    struct gnn_tensor all;
    char *name;
    uint64_t file, offset;
    struct rows_in_file *next;
};

struct gnn_importer {
    pthread_mutex_t lock; /* of users, held and sending */
    unsigned users;       /* the reader, and one for each lease */
    int sock, memory;
    char *base;            /* NULL until something was offered */
    uint64_t window, size; /* mapped, and of that known to be there */
    /* for each CHUNK of the window, whether its pages have been asked for; or NULL */
    uint8_t *near;
    uint32_t slots, nheld;
    uint64_t held; /* a bit for each slot */
    bool takes_rows;
    int file[GNN_HANDSHAKE_FILES]; /* passed by the exporter; -1 when it is mapped */
    uint32_t nfiles;
    struct rows_in_file *rows;
    struct gnn_gpu *gpu;
    struct gnn_gpu_import *imported;
    int copying; /* slot of device memory that a frame is copied from, or -1 */
};

/* Says who reads, and on which devices. */
static bool send_handshake(const struct gnn_importer *b, uint64_t sum)
{
    struct gnn_err none = {0};
    const struct gnn_handshake hello = {GNN_HANDSHAKE_CONNECT, gnn_gpu_count(b->gpu), sum};
    bool good = gnn_handshake_send(b->sock, &hello, -1);
    for (uint32_t i = 0; good && i < hello.slots; i++) {
        struct gnn_handshake m = {.what = GNN_HANDSHAKE_DEVICE};
        good = !b->gpu->ops->id(b->gpu, b->gpu->device[i], &m.value, &none) &&
               gnn_handshake_send(b->sock, &m, -1);
    }
    return good;
}

struct gnn_importer *gnn_importer_new(int fd, uint64_t sum, struct gnn_gpu *gpu, bool rows)
{
    struct gnn_err none = {0};
    const int sock = gnn_handshake_connect(fd);
    if (sock < 0)
        return NULL;
    struct gnn_importer *b = gnn_alloc_zero(1, sizeof *b, "shared memory", &none);
    if (b)
        *b = (struct gnn_importer){
            .users = 1, .sock = sock, .memory = -1, .gpu = gpu, .copying = -1, .takes_rows = rows};
    if (!b || !send_handshake(b, sum)) {
        gnn_free(b);
        close(sock);
        return NULL;
    }
    pthread_mutex_init(&b->lock, NULL);
    return b;
}

static void free_rows(struct rows_in_file *r)
{
    gnn_mapped_free(r->all.data);
    gnn_free(r->name);
    gnn_free(r);
}

/* Frees the object when nobody uses it any more. */
static void free_if_unused(struct gnn_importer *b)
{
    pthread_mutex_lock(&b->lock);
    const bool last = !--b->users;
    pthread_mutex_unlock(&b->lock);
    if (!last)
        return;
    if (b->base)
        munmap(b->base, b->window);
    if (b->memory >= 0)
        close(b->memory);
    gnn_free(b->near);
    for (struct rows_in_file *r; (r = b->rows);) {
        b->rows = r->next;
        free_rows(r);
    }
    for (uint32_t i = 0; i < b->nfiles; i++)
        if (b->file[i] >= 0)
            close(b->file[i]);
    if (b->sock >= 0)
        close(b->sock);
    pthread_mutex_destroy(&b->lock);
    gnn_free(b);
}

void gnn_importer_free(struct gnn_importer *b)
{
    if (!b)
        return;
    if (b->imported)
        b->gpu->ops->import_free(b->imported); /* before the socket closes, which tells the writer
                                            that it may free the memory */
    b->imported = NULL;
    pthread_mutex_lock(&b->lock);
    if (b->users > 1 && b->sock >= 0) /* leases keep it open, and the writer may wait for its end */
        (void)shutdown(b->sock, SHUT_WR);
    pthread_mutex_unlock(&b->lock);
    free_if_unused(b);
}

/* Maps the memory that was offered. It must not shrink, or reading it would end this process by
 * SIGBUS, and its pages must not be larger than ours. */
static bool map_offer(struct gnn_importer *b, const struct gnn_handshake *m, int fd)
{
    const int seals = fcntl(fd, F_GET_SEALS);
    struct statfs f;
    if (m->what != GNN_HANDSHAKE_OFFER || m->slots < 2 || m->slots > SLOTS_MAX ||
        m->value > SIZE_MAX / 2)
        return false;
    if (fstatfs(fd, &f) || f.f_type != TMPFS_MAGIC || seals < 0 || !(seals & F_SEAL_SHRINK))
        return false;
    void *p = gnn_share_map(fd, m->value, PROT_READ);
    if (!p)
        return false;
    struct gnn_err none = {0};
    if (m->value / CHUNK < HINTS_MAX) /* whatever is offered */
        b->near = gnn_alloc_zero(m->value / CHUNK + 1, 1, "shared memory", &none);
    b->base = p;
    b->window = m->value;
    b->slots = m->slots;
    b->memory = fd;
    return true;
}

/* No memory has been offered, and none will be. */
static void hang_up(struct gnn_importer *b)
{
    close(b->sock);
    b->sock = -1;
}

static void send_answer(struct gnn_importer *b)
{
    struct gnn_handshake m;
    int fd = -1;
    const int got = gnn_handshake_recv(b->sock, &m, &fd);
    const struct gnn_handshake taken = {GNN_HANDSHAKE_ACCEPT, 0, b->takes_rows};
    if (got > 0 && fd >= 0 && map_offer(b, &m, fd)) {
        if (!gnn_handshake_send(b->sock, &taken, -1))
            hang_up(b);
        return;
    }
    if (fd >= 0)
        close(fd);
    if (got)
        hang_up(b);
}

void gnn_importer_wait(struct gnn_importer *b, int fd)
{
    while (!b->base && b->sock >= 0) {
        struct pollfd p[3] = {{.fd = fd, .events = POLLIN},
                              {.fd = b->sock, .events = POLLIN},
                              {.fd = gnn_io_stop(), .events = POLLIN}};
        if (poll(p, 3, -1) < 0)
            continue;
        if (p[1].revents)
            send_answer(b);
        else
            return;
    }
}

static void give_back(struct gnn_lease *l)
{
    struct gnn_importer *b = l->owner;
    const struct gnn_handshake m = {GNN_HANDSHAKE_RELEASE, l->slot, 0};
    pthread_mutex_lock(&b->lock);
    b->held &= ~(UINT64_C(1) << l->slot);
    b->nheld--;
    (void)gnn_handshake_send(b->sock, &m, -1); /* a writer that has gone needs nothing back */
    pthread_mutex_unlock(&b->lock);
    free_if_unused(b);
}

static const char *lease_slot(struct gnn_importer *b, uint32_t slot, struct gnn_lease *l)
{
    if (l->give_back)
        return l->owner == b && l->slot == slot ? NULL
                                                : "references to different slots in one frame";
    pthread_mutex_lock(&b->lock);
    const bool taken = b->held >> slot & 1;
    if (!taken) {
        b->held |= UINT64_C(1) << slot;
        b->nheld++;
        b->users++;
    }
    pthread_mutex_unlock(&b->lock);
    if (taken)
        return "reference to a slot that was not released";
    *l = (struct gnn_lease){give_back, b, slot};
    return NULL;
}

/* Pages that are new to us are mapped in one go, not fault by fault. A hint. */
static void populate_pages(struct gnn_importer *b, uint64_t offset, uint64_t bytes)
{
    const uint64_t to = (offset + bytes + CHUNK - 1) / CHUNK;
    for (uint64_t at = offset / CHUNK, from; b->near && at < to; at++) {
        for (from = at; at < to && !b->near[at]; at++)
            b->near[at] = 1;
        const uint64_t end = at * CHUNK < b->size ? at * CHUNK : b->size;
        if (at > from)
            (void)madvise(b->base + from * CHUNK, end - from * CHUNK, MADV_POPULATE_READ);
    }
}

const char *gnn_importer_map(struct gnn_importer *b, const struct gnb_reference *ref,
                             uint64_t bytes, struct gnn_tensors *set, void **data)
{
    if (!b || !b->base)
        return "its tensors are in memory that the producer shares with another program";
    if (ref->slot >= b->slots || ref->offset % GNB_ALIGN || ref->offset > b->window ||
        bytes > b->window - ref->offset)
        return "reference out of range";
    if (ref->offset + bytes > b->size) { /* it grows */
        struct stat st;
        b->size = fstat(b->memory, &st) || st.st_size < 0 ? 0 : (uint64_t)st.st_size;
        if (ref->offset + bytes > b->size)
            return "reference beyond the shared memory";
    }
    const char *text = lease_slot(b, ref->slot, &set->lease);
    *data = b->base + ref->offset;
    if (!text)
        populate_pages(b, ref->offset, bytes);
    return text;
}

/* ---- rows of files ---- */

/* Takes the descriptors that the exporter passed before it named this file. */
static int take_file(struct gnn_importer *b, uint64_t number, int *file, struct gnn_err *e)
{
    struct gnn_handshake m;
    int fd = -1;
    while (b->nfiles <= number && b->nfiles < GNN_HANDSHAKE_FILES &&
           gnn_handshake_recv(b->sock, &m, &fd) > 0 && m.what == GNN_HANDSHAKE_FILE &&
           m.value == b->nfiles) {
        if (fd < 0)
            return gnn_fail(e, GNN_E_RUN,
                            "no descriptor for the file of features: too many are open");
        b->file[b->nfiles++] = fd;
        fd = -1;
    }
    if (fd >= 0)
        close(fd);
    if (number >= b->nfiles || b->file[number] < 0)
        return gnn_fail(e, GNN_E_INPUT, "its rows are in a file that was not passed");
    *file = b->file[number];
    return 0;
}

static char *path_of(int fd, struct gnn_err *e)
{
    char link[32], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    return gnn_strdup(n > 0 ? path : "the store", e);
}

static struct rows_in_file *map_rows(const struct gnb_reference *ref, const struct gnn_tensor *as,
                                     int fd, struct gnn_err *e)
{
    struct stat st;
    uint64_t bytes;
    struct rows_in_file *r = gnn_alloc_zero(1, sizeof *r, "features in place", e);
    if (!r)
        return NULL;
    *r = (struct rows_in_file){.all = *as, .file = ref->file, .offset = ref->offset};
    r->all.shape[0] = ref->rows;
    r->all.data = NULL;
    char *path = NULL;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !gnn_tensor_bytes(&r->all, &bytes) ||
        ref->offset > (uint64_t)st.st_size || bytes > (uint64_t)st.st_size - ref->offset)
        gnn_fail(e, GNN_E_INPUT, "reference beyond the end of its file");
    else if ((r->name = gnn_strdup(as->name, e)) && (path = path_of(fd, e)))
        r->all.data = gnn_mapped_new(fd, ref->offset, bytes, false, path, e);
    r->all.name = r->name;
    gnn_free(path);
    if (r->all.data)
        return r;
    free_rows(r);
    return NULL;
}

int gnn_importer_rows(struct gnn_importer *b, const struct gnb_reference *ref,
                      const struct gnn_tensor *as, struct gnn_tensors *set,
                      const struct gnn_tensor **all, struct gnn_err *e)
{
    if (!b || !b->base || !b->takes_rows)
        return gnn_fail(e, GNN_E_INPUT,
                        "its rows are in a file that was passed to another program");
    if (ref->slot >= b->slots || ref->offset % GNB_ALIGN || !ref->rows)
        return gnn_fail(e, GNN_E_INPUT, "reference out of range");
    const char *text = lease_slot(b, ref->slot, &set->lease);
    if (text)
        return gnn_fail(e, GNN_E_INPUT, "%s", text);
    struct rows_in_file *r = b->rows;
    while (r && r->file != ref->file)
        r = r->next;
    if (r &&
        (r->offset != ref->offset || r->all.dtype != as->dtype || r->all.shape[0] != ref->rows ||
         r->all.shape[1] != as->shape[1] || strcmp(r->name, as->name) != 0))
        return gnn_fail(e, GNN_E_INPUT, "reference to other rows than before in the same file");
    if (!r) {
        int fd;
        if (take_file(b, ref->file, &fd, e) || !(r = map_rows(ref, as, fd, e)))
            return e->code;
        close(fd);
        b->file[ref->file] = -1;
        r->next = b->rows;
        b->rows = r;
    }
    *all = &r->all;
    return 0;
}

int gnn_importer_changed(struct gnn_importer *b, struct gnn_err *e)
{
    return b && b->rows ? gnn_mapped_check(e) : 0;
}

/* Copying from the producer's memory failed, or that program may have ended before it was complete.
 * If it has, this is reported, and nothing else. */
static int blame_writer(const struct gnn_importer *b, const struct gnn_err *own, struct gnn_err *e)
{
    return gnn_handshake_gone(b->sock, DYING_MS)
               ? gnn_fail(e, GNN_E_INPUT, "the program that sends the batches has exited")
               : gnn_fail(e, (enum gnn_status)own->code, "%s", own->msg);
}

int gnn_importer_copy(struct gnn_importer *b, const struct gnb_reference *ref,
                      const struct gnn_tensor *as, struct gnn_tensors *set, unsigned *device,
                      struct gnn_err *e)
{
    if (!b || !b->base || !gnn_gpu_count(b->gpu))
        return gnn_fail(e, GNN_E_INPUT,
                        "its tensors are on a device and were exported to another program");
    if (ref->slot >= b->slots || (b->copying >= 0 && (uint32_t)b->copying != ref->slot) ||
        b->held >> ref->slot & 1)
        return gnn_fail(e, GNN_E_INPUT, "reference out of range");
    b->copying = (int)ref->slot;
    struct gnn_err own = {0};
    const int rc = b->gpu->ops->import_tensor(b->gpu, &b->imported, ref, as, set, device, &own);
    return rc ? blame_writer(b, &own, e) : 0;
}

/* The copies of a frame are finished, or fail; in any case the slot goes back. */
static int finish_copies(struct gnn_importer *b, struct gnn_err *e)
{
    const struct gnn_handshake m = {GNN_HANDSHAKE_RELEASE, (uint32_t)b->copying, 0};
    struct gnn_err own = {0};
    const int rc = b->gpu->ops->import_wait(b->imported, &own);
    b->copying = -1;
    if (rc || gnn_handshake_gone(b->sock, 0))
        return blame_writer(b, &own, e);
    (void)gnn_handshake_send(b->sock, &m, -1);
    return 0;
}

static void end_lease(struct gnn_lease *l)
{
    free_if_unused(l->owner);
}

int gnn_importer_release(struct gnn_importer *b, struct gnn_tensors *set, bool rows,
                         struct gnn_err *e)
{
    if (b->copying >= 0)
        return finish_copies(b, e);
    pthread_mutex_lock(&b->lock);
    const bool all = set->lease.give_back && b->nheld == b->slots;
    pthread_mutex_unlock(&b->lock);
    if (!all || gnn_tensors_own(set, e) || !rows)
        return e->code;
    pthread_mutex_lock(&b->lock);
    b->users++;
    pthread_mutex_unlock(&b->lock);
    set->lease = (struct gnn_lease){.give_back = end_lease, .owner = b};
    return 0;
}
