# SPDX-License-Identifier: Apache-2.0
"""pyg_folder.py [FAULT]: writes, without PyTorch, a folder d as the Partitioner of PyG writes it, and the arrays of the same graph as g.npz. A fault
is put into the folder."""
import json
import os
import shutil
import sys

import numpy as np
from torch_save import save, tensor

FAULT = sys.argv[1] if len(sys.argv) > 1 else ""
rng = np.random.default_rng(1)
COUNT = {"paper": 7, "author": 5}
EDGES = {("author", "writes", "paper"): 12, ("paper", "cites", "paper"): 9}
PARTS = 2
part = {t: rng.integers(0, PARTS, n) for t, n in COUNT.items()}
x = {t: rng.random((n, 3), np.float32) for t, n in COUNT.items()}
ends = {e: np.stack([rng.integers(0, COUNT[e[0]], n), rng.integers(0, COUNT[e[2]], n)]) for e, n in EDGES.items()}
attr = {e: rng.random((n, 2), np.float32) for e, n in EDGES.items()}
y, train = np.arange(7) % 3, np.array([1, 4, 5])
arrays = {}
for t in COUNT:
    arrays.update({t + "/part": part[t], t + "/x": x[t]})
arrays.update({"paper/y": y, "paper/train_idx": train})
for e in EDGES:
    arrays.update({"/".join(e) + "/edge_index": ends[e], "/".join(e) + "/edge_attr": attr[e]})
np.savez("g.npz", **arrays)

shutil.rmtree("d", ignore_errors=True)
for sub in "node_map", "edge_map", "part_0", "part_1":
    os.makedirs("d/g-partitions/" + sub)
os.makedirs("d/g-label")
os.makedirs("d/g-train-partitions")
for t in COUNT:
    book = {"beyond": np.where(part[t], -1, 0), "other": np.zeros_like(part[t])}.get(FAULT, part[t])
    save(tensor(book), "d/g-partitions/node_map/%s.pt" % t)
for e in EDGES:
    save(tensor(part[e[2]][ends[e][1]]), "d/g-partitions/edge_map/%s.pt" % "__".join(e))
for p in range(PARTS):
    nodes, graph, feats, offset = {}, {}, {}, 0
    for t in COUNT:
        ids = np.flatnonzero(part[t] == p)
        nodes[t] = {"global_id": tensor(ids), "id": tensor(ids), "feats": {"x": tensor(x[t][ids]), "none": None}}
    for e in EDGES:
        ids = np.flatnonzero(part[e[2]][ends[e][1]] == p)
        ids = ids[np.argsort(ends[e][1][ids], kind="stable")]
        graph[e] = {"edge_id": tensor(ids + offset), "row": tensor(ends[e][0][ids]), "col": tensor(ends[e][1][ids]), "size": (7, 7)}
        feats[e] = {"global_id": tensor(ids), "feats": {"edge_attr": tensor(attr[e][ids])}}
        offset += EDGES[e]
    cites, writes = ("paper", "cites", "paper"), ("author", "writes", "paper")
    if p:
        ids = graph[cites]["edge_id"].array
        if FAULT == "twice":
            ids[0] = ids[1]
        if FAULT == "range":
            ids[0] = 21
        if FAULT == "before":
            ids[0] = 3
        if FAULT == "rows":
            graph[cites]["row"] = tensor(graph[cites]["row"].array[1:])
        if FAULT == "feature":
            nodes["paper"]["feats"]["x"] = None
        if FAULT == "dtype":
            nodes["paper"]["feats"]["x"] = tensor(nodes["paper"]["feats"]["x"].array.astype(np.int64))
        if FAULT == "width":
            nodes["paper"]["feats"]["x"] = tensor(nodes["paper"]["feats"]["x"].array[:, :2])
        if FAULT == "type":
            del graph[writes]
        if FAULT == "ids":
            nodes["paper"]["id"] = tensor(nodes["paper"]["id"].array.astype(np.float32))
        if FAULT == "order":
            feats[cites]["global_id"] = tensor(feats[cites]["global_id"].array[::-1])
        if FAULT == "fewer":
            for v in (nodes["author"]["id"],):
                v.array = v.array[1:]
    save(graph, "d/g-partitions/part_%d/graph.pt" % p)
    save(nodes, "d/g-partitions/part_%d/node_feats.pt" % p)
    save(feats, "d/g-partitions/part_%d/edge_feats.pt" % p)
save(tensor(y if FAULT != "labels" else y[:6]), "d/g-label/label.pt")
for i, some in enumerate((train[:2], train[2:])):
    save(tensor(some), "d/g-train-partitions/partition%d.pt" % i)
meta = {"num_parts": 3 if FAULT == "parts" else PARTS, "node_types": list(COUNT), "edge_types": [list(e) for e in EDGES], "node_offset": [0, 7],
        "is_hetero": "yes" if FAULT == "hetero" else True, "is_sorted": True}
if FAULT == "list":
    meta["edge_types"][0] = ["author", "paper"]
with open("d/g-partitions/META.json", "w", encoding="utf-8") as f:
    f.write(json.dumps(meta)[:-1 if FAULT == "json" else None])
