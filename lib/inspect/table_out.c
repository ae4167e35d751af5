/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/inspect/table_out.h"

#include <string.h>

enum { WORTH_A_WRITE = 1 << 16 };

void gnn_table_out_begin(struct gnn_table_out *t, int fd, const char *name)
{
    *t = (struct gnn_table_out){0};
    t->csv.to = &t->text;
    gnn_io_init(&t->io, fd, name);
}

int gnn_table_out_names(struct gnn_table_out *t, const char *field, uint64_t width,
                        struct gnn_err *e)
{
    int rc = width ? GNN_OK : gnn_csv_cell(&t->csv, field, strlen(field), e);
    for (uint64_t i = 0; !rc && i < width; i++) {
        char *name = gnn_strf(e, "%s_%llu", field, (unsigned long long)i);
        rc = name && i ? gnn_csv_text(&t->csv, ",", e) : e->code;
        if (!rc)
            rc = gnn_csv_cell(&t->csv, name, strlen(name), e);
        gnn_free(name);
    }
    return rc;
}

static int write_text(struct gnn_table_out *t, struct gnn_err *e)
{
    const uint64_t n = t->csv.n;
    t->csv.n = 0;
    return gnn_io_write(&t->io, t->text.data, n, e);
}

int gnn_table_out_line(struct gnn_table_out *t, struct gnn_err *e)
{
    int rc = gnn_csv_text(&t->csv, "\n", e);
    return rc || t->csv.n < WORTH_A_WRITE ? rc : write_text(t, e);
}

int gnn_table_out_end(struct gnn_table_out *t, int rc, struct gnn_err *e)
{
    if (!rc)
        rc = write_text(t, e);
    gnn_buf_release(&t->text);
    return rc;
}
