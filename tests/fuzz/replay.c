/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target on files, so that corpora are replayed without libFuzzer. usage: replay
 * FILE... */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/fuzz.h"

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        uint8_t *data = NULL;
        size_t n = 0, got = 1;
        while (f && got) {
            data = realloc(data, n + 65536);
            if (!data)
                abort();
            got = fread(data + n, 1, 65536, f);
            n += got;
        }
        if (!f || fclose(f)) {
            perror(argv[i]);
            return 1;
        }
        /* A block of its own size, so that a step beyond it is seen. */
        uint8_t *exact = realloc(data, n ? n : 1);
        LLVMFuzzerTestOneInput(exact, n);
        free(exact);
    }
    printf("%d files, %lu of them good\n", argc - 1, fuzz_accepted);
    return 0;
}
