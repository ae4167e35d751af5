/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of a stream. Formats that hold one batch get it when the stream has ended, so that
 * nothing is written where there are several. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/data/source.h"
#include "lib/inspect/export_out.h"
#include "lib/inspect/export_text.h"
#include "lib/inspect/member_name.h"

struct batches {
    const struct gnn_export *x;
    const struct gnn_meta *meta;
    const char *in;
    struct gnn_export_out out;
    char member[GNN_MEMBER_CAPACITY + 48];
    struct gnn_batch *held; /* the only one so far, where there can be only one */
    uint64_t at, chosen;
};

/* ---- which ---- */

static bool is_split(const char *name, const char *wanted)
{
    const char *slash = strchr(name, '/');
    return !wanted || !strcmp(name, wanted) || (slash && !strcmp(slash + 1, wanted));
}

static bool is_chosen(const struct batches *t, const struct gnn_batch *b)
{
    const struct gnn_export *x = t->x;
    return is_split(t->meta->sampling.split[b->split], x->split) && b->epoch >= x->epoch_from &&
           b->epoch < x->epoch_to && b->step >= x->step_from && b->step < x->step_to &&
           (b->step - x->step_from) % x->stride == 0;
}

static int check_split(const struct batches *t, struct gnn_err *e)
{
    const struct gnn_sampling *s = &t->meta->sampling;
    struct gnn_suggest sets = {.word = t->x->split};
    for (uint32_t i = 0; i < s->nsplits; i++) {
        if (is_split(s->split[i], t->x->split))
            return GNN_OK;
        gnn_suggest_add(&sets, s->split[i]);
    }
    return gnn_fail(e, GNN_E_USAGE, "--split: %s has no batches of '%s'%s", t->in, t->x->split,
                    gnn_suggest_text(&sets, "sets"));
}

/* ---- tensors ---- */

static int put_tensors(struct batches *t, const struct gnn_batch *b, uint64_t number,
                       struct gnn_err *e)
{
    const int n = snprintf(t->member, sizeof t->member, "batch-%" PRIu64 "/", number);
    int rc = GNN_OK;
    for (uint32_t i = 0; !rc && i < b->tensors.n; i++) {
        const struct gnn_array_out a = gnn_array_of(gnn_tensors_at(&b->tensors, i));
        gnn_member_name(t->member + n, &t->meta->schema, a.name);
        rc = gnn_export_out_array(&t->out, &a, t->member, e);
    }
    return rc;
}

/* ---- edges ---- */

/* The edges of one type in a batch. */
struct batch_edges {
    const struct batches *t;
    const struct gnn_batch *b;
    uint32_t etype;
    const uint32_t *node[2]; /* ids of sources and destinations */
    const struct gnn_field *field[GNN_FIELDS_MAX];
    const struct gnn_tensor *data[GNN_FIELDS_MAX]; /* of the hop that is written; NULL: none */
    uint32_t nfields;
    bool ids;
    struct gnn_table_out out;
};

/* NULL: the hop has no edges of the type. */
static const struct gnn_tensor *field_of(const struct batch_edges *x, uint32_t hop,
                                         const char *field)
{
    char key[GNN_ETYPE_KEY_CAPACITY], name[GNN_NAME_MAX + 1];
    gnn_etype_key(&x->t->meta->schema, x->etype, key, sizeof key);
    return gnn_tensors_find(&x->b->tensors, gnn_tensor_name(name, "hop/%u/%s/%s", hop, key, field));
}

static uint64_t count_edges(const struct batch_edges *x)
{
    uint64_t n = 0;
    for (uint32_t hop = 0; hop < x->b->nhops; hop++)
        n += gnn_batch_block(x->b, hop, x->etype)->edges;
    return n;
}

/* The fields of edges that the batch has, and whether it has ids of edges. */
static void find_fields(struct batch_edges *x)
{
    for (uint32_t hop = 0; hop < x->b->nhops; hop++)
        x->ids = x->ids || gnn_batch_block(x->b, hop, x->etype)->id;
    const struct gnn_etype *et = &x->t->meta->schema.etype[x->etype];
    for (uint32_t f = 0; f < et->nfields; f++) {
        bool has = false;
        for (uint32_t hop = 0; hop < x->b->nhops; hop++)
            has = has || field_of(x, hop, et->field[f].name);
        if (has)
            x->field[x->nfields++] = &et->field[f];
    }
}

static int put_head(struct batch_edges *x, struct gnn_err *e)
{
    int rc =
        gnn_csv_text(&x->out.csv, x->ids ? "hop,source,target,edge_id" : "hop,source,target", e);
    for (uint32_t f = 0; !rc && f < x->nfields; f++) {
        rc = gnn_csv_text(&x->out.csv, ",", e);
        if (!rc)
            rc = gnn_table_out_names(&x->out, x->field[f]->name, x->field[f]->width, e);
    }
    return rc ? rc : gnn_table_out_line(&x->out, e);
}

/* Cells of what the hop does not have stay empty. */
static int put_empty(struct batch_edges *x, const struct gnn_field *f, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (uint64_t i = 0; !rc && i < gnn_field_columns(f); i++)
        rc = gnn_csv_text(&x->out.csv, ",", e);
    return rc;
}

static int put_line(struct batch_edges *x, uint32_t hop, uint32_t row, uint32_t at,
                    struct gnn_err *e)
{
    const struct gnn_block *k = gnn_batch_block(x->b, hop, x->etype);
    struct gnn_csv *c = &x->out.csv;
    if (gnn_csv_count(c, hop, e) || gnn_csv_text(c, ",", e) ||
        gnn_csv_count(c, x->node[0][k->indices[at]], e) || gnn_csv_text(c, ",", e) ||
        gnn_csv_count(c, x->node[1][k->first + row], e))
        return e->code;
    if (x->ids && (gnn_csv_text(c, ",", e) || (k->id && gnn_csv_count(c, k->id[at], e))))
        return e->code;
    int rc = GNN_OK;
    for (uint32_t f = 0; !rc && f < x->nfields; f++)
        rc = x->data[f] ? gnn_text_row(&x->out, x->field[f], x->data[f], at, e)
                        : put_empty(x, x->field[f], e);
    return rc ? rc : gnn_table_out_line(&x->out, e);
}

static int put_hop(struct batch_edges *x, uint32_t hop, bool matrix, struct gnn_err *e)
{
    const struct gnn_block *k = gnn_batch_block(x->b, hop, x->etype);
    const struct gnn_tensor *weight = matrix ? field_of(x, hop, "weight") : NULL;
    int rc = GNN_OK;
    for (uint32_t f = 0; f < x->nfields; f++)
        x->data[f] = field_of(x, hop, x->field[f]->name);
    for (uint32_t row = 0; !rc && row < k->n; row++)
        for (uint32_t at = k->indptr[row]; !rc && at < k->indptr[row + 1]; at++)
            rc = matrix ? gnn_text_entry(&x->out, k->indices[at], k->first + row, weight, at, e)
                        : put_line(x, hop, row, at, e);
    return rc;
}

static int put_matrix_head(struct batch_edges *x, struct gnn_err *e)
{
    const struct gnn_etype *et = &x->t->meta->schema.etype[x->etype];
    const struct gnn_tensor *weight = NULL;
    for (uint32_t hop = 0; hop < x->b->nhops && !weight; hop++)
        weight = field_of(x, hop, "weight");
    return gnn_text_matrix(&x->out, weight, gnn_batch_nodes(x->b, et->src),
                           gnn_batch_nodes(x->b, et->dst), count_edges(x), e);
}

static int put_edges(const struct batches *t, const struct gnn_batch *b, struct gnn_err *e)
{
    const struct gnn_schema *c = &t->meta->schema;
    const bool matrix = t->x->format == GNN_EXPORT_MTX;
    const int type = gnn_export_etype(c, t->x, t->in, e);
    if (type < 0)
        return e->code;
    struct batch_edges x = {.t = t, .b = b, .etype = (uint32_t)type};
    for (int end = 0; end < 2; end++) {
        const struct gnn_batch_type *of = &b->type[end ? c->etype[type].dst : c->etype[type].src];
        x.node[end] = of->orig ? of->orig : of->node;
    }
    gnn_table_out_begin(&x.out, t->x->fd, t->x->name);
    find_fields(&x);
    int rc = matrix ? put_matrix_head(&x, e) : put_head(&x, e);
    for (uint32_t hop = 0; !rc && hop < b->nhops; hop++)
        rc = put_hop(&x, hop, matrix, e);
    return gnn_table_out_end(&x.out, rc, e);
}

/* ---- the stream ---- */

/* Takes over the batch. */
static int take_batch(struct batches *t, struct gnn_batch *b, struct gnn_err *e)
{
    const uint64_t number = t->at++;
    int rc = GNN_OK;
    if (!is_chosen(t, b)) {
        gnn_batch_put(b);
        return rc;
    }
    t->chosen++;
    if (t->x->format == GNN_EXPORT_NPZ)
        rc = put_tensors(t, b, number, e);
    else if (t->held)
        rc = gnn_fail(e, GNN_E_USAGE,
                      "%s: the format holds one batch, and %s has several: choose one by --split, "
                      "--epochs and --steps",
                      t->x->name, t->in);
    if (rc || t->x->format == GNN_EXPORT_NPZ)
        gnn_batch_put(b);
    else
        t->held = b;
    return rc;
}

static int end_batches(struct batches *t, struct gnn_err *e)
{
    if (!t->chosen && (t->at || t->x->format != GNN_EXPORT_NPZ))
        return gnn_fail(e, GNN_E_USAGE,
                        "%s: none of %" PRIu64 " batches is of the set, epochs and "
                        "steps that are asked for",
                        t->in, t->at);
    if (!t->held)
        return GNN_OK;
    return t->x->ntensors ? put_tensors(t, t->held, t->at, e) : put_edges(t, t->held, e);
}

int gnn_export_stream(int in, const char *in_name, const struct gnn_export *x, struct gnn_err *e)
{
    struct gnn_source *src = gnn_stream_source_new(in, in_name, e);
    struct batches t = {.x = x, .meta = src ? src->meta : NULL, .in = in_name};
    struct gnn_batch *b = NULL;
    int rc = src ? gnn_export_out_begin(&t.out, x, e) : e->code;
    if (!rc && x->split)
        rc = check_split(&t, e);
    while (!rc && !(rc = gnn_source_next(src, &b, e)))
        rc = take_batch(&t, b, e);
    if (rc == GNN_END)
        rc = end_batches(&t, e);
    gnn_batch_put(t.held);
    rc = gnn_export_out_end(&t.out, in_name, rc, e);
    gnn_source_free(src);
    return rc;
}
