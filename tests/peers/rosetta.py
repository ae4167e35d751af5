#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rosetta.py --make KIND...   writes the graphs for gnn-import (see graphs.py)
rosetta.py --have             prints which systems can be imported, and their versions
rosetta.py CASES              compares what gnn-sample picked with what other systems pick

A line of CASES has fields that are divided by |: SYSTEM, KIND, STREAM, SEEDS, WANT, NAME. SYSTEM is a function of systems.py, or none:
then gnn-sample is compared with reference() only, as in every case. WANT is
    same                  the same edges, as often
    set                   the same edges, however often
    more: CONDITION       further edges too, for all of which the Python expression holds: hop, weight, time, source_time, seed_time and
                          again, which is true for an edge that gnn-sample picked, too
    less: CONDITION       not some of the edges, for all of which it holds
    garbled               the same edges by their ids, but some from nodes that are not their sources
    raises: TEXT          no batch, but an error that says TEXT
After SYSTEM, +as_is keeps the times of seeds where a system has another rule, +is_sorted sets PyG's argument, and +all_types asks PyG for
all edges of all types.
It prints lines of verdict, name and what was compared, divided by |."""
import importlib
import os
import sys
from collections import Counter

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
import gnb
import graphs
import systems


def read_seeds(path, g, how):
    """(node, time) of each line; where the file has no times, those of the nodes."""
    with open(path) as f:
        lines = [line.split() for line in f]
    number = float if any("." in w for line in lines for w in line) else int
    own = g.time.get(how["seed_type"])
    if how.get("time"):
        return [(int(w[0]), number(w[1]) if len(w) > 1 else int(own[int(w[0])])) for w in lines]
    return [(int(w[0]), None) for w in lines]


def ours(g, header, batch):
    """The edges of a batch of gnn-sample, with the ids that edges have in the input."""
    how, edges = header["sampling"], []
    get = lambda name, t, v: batch[name + t][v].item() if name + t in batch else None
    for key in g.edges:
        k, stored = "/".join(key), g.stored(key)
        for hop in range(len(how["fanout"])):
            ptr = batch.get("hop/%d/%s/indptr" % (hop, k))
            if ptr is None:
                continue
            first = int(batch["counts/" + key[2]][hop - 1]) if how["frontier"] == "new" and hop and not how.get("induced") else 0
            for v in range(len(ptr) - 1):
                to = tuple(get(name, key[2], first + v) for name in ("tree/", "time/", "nodes/"))
                for at in range(int(ptr[v]), int(ptr[v + 1])):
                    src = batch["nodes/" + key[0]][batch["hop/%d/%s/indices" % (hop, k)][at]]
                    edges.append((hop, key, to, int(src), int(stored[batch["hop/%d/%s/id" % (hop, k)][at]])))
    return edges


def says(g, edge, mine):
    """What a condition may ask about an edge."""
    hop, key, (_, seed_time, _), src, i = edge
    e, born = g.edges[key], g.time.get(key[0])
    field = lambda name: e[name][i] if name in e else None
    return {"hop": hop, "weight": field("weight"), "time": field("time"), "source_time": None if born is None else born[src],
            "seed_time": seed_time, "again": edge in mine}


def without_tree(edges):
    return [(hop, key, (None, *to[1:]), src, i) for hop, key, to, src, i in edges]


def compare(g, mine, theirs, want):
    """Returns what is wrong, or None."""
    if want == "garbled":
        ids = [set(e[:3] + e[4:] for e in edges) for edges in (mine, theirs)]
        return None if ids[0] == ids[1] and any(src != g.edges[key]["src"][i] for _, key, _, src, i in theirs) else "not garbled as known"
    if want == "set":
        # Trees are compared only where both have them.
        mine, theirs = Counter(set(without_tree(mine))), Counter(set(without_tree(theirs)))
    alone = {"more": Counter(theirs) - Counter(mine), "less": Counter(mine) - Counter(theirs)}
    known, _, condition = want.partition(": ")
    if known in alone:
        odd, alone[known] = alone[known], {}
        if not odd:
            return "the known difference is gone"
        alone["known"] = [e for e in odd if not eval(condition, {}, says(g, e, mine))]
    for who, edges in alone.items():
        if edges:
            text = {"more": "the other system picks, but gnn-sample does not", "less": "gnn-sample picks, but the other system does not",
                    "known": "a difference of another kind"}[who]
            return "%s: %d edges, such as %s" % (text, len(edges), next(iter(edges)))
    return None


def run(system, kind, stream, seeds, want):
    """(verdict, what was seen)"""
    system, *flags = system.split("+")
    with open(stream, "rb") as f:
        frames = list(gnb.read_frames(f))
    header, batches = frames[0][1], [dict(t) for k, t in frames if k == gnb.BATCH]
    g, how = graphs.graph(kind), dict(header["sampling"])
    seeds = read_seeds(seeds, g, how)
    assert len(batches) == 1 and [(e["src"], e["rel"], e["dst"]) for e in header["schema"]["edge_types"]] == list(g.edges)
    mine = ours(g, header, batches[0])
    if Counter(mine) != Counter(graphs.reference(g, how, seeds)):
        return "not ok", "gnn-sample picks what its manual rules out"
    if system == "none":
        return "ok", "%d edges" % len(mine)
    try:
        theirs = getattr(systems, system)(graphs.graph(kind), {**how, **dict.fromkeys(flags, True)}, seeds)
    except systems.Lacks as e:
        return "skip", str(e)
    except Exception as e:
        text = " ".join(str(e).split())
        good = want.startswith("raises: ") and want[8:] in text
        return "ok" if good else "not ok", "%s: %s" % (type(e).__name__, text[:200])
    wrong = "no error any more" if want.startswith("raises: ") else compare(g, mine, theirs, want)
    return ("not ok" if wrong else "ok"), wrong or "%d edges, %d there" % (len(mine), len(theirs))


def have():
    for names in ({"PyG": "torch_geometric", "pyg-lib": "pyg_lib"}, {"DGL": "dgl", "GraphBolt": "dgl.graphbolt"}):
        found = []
        for name, module in names.items():
            try:
                found.append(("%s %s" % (name, getattr(importlib.import_module(module), "__version__", ""))).strip())
            except Exception:  # a library that does not fit the others, too
                break
        if found:
            print(" with ".join(found))


def main(first, *rest):
    if first == "--make":
        for kind in rest:
            graphs.write(graphs.graph(kind), kind)
    elif first == "--have":
        have()
    else:
        with open(first) as f:
            for line in f:
                *case, name = line.rstrip("\n").split("|")
                verdict, seen = run(*case)
                print(verdict, name, seen, sep="|", flush=True)


main(*sys.argv[1:])
