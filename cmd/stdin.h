/* Standard input of a program that does not read it. */
#ifndef GNN_CMD_STDIN_H
#define GNN_CMD_STDIN_H

/* Ends the program with status 2 and one line when standard input brings a stream of batches, now or while the program works:
 * a user who joined it to others by pipes expects that it is read. Nothing is consumed, so that a shell's `while read` around
 * the program keeps its lines. Where nothing has come through a pipe that is open, waits half a second, unless it is one of
 * several ranks; a thread looks on from then. `how` completes the line: "gnn-train --store samples its own". inputs: n names
 * that the program does read, NULL among them ignored: nothing is done if one is stdin, by whatever name. */
void stdin_unread(const char *how, const char *const *inputs, unsigned n);

#endif
