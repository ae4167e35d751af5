#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Leaks of links, counted with NumPy.

link_leaks.py count STORE STREAM REPORT    are the counts of gnn-inspect --leaks --json those of the batches?
link_leaks.py remove STORE STREAM TO       takes links and their reverses away from what was drawn
link_leaks.py plant KIND STORE STREAM TO   writes the stream with one leak of this kind, where there is none
link_leaks.py set STORE TO WHAT            writes a store in whose set of test links the first link is one that is in set train, that
                                           one reversed, or an edge that carries messages; prints how many edges then are links of sets
"""
import json
import os
import sys

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "..", "sample"), os.path.join(here, "..", "interop")]
import exclude
import gnb
import links
import roundtrip

KINDS = "link_edges", "reverse_edges", "short_ends", "true_negatives", "strayed_negatives"


def read(stream):
    """The header, and batches that can be changed."""
    with open(stream, "rb") as f:
        frames = list(gnb.read_frames(f))
    return frames[0][1], [dict((n, a.copy()) for n, a in t) for k, t in frames if k == gnb.BATCH]


def both_ways(header, graph):
    """The edge types with links, and with the reverses of links."""
    key = header["sampling"]["links"]["type"]
    src, _, dst = key.split("/")
    back = gnb.promised.reverse_key(graph.types.values(), key)
    return key, [back] * bool(back) + [key] * (src == dst)


def ends(header, graph, batch, column):
    """Of each row: head and tail, each with its tree and time."""
    src, _, dst = header["sampling"]["links"]["type"].split("/")
    heads, tails = (list(zip(*(c.tolist() for c in exclude.entries(header, graph, batch, t)))) for t in (src, dst))
    return [(heads[a], tails[b]) for a, b in batch[column].tolist()]


def count_rows(header, graph, batch, found):
    """Edges that are links or reverses of them, and rows that are too short."""
    sampling, temporal = header["sampling"], "time" in header["sampling"]
    src, _, dst = sampling["links"]["type"].split("/")
    positive = ends(header, graph, batch, "pair")
    forward, back = both_ways(header, graph)
    own = {key: set() for key in graph.types}
    rev = {key: set() for key in graph.types}
    for (u, tree, time), (v, _, _) in positive:
        own[forward].add((u, v, tree, time))
        for key in back:
            rev[key].add((v, u, tree, time))
    are_ends = {(src, x[0]) for x in positive} | {(dst, x[1]) for x in positive}
    out = exclude.excluded(header, graph, batch)
    gone = {}
    for key in out:
        for x in out[key]:
            gone.setdefault((key, x[1]), set()).add(x)
    for hop, key, block, sources in exclude.blocks(header, graph, batch):
        k, at = sampling["fanout"][hop][list(graph.types).index(key)], 0
        among = set(zip(*(c.tolist() for c in sources))) if sampling.get("induced") else None
        ids = batch.get("hop/%d/%s/id" % (hop, key))
        for (v, tree, time), picked in block.items():
            row = graph.rows[key][v]
            may, _ = exclude.eligible(sampling, row, time, None, v)
            for u in picked:
                if ids is not None:
                    edges = [int(ids[at]) - graph.first[key][v]]
                else:
                    edges = np.flatnonzero(row[0] == u)
                at += 1
                when = [(int(row[1][i]) if temporal else 0, may[i]) for i in edges]
                for leak, pairs in ("link_edges", own[key]), ("reverse_edges", own[key] | rev[key]):
                    are = [(u, v, tree, w if temporal else time) in pairs for w, _ in when]
                    if any(are) and not any(m and not a for (_, m), a in zip(when, are)):
                        found[leak] += 1
                        break
            if (graph.types[key]["dst"], (v, tree, time)) in are_ends:
                left = exclude.eligible(sampling, row, time, gone.get((key, v)), v)[0]
                n = sum((u, tree, time) in among for u in row[0][left].tolist()) if among is not None else int(left.sum())
                want = n if among is not None or k < 0 else (k if n else 0) if sampling["replace"] else min(k, n)
                found["short_ends"] += len(picked) < want


def count(store, stream, report):
    header, batches = read(stream)
    graph, known = exclude.Graph(store, header), links.Graph(store, header)
    graph.first = {key: dict(zip(sorted(rows), np.cumsum([0] + [len(rows[v][0]) for v in sorted(rows)]))) for key, rows in graph.rows.items()}
    found = dict.fromkeys(KINDS, 0)
    rule = header["sampling"]["links"]
    for b in batches:
        count_rows(header, graph, b, found)
        if "negative" not in b:
            continue
        split = int(b["key"][2])
        forbidden = known.forbidden(header["sampling"]["splits"][split]["name"], split)
        positive, how, each = ends(header, graph, b, "pair"), *rule["negatives"].split(":")[:2]
        for i, (u, v) in enumerate(ends(header, graph, b, "negative")):
            of = positive[i // int(each) if how != "binary" else i % len(positive)][1]
            found["true_negatives"] += (u[0], v[0]) in forbidden
            found["strayed_negatives"] += u[1:] != of[1:] or v[1:] != of[1:]
    with open(report) as f:
        said = json.load(f)
    got = {kind: said[kind]["count"] for kind in KINDS}
    assert got == found, "%s, and it should be %s" % (got, found)
    print(found)


def write(to, header, batches):
    with open(to, "wb") as f:
        gnb.write_frames(f, header, [list(x.items()) for x in batches])


def remove(store, stream, to):
    header, batches = read(stream)
    graph = exclude.Graph(store, header)
    for b in batches:
        rule = dict(header, sampling=dict(header["sampling"], links=dict(header["sampling"]["links"], exclude="reverse")))
        out = exclude.excluded(rule, graph, b)
        for hop, key, block, _ in exclude.blocks(header, graph, b):
            name = "hop/%d/%s/" % (hop, key)
            keep = [np.array([(u, v, 0) not in out[key] for u in picked], bool) for (v, _, _), picked in block.items()]
            b[name + "indices"] = b[name + "indices"][np.concatenate(keep)]
            b[name + "indptr"] = np.cumsum([0] + [k.sum() for k in keep], dtype="u4")
    write(to, header, batches)


def plant(kind, store, stream, to):
    header, batches = read(stream)
    sampling = header["sampling"]
    forward, back = both_ways(header, exclude.Graph(store, header))
    key = back[0] if kind == "reverse_edges" else forward
    pointers, sources = "hop/0/%s/indptr" % key, "hop/0/%s/indices" % key
    for b in batches:
        if kind == "true_negatives":
            b["negative"][0] = b["pair"][0]
            break
        if kind == "strayed_negatives":
            a, z = b["negative"][0].copy(), b["negative"][-1].copy()
            b["negative"][0], b["negative"][-1] = z, a
            break
        head, tail = b["pair"][0][::-1] if kind == "reverse_edges" else b["pair"][0]
        at, end = map(int, b[pointers][tail:tail + 2])
        if at == end or (kind == "short_ends" and end - at != sampling["fanout"][0][0]):
            continue
        if kind == "short_ends":
            b[sources] = np.delete(b[sources], at)
            b[pointers][tail + 1:] -= 1
        else:
            b[sources][at] = head
        break
    write(to, header, batches)


def edges_of(parts, key):
    """Sources and destinations of a type, in store ids."""
    out, first = [], 0
    for p in parts:
        pointers, sources = (p["edge/%s/%s" % (key, n)].tolist() for n in ("indptr", "indices"))
        out += [(u, first + v) for v in range(len(pointers) - 1) for u in sources[pointers[v]:pointers[v + 1]]]
        first += len(pointers) - 1
    return out


def set_links(store, to, what):
    header, parts = gnb.read_store(store)
    key = next(s["links"] for s in header["schema"]["splits"] if "links" in s)
    src, _, dst = key.split("/")
    p = next(i for i, x in enumerate(parts) if len(x["split/links/test"]) and len(x["split/links/train"]))
    edges, train = edges_of(parts, key), [tuple(r) for r in parts[p]["split/links/train"].tolist()]
    one = min(train)
    if what == "reverse":
        one = one[::-1]
    elif what == "message":
        listed = {tuple(r) for q in parts for n in ("train", "valid", "test") for r in q["split/links/" + n].tolist()}
        own = {r[1] for r in parts[p]["split/links/test"].tolist()}
        one = next(r for r in edges if r not in listed and r[::-1] not in listed and r[0] != r[1] and r[1] in own)
    roundtrip.copy(store, to, *("%d/split/links/test=%d=%d" % (p, i, v) for i, v in enumerate(one)))
    back = edges if src == dst else edges_of(parts, gnb.promised.reverse_key(header["schema"]["edge_types"], key))
    print(edges.count(one) + back.count(one[::-1]))


if __name__ == "__main__":
    {"count": count, "remove": remove, "plant": plant, "set": set_links}[sys.argv[1]](*sys.argv[2:])
