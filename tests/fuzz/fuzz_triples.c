/* SPDX-License-Identifier: Apache-2.0 */
/* Triples of words. */
#include "fuzz/import_target.h"

FUZZ_IMPORT("triples", "f.txt")
