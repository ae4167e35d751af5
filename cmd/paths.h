/* What a command line names as input and output: nothing is written over what is read, or over another result. */
#ifndef GNN_CMD_PATHS_H
#define GNN_CMD_PATHS_H

#include <stddef.h>

#include "cmd/opt.h"

/* Notes the file or directory in the first n characters of `path`, which live as long as the process: written by option `o` if that
 * says what it makes, else read. "-" is none. */
void paths_note(const struct opt *o, const char *path, size_t n);
/* Ends the program with status 2 if an output is one of the inputs, or of the other outputs, lies in one, or holds one. Where
 * descriptors 0 and 1 are files, they are an input and an output. */
void paths_check(void);

#endif
