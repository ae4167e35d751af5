/* SPDX-License-Identifier: Apache-2.0 */
/* From the options of gnn-partition to a part for each node: the options are checked, --balance is
 * parsed, and one of the methods is called, METIS in a process of its own or one of the streaming
 * ones in this one. lib/partition does the work; this file knows only which method needs what. */
#include "cmd/partition_assign.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli.h"
#include "lib/data/rule.h"
#include "lib/base/clock.h"
#include "lib/base/mem.h"
#include "lib/sample/sampler.h"
#include "lib/base/suggest.h"

static void fail_unless(int rc, const struct gnn_err *e)
{
    if (rc)
        cli_fail(e);
}

static uint32_t nodes_of(const struct partition_opts *o)
{
    return o->levels.n ? (uint32_t)o->levels.v[0] : 1;
}

/* ---- options ---- */

static void check_levels(struct partition_opts *o)
{
    const int32_t *v = o->levels.v;
    if (!o->levels.n)
        return;
    if (o->levels.n != 2 || v[0] < 1 || v[1] < 1 || (uint64_t)v[0] * (uint64_t)v[1] > GNN_PARTS_MAX)
        cli_usage("--two-level: two numbers NODES,GPUS with a product of 1 to %d", GNN_PARTS_MAX);
    const uint32_t k = (uint32_t)v[0] * (uint32_t)v[1];
    if (o->k && o->k != k)
        cli_usage("--two-level: %d times %d is not -k %u", v[0], v[1], o->k);
    o->k = k;
}

void partition_check(struct partition_opts *o)
{
    const bool streams = !o->from && (o->method == METHOD_LDG || o->method == METHOD_FENNEL ||
                                      o->method == METHOD_ACCESS);
    check_levels(o);
    if (!o->k && !o->from)
        cli_usage("-k N is missing");
    if (o->from)
        opt_refuse(OPTS(&o->method, &o->seed, &o->levels), "and --from exclude each other");
    if (o->from || o->method != METHOD_METIS)
        opt_refuse(OPTS(&o->objective), "requires --method metis");
    if (o->from || o->method == METHOD_RANDOM)
        opt_refuse(OPTS(&o->balance, &o->imbalance),
                   "has no effect with --method random or --from");
    if (streams)
        opt_refuse(OPTS(&o->seed), "requires --method metis or random");
    else
        opt_refuse(OPTS(&o->passes), "requires --method fennel, ldg or access");
    if (o->from || o->method != METHOD_ACCESS)
        opt_refuse(OPTS(&o->split, &o->fanout, &o->batch, &o->start), "requires --method access");
}

/* ---- what is balanced ---- */

static void no_balance(const struct gnn_view *v, const char *w)
{
    const struct gnn_schema *c = &v->store->meta.schema;
    struct gnn_suggest s = {.word = w};
    gnn_suggest_words(&s, "nodes|edges|types");
    for (uint32_t i = 0; i < c->nsets; i++)
        if (!c->set[i].links)
            gnn_suggest_add(&s, c->set[i].set);
    cli_usage("--balance: '%s' is not nodes, edges, types or a set of %s%s", w, v->store->path,
              gnn_suggest_text(&s, "one of"));
}

static bool has_set(const struct partition_figures *f, uint32_t set)
{
    bool has = false;
    for (uint32_t k = 0; k < f->even.nsets; k++)
        has = has || f->set[k] == set;
    return has;
}

static void add_word(struct partition_figures *f, const struct gnn_view *v, const char *w)
{
    /* A word is one of three keywords, or the name of a set of the store, whose members are then
     * spread evenly as well. */
    int i;
    if (!strcmp(w, "nodes"))
        f->even.balance |= GNN_BALANCE_NODES;
    else if (!strcmp(w, "edges"))
        f->even.balance |= GNN_BALANCE_EDGES;
    else if (!strcmp(w, "types"))
        f->even.balance |= GNN_BALANCE_TYPES;
    else if ((i = gnn_schema_find_set(&v->store->meta.schema, w)) < 0)
        no_balance(v, w);
    else if (has_set(f, (uint32_t)i))
        cli_usage("--balance: '%s' is named twice", w);
    else if (f->even.nsets == GNN_METIS_CONSTRAINTS_MAX)
        cli_usage("--balance: more than %d constraints", GNN_METIS_CONSTRAINTS_MAX);
    else
        f->set[f->even.nsets++] = (uint32_t)i;
}

static void even_list(struct partition_figures *f, const struct partition_opts *o,
                      const struct gnn_view *v)
{
    char *list = strdup(o->balance ? o->balance : "nodes"), *save = NULL;
    f->even = (struct gnn_even){.sets = f->set, .imbalance = o->imbalance};
    if (!list)
        cli_die(1, "out of memory");
    for (char *w = strtok_r(list, ",", &save); w; w = strtok_r(NULL, ",", &save))
        add_word(f, v, w);
    free(list);
    if (f->even.nsets)
        f->even.balance |= GNN_BALANCE_SETS;
}

/* ---- METIS ---- */

/* Ends the program if METIS cannot be used, and says which methods need less memory. */
static void need_metis(int rc, const struct gnn_err *e)
{
    struct gnn_err more = {0};
    if (rc && rc != GNN_E_NOMEM)
        cli_fail(e);
    if (rc)
        fail_unless(
            gnn_fail(&more, GNN_E_NOMEM, "%s; --method fennel and ldg need little memory", e->msg),
            &more);
}

static void assign_metis(struct partition_opts *o, const struct gnn_view *v, uint32_t *part,
                         struct partition_figures *f)
{
    struct gnn_err e = {0};
    struct gnn_metis_parts *m = &f->metis;
    *m = (struct gnn_metis_parts){
        .m = {.k = o->k,
              .objective = o->objective ? GNN_OBJECTIVE_VOL : GNN_OBJECTIVE_CUT,
              .imbalance = o->imbalance,
              .seed = o->seed},
        .nodes = nodes_of(o),
        .even = f->even,
        .threads = o->threads};
    cli_progress("metis: nodes", v->nvertices, 0, NULL);
    need_metis(gnn_assign_metis(m, v, part, &e), &e);
    f->assign_bytes = m->m.peak > m->bytes ? m->m.peak : m->bytes;
    f->how = m->passes ? "fennel" : "metis";
}

/* ---- methods that stream ---- */

static int pass_done(void *arg, uint32_t pass)
{
    const struct partition_opts *o = arg;
    cli_progress("streaming: passes", pass + 1, o->passes, NULL);
    return 0;
}

static uint32_t seed_set(const struct partition_opts *o, const struct gnn_view *v)
{
    struct gnn_err e = {0};
    const int set = gnn_schema_need_set(&v->store->meta.schema, v->store->path, o->split, &e);
    if (set < 0)
        cli_fail(&e);
    if (!v->store->meta.schema.set[set].count)
        cli_usage("--split: set '%s' of %s is empty: no seed would access anything", o->split,
                  v->store->path);
    return (uint32_t)set;
}

static void assign_access(const struct partition_opts *o, const struct gnn_view *v, uint32_t *part,
                          struct partition_figures *f)
{
    static const char *const usual[] = {"15,10,5"};
    struct gnn_err e = {0};
    struct gnn_sampling m = {.batch_size = o->batch};
    struct gnn_access_parts *a = &f->access;
    *a = (struct gnn_access_parts){.by = &f->stream, .m = &m, .set = seed_set(o, v)};
    /* Balance the seeds of training by default: every rank then has as many batches. */
    if (!o->balance) {
        f->even.balance |= GNN_BALANCE_SETS;
        f->set[f->even.nsets++] = a->set;
        f->stream.even = f->even;
    }
    fail_unless(gnn_fanout_parse(&v->store->meta.schema, o->fanout.n ? o->fanout.v : usual,
                                 o->fanout.n ? o->fanout.n : 1, &m, &e),
                &e);
    a->fennel_only = o->start == START_FENNEL;
    int rc = gnn_assign_access(a, v, part, &e);
    if ((rc == GNN_E_NOMEM || rc == GNN_E_RUN) && !a->fennel_only) {
        struct gnn_err more = {0};
        fail_unless(gnn_fail(&more, rc, "%s; --start fennel does without METIS", e.msg), &more);
    }
    fail_unless(rc, &e);
    gnn_free(m.fanout);
    a->m = NULL;
    f->assign_bytes += a->bytes;
    f->start = a->from_metis ? "metis" : "fennel";
    if (a->too_large.code)
        cli_note("access starts from fennel only: %s", a->too_large.msg);
}

static void assign_stream(struct partition_opts *o, const struct gnn_view *v, uint32_t *part,
                          struct partition_figures *f)
{
    struct gnn_err e = {0};
    f->stream =
        (struct gnn_stream){.rule = o->method == METHOD_LDG ? GNN_STREAM_LDG : GNN_STREAM_FENNEL,
                            .k = o->k,
                            .passes = o->passes,
                            .nodes = nodes_of(o),
                            .even = f->even,
                            .threads = o->threads,
                            .done = pass_done,
                            .arg = o};
    if (o->method == METHOD_ACCESS)
        assign_access(o, v, part, f);
    else
        fail_unless(gnn_stream_run(&f->stream, v, part, &e), &e);
    f->assign_bytes += f->stream.bytes;
}

/* What the method has missed; of METIS that is done. */
static void repair_parts(const struct partition_opts *o, const struct gnn_view *v, uint32_t *part,
                         struct partition_figures *f)
{
    struct gnn_err e = {0};
    struct gnn_repair *r = &f->repair;
    *r = (struct gnn_repair){.k = o->k, .nodes = nodes_of(o), .even = f->even};
    /* Random parts have the same number of nodes of each type; none may have none of all. */
    if (o->method == METHOD_RANDOM)
        r->even = v->store->meta.schema.nntypes <= GNN_METIS_CONSTRAINTS_MAX
                      ? (struct gnn_even){.balance = GNN_BALANCE_TYPES, .imbalance = 1}
                      : (struct gnn_even){.balance = GNN_BALANCE_NODES, .imbalance = o->k};
    fail_unless(gnn_repair_run(r, v, part, &e), &e);
    f->assign_bytes = f->assign_bytes > r->bytes ? f->assign_bytes : r->bytes;
}

/* ---- all ---- */

void partition_assign(struct partition_opts *o, const struct gnn_view *v, uint32_t *part,
                      struct partition_figures *f)
{
    static const char *const name[] = {"metis", "fennel", "ldg", "access", "random"};
    struct gnn_err e = {0};
    const double start = gnn_clock();

    const char *field = o->from && !strncmp(o->from, "field:", 6) ? o->from + 6 : NULL;
    f->how = field ? "field" : o->from ? "file" : name[o->method];
    if (!o->from && o->method != METHOD_RANDOM)
        even_list(f, o, v);
    f->assign_bytes = v->nvertices * sizeof *part;
    if (field) {
        fail_unless(gnn_assign_field(v, field, &o->k, part, &e), &e);
    } else if (o->from) {
        const char *path;
        int fd = cli_in(o->from, &path);
        fail_unless(gnn_assign_read(v, fd, path, &o->k, part, &e), &e);
        close(fd);
    } else if (o->method == METHOD_RANDOM) {
        gnn_assign_random(v, o->k, o->seed, part);
        /* One part needs no method. */
    } else if (o->k == 1) {
        memset(part, 0, v->nvertices * sizeof *part);
    } else if (o->method == METHOD_METIS) {
        assign_metis(o, v, part, f);
    } else {
        f->assign_bytes = 0;
        assign_stream(o, v, part, f);
    }
    if (!o->from && o->k > 1 && o->method != METHOD_METIS)
        repair_parts(o, v, part, f);
    f->assign_seconds = gnn_clock() - start;
}
