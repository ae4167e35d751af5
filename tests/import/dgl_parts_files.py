# SPDX-License-Identifier: Apache-2.0
"""Folders as DGL's partition_graph writes them, from the description in lib/import/read/dgl_book.h and without DGL.

Layouts: "2.1"; "0.9", in which types of edges are relations and graphs have original ids; "0.5", in which there are no types and the
JSON has where parts end; "kept", with reshuffle=False."""
import json
import os

from dgl_files import *


def take(value, rows):
    """Rows of an array."""
    type, shape, values = value
    width = len(values) // shape[0] if shape[0] else 0
    return type, (len(rows),) + tuple(shape[1:]), [values[r * width + k] for r in rows for k in range(width)]


def ranges(own, at=0):
    """Of own[type][part], what is listed, the ranges of ids that are given by part, then by type."""
    out = [[] for _ in own]
    for p in range(len(own[0])):
        for t, parts in enumerate(own):
            out[t].append([at, at + len(parts[p])])
            at += len(parts[p])
    return out


def new_ids(own, spans):
    """{(type, original id): new id}."""
    return {(t, i): spans[t][p][0] + k for t, parts in enumerate(own) for p, ids in enumerate(parts) for k, i in enumerate(ids)}


def save_parts(folder, ntypes, etypes, assign, layout="2.1"):
    """Writes the folder of a graph whose nodes of type t are in parts assign[t]; returns original ids by types of nodes and edges."""
    parts, kept, told = 1 + max(map(max, assign)), layout == "kept", layout in ("0.9", "0.5")
    own = [[[i for i, q in enumerate(a) if q == p] for p in range(parts)] for a in assign]
    if not kept: # not the order that they had
        own = [[ids[::-1] for ids in a] for a in own]
    eown = [[[i for i, (_, v) in enumerate(e[3]) if assign[e[2]][v] == p] for p in range(parts)] for e in etypes]
    spans, espans = ranges(own), ranges(eown)
    new, enew = new_ids(own, spans), new_ids(eown, espans)
    if kept:
        new, enew = {k: k[1] for k in new}, {k: k[1] for k in enew}
    names = [n[0] for n in ntypes]
    keys = ["%s:%s:%s" % (names[s], r, names[d]) if layout == "2.1" else r for s, r, d, *_ in etypes]
    book = {"graph_name": "g", "num_nodes": sum(n[1] for n in ntypes), "num_edges": sum(len(e[3]) for e in etypes), "num_parts": parts,
            "halo_hops": 1, "part_method": "metis"}
    if layout == "0.5":
        book.update(node_map=[r[1] for r in spans[0]], edge_map=[r[1] for r in espans[0]])
    elif kept:
        book.update(node_map="/somewhere/out/node_map.npy", edge_map="/somewhere/out/edge_map.npy")
        save_npy(folder, {"node_map": ("q", (len(assign[0]),), assign[0])})
    else:
        book.update(node_map=dict(zip(names, spans)), edge_map=dict(zip(keys, espans)))
    if layout != "0.5":
        book.update(ntypes={n: i for i, n in enumerate(names)}, etypes={k: i for i, k in enumerate(keys)})
    for p in range(parts):
        nodes = [(t, i) for t in range(len(ntypes)) for i in own[t][p]]
        inner = len(nodes)
        ends = [(t, i, (etypes[t][0], etypes[t][3][i][0]), (etypes[t][2], etypes[t][3][i][1])) for t in range(len(etypes)) for i in eown[t][p]]
        nodes += sorted({src for _, _, src, _ in ends} - set(nodes))
        at = {n: k for k, n in enumerate(nodes)}
        # An edge between copies, which belongs to another part.
        other = [(t, i, (s, u), (d, v)) for t, (s, _, d, pairs, _) in enumerate(etypes) for i, (u, v) in enumerate(pairs)
                 if assign[d][v] != p and (s, u) in at and (d, v) in at][:2]
        edges = ends + other
        n = {"_ID": ("q", (len(nodes),), [new[k] for k in nodes]), "inner_node": ("B", (len(nodes),), [int(k < inner) for k in range(len(nodes))]),
             "part_id": ("q", (len(nodes),), [assign[t][i] for t, i in nodes])}
        e = {"_ID": ("q", (len(edges),), [enew[x[:2]] for x in edges]), "inner_edge": ("B", (len(edges),), [int(k < len(ends)) for k in range(len(edges))])}
        if told:
            n["orig_id"], e["orig_id"] = ("q", (len(nodes),), [i for _, i in nodes]), ("q", (len(edges),), [x[1] for x in edges])
        os.makedirs("%s/part%d" % (folder, p))
        g = graph([("_N", len(nodes), n)], [(0, "_E", 0, [(at[x[2]], at[x[3]]) for x in edges], e)], CSC if p else COO)
        write("%s/part%d/graph.dgl" % (folder, p), save_graphs([g]))
        for what, types, mine in ("node", ntypes, own), ("edge", etypes, eown):
            names_ = names if what == "node" else keys
            feats = {(k if layout == "0.5" else "%s/%s" % (names_[t], k)): take(v, mine[t][p]) for t, x in enumerate(types) for k, v in x[-1].items()}
            write("%s/part%d/%s_feat.dgl" % (folder, p, what), save_tensors(feats))
        book["part-%d" % p] = {"%s_feats" % w: "%spart%d/%s_feat.dgl" % ("out/" if layout == "0.5" else "", p, w) for w in ("node", "edge")}
        book["part-%d" % p]["part_graph"] = "part%d/graph.dgl" % p
    with open(folder + "/g.json", "w") as f:
        json.dump(book, f, indent=4)
    return by_names(names, own), by_names(keys, eown)


def by_names(names, own):
    return {n: ids_of(sum(parts, [])) for n, parts in zip(names, own)}


def ids_of(values):
    return "q", (len(values),), values
