/* OGB archives. */
#include "fuzz/import.h"

FUZZ_IMPORT("ogb", "f.zip")
