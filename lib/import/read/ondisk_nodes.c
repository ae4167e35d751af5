/* SPDX-License-Identifier: Apache-2.0 */
/* The sets of nodes of an OnDiskDataset, and their labels, which each set has for its own nodes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/npy.h"
#include "lib/base/mem.h"
#include "lib/base/path.h"
#include "lib/import/read/ondisk_impl.h"
#include "lib/import/read/roles.h"

enum { BLOCK = 1024 };

/* Labels of a task for a node type. */
struct labels {
    struct ondisk_name task;
    uint32_t number, type;
    uint64_t width;
    uint32_t ndim;
    struct ondisk_place at; /* of the first of them */
    double *value;          /* (nodes, width); nan: none; the list's */
};

/* What is noted of links: the tasks that have some of an edge type. */
struct links {
    uint32_t number, type;
};

/* A task that was met. */
struct task {
    struct ondisk_name name;
    bool met, noted;
    int type; /* of the nodes whose sets have the task's name; -1: there are none yet */
};

/* A split whose name is made of a task's and a node type's. */
struct derived {
    char name[64];
    uint32_t task, type;
};

struct adding {
    struct ondisk *o;
    struct labels *labels; /* (nlabels) */
    struct links *links;   /* (nlinks) */
    uint32_t nlabels, nlinks;
    struct task *task; /* (ntasks) by number */
    struct derived *derived;
    uint32_t ntasks, nderived;
};

/* ---- tasks ---- */

/* The set's task, whose name is of no other. */
static int find_task(struct adding *a, const struct ondisk_set *s, struct task **out,
                     struct gnn_err *e)
{
    const struct ondisk_place tasks = gnn_ondisk_below(NULL, "tasks", s->number),
                              at = gnn_ondisk_below(&tasks, "name", -1);
    const char *given = json_string_value(json_object_get(s->task, "name"));
    for (; a->ntasks <= s->number; a->ntasks++) {
        if (gnn_grow(&a->task, a->ntasks, sizeof *a->task, "tasks", e))
            return GNN_E_NOMEM;
        a->task[a->ntasks] = (struct task){.type = -1};
    }
    struct task *t = *out = &a->task[s->number];
    if (t->met)
        return GNN_OK;
    t->name = gnn_ondisk_task(a->o, s);
    for (uint32_t i = 0; i < a->ntasks; i++)
        if (a->task[i].met && !strcmp(a->task[i].name.text, t->name.text))
            return gnn_ondisk_fail(a->o, &at, e, "a second task '%s'", t->name.text);
    t->met = true;
    return !given || !strcmp(given, t->name.text)
               ? GNN_OK
               : gnn_array_list_note(a->o->l,
                                     gnn_strf(e, "%s: %s: the task is called '%s' here", a->o->yaml,
                                              at.text, t->name.text),
                                     e);
}

/* Whether no task has the name of a split that is made of another task's. */
static int check_split(const struct ondisk *o, const char *split, const char *task,
                       struct gnn_err *e)
{
    const json_t *tasks = json_object_get(o->meta, "tasks");
    for (size_t i = 0; i < json_array_size(tasks); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(tasks, i), "name"));
        const struct ondisk_name other = gnn_ondisk_name(name ? name : "");
        const struct ondisk_place at = gnn_ondisk_below(NULL, "tasks", (int64_t)i),
                                  here = gnn_ondisk_below(&at, "name", -1);
        if (!strcmp(other.text, split))
            return gnn_ondisk_fail(o, &here, e,
                                   "'%s' is the split of other sets, of task '%s': rename one",
                                   split, task);
    }
    return GNN_OK;
}

/* The name is of sets of this task and node type alone, from now on. */
static int keep_split(struct adding *a, const struct ondisk_set *s, const char *split,
                      struct gnn_err *e)
{
    const struct ondisk_place tasks = gnn_ondisk_below(NULL, "tasks", s->number),
                              at = gnn_ondisk_below(&tasks, "name", -1);
    for (uint32_t i = 0; i < a->nderived; i++) {
        const struct derived *x = &a->derived[i];
        if (strcmp(x->name, split))
            continue;
        return x->task == s->number && x->type == s->type
                   ? GNN_OK
                   : gnn_ondisk_fail(a->o, &at, e,
                                     "'%s' would be the split of sets of %s, as of task '%s' and "
                                     "%s: rename one",
                                     split, a->o->node[s->type].name, a->task[x->task].name.text,
                                     a->o->node[x->type].name);
    }
    if (gnn_grow(&a->derived, a->nderived, sizeof *a->derived, "splits", e))
        return GNN_E_NOMEM;
    struct derived *x = &a->derived[a->nderived++];
    *x = (struct derived){.task = s->number, .type = s->type};
    snprintf(x->name, sizeof x->name, "%s", split);
    return GNN_OK;
}

/* The split of a set of nodes: in a store, sets of a split are of one node type. */
static int name_split(struct adding *a, const struct ondisk_set *s, char split[64],
                      struct gnn_err *e)
{
    struct task *t;
    int rc = find_task(a, s, &t, e);
    if (rc)
        return rc;
    t->type = t->type < 0 ? (int)s->type : t->type;
    snprintf(split, 64, "%s", t->name.text);
    if (s->type == (uint32_t)t->type)
        return GNN_OK;
    const struct ondisk_name type = gnn_ondisk_name(a->o->node[s->type].name);
    snprintf(split, 64, "%.30s%s%.30s", t->name.text, *t->name.text ? "_" : "", type.text);
    rc = check_split(a->o, split, t->name.text, e);
    if (!rc)
        rc = keep_split(a, s, split, e);
    if (rc)
        return rc;
    const bool noted = t->noted;
    t->noted = true;
    return noted ? GNN_OK
                 : gnn_array_list_note(
                       a->o->l,
                       gnn_strf(e,
                                "%s: task '%s' has sets of several node types: those of %s are "
                                "split '%s', and others likewise",
                                a->o->yaml, t->name.text, a->o->node[s->type].name, split),
                       e);
}

/* Adds an array whose name was made of others, which may give one name twice. */
static int add_named(const struct ondisk *o, const struct ondisk_place *at, const char *prefix,
                     const char *name, const struct gnn_strided *v, struct gnn_err *e)
{
    return gnn_ondisk_has(o, prefix, name)
               ? gnn_ondisk_fail(o, at, e, "would be %s%s, as another array is: rename one", prefix,
                                 name)
               : gnn_array_list_add(o->l, prefix, name, v, e);
}

/* ---- labels ---- */

static struct labels *find_labels(struct adding *a, const struct ondisk_set *s, struct gnn_err *e)
{
    for (uint32_t i = 0; i < a->nlabels; i++)
        if (a->labels[i].number == s->number && a->labels[i].type == s->type)
            return &a->labels[i];
    if (gnn_grow(&a->labels, a->nlabels, sizeof *a->labels, "labels", e))
        return NULL;
    const struct gnn_strided *y = &s->data[ONDISK_LABELS];
    const uint64_t nodes = a->o->node[s->type].count, width = y->ndim > 1 ? y->shape[1] : 1;
    struct labels *l = &a->labels[a->nlabels];
    *l = (struct labels){.task = gnn_ondisk_task(a->o, s),
                         .number = s->number,
                         .type = s->type,
                         .width = width,
                         .ndim = y->ndim,
                         .at = s->at[ONDISK_LABELS]};
    l->value = gnn_alloc(nodes * width, sizeof *l->value, "labels", e);
    for (uint64_t i = 0; l->value && i < nodes * width; i++)
        l->value[i] = (double)NAN;
    if (!l->value || gnn_array_list_hold(a->o->l, l->value, gnn_free, e))
        return NULL;
    a->nlabels++;
    return l;
}

static int set_label(const struct adding *a, const struct ondisk_set *s, struct labels *l,
                     int64_t node, const double *value, struct gnn_err *e)
{
    const struct ondisk_type *t = &a->o->node[s->type];
    if (node < 0 || (uint64_t)node >= t->count)
        return gnn_ondisk_fail(a->o, &s->at[ONDISK_SEEDS], e, "node %lld, of %llu", (long long)node,
                               (unsigned long long)t->count);
    double *of = l->value + (uint64_t)node * l->width;
    for (uint64_t k = 0; k < l->width; k++) {
        if (!isnan(of[k]) && !isnan(value[k]) && of[k] != value[k])
            return gnn_ondisk_fail(a->o, &s->at[ONDISK_LABELS], e,
                                   "node %lld has label %.9g, and label %.9g in another row",
                                   (long long)node, value[k], of[k]);
        of[k] = isnan(value[k]) ? of[k] : value[k];
    }
    return GNN_OK;
}

/* Rows of one dimension or two, as many columns as the other sets of the task have. */
static int check_labels(const struct adding *a, const struct ondisk_set *s, const struct labels *l,
                        struct gnn_err *e)
{
    const struct gnn_strided *y = &s->data[ONDISK_LABELS];
    return y->ndim <= 2 && y->ndim == l->ndim && (y->ndim < 2 || y->shape[1] == l->width)
               ? GNN_OK
               : gnn_ondisk_fail(a->o, &s->at[ONDISK_LABELS], e,
                                 "labels of another shape than those of the task's other sets, or "
                                 "of more than two dimensions");
}

static int take_labels(struct adding *a, const struct ondisk_set *s, struct gnn_err *e)
{
    const struct gnn_strided *y = &s->data[ONDISK_LABELS], *seeds = &s->data[ONDISK_SEEDS];
    if (y->ndim > 1 && (y->shape[1] < 1 || y->shape[1] > UINT16_MAX))
        return gnn_ondisk_fail(a->o, &s->at[ONDISK_LABELS], e, "rows of %llu labels",
                               (unsigned long long)y->shape[1]);
    struct labels *l = find_labels(a, s, e);
    int rc = l ? check_labels(a, s, l, e) : GNN_E_NOMEM;
    int64_t *node = rc ? NULL : gnn_alloc(BLOCK, 2 * sizeof *node, "labels", e);
    double *value = rc ? NULL : gnn_alloc(BLOCK * l->width, 2 * sizeof *value, "labels", e);
    if (!rc && (!node || !value))
        rc = GNN_E_NOMEM;
    for (uint64_t i = 0, bad; !rc && i < seeds->shape[0]; i += BLOCK) {
        const uint64_t left = seeds->shape[0] - i, n = left < BLOCK ? left : BLOCK;
        gnn_strided_copy(seeds, i, n, node + BLOCK);
        if (!gnn_npy_to_i64(seeds->dtype, node + BLOCK, node, n, &bad))
            rc = gnn_ondisk_fail(a->o, &s->at[ONDISK_SEEDS], e, "row %llu is no id",
                                 (unsigned long long)(i + bad));
        gnn_strided_copy(y, i, n, value + BLOCK * l->width);
        gnn_npy_to_f64(y->dtype, value + BLOCK * l->width, value, n * l->width);
        for (uint64_t k = 0; !rc && k < n; k++)
            rc = set_label(a, s, l, node[k], value + k * l->width, e);
    }
    gnn_free(node);
    gnn_free(value);
    return rc;
}

/* Whether a feature of a node type is its labels. */
static bool has_labels(const struct ondisk *o)
{
    bool has = false;
    for (uint32_t i = 0; !has && i < o->l->n; i++) {
        const char *name = o->l->array[i].name, *slash = strchr(name, '/');
        has = slash && !strchr(slash + 1, '/') && !strcmp(gnn_role_meant(slash + 1), "y");
    }
    return has;
}

/* A store has labels of one node type, and of one task. */
static int add_labels(struct adding *a, const struct labels *l, struct gnn_err *e)
{
    struct ondisk *o = a->o;
    char name[64];
    const struct ondisk_type *t = &o->node[l->type];
    const bool other = has_labels(o);
    struct gnn_strided y = {.dtype = GNN_F64,
                            .ndim = l->ndim,
                            .shape = {t->count, l->width},
                            .data = (const uint8_t *)l->value};
    (void)gnn_strided_set_order(&y, false);
    (void)gnn_strided_fits(&y, t->count * l->width * sizeof *l->value);
    snprintf(name, sizeof name, other ? "%s%slabels" : "y", l->task.text, *l->task.text ? "_" : "");
    if (other && !strcmp(name, "labels"))
        snprintf(name, sizeof name, "task_labels");
    int rc = add_named(o, &l->at, t->prefix, name, &y, e);
    return rc || !other
               ? rc
               : gnn_array_list_note(
                     o->l,
                     gnn_strf(e,
                              "%s: labels of task '%s' are the field %s%s: there are other labels, "
                              "and a store has those of one node type and one task",
                              o->yaml, l->task.text, t->prefix, name),
                     e);
}

/* ---- links ---- */

static int note_links(struct adding *a, const struct ondisk_set *s, struct gnn_err *e)
{
    const struct ondisk *o = a->o;
    const char *prefix = o->edge[s->type].prefix;
    const struct ondisk_name task = gnn_ondisk_task(o, s);
    bool other = false;
    for (uint32_t i = 0; i < a->nlinks; i++) {
        if (a->links[i].number == s->number && a->links[i].type == s->type)
            return GNN_OK;
        other = other || a->links[i].type == s->type;
    }
    if (gnn_grow(&a->links, a->nlinks, sizeof *a->links, "links", e))
        return GNN_E_NOMEM;
    a->links[a->nlinks++] = (struct links){s->number, s->type};
    return gnn_array_list_note(
        o->l,
        gnn_strf(e,
                 "%s: task '%s' has sets of links; to make a split of the store: gnn-import "
                 "--split-links %.*s=graphbolt:%.*s%s%s STORE -o STORE2",
                 o->yaml, task.text, (int)strlen(prefix) - 1, prefix, (int)strlen(o->folder) - 1,
                 o->folder, other ? ":" : "", other ? task.text : ""),
        e);
}

/* ---- all of it ---- */

static int add_set(void *arg, const struct ondisk_set *s, struct gnn_err *e)
{
    static const char *const names[] = {"train", "valid", "test"};
    struct adding *a = arg;
    struct task *t;
    char name[80], split[64];
    int rc = s->links ? find_task(a, s, &t, e) : name_split(a, s, split, e);
    if (rc || s->links)
        return rc ? rc : note_links(a, s, e);
    snprintf(name, sizeof name, "%s%s%s_idx", split, *split ? "." : "", names[s->set]);
    rc = add_named(a->o, &s->at[ONDISK_SEEDS], a->o->node[s->type].prefix, name,
                   &s->data[ONDISK_SEEDS], e);
    return rc || !s->has[ONDISK_LABELS] ? rc : take_labels(a, s, e);
}

int gnn_ondisk_add_sets(struct ondisk *o, struct gnn_err *e)
{
    struct adding a = {.o = o};
    int rc = gnn_ondisk_sets(o, add_set, &a, e);
    for (uint32_t i = 0; !rc && i < a.nlabels; i++)
        rc = add_labels(&a, &a.labels[i], e);
    gnn_free(a.task);
    gnn_free(a.derived);
    gnn_free(a.labels);
    gnn_free(a.links);
    return rc;
}
