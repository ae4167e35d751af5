/* SPDX-License-Identifier: Apache-2.0 */
/* The inputs and outputs of a command line: no output may overwrite an input or another output. */
#ifndef GNN_CMD_PATHS_H
#define GNN_CMD_PATHS_H

#include <stddef.h>

#include "cmd/opt.h"

/* Records the file or directory that the first n characters of `path` name; they must live as long
 * as the process. It is an output if option `o` has `makes`, else an input. "-" is ignored. */
void paths_note(const struct opt *o, const char *path, size_t n);
/* Ends the program with status 2 if an output is an input or another output, lies inside one, or
 * contains one. Descriptors 0 and 1 count as an input and an output if they are regular files. */
void paths_check(void);

#endif
