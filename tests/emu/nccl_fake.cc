/* SPDX-License-Identifier: Apache-2.0 */
/* lib/gpu/nccl.h between processes whose devices are fake: numbers are added up in the order of the
 * ranks, and what they exchange is copied, through memory that all of them map. It minds what NCCL
 * minds: nothing is asked for before the last thing is settled, devices are not shared, sums are
 * the same on all ranks.
 *
 * Any library that is named is not there. GNN_FAKE_NCCL_VERSION (22809) is what it calls itself;
 * GNN_FAKE_NCCL_LOG=FILE gets a line for each call; with GNN_FAKE_NCCL_HANG=k this rank's device
 * does not come to sum or exchange k, counted from 1; with GNN_FAKE_NCCL_FAIL=k NCCL reports a
 * failure when k is asked for, 0: when ranks join. */
#include "lib/gpu/nccl.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/dev_fake.h"
#include "lib/comm/comm.h"
#include "lib/gpu/dev.h"

using namespace fake;

namespace
{

enum : uint64_t { RANKS = 64, HEAD = 1 << 16, CAPACITY = 16 << 20 /* bytes of a sum */ };
enum { EXCHANGE = -1 };

/* What ranks tell each other; zeroed. */
struct Rank {
    std::atomic<uint64_t> device, joined, left, aborted;
    std::atomic<uint64_t> wrote, read; /* sums */
    uint64_t n;                        /* of the last */
    int kind;                          /* or EXCHANGE */
    uint64_t at[RANKS + 1];            /* where what it sends each rank begins */
};
struct Shared {
    Rank rank[RANKS];
};
static_assert(sizeof(Shared) <= HEAD, "the ranks' states");

struct Id {
    int pid, fd;
};

struct Nccl {
    char *base = nullptr;
    int fd = -1;
    uint32_t rank = 0, size = 0;
    unsigned device = 0;
    uint64_t asked = 0, done = 0; /* sums */
    enum { NEW, JOINING, READY, SUMMING, LEAVING, GONE } state = NEW;
    bool failed = false;

    Rank &of(uint32_t r)
    {
        return ((Shared *)base)->rank[r];
    }
    char *data(uint32_t r)
    {
        return base + HEAD + r * CAPACITY;
    }
};

void note(const std::string &line)
{
    const char *path = getenv("GNN_FAKE_NCCL_LOG");
    FILE *f = path && *path ? fopen(path, "ae") : nullptr;
    if (!f)
        return;
    fprintf(f, "%s\n", line.c_str());
    fclose(f);
}

#define CALL(what)                                                                                 \
    std::lock_guard<Lock> hold(lock);                                                              \
    if (call(what, e))                                                                             \
        return e->code;                                                                            \
    (void)0

const char *doing(const Nccl &c)
{
    return c.state == Nccl::JOINING   ? "connecting the ranks"
           : c.state == Nccl::LEAVING ? "disconnecting the ranks"
                                      : "summing";
}

int map(Nccl &c, const struct gnn_nccl_id *id)
{
    Id at;
    char path[64];
    memcpy(&at, id, sizeof at);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", at.pid, at.fd);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    void *p = fd < 0 ? MAP_FAILED
                     : mmap(nullptr, HEAD + RANKS * CAPACITY, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (fd >= 0)
        close(fd);
    c.base = p == MAP_FAILED ? nullptr : (char *)p;
    return c.base ? 0 : -1;
}

bool all(Nccl &c, std::atomic<uint64_t> Rank::*what, uint64_t least)
{
    for (uint32_t r = 0; r < c.size; r++)
        if ((c.of(r).*what).load() < least)
            return false;
    return true;
}

template <typename T> void add(Nccl &c, void *to, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        T sum = ((const T *)c.data(0))[i];
        for (uint32_t r = 1; r < c.size; r++)
            sum += ((const T *)c.data(r))[i];
        ((T *)to)[i] = sum;
    }
}

/* Sum k, when the stream has come to it. */
struct Sum {
    Nccl *c;
    uint64_t k, n;
    int kind;
    void *data;

    uint64_t bytes() const
    {
        return n * (kind == GNN_REDUCE_F32 ? 4 : 8);
    }
    bool can() const
    {
        Rank &own = c->of(c->rank);
        if (c->state == Nccl::GONE)
            return true;
        if (k == setting("GNN_FAKE_NCCL_HANG", 0) || !all(*c, &Rank::read, k - 1))
            return false;
        if (own.wrote < k) {
            open_memory(c->device);
            memcpy(c->data(c->rank), data, bytes());
            own.n = n;
            own.kind = kind;
            own.wrote = k;
        }
        return all(*c, &Rank::wrote, k);
    }
    void run() const
    {
        if (c->state == Nccl::GONE)
            return;
        for (uint32_t r = 0; r < c->size; r++)
            if (c->of(r).n != n || c->of(r).kind != kind)
                die("ranks sum what does not belong together");
        open_memory(c->device);
        if (kind == GNN_REDUCE_F32)
            add<float>(*c, data, n);
        else if (kind == GNN_REDUCE_F64)
            add<double>(*c, data, n);
        else
            add<uint64_t>(*c, data, n);
        c->done = k;
        c->of(c->rank).read = k;
    }
};

/* Exchange k, counted with the sums. */
struct Exchange {
    Nccl *c;
    uint64_t k;
    std::vector<gnn_span> out, in;

    void write() const
    {
        Rank &own = c->of(c->rank);
        open_memory(c->device);
        own.at[0] = 0;
        for (uint32_t r = 0; r < c->size; r++) {
            if (out[r].bytes)
                memcpy(c->data(c->rank) + own.at[r], out[r].data, out[r].bytes);
            own.at[r + 1] = own.at[r] + out[r].bytes;
        }
        own.kind = EXCHANGE;
        own.wrote = k;
    }
    bool can() const
    {
        if (c->state == Nccl::GONE)
            return true;
        if (k == setting("GNN_FAKE_NCCL_HANG", 0) || !all(*c, &Rank::read, k - 1))
            return false;
        if (c->of(c->rank).wrote < k)
            write();
        return all(*c, &Rank::wrote, k);
    }
    void run() const
    {
        if (c->state == Nccl::GONE)
            return;
        open_memory(c->device);
        for (uint32_t r = 0; r < c->size; r++) {
            const Rank &other = c->of(r);
            const uint64_t at = other.at[c->rank];
            if (other.kind != EXCHANGE || other.at[c->rank + 1] - at != in[r].bytes)
                die("ranks exchange what does not belong together");
            if (in[r].bytes)
                memcpy((void *)in[r].data, c->data(r) + at, in[r].bytes);
        }
        c->done = k;
        c->of(c->rank).read = k;
    }
};

void must_be(const Nccl &c, int state)
{
    if (c.state != state)
        die("NCCL is asked for something before it has settled");
}

} // namespace

int gnn_nccl_new(void **h, const char *path, unsigned *version, struct gnn_err *e)
{
    *h = nullptr;
    CALL("loading NCCL");
    *version = (unsigned)setting("GNN_FAKE_NCCL_VERSION", 22809);
    if (path)
        return gnn_fail(e, GNN_E_DEVICE, "%s: cannot open shared object file", path);
    Nccl *c = new Nccl;
    c->device = now_using;
    *h = c;
    note("new");
    return 0;
}

int gnn_nccl_make_id(void *h, struct gnn_nccl_id *id, struct gnn_err *e)
{
    CALL("creating an id");
    Nccl &c = *(Nccl *)h;
    c.fd = (int)syscall(SYS_memfd_create, "fake NCCL", 1u /* close on exec */);
    if (c.fd < 0 || ftruncate(c.fd, (off_t)(HEAD + RANKS * CAPACITY)))
        die("no memory for NCCL");
    const Id at = {(int)getpid(), c.fd};
    memset(id, 0, sizeof *id);
    memcpy(id, &at, sizeof at);
    note("id");
    return 0;
}

int gnn_nccl_join(void *h, const struct gnn_nccl_id *id, uint32_t rank, uint32_t size,
                  struct gnn_err *e)
{
    CALL("connecting the ranks");
    Nccl &c = *(Nccl *)h;
    must_be(c, Nccl::NEW);
    if (rank >= size || size > RANKS || map(c, id))
        return gnn_fail(e, GNN_E_RANK, "NCCL: connecting the ranks: invalid argument");
    if (c.device != now_using)
        die("NCCL joins on another device");
    c.state = Nccl::JOINING;
    c.rank = rank;
    c.size = size;
    uint64_t name;
    if (gnn_dev_id(c.device, &name, e))
        return e->code;
    c.of(rank).device = name;
    c.of(rank).joined = 1;
    note("join " + std::to_string(rank) + " of " + std::to_string(size));
    return 0;
}

int gnn_nccl_busy(void *h, bool *busy, bool *other, struct gnn_err *e)
{
    *busy = *other = false;
    CALL("asking NCCL");
    Nccl &c = *(Nccl *)h;
    const uint64_t fail = setting("GNN_FAKE_NCCL_FAIL", UINT64_MAX);
    if (fail == c.asked && c.state != Nccl::LEAVING)
        return gnn_fail(e, GNN_E_RANK, "NCCL: %s: unhandled system error", doing(c));
    for (uint32_t r = 0; r < c.size; r++)
        *other = *other || c.of(r).aborted;
    if (*other)
        return gnn_fail(e, GNN_E_RANK,
                        "NCCL: %s: remote process exited or there was a network error", doing(c));
    *busy = (c.state == Nccl::JOINING && !all(c, &Rank::joined, 1)) ||
            (c.state == Nccl::LEAVING && !all(c, &Rank::left, 1));
    for (uint32_t r = 0; c.state == Nccl::JOINING && !*busy && r < c.size; r++)
        if (r != c.rank && c.of(r).device == c.of(c.rank).device)
            return gnn_fail(e, GNN_E_RANK, "NCCL: connecting the ranks: invalid usage");
    if (c.state == Nccl::SUMMING) { /* the first time */
        c.state = Nccl::READY;
        *busy = true;
    }
    if (c.state == Nccl::JOINING && !*busy)
        c.state = Nccl::READY;
    return 0;
}

int gnn_nccl_all_reduce(void *h, void *data, uint64_t n, int kind, void *stream, struct gnn_err *e)
{
    static const char *const name[] = {"f32", "f64", "u64"};
    CALL("summing");
    Nccl &c = *(Nccl *)h;
    must_be(c, Nccl::READY);
    Stream *s = stream_of(stream);
    if (s->device != c.device || now_using != c.device || owner(data) != (int)c.device)
        die("NCCL sums what is on another device");
    const Sum sum = {&c, ++c.asked, n, kind, data};
    if (sum.bytes() > CAPACITY)
        die("a sum larger than the fake NCCL has space for");
    c.state = Nccl::SUMMING;
    note("sum " + std::to_string(n) + " " + name[kind]);
    s->todo.push_back(Op{[=] { sum.run(); }, nullptr, 0, [=] { return sum.can(); }});
    return 0;
}

int gnn_nccl_exchange(void *h, const struct gnn_span *out, const struct gnn_span *in, void *stream,
                      struct gnn_err *e)
{
    CALL("exchanging rows");
    Nccl &c = *(Nccl *)h;
    must_be(c, Nccl::READY);
    Stream *s = stream_of(stream);
    uint64_t sent = 0, received = 0;
    if (s->device != c.device || now_using != c.device)
        die("NCCL exchanges on another device");
    for (uint32_t r = 0; r < c.size; r++) {
        if ((out[r].bytes && owner(out[r].data) != (int)c.device) ||
            (in[r].bytes && owner(in[r].data) != (int)c.device))
            die("NCCL exchanges what is on another device");
        sent += out[r].bytes;
        received += in[r].bytes;
    }
    if (sent > CAPACITY)
        die("an exchange larger than the fake NCCL has space for");
    const Exchange x = {&c, ++c.asked, {out, out + c.size}, {in, in + c.size}};
    c.state = Nccl::SUMMING;
    note("exchange " + std::to_string(sent) + " " + std::to_string(received));
    s->todo.push_back(Op{[=] { x.run(); }, nullptr, 0, [=] { return x.can(); }});
    return 0;
}

int gnn_nccl_leave(void *h, struct gnn_err *e)
{
    CALL("disconnecting the ranks");
    Nccl &c = *(Nccl *)h;
    must_be(c, Nccl::READY);
    if (c.done != c.asked)
        die("NCCL is left with sums under way");
    c.state = Nccl::LEAVING;
    c.of(c.rank).left = 1;
    note("leave");
    return 0;
}

void gnn_nccl_abort(void *h)
{
    std::lock_guard<Lock> hold(lock);
    Nccl &c = *(Nccl *)h;
    if (c.state == Nccl::GONE)
        return;
    if (c.base)
        c.of(c.rank).aborted = 1;
    c.state = Nccl::GONE;
    note("abort");
}

void gnn_nccl_free(void *h)
{
    std::lock_guard<Lock> hold(lock);
    Nccl *c = (Nccl *)h;
    if (!c)
        return;
    if (c->state != Nccl::NEW && c->state != Nccl::LEAVING && c->state != Nccl::GONE)
        die("NCCL is freed before it is left");
    if (c->base)
        munmap(c->base, HEAD + RANKS * CAPACITY);
    if (c->fd >= 0)
        close(c->fd);
    note("free");
    delete c;
}
