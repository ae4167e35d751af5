/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/read/classes.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/import/read/array.h"

enum { CLASSES_MAX = 1 << 16 };

/* Fewer spellings than gnn_text_missing: a class may be called none, Na or Null. */
static bool is_missing(const char *word, size_t len)
{
    static const char *const words[] = {"", "NA", "N/A", "null", "nan", "NaN"};
    bool missing = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        missing = missing || (strlen(words[i]) == len && !memcmp(words[i], word, len));
    return missing;
}

int gnn_classes_add(struct gnn_words *c, const struct gnn_word *word, int32_t *number,
                    struct gnn_err *e)
{
    uint32_t id = 0;
    *number = -1;
    if (is_missing(word->p, word->n))
        return GNN_OK;
    int rc = gnn_words_add(c, word, 1, &id, e);
    if (!rc && id >= CLASSES_MAX)
        rc = gnn_fail(e, GNN_E_INPUT, "more than %d classes", CLASSES_MAX);
    if (!rc)
        *number = (int32_t)id;
    return rc;
}

static int name_classes(struct gnn_words *c, int task, int32_t *y, uint64_t n, struct gnn_schema *s,
                        struct gnn_err *e)
{
    const uint32_t k = c->n;
    uint32_t *class_of = gnn_words_sort(c, 0, e);
    char **name = gnn_alloc_zero(k, sizeof *name, "classes", e);
    for (uint32_t i = 0; !e->code && i < k; i++) {
        const struct gnn_word w = gnn_words_get(c, i);
        name[i] = gnn_strf(e, "%.*s", (int)w.n, w.p);
    }
    for (uint64_t i = 0; !e->code && i < n; i++)
        y[i] = y[i] < 0 ? -1 : (int32_t)class_of[y[i]];
    if (!e->code) {
        s->task = task >= 0 ? (enum gnn_task)task : k == 2 ? GNN_TASK_BINARY : GNN_TASK_MULTICLASS;
        s->nclasses = k;
        (void)!gnn_schema_set_classes(s, (const char *const *)name, e);
    }
    for (uint32_t i = 0; name && i < k; i++)
        gnn_free(name[i]);
    gnn_free(class_of);
    gnn_free(name);
    return e->code;
}

int gnn_classes_finish(struct gnn_words *c, int task, int32_t *y, uint64_t n, const char *where,
                       struct gnn_schema *s, struct gnn_err *e)
{
    struct gnn_err why = {0};
    if (task >= 0 && task != GNN_TASK_MULTICLASS && task != GNN_TASK_BINARY)
        return gnn_fail(e, GNN_E_USAGE, "%s: labels are words, which a %s task cannot have", where,
                        gnn_task_name((enum gnn_task)task));
    if (!c->n)
        return gnn_fail(e, GNN_E_INPUT, "%s: no node has a label", where);
    if (c->n < 2)
        return gnn_fail(e, GNN_E_INPUT, "%s: all labels are '%.*s': expected at least two classes",
                        where, (int)(c->nbytes < 60 ? c->nbytes : 60), (const char *)c->byte.data);
    if (task == GNN_TASK_BINARY && c->n > 2)
        return gnn_fail(e, GNN_E_INPUT, "%s: %u classes in a binary task", where, c->n);
    if (name_classes(c, task, y, n, s, &why))
        return gnn_fail(e, (enum gnn_status)why.code, "%s: %s", where, why.msg);
    return GNN_OK;
}

static bool is_number(const struct gnn_word *w)
{
    double v;
    return gnn_text_f64(w->p, &v) == w->p + w->n;
}

static int read_labels(struct gnn_words *c, struct gnn_table *t, struct gnn_buf *y, uint64_t *rows,
                       struct gnn_err *e)
{
    struct gnn_word w;
    int rc = GNN_OK;
    while (!rc && !(rc = gnn_table_row(t, &w, 1, e))) {
        if (w.n && !is_missing(w.p, w.n) && is_number(&w))
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: line %llu: label %.*s is a number, and those above are words: "
                            "quoted or not, classes are either all numbers or all words",
                            gnn_reader_name(t->r), (unsigned long long)t->line - 1, (int)w.n, w.p);
        rc = gnn_buf_reserve(y, *rows + 1, sizeof(int32_t), "labels", e);
        if (!rc)
            rc = gnn_classes_add(c, &w, (int32_t *)y->data + *rows, e);
        *rows += !rc;
    }
    return rc == GNN_END ? GNN_OK : rc;
}

/* Whether the first label that is not missing is a word. */
static int begins_with_words(struct gnn_input *in, uint32_t member, bool *words, struct gnn_err *e)
{
    struct gnn_table t;
    struct gnn_word w;
    int rc = gnn_table_open(&t, in, member, 0, e);
    *words = false;
    while (!rc && t.ncols == 1 && !(rc = gnn_table_row(&t, &w, 1, e))) {
        if (is_missing(w.p, w.n))
            continue;
        *words = !is_number(&w);
        break;
    }
    gnn_table_close(&t);
    return rc == GNN_END ? GNN_OK : rc;
}

int gnn_classes_read(struct gnn_words *c, struct gnn_input *in, uint32_t member, int32_t **y,
                     uint64_t *rows, struct gnn_err *e)
{
    struct gnn_array a;
    struct gnn_table t = {0};
    struct gnn_buf b = {0};
    bool words = false;
    *y = NULL;
    *rows = 0;
    int rc = gnn_array_open(&a, in, member, e);
    const bool text = !rc && a.text;
    gnn_array_close(&a);
    if (text)
        rc = begins_with_words(in, member, &words, e);
    if (rc || !words)
        return rc;
    rc = gnn_table_open(&t, in, member, 0, e);
    if (!rc)
        rc = read_labels(c, &t, &b, rows, e);
    gnn_table_close(&t);
    if (rc)
        gnn_buf_release(&b);
    *y = b.data;
    return rc;
}
