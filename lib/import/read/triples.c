/* SPDX-License-Identifier: Apache-2.0 */
/* Knowledge graphs as (head, relation, tail) words, one triple a line: one node type, an edge type
 * for each relation, in order of first occurrence. Files train, valid (or dev) and test are read in
 * that order, and each edge says by its field "set" (0, 1, 2) which file it came from. Statements
 * of N-Triples are such triples, if their objects are no literals. */
#include <string.h>

#include "lib/base/plural.h"
#include "lib/import/read/formats.h"
#include "lib/import/read/members.h"
#include "lib/import/read/ntriples.h"
#include "lib/import/read/reading.h"

enum { CHUNK = 1 << 13, ROWS = 1 << 10 }; /* edges of a step; rows whose words are known at once */

struct triple {
    uint32_t src, dst;
    uint16_t rel;
    uint8_t set;
};

struct triples {
    struct gnn_src s;
    struct gnn_reading *reading; /* owned; of a lone file, if it was looked at before */
    struct gnn_words rel;
    struct gnn_buf row; /* [n] struct triple: as read, then by relation */
    uint64_t n;
    uint64_t *start; /* [rel.n+1] first row of a relation */
    bool statements; /* of N-Triples, of which as many had literals, and were left out */
    uint64_t literals;
};

/* Rows of one file that are in memory together: their words, and what these are. */
struct batch {
    uint64_t n, line[ROWS];
    struct gnn_word end[2 * ROWS], rel[ROWS];
    uint32_t node[2 * ROWS], type[ROWS];
};

/* A relation becomes an edge type of that name. */
static int check_relation(const struct gnn_table *t, uint32_t i, const struct gnn_word *w,
                          uint64_t line, struct gnn_err *e)
{
    char name[GNN_TYPE_NAME_MAX + 2];
    struct gnn_err why = {0};
    if (i >= GNN_TYPES_MAX)
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
                               (unsigned long long)line, why.msg)
                    : GNN_OK;
}

/* The words of the next rows; none at the end. */
static int read_batch(struct batch *b, struct gnn_table *t, const struct gnn_reading *r,
                      struct gnn_err *e)
{
    struct gnn_word w[GNN_SURVEY_COLUMNS];
    int rc = GNN_OK;
    for (b->n = 0; b->n < ROWS && (!b->n || gnn_table_more(t)); b->n++) {
        rc = gnn_table_row(t, w, r->ncols, e);
        const struct gnn_word *src = &w[r->source], *rel = &w[r->relation], *dst = &w[r->target];
        const uint64_t line = b->line[b->n] = t->line - 1;
        if (!rc)
            rc = gnn_table_check_id(t, src, (uint32_t)r->source, line, e);
        if (!rc && !rel->n)
            rc = gnn_table_check_id(t, rel, (uint32_t)r->relation, line, e);
        if (!rc)
            rc = gnn_table_check_id(t, dst, (uint32_t)r->target, line, e);
        if (rc)
            break;
        b->end[2 * b->n] = *src;
        b->end[2 * b->n + 1] = *dst;
        b->rel[b->n] = *rel;
    }
    return rc == GNN_END ? GNN_OK : rc;
}

/* The next statements without literals. */
static int read_statements(struct batch *b, struct gnn_table *t, uint64_t *literals,
                           struct gnn_err *e)
{
    struct gnn_statement s;
    int rc = GNN_OK;
    for (b->n = 0; b->n < ROWS && (!b->n || gnn_table_more(t));) {
        rc = gnn_ntriples_next(t, &s, e);
        if (rc)
            break;
        b->line[b->n] = s.line;
        b->end[2 * b->n] = s.subject;
        b->end[2 * b->n + 1] = s.object;
        b->rel[b->n] = s.predicate;
        b->n += !s.literal;
        *literals += s.literal;
    }
    return rc == GNN_END ? GNN_OK : rc;
}

static int add_batch(struct triples *g, struct batch *b, const struct gnn_table *t, uint8_t set,
                     struct gnn_err *e)
{
    uint32_t known = g->rel.n;
    int rc = gnn_nodeids_add_words(g->s.ids, b->end, 2 * b->n, b->node, e);
    if (!rc)
        rc = gnn_words_add(&g->rel, b->rel, b->n, b->type, e);
    for (uint64_t i = 0; !rc && i < b->n && known < g->rel.n; i++)
        if (b->type[i] == known)
            rc = check_relation(t, known++, &b->rel[i], b->line[i], e);
    if (!rc)
        rc = gnn_buf_reserve(&g->row, g->n + b->n, sizeof(struct triple), "triples", e);
    for (uint64_t i = 0; !rc && i < b->n; i++)
        ((struct triple *)g->row.data)[g->n++] =
            (struct triple){b->node[2 * i], b->node[2 * i + 1], (uint16_t)b->type[i], set};
    return rc;
}

static int read_rows(struct triples *g, const struct gnn_reading *r, uint32_t member, uint8_t set,
                     struct gnn_err *e)
{
    struct gnn_table t = {0};
    struct batch *b = gnn_alloc(1, sizeof *b, "triples", e);
    int rc = !b              ? GNN_E_NOMEM
             : g->statements ? gnn_table_open(&t, g->s.in[0], member, '#', e)
                             : gnn_reading_open(r, &t, g->s.in[0], member, e);
    do {
        if (!rc && t.ncols)
            rc = g->statements ? read_statements(b, &t, &g->literals, e) : read_batch(b, &t, r, e);
        if (!rc && t.ncols)
            rc = add_batch(g, b, &t, set, e);
    } while (!rc && t.ncols && b->n);
    gnn_table_close(&t);
    gnn_free(b);
    return rc;
}

static int read_member(struct triples *g, uint32_t member, uint8_t set, struct gnn_err *e)
{
    int rc = GNN_OK;
    if (g->statements)
        return read_rows(g, NULL, member, set, e);
    if (!g->reading)
        rc = gnn_reading_find(&g->reading, g->s.in[0], member, g->s.o, 1, true, e);
    if (!rc)
        rc = read_rows(g, g->reading, member, set, e);
    if (!rc)
        rc = gnn_reading_note(g->reading, NULL, &g->s.d, e);
    gnn_free(g->reading);
    g->reading = NULL;
    return rc;
}

static int read_all(struct triples *g, struct gnn_err *e)
{
    struct gnn_input *in = g->s.in[0];
    uint32_t n = gnn_input_members(in);
    if (n == 1)
        return read_member(g, 0, 0, e);
    int rc = GNN_OK, member[3] = {-1, -1, -1};
    for (uint32_t i = 0; i < n; i++) {
        const int k = gnn_members_set(gnn_input_member(in, i));
        if (k < 0 || member[k] >= 0)
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: triples are in one train, one valid and one test file",
                            gnn_input_where(in, i));
        member[k] = (int)i;
    }
    for (uint8_t k = 0; !rc && k < 3; k++)
        if (member[k] >= 0)
            rc = read_member(g, (uint32_t)member[k], k, e);
    return rc;
}

/* Puts the rows in order of their relations, and of the file. */
static int group_rows(struct triples *g, struct gnn_err *e)
{
    struct gnn_buf to = {0};
    const struct triple *from = g->row.data;
    g->start = gnn_alloc_zero(g->rel.n + 2, sizeof *g->start, "triples", e);
    int rc = g->start ? gnn_buf_fit_exactly(&to, g->n, sizeof *from, "triples", e) : GNN_E_NOMEM;
    if (rc)
        return rc;
    struct triple *row = to.data;
    for (uint64_t i = 0; i < g->n; i++)
        g->start[from[i].rel + 2]++;
    for (uint32_t r = 1; r < g->rel.n; r++)
        g->start[r + 1] += g->start[r];
    for (uint64_t i = 0; i < g->n; i++)
        row[g->start[from[i].rel + 1]++] = from[i];
    gnn_buf_release(&g->row);
    g->row = to;
    return GNN_OK;
}

static int triples_edges(struct gnn_dataset *d, uint32_t t, bool fields, gnn_edge_fn *fn, void *arg,
                         struct gnn_err *e)
{
    struct triples *g = (struct triples *)d;
    const struct triple *row = g->row.data;
    uint32_t src[CHUNK], dst[CHUNK];
    uint8_t set[CHUNK];
    int rc = GNN_OK;
    const void *field[1] = {set};
    for (uint64_t at = g->start[t], end = g->start[t + 1]; !rc && at < end;) {
        const uint64_t n = end - at < CHUNK ? end - at : CHUNK;
        for (uint64_t i = 0; i < n; i++, at++) {
            src[i] = row[at].src;
            dst[i] = row[at].dst;
            set[i] = row[at].set;
        }
        const struct gnn_edge_chunk c = {n, src, dst,
                                         fields && d->schema.etype[t].nfields ? field : NULL};
        rc = fn(arg, &c, e);
    }
    return rc;
}

static void triples_free(struct gnn_dataset *d)
{
    struct triples *g = (struct triples *)d;
    gnn_words_release(&g->rel);
    gnn_buf_release(&g->row);
    gnn_free(g->start);
    gnn_free(g->reading);
    gnn_src_free(d);
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

static int note_statements(struct triples *g, struct gnn_err *e)
{
    const unsigned long long n = g->literals;
    return n ? gnn_dataset_note(&g->s.d, e,
                                "read as: N-Triples; left out: %llu statement%s whose object is a "
                                "literal",
                                n, gnn_plural(n))
             : gnn_dataset_note(&g->s.d, e, "read as: N-Triples");
}

static int fill_triples(struct gnn_src *s, void *reading, struct gnn_err *e)
{
    struct triples *g = (struct triples *)s;
    bool words;
    g->reading = reading;
    s->d.says = "triples: edges lead from head to tail";
    int rc = gnn_attach_open(s, &words, e);
    if (!rc)
        rc = gnn_src_make_ids(&g->s, 1, e);
    if (!rc)
        g->s.ids->kind = GNN_IDS_WORDS;
    if (!rc)
        rc = read_all(g, e);
    if (!rc && g->statements)
        rc = note_statements(g, e);
    if (!rc && !g->n)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: no triples%s", s->d.name,
                      g->literals ? " but such of literals" : "");
    if (!rc)
        rc = group_rows(g, e);
    if (!rc)
        rc = add_types(g, gnn_input_members(s->in[0]) > 1, e);
    return rc;
}

static int fill_statements(struct gnn_src *s, void *reading, struct gnn_err *e)
{
    ((struct triples *)s)->statements = true;
    return fill_triples(s, reading, e);
}

const struct gnn_format gnn_ntriples_format = {"ntriples", sizeof(struct triples), &triples_ops,
                                               fill_statements, NULL};
const struct gnn_format gnn_triples_format = {"triples", sizeof(struct triples), &triples_ops,
                                              fill_triples, NULL};
