/* SPDX-License-Identifier: Apache-2.0 */
/* A program outside the tree, in C and in C++, that trains and predicts.
 * usage: learner STORE MODEL KIND OUT [OPTION...]   without options, MODEL is there; OUT gets the
 * bytes of the outputs */
#include <gnn/learn.h>
#include <stdio.h>

static int count_epoch(void *arg, uint64_t epoch, double loss, double value)
{
    ++*(int *)arg;
    printf("%llu %.9g %.9g\n", (unsigned long long)epoch, loss, value);
    return 0;
}

int main(int argc, char **argv)
{
    char kind[64];
    const char *const predict[] = {kind, "layer-wise", NULL};
    int epochs = 0;
    struct gnn_graph *g = argc > 4 ? gnn_graph_open(argv[1], NULL) : NULL;
    struct gnn_outputs *o = NULL;
    if (g)
        snprintf(kind, sizeof kind, "output-kind=%s", argv[3]);
    if (g &&
        (argc == 5 || !gnn_train(g, argv[2], (const char *const *)argv + 5, count_epoch, &epochs)))
        o = gnn_predict_nodes(g, argv[2], predict);
    FILE *f = o ? fopen(argv[4], "wb") : NULL;
    if (f) {
        const struct gnn_tensor *t = gnn_outputs_tensor(o);
        fwrite(gnn_tensor_data(t), 1, gnn_tensor_size(t), f);
        fclose(f);
    } else
        fprintf(stderr, "%s\n", gnn_error());
    gnn_outputs_free(o);
    gnn_graph_close(g);
    return f ? 0 : -gnn_error_status();
}
