# SPDX-License-Identifier: Apache-2.0
"""ondisk.py: writes OnDiskDatasets of GraphBolt, NAME, has GraphBolt preprocess and load a copy of each, and writes what it then has:
NAME.npz, the graph, features, sets and labels; NAME.SET.npy and NAME.SET.neg.npy, links and negatives of TASK."""
import os
import shutil
import warnings

import dgl.graphbolt as gb
import dgl.graphbolt.impl.ondisk_dataset as ondisk
import numpy as np
import torch
import yaml

warnings.simplefilter("ignore")
rng = np.random.default_rng(1)
# DGL 2.1 adds to what pandas 3 gives it to read only.
read_edges = ondisk.read_edges
ondisk.read_edges = lambda *args: tuple(np.array(a) for a in read_edges(*args))
SET = {"train": "train_set", "valid": "validation_set", "test": "test_set"}


class Folder:
    def __init__(self, name):
        self.name, self.meta = name, {"dataset_name": name, "graph": {"nodes": [], "edges": []}, "feature_data": [], "tasks": []}

    def file(self, path, a, format):
        path = "%s/%s" % (self.name, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if format == "csv":
            np.savetxt(path, a.T, "%d", ",")
        elif format == "torch":
            torch.save(torch.from_numpy(a), path)
        else:
            np.save(path, a)

    def nodes(self, n, type=None):
        self.meta["graph"]["nodes"].append({**({"type": type} if type else {}), "num": n})

    def edges(self, ends, type=None, format="csv"):
        path = "edges/%s.%s" % ((type or "all").replace(":", "-"), "csv" if format == "csv" else "npy")
        self.file(path, ends, format)
        self.meta["graph"]["edges"].append({**({"type": type} if type else {}), "format": format, "path": path})

    def feature(self, domain, name, a, type=None, format="numpy", graph=False, **more):
        path = "data/%s-%s.%s" % ((type or domain).replace(":", "-"), name, "pt" if format == "torch" else "npy")
        self.file(path, a, format)
        (self.meta["graph"].setdefault("feature_data", []) if graph else self.meta["feature_data"]).append(
            {"domain": domain, **({"type": type} if type else {}), "name": name, "format": format, "path": path, **more})

    def task(self, name, sets, format="numpy", **more):
        """sets: {set: [(type, {name: array})]}"""
        task = {"name": name, **more}
        for s, items in sets.items():
            task[SET[s]] = []
            for type, data in items:
                listed = []
                for what, a in data.items():
                    path = "set/%s-%s-%s-%s.%s" % (name, s, (type or "all").replace(":", "-"), what, "pt" if format == "torch" else "npy")
                    self.file(path, a, format)
                    listed.append({"name": what, "format": format, "path": path})
                task[SET[s]].append({**({"type": type} if type else {}), "data": listed})
        self.meta["tasks"].append(task)

    def load(self):
        """Writes the metadata; has GraphBolt make NAME-made of a copy, and load it."""
        with open(self.name + "/metadata.yaml", "w") as f:
            yaml.safe_dump(self.meta, f, sort_keys=False)
        shutil.copytree(self.name, self.name + "-made")
        return gb.OnDiskDataset(self.name + "-made", include_original_edge_id=True).load()


def prefix(type):
    return "node/to/node/" if type is None else type.replace(":", "/") + "/"


def graph_arrays(folder, d):
    """The graph as GraphBolt has it, edges in their original order."""
    g, a = d.graph, {}
    types, etypes = folder.meta["graph"]["nodes"], folder.meta["graph"]["edges"]
    start = {None: 0} if g.node_type_offset is None else {t: int(g.node_type_offset[i]) for t, i in g.node_type_to_id.items()}
    for t in types:
        a[(t.get("type") or "node") + "/num_nodes"] = np.int64(g.num_nodes if t.get("type") is None else g.num_nodes[t["type"]])
    dst = torch.repeat_interleave(torch.arange(g.total_num_nodes), torch.diff(g.csc_indptr).long())
    ids = g.edge_attributes["_ORIGINAL_EDGE_ID"].long()
    for e in etypes:
        of, ends = e.get("type"), (None, None) if e.get("type") is None else e["type"].split(":")[::2]
        mine = torch.ones(len(dst), dtype=bool) if of is None else g.type_per_edge == g.edge_type_to_id[of]
        pairs = np.empty((2, int(mine.sum())), np.int64)
        pairs[0, ids[mine]], pairs[1, ids[mine]] = g.indices[mine].numpy() - start[ends[0]], dst[mine].numpy() - start[ends[1]]
        a[prefix(of) + "edge_index"] = pairs
    return a, start


def feature_arrays(folder, d, a, start):
    for f in folder.meta["graph"].get("feature_data", []): # of nodes: those of all types one after the other
        t, n = f.get("type"), a[(f.get("type") or "node") + "/num_nodes"]
        if f["domain"] == "node":
            a["%s/%s" % (t or "node", f["name"])] = d.graph.node_attributes[f["name"]][start[t]:start[t] + n].numpy()
    for f in folder.meta["feature_data"]:
        t = f.get("type")
        if f["domain"] == "graph":
            continue
        v = d.feature.read(f["domain"], t, f["name"]).numpy()
        at = (t or "node") + "/" if f["domain"] == "node" else prefix(t)
        a[at + f["name"]] = v[:, 0] if f["name"].startswith("one_") else v # to GraphBolt, vectors are columns


def items(s):
    """(type, {name: array}) of a set."""
    for t, one in ([(None, s)] if isinstance(s, gb.ItemSet) else s._itemsets.items()):
        yield t, {n: np.asarray(v) for n, v in zip(one.names, one._items)}


def write(folder):
    d = folder.load()
    a, start = graph_arrays(folder, d)
    feature_arrays(folder, d, a, start)
    first = None
    for task in d.tasks:
        name = task.metadata["name"]
        for s, key in SET.items():
            if getattr(task, key) is None:
                continue
            for t, data in items(getattr(task, key)):
                seeds = next(data[k] for k in ("seed_nodes", "seeds", "node_pairs") if k in data)
                if seeds.ndim == 2:
                    np.save("%s.%s.npy" % (folder.name, s), seeds)
                    if "negative_dsts" in data:
                        np.save("%s.%s.neg.npy" % (folder.name, s), data["negative_dsts"])
                    continue
                at = (t or "node") + "/"
                split_of = name if t in (None, "user") else "%s_%s" % (name, t) # of one type each
                a["%s%s.%s_idx" % (at, split_of, s)] = seeds
                if "labels" not in data:
                    continue
                first = first or (name, t)
                y = "y" if (name, t) == first else name + "_labels"
                if at + y not in a:
                    n = a[at + "num_nodes"]
                    a[at + y] = np.full((n,) + data["labels"].shape[1:], np.nan)
                a[at + y][seeds] = data["labels"]
    np.savez(folder.name + ".npz", **a)


def ends(a, b, n):
    return np.stack([rng.integers(0, a, n), rng.integers(0, b, n)])


def split(n, *most):
    at = np.cumsum((0,) + most)
    ids = rng.permutation(n)
    return {s: ids[at[i]:at[i + 1]] for i, s in enumerate(SET) if i < len(most)}


N, E = 200, 900
for name, format, data in ("csv", "csv", "numpy"), ("numpy", "numpy", "numpy"), ("torch", "csv", "torch"):
    f = Folder(name)
    f.nodes(N)
    f.edges(ends(N, N, E), format=format)
    f.feature("node", "feat", rng.random((N, 5), np.float32), format=data, in_memory=True)
    f.feature("node", "one_score", rng.random(N), format=data)
    f.feature("edge", "feat", rng.random((E, 3), np.float32), format=data)
    f.feature("edge", "one_weight", rng.random(E).astype(np.float32), format=data, in_memory=True)
    f.feature("node", "born", rng.integers(0, 99, N), graph=True)
    parts = split(N, 80, 40, 60)
    y = rng.integers(0, 4, N)
    f.task("node_classification", {s: [(None, {"seed_nodes" if name == "csv" else "seeds": i, "labels": y[i]})] for s, i in parts.items()}, data, num_classes=4)
    parts = split(N, 100, 20)
    f.task("regression", {s: [(None, {"seed_nodes": parts[s], "labels": rng.random(len(parts[s]))})] for s in ("train", "valid")}, data)
    write(f)
f = Folder("typed")
COUNT = {"user": 90, "item": 70, "shop": 8}
ETYPE = {"user:buys:item": 900, "item:in:shop": 200, "user:knows:user": 50}
for t, n in COUNT.items():
    f.nodes(n, t)
    f.feature("node", "born", rng.integers(0, 99, n), t, graph=True)
for t, n in ETYPE.items():
    f.edges(ends(COUNT[t.split(":")[0]], COUNT[t.split(":")[2]], n), t, "numpy" if t == "item:in:shop" else "csv")
f.feature("node", "feat", rng.random((90, 4), np.float32), "user")
f.feature("node", "price", rng.random((70, 2), np.float32), "item", "torch")
f.feature("edge", "feat", rng.random((900, 3), np.float32), "user:buys:item", in_memory=False)
f.feature("graph", "whole", rng.random((3, 1)))
parts, other = split(90, 40, 20, 25), split(70, 30, 20, 10)
y, z = rng.integers(0, 2, (90, 3)).astype(np.float32), rng.integers(0, 5, 70)
f.task("both", {s: [("user", {"seeds": parts[s], "labels": y[parts[s]]}), ("item", {"seeds": other[s], "labels": z[other[s]]})] for s in SET})
write(f)

for name in "links", "kinds":
    f = Folder(name)
    f.nodes(N, *(["thing"] if name == "kinds" else []))
    of = "thing:to:thing" if name == "kinds" else None
    e = rng.permutation(np.unique(ends(N, N, 2 * E), axis=1), axis=1) # the sets share no links
    f.edges(e[:, :E], of)
    f.task("link_prediction", {
        "train": [(of, {"node_pairs": e[:, :700].T.copy()})],
        "valid": [(of, {"node_pairs": e[:, 700:800].T.copy(), "negative_dsts": rng.integers(0, N, (100, 7))})],
        "test": [(of, {"seeds": e[:, E:E + 50].T.copy(), "negative_dsts": rng.integers(0, N, (50, 7))})]})
    write(f)
