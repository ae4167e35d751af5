# SPDX-License-Identifier: Apache-2.0
"""link_metrics.py PROGRAM CASE: compares what test_link_metrics prints for random scores with another evaluator; status 77 if it is not
installed. Each case is a function of positives (P) and negatives, (P, K) or (N), to values by the names that the program prints."""
import subprocess
import sys
import warnings

import numpy as np

warnings.filterwarnings("ignore")
EACH, SHARED = ["mrr", "hits@1", "hits@3", "hits@10", "auc", "ap"], ["auc", "ap", "hits@20", "hits@50", "hits@100"]


def ours(p, n, metrics):
    p.astype("f4").tofile("positive"), n.astype("f4").tofile("negative")
    return subprocess.run([sys.argv[1], "each" if n.ndim == 2 else "shared", "positive", "negative", *metrics], capture_output=True, text=True)


def values(run):
    assert run.returncode == 0, run.stderr
    return {k: float(v) for k, v in map(str.split, run.stdout.splitlines())}


def definition(p, n):
    both, label = np.concatenate([p, n.ravel()]), np.arange(len(p) + n.size) < len(p)
    less, equal = (n.ravel()[None] < p[:, None]).mean(), (n.ravel()[None] == p[:, None]).mean()
    cut = np.unique(p)[::-1, None]
    hits, taken = (p[None] >= cut).sum(1), (both[None] >= cut).sum(1)
    found = {"auc-pooled": less + equal / 2, "ap-pooled": (np.diff(hits, prepend=0) * hits / taken).sum() / label.sum()}
    if n.ndim == 1:
        return found | {f"hits@{k}-shared": (p > np.sort(n)[-k]).mean() for k in (20, 50, 100)}
    low, high = 1 + (n > p[:, None]).sum(1), 1 + (n >= p[:, None]).sum(1)
    for name, rank in ("optimistic", low), ("realistic", (low + high) / 2), ("pessimistic", high):
        found |= {f"mrr-{name}": (1 / rank).mean()} | {f"hits@{k}-{name}": (rank <= k).mean() for k in (1, 3, 10)}
    return found


def sklearn(p, n):
    from sklearn.metrics import average_precision_score, roc_auc_score
    y, z = np.repeat([1, 0], [len(p), n.size]), np.concatenate([p, n.ravel()])
    return {"auc-pooled": roc_auc_score(y, z), "ap-pooled": average_precision_score(y, z)}


def ogb(p, n):
    import torch
    from ogb.linkproppred import Evaluator
    p, n = torch.from_numpy(p), torch.from_numpy(n)
    if n.ndim == 2:
        got = Evaluator("ogbl-citation2").eval({"y_pred_pos": p, "y_pred_neg": n})
        return {("mrr" if k == "mrr_list" else k[:-5]) + "-realistic": float(v.double().mean()) for k, v in got.items()}
    found = {"auc-pooled": Evaluator("ogbl-vessel").eval({"y_pred_pos": p, "y_pred_neg": n})["rocauc"]}
    for data in "ddi", "collab", "ppa":
        found |= {k + "-shared": v for k, v in Evaluator("ogbl-" + data).eval({"y_pred_pos": p, "y_pred_neg": n}).items()}
    return found


def tgb(p, n):
    from tgb.linkproppred.evaluate import Evaluator
    if n.ndim == 1:
        return {}
    got = Evaluator("tgbl-wiki").eval({"y_pred_pos": p, "y_pred_neg": n, "eval_metric": ["mrr"]})
    return {k + "-realistic": float(v) for k, v in got.items()}


def ogb_few():
    n = np.arange(20, dtype="f4")
    run = ours(n - 1, n, ["hits@50"])
    assert ogb(n - 1, n)["hits@50-shared"] == 1 and run.returncode and "hits@50: 20 negatives" in run.stderr, run


def compare(other):
    r = np.random.default_rng(1)
    for turn in range(40):
        levels, count, each = [3, 20, 1 << 22][turn % 3], 1 + turn * 7, 10 + turn % 9
        shape = (count, each) if turn % 2 else 100 + 40 * turn
        p, n = ((r.integers(0, levels, s) - levels // 2).astype("f4") for s in (count, shape))
        want, got = other(p, n), values(ours(p, n, EACH if n.ndim == 2 else SHARED))
        if other is definition:  # ranks that ties do not change are printed once
            for k in [*want]:
                same = k.rsplit("-", 1)[0] + "-realistic"
                got.setdefault(k, got.get(same))
            assert {*got} == {*want}, (got, want)
        for k, v in want.items():
            # OGB's ranks are f32
            assert abs(got[k] - v) < (1e-6 if other in (ogb, tgb) else 1e-12), (turn, k, got[k], v)


case = globals()[sys.argv[2]]
try:
    case() if case is ogb_few else compare(case)
except ImportError as e:
    print(f"{e.name} is not installed", file=sys.stderr)
    sys.exit(77)
