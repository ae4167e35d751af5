/* SPDX-License-Identifier: Apache-2.0 */
/* Pipes as files: inputs are read several times, so that what comes once is kept in an unnamed file
 * in $TMPDIR. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_SPOOL_H
#define GNN_LIB_IMPORT_SPOOL_H

#include <stdint.h>

#include "lib/base/err.h"

enum { GNN_SPOOL_PATH = 32 };

struct gnn_spool {
    int fd;                    /* of the file, which vanishes when it is closed */
    char path[GNN_SPOOL_PATH]; /* under which it can be opened while fd is open */
    uint64_t bytes;
};

/* The directory of such files. */
const char *gnn_spool_dir(void);
/* Reads a FIFO, waiting for who writes to it, or standard input ("-"), to its end. */
int gnn_spool_open(struct gnn_spool *s, const char *path, struct gnn_err *e) GNN_MUST_USE;

#endif
