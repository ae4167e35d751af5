/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/import_links.h"

#include <inttypes.h>

#include "cmd/cli.h"
#include "lib/base/clock.h"
#include "lib/base/mem.h"
#include "lib/base/plural.h"

static json_t *sets_json(const uint64_t n[GNN_LINK_SETS])
{
    json_t *o = json_object();
    for (int i = 0; i < GNN_LINK_SETS; i++)
        json_object_set_new(o, gnn_link_set_name[i], json_integer((json_int_t)n[i]));
    return o;
}

static void tell_set(const struct gnn_link_split_stats *st, int i)
{
    const char *name = gnn_link_set_name[i];
    if (!st->absent[i])
        cli_info(GNN_LINK_SPLIT "/%s: %" PRIu64 " link%s", name, st->set[i],
                 gnn_plural(st->set[i]));
    else
        cli_note(GNN_LINK_SPLIT "/%s: %" PRIu64 " link%s, of which %" PRIu64
                                " %s edge of the store",
                 name, st->set[i], gnn_plural(st->set[i]), st->absent[i],
                 st->absent[i] == 1 ? "is no" : "are no");
}

/* What an archive has that a split does not, and links that it has twice. */
static void tell_archive(const struct gnn_link_split_stats *st)
{
    for (int i = GNN_LINKS_TRAIN + 1; i < GNN_LINK_SETS; i++)
        if (st->again[i])
            cli_note("%" PRIu64 " link%s of set %s %s in an earlier set, too, as in the archive",
                     st->again[i], gnn_plural(st->again[i]), gnn_link_set_name[i],
                     st->again[i] == 1 ? "is" : "are");
    if (*st->unread)
        cli_note("not read: %s", st->unread);
}

static void tell_given(const struct gnn_link_split_stats *st, int i)
{
    const char *name = gnn_link_set_name[i];
    if (st->fewest[i] < st->most[i])
        cli_info(GNN_RAGGED_SPLIT "/%s: %" PRIu64 " to %" PRIu64 " given negatives of each link",
                 name, st->fewest[i], st->most[i]);
    else if (st->given[i])
        cli_info("%s/%s: %" PRIu64 " given negative%s of %s",
                 st->each[i] ? GNN_EACH_SPLIT : GNN_SHARED_SPLIT, name, st->given[i],
                 gnn_plural(st->given[i]), st->each[i] ? "each link" : "all links");
    if (st->same[i])
        cli_note("warning: %" PRIu64 " of the candidates of set %s %s the tail of the link itself",
                 st->same[i], name, st->same[i] == 1 ? "is" : "are");
}

/* Whether the reverse of a link may have another time, and so be in another set, or carry messages.
 */
static void tell_times(const struct gnn_schema *c, const struct gnn_link_split_stats *st)
{
    if (st->pairs || !st->timed ||
        !(gnn_etype_is_raised(&c->etype[st->etype]) ||
          (st->rev >= 0 && gnn_etype_is_raised(&c->etype[st->rev]))))
        return;
    cli_note("warning: edges are ordered by %s, so the reverse of a link may have another time, "
             "and carry messages: --exclude reverse keeps it out of the batch of its link, and "
             "gnn-inspect --leaks counts those of valid and test",
             GNN_EFFECTIVE_TIME);
}

static void tell_split(const struct gnn_schema *c, const struct gnn_link_split_stats *st,
                       double seconds)
{
    const uint64_t all = c->etype[st->etype].count;
    char key[GNN_ETYPE_KEY_CAPACITY];
    for (int i = 0; i < GNN_LINK_SETS; i++) {
        tell_set(st, i);
        tell_given(st, i);
    }
    if (st->pairs)
        cli_info("split by %" PRIu64 " pair%s of nodes; %s", st->pairs, gnn_plural(st->pairs),
                 st->symmetric ? "edges go both ways, and a pair is one link"
                               : "each edge is a link");
    if (st->unlisted && st->unlisted != st->kept[GNN_LINKS_TRAIN])
        cli_note("%" PRIu64 " edge%s no link of a file: %s messages, and %s in no set",
                 st->unlisted, st->unlisted == 1 ? " is" : "s are",
                 st->unlisted == 1 ? "it carries" : "they carry", st->unlisted == 1 ? "is" : "are");
    cli_info("%s: %" PRIu64 " of %" PRIu64 " edge%s carry messages",
             gnn_etype_key(c, st->etype, key, sizeof key), st->messages, all, gnn_plural(all));
    for (int i = GNN_LINKS_TRAIN + 1; i < GNN_LINK_SETS; i++)
        if (st->kept[i])
            cli_info("of these, %" PRIu64 " %s set %s (--messages)", st->kept[i],
                     st->kept[i] == 1 ? "is of" : "are of", gnn_link_set_name[i]);
    if (st->rev >= 0)
        cli_info("%s: %" PRIu64 " of %" PRIu64 " edge%s carry messages",
                 gnn_etype_key(c, (uint32_t)st->rev, key, sizeof key), st->rev_messages,
                 c->etype[st->rev].count, gnn_plural(c->etype[st->rev].count));
    tell_archive(st);
    tell_times(c, st);
    cli_metrics(json_pack("{s:s, s:o, s:o, s:o, s:I, s:o, s:I, s:b, s:I, s:I, s:f, s:I}", "links",
                          gnn_etype_key(c, st->etype, key, sizeof key), "sets", sets_json(st->set),
                          "absent", sets_json(st->absent), "again", sets_json(st->again),
                          "unlisted", (json_int_t)st->unlisted, "negatives", sets_json(st->given),
                          "pairs", (json_int_t)st->pairs, "symmetric", st->symmetric, "messages",
                          (json_int_t)st->messages, "edges", (json_int_t)all, "seconds", seconds,
                          "peak_bytes", (json_int_t)gnn_mem_peak()));
}

void import_links(const char *input, const struct gnn_link_split_opts *o, const char *output,
                  bool force)
{
    struct gnn_err e = {0};
    struct gnn_store s = {0};
    struct gnn_link_split_stats st;
    const double start = gnn_clock();
    if (gnn_store_open(&s, input, true, &e) ||
        gnn_link_split_write(&s, o, output, force, cli_provenance(), &st, &e))
        cli_fail(&e);
    tell_split(&s.meta.schema, &st, gnn_clock() - start);
    gnn_store_close(&s);
}
