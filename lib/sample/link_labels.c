/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of links (lib/sample/links.h): a field of the edge that a link is, as it is or divided in
 * two classes. Sets have the fields of their links; all edges of a type have their own. */
#include <inttypes.h>
#include <math.h>

#include "kernels/label.h"
#include "lib/base/mem.h"
#include "lib/sample/links.h"

static const struct gnn_field *field_of(const struct link_edges *q, const struct gnn_links *links)
{
    return &q->store->meta.schema.etype[q->etype].field[links->field];
}

/* Whether labels are classes: of whole numbers, or of two kinds. */
static bool has_classes(const struct gnn_links *links, const struct gnn_field *f)
{
    return links->divided || f->dtype < GNN_F16;
}

static double label_at(const struct gnn_links *links, const struct gnn_field *f, const void *rows,
                       uint64_t i)
{
    const double v = gnn_label_value(rows, (enum gnn_label_type)f->dtype, i);
    return links->divided && !isnan(v) ? v > links->above : v;
}

static int fail_label(const struct link_labels *l, const char *set, uint64_t i, double v,
                      struct gnn_err *e)
{
    const struct gnn_field *f = field_of(l->edges, l->links);
    return gnn_fail(e, GNN_E_INPUT,
                    "%s: %s%s: field '%s' of link %" PRIu64 " is %g, which is no %s%s",
                    l->edges->store->path, set ? "set " : "edges", set ? set : "", f->name, i, v,
                    has_classes(l->links, f) ? "class" : "number",
                    isfinite(v) ? ": --target FIELD>NUMBER divides numbers into two classes" : "");
}

/* Notes n labels, one a row, of which the i-th is that of links[i], if these are listed: then those
 * of this rank alone. out may be NULL. */
static int note_labels(struct link_labels *l, const void *rows, uint64_t n,
                       const struct link *links, const char *set, bool trained, float *out,
                       struct gnn_err *e)
{
    const struct gnn_field *f = field_of(l->edges, l->links);
    const bool classes = has_classes(l->links, f);
    for (uint64_t i = 0; i < n; i++) {
        if (links && (links[i].end[LINK_TAIL] == UINT32_MAX ||
                      !gnn_link_owns(l->edges, LINK_TAIL, links[i].end[LINK_TAIL])))
            continue;
        const double v = label_at(l->links, f, rows, i);
        if (!isfinite((float)v) || (classes && !(v >= 0 && v < LINK_CLASSES)))
            return fail_label(l, set, i, v, e);
        const uint64_t class = classes ? (uint64_t)fabs(v) : 0,
                       number[] = {class + 1, class + 1, LINK_CLASSES - class};
        for (unsigned k = 0; classes && k < (trained ? 3 : 1); k++)
            l->most[k] = number[k] > l->most[k] ? number[k] : l->most[k];
        if (out)
            out[i] = (float)v;
    }
    return 0;
}

int gnn_link_labels_of_set(struct link_labels *l, struct link_list *x, uint32_t set, bool trained,
                           struct gnn_err *e)
{
    struct gnn_store *s = l->edges->store;
    const struct gnn_split_set *m = &s->meta.schema.set[set];
    const struct gnn_field *f = gnn_link_field(&s->meta.schema, set, l->links->field);
    void *rows = NULL;
    if (!f)
        return gnn_fail(e, GNN_E_USAGE,
                        "%s: links of set '%s' have times, and no field '%s' (--target), as those "
                        "of files and of earlier versions: gnn-import --split-links by shares",
                        s->path, m->set, field_of(l->edges, l->links)->name);
    if (gnn_buf_reserve(&x->label, x->n, sizeof(float), "labels of links", e) ||
        gnn_store_link_field(s, set, f, &rows, e))
        return e->code;
    (void)!note_labels(l, rows, x->n, x->links.data, m->set, trained, x->label.data, e);
    gnn_free(rows);
    return e->code;
}

int gnn_link_labels_of_edges(struct link_labels *l, struct link_edges *q, bool trained,
                             struct gnn_err *e)
{
    char key[GNN_ETYPE_KEY_CAPACITY];
    gnn_etype_key(&q->store->meta.schema, q->etype, key, sizeof key);
    for (uint32_t p = q->store->from; p < q->store->to; p++) {
        const struct gnn_tensor *t =
            gnn_store_findf(q->store, p, "edge/%s/%s", key, field_of(q, l->links)->name);
        q->part[p].label = t->data;
        if (note_labels(l, t->data, q->part[p].nedges, NULL, NULL, trained, NULL, e))
            return e->code;
    }
    return 0;
}

int gnn_link_labels_finish(struct link_labels *l, uint32_t *classes, struct gnn_err *e)
{
    const struct link_edges *q = l->edges;
    *classes = 0;
    if (!has_classes(l->links, field_of(q, l->links)))
        return 0;
    if (gnn_comm_all_reduce(q->store->comm, l->most, 3, GNN_REDUCE_MAX, e))
        return e->code;
    if (l->most[1] && l->most[1] + l->most[2] == LINK_CLASSES + 1)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: all links to learn from are of class %" PRIu64
                        " (--target %s): nothing tells them apart",
                        q->store->path, l->most[1] - 1, l->links->target);
    *classes = l->links->divided || l->most[0] < 2 ? 2 : (uint32_t)l->most[0];
    return 0;
}

float gnn_link_label_of(const struct link_edges *q, const struct gnn_links *links, uint64_t id)
{
    uint32_t p, tail;
    uint64_t at;
    return gnn_link_edges_find(q, id, &p, &at, &tail)
               ? (float)label_at(links, field_of(q, links), q->part[p].label, at)
               : NAN;
}
