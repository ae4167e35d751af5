/* SPDX-License-Identifier: Apache-2.0 */
/* tests/emu/dev_fake.cc: that it is as unforgiving as it claims, since the tests of everything on
 * devices rest on it. */
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/emu.h"
#include "kernels/half.h"
#include "lib/gpu/dev.h"
#include "tap.h"

namespace
{

struct gnn_err err;

void must(int rc)
{
    if (rc) {
        printf("Bail out! %s\n", err.msg);
        exit(1);
    }
}

/* Runs f in a child with the variable set; returns its wait status. */
int child(const char *set, const char *to, void (*f)())
{
    fflush(stdout);
    const pid_t pid = fork();
    if (!pid) {
        if (set)
            setenv(set, to, 1);
        if (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout))
            _exit(97);
        f();
        exit(0);
    }
    int st = 0;
    waitpid(pid, &st, 0);
    return st;
}

bool crashed(int st)
{
    return WIFSIGNALED(st) || (WIFEXITED(st) && WEXITSTATUS(st) == 1); /* the latter: a sanitizer */
}

struct Two {
    void *from, *to, *a, *b, *event;
    float *pin;
};

Two two()
{
    Two t{};
    void *pin = nullptr;
    must(gnn_dev_use(0, &err));
    must(gnn_dev_alloc(&t.from, 4096, "one", &err));
    must(gnn_dev_alloc(&t.to, 4096, "two", &err));
    must(gnn_dev_pin(&pin, 4096, "pinned", &err));
    t.pin = (float *)pin;
    must(gnn_dev_stream_new(&t.a, &err));
    must(gnn_dev_stream_new(&t.b, &err));
    must(gnn_dev_event_new(&t.event, &err));
    return t;
}

void release(Two &t)
{
    gnn_dev_stream_free(t.a);
    gnn_dev_stream_free(t.b);
    gnn_dev_event_free(t.event);
    gnn_dev_free(t.from);
    gnn_dev_free(t.to);
    gnn_dev_unpin(t.pin);
}

/* A kernel on one stream, the copy of its result on another; the answer is 2 if they were in order.
 */
bool in_order(bool event)
{
    Two t = two();
    static uint16_t in[1024];
    for (uint16_t &v : in)
        v = 0x4000;
    must(gnn_dev_copy(t.from, in, sizeof in, t.a, &err));
    gnn_cuda_f16_to_f32((const uint16_t *)t.from, 1024, (float *)t.to, t.a);
    must(gnn_dev_launched("a conversion", &err));
    must(gnn_dev_event_record(t.event, t.a, &err));
    if (event)
        must(gnn_dev_event_after(t.b, t.event, &err));
    must(gnn_dev_copy(t.pin, t.to, 4096, t.b, &err));
    must(gnn_dev_stream_wait(t.b, &err));
    bool good = true;
    for (unsigned i = 0; i < 1024; i++)
        good = good && t.pin[i] == 2;
    release(t);
    return good;
}

/* Who asks for an event need not wait for it. */
bool asked()
{
    Two t = two();
    bool done = false;
    must(gnn_dev_event_done(t.event, &done, &err));
    const bool never = done;
    must(gnn_dev_set(t.pin, 7, 2048, t.a, &err));
    must(gnn_dev_event_record(t.event, t.a, &err));
    do
        must(gnn_dev_event_done(t.event, &done, &err));
    while (!done);
    const bool there = ((const unsigned char *)t.pin)[2047] == 7;
    release(t);
    return never && there;
}

void touch()
{
    Two t = two();
    printf("%d\n", *(int *)t.from);
}

void leak()
{
    void *p = nullptr;
    must(gnn_dev_use(0, &err));
    must(gnn_dev_alloc(&p, 1, "a leak", &err));
}

void overrun()
{
    Two t = two();
    gnn_cuda_f16_to_f32((const uint16_t *)t.from, 1024, (float *)t.to + 1,
                        t.a); /* one element too far */
    release(t);
}

void overread()
{
    Two t = two();
    gnn_cuda_f16_to_f32((const uint16_t *)t.from + 1025, 1024, (float *)t.to,
                        t.a); /* one element too far */
    release(t);
}

void other_device()
{
    void *p = nullptr, *q = nullptr, *s = nullptr;
    must(gnn_dev_use(0, &err));
    must(gnn_dev_alloc(&p, 4096, "of 0", &err));
    must(gnn_dev_use(1, &err));
    must(gnn_dev_alloc(&q, 4096, "of 1", &err));
    must(gnn_dev_stream_new(&s, &err));
    if (getenv("OPEN_PEER"))
        must(gnn_dev_peer_open(1, 0, &err));
    gnn_cuda_f16_to_f32((const uint16_t *)p, 16, (float *)q, s);
    gnn_dev_stream_free(s);
    gnn_dev_free(p);
    gnn_dev_free(q);
}

void other_event()
{
    Two t = two();
    void *s = nullptr;
    must(gnn_dev_use(1, &err));
    must(gnn_dev_stream_new(&s, &err));
    must(gnn_dev_event_after(s, t.event, &err));
    if (getenv("RECORD"))
        must(gnn_dev_event_record(t.event, s, &err));
    gnn_dev_stream_free(s);
    release(t);
}

void early_free()
{
    Two t = two();
    must(gnn_dev_event_after(t.a, t.event, &err));
    gnn_dev_unpin(t.pin);
    t.pin = nullptr;
    must(gnn_dev_copy(t.to, (char *)t.from + 8192, 8, t.a,
                      &err)); /* between two blocks: allowed, but of nobody */
    release(t);
}

/* Copies on two streams of different priorities to the same place, the higher one's first; how
 * often the lower one's was the last. */
unsigned low_last()
{
    unsigned n = 0;
    for (int i = 0; i < 20; i++) {
        Two t = two();
        void *high = nullptr;
        must(gnn_dev_stream_at(GNN_DEV_HIGHEST, &high, &err));
        for (int k = 0; k < 8; k++) {
            must(gnn_dev_set(t.from, 1, 16, t.a, &err));
            must(gnn_dev_set(t.from, 2, 16, high, &err));
        }
        must(gnn_dev_stream_wait(t.a, &err));
        must(gnn_dev_stream_wait(high, &err));
        must(gnn_dev_copy(t.pin, t.from, 16, t.a, &err));
        must(gnn_dev_stream_wait(t.a, &err));
        n += *(const unsigned char *)t.pin == 1;
        gnn_dev_stream_free(high);
        release(t);
    }
    return n;
}
template <unsigned LEAST, unsigned MOST> void low_is_last()
{
    const unsigned n = low_last();
    if (n < LEAST || n > MOST)
        exit(3);
}

template <bool PINNED> void free_in_graph()
{
    Two t = two();
    must(gnn_dev_graph_begin(t.a, &err));
    if (PINNED)
        gnn_dev_unpin(t.pin);
    else
        gnn_dev_free(t.from);
}

void graphs()
{
    Two t = two();
    void *graph = nullptr;
    must(gnn_dev_graph_begin(t.a, &err));
    must(gnn_dev_copy(t.from, t.pin, 2048, t.a, &err));
    gnn_cuda_f16_to_f32((const uint16_t *)t.from, 1024, (float *)t.to, t.a);
    must(gnn_dev_graph_end(t.a, &graph, &err));
    bool good = true;
    for (int round = 1; round <= 2; round++) {
        for (unsigned i = 0; i < 1024; i++)
            ((uint16_t *)t.pin)[i] = round == 1 ? 0x3c00 : 0x4000;
        must(gnn_dev_graph_launch(graph, t.a, &err));
        must(gnn_dev_stream_wait(t.a, &err));
        must(gnn_dev_copy(t.pin, t.to, 4096, t.a, &err));
        must(gnn_dev_stream_wait(t.a, &err));
        for (unsigned i = 0; i < 1024; i++)
            good = good && t.pin[i] == (float)round;
    }
    ok(good, "the fake device reads at each launch of a graph what its memory holds then");
    gnn_dev_graph_free(graph);
    release(t);
}

void import_memory(const char *me)
{
    void *p = nullptr, *s = nullptr;
    struct gnn_dev_handle h;
    must(gnn_dev_use(0, &err));
    must(gnn_dev_alloc(&p, 4096, "to share", &err));
    must(gnn_dev_stream_new(&s, &err));
    must(gnn_dev_set(p, 7, 4096, s, &err));
    must(gnn_dev_stream_wait(s, &err));
    must(gnn_dev_export(p, &h, &err));
    struct gnn_err own = {};
    void *again = nullptr;
    uint64_t bytes;
    ok(gnn_dev_import(&h, &again, &bytes, &own) == GNN_E_DEVICE,
       "gnn_dev_import refuses memory of the same process");
    int to[2];
    if (pipe(to))
        exit(1);
    fflush(stdout);
    const pid_t pid = fork();
    if (!pid) { /* another process, with a device of its own */
        dup2(to[0], 0);
        execl(me, me, "import", (char *)nullptr);
        _exit(96);
    }
    if (write(to[1], &h, sizeof h) != (ssize_t)sizeof h)
        exit(1);
    int st = 0;
    waitpid(pid, &st, 0);
    ok(WIFEXITED(st) && !WEXITSTATUS(st),
       "gnn_dev_import lets another process read the memory (status %d)", st);
    gnn_dev_stream_free(s);
    gnn_dev_free(p);
}

int imported()
{
    struct gnn_dev_handle h;
    void *p = nullptr, *s = nullptr, *pin = nullptr;
    uint64_t bytes = 0;
    if (read(0, &h, sizeof h) != (ssize_t)sizeof h)
        return 1;
    must(gnn_dev_use(0, &err));
    must(gnn_dev_import(&h, &p, &bytes, &err));
    must(gnn_dev_stream_new(&s, &err));
    must(gnn_dev_pin(&pin, 4096, "pinned", &err));
    must(gnn_dev_copy(pin, p, 4096, s, &err));
    must(gnn_dev_stream_wait(s, &err));
    bool good = bytes >= 4096;
    for (int i = 0; i < 4096; i++)
        good = good && ((char *)pin)[i] == 7;
    gnn_dev_unpin(pin);
    gnn_dev_stream_free(s);
    gnn_dev_import_close(p);
    return good ? 0 : 2;
}

} // namespace

/* Memory that is freed, and its guard, reach into no block that was put right behind it, as
 * AddressSanitizer would see. */
void neighbours()
{
    void *a, *b, *s;
    must(gnn_dev_stream_new(&s, &err));
    must(gnn_dev_alloc(&a, 4096, "first", &err)); /* a multiple of the alignment */
    must(gnn_dev_alloc(&b, 4096, "second", &err));
    must(gnn_dev_set(b, 1, 4096, s, &err));
    gnn_dev_free(a);
    must(gnn_dev_alloc(&a, 4096, "first again", &err));
    gnn_dev_free(b);
    must(gnn_dev_alloc(&b, 4096, "second again", &err));
    gnn_dev_free(a);
    must(gnn_dev_set(b, 2, 4096, s, &err));
    gnn_dev_free(b);
    gnn_dev_stream_free(s);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return imported();
    setenv("GNN_FAKE_DEVICES", "2", 1);
    ok(crashed(child(nullptr, nullptr, touch)),
       "the fake device keeps the host from reading its memory");
    int st = child(nullptr, nullptr, leak);
    ok(WIFEXITED(st) && WEXITSTATUS(st) == 98,
       "the fake device reports memory that is never freed");
    ok(crashed(child(nullptr, nullptr, overrun)),
       "the fake device ends a kernel that writes behind an array");
#ifdef __SANITIZE_ADDRESS__
    ok(crashed(child(nullptr, nullptr, overread)),
       "AddressSanitizer ends a kernel that reads behind an array");
#else
    ok(child(nullptr, nullptr, overread) == 0,
       "the fake device alone does not see that a kernel reads behind an array");
#endif
    ok(child(nullptr, nullptr, neighbours) == 0,
       "the fake device frees a block without touching the one behind it");
    ok(crashed(child(nullptr, nullptr, other_device)),
       "the fake device keeps a kernel from reading another device's memory");
    ok(child("OPEN_PEER", "1", other_device) == 0,
       "the fake device lets a kernel read the memory of a peer");
    ok(crashed(child("GNN_FAKE_CLIQUE", "1", []() { must(gnn_dev_peer_open(1, 0, &err)); })),
       "the fake device opens no peer outside its clique");
    ok(child(nullptr, nullptr, other_event) == 0,
       "the fake device lets a stream wait for another device's event");
    ok(crashed(child("RECORD", "1", other_event)),
       "the fake device records no event on another device's stream");
    ok(child(nullptr, nullptr, early_free) == 0,
       "the fake device does not wait for an event that was never recorded");
    ok(crashed(child(nullptr, nullptr, free_in_graph<false>)) &&
           crashed(child(nullptr, nullptr, free_in_graph<true>)),
       "the fake device frees no memory while a graph is made, as it would have to wait");
    ok(child(nullptr, nullptr, low_is_last<1, 19>) == 0,
       "the fake device takes streams in any order, whatever their priority");
    ok(child("GNN_FAKE_ORDER", "priority", low_is_last<19, 20>) == 0,
       "the fake device lets streams of high priority go first if asked to");
    ok(child("GNN_FAKE_ORDER", "reverse", low_is_last<0, 1>) == 0,
       "the fake device lets streams of low priority go first if asked to");
    ok(asked(), "the fake device answers that an event is open until it has happened");
    unsigned right = 0, wrong = 0;
    for (int i = 0; i < 20; i++) {
        right += in_order(true);
        wrong += !in_order(false);
    }
    ok(right == 20,
       "a stream that waits for an event sees the result of the kernel before it, 20 times of 20");
    ok(wrong > 0, "a stream that does not wait misses the result at times (%u of 20)", wrong);
    void *p = nullptr;
    struct gnn_err e = {};
    ok(gnn_dev_use(2, &e) == GNN_E_DEVICE, "gnn_dev_use refuses the third device of two: %s",
       e.msg);
    e = {};
    must(gnn_dev_use(0, &err));
    ok(gnn_dev_alloc(&p, (uint64_t)1 << 40, "a lot", &e) == GNN_E_NOMEM && !p,
       "gnn_dev_alloc refuses more memory than the device has: %s", e.msg);
    graphs();
    import_memory(argv[0]);
    return tap_done();
}
