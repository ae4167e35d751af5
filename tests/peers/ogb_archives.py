# SPDX-License-Identifier: Apache-2.0
"""ogb_archives.py: data sets that OGB's DatasetSaver and torch.save write, read by OGB's own loaders and by gnn-import: every edge, field,
split, link and negative. One line a case: ok or "not ok"|name|what was seen."""
import contextlib
import io
import os
import shutil
import subprocess
import sys
import warnings

import numpy as np
import torch

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "..", "interop"), os.path.join(here, "..", "import")]
warnings.simplefilter("ignore")
with contextlib.redirect_stdout(io.StringIO()):
    from ogb.io import DatasetSaver
    from ogb.linkproppred import LinkPropPredDataset
    from ogb.nodeproppred import NodePropPredDataset
import link_splits

rng = np.random.default_rng(3)
N = {"author": 70, "paper": 130}
EDGES = {("author", "writes", "paper"): np.stack([rng.integers(0, 70, 400), rng.integers(0, 130, 400)]), ("paper", "cites", "paper"): rng.integers(0, 130, (2, 500))}
ORDER = rng.permutation(130)
IDS = {"train": ORDER[:80], "valid": ORDER[80:100], "test": ORDER[100:]}


def run(*args):
    r = subprocess.run(["gnn-import", "--no-provenance", "--force", *args], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    return r.stderr


def rows_of(g, field):
    return np.concatenate([p[field] for p in g.parts])


def same_edges(g, key, edge_index, fields):
    """Edges with their fields as a multiset, since in-edges are kept by tail."""
    heads, tails, ours = g.edges(key)
    cols = [heads, tails] + [ours[name].reshape(len(heads), -1).astype("f8") for name in fields]
    want = [edge_index[0], edge_index[1]] + [v.reshape(edge_index.shape[1], -1).astype("f8") for v in fields.values()]
    a, b = (np.column_stack(x).astype("f8") for x in (cols, want))
    assert np.array_equal(a[np.lexsort(a.T)], b[np.lexsort(b.T)]), "edges of " + key


def same_split(g, split, want):
    for name, ids in want.items():
        ours = rows_of(g, "split/%s/%s" % (split, name))
        assert np.array_equal(np.sort(ours), np.sort(ids)), "set " + name


def saver(name, hetero, graph, split, labels=None):
    shutil.rmtree("submission_" + name.replace("-", "_"), ignore_errors=True)
    s = DatasetSaver(name, hetero, 1)
    s.save_graph_list([graph])
    if labels is not None:
        s.save_target_labels(labels)
    s.save_split(split, "time")
    os.makedirs("mapping", exist_ok=True)
    with open("mapping/README.md", "w") as f:
        f.write("none\n")
    s.copy_mapping_dir("mapping")
    if labels is not None:
        s.save_task_info("multiclass classification", "acc", 5)
    else:
        s.save_task_info("link prediction", "hits@50")
    meta = s.get_meta_dict()
    s.zip()
    return meta, "submission_%s/%s.zip" % (name.replace("-", "_"), name.split("-")[1])


def quiet(fn, *args, **kw):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return fn(*args, **kw)


def typed_nodes():
    graph = {"num_nodes_dict": N, "edge_index_dict": EDGES, "node_feat_dict": {"paper": rng.random((130, 4), dtype=np.float32)},
             "node_year": {"paper": rng.integers(1990, 2020, (130, 1))}, "edge_reltype": {k: np.full((e.shape[1], 1), i) for i, (k, e) in enumerate(EDGES.items())}}
    meta, path = quiet(saver, "ogbn-typed", True, graph, {s: {"paper": i} for s, i in IDS.items()}, {"paper": rng.integers(0, 5, (130, 1))})
    run("--directed", "-o", "S", path)
    d = quiet(NodePropPredDataset, "ogbn-typed", meta_dict=meta)
    theirs, labels = d[0]
    g = link_splits.Graph("S")
    for (s, r, t), e in theirs["edge_index_dict"].items():
        same_edges(g, "%s/%s/%s" % (s, r, t), e, {"reltype": theirs["edge_reltype"][s, r, t]})
    assert np.array_equal(rows_of(g, "node/paper/x"), theirs["node_feat_dict"]["paper"]), "features"
    assert np.array_equal(rows_of(g, "node/paper/year"), theirs["node_year"]["paper"][:, 0]), "years"
    assert np.array_equal(rows_of(g, "node/paper/y"), labels["paper"][:, 0]), "labels"
    same_split(g, "time", {s: v["paper"] for s, v in d.get_idx_split().items()})


def nodes():
    graph = {"num_nodes": 130, "edge_index": EDGES["paper", "cites", "paper"], "node_feat": rng.random((130, 3), dtype=np.float32), "edge_feat": rng.random((500, 2), dtype=np.float32)}
    meta, path = quiet(saver, "ogbn-plain", False, graph, IDS, rng.integers(0, 5, (130, 1)))
    run("--directed", "-o", "S", path)
    d = quiet(NodePropPredDataset, "ogbn-plain", meta_dict=meta)
    theirs, labels = d[0]
    g = link_splits.Graph("S")
    same_edges(g, "node/to/node", theirs["edge_index"], {"x": theirs["edge_feat"]})
    assert np.array_equal(rows_of(g, "node/node/x"), theirs["node_feat"]) and np.array_equal(rows_of(g, "node/node/y"), labels[:, 0])
    same_split(g, "time", d.get_idx_split())


def text(path, rows):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    np.savetxt(path, rows, "%d", delimiter=",")


def link_sets(each):
    a, b = np.triu_indices(130, 1)
    some = rng.permutation(len(a))[:600]
    every = np.stack([a[some], b[some]], 1)
    cut = {"train": every[:500], "valid": every[500:540], "test": every[540:]}
    if each:
        return cut, {s: {"source_node": e[:, 0], "target_node": e[:, 1], **({} if s == "train" else {"target_node_neg": rng.integers(0, 130, (len(e), 9))})} for s, e in cut.items()}
    return cut, {s: {"edge": e, "weight": np.ones(len(e), np.int64), "year": rng.integers(2000, 2018, len(e)), **({} if s == "train" else {"edge_neg": rng.integers(0, 130, (150, 2))})}
                 for s, e in cut.items()}


def same_links(ogb, path, *options):
    """gnn-import's split of the archive beside what OGB's loader gives."""
    said = run(*options, "-o", "G", path)
    assert "--split-links node/to/node=ogb:%s" % path in said, said
    run("--split-links", "node/to/node=ogb:" + path, "-o", "S", "G")
    g, theirs = link_splits.Graph("S"), ogb.get_edge_split()
    for name, arrays in theirs.items():
        ours, _ = g.links(name)
        arrays = {k: np.asarray(v) for k, v in arrays.items()}
        want = arrays["edge"] if "edge" in arrays else np.stack([arrays["source_node"], arrays["target_node"]], 1)
        assert np.array_equal(ours, want), "links of " + name
        if "edge_neg" in arrays and name != "train":
            assert np.array_equal(rows_of(g, "split/negatives/" + name), arrays["edge_neg"]), "negatives of " + name
        if "target_node_neg" in arrays:
            given = rows_of(g, "split/candidates/" + name).reshape(*arrays["target_node_neg"].shape, 2)
            assert np.array_equal(given[:, :, 1], arrays["target_node_neg"]) and (given[:, :, 0] == arrays["source_node"][:, None]).all(), "candidates of " + name
    same_edges(link_splits.Graph("G"), "node/to/node", ogb[0]["edge_index"], {})


def links(each, how, undirected):
    """As OGB's CSV archives have them, with a file for each set."""
    cut, sets = link_sets(each)
    shutil.rmtree("links", ignore_errors=True)
    text("links/raw/edge.csv.gz", cut["train"])
    text("links/raw/num-node-list.csv.gz", [130])
    text("links/raw/num-edge-list.csv.gz", [500])
    os.makedirs("links/split/time")
    os.makedirs("links/processed")
    make = torch.from_numpy if how.pop("tensors", False) else np.array
    with open("links/RELEASE_v1.txt", "w") as f:
        f.write("1\n")
    for name, arrays in sets.items():
        torch.save({k: make(v) for k, v in arrays.items()}, "links/split/time/%s.pt" % name, **how)
    meta = {"dir_path": "links", "download_name": "links", "version": 1, "task type": "link prediction", "eval metric": "mrr", "is hetero": "False", "binary": "False",
            "add_inverse_edge": str(undirected), "additional node files": "None", "additional edge files": "None", "split": "time"}
    same_links(quiet(LinkPropPredDataset, "ogbl-links", meta_dict=meta), "links", "-u" if undirected else "--directed")


def saved_links():
    cut, sets = link_sets(False)
    meta, path = quiet(saver, "ogbl-saved", False, {"num_nodes": 130, "edge_index": cut["train"].T}, sets)
    same_links(quiet(LinkPropPredDataset, "ogbl-saved", meta_dict=meta), path, "--directed")


old = {"_use_new_zipfile_serialization": False}
for case, fn, args in [("typed nodes of DatasetSaver", typed_nodes, ()), ("nodes of DatasetSaver", nodes, ()), ("links of DatasetSaver", saved_links, ()),
                       ("shared negatives", links, (False, {}, True)), ("shared negatives, legacy", links, (False, dict(old), True)),
                       ("shared negatives, legacy, protocol 4", links, (False, dict(old, pickle_protocol=4), False)), ("tensors", links, (False, {"tensors": True}, True)),
                       ("negatives of each", links, (True, {"pickle_protocol": 4}, False)), ("negatives of each, legacy", links, (True, dict(old), False))]:
    try:
        fn(*args)
        print("ok|gnn-import and OGB agree: %s|" % case)
    except Exception as e:  # pylint: disable=broad-except
        print("not ok|gnn-import and OGB agree: %s|%s" % (case, repr(e)[:300]))
