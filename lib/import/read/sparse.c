/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed sparse matrices of scipy, entry by entry (lib/import/read/sparse.h): offsets, indices
 * and values are three arrays, read side by side. Offsets are checked as they are passed, each
 * against the one before it and the number of entries. */
#include "lib/import/read/sparse.h"
#include "lib/base/plural.h"

#include <math.h>

static int read_vector(struct gnn_array *a, struct gnn_input *in, uint32_t member,
                       struct gnn_err *e)
{
    int rc = gnn_array_open(a, in, member, e);
    if (!rc && (a->text || a->h.ndim != 1))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: not a vector", gnn_array_name(a));
    return rc;
}

int gnn_sparse_open(struct gnn_sparse_pass *p, const struct gnn_sparse *s, struct gnn_err *e)
{
    uint64_t got = 0;
    *p = (struct gnn_sparse_pass){.s = s};
    int rc = read_vector(&p->ptr, s->in, s->indptr, e);
    if (!rc)
        rc = read_vector(&p->idx, s->in, s->indices, e);
    if (!rc && s->data >= 0)
        rc = read_vector(&p->val, s->in, (uint32_t)s->data, e);
    if (rc)
        return rc;
    if (p->ptr.rows != s->major + 1)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: %llu offset%s for %llu row%s or columns, where one more is expected",
                        gnn_array_name(&p->ptr), (unsigned long long)p->ptr.rows,
                        gnn_plural(p->ptr.rows), (unsigned long long)s->major,
                        gnn_plural(s->major));
    if (s->data >= 0 && p->val.rows != p->idx.rows)
        return gnn_fail(e, GNN_E_INPUT, "%s: %llu value%s for %llu indices",
                        gnn_array_name(&p->val), (unsigned long long)p->val.rows,
                        gnn_plural(p->val.rows), (unsigned long long)p->idx.rows);
    rc = gnn_array_read(&p->ptr, GNN_I64, p->end, 1, &got, e);
    if (!rc && (!got || p->end[0]))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: the first offset is not 0", gnn_array_name(&p->ptr));
    p->row = UINT64_MAX; /* before the first */
    return rc;
}

/* Goes to the next row. */
static int next_row(struct gnn_sparse_pass *p, struct gnn_err *e)
{
    if (p->at == p->nend) {
        int rc = gnn_array_read(&p->ptr, GNN_I64, p->end, GNN_SPARSE_STEP, &p->nend, e);
        p->at = 0;
        if (rc || !p->nend)
            return rc ? rc : GNN_END;
    }
    int64_t end = p->end[p->at++];
    p->row++;
    if (end < 0 || (uint64_t)end < p->last || (uint64_t)end > p->idx.rows)
        return gnn_fail(e, GNN_E_INPUT, "%s: element %llu: offset %lld after %llu, of %llu entries",
                        gnn_array_name(&p->ptr), (unsigned long long)p->row + 2, (long long)end,
                        (unsigned long long)p->last, (unsigned long long)p->idx.rows);
    p->last = (uint64_t)end;
    return GNN_OK;
}

static int check_value(const struct gnn_sparse_pass *p, uint64_t i, float v, struct gnn_err *e)
{
    if (isfinite(v))
        return GNN_OK;
    return gnn_fail(e, GNN_E_INPUT, "%s: element %llu is %s", gnn_array_name(&p->val),
                    (unsigned long long)(p->done + i + 1),
                    isnan(v) ? "nan" : "infinite or too large");
}

/* The rest of the offsets, after the last entry. */
static int finish_offsets(struct gnn_sparse_pass *p, struct gnn_err *e)
{
    int rc;
    while (!(rc = next_row(p, e)))
        ;
    if (rc == GNN_END && p->last != p->done)
        return gnn_fail(e, GNN_E_INPUT, "%s: %llu indices, but the last offset is %llu",
                        gnn_array_name(&p->idx), (unsigned long long)p->done,
                        (unsigned long long)p->last);
    return rc == GNN_END ? GNN_OK : rc;
}

int gnn_sparse_read(struct gnn_sparse_pass *p, uint64_t *got, struct gnn_err *e)
{
    uint64_t nval = 0;
    int rc = gnn_array_read(&p->idx, GNN_I64, p->buf, GNN_SPARSE_STEP, got, e);
    if (!rc && p->s->data >= 0) /* at the end, too, which it then checks */
        rc = gnn_array_read(&p->val, GNN_F32, p->value, *got ? *got : 1, &nval, e);
    for (uint64_t i = 0; !rc && i < *got; i++) {
        /* Rows may be empty, so it can take several steps to the row that has this entry. */
        while (!rc && (p->row == UINT64_MAX || p->done + i == p->last))
            rc = next_row(p, e);
        if (rc == GNN_END)
            return gnn_fail(e, GNN_E_INPUT, "%s: %llu indices, but the last offset is %llu",
                            gnn_array_name(&p->idx), (unsigned long long)p->idx.rows,
                            (unsigned long long)p->last);
        if (!rc && (p->buf[i] < 0 || (uint64_t)p->buf[i] >= p->s->minor))
            rc = gnn_fail(e, GNN_E_INPUT, "%s: element %llu: index %lld is outside 0 to %llu",
                          gnn_array_name(&p->idx), (unsigned long long)(p->done + i + 1),
                          (long long)p->buf[i], (unsigned long long)p->s->minor - 1);
        if (!rc && p->s->data >= 0)
            rc = check_value(p, i, p->value[i], e);
        p->major[i] = (uint32_t)p->row;
        p->minor[i] = (uint32_t)p->buf[i];
        if (p->s->data < 0)
            p->value[i] = 1;
    }
    p->done += rc ? 0 : *got;
    return rc || *got ? rc : finish_offsets(p, e);
}

void gnn_sparse_close(struct gnn_sparse_pass *p)
{
    gnn_array_close(&p->ptr);
    gnn_array_close(&p->idx);
    gnn_array_close(&p->val);
}
