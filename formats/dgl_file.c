/* SPDX-License-Identifier: Apache-2.0 */
/* DGL's files (formats/dgl_file.h): their beginnings, and where the graphs of a file are. */
#include "formats/dgl_file.h"

#include <stdlib.h>
#include <string.h>

#include "formats/dgl_impl.h"
#include "formats/le.h"

static bool begins_with(const void *bytes, uint64_t n, uint64_t magic)
{
    return n >= 8 && load_le64(bytes) == magic;
}

bool gnn_dgl_is_graphs(const void *bytes, uint64_t n)
{
    return begins_with(bytes, n, GNN_DGL_MAGIC_GRAPHS);
}

bool gnn_dgl_is_tensors(const void *bytes, uint64_t n)
{
    return begins_with(bytes, n, GNN_DGL_MAGIC_TENSORS);
}

/* The head is 4,096 bytes long, of which the rest is what was in DGL's memory. */
static void read_head(struct gnn_dgl_cursor *c, struct gnn_dgl_file *f)
{
    gnn_dgl_magic(c, GNN_DGL_MAGIC_GRAPHS, "a file of graphs");
    const uint64_t version = gnn_dgl_u64(c, "the version"), type = gnn_dgl_u64(c, "the type");
    f->graphs = gnn_dgl_u64(c, "the number of graphs");
    if (!c->rc && (version != GNN_DGL_VERSION || type != GNN_DGL_TYPE_HETERO))
        gnn_dgl_fail(c, 8,
                     "version %llu of DGL's files, type %llu; 2 and 2 are read, as DGL 0.5 and "
                     "later write them (to write it anew: dgl.save_graphs(NEW, "
                     "dgl.load_graphs(FILE)[0]))",
                     (unsigned long long)version, (unsigned long long)type);
    c->at = c->rc ? c->at : 32;
    gnn_dgl_skip(c, GNN_DGL_HEAD - 32, "the head");
}

/* The places of graphs are a text at the end of the file, followed by its length: a count, and
 * where each graph begins. */
static void read_places(struct gnn_dgl_cursor *c, struct gnn_dgl_file *f)
{
    const uint64_t left = c->end - c->at, fixed = 24;
    if (c->rc)
        return;
    if (left < fixed || f->graphs > (left - fixed) / 8) {
        gnn_dgl_fail(c, c->end, "the file ends before the places of %llu graphs",
                     (unsigned long long)f->graphs);
        return;
    }
    const uint64_t bytes = 8 + f->graphs * 8;
    f->end = c->end - bytes - 16;
    struct gnn_dgl_cursor tail = *c;
    tail.at = f->end;
    const uint64_t length = gnn_dgl_u64(&tail, "places"), n = gnn_dgl_u64(&tail, "places");
    f->place = gnn_dgl_skip(&tail, f->graphs * 8, "places");
    if (length != bytes || n != f->graphs || gnn_dgl_u64(&tail, "places") != bytes)
        gnn_dgl_fail(c, f->end, "the places of %llu graphs are expected at the end of the file",
                     (unsigned long long)f->graphs);
}

static uint64_t place_of(const struct gnn_dgl_file *f, uint64_t i)
{
    return i < f->graphs ? load_le64(f->place + i * 8) : f->end;
}

/* Graphs follow one another without gaps. */
static void check_places(struct gnn_dgl_cursor *c, const struct gnn_dgl_file *f)
{
    if (!c->rc && place_of(f, 0) != f->begin)
        gnn_dgl_fail(c, f->end, "graph 0 begins at byte %llu, its data at %llu",
                     (unsigned long long)place_of(f, 0), (unsigned long long)f->begin);
    for (uint64_t i = 0; !c->rc && i < f->graphs; i++)
        if (place_of(f, i) > place_of(f, i + 1))
            gnn_dgl_fail(c, f->end, "graph %llu begins at byte %llu, and what follows at %llu",
                         (unsigned long long)i, (unsigned long long)place_of(f, i),
                         (unsigned long long)place_of(f, i + 1));
}

static void open_graphs(struct gnn_dgl_cursor *c, struct gnn_dgl_file *f)
{
    f->is_graphs = true;
    read_head(c, f);
    read_places(c, f);
    const uint64_t at = c->at;
    f->begin = gnn_dgl_u64(c, "where the graphs begin");
    gnn_dgl_tensors(c, &f->tensors, "label");
    if (!c->rc && c->at != f->begin)
        gnn_dgl_fail(c, at, "graphs begin at byte %llu, and what is before them ends at %llu",
                     (unsigned long long)f->begin, (unsigned long long)c->at);
    check_places(c, f);
}

static void open_tensors(struct gnn_dgl_cursor *c, struct gnn_dgl_file *f)
{
    gnn_dgl_magic(c, GNN_DGL_MAGIC_TENSORS, "a dictionary of tensors");
    const uint64_t n = gnn_dgl_u64(c, "the number of tensors");
    gnn_dgl_tensors(c, &f->tensors, "tensor");
    if (!c->rc && n != f->tensors.n)
        gnn_dgl_fail(c, 8, "%llu tensors are announced, and %llu listed", (unsigned long long)n,
                     (unsigned long long)f->tensors.n);
    if (!c->rc && c->at != c->end)
        gnn_dgl_fail(c, c->at, "%llu bytes after the last tensor",
                     (unsigned long long)(c->end - c->at));
}

int gnn_dgl_open(struct gnn_dgl_file *f, const void *bytes, uint64_t n, char *why, size_t capacity)
{
    struct gnn_dgl_cursor c = {.bytes = bytes, .end = n, .why = why, .capacity = capacity};
    *f = (struct gnn_dgl_file){.bytes = bytes, .nbytes = n};
    if (gnn_dgl_is_graphs(bytes, n))
        open_graphs(&c, f);
    else if (gnn_dgl_is_tensors(bytes, n))
        open_tensors(&c, f);
    else
        gnn_dgl_fail(&c, 0, "not a file of DGL");
    if (c.rc)
        gnn_dgl_release(f);
    return c.rc;
}

void gnn_dgl_release(struct gnn_dgl_file *f)
{
    gnn_dgl_tensors_release(&f->tensors);
    *f = (struct gnn_dgl_file){0};
}

const struct gnn_strided *gnn_dgl_find(const struct gnn_dgl_tensors *t, const char *name)
{
    const size_t n = strlen(name);
    for (uint64_t i = 0; i < t->n; i++)
        if (t->tensor[i].name.n == n && !memcmp(t->tensor[i].name.p, name, n))
            return &t->tensor[i].values;
    return NULL;
}
