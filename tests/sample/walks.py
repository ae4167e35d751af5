#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Random walks, looked at with NumPy.

walks.py list STORE STREAM...        a line for each walk: step of the epoch, original ids of the nodes; sorted
walks.py pairs STORE WALKS PAIRS     are PAIRS those of the walks of WALKS?
walks.py law STORE STREAM [WEIGHT]   do walks of at most 4 steps have the law that they should have? By a chi-square test of whole walks, with cells of at least 10."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
import gnb

END = 0xFFFFFFFF


def path_types(header):
    """Edge type of each step, in turn."""
    types = header["schema"]["edge_types"]
    return [types[next(i for i, f in enumerate(hop) if f)] for hop in header["sampling"]["fanout"]]


def originals(store):
    header, parts = gnb.read_store(store)
    ids = {}
    for t in header["schema"]["node_types"]:
        own = [p.get("node/%s/id" % t["name"]) for p in parts]
        ids[t["name"]] = np.arange(t["count"]) if own[0] is None else np.concatenate(own)
    return ids


def walks_of(header, batch, orig):
    """Original ids, or -1 after the end."""
    path, walk = path_types(header), batch["walk"]
    out = np.full(walk.shape, -1, "i8")
    for s in range(walk.shape[1]):
        t = path[(s - 1) % len(path)]["src"] if s else path[0]["dst"]
        ids = batch["nodes/" + t] if header["sampling"]["original_ids"] else orig[t][batch["nodes/" + t]]
        on = walk[:, s] != END
        out[on, s] = ids[walk[on, s]]
    return out


def listed(store, *paths):
    orig = originals(store)
    lines = []
    for path in paths:
        header, batches = gnb.read_stream(path)
        for b in batches:
            lines += ["%d/%d %s" % (b["key"][0], b["key"][1], " ".join(map(str, w))) for w in walks_of(header, b, orig).tolist()]
    print("\n".join(sorted(lines)))


def pairs(store, walks, made):
    header, of_walks = gnb.read_stream(walks)
    wanted, of_pairs = gnb.read_stream(made)
    window = wanted["sampling"]["walks"]["window"]
    t = path_types(header)[0]["dst"]
    for a, b in zip(of_walks, of_pairs, strict=True):
        want = []
        for w in a["walk"].tolist():
            w = [a["nodes/" + t][x] for x in w if x != END]
            want += [(x, y) for i, x in enumerate(w) for j, y in enumerate(w) if i != j and abs(i - j) <= window]
        got = b["nodes/" + t][b["pair"]]
        assert [tuple(p) for p in got.tolist()] == want, "other pairs"


def steps_from(graph, walks, walk):
    """Where a walk can go next, with probabilities; nowhere if it ends."""
    ptr, src, weight = graph
    row = [e for e in range(int(ptr[walk[-1]]), int(ptr[walk[-1] + 1])) if weight[e] > 0]
    before = walk[-2] if len(walk) > 1 else None
    p, q, restart = walks.get("p", 1), walks.get("q", 1), walks.get("restart", 0) if len(walk) > 1 else 0
    near = src[int(ptr[before]):int(ptr[before + 1])] if before is not None and (p, q) != (1, 1) else ()
    bias = [weight[e] * (1 if before is None or (p, q) == (1, 1) else 1 / p if src[e] == before else 1 if src[e] in near else 1 / q)
            for e in row]
    for e, w in zip(row, bias):
        yield int(src[e]), w / sum(bias) * (1 - restart)
    if row and restart:
        yield walk[0], restart


def law_of(graphs, walks, walk, chance, law):
    """Adds each walk that begins like this to a table of probabilities."""
    step = len(walk) - 1
    ends = True
    for node, q in steps_from(graphs[step % len(graphs)], walks, walk) if step < walks["length"] else ():
        law_of(graphs, walks, walk + (node,), chance * q, law)
        ends = False
    if ends:
        law[walk] = law.get(walk, 0) + chance


def graph_of(part, t, field):
    key = "edge/%(src)s/%(rel)s/%(dst)s/" % t
    src = part[key + "indices"]
    return part[key + "indptr"], src, part[key + field].astype("f8") if field else np.ones(len(src))


def law(store, path, weight=None):
    _, parts = gnb.read_store(store)
    header, batches = gnb.read_stream(path)
    graphs = [graph_of(parts[0], t, weight) for t in path_types(header)]
    walks = header["sampling"]["walks"]
    own = {t["name"]: np.arange(t["count"]) for t in header["schema"]["node_types"]}
    walked = np.concatenate([walks_of(header, b, own) for b in batches])
    seen = {tuple(v for v in x if v >= 0): n for x, n in zip(*(u.tolist() for u in np.unique(walked, axis=0, return_counts=True)))}
    starts = dict(zip(*(u.tolist() for u in np.unique(walked[:, 0], return_counts=True))))
    chi = cells = rest = want_rest = 0
    for s, n in starts.items():
        table = {}
        law_of(graphs, walks, (s,), 1.0, table)
        for x, q in table.items():
            got = seen.pop(x, 0)
            if n * q >= 10:
                chi, cells = chi + (got - n * q) ** 2 / (n * q), cells + 1
            else:
                rest, want_rest = rest + got, want_rest + n * q
    assert not seen, "a walk that cannot be"
    if want_rest >= 10:
        chi, cells = chi + (rest - want_rest) ** 2 / want_rest, cells + 1
    free = cells - len(starts)
    z = ((chi / free) ** (1 / 3) - (1 - 2 / (9 * free))) / (2 / (9 * free)) ** 0.5  # Wilson and Hilferty
    print("%d walks, chi-square %.1f of %d cells, %d degrees of freedom, %.2f sigma" % (sum(starts.values()), chi, cells, free, z))
    assert free > 20 and abs(z) < 3.3


{"list": listed, "pairs": pairs, "law": law}[sys.argv[1]](*sys.argv[2:])
