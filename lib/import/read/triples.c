/* SPDX-License-Identifier: Apache-2.0 */
/* Knowledge graphs as (head, relation, tail) words, one triple a line: one node type, an edge type
 * for each relation, in order of first occurrence. Files train, valid (or dev) and test are read in
 * that order, and each edge says by its field "set" (0, 1, 2) which file it came from. */
#include <string.h>

#include "lib/import/read/formats.h"
#include "lib/import/read/reading.h"

enum { CHUNK = 1 << 13 };

struct triples {
    struct gnn_src s;
    struct gnn_words rel;
    struct gnn_buf src, dst, type, set; /* [n] u32, u32, u16, u8 */
    uint64_t n;
};

/* A relation becomes an edge type of that name. */
static int check_relation(const struct triples *g, const struct gnn_table *t,
                          const struct gnn_word *w, struct gnn_err *e)
{
    char name[GNN_TYPE_NAME_MAX + 2];
    struct gnn_err why = {0};
    if (g->rel.n > GNN_TYPES_MAX)
        gnn_fail(&why, GNN_E_INPUT, "more than %d relations", GNN_TYPES_MAX);
    snprintf(name, sizeof name, "%.*s", (int)(w->n < sizeof name ? w->n : sizeof name - 1), w->p);
    if (strlen(name) < w->n && w->n < sizeof name)
        gnn_fail(&why, GNN_E_INPUT, "relation name '%.70s' has a control character", name);
    else if (w->n >= sizeof name)
        gnn_fail(&why, GNN_E_INPUT, "relation name '%.70s...' has %zu bytes, more than %d", name,
                 w->n, GNN_TYPE_NAME_MAX);
    else
        (void)!gnn_type_name_check(name, "relation", &why);
    return why.code ? gnn_fail(e, GNN_E_INPUT, "%s: line %llu: %s", gnn_reader_name(t->r),
                               (unsigned long long)t->line - 1, why.msg)
                    : GNN_OK;
}

static int add_triple(struct triples *g, const struct gnn_table *t, const struct gnn_word *w,
                      const int *col, uint8_t set, struct gnn_err *e)
{
    uint32_t id[3];
    const uint32_t known = g->rel.n;
    int rc = GNN_OK;
    for (int k = 0; !rc && k < 3; k++) {
        if (k != 1 || !w[k].n)
            rc = gnn_table_check_id(t, &w[k], (uint32_t)col[k], t->line - 1, e);
        if (rc)
            return rc;
        rc = k == 1 ? gnn_words_add(&g->rel, &w[k], 1, &id[k], e)
                    : gnn_nodeids_add_words(g->s.ids, &w[k], 1, &id[k], e);
    }
    if (!rc && g->rel.n > known)
        rc = check_relation(g, t, &w[1], e);
    if (!rc)
        rc = gnn_buf_reserve(&g->src, g->n + 1, sizeof(uint32_t), "triples", e);
    if (!rc)
        rc = gnn_buf_reserve(&g->dst, g->n + 1, sizeof(uint32_t), "triples", e);
    if (!rc)
        rc = gnn_buf_reserve(&g->type, g->n + 1, sizeof(uint16_t), "triples", e);
    if (!rc)
        rc = gnn_buf_reserve(&g->set, g->n + 1, 1, "triples", e);
    if (rc)
        return rc;
    ((uint32_t *)g->src.data)[g->n] = id[0];
    ((uint32_t *)g->dst.data)[g->n] = id[2];
    ((uint16_t *)g->type.data)[g->n] = (uint16_t)id[1];
    ((uint8_t *)g->set.data)[g->n++] = set;
    return GNN_OK;
}

static int read_member(struct triples *g, uint32_t member, uint8_t set, struct gnn_err *e)
{
    struct gnn_table t = {0};
    struct gnn_word w[GNN_SURVEY_COLUMNS];
    struct gnn_reading *r;
    int rc = gnn_reading_find(&r, g->s.in[0], member, g->s.o, 1, true, e);
    if (rc)
        return rc;
    const int col[3] = {r->source, r->relation, r->target};
    rc = gnn_reading_open(r, &t, g->s.in[0], member, e);
    while (!rc && t.ncols) {
        rc = gnn_table_row(&t, w, r->ncols, e);
        if (rc)
            break;
        const struct gnn_word triple[3] = {w[col[0]], w[col[1]], w[col[2]]};
        rc = add_triple(g, &t, triple, col, set, e);
    }
    if (!rc || rc == GNN_END)
        rc = gnn_reading_note(r, &g->s.d, e);
    gnn_table_close(&t);
    gnn_free(r);
    return rc;
}

/* 0, 1, 2 for train, valid, test by the member's base name; -1 for any other. */
static int set_of(const char *name)
{
    static const char *const known[] = {"train", "valid", "test", "dev"};
    const char *slash = strrchr(name, '/');
    name = slash ? slash + 1 : name;
    for (int k = 0; k < 4; k++) {
        size_t n = strlen(known[k]);
        if (!strncmp(name, known[k], n) && (name[n] == '.' || !name[n]))
            return k == 3 ? 1 : k;
    }
    return -1;
}

static int read_all(struct triples *g, struct gnn_err *e)
{
    struct gnn_input *in = g->s.in[0];
    uint32_t n = gnn_input_members(in);
    if (n == 1)
        return read_member(g, 0, 0, e);
    int rc = GNN_OK, member[3] = {-1, -1, -1};
    for (uint32_t i = 0; i < n; i++) {
        int k = set_of(gnn_input_member(in, i));
        if (k < 0 || member[k] >= 0)
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: %s: triples are in one train, one valid and one test file",
                            gnn_input_name(in), gnn_input_member(in, i));
        member[k] = (int)i;
    }
    for (uint8_t k = 0; !rc && k < 3; k++)
        if (member[k] >= 0)
            rc = read_member(g, (uint32_t)member[k], k, e);
    return rc;
}

static int triples_edges(struct gnn_dataset *d, uint32_t t, bool fields, gnn_edge_fn *fn, void *arg,
                         struct gnn_err *e)
{
    struct triples *g = (struct triples *)d;
    const uint16_t *type = g->type.data;
    uint32_t *src = gnn_alloc(CHUNK, sizeof *src, "edges", e);
    uint32_t *dst = gnn_alloc(CHUNK, sizeof *dst, "edges", e);
    uint8_t *set = gnn_alloc(CHUNK, 1, "edge fields", e);
    int rc = src && dst && set ? GNN_OK : GNN_E_NOMEM;
    const void *field[1] = {set};
    struct gnn_edge_chunk c = {0, src, dst, fields && d->schema.etype[t].nfields ? field : NULL};
    for (uint64_t i = 0; !rc && i < g->n; i++) {
        if (type[i] == t) {
            src[c.n] = ((uint32_t *)g->src.data)[i];
            dst[c.n] = ((uint32_t *)g->dst.data)[i];
            set[c.n++] = ((uint8_t *)g->set.data)[i];
        }
        if (c.n && (c.n == CHUNK || i + 1 == g->n)) {
            rc = fn(arg, &c, e);
            c.n = 0;
        }
    }
    gnn_free(src);
    gnn_free(dst);
    gnn_free(set);
    return rc;
}

static void triples_free(struct gnn_dataset *d)
{
    struct triples *g = (struct triples *)d;
    gnn_words_release(&g->rel);
    gnn_buf_release(&g->src);
    gnn_buf_release(&g->dst);
    gnn_buf_release(&g->type);
    gnn_buf_release(&g->set);
    gnn_src_release(&g->s);
    gnn_free(g);
}

static const struct gnn_dataset_ops triples_ops = {triples_edges, gnn_src_rows, gnn_src_set,
                                                   triples_free};

static int add_types(struct triples *g, bool sets, struct gnn_err *e)
{
    struct gnn_schema *s = &g->s.d.schema;
    int rc = gnn_attach_ids(&g->s, (const char *const[]){"node"}, e);
    if (!rc)
        rc = gnn_schema_add_ntype(s, "node", g->s.ids->n, e);
    for (uint32_t r = 0; !rc && r < g->rel.n; r++) {
        char name[GNN_TYPE_NAME_MAX + 1];
        const struct gnn_word w = gnn_words_get(&g->rel, r);
        snprintf(name, sizeof name, "%.*s", (int)w.n, w.p);
        rc = gnn_schema_add_etype(s, 0, name, 0, 0, e);
        if (!rc && sets)
            rc = gnn_schema_add_efield(s, r, "set", GNN_U8, 0, e);
    }
    return rc;
}

int gnn_triples_open(struct gnn_dataset **out, struct gnn_input *in,
                     const struct gnn_import_opts *o, struct gnn_err *e)
{
    struct triples *g = gnn_alloc_zero(1, sizeof *g, "data set", e);
    *out = NULL;
    if (!g) {
        gnn_input_free(in);
        return GNN_E_NOMEM;
    }
    g->s.o = o;
    g->s.d.ops = &triples_ops;
    g->s.d.format = "triples";
    g->s.d.says = "triples: edges lead from head to tail";
    int rc = gnn_src_own(&g->s, in, e);
    bool words;
    if (!rc)
        rc = gnn_attach_open(&g->s, &words, e);
    if (!rc)
        rc = gnn_src_make_ids(&g->s, 1, e);
    if (!rc)
        g->s.ids->kind = GNN_IDS_WORDS;
    if (!rc)
        rc = read_all(g, e);
    if (!rc && !g->n)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: no triples", gnn_input_name(in));
    if (!rc)
        rc = add_types(g, gnn_input_members(in) > 1, e);
    if (!rc)
        rc = gnn_attach(&g->s, e);
    if (rc) {
        gnn_dataset_free(&g->s.d);
        return rc;
    }
    *out = &g->s.d;
    return GNN_OK;
}
