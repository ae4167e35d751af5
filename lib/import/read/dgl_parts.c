/* SPDX-License-Identifier: Apache-2.0 */
/* Partitions of DGL (lib/import/read/dgl_parts.h). The graph of each part is opened three times:
 * for its sizes, which say whether there is as much as the JSON says; for its nodes, which tell the
 * original ids of all; and for its edges, whose ends are then looked up. Features stay where they
 * are (lib/import/read/dgl_features.h). */
#include "lib/import/read/dgl_parts.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/npy.h"
#include "lib/import/read/dgl_arrays.h"
#include "lib/import/read/dgl_features.h"
#include "lib/import/read/dgl_origin.h"
#include "lib/import/read/dgl_part.h"
#include "lib/base/mem.h"
#include "lib/base/path.h"
#include "lib/base/plural.h"

struct parts {
    struct gnn_array_list *l;
    struct gnn_dgl_book book;
    struct gnn_dgl_origin nodes, edges;
    bool ask_nodes, ask_edges; /* whether graphs may tell original ids */
    uint32_t **end[2];         /* (edge types) sources and destinations, by edge */
    uint64_t *seen;            /* (types) nodes or edges of a part so far */
    uint64_t found[2];         /* nodes and edges of all graphs, with copies */
};
/* What is done with the graph of a part. */
typedef int part_fn(struct parts *s, const struct gnn_dgl_part_graph *g, struct gnn_err *e);

/* Opens the graphs one after the other. */
static int each_part(struct parts *s, bool ends, part_fn *fn, struct gnn_err *e)
{
    const uint32_t n = s->book.nodes.n, m = s->book.edges.n;
    int rc = GNN_OK;
    for (uint32_t p = 0; !rc && p < s->book.parts; p++) {
        struct gnn_dgl_part_graph g;
        struct gnn_array_list *l = gnn_alloc_zero(1, sizeof *l, "input", e);
        memset(s->seen, 0, (n > m ? n : m) * sizeof *s->seen);
        rc = l ? gnn_dgl_part_open(&g, l, &s->book, p, ends, e) : GNN_E_NOMEM;
        if (!rc)
            rc = fn(s, &g, e);
        gnn_array_list_free(l);
    }
    return rc;
}

/* ---- counts ---- */

static int add_sizes(struct parts *s, const struct gnn_dgl_part_graph *g, struct gnn_err *e)
{
    (void)e;
    s->found[0] += g->nnodes;
    s->found[1] += g->nedges;
    return GNN_OK;
}

/* No memory is taken for more than the files have; each id takes space in one. */
static int check_sizes(struct parts *s, struct gnn_err *e)
{
    const struct gnn_dgl_ids *ids[2] = {&s->book.nodes, &s->book.edges};
    int rc = each_part(s, false, add_sizes, e);
    for (int i = 0; !rc && i < 2; i++)
        if (ids[i]->count > s->found[i])
            rc = gnn_fail(e, GNN_E_INPUT, "%s: %llu %s; the graphs of its parts have %llu",
                          s->book.path, (unsigned long long)ids[i]->count, i ? "edges" : "nodes",
                          (unsigned long long)s->found[i]);
    if (!rc && s->book.nodes.count > UINT32_MAX - 1)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %llu nodes; a store has at most 4294967294",
                      s->book.path, (unsigned long long)s->book.nodes.count);
    return rc;
}

/* How many nodes or edges belong to a part: as many as the JSON says. With reshuffle=False it does
 * not, and they are counted here. */
static int check_seen(struct parts *s, const struct gnn_dgl_part_graph *g, struct gnn_dgl_ids *ids,
                      const char *what, struct gnn_err *e)
{
    struct gnn_dgl_type *first = &ids->type[0];
    if (s->book.node_map)
        first->before[g->part + 1] = first->before[g->part] + s->seen[0];
    for (uint32_t t = 0; t < ids->n; t++) {
        const uint64_t n = gnn_dgl_book_count(&ids->type[t], g->part);
        if (s->seen[t] != n)
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: part %u has %llu %s of type '%.100s', and %llu by the JSON",
                            g->path, g->part, (unsigned long long)s->seen[t], what,
                            ids->type[t].name, (unsigned long long)n);
    }
    if (s->book.node_map && g->part + 1 == s->book.parts &&
        first->before[s->book.parts] != first->count)
        return gnn_fail(e, GNN_E_INPUT, "%s: the parts have %llu %s; the JSON has %llu",
                        s->book.path, (unsigned long long)first->before[s->book.parts], what,
                        (unsigned long long)first->count);
    return GNN_OK;
}

/* Of reshuffle=False, the id that something would have had: by part. Its own is the original one.
 */
static int set_dense(struct parts *s, const struct gnn_dgl_part_graph *g, struct gnn_dgl_origin *o,
                     int64_t original, struct gnn_err *e)
{
    const struct gnn_dgl_type *t = &o->of->type[0];
    const uint64_t id = t->before[g->part] + s->seen[0]++;
    if (id >= t->count)
        return gnn_fail(e, GNN_E_INPUT, "%s: more %s than the %llu that the JSON has", g->path,
                        o->what, (unsigned long long)t->count);
    return gnn_dgl_origin_set(o, 0, id, original, e);
}

/* ---- nodes ---- */

/* A node of the part. Those of a type stand in the order of their ids. */
static int take_node(struct parts *s, const struct gnn_dgl_part_graph *g, uint64_t i,
                     struct gnn_err *e)
{
    const int64_t all = gnn_dgl_part_value(&g->nid, i);
    const struct gnn_dgl_span *span;
    uint64_t id;
    if (s->book.node_map)
        return set_dense(s, g, &s->nodes, all, e);
    int rc = gnn_dgl_part_own(g, &s->book.nodes, all, "node", &span, &id, e);
    const uint64_t expected = rc ? 0 : span->from + s->seen[span->type]++;
    if (!rc && (uint64_t)all != expected)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: node %lld, where %llu comes next", g->path,
                      (long long)all, (unsigned long long)expected);
    if (!rc && s->ask_nodes && g->orig_node.count)
        rc = gnn_dgl_origin_set(&s->nodes, span->type, id, gnn_dgl_part_value(&g->orig_node, i), e);
    return rc;
}

static int take_nodes(struct parts *s, const struct gnn_dgl_part_graph *g, struct gnn_err *e)
{
    int rc = GNN_OK;
    if (!s->nodes.id && (s->book.node_map || (s->ask_nodes && g->orig_node.count)))
        rc = gnn_dgl_origin_make(&s->nodes, &s->book.nodes, "nodes", g->path, e);
    for (uint64_t i = 0; !rc && i < g->nnodes; i++)
        if (gnn_dgl_part_value(&g->own_node, i))
            rc = take_node(s, g, i, e);
    return rc ? rc : check_seen(s, g, &s->book.nodes, "nodes", e);
}

/* The parts of nodes that reshuffle=False writes beside the JSON are those that have them. */
static int check_map(struct parts *s, struct gnn_err *e)
{
    const uint8_t *bytes;
    uint64_t n, bad;
    struct gnn_npy h;
    const struct gnn_dgl_type *t = &s->book.nodes.type[0];
    int rc = gnn_array_list_map(s->l, s->book.node_map, &bytes, &n, e);
    const uint32_t head = !rc && n >= GNN_NPY_PREFIX ? gnn_npy_header_bytes(bytes) : 0;
    if (!rc && (!head || head > n || gnn_npy_parse(&h, bytes, head) || h.swap || h.ndim != 1 ||
                n - head != h.bytes || h.count != t->count || h.dtype >= GNN_F16))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: not an .npy file with the part of each of %llu node%s",
                      s->book.node_map, (unsigned long long)t->count, gnn_plural(t->count));
    for (uint32_t p = 0; !rc && p < s->book.parts; p++)
        for (uint64_t i = t->before[p]; !rc && i < t->before[p + 1]; i++) {
            const uint64_t node = s->nodes.id[0][i];
            int64_t part = -1;
            (void)gnn_npy_to_i64(h.dtype, bytes + head + node * gnn_dtype_bytes(h.dtype), &part, 1,
                                 &bad);
            if (part != (int64_t)p)
                rc = gnn_fail(e, GNN_E_INPUT,
                              "%s: node %llu is in part %lld, and in part %u by its graph",
                              s->book.node_map, (unsigned long long)node, (long long)part, p);
        }
    return rc;
}

/* ---- edges ---- */

/* The nodes of a graph, copies too: their final ids, and types. */
struct local {
    uint32_t *id, *type;
};

static int look_up_nodes(struct parts *s, const struct gnn_dgl_part_graph *g, struct local *nodes,
                         struct gnn_err *e)
{
    int rc = GNN_OK;
    for (uint64_t i = 0; !rc && i < g->nnodes; i++) {
        const int64_t all = gnn_dgl_part_value(&g->nid, i);
        const struct gnn_dgl_span *span;
        uint64_t id = (uint64_t)all;
        nodes->type[i] = 0;
        if (s->book.node_map) {
            if (all < 0 || id >= s->book.nodes.count)
                rc = gnn_fail(e, GNN_E_INPUT, "%s: node %lld; the JSON has %llu", g->path,
                              (long long)all, (unsigned long long)s->book.nodes.count);
        } else {
            rc = gnn_dgl_part_find(g, &s->book.nodes, all, "node", &span, &id, e);
            nodes->type[i] = rc ? 0 : span->type;
            if (!rc)
                rc = gnn_dgl_origin_of(&s->nodes, span->type, id, &id, e);
        }
        nodes->id[i] = (uint32_t)id;
    }
    return rc;
}

/* Which type an edge is of, and its final id. */
static int find_edge(struct parts *s, const struct gnn_dgl_part_graph *g, uint64_t i,
                     uint32_t *type, uint64_t *id, struct gnn_err *e)
{
    const int64_t all = gnn_dgl_part_value(&g->eid, i);
    const struct gnn_dgl_span *span;
    *type = 0;
    *id = (uint64_t)all;
    if (s->book.node_map)
        return set_dense(s, g, &s->edges, all, e);
    int rc = gnn_dgl_part_own(g, &s->book.edges, all, "edge", &span, id, e);
    if (rc)
        return rc;
    *type = span->type;
    s->seen[span->type]++;
    if (s->ask_edges && g->orig_edge.count)
        rc = gnn_dgl_origin_set(&s->edges, *type, *id, gnn_dgl_part_value(&g->orig_edge, i), e);
    return rc ? rc : gnn_dgl_origin_of(&s->edges, *type, *id, id, e);
}

/* The node types of a relation that does not tell them are those of its first edge. */
static int check_ends(struct parts *s, const struct gnn_dgl_part_graph *g, uint32_t type,
                      const uint32_t node_type[2], struct gnn_err *e)
{
    struct gnn_dgl_type *t = &s->book.edges.type[type];
    const struct gnn_dgl_type *n = s->book.nodes.type;
    if (t->src < 0) {
        t->src = (int)node_type[0];
        t->dst = (int)node_type[1];
    }
    return (uint32_t)t->src == node_type[0] && (uint32_t)t->dst == node_type[1]
               ? GNN_OK
               : gnn_fail(e, GNN_E_INPUT,
                          "%s: an edge of type '%.100s' from '%.100s' to '%.100s', and others from "
                          "'%.100s' to '%.100s'",
                          g->path, t->name, n[node_type[0]].name, n[node_type[1]].name,
                          n[t->src].name, n[t->dst].name);
}

static int take_edge(struct parts *s, const struct gnn_dgl_part_graph *g, const struct local *nodes,
                     uint64_t i, struct gnn_err *e)
{
    uint32_t type, node_type[2], node[2];
    uint64_t id;
    int rc = find_edge(s, g, i, &type, &id, e);
    for (int k = 0; !rc && k < 2; k++) {
        const int64_t at = gnn_dgl_part_value(&g->end[k], i);
        if (at < 0 || (uint64_t)at >= g->nnodes)
            return gnn_fail(e, GNN_E_INPUT, "%s: edge %llu has end %lld, of %llu nodes", g->path,
                            (unsigned long long)i, (long long)at, (unsigned long long)g->nnodes);
        node[k] = nodes->id[at];
        node_type[k] = nodes->type[at];
    }
    if (!rc)
        rc = check_ends(s, g, type, node_type, e);
    if (!rc && s->end[0][type][id] != UINT32_MAX)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: edge %lld of type '%.100s' is there twice", g->path,
                      (long long)gnn_dgl_part_value(&g->eid, i), s->book.edges.type[type].name);
    for (int k = 0; !rc && k < 2; k++)
        s->end[k][type][id] = node[k];
    return rc;
}

static int take_edges(struct parts *s, const struct gnn_dgl_part_graph *g, struct gnn_err *e)
{
    struct local nodes = {.id = gnn_alloc(g->nnodes, sizeof *nodes.id, "nodes", e),
                          .type = gnn_alloc(g->nnodes, sizeof *nodes.type, "nodes", e)};
    int rc = nodes.id && nodes.type ? GNN_OK : GNN_E_NOMEM;
    if (!rc && !s->edges.id && (s->book.node_map || (s->ask_edges && g->orig_edge.count)))
        rc = gnn_dgl_origin_make(&s->edges, &s->book.edges, "edges", g->path, e);
    if (!rc)
        rc = look_up_nodes(s, g, &nodes, e);
    for (uint64_t i = 0; !rc && i < g->nedges; i++)
        if (gnn_dgl_part_value(&g->own_edge, i))
            rc = take_edge(s, g, &nodes, i, e);
    gnn_free(nodes.id);
    gnn_free(nodes.type);
    return rc ? rc : check_seen(s, g, &s->book.edges, "edges", e);
}

/* Space for the ends of all edges; UINT32_MAX: not there yet. */
static int make_ends(struct parts *s, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (int k = 0; !rc && k < 2; k++) {
        s->end[k] = gnn_alloc_zero(s->book.edges.n, sizeof *s->end[k], "edges", e);
        rc = s->end[k] ? gnn_array_list_hold(s->l, s->end[k], gnn_free, e) : GNN_E_NOMEM;
        for (uint32_t t = 0; !rc && t < s->book.edges.n; t++) {
            const uint64_t n = s->book.edges.type[t].count;
            uint32_t *end = s->end[k][t] = gnn_alloc(n, sizeof *end, "edges", e);
            rc = end ? gnn_array_list_hold(s->l, end, gnn_free, e) : GNN_E_NOMEM;
            if (!rc)
                memset(end, 0xff, n * sizeof *end);
        }
    }
    return rc;
}

/* ---- original ids ---- */

/* Of the file that is given, or beside the JSON as DGL or GraphStorm calls it. */
static int find_origin(struct gnn_dgl_origin *o, bool *ask, const struct gnn_dgl_ids *of,
                       const char *what, const struct gnn_dgl_book *b, const char *file,
                       const char *const name[2], struct gnn_err *e)
{
    int rc = GNN_OK;
    if (b->node_map && file)
        rc =
            gnn_fail(e, GNN_E_USAGE, "%s: original ids of %s: this partition has them", file, what);
    else if (file)
        rc = gnn_dgl_origin_read(o, of, what, file, e);
    for (int i = 0; !rc && !file && !b->node_map && !o->id && i < 2; i++)
        rc = gnn_dgl_origin_find(o, of, what, b, name[i], e);
    *ask = !o->id;
    return rc;
}

/* GraphStorm numbers the nodes of tables, and has a table of the ids that these had. */
static int note_raw_ids(struct parts *s, struct gnn_err *e)
{
    const char *json = s->book.path;
    char *path = gnn_strf(e, "%.*sraw_id_mappings", (int)(gnn_base_name(json) - json), json);
    int rc = path ? GNN_OK : GNN_E_NOMEM;
    if (!rc && !access(path, F_OK))
        rc = gnn_array_list_note(s->l,
                                 gnn_strf(e,
                                          "%s: not read: ids are the numbers that GraphStorm gave, "
                                          "and these tables (Parquet) have the ids before",
                                          path),
                                 e);
    gnn_free(path);
    return rc;
}

/* Says which ids are not the original ones. */
static int note_ids(struct parts *s, struct gnn_err *e)
{
    const char *what = !s->nodes.id && !s->edges.id
                           ? "ids of nodes, and the order of edges, are those"
                       : !s->nodes.id ? "ids of nodes are those"
                                      : "the order of edges is the one";
    if (s->nodes.id && s->edges.id)
        return GNN_OK;
    return gnn_array_list_note(
        s->l,
        gnn_strf(e,
                 "%s: %s that DGL gave when it partitioned; --orig-nids and --orig-eids read the "
                 "original ones, which partition_graph(return_mapping=True) returns",
                 s->book.path, what),
        e);
}

/* ---- all of it ---- */

static int read_graphs(struct parts *s, struct gnn_err *e)
{
    int rc = make_ends(s, e);
    if (!rc)
        rc = each_part(s, false, take_nodes, e);
    if (!rc)
        rc = gnn_dgl_origin_finish(&s->nodes, e);
    if (!rc && s->book.node_map)
        rc = check_map(s, e);
    if (!rc)
        rc = each_part(s, true, take_edges, e);
    return rc ? rc : gnn_dgl_origin_finish(&s->edges, e);
}

static int add_all(struct parts *s, struct gnn_err *e)
{
    const struct gnn_dgl_features f = {s->l, &s->book, &s->nodes, &s->edges};
    int rc = gnn_dgl_features_nodes(&f, e);
    if (!rc)
        rc = gnn_dgl_features_edges(&f, s->end[0], s->end[1], e);
    if (!rc)
        rc = note_ids(s, e);
    return rc ? rc : note_raw_ids(s, e);
}

static void count_bytes(const struct gnn_dgl_book *b, uint64_t *bytes)
{
    struct stat st;
    *bytes = stat(b->path, &st) ? 0 : (uint64_t)st.st_size;
    for (uint32_t p = 0; p < b->parts; p++) {
        const char *const file[] = {b->part[p].graph, b->part[p].node_feats, b->part[p].edge_feats};
        for (int i = 0; i < 3; i++)
            *bytes += !file[i] || stat(file[i], &st) ? 0 : (uint64_t)st.st_size;
    }
}

int gnn_dgl_parts_add(struct gnn_array_list *l, const char *json, const char *orig_nids,
                      const char *orig_eids, uint64_t *bytes, struct gnn_err *e)
{
    static const char *const nodes[] = {"orig_nids.dgl", "node_mapping.pt"}, *const edges[] = {
                                                                                 "orig_eids.dgl",
                                                                                 "edge_mapping.pt"};
    struct parts s = {.l = l};
    struct gnn_dgl_book *b = &s.book;
    l->typed = true;
    int rc = gnn_dgl_book_read(b, json, e);
    const uint32_t types = b->nodes.n > b->edges.n ? b->nodes.n : b->edges.n;
    if (!rc && !(s.seen = gnn_alloc_zero(types, sizeof *s.seen, "types", e)))
        rc = GNN_E_NOMEM;
    if (!rc)
        rc = check_sizes(&s, e);
    if (!rc)
        rc = find_origin(&s.nodes, &s.ask_nodes, &b->nodes, "nodes", b, orig_nids, nodes, e);
    if (!rc)
        rc = find_origin(&s.edges, &s.ask_edges, &b->edges, "edges", b, orig_eids, edges, e);
    if (!rc)
        rc = read_graphs(&s, e);
    if (!rc)
        rc = add_all(&s, e);
    count_bytes(b, bytes);
    gnn_dgl_origin_release(&s.nodes);
    gnn_dgl_origin_release(&s.edges);
    gnn_dgl_book_release(b);
    gnn_free(s.seen);
    return rc;
}
