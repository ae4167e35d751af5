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

/* Stacks begin at different places of their pages: at the same one of each, all frames would be in
 * few lines of the caches. */
constexpr size_t STACK = 256 << 10, APART = 5 * 64, PLACES = 96;
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
/* It is changed to soon: its registers and the frame above them come to the caches. */
void expect(const Context *c)
{
    __builtin_prefetch(c->sp);
    __builtin_prefetch((char *)c->sp + 64);
    __builtin_prefetch((char *)c->sp + 128);
}
void prepare(Context *c, void *stack, size_t n, void (*f)())
{
    void **top = (void **)((char *)stack + n);
    top[-2] = (void *)f; /* returned to, with the stack as after a call; below it are registers */
    c->sp = top - 8;
}
#else
typedef ucontext_t Context;
void change(Context *from, Context *to)
{
    swapcontext(from, to);
}
void expect(const Context *c)
{
    (void)c;
}
void prepare(Context *c, void *stack, size_t n, void (*f)())
{
    getcontext(c);
    c->uc_stack.ss_sp = stack;
    c->uc_stack.ss_size = n;
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
    unsigned number; /* among those at once */
    uint3 idx;
    std::vector<char> statics;                 /* shared memory, while another block runs */
    std::vector<std::unique_ptr<Fiber>> fiber; /* kept for the next block */
    std::vector<Meeting> meeting;              /* [warp * WARP + lowest lane] */
    std::vector<unsigned> gone; /* [warp] lanes that have ended, or that there are not */
    std::vector<unsigned> ready;
    Fiber *next = nullptr; /* drawn from those that were ready one step before */
    unsigned threads = 0, ended = 0, waiting = 0;
    std::vector<char> dynamic;
};

std::vector<std::unique_ptr<Block>> blocks; /* as many as run by turns */
Block *block;                               /* the running one */
Launch running;
const std::function<void()> *body;

Context scheduler;
#ifdef EMU_ASAN
void *scheduler_fake;
const void *scheduler_stack;
size_t scheduler_stack_size;
#endif
Fiber *current;
uint64_t steps_left; /* until it is another block's turn */
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
    fprintf(stderr, "emu: kernel %s, block (%u,%u,%u), %s at %s:%d (seed %llu)\n", running.name,
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
        (*body)();
        current->state = ENDED;
        block->ended++;
        block->gone[current->number / WARP] |= 1u << current->number % WARP;
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

Fiber *new_fiber(unsigned number)
{
    Fiber *f = new Fiber;
    f->stack = mmap(nullptr, STACK, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (f->stack == MAP_FAILED)
        abort();
    prepare(&f->context, f->stack, STACK - number % PLACES * APART, run_fiber);
    return f;
}

void wake(State from)
{
    for (unsigned i = 0; i < block->threads; i++)
        if (block->fiber[i]->state == from) {
            block->fiber[i]->state = READY;
            block->ready.push_back(i);
        }
}

/* All threads that have not ended wait at the barrier: they may go on, if it is one and the same.
 */
void open_barrier()
{
    const Fiber *first = nullptr;
    for (unsigned i = 0; i < block->threads; i++) {
        const Fiber *f = block->fiber[i].get();
        if (f->state != AT_BARRIER)
            continue;
        if (first && !same(first->at, f->at))
            die("threads wait at another __syncthreads than others", f->at);
        first = f;
    }
    block->waiting = 0;
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
    if (n + running.shared <= USUAL_SHARED)
        return;
    for (size_t i = 0; i < n; i++)
        if (((volatile char *)emu_section_begin)[i] != POISON && last != i / 4) {
            last = i / 4;
            used += 4;
        }
    if (used > USUAL_SHARED || used + running.shared > running.limit)
        refuse(running, used + running.shared, NO_OPT_IN);
}

/* Words that are written to let another block run. */
size_t cost_of_turn()
{
    return watch_swapped ? watch_swapped(block->number) : 0;
}

/* Lets another block run: memory becomes what it sees. */
void enter(Block *b)
{
    const size_t n = (size_t)(emu_section_end - emu_section_begin);
    if (b == block)
        return;
    if (block) {
        block->statics.assign(emu_section_begin, emu_section_end);
        if (watch_swap)
            watch_swap(block->number);
    }
    block = b;
    block_idx = b->idx;
    if (n && b->statics.size() == n)
        memcpy(emu_section_begin, b->statics.data(), n);
    if (watch_swap)
        watch_swap(b->number);
}

void start_block(Block *b, uint64_t i)
{
    const dim3 g = running.grid;
    enter(b);
    block_idx = b->idx =
        uint3{(unsigned)(i % g.x), (unsigned)(i / g.x % g.y), (unsigned)(i / g.x / g.y)};
    b->threads = block_dim.x * block_dim.y * block_dim.z;
    b->ended = b->waiting = 0;
    b->ready.clear();
    b->next = nullptr;
    for (unsigned t = 0; t < b->threads; t++) {
        if (t == b->fiber.size())
            b->fiber.emplace_back(new_fiber(t));
        Fiber *f = b->fiber[t].get();
        f->number = t;
        f->idx = block_dim.y * block_dim.z == 1
                     ? uint3{t, 0, 0}
                     : uint3{t % block_dim.x, t / block_dim.x % block_dim.y,
                             t / (block_dim.x * block_dim.y)};
        f->state = READY;
        b->ready.push_back(t);
    }
    const unsigned warps = (b->threads + WARP - 1) / WARP;
    if (b->meeting.size() < warps * WARP) /* nobody is left in one when a block has ended */
        b->meeting.resize(warps * WARP);
    b->gone.assign(warps, 0);
    if (b->threads % WARP)
        b->gone[warps - 1] = ~0u << b->threads % WARP;
    if (emu_section_begin)
        memset(emu_section_begin, POISON, (size_t)(emu_section_end - emu_section_begin));
    b->dynamic.assign(running.shared + 16, POISON);
}

Fiber *draw_ready(Block *b)
{
    if (b->ready.empty())
        return nullptr;
    const size_t k = draw(b->ready.size());
    Fiber *f = b->fiber[b->ready[k]].get();
    b->ready[k] = b->ready.back();
    b->ready.pop_back();
    expect(&f->context);
    return f;
}

/* One thread of the running block goes on, or all from a barrier. */
void step_block()
{
    Block &b = *block;
    Fiber *f = b.next ? b.next : draw_ready(&b);
    if (!f) {
        if (b.waiting && b.waiting + b.ended == b.threads) {
            open_barrier();
            return;
        }
        for (unsigned i = 0; i < b.threads; i++)
            if (b.fiber[i]->state == IN_WARP || b.fiber[i]->state == AT_BARRIER)
                die("threads wait for ever", b.fiber[i]->at);
    }
    b.next = draw_ready(&b);
    resume(f);
}

void end_block()
{
    check_static();
    if (watch_block_end)
        watch_block_end(block->number);
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
    return (void *)(((uintptr_t)block->dynamic.data() + 15) & ~(uintptr_t)15);
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

static unsigned blocks_at_once()
{
    const char *v = getenv("GNN_EMU_BLOCKS");
    const int n = v && *v ? atoi(v) : 1;
    if (n >= 1 && n <= 16)
        return (unsigned)n;
    fprintf(stderr, "emu: GNN_EMU_BLOCKS=%s: expected a number from 1 to 16\n", v);
    abort();
}

/* For how many steps the same block runs on: few or many, and more where it takes long to let
 * another one run. */
static uint64_t turn_of_block()
{
    return (UINT64_C(1) << draw(12)) * (1 + cost_of_turn() / 1024);
}

/* In this order they begin; any that has begun may go on. */
static void run_blocks(const std::vector<uint64_t> &order)
{
    static const unsigned most = blocks_at_once();
    std::vector<Block *> idle, live;
    for (unsigned i = 0; i < most; i++) {
        if (i == blocks.size()) {
            blocks.emplace_back(new Block);
            blocks[i]->number = i;
        }
        idle.push_back(blocks[i].get());
    }
    for (size_t next = 0; next < order.size() || !live.empty();) {
        if (!idle.empty() && next < order.size()) {
            start_block(idle.back(), order[next++]);
            live.push_back(block);
            idle.pop_back();
            continue;
        }
        const size_t k = live.size() > 1 ? draw(live.size()) : 0;
        enter(live[k]);
        steps_left = turn_of_block();
        do
            step_block();
        while (block->ended < block->threads && (live.size() == 1 || steps_left-- > 0));
        if (block->ended < block->threads)
            continue;
        end_block();
        idle.push_back(block);
        live[k] = live.back();
        live.pop_back();
    }
    if (watch_kernel_end)
        watch_kernel_end();
}

void launch(const Launch &l, const std::function<void()> &run)
{
    const dim3 grid = l.grid, size = l.block;
    const uint64_t blocks_in_all = (uint64_t)grid.x * grid.y * grid.z;
    running = l;
    count_of_launches++;
    if (watch)
        watch(l.name, grid);
    grid_dim = grid;
    block_dim = size;
    body = &run;
    std::vector<uint64_t> order(blocks_in_all);
    for (uint64_t i = 0; i < blocks_in_all; i++)
        order[i] = i;
    for (uint64_t i = blocks_in_all; i > 1; i--)
        std::swap(order[i - 1], order[draw(i)]);
    const char *fault = getenv("GNN_FAKE_FAULT");
    if (fault && *fault && strstr(l.name, fault))
        order.erase(std::find(order.begin(), order.end(), blocks_in_all - 1));
    run_blocks(order);
}

void barrier(Place at)
{
    current->state = AT_BARRIER;
    current->at = at;
    block->waiting++;
    swap_to_scheduler();
}

static void let_others()
{
    block->ready.push_back(current->number);
    swap_to_scheduler();
}
void pause()
{
    if (draw() % 4)
        return;
    if (blocks.size() > 1 && draw(2 + cost_of_turn() / 16) == 0)
        steps_left = 0;
    let_others();
}
void touch()
{
    if (draw() % 32 == 0)
        let_others();
}

void fence()
{
    if (watch_publish)
        watch_publish(block->number);
    pause();
}

void shared_by_all(const void *p, size_t n)
{
    if (watch_publish_at)
        watch_publish_at(block->number, p, n);
}

static bool within(const void *p, const void *begin, size_t n)
{
    return (uintptr_t)p - (uintptr_t)begin < n;
}
/* Another thread of the host, which has a stack of its own, may be at work in the same code. */
int toucher(const void *p)
{
    const size_t statics = (size_t)(emu_section_end - emu_section_begin);
    return current && within(__builtin_frame_address(0), current->stack, STACK) &&
                   !within(p, current->stack, STACK) && !within(p, emu_section_begin, statics) &&
                   !within(p, block->dynamic.data(), block->dynamic.size())
               ? (int)block->number
               : -1;
}

const uint64_t *collect(unsigned mask, uint64_t v, Op op, Place at)
{
    const unsigned me = lane(), warp = current->number / WARP;
    if (!(mask >> me & 1))
        die("a lane outside the mask of its collective", at);
    Meeting *m = &block->meeting[warp * WARP + (unsigned)__builtin_ctz(mask)];
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
    if (mask & block->gone[warp])
        die("a collective waits for a lane that has ended", at);
    if (m->here == mask) {
        m->here = 0;
        m->turn++;
        for (unsigned l = 0; l < WARP; l++)
            if ((mask >> l & 1) && l != me) {
                Fiber *f = block->fiber[warp * WARP + l].get();
                f->state = READY;
                block->ready.push_back(f->number);
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
