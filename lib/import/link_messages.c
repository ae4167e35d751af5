/* SPDX-License-Identifier: Apache-2.0 */
/* Which sets' links carry messages: edges of them stay in the store (lib/import/link_sets.h). */
#include <inttypes.h>
#include <string.h>

#include "lib/base/plural.h"
#include "lib/import/link_sets.h"

static int read_sets(bool carries[GNN_LINK_SETS], const char *text, struct gnn_err *e)
{
    bool good = true;
    for (const char *p = text, *end; good && p; p = *end ? end + 1 : NULL) {
        end = p + strcspn(p, ",");
        const int set = gnn_link_set_find(p, (size_t)(end - p));
        good = set >= 0 && !carries[set];
        if (good)
            carries[set] = true;
    }
    return good && carries[GNN_LINKS_TRAIN]
               ? 0
               : gnn_fail(
                     e, GNN_E_USAGE,
                     "--messages %s: expected sets, train among them: train,valid or, of links "
                     "with times, train,valid,test",
                     text);
}

/* Links that are no edges have no fields, and no edge of the other direction, to carry any with. */
static int need_edges(const struct link_sets *x, const char *text, int set, struct gnn_err *e)
{
    const char *store = x->view->store->path, *name = gnn_link_set_name[set];
    if (!x->set[set].n)
        return gnn_fail(e, GNN_E_USAGE, "--messages %s: there are no links of set %s", text, name);
    return x->absent[set]
               ? gnn_fail(e, GNN_E_INPUT,
                          "--messages %s: %" PRIu64 " link%s of set %s %s of %s, and cannot carry "
                          "messages: import %s with the graph",
                          text, x->absent[set], gnn_plural(x->absent[set]), name,
                          x->absent[set] == 1 ? "is no edge" : "are no edges", store,
                          x->absent[set] == 1 ? "it" : "them")
               : 0;
}

int gnn_link_sets_messages(struct link_sets *x, const struct gnn_link_split_opts *o,
                           struct gnn_err *e)
{
    const char *text = o->messages ? o->messages : gnn_link_set_name[GNN_LINKS_TRAIN];
    if (read_sets(x->carries, text, e))
        return e->code;
    if (x->carries[GNN_LINKS_TEST] && !x->time)
        return gnn_fail(e, GNN_E_USAGE,
                        "--messages %s: edges of the type have no times, by which links of test "
                        "could be told from later ones, and would tell themselves",
                        text);
    for (int i = GNN_LINKS_TRAIN + 1; i < GNN_LINK_SETS; i++)
        if (x->carries[i] && need_edges(x, text, i, e))
            return e->code;
    return 0;
}
