# SPDX-License-Identifier: Apache-2.0
# full_size.py STORE.npz MODEL METRICS RANKS DEPTH LAYER LAYERS HIDDEN HEADS NORM [OPTION...]: computes the memory of full batches
# from the arrays of a store and the shapes of a model, as gnn-fullbatch(7), MEMORY, has it, and compares each item with what
# gnn-train has computed. With several ranks, which have a partition each, it must be that of one of them.
import json, struct, sys
import numpy as np

npz, model, metrics, ranks, depth, layer, layers, hidden, heads, norm = sys.argv[1:11]
option = set(sys.argv[11:])
ranks, depth, layers, hidden, heads = int(ranks), int(depth), int(layers), int(hidden), int(heads)
z = np.load(npz)
k = len({n.split("/")[0] for n in z.files if n.startswith("part-")}) or 1
at = lambda p, name: z[f"part-{p}/{name}" if f"part-{p}/{name}" in z.files else name]
types = sorted({n.split("/")[-1] for n in z.files if "book/" in n})
rels = sorted({tuple(n.split("edge/")[1].split("/")[:3]) for n in z.files if n.endswith("/indices")})
target = next(n.split("/")[-2] for n in z.files if n.endswith("/y"))
book = {t: at(0, f"book/{t}").astype(np.int64) for t in types}
N = lambda p, t: int(book[t][p + 1] - book[t][p])
outputs = int(max(at(p, f"node/{target}/y").max() for p in range(k) if N(p, target)) + 1)
features = {t: at(0, f"node/{t}/x") for t in types}
size = features[types[0]].dtype.itemsize
width0 = {t: features[t].shape[1] for t in types}
columns = {r: 0 for r in rels}
if "edge-features" in option:
    columns = {r: at(0, f"edge/{'/'.join(r)}/x").reshape(len(at(0, f"edge/{'/'.join(r)}/indices")), -1).shape[1] for r in rels}

# Rows that a partition uses of another one, for each relation; and its edges.
used, edges = {}, {}
for r in rels:
    for p in range(k):
        x = at(p, f"edge/{'/'.join(r)}/indices").astype(np.int64)
        edges[r, p] = len(x)
        owner = np.searchsorted(book[r[0]], np.unique(x), side="right") - 1
        for q in range(k):
            used[r, p, q] = N(p, r[0]) if p == q else int((owner == q).sum())

# Stages: (from, what it is, width of type t, whether a norm follows).
wide = lambda w: {t: w for t in types}
stage, width = [None], [width0]
for l in range(layers):
    w = hidden if l + 1 < layers or layer == "hgt" else outputs
    last = l + 1 == layers and layer != "hgt"
    if layer == "hgt":
        stage += [(len(stage) - 1, "rows", False), (len(stage), "edges", False), (len(stage) + 1, "out", norm != "none")]
        width += [wide(3 * w), wide(w), wide(w)]
    else:
        stage += [(len(stage) - 1, "edges", norm != "none" and not last)]
        width += [wide(w)]
if layer == "hgt":
    stage += [(len(stage) - 1, "rows", False)]
    width += [wide(outputs)]
last = len(stage) - 1
own = layer != "gcn"

# Which types' rows the outputs depend on, and convolutions (stage, from, relation or None, source, destination).
live, convs = {(last, target)}, []
for i in range(last, 0, -1):
    src, what, _ = stage[i]
    now = [(i, src, r, r[0], r[2]) for r in rels if (i, r[2]) in live] if what == "edges" else []
    now += [(i, src, None, t, t) for t in types if what != "edges" and (i, t) in live]
    if what == "out" and i > 3:  # the layer's input is added to its result
        now += [(i, i - 3, None, t, t) for t in types if (i, t) in live]
    live |= {(v[1], t) for v in now for t in v[3:5]}
    convs += now
convs.sort(key=lambda v: v[0])

def message(v):
    i, src, r, s, d = v
    w = width[i][d]
    if layer in ("gat", "gatv2"):
        return w * heads if i == last and heads > 1 else w
    if layer == "hgt":
        return 2 * w
    if layer == "gin" or "max" in option:
        return 0
    return w if w < width[src][s] else 0

def kept(v, first):  # floats of a destination, and of a source
    i, src, r, s, d = v
    w, m = width[i][d], message(v)
    if layer == "gat":
        return m + 5 * heads, heads
    if layer == "gatv2":
        return m + 5 * heads + m + (m if i == last and heads > 1 and src > 0 else 0), heads
    if layer == "hgt":
        return (3 * w + 3 * heads if first else 0), 2 * w
    if layer == "gin":
        return width[src][s] + 2 * w + (w if norm != "none" else 0) + (norm == "layer"), 0
    return (m or width[src][s]) + (width[src][s] if "max" in option else 0), 0

# Rows that are made again: those of a hidden layer of attention, if nothing else adds to them. The last that needs them is a
# convolution in the order in which they are done; it needs them until it begins, if all who need them are attention.
def maker(i, t):
    into = [v for v in convs if v[0] == i and v[4] == t]
    return into[0] if layer in ("gat", "gatv2") and 0 < i < last and len(into) == 1 else None

def users(i, t):
    return sorted((v for v in convs if v[1] == i and t in v[3:5]), key=lambda v: (v[0], types.index(v[4]), convs.index(v)))

def passes(p, kept_of):  # (bytes of rows, of gradients) when both together are most
    attends = layer in ("gat", "gatv2", "hgt")
    bytes_of = lambda i, t: 4 * N(p, t) * width[i][t]
    sent_of = lambda v: 4 * N(p, v[3]) * message(v) if v[2] else 0
    sums_of = lambda v: 4 * N(p, v[4]) * message(v) if layer in ("gat", "gatv2") and v[2] else 0
    mean = lambda v: v[0] == last and heads > 1
    spent = lambda v: layer in ("gat", "gatv2") and not mean(v) and (layer == "gat" or v[1] == 0)
    stays = lambda v: attends and v[0] == last  # messages, after the forward pass
    x = {"rows": 0, "gradients": 0, "most": (0, 0)}
    gone, alive = set(), set()
    def note():
        if x["rows"] + x["gradients"] > sum(x["most"]):
            x["most"] = x["rows"], x["gradients"]
    def drop(v, opened):
        for t in set(v[3:5]):
            u = users(v[1], t)
            if (v[1], t) not in gone and maker(v[1], t) and u[-1] == v and all(w[2] is not None for w in u) == opened:
                x["rows"] -= bytes_of(v[1], t)
                gone.add((v[1], t))
    def need(i, t):
        x["rows"] += bytes_of(i, t) if (i, t) in gone else 0
        gone.discard((i, t))
    def gradient(i, t):
        if i > 0 and (i, t) not in alive:
            alive.add((i, t))
            x["gradients"] += bytes_of(i, t)
    seen = set()
    for i in range(1, last + 1):
        for t in [t for t in types if (i, t) in live]:
            into = [v for v in convs if v[0] == i and v[4] == t]
            for v in into:
                x["rows"] += sent_of(v)
                note()
                drop(v, True)
                x["rows"] += kept_of(v, v[2] is not None and (i, t) not in seen)
                if v[2]:
                    seen.add((i, t))
            x["rows"] += bytes_of(i, t) * (2 if stage[i][2] and not maker(i, t) else 1) + (4 * N(p, t) if stage[i][2] and norm == "layer" else 0)
            note()
            for v in into:
                x["rows"] -= 0 if stays(v) else sent_of(v)
                drop(v, False)
    for i in range(last, 0, -1):
        for t in [t for t in types if (i, t) in (live if i == last else alive)]:
            into = [v for v in convs if v[0] == i and v[4] == t]
            normed = bytes_of(i, t) if stage[i][2] else 0
            need(i, t)
            x["rows"] += normed if maker(i, t) else 0
            for v in into:
                if not v[2]:
                    need(v[1], v[4])
            note()
            x["rows"] -= normed + (bytes_of(i, t) if maker(i, t) else 0) + sum(sums_of(v) for v in into if spent(v))
            for v in [v for v in into if v[2]]:
                need(v[1], v[3]), need(v[1], v[4])
                x["rows"] += sent_of(v) if attends and not stays(v) else 0
                x["gradients"] += sent_of(v)
                if not message(v):
                    gradient(v[1], v[3])
                note()
                x["rows"] -= sent_of(v) if attends else 0
                gradient(v[1], v[3])
                if own:
                    gradient(v[1], v[4])
                note()
                x["gradients"] -= sent_of(v)
                x["rows"] -= 0 if spent(v) else sums_of(v)
            for v in [v for v in into if not v[2]]:
                gradient(v[1], v[4])
            note()
        x["gradients"] -= sum(bytes_of(*a) for a in alive if a[0] == i)
        alive = {a for a in alive if a[0] != i}
    return x["most"]

def rank(parts):
    x = dict.fromkeys(("edges", "features", "rows", "gradients", "messages", "parameters"), 0)
    flat = [v for v in convs if v[2]]
    attends = layer in ("gat", "gatv2", "hgt")
    numbered = attends or "max" in option
    for p in parts:
        for r in sorted({v[2] for v in flat}):
            H = sum(used[r, p, q] for q in range(k) if q != p)
            S = sum(used[r, q, p] for q in range(k) if q not in parts)
            a, b = N(p, r[0]), N(p, r[2])
            x["edges"] += (12 if numbered else 8) * edges[r, p] + 4 * k * b + 4 * a + 8 * H + 4 * S
            x["edges"] += 4 * columns[r] * (edges[r, p] + (b if r[0] == r[2] else 0))
            x["edges"] += 12 * b + 4 * H if layer == "gcn" else 4 * b if layer == "sage" and "max" not in option else 0
        for t in types:
            if (0, t) in live:
                x["features"] += N(p, t) * width0[t] * (size + (4 if "copied" in option or size != 4 else 0))
        def kept_of(v, first):
            if not v[2]:
                return 4 * N(p, v[4]) * (width[v[1]][v[4]] + width[v[0]][v[4]]) if stage[v[0]][1] == "out" and v[1] == v[0] - 1 else 0
            dst, src = kept(v, first)
            others = 4 * message(v) * sum(used[v[2], p, q] for q in range(k) if q != p) if "keep" in option else 0
            return 4 * (N(p, v[4]) * dst + max(used[v[2], p, q] for q in range(k)) * src) + others
        rows, gradients = passes(p, kept_of)
        x["rows"] += rows
        x["gradients"] += gradients
    inside = outside = 0
    for v in flat:
        w = 4 * (message(v) or width[v[1]][v[3]])
        for c in range(1, k):
            come = [((p - c) % k, used[v[2], p, (p - c) % k]) for p in parts]
            inside = max(inside, w * sum(n for q, n in come if q in parts))
            outside = max(outside, w * sum(n for q, n in come if q not in parts))
            outside = max(outside, w * sum(used[v[2], (p + c) % k, p] for p in parts if (p + c) % k not in parts))
    x["messages"] = 3 * inside + (min(depth + 1, k - 1) + 1 + min(depth, k - 1) + min(2, k - 1)) * outside
    raw = open(model, "rb").read()
    head = json.loads(raw[8:8 + struct.unpack("<Q", raw[:8])[0]])
    floats = lambda s, many: -(-int(np.prod(s)) * many // 16) * 16
    T = 4 * sum(floats(t["shape"], 2 if t["dtype"] == "I64" else 1) for n, t in head.items() if n != "__metadata__")
    x["parameters"] = (4 + (3 if ranks > 1 else 1) * len(parts)) * T
    x["formula"] = sum(x.values())
    return x

got = next(e for e in map(json.loads, open(metrics)) if e["event"] == "full_batch")
want = [rank([p]) for p in range(k)] if ranks > 1 else [rank(list(range(k)))]
got = {name: got[name + "_bytes"] for name in want[0]}
assert got in want, (got, want)
print("ok")
