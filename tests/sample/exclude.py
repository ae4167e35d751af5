#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Batches of links that exclude these, looked at with NumPy.

exclude.py check STORE STREAM ALL    is no edge excluded that is in a batch, has each node as many as it may pick of the others, and picks
                                     the same as in ALL, batches of the same recipe that exclude none, where none is excluded?
exclude.py law STORE STREAM          do the nodes that have excluded edges pick all others, told by source and parallel edge, as often?
"""
import os
import sys
from collections import Counter

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
import gnb


class Graph:
    """In-edges of each type in original ids: sources, times, weights and what decides who is taken, by destination."""

    def __init__(self, store, header):
        meta, parts = gnb.read_store(store)
        sampling = header["sampling"]
        self.types = {"%s/%s/%s" % (t["src"], t["rel"], t["dst"]): t for t in meta["schema"]["edge_types"]}
        self.orig = {}
        for t in meta["schema"]["node_types"]:
            own = [p.get("node/%s/id" % t["name"]) for p in parts]
            self.orig[t["name"]] = np.arange(t["count"]) if own[0] is None else np.concatenate(own)
        self.rows = {}
        for key, t in self.types.items():
            first, rows = 0, self.rows.setdefault(key, {})
            for p in parts:
                ptr, ind = p["edge/%s/indptr" % key].astype("i8"), p["edge/%s/indices" % key]
                fields = t.get("order") if "time" in sampling else None, sampling.get("weight"), sampling.get("top")
                field = [p.get("edge/%s/%s" % (key, f)) if f else None for f in fields]
                for v in range(len(ptr) - 1):
                    at = slice(ptr[v], ptr[v + 1])
                    rows[int(self.orig[t["dst"]][first + v])] = (self.orig[t["src"]][ind[at]], *(None if f is None else f[at] for f in field))
                first += len(ptr) - 1


def entries(header, graph, batch, t):
    ids = batch["nodes/" + t]
    ids = ids if header["sampling"]["original_ids"] else graph.orig[t][ids]
    return ids, *(batch[what + "/" + t] if what + "/" + t in batch else np.zeros(len(ids), "i8") for what in ("tree", "time"))


def excluded(header, graph, batch):
    """By edge type, the pairs that are excluded, with times."""
    rule = header["sampling"]["links"]
    src, _, dst = rule["type"].split("/")
    (heads, _, _), (tails, _, times) = (entries(header, graph, batch, t) for t in (src, dst))
    pair = batch["pair"]
    links = list(zip(heads[pair[:, 0]].tolist(), tails[pair[:, 1]].tolist(), times[pair[:, 1]].tolist()))
    out = {key: set() for key in graph.types}
    if rule["exclude"] == "none":
        return out
    out[rule["type"]].update(links)
    if rule["exclude"] == "reverse":
        back = {(v, u, w) for u, v, w in links}
        if src == dst:
            out[rule["type"]] |= back
        rev = gnb.promised.reverse_key(graph.types.values(), rule["type"])
        if rev:
            out[rev] |= back
    return out


def eligible(sampling, row, time, out, v):
    """Which edges of a row may be picked, and which are excluded among these."""
    src, when, weight, _ = row
    may = np.ones(len(src), bool)
    rule = sampling.get("time")
    if rule:
        may &= when <= time if rule["rule"] == "le" else when < time
        if "window" in rule:
            may &= when >= time - float(rule["window"])
    if weight is not None:
        may &= weight > 0
    if not out:
        return may, np.zeros(len(src), bool)
    at = when.tolist() if rule else [0] * len(src)
    gone = np.fromiter(((u, v, w) in out for u, w in zip(src.tolist(), at)), bool, len(src))
    return may & ~gone, may & gone


def blocks(header, graph, batch):
    """Each block: its hop and type, and for each row its entry, and the sources that it picked, in order."""
    sampling = header["sampling"]
    hops = max(len(f) for f in [batch["counts/" + t["name"]] for t in header["schema"]["node_types"]]) - 1
    for hop in range(hops):
        for key, t in graph.types.items():
            ptr = batch.get("hop/%d/%s/indptr" % (hop, key))
            if ptr is None:
                continue
            counts = batch["counts/" + t["dst"]]
            first = int(counts[hop - 1]) if sampling["frontier"] == "new" and hop and not sampling.get("induced") else 0
            dst, src = (entries(header, graph, batch, t[end]) for end in ("dst", "src"))
            picked = src[0][batch["hop/%d/%s/indices" % (hop, key)]].tolist()
            yield hop, key, {tuple(int(c[first + i]) for c in dst): picked[int(ptr[i]):int(ptr[i + 1])] for i in range(len(ptr) - 1)}, src


def check(store, stream, full):
    header, batches = gnb.read_stream(stream)
    graph, sampling = Graph(store, header), header["sampling"]
    others = gnb.read_stream(full)[1]
    rows = some = same = 0
    for b, o in zip(batches, others):
        out = excluded(header, graph, b)
        pairs = {key: {} for key in out}
        for key in out:
            for x in out[key]:
                pairs[key].setdefault(x[1], set()).add(x)
        before = {(hop, key): x for hop, key, x, _ in blocks(header, graph, o)}
        for hop, key, block, src in blocks(header, graph, b):
            k = sampling["fanout"][hop][list(graph.types).index(key)]
            among = Counter(zip(*(c.tolist() for c in src))) if sampling.get("induced") else None
            for (v, tree, time), picked in block.items():
                row = graph.rows[key][v]
                may, gone = eligible(sampling, row, time, pairs[key].get(v), v)
                left, got = Counter(row[0][may].tolist()), Counter(picked)
                rows += 1
                some += bool(gone.any())
                if among is not None:
                    want = Counter({u: n for u, n in left.items() if (u, tree, time) in among})
                    assert got == want, "edges that are not those among the nodes: %s, not %s" % (got, want)
                    continue
                n = int(may.sum())
                want = (k if n else 0) if sampling["replace"] and k > 0 else n if k < 0 else min(k, n)
                assert len(picked) == want, "%d picks of %d that are eligible, and not %d" % (len(picked), n, want)
                assert set(got) <= set(left), "an edge that is excluded, or not eligible"
                assert sampling["replace"] or all(got[u] <= left[u] for u in got), "an edge twice"
                if sampling.get("time", {}).get("latest") and k > 0:
                    assert picked == row[0][may][-k:].tolist(), "not the latest"
                if row[3] is not None and 0 < k < n:
                    best = np.sort(np.argsort(-row[3][may], kind="stable")[:k])
                    assert Counter(row[0][may][best].tolist()) == got, "not those with the largest values"
                if not gone.any() and (v, tree, time) in before.get((hop, key), {}):
                    assert picked == before[hop, key][v, tree, time], "other picks where nothing is excluded"
                    same += 1
    assert rows and some, "nothing was excluded"
    print("%d rows, %d with excluded edges, %d compared" % (rows, some, same))


def chances(src, weight, pairs):
    """How probable a pick of each source is; or, with `pairs`, that of two by successive draws, in any order."""
    out, w = Counter(), weight / weight.sum()
    for i, u in enumerate(src.tolist()):
        if not pairs:
            out[u] += w[i]
        for j, v in enumerate(src.tolist() if pairs else []):
            out[tuple(sorted((u, v)))] += w[i] * w[j] / (1 - w[i]) if i != j else 0
    return Counter({x: p for x, p in out.items() if p})


def law(store, stream):
    """All batches have the same links. Two picks by weight, without replacement, are looked at together."""
    header, batches = gnb.read_stream(stream)
    graph, sampling = Graph(store, header), header["sampling"]
    pairs = "weight" in sampling and not sampling["replace"] and sampling["fanout"][0] == [2]
    count, cells = {}, {}
    for b in batches:
        out = excluded(header, graph, b)
        for hop, key, block, _ in blocks(header, graph, b):
            for (v, tree, time), picked in block.items():
                row = graph.rows[key][v]
                may, gone = eligible(sampling, row, time, out[key], v)
                if not gone.any():
                    continue
                if (key, v) not in cells:
                    cells[key, v] = chances(row[0][may], row[2][may] if row[2] is not None else np.ones(may.sum()), pairs)
                count.setdefault((key, v), Counter()).update([tuple(sorted(picked))] if pairs else picked)
    assert count, "nothing was excluded"
    for where, got in count.items():
        n, chance = sum(got.values()), cells[where]
        chi = sum((got[x] - n * p)**2 / (n * p) for x, p in chance.items())
        free = len(chance) - 1
        limit = free + 5 * np.sqrt(2 * free) + 8
        print("%s of %d: %d cells, %d picks, chi-square %.1f, limit %.1f" % (*where, free + 1, n, chi, limit))
        assert n * min(chance.values()) >= 10 and set(got) == set(chance) and chi < limit


if __name__ == "__main__":
    {"check": check, "law": law}[sys.argv[1]](*sys.argv[2:])
