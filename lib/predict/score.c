/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs compared with the labels of a set. */
#include <stdlib.h>
#include <string.h>

#include "lib/model/task.h"
#include "lib/predict/predict_impl.h"

enum { ROWS = 4096 };

/* The labels of ids[n], as one tensor. */
static int labels_of(struct gnn_predict *p, const uint32_t *ids, uint64_t n, struct gnn_tensor *y,
                     struct gnn_buf *buf, struct gnn_err *e)
{
    const uint32_t t = p->m->c.target;
    const char *type = p->m->c.ntype[t].name;
    const struct gnn_tensor *first = gnn_store_findf(p->s, 0, "node/%s/y", type);
    if (!first)
        return gnn_fail(e, GNN_E_INPUT, "%s: node type %s has no labels", p->s->path, type);
    const uint64_t bytes = gnn_dtype_bytes(first->dtype) * (first->ndim == 2 ? first->shape[1] : 1);
    *y = *first;
    y->shape[0] = n;
    if (gnn_buf_fit(buf, n, bytes, "labels", e))
        return e->code;
    y->data = buf->data;
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t k = gnn_store_owner(p->s, t, ids[i]);
        const struct gnn_tensor *part = gnn_store_findf(p->s, k, "node/%s/y", type);
        if (!part)
            return gnn_fail(e, GNN_E_INPUT, "%s: no labels", gnn_store_part_path(p->s, k));
        memcpy((char *)y->data + i * bytes,
               (const char *)part->data + (ids[i] - p->s->book[t][k]) * bytes, bytes);
    }
    return 0;
}

/* A class of the model. */
struct named_class {
    const char *name;
    int32_t number;
};

static int compare_classes(const void *a, const void *b)
{
    return strcmp(((const struct named_class *)a)->name, ((const struct named_class *)b)->name);
}

/* q->class_of[k] is the model's class of the name that class k of the graph has; NULL where one of
 * the two has no names, so that numbers decide, or where they agree. */
static int match_classes(struct predict_scorer *q, const char *path, struct gnn_err *e)
{
    const struct gnn_schema *s = q->schema;
    char *const *const name = q->m->c.class_name;
    const uint32_t n = gnn_model_classes(&q->m->c);
    bool same = true;
    if (!name || !s->class_name || !gnn_task_one_class(s->task))
        return GNN_OK;
    struct named_class *sorted = gnn_alloc(n, sizeof *sorted, "classes", e);
    int32_t *to = gnn_alloc(s->nclasses, sizeof *to, "classes", e);
    int rc = sorted && to ? GNN_OK : GNN_E_NOMEM;
    for (uint32_t k = 0; !rc && k < n; k++)
        sorted[k] = (struct named_class){name[k], (int32_t)k};
    if (!rc)
        qsort(sorted, n, sizeof *sorted, compare_classes);
    for (uint32_t k = 0; !rc && k < s->nclasses; k++) {
        const struct named_class key = {s->class_name[k], 0},
                                 *found = bsearch(&key, sorted, n, sizeof key, compare_classes);
        if (!found)
            rc = gnn_fail(e, GNN_E_INPUT, "%s: the model has no class '%.70s'", path, key.name);
        to[k] = found ? found->number : -1;
        same = same && to[k] == (int32_t)k;
    }
    gnn_free(sorted);
    if (rc || same)
        gnn_free(to);
    else
        q->class_of = to;
    return rc;
}

int gnn_predict_scorer_init(struct predict_scorer *q, const struct gnn_model *m,
                            const struct gnn_schema *s, const char *path, struct gnn_err *e)
{
    *q = (struct predict_scorer){.m = m, .schema = s};
    return match_classes(q, path, e);
}

void gnn_predict_scorer_release(struct predict_scorer *q)
{
    gnn_labels_release(&q->labels);
    gnn_buf_release(&q->loss);
    gnn_free(q->class_of);
    *q = (struct predict_scorer){0};
}

static int rename_classes(const struct gnn_tensor *y, const int32_t *class_of, uint32_t nclasses,
                          uint64_t n, struct gnn_err *e)
{
    int32_t *v = (int32_t *)(uintptr_t)y->data;
    if (y->dtype != GNN_I32)
        return gnn_fail(e, GNN_E_INPUT, "tensor %s: labels with names are %s, not i32", y->name,
                        gnn_dtype_name(y->dtype));
    for (uint64_t i = 0; i < n; i++)
        if (v[i] >= 0 && (uint32_t)v[i] < nclasses)
            v[i] = class_of[v[i]];
    return GNN_OK;
}

int gnn_predict_score_rows(struct predict_scorer *q, struct gnn_tensor *y, const float *z,
                           uint64_t n, struct gnn_score *score, struct gnn_err *e)
{
    const uint32_t w = q->m->c.outputs;
    if ((q->class_of && rename_classes(y, q->class_of, q->schema->nclasses, n, e)) ||
        gnn_labels_read(&q->labels, q->m->c.task, w, y, n, e) ||
        gnn_buf_fit(&q->loss, n, sizeof(double), "losses", e))
        return e->code;
    gnn_tasks[q->m->c.task].loss(&gnn_ops_cpu, z, (uint32_t)n, w, q->labels.buf.data, 1,
                                 q->loss.data, NULL);
    return gnn_score_add(score, z, &q->labels, n, q->loss.data, e);
}

static int score_ids(struct gnn_predict *p, const uint32_t *ids, uint64_t n,
                     struct predict_scorer *q, struct gnn_score *score, struct gnn_err *e)
{
    const uint64_t w = p->logits.width;
    struct gnn_tensor y;
    struct gnn_buf buf = {0};
    float *z = gnn_alloc(n * w, sizeof(float), "output rows", e);
    if (z && !labels_of(p, ids, n, &y, &buf, e)) {
        for (uint64_t i = 0; i < n; i++)
            memcpy(z + i * w, p->logits.data + ids[i] * w, w * sizeof(float));
        (void)!gnn_predict_score_rows(q, &y, z, n, score, e);
    }
    gnn_buf_release(&buf);
    gnn_free(z);
    return e->code;
}

int gnn_predict_score(struct gnn_predict *p, uint32_t set, struct gnn_score *score,
                      struct gnn_err *e)
{
    const struct gnn_schema *c = &p->s->meta.schema;
    const struct gnn_split_set *q = &c->set[set];
    struct predict_scorer scorer;
    uint32_t *ids = NULL;
    if (q->ntype != p->m->c.target)
        return gnn_fail(e, GNN_E_USAGE, "set %s is not of the labelled node type %s", q->set,
                        p->m->c.ntype[p->m->c.target].name);
    if (gnn_predict_to_host(p, &p->logits, e) ||
        gnn_predict_scorer_init(&scorer, p->m, c, p->s->path, e))
        return e->code;
    if (gnn_store_split(p->s, set, &ids, e))
        ids = NULL;
    for (uint64_t i = 0; i < q->count && !e->code; i += ROWS)
        (void)!score_ids(p, ids + i, q->count - i < ROWS ? q->count - i : ROWS, &scorer, score, e);
    gnn_free(ids);
    gnn_predict_scorer_release(&scorer);
    return e->code;
}
