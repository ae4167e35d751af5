/* SPDX-License-Identifier: Apache-2.0 */
/* Predictions as a table in text: RFC 4180, lines end with a newline only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/loss.h"
#include "lib/base/io.h"
#include "lib/base/mem.h"
#include "lib/predict/predict_impl.h"
#include "lib/store/ids.h"
#include "lib/store/names.h"

enum { TEXT_ROOM = 1 << 16, NUMBER_ROOM = 32, NO_SET = 0 };

struct csv {
    struct gnn_predict *p;
    enum gnn_predict_output what;
    const struct gnn_table *table;
    char *const *class_name; /* [gnn_model_classes], or NULL */
    struct gnn_names names;
    uint16_t *set; /* [rows] 1 + index into schema.set, by store id; NO_SET: in none */
    struct gnn_io io;
    size_t n;
    char text[TEXT_ROOM]; /* n bytes to be written */
};

static int put_bytes(struct csv *c, const char *s, size_t n, struct gnn_err *e)
{
    while (n) {
        const size_t k = n < TEXT_ROOM - c->n ? n : TEXT_ROOM - c->n;
        memcpy(c->text + c->n, s, k);
        c->n += k;
        s += k;
        n -= k;
        if (c->n == TEXT_ROOM) {
            if (gnn_io_write(&c->io, c->text, c->n, e))
                return e->code;
            c->n = 0;
        }
    }
    return GNN_OK;
}

/* A field: in quotes, each quote doubled, where it would be read as something else otherwise. */
static int put_field(struct csv *c, const char *s, size_t n, struct gnn_err *e)
{
    bool quoted = n && (s[0] == ' ' || s[n - 1] == ' ');
    for (size_t i = 0; i < n; i++)
        quoted = quoted || strchr(",\"\r\n", s[i]);
    if (!quoted)
        return put_bytes(c, s, n, e);
    int rc = put_bytes(c, "\"", 1, e);
    for (size_t i = 0; !rc && i < n; i++)
        if (!(rc = put_bytes(c, s + i, 1, e)) && s[i] == '"')
            rc = put_bytes(c, "\"", 1, e);
    return rc ? rc : put_bytes(c, "\"", 1, e);
}

static int put_comma(struct csv *c, struct gnn_err *e)
{
    return put_bytes(c, ",", 1, e);
}

/* With as few digits as tell the number from every other one. */
static int put_number(struct csv *c, float v, struct gnn_err *e)
{
    char s[NUMBER_ROOM];
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(s, sizeof s, "%.*g", digits, (double)v);
        const float back = strtof(s, NULL);
        if (!memcmp(&back, &v, sizeof v))
            break;
    }
    return put_bytes(c, s, strlen(s), e);
}

static int put_class(struct csv *c, uint64_t k, const char *otherwise, struct gnn_err *e)
{
    char s[NUMBER_ROOM];
    if (c->class_name)
        return put_field(c, c->class_name[k], strlen(c->class_name[k]), e);
    snprintf(s, sizeof s, "%s%llu", otherwise, (unsigned long long)k);
    return put_bytes(c, s, strlen(s), e);
}

/* Whether a row tells one class, and how probable it is. */
static bool is_one_class(const struct csv *c)
{
    return c->what == GNN_OUT_CLASSES && c->p->m->c.task != GNN_TASK_MULTILABEL;
}

static int put_head(struct csv *c, struct gnn_err *e)
{
    const bool binary = c->p->m->c.task == GNN_TASK_BINARY;
    const char *const prefix = c->what == GNN_OUT_CLASSES  ? "label_"
                               : c->what == GNN_OUT_PROBS  ? "probability_"
                               : c->what == GNN_OUT_VALUES ? "value_"
                                                           : NULL;
    char s[NUMBER_ROOM];
    int rc = put_bytes(c, "id", 2, e);
    if (is_one_class(c))
        return rc ? rc : put_bytes(c, ",class,probability,set\n", 23, e);
    for (uint64_t k = 0; !rc && k < c->table->width; k++) {
        rc = put_comma(c, e);
        if (!rc && prefix)
            rc = put_class(c, binary ? 1 : k, prefix, e);
        else if (!rc)
            rc = put_bytes(
                c, s, (size_t)snprintf(s, sizeof s, "embedding_%llu", (unsigned long long)k), e);
    }
    return rc ? rc : put_bytes(c, ",set\n", 5, e);
}

/* The outputs of a row in the form asked for, in place; *best is the class of the greatest one. */
static void form_row(const struct csv *c, float *z, uint64_t *best)
{
    const enum gnn_task task = c->p->m->c.task;
    const uint64_t w = c->table->width;
    *best = 0;
    if (c->what == GNN_OUT_EMBEDDINGS || c->what == GNN_OUT_VALUES)
        return;
    for (uint64_t k = 1; k < w; k++)
        *best = z[k] > z[*best] ? k : *best;
    if (c->what == GNN_OUT_CLASSES && task == GNN_TASK_MULTILABEL) {
        for (uint64_t k = 0; k < w; k++)
            z[k] = z[k] > 0;
    } else if (task == GNN_TASK_MULTICLASS) {
        gnn_softmax(z, 1, w);
    } else {
        const bool second = z[0] > 0; /* of two classes, before rounding can hide which */
        gnn_sigmoid(z, w);
        if (c->what == GNN_OUT_CLASSES)
            z[0] = second ? z[0] : 1 - z[0];
        *best = second;
    }
}

static int put_row(struct csv *c, uint64_t store_id, float *z, struct gnn_err *e)
{
    const struct gnn_schema *s = &c->p->s->meta.schema;
    char buf[GNN_NODE_NAME_ROOM];
    size_t len;
    uint64_t best;
    const char *id = gnn_names_of(&c->names, store_id, buf, &len);
    memcpy(z, c->table->data + store_id * c->table->width, c->table->width * sizeof *z);
    form_row(c, z, &best);
    int rc = put_field(c, id, len, e);
    if (!rc && is_one_class(c)) {
        rc = put_comma(c, e);
        rc = rc ? rc : put_class(c, best, "", e);
        rc = rc ? rc : put_comma(c, e);
        rc = rc ? rc : put_number(c, z[c->p->m->c.task == GNN_TASK_BINARY ? 0 : best], e);
    } else {
        for (uint64_t k = 0; !rc && k < c->table->width; k++) {
            rc = put_comma(c, e);
            rc = rc ? rc : put_number(c, z[k], e);
        }
    }
    if (!rc)
        rc = put_comma(c, e);
    const uint16_t set = c->set[store_id];
    if (!rc && set != NO_SET)
        rc = put_field(c, s->set[set - 1].set, strlen(s->set[set - 1].set), e);
    return rc ? rc : put_bytes(c, "\n", 1, e);
}

/* The sets of one split that have nodes of the target type. */
static int find_sets(struct csv *c, const char *split, struct gnn_err *e)
{
    const struct gnn_schema *s = &c->p->s->meta.schema;
    c->set = gnn_alloc_zero(c->table->rows, sizeof *c->set, "sets of nodes", e);
    for (uint32_t i = 0; c->set && !e->code && split && i < s->nsets; i++) {
        uint32_t *ids;
        if (s->set[i].ntype != c->p->m->c.target || strcmp(s->set[i].split, split) != 0 ||
            gnn_store_split(c->p->s, i, &ids, e))
            continue;
        for (uint64_t k = 0; k < s->set[i].count; k++)
            c->set[ids[k]] = (uint16_t)(i + 1);
        gnn_free(ids);
    }
    return e->code;
}

static int put_rows(struct csv *c, bool original, struct gnn_err *e)
{
    uint32_t *store_id = NULL;
    if (original && gnn_store_inverse(c->p->s, c->p->m->c.target, &store_id, e))
        return e->code;
    float *z = gnn_alloc(c->table->width, sizeof *z, "a row", e);
    int rc = z ? put_head(c, e) : GNN_E_NOMEM;
    for (uint64_t i = 0; !rc && i < c->table->rows; i++)
        rc = put_row(c, store_id ? store_id[i] : i, z, e);
    gnn_free(z);
    gnn_free(store_id);
    return rc ? rc : gnn_io_write(&c->io, c->text, c->n, e);
}

/* The model's names of classes, or those of a graph whose task is the model's. */
static char *const *names_of_classes(const struct gnn_predict *p)
{
    const struct gnn_schema *s = &p->s->meta.schema;
    const bool same = s->task == p->m->c.task && s->nclasses == gnn_model_classes(&p->m->c);
    return p->m->c.class_name ? p->m->c.class_name : same ? s->class_name : NULL;
}

int gnn_predict_write_csv(struct gnn_predict *p, enum gnn_predict_output what, bool original,
                          const char *split, int fd, const char *name, struct gnn_err *e)
{
    struct gnn_table *table = what == GNN_OUT_EMBEDDINGS ? &p->embedding : &p->logits;
    struct csv *c = gnn_alloc_zero(1, sizeof *c, "text", e);
    int rc = c ? GNN_OK : GNN_E_NOMEM;
    if (!rc) {
        c->p = p;
        c->what = what;
        c->table = table;
        c->class_name = names_of_classes(p);
        gnn_io_init(&c->io, fd, name);
        rc = what == GNN_OUT_EMBEDDINGS ? gnn_predict_check_rows(p, table, "embedding", e)
                                        : gnn_predict_to_host(p, table, e);
    }
    if (!rc)
        rc = gnn_names_init(&c->names, p->s, p->m->c.target, e);
    if (!rc)
        rc = find_sets(c, split, e);
    if (!rc)
        rc = put_rows(c, original, e);
    if (rc)
        close(fd);
    else
        rc = gnn_io_close(&c->io, true, e);
    if (c) {
        gnn_names_release(&c->names);
        gnn_free(c->set);
    }
    gnn_free(c);
    return rc;
}
