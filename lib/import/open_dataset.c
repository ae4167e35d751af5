/* SPDX-License-Identifier: Apache-2.0 */
/* From inputs and options to a data set: the reader of the format, or the generator. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/import/import.h"
#include "lib/import/read/formats.h"
#include "lib/import/generate/gen.h"
#include "lib/import/read/detect.h"
#include "lib/import/read/dgl_book.h"
#include "lib/import/read/dgl_parts.h"
#include "lib/import/read/tables.h"
#include "lib/base/foreign.h"
#include "lib/base/kind.h"
#include "lib/base/mem.h"
#include "lib/base/suggest.h"

enum { COLUMNS = 1, COUNT = 2, ATTACH = 4, MAP = 8, TABLE = 16, NODES = 32, TYPES = 64 };

static const struct format {
    const char *name;
    const struct gnn_format *f;
    unsigned takes; /* options */
} formats[] = {
    {"ogb", &gnn_ogb_format, ATTACH | MAP | NODES},
    {"npz", &gnn_npz_format, COUNT | ATTACH | MAP | NODES},
    {"snap", &gnn_edgelist_format, COLUMNS | COUNT | ATTACH | MAP | TABLE | NODES | TYPES},
    {"csv", &gnn_edgelist_format, COLUMNS | COUNT | ATTACH | MAP | TABLE | NODES | TYPES},
    {"jodie", &gnn_jodie_format, ATTACH | TYPES},
    {"triples", &gnn_triples_format, COLUMNS | ATTACH | MAP | TABLE | NODES},
    {"ntriples", &gnn_ntriples_format, ATTACH | MAP | NODES},
    {"mtx", &gnn_mtx_format, ATTACH},
    {"metis", &gnn_metis_format, ATTACH},
    {"generator", NULL, 0},
};

static const struct format *by_name(const char *name)
{
    for (unsigned i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(name, formats[i].name))
            return &formats[i];
    return NULL;
}

static int check_options(const struct format *f, const struct gnn_import_opts *o, struct gnn_err *e)
{
    const char *wrong = NULL;
    if (o->columns && !(f->takes & COLUMNS))
        wrong = "columns";
    if (o->edge_type && !(f->takes & TYPES))
        wrong = "edge-type";
    if ((o->nodes && !(f->takes & COUNT)) || (o->nnode_tables && !(f->takes & NODES)))
        wrong = o->nodes ? "nodes N" : "nodes FILE";
    if (o->nencode && !(f->takes & NODES))
        wrong = "encode";
    if ((o->nfeatures || o->nlabels) && !(f->takes & ATTACH))
        wrong = o->nfeatures ? "features" : "labels";
    if ((o->header || o->ids || o->comments) && !(f->takes & TABLE))
        wrong = o->header ? "header" : o->ids ? "ids" : "comments";
    if (o->nmap && !(f->takes & MAP))
        wrong = "map (or --time, --weight)";
    return wrong ? gnn_fail(e, GNN_E_USAGE, "--%s does not apply to the format %s", wrong, f->name)
                 : GNN_OK;
}

/* What the schema refuses does not know its file; and a line of joined members is one of one of
 * them. */
static int say_where(struct gnn_input *in, int rc, const struct gnn_err *why, struct gnn_err *e)
{
    const char *file = gnn_input_name(in), *member, *last;
    const size_t n = strlen(file);
    uint64_t at;
    unsigned long long line;
    int end = 0;
    if (rc != GNN_E_INPUT || strstr(why->msg, ": ")) {
        if (!gnn_input_parts(in, &member, &last) || strncmp(why->msg, file, n) != 0 ||
            sscanf(why->msg + n, ": line %llu%n", &line, &end) != 1 ||
            gnn_input_line(in, line, &member, &at, e))
            return gnn_fail(e, (enum gnn_status)rc, "%s", why->msg);
        return gnn_fail(e, (enum gnn_status)rc, "%s: line %llu%s", member, (unsigned long long)at,
                        why->msg + n + end);
    }
    return gnn_fail(e, GNN_E_INPUT, "%s: %s", file, why->msg);
}

/* Which files were read as one, and which not at all. */
static int note_files(struct gnn_dataset *d, struct gnn_input *in, struct gnn_err *e)
{
    char left[400];
    const char *first, *last;
    const uint32_t parts = gnn_input_parts(in, &first, &last);
    int rc = GNN_OK;
    if (parts)
        rc = gnn_dataset_note(d, e, "%s: one table in %u parts, from %s to %s", d->name, parts,
                              first, last);
    for (uint32_t k = 0; !rc && gnn_input_note(in, k); k++)
        rc = gnn_dataset_note(d, e, "%s", gnn_input_note(in, k));
    if (!rc && gnn_input_left(in, left, sizeof left))
        rc = gnn_dataset_note(d, e, "%s: not read: %s", d->name, left);
    return rc;
}

static int not_mapped(const struct gnn_dataset *d, const char *map, struct gnn_err *e)
{
    char text[2 * GNN_SUGGEST_TEXT];
    const char *old = strchr(map, '=');
    gnn_schema_fields_text(&d->schema, old ? old + 1 : map, text, sizeof text);
    return gnn_fail(e, GNN_E_USAGE, "--map %s: %s has nothing of that name%s", map, d->name, text);
}

/* Names of options that held for nothing are errors. Frees the data set on any. */
static int finish_open(struct gnn_dataset **out, const struct gnn_import_opts *o, int rc,
                       struct gnn_err *e)
{
    for (uint32_t i = 0; !rc && o->map_used && i < o->nmap; i++)
        if (!o->map_used[i])
            rc = not_mapped(*out, o->map[i], e);
    for (uint32_t i = 0; !rc && o->encode_used && i < o->nencode; i++)
        if (!o->encode_used[i])
            rc = gnn_fail(e, GNN_E_USAGE, "--encode %s: no table of nodes has such a column",
                          o->encode[i]);
    if (rc) {
        gnn_dataset_free(*out);
        *out = NULL;
    }
    return rc;
}

int gnn_import_open_input(struct gnn_dataset **out, struct gnn_input *in,
                          const struct gnn_import_opts *o, struct gnn_err *e)
{
    const char *name = o->format;
    int rc = name && !by_name(name) ? gnn_fail(e, GNN_E_USAGE, "no format '%s'", name)
                                    : gnn_detect(in, &name, e);
    const struct format *f = rc ? NULL : by_name(name);
    *out = NULL;
    if (!rc)
        rc = check_options(f, o, e);
    if (rc) {
        gnn_input_free(in);
        return rc;
    }
    uint64_t bytes = gnn_input_bytes(in);
    struct gnn_err why = {0};
    rc = gnn_format_open(out, f->f, gnn_input_hold(in), o, &why);
    if (rc)
        rc = say_where(in, rc, &why, e);
    else
        rc = gnn_src_check_counts(*out, bytes, o, e);
    if (!rc)
        rc = note_files(*out, in, e);
    gnn_input_free(in);
    return finish_open(out, o, rc, e);
}

/* "smb:nodes=3", or "sbm", which is no file and lacks its colon */
static bool like_generator(const char *input)
{
    char word[GNN_SUGGEST_WORD];
    snprintf(word, sizeof word, "%s:", input);
    return !gnn_gen_is(input) && !gnn_input_is_member(input) &&
           (strchr(input, ':') || gnn_gen_is(word)) && access(input, F_OK) && errno == ENOENT;
}

static int no_generator(const char *spec, struct gnn_err *e)
{
    char word[GNN_SUGGEST_WORD];
    struct gnn_suggest s = {.word = word};
    snprintf(word, sizeof word, "%.*s:", (int)strcspn(spec, ":"), spec);
    gnn_suggest_words(&s, "rmat:|sbm:|products:|igbh:");
    return gnn_fail(e, GNN_E_INPUT, "%s: no such file, and no such generator%s", spec,
                    gnn_suggest_text(&s, "generators"));
}

/* What our own programs write is no data set, nor are binary formats of others, whatever --format
 * says. */
static int check_kinds(const char *const *input, uint32_t n, struct gnn_err *e)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && i < n; i++) {
        const enum gnn_kind k = gnn_kind_path(input[i]);
        const struct gnn_foreign *f =
            k >= GNN_KIND_FOREIGN ? gnn_foreign_at((unsigned)k - GNN_KIND_FOREIGN) : NULL;
        const bool foreign = f && !f->text && !(f->graph && n == 1);
        if (k == GNN_KIND_STORE || k == GNN_KIND_PART || k == GNN_KIND_STREAM ||
            k == GNN_KIND_MODEL || foreign)
            rc = gnn_kind_refuse(k, input[i], "a data set", e);
    }
    return rc;
}

/* Several tables of edges are no other input, and each says what it is. */
static int open_tables(struct gnn_dataset **out, uint32_t n, const struct gnn_import_opts *o,
                       struct gnn_err *e)
{
    const char *wrong = n              ? "an INPUT"
                        : o->format    ? "--format"
                        : o->columns   ? "--columns"
                        : o->edge_type ? "--edge-type"
                        : o->nodes     ? "--nodes N"
                        : o->orig_nids ? "--orig-nids"
                        : o->orig_eids ? "--orig-eids"
                                       : NULL;
    if (wrong)
        return gnn_fail(e, GNN_E_USAGE, "--edges and %s exclude each other", wrong);
    return finish_open(out, o, gnn_tables_open(out, o, e), e);
}

/* A partition of DGL is several files that are read as one graph. */
static int open_input(struct gnn_input **in, const char *const *input, uint32_t n,
                      const struct gnn_import_opts *o, struct gnn_err *e)
{
    char *json = NULL;
    uint64_t bytes;
    int rc = n == 1 ? gnn_dgl_book_find(&json, input[0], e) : GNN_OK;
    if (!rc && !json && (o->orig_nids || o->orig_eids))
        rc = gnn_fail(e, GNN_E_USAGE, "--orig-%s: %s is no partition of DGL",
                      o->orig_nids ? "nids" : "eids", input[0]);
    if (rc || !json)
        return rc ? rc : gnn_input_open(in, input, n, e);
    struct gnn_array_list *l = gnn_alloc_zero(1, sizeof *l, "input", e);
    rc = l ? gnn_dgl_parts_add(l, json, o->orig_nids, o->orig_eids, &bytes, e) : GNN_E_NOMEM;
    if (!rc)
        rc = gnn_input_of_arrays(in, l, input[0], bytes, e);
    else
        gnn_array_list_free(l);
    gnn_free(json);
    return rc;
}

int gnn_import_open(struct gnn_dataset **out, const char *const *input, uint32_t n,
                    const struct gnn_import_opts *o, struct gnn_err *e)
{
    struct gnn_input *in;
    *out = NULL;
    if (o->nedge_tables)
        return open_tables(out, n, o, e);
    if (n == 1 && like_generator(input[0]))
        return no_generator(input[0], e);
    if (n == 1 && gnn_gen_is(input[0])) {
        if (o->format)
            return gnn_fail(e, GNN_E_USAGE, "--format does not apply to a generator");
        if (o->task >= 0)
            return gnn_fail(e, GNN_E_USAGE, "--task does not apply to a generator");
        if (o->orig_nids || o->orig_eids)
            return gnn_fail(e, GNN_E_USAGE, "--orig-%s does not apply to a generator",
                            o->orig_nids ? "nids" : "eids");
        int rc = check_options(by_name("generator"), o, e);
        return rc ? rc : gnn_gen_open(out, input[0], o->seed, o->threads, o->dtype != 0, e);
    }
    for (uint32_t i = 0; i < n; i++)
        if (gnn_gen_is(input[i]) && access(input[i], F_OK))
            return gnn_fail(e, GNN_E_USAGE, "%s: a generator must be the only input", input[i]);
    int rc = check_kinds(input, n, e);
    if (!rc)
        rc = open_input(&in, input, n, o, e);
    return rc ? rc : gnn_import_open_input(out, in, o, e);
}
