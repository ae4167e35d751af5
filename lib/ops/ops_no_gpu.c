/* SPDX-License-Identifier: Apache-2.0 */
/* In a build without CUDA. */
#include "lib/ops/ops.h"

const struct gnn_ops_gpu gnn_ops_gpu;
