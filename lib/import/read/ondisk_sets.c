/* SPDX-License-Identifier: Apache-2.0 */
/* The sets of an OnDiskDataset's tasks: which arrays they have, and of which type they are. */
#include <stdio.h>
#include <string.h>

#include "formats/text.h"
#include "lib/base/mem.h"
#include "lib/import/read/ondisk_impl.h"

enum { SETS = 3 };

static const char *const set_key[SETS] = {"train_set", "validation_set", "test_set"};

/* Other characters, such as points, mean something in the names of arrays. */
struct ondisk_name gnn_ondisk_name(const char *text)
{
    struct ondisk_name out = {""};
    for (size_t i = 0; text[i] && i + 1 < sizeof out.text; i++) {
        const char c = text[i];
        const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                           (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
        out.text[i] = plain ? c : '_';
        out.text[i + 1] = 0;
    }
    return out;
}

struct ondisk_name gnn_ondisk_task(const struct ondisk *o, const struct ondisk_set *s)
{
    const char *name = json_string_value(json_object_get(s->task, "name"));
    char text[24] = "";
    if (!name && json_array_size(json_object_get(o->meta, "tasks")) > 1)
        snprintf(text, sizeof text, "task%u", s->number + 1);
    return gnn_ondisk_name(name ? name : text);
}

/* What an array is by its name, in DGL 2.0, 2.1 and later; ONDISK_DATA: nothing known. */
static enum ondisk_data find_kind(const char *name)
{
    static const struct {
        const char *name;
        enum ondisk_data is;
    } known[] = {{"seed_nodes", ONDISK_SEEDS},    {"node_pairs", ONDISK_SEEDS},
                 {"seeds", ONDISK_SEEDS},         {"labels", ONDISK_LABELS},
                 {"negative_srcs", ONDISK_HEADS}, {"negative_dsts", ONDISK_TAILS},
                 {"indexes", ONDISK_INDEXES}};
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i].name))
            return known[i].is;
    return ONDISK_DATA;
}

static int read_array(struct ondisk *o, struct ondisk_set *s, const json_t *v,
                      const struct ondisk_place *at, struct gnn_err *e)
{
    const char *name;
    char shown[64];
    int rc = gnn_ondisk_keys(o, v, at, "name format in_memory path ", e);
    if (!rc)
        rc = gnn_ondisk_text(o, v, at, "name", true, &name, e);
    if (rc)
        return rc;
    const enum ondisk_data is = find_kind(name);
    if (is == ONDISK_DATA)
        return !o->fields ? GNN_OK
                          : gnn_array_list_leave(
                                o->l,
                                gnn_strf(e, "%s (%s)", at->text,
                                         gnn_text_shown(shown, sizeof shown, name, strlen(name))),
                                e);
    if (s->has[is])
        return gnn_ondisk_fail(o, at, e, "'%s', and %s is the same of this set", name,
                               s->at[is].text);
    s->has[is] = true;
    s->at[is] = *at;
    rc = gnn_ondisk_array(o, v, at, &s->data[is], e);
    if (!rc && (is == ONDISK_SEEDS || is == ONDISK_INDEXES) &&
        (s->data[is].is_bool || s->data[is].dtype >= GNN_F16))
        rc = gnn_ondisk_fail(o, at, e, "%s are no integers", name);
    return rc;
}

/* Nodes are a vector, links rows of two; what else there is has as many rows. */
static int check_shapes(const struct ondisk *o, struct ondisk_set *s, const struct ondisk_place *at,
                        struct gnn_err *e)
{
    if (!s->has[ONDISK_SEEDS])
        return gnn_ondisk_fail(o, at, e,
                               "no seeds: data has none of seed_nodes, node_pairs, seeds");
    const struct gnn_strided *seeds = &s->data[ONDISK_SEEDS];
    s->links = seeds->ndim == 2;
    if (seeds->ndim < 1 || seeds->ndim > 2 || (s->links && seeds->shape[1] != 2))
        return gnn_ondisk_fail(o, &s->at[ONDISK_SEEDS], e,
                               "seeds are neither nodes, of shape (N), nor pairs, of shape (N, 2)");
    for (int k = 0; k < ONDISK_DATA; k++)
        if (s->has[k] && (!s->data[k].ndim || s->data[k].shape[0] != seeds->shape[0]))
            return gnn_ondisk_fail(o, &s->at[k], e, "%llu rows for %llu seeds",
                                   (unsigned long long)gnn_strided_rows(&s->data[k]),
                                   (unsigned long long)seeds->shape[0]);
    if (s->has[ONDISK_INDEXES] && s->data[ONDISK_INDEXES].count != seeds->shape[0])
        return gnn_ondisk_fail(
            o, &s->at[ONDISK_INDEXES], e, "%llu indexes for %llu seeds: each has one, in shape (N)",
            (unsigned long long)s->data[ONDISK_INDEXES].count, (unsigned long long)seeds->shape[0]);
    for (int k = ONDISK_HEADS; k < ONDISK_DATA && !s->links; k++)
        if (s->has[k])
            return gnn_ondisk_fail(o, &s->at[k], e, "belongs to links, and the seeds are nodes");
    return GNN_OK;
}

static int read_set(struct ondisk *o, struct ondisk_set *s, const json_t *v,
                    const struct ondisk_place *at, struct gnn_err *e)
{
    const struct ondisk_place of_type = gnn_ondisk_below(at, "type", -1);
    const json_t *list = NULL;
    int type = 0, rc = gnn_ondisk_keys(o, v, at, "type data ", e);
    if (!rc)
        rc = gnn_ondisk_list(o, v, at, "data", &list, e);
    for (size_t i = 0; !rc && i < json_array_size(list); i++) {
        const struct ondisk_place here = gnn_ondisk_below(at, "data", (int64_t)i);
        rc = read_array(o, s, json_array_get(list, i), &here, e);
    }
    if (!rc)
        rc = check_shapes(o, s, at, e);
    if (!rc)
        rc = gnn_ondisk_type(o, v, at, s->links, &type, e);
    s->type = (uint32_t)type;
    return rc || type >= 0
               ? rc
               : gnn_ondisk_fail(o, &of_type, e, "is a type of %s, and the seeds are %s",
                                 s->links ? "nodes" : "edges", s->links ? "pairs" : "nodes");
}

static int walk_task(struct ondisk *o, const json_t *task, uint32_t number, ondisk_set_fn *fn,
                     void *arg, struct gnn_err *e)
{
    const struct ondisk_place at = gnn_ondisk_below(NULL, "tasks", number);
    const char *name;
    int rc = gnn_ondisk_keys(o, task, &at, "name train_set validation_set test_set ", e);
    if (!rc)
        rc = gnn_ondisk_text(o, task, &at, "name", false, &name, e);
    for (int k = 0; !rc && k < SETS; k++) {
        const json_t *list = NULL;
        rc = gnn_ondisk_list(o, task, &at, set_key[k], &list, e);
        for (size_t i = 0; !rc && i < json_array_size(list); i++) {
            struct ondisk_set s = {.task = task, .number = number, .set = k};
            const struct ondisk_place here = gnn_ondisk_below(&at, set_key[k], (int64_t)i);
            rc = read_set(o, &s, json_array_get(list, i), &here, e);
            if (!rc)
                rc = fn(arg, &s, e);
        }
    }
    return rc;
}

int gnn_ondisk_sets(struct ondisk *o, ondisk_set_fn *fn, void *arg, struct gnn_err *e)
{
    const json_t *tasks = NULL;
    int rc = gnn_ondisk_list(o, o->meta, NULL, "tasks", &tasks, e);
    for (size_t i = 0; !rc && i < json_array_size(tasks); i++)
        rc = walk_task(o, json_array_get(tasks, i), (uint32_t)i, fn, arg, e);
    return rc;
}
