/* SPDX-License-Identifier: Apache-2.0 */
/* Edge lists: comma-separated, quoted, with or without a head line. */
#include "fuzz/import_target.h"

FUZZ_IMPORT("csv", "f.csv")
