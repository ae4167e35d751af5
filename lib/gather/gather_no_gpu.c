/* SPDX-License-Identifier: Apache-2.0 */
/* In a build without CUDA. */
#include "lib/gather/gather_impl.h"

const struct gnn_gather_gpu gnn_gather_gpu;
