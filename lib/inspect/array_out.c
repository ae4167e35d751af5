/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/inspect/array_out.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/path.h"
#include "lib/inspect/table_out.h"

static int write_tensor(const struct gnn_array_out *a, const struct gnn_bytes_to *to,
                        struct gnn_err *e)
{
    const struct gnn_tensor *t = a->from;
    uint64_t bytes = 0;
    if (!gnn_tensor_bytes(t, &bytes))
        return gnn_fail(e, GNN_E_INPUT, "tensor %s: its size overflows", t->name);
    return to->put(to->arg, t->data, bytes, e);
}

struct gnn_array_out gnn_array_of(const struct gnn_tensor *t)
{
    struct gnn_array_out a = {
        .name = t->name, .dtype = t->dtype, .ndim = t->ndim, .write = write_tensor, .from = t};
    memcpy(a.shape, t->shape, sizeof a.shape);
    return a;
}

/* The header of the array in a file. NumPy has no bf16: its bits go as u16. */
static int describe_array(const struct gnn_array_out *a, struct gnn_npy *h, struct gnn_err *e)
{
    struct gnn_tensor t = {.dtype = a->dtype, .ndim = a->ndim};
    memcpy(t.shape, a->shape, sizeof t.shape);
    *h = (struct gnn_npy){
        .dtype = a->dtype == GNN_BF16 ? GNN_U16 : a->dtype, .is_bool = a->is_bool, .ndim = a->ndim};
    memcpy(h->shape, a->shape, sizeof h->shape);
    return gnn_tensor_bytes(&t, &h->bytes)
               ? GNN_OK
               : gnn_fail(e, GNN_E_INPUT, "tensor %s: its size overflows", a->name);
}

/* ---- .npz and .npy ---- */

static int put_member(void *arg, const void *data, uint64_t n, struct gnn_err *e)
{
    (void)e; /* the archive has it */
    return gnn_npz_out_put(arg, data, n);
}

int gnn_array_out_npz(const struct gnn_array_out *a, const char *member, struct gnn_npz_out *z,
                      struct gnn_err *e)
{
    struct gnn_npy h;
    const struct gnn_bytes_to to = {put_member, z};
    int rc = describe_array(a, &h, e);
    if (!rc)
        rc = gnn_npz_out_member(z, member, &h);
    return rc ? rc : a->write(a, &to, e);
}

static int put_file(void *arg, const void *data, uint64_t n, struct gnn_err *e)
{
    return gnn_io_write(arg, data, n, e);
}

int gnn_array_out_npy(const struct gnn_array_out *a, int fd, const char *name, struct gnn_err *e)
{
    struct gnn_npy h;
    struct gnn_io io;
    uint8_t head[256];
    const struct gnn_bytes_to to = {put_file, &io};
    gnn_io_init(&io, fd, name);
    int rc = describe_array(a, &h, e);
    if (!rc)
        rc = gnn_io_write(&io, head, gnn_npy_header(&h, head), e);
    return rc ? rc : a->write(a, &to, e);
}

/* ---- text ---- */

struct csv_array {
    struct gnn_table_out t;
    enum gnn_dtype dtype;
    uint64_t columns, at; /* at: of the row that is being written */
};

static int put_text(void *arg, const void *data, uint64_t n, struct gnn_err *e)
{
    struct csv_array *c = arg;
    int rc = GNN_OK;
    n /= gnn_dtype_bytes(c->dtype);
    for (uint64_t i = 0; !rc && i < n; i++) {
        rc = c->at ? gnn_csv_text(&c->t.csv, ",", e) : GNN_OK;
        if (!rc)
            rc = gnn_csv_element(&c->t.csv, c->dtype, data, i, e);
        if (!rc && ++c->at == c->columns) {
            c->at = 0;
            rc = gnn_table_out_line(&c->t, e);
        }
    }
    return rc;
}

int gnn_array_out_csv(const struct gnn_array_out *a, int fd, const char *name, struct gnn_err *e)
{
    struct csv_array c = {.dtype = a->dtype, .columns = a->ndim == 2 ? a->shape[1] : 1};
    const struct gnn_bytes_to to = {put_text, &c};
    if (a->ndim > 2)
        return gnn_fail(e, GNN_E_USAGE, "%s: a tensor of %u dimensions is no table: .npy holds it",
                        a->name, a->ndim);
    if (c.columns > GNN_CSV_COLUMNS)
        return gnn_fail(e, GNN_E_USAGE, "%s: a table of %" PRIu64 " columns, more than %d", a->name,
                        c.columns, GNN_CSV_COLUMNS);
    gnn_table_out_begin(&c.t, fd, name);
    int rc = gnn_table_out_names(&c.t, gnn_base_name(a->name), a->ndim == 2 ? c.columns : 0, e);
    if (!rc)
        rc = gnn_table_out_line(&c.t, e);
    if (!rc)
        rc = a->write(a, &to, e);
    return gnn_table_out_end(&c.t, rc, e);
}
