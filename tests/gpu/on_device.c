/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/on_device.h"

#include <stdlib.h>

#include "lib/gpu/dev.h"
#include "tap.h"

enum { MOST = 512, BEFORE = 256, GUARD = 64, RUBBISH = 0xa5 };

enum kind { BITS, F32, F64 };

/* On the device BEFORE + bytes long, with the elements at its end, or somewhat before. */
struct pair {
    char *here, *there, *first; /* first: all of it after the first run */
    size_t bytes, size, offset; /* offset: of the elements, in the first run BEFORE */
    enum kind kind;
    bool apart, pinned;
    double near; /* 0: the same bits */
};
struct buffer {
    char *there;
    size_t bytes;
};

struct gnn_err failure;
void *stream;
uint32_t size_scale = 1;
unsigned turn;
bool on_device;
static struct pair pair[MOST];
static struct buffer buffer[MOST + 1];
static void **heap;
static unsigned npairs, nbuffers, nheap, noted;
static size_t wrong;
static uint64_t state = 1;

void must(int rc)
{
    if (!rc)
        return;
    printf("Bail out! %s\n", failure.msg);
    exit(1);
}
static void must_be(bool so, const char *what)
{
    if (!so)
        must(gnn_fail(&failure, GNN_E_RUN, "%s", what));
}

/* ---- random numbers ---- */

void begin_drawing(uint64_t seed)
{
    state = seed;
}
uint32_t draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = state;
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    return (uint32_t)(x >> 32);
}
uint32_t below(uint32_t n)
{
    return (uint32_t)((uint64_t)draw() * n >> 32);
}
float number(void)
{
    return (float)(draw() >> 8) / (float)(1 << 23) - 1;
}

/* ---- arrays ---- */

static void *kept(void *p)
{
    if (nheap % MOST == 0)
        heap = realloc(heap, (nheap + MOST) * sizeof *heap);
    must_be(p && heap, "no memory for a test");
    return heap[nheap++] = p;
}
void *host(size_t bytes)
{
    return kept(calloc(bytes ? bytes : 1, 1));
}

static void *new_pair(size_t bytes, size_t size, enum kind kind)
{
    must_be(npairs < MOST && !on_device, "too many arrays, or one made during a run");
    struct pair *a = &pair[npairs++];
    *a = (struct pair){.bytes = bytes, .size = size, .kind = kind};
    a->here = kept(malloc(a->bytes ? a->bytes : 1));
    return memset(a->here, RUBBISH, a->bytes);
}
void *array(size_t n, size_t size)
{
    return new_pair(n * size, size, BITS);
}
char *bytes_at(size_t n, size_t off)
{
    return (char *)new_pair(n + off, GUARD, BITS) + off;
}
float *floats(size_t n)
{
    return new_pair(n * sizeof(float), sizeof(float), F32);
}
double *doubles(size_t n)
{
    return new_pair(n * sizeof(double), sizeof(double), F64);
}
float *numbers(size_t n)
{
    float *x = floats(n);
    for (size_t i = 0; i < n; i++)
        x[i] = number();
    return x;
}
float *copy(const float *x, size_t n)
{
    return memcpy(floats(n), x, n * sizeof *x);
}
float *filled(size_t n, float v)
{
    float *x = floats(n);
    for (size_t i = 0; i < n; i++)
        x[i] = v;
    return x;
}
uint32_t *words(size_t n)
{
    uint32_t *w = array(n, sizeof *w);
    for (size_t i = 0; i < n; i++)
        w[i] = draw();
    return w;
}
float *special(float *x, size_t n)
{
    static const float v[] = {NAN, INFINITY, -INFINITY, -0.0f};
    for (size_t i = 0; i < 4 && i + 1 < n; i++)
        x[i + 1] = v[i];
    return x;
}
uint64_t *nothing_bad(void)
{
    uint64_t *bad = array(1, sizeof *bad);
    *bad = UINT64_MAX;
    return bad;
}

static struct pair *pair_of(const void *p)
{
    for (unsigned i = npairs; i-- > 0;)
        if ((uintptr_t)p - (uintptr_t)pair[i].here <= pair[i].bytes)
            return &pair[i];
    must_be(false, "a pointer into no array");
    return NULL;
}
void near_enough(const void *p, double most)
{
    pair_of(p)->near = emu_vary ? most : 10 * most;
}
void kept_apart(const void *p)
{
    pair_of(p)->apart = true;
}
void in_host_memory(const void *p)
{
    pair_of(p)->pinned = true;
}

/* ---- the runs ---- */

void *at(const void *p)
{
    bool known = !on_device || !p;
    for (unsigned i = 0; i < nbuffers && !known; i++)
        known = (uintptr_t)p - (uintptr_t)buffer[i].there <= GUARD + buffer[i].bytes;
    if (known)
        return (void *)(uintptr_t)p;
    const struct pair *a = pair_of(p);
    return a->there + a->offset + ((const char *)p - a->here);
}

void *scratch(size_t bytes)
{
    struct buffer *r = &buffer[nbuffers];
    void *p;
    if (!on_device)
        return host(bytes);
    must_be(++nbuffers <= MOST, "too much scratch memory");
    r->bytes = bytes;
    must(gnn_dev_alloc(&p, GUARD + bytes + turn * GUARD, "scratch memory", &failure));
    must(gnn_dev_set(p, RUBBISH, GUARD + bytes + turn * GUARD, stream, &failure));
    r->there = p;
    return r->there + GUARD;
}
static void move(void *to, const void *from, size_t bytes)
{
    if (bytes)
        must(gnn_dev_copy(to, from, bytes, stream, &failure));
}
void *up(const void *from, size_t bytes)
{
    void *p = scratch(bytes);
    move(p, from, bytes);
    must(gnn_dev_stream_wait(stream, &failure)); /* `from` may change now */
    return p;
}
const uint32_t *counted(uint32_t n)
{
    return turn ? up(&n, sizeof n) : NULL;
}
uint32_t bound(uint32_t n)
{
    return n + 77 * turn;
}

static void begin_run(void)
{
    const uint64_t seed = draw();
    const unsigned few = 1 + below(2), many = 5 + below(12), grid = turn || !below(3) ? many : few;
    on_device = true;
    if (emu_vary)
        emu_vary(seed, grid);
    for (struct pair *a = pair; a < pair + npairs; a++) {
        const size_t all = BEFORE + a->bytes;
        void *p = a->there;
        if (!p && a->pinned)
            must(gnn_dev_pin(&p, all, "a test", &failure));
        else if (!p)
            must(gnn_dev_alloc(&p, all, "a test", &failure));
        a->there = p;
        a->offset = turn ? GUARD + (a->size <= 8 ? a->size * below(4) : 0) : BEFORE;
        if (a->pinned) {
            memset(p, RUBBISH, all);
            memcpy(a->there + a->offset, a->here, a->bytes);
            continue;
        }
        must(gnn_dev_set(p, RUBBISH, all, stream, &failure));
        move(a->there + a->offset, a->here, a->bytes);
    }
}

static bool is_rubbish(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)p[i] != RUBBISH)
            return false;
    return true;
}

void expect(bool right, const char *what, ...)
{
    va_list ap;
    if (right)
        return;
    wrong++;
    if (noted++ >= 20)
        return;
    printf("# ");
    va_start(ap, what);
    vprintf(what, ap);
    va_end(ap);
    putchar('\n');
}

static bool same_number(double a, double b, double near)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    if (!(near > 0))
        return !memcmp(&a, &b, sizeof a); /* a zero has a sign */
    return a == b || (isfinite(a) && isfinite(b) && fabs(a - b) <= near * fmax(1, fabs(b)));
}

static double number_at(enum kind kind, const char *p, size_t i)
{
    float f;
    double d;
    if (kind == F64)
        return memcpy(&d, p + i * sizeof d, sizeof d), d;
    return memcpy(&f, p + i * sizeof f, sizeof f), (double)f;
}

/* Notes the first element of array a that is another one than it should be. */
static void compare(const struct pair *a, const char *got, const char *want, double near,
                    const char *when)
{
    if (!a->bytes || !memcmp(got, want, a->bytes))
        return;
    const unsigned number_of = (unsigned)(a - pair);
    const size_t n = a->bytes / a->size;
    size_t i = 0;
    if (a->kind == BITS) {
        while (got[i] == want[i])
            i++;
        expect(false, "array %u: element %zu of %zu is another one%s", number_of, i / a->size, n,
               when);
        return;
    }
    while (i < n && same_number(number_at(a->kind, got, i), number_at(a->kind, want, i), near))
        i++;
    expect(i == n, "array %u: element %zu of %zu is %.9g, not %.9g%s", number_of, i, n,
           i < n ? number_at(a->kind, got, i) : 0, i < n ? number_at(a->kind, want, i) : 0, when);
}

/* What is on the device now. */
static char *down(const void *from, size_t bytes)
{
    char *p = malloc(bytes);
    must_be(p, "no memory for a test");
    move(p, from, bytes);
    return p;
}

/* What the run has left; the second one the same as the first. */
static void end_run(void)
{
    char *now[MOST], *buffer_now[MOST];
    must(gnn_dev_launched("a kernel", &failure));
    for (unsigned i = 0; i < npairs; i++)
        now[i] = down(pair[i].there, BEFORE + pair[i].bytes);
    for (unsigned i = 0; i < nbuffers; i++)
        buffer_now[i] = down(buffer[i].there, GUARD + buffer[i].bytes + turn * GUARD);
    must(gnn_dev_stream_wait(stream, &failure));
    for (unsigned i = 0; i < npairs; i++) {
        struct pair *a = &pair[i];
        const char *mine = now[i] + a->offset, *end = mine + a->bytes;
        expect(is_rubbish(now[i], a->offset) &&
                   is_rubbish(end, (size_t)(now[i] + BEFORE + a->bytes - end)),
               "written beside array %u", i);
        if (!turn) {
            a->first = now[i];
            continue;
        }
        compare(a, a->first + BEFORE, mine, 0, ", when it is done again");
        free(now[i]);
    }
    for (unsigned i = 0; i < nbuffers; i++) {
        expect(is_rubbish(buffer_now[i], GUARD) &&
                   is_rubbish(buffer_now[i] + GUARD + buffer[i].bytes, turn * GUARD),
               "written beside scratch memory %u", i);
        free(buffer_now[i]);
        gnn_dev_free(buffer[i].there);
    }
    nbuffers = 0;
    on_device = false;
}

bool again(void)
{
    if (on_device) {
        end_run();
        turn = !turn;
        if (!turn)
            return false;
    }
    begin_run();
    return true;
}

/* ---- the end of a case ---- */

const void *left(const void *p)
{
    const struct pair *a = pair_of(p);
    return a->first + BEFORE + ((const char *)p - a->here);
}

void settle(void)
{
    for (unsigned i = 0; i < npairs; i++) {
        const struct pair *a = &pair[i];
        if (a->first && !a->apart)
            compare(a, a->first + BEFORE, a->here, a->near, "");
        free(pair[i].first);
        if (pair[i].pinned)
            gnn_dev_unpin(pair[i].there);
        else
            gnn_dev_free(pair[i].there);
    }
    while (nheap)
        free(heap[--nheap]);
    npairs = 0;
}

void verdict(const char *name, ...)
{
    char what[256];
    va_list ap;
    settle();
    va_start(ap, name);
    vsnprintf(what, sizeof what, name, ap);
    va_end(ap);
    ok(!wrong, "%s", what);
    wrong = noted = 0;
}

int done(void)
{
    free(heap);
    return tap_done();
}
