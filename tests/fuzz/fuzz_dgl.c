/* SPDX-License-Identifier: Apache-2.0 */
/* Files of DGL: any bytes give graphs and tensors or one line of why not, in memory that their
 * length bounds; and all that is then read stays inside. In an input that begins with a zero
 * instead of the first byte of a file of graphs, the rest of the head, 4,064 bytes of no meaning,
 * is left out. */
#include <stdlib.h>
#include <string.h>

#include "formats/dgl_file.h"
#include "fuzz/fuzz.h"

unsigned long fuzz_accepted;

enum { HEAD = 4096, KEPT = 32 };

static void check_line(const char *text)
{
    if (!*text || strchr(text, '\n'))
        abort();
}

static void walk_array(const struct gnn_strided *s, size_t n)
{
    const uint64_t row = gnn_strided_row_bytes(s), rows = s->count ? gnn_strided_rows(s) : 0;
    if (s->count * gnn_dtype_bytes(s->dtype) > n)
        abort();
    unsigned char *out = malloc(row + 1);
    for (uint64_t i = 0; out && i < rows; i++)
        gnn_strided_copy(s, i, 1, out);
    free(out);
}

static void walk_tensors(const struct gnn_dgl_tensors *t, size_t n)
{
    char text[64];
    for (uint64_t i = 0; i < t->n; i++) {
        (void)gnn_text_shown(text, sizeof text, t->tensor[i].name.p, t->tensor[i].name.n);
        walk_array(&t->tensor[i].values, n);
    }
}

static void walk_edges(const struct gnn_dgl_etype *t, size_t n)
{
    char why[256] = "";
    if (t->count > n)
        abort();
    walk_array(&t->first, n);
    walk_array(&t->second, n);
    int64_t *ends = malloc((t->count * 2 + 1) * sizeof *ends);
    if (ends && gnn_dgl_edges(t, ends, ends + t->count, why, sizeof why))
        check_line(why);
    for (uint64_t i = 0; ends && !*why && i < t->count * 2; i++)
        if (ends[i] < 0)
            abort();
    free(ends);
}

static int walk_graph(const struct gnn_dgl_file *f, uint64_t i, char *why, size_t capacity)
{
    struct gnn_dgl_graph g;
    const int rc = gnn_dgl_graph_read(&g, f, i, why, capacity);
    for (uint32_t k = 0; k < g.ntypes; k++)
        walk_tensors(&g.ntype[k].tensors, f->nbytes);
    for (uint32_t k = 0; k < g.etypes; k++) {
        if (g.etype[k].src >= g.ntypes || g.etype[k].dst >= g.ntypes)
            abort();
        walk_tensors(&g.etype[k].tensors, f->nbytes);
        walk_edges(&g.etype[k], f->nbytes);
    }
    gnn_dgl_graph_release(&g);
    return rc;
}

static void read_file(const uint8_t *data, size_t n)
{
    struct gnn_dgl_file f;
    char why[256] = "";
    int rc = gnn_dgl_open(&f, data, n, why, sizeof why);
    if (!rc)
        walk_tensors(&f.tensors, n);
    for (uint64_t i = 0; !rc && i < f.graphs; i++)
        rc = walk_graph(&f, i, why, sizeof why);
    if (rc)
        check_line(why);
    else
        fuzz_accepted++;
    gnn_dgl_release(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < KEPT || data[0]) {
        read_file(data, n);
        return 0;
    }
    uint8_t *file = calloc(1, n - KEPT + HEAD);
    if (!file)
        return 0;
    memcpy(file, data, KEPT);
    file[0] = 0x3f;
    memcpy(file + HEAD, data + KEPT, n - KEPT);
    read_file(file, n - KEPT + HEAD);
    free(file);
    return 0;
}
