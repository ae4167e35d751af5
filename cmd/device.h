/* SPDX-License-Identifier: Apache-2.0 */
/* The option --device. */
#ifndef GNN_CMD_DEVICE_H
#define GNN_CMD_DEVICE_H

#include "lib/gpu/gpu.h"
#include "lib/sample/sampler.h"

/* For the table of options. */
#define DEVICE_HELP "where to compute: cpu, cuda, cuda:0,1, or auto (default: cpu)"
#define DEVICE_WORDS "cpu|cuda|auto"

/* The devices that `spec` names, or NULL for the CPU, which no spec means too; ends the program
 * with status 4 if they cannot be had. With "auto" it tells what was chosen. Of several ranks, c,
 * all work on devices or none: "auto" takes none if one of them has none. NULL: this process alone.
 * gnn_gpu_close comes after everything that was made with them. */
struct gnn_comm;
struct gnn_gpu *device_open(const char *spec, struct gnn_comm *c);

bool device_is_cpu(const char *spec);
/* opt_refuse, if the spec says that the CPU computes; or that devices do. With "auto" neither is
 * known. */
void device_refuse_cpu(const char *spec, const void *const *values, const char *why);
void device_refuse_cuda(const char *spec, const void *const *values, const char *why);

/* Tells with -v where devices have found the graph, if they have. */
void device_tell_graph(const struct gnn_graph_report *r);

#endif
