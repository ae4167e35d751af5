#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""times.py STORE STREAM: are the picks of temporal batches those that the rule allows, and as many? Looks at each in-edge of
each entry. The store has one partition, and the batches have edge ids."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
import gnb


def rows_of(header, batch, hop, e):
    key = "%s/%s/%s" % (e["src"], e["rel"], e["dst"])
    ptr = batch.get("hop/%d/%s/indptr" % (hop, key))
    if ptr is None:
        return
    first = int(batch["counts/" + e["dst"]][hop - 1]) if header["sampling"]["frontier"] == "new" and hop else 0
    for row in range(len(ptr) - 1):
        yield first + row, slice(int(ptr[row]), int(ptr[row + 1]))


def eligible(sampling, store, key, order, node, time):
    """The in-edges of a node that may be picked at a time."""
    rule = sampling["time"]
    ptr = store["edge/%s/indptr" % key]
    at = np.arange(int(ptr[node]), int(ptr[node + 1]))
    t = store["edge/%s/%s" % (key, order)][at]
    may = t <= time if rule["rule"] == "le" else t < time
    if "window" in rule:
        may &= t >= time - t.dtype.type(rule["window"])
    if sampling.get("weight"):
        may &= store["edge/%s/%s" % (key, sampling["weight"])][at] > 0
    return at[may]


def check_row(sampling, fanout, may, picks, sources, indices):
    """Picks are ids of edges, and sources the nodes that the batch says they come from."""
    most = len(may) if fanout < 0 else fanout
    assert set(picks) <= set(may), "an edge that may not be picked"
    if sampling["replace"] and fanout >= 0:
        assert len(picks) == (most if len(may) else 0), "too few or too many"
    else:
        assert len(set(picks)) == len(picks) == min(most, len(may)), "too few, too many, or one twice"
    if sampling["time"]["latest"]:
        assert set(picks) == set(may[len(may) - len(picks):]), "not the latest"
    assert (indices[picks] == sources).all(), "another source"


def check_batch(header, store, batch):
    s, picked, could = header["sampling"], 0, 0
    for t in (x["name"] for x in header["schema"]["node_types"]):
        entry = list(zip(batch["nodes/" + t], batch["time/" + t], batch.get("tree/" + t, [0] * len(batch["nodes/" + t]))))
        assert len(set(entry)) == len(entry), "an entry is there twice"
    for i, e in enumerate(header["schema"]["edge_types"]):
        key = "%s/%s/%s" % (e["src"], e["rel"], e["dst"])
        for hop in range(len(s["fanout"])):
            for row, part in rows_of(header, batch, hop, e):
                src = batch["hop/%d/%s/indices" % (hop, key)][part]
                time = batch["time/" + e["dst"]][row]
                picks = batch["hop/%d/%s/id" % (hop, key)][part].astype("i8")
                own = store["edge/%s/%s" % (key, e["order"])][picks] if s["time"].get("hop_time") == "edge" else time
                assert (batch["time/" + e["src"]][src] == own).all(), "a source of another time"
                may = eligible(s, store, key, e["order"], int(batch["nodes/" + e["dst"]][row]), time)
                check_row(s, s["fanout"][hop][i], may, picks,
                          batch["nodes/" + e["src"]][src], store["edge/%s/indices" % key])
                picked += len(src)
                could += len(may)
    return picked, could


def main(store, stream):
    _, parts = gnb.read_store(store)
    header, batches = gnb.read_stream(stream)
    sums = [check_batch(header, parts[0], batch) for batch in batches]
    picked, could = (sum(x) for x in zip(*sums))
    print("%d batches, %d edges of %d that could be picked" % (len(sums), picked, could))
    assert picked > 20, "next to nothing was picked"


if __name__ == "__main__":
    main(*sys.argv[1:])
