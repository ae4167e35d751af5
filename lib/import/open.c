#include <string.h>

#include "lib/import.h"
#include "lib/import/gen.h"

int gnn_import_open(struct gnn_dataset **out, const char *const *input, uint32_t n,
                    const struct gnn_import_opts *o, struct gnn_err *e)
{
    *out = NULL;
    if (n != 1 || !gnn_gen_is(input[0]))
        return gnn_fail(e, GNN_E_USAGE, "%s: not a generator (rmat:, sbm:, products:)", input[0]);
    return gnn_gen_open(out, input[0], o->seed, o->threads, e);
}
