/* SPDX-License-Identifier: Apache-2.0 */
/* SNAP and CSV edge lists: which columns are what. */
#include <stdlib.h>
#include <string.h>

#include "lib/import/read/edgelist.h"
#include "lib/import/read/formats.h"
#include "lib/base/suggest.h"

enum { COLS = 256, WORD = 128 };

struct columns {
    char name[COLS][WORD]; /* "" without a header */
    char use[COLS][WORD];  /* "source", "target", a field's name, "" */
    uint32_t n;
    bool header;
};

/* What the ends of an edge are called. */
static const char *const ends[2][7] = {
    {"source", "src", "from", "head", "u", "source_id", "FromNodeId"},
    {"target", "dst", "to", "tail", "v", "target_id", "ToNodeId"}};

bool gnn_edgelist_head(const struct gnn_word *w, uint32_t n)
{
    bool has[2] = {false, false};
    for (uint32_t i = 0; i < n; i++)
        for (int k = 0; k < 14; k++)
            if (strlen(ends[k / 7][k % 7]) == w[i].n && !memcmp(ends[k / 7][k % 7], w[i].p, w[i].n))
                has[k / 7] = has[k / 7] ||
                             k % 7 != 3; /* a line head, relation, tail may stand before triples */
    return has[0] && has[1];
}

static bool is_number(const struct gnn_word *w)
{
    double v;
    char buf[WORD];
    if (!w->n || w->n >= sizeof buf - 1)
        return w->n == 0;
    memcpy(buf, w->p, w->n);
    buf[w->n] = '\n';
    const char *q = gnn_text_f64(buf, &v);
    return q && *q == '\n';
}

static int read_header(struct gnn_table *t, struct columns *c, struct gnn_err *e)
{
    struct gnn_word w[COLS];
    int rc = gnn_table_words(t, w, COLS, &c->n, e);
    for (uint32_t i = 0; !rc && i < c->n; i++)
        c->header = c->header || !is_number(&w[i]);
    for (uint32_t i = 0; !rc && c->header && i < c->n; i++) {
        if (w[i].n >= WORD)
            return gnn_fail(e, GNN_E_INPUT, "%s: line %llu: a column's name is too long",
                            gnn_reader_name(t->r), (unsigned long long)t->line - 1);
        memcpy(c->name[i], w[i].p, w[i].n);
        c->name[i][w[i].n] = 0;
    }
    return rc;
}

static int no_end(const struct gnn_edgelist *l, const struct columns *c, const char *file,
                  const char *which, struct gnn_err *e)
{
    struct gnn_suggest s = {.word = ""};
    for (uint32_t i = 0; c->header && i < c->n; i++)
        gnn_suggest_add(&s, c->name[i]);
    return gnn_fail(e, l->s.o->columns ? GNN_E_USAGE : GNN_E_INPUT,
                    "%s: no column is the %s (--columns %s=COLUMN names it)%s", file, which, which,
                    gnn_suggest_text(&s, "columns"));
}

static int no_column(const struct columns *c, const char *name, struct gnn_err *e)
{
    struct gnn_suggest s = {.word = name};
    for (uint32_t i = 0; c->header && i < c->n; i++)
        gnn_suggest_add(&s, c->name[i]);
    if (!c->header)
        return gnn_fail(e, GNN_E_USAGE,
                        "--columns: there is no column '%s'; there are %u, without names", name,
                        c->n);
    return gnn_fail(e, GNN_E_USAGE, "--columns: there is no column '%s'%s", name,
                    gnn_suggest_text(&s, "columns"));
}

/* --columns USE=NAME,...: NAME is a column's name, or its number from 1. */
static int use_columns(struct columns *c, const char *list, struct gnn_err *e)
{
    for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',') {
        size_t klen = strcspn(p, "=,"), len = strcspn(p, ",");
        if (!klen || len < klen + 2 || klen >= WORD || len - klen - 1 >= WORD)
            return gnn_fail(e, GNN_E_USAGE, "--columns %s: expected USE=COLUMN,...", list);
        char want[WORD], *end;
        memcpy(want, p + klen + 1, len - klen - 1);
        want[len - klen - 1] = 0;
        uint32_t i = 0;
        while (i < c->n && !(c->header && !strcmp(c->name[i], want)))
            i++;
        unsigned long k = strtoul(want, &end, 10);
        if (i == c->n && !*end && k >= 1 && k <= c->n)
            i = (uint32_t)k - 1;
        if (i == c->n)
            return no_column(c, want, e);
        if (*c->use[i])
            return gnn_fail(e, GNN_E_USAGE, "--columns: '%s' is named twice", want);
        memcpy(c->use[i], p, klen);
        c->use[i][klen] = 0;
    }
    return GNN_OK;
}

/* Without --columns: known names for the ends, other columns under their own names; without a
 * header the first two columns. */
static int guess_columns(struct columns *c, const struct gnn_import_opts *o, const char *file,
                         struct gnn_err *e)
{
    if (!c->header && c->n > 2)
        return gnn_fail(e, GNN_E_INPUT, "%s: %u columns; --columns must say what they are", file,
                        c->n);
    for (uint32_t i = 0; i < c->n; i++) {
        const char *use = c->header ? gnn_src_mapped(o, c->name[i]) : i ? "target" : "source";
        for (int k = 0; c->header && k < 14; k++)
            if (!strcmp(use, ends[k / 7][k % 7]))
                use = k / 7 ? "target" : "source";
        snprintf(c->use[i], WORD, "%s", use);
    }
    return GNN_OK;
}

static int pick_columns(struct gnn_edgelist *l, const struct columns *c, const char *file,
                        struct gnn_err *e)
{
    enum gnn_status fault = l->s.o->columns || l->s.o->nmap ? GNN_E_USAGE : GNN_E_INPUT;
    int src = -1, dst = -1;
    uint32_t nums = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        bool s = !strcmp(c->use[i], "source"), d = !strcmp(c->use[i], "target");
        if (!*c->use[i])
            continue;
        if ((s && src >= 0) || (d && dst >= 0))
            return gnn_fail(e, fault, "%s: two columns are '%s'", file, c->use[i]);
        for (uint32_t j = 0; j < i; j++)
            if (!s && !d && !strcmp(c->use[j], c->use[i]))
                return gnn_fail(e, fault, "%s: two columns are '%s'", file, c->use[i]);
        if (l->npick == 2 + GNN_EDGELIST_FIELDS)
            return gnn_fail(e, GNN_E_INPUT, "%s: more than %d edge fields", file,
                            GNN_EDGELIST_FIELDS);
        src = s ? (int)i : src;
        dst = d ? (int)i : dst;
        struct gnn_pick *pick = &l->pick[l->npick++];
        *pick = (struct gnn_pick){.col = i, .id = s || d};
        if (!s && !d && nums < GNN_EDGELIST_FIELDS) {
            l->finite[nums] = gnn_src_finite(c->use[i]);
            if (strcmp(c->use[i], "weight") != 0)
                pick->seen = &l->seen[nums];
        }
        nums += !s && !d;
    }
    if (nums > GNN_EDGELIST_FIELDS)
        return gnn_fail(e, GNN_E_INPUT, "%s: more than %d edge fields", file, GNN_EDGELIST_FIELDS);
    if (src < 0 || dst < 0)
        return no_end(l, c, file, src < 0 ? "source" : "target", e);
    l->target_first = dst < src;
    return GNN_OK;
}

static int add_fields(struct gnn_edgelist *l, const struct columns *c, struct gnn_err *e)
{
    int rc = gnn_schema_add_etype(&l->s.d.schema, 0, "to", 0, l->n, e);
    uint32_t k = 0;
    for (uint32_t i = 0; !rc && i < c->n; i++) {
        const char *name = c->use[i];
        enum gnn_dtype dt = GNN_F32;
        if (!*name || !strcmp(name, "source") || !strcmp(name, "target"))
            continue;
        if (strcmp(name, "weight") != 0)
            rc = gnn_numbers_type(&l->seen[k], gnn_input_name(l->s.in[0]), name, &dt, e);
        if (!rc && dt == GNN_I64)
            gnn_edgelist_take_whole(l, k);
        l->num_of[l->s.d.schema.etype[0].nfields] = k++;
        if (!rc)
            rc = gnn_schema_add_efield(&l->s.d.schema, 0, name, dt, 0, e);
    }
    return rc;
}

int gnn_edgelist_open(struct gnn_dataset **out, struct gnn_input *in,
                      const struct gnn_import_opts *o, struct gnn_err *e)
{
    struct gnn_edgelist *l = gnn_alloc_zero(1, sizeof *l, "data set", e);
    struct columns *c = gnn_alloc_zero(1, sizeof *c, "columns", e);
    struct gnn_table t = {0};
    *out = NULL;
    if (!l || !c) {
        gnn_free(l);
        gnn_free(c);
        gnn_input_free(in);
        return GNN_E_NOMEM;
    }
    l->s.o = o;
    l->s.d.ops = &gnn_edgelist_ops;
    l->comment = '#';
    l->declared = UINT64_MAX;
    int rc = gnn_src_own(&l->s, in, e);
    if (!rc)
        rc = gnn_input_lone(in, "an edge list", e);
    if (!rc)
        rc = gnn_table_open(&t, in, 0, l->comment, e);
    bool none = !rc && !t.ncols; /* comments only: a graph without edges, if --nodes says how many
                                    nodes there are */
    if (none)
        c->n = 2;
    else if (!rc)
        rc = read_header(&t, c, e);
    if (!rc)
        rc = o->columns ? use_columns(c, o->columns, e)
                        : guess_columns(c, o, gnn_reader_name(t.r), e);
    if (!rc)
        rc = pick_columns(l, c, gnn_reader_name(t.r), e);
    l->skip = c->header;
    l->s.d.format = t.sep == ',' || t.sep == ';' ? "csv" : "snap";
    gnn_table_close(&t);
    if (!rc && o->nodes)
        rc = gnn_schema_add_ntype(&l->s.d.schema, "node", o->nodes, e);
    if (!rc)
        rc = gnn_edgelist_scan(l, e);
    if (!rc)
        rc = add_fields(l, c, e);
    if (!rc)
        rc = gnn_src_attach(&l->s, e);
    gnn_free(c);
    if (rc) {
        gnn_dataset_free(&l->s.d);
        return rc;
    }
    *out = &l->s.d;
    return GNN_OK;
}
