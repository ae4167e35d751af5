/* SPDX-License-Identifier: Apache-2.0 */
/* Stores that are larger than memory. Where batches take some rows of them, no more than the pages
 * of these rows is read: nothing is read ahead, and rows that will be needed are asked for many at
 * a time, so that the device, which is the slower the fewer it is asked for at once, reads them
 * side by side. Pages that are used often stay in the page cache. */
#ifndef GNN_LIB_STORE_OUT_OF_CORE_H
#define GNN_LIB_STORE_OUT_OF_CORE_H

#include "lib/store/store.h"

/* Rows that are asked for before the first of them is used. */
enum { GNN_OUT_OF_CORE_AHEAD = 1024 };

/* Bytes of the files that are open, those of the base store too. */
uint64_t gnn_store_bytes(const struct gnn_store *s);
/* The memory there is for them: the ranks of a host share its memory evenly. */
uint64_t gnn_store_memory(const struct gnn_store *s);
/* Sets s->out_of_core if the files of a store, which was just opened, are larger than 7/8 of the
 * memory there is. Then only tensors of less than 64 MiB are verified while others work: reading
 * the rest, once for each program, would drive out what is used. With `all`, all tensors are
 * verified now; GNN_E_INPUT names the first damaged one. */
int gnn_store_fit(struct gnn_store *s, bool all, struct gnn_err *e) GNN_MUST_USE;
/* Tell the system, if s is out of core, that some of these bytes will be read from now on, at
 * random places, or, for _ask, soon. Of more than 32 KiB, _ask asks for none: picks take few of a
 * long row. */
void gnn_store_at_random(const struct gnn_store *s, const void *data, uint64_t bytes);
void gnn_store_ask(const struct gnn_store *s, const void *data, uint64_t bytes);

#endif
