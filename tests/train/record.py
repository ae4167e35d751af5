#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""PyG against gnn-tools. Needs torch and torch_geometric; the tests need neither.

record.py DIR                     writes the graphs, PyG models and their outputs that tests/train/30-pyg.t compares with
record.py --check KIND MODEL NPY  loads a model of ours into PyG (strict) and prints the largest difference between its
                                  probabilities and those in NPY; KIND as below; run in DIR
record.py --cases DIR [NAME...]   for the models of cases.txt, or those named: writes DIR/case-NAME.safetensors, with the
                                  description that gnn-train makes and random parameters; case-NAME.npy, the probabilities
                                  that load_model() makes of it; and case-NAME.step.safetensors, the same model after
                                  a step of SGD with all nodes of the labelled type as seeds; needs the programs and xxhash
record.py --load STORE MODEL NPY  loads a model of ours by load_model() and prints the largest difference between
                                  its probabilities and those in NPY; STORE: g, gw, t or gt; run in DIR
record.py --batch-norm            prints what tests/unit/test_train_kernels.c has of PyTorch's batch norm
"""
import copy, gzip, io, json, os, subprocess, sys, tempfile, zipfile, zlib
import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save, save_file
from torch_geometric.nn import GAT, GATConv, GATv2Conv, GCN, GIN, GINConv, GINEConv, GraphSAGE, HeteroConv, HGTConv, LayerNorm, MLP, RGCNConv, SAGEConv

CLASSES, HIDDEN, HEADS = 4, 16, 4
RELATIONS = [("a", "cites", "a"), ("b", "of.x", "a"), ("a", "has", "b"), ("c", "to", "b"), ("a", "in", "c")]
SAGE = {"sage-max": {"aggr": "max"}, "sage-sum": {"aggr": "sum"},
        "sage-more": {"aggr": "max", "normalize": True, "project": True}}
COUNTS = {"a": 40, "b": 25, "c": 6}
WIDTHS = {"typed": {"a": 7, "b": 9, "c": 1},  # c has no features: constant ones
          "gin-typed": dict.fromkeys(COUNTS, 7)}
WIDTHS["gat-typed"] = WIDTHS["gatv2-typed"] = WIDTHS["hgt-typed"] = WIDTHS["typed"]
GRAPHS = ("typed", "gin-typed")


def conv(kind, src, dst, out, loops):
    if kind == "typed":
        return SAGEConv((src, dst), out)
    if kind.startswith("gat"):
        concat, Conv = out != CLASSES, GATConv if kind == "gat-typed" else GATv2Conv
        return Conv((src, dst), out // HEADS if concat else out, heads=HEADS, concat=concat, add_self_loops=loops)
    return GINConv(MLP([src, out, out], norm="layer_norm", norm_kwargs={"mode": "node"}), train_eps=True)


class Typed(torch.nn.Module):
    def __init__(self, kind, layers=2):
        super().__init__()
        self.convs = torch.nn.ModuleList()
        self.norms = torch.nn.ModuleList()
        for l in range(layers):
            out = CLASSES if l == layers - 1 else HIDDEN
            width = WIDTHS[kind] if l == 0 else dict.fromkeys(COUNTS, HIDDEN)
            if kind == "hgt-typed":
                self.convs.append(HGTConv(width, out, (list(COUNTS), RELATIONS), heads=HEADS))
                continue
            self.convs.append(HeteroConv({(s, r, d): conv(kind, width[s], width[d], out, s == d)
                                          for s, r, d in RELATIONS}, aggr="sum"))
            if kind == "gin-typed" and l + 1 < layers:
                self.norms.append(torch.nn.ModuleDict({t: LayerNorm(HIDDEN, mode="node") for t in COUNTS}))

    def forward(self, x, edges):
        for l, conv in enumerate(self.convs):
            x = conv(x, edges)
            if l + 1 < len(self.convs):
                x = {k: (self.norms[l][k](v) if self.norms else v).relu() for k, v in x.items()}
        return x["a"]


RGCN = {"rgcn": None, "rgcn-bases": 3}


class Relational(torch.nn.Module):
    """R-GCN with so many bases; all nodes in one row, types one after the other."""
    def __init__(self, bases):
        super().__init__()
        self.convs = torch.nn.ModuleList(RGCNConv(src, out, len(RELATIONS), bases)
                                         for src, out in ((WIDTHS["gin-typed"]["a"], HIDDEN), (HIDDEN, CLASSES)))

    def forward(self, x, edges):
        first = dict(zip(COUNTS, np.cumsum([0, *COUNTS.values()])))
        flat = torch.cat([edges[s, r, d] + torch.tensor([[first[s]], [first[d]]]) for s, r, d in RELATIONS], 1)
        kind = torch.cat([torch.full((edges[r].shape[1],), i) for i, r in enumerate(RELATIONS)])
        h = self.convs[0](torch.cat([x[t] for t in COUNTS]), flat, kind).relu()
        return self.convs[1](h, flat, kind)[:COUNTS["a"]]


EDGE_KINDS, EDGE_WIDTH = ("gine", "gat-edge", "gatv2-edge"), 5


class WithEdges(torch.nn.Module):
    """Two layers that use features of edges."""
    def __init__(self, kind, width):
        super().__init__()
        def conv(src, out):
            return GINEConv(MLP([src, out, out], norm=None), edge_dim=EDGE_WIDTH, train_eps=True)
        self.convs = torch.nn.ModuleList([conv(width, HIDDEN), conv(HIDDEN, CLASSES)])

    def forward(self, x, edges, edge_attr):
        return self.convs[1](self.convs[0](x, edges, edge_attr).relu(), edges, edge_attr)


def model(kind, width):
    if kind == "gine":
        return WithEdges(kind, width)
    if kind == "sage":
        return GraphSAGE(width, HIDDEN, 2, CLASSES)
    if kind in RGCN:
        return Relational(RGCN[kind])
    if kind in SAGE:
        return GraphSAGE(width, HIDDEN, 2, CLASSES, **SAGE[kind])
    if kind == "sage-norm":
        return GraphSAGE(width, HIDDEN, 3, CLASSES, norm="layer_norm", norm_kwargs={"mode": "node"})
    if kind == "sage-batch":
        return GraphSAGE(width, HIDDEN, 3, CLASSES, norm="BatchNorm")
    if kind in ("gcn", "gcn-weight"):
        return GCN(width, HIDDEN, 2, CLASSES)
    if kind == "gin":
        return GIN(width, HIDDEN, 2, CLASSES, train_eps=True)
    if kind == "gin-batch":
        return GIN(width, HIDDEN, 3, CLASSES, norm="BatchNorm")
    if kind in ("gat", "gatv2"):
        return GAT(width, HIDDEN, 2, CLASSES, heads=HEADS, v2=kind == "gatv2")
    if kind in ("gat-res", "gatv2-res"):
        return GAT(width, HIDDEN, 2, CLASSES, heads=HEADS, v2=kind == "gatv2-res", residual=True)
    if kind in EDGE_KINDS:
        return GAT(width, HIDDEN, 2, CLASSES, heads=HEADS, v2=kind == "gatv2-edge", edge_dim=EDGE_WIDTH)
    if kind == "gatv2-share":
        return GAT(width, HIDDEN, 3, CLASSES, heads=HEADS, v2=True, share_weights=True, add_self_loops=False)
    return Typed(kind)


def graph():
    with np.load("graph.npz") as z:
        return torch.tensor(z["node_features"]), torch.tensor(z["edges"].T.astype(np.int64))


def csv(z, name, dtype):
    return np.loadtxt(io.StringIO(gzip.decompress(z.read(name)).decode()), delimiter=",", dtype=dtype, ndmin=2)


def typed(kind):
    with zipfile.ZipFile(f"{kind if kind in GRAPHS else 'typed'}.zip") as z:
        x = {t: torch.tensor(csv(z, f"typed/raw/node-feat/{t}/node-feat.csv.gz", np.float32))
             if WIDTHS[kind][t] > 1 else torch.ones(COUNTS[t], 1) for t in COUNTS}
        e = {r: torch.tensor(csv(z, "typed/raw/relations/%s/edge.csv.gz" % "___".join(r), np.int64).T.copy())
             for r in RELATIONS}
    return x, e


def edge_field(name):
    """Of the edges of graph.npz."""
    with np.load("weighted.npz") as z:
        return {name: torch.tensor(z[name])}


def probabilities(kind, m):
    m.eval()
    with torch.no_grad():
        x, e = typed("gin-typed") if kind in RGCN else typed(kind) if kind in WIDTHS else graph()
        more = edge_field("edge_weight") if kind.endswith("-weight") else edge_field("edge_attr") if kind in EDGE_KINDS else {}
        return torch.softmax(m(x, e, **more), 1).numpy()


def write_graphs(rng):
    n, e = 60, 240
    edges = rng.integers(0, n, (e, 2))
    edges[:4, 1] = edges[:4, 0]      # self loops
    edges[10:14] = edges[20:24]      # parallel edges
    edges[edges[:, 1] == 7, 1] = 8   # a node without in-edges
    mask = np.arange(n) % 3
    np.savez(  # keys as in the data sets of heterophilous graphs
        "graph.npz", node_features=rng.standard_normal((n, 11)).astype(np.float32),
        node_labels=rng.integers(0, CLASSES, n), edges=edges,
        **{k: (mask == i)[None] for i, k in enumerate(("train_masks", "val_masks", "test_masks"))})
    own = np.random.default_rng(6)
    with np.load("graph.npz") as z:  # the same with weights, some of them 0, and features of edges
        np.savez("weighted.npz", edge_weight=(own.integers(0, 9, e) / 4).astype(np.float32),
                 edge_attr=own.standard_normal((e, EDGE_WIDTH)).astype(np.float32), **z)
    for kind in GRAPHS:
        write_typed(kind, rng)


def write_typed(kind, rng):
    with zipfile.ZipFile(f"{kind}.zip", "w", zipfile.ZIP_STORED) as z:
        def put(name, text):
            z.writestr(zipfile.ZipInfo(f"typed/{name}.csv.gz"), gzip.compress(text.encode(), mtime=0))
        def rows(a, f="%d"):
            return "\n".join(",".join(f % v for v in r) for r in np.atleast_2d(a)) + "\n"
        types = list(COUNTS)
        put("raw/num-node-dict", ",".join(types) + "\n" + ",".join(str(COUNTS[t]) for t in types) + "\n")
        put("raw/triplet-type-list", rows(np.array(RELATIONS), "%s"))
        put("raw/nodetype-has-feat", ",".join(types) + "\n" + ",".join(str(WIDTHS[kind][t] > 1) for t in types) + "\n")
        put("raw/nodetype-has-label", ",".join(types) + "\nTrue,False,False\n")
        put("split/random/nodetype-has-split", ",".join(types) + "\nTrue,False,False\n")
        for s, r, d in RELATIONS:
            m = 3 * COUNTS[d]
            e = np.stack([rng.integers(0, COUNTS[s], m), rng.integers(0, COUNTS[d], m)], 1)
            put(f"raw/relations/{s}___{r}___{d}/edge", rows(e))
            put(f"raw/relations/{s}___{r}___{d}/num-edge-list", f"{m}\n")
        for t in [t for t in types if WIDTHS[kind][t] > 1]:
            put(f"raw/node-feat/{t}/node-feat", rows(rng.standard_normal((COUNTS[t], WIDTHS[kind][t])), "%.4f"))
            put(f"raw/node-feat/{t}/num-node-list", f"{COUNTS[t]}\n")
        put("raw/node-label/a/node-label", rows(rng.integers(0, CLASSES, COUNTS["a"])[:, None]))
        put("raw/node-label/a/num-node-list", f"{COUNTS['a']}\n")
        ids = np.arange(COUNTS["a"])
        for i, name in enumerate(("train", "valid", "test")):
            put(f"split/random/a/{name}", rows(ids[ids % 3 == i][:, None]))


LR = 64  # large, so that rounding parameters to single precision is small against the step
STORES = {"g": "graph.npz", "gw": "weighted.npz", "t": "typed.zip", "gt": "gin-typed.zip"}


def inputs(store, m):
    """What m is applied to, in double precision, so that what is recorded is exact; and labels."""
    if store in ("g", "gw"):
        (x, e), edge = graph(), [v.double() for v in edge_field(m.edge).values()] if m.edge else []
        with np.load("graph.npz") as z:
            return (x.double(), e, *edge), torch.tensor(z["node_labels"])
    x, e = typed(STORES[store][:-4])
    with zipfile.ZipFile(STORES[store]) as z:
        return ({t: v.double() for t, v in x.items()}, e), torch.tensor(csv(z, "typed/raw/node-label/a/node-label.csv.gz", np.int64)[:, 0])


def gnn_model(path):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../formats/python"))
    from gnntools import load_model
    return load_model(path).double().eval()


def cases():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases.txt")) as f:
        return [(w[0], w[1], int(w[2]), w[3:]) for w in map(str.split, f) if w[0] != "#"]


def save_ours(model, path, description):
    """A file with a description has a checksum (gnn-train(1), FILES)."""
    import xxhash
    state = {k: v.float() if v.is_floating_point() else v for k, v in model.state_dict().items()}
    data = save(state, {"format": "pt", "gnn": description, "gnn_checksum": "0" * 32})
    n = int.from_bytes(data[:8], "little")
    head = json.loads(data[8:8 + n])  # the order of its members changes from run to run
    head = json.dumps({k: dict(sorted(v.items())) for k, v in sorted(head.items())}, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 64)
    data = len(head).to_bytes(8, "little") + head + data[8 + n:]
    data = data.replace(b"0" * 32, xxhash.xxh3_128_hexdigest(data).encode(), 1)
    with open(path, "wb") as f:
        f.write(data)


def randomise(m):
    for p in m.parameters():
        bound = 1.2 / p.shape[1] ** 0.5 if p.dim() > 1 else 0.6
        torch.nn.init.uniform_(p, -bound, bound)
    for b in m.buffers():
        b.uniform_(0.3, 0.9) if b.is_floating_point() else b.fill_(12345)


def take_step(m, x, y):
    before = copy.deepcopy(m.state_dict())
    m.train()
    torch.nn.functional.cross_entropy(m(*x), y).backward()
    torch.optim.SGD(m.parameters(), lr=LR).step()
    for name, module in m.named_modules():  # statistics that the output does not depend on are not kept
        if isinstance(module, torch.nn.BatchNorm1d) and (module.weight.grad is None or not module.weight.grad.any()):
            module.load_state_dict({k[len(name) + 1:]: v for k, v in before.items() if k.startswith(name + ".")})


def record_case(stores, name, store, layers, options):
    path = f"case-{name}.safetensors"
    subprocess.run(["gnn-train", "--store", f"{stores}/{store}", "-f", ",".join(["3"] * layers), "-b", "30", "--epochs", "1", "--eval", "none",
                    "--hidden", "8", "--no-layer-norm", "-q", "-o", path, *options], check=True)
    with safe_open(path, "pt") as f:
        description = f.metadata()["gnn"]
    torch.manual_seed(zlib.crc32(name.encode()))  # so that what is recorded does not depend on other cases
    m = gnn_model(path)
    randomise(m)
    save_ours(m, path, description)
    m = gnn_model(path)
    x, y = inputs(store, m)
    with torch.no_grad():
        np.save(f"case-{name}.npy", torch.softmax(m(*x), 1).float().numpy())
    take_step(m, x, y)
    save_ours(m, f"case-{name}.step.safetensors", description)


def record_cases(names):
    with tempfile.TemporaryDirectory() as stores:
        for store, source in STORES.items():
            subprocess.run(["gnn-import", "-q", "-o", f"{stores}/{store}", source, *["--directed"][:store in ("g", "gw")]], check=True)
        for name, *case in cases():
            if not names or name in names:
                record_case(stores, name, *case)


def batch_norm():
    """Two steps of BatchNorm1d, the gradients of the second, and what it makes of the same rows afterwards."""
    n, d = 7, 4
    x, dy = (torch.tensor([[f(i, j) for j in range(d)] for i in range(n)]) for f in
             (lambda i, j: ((7 * i + 3 * j) % 11 - 4) * (0.25 + j) + 10. * (j == 2), lambda i, j: ((5 * i + 2 * j) % 9 - 4) * 0.125))
    m = torch.nn.BatchNorm1d(d)
    with torch.no_grad():
        m.weight.copy_(torch.tensor([0.5, -1, 2, 0.25]))
        m.bias.copy_(torch.tensor([0, 0.5, -0.25, 1]))
    m(x + 1)
    x.requires_grad_()
    y = m(x)
    y.backward(dy)
    m.eval()
    for name, t in (("y", y), ("dx", x.grad), ("dgamma", m.weight.grad), ("dbeta", m.bias.grad), ("mean", m.running_mean),
                    ("var", m.running_var), ("later", m(x))):
        print("%s[] = {%s};" % (name, ", ".join("%.9gf" % v for v in t.detach().flatten())))
    print(m.num_batches_tracked.item(), "batches")


def main():
    if sys.argv[1] == "--batch-norm":
        return batch_norm()
    if sys.argv[1] == "--check":
        kind, path, npy = sys.argv[2:]
        m = model(kind, 11)
        m.load_state_dict(load_file(path), strict=True)
        print("%.3e" % np.abs(probabilities(kind, m) - np.load(npy)).max())
        return
    if sys.argv[1] == "--cases":
        os.chdir(sys.argv[2])
        return record_cases(sys.argv[3:])
    if sys.argv[1] == "--load":
        store, path, npy = sys.argv[2:]
        m = gnn_model(path)
        x, _ = inputs(store, m)
        with torch.no_grad():
            print("%.3e" % np.abs(torch.softmax(m(*x), 1).numpy() - np.load(npy)).max())
        return
    os.chdir(sys.argv[1])
    torch.manual_seed(3)
    write_graphs(np.random.default_rng(5))
    for kind in ("sage", "sage-norm", "gcn", "gcn-weight", "gine", "typed", "sage-batch", "gin", "gin-batch", "gin-typed", *SAGE,
                 "gat", "gatv2", "gat-typed", "gatv2-typed", *RGCN, "hgt-typed", *EDGE_KINDS[1:], "gat-res", "gatv2-res"):
        m = model(kind, 11)
        for p in m.parameters():  # biases and norms too, so that a mix-up shows
            torch.nn.init.uniform_(p, -0.6, 0.6)
        for k, b in m.named_buffers():
            if b.is_floating_point():
                torch.nn.init.uniform_(b, 0.3, 0.9)
            else:
                b.fill_(12345)
        save_file(m.state_dict(), f"{kind}.safetensors")
        np.save(f"{kind}.npy", probabilities(kind, m))


main()
