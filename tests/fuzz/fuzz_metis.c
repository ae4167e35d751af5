/* METIS graphs. */
#include "fuzz/import.h"

FUZZ_IMPORT("metis", "f.graph")
