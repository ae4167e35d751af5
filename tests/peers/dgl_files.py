# SPDX-License-Identifier: Apache-2.0
"""dgl_files.py PROGRAM: writes graphs and tensors with DGL, and compares what test_dgl_file prints of them with what they hold, and
what DGL reads of files from tests/import/dgl_files.py with what these were made of. One line a file: ok or "not ok"|name|what was
seen."""
import inspect
import os
import subprocess
import sys

import dgl
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "import"))
import dgl_files as own

torch.manual_seed(1)
NAMES = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "bool": "u8"}


def result(name, good, seen=""):
    print("%s|%s|%s" % ("ok" if good else "not ok", name, str(seen).replace("\n", " / ")))


def shown(name, t):
    kind = str(t.dtype).split(".")[1]
    kind = NAMES.get(kind, kind.replace("uint", "u").replace("int", "i"))
    shape = "[%s]" % "x".join(map(str, t.shape)) if t.dim() else ""
    data = t.contiguous().view(torch.int16) if t.dtype == torch.bfloat16 else t
    return "%s:%s%s=%s" % (name, kind, shape, data.numpy().tobytes().hex())


def tensors(d):
    return sorted(shown(k, v) for k, v in d.items())


def graph_lines(g):
    lines = [[t, str(g.num_nodes(t))] + tensors(g.nodes[t].data) for t in g.ntypes]
    for s, r, d in g.canonical_etypes:
        u, v = g.edges(form="uv", order="eid", etype=(s, r, d))
        ends = ["%d>%d" % e for e in zip(u.tolist(), v.tolist())]
        lines.append(["%d/%s/%d" % (g.ntypes.index(s), r, g.ntypes.index(d))] + ends + tensors(g.edges[s, r, d].data))
    return lines


def read(path):
    """What the program prints: a word list per line, tensors sorted."""
    p = subprocess.run([sys.argv[1], path], capture_output=True, text=True)
    # DGL 0.6 writes booleans as such, later versions as bytes.
    lines = [line.replace(":bool[", ":u8[").split() for line in p.stdout.split("\n")[:-1]]
    return [[w for w in line if "=" not in w] + sorted(w for w in line if "=" in w) for line in lines]


def compare(name, graphs, labels=None, saved=None, **how):
    if how and "formats" not in inspect.signature(dgl.save_graphs).parameters:
        return
    dgl.save_graphs("f.dgl", saved or graphs, labels, **how)
    expected = [tensors(labels or {})] + sum(map(graph_lines, graphs), [])
    seen = read("f.dgl")
    result("test_dgl_file reads " + name, seen == expected, seen)


def values(n, kind):
    v = torch.randint(0, 2 if kind == torch.bool else 100, (n, 3))
    return v.to(kind)


plain = dgl.graph((torch.randint(0, 50, (200,)), torch.randint(0, 50, (200,))), num_nodes=60)
for k in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool):
    plain.ndata[str(k)] = values(60, k)
    plain.edata[str(k)] = values(200, k)
plain.ndata["vector"] = torch.rand(60)
plain.ndata["cube"] = torch.rand(60, 2, 3, 2)
plain.ndata["nothing"] = torch.rand(60, 0)
typed = dgl.heterograph({("user", "buys", "item"): (torch.randint(0, 9, (30,)), torch.randint(0, 7, (30,))), ("item", "is", "user"): ([0], [8]),
                         ("user", "knows", "user"): ([], []), ("item", "buys", "item"): ([1, 1], [2, 2])}, {"user": 9, "item": 8, "alone": 3})
typed.nodes["user"].data["x"] = torch.rand(9, 4)
typed.edges["user", "buys", "item"].data["t"] = torch.arange(30)
for name, g in ("a graph", plain), ("a graph of types", typed):
    compare(name, [g])
    compare(name + " of 32 bits", [g.int()])
    compare("several of " + name, [g, g.reverse(), g], {"y": torch.arange(3), "z": torch.rand(3, 2)})
    for forms in ["coo"], ["csr"], ["csc"], ["coo", "csr"], ["csr", "csc"], ["coo", "csr", "csc"]:
        compare("%s as %s" % (name, ", ".join(forms)), [g], formats=forms)
        compare("%s that has %s" % (name, ", ".join(forms)), [g], saved=[g.formats(forms)])
compare("a graph without edges", [dgl.graph(([], []), num_nodes=4)])
for form in "coo", "csr", "csc":
    compare("a graph without nodes as " + form, [dgl.graph(([], []), num_nodes=0)], formats=form)
if hasattr(dgl, "reorder_graph"):
    compare("a graph with permuted edges", [dgl.reorder_graph(plain, edge_permute_algo="src", store_ids=True)])
compare("an induced graph", [dgl.node_subgraph(plain, torch.arange(30))])
compare("a graph that is turned", [plain.reverse()], saved=[plain.formats("csc").reverse()])
named = {"_N/x": torch.rand(5, 2), "u:r:v/t": torch.arange(4), "scalar": torch.tensor(2.5), "none": torch.zeros(0, dtype=torch.int64)}
for name, d in ("tensors", named), ("no tensors", {}):
    dgl.data.utils.save_tensors("t.dgl", d)
    seen = read("t.dgl")
    result("test_dgl_file reads " + name, seen == [tensors(d)], seen)

# The writer of the other tests.
PAIRS = [(0, 1), (1, 2), (2, 0), (2, 1)]
n = [("a", 3, {"x": ("f", (3, 2), range(6))}), ("b", 2, {})]
e = [(0, "r", 0, PAIRS, {"w": ("e", (4,), range(4))}), (1, "s", 0, [(1, 2)], {})]
for forms in (1, 2, 4, 7) if "formats" in inspect.signature(dgl.save_graphs).parameters else ():
    for kind in "q", "i":
        with open("own.dgl", "wb") as f:
            f.write(own.save_graphs([own.graph(n, e, forms, kind)], {"y": ("q", (1,), [4])}))
        (g,), labels = dgl.load_graphs("own.dgl")
        u, v = g.edges(order="eid", etype="r")
        good = list(zip(u.tolist(), v.tolist())) == PAIRS and g.canonical_etypes == [("a", "r", "a"), ("b", "s", "a")]
        good = good and g.nodes["a"].data["x"].flatten().tolist() == list(range(6)) and g.edges["r"].data["w"].tolist() == [0, 1, 2, 3]
        result("DGL reads forms %d, %s" % (forms, kind), good and labels["y"].item() == 4, g)
with open("own.dgl", "wb") as f:
    f.write(own.save_tensors({"a": ("q", (2,), [1, 2]), "b": ("B", (1, 1), [3])}))
d = dgl.data.utils.load_tensors("own.dgl")
result("DGL reads tensors", d["a"].tolist() == [1, 2] and d["b"].tolist() == [[3]], d)
