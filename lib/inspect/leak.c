/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/inspect/leak.h"

#include <stdarg.h>
#include <stdio.h>

void gnn_leak_add(struct gnn_leak *l, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (!l->count++)
        vsnprintf(l->first, sizeof l->first, fmt, ap);
    va_end(ap);
}
