/* SPDX-License-Identifier: Apache-2.0 */
/* Losses, weights of classes, labels, optimisers. */
#include "gpu/case.h"
#include "gpu/on_device.h"
#include "kernels/label.h"
#include "kernels/loss.h"
#include "kernels/optim.h"
#include "kernels/weight.h"

/* ---- losses ---- */

static float *logits(uint32_t n, size_t c)
{
    float *z = numbers(n * c);
    for (size_t i = 0; i < n * c; i++)
        z[i] *= 10;
    if (n < 6)
        return z;
    z[c] = NAN; /* the first of a row, and one in the middle */
    z[2 * c + c / 2] = NAN;
    z[3 * c] = INFINITY;
    z[4 * c + c - 1] = -INFINITY;
    z[5 * c] = 1e30f;
    return z;
}

/* A row of a loss: what it is, and its gradients, elsewhere and in place; or without these. */
struct loss {
    float *z, *dz, *same;
    double *row, *only;
};
static struct loss loss_of(uint32_t n, size_t c, double near)
{
    struct loss l = {logits(n, c), floats(n * c), NULL, doubles(n), doubles(n)};
    l.same = copy(l.z, n * c);
    near_enough(l.dz, near);
    near_enough(l.same, near);
    near_enough(l.row, near);
    near_enough(l.only, near);
    return l;
}
static void loss_same(const struct loss *l, uint32_t n, size_t c)
{
    memcpy(l->same, l->dz, n * c * sizeof *l->dz);
    memcpy(l->only, l->row, n * sizeof *l->row);
    for (uint32_t i = 0; i < n; i++) {
        const double a = ((const double *)left(l->row))[i], b = ((const double *)left(l->only))[i];
        expect(!memcmp(&a, &b, sizeof a) || (isnan(a) && isnan(b)),
               "another loss without gradients");
    }
}

static void losses(uint32_t n, size_t c)
{
    const float by = 0.25f;
    const struct loss soft = loss_of(n, c, 1e-6), sigm = loss_of(n, c, 1e-6),
                      square = loss_of(n, c, 0);
    float *target = floats(n * c), *number_of = floats(n * c);
    int32_t *cls = array(n, sizeof *cls);
    uint64_t *bad = nothing_bad();
    for (uint32_t i = 0; i < n; i++)
        cls[i] = (int32_t)below((uint32_t)c + 1) - 1;
    for (size_t i = 0; i < n * c; i++) {
        const bool none = !below(5) || (n > 6 && i / c == 6); /* of a row, all */
        target[i] = none ? NAN : (float)below(2);
        number_of[i] = none ? NAN : 10 * number();
    }
    while (again()) {
        const uint32_t *count = counted(n), most = bound(n);
        gnn_cuda_softmax_ce(at(soft.z), count, most, c, at(cls), by, at(soft.row), at(soft.dz),
                            at(bad), stream);
        gnn_cuda_softmax_ce(at(soft.z), count, most, c, at(cls), by, at(soft.only), NULL, at(bad),
                            stream);
        gnn_cuda_softmax_ce(at(soft.same), NULL, n, c, at(cls), by, at(soft.row), at(soft.same),
                            at(bad), stream);
        gnn_cuda_sigmoid_ce(at(sigm.z), count, most, c, at(target), by, at(sigm.row), at(sigm.dz),
                            stream);
        gnn_cuda_sigmoid_ce(at(sigm.z), count, most, c, at(target), by, at(sigm.only), NULL,
                            stream);
        gnn_cuda_sigmoid_ce(at(sigm.same), NULL, n, c, at(target), by, at(sigm.row), at(sigm.same),
                            stream);
        gnn_cuda_squared_error(at(square.z), count, most, c, at(number_of), by, at(square.row),
                               at(square.dz), stream);
        gnn_cuda_squared_error(at(square.z), count, most, c, at(number_of), by, at(square.only),
                               NULL, stream);
        gnn_cuda_squared_error(at(square.same), NULL, n, c, at(number_of), by, at(square.row),
                               at(square.same), stream);
    }
    gnn_softmax_ce(soft.z, n, c, cls, by, soft.row, soft.dz);
    gnn_sigmoid_ce(sigm.z, n, c, target, by, sigm.row, sigm.dz);
    gnn_squared_error(square.z, n, c, number_of, by, square.row, square.dz);
    loss_same(&soft, n, c);
    loss_same(&sigm, n, c);
    loss_same(&square, n, c);
    verdict("softmax, sigmoid, squared error: (%u, %zu)", n, c);
}

/* Of p positives and n negatives, each with so many of its own, of which some are none, or, if that
 * is 0, in turns. */
static void link_losses(uint32_t p, uint32_t n, uint32_t each, bool softmax)
{
    struct loss l = loss_of(p + n, 1, 1e-6);
    float *y = floats(p + n);
    for (uint32_t i = 0; i < p + n; i++)
        y[i] = i < p ? 1 : each > 1 && !below(3) ? NAN : 0;
    while (again()) {
        gnn_cuda_link_loss(at(l.z), at(y), p, n, each, softmax, 0.25f, at(l.row), at(l.dz), stream);
        gnn_cuda_link_loss(at(l.z), at(y), p, n, each, softmax, 0.25f, at(l.only), NULL, stream);
        gnn_cuda_link_loss(at(l.same), at(y), p, n, each, softmax, 0.25f, at(l.row), at(l.same),
                           stream);
    }
    gnn_link_loss(l.z, y, p, n, each, softmax, 0.25f, l.row, l.dz);
    loss_same(&l, p + n, 1);
    verdict("%s of %u links with %u negatives", softmax ? "softmax" : "BPR", p, n);
}

/* A class out of range is as if there were no label, and the first is reported. */
static void bad_classes(void)
{
    const uint32_t n = 40;
    const size_t c = 7;
    float *z = numbers(n * c), *dz = floats(n * c);
    double *row = doubles(n);
    int32_t *cls = array(n, sizeof *cls), *good = host(n * sizeof *good);
    uint64_t *bad = nothing_bad();
    for (uint32_t i = 0; i < n; i++)
        cls[i] = good[i] = 3;
    cls[9] = cls[33] = INT32_MAX, cls[5] = 7, cls[2] = -1;
    good[9] = good[33] = good[5] = good[2] = -1;
    near_enough(dz, 1e-6);
    near_enough(row, 1e-6);
    while (again())
        gnn_cuda_softmax_ce(at(z), NULL, n, c, at(cls), 1, at(row), at(dz), at(bad), stream);
    gnn_softmax_ce(z, n, c, good, 1, row, dz);
    *bad = 5;
    verdict("softmax reports classes out of range");
}

static void row_weights(uint32_t n, size_t c, double sum)
{
    int32_t *cls = array(n, sizeof *cls);
    float *target = floats(n), *weight = floats(c), *w = floats(n), *v = floats(n),
          *many = floats(n * c), *share = floats(n), *dz = numbers(n * c);
    double *total = doubles(1);
    for (uint32_t i = 0; i < n; i++) {
        cls[i] = (int32_t)below((uint32_t)c + 3) - 1;
        target[i] = below(5) ? (float)below(3) / 2 : NAN;
    }
    for (size_t i = 0; i < n * c; i++)
        many[i] = below(4) ? number() : NAN;
    for (size_t k = 0; k < c; k++)
        weight[k] = (float)k + 0.3f;
    *total = sum;
    while (again()) {
        gnn_cuda_label_weights(at(cls), GNN_LABEL_CLASS, n, c, at(weight), at(w), stream);
        gnn_cuda_label_weights(at(target), GNN_LABEL_TARGET, n, 1, at(weight), at(v), stream);
        gnn_cuda_label_weights(at(many), GNN_LABEL_NUMBER, n, c, NULL, at(share), stream);
        gnn_cuda_weigh_rows(at(w), n, c, at(total), 17, at(dz), stream);
    }
    gnn_label_weights(cls, GNN_LABEL_CLASS, n, c, weight, w);
    gnn_label_weights(target, GNN_LABEL_TARGET, n, 1, weight, v);
    gnn_label_weights(many, GNN_LABEL_NUMBER, n, c, NULL, share);
    gnn_weigh_rows(w, n, c, total, 17, dz);
    for (uint32_t i = 0; i < n; i++) {
        expect((cls[i] >= 0 && cls[i] < (int32_t)c) || (w[i] == 0 && dz[i * c] == 0),
               "the CPU weighs what has no label");
        expect(sum != 0 || dz[i * c] == 0, "the CPU leaves a gradient where the total is 0");
    }
    verdict("weights of rows: (%u, %zu), of the total %g", n, c, sum);
}

void case_loss(void)
{
    static const size_t classes[] = {1, 2, 3, 7, 31, 32, 33, 47, 64, 172, 300, 1000};
    for (size_t i = 0; i < COUNT(classes); i++)
        losses((classes[i] > 100 ? 9 : 70) * size_scale, classes[i]);
    losses(0, 5);
    losses(1, 1);
    losses(700 * size_scale, 2); /* a thread a row: several blocks */
    bad_classes();
    for (int k = 0; k < 2; k++) {
        link_losses(0, 0, 0, k);
        link_losses(1, 1, 1, k);
        link_losses(7, 3, 0, k);
        link_losses(600 * size_scale, 1500 * size_scale, 0, k);
        link_losses(300 * size_scale, 6000 * size_scale, 20, k);
    }
    for (size_t i = 1; i < 11; i += 3) { /* 2, 31, 47 and 300 */
        row_weights(0, classes[i], 3.7);
        row_weights(1, classes[i], 3.7);
        row_weights(600 * size_scale, classes[i], 3.7);
    }
    row_weights(50, 3, 0);
}

/* ---- labels ---- */

/* What the CPU says of a label: out of range stays so. */
static void expect_label(double v, int32_t class, float target, float number_of)
{
    const bool none = isnan(v) || v == -1, is_class = v >= 0 && v < 7 && v == floor(v);
    expect(none       ? class == -1
           : is_class ? class == (int32_t)v
                      : class < -1 || class >= 7,
           "%g is class %d", v, class);
    expect((v > 1 || (v < 0 && v != -1)) == (target > 1) && isnan(target) == none,
           "%g is target %g", v, (double)target);
    expect(isnan(v) ? isnan(number_of)
                    : number_of == (float)v || (isinf(number_of) && fabs(v) > 1e38),
           "%g is number %g", v, (double)number_of);
}

static void labels(enum gnn_label_type type, const void *values, size_t count, size_t size)
{
    const size_t n = 300 * size_scale;
    char *y = array(n, size);
    int32_t *cls = array(n, sizeof *cls);
    float *target = floats(n), *number_of = floats(n);
    for (size_t i = 0; i < n; i++)
        memcpy(y + i * size, (const char *)values + i % count * size, size);
    while (again()) {
        gnn_cuda_labels_form(at(y), type, n, GNN_LABEL_CLASS, 7, at(cls), stream);
        gnn_cuda_labels_form(at(y), type, n, GNN_LABEL_TARGET, 7, at(target), stream);
        gnn_cuda_labels_form(at(y), type, n, GNN_LABEL_NUMBER, 7, at(number_of), stream);
    }
    gnn_labels_form(y, type, n, GNN_LABEL_CLASS, 7, cls);
    gnn_labels_form(y, type, n, GNN_LABEL_TARGET, 7, target);
    gnn_labels_form(y, type, n, GNN_LABEL_NUMBER, 7, number_of);
    for (size_t i = 0; i < count; i++)
        expect_label(gnn_label_value(y, type, i), cls[i], target[i], number_of[i]);
    verdict("labels of type %d", (int)type);
}

#define LABELS(label_type, type, ...)                                                              \
    labels(label_type, (const type[]){__VA_ARGS__},                                                \
           sizeof((const type[]){__VA_ARGS__}) / sizeof(type), sizeof(type))

void case_label(void)
{
    LABELS(GNN_LABEL_F64, double, 0, 1, 6, 7, 2.5, -1, NAN, INFINITY, -INFINITY, 1e300,
           2147483647.0, 1 + 1e-12, 0.25, -0.0, -0.5, -1e-300, 0.1, -3.5, 16777217);
    LABELS(GNN_LABEL_F32, float, 0, 1, 6, 7, 2.5f, -1, NAN, INFINITY, 0.25f, -0.5f);
    LABELS(GNN_LABEL_I64, int64_t, 0, 6, 7, -1, INT64_MAX, INT64_MIN, INT32_MAX,
           (int64_t)INT32_MAX + 1);
    LABELS(GNN_LABEL_U64, uint64_t, 0, 1, 6, 7, UINT64_MAX);
    LABELS(GNN_LABEL_I32, int32_t, 0, 6, 7, -1, INT32_MAX, INT32_MIN);
    LABELS(GNN_LABEL_U32, uint32_t, 0, 6, 7, UINT32_MAX);
    LABELS(GNN_LABEL_I16, int16_t, 0, 6, 7, -1);
    LABELS(GNN_LABEL_U16, uint16_t, 0, 6, 7, 65535);
    LABELS(GNN_LABEL_I8, int8_t, 0, 6, 7, -1);
    LABELS(GNN_LABEL_U8, uint8_t, 0, 6, 7, 255);
    LABELS(GNN_LABEL_BF16, uint16_t, 0, 0x3f80, 0x40c0, 0x4020, 0x7fc0, 0xbf80,
           0xbf00); /* 0, 1, 6, 2.5, NaN, -1, -0.5 */
}

/* ---- optimisers ---- */

/* Four steps of each. */
static void steps(size_t n)
{
    enum { KINDS = 4, STEPS = 4 }; /* Adam, AdamW, SGD with momentum and without */
    float *p[KINDS], *m[KINDS], *v[2], *g[STEPS];
    struct gnn_optim_step s = {0.01f, 0.1f, 0.9f, 0.999f, 1e-8f, 0.9f, 1};
    for (int k = 0; k < KINDS; k++) {
        p[k] = numbers(n);
        m[k] = filled(n, 0);
        g[k] = special(numbers(n), n);
    }
    for (int k = 0; k < 2; k++)
        v[k] = filled(n, 0);
    while (again())
        for (s.t = 1; s.t <= STEPS; s.t++) {
            for (int k = 0; k < 2; k++)
                gnn_cuda_adam(at(p[k]), at(g[s.t - 1]), at(m[k]), at(v[k]), n, k, &s, stream);
            gnn_cuda_sgd(at(p[2]), at(g[s.t - 1]), at(m[2]), n, &s, stream);
            gnn_cuda_sgd(at(p[3]), at(g[s.t - 1]), NULL, n, &s, stream);
        }
    for (s.t = 1; s.t <= STEPS; s.t++) {
        for (int k = 0; k < 2; k++)
            gnn_adam(p[k], g[s.t - 1], m[k], v[k], n, k, &s);
        gnn_sgd(p[2], g[s.t - 1], m[2], n, &s);
        gnn_sgd(p[3], g[s.t - 1], NULL, n, &s);
    }
    verdict("Adam, AdamW and SGD: %zu parameters", n);
}

/* The norm is below what is allowed, and above. */
static void clipping(size_t n)
{
    float *g = numbers(n), *whole = copy(g, n), *cut = copy(g, n);
    double *sum = doubles(1);
    const double norm = sqrt(gnn_square_sum(g, n));
    near_enough(sum, 1e-13);
    while (again()) {
        gnn_cuda_square_sum(at(g), n, scratch(gnn_cuda_square_sum_scratch(n)), at(sum), stream);
        gnn_cuda_clip(at(whole), n, 2 * norm + 1, at(sum), stream);
        gnn_cuda_clip(at(cut), n, 0.5 * norm, at(sum), stream);
    }
    *sum = gnn_square_sum(g, n);
    gnn_clip(whole, n, 2 * norm + 1);
    gnn_clip(cut, n, 0.5 * norm);
    verdict("the sum of %zu squares, and clipping by it", n);
}

void case_optim(void)
{
    static const size_t sizes[] = {0, 1, 255, 4095, 4097, 5000};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        steps(sizes[i] * size_scale);
        clipping(sizes[i] * size_scale);
    }
    clipping(100000 * size_scale);
}
