/* Matrix Market. */
#include "fuzz/import.h"

FUZZ_IMPORT("mtx", "f.mtx")
