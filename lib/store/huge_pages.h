/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of what batches read at random places of a store, in huge pages. Files are mapped in pages
 * of 4 KiB mostly, so that almost every row and pick misses the TLB, and waits for the page's
 * address before it waits for memory. */
#ifndef GNN_LIB_STORE_HUGE_PAGES_H
#define GNN_LIB_STORE_HUGE_PAGES_H

#include "lib/store/store.h"

/* Tensors that are copied: offsets and neighbours of edges, rows of fields, or both. */
enum { GNN_HUGE_GRAPH = 1, GNN_HUGE_ROWS = 2 };

struct gnn_huge_pages {
    uint64_t wanted, copied; /* bytes of what is copied, were there memory, and of the copies */
    uint64_t huge;           /* of these, bytes that are in huge pages */
};

/* Whether the kernel makes huge pages for who asks. root: the folder in which /sys is, "" but in
 * tests. */
bool gnn_huge_pages_offered(const char *root);
/* Copies tensors of the parts that are open: the graph first, then features, then other fields but
 * ids and names, of each the larger ones first, as long as a third of the memory there is
 * (gnn_store_memory) holds them. Tensors of less than 4 MiB are left. Before the store's tensors
 * are used; not for one that is out of core. */
int gnn_store_huge_pages(struct gnn_store *s, unsigned what, struct gnn_huge_pages *h,
                         struct gnn_err *e) GNN_MUST_USE;

#endif
