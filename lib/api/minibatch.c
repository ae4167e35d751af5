/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/api/minibatch.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/api/handles.h"
#include "lib/api/options.h"
#include "lib/base/io.h"
#include "lib/base/mem.h"
#include "lib/gather/gatherer.h"
#include "lib/sample/sampler.h"
#include "lib/stream/stream.h"

/* Takes over a source, which is NULL after a failure, and what leads to its seeds. */
static struct gnn_batches *wrap_source(struct gnn_source *src, int seeds, struct gnn_err *e)
{
    struct gnn_batches *s = src ? gnn_alloc_zero(1, sizeof *s, "batches", e) : NULL;
    if (s) {
        s->src = src;
        s->seeds = seeds;
        return s;
    }
    if (seeds >= 0)
        close(seeds);
    gnn_source_free(src);
    return NULL;
}

/* Sets o from the options; what these point to is in the others. */
static int read_options(struct gnn_sampler_opts *o, struct opt_list list[3],
                        const char *const options[], bool seeds, struct gnn_err *e)
{
    struct opt_range epochs = {.to = 1}, steps = {.to = UINT64_MAX, .stride = 1};
    struct opt_doubles bias = {NULL, 0};
    gnn_sampler_opts_init(o);
    o->threads = 1;
    const struct opt own[] = {
        {.kind = OPT_LIST, .name = "fanout", .value = &list[0]},
        {.kind = OPT_LIST, .name = "eval", .value = &list[1]},
        {.kind = OPT_LIST, .name = "metapath", .value = &list[2]},
        {.kind = OPT_STR, .name = "split", .value = &o->split},
        {.kind = OPT_STR, .name = "seed-type", .value = &o->seed_type},
        {.kind = OPT_RANGE, .name = "epochs", .value = &epochs, .count = true},
        {.kind = OPT_RANGE, .name = "steps", .value = &steps, .strided = true},
        {.kind = OPT_DOUBLES, .name = "node2vec", .value = &bias},
        {.kind = OPT_U32, .name = "threads", .value = &o->threads, .max = 1024},
        {.kind = OPT_END}};
    if (!gnn_api_options(options, own, &o->sampling, false, e) && bias.n && bias.n != 2)
        gnn_fail(e, GNN_E_USAGE, "--node2vec: expected P,Q");
    if (!e->code && bias.n) {
        o->sampling.walks.p = bias.v[0];
        o->sampling.walks.q = bias.v[1];
    }
    gnn_free(bias.v);
    if (e->code)
        return e->code;
    if (seeds && (gnn_api_given(options, "split") || gnn_api_given(options, "eval")))
        return gnn_fail(e, GNN_E_USAGE, "--split and --eval choose seeds, which are given");
    if (!seeds && o->seed_type)
        return gnn_fail(e, GNN_E_USAGE, "--seed-type requires gnn_batches_sample_seeds");
    if (seeds && o->sampling.time_rule && !o->sampling.seed_time)
        return gnn_fail(e, GNN_E_USAGE,
                        "--time-rule requires --seed-time: seeds come without times");
    if (o->sampling.links.type && !gnn_api_given(options, "split"))
        o->split = NULL;
    if (seeds && !gnn_api_given(options, "shuffle"))
        o->sampling.shuffle = false;
    o->fanout = list[0].v;
    o->nfanout = list[0].n;
    o->eval = list[1].v;
    o->neval = list[1].n;
    o->path = list[2].v;
    o->npath = list[2].n;
    o->epoch_from = epochs.from;
    o->epoch_to = epochs.to;
    o->step_from = steps.from;
    o->step_to = steps.to;
    o->step_stride = steps.stride;
    return 0;
}

/* fd: where seeds come from, taken over; -1: from sets. */
static struct gnn_source *sample_from(struct gnn_graph *g, const char *const options[], int fd,
                                      struct gnn_err *e)
{
    struct gnn_sampler_opts o;
    struct opt_list list[3] = {{0}};
    struct gnn_source *src = NULL;
    if (!read_options(&o, list, options, fd >= 0, e)) {
        o.seeds_name = fd < 0 ? NULL : "seeds";
        o.seeds_fd = fd;
        o.stream = fd >= 0;
        o.threads += o.stream && !o.threads; /* seeds are read while they are written */
        src = gnn_sampler_source_new(&g->s, &o, e);
    } else if (fd >= 0)
        close(fd);
    for (int i = 0; i < 3; i++)
        gnn_free(list[i].v);
    return src;
}

struct gnn_batches *gnn_batches_sample(struct gnn_graph *g, const char *const options[])
{
    struct gnn_err *e = gnn_api_err();
    return wrap_source(sample_from(g, options, -1, e), -1, e);
}

struct gnn_batches *gnn_batches_sample_seeds(struct gnn_graph *g, const char *const options[])
{
    struct gnn_err *e = gnn_api_err();
    int fd[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd)) {
        (void)!gnn_fail_errno(e, "seeds");
        return NULL;
    }
    return wrap_source(sample_from(g, options, fd[1], e), fd[0], e);
}

struct gnn_batches *gnn_batches_gather(struct gnn_batches *from, struct gnn_graph *g,
                                       const char *const options[])
{
    static const enum gnn_dtype dtypes[] = {(enum gnn_dtype)0, GNN_F32, GNN_F16, GNN_BF16};
    if (!from)
        return NULL;
    struct gnn_err *e = gnn_api_err();
    struct gnn_gather_opts o = {.fields = NULL};
    int dtype = 0;
    const struct opt own[] = {
        {.kind = OPT_STR, .name = "fields", .value = &o.fields},
        {.kind = OPT_CHOICE, .name = "dtype", .value = &dtype, .choices = "stored|f32|f16|bf16"},
        {.kind = OPT_U32, .name = "threads", .value = &o.threads, .max = 1024},
        {.kind = OPT_END}};
    if (!gnn_api_options(options, own, NULL, false, e)) {
        o.dtype = dtypes[dtype];
        from->src = gnn_gather_source_new(from->src, &g->s, &o, e);
    }
    if (!e->code)
        return from;
    gnn_batches_free(from);
    return NULL;
}

struct gnn_batches *gnn_batches_read(const char *path)
{
    struct gnn_err *e = gnn_api_err();
    struct stat st;
    char *name = gnn_strdup(path, e);
    const int fd = name ? gnn_io_open(path, &st, e) : -1;
    struct gnn_batches *s = wrap_source(fd < 0 ? NULL : gnn_stream_source_new(fd, name, e), -1, e);
    if (s)
        s->name = name;
    else
        gnn_free(name);
    return s;
}

void gnn_batches_free(struct gnn_batches *s)
{
    if (!s)
        return;
    if (s->seeds >= 0) /* whoever reads them ends */
        close(s->seeds);
    gnn_source_free(s->src);
    gnn_buf_release(&s->text);
    gnn_free(s->header);
    gnn_free(s->name);
    gnn_free(s);
}

const char *gnn_batches_header(struct gnn_batches *s)
{
    struct gnn_err *e = gnn_api_err();
    if (!s->header)
        s->header = gnn_meta_to_text(s->src->meta, e);
    return s->header;
}

/* A batch of these is asked for by gnn_batches_of, if their seeds are given, and by nothing else.
 */
static int check_use(const struct gnn_batches *s, bool of, struct gnn_err *e)
{
    return (s->seeds >= 0) == of
               ? 0
               : gnn_fail(
                     e, GNN_E_USAGE,
                     of ? "these batches have seeds of their own: gnn_batches_next gives them"
                        : "these batches have no seeds of their own: gnn_batches_of gives them");
}

/* The next batch; *b is set with 0 only. What has failed fails again, for the same reason. */
static int next_batch(struct gnn_batches *s, struct gnn_batch **b, struct gnn_err *e)
{
    struct gnn_batch *got;
    const int rc = s->failed.code ? gnn_fail_as(e, &s->failed) : gnn_source_next(s->src, &got, e);
    if (!rc)
        *b = got;
    if (rc < 0)
        s->failed = *e;
    return rc;
}

int gnn_batches_next(struct gnn_batches *s, struct gnn_batch **b)
{
    struct gnn_err *e = gnn_api_err();
    return check_use(s, false, e) ? e->code : next_batch(s, b, e);
}

/* A list of seeds as text, which an empty line ends. No name of a node has so many zeros in front.
 */
static int write_seeds(struct gnn_batches *s, const uint64_t *seeds, uint64_t n, struct gnn_err *e)
{
    enum { DIGITS = 24 };
    const uint64_t bytes = n * (DIGITS + 1) + 1;
    if (gnn_buf_fit(&s->text, bytes, 1, "seeds", e))
        return e->code;
    char *p = (char *)s->text.data;
    for (uint64_t i = 0; i < n; i++, p += DIGITS + 1) {
        uint64_t id = seeds[i];
        p[DIGITS] = '\n';
        for (int d = DIGITS - 1; d >= 0; d--, id /= 10)
            p[d] = (char)('0' + id % 10);
    }
    *p = '\n';
    const char *from = (const char *)s->text.data;
    for (uint64_t done = 0; done < bytes;) {
        const ssize_t some = send(s->seeds, from + done, bytes - done, MSG_NOSIGNAL);
        if (some < 0 && errno == EPIPE)
            return 0; /* the source failed, and says why */
        if (some < 0 && errno != EINTR)
            return gnn_fail_errno(e, "seeds");
        done += some > 0 ? (uint64_t)some : 0;
    }
    return 0;
}

/* What is refused here leaves the source as it is. */
static int check_seeds(const struct gnn_meta *m, const uint64_t *seeds, uint64_t n,
                       struct gnn_err *e)
{
    const uint64_t count = m->schema.ntype[m->sampling.seed_ntype].count;
    if (!n || n > m->sampling.batch_size)
        return gnn_fail(e, GNN_E_USAGE, "%" PRIu64 " seeds: expected 1 to %u (--batch)", n,
                        m->sampling.batch_size);
    for (uint64_t i = 0; i < n; i++)
        if (seeds[i] >= count)
            return gnn_fail(e, GNN_E_INPUT,
                            "seed %" PRIu64 " of %" PRIu64 ": node id %" PRIu64
                            " is out of range: there are %" PRIu64,
                            i + 1, n, seeds[i], count);
    return 0;
}

int gnn_batches_of(struct gnn_batches *s, const uint64_t *seeds, uint64_t n, struct gnn_batch **b)
{
    struct gnn_err *e = gnn_api_err();
    if (check_use(s, true, e) || check_seeds(s->src->meta, seeds, n, e))
        return e->code;
    if (!s->failed.code && write_seeds(s, seeds, n, e))
        s->failed = *e;
    return next_batch(s, b, e);
}

static int write_all(struct gnn_batches *s, struct gnn_writer *w, struct gnn_err *e)
{
    struct gnn_batch *b;
    int rc;
    while (!(rc = next_batch(s, &b, e))) {
        rc = gnn_writer_batch(w, b, e);
        gnn_batch_put(b);
        if (rc)
            return rc;
    }
    return rc == GNN_END ? gnn_writer_end(w, e) : rc;
}

int gnn_batches_write(struct gnn_batches *s, const char *path, const char *const options[])
{
    struct gnn_err *e = gnn_api_err();
    struct gnn_writer w = {.seq = 0};
    uint32_t zstd = 0;
    const struct opt own[] = {{.kind = OPT_U32, .name = "zstd", .value = &zstd, .max = 19},
                              {.kind = OPT_END}};
    if (check_use(s, false, e) || gnn_api_options(options, own, NULL, false, e))
        return e->code;
    int fd;
    struct gnn_temp *temp = gnn_temp_output(path, &fd, e);
    if (!temp)
        return e->code;
    const struct gnn_writer_opts o = {.zstd_level = (int)zstd, .transport = GNN_TRANSPORT_INLINE};
    int rc = gnn_writer_begin(&w, fd, path, s->src->meta, &o, e);
    if (!rc)
        rc = write_all(s, &w, e);
    gnn_writer_release(&w);
    if (!rc)
        rc = gnn_temp_commit(temp, true, e);
    gnn_temp_free(temp);
    return rc;
}

const struct gnn_tensor *gnn_batch_tensor(const struct gnn_batch *b, const char *name)
{
    return gnn_tensors_find(&b->tensors, name);
}

const char *gnn_batch_tensor_name(const struct gnn_batch *b, uint32_t i)
{
    return i < b->tensors.n ? gnn_tensors_at(&b->tensors, i)->name : NULL;
}

void gnn_block_coo(uint32_t first, uint64_t rows, const uint32_t *indptr, const uint32_t *indices,
                   int64_t *out)
{
    int64_t *dst = out + indptr[rows];
    for (uint64_t i = 0; i < rows; i++)
        for (uint32_t k = indptr[i]; k < indptr[i + 1]; k++) {
            out[k] = indices[k];
            dst[k] = (int64_t)(first + i);
        }
}
