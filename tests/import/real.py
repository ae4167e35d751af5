# SPDX-License-Identifier: Apache-2.0
"""Reads public data sets in another way than gnn-import and compares. usage: real.py DATA-DIRECTORY NAME STORE"""
import gzip
import io
import os
import sys
import tarfile
import zipfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "interop"))
import gnb


def same(a, b):
    b = np.asarray(b).astype(a.dtype)
    assert a.shape == b.shape and a.tobytes() == b.tobytes()


def edges_are(part, key, src, dst, time=None):
    """The in-edges of each node in input order, or in that of time; returns the order of the input edges."""
    n = len(part["edge/%s/indptr" % key]) - 1
    order = np.argsort(dst, kind="stable") if time is None else np.lexsort((time, dst))
    same(part["edge/%s/indptr" % key], np.concatenate([[0], np.cumsum(np.bincount(dst, minlength=n))]))
    same(part["edge/%s/indices" % key], np.asarray(src)[order])
    return order


def table(data, sep=","):
    return np.array([[float(v) for v in line.split(sep)] for line in gzip.decompress(data).decode().split()])


def cora(path, part):
    z = zipfile.ZipFile(path)
    e = table(z.read("cora/raw/edge.csv.gz")).astype(int)
    edges_are(part, "node/to/node", e[:, 0], e[:, 1])
    same(part["node/node/x"], table(z.read("cora/raw/node-feat.csv.gz")))
    same(part["node/node/y"], table(z.read("cora/raw/node-label.csv.gz"))[:, 0])
    for s in ("train", "valid", "test"):
        same(part["split/planetoid/" + s], table(z.read("cora/split/planetoid/%s.csv.gz" % s))[:, 0])


def computers(path, part):
    z = zipfile.ZipFile(path)
    a = np.load(io.BytesIO(z.read("amazon-computers/raw/data.npz")))
    edges_are(part, "node/to/node", *a["edge_index"])
    same(part["node/node/x"], a["node_feat"])
    b = np.load(io.BytesIO(z.read("amazon-computers/raw/node-label.npz")))
    same(part["node/node/y"], b["node_label"][:, 0])
    assert [len(part["split/random/" + s]) for s in ("train", "valid", "test")] == [8251, 2750, 2751]


def acm(path, part):
    z = zipfile.ZipFile(path)
    for s, r, d in (("paper", "paper_author", "author"), ("author", "author_paper", "paper"),
                    ("paper", "paper_subject", "subject"), ("subject", "subject_paper", "paper")):
        e = table(z.read("acm/raw/relations/%s___%s___%s/edge.csv.gz" % (s, r, d))).astype(int)
        edges_are(part, "%s/%s/%s" % (s, r, d), e[:, 0], e[:, 1])
    for t in ("paper", "author"):
        same(part["node/%s/x" % t], table(z.read("acm/raw/node-feat/%s/node-feat.csv.gz" % t)))
    same(part["node/paper/y"], table(z.read("acm/raw/node-label/paper/node-label.csv.gz"))[:, 0])
    same(part["split/random/train"], table(z.read("acm/split/random/paper/train.csv.gz"))[:, 0])


def tolokers(path, part):
    a = np.load(path)
    both = np.empty((2 * len(a["edges"]), 2), int)
    both[0::2], both[1::2] = a["edges"], a["edges"][:, ::-1]
    edges_are(part, "node/to/node", both[:, 0], both[:, 1])
    same(part["node/node/x"], a["node_features"])
    same(part["node/node/y"], a["node_labels"])
    for k in range(10):
        for s, m in (("train", "train_masks"), ("valid", "val_masks"), ("test", "test_masks")):
            same(part["split/%d/%s" % (k, s)], np.nonzero(a[m][k])[0])


def bitcoin(path, part):
    rows = [line.split(",") for line in open(path).read().split()[1:]]
    src, dst = (np.array([int(r[k]) for r in rows]) for k in (0, 1))
    keys = np.unique(np.concatenate([src, dst]))
    same(part["node/node/key"], keys)
    time = np.array([float(r[3]) for r in rows])
    o = edges_are(part, "node/to/node", np.searchsorted(keys, src), np.searchsorted(keys, dst), time)
    same(part["edge/node/to/node/weight"], np.array([float(r[2]) for r in rows], np.float32)[o])
    same(part["edge/node/to/node/time"], time[o])


def notredame(path, part):
    e = np.array([line.split() for line in gzip.open(path, "rt") if line[0] != "#"], int)
    edges_are(part, "node/to/node", e[:, 0], e[:, 1])


def metis(path, part, ncon):
    rows = [[int(v) for v in line.split()] for line in open(path) if line[0] != "%"][1:]
    same(part["edge/node/to/node/indptr"], np.concatenate([[0], np.cumsum([len(r) - ncon for r in rows])]))
    same(part["edge/node/to/node/indices"], np.concatenate([np.array(r[ncon:]) for r in rows]) - 1)
    if ncon:
        same(part["node/node/weight"], [r[:ncon] for r in rows])


def wn18rr(path, part):
    t, want = tarfile.open(path), {}
    for k, name in enumerate(("train.txt", "valid.txt", "test.txt")):
        for line in t.extractfile(name).read().decode().split("\n"):
            if line:
                h, r, x = line.split("\t")
                want.setdefault(r, []).append((h, x, k))
    text, at = part["node/node/name"].tobytes(), part["node/node/name_offsets"].astype(int)
    words = [text[a:b].decode() for a, b in zip(at, at[1:])]
    assert len(want) == 11 and len(set(words)) == len(words) == 40943
    for r, triples in want.items():
        key = "edge/node/%s/node/" % r
        dst = np.repeat(np.arange(len(words)), np.diff(part[key + "indptr"].astype(int)))
        got = [(words[s], words[d], int(k)) for s, d, k in zip(part[key + "indices"], dst, part[key + "set"])]
        assert sorted(got) == sorted(triples)


DATA = {"cora": ("cora.zip", cora), "amazon-computers": ("amazon-computers.zip", computers), "acm": ("acm.zip", acm),
        "tolokers": ("tolokers.npz", tolokers), "bitcoin-otc": ("bitcoin-otc.csv", bitcoin),
        "web-NotreDame": ("web-NotreDame.txt.gz", notredame), "WN18RR": ("WN18RR.tar.gz", wn18rr),
        "4elt": ("4elt.graph", lambda p, s: metis(p, s, 0)), "test": ("test.mgraph", lambda p, s: metis(p, s, 2))}
file, compare = DATA[sys.argv[2]]
compare(os.path.join(sys.argv[1], file), gnb.read_store(sys.argv[3])[1][0])
