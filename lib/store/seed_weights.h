/* SPDX-License-Identifier: Apache-2.0 */
/* The weights by which seeds are drawn with replacement (struct gnn_sampling). */
#ifndef GNN_LIB_STORE_SEED_WEIGHTS_H
#define GNN_LIB_STORE_SEED_WEIGHTS_H

#include "lib/store/store.h"

/* Into w[n], zeroed: in proportion to what each of ids[n] (store ids of nodes of m->seed_ntype; of
 * several ranks, UINT32_MAX for those of others) is drawn by. All ranks take part and get the same,
 * in the order of ids. GNN_E_INPUT for weights that are not finite and at least 0, or add up to
 * nothing. */
int gnn_store_seed_weights(struct gnn_store *s, const struct gnn_sampling *m, const uint32_t *ids,
                           uint64_t n, double *w, struct gnn_err *e) GNN_MUST_USE;

#endif
