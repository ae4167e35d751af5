# SPDX-License-Identifier: Apache-2.0
"""ogb_nodes.py: writes data sets of nodes in OGB's layout: in good/ the same graph and split in many ways, of which KIND-text is that of
text, and in bad/ what cannot be read, with NAME.txt, what the message says."""
import os
import shutil

import numpy as np
from torch_save import System, save, tensor

rng = np.random.default_rng(7)
N, E = 40, 90
EDGES = rng.integers(0, N, (E, 2))
X, Y = rng.integers(0, 9, (N, 3)), rng.integers(0, 4, (N, 1))
ORDER = rng.permutation(N)
SETS = {"train": ORDER[:20], "valid": ORDER[20:29], "test": ORDER[29:]}
TYPES = {"author": 30, "paper": N}
RELATIONS = {("author", "writes", "paper"): np.stack([rng.integers(0, 30, 70), rng.integers(0, N, 70)]),
             ("paper", "cites", "paper"): EDGES.T}
TYPED = {s: {"paper": ids} for s, ids in SETS.items()}


def text(path, rows):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.writelines(",".join(map(str, np.atleast_1d(r))) + "\n" for r in rows)


def graph(d):
    text(d + "/raw/edge.csv", EDGES)
    text(d + "/raw/num-node-list.csv", [N])
    text(d + "/raw/num-edge-list.csv", [E])
    text(d + "/raw/node-feat.csv", X)
    text(d + "/raw/node-label.csv", Y)
    os.makedirs(d + "/split/time")
    return d


def typed(d):
    text(d + "/raw/num-node-dict.csv", [list(TYPES), list(TYPES.values())])
    text(d + "/raw/triplet-type-list.csv", list(RELATIONS))
    for (s, r, t), edges in RELATIONS.items():
        below = d + "/raw/relations/%s___%s___%s" % (s, r, t)
        text(below + "/edge.csv", edges.T)
        text(below + "/num-edge-list.csv", [edges.shape[1]])
        text(below + "/edge_year.csv", edges[0] + 1990)
    text(d + "/raw/node-feat/paper/node-feat.csv", X)
    text(d + "/raw/node-label/paper/node-label.csv", Y)
    text(d + "/raw/node_age/author/node_age.csv", np.arange(30) * 2)
    os.makedirs(d + "/split/time")
    return d


def dicts(d, **changed):
    """As OGB's DatasetSaver writes typed graphs."""
    keys = {"___".join(t): e for t, e in RELATIONS.items()}
    files = {"num_nodes_dict": {t: np.array([n]) for t, n in TYPES.items()},
             "num_edges_dict": {k: np.array([e.shape[1]]) for k, e in keys.items()},
             "edge_index_dict": keys,
             "edge_year": {k: e[0] + 1990 for k, e in keys.items()},
             "node_feat_dict": {"paper": X.astype("f4")},
             "node_age": {"author": np.arange(30) * 2},
             "node-label": {"paper": Y}}
    files.update(changed)
    os.makedirs(d + "/raw")
    for name, arrays in files.items():
        if arrays is not None:
            np.savez_compressed(d + "/raw/" + name, **arrays)
    os.makedirs(d + "/split/time")
    return d


def mapped(v, fn):
    return {k: mapped(x, fn) for k, x in v.items()} if isinstance(v, dict) else fn(v)


def good():
    for s, ids in SETS.items():
        text(graph_text + "/split/time/%s.csv" % s, ids)
        text(typed_text + "/split/time/paper/%s.csv" % s, ids)
    ways = [("zip", 2, np.int64, tensor), ("zip", 4, np.int64, np.array), ("zip", 2, np.int32, np.array), ("legacy", 2, np.int64, np.array),
            ("legacy", 4, np.int32, tensor), ("pickle", 2, np.int64, np.array), ("pickle", 4, np.int64, np.array), ("pickle", 5, np.int32, np.array)]
    for how, protocol, dtype, make in ways:
        name = "%s%d-%s-%s" % (how, protocol, dtype.__name__, make.__name__)
        for kind, new, split in ("graph", graph, SETS), ("typed", typed, TYPED), ("dicts", dicts, TYPED):
            values = mapped(split, lambda ids: make(ids.astype(dtype)))
            d = new("good/%s-files-%s" % (kind, name))
            for s, v in values.items():
                save(v, d + "/split/time/%s.pt" % s, how, protocol)
            save(values, new("good/%s-dict-%s" % (kind, name)) + "/split/time/split_dict.pt", how, protocol)
    # The dict comes first, as in OGB's reader, and a column is a list.
    both = graph("good/graph-both")
    save(SETS, both + "/split/time/split_dict.pt")
    save(np.arange(3), both + "/split/time/train.pt")
    save({s: ids[:, None] for s, ids in SETS.items()}, graph("good/graph-column") + "/split/time/split_dict.pt", "zip", 4)


def bad(name, message, value, how="zip", protocol=2, new=graph, file="split_dict.pt"):
    d = new("bad/" + name)
    if value is not None:
        save(value, d + "/split/time/" + file, how, protocol)
    with open("bad/%s.txt" % name, "w") as f:
        f.write(message + "\n")
    return d + "/split/time/" + file


shutil.rmtree("good", ignore_errors=True)
shutil.rmtree("bad", ignore_errors=True)
graph_text, typed_text = graph("good/graph-text"), typed("good/typed-text")
good()
SHORT = {"train": SETS["train"], "valid": SETS["valid"]}
bad("lacks", "split/time lacks one of train, valid, test", SHORT)
bad("alone", "split/time lacks one of train, valid, test", SETS["train"], file="train.pt")
bad("keys", "split_dict.pt: dev: expected a dict of train, valid and test", dict(SETS, dev=SETS["test"]))
bad("nodict", "split_dict.pt: array: expected a dict of train, valid and test", SETS["test"])
bad("range", "split_dict.pt: valid: row 2: no node 40 .there are 40", dict(SETS, valid=np.array([1, 40])))
bad("negative", "split_dict.pt: test: row 1: no node -1", dict(SETS, test=tensor(np.array([-1, 1]))))
bad("fraction", "split_dict.pt: test: element 2 is not a whole number", dict(SETS, test=np.array([1.0, 1.5])))
bad("mask", "split_dict.pt: test: expected ids of nodes, found booleans", dict(SETS, test=np.arange(N) % 2 == 0))
bad("matrix", "split_dict.pt: test: expected ids of nodes, found no list of them", dict(SETS, test=np.zeros((4, 3), np.int64)))
bad("list", "split_dict.pt: not an array: test .a list of 3", dict(SETS, test=[1, 2, 3]))
bad("type", "split_dict.pt: test/venue: no node type 'venue'", dict(TYPED, test={"venue": SETS["test"]}), new=typed)
bad("types", "split_dict.pt: .*: sets of two node types, '.*' and '.*', of which a split has one",
    {s: {"paper": ids, "author": ids[ids < 30]} for s, ids in SETS.items()}, new=typed)
bad("untyped", "split_dict.pt: test: expected ids of nodes, found an array, which does not say of which node type", dict(TYPED, test=SETS["test"]), new=typed)
bad("typed", "split_dict.pt: train/paper: no node type 'paper'", TYPED)
bad("system", "system", dict(SETS, test=System()))
bad("system4", "system", dict(SETS, test=System()), "pickle", 4)
bad("empty", "split_dict.pt: no array in a dict of 0", {})
for how in "zip", "legacy", "pickle":
    path = bad("cut" + how, "split_dict.pt: ", {s: tensor(ids) if how != "pickle" else ids for s, ids in SETS.items()}, how)
    os.truncate(path, os.path.getsize(path) - 60)
bad("other", "split_dict.pt: neither a file of torch.save nor a pickle", None)
text("bad/other/split/time/split_dict.pt", EDGES)
# The size of the array, a tuple of the byte 11, becomes negative: BININT -11.
path = bad("size", "split_dict.pt: test: .*a part of its shape is no count", dict(SETS, test=SETS["test"]), "pickle", 2)
with open(path, "rb") as f:
    data = f.read()
assert len(SETS["test"]) == 11 and data.count(b"K\x0b\x85") == 1
with open(path, "wb") as f:
    f.write(data.replace(b"K\x0b\x85", b"J\xf5\xff\xff\xff\x85"))
KEYS = {"___".join(t): e for t, e in RELATIONS.items()}


def bad_dicts(name, message, **changed):
    dicts("bad/" + name, **changed)
    with open("bad/%s.txt" % name, "w") as f:
        f.write(message + "\n")


bad_dicts("nonodes", "num_nodes_dict.npz is missing", num_nodes_dict=None)
bad_dicts("nocounts", "num_edges_dict.npz is missing", num_edges_dict=None)
bad_dicts("nocount", "num_edges_dict.npz: paper___cites___paper.npy is missing", num_edges_dict={"author___writes___paper": np.array([70])})
bad_dicts("count", "edges, but 91 declared", num_edges_dict={"author___writes___paper": np.array([70]), "paper___cites___paper": np.array([91])})
bad_dicts("several", "several graphs are not supported", num_nodes_dict={"paper": np.array([40, 2]), "author": np.array([30, 1])})
bad_dicts("nodetype", "no node type 'venue' in num_nodes_dict", edge_index_dict=dict(KEYS, venue___of___paper=EDGES.T))
bad_dicts("relation", "cites.npy: expected an array of an edge type SRC___REL___DST", edge_index_dict={"cites": EDGES.T})
bad_dicts("field", "expected an array of an edge type of edge_index_dict", edge_year={"paper___of___paper": np.arange(E)})
bad_dicts("nodefield", "expected an array of a node type of num_nodes_dict", node_age={"venue": np.arange(3)})
bad_dicts("rows", "3 rows for 30 nodes", node_age={"author": np.arange(3)})
bad_dicts("labels", "labels of two node types", **{"node-label": {"paper": Y, "author": np.zeros((30, 1), np.int64)}})
bad_dicts("shape", "edges must have shape", edge_index_dict=dict(KEYS, paper___cites___paper=np.zeros((3, 4), np.int64)))
bad_dicts("id", "id 99, but there are 40 nodes of type paper", edge_index_dict=dict(KEYS, paper___cites___paper=np.full((2, E), 99)))
