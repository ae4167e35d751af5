/* SPDX-License-Identifier: Apache-2.0 */
/* What bare MPI makes of rows that other ranks have: ids by one MPI_Alltoallv, rows, drawn at
 * random, by another, and each row put where a batch wants it; alone, and with as many of the
 * rank's own in between. The machine's limit for gnn-gather with ranks. usage: mpirun -n N
 * bench_mpi [BATCHES [ROWS [BYTES]]]   ROWS of other ranks that each rank wants of a batch, of
 * BYTES each */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE = 1 << 20, AHEAD = 16 };

struct peers {
    int *count, *at; /* [size] of what goes or comes */
};

static void *buffer(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p) {
        fputs("bench_mpi: out of memory\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

static struct peers peers_new(int size)
{
    return (struct peers){buffer((size_t)size * sizeof(int)), buffer((size_t)size * sizeof(int))};
}

static uint32_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* Every other row of `to` is another's. */
static void place_rows(char *to, const char *from, int n, size_t bytes)
{
    for (int i = 0; i < n; i++)
        memcpy(to + 2 * (size_t)i * bytes, from + (size_t)i * bytes, bytes);
}

static void copy_rows(char *to, size_t apart, const char *table, const uint32_t *id, int n,
                      size_t bytes)
{
    for (int i = 0; i < n; i++) {
        for (size_t b = 0; i + AHEAD < n && b < bytes; b += 64)
            __builtin_prefetch(table + (size_t)id[i + AHEAD] * bytes + b);
        memcpy(to + (size_t)i * apart, table + (size_t)id[i] * bytes, bytes);
    }
}

struct work {
    struct peers ids, rows;
    char *table, *send, *got, *batch;
    uint32_t *want, *asked, *own;
    int n;
    size_t bytes;
};

static void one_batch(const struct work *w, bool own)
{
    MPI_Alltoallv(w->want, w->ids.count, w->ids.at, MPI_UINT32_T, w->asked, w->ids.count, w->ids.at,
                  MPI_UINT32_T, MPI_COMM_WORLD);
    copy_rows(w->send, w->bytes, w->table, w->asked, w->n, w->bytes);
    MPI_Alltoallv(w->send, w->rows.count, w->rows.at, MPI_BYTE, w->got, w->rows.count, w->rows.at,
                  MPI_BYTE, MPI_COMM_WORLD);
    place_rows(w->batch, w->got, w->n, w->bytes);
    if (own)
        copy_rows(w->batch + w->bytes, 2 * w->bytes, w->table, w->own, w->n, w->bytes);
}

/* Millions of rows of other ranks a second, all ranks together. */
static double rate(const struct work *w, int batches, int size, bool own)
{
    one_batch(w, own); /* memory and connections */
    MPI_Barrier(MPI_COMM_WORLD);
    const double from = MPI_Wtime();
    for (int b = 0; b < batches; b++)
        one_batch(w, own);
    MPI_Barrier(MPI_COMM_WORLD);
    return (double)size * w->n * batches / (MPI_Wtime() - from) / 1e6;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int batches = argc > 1 ? atoi(argv[1]) : 20, rows = argc > 2 ? atoi(argv[2]) : 140000;
    struct work w = {.bytes = argc > 3 ? strtoul(argv[3], NULL, 10) : 400,
                     .ids = peers_new(size),
                     .rows = peers_new(size)};
    if (size < 2 || batches < 1 || rows < size || w.bytes < 1 ||
        (uint64_t)rows * w.bytes > INT32_MAX) {
        fputs(
            "bench_mpi: needs two ranks, a batch, a row of each rank, and less than 2 GiB a batch\n",
            stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const int each = rows / (size - 1);
    for (int r = 0, at = 0; r < size; at += w.ids.count[r++]) {
        w.ids.count[r] = r == rank ? 0 : each;
        w.ids.at[r] = at;
        w.rows.count[r] = w.ids.count[r] * (int)w.bytes;
        w.rows.at[r] = at * (int)w.bytes;
    }
    w.n = each * (size - 1);
    const size_t all = (size_t)w.n * w.bytes;
    w.table = buffer(TABLE * w.bytes), w.send = buffer(all), w.got = buffer(all),
    w.batch = buffer(2 * all);
    w.want = buffer((size_t)w.n * 4), w.asked = buffer((size_t)w.n * 4),
    w.own = buffer((size_t)w.n * 4);
    memset(w.table, 1, TABLE * w.bytes);
    uint64_t state = (uint64_t)rank;
    for (int i = 0; i < w.n; i++) {
        w.want[i] = draw(&state) % TABLE;
        w.own[i] = draw(&state) % TABLE;
    }
    const double alone = rate(&w, batches, size, false), between = rate(&w, batches, size, true);
    if (rank == 0)
        printf("alone %.3f M rows/s\nbetween %.3f M rows/s\n", alone, between);
    MPI_Finalize();
    return 0;
}
