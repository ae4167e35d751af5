/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler behind emu.h. */
#include "emu/emu.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <sys/mman.h>
#include <ucontext.h>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define EMU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMU_ASAN 1
#endif
#endif
#ifdef EMU_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

#ifdef __x86_64__
/* Changes stacks; swapcontext would also ask the kernel for the mask of signals, each time. */
extern "C" void emu_switch(void **from, void *to);
asm(R"(
.text
.p2align 4
.globl emu_switch
.hidden emu_switch
.type emu_switch, @function
emu_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size emu_switch, . - emu_switch
)");
#endif

extern char emu_section_begin[] asm("__start_emu_shared") __attribute__((weak));
extern char emu_section_end[] asm("__stop_emu_shared") __attribute__((weak));

namespace emu
{

uint3 thread_idx, block_idx;
dim3 block_dim, grid_dim;
void (*watch)(const char *name, dim3 grid);

namespace
{

constexpr size_t STACK = 256 << 10;
constexpr unsigned WARP = 32;
constexpr size_t USUAL_SHARED = 48 << 10, MOST_SHARED = 227 << 10;
constexpr char POISON = (char)0xa5;
constexpr char NO_OPT_IN[] =
    "bytes of shared memory, as the kernel has not opted in to so many by cudaFuncSetAttribute";

#ifdef __x86_64__
struct Context {
    void *sp;
};
void change(Context *from, Context *to)
{
    emu_switch(&from->sp, to->sp);
}
void prepare(Context *c, void *stack, void (*f)())
{
    void **top = (void **)((char *)stack + STACK);
    top[-2] = (void *)f; /* returned to, with the stack as after a call; below it are registers */
    c->sp = top - 8;
}
#else
typedef ucontext_t Context;
void change(Context *from, Context *to)
{
    swapcontext(from, to);
}
void prepare(Context *c, void *stack, void (*f)())
{
    getcontext(c);
    c->uc_stack.ss_sp = stack;
    c->uc_stack.ss_size = STACK;
    c->uc_link = nullptr;
    makecontext(c, f, 0);
}
#endif

enum State { READY, AT_BARRIER, IN_WARP, ENDED };

struct Fiber {
    Context context;
    void *stack = nullptr;
    void *fake = nullptr; /* of AddressSanitizer */
    State state = ENDED;
    uint3 idx;
    unsigned number;
    Place at;
};

/* Lanes of a warp that meet, known by their lowest lane. Values lie in two sets by turns: nobody
 * can begin the turn after next before all have read this one. */
struct Meeting {
    unsigned mask, here;
    uint64_t turn;
    Op op;
    Place at;
    uint64_t value[2][WARP];
};

struct Block {
    std::vector<std::unique_ptr<Fiber>> fiber; /* kept for the next block */
    std::vector<Meeting> meeting;              /* [warp * WARP + lowest lane] */
    std::vector<unsigned> gone; /* [warp] lanes that have ended, or that there are not */
    std::vector<unsigned> ready;
    unsigned threads = 0, ended = 0, waiting = 0;
    std::vector<char> dynamic;
    const std::function<void()> *body = nullptr;
    Launch is = {};
} block;

Context scheduler;
#ifdef EMU_ASAN
void *scheduler_fake;
const void *scheduler_stack;
size_t scheduler_stack_size;
#endif
Fiber *current;
uint64_t random_state = 1, first_seed = 1, count_of_launches;

uint64_t draw()
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = random_state;
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    return x ^ x >> 29;
}

/* Below n. */
uint64_t draw(uint64_t n)
{
    return (draw() >> 32) * n >> 32;
}

bool same(Place a, Place b)
{
    return a.line == b.line && (a.file == b.file || !strcmp(a.file, b.file));
}

[[noreturn]] void die(const char *what, Place at)
{
    fflush(stdout);
    fprintf(stderr, "emu: kernel %s, block (%u,%u,%u), %s at %s:%d (seed %llu)\n", block.is.name,
            block_idx.x, block_idx.y, block_idx.z, what, at.file, at.line,
            (unsigned long long)first_seed);
    abort();
}

void swap_to_scheduler()
{
    Fiber *me = current;
#ifdef EMU_ASAN
    __sanitizer_start_switch_fiber(&me->fake, scheduler_stack, scheduler_stack_size);
#endif
    change(&me->context, &scheduler);
#ifdef EMU_ASAN
    __sanitizer_finish_switch_fiber(me->fake, &scheduler_stack, &scheduler_stack_size);
#endif
}

void run_fiber()
{
#ifdef EMU_ASAN
    __sanitizer_finish_switch_fiber(nullptr, &scheduler_stack, &scheduler_stack_size);
#endif
    for (;;) { /* a fiber that has ended is used again by the next block */
        (*block.body)();
        current->state = ENDED;
        block.ended++;
        block.gone[current->number / WARP] |= 1u << current->number % WARP;
        swap_to_scheduler();
    }
}

void resume(Fiber *f)
{
    current = f;
    thread_idx = f->idx;
#ifdef EMU_ASAN
    __sanitizer_start_switch_fiber(&scheduler_fake, f->stack, STACK);
#endif
    change(&scheduler, &f->context);
#ifdef EMU_ASAN
    __sanitizer_finish_switch_fiber(scheduler_fake, nullptr, nullptr);
#endif
}

Fiber *new_fiber()
{
    Fiber *f = new Fiber;
    f->stack = mmap(nullptr, STACK, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (f->stack == MAP_FAILED)
        abort();
    prepare(&f->context, f->stack, run_fiber);
    return f;
}

void wake(State from)
{
    for (unsigned i = 0; i < block.threads; i++)
        if (block.fiber[i]->state == from) {
            block.fiber[i]->state = READY;
            block.ready.push_back(i);
        }
}

/* All threads that have not ended wait at the barrier: they may go on, if it is one and the same.
 */
void open_barrier()
{
    const Fiber *first = nullptr;
    for (unsigned i = 0; i < block.threads; i++) {
        const Fiber *f = block.fiber[i].get();
        if (f->state != AT_BARRIER)
            continue;
        if (first && !same(first->at, f->at))
            die("threads wait at another __syncthreads than others", f->at);
        first = f;
    }
    block.waiting = 0;
    wake(AT_BARRIER);
}

[[noreturn]] void refuse(const Launch &l, size_t n, const char *what)
{
    fflush(stdout);
    fprintf(stderr, "emu: kernel %s, launched at %s:%d: a device refuses %zu %s\n", l.name,
            l.at.file, l.at.line, n, what);
    abort();
}

/* All kernels have their static shared memory in one section: of it a block has the words that it
 * has written. */
void check_static()
{
    const size_t n = (size_t)(emu_section_end - emu_section_begin);
    size_t used = 0, last = SIZE_MAX;
    if (n + block.is.shared <= USUAL_SHARED)
        return;
    for (size_t i = 0; i < n; i++)
        if (((volatile char *)emu_section_begin)[i] != POISON && last != i / 4) {
            last = i / 4;
            used += 4;
        }
    if (used > USUAL_SHARED || used + block.is.shared > block.is.limit)
        refuse(block.is, used + block.is.shared, NO_OPT_IN);
}

void run_block()
{
    block.ended = block.waiting = 0;
    block.ready.clear();
    for (unsigned i = 0; i < block.threads; i++) {
        if (i == block.fiber.size())
            block.fiber.emplace_back(new_fiber());
        Fiber *f = block.fiber[i].get();
        f->number = i;
        f->idx = block_dim.y * block_dim.z == 1
                     ? uint3{i, 0, 0}
                     : uint3{i % block_dim.x, i / block_dim.x % block_dim.y,
                             i / (block_dim.x * block_dim.y)};
        f->state = READY;
        block.ready.push_back(i);
    }
    const unsigned warps = (block.threads + WARP - 1) / WARP;
    if (block.meeting.size() < warps * WARP) /* nobody is left in one when a block has ended */
        block.meeting.resize(warps * WARP);
    block.gone.assign(warps, 0);
    if (block.threads % WARP)
        block.gone[warps - 1] = ~0u << block.threads % WARP;
    for (volatile char *p = emu_section_begin; p && p < emu_section_end; p++)
        *p = POISON;
    std::fill(block.dynamic.begin(), block.dynamic.end(), POISON);
    while (block.ended < block.threads) {
        if (block.ready.empty()) {
            if (block.waiting && block.waiting + block.ended == block.threads) {
                open_barrier();
                continue;
            }
            for (unsigned i = 0; i < block.threads; i++)
                if (block.fiber[i]->state == IN_WARP || block.fiber[i]->state == AT_BARRIER)
                    die("threads wait for ever", block.fiber[i]->at);
        }
        const size_t k = draw(block.ready.size());
        Fiber *f = block.fiber[block.ready[k]].get();
        block.ready[k] = block.ready.back();
        block.ready.pop_back();
        resume(f);
    }
    check_static();
}

} // namespace

void misaligned()
{
    die("a load or store at an address that is no multiple of its size",
        Place{"thread", (int)current->number});
}

void set_seed(uint64_t seed)
{
    first_seed = random_state = seed;
}
uint64_t seed()
{
    return first_seed;
}
uint64_t launches()
{
    return count_of_launches;
}

static void (*runtime)(void *stream, Kernel run);
void set_runtime(void (*take)(void *stream, Kernel run))
{
    runtime = take;
}
void submit(void *stream, Kernel run)
{
    if (runtime)
        runtime(stream, std::move(run));
    else
        run();
}

void *dynamic_shared()
{
    return (void *)(((uintptr_t)block.dynamic.data() + 15) & ~(uintptr_t)15);
}
unsigned lane()
{
    return current->number % WARP;
}

static std::map<const void *, size_t> opted; /* bytes of dynamic shared memory */
static std::mutex opting;
bool opt_in(const void *kernel, size_t shared)
{
    std::lock_guard<std::mutex> hold(opting);
    if (shared > MOST_SHARED)
        return false;
    opted[kernel] = shared;
    return true;
}

Launch accept(Launch l, const void *kernel)
{
    std::lock_guard<std::mutex> hold(opting);
    const auto may = opted.find(kernel);
    const bool more = may != opted.end();
    const dim3 g = l.grid, b = l.block;
    const uint64_t threads = (uint64_t)b.x * b.y * b.z;
    l.limit = more ? MOST_SHARED : USUAL_SHARED;
    if (!g.x || !g.y || !g.z || !threads)
        refuse(l, 0, "blocks or threads");
    if (g.x > INT32_MAX || g.y > UINT16_MAX || g.z > UINT16_MAX)
        refuse(l, std::max({g.x, g.y, g.z}), "blocks in one dimension of a grid");
    if (threads > 1024 || b.z > 64)
        refuse(l, threads, "threads in a block, or more than 64 in its third dimension");
    if (l.shared > (more ? may->second : USUAL_SHARED))
        refuse(l, l.shared, NO_OPT_IN);
    return l;
}

void launch(const Launch &l, const std::function<void()> &body)
{
    const dim3 grid = l.grid, size = l.block;
    const uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z;
    block.is = l;
    block.threads = size.x * size.y * size.z;
    count_of_launches++;
    if (watch)
        watch(l.name, grid);
    grid_dim = grid;
    block_dim = size;
    block.body = &body;
    block.dynamic.resize(l.shared + 16);
    std::vector<uint64_t> order(blocks);
    for (uint64_t i = 0; i < blocks; i++)
        order[i] = i;
    for (uint64_t i = blocks; i > 1; i--)
        std::swap(order[i - 1], order[draw(i)]);
    const char *fault = getenv("GNN_FAKE_FAULT");
    const bool planted = fault && *fault && strstr(l.name, fault);
    for (uint64_t b : order) {
        if (planted && b == blocks - 1)
            continue;
        block_idx = uint3{(unsigned)(b % grid.x), (unsigned)(b / grid.x % grid.y),
                          (unsigned)(b / grid.x / grid.y)};
        run_block();
    }
}

void barrier(Place at)
{
    current->state = AT_BARRIER;
    current->at = at;
    block.waiting++;
    swap_to_scheduler();
}

void pause()
{
    if (draw() % 4)
        return;
    block.ready.push_back(current->number);
    swap_to_scheduler();
}

const uint64_t *collect(unsigned mask, uint64_t v, Op op, Place at)
{
    const unsigned me = lane(), warp = current->number / WARP;
    if (!(mask >> me & 1))
        die("a lane outside the mask of its collective", at);
    Meeting *m = &block.meeting[warp * WARP + (unsigned)__builtin_ctz(mask)];
    if (!m->here) {
        m->mask = mask;
        m->op = op;
        m->at = at;
    }
    if (m->mask != mask || m->op != op || !same(m->at, at))
        die("lanes meet in different collectives or with different masks", at);
    const uint64_t turn = m->turn;
    m->value[turn & 1][me] = v;
    m->here |= 1u << me;
    if (mask & block.gone[warp])
        die("a collective waits for a lane that has ended", at);
    if (m->here == mask) {
        m->here = 0;
        m->turn++;
        for (unsigned l = 0; l < WARP; l++)
            if ((mask >> l & 1) && l != me) {
                Fiber *f = block.fiber[warp * WARP + l].get();
                f->state = READY;
                block.ready.push_back(f->number);
            }
        pause();
    } else {
        current->state = IN_WARP;
        current->at = at;
        swap_to_scheduler();
    }
    return m->value[turn & 1];
}

unsigned ballot(unsigned mask, bool pred, Place at)
{
    const uint64_t *v = collect(mask, pred, BALLOT, at);
    unsigned r = 0;
    for (unsigned l = 0; l < WARP; l++)
        r |= (mask >> l & 1 & (unsigned)v[l]) << l;
    return r;
}

unsigned reduce_add(unsigned mask, unsigned x, Place at)
{
    const uint64_t *v = collect(mask, x, REDUCE, at);
    unsigned r = 0;
    for (unsigned l = 0; l < WARP; l++)
        r += mask >> l & 1 ? (unsigned)v[l] : 0;
    return r;
}

unsigned match(unsigned mask, uint64_t x, Place at)
{
    const uint64_t *v = collect(mask, x, MATCH, at);
    unsigned r = 0;
    for (unsigned l = 0; l < WARP; l++)
        r |= (unsigned)((mask >> l & 1) && v[l] == x) << l;
    return r;
}

} // namespace emu

/* For cases in C, which also run where nothing is emulated. */
extern "C" void emu_vary(uint64_t seed, unsigned grid)
{
    emu::set_seed(seed);
    emu::grid_max = grid;
}
extern "C" uint64_t emu_launched(void)
{
    return emu::launches();
}
