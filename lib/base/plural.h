/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in messages. */
#ifndef GNN_LIB_BASE_PLURAL_H
#define GNN_LIB_BASE_PLURAL_H

/* The end of a word that n counts: "" for 1, else "s". */
static inline const char *gnn_plural(unsigned long long n)
{
    return n == 1 ? "" : "s";
}

#endif
