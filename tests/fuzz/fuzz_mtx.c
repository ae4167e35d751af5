/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix Market. */
#include "fuzz/import_target.h"

FUZZ_IMPORT("mtx", "f.mtx")
