/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/train_links.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli.h"
#include "cmd/feed.h"
#include "cmd/ranks.h"
#include "cmd/sampling_opts.h"
#include "cmd/train_full.h"
#include "lib/base/mem.h"
#include "lib/base/suggest.h"
#include "lib/base/temp.h"
#include "lib/import/link_split.h"
#include "lib/train/train_defaults.h"

enum task { TASK_LABELS, TASK_LINKS };
static int task;
static char *type, *split_path;        /* heap */
static const char *const UNNAMED = ""; /* a type that the store will tell */

const struct opt train_links_opts[] = {
    {OPT_CHOICE, 0, "task", &task, "WHAT",
     "learn the labels of nodes, or links: those of the only edge type or of --links, split beside "
     "the model if the store has no sets of them (default: labels)",
     "labels|links"},
    {.kind = OPT_END},
};

void train_links_check(void)
{
    if (!feed.store_path)
        opt_refuse(OPTS(&task), "requires --store; a stream determines this");
    if (train_full() && (task == TASK_LINKS || sampling_given.links.type))
        cli_usage("%s cannot be used with --full-batch: links are learned from batches of them",
                  task == TASK_LINKS ? "--task links" : "--links");
    if (opt_given(&task) && task == TASK_LABELS && sampling_given.links.type)
        cli_usage("--task labels cannot be used with --links");
    if (task == TASK_LINKS && !sampling_given.links.type)
        sampling_given.links.type = UNNAMED; /* options of links have their effect */
}

/* ---- which links, and their sets ---- */

/* The edge type: that of --links, or the only one that is no other's reverse. */
static uint32_t find_type(const struct gnn_schema *c, struct gnn_err *e)
{
    struct gnn_suggest names = {.word = ""};
    char key[GNN_ETYPE_KEY_CAPACITY];
    uint32_t n = 0, found = 0;
    if (sampling_given.links.type != UNNAMED) {
        const int et = gnn_schema_need_etype(c, feed.store_path, sampling_given.links.type, e);
        if (et < 0)
            cli_fail(e);
        return (uint32_t)et;
    }
    for (uint32_t et = 0; et < c->netypes; et++)
        if (gnn_schema_reverse_of(c, et) < 0) {
            gnn_suggest_add(&names, gnn_etype_key(c, et, key, sizeof key));
            found = et;
            n++;
        }
    if (n != 1)
        cli_usage("--task links: %s has %s: --links S/R/D names the type of the links%s",
                  feed.store_path, n ? "several edge types" : "no edges",
                  gnn_suggest_text(&names, "edge types"));
    sampling_given.links.type = type = gnn_strdup(gnn_etype_key(c, found, key, sizeof key), e);
    if (!type)
        cli_fail(e);
    return found;
}

static bool has_sets(const struct gnn_schema *c, uint32_t et)
{
    for (uint32_t i = 0; i < c->nsets; i++)
        if (c->set[i].links && c->set[i].etype == et)
            return true;
    return false;
}

/* Whether what is at the path is a split of these links of s, which an earlier run has made. */
static void check_split(const struct gnn_store *s, uint32_t et, struct gnn_err *e)
{
    struct gnn_store x = {0};
    if (gnn_store_open(&x, split_path, false, e))
        cli_fail(e);
    if (!x.base || strcmp(x.base->meta.identity, s->meta.identity) != 0 ||
        !has_sets(&x.meta.schema, et))
        cli_die(3,
                "%s: exists, and is no split of the links '%s' of %s: remove it, or name another "
                "model",
                split_path, sampling_given.links.type, feed.store_path);
    gnn_store_close(&x);
    cli_note("the links are split as in %s, which is there already", split_path);
}

void train_links_keep(void)
{
    gnn_temp_tentative(NULL);
}

static void write_split(struct gnn_store *s, uint32_t et, struct gnn_err *e)
{
    const bool timed = s->meta.schema.etype[et].order;
    char *text = gnn_strf(e, "%s=%s85/5/10", sampling_given.links.type, timed ? "time:" : "");
    const struct gnn_link_split_opts o = {.text = text, .seed = 1};
    struct gnn_link_split_stats st;
    if (!text)
        cli_fail(e);
    if (gnn_link_split_write(s, &o, split_path, false, cli_provenance(), &st, e)) {
        if (access(split_path, F_OK))
            cli_fail(e);
        *e = (struct gnn_err){0}; /* another run has made it meanwhile */
        check_split(s, et, e);
        gnn_free(text);
        return;
    }
    gnn_temp_tentative(split_path); /* what is refused leaves nothing behind */
    cli_note("links are split %s into the store %s: train %" PRIu64 ", valid %" PRIu64
             ", test %" PRIu64 " (gnn-import --split-links %s)",
             timed ? "by time" : "by pairs of nodes, at random,", split_path,
             st.set[GNN_LINKS_TRAIN], st.set[GNN_LINKS_VALID], st.set[GNN_LINKS_TEST], text);
    gnn_free(text);
}

void train_links_split(const char *output)
{
    struct gnn_err e = {0};
    struct gnn_store s = {0};
    if (task != TASK_LINKS)
        return;
    if (gnn_store_open(&s, feed.store_path, feed.verify, &e))
        cli_fail(&e);
    const uint32_t et = find_type(&s.meta.schema, &e);
    if (!has_sets(&s.meta.schema, et)) {
        if (ranks_many())
            cli_usage("--task links: with several ranks, %s must be a split: gnn-import "
                      "--split-links makes one",
                      feed.store_path);
        if (!output || !strcmp(output, "-"))
            cli_usage("--task links writes a split of %s beside the model: -o FILE is missing "
                      "(or gnn-import --split-links makes one)",
                      feed.store_path);
        if (!(split_path = gnn_strf(&e, "%s.split", output)))
            cli_fail(&e);
        if (access(split_path, F_OK))
            write_split(&s, et, &e);
        else
            check_split(&s, et, &e);
        feed.store_path = split_path;
    }
    if (s.meta.schema.etype[et].order && !opt_given(&sampling_given.time_rule)) {
        sampling_given.time_rule = GNN_PICK_BEFORE;
        cli_note("neighbours of a link are earlier than it (--time-rule lt)");
    }
    gnn_store_close(&s);
}

void train_links_end(void)
{
    gnn_free(type);
    gnn_free(split_path);
}

/* ---- what a batch of them is ---- */

/* Links are told from something: from pairs that are no links, unless other negatives are chosen.
 */
static void choose_negatives(struct gnn_links *l, const struct gnn_schema *c,
                             const struct opt_list *eval)
{
    const bool drawn = l->negatives;
    if (task == TASK_LINKS && drawn && !opt_given(&l->strict)) {
        l->strict = true;
        cli_note("no negative is an edge (--strict)");
    }
    if (!l->eval_negatives && sampling_opts_take_given(c, eval->v, eval->n))
        l->eval_negatives = "given";
    if (drawn)
        return;
    l->negatives = "binary:1";
    l->strict = true;
    cli_note("negatives: one for each link of a batch that is no edge (--negatives binary:1 "
             "--strict)");
    if (l->eval_negatives || !eval->n)
        return;
    l->eval_negatives = "triplet:20";
    cli_note("negatives of evaluated sets: 20 for each link (--eval-negatives triplet:20)");
}

/* Whether a time rule keeps out what would be excluded: before their time, links are not there, nor
 * reverses of the same time. */
static bool are_later(const struct gnn_schema *c, uint32_t et)
{
    const int reverse = gnn_schema_reverse(c, et);
    return sampling_given.time_rule == GNN_PICK_BEFORE && c->etype[et].order &&
           !gnn_etype_is_raised(&c->etype[et]) &&
           (reverse < 0 || (c->etype[reverse].order && !gnn_etype_is_raised(&c->etype[reverse])));
}

/* Reverses that the store does not know as such stay among the edges of a batch. */
static void tell_other_reverses(const struct gnn_schema *c, uint32_t et)
{
    const struct gnn_etype *t = &c->etype[et];
    char key[GNN_ETYPE_KEY_CAPACITY];
    for (uint32_t i = 0; i < c->netypes; i++)
        if (c->etype[i].src == t->dst && c->etype[i].dst == t->src)
            cli_note("warning: edges '%s' are not excluded: if they are the reverses of the links, "
                     "as gnn-import --reverse-of can say, they tell which pairs are linked",
                     gnn_etype_key(c, i, key, sizeof key));
}

/* Links do not see themselves, unless that is asked for. */
static void choose_excluded(struct gnn_links *l, const struct gnn_schema *c, uint32_t et)
{
    if (opt_given(&l->exclude) || are_later(c, et))
        return;
    const bool back = c->etype[et].src == c->etype[et].dst || gnn_schema_reverse(c, et) >= 0;
    l->exclude = back ? GNN_EXCLUDE_REVERSE : GNN_EXCLUDE_SELF;
    cli_note("links of a batch%s are not among its edges (--exclude %s)",
             back ? " and their reverses" : "", back ? "reverse" : "self");
    if (!back)
        tell_other_reverses(c, et);
}

/* The set TRAIN_EVAL of the type and, with --task links, the set test. */
static void choose_eval(const struct gnn_schema *c, uint32_t et, const char *split,
                        struct opt_list *eval)
{
    static const char *set[] = {TRAIN_EVAL, "test"};
    const int i = gnn_schema_find_links(c, et, set[0]),
              j = task == TASK_LINKS ? gnn_schema_find_links(c, et, set[1]) : -1;
    if (i < 0 || !c->set[i].count || !strcmp(split, set[0])) {
        cli_note("no set " TRAIN_EVAL " of links to evaluate on: all epochs are trained "
                 "(gnn-import --split-links makes sets)");
        return;
    }
    *eval = (struct opt_list){set, j >= 0 && c->set[j].count && strcmp(split, set[1]) ? 2 : 1};
    cli_note("evaluating set " TRAIN_EVAL "%s of links after each epoch (turn this off with --eval "
             "none)",
             eval->n > 1 ? ", which chooses the epoch, and set test" : "");
}

void train_links_choose(const char *split, struct opt_list *eval, bool eval_given)
{
    struct gnn_links *l = &sampling_given.links;
    const struct gnn_schema *c = &feed.store.meta.schema;
    const int et = l->type ? gnn_schema_find_etype(c, l->type) : -1;
    sampling_opts_choose_rule(c, split);
    if (et >= 0 && !eval_given)
        choose_eval(c, (uint32_t)et, split, eval);
    if (l->type && !l->target)
        choose_negatives(l, c, eval);
    if (l->eval_negatives && !eval->n)
        cli_usage("--eval-negatives has no effect: no set is evaluated");
    if (et >= 0)
        choose_excluded(l, c, (uint32_t)et);
}
