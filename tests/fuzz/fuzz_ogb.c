/* SPDX-License-Identifier: Apache-2.0 */
/* OGB archives. */
#include "fuzz/import.h"

FUZZ_IMPORT("ogb", "f.zip")
