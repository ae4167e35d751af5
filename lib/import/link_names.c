/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the sets of links (lib/import/link_split.h). */
#include <string.h>

#include "lib/import/link_split.h"

const char *const gnn_link_set_name[GNN_LINK_SETS] = {"train", "valid", "test"};

int gnn_link_set_find(const char *name, size_t n)
{
    for (int i = 0; i < GNN_LINK_SETS; i++)
        if (strlen(gnn_link_set_name[i]) == n && !strncmp(name, gnn_link_set_name[i], n))
            return i;
    return -1;
}
