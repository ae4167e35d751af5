/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/share.h"

#include <math.h>
#include <stdio.h>

double share_of(uint64_t n, uint64_t of)
{
    return of ? (double)n / (double)of : NAN;
}

const char *share_text(char out[32], uint64_t n, uint64_t of, int digits)
{
    *out = 0;
    if (of)
        snprintf(out, 32, " (%.*f %%)", digits, 100 * share_of(n, of));
    return out;
}
