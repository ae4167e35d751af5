/* SPDX-License-Identifier: Apache-2.0 */
/* Labels from numbers (lib/import/read/labels.h). What no task accepts is refused here, with its
 * row, as training would only find it in some batch, or take it for something else. */
#include "lib/import/read/labels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/import/nodeids.h"

/* What a look at all numbers finds. */
struct look {
    const uint64_t *line; /* [nodes] of the rows, or NULL */
    bool bits, nans;
    double max;         /* -1: no label */
    uint64_t labelled;  /* of one column: rows that have a label */
    uint64_t minus;     /* numbers that are -1 */
    uint64_t zeros;     /* and 0 */
    uint64_t bad, wide; /* the first that is no class, and the first outside 0 to 1 */
};

static struct look look_at(const double *v, uint64_t n, const uint64_t *line)
{
    struct look l = {.line = line, .bits = true, .max = -1, .bad = UINT64_MAX, .wide = UINT64_MAX};
    for (uint64_t i = 0; i < n; i++) {
        if (isnan(v[i])) {
            l.nans = true;
            continue;
        }
        l.bits = l.bits && (v[i] == 0 || v[i] == 1);
        l.max = v[i] > l.max ? v[i] : l.max;
        l.minus += v[i] == -1;
        l.zeros += v[i] == 0;
        l.labelled += v[i] >= 0;
        if (l.bad == UINT64_MAX && (v[i] != floor(v[i]) || v[i] < -1 || v[i] > 65535))
            l.bad = i;
        if (l.wide == UINT64_MAX && !(v[i] >= 0 && v[i] <= 1))
            l.wide = i;
    }
    return l;
}

/* Whether the first of `width` columns is the ids of the nodes. */
static bool are_ids(const struct gnn_dataset *d, uint32_t ntype, const double *v, uint64_t n,
                    uint64_t width)
{
    struct gnn_id_column c = {.zero = true, .one = true, .key = d->ids ? d->ids[ntype].key : NULL};
    for (uint64_t i = 0; i < n; i++)
        gnn_id_column_add(&c, v[i * width]);
    return gnn_id_column_is(&c);
}

static const char *row_text(const uint64_t *line, uint64_t node, char text[32])
{
    snprintf(text, 32, line ? "line %llu" : "row %llu",
             (unsigned long long)(line ? line[node] : node + 1));
    return text;
}

/* Labels of a regression: any finite numbers, in place as f32. */
static int take_targets(struct gnn_dataset *d, double *v, uint64_t n, uint64_t width,
                        const char *where, const uint64_t *line, struct gnn_err *e)
{
    char row[32];
    struct gnn_lost lost = {0};
    bool any = false;
    for (uint64_t i = 0; i < n * width; i++) {
        double x;
        memcpy(&x, (char *)v + i * sizeof x, sizeof x);
        const float f = (float)x;
        gnn_lost_add(&lost, x);
        memcpy((char *)v + i * sizeof f, &f, sizeof f);
        any = any || !isnan(f);
        if (isinf(f))
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: %s: label %g is infinite or too large for f32 (nan for none)",
                            where, row_text(line, i / width, row), x);
    }
    return any ? gnn_lost_tell(d, where, "the label", &lost, e)
               : gnn_fail(e, GNN_E_INPUT, "%s: no node has a label", where);
}

/* Whether one column is classes that the task has. */
static int check_classes(int task, bool told, const struct look *l, const double *v,
                         const char *where, struct gnn_err *e)
{
    char row[32];
    if (l->bad != UINT64_MAX)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: %s: '%.17g' is not a class (0 to 65535, -1 or nan for none); "
                        "numbers to predict require --task regression",
                        where, row_text(l->line, l->bad, row), v[l->bad]);
    if (task == GNN_TASK_BINARY && l->max > 1)
        return gnn_fail(e, GNN_E_INPUT, "%s: class %g in a binary task", where, l->max);
    if (!told && l->max == 1 && l->minus && !l->zeros)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: the labels are 1 and -1, but the classes are 0 and 1, and -1 stands "
                        "for no label: write 0 for -1 (--task binary accepts nodes of one class)",
                        where);
    return GNN_OK;
}

/* Several columns, each 0 or 1, or a probability. */
static int check_columns(const struct look *l, const double *v, uint64_t width, const char *where,
                         struct gnn_err *e)
{
    char row[32];
    if (l->wide == UINT64_MAX)
        return GNN_OK;
    return gnn_fail(e, GNN_E_INPUT,
                    "%s: %s, %s %llu: label %.17g is outside 0 to 1 (nan for none)%s", where,
                    row_text(l->line, l->wide / width, row), l->line ? "label column" : "column",
                    (unsigned long long)(l->wide % width + 1), v[l->wide],
                    v[l->wide] == -1 ? "; -1 stands for none only in a single column of classes"
                                     : "; numbers to predict require --task regression");
}

static int check_labels(const struct gnn_dataset *d, uint32_t ntype, int task, bool told,
                        const struct look *l, const double *v, uint64_t n, uint64_t width,
                        const char *where, struct gnn_err *e)
{
    if (width > 1 && !l->line && are_ids(d, ntype, v, n, width))
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: column 1 is the ids of the nodes: leave it out, as rows are labels "
                        "only, in the order of ids",
                        where);
    if (task == GNN_TASK_REGRESSION)
        return GNN_OK;
    if (task != GNN_TASK_MULTILABEL && width > 1)
        return gnn_fail(e, GNN_E_USAGE,
                        "%s: %llu labels per node require --task multilabel or regression", where,
                        (unsigned long long)width);
    int rc = task == GNN_TASK_MULTILABEL ? check_columns(l, v, width, where, e)
                                         : check_classes(task, told, l, v, where, e);
    if (!rc && l->max < 0)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: no node has a label", where);
    return rc;
}

/* Classes that look like ids are accepted, but not in silence. */
static int tell_ids(struct gnn_dataset *d, uint32_t ntype, const struct look *l, const double *v,
                    uint64_t n, const char *where, struct gnn_err *e)
{
    if (!l->line && are_ids(d, ntype, v, n, 1))
        return gnn_dataset_note(d, e,
                                "warning: %s: each node has a class of its own, in order: are "
                                "these ids and not labels?",
                                where);
    if (l->labelled > 2 && l->max + 1 > (double)l->labelled)
        return gnn_dataset_note(d, e,
                                "warning: %s: %.0f classes for %llu nodes that have a label: are "
                                "these ids and not labels?",
                                where, l->max + 1, (unsigned long long)l->labelled);
    return GNN_OK;
}

/* Classes as i32, several labels as u8, or as f32 with nan or probabilities. In place: every
 * narrower element ends before the doubles still to be read. */
static enum gnn_dtype narrow_labels(double *v, uint64_t n, bool classes, bool bits)
{
    for (uint64_t i = 0; i < n; i++) {
        double d;
        memcpy(&d, (char *)v + i * sizeof d, sizeof d);
        const int32_t c = classes ? isnan(d) ? -1 : (int32_t)d : 0;
        const float f = (float)d;
        const uint8_t b = d > 0;
        if (classes)
            memcpy((char *)v + i * sizeof c, &c, sizeof c);
        else if (bits)
            memcpy((char *)v + i, &b, 1);
        else
            memcpy((char *)v + i * sizeof f, &f, sizeof f);
    }
    return classes ? GNN_I32 : bits ? GNN_U8 : GNN_F32;
}

int gnn_labels_of_one(const struct gnn_schema *sc, uint32_t ntype, const char *where,
                      struct gnn_err *e)
{
    return sc->task == GNN_TASK_NONE || sc->label_ntype == ntype
               ? GNN_OK
               : gnn_fail(e, GNN_E_INPUT,
                          "%s: labels of %s, and there are those of %s: a store has those of one "
                          "node type (name the column of one otherwise)",
                          where, sc->ntype[ntype].name, sc->ntype[sc->label_ntype].name);
}

int gnn_labels_take(struct gnn_dataset *d, int task, uint32_t ntype, double *v, uint64_t n,
                    uint64_t *width, enum gnn_dtype *dtype, const char *where, const uint64_t *line,
                    struct gnn_err *e)
{
    struct gnn_schema *sc = &d->schema;
    const struct look l = look_at(v, n * *width, line);
    const bool told = task >= 0;
    if (!told)
        task = *width > 1   ? GNN_TASK_MULTILABEL
               : l.max <= 1 ? GNN_TASK_BINARY
                            : GNN_TASK_MULTICLASS;
    const bool classes = task == GNN_TASK_BINARY || task == GNN_TASK_MULTICLASS;
    int rc = gnn_labels_of_one(sc, ntype, where, e);
    if (!rc)
        rc = check_labels(d, ntype, task, told, &l, v, n, *width, where, e);
    if (!rc && classes)
        rc = tell_ids(d, ntype, &l, v, n, where, e);
    if (!rc && task == GNN_TASK_REGRESSION)
        rc = take_targets(d, v, n, *width, where, line, e);
    if (rc)
        return rc;
    sc->task = (enum gnn_task)task;
    sc->label_ntype = ntype;
    sc->nclasses = task == GNN_TASK_BINARY       ? 2
                   : task == GNN_TASK_MULTICLASS ? (uint32_t)l.max + 1
                                                 : (uint32_t)*width;
    *dtype = task == GNN_TASK_REGRESSION ? GNN_F32
                                         : narrow_labels(v, n * *width, classes, l.bits && !l.nans);
    if (classes || (task == GNN_TASK_REGRESSION && *width == 1))
        *width = 0;
    return GNN_OK;
}
