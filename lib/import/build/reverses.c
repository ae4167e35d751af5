/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/build/reverses.h"

#define NEARLY                                                                                     \
    0.99 /* the share of edges with a reverse from which adding reverses is a mistake              \
          */

int gnn_reverses_check(const struct gnn_dataset *d, const struct gnn_import_opts *o,
                       const char *key, const struct gnn_direction_counter *c, bool *there,
                       struct gnn_err *e)
{
    struct gnn_direction n;
    gnn_direction_sum(c, false, false, false, &n);
    const double share = gnn_direction_share(&n);
    *there = false;
    if (n.edges == n.loops || !(o->undirected || d->guessed))
        return GNN_OK;
    *there = n.symmetric || (!o->undirected && share >= NEARLY);
    if (!*there && !o->undirected && share > 0)
        return gnn_fail(
            e, GNN_E_INPUT,
            "%s: %s%.2f %% of the edges %s have their reverse, so the file does not list each edge "
            "once, as its layout has it: --directed keeps the edges as they are, -u --dedup adds "
            "the missing reverses",
            d->name, gnn_direction_estimated(&n) ? "about " : "", 100 * share, key);
    if (*there || o->dedup || share < NEARLY)
        return GNN_OK;
    return gnn_fail(
        e, GNN_E_USAGE,
        "%s: %s%.2f %% of the edges %s have their reverse already: add only the missing "
        "ones with -u --dedup, or leave out -u",
        d->name, gnn_direction_estimated(&n) ? "about " : "", 100 * share, key);
}
