/* A fuzz target for a format of gnn-import: the bytes are a file of that name. */
#include "import_drain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define FUZZ_IMPORT(FORMAT, NAME)                                                                  \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)                                      \
    {                                                                                              \
        struct gnn_import_opts o = {.format = FORMAT, .task = -1};                                 \
        struct gnn_err e = {0};                                                                    \
        int rc = drain_import(NAME, data, n, &o, NULL, &e);                                        \
        if ((rc == 0) != (e.code == 0) || (rc && !*e.msg))                                         \
            abort(); /* a failure without a reason, or the reverse */                              \
        return 0;                                                                                  \
    }
