#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Splits of links, looked at with NumPy.

link_splits.py check SPLIT BASE TYPE SHARES [SUPERVISION [MESSAGES]]    is it a split of BASE's links by pair, or, SHARES being time:..., by time?
link_splits.py given SPLIT BASE TYPE SET=FILE...             has it the files' links, of numbers from 0, in their order, and all other edges?
link_splits.py dump SPLIT                                    sets and messages in original ids
"""
import gzip
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
import gnb


class Graph:
    def __init__(self, path):
        self.meta, self.parts = gnb.read_store(path)
        self.schema = self.meta["schema"]
        self.orig = {}
        for t in self.schema["node_types"]:
            own = [p.get("node/%s/id" % t["name"]) for p in self.parts]
            self.orig[t["name"]] = np.arange(t["count"]) if own[0] is None else np.concatenate(own)

    def etype(self, key):
        return next((t for t in self.schema["edge_types"] if "%(src)s/%(rel)s/%(dst)s" % t == key), None)

    def edges(self, key):
        """Heads, tails and fields in original order, and whether the ids that are stored say the same."""
        t, rows, first = self.etype(key), {}, 0
        names = [f["name"] for f in t["fields"]]
        for p in self.parts:
            ptr, ind, ids = (p.get("edge/%s/%s" % (key, what)) for what in ("indptr", "indices", "id"))
            for v in range(len(ptr) - 1):
                at = slice(int(ptr[v]), int(ptr[v + 1]))
                rows[int(self.orig[t["dst"]][first + v])] = (
                    self.orig[t["src"]][ind[at]], None if ids is None else ids[at], {n: p["edge/%s/%s" % (key, n)][at] for n in names})
            first += len(ptr) - 1
        tails = np.concatenate([np.full(len(rows[v][0]), v) for v in sorted(rows)])
        heads = np.concatenate([rows[v][0] for v in sorted(rows)]).astype("i8")
        if all(r[1] is not None for r in rows.values()):
            assert (np.concatenate([rows[v][1] for v in sorted(rows)]) == np.arange(len(heads))).all(), "ids of edges"
        assert len(heads) == t["count"], "the number of edges"
        return heads, tails, {n: np.concatenate([rows[v][2][n] for v in sorted(rows)]) for n in names}

    def links(self, name):
        s = next((s for s in self.schema["splits"] if (s["split"], s["set"]) == ("links", name)), None)
        if s is None:
            return None, None
        at, t = "split/links/" + name, self.etype(s["links"])
        ends = np.concatenate([p[at] for p in self.parts])
        order = np.concatenate([p[at + "/order"] for p in self.parts]) if at + "/order" in self.parts[0] else np.arange(len(ends))
        times = np.concatenate([p[at + "/time"] for p in self.parts]) if "time" in s else np.zeros(len(ends))
        assert sorted(order.tolist()) == list(range(s["count"])), "the order of a set"
        place = np.argsort(order)
        return np.stack([self.orig[t["src"]][ends[:, 0]], self.orig[t["dst"]][ends[:, 1]]], 1)[place].astype("i8"), times[place]


def pairs(head, tail, one):
    return np.stack([np.minimum(head, tail), np.maximum(head, tail)] if one else [head, tail], 1)


def as_set(a):
    return set(map(tuple, a.tolist()))


def check(split, base, key, shares, supervision="0", carrying="train"):
    g, b, carrying = Graph(split), Graph(base), carrying.split(",")
    assert g.meta["base"]["identity"] == b.meta["identity"]
    by_time = shares.startswith("time:")
    share = np.array([float(x) for x in shares.replace("time:", "").split("/")])
    share /= 100 if share.sum() > 2 else 1
    one = key.split("/")[0] == key.split("/")[2]
    head, tail, fields = b.edges(key)
    order = b.etype(key).get("order")
    time = fields[order] if order else np.zeros(len(head))
    both = as_set(np.stack([head, tail, time if by_time else 0 * time], 1))
    symmetric = one and all((v, u, t) in both for u, v, t in both)
    sets = [g.links(name) for name in ("train", "valid", "test")]
    member = [set() if s is None else as_set(np.column_stack([s, t])) for s, t in sets]
    # What the links are: the first of equal ones, in the order of edges.
    seen, links = set(), []
    for u, v, t in zip(head.tolist(), tail.tolist(), time.tolist()):
        k = (u, v) + ((t,) if by_time else ())
        if k not in seen and not (symmetric and (v, u) + k[2:] in seen):
            links.append((u, v, t))
        seen.add(k)
    links = np.array(links)
    got = [np.column_stack([s, t]) for s, t in sets if s is not None]
    place = {tuple(x): i for i, x in enumerate(links.tolist())}
    for rows in got:
        at = [place[tuple(x)] for x in rows.tolist()]
        assert at == sorted(set(at)), "a set is not in the order of edges"
    messages = np.stack(g.edges(key)[:2], 1)
    if by_time:
        q1, q2 = np.quantile(links[:, 2], [share[0], share[:2].sum()])
        want = [links[links[:, 2] <= q1], links[(links[:, 2] > q1) & (links[:, 2] <= q2)], links[links[:, 2] > q2]]
        assert [as_set(w) for w in want] == member, "a set by time"
        until = {"train": q1, "valid": q2, "test": np.inf}[carrying[-1]]  # named in this order
        keep = time <= until
    else:
        of = [set() if s is None else as_set(pairs(s[:, 0], s[:, 1], one)) for s, _ in sets]
        everything = as_set(pairs(head, tail, one))
        n, bound = len(everything), [0, share[0], share[:2].sum() if share[2] else 1]
        bound = [int(n * x + 0.5) for x in bound] + [n]
        want = np.diff(bound).tolist()
        apart = int(want[0] * float(supervision) + 0.5)
        assert [len(x) for x in of] == [apart or want[0], *want[1:]], ("shares", [len(x) for x in of], want)
        assert not (of[0] & of[1] or of[0] & of[2] or of[1] & of[2]), "a pair in two sets"
        outside = set().union(*(of[i] for i, name in enumerate(("train", "valid", "test")) if (apart if not i else name not in carrying)))
        carried = as_set(pairs(messages[:, 0], messages[:, 1], one))
        assert carried == everything - outside, "pairs of messages"
        if not apart:
            assert set().union(*of) == everything and sum(map(len, member)) == len(links), "a link is in no set"
        keep = np.array([tuple(p) not in outside for p in pairs(head, tail, one).tolist()], bool)
    assert (messages == np.stack([head, tail], 1)[keep]).all(), "messages"
    for name, values in g.edges(key)[2].items():
        assert (values == fields[name][keep]).all(), "field " + name
    told = [s["set"] for s in g.schema["splits"] if s.get("messages")]
    assert {"train", *told} == set(carrying), "what the schema says of messages"
    rev = gnb.promised.reverse_key(b.schema["edge_types"], key)
    if rev:
        rh, rt, rf = b.edges(rev)
        if by_time:
            stay = rf[order] <= until
        else:
            stay = np.array([tuple(p) not in outside for p in pairs(rt, rh, one).tolist()], bool)
        assert (np.stack(g.edges(rev)[:2], 1) == np.stack([rh, rt], 1)[stay]).all() and not stay.all(), "reverses"
    for t in b.schema["edge_types"]:
        other = "%(src)s/%(rel)s/%(dst)s" % t
        if other not in (key, rev):
            assert all((x == y).all() for x, y in zip(b.edges(other)[:2], g.edges(other)[:2])), "edges of another type"


def dump(split):
    g = Graph(split)
    for name in ("train", "valid", "test"):
        s, t = g.links(name)
        print(name, None if s is None else np.column_stack([s, t]).tolist())
    for t in g.schema["edge_types"]:
        print(t["rel"], np.stack(g.edges("%(src)s/%(rel)s/%(dst)s" % t)[:2], 1).tolist())


def rows_of(path):
    if path.endswith(".npy"):
        return np.load(path).astype("f8")
    return np.array([[float(x) for x in line.replace(",", " ").split()] for line in (gzip.open(path, "rt") if path.endswith(".gz") else open(path)) if line.strip()])


def given(split, base, key, *files):
    g, b = Graph(split), Graph(base)
    head, tail, fields = b.edges(key)
    order = b.etype(key).get("order")
    time = fields[order].astype("f8") if order else np.zeros(len(head))
    edges = np.column_stack([head, tail, time])
    symmetric = key.split("/")[0] == key.split("/")[2] and {(v, u, t) for u, v, t in as_set(edges)} == as_set(edges)
    listed = {name: rows_of(path) for name, path in (f.split("=", 1) for f in files)}
    outside = set()
    for name in ("train", "valid", "test"):
        ends, times = g.links(name)
        if name in listed:
            want = listed[name] if order else np.column_stack([listed[name], np.zeros(len(listed[name]))])
            assert np.array_equal(np.column_stack([ends, times]), want), "the links of " + name
            outside |= as_set(want) if name != "train" else set()
        elif name != "train":
            assert ends is None, name
    outside |= {(v, u, t) for u, v, t in outside} if symmetric else set()
    keep = np.array([tuple(x) not in outside for x in edges.tolist()])
    left = np.column_stack([*g.edges(key)[:2], g.edges(key)[2][order] if order else np.zeros(g.etype(key)["count"])])
    assert np.array_equal(left, edges[keep]), "the edges that are left"
    rev = gnb.promised.reverse_key(b.schema["edge_types"], key)
    if rev:
        back = np.stack(b.edges(rev)[:2], 1)
        keep = np.array([(v, u, 0.0) not in outside for u, v in back.tolist()])
        assert np.array_equal(np.stack(g.edges(rev)[:2], 1), back[keep]), "the reverses that are left"
    if "train" not in listed:
        ends, times = g.links("train")
        want = list(dict.fromkeys((u, v, t) for u, v, t in left.tolist() if not symmetric or u >= v))
        assert sorted(map(tuple, np.column_stack([ends, times]).tolist())) == sorted(want), "the links that are left"


if __name__ == "__main__":
    {"check": check, "given": given, "dump": dump}[sys.argv[1]](*sys.argv[2:])
