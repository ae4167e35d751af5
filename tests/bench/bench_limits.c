/* SPDX-License-Identifier: Apache-2.0 */
/* The limits of this machine, against which every rate of `make bench` is held: streaming and
 * random access to memory, a row gather, single-precision matrix products, a pipe. One line each:
 * NAME VALUE UNIT THREADS. Best of a few short runs; the whole program takes about ten seconds. */
#include <dnnl.h>
#include <fcntl.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROW = 400 };                           /* bytes of a row: 100 features */
static const size_t AREA = (size_t)768 << 20; /* far beyond any cache */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* SplitMix64: the numbers only have to spread accesses. */
static uint64_t mix(uint64_t *s)
{
    uint64_t z = *s += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static void *area_new(size_t n)
{
    char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        perror("bench_limits: mmap");
        exit(1);
    }
    madvise(p, n, MADV_HUGEPAGE);
    memset(p, 1, n);
    return p;
}

static void report(const char *name, double value, const char *unit, int threads)
{
    printf("%-14s %10.2f %-8s %d\n", name, value, unit, threads);
    fflush(stdout);
}

static void stream_read(const char *a, int threads)
{
    const uint64_t *w = (const uint64_t *)(const void *)a;
    double best = 1e9;
    for (int r = 0; r < 3; r++) {
        uint64_t sum = 0;
        double t = now();
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
        for (size_t i = 0; i < AREA / 8; i++)
            sum += w[i];
        t = now() - t;
        best = t < best ? t : best;
        if (sum == 1)
            puts("");
    }
    report("stream-read", (double)AREA / best / 1e9, "GB/s", threads);
}

static void random_lines(const char *a, int threads)
{
    enum { N = 1 << 22, AHEAD = 16 };
    uint32_t *at = malloc((N + AHEAD) * sizeof *at);
    uint64_t s = 7, sum = 0;
    double best = 1e9;
    if (!at)
        exit(1);
    for (size_t i = 0; i < N + AHEAD; i++)
        at[i] = (uint32_t)(mix(&s) % (AREA / 64));
    for (int r = 0; r < 3; r++) {
        double t = now();
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
        for (size_t i = 0; i < N; i++) {
            __builtin_prefetch(a + (size_t)at[i + AHEAD] * 64);
            sum += (uint64_t)a[(size_t)at[i] * 64];
        }
        t = now() - t;
        best = t < best ? t : best;
    }
    if (sum == 1)
        puts("");
    free(at);
    report("random-lines", N / best / 1e6, "M/s", threads);
}

/* Rows of 400 bytes from random places to a contiguous block; the rate counts the row bytes once.
 */
static void gather_rows(const char *a, char *out, int threads)
{
    enum { N = 1 << 18, AHEAD = 6 };
    uint32_t *at = malloc((N + AHEAD) * sizeof *at);
    uint64_t s = 9;
    double best = 1e9;
    if (!at)
        exit(1);
    for (size_t i = 0; i < N + AHEAD; i++)
        at[i] = (uint32_t)(mix(&s) % (AREA / ROW));
    for (int r = 0; r < 4; r++) {
        double t = now();
#pragma omp parallel for num_threads(threads)
        for (size_t i = 0; i < N; i++) {
            const char *ahead = a + (size_t)at[i + AHEAD] * ROW;
            for (int l = 0; l < ROW; l += 64)
                __builtin_prefetch(ahead + l);
            memcpy(out + i * ROW, a + (size_t)at[i] * ROW, ROW);
        }
        t = now() - t;
        best = t < best ? t : best;
    }
    free(at);
    report("gather-400B", N * (double)ROW / best / 1e9, "GB/s", threads);
}

static void gemm(int threads)
{
    enum { M = 4096, N = 256, K = 512 };
    float *a = malloc(sizeof(float) * M * K), *b = malloc(sizeof(float) * K * N);
    float *c = malloc(sizeof(float) * M * N);
    double best = 1e9;
    if (!a || !b || !c)
        exit(1);
    for (size_t i = 0; i < (size_t)M * K; i++)
        a[i] = (float)(i % 7);
    for (size_t i = 0; i < (size_t)K * N; i++)
        b[i] = (float)(i % 5);
    omp_set_num_threads(threads);
    for (int r = 0; r < 12; r++) {
        double t = now();
        dnnl_sgemm('N', 'N', M, N, K, 1.0f, a, K, b, N, 0.0f, c, N);
        t = now() - t;
        best = t < best ? t : best;
    }
    free(a);
    free(b);
    free(c);
    report("gemm-f32", 2.0 * M * N * K / best / 1e9, "GFLOP/s", threads);
}

static void pipe_rate(char *buf)
{
    enum { CHUNK = 1 << 20 };
    const size_t total = (size_t)2 << 30;
    int fd[2];
    if (pipe(fd) < 0)
        return;
    fcntl(fd[1], F_SETPIPE_SZ, 1 << 20);
    pid_t pid = fork();
    if (pid == 0) {
        close(fd[0]);
        for (size_t n = 0; n < total;) {
            ssize_t w = write(fd[1], buf, CHUNK);
            if (w <= 0)
                _exit(1);
            n += (size_t)w;
        }
        _exit(0);
    }
    close(fd[1]);
    double t = now();
    size_t got = 0;
    for (ssize_t r; (r = read(fd[0], buf, CHUNK)) > 0;)
        got += (size_t)r;
    t = now() - t;
    close(fd[0]);
    waitpid(pid, NULL, 0);
    report("pipe", (double)got / t / 1e9, "GB/s", 2);
}

int main(void)
{
    char *a = area_new(AREA), *out = area_new((size_t)(1 << 18) * ROW);
    int cores = omp_get_num_procs();
    for (int threads = 1, last = 0; last < cores;
         last = threads, threads = 2 * threads < cores ? 2 * threads : cores) {
        stream_read(a, threads);
        random_lines(a, threads);
        gather_rows(a, out, threads);
        gemm(threads);
    }
    pipe_rate(out);
    return 0;
}
