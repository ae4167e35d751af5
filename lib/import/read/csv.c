/* SPDX-License-Identifier: Apache-2.0 */
/* Text tables of edges, SNAP and CSV: opened as they are read (lib/import/read/reading.h). */
#include <string.h>

#include "lib/import/read/csv.h"
#include "lib/import/read/formats.h"
#include "lib/import/read/reading.h"

static bool is_end(const char *use)
{
    return !strcmp(use, "source") || !strcmp(use, "target");
}

/* What is seen of numbers gives their type, but for weights, which are f32. */
static int pick_columns(struct gnn_edgelist *l, struct gnn_err *e)
{
    const struct gnn_reading *r = l->reading;
    uint32_t nums = 0;
    l->npick = 0;
    for (uint32_t i = 0; i < r->ncols; i++) {
        const char *use = r->col[i].use;
        if (!*use)
            continue;
        if (!is_end(use) && nums == GNN_EDGELIST_FIELDS)
            return gnn_fail(e, GNN_E_INPUT, "%s: more than %d edge fields",
                            gnn_input_name(l->s.in[0]), GNN_EDGELIST_FIELDS);
        struct gnn_pick *pick = &l->pick[l->npick++];
        *pick = (struct gnn_pick){.col = i, .id = is_end(use)};
        if (pick->id)
            continue;
        l->finite[nums] = gnn_src_finite(use);
        pick->seen = strcmp(use, "weight") ? &l->seen[nums] : NULL;
        pick->date = !strcmp(use, "time");
        nums++;
    }
    l->target_first = r->target < r->source;
    return GNN_OK;
}

static int add_field(struct gnn_edgelist *l, const char *name, uint32_t k, struct gnn_err *e)
{
    struct gnn_schema *s = &l->s.d.schema;
    enum gnn_dtype dt = GNN_F32;
    struct gnn_err why = {0};
    int rc = GNN_OK;
    if (strcmp(name, "weight") != 0)
        rc = gnn_numbers_type(&l->seen[k], gnn_input_name(l->s.in[0]), name, &dt, e);
    if (!rc)
        rc = gnn_numbers_tell_dates(&l->seen[k], &l->s.d, gnn_input_name(l->s.in[0]), name, e);
    if (!rc && dt == GNN_I64)
        gnn_edgelist_take_whole(l, k);
    l->num_of[s->etype[0].nfields] = k;
    if (!rc && (rc = gnn_schema_add_efield(s, 0, name, dt, 0, &why)))
        rc = gnn_src_fail_name(&why, gnn_input_name(l->s.in[0]), l->reading->header ? name : NULL,
                               e);
    return rc;
}

int gnn_csv_add_fields(struct gnn_edgelist *l, struct gnn_err *e)
{
    struct gnn_schema *s = &l->s.d.schema;
    int rc = gnn_schema_add_etype(s, 0, l->type[1], s->nntypes - 1, l->n, e);
    for (uint32_t i = 0, k = 0; !rc && i < l->reading->ncols; i++)
        if (*l->reading->col[i].use && !is_end(l->reading->col[i].use))
            rc = add_field(l, l->reading->col[i].use, k++, e);
    return rc;
}

/* Ids are words if those of tables of nodes are. */
static int find_again(const struct gnn_edgelist *l, struct gnn_reading **r, bool whole,
                      struct gnn_err *e)
{
    struct gnn_import_opts o = *l->s.o;
    o.ids = l->words ? GNN_IDS_AS_WORDS : o.ids;
    return gnn_reading_find(r, l->s.in[0], l->member, &o, 0, whole, e);
}

int gnn_csv_find(struct gnn_edgelist *l, struct gnn_err *e)
{
    return find_again(l, &l->reading, false, e);
}

static int open_tables(struct gnn_edgelist *l, struct gnn_err *e)
{
    int rc = gnn_attach_open(&l->s, &l->words, e);
    if (rc || !l->words || l->reading->words)
        return rc;
    if (l->s.o->ids == GNN_IDS_AS_NUMBERS)
        return gnn_fail(e, GNN_E_USAGE, "--ids numbers: ids of --nodes are words");
    gnn_free(l->reading);
    l->reading = NULL;
    return find_again(l, &l->reading, false, e);
}

/* --nodes N counts ids from 0. */
static int check_count(const struct gnn_edgelist *l, struct gnn_err *e)
{
    const struct gnn_reading *r = l->reading;
    if (!l->s.o->nodes || !r->words)
        return GNN_OK;
    return gnn_fail(e, GNN_E_USAGE,
                    "--nodes: %s: line %llu: ids are words, which cannot be counted from 0",
                    l->s.d.name, (unsigned long long)(r->word_line ? r->word_line : r->line));
}

/* Scans the edges as they are read; *again: what was found by the first rows does not hold, so that
 * all of them must be looked at. */
int gnn_csv_scan(struct gnn_edgelist *l, bool *again, struct gnn_err *e)
{
    struct gnn_err why = {0};
    *again = false;
    int rc = check_count(l, e);
    if (!rc)
        rc = pick_columns(l, e);
    if (rc)
        return rc;
    rc = gnn_edgelist_scan(l, &why);
    if (rc == GNN_E_INPUT && !l->reading->whole) {
        struct gnn_reading *r;
        int other = find_again(l, &r, true, e);
        if (other)
            return other;
        *again = !gnn_reading_same(r, l->reading);
        gnn_free(l->reading);
        l->reading = r;
        if (*again)
            gnn_edgelist_forget(l);
    }
    return !rc || *again ? GNN_OK : gnn_fail_as(e, &why);
}

/* SRC/REL/DST of --edge-type. */
static int name_types(struct gnn_edgelist *l, struct gnn_err *e)
{
    const char *given = l->s.o->edge_type;
    l->types = gnn_strdup(given ? given : "node/to/node", e);
    if (!l->types)
        return GNN_E_NOMEM;
    return gnn_src_split_type(l->types, l->type)
               ? GNN_OK
               : gnn_fail(e, GNN_E_USAGE, "--edge-type %s: expected SRC/REL/DST", given);
}

/* The first row may be counts of nodes and edges if as many rows as it says follow, and no id is
 * larger than the number of nodes. */
static int check_counts(const struct gnn_edgelist *l, struct gnn_err *e)
{
    const struct gnn_reading *r = l->reading;
    const struct gnn_nodeids *ids = l->s.nids == 1 ? &l->s.ids[0] : NULL;
    if (!ids || ids->kind != GNN_IDS_NUMBERS || r->header || r->ncols != 2 || l->s.o->header ||
        l->s.ntables || l->n < 3 || r->counts[1] != l->n - 1)
        return GNN_OK;
    uint64_t k = ids->n - 1; /* the largest id but for those of the first row itself */
    const uint64_t last = ids->key ? (uint64_t)ids->key[k] : k;
    if (k && last == r->counts[1] && last > r->counts[0])
        k--;
    if ((ids->key ? (uint64_t)ids->key[k] : k) > r->counts[0])
        return GNN_OK;
    return gnn_fail(e, GNN_E_INPUT,
                    "%s: line %llu: '%llu %llu' is an edge, or the numbers of nodes and of edges, "
                    "as so many follow: --header no takes it for an edge; else leave it out: "
                    "tail -n +%llu FILE",
                    l->s.d.name, (unsigned long long)r->line, (unsigned long long)r->counts[0],
                    (unsigned long long)r->counts[1], (unsigned long long)r->line + 1);
}

static int open_edges(struct gnn_edgelist *l, struct gnn_err *e)
{
    const struct gnn_import_opts *o = l->s.o;
    bool again;
    int rc = name_types(l, e);
    if (!rc)
        rc = open_tables(l, e);
    if (rc)
        return rc;
    if (o->nodes && strcmp(l->type[0], l->type[2]) != 0)
        return gnn_fail(e, GNN_E_USAGE,
                        "--nodes %llu: there are two node types: --nodes %s=FILE names the nodes "
                        "of one",
                        (unsigned long long)o->nodes, l->type[0]);
    if (o->nodes)
        rc = gnn_schema_add_ntype(&l->s.d.schema, l->type[0], o->nodes, e);
    if (!rc)
        rc = gnn_csv_scan(l, &again, e);
    if (!rc && again)
        rc = gnn_csv_scan(l, &again, e);
    if (!rc)
        rc = check_counts(l, e);
    if (!rc)
        rc = gnn_csv_add_fields(l, e);
    if (!rc)
        rc = gnn_reading_note(l->reading, NULL, &l->s.d, e);
    return rc;
}

/* The member's first rows say whether these are triples. */
static int choose_format(const struct gnn_format **f, void **reading, struct gnn_input *in,
                         const struct gnn_import_opts *o, struct gnn_err *e)
{
    struct gnn_reading *r = NULL;
    int rc = gnn_input_lone(in, "an edge list", e);
    if (!rc)
        rc = gnn_reading_find(&r, in, 0, o, o->format ? 0 : -1, false, e);
    *reading = r;
    if (rc || !r->triples)
        return rc;
    *f = &gnn_triples_format;
    if (o->nodes)
        return gnn_fail(e, GNN_E_USAGE, "--nodes N does not apply to the format triples");
    return o->edge_type ? gnn_fail(e, GNN_E_USAGE,
                                   "--edge-type does not apply to the format triples, which names "
                                   "relations")
                        : GNN_OK;
}

static int fill_edges(struct gnn_src *s, void *reading, struct gnn_err *e)
{
    struct gnn_edgelist *l = (struct gnn_edgelist *)s;
    l->reading = reading;
    l->declared = UINT64_MAX;
    if (l->reading->sep == ',' || l->reading->sep == ';')
        s->d.format = "csv";
    return open_edges(l, e);
}

const struct gnn_format gnn_edgelist_format = {"snap", sizeof(struct gnn_edgelist),
                                               &gnn_edgelist_ops, fill_edges, choose_format};
