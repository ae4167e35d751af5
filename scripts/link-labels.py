#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The sign of the last 15 % of ratings of bitcoin-otc, by time: ROC-AUC of gnn-train --target 'rating>0' beside what needs no
network, computed here. Usage: [SEEDS=10] scripts/link-labels.py RATINGS.csv [OPTION OF gnn-train...]

Ratings carry messages both ways, as edge features, to what is later than they. The model is trained on the first 85 %, and each
rating is predicted from all that are earlier, as the other figures are.
"""
import json, os, subprocess, sys, tempfile

import numpy as np

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOP, "formats/python"))
os.environ["PATH"] = os.path.join(TOP, "build/bin") + os.pathsep + os.environ["PATH"]
RECIPE = ("-m gine --edge-features --encoder 16 -f 40,4 --latest -b 512 --hidden 32 --lr 0.005 --dropout 0.2 "
          "--schedule cosine --epochs 10").split()


def auc(score, label):
    """Ties count half."""
    _, place, many = np.unique(score, return_inverse=True, return_counts=True)
    rank = (np.cumsum(many) - (many - 1) / 2)[place]
    p = label.sum()
    return (rank[label].sum() - p * (p + 1) / 2) / (p * (len(label) - p))


def statistics(u, v, r):
    """For each rating, in order: what its ends gave and got before, as the mean and logarithms of counts, and its reverse."""
    n = int(max(u.max(), v.max())) + 1
    total = np.zeros((2, n, 3))  # given, got: count, sum, positive
    last, rows = {}, []
    for a, b, x in zip(u.tolist(), v.tolist(), r.tolist()):
        row = []
        for count, s, positive in (total[1, b], total[0, a], total[1, a], total[0, b]):
            row += [s / max(count, 1) / 10, (s + 1) / (count + 1) / 10, (positive + 0.9) / (count + 1), count == 0]
            row += [np.log1p(count), np.log1p(positive), np.log1p(count - positive)]
        reverse = last.get((b, a), 0)
        row += [reverse / 10, (b, a) in last, reverse > 0]
        rows.append(row)
        last[a, b] = x
        total[0, a] += 1, x, x > 0
        total[1, b] += 1, x, x > 0
    return np.array(rows, float)


def logistic(x, y, steps=30):
    """Weights of a logistic regression, by Newton's method."""
    x = np.c_[x, np.ones(len(x))]
    w = np.zeros(x.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-x @ w))
        w += np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + 1e-3 * np.eye(len(w)), x.T @ (y - p) - 1e-3 * w)
    return w


def run(*args):
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(args)}\n{done.stderr}")


def main():
    from gnntools import from_arrays
    table = np.genfromtxt(sys.argv[1], delimiter=",", skip_header=1)
    table = table[np.argsort(table[:, 3], kind="stable")]
    ids, ends = np.unique(table[:, :2].astype(np.int64), return_inverse=True)
    u, v = ends.reshape(-1, 2).T
    r, time = table[:, 2], table[:, 3]
    y, test = r > 0, time > np.quantile(time, 0.85)
    x = statistics(u, v, r)
    print(f"{len(r)} ratings, {test.sum()} to predict, {y[test].mean():.3f} of them positive")
    print(f"running mean of the target's ratings           {auc(x[test, 0], y[test]):.4f}")
    print(f"and the reverse rating                         {auc((x[:, 0] + x[:, -3])[test], y[test]):.4f}")
    w = logistic(x[~test], y[~test])
    print(f"logistic regression on running statistics      {auc((np.c_[x, np.ones(len(x))] @ w)[test], y[test]):.4f}")

    # Edge ids count the in-edges of each node in the order of time.
    place = np.lexsort((np.arange(len(r)), time, v))
    found = []
    with tempfile.TemporaryDirectory() as d:
        store, split, model, out = (os.path.join(d, f) for f in ("store", "split", "model", "out.npy"))
        fields = {"time": time, "rating": r.astype(np.int8), "x": np.stack([r / 10, r > 0], 1).astype(np.float32)}
        index = np.stack([u, v])
        from_arrays(store, {"user": len(ids)}, {("user", "rates", "user"): {"edge_index": index, **fields},
                                                ("user", "rev_rates", "user"): {"edge_index": index[::-1], **fields}})
        run("gnn-import", "-q", "--split-links", "user/rates/user=time:85/0/15", "-o", split, store)
        for seed in range(1, 1 + int(os.environ.get("SEEDS", "10"))):
            run("gnn-train", "-q", "--store", split, "--links", "user/rates/user", "--time-rule", "lt", "--target", "rating>0",
                "--eval", "none", "--keep", "last", "--seed", str(seed), "-o", model, *RECIPE, *sys.argv[2:])
            run("gnn-predict", "-q", "--store", store, "--links", "user/rates/user", "--split", "edges", "--output-kind", "probs",
                "-o", out, model)
            score = np.empty(len(r))
            score[place] = np.load(out)
            found.append(auc(score[test], y[test]))
            print(f"gnn-train --target 'rating>0', seed {seed:2}         {found[-1]:.4f}", flush=True)
    if found:
        print(f"mean of {len(found)} seeds                                  {np.mean(found):.4f}, deviation {np.std(found):.4f}")


main()
