/* SPDX-License-Identifier: Apache-2.0 */
/* lib/gpu/dev.h without a device, and less forgiving than one. Streams are queues whose operations
 * run late and in random order, as far as streams and events allow; device memory cannot be touched
 * but by kernels and copies, and by kernels only if it is their device's or that of an opened peer;
 * what is written behind an array, or under AddressSanitizer read there, ends the program; what is
 * never freed is an error at exit.
 *
 * GNN_FAKE_DEVICES (1) how many there are; GNN_FAKE_MEMORY (1 GiB) bytes of each; GNN_FAKE_CLIQUE
 * (all) devices that reach each other; GNN_FAKE_FIRST (0) the number of the first on its machine,
 * as where a process sees some of them; GNN_FAKE_SEED (1) of the order; GNN_FAKE_ORDER=priority
 * lets the streams of the highest priority go first whenever they can, =reverse those of the
 * lowest, so that others wait as long as possible, instead of any; GNN_FAKE_CAPABILITY (90) ten
 * times what they can compute; GNN_FAKE_HOST (0) on which of several machines they are;
 * GNN_FAKE_MAP=1 lets pages of files be pinned, which it refuses otherwise, as most systems do;
 * GNN_FAKE_NO_REGISTER=1 refuses to pin any memory that exists, GNN_FAKE_NO_EXPORT=1 to share
 * memory with other processes; GNN_FAKE_PINNABLE (no limit) bytes of the host's memory that can be
 * pinned; GNN_FAKE_PINNED=1 ends a program that copies from a device to memory of the host that is
 * not pinned; GNN_FAKE_SUMS=forward and =backward add up products of matrices in float, in these
 * orders, instead of in double; GNN_FAKE_FAIL=k lets call k fail, and a count of calls is printed
 * for k = 0. */
#include "lib/gpu/dev.h"

#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sanitizer/asan_interface.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emu/dev_fake.h"

using namespace fake;

#define CALL(what)                                                                                 \
    std::lock_guard<Lock> hold(lock);                                                              \
    if (call(what, e))                                                                             \
        return e->code;                                                                            \
    (void)0

int gnn_dev_count(unsigned *n, struct gnn_err *e)
{
    *n = 0;
    CALL("looking for devices");
    *n = (unsigned)device.size();
    return *n ? 0 : gnn_fail(e, GNN_E_DEVICE, "no CUDA device: no driver is installed");
}

int gnn_dev_ask(unsigned d, struct gnn_dev_info *info, struct gnn_err *e)
{
    CALL("querying a device's properties");
    if (d >= device.size())
        return gnn_fail(e, GNN_E_DEVICE, "CUDA: no device %u", d);
    /* No two devices have as many. */
    *info = gnn_dev_info{"fake", (int)capability / 10, (int)capability % 10, 80, 4 + 3 * d, memory,
                         memory};
    for (auto &b : device[d].block)
        info->free -= b.second.bytes;
    return 0;
}

int gnn_dev_id(unsigned d, uint64_t *id, struct gnn_err *e)
{
    CALL("querying a device's properties");
    if (d >= device.size())
        return gnn_fail(e, GNN_E_DEVICE, "CUDA: no device %u", d);
    *id = 0xfa4e000000000000u + host * 256 + setting("GNN_FAKE_FIRST", 0) + d;
    return 0;
}

int gnn_dev_versions(int *driver, int *runtime, struct gnn_err *)
{
    *driver = *runtime = 13000;
    return 0;
}

int gnn_dev_use(unsigned d, struct gnn_err *e)
{
    CALL("selecting a device");
    if (d >= device.size())
        return gnn_fail(e, GNN_E_DEVICE, "CUDA: no device %u", d);
    now_using = d;
    return 0;
}

/* With what lies behind it. */
static uint64_t capacity_of(uint64_t bytes)
{
    return bytes / ALIGN * ALIGN + ALIGN + GUARD;
}

int gnn_dev_alloc(void **p, uint64_t bytes, const char *what, struct gnn_err *e)
{
    *p = nullptr;
    CALL(what);
    for (Stream *s : streams)
        if (s->capture)
            die("memory allocated while a graph is made");
    Arena &a = device[now_using];
    const uint64_t capacity = capacity_of(bytes);
    uint64_t at = 0; /* first fit */
    for (auto &b : a.block) {
        if (b.first - at >= capacity)
            break;
        at = b.first + capacity_of(b.second.bytes);
    }
    if (bytes > memory || at + capacity > memory)
        return gnn_fail(e, GNN_E_NOMEM, "not enough device memory: %llu bytes for %s",
                        (unsigned long long)bytes, what);
    a.block[at] = Block{bytes, what};
    a.used = at + capacity > a.used ? at + capacity : a.used;
    open_memory(now_using);
    ASAN_UNPOISON_MEMORY_REGION(a.base + at, capacity);
    memset(a.base + at, FRESH_BYTE, bytes);
    memset(a.base + at + bytes, GUARD_BYTE, capacity - bytes);
    ASAN_POISON_MEMORY_REGION(a.base + at + bytes, capacity - bytes);
    *p = a.base + at;
    return 0;
}

void gnn_dev_free(void *p)
{
    std::lock_guard<Lock> hold(lock);
    if (!p)
        return;
    const int d = owner(p);
    if (d < 0)
        die("frees what is not device memory");
    for (Stream *s : streams)
        if (s->capture && s->device == (unsigned)d)
            die("memory freed while a graph is made");
    drain([=] { /* other devices go on, whatever they read here */
                for (Stream *s : streams)
                    if (s->device == (unsigned)d && !s->todo.empty())
                        return false;
                return true;
    });
    Arena &a = device[(unsigned)d];
    auto b = a.block.find((uint64_t)((char *)p - a.base));
    if (b == a.block.end())
        die("frees device memory that was not allocated");
    open_memory(ANY);
    ASAN_UNPOISON_MEMORY_REGION(p, capacity_of(b->second.bytes));
    check_guards(a, b->first, b->second);
    memset(p, 0xEE, b->second.bytes);
    ASAN_POISON_MEMORY_REGION(p, capacity_of(b->second.bytes));
    a.block.erase(b);
    b = a.block.end(); /* who opens less is faster */
    a.used = b == a.block.begin() ? 0 : (--b, capacity_of(b->first + b->second.bytes));
}

int gnn_dev_pin(void **p, uint64_t bytes, const char *what, struct gnn_err *e)
{
    *p = nullptr;
    CALL(what);
    if (posix_memalign(p, ALIGN, bytes ? bytes : 1))
        return gnn_fail(e, GNN_E_NOMEM, "not enough memory to pin: %llu bytes for %s",
                        (unsigned long long)bytes, what);
    memset(*p, FRESH_BYTE, bytes);
    pinned[(uintptr_t)*p] = bytes ? bytes : 1;
    return 0;
}

void gnn_dev_unpin(void *p)
{
    std::lock_guard<Lock> hold(lock);
    if (!p)
        return;
    drain_all();
    if (!pinned.erase((uintptr_t)p))
        die("unpins what was not pinned");
    free(p);
}

uint64_t gnn_dev_pinnable(void)
{
    return setting("GNN_FAKE_PINNABLE", UINT64_MAX);
}

int gnn_dev_map(const void *p, uint64_t bytes, bool ours, const void **at, struct gnn_err *e)
{
    CALL("pinning memory");
    if (ours ? refuse_register : !allow_map)
        return gnn_fail(e, GNN_E_DEVICE, "CUDA: pinning memory: operation not supported");
    if (!bytes || inside(mapped, p) || (ours && ((uintptr_t)p % PAGE || bytes % PAGE)))
        return gnn_fail(e, GNN_E_DEVICE, "CUDA: pinning memory: invalid argument");
    mapped[(uintptr_t)p] = bytes;
    *at = p;
    return 0;
}

void gnn_dev_unmap(const void *p)
{
    std::lock_guard<Lock> hold(lock);
    drain_all();
    if (!mapped.erase((uintptr_t)p))
        die("unmaps what was not mapped");
}

int gnn_dev_stream_new(void **stream, struct gnn_err *e)
{
    return gnn_dev_stream_at(GNN_DEV_LOW, stream, e);
}

int gnn_dev_stream_at(enum gnn_dev_priority priority, void **stream, struct gnn_err *e)
{
    *stream = nullptr;
    CALL("creating a stream");
    Stream *s = new Stream;
    s->device = now_using;
    s->priority = priority;
    streams.push_back(s);
    *stream = s;
    return 0;
}

int gnn_dev_stream_wait(void *stream, struct gnn_err *e)
{
    std::lock_guard<Lock> hold(lock);
    Stream *s = stream_of(stream);
    drain([=] { return s->todo.empty(); });
    return call("waiting for a stream", e); /* what fails has been waited for all the same */
}

void gnn_dev_stream_free(void *stream)
{
    std::lock_guard<Lock> hold(lock);
    if (!stream)
        return;
    Stream *s = stream_of(stream);
    drain([=] { return s->todo.empty(); });
    for (size_t i = 0; i < streams.size(); i++)
        if (streams[i] == s)
            streams.erase(streams.begin() + (long)i);
    delete s;
}

int gnn_dev_event_new(void **event, struct gnn_err *e)
{
    *event = nullptr;
    CALL("creating an event");
    events.push_back(new EventRef(std::make_shared<Event>(now_using)));
    *event = events.back();
    return 0;
}

int gnn_dev_event_timed(void **event, struct gnn_err *e)
{
    const int rc = gnn_dev_event_new(event, e);
    if (!rc)
        (*(EventRef *)*event)->timed = true;
    return rc;
}

static EventRef &event_of(void *event)
{
    for (EventRef *r : events)
        if (r == event)
            return *r;
    die("not an event");
}

void gnn_dev_event_free(void *event)
{
    std::lock_guard<Lock> hold(lock);
    if (!event)
        return;
    EventRef *r = &event_of(event);
    for (size_t i = 0; i < events.size(); i++)
        if (events[i] == r)
            events.erase(events.begin() + (long)i);
    delete r;
}

int gnn_dev_event_record(void *event, void *stream, struct gnn_err *e)
{
    CALL("recording an event");
    EventRef v = event_of(event);
    const uint64_t at = ++v->asked;
    Stream *s = stream_of(stream);
    if (s->device != v->device)
        die("an event recorded on a stream of another device");
    if (s->capture)
        die("an event recorded in a graph");
    put(s, [=] {
        v->happened = v->happened < at ? at : v->happened;
        v->at = fake::clock;
    });
    return 0;
}

int gnn_dev_event_wait(void *event, struct gnn_err *e)
{
    CALL("waiting for an event");
    EventRef v = event_of(event);
    const uint64_t at = v->asked;
    drain([=] { return v->happened >= at; });
    return 0;
}

int gnn_dev_event_done(void *event, bool *done, struct gnn_err *e)
{
    CALL("querying an event");
    EventRef v = event_of(event);
    run_on();
    *done = v->happened >= v->asked;
    return 0;
}

int gnn_dev_event_after(void *stream, void *event, struct gnn_err *e)
{
    CALL("waiting for an event");
    EventRef v = event_of(event);
    Stream *s = stream_of(stream);
    if (s->capture)
        die("an event waited for in a graph");
    s->todo.push_back(Op{nullptr, v, v->asked, nullptr});
    return 0;
}

int gnn_dev_event_ms(void *from, void *to, float *ms, struct gnn_err *e)
{
    CALL("measuring time");
    const EventRef a = event_of(from), b = event_of(to);
    if (!a->timed || !b->timed)
        die("measures the time of events that keep none");
    if (!a->asked || !b->asked)
        die("measures the time of events that were never recorded");
    if (a->happened < a->asked || b->happened < b->asked)
        return gnn_fail(e, GNN_E_DEVICE, "CUDA: measuring time: not ready");
    if (a->device != b->device)
        die("measures the time between events of two devices");
    *ms = (float)b->at - (float)a->at;
    return 0;
}

/* Is it memory that a copy writes when the stream comes to it, and that a graph may copy? */
static bool asynchronous(const void *p)
{
    return owner(p) >= 0 || inside(pinned, p) || inside(mapped, p);
}

int gnn_dev_copy(void *to, const void *from, uint64_t bytes, void *stream, struct gnn_err *e)
{
    CALL("copying");
    Stream *s = stream_of(stream);
    if (!bytes)
        return 0;
    if (s->capture && !(asynchronous(from) && asynchronous(to)))
        die("a graph copies memory that is not pinned");
    if (owner(from) >= 0 && !asynchronous(to) && setting("GNN_FAKE_PINNED", 0))
        die("copies from a device to memory that is not pinned");
    put(s, [=] {
        open_memory(ANY);
        memmove(to, from, bytes);
    });
    if (!asynchronous(to))
        drain([=] { return s->todo.empty(); });
    return 0;
}

int gnn_dev_set(void *to, int byte, uint64_t bytes, void *stream, struct gnn_err *e)
{
    CALL("filling memory");
    if (!bytes)
        return 0;
    if (owner(to) < 0 && !inside(pinned, to))
        die("fills memory that no device reaches");
    put(stream_of(stream), [=] {
        open_memory(ANY);
        memset(to, byte, bytes);
    });
    return 0;
}

int gnn_dev_graph_begin(void *stream, struct gnn_err *e)
{
    CALL("capturing a graph");
    Stream *s = stream_of(stream);
    if (s->capture)
        die("a graph within a graph");
    s->capture = new Graph;
    return 0;
}

int gnn_dev_graph_end(void *stream, void **graph, struct gnn_err *e)
{
    std::lock_guard<Lock> hold(lock);
    Stream *s = stream_of(stream);
    *graph = nullptr;
    if (!s->capture)
        die("the end of a graph that was not begun");
    Graph *g = s->capture;
    s->capture = nullptr;
    if (call("creating a graph", e)) {
        delete g;
        return e->code;
    }
    graphs++;
    *graph = g;
    return 0;
}

int gnn_dev_graph_launch(void *graph, void *stream, struct gnn_err *e)
{
    CALL("launching a graph");
    Stream *s = stream_of(stream);
    if (s->device != now_using)
        die("a graph launched on a stream of another device");
    for (auto &op : ((Graph *)graph)->op)
        put(s, op);
    return 0;
}

void gnn_dev_graph_free(void *graph)
{
    std::lock_guard<Lock> hold(lock);
    if (!graph)
        return;
    graphs--;
    delete (Graph *)graph;
}

bool gnn_dev_peer(unsigned d, unsigned peer)
{
    std::lock_guard<Lock> hold(lock);
    begin();
    return d != peer && d < device.size() && peer < device.size() && d / clique == peer / clique;
}

int gnn_dev_peer_open(unsigned d, unsigned peer, struct gnn_err *e)
{
    CALL("enabling peer access to another device");
    if (!gnn_dev_peer(d, peer))
        return gnn_fail(e, GNN_E_DEVICE,
                        "CUDA: enabling peer access to another device: not supported");
    device[d].peer[peer] = true;
    return 0;
}

namespace
{
struct Handle {
    int pid, fd;
    uint64_t at, memory, host;
    unsigned device;
};
} // namespace

int gnn_dev_export(const void *p, struct gnn_dev_handle *h, struct gnn_err *e)
{
    CALL("exporting device memory");
    const int d = owner(p);
    if (d < 0 ||
        !device[(unsigned)d].block.count((uint64_t)((const char *)p - device[(unsigned)d].base)))
        die("shares what was not allocated");
    if (refuse_export)
        return gnn_fail(e, GNN_E_DEVICE, "CUDA: exporting device memory: operation not supported");
    const Arena &a = device[(unsigned)d];
    const Handle of = {(int)getpid(), a.fd, (uint64_t)((const char *)p - a.base),
                       memory,        host, (unsigned)(setting("GNN_FAKE_FIRST", 0) + (unsigned)d)};
    memset(h, 0, sizeof *h);
    memcpy(h, &of, sizeof of);
    return 0;
}

int gnn_dev_import(const struct gnn_dev_handle *h, void **p, uint64_t *bytes, struct gnn_err *e)
{
    *p = nullptr;
    CALL("importing another process's device memory");
    Handle of;
    char path[64];
    memcpy(&of, h, sizeof of);
    of.device -= (unsigned)setting("GNN_FAKE_FIRST", 0);
    if (of.pid == (int)getpid())
        return gnn_fail(e, GNN_E_DEVICE,
                        "CUDA: importing another process's device memory: it is this process's");
    snprintf(path, sizeof path, "/proc/%d/fd/%d", of.pid, of.fd);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    const bool good = fd >= 0 && of.at < of.memory && lseek(fd, 0, SEEK_END) == (off_t)of.memory;
    void *m = good ? mmap(nullptr, of.memory, PROT_NONE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    if (m == MAP_FAILED)
        return gnn_fail(e, GNN_E_DEVICE,
                        "CUDA: importing another process's device memory: invalid handle");
    if (of.host != host || of.device >= device.size() ||
        (of.device != now_using && !gnn_dev_peer(now_using, of.device))) {
        munmap(m, of.memory);
        return gnn_fail(e, GNN_E_DEVICE,
                        "CUDA: importing another process's device memory: no peer access");
    }
    imports.push_back(Import{(char *)m, of.memory, (char *)m + of.at, now_using, of.device});
    *p = imports.back().p;
    *bytes = of.memory - of.at;
    return 0;
}

void gnn_dev_import_close(void *p)
{
    std::lock_guard<Lock> hold(lock);
    if (!p)
        return;
    drain_all();
    for (size_t i = 0; i < imports.size(); i++)
        if (imports[i].p == p) {
            munmap(imports[i].base, imports[i].bytes);
            imports.erase(imports.begin() + (long)i);
            return;
        }
    die("closes what was not imported");
}

bool gnn_dev_debugging(void)
{
    return setting("GNN_DEBUG_SYNC", 0) != 0;
}

int gnn_dev_launched(const char *what, struct gnn_err *e)
{
    CALL(what);
    for (Stream *s : streams)
        if (s->capture && s->device == now_using)
            die("asks for kernels while a graph is made of them");
    if (gnn_dev_debugging())
        drain_all();
    return 0;
}

void gnn_dev_range_begin(const char *)
{
}
void gnn_dev_range_end(void)
{
}
