/* SPDX-License-Identifier: Apache-2.0 */
/* Predictions as a table in text. */
#include <string.h>
#include <unistd.h>

#include "lib/base/io.h"
#include "lib/base/mem.h"
#include "lib/base/path.h"
#include "lib/data/csv_cells.h"
#include "lib/predict/predict_impl.h"
#include "lib/store/ids.h"
#include "lib/store/names.h"

enum { NO_SET = 0 };

/* What a line is made of. */
struct csv {
    const struct gnn_output *o;
    char *const *class_name; /* [gnn_model_classes], or NULL */
    struct gnn_names names;  /* with a store */
    uint16_t *set; /* [nodes] 1 + index into schema.set, by position; NULL: o->set has it */
    struct gnn_csv line;
};

static int put_time(struct csv *c, uint64_t row, struct gnn_err *e)
{
    if (!c->o->time_type)
        return 0;
    return gnn_csv_text(&c->line, ",", e) ||
                   gnn_csv_time(&c->line, c->o->time[row], c->o->time_type, e)
               ? e->code
               : 0;
}

static int put_class(struct csv *c, uint64_t k, const char *otherwise, struct gnn_err *e)
{
    if (c->class_name)
        return gnn_csv_cell(&c->line, c->class_name[k], strlen(c->class_name[k]), e);
    return gnn_csv_text(&c->line, otherwise, e) || gnn_csv_count(&c->line, k, e) ? e->code : 0;
}

static int put_head(struct csv *c, struct gnn_err *e)
{
    const enum gnn_predict_output what = c->o->what;
    const bool second =
        gnn_task_labels[c->o->m->c.task].outputs; /* of two classes, with one output */
    const char *const prefix = what == GNN_OUT_CLASSES  ? "label_"
                               : what == GNN_OUT_PROBS  ? "probability_"
                               : what == GNN_OUT_VALUES ? "value_"
                                                        : NULL,
                      *const first = c->o->time_type ? "id,time" : "id";
    int rc = gnn_csv_text(&c->line, first, e);
    if (gnn_output_one_class(c->o))
        return rc ? rc : gnn_csv_text(&c->line, ",class,probability,set\n", e);
    for (uint64_t k = 0; !rc && k < gnn_output_columns(c->o); k++) {
        rc = gnn_csv_text(&c->line, ",", e);
        if (!rc && prefix)
            rc = put_class(c, second ? 1 : k, prefix, e);
        else if (!rc)
            rc = gnn_csv_text(&c->line, "embedding_", e) || gnn_csv_count(&c->line, k, e) ? e->code
                                                                                          : 0;
    }
    return rc ? rc : gnn_csv_text(&c->line, ",set\n", e);
}

/* What the data set calls the node; of a stream, its id. */
static int put_id(struct csv *c, uint64_t row, struct gnn_err *e)
{
    char buf[GNN_NODE_NAME_CAPACITY];
    const uint64_t node = c->o->node ? c->o->node[row] : row;
    size_t len;
    if (c->o->s) {
        const char *id = gnn_names_of(&c->names, node, buf, &len);
        return gnn_csv_cell(&c->line, id, len, e);
    }
    return gnn_csv_count(&c->line, node, e);
}

static int put_cells(struct csv *c, const float *cells, struct gnn_err *e)
{
    int rc = 0;
    if (gnn_output_one_class(c->o)) {
        rc = gnn_csv_text(&c->line, ",", e);
        rc = rc ? rc : put_class(c, (uint64_t)cells[0], "", e);
        rc = rc ? rc : gnn_csv_text(&c->line, ",", e);
        return rc ? rc : gnn_csv_number(&c->line, cells[1], e);
    }
    for (uint64_t k = 0; !rc && k < gnn_output_columns(c->o); k++) {
        rc = gnn_csv_text(&c->line, ",", e);
        rc = rc ? rc : gnn_csv_number(&c->line, cells[k], e);
    }
    return rc;
}

static int put_set(struct csv *c, uint64_t row, struct gnn_err *e)
{
    const uint64_t node = c->o->node ? c->o->node[row] : row;
    const uint16_t set = c->set ? c->set[node] : c->o->set ? c->o->set[row] : NO_SET;
    const char *name = set == NO_SET ? ""
                       : c->set      ? c->o->schema->set[set - 1].set
                                     : c->o->set_name[set - 1];
    int rc = gnn_csv_text(&c->line, ",", e);
    name = gnn_base_name(name); /* of "SPLIT/SET" */
    return rc ? rc : gnn_csv_cell(&c->line, name, strlen(name), e);
}

static int put_row(void *arg, uint64_t row, const float *cells, struct gnn_buf *to, uint64_t *n,
                   struct gnn_err *e)
{
    struct csv *c = arg;
    c->line = (struct gnn_csv){to, *n};
    const int rc = put_id(c, row, e) || put_time(c, row, e) || put_cells(c, cells, e) ||
                           put_set(c, row, e) || gnn_csv_text(&c->line, "\n", e)
                       ? e->code
                       : 0;
    *n = c->line.n;
    return rc;
}

/* The sets of one split that have nodes of the type. */
static int find_sets(struct csv *c, const char *split, struct gnn_err *e)
{
    const struct gnn_schema *s = c->o->schema;
    const uint32_t target = c->o->type;
    if (c->o->set || !c->o->s)
        return 0;
    c->set = gnn_alloc_zero(s->ntype[target].count, sizeof *c->set, "sets of nodes", e);
    for (uint32_t i = 0; c->set && !e->code && split && i < s->nsets; i++) {
        uint32_t *ids;
        if (s->set[i].links || s->set[i].ntype != target || strcmp(s->set[i].split, split) != 0 ||
            gnn_store_split(c->o->s, i, &ids, e))
            continue;
        for (uint64_t k = 0; k < s->set[i].count; k++)
            if (ids[k] != UINT32_MAX) /* another rank's */
                c->set[ids[k]] = (uint16_t)(i + 1);
        gnn_free(ids);
    }
    return e->code;
}

/* The model's names of classes, or those of a graph whose task is the model's. */
static char *const *names_of_classes(const struct gnn_output *o)
{
    const struct gnn_schema *s = o->schema;
    const bool same = s->task == o->m->c.task && s->nclasses == gnn_model_classes(&o->m->c);
    return o->m->c.class_name ? o->m->c.class_name : same ? s->class_name : NULL;
}

static int write_text(struct csv *c, struct gnn_io *io, struct gnn_err *e)
{
    struct gnn_buf head = {0};
    c->line.to = &head;
    int rc = put_head(c, e);
    if (!rc && !c->o->comm->rank)
        rc = gnn_io_write(io, head.data, c->line.n, e);
    gnn_buf_release(&head);
    return rc ? rc : gnn_output_rows(c->o, put_row, c, io, e);
}

int gnn_output_write_csv(const struct gnn_output *o, const char *split, int fd, const char *name,
                         struct gnn_err *e)
{
    struct csv c = {.o = o, .class_name = names_of_classes(o)};
    struct gnn_io io;
    gnn_io_init(&io, fd, name);
    const bool named = o->s && !gnn_names_init(&c.names, o->s, o->type, e);
    int rc = e->code;
    if (!rc)
        rc = find_sets(&c, split, e);
    if (!rc)
        rc = write_text(&c, &io, e);
    if (rc && fd >= 0)
        close(fd);
    else if (!rc && !o->comm->rank)
        rc = gnn_io_close(&io, true, e);
    if (named)
        gnn_names_release(&c.names);
    gnn_free(c.set);
    return rc;
}
