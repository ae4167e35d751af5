/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs as .npy files. */
#include <string.h>
#include <unistd.h>

#include "formats/npy.h"
#include "kernels/loss.h"
#include "kernels/rows.h"
#include "lib/store/ids.h"
#include "lib/base/io.h"
#include "lib/predict/predict_impl.h"

enum { ROWS = 4096 };

static struct gnn_npy head_of(const struct gnn_predict *p, enum gnn_predict_output what)
{
    const enum gnn_task task = p->m->c.task;
    struct gnn_npy t = {.dtype = GNN_F32, .ndim = 2, .shape = {p->logits.rows, p->logits.width}};
    if (what == GNN_OUT_EMBEDDINGS)
        t.shape[1] = p->embedding.width;
    else if (what == GNN_OUT_CLASSES)
        t.dtype = task == GNN_TASK_MULTILABEL ? GNN_U8 : GNN_I32;
    if (what == GNN_OUT_VALUES ? p->logits.width == 1
                               : what != GNN_OUT_EMBEDDINGS &&
                                     (task == GNN_TASK_BINARY ||
                                      (what == GNN_OUT_CLASSES && task == GNN_TASK_MULTICLASS)))
        t.ndim = 1;
    return t;
}

int gnn_predict_check_rows(struct gnn_predict *p, struct gnn_table *t, const char *what,
                           struct gnn_err *e)
{
    const uint64_t w = t->width;
    uint32_t *store_id = NULL;
    if (gnn_predict_to_host(p, t, e))
        return e->code;
    if (gnn_first_not_finite(t->data, t->rows * w) == t->rows * w)
        return 0;
    if (gnn_predict_table_check(t, e) || gnn_store_inverse(p->s, p->m->c.target, &store_id, e))
        return e->code;
    for (uint64_t i = 0; i < t->rows && !e->code; i++) {
        const float *row = t->data + (store_id ? store_id[i] : i) * w;
        const size_t k = gnn_first_not_finite(row, w);
        if (k < w)
            gnn_fail(
                e, GNN_E_RUN,
                "the %s of node %llu is not finite (%g at element %zu): do the features contain NaN, or are the weights too large?",
                what, (unsigned long long)i, (double)row[k], k);
    }
    gnn_free(store_id);
    return e->code;
}

/* n rows of z in the form asked for, to `out` (which may be z). Returns the bytes. */
static uint64_t convert_rows(const struct gnn_predict *p, enum gnn_predict_output what, float *z,
                             uint64_t n, uint64_t w, void *out)
{
    const enum gnn_task task = p->m->c.task;
    if (what == GNN_OUT_CLASSES && task == GNN_TASK_MULTILABEL) {
        for (uint64_t i = 0; i < n * w; i++)
            ((uint8_t *)out)[i] = z[i] > 0;
        return n * w;
    }
    if (what == GNN_OUT_CLASSES) {
        for (uint64_t i = 0; i < n; i++) {
            int32_t best = 0;
            for (uint64_t j = 1; j < w; j++)
                best = z[i * w + j] > z[i * w + (uint64_t)best] ? (int32_t)j : best;
            ((int32_t *)out)[i] = task == GNN_TASK_BINARY ? z[i] > 0 : best;
        }
        return n * sizeof(int32_t);
    }
    if (what == GNN_OUT_PROBS && task == GNN_TASK_MULTICLASS)
        gnn_softmax(z, n, w);
    else if (what == GNN_OUT_PROBS)
        gnn_sigmoid(z, n * w);
    memcpy(out, z, n * w * sizeof(float));
    return n * w * sizeof(float);
}

static int write_rows(struct gnn_predict *p, enum gnn_predict_output what, const uint32_t *store_id,
                      struct gnn_io *io, struct gnn_err *e)
{
    const struct gnn_table *t = what == GNN_OUT_EMBEDDINGS ? &p->embedding : &p->logits;
    const uint64_t w = t->width;
    float *z = gnn_alloc(ROWS * w, sizeof(float), "output rows", e);
    void *out = gnn_alloc(ROWS * w, sizeof(float), "output rows", e);
    for (uint64_t i = 0; z && out && i < t->rows; i += ROWS) {
        const uint64_t n = t->rows - i < ROWS ? t->rows - i : ROWS;
        for (uint64_t k = 0; k < n; k++)
            memcpy(z + k * w, t->data + (store_id ? store_id[i + k] : i + k) * w,
                   w * sizeof(float));
        if (gnn_io_write(io, out, convert_rows(p, what, z, n, w, out), e))
            break;
    }
    gnn_free(z);
    gnn_free(out);
    return e->code;
}

int gnn_predict_write(struct gnn_predict *p, enum gnn_predict_output what, bool original, int fd,
                      const char *name, struct gnn_err *e)
{
    uint8_t head[256];
    const struct gnn_npy t = head_of(p, what);
    uint32_t *store_id = NULL;
    struct gnn_io io;
    gnn_io_init(&io, fd, name);
    if ((what == GNN_OUT_EMBEDDINGS ? gnn_predict_check_rows(p, &p->embedding, "embedding", e)
                                    : gnn_predict_to_host(p, &p->logits, e)) ||
        (original && gnn_store_inverse(p->s, p->m->c.target, &store_id, e)) ||
        gnn_io_write(&io, head, gnn_npy_header(&t, head), e) ||
        write_rows(p, what, store_id, &io, e)) {
        gnn_free(store_id);
        close(fd);
        return e->code;
    }
    gnn_free(store_id);
    return gnn_io_close(&io, true, e);
}
