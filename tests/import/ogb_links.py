# SPDX-License-Identifier: Apache-2.0
"""ogb_links.py: writes data sets of links in OGB's layout: NAME/ as OGB has them and files of the same links, NAME.SET and NAME.neg.SET, of
text; and in bad/ sets that cannot be read, of collab's graph, with NAME.txt, what the message says."""
import os

import numpy as np
from torch_save import System, save, tensor

rng = np.random.default_rng(11)
N = 60
SETS = "train", "valid", "test"


def text(path, rows):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w") as f:
        f.writelines(",".join(map(str, np.atleast_1d(r))) + "\n" for r in rows)


def pairs(n, seed):
    """Different pairs of different nodes, in no order, and turned as they come."""
    g = np.random.default_rng(seed)
    a, b = np.triu_indices(N, 1)
    some = g.permutation(len(a))[:n]
    p = np.stack([a[some], b[some]], 1)
    return np.where(g.random((n, 1)) < 0.5, p, p[:, ::-1])


def graph(name, edges, **fields):
    text(name + "/raw/edge.csv", edges)
    text(name + "/raw/num-node-list.csv", [N])
    text(name + "/raw/num-edge-list.csv", [len(edges)])
    text(name + "/raw/node-feat.csv", np.random.default_rng(3).integers(0, 9, (N, 2)))
    for field, rows in fields.items():
        text("%s/raw/edge_%s.csv" % (name, field), rows)


def links(name, sets, how="zip", protocol=2, dict_=False, split="time", make=np.array):
    d = "%s/split/%s" % (name, split)
    os.makedirs(d, exist_ok=True)
    values = {s: {k: v if isinstance(v, list) else make(v) for k, v in arrays.items()} for s, arrays in sets.items()}
    if dict_:
        save(values, d + "/split_dict.pt", how, protocol)
    else:
        for s, v in values.items():
            save(v, d + "/%s.pt" % s, how, protocol)


def as_text(name, sets, year=False):
    for s, arrays in sets.items():
        edge = arrays["edge"] if "edge" in arrays else np.stack([arrays["source_node"], arrays["target_node"]], 1)
        text("%s.%s" % (name, s), np.concatenate([edge, arrays["year"][:, None]], 1) if year else edge)
        for key in "edge_neg", "target_node_neg":
            if key in arrays:
                text("%s.neg.%s" % (name, s), arrays[key])


every = pairs(330, 1)
cut = {"train": every[:250], "valid": every[250:280], "test": every[280:]}
year = {"train": rng.integers(1990, 2010, 250), "valid": np.full(30, 2010), "test": np.full(50, 2011)}
collab = {s: {"edge": cut[s], "weight": np.ones(len(cut[s]), np.int64), "year": year[s]} for s in SETS}
for s, n in ("valid", 90), ("test", 100):
    collab[s]["edge_neg"] = rng.integers(0, N, (n, 2))
for name, how in ("collab", {}), ("collab4", {"how": "legacy", "protocol": 4}), ("collabdict", {"dict_": True, "protocol": 4, "make": tensor}):
    graph(name, cut["train"], year=year["train"], weight=np.ones(250, np.int64))
    links(name, collab, **how)
as_text("collab", collab)
as_text("year", collab, True)

# The same authors again, in other years and in several sets.
again = {s: dict(v) for s, v in collab.items()}
again["valid"]["edge"] = np.concatenate([cut["valid"][:28], cut["train"][:1], cut["train"][1:2, ::-1]])
again["test"]["edge"] = np.concatenate([cut["test"][:49], cut["valid"][:1]])
graph("again", cut["train"], year=year["train"])
links("again", again)

citation = {s: {"source_node": cut[s][:, 0], "target_node": cut[s][:, 1]} for s in SETS}
for s in "valid", "test":
    citation[s]["target_node_neg"] = rng.integers(0, N, (len(cut[s]), 7))
graph("citation", cut["train"])
links("citation", citation, "legacy", 2)
as_text("citation", citation)

vessel = {s: {"edge": cut[s].astype("i4"), "edge_neg": rng.integers(0, N, (40, 2)).astype("i4")} for s in SETS}
os.makedirs("vessel/raw", exist_ok=True)
np.savez_compressed("vessel/raw/data.npz", edge_index=cut["train"].T, num_nodes_list=np.array([N]), num_edges_list=np.array([250]))
links("vessel", vessel, "pickle", 4, split="spatial")
as_text("vessel", vessel)

# Made from the descriptions of ogbl-wikikg2 (one edge type with reltype) and ogbl-biokg (an edge type for each relation); not OGB's files.
kg = {s: {"head": cut[s][:, 0], "relation": cut[s][:, 0] % 3, "tail": cut[s][:, 1]} for s in SETS}
for s in "valid", "test":
    kg[s].update(head_neg=rng.integers(0, N, (len(cut[s]), 5)), tail_neg=rng.integers(0, N, (len(cut[s]), 6)))
graph("kg", cut["train"], reltype=cut["train"][:, :1] % 3)
links("kg", kg, "legacy", 2)
for s in SETS:
    text("kg." + s, cut[s])
    if s != "train":
        text("kg.neg." + s, kg[s]["tail_neg"])

TYPES, COUNT = [("drug", "treats", "disease"), ("drug", "hurts", "disease"), ("disease", "like", "disease")], {"disease": 9, "drug": 12}
text("bio/raw/num-node-dict.csv", [list(COUNT), list(COUNT.values())])
text("bio/raw/triplet-type-list.csv", [TYPES[k] for k in (2, 1, 0)])
bio = {s: {key: [] for key in ("head", "relation", "tail", "head_type", "tail_type", "head_neg", "tail_neg")} for s in SETS}
rows = {s: [] for s in SETS}
for k, (head, name, tail) in enumerate(TYPES):
    at = rng.permutation(COUNT[head] * COUNT[tail])[:40]
    for i, (h, t) in enumerate(zip(at // COUNT[tail], at % COUNT[tail])):
        rows["train" if i < 25 else "valid" if i < 31 else "test"].append((k, h, t))
for s in SETS:
    for k, h, t in rng.permutation(rows[s]).tolist():
        negatives = rng.integers(0, COUNT[TYPES[k][0]], 4).tolist(), rng.integers(0, COUNT[TYPES[k][2]], 4).tolist()
        for key, value in zip(bio[s], (h, k, t, TYPES[k][0], TYPES[k][2], *negatives)):
            bio[s][key].append(value)
        text_of = "bio.%s.%s" % (TYPES[k][1], s), "bio.%s.neg.%s" % (TYPES[k][1], s)
        for path, row in zip(text_of, ((h, t), negatives[1])):
            with open(path, "a") as f:
                f.write(",".join(map(str, row)) + "\n")
    for key, value in bio[s].items():
        bio[s][key] = value if key.endswith("type") else np.array(value)
    if s == "train":
        del bio[s]["head_neg"], bio[s]["tail_neg"]
for k, triple in enumerate(TYPES):
    own = bio["train"]["relation"] == k
    edges = np.stack([bio["train"]["head"][own], bio["train"]["tail"][own]], 1)
    d = "bio/raw/relations/" + "___".join(triple)
    text(d + "/edge.csv", edges)
    text(d + "/num-edge-list.csv", [len(edges)])
    text(d + "/edge_reltype.csv", [k] * len(edges))
links("bio", bio, "zip", 4, split="random")
nodes = {s: np.arange(5) + i * 5 for i, s in enumerate(SETS)}
graph("nodes", cut["train"])
os.makedirs("nodes/split/time")
save(nodes, "nodes/split/time/split_dict.pt")
graph("two", cut["train"])
links("two", collab)
links("two", collab, split="other")


def bad(name, message, drop=(), **changed):
    sets = {s: {k: v for k, v in arrays.items() if k not in drop} for s, arrays in collab.items()}
    sets["valid"].update(changed)
    for how in "zip", "pickle":
        links("bad/%s-%s" % (name, how), sets, how)
        text("bad/%s-%s.txt" % (name, how), [message])


valid = cut["valid"]
bad("range", "valid.pt: links: row 3: '60' is out of range: there are fewer nodes of type 'node'", edge=np.where(np.arange(60).reshape(30, 2) == 4, 60, valid))
bad("negative", "valid.pt: links: row 1: '-1' is not the id of a node", edge=-np.ones_like(valid))
bad("width", "valid.pt: links: rows of 3: expected a head and a tail", edge=np.zeros((4, 3), np.int64))
bad("across", "valid.pt: links: rows of 30: expected a head and a tail", edge=valid.T)
bad("cube", "valid.pt: edge: expected ids of nodes, of one or two dimensions", edge=np.zeros((4, 2, 1), np.int64))
bad("mask", "valid.pt: edge: expected ids of nodes, of one or two dimensions", edge=valid > 3)
bad("fraction", "valid.pt: edge: element 1 is not a whole number", edge=valid + 0.5)
bad("empty", "valid.pt: links: no links in it", edge=valid[:0])
bad("negatives", "valid.pt: negatives: row 1: '61' is out of range", edge_neg=np.full((3, 2), 61))
bad("wide", "valid.pt: negatives: rows of 3: expected a head and a tail", edge_neg=np.zeros((3, 3), np.int64))
bad("keys", "train.pt: source_node: is missing, and so is edge", ("edge",))
bad("system", "system", edge=System())
for arrays in collab.values():
    arrays["source_node"], arrays["target_node"] = arrays["edge"].T
bad("rows", "valid.pt: target_node: 29 rows, but 30 links", ("edge",), target_node=valid[:29, 1])
bad("candidates", "valid.pt: negatives: 29 rows of candidates, and set valid has 30 links", ("edge_neg",), target_node_neg=np.zeros((29, 4), np.int64))
del collab["valid"]["target_node"]
bad("half", "valid.pt: target_node: is missing", ("edge",))
