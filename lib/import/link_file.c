/* SPDX-License-Identifier: Apache-2.0 */
/* Files of links as gnn-import reads files: compressed or in archives, text, arrays of NumPy, or in
 * files of torch.save, of which FILE:KEY is one. Other
 * programs, which read text alone, do without the libraries for that. */
#include "lib/import/link_text.h"

#include "formats/text.h"
#include "lib/import/read/array.h"

enum { PIECE = 1 << 20, ROWS = 1 << 16 };

static int take_array(struct gnn_link_text *x, struct gnn_array *a, struct gnn_err *e)
{
    const uint64_t width = a->width, rows = ROWS / (width ? width : 1) + 1;
    int64_t *row = gnn_alloc(rows * width + 1, sizeof *row, "links", e);
    uint64_t got = 0;
    /* The first time even without rows, whose width may be wrong all the same. */
    if (row && !gnn_link_text_rows(x, row, 0, width, e))
        do
            (void)!(gnn_array_read(a, GNN_I64, row, rows, &got, e) ||
                    gnn_link_text_rows(x, row, got, width, e));
        while (got && !e->code);
    gnn_free(row);
    return e->code;
}

static int read_array(struct gnn_link_text *x, struct gnn_input *in, struct gnn_err *e)
{
    struct gnn_array a = {0};
    if (!gnn_array_open(&a, in, 0, e))
        (void)!take_array(x, &a, e);
    gnn_array_close(&a);
    return e->code;
}

static int read_text(struct gnn_link_text *x, struct gnn_reader *from, struct gnn_err *e)
{
    struct gnn_buf text = {0};
    uint64_t n = 0;
    for (uint64_t got = 1; got && !e->code; n += got) {
        got = 0;
        if (!gnn_buf_reserve(&text, n + PIECE + 1, 1, "links", e))
            (void)!gnn_reader_read(from, (char *)text.data + n, PIECE, &got, e);
    }
    if (!e->code && n && ((char *)text.data)[n - 1] != '\n')
        ((char *)text.data)[n++] = '\n';
    if (!e->code)
        (void)!gnn_link_text_read(x, text.data, n, e);
    gnn_buf_release(&text);
    return e->code;
}

int gnn_link_text_open(struct gnn_link_text *x, struct gnn_err *e)
{
    struct gnn_input *in = NULL;
    struct gnn_reader *r = NULL;
    const uint8_t *p = NULL;
    size_t n = 0;
    if (!gnn_input_open_keyed(&in, x->name, e) && !gnn_input_lone(in, "a file of links", e) &&
        !gnn_reader_open(&r, in, 0, e) && !gnn_reader_peek(r, &p, &n, e)) {
        if (n >= GNN_NPY_PREFIX && gnn_npy_header_bytes(p))
            (void)!read_array(x, in, e);
        else
            (void)!read_text(x, r, e);
    }
    gnn_reader_free(r);
    gnn_input_free(in);
    if (!e->code && !x->n)
        return gnn_fail(e, GNN_E_INPUT, "%s: no links in it", x->name);
    return e->code;
}
