/* SPDX-License-Identifier: Apache-2.0 */
/* Whole reads and writes on file descriptors, which know their place and name for messages. */
#ifndef GNN_LIB_BASE_IO_H
#define GNN_LIB_BASE_IO_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "lib/base/err.h"

struct gnn_io {
    int fd;
    const char *name; /* for messages; not owned */
    uint64_t pos;     /* bytes read or written through this object */
    bool ended;       /* a read has met the end */
};

/* Asks for a larger pipe (a hint). name must outlive the object. */
void gnn_io_init(struct gnn_io *io, int fd, const char *name);
/* Opens an input that must be a regular file, without ever waiting for one that is not: -1 and
 * GNN_E_INPUT for a FIFO, a device or a directory, as for what is not there (errno is ENOENT then).
 */
int gnn_io_open(const char *path, struct stat *st, struct gnn_err *e) GNN_MUST_USE;
/* As gnn_io_open, of a name seen from the directory `dir`; path: for messages. */
int gnn_io_open_at(int dir, const char *name, const char *path, struct stat *st,
                   struct gnn_err *e) GNN_MUST_USE;
/* Reads that would have to wait end with GNN_E_STOPPED from now on once the descriptor `stop` can
 * be read. For programs that hold signals back; before there are other threads. */
void gnn_io_stop_on(int stop);
int gnn_io_stop(void); /* the descriptor, or -1 */
/* Reads until n bytes or end of file; *got tells which. Retries EINTR and short reads. */
int gnn_io_read(struct gnn_io *io, void *buf, uint64_t n, uint64_t *got,
                struct gnn_err *e) GNN_MUST_USE;
/* Reads exactly n bytes; end of file before that is GNN_E_INPUT "NAME: cut short at byte P (in
 * WHAT)". */
int gnn_io_read_exact(struct gnn_io *io, void *buf, uint64_t n, const char *what,
                      struct gnn_err *e) GNN_MUST_USE;
/* A program that fails, and has reported why, marks the pipe that it writes to. The next program,
 * whose input then ends too early, checks for the mark and does not report that consequence. The
 * mark is the sticky bit of the pipe's inode, which means nothing else there; only pipes of pipe(2)
 * have one: those that have names would keep it. */
void gnn_io_mark_failed(int fd);
bool gnn_io_has_failed(int fd);
/* Sets the function to call when the reader of a pipe has gone, before the write fails with EPIPE:
 * filters end by SIGPIPE. To be called before there are other threads. */
void gnn_io_on_broken_pipe(void (*call)(void));
/* Writes all n bytes, in pieces that suit a pipe. */
int gnn_io_write(struct gnn_io *io, const void *buf, uint64_t n, struct gnn_err *e) GNN_MUST_USE;
/* As gnn_io_write, at a file position, without moving pos. */
int gnn_io_pwrite(struct gnn_io *io, const void *buf, uint64_t n, uint64_t at,
                  struct gnn_err *e) GNN_MUST_USE;
/* fsync where that means something, then close; errors of both are reported. */
int gnn_io_close(struct gnn_io *io, bool sync, struct gnn_err *e) GNN_MUST_USE;
/* Makes the names in a directory, or in the one that holds `path`, last through a loss of power, as
 * gnn_io_close does with contents. */
int gnn_io_sync_dir(const char *dir, struct gnn_err *e) GNN_MUST_USE;
int gnn_io_sync_parent(const char *path, struct gnn_err *e) GNN_MUST_USE;

#endif
