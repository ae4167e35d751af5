/* What bare MPI makes of rows that other ranks have: ids by one MPI_Alltoallv, rows, drawn at random, by another, and each row put
 * where a batch wants it, between others. The machine's limit for gnn-gather with ranks.
 * usage: mpirun -n N bench_mpi [BATCHES [ROWS [BYTES]]]   ROWS of other ranks that each rank wants of a batch, of BYTES each */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE = 1 << 20, AHEAD = 16 };

struct peers {
    int *count, *at; /* [size] of what goes or comes */
};

static void *room(size_t bytes)
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
    return (struct peers){room((size_t)size * sizeof(int)), room((size_t)size * sizeof(int))};
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

static void copy_rows(char *to, const char *table, const uint32_t *id, int n, size_t bytes)
{
    for (int i = 0; i < n; i++) {
        for (size_t b = 0; i + AHEAD < n && b < bytes; b += 64)
            __builtin_prefetch(table + (size_t)id[i + AHEAD] * bytes + b);
        memcpy(to + (size_t)i * bytes, table + (size_t)id[i] * bytes, bytes);
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int batches = argc > 1 ? atoi(argv[1]) : 20, rows = argc > 2 ? atoi(argv[2]) : 140000;
    const size_t bytes = argc > 3 ? strtoul(argv[3], NULL, 10) : 400;
    if (size < 2 || batches < 1 || rows < 1 || bytes < 1 || (uint64_t)rows * bytes > INT32_MAX) {
        fputs("bench_mpi: needs two ranks, a batch, a row, and less than 2 GiB a batch\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const int each = rows / (size - 1);
    struct peers ids = peers_new(size), out = peers_new(size);
    for (int r = 0, at = 0; r < size; at += ids.count[r++]) {
        ids.count[r] = r == rank ? 0 : each;
        ids.at[r] = at;
        out.count[r] = ids.count[r] * (int)bytes;
        out.at[r] = at * (int)bytes;
    }
    const int n = each * (size - 1);
    char *table = room(TABLE * bytes), *send = room((size_t)n * bytes), *got = room((size_t)n * bytes), *batch = room(2 * (size_t)n * bytes);
    uint32_t *want = room((size_t)n * 4), *asked = room((size_t)n * 4);
    memset(table, 1, TABLE * bytes);
    uint64_t state = (uint64_t)rank;
    double from = 0;
    for (int b = -1; b < batches; b++) { /* the first makes memory and connections */
        for (int i = 0; i < n; i++)
            want[i] = draw(&state) % TABLE;
        if (b == 0) {
            MPI_Barrier(MPI_COMM_WORLD);
            from = MPI_Wtime();
        }
        MPI_Alltoallv(want, ids.count, ids.at, MPI_UINT32_T, asked, ids.count, ids.at, MPI_UINT32_T, MPI_COMM_WORLD);
        copy_rows(send, table, asked, n, bytes);
        MPI_Alltoallv(send, out.count, out.at, MPI_BYTE, got, out.count, out.at, MPI_BYTE, MPI_COMM_WORLD);
        place_rows(batch, got, n, bytes);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double s = MPI_Wtime() - from;
    if (rank == 0)
        printf("%.3f M rows/s, %.3f GB/s\n", (double)size * n * batches / s / 1e6, (double)size * n * batches * (double)bytes / s / 1e9);
    MPI_Finalize();
    return 0;
}
