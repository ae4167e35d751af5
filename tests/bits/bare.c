/* SPDX-License-Identifier: Apache-2.0 */
/* bare FILE: the model or checkpoint as it is without the record of its training
 * (lib/data/recipe.h) to standard output, for hashes: they are to tell whether numbers change, not
 * what is said of them. */
#include <stdio.h>
#include <unistd.h>

#include "lib/base/mem.h"
#include "lib/model/model_file.h"

int main(int argc, char **argv)
{
    struct gnn_err e = {0};
    struct gnn_st_file f = {0};
    if (argc != 2 || gnn_st_read(&f, argv[1], &e)) {
        fprintf(stderr, "bare: %s\n", argc != 2 ? "usage: bare FILE" : e.msg);
        return 1;
    }
    json_object_del(f.st.metadata, "training");
    json_object_set_new(f.st.metadata, GNN_SAFETENSORS_CHECKSUM,
                        json_string(GNN_SAFETENSORS_NO_DIGITS));
    const struct gnn_tensor **t = gnn_alloc(f.st.n, sizeof *t, "tensors", &e);
    for (size_t i = 0; t && i < f.st.n; i++)
        t[i] = &f.st.tensor[i];
    const int rc =
        !t || gnn_st_write(dup(STDOUT_FILENO), "standard output", t, f.st.n, f.st.metadata, &e);
    if (rc)
        fprintf(stderr, "bare: %s\n", e.msg);
    gnn_free(t);
    gnn_st_release(&f);
    return rc != 0;
}
