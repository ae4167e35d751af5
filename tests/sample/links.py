#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Batches of links, looked at with NumPy.

links.py check STORE STREAM [PAIRS]    do batches begin with the ends of their links, which are edges of the type or the pairs of a
                                       file, each once an epoch; have negatives the ends, trees, times and laws that they should have?
links.py list STORE STREAM             the links and negatives of each batch in original ids
links.py law STORE STREAM              have negatives the law that they should have, uniform or by weight, over what they may be? By
                                       a chi-square test for each positive
"""
import math
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
import gnb


class Graph:
    """The links' type in original ids: edges in the order of the unpartitioned store."""

    def __init__(self, store, header):
        meta, parts = gnb.read_store(store)
        key = header["sampling"]["links"]["type"]
        self.src, _, self.dst = key.split("/")
        self.count = {t["name"]: t["count"] for t in meta["schema"]["node_types"]}
        self.orig = {}
        for t in (self.src, self.dst):
            own = [p.get("node/%s/id" % t) for p in parts]
            self.orig[t] = np.arange(self.count[t]) if own[0] is None else np.concatenate(own)
        etype = next(t for t in meta["schema"]["edge_types"] if "%s/%s/%s" % (t["src"], t["rel"], t["dst"]) == key)
        rows, first = {}, 0
        for p in parts:
            ptr, ind = p["edge/%s/indptr" % key], p["edge/%s/indices" % key]
            time = p.get("edge/%s/%s" % (key, etype.get("order")))
            for v in range(len(ptr) - 1):
                at = slice(int(ptr[v]), int(ptr[v + 1]))
                rows[int(self.orig[self.dst][first + v])] = (self.orig[self.src][ind[at]], None if time is None else time[at])
            first += len(ptr) - 1
        self.edges = np.array([(u, v) for v in sorted(rows) for u in rows[v][0]], "i8").reshape(-1, 2)
        self.times = None if any(r[1] is None for r in rows.values()) else np.concatenate([rows[v][1] for v in sorted(rows)])
        self.known = set(map(tuple, self.edges.tolist()))
        self.parts = parts
        self.symmetric = self.src == self.dst and all((v, u) in self.known for u, v in self.known)
        self.sets = {}
        for s in meta["schema"]["splits"]:
            if s.get("links") == key and s["split"] not in ("negatives", "candidates"):
                at = "split/%(split)s/%(set)s" % s
                ends, order, time = (np.concatenate([p[at + x] for p in parts]) if at + x in parts[0] else None for x in ("", "/order", "/time"))
                place = np.arange(len(ends)) if order is None else np.argsort(order)
                ends = np.stack([self.orig[self.src][ends[:, 0]], self.orig[self.dst][ends[:, 1]]], 1).astype("i8")[place]
                self.sets[s["set"]] = self.sets[s["split"] + "/" + s["set"]] = ends, None if time is None else time[place]
        base = meta.get("base")
        self.base = base and Graph(os.path.join(store, base["path"]), header)

    def there(self, end):
        """From when on nodes at an end are there; None: always."""
        t = (self.src, self.dst)[end]
        if "node/%s/time" % t not in self.parts[0]:
            return None
        time = np.concatenate([p["node/%s/time" % t] for p in self.parts])
        return time[np.argsort(self.orig[t])]

    def weights(self, rule, end):
        """What nodes at an end are drawn in proportion to, as integers."""
        t = (self.src, self.dst)[end]
        by = rule.get("weight")
        by = by.split(",")[end] if by and "," in by else by
        if by in (None, "uniform"):
            return [1] * self.count[t]
        if by.split(":")[0] == "degree":
            quarters = int(4 * float((by + ":1").split(":")[1]))
            degree = np.bincount(self.edges[:, end], minlength=self.count[t]).tolist()
            return [math.isqrt(math.isqrt(d**quarters << 32)) for d in degree]
        values = np.zeros(self.count[t])
        values[self.orig[t]] = np.concatenate([p["node/%s/%s" % (t, by)] for p in self.parts])
        return values.tolist()

    def forbidden(self, name, split):
        """Pairs that no strict negative of a set is."""
        evaluated = split or name in ("seeds", "valid", "test")
        names = self.sets if evaluated else [name] if name in self.sets else []
        pairs = {x for n in names for x in map(tuple, self.sets[n][0].tolist())}
        known = self.known | pairs | ({(v, u) for u, v in pairs} if self.symmetric else set())
        assert not (evaluated and self.base and known != self.base.known), "messages and sets are not all edges of the base"
        return known

    def listed(self, name, pairs):
        if name == "seeds":
            read = np.loadtxt(pairs, dtype="i8", ndmin=2)
            return read[:, :2], read[:, 2] if read.shape[1] > 2 else None
        return (self.edges, self.times) if name == "edges" else self.sets[name]


def roots(header, graph, batch, t):
    """What the batch begins with of a type: original ids, trees, times."""
    n = int(batch["counts/" + t][0])
    ids = batch["nodes/" + t][:n]
    ids = ids if header["sampling"]["original_ids"] else graph.orig[t][ids]
    return ids, *(batch[what + "/" + t][:n] if what + "/" + t in batch else np.zeros(n, "u4") for what in ("tree", "time"))


def ends(header, graph, batch, name):
    """Of each link of a column: head and tail, and their trees and times."""
    pair = batch[name]
    of = [roots(header, graph, batch, t) for t in (graph.src, graph.dst)]
    return [np.stack([of[k][what][pair[:, k]] for k in (0, 1)], 1) for what in range(3)]


def positives(rule, n, many):
    """Which positive each negative is of."""
    i = np.arange(many)
    return i % n if rule["negatives"].startswith("binary") else i // int(rule["negatives"].split(":")[1])


def check(store, stream, pairs=None):
    header, batches = gnb.read_stream(stream)
    graph, rule, sampling = Graph(store, header), header["sampling"]["links"], header["sampling"]
    splits = [(x["name"], *graph.listed(x["name"], pairs), graph.forbidden(x["name"], i)) for i, x in enumerate(sampling["splits"])]
    assert [x["seeds"] for x in sampling["splits"]] == [len(x[1]) for x in splits], "the header's number of links"
    seen, negative = {}, 0
    for b in batches:
        name, listed, times, known = splits[int(b["key"][2])]
        ids, tree, time = ends(header, graph, b, "pair")
        n = len(ids)
        assert int(b["seeds"][0]) == n and n, "the number of links"
        assert (ids == listed[b["pair/input"]]).all(), "a link is not the one at its position"
        seen.setdefault((int(b["key"][0]), name), []).append(b["pair/input"])
        used = {t: [] for t in (graph.src, graph.dst)}
        for k, t in enumerate((graph.src, graph.dst)):
            used[t].append(b["pair"][:, k])
        if sampling.get("disjoint"):
            assert (tree == np.arange(n)[:, None]).all(), "a link is in another tree"
        if "time" in sampling:
            assert (time == times[b["pair/input"]][:, None]).all(), "a link has another time"
        if "negatives" in rule:
            kind, amount = rule["negatives"].split(":")[:2]
            nid, ntree, ntime = ends(header, graph, b, "negative")
            assert len(nid) == int(np.ceil(n * float(amount))), "the number of negatives"
            of = positives(rule, n, len(nid))
            fixed = {"tail": 0, "head": 1, "both": None}[rule["end"]]
            assert fixed is None or (nid[:, fixed] == ids[of, fixed]).all(), "a negative of another positive"
            assert (ntree == tree[of]).all() and (ntime == time[of]).all(), "a negative in another tree, or of another time"
            for end in (0, 1) if "time" in sampling else ():
                there = graph.there(end)
                if there is not None and end != fixed:
                    assert (there[nid[:, end]] <= ntime[:, end]).all(), "a negative that is not there yet"
            if kind in ("joint", "in-batch") and "time" not in sampling:
                shared(rule, graph, ids, nid.reshape(n, -1, 2), known)
            if rule["strict"]:
                assert not any((u, v) in known for u, v in nid.tolist()), "a negative is an edge"
                assert graph.src != graph.dst or (nid[:, 0] != nid[:, 1]).all(), "a negative is a loop"
            negative += len(nid)
            for k, t in enumerate((graph.src, graph.dst)):
                used[t].append(b["negative"][:, k])
        for t in used:
            i, r, w = roots(header, graph, b, t)
            assert set(np.concatenate(used[t]).tolist()) == set(range(len(i))), "nodes to begin with that are no ends"
            order = np.lexsort((w, i, r)) if not sampling.get("time") else np.lexsort((i, r))
            same = (r[1:] == r[:-1]) & (i[1:] == i[:-1]) & (w[1:] == w[:-1])
            assert (np.diff(r[order].astype("i8")) >= 0).all() and (order == np.arange(len(order))).all() and not same.any(), "the order of nodes"
        for t in graph.count:
            assert t in used or int(b["counts/" + t][0]) == 0
    for epoch, at in seen.items():
        at = np.concatenate(at)
        assert len(np.unique(at)) == len(at), "a link twice in an epoch"
    assert "negatives" not in rule or negative, "no negatives"


def shared(rule, graph, ids, nid, known):
    """Nodes that negatives of several positives have: those of a group, or of the positives that follow; but where these may be no
    negatives, others."""
    kind, each, *group = rule["negatives"].split(":")
    n, end = len(ids), {"tail": 1, "head": 0}[rule["end"]]
    taken = 0

    def may(i, node):
        pair = tuple(node if k == end else int(ids[i, k]) for k in (0, 1))
        return not rule["strict"] or (pair not in known and (graph.src != graph.dst or pair[0] != pair[1]))

    for j in range(int(each)):
        drawn = nid[:, j, end]
        for first in range(0, n, int(group[0]) if group else n):
            of = range(first, min(n, first + int(group[0])) if group else n)
            if kind == "joint":
                assert any(all(drawn[i] == x or not may(i, x) for i in of) for x in drawn[of].tolist()), "no node of a group"
                taken += len(of) - len(set(drawn[of].tolist()))
        for i in range(n if kind == "in-batch" else 0):
            x = int(ids[(i + 1 + j) % n, end])
            if x != ids[i, end] and may(i, x):
                assert drawn[i] == x, "a negative of another link than the one that follows"
                taken += 1
    assert taken, "nothing is shared"


def show(store, stream):
    header, batches = gnb.read_stream(stream)
    graph = Graph(store, header)
    for b in batches:
        for name in ("pair", "negative"):
            if name in b:
                print(*b["key"][:3], name, *("%d-%d" % tuple(x) for x in ends(header, graph, b, name)[0].tolist()))


def law(store, stream):
    """All batches have the same positives, in order."""
    header, batches = gnb.read_stream(stream)
    graph, rule = Graph(store, header), header["sampling"]["links"]
    count = {}
    for b in batches:
        (ids, _, times), (nid, _, _) = (ends(header, graph, b, name) for name in ("pair", "negative"))
        for of, x in zip(positives(rule, len(ids), len(nid)).tolist(), map(tuple, nid.tolist())):
            cell = count.setdefault(of if rule["end"] != "both" else 0, {})
            cell[x] = cell.get(x, 0) + 1
    for of, cell in count.items():
        u, v = ids[of].tolist()
        heads, tails = list(range(graph.count[graph.src])), list(range(graph.count[graph.dst]))
        at = int(times[of, 0]) if "time" in header["sampling"] else None
        for end, nodes in ((0, heads), (1, tails)) if at is not None else ():
            if graph.there(end) is not None:
                nodes[:] = [x for x in nodes if graph.there(end)[x] <= at]
        may = [(a, b) for a in (heads if rule["end"] != "tail" else [u]) for b in (tails if rule["end"] != "head" else [v])]
        if rule["strict"]:
            may = [x for x in may if x not in graph.known and (graph.src != graph.dst or x[0] != x[1])]
        assert set(cell) <= set(may), "what may not be drawn"
        weigh = [graph.weights(rule, end) if rule["end"] in (name, "both") else None for end, name in enumerate(("head", "tail"))]
        w = {x: math.prod(weigh[end][x[end]] for end in (0, 1) if weigh[end]) for x in may}
        may = [x for x in may if w[x]]
        assert set(cell) <= set(may), "what has no weight"
        n, total = sum(cell.values()), sum(w[x] for x in may)
        expected = {x: n * w[x] / total for x in may}
        assert min(expected.values()) >= 10, "too few draws: %g" % min(expected.values())
        chi = sum((cell.get(x, 0) - expected[x]) ** 2 / expected[x] for x in may)
        free = len(may) - 1
        limit = free + 5 * np.sqrt(2 * free) + 8
        print("positive %d: %d cells, chi-square %.1f, limit %.1f" % (of, len(may), chi, limit))
        assert chi < limit


if __name__ == "__main__":
    {"check": check, "list": show, "law": law}[sys.argv[1]](*sys.argv[2:])
