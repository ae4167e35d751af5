/* SPDX-License-Identifier: Apache-2.0 */
/* Features x of nodes, of another type than they have in the input. Each row is widened to f32 and
 * converted where it is written, so that no copy of all rows is made. */
#include <math.h>
#include <stdio.h>

#include "formats/xxh.h"
#include "kernels/half.h"
#include "lib/data/int8_rows.h"
#include "lib/data/tensors.h"
#include "lib/partition/rewrite_common.h"

/* Features that can be converted. */
static bool is_features(const struct gnn_field *f)
{
    return !strcmp(f->name, "x") &&
           (f->scaled || f->dtype == GNN_F32 || f->dtype == GNN_F16 || f->dtype == GNN_BF16);
}

bool gnn_features_convert(struct gnn_meta *m, enum gnn_dtype to)
{
    bool any = false, differ = false;
    for (uint32_t t = 0; t < m->schema.nntypes; t++)
        for (uint32_t i = 0; i < m->schema.ntype[t].nfields; i++) {
            struct gnn_field *f = &m->schema.ntype[t].field[i];
            if (!is_features(f))
                continue;
            any = true;
            differ = differ || f->dtype != to;
            f->dtype = to;
            f->scaled = to == GNN_I8;
        }
    if (!differ)
        return any;
    /* Other features are another graph, to which no checkpoint of the old one belongs; and the same
     * one in however many partitions. */
    char text[64];
    snprintf(text, sizeof text, "%s x %s", m->graph, gnn_dtype_name(to));
    snprintf(m->graph, sizeof m->graph, "%016llx",
             (unsigned long long)XXH3_64bits(text, strlen(text)));
    return any;
}

/* Row `id` of the new store as f32, in the job's own memory. */
static const float *widened_row(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j,
                                uint32_t id)
{
    const struct gnn_layout *l = p->r->l;
    struct gnn_features *x = j->features;
    uint32_t q;
    const uint64_t row = gnn_view_locate(l->view, j->type, l->order[j->type][id], &q);
    const struct gnn_tensor one = gnn_tensor_from(j->from[q], row);
    (void)!gnn_tensor_floats(&one, x->columns, x->wide);
    return x->wide;
}

static int refuse_value(const struct gnn_rewrite_part *p, const struct gnn_rewrite_job *j,
                        uint32_t id, uint64_t column, double value, struct gnn_err *e)
{
    const struct gnn_layout *l = p->r->l;
    const struct gnn_store *s = l->view->store;
    return gnn_fail(e, GNN_E_INPUT, "%s: features of %s, node %u, column %llu: %g %s %s", s->path,
                    s->meta.schema.ntype[j->type].name, l->order[j->type][id],
                    (unsigned long long)(column + 1), value,
                    isfinite(value) ? "is too large for" : "is not finite, and has no",
                    gnn_field_type(j->features->to));
}

static int put_int8(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint32_t id,
                    struct gnn_err *e)
{
    struct gnn_features *x = j->features;
    const float *v = widened_row(p, j, id);
    const uint64_t c = gnn_int8_row(v, x->columns, x->row, &x->error);
    return c < x->columns ? refuse_value(p, j, id, c, (double)v[c], e)
                          : gnn_sink_put(&j->sink, x->row, j->row, e);
}

static int put_floats(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint32_t id,
                      struct gnn_err *e)
{
    const float *v = widened_row(p, j, id);
    return gnn_sink_put(&j->sink, v, j->row, e);
}

/* As f16 or bf16. */
static int put_halves(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint32_t id,
                      struct gnn_err *e)
{
    struct gnn_features *x = j->features;
    const bool f16 = x->to->dtype == GNN_F16;
    const uint16_t inf = f16 ? 0x7c00 : 0x7f80, *h = x->row;
    const float *v = widened_row(p, j, id);
    (f16 ? gnn_f32_to_f16 : gnn_f32_to_bf16)(v, x->columns, x->row);
    for (uint64_t c = 0; c < x->columns; c++)
        if ((h[c] & inf) == inf)
            return refuse_value(p, j, id, c, (double)v[c], e);
    return gnn_sink_put(&j->sink, x->row, j->row, e);
}

void gnn_rewrite_features_free(struct gnn_features *x)
{
    if (!x)
        return;
    gnn_free(x->wide);
    gnn_free(x->row);
    gnn_free(x);
}

int gnn_rewrite_features(struct gnn_rewrite_job *j, const struct gnn_field *to, struct gnn_err *e)
{
    struct gnn_features *x = j->features = gnn_alloc_zero(1, sizeof *x, "converted features", e);
    if (!x)
        return e->code;
    x->to = to;
    x->columns = gnn_field_columns(to);
    x->wide = gnn_alloc(x->columns, sizeof *x->wide, "converted features", e);
    x->row = gnn_alloc(gnn_field_row_bytes(to), 1, "converted features", e);
    j->put = to->dtype == GNN_I8 ? put_int8 : to->dtype == GNN_F32 ? put_floats : put_halves;
    return e->code;
}
