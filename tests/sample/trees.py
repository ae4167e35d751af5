#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""trees.py A [B]: do the edges of the batches of A stay in their trees, and do trees share no entry? Has the tree of a seed in B the
edges that it has in A, where it has the same place in a batch of the same step?"""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
import gnb


def edges(header, batch):
    """By tree: the edges of each hop and type, as pairs of ids, in a multiset."""
    out = {}
    for e in header["schema"]["edge_types"]:
        key = "%s/%s/%s" % (e["src"], e["rel"], e["dst"])
        for hop in range(len(header["sampling"]["fanout"])):
            ptr = batch.get("hop/%d/%s/indptr" % (hop, key))
            if ptr is None:
                continue
            new = header["sampling"]["frontier"] == "new" and hop
            rows = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr)) + (int(batch["counts/" + e["dst"]][hop - 1]) if new else 0)
            src = batch["hop/%d/%s/indices" % (hop, key)]
            tree = batch["tree/" + e["dst"]][rows]
            assert (tree == batch["tree/" + e["src"]][src]).all(), "an edge leads to another tree"
            for t, u, v in zip(tree, batch["nodes/" + e["src"]][src], batch["nodes/" + e["dst"]][rows]):
                out.setdefault(int(t), []).append((hop, key, int(u), int(v)))
    return {t: sorted(x) for t, x in out.items()}


def main(a, b=None):
    header, batches = gnb.read_stream(a)
    for batch in batches:
        edges(header, batch)
        for t in (x["name"] for x in header["schema"]["node_types"]):
            entry = batch["tree/" + t].astype("u8") << np.uint64(32) | batch["nodes/" + t]
            assert len(set(entry)) == len(entry), "a node is twice in a tree"
            n = int(batch["counts/" + t][0])
            assert (batch["tree/" + t][:n] == np.arange(n)).all(), "trees of seeds"
    both = 0
    if b:
        other, there = gnb.read_stream(b)
        for x, y in zip(batches, there):
            mine, theirs = edges(header, x), edges(other, y)
            both += len(mine.keys() & theirs.keys())
            assert all(mine[t] == theirs[t] for t in mine.keys() & theirs.keys()), "other edges"
    print(len(batches), "batches,", both, "trees in both")


main(*sys.argv[1:])
