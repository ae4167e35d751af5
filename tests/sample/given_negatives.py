#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""given_negatives.py STREAM SET=LINKS=NEGATIVES...: have the batches of these sets the links of text files, and the negatives that
are given for them? Rows of two are pairs, each of which is there once; other rows are tails for each link. Of a stream of ids as
they were before partitioning (--original-ids)."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
import gnb


def main(stream, *sets):
    with open(stream, "rb") as f:
        frames = list(gnb.read_frames(f))
    sampling = frames[0][1]["sampling"]
    src, _, dst = sampling["links"]["type"].split("/")
    names = [s["name"] for s in sampling["splits"]]
    batches = [dict(t) for kind, t in frames if kind == gnb.BATCH]
    for name, links, negatives in (s.split("=") for s in sets):
        split = names.index(name)
        links, negatives = (np.load(f) if f.endswith(".npy") else np.loadtxt(f, "i8", delimiter=",", ndmin=2) for f in (links, negatives))
        own = [b for b in batches if b["key"][2] == split]
        order, pairs, found = [], [], []
        for b in own:
            heads, tails = b["nodes/" + src], b["nodes/" + dst]
            order += b["pair/input"].tolist()
            pairs += np.stack([heads[b["pair"][:, 0]], tails[b["pair"][:, 1]]], 1).tolist()
            n, back = len(b["pair"]), b["negative"]
            found += np.stack([heads[back[:, 0]], tails[back[:, 1]]], 1).tolist()
            said = sampling["splits"][split]["negatives"]
            if negatives.shape[1] != 2:
                assert said["each"] == negatives.shape[1] and len(back) == n * said["each"], "the number of a batch"
        assert sorted(order) == list(range(len(links))), "each link once"
        assert np.array_equal(np.array(pairs), links[order]), "the links of " + name
        if negatives.shape[1] == 2:
            assert said["shared"] == len(negatives) and np.array_equal(np.array(found), negatives), "the negatives of " + name
        else:
            k = negatives.shape[1]
            want = np.stack([np.repeat(links[order, 0], k), negatives[order].ravel()], 1)
            assert np.array_equal(np.array(found), want), "the candidates of " + name


main(*sys.argv[1:])
