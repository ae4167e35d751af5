/* SPDX-License-Identifier: Apache-2.0 */
/* gnn-inspect --export: stores, streams and models in formats of other programs. */
#ifndef GNN_CMD_INSPECT_EXPORT_H
#define GNN_CMD_INSPECT_EXPORT_H

#include <stdbool.h>

#include "cmd/opt.h"

extern const struct opt inspect_export_opts[];
/* The file of --export, or NULL. */
extern const char *inspect_export_file;

/* Kinds of inputs. */
enum inspect_kind { INSPECT_STORE, INSPECT_STREAM, INSPECT_MODEL };

/* Ends the program with status 2 for an option of these tables that would have no effect; edges:
 * that of --edges, or NULL. */
void inspect_export_check(const char *edges);
/* Exports the input. Ends the program on failure. */
void inspect_export(const char *path, enum inspect_kind kind, const char *edges);

#endif
