# SPDX-License-Identifier: Apache-2.0
"""dgl_layout.py FOLDER GRAPH.npz [loaded]: loads a folder that gnn-partition --layout dgl has written with DGL, and compares all of it with
what partition_graph of DGL writes of the same graph and the same parts; with `loaded`, only with the graph. GRAPH.npz is what gnn-inspect
--export writes of the store.

dgl_layout.py make: writes typed.npz, whose types have the order in which DGL numbers them."""
import json
import os
import sys

os.environ["DGL_DIST_DEBUG"] = "1" # load_partition checks what it loads
import dgl
import numpy as np
import torch
from dgl.data.utils import load_tensors


def tensor(a):
    a = np.ascontiguousarray(a)
    wider = {"u2": np.int32, "u4": np.int64, "u8": np.int64}.get(a.dtype.str[1:])
    return torch.from_numpy(a if wider is None else a.astype(wider))


def graph():
    """The graph, from the arrays of the store: without types of names "node" and "to", as DGL has it."""
    typed = any("/" in key for key in arrays)
    split = {tuple(key.split("/")): v for key, v in arrays.items()}
    if not typed:
        edge = {"edge_index", "edge_attr", "edge_weight", "edge_time"}
        split = {(("node", "to", "node") if key in edge else ("node",)) + (key.replace("node_time", "time"),): v for key, v in arrays.items()}
    counts = {key[0]: int(v) for key, v in split.items() if key[-1] == "num_nodes"}
    edges = {key[:3]: v for key, v in split.items() if key[-1] == "edge_index"}
    plain = list(counts) == ["node"] and list(edges) == [("node", "to", "node")]
    call = lambda c: ("_N", "_E", "_N") if plain else c
    g = dgl.heterograph({call(c): (torch.from_numpy(e[0].astype(np.int64)), torch.from_numpy(e[1].astype(np.int64))) for c, e in edges.items()},
                        {call((t, t, t))[0]: n for t, n in counts.items()})
    names = {"x": "feat", "y": "label", "edge_attr": "feat", "edge_weight": "weight", "edge_time": "time"}
    for key, v in split.items():
        field = names.get(key[-1], key[-1])
        if key[-1] in ("num_nodes", "edge_index"):
            continue
        if key[-1].endswith("_idx"): # a split that is no mask
            field, ids = {"train": "train_mask", "valid": "val_mask", "test": "test_mask"}[key[-1].split(".")[-1][:-4]], v
            v = np.zeros(counts[key[0]], bool)
            v[ids] = True
        if len(key) == 2:
            g.nodes[call((key[0],) * 3)[0]].data[field] = tensor(v)
        else:
            g.edges[call(key[:3])].data[field] = tensor(v)
    return g


def assignment(g):
    """The part of each node of the graph without types, as DGL numbers it."""
    part = []
    for t in g.ntypes:
        a = torch.empty(g.num_nodes(t), dtype=torch.int64)
        sizes = [e - b for b, e in book["node_map"][t]]
        a[nids[t]] = torch.repeat_interleave(torch.arange(k), torch.tensor(sizes))
        part.append(a)
    return torch.cat(part)


def key_of(c):
    return ":".join(c)


def same(what, a, b):
    if a.dtype != b.dtype or a.shape != b.shape or not np.array_equal(a.to(torch.float32).numpy() if a.dtype == torch.bfloat16 else a.numpy(),
                                                                     b.to(torch.float32).numpy() if b.dtype == torch.bfloat16 else b.numpy(), equal_nan=a.is_floating_point()):
        sys.exit("%s: %s: %s, and of DGL %s" % (folder, what, a, b))


def ordered(values, by):
    return values[torch.argsort(by)]


def original(ids, gpb, own):
    """Of ids of edges over all types, the original ones, each type above those before it. DGL numbers the in-edges of a node in an order of
    its own."""
    etype, eid = gpb.map_to_per_etype(ids)
    types = list(gpb.canonical_etypes)
    before = np.cumsum([0] + [len(own[c]) for c in types])
    out = torch.empty_like(eid)
    for i, c in enumerate(types):
        at = etype == i
        out[at] = own[c][eid[at]] + int(before[i])
    return out


def compare_graphs(p, a, b, keys):
    """Nodes are the part's own ones in the order of their ids, then copies in any order. keys: original ids of edges."""
    if set(a.ndata) != set(b.ndata) or set(a.edata) != set(b.edata):
        sys.exit("%s: tensors %s %s, and of DGL %s %s" % (folder, set(a.ndata), set(a.edata), set(b.ndata), set(b.edata)))
    n, m = int(b.ndata["inner_node"].sum()), int(b.edata["inner_edge"].sum())
    for field in a.ndata:
        same("part %d: own nodes' %s" % (p, field), a.ndata[field][:n], b.ndata[field][:n])
        same("part %d: nodes' %s" % (p, field), ordered(a.ndata[field], a.ndata["_ID"]), ordered(b.ndata[field], b.ndata["_ID"]))
    same("part %d: own edges' ids" % p, a.edata["_ID"][:m], b.edata["_ID"][:m])
    same("part %d: original ids of edges" % p, keys[0].sort()[0], keys[1].sort()[0])
    for field in set(a.edata) - {"_ID"}:
        same("part %d: edges' %s" % (p, field), ordered(a.edata[field], keys[0]), ordered(b.edata[field], keys[1]))
    for end in 0, 1:
        ends = [ordered(x.ndata["_ID"][x.edges(order="eid")[end]], keys[i]) for i, x in enumerate((a, b))]
        same("part %d: ends %d" % (p, end), *ends)
    return len(a.ndata["_ID"]) - n, len(a.edata["_ID"]) - m


def compare(g):
    """With the folder that DGL writes."""
    parts = assignment(g)
    dgl.distributed.partition.metis_partition_assignment = lambda *a, **b: parts
    # Nodes of a part keep their order: the sort of DGL, which is not stable, would give others of the same part their ids.
    dgl.backend.sort_1d = lambda x: torch.sort(x, stable=True)
    theirs = dgl.distributed.partition_graph(g, name, k, "theirs", return_mapping=True)
    own_nids, own_eids = [x if isinstance(x, dict) else {(g.canonical_etypes if i else g.ntypes)[0]: x} for i, x in enumerate(theirs)]
    with open("theirs/%s.json" % name) as f:
        their_book = json.load(f)
    for key in their_book:
        if key != "part_method" and book[key] != their_book[key]:
            sys.exit("%s: %s is %s, and of DGL %s" % (folder, key, book[key], their_book[key]))
    if list(book) != list(their_book):
        sys.exit("%s: keys %s, and of DGL %s" % (folder, list(book), list(their_book)))
    for t in g.ntypes:
        same("original ids of " + t, nids[t], own_nids[t])
    eids_of = {c: eids[key_of(c)] for c in g.canonical_etypes}, own_eids
    copies = edges = 0
    for p in range(k):
        a, b = [dgl.distributed.load_partition("%s/%s.json" % (f, name), p) for f in (folder, "theirs")]
        if a[4:] != b[4:] or set(a[1]) != set(b[1]) or set(a[2]) != set(b[2]):
            sys.exit("%s: %s, and of DGL %s" % (folder, [sorted(a[1]), sorted(a[2]), a[4:]], [sorted(b[1]), sorted(b[2]), b[4:]]))
        for field in b[1]:
            same("part %d: %s" % (p, field), a[1][field], b[1][field])
        for field in b[2]:
            c = tuple(field.split("/")[0].split(":"))
            first, last = np.cumsum([0] + [y - x for x, y in book["edge_map"][key_of(c)]])[p:p + 2]
            rows = [ordered(x[2][field], eids_of[i][c][first:last]) for i, x in enumerate((a, b))]
            same("part %d: %s" % (p, field), *rows)
        more = compare_graphs(p, a[0], b[0], [original(x[0].edata["_ID"], x[3], eids_of[i]) for i, x in enumerate((a, b))])
        copies, edges = copies + more[0], edges + more[1]
    print("%s: %d parts, %d copies of nodes, %d of edges" % (folder, k, copies, edges))


def compare_loaded(g):
    """With the graph, without DGL's partitioner, which fails where a part has nothing of a type."""
    seen = 0
    for p in range(k):
        part, nfeat, efeat, gpb, _, ntypes, etypes = dgl.distributed.load_partition(config, p)
        if sorted(ntypes) != sorted(g.ntypes) or sorted(etypes) != sorted(g.canonical_etypes):
            sys.exit("%s: types %s %s" % (folder, ntypes, etypes))
        own = part.edata["inner_edge"].bool()
        u, v = part.edges(order="eid")
        etype, eid = gpb.map_to_per_etype(part.edata["_ID"][own])
        (utype, unew), (vtype, vnew) = [gpb.map_to_per_ntype(part.ndata["_ID"][x[own]]) for x in (u, v)]
        if "_TYPE" in part.edata:
            same("part %d: types of edges" % p, part.edata["_TYPE"][own].long(), etype.long())
            same("part %d: types of nodes" % p, part.ndata["_TYPE"].long(), gpb.map_to_per_ntype(part.ndata["_ID"])[0].long())
        for i, c in enumerate(etypes):
            at = etype == i
            seen += int(at.sum())
            old = eids[key_of(c)][eid[at]]
            s, d = g.find_edges(old, etype=c)
            same("part %d: sources of %s" % (p, c), nids[c[0]][unew[at]], s)
            same("part %d: destinations of %s" % (p, c), nids[c[2]][vnew[at]], d)
            for field, x in g.edges[c].data.items():
                same("part %d: %s of %s" % (p, field, c), efeat["%s/%s" % (key_of(c), field)], x[ordered(old, eid[at])])
        for t in ntypes:
            mine = torch.arange(*np.cumsum([0] + [e - b for b, e in book["node_map"][t]])[p:p + 2])
            same("part %d: ids of %s" % (p, t), gpb.partid2nids(p, t), mine)
            for field, x in g.nodes[t].data.items():
                x = x[nids[t][mine]]
                same("part %d: %s of %s" % (p, field, t), nfeat["%s/%s" % (t, field)], x.to(torch.uint8) if x.dtype == torch.bool else x)
    if seen != g.num_edges():
        sys.exit("%s: %d edges, of %d" % (folder, seen, g.num_edges()))
    print("%s: %d parts, loaded" % (folder, k))


def standalone(g):
    """A DistGraph of one part in this process: features, degrees, splits and sampling."""
    dgl.distributed.initialize("none")
    d = dgl.distributed.DistGraph(name, part_config=config)
    if d.num_nodes() != g.num_nodes() or d.num_edges() != g.num_edges():
        sys.exit("%s: %d nodes, %d edges as DistGraph" % (folder, d.num_nodes(), d.num_edges()))
    for t in g.ntypes:
        for field, x in g.nodes[t].data.items():
            got = (d.ndata if len(g.ntypes) == 1 else d.nodes[t].data)[field][torch.arange(g.num_nodes(t))]
            same("DistGraph: %s of %s" % (field, t), got, x.to(torch.uint8) if x.dtype == torch.bool else x)
    if len(g.ntypes) == 1 and "train_mask" in g.ndata:
        train = dgl.distributed.node_split(d.ndata["train_mask"], d.get_partition_book(), force_even=True)
        same("node_split", train, g.ndata["train_mask"].nonzero().squeeze(1))
        block = dgl.distributed.sample_neighbors(d, train, -1)
        u, v = g.in_edges(train)
        got = torch.stack(block.edges())
        want = torch.stack([u, v])
        pairs = [x[:, np.lexsort(x.numpy())] for x in (got, want)]
        same("sample_neighbors", *pairs)
    print("%s: a DistGraph of one part" % folder)


def make():
    rng = np.random.default_rng(1)
    pairs = lambda a, b, n: np.stack([rng.integers(0, a, n), rng.integers(0, b, n)])
    nodes, edges = {"a": 90, "b": 40, "c": 30}, {"a/r/b": 300, "a/s/a": 250, "a/t/b": 60, "b/u/a": 200, "c/v/c": 90}
    out = {"%s/num_nodes" % t: np.int64(n) for t, n in nodes.items()}
    kind = rng.integers(0, 4, 90)
    out.update({"a/x": rng.random((90, 3), dtype=np.float32), "a/y": rng.integers(0, 3, 90), "a/train_mask": kind == 1, "a/val_mask": kind == 2,
                "a/test_mask": kind == 3, "b/code": rng.integers(0, 60000, 40).astype(np.uint16), "b/z": rng.random((40, 2)),
                "b/small": rng.integers(-100, 100, (40, 5)).astype(np.int8), "a/when": rng.integers(0, 2**60, 90)})
    for e, n in edges.items():
        out[e + "/edge_index"] = pairs(nodes[e[0]], nodes[e[-1]], n)
    out.update({"a/r/b/time": rng.integers(0, 50, 300), "b/u/a/w": rng.random((200, 2), dtype=np.float32), "a/t/b/weight": rng.random(60)})
    np.savez("typed.npz", **out)


if sys.argv[1] == "make":
    make()
    sys.exit()
folder, arrays = sys.argv[1], dict(np.load(sys.argv[2]))
name = os.path.basename(folder.rstrip("/"))
config = "%s/%s.json" % (folder, name)
with open(config) as f:
    book = json.load(f)
k = book["num_parts"]
nids, eids = load_tensors(folder + "/orig_nids.dgl"), load_tensors(folder + "/orig_eids.dgl")
g = graph()
if len(sys.argv) > 3 and sys.argv[3] == "loaded":
    compare_loaded(g)
else:
    compare(g)
    compare_loaded(g)
if k == 1:
    standalone(g)
