/* SPDX-License-Identifier: Apache-2.0 */
/* Status codes, and the one line of text that says what failed.
 *
 * Functions that can fail return a status and fill the caller's struct gnn_err. Nothing here is
 * allocated or has to be released. Use one object per thread. */
#ifndef GNN_LIB_BASE_ERR_H
#define GNN_LIB_BASE_ERR_H

#include <stdarg.h>
#include <stdbool.h>

#include "lib/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GNN_MUST_USE __attribute__((warn_unused_result))
#define GNN_PRINTF(a, b) __attribute__((format(printf, a, b)))

/* Owned by the caller, zeroed before use. The first failure wins: later calls of gnn_fail on the
 * same object leave it as it is. Not thread-safe: one object per thread. */
struct gnn_err {
    int code;
    bool told; /* the program before this one, whose pipe ended too early, has told the user why */
    char msg[1024];
};

/* Records the failure, if it is the first one, and returns `code`. */
int gnn_fail(struct gnn_err *e, enum gnn_status code, const char *fmt, ...) GNN_PRINTF(3, 4);
/* As gnn_fail, for a failed system call: appends ": " and strerror(errno). Keeps errno. ENOMEM is
 * recorded as GNN_E_NOMEM, everything else as GNN_E_RUN. */
int gnn_fail_errno(struct gnn_err *e, const char *fmt, ...) GNN_PRINTF(2, 3);
/* As gnn_fail_errno, for an input that could not be opened, with "PATH: cannot open: REASON": one
 * that is not there, or that is no file to read, is GNN_E_INPUT. */
int gnn_fail_open(struct gnn_err *e, const char *path);
/* Fails as `from`, an error of another thread, did. */
int gnn_fail_as(struct gnn_err *e, const struct gnn_err *from);
/* GNN_E_NOMEM, with a text that says how much was wanted and for what. */
int gnn_fail_nomem(struct gnn_err *e, unsigned long long bytes, const char *what);

/* Tells the compiler that a failure is not 0, so it can see that results are set on success. */
static inline int gnn_failed(int rc)
{
    if (!rc)
        __builtin_unreachable();
    return rc;
}
#define gnn_fail(...) gnn_failed(gnn_fail(__VA_ARGS__))
#define gnn_fail_errno(...) gnn_failed(gnn_fail_errno(__VA_ARGS__))
#define gnn_fail_open(...) gnn_failed(gnn_fail_open(__VA_ARGS__))
#define gnn_fail_as(...) gnn_failed(gnn_fail_as(__VA_ARGS__))
#define gnn_fail_nomem(...) gnn_failed(gnn_fail_nomem(__VA_ARGS__))

#ifdef __cplusplus
}
#endif

#endif
