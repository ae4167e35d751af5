/* SPDX-License-Identifier: Apache-2.0 */
/* Standard input of a program that does not read it. */
#ifndef GNN_CMD_STDIN_H
#define GNN_CMD_STDIN_H

/* Ends the program with status 2 and one line if standard input is a stream of batches, because the
 * pipeline is then a mistake. Consumes nothing, so that the program can be called inside a shell's
 * `while read` loop. If an open pipe is still empty, waits for half a second, unless there are
 * several ranks; a thread checks it from then on. `how` completes the line: "gnn-train --store
 * samples its own". inputs: n names that the program reads, each of which may be NULL; does nothing
 * if one of them is stdin, under any name. */
void stdin_unread(const char *how, const char *const *inputs, unsigned n);

#endif
