/* SPDX-License-Identifier: Apache-2.0 */
/* Results that appear atomically: their temporary names, and who removes these.
 *
 * An incomplete file has no name if the file system supports that (O_TMPFILE), so that a killed
 * process leaves nothing behind. A store, which is a directory, and a file on another file system
 * are next to their final name as NAME.tmp.RANDOM, with 16 hexadecimal digits. They are newly
 * created, and locked with flock(2) until they are complete. An unlocked one was left by a killed
 * process; the next process that makes a result of that name removes it, without following symbolic
 * links. */
#ifndef GNN_LIB_BASE_TEMP_H
#define GNN_LIB_BASE_TEMP_H

#include <stdbool.h>

#include "lib/base/err.h"

/* An incomplete result. gnn_temp_abort removes all of them. */
struct gnn_temp {
    char *path; /* its final name */
    char *name; /* its temporary name; NULL: none */
    int fd;     /* locked; of a file, open for writing */
    bool dir;
    bool direct; /* what was there is written to; nothing is renamed or removed */
    struct gnn_temp *next;
};

/* The final name of an output, on the heap: symbolic links are followed, also to a target that does
 * not exist. For a directory (`dir`) trailing slashes are dropped; a file name with a trailing
 * slash is GNN_E_USAGE. NULL on failure. */
char *gnn_temp_target(const char *path, bool dir, struct gnn_err *e) GNN_MUST_USE;

/* Begins a file or a directory that gets the name `path`; a symbolic link there is replaced, not
 * followed, and a file replaces nothing but a file. NULL on failure. */
struct gnn_temp *gnn_temp_file(const char *path, struct gnn_err *e) GNN_MUST_USE;
struct gnn_temp *gnn_temp_dir(const char *path, struct gnn_err *e) GNN_MUST_USE;
/* Begins a result that a user calls `path`, and a descriptor for writing it, which the caller
 * closes: the file that this leads to, as by gnn_temp_target and gnn_temp_file; but a FIFO, whose
 * reader is waited for, a device, and a file that only a descriptor leads to stay, and are written
 * to directly. GNN_E_USAGE for directories and terminals. NULL on failure. */
struct gnn_temp *gnn_temp_output(const char *path, int *fd, struct gnn_err *e) GNN_MUST_USE;
/* Gives the result its final name, atomically. A file replaces an existing one. A directory does so
 * if `replace`: the two are exchanged, and the old one is removed as by gnn_temp_free. */
int gnn_temp_commit(struct gnn_temp *t, bool replace, struct gnn_err *e) GNN_MUST_USE;
/* Removes a result that was not committed: of a directory its files (lib/base/temp_files.h), and
 * the directory itself if it is then empty. Takes NULL. */
void gnn_temp_free(struct gnn_temp *t);
/* Whether a store has files of that name. */
bool gnn_temp_in_store(const char *name);

/* Opens an unnamed file in the directory of `path`, which vanishes when it is closed. Returns a
 * descriptor, or -1. */
int gnn_temp_scratch(const char *path, struct gnn_err *e) GNN_MUST_USE;

/* Creates the lock file `path` with this process's id and host, and locks it until gnn_temp_free,
 * which removes it. Returns NULL without an error if another process holds the lock: `who` is then
 * the text of that process. On a file system without locks, every call succeeds. */
struct gnn_temp *gnn_temp_lock(const char *path, char who[256], struct gnn_err *e) GNN_MUST_USE;

/* Code that creates a name inside a temporary directory calls _enter before and _leave after. Once
 * gnn_temp_abort was called, _enter and the functions above do not return, so that nothing is
 * created after the removal. */
void gnn_temp_enter(void);
void gnn_temp_leave(void);
/* Removes all incomplete results. For a process that is about to end; any thread may call it while
 * others still run. */
void gnn_temp_abort(void);
/* Makes a store that this process has made a result that gnn_temp_abort removes, too; NULL: not any
 * more. The path must live as long. */
void gnn_temp_tentative(const char *path);

#endif
