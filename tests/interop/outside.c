/* SPDX-License-Identifier: Apache-2.0 */
/* A program outside the tree, in C and in C++: draws ten batches, gathers, and compares each tensor
 * with that of a stream, which gnn-sample and gnn-gather wrote.
 * usage: outside STORE STREAM COPY     COPY: the same batches, written by the library */
#include <gnn/minibatch.h>
#include <stdio.h>
#include <string.h>

static const char *const sample[] = {"fanout=5,3", "batch=20", "epochs=2",
                                     "edge-ids",   "seed=7",   NULL};
static const char *const gather[] = {"fields=x,y", "dtype=f16", NULL};

static struct gnn_batches *draw(struct gnn_graph *g)
{
    return gnn_batches_gather(gnn_batches_sample(g, sample), g, gather);
}

static int differs(const struct gnn_tensor *a, const struct gnn_tensor *b)
{
    if (!a || !b || strcmp(gnn_tensor_dtype(a), gnn_tensor_dtype(b)) != 0 ||
        gnn_tensor_ndim(a) != gnn_tensor_ndim(b))
        return 1;
    for (uint32_t i = 0; i < gnn_tensor_ndim(a); i++)
        if (gnn_tensor_shape(a, i) != gnn_tensor_shape(b, i))
            return 1;
    return memcmp(gnn_tensor_data(a), gnn_tensor_data(b), gnn_tensor_size(a)) != 0;
}

static int compare(struct gnn_batches *drawn, struct gnn_batches *read, int *batches, int *tensors)
{
    struct gnn_batch *a, *b;
    while (gnn_batches_next(drawn, &a) == GNN_OK && gnn_batches_next(read, &b) == GNN_OK) {
        const char *name;
        uint32_t i;
        for (i = 0; (name = gnn_batch_tensor_name(a, i)); i++, ++*tensors)
            if (differs(gnn_batch_tensor(a, name), gnn_batch_tensor(b, name)))
                return printf("batch %d: %s differs\n", *batches, name);
        if (gnn_batch_tensor_name(b, i))
            return printf("batch %d: has no %s\n", *batches, gnn_batch_tensor_name(b, i));
        gnn_batch_put(a);
        gnn_batch_put(b);
        ++*batches;
    }
    return gnn_error_status() || gnn_batches_next(read, &b) != GNN_END;
}

int main(int argc, char **argv)
{
    static const char *const wrong[] = {"fanuot=5", NULL};
    int batches = 0, tensors = 0;
    struct gnn_graph *g = gnn_graph_open(argc == 4 ? argv[1] : "", NULL);
    struct gnn_batches *drawn = g ? draw(g) : NULL, *read = g ? gnn_batches_read(argv[2]) : NULL,
                       *again;
    int failed = !drawn || !read || compare(drawn, read, &batches, &tensors);
    gnn_batches_free(drawn);
    gnn_batches_free(read);
    if (!failed) {
        again = draw(g);
        failed = gnn_batches_write(again, argv[3], NULL) || gnn_graph_check(g);
        gnn_batches_free(again);
    }
    if (failed || *gnn_error())
        fprintf(stderr, "%s\n", gnn_error());
    else if (gnn_batches_sample(g, wrong) || gnn_error_status() != GNN_E_USAGE)
        failed = printf("an unknown option is taken\n");
    else
        printf("%s %d %d: %s\n", gnn_version(), batches, tensors, gnn_error());
    gnn_graph_close(g);
    return failed;
}
