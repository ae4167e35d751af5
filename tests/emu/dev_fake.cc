/* lib/gpu/dev.h without a device, and less forgiving than one. Streams are queues whose operations run late and in random
 * order, as far as streams and events allow; device memory cannot be touched but by kernels and copies, and by kernels only
 * if it is their device's or that of an opened peer; what is never freed is an error at exit.
 *
 * GNN_FAKE_DEVICES (1) how many there are; GNN_FAKE_MEMORY (1 GiB) bytes of each; GNN_FAKE_CLIQUE (all) devices that reach
 * each other; GNN_FAKE_SEED (1) of the order; GNN_FAKE_CAPABILITY (90) ten times what they can compute;
 * GNN_FAKE_NO_MAP=1 refuses to pin memory that exists; GNN_FAKE_FAIL=k lets call k fail, and a count of calls is printed for
 * k = 0. */
#include "lib/gpu/dev.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include "emu/emu.h"

namespace {

enum : uint64_t { ALIGN = 256, GUARD = 512, PAGE = 4096 };
enum : unsigned char { GUARD_BYTE = 0xA7, FRESH_BYTE = 0xD3 };

struct Event {
    unsigned device;
    uint64_t asked = 0, happened = 0;
    explicit Event(unsigned d) : device(d) {}
};
using EventRef = std::shared_ptr<Event>;

struct Op {
    std::function<void()> run;
    EventRef wait;
    uint64_t until = 0;
};

struct Graph {
    std::vector<std::function<void()>> op;
};

struct Stream {
    unsigned device;
    std::deque<Op> todo;
    Graph *capture = nullptr;
};

struct Block {
    uint64_t bytes;
    std::string what;
};

/* One device's memory: a file without a name, so that another process can map it too. */
struct Arena {
    char *base = nullptr;
    int fd = -1;
    uint64_t used = 0; /* beyond, nothing was ever allocated */
    std::map<uint64_t, Block> block; /* by offset */
    std::vector<bool> peer;
};

struct Import {
    char *base;
    uint64_t bytes;
    void *p;
};

std::recursive_mutex lock;
std::vector<Arena> device;
std::vector<Import> imports;
std::vector<Stream *> streams;
std::map<uintptr_t, uint64_t> pinned, mapped; /* bytes by address */
std::vector<EventRef *> events;
unsigned graphs;
uint64_t memory = 1 << 30, clique = UINT64_MAX, state = 1, calls, fail_at = UINT64_MAX, capability = 90;
bool refuse_map, begun;
thread_local unsigned now_using;

[[noreturn]] void die(const char *what)
{
    fflush(stdout);
    fprintf(stderr, "fake device: %s\n", what);
    abort();
}

uint64_t draw()
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state ^ state >> 31) * 0x9E3779B97F4A7C15u >> 20;
}

uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *v = getenv(name);
    return v && *v ? strtoull(v, nullptr, 10) : otherwise;
}

/* ---- who may touch what ---- */

void protect(int how)
{
    for (Arena &a : device)
        if (a.used)
            mprotect(a.base, (a.used + PAGE - 1) / PAGE * PAGE, how);
    for (Import &i : imports)
        mprotect(i.base, i.bytes, how);
}

/* While it lives, device d reaches its own memory and its peers'; ANY: a copy reaches all. */
struct Access {
    enum : unsigned { ANY = ~0u };
    explicit Access(unsigned d)
    {
        protect(PROT_READ | PROT_WRITE);
        for (unsigned k = 0; d != ANY && k < device.size(); k++)
            if (k != d && !device[d].peer[k] && device[k].used)
                mprotect(device[k].base, (device[k].used + PAGE - 1) / PAGE * PAGE, PROT_NONE);
    }
    ~Access() { protect(PROT_NONE); }
};

bool inside(const std::map<uintptr_t, uint64_t> &m, const void *p)
{
    auto i = m.upper_bound((uintptr_t)p);
    return i != m.begin() && (uintptr_t)p - (--i)->first < i->second;
}

/* -1: no device's */
int owner(const void *p)
{
    for (unsigned d = 0; d < device.size(); d++)
        if ((const char *)p >= device[d].base && (const char *)p < device[d].base + memory)
            return (int)d;
    for (const Import &i : imports)
        if ((const char *)p >= i.base && (const char *)p < i.base + i.bytes)
            return 0;
    return -1;
}

/* ---- the order of things ---- */

bool ready(const Stream *s)
{
    return !s->todo.empty() && (!s->todo.front().wait || s->todo.front().wait->happened >= s->todo.front().until);
}

/* Runs one operation of a random stream that has one; false: there is none that could run. */
bool step()
{
    std::vector<Stream *> can;
    for (Stream *s : streams)
        if (ready(s))
            can.push_back(s);
    if (can.empty())
        return false;
    Stream *s = can[draw() % can.size()];
    Op op = std::move(s->todo.front());
    s->todo.pop_front();
    if (op.run)
        op.run();
    return true;
}

void drain(const std::function<bool()> &done)
{
    while (!done())
        if (!step())
            die("waits for work that waits for ever");
}

void drain_all()
{
    drain([] {
        for (Stream *s : streams)
            if (!s->todo.empty())
                return false;
        return true;
    });
}

void put(Stream *s, std::function<void()> run)
{
    if (s->capture)
        s->capture->op.push_back(std::move(run));
    else
        s->todo.push_back(Op{std::move(run), nullptr, 0});
    if (draw() % 8 == 0) /* mostly late, but not always */
        (void)step();
}

Stream *stream_of(void *stream)
{
    for (Stream *s : streams)
        if (s == stream)
            return s;
    die("not a stream");
}

void take_kernel(void *stream, emu::Kernel run)
{
    std::lock_guard<std::recursive_mutex> hold(lock);
    Stream *s = stream_of(stream);
    const unsigned d = s->device;
    if (d != now_using)
        die("a kernel for a stream of another device");
    put(s, [=] {
        Access open(d);
        run();
    });
}

/* ---- beginning and end ---- */

void check_guards(const Arena &a, uint64_t at, const Block &b)
{
    const unsigned char *p = (const unsigned char *)a.base + at;
    for (uint64_t i = b.bytes; i < (b.bytes + ALIGN - 1) / ALIGN * ALIGN + GUARD; i++)
        if (p[i] != GUARD_BYTE) {
            fprintf(stderr, "fake device: %s: written %llu bytes behind its end\n", b.what.c_str(),
                    (unsigned long long)(i - b.bytes));
            abort();
        }
}

void at_exit(int status, void *)
{
    if (fail_at == 0)
        fprintf(stderr, "fake device: %llu calls\n", (unsigned long long)calls);
    if (status)
        return;
    unsigned left = 0;
    for (Arena &a : device)
        for (auto &b : a.block) {
            fprintf(stderr, "fake device: never freed: %s, %llu bytes\n", b.second.what.c_str(),
                    (unsigned long long)b.second.bytes);
            left++;
        }
    left += (unsigned)(pinned.size() + mapped.size() + streams.size() + events.size() + imports.size()) + graphs;
    if (!left)
        return;
    fprintf(stderr, "fake device: never freed: %zu pinned, %zu mapped, %zu streams, %zu events, %zu imports, %u graphs\n",
            pinned.size(), mapped.size(), streams.size(), events.size(), imports.size(), graphs);
    fflush(stdout);
    _exit(98);
}

void begin()
{
    if (begun)
        return;
    begun = true;
    memory = setting("GNN_FAKE_MEMORY", memory) / PAGE * PAGE;
    clique = setting("GNN_FAKE_CLIQUE", clique);
    state = setting("GNN_FAKE_SEED", 1) + 1;
    fail_at = setting("GNN_FAKE_FAIL", fail_at);
    capability = setting("GNN_FAKE_CAPABILITY", capability);
    refuse_map = setting("GNN_FAKE_NO_MAP", 0);
    device.resize(setting("GNN_FAKE_DEVICES", 1));
    for (Arena &a : device) {
        a.fd = (int)syscall(SYS_memfd_create, "fake device", 1u /* close on exec */);
        if (a.fd < 0 || ftruncate(a.fd, (off_t)memory))
            die("no memory for a device");
        void *p = mmap(nullptr, memory, PROT_NONE, MAP_SHARED | MAP_NORESERVE, a.fd, 0);
        if (p == MAP_FAILED)
            die("no memory for a device");
        a.base = (char *)p;
        a.peer.resize(device.size());
    }
    emu::set_seed(state);
    emu::set_runtime(take_kernel);
    on_exit(at_exit, nullptr);
}

/* Every call comes here first. Nonzero: it is the one that shall fail. */
int call(const char *what, struct gnn_err *e)
{
    begin();
    if (++calls != fail_at)
        return 0;
    return gnn_fail(e, GNN_E_DEVICE, "CUDA: %s: a failure that was asked for", what);
}

} // namespace

#define CALL(what)                                                                                                     \
    std::lock_guard<std::recursive_mutex> hold(lock);                                                                  \
    if (call(what, e))                                                                                                 \
        return e->code;                                                                                                \
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
    CALL("asking for a device's properties");
    if (d >= device.size())
        return gnn_fail(e, GNN_E_DEVICE, "CUDA: no device %u", d);
    *info = gnn_dev_info{"fake", (int)capability / 10, (int)capability % 10, 80, 4, memory, memory};
    for (auto &b : device[d].block)
        info->free -= b.second.bytes;
    return 0;
}

int gnn_dev_id(unsigned d, uint64_t *id, struct gnn_err *e)
{
    CALL("asking for a device's properties");
    if (d >= device.size())
        return gnn_fail(e, GNN_E_DEVICE, "CUDA: no device %u", d);
    *id = 0xfa4e000000000000u + d;
    return 0;
}

int gnn_dev_use(unsigned d, struct gnn_err *e)
{
    CALL("choosing a device");
    if (d >= device.size())
        return gnn_fail(e, GNN_E_DEVICE, "CUDA: no device %u", d);
    now_using = d;
    return 0;
}

int gnn_dev_alloc(void **p, uint64_t bytes, const char *what, struct gnn_err *e)
{
    *p = nullptr;
    CALL(what);
    for (Stream *s : streams)
        if (s->capture)
            die("memory allocated while a graph is made");
    Arena &a = device[now_using];
    const uint64_t room = bytes / ALIGN * ALIGN + ALIGN + GUARD;
    uint64_t at = 0; /* first fit */
    for (auto &b : a.block) {
        if (b.first - at >= room)
            break;
        at = b.first + (b.second.bytes + ALIGN - 1) / ALIGN * ALIGN + GUARD;
    }
    if (bytes > memory || at + room > memory)
        return gnn_fail(e, GNN_E_NOMEM, "not enough device memory: %llu bytes for %s", (unsigned long long)bytes, what);
    a.block[at] = Block{bytes, what};
    a.used = at + room > a.used ? at + room : a.used;
    Access open(now_using);
    memset(a.base + at, FRESH_BYTE, bytes);
    memset(a.base + at + bytes, GUARD_BYTE, room - bytes);
    *p = a.base + at;
    return 0;
}

void gnn_dev_free(void *p)
{
    std::lock_guard<std::recursive_mutex> hold(lock);
    if (!p)
        return;
    drain_all();
    const int d = owner(p);
    if (d < 0)
        die("frees what is not device memory");
    Arena &a = device[(unsigned)d];
    auto b = a.block.find((uint64_t)((char *)p - a.base));
    if (b == a.block.end())
        die("frees device memory that was not allocated");
    Access open(Access::ANY);
    check_guards(a, b->first, b->second);
    memset(a.base + b->first, 0xEE, b->second.bytes);
    a.block.erase(b);
}

int gnn_dev_pin(void **p, uint64_t bytes, const char *what, struct gnn_err *e)
{
    *p = nullptr;
    CALL(what);
    *p = aligned_alloc(ALIGN, bytes / ALIGN * ALIGN + ALIGN);
    if (!*p)
        return gnn_fail(e, GNN_E_NOMEM, "not enough memory to pin: %llu bytes for %s", (unsigned long long)bytes, what);
    memset(*p, FRESH_BYTE, bytes);
    pinned[(uintptr_t)*p] = bytes ? bytes : 1;
    return 0;
}

void gnn_dev_unpin(void *p)
{
    std::lock_guard<std::recursive_mutex> hold(lock);
    if (!p)
        return;
    drain_all();
    if (!pinned.erase((uintptr_t)p))
        die("unpins what was not pinned");
    free(p);
}

int gnn_dev_map(const void *p, uint64_t bytes, const void **at, struct gnn_err *e)
{
    CALL("pinning memory of the store");
    if (refuse_map)
        return gnn_fail(e, GNN_E_DEVICE, "CUDA: pinning memory of the store: operation not supported");
    if (!bytes || inside(mapped, p))
        return gnn_fail(e, GNN_E_DEVICE, "CUDA: pinning memory of the store: invalid argument");
    mapped[(uintptr_t)p] = bytes;
    *at = p;
    return 0;
}

void gnn_dev_unmap(const void *p)
{
    std::lock_guard<std::recursive_mutex> hold(lock);
    drain_all();
    if (!mapped.erase((uintptr_t)p))
        die("unmaps what was not mapped");
}

int gnn_dev_stream_new(void **stream, bool, struct gnn_err *e)
{
    *stream = nullptr;
    CALL("making a stream");
    Stream *s = new Stream;
    s->device = now_using;
    streams.push_back(s);
    *stream = s;
    return 0;
}

int gnn_dev_stream_wait(void *stream, struct gnn_err *e)
{
    CALL("waiting for a stream");
    Stream *s = stream_of(stream);
    drain([=] { return s->todo.empty(); });
    return 0;
}

void gnn_dev_stream_free(void *stream)
{
    std::lock_guard<std::recursive_mutex> hold(lock);
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
    CALL("making an event");
    events.push_back(new EventRef(std::make_shared<Event>(now_using)));
    *event = events.back();
    return 0;
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
    std::lock_guard<std::recursive_mutex> hold(lock);
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
    put(s, [=] { v->happened = v->happened < at ? at : v->happened; });
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

int gnn_dev_event_after(void *stream, void *event, struct gnn_err *e)
{
    CALL("waiting for an event");
    EventRef v = event_of(event);
    Stream *s = stream_of(stream);
    if (s->capture)
        die("an event waited for in a graph");
    s->todo.push_back(Op{nullptr, v, v->asked});
    return 0;
}

int gnn_dev_event_done(void *event, bool *done, struct gnn_err *e)
{
    CALL("asking for an event");
    EventRef v = event_of(event);
    (void)step(); /* or asking again and again would never end */
    *done = v->happened >= v->asked;
    return 0;
}

int gnn_dev_event_ms(void *from, void *to, float *ms, struct gnn_err *e)
{
    CALL("measuring time");
    if (event_of(from)->happened < event_of(from)->asked || event_of(to)->happened < event_of(to)->asked)
        return gnn_fail(e, GNN_E_DEVICE, "CUDA: measuring time: not ready");
    *ms = 1;
    return 0;
}

/* Is it memory that a copy reads or writes later, when the stream comes to it? */
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
    if (!asynchronous(from) && !s->capture) { /* taken now */
        std::string copy((const char *)from, bytes);
        put(s, [=] {
            Access open(Access::ANY);
            memcpy(to, copy.data(), bytes);
        });
        return 0;
    }
    if (s->capture && !(asynchronous(from) && asynchronous(to)))
        die("a graph copies memory that is not pinned");
    put(s, [=] {
        Access open(Access::ANY);
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
        Access open(Access::ANY);
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
    std::lock_guard<std::recursive_mutex> hold(lock);
    Stream *s = stream_of(stream);
    *graph = nullptr;
    if (!s->capture)
        die("the end of a graph that was not begun");
    Graph *g = s->capture;
    s->capture = nullptr;
    if (call("making a graph", e)) {
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
    std::lock_guard<std::recursive_mutex> hold(lock);
    if (!graph)
        return;
    graphs--;
    delete (Graph *)graph;
}

bool gnn_dev_peer(unsigned d, unsigned peer)
{
    std::lock_guard<std::recursive_mutex> hold(lock);
    begin();
    return d != peer && d < device.size() && peer < device.size() && d / clique == peer / clique;
}

int gnn_dev_peer_open(unsigned d, unsigned peer, struct gnn_err *e)
{
    CALL("reaching another device's memory");
    if (!gnn_dev_peer(d, peer))
        return gnn_fail(e, GNN_E_DEVICE, "CUDA: reaching another device's memory: not supported");
    device[d].peer[peer] = true;
    return 0;
}

namespace {
struct Handle {
    int pid, fd;
    uint64_t at, memory;
};
} // namespace

int gnn_dev_export(const void *p, struct gnn_dev_handle *h, struct gnn_err *e)
{
    CALL("sharing device memory");
    const int d = owner(p);
    if (d < 0 || !device[(unsigned)d].block.count((uint64_t)((const char *)p - device[(unsigned)d].base)))
        die("shares what was not allocated");
    const Arena &a = device[(unsigned)d];
    const Handle of = {(int)getpid(), a.fd, (uint64_t)((const char *)p - a.base), memory};
    memset(h, 0, sizeof *h);
    memcpy(h, &of, sizeof of);
    return 0;
}

int gnn_dev_import(const struct gnn_dev_handle *h, void **p, struct gnn_err *e)
{
    *p = nullptr;
    CALL("opening another process's device memory");
    Handle of;
    char path[64];
    memcpy(&of, h, sizeof of);
    if (of.pid == (int)getpid())
        return gnn_fail(e, GNN_E_DEVICE, "CUDA: opening another process's device memory: it is this process's");
    snprintf(path, sizeof path, "/proc/%d/fd/%d", of.pid, of.fd);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    void *m = fd < 0 || of.at >= of.memory ? MAP_FAILED : mmap(nullptr, of.memory, PROT_NONE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (m == MAP_FAILED)
        return gnn_fail(e, GNN_E_DEVICE, "CUDA: opening another process's device memory: invalid handle");
    imports.push_back(Import{(char *)m, of.memory, (char *)m + of.at});
    *p = imports.back().p;
    return 0;
}

void gnn_dev_import_close(void *p)
{
    std::lock_guard<std::recursive_mutex> hold(lock);
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
