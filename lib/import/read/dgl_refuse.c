/* SPDX-License-Identifier: Apache-2.0 */
/* What of DGL is not read (lib/import/read/dgl_refuse.h). */
#include "lib/import/read/dgl_refuse.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/import/read/input_impl.h"
#include "lib/base/io.h"
#include "lib/base/path.h"

enum { HEAD = 65536 };

/* Rows are sources: GraphBolt keeps edges by destination. */
#define SAVE                                                                                       \
    "scipy.sparse.save_npz('edges.npz', scipy.sparse.csc_matrix((numpy.ones(len(g.indices)), "     \
    "g.indices, g.csc_indptr)))"

bool gnn_dgl_refuse_is_graph(const char *why)
{
    return strstr(why, "dgl.graphbolt.") && strstr(why, "FusedCSCSamplingGraph");
}

int gnn_dgl_refuse_graph(const char *name, struct gnn_err *e)
{
    return gnn_fail(
        e, GNN_E_INPUT,
        "%s: a graph of GraphBolt, which holds TorchScript and is not read; in Python, after "
        "import dgl.graphbolt: g = torch.load(FILE); " SAVE,
        name);
}

/* The text of a metadata.yaml that describes graph and tasks. */
static bool is_dataset(const char *text, size_t n)
{
    static const char *const keys[] = {"graph:", "feature_data:", "tasks:"};
    unsigned found = 0;
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++)
        found += memmem(text, n, keys[i], strlen(keys[i])) != NULL;
    return found > 1;
}

static int check_yaml(const char *folder, const char *yaml, struct gnn_err *e)
{
    char text[HEAD];
    struct stat st;
    struct gnn_io io;
    uint64_t n;
    const int fd = gnn_io_open(yaml, &st, e);
    if (fd < 0)
        return e->code;
    gnn_io_init(&io, fd, yaml);
    int rc = gnn_io_read(&io, text, sizeof text, &n, e);
    close(fd);
    if (!rc && is_dataset(text, (size_t)n))
        rc = gnn_fail(e, GNN_E_INPUT,
                      "%s: an OnDiskDataset of GraphBolt, which is not read as a whole; in Python: "
                      "g = dgl.graphbolt.OnDiskDataset(FOLDER).load().graph; " SAVE
                      "; its arrays are for --features and --split",
                      folder);
    return rc;
}

int gnn_dgl_refuse_folder(const struct gnn_input *in, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (uint32_t i = 0; !rc && i < in->n; i++) {
        const char *name = in->m[i].name;
        if (in->archive && gnn_ends_with(name, "part0/graph.dgl"))
            rc = gnn_fail(e, GNN_E_INPUT,
                          "%s: %s: an archive of a partition of DGL: unpack it first", in->name,
                          name);
        else if (!in->archive && !strcmp(name, "metadata.yaml"))
            rc = check_yaml(in->name, in->m[i].path, e);
    }
    return rc;
}
