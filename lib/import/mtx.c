/* Matrix Market: entry (i, j) is an edge i -> j; a matrix that is not square joins two node types. */
#include "formats/mtx.h"

#include "lib/import/edgelist.h"
#include "lib/import/formats.h"

static int read_head(struct gnn_mtx *m, struct gnn_input *in, struct gnn_err *e)
{
    struct gnn_table t;
    int rc = gnn_table_open(&t, in, 0, 0, e);
    const char *bad = rc ? NULL : t.p == t.end ? "no Matrix Market banner" : gnn_mtx_banner(m, t.p);
    if (!rc && !bad) {
        t.comment = '%';
        rc = gnn_table_line(&t, e);
        if (rc == GNN_END)
            rc = gnn_fail(e, GNN_E_INPUT, "%s: no size line", gnn_reader_name(t.r));
        if (!rc)
            bad = gnn_mtx_size(m, t.p);
    }
    if (bad)
        rc = gnn_table_fail(&t, NULL, bad, e);
    gnn_table_close(&t);
    return rc;
}

int gnn_mtx_open(struct gnn_dataset **out, struct gnn_input *in, const struct gnn_import_opts *o,
                 struct gnn_err *e)
{
    struct gnn_edgelist *l = gnn_alloc_zero(1, sizeof *l, "data set", e);
    struct gnn_mtx m = {0};
    *out = NULL;
    if (!l) {
        gnn_input_free(in);
        return GNN_E_NOMEM;
    }
    struct gnn_schema *s = &l->s.d.schema;
    l->s.o = o;
    l->s.d.ops = &gnn_edgelist_ops;
    l->s.d.format = "mtx";
    l->comment = '%';
    l->skip = 1;
    l->base = 1;
    int rc = gnn_src_own(&l->s, in, e);
    if (!rc)
        rc = gnn_input_lone(in, "a matrix", e);
    if (!rc)
        rc = read_head(&m, in, e);
    l->promised = m.entries;
    l->s.d.mirror = m.symmetric;
    l->pick[0] = (struct gnn_pick){0, true};
    l->pick[1] = (struct gnn_pick){1, true};
    l->pick[2] = (struct gnn_pick){2, false};
    l->npick = m.pattern ? 2 : 3;
    l->finite[0] = gnn_src_finite("weight");
    l->ncols = l->npick;
    bool square = m.rows == m.cols;
    if (!rc)
        rc = gnn_schema_add_ntype(s, square ? "node" : "row", m.rows, e);
    if (!rc && !square)
        rc = gnn_schema_add_ntype(s, "column", m.cols, e);
    if (!rc)
        rc = gnn_edgelist_scan(l, e);
    if (!rc)
        rc = gnn_schema_add_etype(s, 0, "to", square ? 0 : 1, m.entries, e);
    if (!rc && !m.pattern)
        rc = gnn_schema_add_efield(s, 0, "weight", GNN_F32, 0, e);
    if (!rc)
        rc = gnn_src_attach(&l->s, e);
    if (rc) {
        gnn_dataset_free(&l->s.d);
        return rc;
    }
    *out = &l->s.d;
    return GNN_OK;
}
