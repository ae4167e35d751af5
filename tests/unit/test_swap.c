/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is moved to a file (lib/base/swap.h): contents come back in any order of turns, the
 * limit holds, what is not needed is not written, and faults of the file are told. */
#include <omp.h>
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/swap_impl.h"
#include "scratch.h"
#include "tap.h"

enum { REGIONS = 48, WORDS = 100000 /* of 8 bytes: 800 kB each */ };

static uint64_t word(uint32_t region, uint64_t i, uint64_t version)
{
    return (region * 0x9E3779B97F4A7C15u) ^ (i * 0xBF58476D1CE4E5B9u) ^ version;
}

static bool is_right(const struct gnn_buf *b, uint32_t region, uint64_t version)
{
    const uint64_t *x = b->data;
    for (uint64_t i = 0; i < WORDS; i++)
        if (x[i] != word(region, i, version))
            return false;
    return true;
}

static void write_words(struct gnn_buf *b, uint32_t region, uint64_t version)
{
    uint64_t *x = b->data;
    for (uint64_t i = 0; i < WORDS; i++)
        x[i] = word(region, i, version);
}

/* space: for regions, besides the margin that is kept free. */
static struct gnn_swap *start(const char *dir, uint64_t buffer, struct gnn_err *e)
{
    char path[4096];
    const uint64_t limit = gnn_mem_resident() + buffer;
    (void)snprintf(path, sizeof path, "%s/model", dir);
    struct gnn_swap *s = gnn_swap_new(path, limit + limit / 63 + (6 << 20), e);
    return s && !gnn_swap_begin(s, e) ? s : NULL;
}

static bool fill(struct gnn_swap *s, struct gnn_buf *b, struct gnn_err *e)
{
    for (uint32_t r = 0; r < REGIONS; r++) {
        if (gnn_swap_fit(s, &b[r], WORDS, sizeof(uint64_t), "words", e))
            return false;
        write_words(&b[r], r, 0);
        if (gnn_swap_drop(s, e))
            return false;
    }
    return true;
}

/* Turns of three regions: two are read, one is written. In the order of the last cycle, in other
 * orders, with turns left out. */
static void test_contents(const char *dir)
{
    enum { CYCLES = 8 };
    struct gnn_err e = {0};
    const uint64_t before = gnn_mem_resident(), buffer = 9u << 20, margin = 7u << 20;
    struct gnn_swap *s = start(dir, buffer, &e);
    struct gnn_buf b[REGIONS] = {{0}};
    uint64_t version[REGIONS] = {0}, most = 0;
    bool good = s && fill(s, b, &e);
    for (uint32_t c = 0; good && c < CYCLES; c++) {
        gnn_swap_cycle(s);
        for (uint32_t t = 0; good && t < REGIONS; t++) {
            const uint32_t step = c < 4    ? 1
                                  : c == 4 ? 7
                                           : 5,
                           r = t * step % REGIONS, q = (r + 13) % REGIONS, p = (r + 29) % REGIONS;
            if (c == 5 && t % 3 == 0)
                continue;
            good = !gnn_swap_hold(s, &b[r], true, &e) && !gnn_swap_hold(s, &b[q], false, &e) &&
                   !gnn_swap_hold(s, &b[p], false, &e) && is_right(&b[r], r, version[r]) &&
                   is_right(&b[q], q, version[q]) && is_right(&b[p], p, version[p]);
            if (good)
                write_words(&b[r], r, ++version[r]);
            good = good && !gnn_swap_drop(s, &e);
            if (gnn_mem_resident() > most)
                most = gnn_mem_resident();
        }
    }
    ok(good, "contents come back in any order of turns: %s", e.msg);
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    most = before; /* these take memory of their own for each address */
#endif
    ok(most <= before + buffer + margin, "memory stays within the limit: %llu kB over %llu",
       (unsigned long long)(most - before) / 1000, (unsigned long long)buffer / 1000);
    const struct gnn_swap_stats stats = gnn_swap_stats(s);
    ok(stats.read > 0 && stats.written > 0, "regions were written and read");
    gnn_swap_free(s);
}

/* Turns of three regions under a limit; the smallest limit that would do, or 0 if this one does
 * not. */
static uint64_t least_of(const char *path, uint64_t limit)
{
    struct gnn_err e = {0};
    struct gnn_swap *s = gnn_swap_new(path, limit, &e);
    struct gnn_buf b[REGIONS] = {{0}};
    bool good = s && !gnn_swap_begin(s, &e) && fill(s, b, &e);
    for (uint32_t r = 0; good && r < REGIONS; r++)
        good = !gnn_swap_hold(s, &b[r], true, &e) &&
               !gnn_swap_hold(s, &b[(r + 13) % REGIONS], false, &e) &&
               !gnn_swap_hold(s, &b[(r + 29) % REGIONS], false, &e) && !gnn_swap_drop(s, &e);
    const uint64_t least = good ? gnn_swap_stats(s).least : 0;
    gnn_swap_free(s);
    return least;
}

static void test_least(const char *dir)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/model", dir);
    const uint64_t few = 1 << 20, held = 3 * WORDS * sizeof(uint64_t),
                   most = gnn_mem_resident() + held + gnn_mem_resident() / 60 + 8 * few,
                   least = least_of(path, UINT64_C(1) << 40);
    ok(least > held && least < most,
       "the smallest limit has nothing of the one that was given: %llu", (unsigned long long)least);
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__ /* they take more and more */
    const uint64_t again = least_of(path, least + few);
    ok(again > 0 && again <= least + few, "it is enough: %llu", (unsigned long long)again);
    ok(!least_of(path, least - held / 2 - few), "a smaller one is not");
#endif
}

/* Turns without contents take no memory, and tell which limit is enough. */
static void test_rehearsal(const char *dir)
{
    char path[4096];
    struct gnn_err e = {0};
    struct gnn_buf b[REGIONS] = {{0}}, filled = {0};
    (void)snprintf(path, sizeof path, "%s/model", dir);
    const uint64_t before = gnn_mem_resident();
    struct gnn_swap *s = gnn_swap_new(path, 1 << 20, &e);
    bool good = s && !gnn_swap_fit(s, &filled, WORDS, sizeof(uint64_t), "words", &e);
    if (good)
        write_words(&filled, 0, 0);
    good = good && !gnn_swap_drop(s, &e);
    gnn_swap_rehearse(s);
    for (uint32_t r = 0; good && r < REGIONS; r++)
        good = !gnn_swap_fit(s, &b[r], WORDS, sizeof(uint64_t), "words", &e) &&
               (r % 12 != 11 || !gnn_swap_drop(s, &e));
    good = good && !gnn_swap_hold(s, &filled, false, &e) && is_right(&filled, 0, 0) &&
           !gnn_swap_drop(s, &e);
    const uint64_t held = 12 * WORDS * sizeof(uint64_t);
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__ /* they take more and more */
    const uint64_t taken = gnn_mem_resident() - before;
    ok(good && taken < held / 4, "a rehearsal takes no memory: %llu kB",
       (unsigned long long)taken / 1000);
#endif
    const int rc = good ? gnn_swap_begin(s, &e) : 0;
    const uint64_t least = good ? gnn_swap_stats(s).least : 0;
    ok(rc == GNN_E_NOMEM && strstr(e.msg, "--memory 1M is too small: at least ") &&
           least > before + held && least < before + before / 32 + held + (16 << 20),
       "it tells which limit is enough: %s", e.msg);
    gnn_swap_free(s);
}

/* Where all fits, nothing is written. */
static void test_space(const char *dir)
{
    struct gnn_err e = {0};
    struct gnn_swap *s = start(dir, 100u << 20, &e);
    struct gnn_buf b[REGIONS] = {{0}};
    bool good = s && fill(s, b, &e);
    for (uint32_t r = 0; good && r < REGIONS; r++)
        good =
            !gnn_swap_hold(s, &b[r], false, &e) && is_right(&b[r], r, 0) && !gnn_swap_drop(s, &e);
    const struct gnn_swap_stats stats = gnn_swap_stats(s);
    ok(good && !stats.written && !stats.read, "what fits is not written: %s", e.msg);
    gnn_swap_free(s);
}

static void test_forget(const char *dir)
{
    struct gnn_err e = {0};
    struct gnn_swap *s = start(dir, 9u << 20, &e);
    struct gnn_buf b[REGIONS] = {{0}}, tiny = {0};
    bool good = s != NULL;
    for (uint32_t c = 0; good && c < 3; c++)
        for (uint32_t r = 0; good && r < REGIONS; r++) {
            good = !gnn_swap_fit(s, &b[r], WORDS, sizeof(uint64_t), "words", &e);
            if (good) {
                write_words(&b[r], r, c);
                good = is_right(&b[r], r, c);
                gnn_swap_forget(s, &b[r]);
                good = good && !gnn_swap_drop(s, &e);
            }
        }
    ok(good && !gnn_swap_stats(s).written, "what is not needed is not written: %s", e.msg);
    good = !gnn_swap_fit(s, &tiny, 10, 8, "words", &e) && !gnn_swap_drop(s, &e);
    memset(tiny.data, 1, 80);
    ok(good && !gnn_swap_hold(s, &tiny, true, &e), "small buffers stay where they are");
    gnn_swap_release(s, &tiny);
    for (uint32_t r = 0; r < REGIONS; r += 2)
        gnn_swap_release(s, &b[r]);
    good = fill(s, b, &e);
    for (uint32_t r = 0; good && r < REGIONS; r++)
        good =
            !gnn_swap_hold(s, &b[r], false, &e) && is_right(&b[r], r, 0) && !gnn_swap_drop(s, &e);
    ok(good, "regions are made anew: %s", e.msg);
    gnn_swap_free(s);
}

/* Buffers of the heap take the space of regions, and when there is none left, no more are made. */
static void test_small(const char *dir)
{
    enum { SMALL = 1000, BYTES = 60000, FEW = 100 };
    struct gnn_err e = {0};
    const uint64_t before = gnn_mem_resident(), buffer = 16u << 20, margin = 7u << 20;
    struct gnn_swap *s = start(dir, buffer, &e);
    struct gnn_buf b[REGIONS] = {{0}}, *small = gnn_alloc_zero(SMALL, sizeof *small, "words", &e);
    bool good = s && small && fill(s, b, &e);
    uint32_t n = 0;
    uint64_t most = 0;
    for (; good && n < SMALL && !gnn_swap_fit(s, &small[n], BYTES, 1, "words", &e); n++) {
        memset(small[n].data, 1, BYTES);
        most = gnn_mem_resident() > most ? gnn_mem_resident() : most;
        for (uint32_t r = 0; good && n == FEW && r < REGIONS; r++)
            good = !gnn_swap_drop(s, &e) && !gnn_swap_hold(s, &b[r], false, &e) &&
                   is_right(&b[r], r, 0);
        good = good && (n != FEW || !gnn_swap_drop(s, &e));
    }
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    ok(good && n == SMALL, "small buffers are made: %s", e.msg);
    most = before;
#else
    ok(good && n > FEW && n < SMALL && e.code == GNN_E_NOMEM &&
           strstr(e.msg, " is too small: at least "),
       "small buffers that are too many are refused: %u, %s", n, e.msg);
#endif
    ok(most <= before + buffer + margin, "memory stays within the limit: %llu kB over %llu",
       (unsigned long long)(most - before) / 1000, (unsigned long long)buffer / 1000);
    for (uint32_t i = 0; small && i < SMALL; i++)
        gnn_swap_release(s, &small[i]);
    gnn_free(small);
    gnn_swap_free(s);
}

static void test_too_small(const char *dir)
{
    struct gnn_err e = {0};
    struct gnn_swap *s = start(dir, 5u << 20, &e);
    struct gnn_buf b[REGIONS] = {{0}};
    uint32_t r = 0;
    while (s && r < REGIONS && !gnn_swap_fit(s, &b[r], WORDS, sizeof(uint64_t), "words", &e))
        r++;
    ok(r >= 3 && r <= 6 && e.code == GNN_E_NOMEM && strstr(e.msg, " is too small: at least "),
       "a turn that is too large is refused: %u, %s", r, e.msg);
    gnn_swap_free(s);
}

/* Descriptors of files without names, in this process. */
static int find_file(void)
{
    for (int fd = 3; fd < 1000; fd++) {
        struct stat st;
        if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_nlink == 0)
            return fd;
    }
    return -1;
}

static void test_cut(const char *dir)
{
    struct gnn_err e = {0};
    struct gnn_swap *s = start(dir, 9u << 20, &e);
    struct gnn_buf b[REGIONS] = {{0}};
    bool good = s && fill(s, b, &e);
    const int fd = find_file();
    good = good && fd >= 0 && !ftruncate(fd, 4096);
    for (uint32_t r = 0; good && !e.code && r < REGIONS; r++)
        if (!gnn_swap_hold(s, &b[r], false, &e))
            (void)!gnn_swap_drop(s, &e);
    ok(good && e.code == GNN_E_RUN && strstr(e.msg, "was cut"), "a cut file is found: %s", e.msg);
    gnn_swap_free(s);
}

/* A bit of the file is another one when it is read again. */
static void test_damaged(const char *dir)
{
    struct gnn_err e = {0};
    struct gnn_swap *s = start(dir, 9u << 20, &e);
    struct gnn_buf b[REGIONS] = {{0}};
    struct stat st = {0};
    bool good = s && fill(s, b, &e);
    const int fd = find_file();
    const uint64_t page = gnn_page_size();
    char *buffer = gnn_alloc(1, 2 * page, "a page", &e), *at = buffer;
    if (buffer)
        at += (page - (uint64_t)(uintptr_t)buffer % page) % page; /* for direct I/O */
    good = good && fd >= 0 && buffer && !fstat(fd, &st);
    const off_t half = st.st_size / 2 / (off_t)page * (off_t)page;
    good = good && pread(fd, at, page, half) == (ssize_t)page;
    if (good)
        at[page / 2] ^= 0x40;
    good = good && pwrite(fd, at, page, half) == (ssize_t)page;
    uint32_t r = 0;
    for (; good && !e.code && r < REGIONS; r++)
        if (!gnn_swap_hold(s, &b[r], false, &e)) {
            good = is_right(&b[r], r, 0);
            (void)!gnn_swap_drop(s, &e);
        }
    ok(good && e.code == GNN_E_RUN &&
           strstr(e.msg, "/model: the temporary file of --memory was damaged while it lay on disk"),
       "a bit that was flipped in the file is found before it is used: %s", e.msg);
    gnn_free(buffer);
    gnn_swap_free(s);
}

static void test_full(const char *dir)
{
    struct gnn_err e = {0};
    struct rlimit old, few = {8u << 20, RLIM_INFINITY};
    struct gnn_swap *s = start(dir, 9u << 20, &e);
    struct gnn_buf b[REGIONS] = {{0}};
    (void)signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    few.rlim_max = old.rlim_max;
    setrlimit(RLIMIT_FSIZE, &few);
    const bool good = s && fill(s, b, &e);
    setrlimit(RLIMIT_FSIZE, &old);
    ok(!good && e.code == GNN_E_RUN && strstr(e.msg, "cannot enlarge the temporary file"),
       "a file that cannot grow is told: %s", e.msg);
    gnn_swap_free(s);
}

/* A system whose pages are larger: what is mapped, where it lies in the file and how much is moved
 * are multiples of them. */
static void test_large_pages(const char *dir)
{
    enum { LARGE = 64 << 10 };
    struct gnn_err e = {0};
    struct gnn_buf b[REGIONS] = {{0}};
    struct stat st = {0};
    struct gnn_swap *s = start(dir, 9u << 20, &e);
    bool good = s && s->page == (uint64_t)sysconf(_SC_PAGESIZE);
    if (s)
        s->page = LARGE;
    good = good && fill(s, b, &e);
    for (uint32_t r = 0; good && r < REGIONS; r++)
        good = !gnn_swap_hold(s, &b[r], false, &e) && is_right(&b[r], r, 0) &&
               !gnn_swap_drop(s, &e) && b[r].cap % LARGE == 0;
    const int fd = find_file();
    good = good && fd >= 0 && !fstat(fd, &st) && st.st_size > 0 && st.st_size % LARGE == 0;
    ok(good, "pages of 64 KiB are moved as a whole: a file of %lld bytes, %s",
       (long long)st.st_size, e.msg);
    gnn_swap_free(s);
}

static sigjmp_buf jump;
static void on_fault(int sig)
{
    siglongjmp(jump, sig);
}

/* Sanitizers have handlers of their own, which this one replaces for a moment. */
static void test_guard(const char *dir)
{
    struct gnn_err e = {0};
    struct gnn_swap *s = start(dir, 9u << 20, &e);
    struct gnn_buf b[REGIONS] = {{0}};
    const bool good = s && fill(s, b, &e);
    struct sigaction old, now = {.sa_handler = on_fault};
    sigaction(SIGSEGV, &now, &old);
    volatile uint32_t caught = 0;
    for (volatile uint32_t r = 0; good && r < REGIONS; r++)
        if (sigsetjmp(jump, 1))
            caught++;
        else
            (void)*(volatile uint64_t *)b[r].data;
    sigaction(SIGSEGV, &old, NULL);
    ok(caught > REGIONS / 2, "buffers that are not held cannot be read: %u", caught);
    gnn_swap_free(s);
}

int main(void)
{
    const char *dir = ".";
    struct gnn_err e = {0};
    omp_set_num_threads(1); /* the margin grows with them */
    scratch_enter();
    test_contents(dir);
    test_least(dir);
    test_rehearsal(dir);
    test_space(dir);
    test_forget(dir);
    test_small(dir);
    test_too_small(dir);
    test_cut(dir);
    test_damaged(dir);
    test_full(dir);
    test_guard(dir);
    test_large_pages(dir);
    ok(!gnn_swap_new("/nonexistent/model", 1u << 20, &e) && e.code == GNN_E_RUN,
       "a directory that is not there is told: %s", e.msg);
    return scratch_done();
}
