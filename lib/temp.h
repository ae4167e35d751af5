/* Results that appear whole or not at all: what a result is called until it is complete, and who removes it.
 *
 * A file has no name until then where the file system can do that (O_TMPFILE), so that a killed process leaves nothing. A store,
 * which is a directory, and a file elsewhere are beside their place as NAME.tmp.RANDOM, of 16 hexadecimal digits, made anew and
 * locked with flock(2) as long as somebody works on them. One that nobody locks was left by a killed process; whoever makes a
 * result of that name next removes it. Symbolic links are never followed in that. */
#ifndef GNN_LIB_TEMP_H
#define GNN_LIB_TEMP_H

#include <stdbool.h>

#include "lib/err.h"

/* A result under way. All of them are known to gnn_temp_abort. */
struct gnn_temp {
    char *path; /* its place */
    char *name; /* where it is now; NULL: nowhere */
    int fd;     /* locked; of a file, also what it can be written through */
    bool dir;
    struct gnn_temp *next;
};

/* The place that an output's name means, on the heap: symbolic links are followed, also one whose target is still to be made. For
 * a directory (`dir`) slashes at the end are dropped; a file's name with one is GNN_E_USAGE. NULL on failure. */
char *gnn_temp_target(const char *path, bool dir, struct gnn_err *e) GNN_MUST_USE;

/* Begins a file or a directory for `path`, where a link is replaced and not followed. NULL on failure. */
struct gnn_temp *gnn_temp_file(const char *path, struct gnn_err *e) GNN_MUST_USE;
struct gnn_temp *gnn_temp_dir(const char *path, struct gnn_err *e) GNN_MUST_USE;
/* Gives it its name, at one instant. A file replaces what was there. A directory does if `replace`: both are exchanged, and the old
 * one is removed as gnn_temp_free does. */
int gnn_temp_commit(struct gnn_temp *t, bool replace, struct gnn_err *e) GNN_MUST_USE;
/* Removes what has not got its name. Of a directory that is store.json, the parts, and the directory if nothing else is in it. Takes
 * NULL. */
void gnn_temp_free(struct gnn_temp *t);
/* Whether a store has files of that name. */
bool gnn_temp_in_store(const char *name);

/* A file without a name in the directory of `path`, which nothing leaves behind: a descriptor, or -1. */
int gnn_temp_scratch(const char *path, struct gnn_err *e) GNN_MUST_USE;

/* Makes the file `path` and locks it for this process, whose number and host it holds, until gnn_temp_free, which removes it. NULL
 * without an error if another process has it: `who` is what that one wrote. Where the file system cannot lock, all get it. */
struct gnn_temp *gnn_temp_lock(const char *path, char who[256], struct gnn_err *e) GNN_MUST_USE;

/* What makes a name inside a temporary directory stands between these two. Once the process ends (gnn_temp_abort), _enter does not
 * return, and neither do the calls above: nothing is made behind its back. */
void gnn_temp_enter(void);
void gnn_temp_leave(void);
/* Removes all that is under way. For a process that ends next, from any thread, while others still run. */
void gnn_temp_abort(void);

#endif
