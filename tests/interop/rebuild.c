/* SPDX-License-Identifier: Apache-2.0 */
/* A program outside the tree that writes a store: all of another store of one partition, read and
 * handed to the builder by name. Fields are x of nodes, and f of edges, if there is one.
 * usage: rebuild STORE NEW TASK */
#include <gnn/builder.h>
#include <gnn/graph.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gnn_graph *g;
static struct gnn_builder *b;
static void *held[256]; /* until the store is written */
static int nheld;

static void *hold(size_t bytes)
{
    return held[nheld++] = malloc(bytes + 1);
}

static const struct gnn_tensor *find(const char *kind, const char *type, const char *name)
{
    char full[512];
    snprintf(full, sizeof full, "%s/%s/%s", kind, type, name);
    return gnn_graph_tensor(g, 0, full);
}

static const struct gnn_tensor *find_set(const char *name)
{
    char full[512];
    snprintf(full, sizeof full, "split/%s", name);
    return gnn_graph_tensor(g, 0, full);
}

static uint32_t width(const struct gnn_tensor *t)
{
    return gnn_tensor_ndim(t) == 2 ? (uint32_t)gnn_tensor_shape(t, 1) : 0;
}

static int add_field(const char *kind, const char *type, const char *name)
{
    const struct gnn_tensor *t = find(kind, type, name);
    return t ? gnn_builder_field(b, type, name, gnn_tensor_dtype(t), width(t), gnn_tensor_data(t))
             : 0;
}

static int add_labels(const char *type, const char *task)
{
    const struct gnn_tensor *t = find("node", type, "y");
    if (!t)
        return 0;
    const uint64_t columns = width(t) ? width(t) : 1, n = gnn_tensor_shape(t, 0) * columns;
    const int whole = !strcmp(gnn_tensor_dtype(t), "i32"),
              bits = !strcmp(gnn_tensor_dtype(t), "u8");
    double *y = (double *)hold(n * sizeof *y);
    for (uint64_t i = 0; i < n; i++)
        y[i] = whole  ? ((const int32_t *)gnn_tensor_data(t))[i]
               : bits ? ((const uint8_t *)gnn_tensor_data(t))[i]
                      : (double)((const float *)gnn_tensor_data(t))[i];
    return gnn_builder_labels(b, type, task, (uint32_t)columns, y);
}

static int add_edges(const char *type)
{
    const uint64_t *indptr = (const uint64_t *)gnn_tensor_data(find("edge", type, "indptr"));
    const struct gnn_tensor *src = find("edge", type, "indices");
    const uint64_t n = gnn_tensor_shape(src, 0);
    uint32_t *dst = (uint32_t *)hold(n * sizeof *dst);
    for (uint32_t i = 0, k = 0; k < n; i++)
        for (; k < indptr[i + 1]; k++)
            dst[k] = i;
    return gnn_builder_edges(b, type, (const uint32_t *)gnn_tensor_data(src), dst, n) ||
           add_field("edge", type, "f");
}

static int rebuild(const char *to, const char *task)
{
    char name[256];
    const char *t;
    int rc = !b;
    for (uint32_t i = 0; !rc && (t = gnn_graph_node_type(g, i)); i++)
        rc = gnn_builder_nodes(b, t, gnn_graph_count(g, t)) || add_field("node", t, "x") ||
             add_labels(t, task);
    for (uint32_t i = 0; !rc && (t = gnn_graph_edge_type(g, i)); i++)
        rc = snprintf(name, sizeof name, "%s", t) < 0 || add_edges(name);
    for (uint32_t i = 0; !rc && (t = gnn_graph_set(g, i)); i++) {
        snprintf(name, sizeof name, "%s", t);
        const struct gnn_tensor *ids = find_set(name);
        rc = gnn_builder_set(b, name, gnn_graph_node_type(g, 0),
                             (const uint32_t *)gnn_tensor_data(ids), gnn_graph_count(g, name));
    }
    return rc ? rc : gnn_builder_write(b, to, NULL);
}

int main(int argc, char **argv)
{
    g = argc == 4 ? gnn_graph_open(argv[1], NULL) : NULL;
    b = gnn_builder_new();
    const int rc = g ? rebuild(argv[2], argv[3]) : 1;
    if (rc)
        fprintf(stderr, "%s\n", gnn_error());
    gnn_builder_free(b);
    gnn_graph_close(g);
    while (nheld)
        free(held[--nheld]);
    return rc != 0;
}
