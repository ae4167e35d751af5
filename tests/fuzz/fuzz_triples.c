/* Triples of words. */
#include "fuzz/import.h"

FUZZ_IMPORT("triples", "f.txt")
