# SPDX-License-Identifier: Apache-2.0
"""Compares gnntools.pyg.NeighborLoader with PyG's, where nothing is left to chance, and with the graph itself, where something is.
Prints a line for each case: `ok`, `not ok` or `skip`, its name, and what was seen, divided by `|`. What compares with PyG's loader is
skipped unless PyG has pyg-lib."""
import copy
import gc
import glob
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
import torch
import torch_geometric.sampler.utils
from torch_geometric.data import Data, HeteroData
from torch_geometric.loader import NeighborLoader as Theirs
from torch_geometric.nn import GraphSAGE
from torch_geometric.typing import WITH_PYG_LIB

sys.path.insert(0, os.path.join(os.environ["GNN_TOP"], "formats", "python"))
from gnntools._child import find  # noqa: E402
from gnntools.arrays import from_arrays  # noqa: E402
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


def refuses(name, why, *args, cls=Ours, **kw):
    try:
        batches(cls, *args, **kw)
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
                name, rest = f.read().rsplit(")", 1)
                mine += "(gnn-" in name and int(rest.split()[1]) == os.getpid()
        except OSError:
            pass
    return mine


def folders():
    return set(glob.glob(os.path.join(tempfile.gettempdir(), "gnntools-*")))


def killed(how):
    """A process that is killed in an epoch leaves no store."""
    before, (said, says) = folders(), os.pipe()
    pid = os.fork()
    if not pid:
        epoch = iter(Ours(plain(), ALL, batch_size=1))
        next(epoch)
        os.write(says, b"%d" % len(folders() - before))
        time.sleep(600)
        os._exit(0)
    made = os.read(said, 8)
    os.kill(pid, how)
    os.waitpid(pid, 0)
    end = time.monotonic() + 60
    while folders() - before and time.monotonic() < end:
        time.sleep(0.01)
    is_("a process that is killed by signal %d leaves no store" % how, made == b"1" and not folders() - before)


def endings():
    d = plain()
    killed(signal.SIGTERM)
    killed(signal.SIGKILL)
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


def agree(name, want, got):
    """Two lists of batches are the same."""
    print_case(name, ["%d and %d batches" % (len(want), len(got))] * (len(want) != len(got))
               + list(filter(None, map(difference, want, got))))


def twice(batch):
    part = batch if isinstance(batch, Data) else batch["paper"]
    part.twice = part.x * 2
    return batch


def epoch(loader):
    """An epoch as bytes, which a process can send."""
    torch.manual_seed(3)
    return pickle.dumps(list(loader))


def keep(loader, path):
    """What a process does that ends with a copy."""
    keep.copy = copy.deepcopy(loader)
    with open(path, "w") as f:
        f.write(keep.copy._graph.store.path)


def sizes_of(lists):
    """A batch_sampler."""
    return [lists[a:b] for a, b in zip([0, 4, 5, 5 + 9], [4, 5, 5 + 9, None])]


def uneven():
    """Batches of any size."""
    d, t = plain(), typed()
    lists = sizes_of(torch.randperm(30, generator=torch.Generator().manual_seed(1)).tolist())
    same("uneven batches", d, ALL, batch_sampler=lists)
    same("uneven batches, trees", d, ALL, batch_sampler=[[3, 3, 1], [3], [2, 2, 2, 2]], disjoint=True)
    same("uneven batches, times of seeds", d, ALL, batch_sampler=lists, time_attr="time", input_time=torch.arange(30) * 2)
    same("uneven batches of several types", t, ALL, input_nodes=("an author", torch.arange(19, -1, -1)),
         batch_sampler=[[0], [5, 3, 2], [1, 4]])
    same("a node in several batches", d, ALL, batch_sampler=[[3, 1], [1, 2, 3], [3]])
    for w in 0, 2:
        got = batches(Ours, d, [3, 2], batch_sampler=lists, num_workers=w)
        is_("uneven batches have the sizes of their lists, %d workers" % w, [b.batch_size for b in got] == [4, 1, 9, 16])
    refuses("an empty batch", "a batch without seeds", d, ALL, batch_sampler=[[1], []])
    refuses("a node twice in an uneven batch", "disjoint=True", d, ALL, batch_sampler=[[1], [2, 3, 2]])


def copies():
    """Loaders are pickled and copied."""
    d, t = plain(), typed()
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "store")
        from_arrays(store, {"x": d.x, "train_mask": d.train_mask}, {"edge_index": d.edge_index}, position=True)
        own = {"generator": torch.Generator().manual_seed(9)}
        try:
            pickle.dumps(own)
        except TypeError:  # of an older torch, which pickles no generator
            own = {}
        for name, data, nodes, kw in (
            ("a Data", d, None, {"transform": twice, "num_workers": 2}), ("a HeteroData", t, "paper", {"transform": twice}),
            ("times, weights and a generator", d, None, {**own, "time_attr": "time", "weight_attr": "heavy", "pad": True}),
            ("a store", store, "train", {}),
        ):
            loader = Ours(data, [3, 2], nodes, batch_size=4, shuffle=True, **kw)
            two, three = pickle.loads(pickle.dumps(loader)), copy.deepcopy(loader)
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                there = pool.apply_async(epoch, (loader,)).get(300)
                pool.close()
                pool.join()
            torch.manual_seed(3)
            running = iter(loader)
            want = [next(running)]
            late = copy.deepcopy(loader)  # the epoch that is running stays with the first one
            want += list(running)
            paths = {x._graph.store.path for x in (loader, two, three)}
            is_("a copy of a Data has a store of its own: " + name, len(paths) == (1 if name == "a store" else 3))
            whole = len(loader)
            del loader, running
            gc.collect()
            agree("a pickled loader gives the same batches: " + name, want, pickle.loads(epoch(two)))
            agree("a copied loader gives the same batches: " + name, want, pickle.loads(epoch(three)))
            agree("a spawned process gives the same batches: " + name, want, pickle.loads(there))
            is_("a copy that is made in an epoch begins its own: " + name, len(list(late)) == whole)
            is_("a copy has the data of its own: " + name, two.data is not data and two.data is two._graph.data
                or name == "a store")
            for how in ["fork"] + ["spawn"] * ("generator" not in kw):  # torch gives no generator to a spawned Process
                path = os.path.join(folder, "%s %s" % (how, name))
                process = multiprocessing.get_context(how).Process(target=keep, args=(two, path))
                process.start()
                process.join()
                with open(path) as f:
                    paths.add(f.read())
            is_("processes leave the store of the loader that they copied: " + name, os.path.exists(two._graph.store.path))
            del two, three, late
            gc.collect()
            is_("stores of copies go with them: " + name, not any(map(os.path.exists, paths - {store})))


def partitions():
    """Stores that gnn-partition divided."""
    d, t = plain(), typed()
    with tempfile.TemporaryDirectory() as folder:
        one, many = os.path.join(folder, "one"), os.path.join(folder, "many")
        from_arrays(one, {"x": d.x, "y": d.y, "half": d.half, "time": d.time, "train_mask": d.train_mask},
                    {"edge_index": d.edge_index, "weight": d.heavy, "edge_attr": d.edge_attr}, position=True)
        from_arrays(many, {k: {"x": t[k].x} for k in t.node_types},
                    {k: {key: v for key, v in t[k].items() if key != "time"} for k in t.edge_types}, position=True)
        bare = os.path.join(folder, "bare")
        from_arrays(bare, 30, {"edge_index": d.edge_index})
        for whole, k in (one, 1), (one, 3), (many, 3), (bare, 3):
            subprocess.run([find("gnn-partition"), "-q", "-k", str(k), "-o", whole + str(k), whole], check=True)
        nodes = [7, 3, 29, 0]
        for name, store, args, kw in (
            ("all nodes", one, [3, 2], {}), ("all neighbours", one, ALL, {}),
            ("a set by name", one, [3, 2], {"input_nodes": "train"}), ("nodes", one, [3, 2], {"input_nodes": nodes}),
            ("a mask", one, [3, 2], {"input_nodes": d.train_mask}), ("trees", one, [3, 2], {"disjoint": True}),
            ("weights", one, [3, 2], {"weight_attr": "edge_weight"}), ("replacement", one, [3, 2], {"replace": True}),
            ("times", one, [3, 2], {"time_attr": "time"}), ("no ids of edges", one, [3, 2], {"edge_ids": False}),
            ("induced subgraphs", one, [3, 2], {"subgraph_type": "induced"}), ("padding", one, [3, 2], {"pad": True}),
            ("several types", many, [3, 2], {"input_nodes": "paper"}),
            ("nodes of one of several types", many, [3, 2], {"input_nodes": ("an author", nodes[:2])}),
            ("no attributes", bare, [3, 2], {}),
        ):
            kw = dict(kw, batch_size=4, shuffle=True)
            want, got = batches(Ours, store, args, **kw), batches(Ours, store + "3", args, **kw)
            agree("a store of three partitions gives the batches of the whole: " + name, want, got)
            if store == one:
                agree("and so does one of one partition: " + name, want, batches(Ours, one + "1", args, **kw))
        graph = Data(x=d.x, y=d.y, half=d.half, edge_index=d.edge_index, edge_attr=d.edge_attr, train_mask=d.train_mask)
        wrong = [unsound(graph, b) for b in batches(Ours, one + "3", [3, 2], batch_size=4, weight_attr="weight")]
        print_case("rows of a store of three partitions are those of the graph", list(filter(None, wrong)))
        is_("there are attributes of nodes and edges", {"x", "y", "half", "edge_weight", "edge_attr", "train_mask", "e_id"}
            <= set(next(iter(Ours(one + "3", ALL))).keys()))


def unpadded(batch, loader):
    """A padded batch without its padding, and what is wrong about it or None."""
    out, wrong, typed = copy.copy(batch), None, isinstance(batch, HeteroData)
    sizes, graph = loader._sizes, loader._graph
    for key in graph.edges:
        part, mask = out[key] if typed else out, (batch[key] if typed else batch).pad_edge_mask
        n, ends = int(mask.sum()), [(batch[t] if typed else batch).pad_node_mask.sum() for t in (key[0], key[2])]
        if mask.numel() != sizes.edges[key] or not mask[:n].all():
            wrong = "%s: mask of edges" % (key,)
        if part.edge_index.shape[1] != mask.numel() or not (part.edge_index[:, n:] == torch.stack(ends)[:, None]).all():
            wrong = "%s: edges that were added" % (key,)
        if "num_sampled_edges" in part:
            part.num_sampled_edges = [*part.num_sampled_edges[:-1], part.num_sampled_edges[-1] + n - mask.numel()]
        part.edge_index = part.edge_index[:, :n]
        for name, dim in dict([*graph.columns[key], ("e_id", 0)]).items():
            if name in part:
                wrong = wrong if not part[name].narrow(dim, n, mask.numel() - n).any() else "%s is not 0" % name
                part[name] = part[name].narrow(dim, 0, n)
        del part["pad_edge_mask"]
    for t in graph.nodes:
        part, mask = out[t] if typed else out, (batch[t] if typed else batch).pad_node_mask
        n = int(mask.sum())
        if mask.numel() != sizes.nodes[t] or n == mask.numel() or not mask[:n].all():
            wrong = "%s: mask of nodes" % t
        if "num_sampled_nodes" in part:
            part.num_sampled_nodes = [*part.num_sampled_nodes[:-1], part.num_sampled_nodes[-1] + n - mask.numel()]
        for name, dim in dict([*graph.columns[t], ("n_id", 0), ("batch", 0)]).items():
            if name in part:
                fill = sizes.batch_size if name == "batch" else 0
                wrong = wrong if (part[name].narrow(dim, n, mask.numel() - n) == fill).all() else "%s is not 0" % name
                part[name] = part[name].narrow(dim, 0, n)
        if "num_nodes" in (part if typed else part._store):
            part.num_nodes = n
        del part["pad_node_mask"]
    seeds = out if loader._type is None else out[loader._type]
    for name in "input_id", "seed_time":
        if name in seeds:
            wrong = wrong if seeds[name].numel() == sizes.batch_size else name
            seeds[name] = seeds[name][:seeds.batch_size]
    return out, wrong


def padded():
    """pad=True: sizes, what is added, and models over it."""
    d, t = plain(), typed()
    t["paper", "cites", "paper"].heavy = torch.rand(90)
    shapes = {}
    for name, data, args, kw in (
        ("limited", d, [3, 2], {}), ("three hops", d, [2, 2, 2], {}), ("all neighbours", d, ALL, {}),
        ("trees", d, [3, 2], {"disjoint": True}), ("all, in trees", d, ALL, {"disjoint": True}),
        ("replacement", d, [9, 9], {"replace": True}), ("replacement in trees", d, [9, 9], {"replace": True, "disjoint": True}),
        ("induced", d, [3, 2], {"subgraph_type": "induced"}),
        ("induced trees", d, [3, 2], {"subgraph_type": "induced", "disjoint": True}),
        ("bidirectional", d, [3, 2], {"subgraph_type": "bidirectional"}), ("weights", d, [3, 2], {"weight_attr": "heavy"}),
        ("times", d, [3, 2], {"time_attr": "time", "input_time": torch.arange(30) * 2}), ("fan-out 0", d, [3, 0], {}),
        ("few seeds", d, ALL, {"input_nodes": [3, 7]}), ("no ids", d, [3, 2], {"edge_ids": False}),
        ("uneven batches", d, [3, 2], {"batch_sampler": Uneven()}),
        ("no edges", Data(x=d.x, edge_index=torch.zeros(2, 0, dtype=torch.long)), ALL, {}),
        ("several types", t, [3, 2], {"input_nodes": "paper"}), ("several types, all", t, [-1] * 3, {"input_nodes": "tag"}),
        ("several types, trees", t, [3, 2], {"input_nodes": "paper", "disjoint": True}),
    ):
        kw = kw if "batch_sampler" in kw else dict(kw, batch_size=4, shuffle=True)
        torch.manual_seed(3)
        loader = Ours(data, args, pad=True, **kw)
        got = list(loader)
        pairs = [unpadded(b, loader) for b in got]
        print_case("padding is as it is said to be: " + name, list(filter(None, (w for _, w in pairs))))
        agree("without padding, batches are the same: " + name, batches(Ours, data, args, **kw), [b for b, _ in pairs])
        shapes[name] = {str([(k, v.shape) for s in b.stores for k, v in s.items() if isinstance(v, torch.Tensor)])
                        for b in got}
        is_("all batches have one size: " + name, len(shapes[name]) == 1, shapes[name])
    b = next(iter(Ours(d, [3, 2], batch_size=4, pad=True)))
    is_("sizes are the most that there can be", b.num_nodes == 31 and b.num_edges == 4 * 3 + 4 * 3 * 2, b)
    is_("or all of the graph", next(iter(Ours(d, ALL, batch_size=30, pad=True))).num_edges == 120)
    torch.manual_seed(0)
    model = GraphSAGE(3, 8, num_layers=2, out_channels=4)
    for x, y in zip(batches(Ours, d, [3, 2], batch_size=4), batches(Ours, d, [3, 2], batch_size=4, pad=True)):
        how = {"num_sampled_nodes_per_hop": y.num_sampled_nodes, "num_sampled_edges_per_hop": y.num_sampled_edges}
        want = model(x.x, x.edge_index)[:x.batch_size]
        outs = [model(y.x, y.edge_index), model(y.x, y.edge_index, **how)]
        wrong = [o for o in outs if not torch.allclose(o[:y.batch_size], want, atol=1e-6)]
        if wrong:
            break
    is_("a model gives the same for padded batches, also with trim_to_layer", not wrong, "differs")
    is_("a transform gets padded batches", all(b.twice.shape[0] == b.num_nodes == 31 for b in
                                               Ours(d, [3, 2], batch_size=4, pad=True, transform=twice)))
    refuses("padding without a size", "requires batch_size", d, ALL, pad=True, batch_sampler=[[1], [2, 3]])
    refuses("a batch that is larger", "more than batch_size", d, ALL, pad=True, batch_sampler=Uneven(2))


class Uneven(torch.utils.data.Sampler):
    """A batch_sampler that says how large its batches are at most."""

    def __init__(self, batch_size=9):
        self.batch_size = batch_size

    def __iter__(self):
        return iter([[1, 2, 3, 4], [5], list(range(10, 19))])


def shares():
    """Ranks, in one process."""
    d = plain()
    for name, kw in ("in order", {}), ("shuffled", {"shuffle": True}), ("shuffled, in trees", {"shuffle": True, "disjoint": True}):
        def make(**more):
            return Ours(d, [3, 2], batch_size=4, **kw, **more)
        whole = make(generator=torch.Generator().manual_seed(0))
        want = [list(whole), list(whole)]
        for world in 2, 3, 8, 11:
            loaders = [make(rank=r, world_size=world, num_workers=r % 3) for r in range(world)]
            got = [[list(loader) for loader in loaders] for _ in want]
            agree("ranks have the batches of one process, two epochs: %s, %d ranks" % (name, world),
                  [b for e in want for r in range(world) for b in e[r::world]], [b for e in got for x in e for b in x])
            is_("len() is that of a rank: %s, %d ranks" % (name, world),
                [list(map(len, e)) for e in got] == [list(map(len, loaders))] * 2)
    loaders = [Ours(d, [3], input_nodes=torch.arange(27), batch_size=4, drop_last=True, rank=r, world_size=4)
               for r in range(4)]
    is_("drop_last gives all ranks as many batches", [(len(x), len(list(x))) for x in loaders] == [(1, 1)] * 4)
    refuses("a rank that is not there", "ranks are from 0", d, ALL, rank=2, world_size=2)


def pinned():
    d = plain()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        got = [batches(Ours, d, [3, 2], batch_size=4, pin_memory=True, num_workers=w) for w in (0, 2)]
    said = [str(w.message) for w in told if "pin_memory" in str(w.message)]
    there = torch.cuda.is_available()
    is_("pin_memory: pinned copies, or one warning", len(said) == (0 if there else 1), said)
    is_("batches are pinned if they can be", all(b.x.is_pinned() == there for g in got for b in g))
    for g in got:
        agree("pin_memory changes no values", batches(Ours, d, [3, 2], batch_size=4), [b.cpu() for b in g])


RUNS = (homogeneous, several_types, limited, subgraphs, mistakes, endings, of_stores, uneven, copies, partitions, padded,
        shares, pinned)
if __name__ == "__main__":  # a process that is spawned imports this file
    for run in RUNS:
        if len(sys.argv) < 2 or run.__name__ in sys.argv[1:]:
            run()
