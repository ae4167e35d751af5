/* SPDX-License-Identifier: Apache-2.0 */
/* METIS graphs. */
#include "fuzz/import_target.h"

FUZZ_IMPORT("metis", "f.graph")
