#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""induced.py STORE STREAM SAMPLED: has each batch of STREAM the nodes of the same batch of SAMPLED, which was sampled without
--induced, and of the store's edges all that lead from one of its nodes to another, of the same tree and time, if the rule
takes them? The store has one partition, and the batches of STREAM have edge ids."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
import gnb


def entries(batch, t):
    """Each node of a type with its tree and its time."""
    n = len(batch["nodes/" + t])
    none = [0] * n
    return list(zip(batch["nodes/" + t].tolist(), list(batch.get("tree/" + t, none)), list(batch.get("time/" + t, none))))


def taken(sampling, store, e, key, time):
    """Which edges of a type may be picked at a time."""
    may = np.ones(len(store["edge/%s/indices" % key]), bool)
    if sampling.get("weight"):
        may &= store["edge/%s/%s" % (key, sampling["weight"])] > 0
    rule = sampling.get("time")
    if rule:
        t = store["edge/%s/%s" % (key, e["order"])]
        may &= t <= time if rule["rule"] == "le" else t < time
        if "window" in rule:
            may &= t >= time - t.dtype.type(rule["window"])
    return may


def wanted(sampling, store, batch, e, key):
    """By destination: the ids of its edges, in their order, and the local numbers of their sources."""
    number = {x: i for i, x in enumerate(entries(batch, e["src"]))}
    ptr, src = store["edge/%s/indptr" % key], store["edge/%s/indices" % key]
    may = {}
    for node, tree, time in entries(batch, e["dst"]):
        if time not in may:
            may[time] = taken(sampling, store, e, key, time)
        ids = [i for i in range(int(ptr[node]), int(ptr[node + 1])) if may[time][i] and (int(src[i]), tree, time) in number]
        yield ids, [number[int(src[i]), tree, time] for i in ids]


def check_batch(header, store, batch, sampled):
    s, edges, last = header["sampling"], 0, len(header["sampling"]["fanout"]) - 1
    for t in (x["name"] for x in header["schema"]["node_types"]):
        assert entries(batch, t) == entries(sampled, t), "other nodes"
        assert (batch["counts/" + t][:-1] == sampled["counts/" + t]).all() and batch["counts/" + t][-1] == batch["counts/" + t][-2], "counts"
    for i, e in enumerate(header["schema"]["edge_types"]):
        key = "%s/%s/%s" % (e["src"], e["rel"], e["dst"])
        for hop in range(last):
            assert "hop/%d/%s/indptr" % (hop, key) not in batch, "edges along which nodes were found"
        if not s["fanout"][last][i]:
            assert not any(n.startswith("hop/%d/%s/" % (last, key)) for n in batch), "edges that are not sampled"
            continue
        if not len(batch["nodes/" + e["dst"]]):
            continue
        name = "hop/%d/%s/" % (last, key)
        ptr = batch[name + "indptr"]
        assert len(ptr) == len(batch["nodes/" + e["dst"]]) + 1, "rows"
        for row, (ids, sources) in enumerate(wanted(s, store, batch, e, key)):
            part = slice(int(ptr[row]), int(ptr[row + 1]))
            assert list(batch[name + "id"][part]) == ids, "other edges"
            assert list(batch[name + "indices"][part]) == sources, "other sources"
            edges += len(ids)
    return edges


def main(store, path, sampled):
    _, parts = gnb.read_store(store)
    header, batches = gnb.read_stream(path)
    _, before = gnb.read_stream(sampled)
    assert len(batches) == len(before), "batches"
    edges = sum(check_batch(header, parts[0], *pair) for pair in zip(batches, before))
    print(len(batches), "batches,", edges, "edges")
    assert edges > 50, "next to nothing was there"


main(*sys.argv[1:])
