/* SPDX-License-Identifier: Apache-2.0 */
/* The writer's side of the transport of batches by reference. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/stream/transport.h"
#include "lib/stream/handshake.h"
#include "lib/base/mapped.h"
#include "lib/base/shared.h"
#include "lib/gpu/gpu.h"

enum {
    ANSWER_MS = 50, /* a reader that has greeted us answers at once; it is asked once with so much
                       patience, as is one that might take features in place */
    GRACE_S = 5, /* with SHM: after the HEADER was read a reader of ours connects at once; and how
                    long features in place wait for that */
    TICK_MS = 20,
    SPARE = 1 << 20 /* of a staging area, kept without being needed */
};

/* The tensor of all rows, its offset in its file, and the number under which the importer got the
 * descriptor. */
struct rows_in_file {
    const struct gnn_tensor *all;
    uint64_t offset, file;
};

enum state { LISTENING, GREETING, OFFERED, OPEN, OVER };

struct export_slot {
    struct gnn_batch *b;           /* NULL: the slot is free, unless it is `away` */
    struct gnn_gpu_export *device; /* device memory, or NULL */
    bool away;                     /* the reader copies from that */
    /* for tensors that cannot move there: those that came by reference, or are pinned */
    void *stage;
    uint64_t cap, wanted, used; /* bytes there, as many as were asked for, and in use */
};

struct gnn_exporter {
    enum state state;
    int pipe, listener, sock;
    const char *name;
    bool must, on_device, asked; /* the second: with CUDA */
    uint64_t sum;                /* of the HEADER */
    struct gnn_gpu *gpu;
    uint32_t awaited, named; /* devices that the reader promised to name, and has; awaited
                                UINT32_MAX: no CONNECT yet */
    uint64_t theirs[GNN_HANDSHAKE_DEVICES]; /* those */
    /* Features may stay in files: the reader said so; it cannot have one of the files; it was
     * waited for. */
    bool takes_rows, refused, waited;
    struct rows_in_file rows[GNN_HANDSHAKE_FILES];
    uint32_t nrows;
    uint64_t ours[GNN_GPU_MAX];
    bool exportable[GNN_GPU_MAX]; /* can others open memory there? */
    bool exported;                /* device memory, ever */
    struct gnn_share *share;
    struct export_slot slot[GNN_TRANSPORT_SLOTS];
};

int gnn_exporter_new(struct gnn_exporter **out, int fd, const char *name, enum gnn_transport how,
                     struct gnn_gpu *gpu, struct gnn_err *e)
{
    *out = NULL;
    if (how == GNN_TRANSPORT_INLINE)
        return 0;
    const bool must = how == GNN_TRANSPORT_SHM || how == GNN_TRANSPORT_CUDA;
    const int listener = gnn_handshake_listen(fd);
    if (listener < 0) {
        if (!must)
            return 0;
        return errno == ENOTSUP
                   ? gnn_fail(e, GNN_E_USAGE,
                              "%s: not a pipe: batches cannot be passed by reference", name)
                   : gnn_fail_errno(e, "%s: cannot export batches", name);
    }
    struct gnn_exporter *l = gnn_alloc_zero(1, sizeof *l, "a transport between programs", e);
    if (!l) {
        close(listener);
        return e->code;
    }
    *l = (struct gnn_exporter){.state = LISTENING,
                               .pipe = fd,
                               .listener = listener,
                               .sock = -1,
                               .name = name,
                               .must = must,
                               .on_device = how == GNN_TRANSPORT_CUDA,
                               .gpu = gpu,
                               .awaited = UINT32_MAX};
    *out = l;
    int rc = 0;
    for (unsigned i = 0; !rc && i < gnn_gpu_count(gpu); i++) {
        struct gnn_err why = {0};
        rc = gpu->ops->id(gpu, gpu->device[i], &l->ours[i], e);
        /* Tried once at the start: containers and old drivers refuse to export. */
        l->exportable[i] =
            !rc && how != GNN_TRANSPORT_SHM && !gpu->ops->exportable(gpu, gpu->device[i], &why);
        if (!rc && !l->exportable[i] && l->on_device)
            rc = gnn_fail(e, (enum gnn_status)why.code, "%s: cannot export memory of device %u: %s",
                          name, gpu->device[i], why.msg);
    }
    return rc;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Ends passing by reference: the reader is gone, or there is no memory. Memory that was exported
 * stays: the reader may have hung up and still be reading. */
static void stop_exporting(struct gnn_exporter *l)
{
    close_fd(&l->sock);
    close_fd(&l->listener);
    for (int i = 0; i < GNN_TRANSPORT_SLOTS; i++) {
        if (l->slot[i].b)
            gnn_tensors_unshare(&l->slot[i].b->tensors);
        gnn_batch_put(l->slot[i].b);
        l->slot[i].b = NULL;
        l->slot[i].away = false;
    }
    l->state = OVER;
}

static int offer_memory(struct gnn_exporter *l, struct gnn_err *e)
{
    struct gnn_err why = {0};
    if (!l->share && gnn_share_new(&l->share, &why)) {
        stop_exporting(l);
        return l->must ? gnn_fail(e, (enum gnn_status)why.code, "%s: cannot export batches: %s",
                                  l->name, why.msg)
                       : 0;
    }
    const struct gnn_handshake m = {GNN_HANDSHAKE_OFFER, GNN_TRANSPORT_SLOTS,
                                    gnn_share_window(l->share)};
    l->state = gnn_handshake_send(l->sock, &m, gnn_share_fd(l->share)) ? OFFERED : LISTENING;
    return 0;
}

/* Back to waiting for a reader: this one is none, or cannot map. */
static void dismiss_reader(struct gnn_exporter *l)
{
    close_fd(&l->sock);
    l->awaited = UINT32_MAX;
    l->state = LISTENING;
}

/* CONNECT and what follows it. 1: all is there; 0: not yet; -1: this is no reader of ours. */
static int hear_handshake(struct gnn_exporter *l)
{
    struct gnn_handshake m;
    int got;
    while ((got = gnn_handshake_recv(l->sock, &m, NULL)) > 0) {
        if (l->awaited == UINT32_MAX && m.what == GNN_HANDSHAKE_CONNECT && m.value == l->sum &&
            m.slots <= GNN_HANDSHAKE_DEVICES) {
            l->awaited = m.slots;
            l->named = 0;
        } else if (l->awaited != UINT32_MAX && m.what == GNN_HANDSHAKE_DEVICE) {
            l->theirs[l->named++] = m.value;
        } else {
            return -1;
        }
        if (l->named == l->awaited)
            return 1;
    }
    return got;
}

/* Continues the handshake as far as possible without waiting. */
static int advance_handshake(struct gnn_exporter *l, struct gnn_err *e)
{
    struct gnn_handshake m;
    if (l->state == LISTENING) {
        l->sock = gnn_handshake_accept(l->listener);
        if (l->sock < 0)
            return 0;
        l->state = GREETING;
    }
    if (l->state == GREETING) {
        const int got = hear_handshake(l);
        if (!got)
            return 0;
        const int rc = got > 0 ? offer_memory(l, e) : 0;
        if (l->state != OFFERED) {
            if (l->state != OVER)
                dismiss_reader(l);
            return rc;
        }
    }
    if (l->state == OFFERED) {
        struct pollfd p = {.fd = l->sock, .events = POLLIN};
        if (!l->asked)
            (void)poll(&p, 1, ANSWER_MS);
        l->asked = true;
        const int got = gnn_handshake_recv(l->sock, &m, NULL);
        if (got > 0 && m.what == GNN_HANDSHAKE_ACCEPT) {
            close_fd(&l->listener);
            l->takes_rows = m.value;
            l->state = OPEN;
        } else if (got)
            dismiss_reader(l);
    }
    return 0;
}

/* Takes back slots that the reader has released; with `wait`, waits for one, or for the end of the
 * reader. */
static void collect_slots(struct gnn_exporter *l, bool wait)
{
    struct gnn_handshake m;
    struct pollfd p = {.fd = l->sock, .events = POLLIN};
    if (wait)
        (void)poll(&p, 1, -1);
    int got;
    while ((got = gnn_handshake_recv(l->sock, &m, NULL)) > 0 && m.what == GNN_HANDSHAKE_RELEASE &&
           m.slots < GNN_TRANSPORT_SLOTS) {
        gnn_batch_put(l->slot[m.slots].b);
        l->slot[m.slots].b = NULL;
        l->slot[m.slots].away = false;
    }
    if (got)
        stop_exporting(l);
}

static bool reader_has_device(const struct gnn_exporter *l, uint64_t id)
{
    for (uint32_t i = 0; i < l->named; i++)
        if (l->theirs[i] == id)
            return true;
    return false;
}

static bool takes_any(const struct gnn_exporter *l)
{
    for (unsigned i = 0; i < gnn_gpu_count(l->gpu); i++)
        if (l->exportable[i] && reader_has_device(l, l->ours[i]))
            return true;
    return false;
}

bool gnn_exporter_accepts(struct gnn_exporter *l, unsigned device)
{
    struct gnn_err ignored = {0};
    if (l && l->state < OPEN)
        (void)!advance_handshake(l, &ignored);
    for (unsigned i = 0; l && l->state == OPEN && i < gnn_gpu_count(l->gpu); i++)
        if (l->gpu->device[i] == device)
            return l->exportable[i] && reader_has_device(l, l->ours[i]);
    return false;
}

/* Waits until the handshake is complete: at most `unread` seconds until the reader has taken the
 * HEADER out of the pipe, and `grace` more until it connects. Then it is one of ours, and accepts,
 * hangs up or ends, however long mapping takes. Ends early if nobody reads or this program is to
 * stop, which the next write says; l->state tells what became of it. */
static int await_reader(struct gnn_exporter *l, double unread, double grace, struct gnn_err *e)
{
    const double began = gnn_clock();
    double read_at = 0;
    int left = 0;
    while (!advance_handshake(l, e) && l->state < OPEN) {
        struct pollfd p[3] = {{.fd = l->pipe, .events = 0},
                              {.fd = l->sock >= 0 ? l->sock : l->listener, .events = POLLIN},
                              {.fd = gnn_io_stop(), .events = POLLIN}};
        if (poll(p, 3, TICK_MS) > 0 && (p[0].revents & POLLERR || p[2].revents))
            return 0;
        if (read_at <= 0 && !ioctl(l->pipe, FIONREAD, &left) && !left)
            read_at = gnn_clock();
        const bool late =
            read_at > 0 ? gnn_clock() - read_at > grace : gnn_clock() - began > unread;
        if (late && l->state < OFFERED)
            return l->must ? gnn_fail(e, GNN_E_RUN, "%s: the reader accepts no references", l->name)
                           : 0;
    }
    return e->code;
}

int gnn_exporter_handshake(struct gnn_exporter *l, uint64_t sum, struct gnn_err *e)
{
    l->sum = sum;
    const int rc = l->must ? await_reader(l, INFINITY, GRACE_S, e) : advance_handshake(l, e);
    if (!rc && l->state == OPEN && l->on_device && !takes_any(l))
        return gnn_fail(e, GNN_E_RUN, "%s: the reader uses none of the devices of this program",
                        l->name);
    return rc;
}

/* A staging area for what is not in shared memory yet. */
static bool fit_staging(struct gnn_exporter *l, struct export_slot *s, const struct gnn_tensors *t)
{
    uint64_t want = 0, bytes = 0, at;
    for (uint32_t i = 0; i < t->n; i++) {
        const struct gnn_tensor *x = gnn_tensors_at(t, i);
        if (!gnn_tensor_bytes(x, &bytes) || bytes > UINT64_MAX / 4 || want > UINT64_MAX / 4)
            return false;
        if (bytes >= GNN_SHARE_MIN && !gnn_share_offset(l->share, x->data, bytes, &at))
            want += (bytes + GNB_ALIGN - 1) & ~(uint64_t)(GNB_ALIGN - 1);
    }
    s->used = 0;
    if (want > s->cap || s->wanted > 2 * want + SPARE) { /* not if only its place is larger */
        gnn_share_free(l->share, s->stage, s->cap);
        s->stage =
            NULL; /* and not the device's: batches of the host and of devices may take turns */
        s->cap = s->wanted = 0;
        if (want && !(s->stage = gnn_share_alloc(l->share, want, want / 8, &s->cap)))
            return false;
        s->wanted = want;
    }
    return true;
}

static bool worth_it(const struct gnn_batch *b)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < b->tensors.n; i++)
        if (gnn_tensor_bytes(gnn_tensors_at(&b->tensors, i), &bytes) && bytes >= GNN_SHARE_MIN)
            return true;
    return gnn_batch_has_in_place(b);
}

/* Gives the reader the file of rows that it has not been given yet. False if it cannot have it. */
static bool give_file(struct gnn_exporter *l, const struct gnn_tensor *all)
{
    for (uint32_t i = 0; i < l->nrows; i++)
        if (l->rows[i].all == all)
            return true;
    if (l->nrows == GNN_HANDSHAKE_FILES)
        return false;
    struct rows_in_file f = {.all = all, .file = l->nrows};
    const int fd = gnn_mapped_open(all->data, &f.offset);
    const struct gnn_handshake m = {GNN_HANDSHAKE_FILE, 0, f.file};
    const bool given = fd >= 0 && gnn_handshake_send(l->sock, &m, fd);
    if (given)
        l->rows[l->nrows++] = f;
    if (fd >= 0)
        close(fd);
    return given;
}

bool gnn_exporter_accepts_rows(struct gnn_exporter *l, const struct gnn_batch *b)
{
    struct gnn_err ignored = {0}; /* only what must go by reference fails */
    const bool any = gnn_batch_has_in_place(b);
    if (!l || l->refused)
        return false;
    if (any && l->state < OPEN && !l->waited) {
        l->waited = true;
        (void)!await_reader(l, GRACE_S, 1e-3 * ANSWER_MS, &ignored);
    }
    if (l->state < OPEN)
        return !l->waited;
    for (uint32_t t = 0; t < b->nntypes && l->state == OPEN && l->takes_rows; t++)
        l->refused = l->refused || (b->type[t].x && !give_file(l, b->type[t].x));
    return l->state == OPEN && l->takes_rows && !l->refused;
}

/* Makes b's tensors reachable through slot i. false: there is no memory. */
static bool fill_slot(struct gnn_exporter *l, int i, struct gnn_batch *b, struct gnn_err *e)
{
    struct export_slot *s = &l->slot[i];
    if (!b->place) {
        gnn_tensors_share(&b->tensors, l->share);
        if (b->tensors.share == l->share)
            gnn_tensors_move(&b->tensors);
        return fit_staging(l, s, &b->tensors);
    }
    s->away = l->exported = true;
    return !l->gpu->ops->export_batch(l->gpu, &s->device, b, e);
}

int gnn_exporter_slot(struct gnn_exporter *l, struct gnn_batch *b, int *slot, struct gnn_err *e)
{
    *slot = -1;
    int rc = l->state < OPEN ? advance_handshake(l, e) : 0;
    if (rc || l->state != OPEN ||
        (b->place ? !gnn_exporter_accepts(l, b->place->device) : !worth_it(b)))
        return rc;
    for (bool wait = false;; wait = true) {
        collect_slots(l, wait);
        if (l->state != OPEN)
            return 0;
        for (int i = 0; i < GNN_TRANSPORT_SLOTS; i++)
            if (!l->slot[i].b && !l->slot[i].away) {
                if (fill_slot(l, i, b, e))
                    *slot = i;
                else if (l->must && !e->code)
                    return gnn_fail(e, GNN_E_NOMEM, "%s: no shared memory for a batch", l->name);
                return e->code;
            }
    }
}

void gnn_exporter_refer(struct gnn_exporter *l, int slot, const struct gnn_batch *b, uint32_t i,
                        uint64_t bytes, struct gnb_reference *ref)
{
    const struct gnn_tensor *t = gnn_tensors_at(&b->tensors, i);
    struct export_slot *s = &l->slot[slot];
    *ref = (struct gnb_reference){
        .sum = t->sum, .slot = (uint32_t)slot, .has_sum = t->has_sum && !b->place};
    if (b->place) {
        l->gpu->ops->refer(s->device, i, ref);
        return;
    }
    if (gnn_share_offset(l->share, t->data, bytes, &ref->offset))
        return;
    char *to = (char *)s->stage + s->used;
    s->used += (bytes + GNB_ALIGN - 1) & ~(uint64_t)(GNB_ALIGN - 1);
    memcpy(to, t->data, bytes);
    (void)gnn_share_offset(l->share, to, bytes, &ref->offset);
}

void gnn_exporter_refer_rows(const struct gnn_exporter *l, int slot, const struct gnn_batch *b,
                             int t, struct gnb_reference *ref)
{
    const struct rows_in_file *f = l->rows;
    while (f->all != b->type[t].x)
        f++;
    *ref = (struct gnb_reference){.offset = f->offset,
                                  .slot = (uint32_t)slot,
                                  .in_file = true,
                                  .rows = f->all->shape[0],
                                  .file = f->file};
}

void gnn_exporter_hold(struct gnn_exporter *l, int slot, struct gnn_batch *b)
{
    if (b->place)
        return;
    gnn_batch_hold(b);
    l->slot[slot].b = b;
}

void gnn_exporter_drain(struct gnn_exporter *l)
{
    while (l->exported &&
           l->state == OPEN) /* until the reader hangs up, when it has closed what it opened */
        collect_slots(l, true);
}

void gnn_exporter_free(struct gnn_exporter *l)
{
    if (!l)
        return;
    stop_exporting(l);
    for (int i = 0; i < GNN_TRANSPORT_SLOTS; i++)
        if (l->slot[i].device)
            l->gpu->ops->export_free(l->slot[i].device);
    gnn_share_drop(l->share);
    gnn_free(l);
}
