/* SPDX-License-Identifier: Apache-2.0 */
/* Several tables as one graph (lib/import/read/tables.h). Each table of edges is a data set of its
 * own, read as any other one is (lib/import/read/csv.c), which has its ids from here. */
#include "lib/import/read/tables.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/mem.h"
#include "lib/base/suggest.h"
#include "lib/import/read/attach.h"
#include "lib/import/read/csv.h"
#include "lib/import/read/detect.h"
#include "lib/import/read/joined.h"
#include "lib/import/read/reading.h"

/* A table of edges. Its own object is freed with it. */
struct edge_table {
    struct gnn_edgelist l;
    struct gnn_import_opts o; /* of this table: those of all, and what its columns are */
    char *full, *text;        /* "SRC/REL/DST"; the words apart, which l.type points to */
    char *columns, *ends[2];  /* that o and map point to */
    const char **map;
    bool *map_used;
    uint32_t type[2]; /* node types of sources and targets */
};

struct tables {
    struct gnn_src s;
    const char **type; /* (ntypes) node types, in the texts of tables */
    uint32_t ntypes;
    bool *known, *words;   /* [ntypes] a table of nodes has the ids; ids are words */
    const char **of;       /* [ntypes] the file of that table */
    struct edge_table **t; /* (n) */
    uint32_t n;
    uint64_t bytes; /* of the files */
};

/* ---- what --edges says ---- */

/* Splits SRC/REL/DST=FILE[:FROM,TO]; *file and *columns are copies. */
static int split_spec(struct edge_table *t, const char *spec, char **file, char **columns,
                      struct gnn_err *e)
{
    const char *eq = strchr(spec, '='), *colon = eq ? strrchr(eq, ':') : NULL;
    const char *comma = colon ? strchr(colon, ',') : NULL;
    if (!eq || eq == spec || !eq[1])
        return gnn_fail(e, GNN_E_USAGE, "--edges %s: expected SRC/REL/DST=FILE[:FROM,TO]", spec);
    if (colon && (!access(eq + 1, F_OK) || strchr(colon, '/')))
        colon = NULL;
    if (colon && (!comma || comma == colon + 1 || !comma[1] || strchr(comma + 1, ',')))
        return gnn_fail(e, GNN_E_USAGE,
                        "--edges %s: expected two columns, of sources and of targets: FILE:FROM,TO",
                        spec);
    t->full = gnn_strf(e, "%.*s", (int)(eq - spec), spec);
    t->text = t->full ? gnn_strdup(t->full, e) : NULL;
    *file = gnn_strf(e, "%.*s", (int)(colon ? (size_t)(colon - eq - 1) : strlen(eq + 1)), eq + 1);
    *columns = colon ? gnn_strdup(colon + 1, e) : NULL;
    return t->text && *file && (*columns || !colon) ? GNN_OK : GNN_E_NOMEM;
}

static bool is_number(const char *s)
{
    bool is = *s != 0;
    for (; is && *s; s++)
        is = isdigit((unsigned char)*s);
    return is;
}

/* Columns by numbers are all that is read, as their names are unknown; by names, those of the ends
 * among others. */
static int set_columns(struct edge_table *t, char *columns, struct gnn_err *e)
{
    static const char *const use[2] = {"source", "target"};
    char *end[2] = {columns, strchr(columns, ',') + 1};
    end[1][-1] = 0;
    t->o.edge_type = NULL; /* names of types need not be those of columns */
    if (is_number(end[0]) && is_number(end[1])) {
        t->o.columns = t->columns = gnn_strf(e, "source=%s,target=%s", end[0], end[1]);
        return t->columns ? GNN_OK : GNN_E_NOMEM;
    }
    for (int k = 0; k < 2; k++) {
        t->ends[k] = gnn_strf(e, "%s=%s", use[k], end[k]);
        if (!t->ends[k])
            return GNN_E_NOMEM;
        t->map[t->o.nmap++] = t->ends[k];
    }
    return GNN_OK;
}

/* The options of one table, from those of all. */
static int set_options(struct edge_table *t, const struct gnn_import_opts *o, char *columns,
                       struct gnn_err *e)
{
    t->o = (struct gnn_import_opts){.edge_type = t->full,
                                    .header = o->header,
                                    .ids = o->ids,
                                    .comments = o->comments,
                                    .task = -1,
                                    .nmap = o->nmap};
    t->map = gnn_alloc(o->nmap + 2, sizeof *t->map, "names of columns", e);
    t->map_used = gnn_alloc_zero(o->nmap + 2, sizeof *t->map_used, "names of columns", e);
    if (!t->map || !t->map_used)
        return GNN_E_NOMEM;
    for (uint32_t i = 0; i < o->nmap; i++)
        t->map[i] = o->map[i];
    t->o.map = t->map;
    t->o.map_used = t->map_used;
    return columns ? set_columns(t, columns, e) : GNN_OK;
}

/* ---- types ---- */

static int add_type(struct tables *g, const char *name, uint32_t *type, struct gnn_err *e)
{
    for (*type = 0; *type < g->ntypes; ++*type)
        if (!strcmp(g->type[*type], name))
            return GNN_OK;
    if (g->ntypes == GNN_TYPES_MAX)
        return gnn_fail(e, GNN_E_USAGE, "--edges: more than %d node types", GNN_TYPES_MAX);
    int rc = gnn_grow(&g->type, g->ntypes, sizeof *g->type, "node types", e);
    if (!rc)
        g->type[g->ntypes++] = name;
    return rc;
}

/* Node types are numbered as tables of nodes name them, then as those of edges do. */
static int add_types(struct tables *g, struct gnn_err *e)
{
    uint32_t type;
    int rc = GNN_OK;
    for (uint32_t i = 0; !rc && i < g->s.ntables; i++) {
        if (!g->s.table[i].type)
            return gnn_fail(e, GNN_E_USAGE,
                            "--nodes %s: with --edges, TYPE=FILE says of which type",
                            g->s.table[i].joined->path);
        rc = add_type(g, g->s.table[i].type, &type, e);
    }
    for (uint32_t i = 0; !rc && i < g->n; i++)
        for (int k = 0; !rc && k < 2; k++)
            rc = add_type(g, g->t[i]->l.type[2 * k], &g->t[i]->type[k], e);
    g->known = rc ? NULL : gnn_alloc_zero(g->ntypes, sizeof *g->known, "node types", e);
    g->words = rc ? NULL : gnn_alloc_zero(g->ntypes, sizeof *g->words, "node types", e);
    g->of = rc ? NULL : gnn_alloc_zero(g->ntypes, sizeof *g->of, "node types", e);
    if (!rc && (!g->known || !g->words || !g->of))
        rc = GNN_E_NOMEM;
    return rc ? rc : gnn_src_make_ids(&g->s, g->ntypes, e);
}

/* Takes the ids of all types that have tables of nodes. */
static int take_ids(struct tables *g, struct gnn_err *e)
{
    for (uint32_t i = 0; i < g->s.ntables; i++) {
        struct gnn_src_table *t = &g->s.table[i];
        if (add_type(g, t->type, &t->ntype, e))
            return e->code;
        g->known[t->ntype] = true;
        g->words[t->ntype] |= t->words || g->s.o->ids == GNN_IDS_AS_WORDS;
        g->of[t->ntype] = t->joined->path;
    }
    int rc = GNN_OK;
    for (uint32_t i = 0; i < g->ntypes; i++)
        g->s.ids[i].kind = g->words[i] ? GNN_IDS_WORDS : GNN_IDS_NUMBERS;
    for (uint32_t i = 0; !rc && i < g->s.ntables; i++)
        rc = gnn_attach_add_ids(&g->s, i, e);
    for (uint32_t i = 0; !rc && i < g->ntypes; i++)
        if (g->known[i]) {
            gnn_nodeids_seal(&g->s.ids[i]);
            rc = gnn_nodeids_finish(&g->s.ids[i], e);
        }
    return rc;
}

/* ---- tables of edges ---- */

static int new_table(struct tables *g, struct edge_table **out, struct gnn_err *e)
{
    if (gnn_grow(&g->t, g->n, sizeof *g->t, "tables", e))
        return GNN_E_NOMEM;
    struct edge_table *t = *out = gnn_alloc_zero(1, sizeof *t, "a table", e);
    if (!t)
        return GNN_E_NOMEM;
    g->t[g->n++] = t;
    t->l.s.d.ops = &gnn_edgelist_ops;
    t->l.s.o = &t->o;
    t->l.one_of_several = true;
    t->l.declared = UINT64_MAX;
    return GNN_OK;
}

static int no_column(const struct edge_table *t, const char *name, struct gnn_err *e)
{
    const struct gnn_reading *r = t->l.reading;
    struct gnn_suggest s = {.word = name};
    for (uint32_t i = 0; r->header && i < r->ncols; i++)
        gnn_suggest_add(&s, r->col[i].name);
    return gnn_fail(e, GNN_E_USAGE, "%s: there is no column '%s'%s", t->l.s.d.name, name,
                    gnn_suggest_text(&s, "columns"));
}

/* Opens the file; how it is read follows from its rows. */
static int open_file(struct tables *g, struct edge_table *t, const char *file, struct gnn_err *e)
{
    struct gnn_input *in;
    const char *format = NULL;
    int rc = gnn_input_open(&in, &file, 1, e);
    if (!rc)
        rc = gnn_src_own(&t->l.s, in, e);
    if (!rc)
        rc = gnn_detect(in, &format, e);
    if (!rc && strcmp(format, "csv") != 0)
        rc =
            gnn_fail(e, GNN_E_INPUT, "%s: --edges reads text tables, and this is %s", file, format);
    g->bytes += rc ? 0 : gnn_input_bytes(in);
    if (!rc)
        rc = gnn_csv_find(&t->l, e);
    for (int k = 0; !rc && k < 2; k++)
        if (t->ends[k] && !t->map_used[g->s.o->nmap + (uint32_t)k])
            rc = no_column(t, strchr(t->ends[k], '=') + 1, e);
    return rc;
}

static int open_table(struct tables *g, const char *spec, struct gnn_err *e)
{
    char *file = NULL, *columns = NULL;
    struct edge_table *t;
    int rc = new_table(g, &t, e);
    if (!rc)
        rc = split_spec(t, spec, &file, &columns, e);
    if (!rc && !gnn_src_split_type(t->text, t->l.type))
        rc = gnn_fail(e, GNN_E_USAGE, "--edges %s: expected SRC/REL/DST before the =", spec);
    if (!rc)
        rc = set_options(t, g->s.o, columns, e);
    if (!rc)
        rc = open_file(g, t, file, e);
    gnn_free(file);
    gnn_free(columns);
    return rc;
}

/* Ids of a type without a table of nodes are words, if those of one of its tables of edges are; and
 * then all its tables are read so. */
static int agree_on_words(struct tables *g, struct gnn_err *e)
{
    bool changed = true;
    int rc = GNN_OK;
    while (!rc && changed) {
        changed = false;
        for (uint32_t i = 0; !rc && i < g->n; i++) {
            struct edge_table *t = g->t[i];
            const bool any = g->words[t->type[0]] || g->words[t->type[1]];
            for (int k = 0; k < 2; k++)
                if (t->l.reading->words && !g->known[t->type[k]] && !g->words[t->type[k]])
                    changed = g->words[t->type[k]] = true;
            if (t->l.reading->words || !any)
                continue;
            gnn_free(t->l.reading);
            t->l.reading = NULL;
            t->l.words = changed = true;
            rc = gnn_csv_find(&t->l, e);
        }
    }
    return rc;
}

/* Gives all tables the ids of their types; those that tables of edges add to are empty. */
static void share_ids(struct tables *g)
{
    for (uint32_t i = 0; i < g->ntypes; i++)
        if (!g->known[i]) {
            gnn_nodeids_release(&g->s.ids[i]);
            g->s.ids[i].kind = g->words[i] ? GNN_IDS_WORDS : GNN_IDS_NUMBERS;
        }
    for (uint32_t i = 0; i < g->n; i++)
        for (int k = 0; k < 2; k++) {
            struct edge_table *t = g->t[i];
            t->l.end[k] = &g->s.ids[t->type[k]];
            t->l.known[k] = g->known[t->type[k]];
            t->l.table[k] = g->of[t->type[k]];
        }
}

/* Reads all edges once. Where the first rows did not tell how a table is read, all begins again. */
static int scan_all(struct tables *g, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (bool again = true; !rc && again;) {
        again = false;
        rc = agree_on_words(g, e);
        if (!rc)
            share_ids(g);
        for (uint32_t i = 0; !rc && !again && i < g->n; i++)
            rc = gnn_csv_scan(&g->t[i]->l, &again, e);
        for (uint32_t i = 0; !rc && again && i < g->n; i++)
            gnn_edgelist_forget(&g->t[i]->l);
    }
    for (uint32_t i = 0; !rc && i < g->ntypes; i++)
        if (!g->known[i]) {
            gnn_nodeids_seal(&g->s.ids[i]);
            rc = gnn_nodeids_finish(&g->s.ids[i], e);
        }
    return rc;
}

/* ---- the data set ---- */

/* What users should know of a table, they should of all. */
static int take_notes(struct gnn_dataset *d, const struct gnn_dataset *of, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (uint32_t i = 0; !rc && i < of->nnotes; i++)
        rc = gnn_dataset_note(d, e, "%s", of->note[i]);
    return rc;
}

static int add_edge_type(struct tables *g, struct edge_table *t, struct gnn_err *e)
{
    struct gnn_schema *c = &g->s.d.schema;
    int rc = gnn_edgelist_settle(&t->l, e);
    if (!rc)
        rc = gnn_csv_add_fields(&t->l, e);
    if (!rc)
        rc = gnn_schema_add_etype(c, t->type[0], t->l.type[1], t->type[1], t->l.n, e);
    const struct gnn_etype *et = rc ? NULL : &t->l.s.d.schema.etype[0];
    for (uint32_t f = 0; !rc && f < et->nfields; f++)
        rc = gnn_schema_add_efield(c, c->netypes - 1, et->field[f].name, et->field[f].dtype,
                                   et->field[f].width, e);
    if (!rc)
        rc = gnn_reading_note(t->l.reading, gnn_input_name(t->l.s.in[0]), &g->s.d, e);
    if (!rc)
        rc = take_notes(&g->s.d, &t->l.s.d, e);
    for (uint32_t i = 0; !rc && g->s.o->map_used && i < g->s.o->nmap; i++)
        g->s.o->map_used[i] |= t->map_used[i];
    return rc;
}

static int add_schema(struct tables *g, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (uint32_t i = 0; !rc && i < g->ntypes; i++)
        rc = gnn_schema_add_ntype(&g->s.d.schema, g->type[i], g->s.ids[i].n, e);
    for (uint32_t i = 0; !rc && i < g->n; i++)
        rc = add_edge_type(g, g->t[i], e);
    g->s.d.ids = g->s.ids;
    return rc ? rc : gnn_attach(&g->s, e);
}

static int tables_edges(struct gnn_dataset *d, uint32_t t, bool fields, gnn_edge_fn *fn, void *arg,
                        struct gnn_err *e)
{
    struct gnn_dataset *of = &((struct tables *)d)->t[t]->l.s.d;
    int rc = of->ops->edges(of, 0, fields, fn, arg, e);
    return rc ? rc : take_notes(d, of, e);
}

static void tables_free(struct gnn_dataset *d)
{
    struct tables *g = (struct tables *)d;
    for (uint32_t i = 0; i < g->n; i++) {
        struct edge_table *t = g->t[i];
        gnn_free(t->full);
        gnn_free(t->text);
        gnn_free(t->columns);
        gnn_free(t->ends[0]);
        gnn_free(t->ends[1]);
        gnn_free(t->map);
        gnn_free(t->map_used);
        gnn_dataset_free(&t->l.s.d);
    }
    gnn_free(g->t);
    gnn_free(g->type);
    gnn_free(g->known);
    gnn_free(g->words);
    gnn_free(g->of);
    gnn_src_free(d);
}

static const struct gnn_dataset_ops tables_ops = {tables_edges, gnn_src_rows, gnn_src_set,
                                                  tables_free};

int gnn_tables_open(struct gnn_dataset **out, const struct gnn_import_opts *o, struct gnn_err *e)
{
    bool words;
    struct tables *g = gnn_alloc_zero(1, sizeof *g, "data set", e);
    *out = NULL;
    if (!g)
        return GNN_E_NOMEM;
    g->s.o = o;
    g->s.d.ops = &tables_ops;
    g->s.d.format = "tables";
    int rc = GNN_OK;
    for (uint32_t i = 0; !rc && i < o->nedge_tables; i++)
        rc = open_table(g, o->edge_table[i], e);
    if (!rc)
        rc = gnn_src_own(&g->s, gnn_input_hold(g->t[0]->l.s.in[0]), e);
    if (!rc)
        rc = gnn_attach_open(&g->s, &words, e);
    if (!rc)
        rc = add_types(g, e);
    if (!rc)
        rc = take_ids(g, e);
    if (!rc)
        rc = scan_all(g, e);
    if (!rc)
        rc = add_schema(g, e);
    if (!rc)
        rc = gnn_src_check_counts(&g->s.d, g->bytes, o, e);
    if (rc)
        gnn_dataset_free(&g->s.d);
    else
        *out = &g->s.d;
    return rc;
}
