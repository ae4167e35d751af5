/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the fake run-time share (dev_fake.cc is the way in): its state, who may touch
 * what, in which order things happen. */
#ifndef GNN_TESTS_EMU_DEV_FAKE_H
#define GNN_TESTS_EMU_DEV_FAKE_H

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/base/err.h"

namespace fake
{

enum : uint64_t { ALIGN = 256, GUARD = 512, PAGE = 4096 };
enum : unsigned char { GUARD_BYTE = 0xA7, FRESH_BYTE = 0xD3 };

struct Event {
    unsigned device;
    uint64_t asked = 0, happened = 0, at = 0; /* at: the clock when it last happened */
    bool timed = false;
    explicit Event(unsigned d) : device(d)
    {
    }
};
using EventRef = std::shared_ptr<Event>;

struct Op {
    std::function<void()> run;
    EventRef wait;
    uint64_t until = 0;
    std::function<bool()> can; /* asked until it is so: what other processes have a share in */
};

struct Graph {
    std::vector<std::function<void()>> op;
};

struct Stream {
    unsigned device;
    int priority; /* enum gnn_dev_priority */
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
    uint64_t used = 0;               /* beyond, nothing is allocated */
    uint64_t open = 0;               /* bytes that may be touched at the moment */
    std::map<uint64_t, Block> block; /* by offset */
    std::vector<bool> peer;
};

struct Import {
    char *base;
    uint64_t bytes;
    void *p;
    unsigned opener, device; /* which device has opened whose memory */
    bool open = false;       /* may be touched at the moment */
};

/* Leaving the outermost call closes all device memory: to open and close it for every single
 * operation would take longer than the operations themselves. */
struct Lock {
    void lock();
    void unlock();

  private:
    std::recursive_mutex mutex;
    unsigned depth = 0;
};

extern Lock lock; /* of all that follows */
extern std::vector<Arena> device;
extern std::vector<Import> imports;
extern std::vector<Stream *> streams;
extern std::map<uintptr_t, uint64_t> pinned, mapped; /* bytes by address */
extern std::vector<EventRef *> events;
extern unsigned graphs;
extern uint64_t clock; /* operations of all streams so far: each takes a millisecond */
extern uint64_t memory, clique, capability,
    host; /* as GNN_FAKE_MEMORY, _CLIQUE, _CAPABILITY and _HOST say */
extern bool allow_map, refuse_register, refuse_export;
/* How products are added up: in double, or in float from the first term to the last, or backwards.
 */
enum Sums { DOUBLE, FORWARD, BACKWARD };
extern Sums sums; /* as GNN_FAKE_SUMS says */
extern thread_local unsigned now_using;

[[noreturn]] void die(const char *what);
uint64_t setting(const char *name, uint64_t otherwise);
void begin();
/* Every call comes here first. Nonzero: it is the one that shall fail. */
int call(const char *what, struct gnn_err *e);

/* From here until the next of these, or until the outermost call is left, device d reaches its own
 * memory and its peers', and nothing else; ANY: a copy reaches all. */
enum : unsigned { ANY = ~0u };
void open_memory(unsigned d);
/* Does p lie in one of these? */
bool inside(const std::map<uintptr_t, uint64_t> &m, const void *p);
/* The device whose memory it is; -1: no device's. */
int owner(const void *p);
void check_guards(const Arena &a, uint64_t at, const Block &b);

Stream *stream_of(void *stream);
/* Puts it on the stream, or into the graph that is being made of it. */
void put(Stream *s, std::function<void()> run);
/* Does all that can be done at once. */
void run_on();
/* Runs one operation of a random stream that has one; false: there is none that could run. */
bool step();
/* Runs operations until it is so, waiting for other processes if need be. */
void drain(const std::function<bool()> &done);
void drain_all();

} // namespace fake

#endif
