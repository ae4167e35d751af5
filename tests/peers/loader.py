# SPDX-License-Identifier: Apache-2.0
"""Compares gnntools.pyg.NeighborLoader with PyG's, where nothing is left to chance, and with the graph itself, where something is.
Prints a line for each case: `ok`, `not ok` or `skip`, its name, and what was seen, divided by `|`. What compares with PyG's loader is
skipped unless PyG has pyg-lib."""
import gc
import glob
import os
import sys
import tempfile
import time
import warnings

import numpy as np
import torch
import torch_geometric.sampler.utils
from torch_geometric.data import Data, HeteroData
from torch_geometric.loader import NeighborLoader as Theirs
from torch_geometric.typing import WITH_PYG_LIB

sys.path.insert(0, os.path.join(os.environ["GNN_TOP"], "formats", "python"))
from gnntools.pyg import NeighborLoader as Ours  # noqa: E402

warnings.simplefilter("ignore")
ALL = [-1, -1]
# PyG leaves open in which order edges with the same target are: it sorts small tensors in any order, large ones stably. Ours keep theirs.
torch_geometric.sampler.utils.index_sort = lambda x, max_value=None: torch.sort(x, stable=True)


def plain():
    """30 nodes, parallel edges, self-loops, and attributes of all kinds."""
    torch.manual_seed(5)
    edge = torch.randint(0, 28, (2, 120))
    edge[:, :30] = edge[:, :30] % 5
    return Data(x=torch.randn(30, 3), edge_index=edge, y=torch.randint(0, 4, (30,)), train_mask=torch.rand(30) < .5,
                edge_attr=torch.randn(120, 2), heavy=torch.rand(120) + .1, edge_time=torch.randint(0, 50, (120,)),
                time=torch.randint(0, 50, (30,)), half=torch.randn(30, 2).half(), cube=torch.randn(30, 2, 3),
                pair_index=torch.arange(60).view(2, 30), num_nodes=30,
                array=np.arange(60.).reshape(30, 2), level=torch.tensor([7.]), title="a graph")


def typed():
    """Types that are reached in each hop, and types that never are; names that are no identifiers."""
    torch.manual_seed(6)
    data = HeteroData()
    for name, n in (("paper", 30), ("an author", 20), ("tag", 9), ("alone", 4)):
        data[name].x = torch.randn(n, 3)
    data["paper"].y, data["paper"].mask = torch.randint(0, 4, (30,)), torch.rand(30) < .4
    data["paper"].time, data["an author"].time = torch.randint(0, 50, (30,)), torch.randint(0, 50, (20,))
    data["alone"].num_nodes = 4
    data.title = "a typed graph"
    for key, e in ((("paper", "cites", "paper"), 90), (("an author", "wrote", "paper"), 80), (("paper", "rev_wrote", "an author"), 80),
                   (("tag", "of", "an author"), 40), (("paper", "to", "alone"), 12)):
        sizes = [data[t].num_nodes for t in (key[0], key[2])]
        data[key].edge_index = torch.stack([torch.randint(0, n, (e,)) for n in sizes])
    data["paper", "cites", "paper"].edge_attr = torch.randn(90, 2)
    return data


def stores(batch):
    return {getattr(s, "_key", None): s for s in batch.stores}


def difference(a, b):
    """Where two batches differ, or None."""
    a, b = stores(a), stores(b)
    if list(a) != list(b):  # in this order
        return "types %s and %s" % (list(a), list(b))
    for kind in a:
        if sorted(a[kind].keys()) != sorted(b[kind].keys()):
            return "%s: keys %s and %s" % (kind, list(a[kind].keys()), list(b[kind].keys()))
        for key, v in a[kind].items():
            w = b[kind][key]
            if isinstance(v, torch.Tensor):
                if type(v) is not type(w) or v.dtype != w.dtype or v.shape != w.shape or not torch.equal(v, w):
                    return "%s: %s: %s and %s" % (kind, key, v, w)
            elif type(v) is not type(w) or v != w:
                return "%s: %s: %r and %r" % (kind, key, v, w)
    return None


def batches(cls, data, *args, fresh=dict, **kw):
    """fresh makes arguments that an epoch changes."""
    torch.manual_seed(3)
    return list(cls(data, *args, **kw, **fresh()))


def same(name, data, *args, **kw):
    """All batches are those of PyG, key by key."""
    ours = batches(Ours, data, *args, **kw)
    wrong = list(filter(None, (unsound(data, b) for b in ours)))
    print_case(name + ": rows are those of the graph", wrong)
    if not WITH_PYG_LIB:
        print("skip|%s|PyG has no pyg-lib" % name)
        return ours
    theirs = batches(Theirs, data, *args, **kw)
    found = [difference(a, b) for a, b in zip(theirs, ours)] + ["%d and %d batches" % (len(theirs), len(ours))] * (len(theirs) != len(ours))
    print_case(name + ": as PyG", list(filter(None, found)))
    return ours


def print_case(name, wrong):
    print("%s|%s|%s" % ("not ok" if wrong else "ok", name, " ".join(str(wrong[0]).split())[:300] if wrong else ""))


def is_(name, good, seen=""):
    print_case(name, [] if good else [seen or "no"])


def unsound(data, batch):
    """What in a batch contradicts the graph, or None."""
    one = isinstance(data, Data)
    for key in [None] if one else data.edge_types:
        part, whole = (batch, data) if one else (batch[key], data[key])
        src, dst = (batch, batch) if one else (batch[key[0]], batch[key[2]])
        row, col = part.edge_index
        ends = torch.stack([src.n_id[row], dst.n_id[col]])
        if not torch.equal(ends, whole.edge_index[:, part.e_id]):
            return "%s: ends of edges" % (key,)
        for name in ("edge_attr", "heavy", "edge_time"):
            if name in whole and not torch.equal(part[name], whole[name][part.e_id]):
                return "%s: %s" % (key, name)
    for kind in [None] if one else data.node_types:
        part, whole = (batch, data) if one else (batch[kind], data[kind])
        for name in ("x", "y", "half", "cube", "mask", "train_mask", "time"):
            if name in whole and not torch.equal(part[name], whole[name][part.n_id]):
                return "%s: %s" % (kind, name)
    return None


def refuses(name, why, *args, **kw):
    try:
        batches(Ours, *args, **kw)
    except (ValueError, TypeError, IndexError, NotImplementedError, RuntimeError) as e:
        print_case(name + " is refused: " + why, [] if why in str(e) else [e])
    else:
        print_case(name + " is refused", ["it was not"])


def homogeneous():
    d = plain()
    same("a Data, all seeds", d, ALL, batch_size=7)
    same("three hops, the last batch left out", d, [-1, -1, -1], batch_size=7, drop_last=True)
    same("a mask", d, ALL, input_nodes=d.train_mask, batch_size=4)
    same("a list of nodes", d, ALL, input_nodes=[3, 29, 0, 11, 5], batch_size=2)
    same("nodes of another type of integers", d, ALL, input_nodes=torch.tensor([3, 29, 0], dtype=torch.int32), batch_size=2)
    same("shuffled after the same torch.manual_seed", d, ALL, batch_size=4, shuffle=True)
    same("shuffled by a generator", d, ALL, batch_size=4, shuffle=True, fresh=lambda: {"generator": torch.Generator().manual_seed(9)})
    subset = torch.utils.data.SubsetRandomSampler
    same("a sampler of torch", d, ALL, batch_size=4, fresh=lambda: {"sampler": subset([4, 1, 7, 9, 2])})
    same("batches that a batch_sampler gives", d, ALL, batch_sampler=[[5, 1, 2], [9, 8, 3], [0, 7]])
    same("fan-outs that no node exceeds", d, [99, 99], batch_size=5)
    same("fan-out 0 in the last hop", d, [-1, 0], batch_size=5)
    same("replacement of all neighbours", d, ALL, batch_size=5, replace=True)
    same("a tree for each seed", d, ALL, batch_size=5, disjoint=True)
    same("a tree for each of equal seeds", d, ALL, input_nodes=[3, 3, 0, 3], batch_size=3, disjoint=True)
    same("weights, and fan-outs that no node exceeds", d, [99, 99], batch_size=5, weight_attr="heavy")
    same("weights, and all neighbours", d, ALL, batch_size=5, weight_attr="heavy")
    same("times of nodes", d, ALL, batch_size=5, time_attr="time")
    times = torch.arange(30) * 2
    same("times of nodes and of seeds", d, ALL, batch_size=5, time_attr="time", input_time=times)
    same("times of edges", d, ALL, batch_size=5, time_attr="edge_time", input_time=times)
    same("the latest edges", d, [3, 2], batch_size=5, time_attr="edge_time", input_time=times, temporal_strategy="last")
    same("the latest nodes", d, [3, 2], batch_size=5, time_attr="time", temporal_strategy="last")
    same("a transform", d, ALL, batch_size=7, transform=lambda b: b.update({"twice": b.x * 2}) or b)
    bare = Data(edge_index=d.edge_index, num_nodes=30)
    same("a Data without attributes", bare, ALL, batch_size=7)
    same("edges that are sorted", Data(x=d.x, edge_index=d.edge_index[:, d.edge_index[1].argsort(stable=True)]), ALL, batch_size=7)
    same("a graph without edges", Data(x=d.x, edge_index=torch.zeros(2, 0, dtype=torch.long)), ALL, batch_size=7)
    changed = []
    for cls in (Ours, Theirs)[:1 + WITH_PYG_LIB]:
        loader = cls(Data(**d.to_dict()), ALL, batch_size=7)
        del loader.data.x, loader.data.edge_attr
        loader.data.n_id, loader.data.more = torch.arange(30), torch.arange(30) * 2
        changed.append(list(loader))
    wrong = [b for b in changed[0] if "x" in b or not torch.equal(b.more, b.n_id * 2)]
    wrong += filter(None, map(difference, *changed)) if WITH_PYG_LIB else []
    print_case("attributes may change after the loader was made", wrong)
    torch.manual_seed(3)
    ours, theirs = (cls(d, ALL, batch_size=4) for cls in (Ours, Theirs))
    is_("len() counts batches", (len(ours), len(Ours(d, ALL, batch_size=4, drop_last=True))) == (8, 7))
    if WITH_PYG_LIB:
        print_case("a call gives the batch of some positions: as PyG", list(filter(None, [difference(theirs([4, 2, 9]), ours([4, 2, 9]))])))


def several_types():
    d = typed()
    for name, args, kw in (
        ("a HeteroData", [ALL], {}), ("three hops", [[-1] * 3], {}),
        ("a fan-out for each type", [{k: [0, -1] if k[1] == "of" else ALL for k in d.edge_types}], {}),
        ("trees", [ALL], {"disjoint": True}), ("times of some types", [ALL], {"time_attr": "time"}),
        ("times of some types and of seeds", [ALL], {"time_attr": "time", "input_time": torch.arange(30) * 2}),
        ("times of some edges", [ALL], {"time_attr": "when", "input_time": torch.arange(30) * 2}),
    ):
        if kw.get("time_attr") == "when":
            d["an author", "wrote", "paper"].when = torch.randint(0, 50, (80,))
        same("several types: " + name, d, *args, input_nodes="paper", batch_size=7, **kw)
    same("several types: a mask", d, ALL, input_nodes=("paper", d["paper"].mask), batch_size=4)
    same("several types: nodes of another type", d, ALL, input_nodes=("an author", torch.tensor([3, 0, 19])), batch_size=2, shuffle=True)
    same("several types: a type and None", d, ALL, input_nodes=("tag", None), batch_size=4)


def limited():
    """Fan-outs that leave something to chance."""
    d = plain()
    loaders = {w: batches(Ours, d, [3, 2], batch_size=4, shuffle=True, num_workers=w) for w in (0, 1, 2)}
    for w in 1, 2:
        print_case("batches are the same with %d workers" % w, list(filter(None, map(difference, loaders[0], loaders[w]))))
    left = batches(Ours, d, [3, 2], batch_size=4, shuffle=True, num_workers=2, filter_per_worker=False)
    print_case("batches are the same if they are filled by the caller", list(filter(None, map(difference, loaders[0], left))))
    print_case("rows are those of the graph", list(filter(None, (unsound(d, b) for b in loaders[0]))))
    degree = torch.bincount(d.edge_index[1], minlength=30)
    wrong = []
    for b in loaders[0]:
        first = b.edge_index[1, :b.num_sampled_edges[0]].bincount(minlength=b.batch_size)
        if not torch.equal(first, degree[b.n_id[:b.batch_size]].clamp(max=3)) or b.e_id.unique().numel() != b.e_id.numel():
            wrong.append(first)
    print_case("each node has as many neighbours as the fan-out allows, each once", wrong)
    torch.manual_seed(3)
    loader = Ours(d, [1, 1], batch_size=30)
    is_("each epoch draws anew", any(difference(next(iter(loader)), next(iter(loader))) for _ in range(3)))
    b = next(iter(Ours(d, [3], batch_size=4, edge_ids=False)))
    is_("edge_ids=False leaves e_id out, not attributes of edges", "e_id" not in b and len(b.edge_attr) == b.num_edges)


def subgraphs():
    d = plain()
    for b in batches(Ours, d, ALL, batch_size=4, subgraph_type="induced"):
        inside = torch.isin(d.edge_index, b.n_id).all(0).nonzero().view(-1)
        is_("an induced subgraph has all edges among its nodes", torch.equal(b.e_id.sort().values, inside) and "num_sampled_nodes" not in b)
        break
    kw = {"batch_size": 4, "subgraph_type": "bidirectional"}
    ours = batches(Ours, d, ALL, **kw)
    wrong = []
    for b in ours:
        ends = torch.sort(b.n_id[b.edge_index], 0).values
        if not torch.equal(ends, torch.sort(d.edge_index[:, b.e_id], 0).values):
            wrong.append("ids of edges")
    print_case("a bidirectional subgraph has ids of edges in one of both directions", wrong)
    if WITH_PYG_LIB:
        theirs = batches(Theirs, d, ALL, **kw)
        for b in ours + theirs:  # which of two edges is kept is left open
            for key in ("e_id", "edge_attr", "heavy", "edge_time"):
                b[key] = b[key].shape
        print_case("bidirectional subgraphs: as PyG", list(filter(None, map(difference, theirs, ours))))


def mistakes():
    d, t = plain(), typed()
    refuses("a node that is given twice", "disjoint=True", d, ALL, input_nodes=[1, 2, 1])
    refuses("a sampler that gives a node twice", "disjoint=True", d, ALL, batch_size=30,
            sampler=torch.utils.data.WeightedRandomSampler([1.] * 30, 30))
    refuses("a node that is out of range", "input_nodes[1] is 30", d, ALL, input_nodes=[1, 30])
    refuses("a mask of another size", "a mask of shape [29]", d, ALL, input_nodes=torch.ones(29, dtype=torch.bool))
    refuses("input_time without time_attr", "requires time_attr", d, ALL, input_time=torch.zeros(30))
    refuses("times of edges without those of seeds", "input_time is missing", d, ALL, time_attr="edge_time")
    refuses("an attribute that is not there", "'nothing' is an attribute of neither", d, ALL, time_attr="nothing")
    refuses("weights that are not there", "edges have no attribute 'nothing'", d, ALL, weight_attr="nothing")
    refuses("negative weights", "negative", Data(edge_index=d.edge_index, num_nodes=30, w=-torch.ones(120)), [2], weight_attr="w")
    refuses("an edge type that is not there", "no edge type ('a', 'b', 'c')", t, {("a", "b", "c"): ALL}, input_nodes="tag")
    refuses("an edge type without a fan-out", "is missing", t, {("paper", "cites", "paper"): ALL}, input_nodes="tag")
    refuses("a HeteroData without a node type", "needs a node type", t, ALL)
    refuses("a node type that is not there", "'nobody'", t, ALL, input_nodes="nobody")
    refuses("no hop", "there must be a hop", d, [])
    refuses("transform_sampler_output", "transform_sampler_output", d, ALL, transform_sampler_output=lambda x: x)
    refuses("a pair of stores", "FeatureStore", (d, d), ALL)
    refuses("bidirectional subgraphs of several types", "bidirectional", t, ALL, input_nodes="tag", subgraph_type="bidirectional")
    refuses("the last edges of types without times", "have no last ones", t, ALL, input_nodes="paper", time_attr="time",
            temporal_strategy="last")
    t["paper", "to", "alone"].time = torch.zeros(12, dtype=torch.long)
    refuses("times of nodes and of edges", "both nodes and edges", t, ALL, input_nodes="paper", time_attr="time")
    refuses("an edge that ends nowhere", "30", Data(edge_index=torch.tensor([[0], [30]]), num_nodes=30), ALL)
    refuses("a path that is no store", "nowhere", "nowhere", ALL)


def children():
    mine = 0
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(stat) as f:
                mine += int(f.read().rsplit(")", 1)[1].split()[1]) == os.getpid()
        except OSError:
            pass
    return mine


def endings():
    d = plain()
    for w in 0, 2:
        loader = Ours(d, ALL, batch_size=1, num_workers=w)
        for _ in loader:
            break
        two = [iter(loader), iter(loader)]
        is_("two epochs at once, %d workers" % w, difference(next(two[0]), next(two[1])) is None)
        del two, _
        gc.collect()
        end = time.monotonic() + 60
        while children() and time.monotonic() < end:
            time.sleep(0.01)
        is_("no program outlives an epoch that was left, %d workers" % w, not children(), "%d children" % children())

        def fails(batch):
            raise KeyError("mine")
        try:
            next(iter(Ours(d, ALL, num_workers=w, transform=fails)))
            is_("what a transform raises", False)
        except KeyError as e:
            is_("what a transform raises reaches the caller, %d workers" % w, str(e) == "'mine'")
    path = loader._graph.store.path
    del loader
    gc.collect()
    is_("the store of a loader is removed with it", not os.path.exists(path))
    is_("all batches can be kept", difference(batches(Ours, d, ALL, batch_size=1)[0], next(iter(Ours(d, ALL, batch_size=1)))) is None)


def of_stores():
    from gnntools.arrays import from_arrays
    d, t = plain(), typed()
    with tempfile.TemporaryDirectory() as folder:
        one, many = os.path.join(folder, "one"), os.path.join(folder, "many")
        from_arrays(one, {"x": d.x, "y": d.y, "train_mask": d.train_mask}, {"edge_index": d.edge_index, "heavy": d.heavy}, position=True)
        small = Data(x=d.x, edge_index=d.edge_index, y=d.y, train_mask=d.train_mask, heavy=d.heavy, num_nodes=30)
        for name, kw in (("all nodes", {}), ("a set by name", {"input_nodes": "train"}), ("trees", {"disjoint": True})):
            other = dict(kw, **({"input_nodes": d.train_mask.nonzero().view(-1)} if kw.get("input_nodes") else {}))
            wrong = []
            for a, b in zip(batches(Ours, one, ALL, batch_size=4, **kw), batches(Ours, small, ALL, batch_size=4, **other)):
                wrong += [difference(b, a)]
            print_case("a store gives what its Data gives: " + name, list(filter(None, wrong)))
        nodes = {k: {"x": t[k].x} for k in t.node_types}
        from_arrays(many, nodes, {k: {"edge_index": t[k].edge_index} for k in t.edge_types}, position=True)
        got, want = (next(iter(Ours(g, ALL, input_nodes="paper", batch_size=9))) for g in (many, t))
        wrong = [k for k in t.node_types if not torch.equal(got[k].x, want[k].x)]
        for k in t.edge_types:
            wrong += [k] * (not torch.equal(got[k].e_id, want[k].e_id) or not torch.equal(got[k].edge_index, want[k].edge_index))
        print_case("a typed store gives what its HeteroData gives", wrong)
        loader = Ours(one, ALL, batch_size=4)
        from_arrays(one, {"x": d.x + 1}, {"edge_index": d.edge_index}, force=True)
        try:
            next(iter(loader))
            is_("a store that was replaced", False)
        except (RuntimeError, ValueError) as e:
            is_("a store that was replaced is refused", "than when the loader was made" in str(e) or "changed" in str(e), e)


for run in homogeneous, several_types, limited, subgraphs, mistakes, endings, of_stores:
    if len(sys.argv) < 2 or run.__name__ in sys.argv[1:]:
        run()
