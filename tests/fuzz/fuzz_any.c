/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever the content says it is. */
#include "fuzz/import_target.h"

FUZZ_IMPORT(NULL, "f")
