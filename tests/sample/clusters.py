#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""clusters.py STORE STREAM MANY: has each batch all nodes of MANY partitions (the last of an epoch may have fewer), its seeds first,
and all edges of the store among them - those that stay in a partition, if the batches are disjoint? Has an epoch each partition
once, and all seeds? The batches have edge ids."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
import gnb


def edges_of(parts, key):
    """Source, destination and id of all edges of a type; and the number of the partition of each destination."""
    first, out = 0, []
    for p, x in enumerate(parts):
        ptr = x["edge/%s/indptr" % key].astype("i8")
        n = len(ptr) - 1
        dst = np.repeat(np.arange(first, first + n), np.diff(ptr))
        out.append((x["edge/%s/indices" % key].astype("i8"), dst, x["edge/%s/id" % key].astype("i8")))
        first += n
    return [np.concatenate(c) for c in zip(*out)]


def check_batch(header, parts, sizes, seeds, batch, stats):
    s = header["sampling"]
    names = [x["name"] for x in header["schema"]["node_types"]]
    begin = {t: np.concatenate([[0], np.cumsum(sizes[t])]) for t in names}
    own = {t: np.searchsorted(begin[t], batch["nodes/" + t], "right") - 1 for t in names}
    chosen = sorted(set(np.concatenate(list(own.values())).tolist()))
    for t in names:
        want = np.concatenate([np.arange(begin[t][p], begin[t][p + 1]) for p in chosen])
        assert sorted(batch["nodes/" + t]) == want.tolist(), "other nodes than those of its partitions"
        if s.get("disjoint"):
            trees = {p: set(batch["tree/" + t][own[t] == p]) for p in chosen}
            assert all(len(x) <= 1 for x in trees.values()), "a partition in two trees"
    t = s["seed_type"]
    n = int(batch["counts/" + t][0])
    split = int(batch["key"][2])
    mine = batch["nodes/" + t][:n]
    assert sorted(mine) == sorted(seeds[split] & set(batch["nodes/" + t].tolist())), "other seeds"
    assert int(batch["seeds"][0]) == n, "seeds of all ranks"
    for e in header["schema"]["edge_types"]:
        key = "%s/%s/%s" % (e["src"], e["rel"], e["dst"])
        src, dst, ids = edges_of(parts, key)
        keep = np.isin(src, batch["nodes/" + e["src"]]) & np.isin(dst, batch["nodes/" + e["dst"]])
        if s.get("disjoint"):
            keep &= np.searchsorted(begin[e["src"]], src, "right") == np.searchsorted(begin[e["dst"]], dst, "right")
        want = sorted(zip(src[keep], dst[keep], ids[keep]))
        ptr = batch.get("hop/1/%s/indptr" % key)
        rows = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
        got = sorted(zip(batch["nodes/" + e["src"]][batch["hop/1/%s/indices" % key]].astype("i8"), batch["nodes/" + e["dst"]][rows].astype("i8"),
                         batch["hop/1/%s/id" % key].astype("i8")))
        assert got == want, "other edges"
        stats["edges"] += len(got)
    return chosen


def main(store, stream, many):
    _, parts = gnb.read_store(store)
    header, batches = gnb.read_stream(stream)
    names = [x["name"] for x in header["schema"]["node_types"]]
    keys = {t: next("edge/%s/%s/%s/indptr" % (e["src"], e["rel"], e["dst"]) for e in header["schema"]["edge_types"] if e["dst"] == t) for t in names}
    sizes = {t: [len(p[keys[t]]) - 1 for p in parts] for t in names}
    seeds = [set(np.fromstring(open("set.%d" % i).read(), "i8", sep=" ").tolist()) for i in range(len(header["sampling"]["splits"]))]
    stats, seen = {"edges": 0, "across": 0}, {}
    for batch in batches:
        chosen = check_batch(header, parts, sizes, seeds, batch, stats)
        epoch = seen.setdefault((int(batch["key"][0]), int(batch["key"][2])), [])
        assert len(chosen) == min(int(many), len(parts) - len(epoch)), "too few or too many partitions"
        epoch += chosen
    orders = set(tuple(x) for (_, split), x in seen.items() if not split)
    assert all(sorted(x) == list(range(len(parts))) for x in seen.values()), "a partition is missing, or there twice"
    print(len(seen), "sets in all epochs,", stats["edges"], "edges,", len(orders), "orders of partitions")
    assert stats["edges"] > 100 and (len(orders) > 1) == (header["sampling"]["shuffle"] and int(many) < len(parts))


main(*sys.argv[1:])
