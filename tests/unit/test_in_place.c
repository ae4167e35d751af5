/* SPDX-License-Identifier: Apache-2.0 */
/* Features that stay in a file: they reach a reader that takes them there, and are copied for any
 * other; what cannot be right is refused. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/mapped.h"
#include "lib/data/source.h"
#include "scratch.h"
#include "stream_maker.h"
#include "tap.h"

enum { WIDTH = 64 };

static struct gnn_batch_pool *pool;

static uint32_t rows_of(uint64_t step)
{
    return (uint32_t)(5 + step * 7919 % 4000);
}

static float value(uint64_t node, uint64_t i)
{
    return (float)((node * 31 + i) % 8191);
}

static void pipes(int fd[2])
{
    if (pipe(fd))
        exit(99);
}

static int status_of(pid_t pid)
{
    int st;
    if (waitpid(pid, &st, 0) != pid)
        exit(99);
    return WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st);
}

enum { FILE_ROWS = 8192 }; /* as many as the header of the test has nodes */
static struct gnn_tensor in_file = {
    .name = "node/node/x", .dtype = GNN_F32, .ndim = 2, .shape = {FILE_ROWS, WIDTH}};

/* Features in place, and labels behind them. */
static void fill_placed(struct gnn_batch *b, uint64_t step)
{
    const uint32_t n = rows_of(step);
    uint32_t *nodes = stream_make_blocks(b, step, n);
    for (uint32_t i = 0; i < n; i++)
        nodes[i] = (uint32_t)step + i;
    (void)stream_make_tensor(b, "node/node/x", GNN_F32, 0, WIDTH);
    b->type[0].x = &in_file;
    b->type[0].count = gnn_tensors_find(&b->tensors, "counts/node")->data;
}

static pid_t placing_writer(int fd[2], const struct gnn_meta *m, enum gnn_transport how,
                            uint64_t steps, bool want)
{
    const pid_t pid = fork();
    if (pid) {
        close(fd[1]);
        return pid;
    }
    struct gnn_err e = {0};
    struct gnn_flag flag = {0};
    struct gnn_writer w;
    const struct gnn_writer_opts o = {.transport = how, .in_place = &flag};
    close(fd[0]);
    int rc = gnn_writer_begin(&w, fd[1], "out", m, &o, &e);
    for (uint64_t step = 0; !rc && step < steps; step++) {
        struct gnn_batch *b;
        if (gnn_batch_get(pool, &b, &e))
            _exit(1);
        fill_placed(b, step);
        rc = gnn_writer_batch(&w, b, &e);
        gnn_batch_put(b);
    }
    if (!rc)
        rc = gnn_writer_end(&w, &e);
    const bool good = w.nin_place == (want ? steps : 0) && (rc || gnn_flag_get(&flag) == want);
    gnn_writer_release(&w);
    _exit(rc ? -rc : good ? 0 : 100);
}

static bool right_placed(const struct gnn_batch *b, bool placed)
{
    const struct gnn_tensor *x = gnn_batch_features(b, 0, "node");
    const float *rows = x ? x->data : NULL;
    bool good = x && (x == b->type[0].x) == placed && x->shape[1] == WIDTH &&
                x->shape[0] == (placed ? FILE_ROWS : gnn_batch_nodes(b, 0));
    for (uint64_t i = 0; good && i < gnn_batch_nodes(b, 0); i++) {
        const uint64_t at = placed ? b->type[0].node[i] : i;
        for (uint64_t k = 0; good && k < WIDTH; k++)
            good = rows[at * WIDTH + k] == value(b->type[0].node[i], k);
    }
    return good;
}

enum { STEPS = 40, HELD_MAX = 8 };

/* `hold` batches are held meanwhile, and beyond the end. */
static void test_placed(enum gnn_transport how, bool takes, bool placed, unsigned hold,
                        const char *what)
{
    struct gnn_err e = {0};
    struct gnn_meta m = {0};
    struct gnn_batch *b, *held[HELD_MAX] = {0};
    int fd[2], rc = 0;
    uint64_t n = 0, good = 0;
    stream_make_meta(&m, FILE_ROWS, WIDTH, 1000);
    pipes(fd);
    const pid_t pid = placing_writer(fd, &m, how, STEPS, placed);
    struct gnn_source *s =
        gnn_stream_source_on(fd[0], "in", &(struct gnn_stream_opts){.in_place = takes}, &e);
    while (s && !(rc = gnn_source_next(s, &b, &e))) {
        gnn_batch_put(held[n % hold]);
        held[n % hold] = b;
        good += right_placed(b, placed) && b->step == n++;
    }
    gnn_source_free(s);
    ok(rc == GNN_END && good == STEPS, "features %s: %d batches of 40 %s", what, (int)good, e.msg);
    for (unsigned i = 0; i < hold; i++)
        good -= right_placed(held[i], placed);
    ok(good == STEPS - hold, "and batches have them after the end of their stream: %s", what);
    for (unsigned i = 0; i < hold; i++)
        gnn_batch_put(held[i]);
    ok(status_of(pid) == 0, "the writer counts them: %s", what);
    gnn_meta_release(&m);
}

/* Rows that are overwritten when their writer has ended. */
static void test_changed(int file)
{
    struct gnn_err e = {0};
    struct gnn_meta m = {0};
    struct gnn_batch *b;
    int fd[2], rc = 0;
    stream_make_meta(&m, FILE_ROWS, WIDTH, 1000);
    pipes(fd);
    const pid_t pid = placing_writer(fd, &m, GNN_TRANSPORT_SHM, 2, true);
    struct gnn_source *s =
        gnn_stream_source_on(fd[0], "in", &(struct gnn_stream_opts){.in_place = true}, &e);
    for (int i = 0; i < 2; i++) {
        if (!s || gnn_source_next(s, &b, &e))
            exit(99);
        gnn_batch_put(b);
    }
    ok(status_of(pid) == 0, "a writer ends before its reader");
    if (pwrite(file, "", 1, GNB_STORE_ALIGN) != 1)
        exit(99);
    rc = gnn_source_next(s, &b, &e);
    ok(rc == GNN_E_RUN && strstr(e.msg, "rows: written to while it was in use"),
       "a reader notices at the end that its rows were written to: %s", e.msg);
    gnn_source_free(s);
    gnn_meta_release(&m);
}

/* A node without a row, and a file that holds rows of another graph. */
static void test_misplaced(void)
{
    struct gnn_err e = {0};
    struct gnn_meta m = {0};
    struct gnn_batch *b;
    int fd[2], rc = 0;
    stream_make_meta(&m, FILE_ROWS + 1, WIDTH, 1000);
    pipes(fd);
    const pid_t pid = placing_writer(fd, &m, GNN_TRANSPORT_AUTO, 1, true);
    struct gnn_source *s =
        gnn_stream_source_on(fd[0], "in", &(struct gnn_stream_opts){.in_place = true}, &e);
    while (s && !(rc = gnn_source_next(s, &b, &e)))
        gnn_batch_put(b);
    ok(rc == GNN_E_INPUT &&
           strstr(e.msg, "'node/node/x': cannot stay in a file of 8192 rows of f32"),
       "a reader refuses a file of too few rows: %s", e.msg);
    gnn_source_free(s);
    (void)status_of(pid);
    pipes(fd);
    in_file.shape[0] = 3;
    const pid_t few = placing_writer(fd, &m, GNN_TRANSPORT_INLINE, 1, false);
    char c[4096];
    while (read(fd[0], c, sizeof c) > 0)
        ;
    close(fd[0]);
    ok(status_of(few) == -GNN_E_INPUT, "a writer refuses to copy a row that is not there");
    in_file.shape[0] = FILE_ROWS;
    gnn_meta_release(&m);
}

static void test_files(void)
{
    struct gnn_err e = {0};
    static float rows[FILE_ROWS][WIDTH];
    for (uint64_t v = 0; v < FILE_ROWS; v++)
        for (uint64_t i = 0; i < WIDTH; i++)
            rows[v][i] = value(v, i);
    const int fd = open("rows", O_RDWR | O_CREAT, 0666);
    if (fd < 0 || pwrite(fd, rows, sizeof rows, GNB_STORE_ALIGN) != (ssize_t)sizeof rows)
        exit(99);
    in_file.data = gnn_mapped_new(fd, GNB_STORE_ALIGN, sizeof rows, false, "rows", &e);
    if (!in_file.data)
        exit(99);
    test_placed(GNN_TRANSPORT_AUTO, true, true, 1, "in place reach a reader that takes them");
    test_placed(GNN_TRANSPORT_SHM, true, true, 2, "in place reach such a reader with shm");
    test_placed(GNN_TRANSPORT_SHM, true, true, 6, "in place reach one that holds all slots");
    test_placed(GNN_TRANSPORT_AUTO, false, false, 1, "in place are copied for another reader");
    test_placed(GNN_TRANSPORT_INLINE, true, false, 1, "in place are copied into the pipe");
    test_misplaced();
    /* What cannot be given away: a file that was replaced, or written to. */
    if (rename("rows", "moved") || close(open("rows", O_RDWR | O_CREAT, 0666)))
        exit(99);
    uint64_t at;
    ok(gnn_mapped_open(in_file.data, &at) < 0, "gnn_mapped_open opens no file that was replaced");
    test_placed(GNN_TRANSPORT_SHM, true, false, 1, "are copied from a file that was replaced");
    if (rename("moved", "rows"))
        exit(99);
    const int again = gnn_mapped_open((const char *)in_file.data + 64, &at);
    ok(again >= 0 && at == GNB_STORE_ALIGN + 64, "gnn_mapped_open tells where in the file it is");
    close(again);
    test_changed(fd);
    ok(gnn_mapped_open(in_file.data, &at) < 0, "gnn_mapped_open opens no file that was written to");
    gnn_mapped_free(in_file.data);
    close(fd);
}

int main(void)
{
    struct gnn_err e = {0};
    struct gnn_meta m = {0};
    scratch_enter();
    stream_make_meta(&m, FILE_ROWS, WIDTH, 1000);
    if (!(pool = gnn_batch_pool_new(&m, &e)))
        exit(99);
    test_files();
    gnn_batch_pool_free(pool);
    gnn_meta_release(&m);
    return scratch_done();
}
