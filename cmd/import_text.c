/* SPDX-License-Identifier: Apache-2.0 */
/* What gnn-import prints at its end: per edge type how many edges there are and whether they have
 * their reverses, a warning where a graph looks undirected but was stored one way, and the same
 * numbers as metrics. */
#include "cmd/import_text.h"

#include <inttypes.h>
#include <string.h>

#include "cmd/cli.h"
#include "lib/data/int8_rows.h"
#include "lib/base/mem.h"
#include "lib/base/plural.h"

enum { FEW = 4 }; /* edge types with a line each, unless -v is given */

/* "src/rel/dst" of the store's edge type t. */
static const char *type_key(const struct gnn_dataset *d, const struct gnn_import_stats *st,
                            uint32_t t, char out[GNN_ETYPE_KEY_CAPACITY])
{
    const struct gnn_schema *s = &d->schema;
    const struct gnn_etype *in = &s->etype[st->type[t].in];
    if (st->type[t].rev)
        snprintf(out, GNN_ETYPE_KEY_CAPACITY, "%s/rev_%s/%s", s->ntype[in->dst].name, in->rel,
                 s->ntype[in->src].name);
    else
        gnn_etype_key(s, st->type[t].in, out, GNN_ETYPE_KEY_CAPACITY);
    return out;
}

/* From counts or, with "about", from a sample. */
static void tell_edges(const char *key, const struct gnn_import_edges *t)
{
    const struct gnn_direction *d = &t->d;
    const bool guess = gnn_direction_estimated(d);
    const char *about = guess ? "about " : "";
    char run[64] = "", from[64] = "";
    if (d->edges == d->loops)
        *run = 0; /* no edge, no direction */
    else if (t->same && !d->symmetric)
        snprintf(run, sizeof run, " directed, %s%.2f %% have their reverse,", about,
                 100 * gnn_direction_share(d));
    else if (t->same)
        snprintf(run, sizeof run, " symmetric,");
    if (guess)
        snprintf(from, sizeof from, " (estimated from %" PRIu64 ")", d->looked);
    cli_note("%s: %" PRIu64 " edge%s,%s %" PRIu64 " self-loop%s, %s%" PRIu64 " parallel%s", key,
             d->edges, gnn_plural(d->edges), run, d->loops, gnn_plural(d->loops), about,
             d->parallel, from);
}

static void tell_all_edges(const struct gnn_dataset *d, const struct gnn_import_stats *st)
{
    struct gnn_direction sum = {0};
    char key[GNN_ETYPE_KEY_CAPACITY];
    for (uint32_t t = 0; t < st->ntypes; t++) {
        const struct gnn_direction *k = &st->type[t].d;
        if (st->ntypes <= FEW || common.verbose > 0)
            tell_edges(type_key(d, st, t, key), &st->type[t]);
        sum.edges += k->edges, sum.loops += k->loops, sum.looked += k->looked;
        sum.reversed += k->reversed, sum.parallel += k->parallel;
    }
    if (st->ntypes > FEW)
        cli_note("%u edge types: %" PRIu64 " edge%s, %s%" PRIu64 " have their reverse, %" PRIu64
                 " self-loop%s, %" PRIu64 " parallel%s",
                 st->ntypes, sum.edges, gnn_plural(sum.edges),
                 gnn_direction_estimated(&sum) ? "about " : "", sum.reversed, sum.loops,
                 gnn_plural(sum.loops), sum.parallel, common.verbose > 0 ? "" : " (-v lists them)");
}

/* Says which options were obeyed, and warns of an undirected graph that was imported with one
 * direction of its edges only. */
static void tell_direction(const struct gnn_dataset *d, const struct gnn_import_opts *o,
                           const struct gnn_import_stats *st)
{
    const struct gnn_import_edges *one_way = NULL;
    char key[GNN_ETYPE_KEY_CAPACITY];
    for (uint32_t t = 0; t < st->ntypes && !one_way; t++) {
        const struct gnn_import_edges *k = &st->type[t];
        /* An undirected graph that lists each edge once has next to no reverses, but so has many a
         * directed one: hence a warning, and no error. */
        if (k->same && k->d.edges > k->d.loops && gnn_direction_share(&k->d) < 0.01)
            one_way = k;
    }
    if (d->says && !o->directed && (st->mirrored || common.verbose > 0))
        cli_note("%s: %s", d->name, d->says);
    if (d->guessed && !st->mirrored && !o->directed)
        cli_note("%s: its edges have their reverses, so none are added", d->name);
    else if (st->two_way || st->rev_left)
        cli_note("%s: -u adds no reverses%s", d->name,
                 st->two_way + st->rev_left < d->schema.netypes
                     ? " to the edge types that have them already"
                     : ": all edges have them already");
    if (one_way && !d->says && !o->directed && !o->undirected)
        cli_note(
            "warning: %s: %.2f %% of the edges have their reverse: if the graph is undirected, import it with -u; "
            "if it is directed, with --directed",
            type_key(d, st, (uint32_t)(one_way - st->type), key),
            100 * gnn_direction_share(&one_way->d));
}

/* Which types have reverses that no name tells, and whether they are reverses. */
static void tell_reverses(const struct gnn_dataset *d, const struct gnn_import_stats *st)
{
    char key[GNN_ETYPE_KEY_CAPACITY], of[GNN_ETYPE_KEY_CAPACITY];
    for (uint32_t t = 0; t < st->ntypes; t++) {
        const struct gnn_import_edges *x = &st->type[t];
        if (x->reverse_of < 0)
            continue;
        type_key(d, st, t, key);
        type_key(d, st, (uint32_t)x->reverse_of, of);
        if (x->exact)
            cli_note("%s: these edges are the reverses of %s", key, of);
        else
            cli_note("warning: --reverse-of: the edges %s are not exactly the reverses of %s: an "
                     "edge of one of the types has no reverse, or another number of them, in the "
                     "other",
                     key, of);
    }
}

static void tell_order(const struct gnn_import_stats *st)
{
    uint32_t sorted = 0, raised = 0;
    char some[48] = "";
    for (uint32_t t = 0; t < st->ntypes; t++) {
        sorted += st->type[t].order != NULL;
        raised += st->type[t].order && strcmp(st->type[t].order, "time") != 0;
    }
    if (sorted < st->ntypes)
        snprintf(some, sizeof some, " in %u of %u edge types", sorted, st->ntypes);
    if (sorted)
        cli_note("the in-edges of each node are sorted by %s%s",
                 !raised           ? "time"
                 : raised < sorted ? "time or effective_time"
                                   : "effective_time",
                 some);
}

/* Features of which some are thousands of times as large as others hide the small ones. In int8 the
 * largest of a row has 127 steps, which are those of all others, too. */
static void tell_columns(const struct gnn_dataset *d, const struct gnn_import_opts *o,
                         const struct gnn_import_stats *st)
{
    if (o->standardize || o->standardize_from)
        return;
    for (uint32_t t = 0; t < d->schema.nntypes; t++) {
        const struct gnn_import_columns *c = &st->columns[t];
        const double steps = 127 * (double)c->least / (double)c->most;
        if (o->dtype == GNN_I8 && steps < 4)
            cli_note("warning: int8 has one scale for each row: beside column %" PRIu64
                     " of features of %s, with values up to %g, column %" PRIu64
                     ", up to %g, has %s (--standardize)",
                     c->wide + 1, d->schema.ntype[t].name, (double)c->most, c->narrow + 1,
                     (double)c->least, steps < 0.5 ? "nothing but zeros" : "a few steps at most");
        else if (c->most >= 10 && c->most / 1000 >= c->least)
            cli_note("features of %s differ by orders of magnitude: column %" PRIu64
                     " has values up to %g, column %" PRIu64 " up to %g (--standardize)",
                     d->schema.ntype[t].name, c->wide + 1, (double)c->most, c->narrow + 1,
                     (double)c->least);
    }
}

static void tell_int8(const struct gnn_dataset *d, const struct gnn_import_opts *o,
                      const struct gnn_import_stats *st)
{
    double error = 0;
    for (uint32_t t = 0; t < d->schema.nntypes; t++)
        error = st->columns[t].error > error ? st->columns[t].error : error;
    if (o->dtype == GNN_I8)
        cli_note(GNN_INT8_NOTE, 100 * error);
}

static json_t *edges_json(const struct gnn_dataset *d, const struct gnn_import_stats *st)
{
    json_t *a = json_array();
    char key[GNN_ETYPE_KEY_CAPACITY];
    for (uint32_t t = 0; t < st->ntypes; t++) {
        const struct gnn_direction *k = &st->type[t].d;
        json_t *j = json_pack("{s:s, s:I, s:I, s:I}", "name", type_key(d, st, t, key), "edges",
                              (json_int_t)k->edges, "self_loops", (json_int_t)k->loops,
                              "parallel_edges", (json_int_t)k->parallel);
        if (st->type[t].same) {
            json_object_set_new(j, "direction",
                                k->edges == k->loops
                                    ? json_null()
                                    : json_string(k->symmetric ? "symmetric" : "directed"));
            json_object_set_new(j, "reversed_edges", json_integer((json_int_t)k->reversed));
            cli_metrics_number(j, "reverse_share", gnn_direction_share(k));
        }
        if (st->type[t].reverse_of >= 0) {
            json_object_set_new(
                j, "reverse_of",
                json_string(type_key(d, st, (uint32_t)st->type[t].reverse_of, key)));
            json_object_set_new(j, "exact_reverses", json_boolean(st->type[t].exact));
        }
        if (gnn_direction_estimated(k))
            json_object_set_new(j, "estimated_from", json_integer((json_int_t)k->looked));
        json_array_append_new(a, j);
    }
    return a;
}

void import_text(const struct gnn_dataset *d, const struct gnn_import_opts *o,
                 const struct gnn_import_stats *st, double seconds)
{
    for (uint32_t t = 0; t < d->schema.nntypes; t++)
        cli_info("%s: %" PRIu64 " node%s", d->schema.ntype[t].name, d->schema.ntype[t].count,
                 gnn_plural(d->schema.ntype[t].count));
    for (uint32_t i = 0; i < d->nnotes; i++)
        cli_note("%s", d->note[i]);
    tell_all_edges(d, st);
    tell_direction(d, o, st);
    tell_reverses(d, st);
    tell_order(st);
    tell_columns(d, o, st);
    tell_int8(d, o, st);
    cli_info("%" PRIu64 " node%s, %" PRIu64 " edge%s from %" PRIu64
             " read (%s), %.2f s, peak %.1f MB",
             st->nodes, gnn_plural(st->nodes), st->edges, gnn_plural(st->edges), st->input_edges,
             d->format, seconds, (double)gnn_mem_peak() / 1e6);
    cli_metrics(json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:f, s:I}", "format", d->format,
                          "nodes", (json_int_t)st->nodes, "edges", (json_int_t)st->edges,
                          "input_edges", (json_int_t)st->input_edges, "duplicates",
                          (json_int_t)st->duplicates, "loops_added", (json_int_t)st->loops_added,
                          "edge_types", edges_json(d, st), "seconds", seconds, "peak_bytes",
                          (json_int_t)gnn_mem_peak()));
}
