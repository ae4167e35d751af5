/* SPDX-License-Identifier: Apache-2.0 */
/* Shares and rates. Of nothing they are not defined: NaN, which cli_number and cli_metrics_number
 * show as such. */
#ifndef GNN_CMD_SHARE_H
#define GNN_CMD_SHARE_H

#include <stdint.h>

/* n / of */
double share_of(uint64_t n, uint64_t of);
/* " (12.34 %)" with so many digits after the point, or "": a share of nothing. Returns out. */
const char *share_text(char out[32], uint64_t n, uint64_t of, int digits);

#endif
