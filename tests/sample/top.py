#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""top.py STORE STREAM FIELD [LEAST]: has each destination the in-edges with the largest values of the field, ties in the order of the
store, of those that its time allows? The store has one partition, and the batches have edge ids."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
import gnb
from times import eligible, rows_of


def wanted(sampling, store, key, order, field, node, time, fanout):
    """Edges that a destination takes, in order; or, if there is no choice, all in the order of the store."""
    ptr = store["edge/%s/indptr" % key]
    may = np.arange(int(ptr[node]), int(ptr[node + 1]))
    if time is not None:
        may = eligible(sampling, store, key, order, node, time)
    if fanout < 0 or len(may) <= fanout:
        return may
    return may[np.argsort(-store["edge/%s/%s" % (key, field)][may].astype("f8"), kind="stable")][:fanout]


def main(path, stream, field, least=21):
    _, parts = gnb.read_store(path)
    header, batches = gnb.read_stream(stream)
    s, chosen, typed, store = header["sampling"], 0, 0, parts[0]
    for batch in batches:
        for i, e in enumerate(header["schema"]["edge_types"]):
            key = "%s/%s/%s" % (e["src"], e["rel"], e["dst"])
            ids = store.get("edge/%s/%s" % (key, field))
            for hop in range(len(s["fanout"])):
                for row, part in rows_of(header, batch, hop, e):
                    time = batch["time/" + e["dst"]][row] if "time" in s else None
                    picks, node = batch["hop/%d/%s/id" % (hop, key)][part].astype("i8"), int(batch["nodes/" + e["dst"]][row])
                    k = s["fanout"][hop][i]
                    if ids is None:
                        typed += 1
                        continue
                    want = wanted(s, store, key, e.get("order"), field, node, time, k)
                    assert picks.tolist() == want.tolist(), (hop, node, picks, want)
                    chosen += len(want) == k
    print("%d destinations had a choice; %d rows of types without the field" % (chosen, typed))
    assert chosen >= int(least), "next to none had a choice"


if __name__ == "__main__":
    main(*sys.argv[1:])
