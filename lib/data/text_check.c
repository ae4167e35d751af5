/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/data/text_check.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "lib/data/schema.h"

/* Well-formed UTF-8 as in RFC 3629, since names go into JSON, and no control characters, those
 * beyond ASCII included. */
static bool is_text(const char *s)
{
    const unsigned char *p = (const unsigned char *)s;
    while (*p) {
        unsigned n = *p < 0x80                 ? 0
                     : *p >= 0xc2 && *p < 0xe0 ? 1
                     : *p >= 0xe0 && *p < 0xf0 ? 2
                     : *p >= 0xf0 && *p < 0xf5 ? 3
                                               : 4;
        uint32_t c = *p++ & (0x7fu >> n);
        if (n == 4)
            return false;
        for (unsigned i = 0; i < n; i++, p++) {
            if ((*p & 0xc0) != 0x80)
                return false;
            c = c << 6 | (*p & 0x3fu);
        }
        if ((n == 1 && c < 0xa0) || (n == 2 && (c < 0x800 || (c >= 0xd800 && c < 0xe000))) ||
            (n == 3 && (c < 0x10000 || c > 0x10ffff)))
            return false;
    }
    return true;
}

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
    return is_text(name)
               ? 0
               : gnn_fail(e, GNN_E_INPUT, "%s name '%.70s' is not UTF-8 text", what, name);
}

int gnn_type_name_check(const char *name, const char *what, struct gnn_err *e)
{
    return gnn_text_check(name, what, GNN_TYPE_NAME_MAX, e);
}
