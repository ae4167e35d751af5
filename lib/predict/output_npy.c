/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs as .npy files. */
#include <string.h>
#include <unistd.h>

#include "formats/npy.h"
#include "kernels/rows.h"
#include "lib/base/io.h"
#include "lib/predict/predict_impl.h"
#include "lib/store/ids.h"

static struct gnn_npy head_of(const struct gnn_output *o)
{
    const enum gnn_task task = o->m->c.task;
    struct gnn_npy t = {.dtype = GNN_F32, .ndim = 2, .shape = {o->n, gnn_output_columns(o)}};
    if (o->what == GNN_OUT_CLASSES)
        t.dtype = gnn_task_columns(task) ? GNN_U8 : GNN_I32;
    if (gnn_output_one_class(o) || (o->what == GNN_OUT_VALUES && t.shape[1] == 1) ||
        (o->what == GNN_OUT_PROBS && gnn_task_labels[task].outputs))
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
    if (gnn_predict_table_check(t, e) || gnn_store_inverse(p->s, predict_target(p), &store_id, e))
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

static int put_numbers(void *arg, uint64_t row, const float *cells, struct gnn_buf *to, uint64_t *n,
                       struct gnn_err *e)
{
    const struct gnn_output *o = arg;
    const uint64_t columns = gnn_output_columns(o);
    (void)row;
    if (gnn_buf_reserve(to, *n + columns * sizeof *cells, 1, "output rows", e))
        return e->code;
    char *at = (char *)to->data + *n;
    const bool one_class = gnn_output_one_class(o);
    if (o->what == GNN_OUT_CLASSES && !one_class) {
        for (uint64_t k = 0; k < columns; k++)
            at[k] = cells[k] > 0;
        *n += columns;
        return 0;
    }
    const int32_t best = (int32_t)cells[0];
    memcpy(at, one_class ? (const void *)&best : cells, columns * sizeof *cells);
    *n += columns * sizeof *cells;
    return 0;
}

int gnn_output_write(const struct gnn_output *o, int fd, const char *name, struct gnn_err *e)
{
    uint8_t head[256];
    const struct gnn_npy t = head_of(o);
    struct gnn_io io;
    gnn_io_init(&io, fd, name);
    if ((!o->comm->rank && gnn_io_write(&io, head, gnn_npy_header(&t, head), e)) ||
        gnn_output_rows(o, put_numbers, (void *)(uintptr_t)o, &io, e)) {
        if (fd >= 0)
            close(fd);
        return e->code;
    }
    return o->comm->rank ? 0 : gnn_io_close(&io, true, e);
}

int gnn_output_tensor(const struct gnn_output *o, struct gnn_tensors *set, struct gnn_tensor **t,
                      struct gnn_err *e)
{
    const struct gnn_npy head = head_of(o);
    struct gnn_buf z = {0}, cells = {0}, to = {0};
    const uint64_t columns = gnn_output_columns(o);
    uint64_t at = 0;
    int rc = gnn_tensors_add(set, "output", head.dtype, head.ndim, head.shape, t, e) ||
                     gnn_buf_fit(&z, o->width, sizeof(float), "an output", e) ||
                     gnn_buf_fit(&cells, columns, sizeof(float), "an output", e)
                 ? e->code
                 : 0;
    if (!rc)
        to = (struct gnn_buf){(*t)->data, UINT64_MAX};
    for (uint64_t i = 0; !rc && i < o->n; i++) {
        memcpy(z.data, o->data + (o->row ? o->row[i] : i) * o->width, o->width * sizeof(float));
        if (!o->formed)
            gnn_output_form(o, z.data, 1, cells.data);
        rc = put_numbers((void *)(uintptr_t)o, i, o->formed ? z.data : cells.data, &to, &at, e);
    }
    gnn_buf_release(&z);
    gnn_buf_release(&cells);
    return rc;
}
