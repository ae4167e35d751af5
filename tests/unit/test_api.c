/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions: what is refused, and with which words; and a store from arrays to batches
 * of seeds. tests/scripts/30-install.t has what outside programs do with them. */
#include "lib/api/builder.h"
#include "lib/api/learn.h"
#include "lib/api/minibatch.h"
#include <fcntl.h>
#include <sys/stat.h>

#include "scratch.h"
#include "tap.h"

enum { N = 40, DEGREE = 5, WIDTH = 3 };

static uint32_t src[N * DEGREE], dst[N * DEGREE], members[N / 2];
static float x[N * WIDTH], weight[N * DEGREE];
static double y[N];

static bool says(int rc, int status, const char *text)
{
    if (rc == status && gnn_error_status() == status && strstr(gnn_error(), text))
        return true;
    printf("# %d %d: %s\n", rc, gnn_error_status(), gnn_error());
    return false;
}

static void fill_arrays(void)
{
    for (uint32_t i = 0; i < N; i++) {
        y[i] = i % 4;
        members[i / 2] = i;
        for (uint32_t k = 0; k < WIDTH; k++)
            x[i * WIDTH + k] = (float)(i + k);
        for (uint32_t k = 0; k < DEGREE; k++) {
            src[i * DEGREE + k] = (i * 7 + k * 11 + 1) % N;
            dst[i * DEGREE + k] = i;
            weight[i * DEGREE + k] = (float)(k + 1);
        }
    }
}

static void test_refusals(void)
{
    const uint32_t far = N;
    const float nan = NAN;
    const char *const loops[] = {"self-loops=often", NULL};
    struct gnn_builder *b = gnn_builder_new();
    ok(b && !gnn_builder_nodes(b, "n", N), "nodes are added");
    ok(says(gnn_builder_nodes(b, "n", N), GNN_E_INPUT, "n"), "a type is not added twice");
    ok(says(gnn_builder_edges(b, "n/to", src, dst, 1), GNN_E_USAGE, "expected SRC/REL/DST"),
       "edges have a type of three names");
    ok(says(gnn_builder_edges(b, "n/to/m", src, dst, 1), GNN_E_USAGE, "no node type 'm'"),
       "edges have node types that are there");
    ok(says(gnn_builder_nodes(b, "a/b", 3), GNN_E_USAGE, "no slash"),
       "a node type that no edge type can name is refused");
    ok(says(gnn_builder_field(b, "n/to/n", "f", "f32", 0, x), GNN_E_USAGE, "no edge type 'n/to/n'"),
       "a field of an edge type that is not there is called so");
    ok(says(gnn_builder_field(b, "n", "time", "i32", 0, x), GNN_E_USAGE, "'i32', but i64|f64") &&
           says(gnn_builder_field(b, "n", "time", "f64", 2, x), GNN_E_USAGE, "2 columns"),
       "times are one of each, and of two types");
    ok(says(gnn_builder_set(b, "a/train", "n", &far, 1), GNN_E_INPUT, "member 0: no node 40"),
       "members are nodes that are there");
    ok(says(gnn_builder_edges(b, "n/to/n", src, &far, 1), GNN_E_INPUT, "edge 0: no node 40"),
       "edges end at nodes that are there");
    ok(says(gnn_builder_field(b, "n", "x", "i32", 0, x), GNN_E_USAGE, "of type 'i32'"),
       "features are floats");
    ok(says(gnn_builder_field(b, "n", "z", "f31", 0, x), GNN_E_USAGE, "of type 'f31'"),
       "an element type that is none is refused");
    ok(says(gnn_builder_field(b, "m", "x", "f32", 0, x), GNN_E_USAGE, "'m'"),
       "fields are of types that are there");
    ok(says(gnn_builder_field(b, "n", "y", "f32", 0, x), GNN_E_USAGE, "gnn_builder_labels"),
       "labels are no field");
    ok(says(gnn_builder_labels(b, "n", "rank", 1, y), GNN_E_USAGE, "expected a task"),
       "a task that is none is refused");
    ok(says(gnn_builder_labels(b, "n", "binary", 1, y), GNN_E_INPUT, "n"),
       "labels that are not of the task are refused");
    ok(says(gnn_builder_set(b, "train", "n", members, 1), GNN_E_USAGE, "expected SPLIT/SET"),
       "a set is in a split");
    ok(says(gnn_builder_write(b, "none", NULL), GNN_E_INPUT, "node type 'n' appears twice") &&
           says(gnn_builder_write(b, "none", NULL), GNN_E_INPUT, "node type 'n' appears twice"),
       "a graph that something could not be added to is not written, because of the first of them");
    gnn_builder_free(b);
    b = gnn_builder_new();
    ok(says(gnn_builder_write(b, "none", NULL), GNN_E_USAGE, "without node types") &&
           access("none", F_OK),
       "nor is one of nothing");
    ok(!gnn_builder_nodes(b, "n", 0) &&
           says(gnn_builder_write(b, "none", loops), GNN_E_USAGE, "unknown value 'often'"),
       "a choice that is none is refused");
    struct gnn_graph *g =
        gnn_builder_write(b, "least", NULL) ? NULL : gnn_graph_open("least", NULL);
    ok(g && !gnn_graph_count(g, "n"), "a graph of no nodes is a graph: %s", gnn_error());
    gnn_graph_close(g);
    ok(says(gnn_builder_write(b, "least", NULL), GNN_E_USAGE, "already exists") &&
           !gnn_builder_write(b, "least", (const char *const[]){"--force", NULL}),
       "a store is replaced only if it is asked for, as the message says");
    gnn_builder_free(b);
    b = gnn_builder_new();
    ok(!gnn_builder_nodes(b, "n", 1) &&
           says(gnn_builder_field(b, "n", "x", "f32", 0, &nan), GNN_E_INPUT, "nan"),
       "features are finite");
    gnn_builder_free(b);
}

static void test_write(void)
{
    const char *const split[] = {"split=mine:0.5,0.5", NULL};
    struct gnn_builder *b = gnn_builder_new();
    ok(!gnn_builder_nodes(b, "n", N) && !gnn_builder_edges(b, "n/to/n", src, dst, N * DEGREE) &&
           !gnn_builder_field(b, "n", "x", "f32", WIDTH, x) &&
           !gnn_builder_field(b, "n/to/n", "weight", "f32", 0, weight) &&
           !gnn_builder_labels(b, "n", NULL, 1, y) &&
           !gnn_builder_set(b, "a/train", "n", members, N / 2),
       "a graph is made of arrays");
    ok(gnn_builder_write(b, "none", split) < 0 && *gnn_error(), "a split that is none is refused");
    ok(!gnn_builder_write(b, "graph", NULL), "and written to a store: %s", gnn_error());
    gnn_builder_free(b);
}

static void test_graph(void)
{
    const char *const bad[] = {"no-verify", "deep", NULL};
    ok(!gnn_graph_open("none", NULL) && says(gnn_error_status(), GNN_E_INPUT, "none"),
       "a store that is not there is not opened");
    ok(!gnn_graph_open("graph", bad) && says(gnn_error_status(), GNN_E_USAGE, "deep: unknown"),
       "an unknown option is refused");
    struct gnn_graph *g = gnn_graph_open("graph", NULL);
    ok(g && !*gnn_error() && !gnn_error_status(), "a store is opened");
    ok(!strcmp(gnn_graph_node_type(g, 0), "n") && !gnn_graph_node_type(g, 1) &&
           !strcmp(gnn_graph_edge_type(g, 0), "n/to/n") && !gnn_graph_edge_type(g, 1) &&
           !strcmp(gnn_graph_set(g, 0), "a/train") && !gnn_graph_set(g, 1),
       "it has the types and sets");
    ok(gnn_graph_count(g, "n") == N && gnn_graph_count(g, "n/to/n") == N * DEGREE &&
           gnn_graph_count(g, "train") == N / 2 && !gnn_graph_count(g, "m"),
       "and as many of each");
    const struct gnn_tensor *t = gnn_graph_tensor(g, 0, "node/n/x");
    ok(t && gnn_tensor_ndim(t) == 2 && gnn_tensor_shape(t, 1) == WIDTH &&
           gnn_tensor_shape(t, 2) == 1 && !memcmp(gnn_tensor_data(t), x, sizeof x) &&
           !gnn_graph_tensor(g, 1, "node/n/x") && !gnn_graph_tensor(g, 0, "node/n/z"),
       "and the features");
    ok(!gnn_graph_check(g), "which are sound");
    gnn_graph_close(g);
    g = gnn_graph_open("graph", (const char *const[]){"no-verify", NULL});
    ok(says(gnn_graph_check(g), GNN_E_USAGE, "--no-verify"),
       "what is not to be verified is not called sound");
    ok(!gnn_graph_tensor(g, 0, "none") && gnn_error_status() == GNN_E_USAGE,
       "and a look-up leaves the reason");
    gnn_graph_close(g);
}

/* Options that are refused; the text says why. */
static void test_options(struct gnn_graph *g)
{
    static const struct {
        const char *option, *why;
    } wrong[] = {{"batch=0", "batch: '0' is not between"},
                 {"batch=many", "batch: 'many' is not a whole number"},
                 {"batch=99999999999", "batch: 99999999999 is too large"},
                 {"batch", "--batch: has no value: write batch=VALUE"},
                 {"--batch=0", "--batch: '0' is not between"},
                 {"--replace=yes", "replace: a flag takes no value"},
                 {"no-batch=3", "no-batch: unknown option"},
                 {"fanuot=3", "--fanuot: unknown option; did you mean 'fanout'?"},
                 {"--no-shufle", "--no-shufle: unknown option; did you mean 'no-shuffle'?"},
                 {"told", "--told: unknown option"},
                 {"frontier=old", "frontier: unknown value 'old'"},
                 {"restart=x", "restart: 'x' is not a number"},
                 {"node2vec=1,x", "node2vec: 'x' is not a number"},
                 {"steps=3:1", "steps: '3:1' is not a range"},
                 {"steps=0:4:0", "steps: '0:4:0' is not a range"},
                 {"latest", "--latest requires --time-rule"},
                 {"--latest", "--latest requires --time-rule"},
                 {"seed-type=n", "--seed-type requires gnn_batches_sample_seeds"},
                 {"split=valid", "no set 'valid'"},
                 {"fanout=2", "fan-out '2'"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *const options[] = {"fanout=3,2", wrong[i].option, NULL};
        ok(!gnn_batches_sample(g, options) && says(gnn_error_status(), GNN_E_USAGE, wrong[i].why),
           "refused: %s", wrong[i].option);
    }
    ok(!gnn_batches_sample(g, (const char *const[]){"walk-length=2", "node2vec=1", NULL}) &&
           says(gnn_error_status(), GNN_E_USAGE, "node2vec: expected P,Q"),
       "refused: one number for two");
    ok(!gnn_batches_gather(gnn_batches_sample(g, NULL), g, NULL) &&
           says(gnn_error_status(), GNN_E_USAGE, "fan-out"),
       "sampling requires fan-outs");
}

static uint64_t rows_of(const struct gnn_batch *b, const char *name)
{
    const struct gnn_tensor *t = gnn_batch_tensor(b, name);
    return t ? gnn_tensor_shape(t, 0) : 0;
}

static void test_seeds(struct gnn_graph *g)
{
    const char *const options[] = {"fanout=2,1", "batch=3", "edge-ids", "threads=0", NULL};
    const uint64_t seeds[] = {7, 3, 30, 31}, none[] = {3, N};
    struct gnn_batches *s = gnn_batches_sample_seeds(g, options);
    struct gnn_batch *b = NULL, *kept = NULL;
    bool good = s != NULL;
    ok(says(gnn_batches_next(s, &b), GNN_E_USAGE, "gnn_batches_of") && !b &&
           says(gnn_batches_write(s, "none", NULL), GNN_E_USAGE, "gnn_batches_of") &&
           access("none", F_OK),
       "without seeds there is no batch");
    for (int i = 0; good && i < 10; i++) {
        good = !gnn_batches_of(s, seeds, 3, &b) && rows_of(b, "hop/0/n/to/n/indptr") == 4 &&
               rows_of(b, "hop/0/n/to/n/id") == 6;
        const uint32_t *n = good ? gnn_tensor_data(gnn_batch_tensor(b, "nodes/n")) : NULL;
        good = n && n[0] == 7 && n[1] == 3 && n[2] == 30;
        gnn_batch_put(kept);
        kept = b;
    }
    ok(good, "batches of seeds begin with them");
    ok(says(gnn_batches_of(s, seeds, 4, &b), GNN_E_USAGE, "4 seeds"), "too many are refused");
    ok(says(gnn_batches_of(s, none, 2, &b), GNN_E_INPUT, "seed 2 of 2: node id 40 is out of range"),
       "so is one that is no node");
    ok(!gnn_batches_of(s, seeds, 3, &b) && !gnn_error_status(), "and the next ones are not");
    gnn_batch_put(b);
    ok(says(gnn_batches_next(s, &b), GNN_E_USAGE, "gnn_batches_of"),
       "after them, too, there is no batch without seeds");
    gnn_batches_free(s);
    ok(rows_of(kept, "key") == 4, "a batch outlives its source");
    gnn_batch_put(kept);
    const char *const timed[] = {"fanout=2", "time-rule=le", NULL};
    ok(!gnn_batches_sample_seeds(g, timed) &&
           says(gnn_error_status(), GNN_E_USAGE, "requires --seed-time"),
       "seeds have no times");
    const char *const twice[] = {"fanout=2", "epochs=2", NULL};
    ok(!gnn_batches_sample_seeds(g, twice) &&
           says(gnn_error_status(), GNN_E_USAGE, "used as they come have one epoch"),
       "nor epochs");
}

/* A file of the library's, cut. */
static void cut_file(const char *path, off_t bytes)
{
    if (truncate(path, bytes))
        ok(false, "%s is cut", path);
}

static void test_failures(struct gnn_graph *g)
{
    const char *const options[] = {"fanout=2,1", "batch=8", NULL}, *const x_only[] = {"fields=x",
                                                                                      NULL};
    struct gnn_batch *b = NULL;
    struct gnn_batches *s = gnn_batches_gather(gnn_batches_sample(g, options), g, x_only);
    s = gnn_batches_gather(s, g, NULL);
    for (int i = 0; i < 3; i++)
        ok(says(gnn_batches_next(s, &b), GNN_E_INPUT, "'node/n/x' is already present") && !b,
           "a failure is told of again: %d", i);
    ok(says(gnn_batches_write(s, "none", NULL), GNN_E_INPUT, "already present") &&
           access("none", F_OK),
       "and nothing is written");
    gnn_batches_free(s);
    cut_file("stream", 3000);
    s = gnn_batches_read("stream");
    int rc = s ? 0 : 1;
    while (!rc) {
        gnn_batch_put(b);
        b = NULL;
        rc = gnn_batches_next(s, &b);
    }
    char why[1024];
    snprintf(why, sizeof why, "%s", gnn_error());
    ok(rc == GNN_E_INPUT && !b && *why && says(gnn_batches_next(s, &b), rc, why) &&
           says(gnn_batches_next(s, &b), rc, why),
       "so is that a stream was cut: %s", why);
    gnn_batches_free(s);
}

/* Whether f writes to a FIFO, of which this is the reader, what is in the file `want`, and lets the
 * node be. */
static bool fills_fifo(int (*f)(struct gnn_graph *g, const char *path), struct gnn_graph *g)
{
    static char got[1 << 16], want[sizeof got];
    struct stat st;
    if (mkfifo("fifo", 0600))
        return false;
    const int in = open("fifo", O_RDONLY | O_NONBLOCK);
    const int rc = f(g, "fifo"), file = f(g, "file") ? -1 : open("file", O_RDONLY);
    const ssize_t n = read(in, got, sizeof got), m = read(file, want, sizeof want);
    const bool good = !rc && n > 0 && n == m && !memcmp(got, want, (size_t)n) &&
                      !lstat("fifo", &st) && S_ISFIFO(st.st_mode);
    close(in);
    close(file);
    return !unlink("fifo") && !unlink("file") && good;
}

static int write_batches(struct gnn_graph *g, const char *path)
{
    const char *const options[] = {"fanout=2", "batch=20", NULL};
    struct gnn_batches *s = gnn_batches_sample(g, options);
    const int rc = gnn_batches_write(s, path, NULL);
    gnn_batches_free(s);
    return rc;
}

static int write_model(struct gnn_graph *g, const char *path)
{
    const char *const options[] = {"fanout=2", "epochs=1", NULL};
    return gnn_train(g, path, options, NULL, NULL);
}

static void test_nodes(struct gnn_graph *g)
{
    struct stat st;
    ok(fills_fifo(write_batches, g), "a stream is written to a FIFO: %s", gnn_error());
    ok(fills_fifo(write_model, g), "so is a model: %s", gnn_error());
    ok(!symlink("linked", "link") && !write_batches(g, "link") && !lstat("link", &st) &&
           S_ISLNK(st.st_mode) && !lstat("linked", &st) && S_ISREG(st.st_mode),
       "a link is followed");
    ok(says(write_batches(g, "graph"), GNN_E_USAGE, "graph: is a directory"),
       "a directory is not written to");
    /* The device that is always full, under a name of this test's; only root can make one. */
    if (mknod("full", S_IFCHR | 0600, (dev_t)(1 << 8 | 7)) || close(open("full", O_WRONLY)))
        printf("# no device can be made here\n");
    else
        ok(says(write_batches(g, "full"), GNN_E_RUN, "full: ") &&
               says(write_model(g, "full"), GNN_E_RUN, "full: ") && !lstat("full", &st) &&
               S_ISCHR(st.st_mode),
           "a device is written to, and stays");
    struct gnn_builder *b = gnn_builder_new();
    ok(!mkfifo("fifo", 0600) && !gnn_builder_nodes(b, "n", 1) &&
           says(gnn_builder_write(b, "fifo", (const char *const[]){"force", NULL}), GNN_E_USAGE,
                "not a store; not replaced") &&
           !lstat("fifo", &st) && S_ISFIFO(st.st_mode),
       "a store replaces no FIFO");
    gnn_builder_free(b);
}

static void test_batches(struct gnn_graph *g)
{
    const char *const options[] = {"fanout=2,1", "batch=8", "epochs=2", NULL},
                      *const fields[] = {"fields=x,nothing", NULL},
                      *const zstd[] = {"zstd=3", NULL};
    struct gnn_batch *b;
    ok(!gnn_batches_gather(gnn_batches_sample(g, options), g, fields) &&
           says(gnn_error_status(), GNN_E_USAGE, "nothing"),
       "a field that is not there is not gathered");
    struct gnn_batches *s = gnn_batches_gather(gnn_batches_sample(g, options), g, NULL), *read;
    ok(s && strstr(gnn_batches_header(s), "\"batch_size\":8"), "batches have a header");
    ok(!gnn_batches_write(s, "stream", zstd), "and are written: %s", gnn_error());
    ok(gnn_batches_next(s, &b) == GNN_END, "all of them");
    gnn_batches_free(s);
    ok(!gnn_batches_read("graph") && gnn_error_status() == GNN_E_INPUT, "a store is no stream");
    uint64_t seeds = 0, batches = 0;
    read = gnn_batches_read("stream");
    while (read && !gnn_batches_next(read, &b)) {
        seeds += rows_of(b, "node/n/y");
        batches += rows_of(b, "node/n/x") == rows_of(b, "nodes/n");
        gnn_batch_put(b);
    }
    ok(seeds == N && batches == 6, "and read again, with fields");
    gnn_batches_free(read);
}

static int count_epoch(void *arg, uint64_t epoch, double loss, double value)
{
    int *n = arg;
    *n += epoch == (uint64_t)*n && loss > 0 && isnan(value);
    return 0;
}

/* Ends the training after two epochs, and calls functions that fail, and that do not. */
static int stop_second(void *arg, uint64_t epoch, double loss, double value)
{
    int *n = arg;
    struct gnn_graph *g = gnn_graph_open("graph", NULL);
    *n += epoch == (uint64_t)*n && loss > 0 && !isnan(value) && g && !gnn_graph_open("none", NULL);
    gnn_graph_close(g);
    return epoch == 1;
}

static void test_learning(struct gnn_graph *g)
{
    const char *const options[] = {"fanout=3,2", "hidden=8", "epochs=3", NULL},
                      *const weighted[] = {"fanout=3", "epochs=1", "weight=weight", NULL},
                      *const layer_wise[] = {"layer-wise", "output-kind=embeddings", NULL},
                      *const evaluated[] = {"fanout=3", "eval=train", "epochs=9", NULL},
                      *const bad[] = {"epochs=3", "epochs=no", NULL};
    int epochs = 0;
    ok(!gnn_train(g, "stopped", evaluated, stop_second, &epochs) && epochs == 2 && !*gnn_error() &&
           !access("stopped", F_OK),
       "the training ends when who is told of epochs says so, whatever it calls: %s", gnn_error());
    epochs = 0;
    ok(!gnn_train(g, "model", options, count_epoch, &epochs) && epochs == 3,
       "a model is trained: %s", gnn_error());
    struct gnn_outputs *o = gnn_predict_nodes(g, "model", NULL);
    const struct gnn_tensor *t = o ? gnn_outputs_tensor(o) : NULL;
    ok(t && !strcmp(gnn_tensor_dtype(t), "i32") && gnn_tensor_ndim(t) == 1 &&
           gnn_tensor_shape(t, 0) == N,
       "and gives each node a class");
    gnn_outputs_free(o);
    ok(says(gnn_train(g, "none", bad, NULL, NULL), GNN_E_USAGE,
            "epochs: 'no' is not a whole number"),
       "training refuses bad options");
    ok(!gnn_train(g, "weighted", weighted, NULL, NULL), "a model is trained with weights");
    ok(!gnn_predict_nodes(g, "weighted", NULL) &&
           says(gnn_error_status(), GNN_E_USAGE, "was trained with --weight"),
       "and is not applied without");
    o = gnn_predict_nodes(g, "weighted", layer_wise);
    ok(o && gnn_tensor_ndim(gnn_outputs_tensor(o)) == 2, "unless that is allowed");
    gnn_outputs_free(o);
    ok(!gnn_predict_nodes(g, "graph", NULL) && gnn_error_status() == GNN_E_INPUT,
       "a store is no model");
}

static void test_coo(void)
{
    const uint32_t indptr[] = {0, 2, 2, 3}, indices[] = {9, 8, 7};
    const int64_t want[] = {9, 8, 7, 5, 5, 7};
    int64_t out[6];
    gnn_block_coo(5, 3, indptr, indices, out);
    ok(!memcmp(out, want, sizeof want), "a block becomes pairs");
}

int main(void)
{
    scratch_enter();
    ok(gnn_version_number() == GNN_VERSION_NUMBER, "the library has the version of its headers");
    fill_arrays();
    test_refusals();
    test_write();
    test_graph();
    struct gnn_graph *g = gnn_graph_open("graph", NULL);
    if (g) {
        test_options(g);
        test_seeds(g);
        test_batches(g);
        test_failures(g);
        test_nodes(g);
        test_learning(g);
    }
    gnn_graph_close(g);
    test_coo();
    return scratch_done();
}
