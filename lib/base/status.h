/* SPDX-License-Identifier: Apache-2.0 */
/* Statuses that functions return which can fail. The numbers never change.
 *
 * Example: the exit status of a program.
 *     int exit_status(int rc)
 *     {
 *         return rc >= 0 ? 0 : rc == GNN_E_USAGE ? 2 : rc == GNN_E_INPUT ? 3 : 1;
 *     }
 */
#ifndef GNN_LIB_BASE_STATUS_H
#define GNN_LIB_BASE_STATUS_H

/* 0, GNN_END, or a negative code. */
enum gnn_status {
    GNN_OK = 0,
    GNN_END = 1,       /* no more items; not an error */
    GNN_E_RUN = -1,    /* I/O failed, or a child process; exit status 1 */
    GNN_E_NOMEM = -2,  /* out of memory; exit status 1 */
    GNN_E_USAGE = -3,  /* the options do not fit each other or the data; exit status 2 */
    GNN_E_INPUT = -4,  /* bad, cut or mismatched input; exit status 3 */
    GNN_E_DEVICE = -5, /* device not usable; exit status 4 */
    GNN_E_RANK = -6,   /* a rank was lost; exit status 5 */
    GNN_E_STOPPED = -7 /* stopped by a signal; exit status 75 after a good checkpoint */
};

#endif
