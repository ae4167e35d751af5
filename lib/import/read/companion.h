/* SPDX-License-Identifier: Apache-2.0 */
/* Files that lie beside data and are none. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_COMPANION_H
#define GNN_LIB_IMPORT_COMPANION_H

#include <stdbool.h>

/* Whether a member of that name cannot be data: a README, license, checksum, hidden file, document,
 * program, or what systems leave in directories. */
bool gnn_companion_is(const char *member);

#endif
