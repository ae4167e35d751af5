/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of nodes and their types (lib/import/read/attach.h): which file is of which type, which
 * ids it adds, and whether its rows have ids. */
#include "lib/import/read/attach.h"

#include <string.h>
#include <unistd.h>

#include "lib/import/read/colname.h"
#include "lib/import/read/node_table.h"
#include "lib/import/read/survey.h"
#include "lib/base/suggest.h"

/* FILE of [TYPE=]FILE; *type is TYPE on the heap, or NULL. A file of the whole name is meant first.
 */
static const char *skip_type(const char *spec, char **type, struct gnn_err *e)
{
    const char *eq = strchr(spec, '=');
    *type = NULL;
    if (!eq || eq == spec || memchr(spec, '/', (size_t)(eq - spec)) || !access(spec, F_OK))
        return spec;
    *type = gnn_strf(e, "%.*s", (int)(eq - spec), spec);
    return *type ? eq + 1 : NULL;
}

/* Which of n node types a table is of. */
static int find_type(struct gnn_src_table *t, const char *const *name, uint32_t n,
                     struct gnn_err *e)
{
    const char *file = t->joined->path;
    struct gnn_suggest s = {.word = t->type ? t->type : ""};
    for (t->ntype = 0; t->ntype < n; t->ntype++) {
        if (t->type ? !strcmp(name[t->ntype], t->type) : n == 1)
            return GNN_OK;
        gnn_suggest_add(&s, name[t->ntype]);
    }
    if (t->type)
        return gnn_fail(e, GNN_E_USAGE, "%s: there is no node type '%s'%s", file, t->type,
                        gnn_suggest_text(&s, "node types"));
    return gnn_fail(e, GNN_E_USAGE, "%s: several node types: TYPE=%s says of which it is%s", file,
                    file, gnn_suggest_text(&s, "node types"));
}

/* *words, if an id is a word by the rule for tables of edges. What is neither that nor a number,
 * such as -1, is found when numbers are added. */
static int look_at_ids(struct gnn_joined *j, bool *words, struct gnn_err *e)
{
    int rc;
    while (!(rc = gnn_joined_next(j, e))) {
        const enum gnn_cell kind = gnn_cell_kind(&j->word[j->id]);
        if (gnn_table_check_id(&j->t, &j->word[j->id], (uint32_t)j->id, j->line, e))
            return e->code;
        *words =
            *words || (kind != GNN_CELL_ID && kind != GNN_CELL_NUMBER && kind != GNN_CELL_MISSING);
    }
    if (rc == GNN_END && !j->row)
        return gnn_fail(e, GNN_E_INPUT, "%s: a header line, and no rows", j->path);
    return rc == GNN_END ? gnn_joined_again(j, e) : rc;
}

/* Words in a first column without a name, as pandas writes an index, are ids. */
static int find_index(struct gnn_joined *j, struct gnn_err *e)
{
    if (j->id >= 0 || !j->header || !gnn_colname_none(j->name[0]))
        return GNN_OK;
    int rc = gnn_joined_next(j, e);
    if (!rc && j->word[0].n && !gnn_joined_is_number(&j->word[0]))
        j->id = 0;
    return rc && rc != GNN_END ? rc : gnn_joined_again(j, e);
}

static int open_table(const char *spec, struct gnn_src_table *t, bool *words, struct gnn_err *e)
{
    const char *file = skip_type(spec, &t->type, e);
    t->joined = file ? gnn_alloc_zero(1, sizeof *t->joined, "a table of nodes", e) : NULL;
    if (!t->joined)
        return GNN_E_NOMEM;
    int rc = gnn_joined_open(t->joined, file, t->type, e);
    if (!rc && !t->joined->text)
        return gnn_fail(e, GNN_E_USAGE, "--nodes %s: an array has no ids: expected a text table",
                        spec);
    if (!rc && !t->joined->ncols)
        return gnn_fail(e, GNN_E_INPUT, "%s: no rows", t->joined->path);
    /* Names of nodes, one a line. */
    if (!rc && t->joined->id < 0 && t->joined->ncols == 1 && !t->joined->column)
        t->joined->id = 0;
    if (!rc && t->joined->id < 0 && t->joined->column)
        rc = gnn_fail(e, GNN_E_USAGE,
                      "--nodes %s: rows are found by ids: --features and --labels take rows in the "
                      "order of nodes",
                      spec);
    if (!rc)
        rc = find_index(t->joined, e);
    if (!rc && t->joined->id < 0)
        rc = gnn_joined_no_id(t->joined, "--nodes ", spec, e);
    if (rc)
        return rc;
    return look_at_ids(t->joined, words, e);
}

int gnn_attach_open(struct gnn_src *s, bool *words, struct gnn_err *e)
{
    const uint32_t given = s->o->nnode_tables;
    uint32_t n = given;
    while (gnn_input_table(s->in[0], n - given))
        n++;
    *words = false;
    s->table = gnn_alloc_zero(n, sizeof *s->table, "tables of nodes", e);
    int rc = s->table ? GNN_OK : GNN_E_NOMEM;
    while (!rc && s->ntables < n) {
        const uint32_t i = s->ntables++;
        rc = open_table(i < given ? s->o->node_table[i] : gnn_input_table(s->in[0], i - given),
                        &s->table[i], &s->table[i].words, e);
        *words = *words || s->table[i].words;
        if (!rc)
            rc = gnn_src_note_pipe(s, s->table[i].joined->in, e);
    }
    return rc;
}

/* Tables whose rows are all of nodes that no edge names are of other edges, or write ids in another
 * way. Most often the first row tells. */
static int check_ids(const struct gnn_src *s, uint32_t ntype, struct gnn_err *e)
{
    const struct gnn_nodeids *ids = &s->ids[ntype];
    char shown[GNN_ID_TEXT] = "", other[GNN_ID_TEXT + 32] = "";
    const char *path = NULL;
    uint64_t key;
    bool met = !ids->of_edges;
    int rc = GNN_OK;
    for (uint32_t i = 0; !met && i < s->ntables; i++) {
        struct gnn_joined *j = s->table[i].joined;
        if (s->table[i].ntype != ntype)
            continue;
        while (!met && !(rc = gnn_joined_next(j, e))) {
            if (!path)
                gnn_word_shown(&j->word[j->id], shown);
            path = j->path;
            /* what is no number is told when it is added */
            met = gnn_nodeids_in_edges(ids, &j->word[j->id]) ||
                  (ids->kind == GNN_IDS_NUMBERS && !gnn_word_number(&j->word[j->id], &key));
        }
        if (rc && rc != GNN_END)
            return rc;
        if ((rc = gnn_joined_again(j, e)))
            return rc;
    }
    if (met || !path)
        return GNN_OK;
    if (ids->kind == GNN_IDS_WORDS) {
        const struct gnn_word w = gnn_words_get(&ids->words, 0);
        char text[GNN_ID_TEXT];
        snprintf(other, sizeof other, ", which have '%s'", gnn_word_shown(&w, text));
    }
    return gnn_fail(e, GNN_E_INPUT,
                    "%s: none of its ids is in the edges%s: its first is '%s' (each spelling is an "
                    "id of its own, and FILE:COLUMN names another column)",
                    path, other, shown);
}

static int add_ids(struct gnn_nodeids *ids, struct gnn_joined *j, struct gnn_err *e)
{
    uint32_t node;
    uint64_t key;
    int rc;
    while (!(rc = gnn_joined_next(j, e))) {
        const struct gnn_word *w = &j->word[j->id];
        if (ids->kind == GNN_IDS_WORDS)
            rc = gnn_nodeids_add_words(ids, w, 1, &node, e);
        else if (!gnn_word_number(w, &key))
            return gnn_joined_fail(j, (uint32_t)j->id, "ids are numbers, and not", "", e);
        else
            rc = gnn_nodeids_add_numbers(ids, &key, 1, e);
        if (rc)
            return rc;
    }
    return rc == GNN_END ? gnn_joined_again(j, e) : rc;
}

int gnn_attach_add_ids(struct gnn_src *s, uint32_t table, struct gnn_err *e)
{
    return add_ids(&s->ids[s->table[table].ntype], s->table[table].joined, e);
}

int gnn_attach_ids(struct gnn_src *s, const char *const *type, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (uint32_t i = 0; i < s->nids; i++)
        gnn_nodeids_seal(&s->ids[i]);
    for (uint32_t i = 0; !rc && i < s->ntables; i++) {
        struct gnn_src_table *t = &s->table[i];
        rc = find_type(t, type, s->nids, e);
    }
    for (uint32_t i = 0; !rc && i < s->nids; i++)
        rc = check_ids(s, i, e);
    for (uint32_t i = 0; !rc && i < s->ntables; i++)
        rc = add_ids(&s->ids[s->table[i].ntype], s->table[i].joined, e);
    for (uint32_t i = 0; !rc && i < s->nids; i++) {
        const struct gnn_nodeids *ids = &s->ids[i];
        rc = gnn_nodeids_finish(&s->ids[i], e);
        if (!rc && s->ntables && ids->of_edges && ids->n > ids->of_edges)
            rc = gnn_dataset_note(&s->d, e, "%llu of %llu nodes are in no edge, but in a table",
                                  (unsigned long long)(ids->n - ids->of_edges),
                                  (unsigned long long)ids->n);
    }
    s->d.ids = s->ids;
    return rc;
}

/* The ids of a type; of a count, *count is what they are. */
static const struct gnn_nodeids *ids_of(const struct gnn_src *s, uint32_t ntype,
                                        struct gnn_nodeids *count)
{
    *count = (struct gnn_nodeids){.n = s->d.schema.ntype[ntype].count};
    return s->d.ids ? &s->d.ids[ntype] : count;
}

/* Whether each node has one row whose first cell is its id. Most often the first rows tell. */
static int first_are_ids(struct gnn_joined *j, const struct gnn_nodeids *ids, bool *are,
                         struct gnn_err *e)
{
    uint64_t *seen = gnn_alloc_zero(ids->n / 64 + 1, sizeof *seen, "ids", e), rows = 0;
    int rc = seen ? GNN_OK : GNN_E_NOMEM;
    uint32_t node;
    *are = j->ncols > 1;
    while (!rc && *are && !(rc = gnn_joined_next(j, e))) {
        gnn_nodeids_find(ids, &j->word[0], 1, &node);
        *are = node < ids->n && !(seen[node / 64] >> (node & 63) & 1);
        if (*are)
            seen[node / 64] |= UINT64_C(1) << (node & 63);
        rows++;
    }
    *are = *are && rows == ids->n;
    gnn_free(seen);
    return !rc || rc == GNN_END ? gnn_joined_again(j, e) : rc;
}

/* A file without a column that is called like ids: it may have one all the same. */
static int find_ids(struct gnn_src *s, struct gnn_joined *j, const struct gnn_nodeids *ids,
                    const char *option, struct gnn_err *e)
{
    bool are = false;
    if (j->column || j->id >= 0)
        return GNN_OK;
    int rc = j->text ? first_are_ids(j, ids, &are, e) : GNN_OK;
    /* Where nodes have names, a first cell that is no number can be nothing else. */
    if (!rc && j->text && !are && j->ncols > 1 && ids->kind == GNN_IDS_WORDS &&
        !(rc = gnn_joined_next(j, e))) {
        are = !gnn_joined_is_number(&j->word[0]);
        rc = gnn_joined_again(j, e);
    }
    if (!rc && are && !j->header && ids->kind != GNN_IDS_WORDS)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: column 1 is the ids of the nodes, and there is no header: "
                        "--%s %s:1 finds rows by it, %s:0 takes it for one of the %s",
                        j->path, option, j->path, j->path, option);
    if (!rc && are)
        j->id = 0;
    if (!rc && !are && ids->kind == GNN_IDS_WORDS)
        rc = gnn_dataset_note(&s->d, e,
                              "warning: %s: rows are taken in the order in which the edges name "
                              "the nodes first (--%s %s:COLUMN finds rows by name)",
                              j->path, option, j->path);
    return rc;
}

static void type_names(const struct gnn_schema *c, const char *names[GNN_TYPES_MAX])
{
    for (uint32_t i = 0; i < c->nntypes; i++)
        names[i] = c->ntype[i].name;
}

/* A file of features or labels. Rows in order of nodes and without a header are streamed. */
static int attach_file(struct gnn_src *s, const char *spec, bool labels, struct gnn_err *e)
{
    struct gnn_joined j = {0};
    struct gnn_src_table t = {.joined = &j};
    struct gnn_nodeids count;
    const struct gnn_schema *c = &s->d.schema;
    const char *option = labels ? "labels" : "features", *names[GNN_TYPES_MAX];
    type_names(c, names);
    const char *file = skip_type(spec, &t.type, e);
    int rc = file ? gnn_joined_open(&j, file, t.type, e) : GNN_E_NOMEM;
    if (!rc && (t.type || s->nids > 1))
        rc = find_type(&t, names, c->nntypes, e);
    const struct gnn_nodeids *ids = rc ? NULL : ids_of(s, t.ntype, &count);
    if (!rc)
        rc = gnn_src_note_pipe(s, j.in, e);
    if (!rc && j.text && !j.ncols && ids->n)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: no rows", j.path);
    if (!rc)
        rc = find_ids(s, &j, ids, option, e);
    if (!rc && (j.header || j.id >= 0)) {
        rc = gnn_node_table_add(s, &j, ids, t.ntype, labels ? GNN_TABLE_LABELS : GNN_TABLE_FEATURES,
                                e);
    } else if (!rc) {
        rc = gnn_src_own(s, j.in, e);
        j.in = NULL;
        if (!rc)
            rc = gnn_src_node_array(s, t.ntype, labels ? "y" : "x", s->in[s->nin - 1], 0, e);
    }
    gnn_joined_close(&j);
    gnn_free(t.type);
    return rc;
}

int gnn_attach(struct gnn_src *s, struct gnn_err *e)
{
    const struct gnn_import_opts *o = s->o;
    const char *names[GNN_TYPES_MAX];
    bool words;
    int rc = s->table ? GNN_OK : gnn_attach_open(s, &words, e);
    type_names(&s->d.schema, names);
    for (uint32_t i = 0; !rc && i < s->ntables; i++) {
        struct gnn_nodeids count;
        struct gnn_src_table *t = &s->table[i];
        rc = find_type(t, names, s->d.schema.nntypes, e);
        if (!rc)
            rc = gnn_node_table_add(s, t->joined, ids_of(s, t->ntype, &count), t->ntype,
                                    GNN_TABLE_NODES, e);
    }
    for (uint32_t i = 0; !rc && i < o->nfeatures; i++)
        rc = attach_file(s, o->features[i], false, e);
    for (uint32_t i = 0; !rc && i < o->nlabels; i++)
        rc = attach_file(s, o->labels[i], true, e);
    return rc;
}
