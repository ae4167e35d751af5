/* SPDX-License-Identifier: Apache-2.0 */
/* Which times of edges an entry's time allows. Said once more, and not as the sampler does it
 * (kernels/pick.h), which looks for the ends of what it may pick. Not for use outside lib/inspect.
 */
#ifndef GNN_LIB_INSPECT_IN_TIME_H
#define GNN_LIB_INSPECT_IN_TIME_H

#include <string.h>

#include "kernels/pick.h"

/* Whether an edge of time `edge` may be picked for an entry of time `entry`. */
static inline bool gnn_in_time(const struct gnn_pick_time *r, const int64_t *edge,
                               const int64_t *entry)
{
    if (r->real) {
        double at, t;
        memcpy(&at, edge, sizeof at);
        memcpy(&t, entry, sizeof t);
        return (r->until == GNN_PICK_UNTIL ? at <= t : at < t) &&
               (!r->windowed || at >= t - r->window_real);
    }
    return (r->until == GNN_PICK_UNTIL ? *edge <= *entry : *edge < *entry) &&
           (!r->windowed || *edge >= *entry ||
            (uint64_t)*entry - (uint64_t)*edge <= (uint64_t)r->window);
}

#endif
