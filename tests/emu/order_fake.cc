/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the fake run-time: memory that is closed while nobody works with it, and streams
 * whose operations wait until somebody waits for them. */
#include "emu/dev_fake.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/emu.h"

namespace fake
{

Lock lock;
std::vector<Arena> device;
std::vector<Import> imports;
std::vector<Stream *> streams;
std::map<uintptr_t, uint64_t> pinned, mapped;
std::vector<EventRef *> events;
unsigned graphs;
uint64_t clock;
uint64_t memory = 1 << 30, clique = UINT64_MAX, capability = 90, host;
bool allow_map, refuse_register, refuse_export;
Sums sums;
thread_local unsigned now_using;
static uint64_t state = 1, calls, fail_at = UINT64_MAX;
static int favour; /* priorities count as they are, reversed, or not at all */
static bool begun;

[[noreturn]] void die(const char *what)
{
    fflush(stdout);
    fprintf(stderr, "fake device: %s\n", what);
    abort();
}

static uint64_t draw()
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

static void protect(char *base, uint64_t bytes, bool open)
{
    mprotect(base, (bytes + PAGE - 1) / PAGE * PAGE, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

static void open_if(Arena *a, bool open)
{
    const uint64_t bytes = open ? std::max(a->used, a->open) : 0;
    if (bytes != a->open)
        protect(a->base, std::max(bytes, a->open), open);
    a->open = bytes;
}

static void open_if(Import *i, bool open)
{
    if (open != i->open)
        protect(i->base, i->bytes, open);
    i->open = open;
}

void open_memory(unsigned d)
{
    for (unsigned k = 0; k < device.size(); k++)
        open_if(&device[k], d == ANY || k == d || device[d].peer[k]);
    for (Import &i : imports)
        open_if(&i, d == ANY || i.opener == d);
}

static void close_memory()
{
    for (Arena &a : device)
        open_if(&a, false);
    for (Import &i : imports)
        open_if(&i, false);
}

void Lock::lock()
{
    mutex.lock();
    depth++;
}

void Lock::unlock()
{
    if (!--depth)
        close_memory();
    mutex.unlock();
}

bool inside(const std::map<uintptr_t, uint64_t> &m, const void *p)
{
    auto i = m.upper_bound((uintptr_t)p);
    return i != m.begin() && (uintptr_t)p - (--i)->first < i->second;
}

int owner(const void *p)
{
    for (unsigned d = 0; d < device.size(); d++)
        if ((const char *)p >= device[d].base && (const char *)p < device[d].base + memory)
            return (int)d;
    for (const Import &i : imports)
        if ((const char *)p >= i.base && (const char *)p < i.base + i.bytes)
            return (int)i.opener;
    return -1;
}

/* ---- the order of things ---- */

static bool ready(const Stream *s)
{
    if (s->todo.empty())
        return false;
    const Op &o = s->todo.front();
    return (!o.wait || o.wait->happened >= o.until) && (!o.can || o.can());
}

/* Does stream s go before those of t's priority? */
static bool goes_first(const Stream *s, const Stream *t)
{
    return favour * s->priority > favour * t->priority;
}

bool step()
{
    std::vector<Stream *> can;
    for (Stream *s : streams) {
        if (!ready(s) || (!can.empty() && goes_first(can[0], s)))
            continue;
        if (!can.empty() && goes_first(s, can[0]))
            can.clear();
        can.push_back(s);
    }
    if (can.empty())
        return false;
    Stream *s = can[draw() % can.size()];
    Op op = std::move(s->todo.front());
    s->todo.pop_front();
    clock++;
    if (op.run)
        op.run();
    return true;
}

void run_on()
{
    while (step())
        ;
}

/* Does a stream wait for other processes? */
static bool outside()
{
    for (Stream *s : streams)
        if (!s->todo.empty() && s->todo.front().can)
            return true;
    return false;
}

void drain(const std::function<bool()> &done)
{
    while (!done()) {
        if (step())
            continue;
        if (!outside())
            die("waits for work that waits for ever");
        lock.unlock(); /* who drains has it once */
        usleep(100);
        lock.lock();
    }
}

void drain_all()
{
    for (Stream *s : streams)
        if (s->capture)
            die("waits for devices while a graph is made");
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
        s->todo.push_back(Op{std::move(run), nullptr, 0, nullptr});
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

static void take_kernel(void *stream, emu::Kernel run)
{
    std::lock_guard<Lock> hold(lock);
    Stream *s = stream_of(stream);
    const unsigned d = s->device;
    if (d != now_using)
        die("a kernel for a stream of another device");
    put(s, [=] {
        open_memory(d);
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

static Sums read_sums()
{
    static const char *const name[] = {"double", "forward", "backward"};
    const char *v = getenv("GNN_FAKE_SUMS");
    for (int i = DOUBLE; i <= BACKWARD; i++)
        if (!v || !*v || !strcmp(v, name[i]))
            return (Sums)i;
    die("GNN_FAKE_SUMS: expected double, forward or backward");
}

static void at_exit(int status, void *)
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
    left += (unsigned)(pinned.size() + mapped.size() + streams.size() + events.size() +
                       imports.size()) +
            graphs;
    if (!left)
        return;
    fprintf(
        stderr,
        "fake device: never freed: %zu pinned, %zu mapped, %zu streams, %zu events, %zu imports, %u graphs\n",
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
    host = setting("GNN_FAKE_HOST", host);
    allow_map = setting("GNN_FAKE_MAP", 0);
    refuse_register = setting("GNN_FAKE_NO_REGISTER", 0);
    refuse_export = setting("GNN_FAKE_NO_EXPORT", 0);
    sums = read_sums();
    const char *order = getenv("GNN_FAKE_ORDER");
    favour = !order || !*order ? 0 : *order == 'r' ? -1 : 1;
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

int call(const char *what, struct gnn_err *e)
{
    begin();
    if (++calls != fail_at)
        return 0;
    return gnn_fail(e, GNN_E_DEVICE, "CUDA: %s: a failure that was asked for", what);
}

} // namespace fake
