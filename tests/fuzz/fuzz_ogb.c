/* SPDX-License-Identifier: Apache-2.0 */
/* OGB archives. */
#include "fuzz/import_target.h"

FUZZ_IMPORT("ogb", "f.zip")
