/* SPDX-License-Identifier: Apache-2.0 */
/* A communicator over the calls of lib/comm/mpi.h: the plug-in's or a test's. */
#ifndef GNN_LIB_COMM_MPI_COMM_H
#define GNN_LIB_COMM_MPI_COMM_H

#include "lib/comm/comm.h"
#include "lib/comm/mpi.h"

/* Starts m, which must outlive the communicator. */
int gnn_comm_mpi(struct gnn_comm **c, const struct gnn_mpi *m, double timeout,
                 struct gnn_err *e) GNN_MUST_USE;

#endif
