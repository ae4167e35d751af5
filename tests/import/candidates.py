# SPDX-License-Identifier: Apache-2.0
"""candidates.py write: data sets in the layout of the Temporal Graph Benchmark, wiki-like (JODIE's table), one-type and bad ones.
candidates.py check STORE SPLIT WHAT: has SPLIT, of STORE by time, TGB's sets, and the candidates of WHAT_val_ns.pkl and WHAT_test_ns.pkl?"""
import os
import pickle
import sys
import zipfile

import numpy as np

USERS, ITEMS, ROWS, K = 25, 12, 300, 6


def read(path):
    """Sources, destinations and times, numbered as TGB numbers them."""
    with open(path) as f:
        header, *rows = [line.rstrip("\n").split(",") for line in f]
    if header[0] == "user_id":
        u, i, t = (np.array([float(r[c]) for r in rows]).astype("i8") for c in range(3))
        return u, i + u.max() + 1, t
    ids = {}
    ends = [(ids.setdefault(r[1], len(ids)), ids.setdefault(r[2], len(ids))) for r in rows]
    return np.array([e[0] for e in ends]), np.array([e[1] for e in ends]), np.array([int(r[0]) for r in rows])


def cut(t):
    first, second = np.quantile(t, [0.70, 0.85])
    return {"val": (t > first) & (t <= second), "test": t > second}


def negatives(path, name, rng, protocol, **changed):
    u, v, t = read(path)
    for what, mask in cut(t).items():
        some = {}
        for a, b, c in zip(u[mask], v[mask], t[mask]):
            others = np.setdiff1d(np.arange(v.min(), v.max() + 1), [b])
            n = rng.integers(0, K + 1) if "vary" in changed else K
            some[(a, b, c)] = rng.choice(others, n, replace=False).astype(changed.get("dtype", "i8"))
        if "edit" in changed:
            changed["edit"](some)
        with open("%s_%s_ns.pkl" % (name, what), "wb") as f:
            pickle.dump(some, f, protocol)


class System:
    def __reduce__(self):
        return os.system, ("touch ran",)


def write():
    rng = np.random.default_rng(5)
    times = np.cumsum(rng.integers(0, 3, ROWS))
    u, i = rng.integers(0, USERS, ROWS), rng.integers(0, ITEMS, ROWS)
    u[:2], i[:2] = [USERS - 1, 0], [ITEMS - 1, 0]
    with open("wiki.csv", "w") as f:
        f.write("user_id,item_id,timestamp,state_label,comma_separated_list_of_features\n")
        for k in range(ROWS):
            f.write("%d,%d,%d.0,%d,%s\n" % (u[k], i[k], times[k], k % 2, ",".join("%.3f" % x for x in rng.random(20))))
    with open("coin.csv", "w") as f:
        f.write("time,src,dst,weight\n")
        for k in range(ROWS):
            f.write("%d,0x%x,0x%x,%.2f\n" % (times[k], rng.integers(4096, 4120), rng.integers(4100, 4130), rng.random() * 9))
    negatives("wiki.csv", "wiki", rng, 5)
    negatives("wiki.csv", "wiki4", rng, 4, dtype="f8")
    negatives("coin.csv", "coin", rng, 4)
    for name in "wiki", "coin":
        negatives(name + ".csv", name + "-some", np.random.default_rng(7), 5, vary=True)
    with zipfile.ZipFile("wiki.zip", "w", zipfile.ZIP_DEFLATED) as z:
        for name in "wiki.csv", "wiki_val_ns.pkl", "wiki_test_ns.pkl":
            z.write(name, "tgbl-wiki/" + name)

    def first(fn):
        def edit(d):
            key = min(d, key=lambda k: (k[0], k[1], k[2]))
            fn(d, key)
        return edit

    def put(value):
        return first(lambda d, k: d.update({k: value}))

    bad = {"lost": first(lambda d, k: d.pop(k)), "own": first(lambda d, k: d.update({k: np.array([k[1], USERS, USERS + 1])})),
           "none": lambda d: d.update({k: np.zeros(0, "i8") for k in d}), "range": put(np.full(K, USERS + ITEMS)),
           "user": put(np.zeros(K, "i8")), "negative": put(np.full(K, -1)), "fraction": put(np.full(K, 30.5)), "word": put("others"),
           "matrix": put(np.full((2, 3), 30)), "relation": first(lambda d, k: d.update({k + (1,): d.pop(k)})),
           "real": first(lambda d, k: d.update({(k[0], k[1], 0.5): d.pop(k)})), "system": put(System())}
    for name, edit in bad.items():
        negatives("wiki.csv", "bad_" + name, rng, 4, edit=edit)
    with open("wiki_val_ns.pkl", "rb") as f, open("bad_cut_val_ns.pkl", "wb") as g:
        g.write(f.read()[:-100])


def check(store, split, what):
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:0] = [os.path.join(here, "..", "interop"), here]
    import link_splits

    g = link_splits.Graph(split)
    base = link_splits.Graph(store)
    u, v, t = read(("coin" if what.startswith("coin") else "wiki") + ".csv")
    kind = g.schema["edge_types"][0]
    users = 0 if kind["src"] == kind["dst"] else next(n["count"] for n in g.schema["node_types"] if n["name"] == kind["src"])
    assert base.etype("%(src)s/%(rel)s/%(dst)s" % kind)["count"] % len(u) == 0
    for name, set_ in ("val", "valid"), ("test", "test"):
        mask = cut(t)[name]
        links, times = g.links(set_)
        found = sorted((int(a), int(b) + users, int(c)) for (a, b), c in zip(links, times))
        assert found == sorted(set(zip(u[mask].tolist(), v[mask].tolist(), t[mask].tolist()))), "the links of " + set_
        with open("%s_%s_ns.pkl" % (what, name), "rb") as f:
            want = pickle.load(f)
        vary = len(set(map(len, want.values()))) > 1
        tensor = "split/candidates%s/%s" % ("-ragged" if vary else "", set_)
        given = np.concatenate([p[tensor] for p in g.parts])
        order = np.argsort(np.concatenate([p[tensor + "/order"] for p in g.parts])) if len(g.parts) > 1 else np.arange(len(given))
        ends = np.stack([g.orig[kind["src"]][given[:, 0]], g.orig[kind["dst"]][given[:, 1]]], 1)[order].astype("i8")
        for (a, b), c in zip(links, times):
            tails = want[(a, b + users, int(c))].astype("i8")
            if vary:
                tails = np.append(tails, b + users)
            rows, ends = ends[:len(tails)], ends[len(tails):]
            assert (rows[:, 0] == a).all(), "heads of candidates"
            assert np.array_equal(rows[:, 1] + users, tails), "candidates of %s" % ((a, b, c),)
        assert not len(ends), "candidates of no link"


if __name__ == "__main__":
    write() if sys.argv[1] == "write" else check(*sys.argv[2:])
