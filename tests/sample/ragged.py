#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Candidates of different numbers for each link, as a pickle of TGB has them, and what is made of them.
ragged.py stream STREAM LINKS SET=PICKLE...: have the batches of these sets, in their places, the candidates of each link, and then the link?
ragged.py table TABLE PICKLE SAID: has the table of gnn-predict, by names of TGB's nodes, a line for each candidate and none for other
places, and are the metrics that gnn-predict said those of its scores, as TGB's evaluator defines them?
ragged.py damage STORE OUT WHAT: copies a store of one partition, with an end too many, no last end, or another head in its lists."""
import math
import os
import pickle
import re
import sys

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "..", "interop"), os.path.join(here, "..", "import")]
import gnb


def lists(path, heads):
    """Tails by head, tail and time, of an item's number from 0."""
    with open(path, "rb") as f:
        return {(a, b - heads, c): [int(x) - heads for x in tails] for (a, b, c), tails in pickle.load(f).items()}


def stream(path, heads, *sets):
    with open(path, "rb") as f:
        head = f.read(6)
        f.seek(0)
        frames = list(gnb.read_frames(f))
    assert head[4] == 4, "version 4"
    sampling = frames[0][1]["sampling"]
    src, _, dst = sampling["links"]["type"].split("/")
    names = [s["name"] for s in sampling["splits"]]
    batches = [dict(t) for kind, t in frames if kind == gnb.BATCH]
    for name, of in (s.split("=") for s in sets):
        split, want = names.index(name), lists(of, int(heads))
        said = sampling["splits"][split]["negatives"]
        most = max(map(len, want.values()))
        assert said["ragged"] is True and said["each"] == most, said
        seen, lacking = 0, 0
        for b in (b for b in batches if b["key"][2] == split):
            h, t, back = b["nodes/" + src], b["nodes/" + dst], b["negative"].reshape(-1, most, 2)
            for (i, j), rows in zip(b["pair"], back):
                time = b["time/" + dst][j]
                tails = want[(int(h[i]), int(t[j]), int(time))]
                assert (h[rows[:, 0]] == h[i]).all() and t[rows[:, 1]].tolist() == tails + [t[j]] * (most - len(tails)), "candidates"
                assert (rows[len(tails):] == (i, j)).all(), "places without a candidate are the link"
                assert (b["time/" + dst][rows[:, 1]] == time).all(), "times"
                seen, lacking = seen + 1, lacking + most - len(tails)
        assert seen == sampling["splits"][split]["seeds"] and lacking, "all links"


def measures(groups, heads):
    """By the definitions, one list after the other: TGB's MRR and hits, pooled AUC and AP, recall of each head."""
    out, reciprocal, hits = {}, [], []
    for score, others in groups:
        above, equal = sum(x > score for x in others), sum(x == score for x in others)
        rank = 0.5 * (above + above + equal) + 1  # of TGB: the mean of optimistic and pessimistic
        reciprocal.append(1 / rank)
        hits.append(rank <= 3)
    out["mrr-realistic"], out["hits@3-realistic"] = np.mean(reciprocal), np.mean(hits)
    good, bad = np.array([s for s, _ in groups]), np.array([x for _, o in groups for x in o])
    out["roc-auc"] = np.mean([(bad < s).mean() + (bad == s).mean() / 2 for s in good])
    out["average-precision"] = np.mean([(good >= s).sum() / ((good >= s).sum() + (bad >= s).sum()) for s in good])
    return out | {"recall@2-realistic": recall(groups, heads, 2)}


def recall(groups, heads, k):
    """The mean over heads of the share of their links among their k best pairs; of equal scores, any order is as likely."""
    shares = []
    for head in set(heads):
        own = [(s, True) for (s, _), h in zip(groups, heads) if h == head] + [(x, False) for (_, o), h in zip(groups, heads) if h == head for x in o]
        found, room = 0, k
        for score in sorted({s for s, _ in own}, reverse=True):
            level = [good for s, good in own if s == score]
            found += sum(level) * min(room, len(level)) / len(level)
            room -= min(room, len(level))
        shares.append(found / sum(good for _, good in own))
    return np.mean(shares)


def losses(groups):
    softplus = lambda x: math.log1p(math.exp(-abs(x))) + max(x, 0)
    bce = [softplus(-s) for s, _ in groups] + [softplus(x) for _, o in groups for x in o]
    bpr = [softplus(x - s) for s, o in groups for x in o]
    soft = [math.log(1 + sum(math.exp(x - s) for x in o)) for s, o in groups]
    return {"bce": np.mean(bce), "bpr": np.mean(bpr), "softmax": np.mean(soft)}


def table(path, pickled, heads, loss, *said):
    want = lists(pickled, int(heads))
    groups = {}
    with open(path) as f:
        names = f.readline().strip().split(",")
        for line in f:
            r = dict(zip(names, line.strip().split(",")))
            g = groups.setdefault(r["input"], {"tails": [], "scores": []})
            if r["negative"] == "0":
                g["key"], g["score"] = (int(r["head"]), int(r["tail"]), int(float(r["time"]))), float(r["score"])
            else:
                g["tails"].append((int(r["head"]), int(r["tail"])))
                g["scores"].append(float(r["score"]))
    for g in groups.values():
        assert g["tails"] == [(g["key"][0], t) for t in want[g["key"]]], "a line for each candidate"
    assert min(len(g["tails"]) for g in groups.values()) == 0, "some link has none"
    keys = [g["key"][0] for g in groups.values()]
    groups = [(g["score"], g["scores"]) for g in groups.values()]
    values = measures(groups, keys)
    for text in said:
        found = re.search(r"(mrr-realistic|hits@3-realistic|roc-auc|average-precision|recall@2-realistic) ([0-9.]+)", open(text).read())
        assert abs(values[found[1]] - float(found[2])) < 6e-5, (found[0], values)
        mean = re.search(r"loss ([0-9.]+)", open(text).read())
        assert abs(losses(groups)[loss] - float(mean[1])) < 6e-5, (mean[0], losses(groups))


def damage(store, out, what):
    import roundtrip

    _, (part,) = gnb.read_store(store)
    links, pairs = part["split/links/test"], part["split/candidates-ragged/test"]
    first = next(i for i in range(len(pairs)) if pairs[i].tolist() != links[0].tolist())  # a candidate of link 0
    at, value = {"early": (2 * first + 1, links[0][1]), "last": (2 * len(pairs) - 1, (links[-1][1] + 1) % 12),
                 "head": (2 * first, (links[0][0] + 1) % 25)}[what]
    roundtrip.copy(store, out, "0/split/candidates-ragged/test=%d=%d" % (at, value))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
