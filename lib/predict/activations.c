/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of activations, in memory as far as allowed, and the features as the first of them. */
#include <stdlib.h>
#include <string.h>

#include "kernels/half.h"
#include "kernels/rows.h"
#include "lib/model/row_source.h"
#include "lib/predict/predict_impl.h"
#include "lib/predict/spill.h"
#include "lib/data/tensors.h"
#include "lib/store/huge_pages.h"

/* Numbers, and rows of features, that a thread does at once. */
enum { PIECE = 1 << 14, ROWS = 512 };

/* Whether the features of a type are of bf16 in the store, and are taken as they are. */
static bool features_are_halves(const struct gnn_predict *p, uint32_t type)
{
    struct gnn_err ignored = {0};
    const struct gnn_tensor *x;
    for (uint32_t k = 0; k < p->s->nparts; k++)
        if (gnn_rows_of_part(p->m, p->s, k, type, &x, &ignored) || !x || x->dtype != GNN_BF16)
            return false;
    return p->o.ops->aggregate_bf16 && p->m->c.feature_norm == GNN_FEATURES_AS_IS;
}

bool gnn_predict_halves(const struct gnn_predict *p, uint32_t stage, uint32_t type)
{
    const struct gnn_model *m = p->m;
    bool half =
        (p->o.ops->bf16 || (!stage && features_are_halves(p, type))) && stage + 1 < m->nstages;
    half = half && !(p->o.embedding && stage == predict_embedding_stage(m) && type == m->c.target);
    EACH_CONV(v, m)
        half = half && (v->from != stage || v->src != type || v->rel == GNN_ROWS || !v->needed ||
                        v->layer->linear);
    return half;
}

static size_t number_bytes(const struct gnn_table *t)
{
    return t->half ? sizeof *t->half : sizeof *t->data;
}

static void narrow_numbers(const float *x, uint64_t n, uint16_t *y)
{
#pragma omp parallel for schedule(static)
    for (uint64_t i = 0; i < n; i += PIECE)
        gnn_f32_to_bf16(x + i, n - i < PIECE ? n - i : PIECE, y + i);
}

/* In the memory of the device if it fits, else in pinned memory of the host; t->near says which. */
static int place_rows(struct gnn_predict *p, struct gnn_table *t, struct gnn_err *e)
{
    const struct gnn_ops *o = p->o.ops;
    struct gnn_err full = {0};
    t->near = !o->fit(o, &t->buf, t->rows * t->width, sizeof(float), "activations", &full);
    if (!t->near && full.code != GNN_E_NOMEM)
        return gnn_fail(e, (enum gnn_status)full.code, "%s", full.msg);
    if (!t->near && o->fit_host(o, &t->buf, t->rows * t->width, sizeof(float), "activations", e))
        return e->code;
    t->data = t->buf.data;
    return 0;
}

/* data: rows, of bf16 if `half`. */
static void hold_rows(struct gnn_table *t, void *data, bool half)
{
    t->data = half ? NULL : data;
    t->half = half ? data : NULL;
}

int gnn_predict_table_new(struct gnn_predict *p, struct gnn_table *t, uint64_t rows, uint64_t width,
                          bool half, struct gnn_err *e)
{
    const size_t size = half ? sizeof *t->half : sizeof *t->data;
    uint64_t bytes;
    *t = (struct gnn_table){.rows = rows, .width = width, .near = true};
    if (__builtin_mul_overflow(rows, width * size, &bytes) || bytes > INT64_MAX)
        return gnn_fail(e, GNN_E_NOMEM, "activations of %llu rows and %llu columns are too large",
                        (unsigned long long)rows, (unsigned long long)width);
    if (p->o.ops->async)
        return place_rows(p, t, e);
    if (bytes && p->held + bytes > p->o.memory) {
        t->spill = gnn_spill_new(p->o.tmpdir, bytes, e);
        hold_rows(t, t->spill ? gnn_spill_data(t->spill) : NULL, half);
        p->spilled += bytes;
        return e->code;
    }
    t->buf.data = gnn_alloc(rows * width, size, "activations", e);
    hold_rows(t, t->buf.data, half);
    p->held += t->buf.data ? bytes : 0;
    return e->code;
}

void gnn_predict_table_free(struct gnn_predict *p, struct gnn_table *t)
{
    const struct gnn_ops *o = p->o.ops;
    gnn_spill_free(t->spill);
    if (t->buf.data && !o->async)
        p->held -= t->rows * t->width * number_bytes(t);
    if (t->near)
        o->release(o, &t->buf);
    else
        o->release_host(o, &t->buf);
    memset(t, 0, sizeof(*t));
}

int gnn_predict_table_check(const struct gnn_table *t, struct gnn_err *e)
{
    return gnn_spill_check(t->spill, e);
}

int gnn_predict_table_end(struct gnn_predict *p, struct gnn_table *t, struct gnn_err *e)
{
    if (gnn_predict_table_check(t, e))
        return e->code;
    gnn_predict_table_free(p, t);
    return 0;
}

/* The next n rows are complete. */
static void end_rows(const struct gnn_table *t, uint64_t n)
{
    if (t->spill)
        gnn_spill_written(t->spill, n * t->width * number_bytes(t));
}

int gnn_predict_rows(struct gnn_predict *p, const struct gnn_table *t, uint64_t first, uint64_t n,
                     const float **x, struct gnn_err *e)
{
    const struct gnn_ops *o = p->o.ops;
    *x = t->half ? NULL : t->data + first * t->width;
    if (t->near && !t->half)
        return 0;
    if (o->fit(o, &p->read, n * t->width, sizeof(float), "rows", e))
        return e->code;
    if (t->half)
        o->widen_bf16(o, t->half + first * t->width, n * t->width, p->read.data);
    else
        o->put(o, p->read.data, *x, n * t->width * sizeof(float));
    *x = p->read.data;
    return 0;
}

int gnn_predict_open_rows(struct gnn_predict *p, const struct gnn_table *t, uint64_t first,
                          uint64_t n, float **y, struct gnn_err *e)
{
    const struct gnn_ops *o = p->o.ops;
    const bool there = t->near && !t->half;
    if (!there && o->fit(o, &p->written, n * t->width, sizeof(float), "rows", e))
        return e->code;
    *y = there ? t->data + first * t->width : p->written.data;
    return 0;
}

int gnn_predict_keep_rows(struct gnn_predict *p, const struct gnn_table *t, uint64_t first,
                          uint64_t n, const float *y, struct gnn_err *e)
{
    const struct gnn_ops *o = p->o.ops;
    if (t->half)
        narrow_numbers(y, n * t->width, t->half + first * t->width);
    end_rows(t, n);
    if (t->near)
        return 0;
    o->fetch(o, t->data + first * t->width, y, n * t->width * sizeof(float));
    o->mark(o, 0);
    return o->wait(o, 0, e);
}

int gnn_predict_to_host(struct gnn_predict *p, struct gnn_table *t, struct gnn_err *e)
{
    const struct gnn_ops *o = p->o.ops;
    struct gnn_table to = *t;
    if (!o->async || !t->near || !t->data)
        return 0;
    to.near = false;
    to.buf = (struct gnn_buf){0};
    if (o->fit_host(o, &to.buf, t->rows * t->width, sizeof(float), "activations", e))
        return e->code;
    to.data = to.buf.data;
    o->fetch(o, to.data, t->data, t->rows * t->width * sizeof(float));
    o->mark(o, 0);
    if (o->wait(o, 0, e)) {
        gnn_predict_table_free(p, &to);
        return e->code;
    }
    gnn_predict_table_free(p, t);
    *t = to;
    return 0;
}

/* Features are read at random in huge pages, if there are any, sooner than in those of a file. */
static bool copy_pays(const struct gnn_predict *p, const struct gnn_table *t, bool half)
{
    const size_t size = half ? sizeof *t->half : sizeof *t->data;
    return p->held + t->rows * t->width * size <= p->o.memory && gnn_huge_pages_offered("");
}

/* The store's own memory, where that will do. */
static bool share_rows(const struct gnn_predict *p, uint32_t type, bool half, struct gnn_table *t)
{
    struct gnn_err ignored = {0};
    const struct gnn_tensor *x;
    if (p->o.ops->async || p->s->nparts > 1 || p->m->c.feature_norm != GNN_FEATURES_AS_IS ||
        gnn_rows_of_part(p->m, p->s, 0, type, &x, &ignored) || !x ||
        x->dtype != (half ? GNN_BF16 : GNN_F32) || copy_pays(p, t, half))
        return false;
    hold_rows(t, x->data, half);
    t->near = true;
    return true;
}

/* n rows of x, in f32; false if they are of no such type. */
static bool read_floats(const struct gnn_tensor *x, uint64_t n, uint64_t width, float *to)
{
    bool good = true;
#pragma omp parallel for schedule(static) reduction(&& : good)
    for (uint64_t i = 0; i < n; i += ROWS) {
        const struct gnn_tensor rows = gnn_tensor_from(x, i);
        const uint64_t some = n - i < ROWS ? n - i : ROWS;
        good = gnn_tensor_floats(&rows, some * width, to + i * width) && good;
    }
    return good;
}

/* n rows of a part from row `at` on, of x or, if it is NULL, the constant, as the model wants them,
 * to row `first` of t. */
static int feature_rows(struct gnn_predict *p, struct gnn_table *t, const struct gnn_tensor *x,
                        uint64_t at, uint64_t first, uint64_t n, float *buffer, struct gnn_err *e)
{
    const struct gnn_ops *o = p->o.ops;
    const bool aside = t->half || (t->near && o->async);
    float *to = aside ? buffer : t->data + first * t->width;
    const struct gnn_tensor rows = x ? gnn_tensor_from(x, at) : (struct gnn_tensor){0};
    if (x && !read_floats(&rows, n, t->width, to))
        return gnn_fail(e, GNN_E_INPUT, "%s: features %s are not floating-point", p->s->path,
                        x->name);
    for (uint64_t i = 0; !x && i < n; i++)
        to[i] = 1;
    if (x && p->m->c.feature_norm != GNN_FEATURES_AS_IS)
        gnn_rows_to_unit_sum(to, n, t->width);
    if (t->half)
        narrow_numbers(to, n * t->width, t->half + first * t->width);
    else if (aside)
        o->put(o, t->data + first * t->width, to, n * t->width * sizeof(float));
    end_rows(t, n);
    return 0;
}

static int part_features(struct gnn_predict *p, uint32_t type, uint32_t k, float *buffer,
                         struct gnn_err *e)
{
    const uint64_t own = gnn_store_owned(p->s, k, type), first = p->s->book[type][k];
    const struct gnn_tensor *x;
    if (gnn_rows_of_part(p->m, p->s, k, type, &x, e))
        return e->code;
    for (uint64_t at = 0; at < own; at += PREDICT_CHUNK) {
        const uint64_t n = own - at < PREDICT_CHUNK ? own - at : PREDICT_CHUNK;
        if (feature_rows(p, predict_made(p, 0, type), x, at, first + at, n, buffer, e))
            return e->code;
    }
    return 0;
}

int gnn_predict_features(struct gnn_predict *p, uint32_t type, struct gnn_err *e)
{
    struct gnn_table *t = predict_made(p, 0, type);
    const uint64_t n = p->s->meta.schema.ntype[type].count, w = gnn_model_width(p->m, 0, type);
    const bool half = gnn_predict_halves(p, 0, type);
    *t = (struct gnn_table){.rows = n, .width = w};
    if (share_rows(p, type, half, t))
        return 0;
    if (gnn_predict_table_new(p, t, n, w, half, e))
        return e->code;
    float *buffer = gnn_alloc(PREDICT_CHUNK * w, sizeof *buffer, "features", e);
    for (uint32_t k = 0; !e->code && k < p->s->nparts; k++)
        (void)!part_features(p, type, k, buffer, e);
    gnn_free(buffer);
    return e->code;
}
