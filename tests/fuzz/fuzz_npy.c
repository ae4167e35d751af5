/* SPDX-License-Identifier: Apache-2.0 */
/* A lone .npy of edges, or an archive of arrays. */
#include "fuzz/import_target.h"

FUZZ_IMPORT("npz", "f.npy")
