/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that can work as several ranks: start and end together, tell messages and files apart.
 */
#ifndef GNN_CMD_RANKS_H
#define GNN_CMD_RANKS_H

#include "cmd/opt.h"
#include "lib/comm/comm.h"

/* For the table of options. */
#define RANKS_TIMEOUT(value)                                                                       \
    {                                                                                              \
        OPT_DOUBLE, 0, "timeout", value, "S",                                                      \
            "seconds after which a rank that does not answer is lost; 0: no limit (default: 300)", \
            .min = 0, .max = 1e6, .own = true                                                      \
    }

/* Call after cli_start: from here on messages say which rank they come from, if a launcher started
 * several. */
void ranks_start(void);
/* Whether there are several. */
bool ranks_many(void);
/* Once the options are read: the other ranks, which must be the same program in the same version,
 * with the same options. They have 300 seconds to start, or timeout if that is longer. Ends the
 * program on failure. */
struct gnn_comm *ranks_open(double timeout);
/* cli_path; NULL stays NULL. With several ranks a path that is the same for all of them, or the
 * standard stream, is refused: `option` names it. NULL: may be common. */
const char *ranks_path(const char *path, const char *option);
/* cli_in, of a file that rank 0 reads and shares: other ranks open nothing, and get -1. */
int ranks_in(const struct gnn_comm *c, const char *path, const char **name);
/* Ends the program unless batches with this header, except the members that name the rank, and
 * `more`, a text or NULL, are what all ranks make. */
struct gnn_meta;
void ranks_agree(struct gnn_comm *c, const struct gnn_meta *m, const char *more);
/* With -v and to --metrics, as "ranks": what this rank had of the nodes' rows itself, what came
 * from others, and what its copies took. A single rank reports nothing. */
struct gnn_tier_hits;
struct gnn_gather_copying;
void ranks_tell(const struct gnn_comm *c, const struct gnn_tier_hits *h,
                const struct gnn_gather_copying *k);
/* As ranks_tell, of sampling. */
struct gnn_sample_remote_stats;
void ranks_tell_sample(const struct gnn_comm *c, const struct gnn_sample_remote_stats *s);
/* Waits until all ranks have come here: their results are complete. */
void ranks_close(struct gnn_comm *c);

#endif
