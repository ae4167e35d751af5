/* SPDX-License-Identifier: Apache-2.0 */
/* Triples of words; N-Triples, if the first line is the comment "#nt". */
#include "fuzz/import_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const bool statements = n > 3 && !memcmp(data, "#nt\n", 4);
    fuzz_import(statements ? "ntriples" : "triples", statements ? "f.nt" : "f.txt", data, n);
    return 0;
}
