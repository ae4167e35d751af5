# SPDX-License-Identifier: Apache-2.0
"""glt_folder.py [types | homo | old | FAULT]: writes, without PyTorch, a folder d from the description of what the Partitioner of GraphLearn-for-PyTorch writes,
and the arrays of the same graph as g.npz: of two types with features in several pickles; homo, of one; old, with features as to version 0.2.0. A fault is
put into the folder."""
import os
import pickle
import shutil
import sys

import numpy as np
from torch_save import save, saved, tensor

FAULT = sys.argv[1] if len(sys.argv) > 1 else ""
HOMO, OLD = FAULT == "homo", FAULT == "old"
rng = np.random.default_rng(1)
COUNT = {"node": 9} if HOMO else {"paper": 7, "author": 5}
EDGES = {("node", "to", "node"): 14} if HOMO else {("author", "writes", "paper"): 12, ("paper", "cites", "paper"): 9}
PARTS, CHUNK = 2, 2
part = {t: np.arange(n) % 3 % 2 for t, n in COUNT.items()}
x = {t: rng.random((n, 3), np.float32) for t, n in COUNT.items()}
ends = {e: np.stack([rng.integers(0, COUNT[e[0]], n), rng.integers(0, COUNT[e[2]], n)]) for e, n in EDGES.items()}
attr = {e: rng.random((n, 2), np.float32) for e, n in EDGES.items()}
weight = {e: rng.random(n, np.float32) for e, n in EDGES.items()}
last = list(EDGES)[-1]
arrays = {}
for t in COUNT:
    arrays.update({t + "/part": part[t], t + "/x": x[t]})
for e in EDGES:
    arrays["/".join(e) + "/edge_index"] = ends[e]
    if e == last:
        arrays.update({"/".join(e) + "/weight": weight[e], "/".join(e) + "/edge_attr": attr[e]})
if not HOMO:
    arrays.update({"paper/y": np.arange(7) % 3, "paper/train_idx": np.array([1, 4, 5])})
np.savez("g.npz", **arrays)


def put(array, name):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    save(tensor(array), name)


def append(array, name, chunk=CHUNK):
    """Features: pickled in chunks of rows, one after the other."""
    if OLD:
        return put(array, name.replace(".pkl", ".pt"))
    os.makedirs(os.path.dirname(name), exist_ok=True)
    with open(name, "wb") as f:
        for i in range(0, len(array), chunk):
            f.write(saved(array[i : i + chunk]))
    return None


def place(group, name):
    return group + "/" if HOMO else "%s/%s/" % (group, name if isinstance(name, str) else "__".join(name))


shutil.rmtree("d", ignore_errors=True)
root = "d/g-partitions/"
for t in COUNT:
    book = {"beyond": np.where(part[t], 7, 0), "real": part[t].astype(np.float32)}.get(FAULT, part[t])
    put(book, root + place("node_pb", t)[:-1] + ".pt")
for e in EDGES:
    put(part[e[2]][ends[e][1]], root + place("edge_pb", e)[:-1] + ".pt")
for p in range(PARTS):
    at = root + "part%d/" % p
    for t in COUNT:
        ids = np.flatnonzero(part[t] == p)
        rows = x[t][ids]
        if p and t == list(COUNT)[0]:
            ids = {"twice": np.r_[ids[:-1], ids[0]], "range": np.r_[ids[:-1], 70], "fewer": ids[:-1], "float": ids.astype(np.float32)}.get(FAULT, ids)
            rows = {"fewer": rows[:-1], "rows": rows[1:], "width": rows[:, :2]}.get(FAULT, rows)
        append(ids, at + place("node_feat", t) + "ids.pkl")
        append(rows, at + place("node_feat", t) + "feats.pkl", 3)
    for e in EDGES:
        ids = np.flatnonzero(part[e[2]][ends[e][1]] == p)
        graph = at + place("graph", e)
        put(ids, graph + "eids.pt")
        put(ends[e][0][ids][: -1 if FAULT == "ends" and p else None], graph + "rows.pt")
        put(ends[e][1][ids], graph + "cols.pt")
        if e == last:
            put(weight[e][ids], graph + "weights.pt")
            append(ids[::-1], at + place("edge_feat", e) + "ids.pkl")
            append(attr[e][ids[::-1]], at + place("edge_feat", e) + "feats.pkl")
if FAULT == "cached":
    put(ends[last][0], root + place("graph", last) + "rows.pt")
if not HOMO:
    put(np.arange(7) % 3, "d/g-label/label.pt")
    for p, some in enumerate(([1, 4], [5])):
        put(np.array(some), "d/g-train-partitions/partition%d.pt" % p)
meta = {"num_parts": 3 if FAULT == "parts" else PARTS, "data_cls": {"kind": "graph"}.get(FAULT, "homo" if HOMO else "hetero"),
        "node_types": None if HOMO else list(COUNT), "edge_types": None if HOMO else list(EDGES)}
if FAULT == "tuple":
    meta["edge_types"][0] = ("author", "paper")
if FAULT == "name":
    meta["node_types"].append("\udcff")
if FAULT == "nul":
    meta["node_types"].append("b\0c")
if FAULT == "list":
    meta["node_types"] = 3
if FAULT == "number":
    meta["num_parts"] = "2"
with open(root + "META", "wb") as out:
    out.write(pickle.dumps(meta, 5))
first = root + "part1/node_feat/paper/"
if FAULT in ("rest", "storage", "array", "system"):
    wrong = {"rest": saved(x["paper"][:1]) + b"\x80\x04rest", "storage": saved(x["paper"][:1]).replace(b"FloatStorage", b"FloatStorag\xff"),
             "array": pickle.dumps([1], 4), "system": b"\x80\x02cposix\nsystem\nU\x09touch ran\x85R."}
    with open(first + "feats.pkl", "wb") as out:
        out.write(wrong[FAULT])
if FAULT == "lost":
    os.remove(first + "ids.pkl")
if FAULT == "book":
    os.remove(root + "edge_pb/author__writes__paper.pt")
if FAULT == "copies":
    put(x["paper"][:2], first + "cache_feats.pt")
    put(np.arange(2), first + "cache_ids.pt")
