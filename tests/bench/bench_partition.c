/* SPDX-License-Identifier: Apache-2.0 */
/* What gnn-partition adds to METIS, and its cut beside gpmetis's. usage: bench_partition STORE
 * [PARTS [ROUNDS]] STORE has one part; the new stores go beside it. Rounds alternate: METIS alone
 * on the finished graph, everything from opening to renaming, gpmetis (if installed) on the same
 * graph as text. One line each: NAME VALUE UNIT THREADS; best of the rounds. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/mem.h"
#include "lib/partition/partition.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double own_cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void need(int rc, const struct gnn_err *e)
{
    if (rc) {
        fprintf(stderr, "bench_partition: %s\n", e->msg);
        exit(1);
    }
}

struct graph {
    struct gnn_store s;
    struct gnn_view v;
    struct gnn_symgraph g;
};

static void graph_open(struct graph *x, const char *path)
{
    struct gnn_err e = {0};
    *x = (struct graph){0};
    need(gnn_store_open(&x->s, path, true, &e), &e);
    need(gnn_view_init(&x->v, &x->s, &e), &e);
    need(gnn_symgraph_init(&x->g, &x->v, GNN_METIS_LIMIT, (unsigned)omp_get_num_procs(), &e), &e);
}

static void graph_close(struct graph *x)
{
    gnn_symgraph_release(&x->g);
    gnn_view_release(&x->v);
    gnn_store_close(&x->s);
}

static double metis_alone(const struct graph *x, uint32_t k, uint32_t *part, double *cpu)
{
    struct gnn_err e = {0};
    struct gnn_metis m = {.k = k, .imbalance = 1.03};
    need(gnn_metis_run(&m, &x->g, part, &e), &e);
    *cpu = m.cpu_seconds;
    return m.seconds;
}

static double everything(const char *path, const char *out, uint32_t k, double *cpu)
{
    struct gnn_err e = {0};
    struct graph x;
    struct gnn_layout l = {0};
    struct gnn_store_writer w = {0};
    struct gnn_meta meta = {0};
    char clean[600];
    snprintf(clean, sizeof clean, "rm -rf '%s'", out); /* replacing a store would be timed, too */
    if (system(clean))
        exit(1);
    double start = now(), start_cpu = own_cpu();

    graph_open(&x, path);
    uint32_t nsets = x.s.meta.schema.nsets, *part = malloc(x.v.nvertices * sizeof *part);
    struct gnn_part_figures *fig = calloc(k, sizeof *fig);
    uint64_t *set = calloc((size_t)k * nsets + 1, sizeof *set);
    for (uint32_t p = 0; p < k; p++)
        fig[p].set = set + (size_t)p * nsets;
    double metis_cpu;
    metis_alone(&x, k, part, &metis_cpu);
    gnn_symgraph_release(&x.g);
    need(gnn_meta_copy(&meta, &x.s.meta, &e), &e);
    meta.schema.nparts = k;
    need(gnn_layout_init(&l, &x.v, k, part, &e), &e);
    need(gnn_store_create(&w, out, &meta, false, &e), &e);
    need(gnn_layout_write(&l, &w, (unsigned)omp_get_num_procs(), fig, NULL, NULL, &e), &e);
    need(gnn_store_verified(&x.s, &e), &e);
    need(gnn_store_commit(&w, &e), &e);
    gnn_store_abandon(&w);
    gnn_layout_release(&l);
    gnn_meta_release(&meta);
    graph_close(&x);
    free(part);
    free(fig);
    free(set);
    *cpu = own_cpu() - start_cpu + metis_cpu;
    return now() - start;
}

static void write_text(const struct gnn_symgraph *g, const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f) {
        perror(path);
        exit(1);
    }
    fprintf(f, "%u %d\n", g->n, g->xadj[g->n] / 2);
    for (uint32_t v = 0; v < g->n; v++) {
        for (int32_t i = g->xadj[v]; i < g->xadj[v + 1]; i++)
            fprintf(f, "%d ", g->adjncy[i] + 1);
        putc('\n', f);
    }
    if (fclose(f)) {
        perror(path);
        exit(1);
    }
}

/* Processor seconds that gpmetis itself reports for partitioning, and its cut; -1 if it is not
 * there. */
static double gpmetis(const char *text, uint32_t k, unsigned long long *cut)
{
    char cmd[700], line[512];
    double seconds = -1;
    snprintf(cmd, sizeof cmd, "command -v gpmetis >/dev/null && gpmetis '%s' %u", text, k);
    FILE *f = popen(cmd, "r");
    if (!f)
        return -1;
    while (fgets(line, sizeof line, f)) {
        const char *at = strstr(line, "Edgecut: ");
        if (at)
            sscanf(at, "Edgecut: %llu", cut);
        if ((at = strstr(line, "Partitioning: ")))
            sscanf(at, "Partitioning: %lf", &seconds);
    }
    pclose(f);
    snprintf(line, sizeof line, "%.400s.part.%u", text, k);
    unlink(line);
    return seconds;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_partition STORE [PARTS [ROUNDS]]\n");
        return 2;
    }
    uint32_t k = argc > 2 ? (uint32_t)atoi(argv[2]) : 8;
    int rounds = argc > 3 ? atoi(argv[3]) : 3;
    char out[512], text[512];
    struct gnn_err e = {0};
    struct graph x;
    double alone = 1e9, all = 1e9, theirs = 1e9, alone_cpu = 1e9, all_cpu = 1e9, cpu = 0;
    unsigned long long their_cut = 0;
    uint64_t cut = 0, volume = 0;

    snprintf(out, sizeof out, "%.400s.bench", argv[1]);
    snprintf(text, sizeof text, "%.400s.graph", argv[1]);
    graph_open(&x, argv[1]);
    write_text(&x.g, text);
    uint32_t *part = malloc(x.v.nvertices * sizeof *part);
    for (int r = 0; r < rounds; r++) {
        double s = metis_alone(&x, k, part, &cpu);
        alone_cpu = cpu < alone_cpu ? cpu : alone_cpu;
        alone = s < alone ? s : alone;
        s = everything(argv[1], out, k, &cpu);
        all_cpu = cpu < all_cpu ? cpu : all_cpu;
        all = s < all ? s : all;
        s = gpmetis(text, k, &their_cut);
        theirs = s >= 0 && s < theirs ? s : theirs;
    }
    need(gnn_symgraph_measure(&x.g, k, part, &cut, &volume, &e), &e);
    printf("partition_metis %.3f s 1\n", alone);
    printf("partition_metis_cpu %.3f s 1\n", alone_cpu);
    printf("partition_total %.3f s %d\n", all, omp_get_num_procs());
    printf("partition_overhead %.1f %% %d\n", 100 * (all - alone) / alone, omp_get_num_procs());
    printf("partition_overhead_cpu %.1f %% %d\n", 100 * (all_cpu - alone_cpu) / alone_cpu,
           omp_get_num_procs());
    printf("partition_cut %.2f %% 1\n", 200.0 * (double)cut / (double)x.g.xadj[x.g.n]);
    if (theirs < 1e9) {
        printf("gpmetis_cpu %.3f s 1\n", theirs);
        printf("partition_cut_to_gpmetis %.4f ratio 1\n", (double)cut / (double)their_cut);
    } else {
        printf("gpmetis skipped: not installed\n");
    }
    unlink(text);
    free(part);
    graph_close(&x);
    return 0;
}
