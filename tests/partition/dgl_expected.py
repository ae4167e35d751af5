# SPDX-License-Identifier: Apache-2.0
"""dgl_expected.py IMPORT: graphs as folders of arrays, how their nodes are assigned to parts, and the folders that gnn-partition
--layout dgl must give, from the description of DGL's files in IMPORT and without DGL. tests/peers/91-dgl-layout.t compares with DGL."""
import json
import os
import sys

sys.path.insert(0, sys.argv[1])
from dgl_files import *
from dgl_parts_files import by_names, ids_of, new_ids, ranges, take

NAMES = {"x": "feat", "y": "label", "valid_mask": "val_mask"}


def numbered(etypes):
    """Edges as a store has them: by destination, and as they were given."""
    out = []
    for s, r, d, pairs, fields in etypes:
        order = sorted(range(len(pairs)), key=lambda i: pairs[i][1])
        out.append((s, r, d, [pairs[i] for i in order], {k: take(v, order) for k, v in fields.items()}))
    return out


def part_graph(p, ntypes, etypes, assign, own, eown, new, enew, parted):
    """The bytes of graph.dgl: own nodes, sources elsewhere, destinations elsewhere; own edges, then those to other parts."""
    nodes = [(t, i) for t in range(len(ntypes)) for i in own[t][p]]
    inner = len(nodes)
    ends = lambda t, i: ((etypes[t][0], etypes[t][3][i][0]), (etypes[t][2], etypes[t][3][i][1]))
    mine = [(t, i) for t in range(len(etypes)) for i in eown[t][p]]
    out = [(t, i) for q in range(len(own[0])) if q != p for t in range(len(etypes)) for i in eown[t][q]
           if assign[ends(t, i)[0][0]][ends(t, i)[0][1]] == p]
    copies = [sorted({ends(*x)[0] for x in mine if ends(*x)[0][0] == t} - set(nodes), key=lambda n: new[n]) for t in range(len(ntypes))]
    for x in out:
        n = ends(*x)[1]
        if n not in copies[n[0]]:
            copies[n[0]].append(n)
    nodes += sum(copies, [])
    at = {n: k for k, n in enumerate(nodes)}
    edges, typed = mine + out, len(ntypes) > 1 or len(etypes) > 1 or not parted
    n = {"_ID": ids_of([new[x] for x in nodes]), "inner_node": ("B", (len(nodes),), [int(k < inner) for k in range(len(nodes))])}
    e = {"_ID": ids_of([enew[x] for x in edges]), "inner_edge": ("B", (len(edges),), [int(k < len(mine)) for k in range(len(edges))])}
    if typed:
        n["_TYPE"], e["_TYPE"] = ("i", (len(nodes),), [t for t, _ in nodes]), ("i", (len(edges),), [t for t, _ in edges])
    if parted:
        n["part_id"] = ids_of([assign[t][i] for t, i in nodes])
    return save_graphs([graph([("_N", len(nodes), n)], [(0, "_E", 0, [tuple(at[x] for x in ends(*y)) for y in edges], e)])])


def save_expected(folder, method, ntypes, etypes, assign, parts):
    own = [[[i for i, q in enumerate(a) if q == p] for p in range(parts)] for a in assign]
    eown = [[[i for i, (_, v) in enumerate(e[3]) if assign[e[2]][v] == p] for p in range(parts)] for e in etypes]
    spans, espans = ranges(own), ranges(eown)
    plain = [n[0] for n in ntypes] == ["node"] and [e[1] for e in etypes] == ["to"]
    names = ["_N"] if plain else [n[0] for n in ntypes]
    keys = ["_N:_E:_N"] if plain else ["%s:%s:%s" % (names[s], r, names[d]) for s, r, d, *_ in etypes]
    book = {"graph_name": folder.split("/")[-1], "num_nodes": sum(n[1] for n in ntypes), "num_edges": sum(len(e[3]) for e in etypes),
            "part_method": method, "num_parts": parts, "halo_hops": 1, "node_map": dict(zip(names, spans)), "edge_map": dict(zip(keys, espans)),
            "ntypes": {n: i for i, n in enumerate(names)}, "etypes": {k: i for i, k in enumerate(keys)}}
    for p in range(parts):
        os.makedirs("%s/part%d" % (folder, p))
        write("%s/part%d/graph.dgl" % (folder, p),
              part_graph(p, ntypes, etypes, assign, own, eown, new_ids(own, spans), new_ids(eown, espans), parts > 1))
        for what, types, names_, rows in ("node", ntypes, names, own), ("edge", etypes, keys, eown):
            feats = {"%s/%s" % (names_[t], NAMES.get(k, k)): take(v, rows[t][p]) for t, x in enumerate(types) for k, v in x[-1].items()}
            write("%s/part%d/%s_feat.dgl" % (folder, p, what), save_tensors(feats))
        book["part-%d" % p] = {k: "part%d/%s.dgl" % (p, v) for k, v in (("node_feats", "node_feat"), ("edge_feats", "edge_feat"), ("part_graph", "graph"))}
    write(folder + "/orig_nids.dgl", save_tensors(by_names(names, own)))
    write(folder + "/orig_eids.dgl", save_tensors(by_names(keys, eown)))
    with open("%s/%s.json" % (folder, book["graph_name"]), "w") as f:
        json.dump(book, f, indent=4)


def case(name, method, ntypes, etypes, assign, parts):
    """NAME: the arrays; NAME.part: the assignment; NAME.with-part: those that gnn-import finds in the folder; expected/NAME."""
    etypes = numbered(etypes)
    save_npy(name, arrays(ntypes, etypes))
    save_npy(name + ".with-part", arrays([(t, n, dict({NAMES.get(k, k): v for k, v in f.items()}, part=("H", (n,), a))) for (t, n, f), a in zip(ntypes, assign)], etypes))
    with open(name + ".part", "w") as f:
        f.writelines("%d\n" % p for a in assign for p in a)
    save_expected("expected/" + name, method, ntypes, etypes, assign, parts)


PAIRS = [(0, 1), (1, 2), (2, 0), (2, 1), (3, 3), (2, 1), (4, 0), (0, 4), (1, 3)]
N = [("node", 5, {"x": ("f", (5, 2), list(range(10))), "y": ("q", (5,), [0, 1, 0, 2, 1]), "train_mask": ("B", (5,), [1, 0, 1, 0, 1]),
                  "valid_mask": ("B", (5,), [0, 1, 0, 0, 0])})]
E = [(0, "to", 0, PAIRS, {"w": ("e", (9,), list(range(9)))})]
TYPES = [("a", 4, {"x": ("f", (4, 2), list(range(8)))}), ("b", 4, {"cost": ("d", (4,), [.1, .2, .3, .4]), "kind": ("b", (4,), [1, -2, 3, 4])})]
EDGES = [(0, "r", 1, [(0, 2), (3, 1), (2, 0), (1, 3), (0, 0)], {"t": ("q", (5,), [5, 4, 3, 2, 1])}), (1, "s", 0, [(2, 3), (0, 1), (3, 0)], {})]
case("plain", "file", N, E, [[0, 1, 0, 1, 1]], 2)
case("alone", "file", N, E, [[0] * 5], 1)
case("typed", "file", TYPES, EDGES, [[0, 1, 1, 0], [1, 0, 1, 0]], 2)
case("lacking", "file", TYPES, EDGES, [[0, 3, 3, 0], [1, 0, 1, 0]], 4) # parts without a type, and without anything
save_npy("colon.npy", arrays([("a", 2, {})], [(0, "r:s", 0, [(0, 1)], {}), (0, "t", 0, [(0, 1)], {})]))
save_npy("prefixes", {"edge_index": ("q", (2, 3), [0, 1, 2, 1, 2, 0]), **{name + ".train_idx": ("q", (1,), [0]) for name in ("t", "ab", "a", "t2")}})
