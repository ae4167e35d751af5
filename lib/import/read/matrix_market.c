/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix Market: entry (i, j) is an edge i -> j; a matrix that is not square joins two node types.
 */
#include "formats/mtx.h"

#include "lib/import/read/edgelist.h"
#include "lib/import/read/formats.h"

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

struct matrix {
    struct gnn_edgelist l;
    struct gnn_mtx m;
};

/* Looking for entries that are there twice: those of a range of columns at a time are put together
 * by column. */
struct once {
    bool fold;       /* an entry and its mirror image are the same */
    uint64_t *at;    /* [columns+1] counts, then where in all a column's entries begin, then end */
    uint64_t lo, hi; /* the columns in question; hi 0: only counts */
    uint32_t *row;   /* their entries */
    uint64_t base, capacity; /* of `row`, in all entries; entries it holds */
};

static int take_entries(void *arg, const struct gnn_edge_chunk *c, struct gnn_err *e)
{
    struct once *o = arg;
    for (uint64_t i = 0; i < c->n; i++) {
        bool turn = o->fold && c->src[i] < c->dst[i];
        uint32_t row = turn ? c->dst[i] : c->src[i], col = turn ? c->src[i] : c->dst[i];
        if (!o->hi)
            o->at[col]++;
        else if (col >= o->lo && col < o->hi) {
            if (o->at[col] - o->base >= o->capacity)
                return gnn_fail(e, GNN_E_INPUT,
                                "the input changed while it was read: more entries");
            o->row[o->at[col]++ - o->base] = row;
        }
    }
    return GNN_OK;
}

/* One range, from its first column on; seen[row] is the last column, plus 1, that had an entry
 * there. */
static int check_range(struct matrix *x, struct once *o, uint32_t *seen, struct gnn_err *e)
{
    int rc = x->l.s.d.ops->edges(&x->l.s.d, 0, false, take_entries, o, e);
    uint64_t k = 0;
    for (uint64_t col = o->lo; !rc && col < o->hi; col++)
        for (; k < o->at[col] - o->base; k++) {
            if (seen[o->row[k]] == col + 1)
                return gnn_fail(
                    e, GNN_E_INPUT,
                    "%s: entry (%llu, %llu)%s occurs twice (--allow duplicates keeps both, "
                    "--dedup the first)",
                    gnn_input_name(x->l.s.in[0]), (unsigned long long)o->row[k] + 1,
                    (unsigned long long)col + 1, o->fold ? ", or its mirror image," : "");
            seen[o->row[k]] = (uint32_t)col + 1;
        }
    return rc;
}

static int check_once(struct matrix *x, struct gnn_err *e)
{
    const struct gnn_import_opts *opts = x->l.s.o;
    const uint64_t most =
        (opts->sort_bytes ? opts->sort_bytes : UINT64_C(1) << 30) / sizeof(uint32_t);
    struct once o = {.fold = x->m.symmetric};
    if (x->m.array || opts->dedup || opts->allow & GNN_ALLOW_DUPLICATES)
        return GNN_OK;
    uint32_t *seen = gnn_alloc_zero(x->m.rows, sizeof *seen, "matrix rows", e);
    o.at = gnn_alloc_zero(x->m.cols + 1, sizeof *o.at, "matrix columns", e);
    int rc =
        seen && o.at ? x->l.s.d.ops->edges(&x->l.s.d, 0, false, take_entries, &o, e) : GNN_E_NOMEM;
    for (uint64_t col = 0, at = 0, n; !rc && col <= x->m.cols; col++, at += n) {
        n = o.at[col];
        o.at[col] = at;
    }
    for (; !rc && o.hi < x->m.cols; gnn_free(o.row)) {
        o.lo = o.hi++;
        o.base = o.at[o.lo];
        while (o.hi < x->m.cols && o.at[o.hi + 1] - o.base <= most)
            o.hi++;
        o.capacity = o.at[o.hi] - o.base;
        o.row = gnn_alloc_zero(o.capacity, sizeof *o.row, "matrix entries", e);
        rc = o.row ? check_range(x, &o, seen, e) : GNN_E_NOMEM;
    }
    gnn_free(seen);
    gnn_free(o.at);
    return rc;
}

static int add_types(struct matrix *x, struct gnn_err *e)
{
    struct gnn_schema *s = &x->l.s.d.schema;
    bool square = x->m.rows == x->m.cols;
    int rc = gnn_schema_add_ntype(s, square ? "node" : "row", x->m.rows, e);
    if (!rc && !square)
        rc = gnn_schema_add_ntype(s, "column", x->m.cols, e);
    if (!rc)
        rc = gnn_edgelist_scan(&x->l, e);
    if (!rc)
        rc = gnn_schema_add_etype(s, 0, "to", square ? 0 : 1, x->l.n, e);
    if (!rc && !x->m.pattern)
        rc = gnn_schema_add_efield(s, 0, "weight", GNN_F32, 0, e);
    return rc;
}

static int fill_matrix(struct gnn_src *s, void *reading, struct gnn_err *e)
{
    struct matrix *x = (struct matrix *)s;
    struct gnn_edgelist *l = &x->l;
    (void)reading;
    l->comment = '%';
    l->skip = 1;
    l->base = 1;
    int rc = gnn_input_lone(s->in[0], "a matrix", e);
    if (!rc)
        rc = read_head(&x->m, s->in[0], e);
    l->mtx = &x->m;
    l->declared = x->m.entries;
    l->s.d.mirror = x->m.symmetric;
    l->s.d.says =
        x->m.symmetric ? "a symmetric matrix: each entry is an edge in both directions"
        : x->m.skew
            ? "a skew-symmetric matrix: each entry is an edge in both directions, of opposite weights"
            : NULL;
    l->skew = x->m.skew && !s->o->directed;
    l->pick[0] = (struct gnn_pick){.col = 0, .id = true};
    l->pick[1] = (struct gnn_pick){.col = 1, .id = true};
    l->pick[2] = (struct gnn_pick){.col = 2};
    l->npick = x->m.pattern ? 2 : 3;
    l->finite[0] = gnn_src_finite("weight");
    l->ncols = x->m.array ? 1 : l->npick;
    if (!rc)
        rc = add_types(x, e);
    if (!rc)
        rc = gnn_src_check_counts(&s->d, gnn_input_bytes(s->in[0]), s->o, e);
    return rc ? rc : check_once(x, e);
}

const struct gnn_format gnn_mtx_format = {"mtx", sizeof(struct matrix), &gnn_edgelist_ops,
                                          fill_matrix, NULL};
