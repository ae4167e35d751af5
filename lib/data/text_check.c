/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/data/text_check.h"

#include <string.h>

#include "formats/text.h"
#include "lib/data/schema.h"

/* Names go into JSON: UTF-8 without control characters. */
int gnn_text_check(const char *name, const char *what, size_t most, struct gnn_err *e)
{
    const size_t n = strlen(name);
    if (!n)
        return gnn_fail(e, GNN_E_INPUT, "%s name is empty", what);
    if (n > most)
        return gnn_fail(e, GNN_E_INPUT, "%s name '%.70s...' has %zu bytes, more than %zu", what,
                        name, n, most);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f)
            return gnn_fail(e, GNN_E_INPUT, "%s name '%.70s' has a control character", what, name);
    return gnn_text_is_utf8(name, n)
               ? 0
               : gnn_fail(e, GNN_E_INPUT,
                          "%s name '%.70s' is not UTF-8 text without control characters", what,
                          name);
}

int gnn_type_name_check(const char *name, const char *what, struct gnn_err *e)
{
    return gnn_text_check(name, what, GNN_TYPE_NAME_MAX, e);
}
