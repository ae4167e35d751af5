/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of what users did with items, when, as JODIE (Kumar et al., KDD 2019) and, of its data,
 * the Temporal Graph Benchmark have them: a header of five names, then rows of a user, an item, a
 * time, a label and any number of features. Users and items are numbered from 0 each; if both are
 * of one node type, items come after all users, as there. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/plural.h"
#include "lib/import/read/formats.h"

enum { USER, ITEM, TIME, LABEL, FIRST, FIELDS = 3, FEATURES_MAX = 4096, CHUNK = 1 << 13 };

struct jodie {
    struct gnn_src s;
    char *types;           /* owned: what type points to */
    const char *type[3];   /* of users, of edges and of items */
    uint64_t n;            /* rows */
    uint64_t users, items; /* one more than the largest number */
    uint32_t features;     /* of a row */
    bool whole[FIRST];     /* all times, or labels, are whole numbers */
};

/* A pass over the rows. */
struct pass {
    struct gnn_table t;
    uint32_t ncols;
    double *row; /* [ncols] */
};

static void pass_close(struct pass *p)
{
    gnn_table_close(&p->t);
    gnn_free(p->row);
}

/* At the first row, behind the header. */
static int pass_open(struct pass *p, struct jodie *j, struct gnn_err *e)
{
    *p = (struct pass){.ncols = 0};
    if (gnn_table_open(&p->t, j->s.in[0], 0, 0, e))
        return e->code;
    gnn_table_next(&p->t);
    const int rc = gnn_table_line(&p->t, e);
    if (rc)
        return rc == GNN_END
                   ? gnn_fail(e, GNN_E_INPUT, "%s: a header line, and no rows", j->s.d.name)
                   : rc;
    p->ncols = p->t.ncols = gnn_text_count(p->t.p, p->t.sep);
    if (p->ncols < FIRST || p->ncols > FIRST + FEATURES_MAX)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: line %llu: %u field%s: expected a user, an item, a time, a label and "
                        "at most %d features",
                        j->s.d.name, (unsigned long long)p->t.line, p->ncols, gnn_plural(p->ncols),
                        FEATURES_MAX);
    p->row = gnn_alloc(p->ncols, sizeof *p->row, "a row", e);
    return p->row ? GNN_OK : GNN_E_NOMEM;
}

/* The next row, whose ids are checked; GNN_END after the last. */
static int next_row(struct pass *p, struct gnn_err *e)
{
    static const char *const name[] = {"user", "item", "time", "label"};
    uint64_t got;
    if (gnn_table_f64(&p->t, p->row, p->ncols, 1, &got, e))
        return e->code;
    if (!got)
        return GNN_END;
    for (uint32_t i = 0; i < p->ncols; i++) {
        const double v = p->row[i];
        const bool id = i <= ITEM;
        if (isfinite(v) && !(id && (v < 0 || v != floor(v) || v > UINT32_MAX - 2)))
            continue;
        return gnn_fail(e, GNN_E_INPUT, "%s: line %llu: column %u: %s%s", gnn_reader_name(p->t.r),
                        (unsigned long long)p->t.line - 1, i + 1, i < FIRST ? name[i] : "feature",
                        id ? " is not a number from 0" : " is missing, nan or infinite");
    }
    return GNN_OK;
}

static int scan_rows(struct jodie *j, struct gnn_err *e)
{
    struct pass p;
    double most[2] = {0};
    int rc = pass_open(&p, j, e);
    j->features = rc ? 0 : p.ncols - FIRST;
    j->whole[TIME] = j->whole[LABEL] = true;
    while (!rc && !(rc = next_row(&p, e))) {
        for (int i = USER; i <= ITEM; i++)
            most[i] = p.row[i] > most[i] ? p.row[i] : most[i];
        for (int i = TIME; i <= LABEL; i++)
            j->whole[i] = j->whole[i] && p.row[i] == floor(p.row[i]) && fabs(p.row[i]) < 0x1p53;
        j->n++;
    }
    j->users = (uint64_t)most[USER] + 1;
    j->items = (uint64_t)most[ITEM] + 1;
    pass_close(&p);
    return rc == GNN_END ? GNN_OK : rc;
}

/* ---- edges ---- */

/* Edges of a step: ends, and the rows of the fields. */
struct chunk {
    uint32_t src[CHUNK], dst[CHUNK];
    union gnn_number time[CHUNK], label[CHUNK];
    float *x;
    uint64_t n, most;
};

static void take_row(const struct jodie *j, const struct pass *p, struct chunk *c)
{
    const uint64_t first = strcmp(j->type[0], j->type[2]) ? 0 : j->users, i = c->n++;
    c->src[i] = (uint32_t)p->row[USER];
    c->dst[i] = (uint32_t)(first + (uint64_t)p->row[ITEM]);
    if (j->whole[TIME])
        c->time[i].whole = (int64_t)p->row[TIME];
    else
        c->time[i].real = p->row[TIME];
    if (j->whole[LABEL])
        c->label[i].whole = (int64_t)p->row[LABEL];
    else
        c->label[i].real = p->row[LABEL];
    for (uint32_t k = 0; k < j->features; k++)
        c->x[i * j->features + k] = (float)p->row[FIRST + k];
}

static int give_chunk(struct chunk *c, bool fields, gnn_edge_fn *fn, void *arg, struct gnn_err *e)
{
    const void *const field[FIELDS] = {c->time, c->label, c->x};
    const struct gnn_edge_chunk out = {c->n, c->src, c->dst, fields ? field : NULL};
    c->n = 0;
    return out.n ? fn(arg, &out, e) : GNN_OK;
}

static int jodie_edges(struct gnn_dataset *d, uint32_t t, bool fields, gnn_edge_fn *fn, void *arg,
                       struct gnn_err *e)
{
    struct jodie *j = (struct jodie *)d;
    struct pass p;
    struct chunk *c = gnn_alloc(1, sizeof *c, "edges", e);
    (void)t;
    if (!c)
        return GNN_E_NOMEM;
    c->n = 0;
    c->most = j->features > 128 ? (1 << 20) / j->features : CHUNK;
    c->x = gnn_alloc(c->most * j->features, sizeof *c->x, "edge features", e);
    int rc = c->x ? pass_open(&p, j, e) : GNN_E_NOMEM;
    if (!rc && p.ncols != j->features + FIRST)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: changed while it was read", d->name);
    while (!rc && !(rc = next_row(&p, e))) {
        take_row(j, &p, c);
        if (c->n == c->most)
            rc = give_chunk(c, fields, fn, arg, e);
    }
    if (rc == GNN_END)
        rc = give_chunk(c, fields, fn, arg, e);
    if (c->x)
        pass_close(&p);
    gnn_free(c->x);
    gnn_free(c);
    return rc;
}

static void jodie_free(struct gnn_dataset *d)
{
    gnn_free(((struct jodie *)d)->types);
    gnn_src_free(d);
}

static const struct gnn_dataset_ops jodie_ops = {jodie_edges, gnn_src_rows, gnn_src_set,
                                                 jodie_free};

/* ---- the data set ---- */

/* SRC/REL/DST of --edge-type. */
static int name_types(struct jodie *j, struct gnn_err *e)
{
    const char *given = j->s.o->edge_type;
    j->types = gnn_strdup(given ? given : "user/to/item", e);
    if (!j->types)
        return GNN_E_NOMEM;
    return gnn_src_split_type(j->types, j->type)
               ? GNN_OK
               : gnn_fail(e, GNN_E_USAGE, "--edge-type %s: expected SRC/REL/DST", given);
}

static int add_types(struct jodie *j, struct gnn_err *e)
{
    struct gnn_schema *c = &j->s.d.schema;
    const bool one = !strcmp(j->type[0], j->type[2]);
    int rc = gnn_schema_add_ntype(c, j->type[0], one ? j->users + j->items : j->users, e);
    if (!rc && !one)
        rc = gnn_schema_add_ntype(c, j->type[2], j->items, e);
    if (!rc)
        rc = gnn_schema_add_etype(c, 0, j->type[1], one ? 0 : 1, j->n, e);
    if (!rc)
        rc = gnn_schema_add_efield(c, 0, "time", j->whole[TIME] ? GNN_I64 : GNN_F64, 0, e);
    if (!rc)
        rc = gnn_schema_add_efield(c, 0, "state_label", j->whole[LABEL] ? GNN_I64 : GNN_F64, 0, e);
    if (!rc && j->features)
        rc = gnn_schema_add_efield(c, 0, "x", GNN_F32, j->features, e);
    return rc;
}

static int fill_jodie(struct gnn_src *s, void *reading, struct gnn_err *e)
{
    struct jodie *j = (struct jodie *)s;
    (void)reading;
    s->d.says = "edges lead from users to items";
    int rc = gnn_input_lone(s->in[0], "a table of users and items", e);
    if (!rc)
        rc = name_types(j, e);
    if (!rc)
        rc = scan_rows(j, e);
    if (!rc)
        rc = add_types(j, e);
    if (rc)
        return rc;
    return gnn_dataset_note(&s->d, e,
                            "read as: %llu user%s and %llu item%s by number, times in column 3, "
                            "state_label in column 4, and %u feature%s from column 5 on",
                            (unsigned long long)j->users, gnn_plural(j->users),
                            (unsigned long long)j->items, gnn_plural(j->items), j->features,
                            gnn_plural(j->features));
}

bool gnn_jodie_is(const char *line, size_t n)
{
    static const char last[] = "comma_separated_list_of_features";
    const size_t k = sizeof last - 1;
    while (n && (line[n - 1] == '\r' || line[n - 1] == ' ' || line[n - 1] == '"'))
        n--;
    return n > k && !memcmp(line + n - k, last, k);
}

const struct gnn_format gnn_jodie_format = {"jodie", sizeof(struct jodie), &jodie_ops, fill_jodie,
                                            NULL};
