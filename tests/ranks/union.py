# SPDX-License-Identifier: Apache-2.0
"""Do the ranks' batches make up the batch of one? usage: union.py STORE ONE RANK0 RANK1 ...
ONE is a stream that one process made of any partition of the graph, RANKr those of the ranks, made of STORE. All comparisons are by
the ids of the unpartitioned store. Of each rank's batches it also checks that local ids are in the order of first occurrence, and of
gathered fields that the rows are the store's."""
import math
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../interop"))
import gnb


def originals(header, parts):
    """Per node type, store id -> original id."""
    out = {}
    for t in header["schema"]["node_types"]:
        name = t["name"]
        ids = [p.get("node/%s/id" % name) for p in parts]
        out[name] = np.arange(t["count"]) if ids[0] is None else np.concatenate(ids).astype("i8")
    return out


NUMBERS = {}  # of entries with times


def nodes(header, batch, orig):
    """By type, a number for each entry: the original id, and above it the tree, where there are trees; or of all columns, where there
    are times."""
    sampling = header["sampling"]
    ids = {t: (batch["nodes/" + t].astype("i8") if sampling["original_ids"] else orig[t][batch["nodes/" + t]]) for t in orig}
    ids = {t: ids[t] + (batch["tree/" + t].astype("i8") << 32 if sampling.get("disjoint") else 0) for t in orig}
    if not sampling.get("time"):
        return ids
    return {t: np.array([NUMBERS.setdefault(x, len(NUMBERS)) for x in zip(ids[t].tolist(), batch["time/" + t].tolist())], "i8") for t in orig}


def rows(header, batch, orig):
    """{(hop, edge type): {destination: (sources, edge ids)}}"""
    ids = nodes(header, batch, orig)
    new = header["sampling"]["frontier"] == "new"
    out = {}
    for name in batch:
        word = name.split("/")
        if word[0] != "hop" or word[-1] != "indptr":
            continue
        hop, src, dst = int(word[1]), word[2], word[4]
        ptr, idx, eid = batch[name], batch[name[:-6] + "indices"], batch.get(name[:-6] + "id")
        first = int(batch["counts/" + dst][hop - 1]) if new and hop else 0
        ptr, to, sources, eid = ptr.tolist(), ids[dst].tolist(), ids[src][idx].tolist(), None if eid is None else eid.tolist()
        block = {}
        for i, (a, b) in enumerate(zip(ptr, ptr[1:])):
            block[to[first + i]] = (tuple(sources[a:b]), None if eid is None else tuple(eid[a:b]))
        out[hop, "/".join(word[2:5])] = block
    return out


def first_occurrence(header, batch, seed_type):
    """Local ids are handed out hop by hop, edge type by edge type, pick by pick. Induced edges do not show that."""
    n = {t: int(batch["counts/" + t][0]) for t in (x["name"] for x in header["schema"]["node_types"])}
    assert all(v == 0 for t, v in n.items() if t != seed_type) or "links" in header["sampling"]
    relations = ["%s/%s/%s" % (e["src"], e["rel"], e["dst"]) for e in header["schema"]["edge_types"]]
    for hop in range(0 if header["sampling"].get("induced") else len(header["sampling"]["fanout"])):
        for rel in relations:
            idx = batch.get("hop/%d/%s/indices" % (hop, rel))
            src = rel.split("/")[0]
            known = n[src]
            for v in [] if idx is None else idx.tolist():
                assert v <= known, "a local id comes before its time"
                known += v == known
            n[src] = known
        assert all(n[t] == batch["counts/" + t][hop + 1] for t in n)
    more = {t: [batch.get(x + t, np.zeros(len(batch["nodes/" + t]))) for x in ("tree/", "time/")] for t in n}
    assert all(len(set(zip(*(a.tolist() for a in (batch["nodes/" + t], *more[t]))))) == len(batch["nodes/" + t]) for t in n)


def narrowed(x, dtype):
    """As the batch has it: bf16, which numpy does not know, as its bits."""
    if dtype != np.dtype("<u2") or x.dtype != np.dtype("<f4"):
        return x.astype(dtype)
    bits = x.view("<u4").astype("u8")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("<u2")


def fields(header, batch, orig, whole):
    """Rows of gathered node fields are those of the nodes."""
    seen = 0
    for name, a in batch.items():
        word = name.split("/")
        if word[0] == "node" and name in whole:
            want = orig[word[1]][batch["nodes/" + word[1]][:len(a)]] if word[2] == "id" else whole[name][batch["nodes/" + word[1]][:len(a)]]
            assert (a == narrowed(want, a.dtype)).all(), name
            seen += 1
    return seen


def links(header, batch, orig, all_links):
    """{position: (head, tail, place among all)} of a batch's links, and {number: (head, tail)} of its negatives."""
    src, _, dst = header["sampling"]["links"]["type"].split("/")
    ids = nodes(header, batch, orig)
    ends = lambda pairs: list(zip(ids[src][pairs[:, 0]].tolist(), ids[dst][pairs[:, 1]].tolist()))
    at = batch.get("pair/at", np.arange(len(batch["pair"]))).tolist()
    assert at == sorted(set(at)) and batch["seeds"][0] == all_links
    rule, split = header["sampling"]["links"], header["sampling"]["splits"][int(batch["key"][2])]
    text = rule.get("eval_negatives" if batch["key"][2] and "eval_negatives" in rule else "negatives", "binary:0")
    if text == "given":
        text = "triplet:%d" % split["negatives"]["each"] if "each" in split["negatives"] else "binary:%d" % split["negatives"]["shared"]
        first = int(batch["key"][1]) * header["sampling"]["batch_size"]
    kind, amount = text.split(":")[:2]
    many = math.ceil(all_links * float(amount))
    if "shared" in split.get("negatives", {}):
        many = int(amount) * (first + all_links) // split["seeds"] - int(amount) * first // split["seeds"]
    numbers = [i for i in range(many) if (i // int(amount) if kind != "binary" else i % all_links) in set(at)]
    negative = batch.get("negative", np.zeros((0, 2), int))
    assert len(numbers) == len(negative)
    for pairs in (batch["pair"], negative):
        for i, t in enumerate((src, dst)):
            assert (pairs[:, i] < batch["counts/" + t][0]).all()
    first = {t: ids[t][: int(batch["counts/" + t][0])] for t in (src, dst)}
    assert all((np.diff(v) > 0).all() for v in first.values()) or header["sampling"].get("time"), "the first nodes do not ascend"
    return dict(zip(at, zip(ends(batch["pair"]), batch["pair/input"].tolist()))), dict(zip(numbers, ends(negative)))


def same_links(one_header, b, one_orig, mine, orig):
    """The ranks' links and negatives are those of one process; each rank has those whose tails it owns."""
    n = int(b["seeds"][0])
    want = links(one_header, b, one_orig, n)
    got = [links(h, m, orig, n) for h, m in mine]
    for k in (0, 1):
        assert sum(len(g[k]) for g in got) == len(want[k])
        for g in got:
            for at, link in g[k].items():
                assert want[k][at] == link, ("links", "negatives")[k]


def counted(header, mine, orig):
    """In each hop, each node that is expanded is counted by one of the ranks that expand it."""
    seen = 0
    for t in orig:
        if "counted/" + t not in mine[0][1]:
            continue
        for hop in range(0 if "links" in header["sampling"] else 1, len(header["sampling"]["fanout"])):
            times = {}
            for h, m in mine:
                n = int(m["counts/" + t][hop])
                assert len(m["counted/" + t]) == int(m["counts/" + t][-2])
                for v, c in zip(nodes(h, m, orig)[t][:n].tolist(), m["counted/" + t].tolist()):
                    times[v] = times.get(v, 0) + c
            assert all(c == 1 for c in times.values()), "nodes of hop %d are counted more or less than once" % hop
            seen += len(times)
    return seen


def main(store, one_path, *rank_paths):
    header, parts = gnb.read_store(store)
    orig = originals(header, parts)
    whole = {n: np.concatenate([p[n] for p in parts]) for n in parts[0] if n.startswith("node/") and n.count("/") == 2 and "name" not in n}
    one_header, one = gnb.read_stream(one_path)
    one_orig = orig
    if one_header["schema"]["parts"] != header["schema"]["parts"]:
        assert one_header["schema"]["parts"] == 1
        one_orig = {t: np.arange(len(v)) for t, v in orig.items()}
    ranks = [gnb.read_stream(p) for p in rank_paths]
    once = 0
    seed_type = one_header["sampling"]["seed_type"]
    seen = 0
    for r, (h, batches) in enumerate(ranks):
        assert len(batches) == len(one), "rank %d has %d batches, one alone %d" % (r, len(batches), len(one))
        assert len(ranks) == 1 or (h["sampling"]["rank"], h["sampling"]["ranks"]) == (r, len(ranks))
        for b in batches:
            first_occurrence(h, b, seed_type)
            seen += fields(h, b, orig, whole)
    for step, b in enumerate(one):
        mine = [batches[step] for _, batches in ranks]
        assert all((m["key"][:3] == b["key"][:3]).all() and m["key"][3] == r for r, m in enumerate(mine)), "key"
        once += counted(one_header, [(h, m) for (h, _), m in zip(ranks, mine)], orig)
        if "links" in one_header["sampling"]:
            same_links(one_header, b, one_orig, [(h, m) for (h, _), m in zip(ranks, mine)], orig)
        seeds = nodes(one_header, b, one_orig)[seed_type][:int(b["counts/" + seed_type][0])].tolist()
        place = {v: i for i, v in enumerate(seeds)}
        got = [nodes(h, m, orig)[seed_type][:int(m["counts/" + seed_type][0])].tolist() for (h, _), m in zip(ranks, mine)]
        assert all(g == sorted(g, key=place.get) for g in got), "seeds are not in the order of the global batch"
        once_each = sorted(sum(got, [])) if "links" not in one_header["sampling"] else sorted(set(sum(got, [])))
        assert once_each == sorted(seeds), "seeds of step %d" % step
        want, all_rows = rows(one_header, b, one_orig), {}
        for (h, _), m in zip(ranks, mine):
            for key, block in rows(h, m, orig).items():
                for v, row in block.items():
                    assert want[key][v] == row, "picks of node %d in step %d, %s" % (v, step, key)
                    all_rows.setdefault(key, set()).add(v)
        assert all(all_rows.get(k, set()) == set(v) for k, v in want.items()), "destinations of step %d" % step
        for t in orig:
            union = set().union(*(nodes(h, m, orig)[t].tolist() for (h, _), m in zip(ranks, mine)))
            assert union == set(nodes(one_header, b, one_orig)[t].tolist()), "nodes of step %d" % step
    print(len(one), "batches,", seen, "fields,", once, "nodes counted")


main(*sys.argv[1:])
