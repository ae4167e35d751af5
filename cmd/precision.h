/* SPDX-License-Identifier: Apache-2.0 */
/* --precision of the programs that make matrix products. */
#ifndef GNN_CMD_PRECISION_H
#define GNN_CMD_PRECISION_H

#include "lib/ops/ops.h"

/* An option that stores the number of the word, an enum gnn_precision, in the int *to. */
#define PRECISION_OPTION(to)                                                                       \
    {                                                                                              \
        OPT_CHOICE, 0, "precision", to, "HOW",                                                     \
            "precision of matrix products (default: f32; tf32: on a device)", "f32|tf32|bf16"      \
    }

/* Ends the program where --device says that there will be none for this precision. */
void precision_check(int precision);
/* The operations of feed.gpu or the host; ends the program on failure. */
const struct gnn_ops *precision_ops(int precision);
/* Says that matrix products are made in another precision than was asked for, if it is so: it may
 * show only after the first product. Returns whether it has said it. */
bool precision_tell(const struct gnn_ops *o);

#endif
