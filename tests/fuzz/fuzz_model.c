/* SPDX-License-Identifier: Apache-2.0 */
/* The safetensors reader, and what makes a model of a file: any bytes give a model or a clean
 * error. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "lib/base/mem.h"
#include "lib/model/model_file.h"

unsigned long fuzz_accepted;

static void make_schema(struct gnn_schema *s)
{
    struct gnn_err e = {0};
    if (gnn_schema_add_ntype(s, "node", 60, &e) ||
        gnn_schema_add_nfield(s, 0, "x", GNN_F32, 11, &e) ||
        gnn_schema_add_etype(s, 0, "to", 0, 100, &e))
        abort();
    s->task = GNN_TASK_MULTICLASS;
    s->nclasses = 4;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct gnn_schema s;
    struct gnn_err e = {0};
    struct gnn_st_file f = {0};
    struct gnn_model m;
    if (!s.nntypes)
        make_schema(&s);
    void *bytes = gnn_alloc(n, 1, "bytes", &e);
    if (!bytes)
        return 0;
    memcpy(bytes, data, n);
    if (gnn_st_parse(&f, bytes, n, "fuzz", &e)) {
        if (!*e.msg || strchr(e.msg, '\n'))
            abort();
        return 0;
    }
    if (gnn_model_open(&m, &f, "fuzz", &s, NULL, &e) == 0) {
        gnn_model_release(&m);
        fuzz_accepted++;
    } else if (!*e.msg)
        abort(); /* a failure without a reason */
    gnn_st_release(&f);
    return 0;
}
