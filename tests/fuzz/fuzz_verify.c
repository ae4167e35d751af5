/* SPDX-License-Identifier: Apache-2.0 */
/* A stream of batches with times, of induced edges, of links, or of walks, beside the store that it
 * was sampled from, with changes (edits.h); checksums are off. It is proved, and its leaks are
 * counted: any change ends in a clean error, and what is proved has no edge of the future, and no
 * end of a link that is short of edges. Changes: op 0 an element of tensor `which`, 1 a byte, 2 a
 * byte of the header, 3 the length. A byte after the last change is the number of the stream. */
#include <fcntl.h>
#include <sys/mman.h>

#include "formats/gnb.h"
#include "fuzz/edits.h"
#include "fuzz/fuzz.h"
#include "lib/inspect/inspect.h"
#include "lib/sample/sampler.h"
#include "lib/stream/stream.h"
#include "store_divide.h"
#include "store_maker.h"

enum { PARTS = 2 };

unsigned long fuzz_accepted;

struct place {
    uint64_t at, n;
    size_t bytes;
};
#define WALKS .seed = 1, .batch_size = 4, .shuffle = true
#define BLOCKS WALKS, .walks.per_seed = 1
#define LINKS(...)                                                                                 \
    .seed = 1, .batch_size = 64, .shuffle = true, .walks.per_seed = 1, .links = {__VA_ARGS__}
static struct stream {
    struct gnn_sampling drawn;
    const char *eval;
    struct edited file;
    struct place tensor[256]; /* the first is the header's text */
    uint32_t n;
} streams[] = {
    {{BLOCKS, .time_rule = GNN_PICK_UNTIL, .edge_ids = true}},
    {{BLOCKS, .time_rule = GNN_PICK_BEFORE, .latest = true, .disjoint = true,
      .original_ids = true}},
    {{BLOCKS, .time_rule = GNN_PICK_UNTIL, .window = "20"}, .eval = "valid"},
    {{BLOCKS, .time_rule = GNN_PICK_UNTIL, .window = "30", .induced = true, .edge_ids = true}},
    {{BLOCKS, .induced = true, .disjoint = true, .original_ids = true}},
    {{WALKS, .walks = {4, .per_seed = 2, .p = 1, .q = 1, .restart = 0.25}, .original_ids = true}},
    {{WALKS, .walks = {4, .per_seed = 2, .p = 0.5, .q = 2}}, .eval = "valid"},
    {{LINKS("a/to/a", "binary:1.5"), .time_rule = GNN_PICK_UNTIL, .original_ids = true}},
    {{LINKS("a/to/a", "triplet:2", .end = GNN_NEGATIVE_BOTH), .disjoint = true}},
    {{LINKS("a/to/a", "joint:2:3", .strict = true), .original_ids = true}},
};
enum { STREAMS = sizeof streams / sizeof *streams };
static struct gnn_store store;

/* ---- what is good ---- */

static struct gnn_sampler_opts what_is_drawn(const struct stream *x)
{
    static const char *const fanout = "2,2", *const step = "a/to/a";
    struct gnn_sampler_opts o;
    gnn_sampler_opts_init(&o);
    o.sampling = x->drawn;
    o.path = &step;
    o.npath = x->drawn.walks.length > 0;
    o.fanout = &fanout;
    o.nfanout = !o.npath;
    o.split = x->drawn.links.type ? NULL : o.split; /* all edges */
    o.eval = &x->eval;
    o.neval = x->eval != NULL;
    return o;
}

static void sample(const struct stream *x, const char *path)
{
    struct gnn_err e = {0};
    struct gnn_writer w = {0};
    struct gnn_batch *b;
    const struct gnn_sampler_opts o = what_is_drawn(x);
    struct gnn_source *q = gnn_sampler_source_new(&store, &o, &e);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int rc = !q || fd < 0
                 ? -1
                 : gnn_writer_begin(&w, fd, path, q->meta, &(struct gnn_writer_opts){0}, &e);
    while (!rc && !(rc = gnn_source_next(q, &b, &e))) {
        rc = gnn_writer_batch(&w, b, &e);
        gnn_batch_put(b);
    }
    if (rc != GNN_END || gnn_writer_end(&w, &e))
        abort();
    gnn_writer_release(&w);
    gnn_source_free(q);
}

static void find_tensors(struct stream *x)
{
    struct gnb_frame f;
    const uint8_t *good = x->file.good;
    for (uint64_t at = 0; at < x->file.ngood;) {
        uint64_t pos = 0, end = 0;
        if (gnn_gnb_frame_decode(&f, good + at))
            abort();
        const uint64_t table = at + GNB_HEADER_BYTES, base = table + f.table_bytes;
        for (uint32_t i = 0; i < f.ntensors; i++) {
            struct gnb_entry t;
            if (x->n == sizeof x->tensor / sizeof *x->tensor ||
                gnn_gnb_entry_decode(&t, &f, good + table, &pos, &end))
                abort();
            const size_t bytes = gnn_dtype_bytes(t.t.dtype);
            x->tensor[x->n++] = (struct place){base + t.offset, t.raw / bytes, bytes};
        }
        at = base + f.payload_bytes;
    }
}

static void make(void)
{
    struct gnn_err e = {0};
    char from[256], to[256], path[256];
    fuzz_dir_new();
    maker_timed = true;
    if (store_make(fuzz_path(from, "S"), 16, 60, true, 7, &e) ||
        store_divide(from, fuzz_path(to, "W"), PARTS, true, &e) ||
        gnn_store_open(&store, to, false, &e))
        abort();
    for (uint32_t i = 0; i < STREAMS; i++) {
        sample(&streams[i], fuzz_path(path, "stream"));
        fuzz_read("stream", &streams[i].file);
        find_tensors(&streams[i]);
    }
}

/* ---- what is made of it ---- */

static void change(struct stream *x, const struct edit *d)
{
    const struct place *t = &x->tensor[d->which % x->n];
    switch (d->op % 4) {
    case 0:
        if (t->n)
            edited_put(&x->file, t->at + d->at % t->n * t->bytes, d->value, t->bytes);
        break;
    case 1:
        edited_flip(&x->file, d->at, d->value);
        break;
    case 2:
        edited_put(&x->file, x->tensor->at + d->at % x->tensor->n, d->value, 1);
        break;
    default:
        edited_cut(&x->file, d->at);
    }
}

static int input(const struct edited *f)
{
    const int fd = memfd_create("stream", MFD_CLOEXEC);
    if (fd < 0 || write(fd, f->now, f->n) != (ssize_t)f->n || lseek(fd, 0, SEEK_SET))
        abort();
    return fd;
}

static void look(const struct edited *f)
{
    struct gnn_err proof = {0}, e = {0};
    json_t *report = json_object();
    bool any;
    if (gnn_verify_stream(input(f), "fuzz", &store, report, &proof) &&
        (!*proof.msg || strchr(proof.msg, '\n')))
        abort();
    const int rc = gnn_leaks_stream(input(f), "fuzz", &store, report, &any, &e);
    const char *const none[] = {"future_edges", "short_ends", "strayed_negatives"};
    json_int_t found = 0;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        found += json_integer_value(json_object_get(json_object_get(report, none[i]), "count"));
    if (rc && (!*e.msg || strchr(e.msg, '\n')))
        abort();
    /* Batches without times may be proved. */
    if (!proof.code && rc != GNN_E_USAGE && (rc || found))
        abort();
    fuzz_accepted += !proof.code;
    json_decref(report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct edit d;
    if (!fuzz_dir[0])
        make();
    struct stream *x = &streams[n % sizeof d ? data[n - 1] % STREAMS : 0];
    while (edit_next(&d, &data, &n))
        change(x, &d);
    look(&x->file);
    edited_restore(&x->file);
    return 0;
}
