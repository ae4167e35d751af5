# SPDX-License-Identifier: Apache-2.0
"""Measures the settings of gnn-settings(7): accuracy on test sets (binary tasks: ROC-AUC) with few and with many labels.

usage: GNN_DATA=DIR /usr/bin/python3 tests/bench/settings.py [--runs N] [--threads N] [GROUP...]

A group of GROUPS has data, labels, and settings, the first of which is what the others are compared with. Labels are `all` (the
training set is every labelled node outside of the validation and test sets) or a number of nodes of each class, drawn from `all` anew
for each run. Run i has random seed i + 1, and split i if the data have several splits. Validation and test sets are those of the data.
A line has the mean and the standard deviation of N runs, the mean difference from the first setting in runs of the same seed, split
and draw, half of its 95 % confidence interval, and what follows from both.
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile

import numpy as np

DATA = {"cora": ["cora.zip"], "amazon-computers": ["amazon-computers.zip"], "acm": ["acm.zip"], "tolokers": ["-u", "tolokers.npz"]}
BOTH = "--weight-decay 5e-4 --dropout-input 0.5"
GCN = "-m gcn --no-layer-norm " + BOTH
KIPF = "-m gcn -f -1,-1 --hidden 16 --epochs 200 --patience 0 --lr 0.01 --no-layer-norm " + BOTH  # Kipf and Welling (2017)
LONG = "--full-batch --epochs 500 --patience 100"
GROUPS = {
    "cora-20": ("cora", "20", ["", BOTH, "-m gcn", "-m gat --heads 4 " + BOTH, GCN, KIPF + " --feature-norm row"]),
    "acm-20": ("acm", "20", ["", BOTH, "-m gat --heads 4", "-m rgcn --encoder 64 --hidden 64",
                             "-m hgt --heads 4 --encoder 64 --hidden 64 --head 0"]),
    "amazon-20": ("amazon-computers", "20", ["", BOTH, GCN]),
    "tolokers-20": ("tolokers", "20", ["", BOTH, "-m gcn", GCN]),
    "cora-all": ("cora", "all", ["", "--dropout 0.2", BOTH, "-m gcn", "-m gat --heads 4", "-f 15,15 --frontier new", KIPF]),
    "acm-all": ("acm", "all", ["", "-m rgcn --encoder 64 --hidden 64", "-m gat --heads 4"]),
    "full": ("cora", "20", ["", "--full-batch", LONG, LONG + " --lr 0.01"]),
}
# Quantiles of Student's t distribution at 0.975, for 1, 2, ... degrees of freedom.
T = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26]


def run(*words):
    subprocess.run([*map(str, words)], check=True, stdin=subprocess.DEVNULL)


def importing(work, name):
    """The store of the data as they are, and its arrays."""
    store = f"{work}/{name}"
    if not os.path.exists(store):
        options, file = DATA[name][:-1], DATA[name][-1]
        run("gnn-import", "-q", *options, "-o", store, f"{os.environ['GNN_DATA']}/{file}")
        run("gnn-inspect", "--raw", "--export", store + ".npz", store)
    return store, np.load(store + ".npz")


def training_set(y, sets, labels, draw):
    """Positions of the nodes to train on, in ascending order."""
    pool = sorted(set(np.flatnonzero(y >= 0)) - set(sets["valid"]) - set(sets["test"]))
    if labels == "all":
        return pool
    rng, each = random.Random(draw), int(labels)
    return sorted(v for k in range(y.max() + 1) for v in rng.sample([v for v in pool if y[v] == k], each))


def divided(work, name, labels, i):
    """A store whose default split has the training set of run i."""
    store, arrays = importing(work, name)
    splits = sorted({k.split("/")[1] for k in arrays.files if k.startswith("split/")})
    split = splits[i % len(splits)]
    made = f"{store}.{labels}.{split if labels == 'all' else i}"
    if not os.path.exists(made):
        about = json.loads(subprocess.run(["gnn-inspect", "--json", store], check=True, capture_output=True).stdout)
        y = arrays[f"node/{about['label_type']}/y"]
        sets = {s: arrays[f"split/{split}/{s}"] for s in ("train", "valid", "test")}
        sets["train"] = training_set(y, sets, labels, i)
        for s, ids in sets.items():
            np.savetxt(f"{work}/{s}", ids, "%d")
        options, file = DATA[name][:-1], DATA[name][-1]
        run("gnn-import", "-q", *options, "--split", ",".join(f"{s}={work}/{s}" for s in sets), "-o", made,
            f"{os.environ['GNN_DATA']}/{file}")
    return made


def score(work, store, setting, i, threads):
    run("gnn-train", "-q", "-j", threads, "--store", store, "--seed", i + 1, "-o", work + "/model", *setting.split())
    run("gnn-predict", "-q", "-j", threads, "-n", "--split", "test", "--metrics", work + "/score", store, work + "/model")
    with open(work + "/score") as f:
        found = next(e for e in map(json.loads, f) if e["event"] == "score")
    return 100 * next(found[m] for m in ("accuracy", "roc-auc") if m in found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5, choices=range(2, len(T) + 2))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("group", nargs="*", metavar="GROUP", help="of " + ", ".join(GROUPS))
    o = parser.parse_args()
    for g in o.group:
        if g not in GROUPS:
            parser.error(f"no group {g}: choose from {', '.join(GROUPS)}")
    with tempfile.TemporaryDirectory() as work:
        for g in o.group or GROUPS:
            name, labels, settings = GROUPS[g]
            first = None
            for setting in settings:
                got = [score(work, divided(work, name, labels, i), setting, i, o.threads) for i in range(o.runs)]
                first = first or got
                gain = [a - b for a, b in zip(got, first)]
                half = T[o.runs - 2] * statistics.stdev(gain) / o.runs ** 0.5
                mean = statistics.mean(gain)
                what = "first" if got is first else "better" if mean > half else "worse" if mean < -half else "equal"
                print(f"{g:16} {statistics.mean(got):6.2f} sd {statistics.stdev(got):5.2f}  {mean:+6.2f} +- {half:5.2f} {what:6}"
                      f" {setting or '(defaults)'}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
