/* SPDX-License-Identifier: Apache-2.0 */
/* In a build without CUDA. */
#include "lib/sample/sample_impl.h"

const struct gnn_sample_gpu gnn_sample_gpu;
