# SPDX-License-Identifier: Apache-2.0
# Graphs of PyG, SciPy and DGL become stores, and to_pyg gives them back key by key, also from partitions.
. "$GNN_TOP/tests/lib.sh"
GNN_PYTHON=${GNN_PEERS-}
export DGLBACKEND=pytorch
. "$GNN_TOP/tests/python/lib.sh"
cat >pyg.py <<'EOP'
import warnings
from helpers import *
import torch
from torch_geometric.data import Data, HeteroData
torch.manual_seed(1)
N, E = 50, 300

def plain():
    i = torch.arange(N)
    return Data(x=torch.randn(N, 7), edge_index=torch.randint(0, N, (2, E)), y=torch.randint(0, 4, (N,)), year=i.int(), half=torch.randn(N, 2).half(),
                train_mask=i < 20, val_mask=(i >= 20) & (i < 30), test_mask=i > 40, edge_attr=torch.randn(E, 3), edge_weight=torch.rand(E),
                edge_kind=torch.randint(0, 9, (E,)))

def typed():
    h, bit = HeteroData(), lambda *rows: torch.tensor(rows, dtype=torch.bool)
    h["user"].x, h["user"].y, h["user"].val_mask = torch.randn(5, 3).bfloat16(), torch.tensor([0, 1, 2, -1, 1]), bit(1, 0, 1, 0, 0)
    h["item"].num_nodes = 7
    h["a.b"].x, h["a.b"].train_mask, h["a.b"].test_mask = torch.randn(3, 2).bfloat16(), bit([1, 0], [0, 1], [0, 0]), bit([0, 1], [1, 0], [1, 1])
    h["user", "buys", "item"].edge_index, h["user", "buys", "item"].time = torch.tensor([[0, 4], [6, 2]]), torch.tensor([5., 3.]).double()
    h["item", "rev buys", "user"].edge_index, h["item", "rev buys", "user"].edge_attr = torch.tensor([[6, 2, 1], [0, 4, 1]]), torch.randn(3, 1)
    h["item", "in", "a.b"].edge_index = torch.zeros(2, 0, dtype=torch.long)
    return h

def alike(a, b):
    """The same keys, and under each the same tensor, dtype and shape included."""
    if hasattr(a, "edge_types"):
        assert a.node_types == b.node_types and a.edge_types == b.edge_types, (a, b)
        for t in a.node_types + a.edge_types:
            alike(a[t], b[t])
        return
    assert {*a.keys()} == {*b.keys()}, (a, b)
    for k in a.keys():
        u, v = a[k], b[k]
        assert u.dtype == v.dtype and u.shape == v.shape and torch.equal(u, v) if torch.is_tensor(u) else u == v, (k, u, v)

def said(call, *args, **kw):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        call(*args, **kw)
    return [str(w.message) for w in seen if w.category is UserWarning]
EOP
says() { # MODULE NAME: as py, with pyg.py
    printf '%s\n' 'from pyg import *' >head
    cat >>head
    if "${python-}" -c "import torch_geometric, $1" 2>/dev/null; then PYTHONPATH=$PYTHONPATH:. py "$2" <head; else skip "$2" "no $1"; fi
    : >head
}
says torch "Data and HeteroData come back key by key, without a word" <<'EOP'
for data in plain(), typed():
    assert said(lambda: alike(data, g.to_pyg(g.from_pyg(data, "s", force=True, strict=True)))) == []
EOP
says torch "graphs with times come back in the user's order, also from partitions" <<'EOP'
data = plain()
data.edge_time, data.time = torch.randint(0, 99, (E,)), torch.randint(0, 99, (N,))
for d in data, typed(), plain():
    alike(d, g.to_pyg(g.from_pyg(d, "s", force=True)))
    subprocess.run("gnn-partition -q -k 3 --force -o p s".split(), check=True)
    alike(d, g.to_pyg("p"))
EOP
says torch "a plain store as HeteroData, and a typed one not as Data" <<'EOP'
h = g.to_pyg(g.from_pyg(plain(), "s", force=True), hetero=True)
assert h.node_types == ["node"] and h.edge_types == [("node", "to", "node")] and "edge_attr" in h["node", "to", "node"]
raises(ValueError, "3 node types and 3 edge types: HeteroData holds them", g.to_pyg, g.from_pyg(typed(), "s", force=True), hetero=False)
EOP
says torch "what a store cannot hold is named, or refused" <<'EOP'
data = plain()
data.name, data.flag, data.cube, data.words, data.x = "cora", torch.ones(N, dtype=torch.bool), torch.zeros(N, 2, 2), ["a"] * N, data.x.double()
want = ["'name' is of the graph as a whole", "'cube' has shape [50, 2, 2]", "'words': text, expected numbers", "'flag' comes back as uint8, not bool",
        "'x' comes back as float32, not float64"]
text = said(g.from_pyg, data, "s", force=True)
assert len(text) == 1 and all(w in text[0] for w in want), text
raises(ValueError, "'flag' comes back as uint8", g.from_pyg, data, "n", strict=True)
assert not os.path.exists("n") and said(g.from_pyg, data, "s", force=True, strict=True, exclude=["name", "cube", "words", "flag", "x"]) == []
data = typed()
data["item"].y = torch.zeros(7, dtype=torch.long)
raises(ValueError, "y of user, item, and a store has labels of one node type: say label_type", g.from_pyg, data, "n")
assert said(g.from_pyg, data, "s", force=True, label_type="user") == ["from_pyg: a store cannot hold everything: 'y' of item: a store has labels of one node type"]
raises(ValueError, "a dict, expected Data or HeteroData", g.from_pyg, {}, "n")
raises(ValueError, "no edge_index", g.from_pyg, Data(x=torch.ones(3, 1)), "n")
raises(ValueError, "x of 'node': [3, 0] is nan", g.from_pyg, Data(x=torch.tensor([0, 1, 2, torch.nan])[:, None], edge_index=torch.zeros(2, 1).long()), "n")
EOP
says torch "transposed adjacency matrices, tensors with gradients and strides" <<'EOP'
data = plain()
index, n = data.edge_index.unique(dim=1), N
adj = torch.sparse_coo_tensor(index.flip(0), torch.rand(index.shape[1]), (N, N)).to_sparse_csr()
back = g.to_pyg(g.from_pyg(Data(x=data.x, adj_t=adj), "s", force=True))
assert torch.equal(torch.sparse_coo_tensor(back.edge_index.flip(0), back.edge_weight, (N, N)).to_dense(), adj.to_dense())
want = g.from_pyg(Data(x=data.x, edge_index=data.edge_index), "s", force=True).identity
x = data.x.T.contiguous().T.requires_grad_()
assert g.from_pyg(Data(x=x, edge_index=data.edge_index.T.contiguous().T), "s", force=True).identity == want
EOP
says scipy.sparse "matrices of SciPy: entry (i, j) is an edge from i to j" <<'EOP'
import scipy.sparse as sp
m = sp.random(9, 9, 0.3, random_state=1, dtype=np.float32)
for f in m.tocsr(), m.tocsc(), m.tocoo(), sp.csr_array(m):
    d = g.to_pyg(g.from_scipy(f, "s", {"x": np.eye(9, dtype="f4")}, force=True))
    out = np.zeros((9, 9), "f4")
    out[d.edge_index[0], d.edge_index[1]] = d.edge_weight
    assert np.array_equal(out, m.toarray())
h = g.to_pyg(g.from_scipy(sp.random(4, 6, 0.5, random_state=1) > 0, "s", {"column": {"x": np.ones((6, 2))}}, force=True))
assert h["row"].num_nodes == 4 and h["column"].x.shape == (6, 2) and "edge_weight" not in h["row", "to", "column"]
raises(ValueError, "sum_duplicates", g.from_scipy, sp.coo_matrix((np.ones(2), ([0, 0], [1, 1])), (3, 3)), "n")
EOP
cat >>pyg.py <<'EOP'

def homogeneous():
    import dgl
    graph = dgl.graph((torch.randint(0, N, (E,)), torch.randint(0, N, (E,))), num_nodes=N)
    i = torch.arange(N)
    graph.ndata.update(feat=torch.randn(N, 7), label=torch.randint(0, 4, (N,)), train_mask=i < 20, val_mask=(i >= 20) & (i < 30), test_mask=i > 40,
                       year=i.int(), half=torch.randn(N, 2).half())
    graph.edata.update(feat=torch.randn(E, 3), w=torch.rand(E), kind=torch.randint(0, 9, (E,)))
    return graph

def several():
    import dgl
    t = torch.tensor
    graph = dgl.heterograph({("user", "buys", "item"): (t([0, 4, 1, 1]), t([6, 2, 2, 0])), ("user", "rates", "item"): (t([3]), t([3])),
                             ("item", "buys", "user"): (t([6, 2]), t([0, 4])), ("user", "knows", "user"): ([], [])}, {"user": 5, "item": 7})
    graph.nodes["user"].data.update(feat=torch.randn(5, 3), label=t([0, 1, 2, -1, 1]), train_mask=t([1, 0, 1, 0, 0]).bool())
    graph.edges["user", "buys", "item"].data.update(time=t([5, 3, 9, 1]), weight=torch.rand(4), feat=t([7, 8, 9, 6]))
    graph.edges["item", "buys", "user"].data["feat"] = torch.randn(2, 3)
    return graph

def in_order(graph, e):
    return torch.stack(graph.edges(etype=e, order="eid"))
EOP
says dgl "a graph of DGL: data of nodes and edges, labels, masks, weights, ids of edges" <<'EOP'
graph = homogeneous()
assert said(lambda: g.from_dgl(graph, "s", force=True, strict=True)) == []
d = g.to_pyg("s")
names = {"feat": "x", "label": "y"}, {"feat": "edge_attr", "w": "edge_weight"}
want = {**{names[0].get(k, k): v for k, v in graph.ndata.items()}, **{names[1].get(k, k): v for k, v in graph.edata.items()}}
alike(d, Data(edge_index=in_order(graph, graph.etypes[0]), **want))
s = g.from_dgl(graph, "s", force=True)
assert s.node_types == ["node"] and s.edge_types == [("node", "to", "node")] and s.set("valid").tolist() == list(range(20, 30))
assert g.from_dgl(graph.int(), "s", force=True).identity == s.identity
g.train(s, "m.st", fanout=[5, 5], hidden=8, epochs=1)
EOP
says dgl "a graph of DGL of several types, two relations between the same among them" <<'EOP'
graph = several()
d = g.to_pyg(g.from_dgl(graph, "s", force=True, strict=True))
assert d.node_types == graph.ntypes and d.edge_types == graph.canonical_etypes, d
for e in graph.canonical_etypes:
    assert torch.equal(d[e].edge_index, in_order(graph, e)), e
node, edge = graph.nodes["user"].data, graph.edges["user", "buys", "item"].data
assert {*d["user"].keys()} == {"x", "y", "train_mask"} and torch.equal(d["user"].x, node["feat"]) and torch.equal(d["user"].y, node["label"])
assert torch.equal(d["user"].train_mask, node["train_mask"]) and d["item"].num_nodes == 7
got = d["user", "buys", "item"]
assert all(torch.equal(got[k], edge[v]) for k, v in {"time": "time", "edge_weight": "weight", "feat": "feat"}.items()), got
assert torch.equal(d["item", "buys", "user"].edge_attr, graph.edges["item", "buys", "user"].data["feat"])
bipartite = graph["user", "buys", "item"]
assert g.from_dgl(bipartite, "s", force=True).edge_types == [("user", "buys", "item")]
EOP
says dgl "the same graph from DGL and from PyG is the same store" <<'EOP'
import dgl
data = plain()
graph = dgl.graph(tuple(data.edge_index), num_nodes=N)
renamed = {"x": "feat", "y": "label", "edge_attr": "feat", "edge_weight": "w"}
for k, v in data.to_dict().items():
    if k != "edge_index":
        (graph.edata if data.is_edge_attr(k) else graph.ndata)[renamed.get(k, k)] = v
assert g.from_dgl(graph, "s", force=True).identity == g.from_pyg(data, "t", force=True).identity
EOP
says dgl "what of DGL a store cannot hold is named, or refused" <<'EOP'
import dgl
graph = homogeneous()
block = dgl.to_block(graph.in_subgraph([1, 2]) if hasattr(graph, "in_subgraph") else dgl.in_subgraph(graph, [1, 2]))
raises(ValueError, "from_dgl: a DGLBlock, expected a DGLGraph: give the graph that it was sampled from", g.from_dgl, block, "n")
raises(ValueError, "from_dgl: a Data, expected a DGLGraph", g.from_dgl, plain(), "n")
graph.ndata.update(cube=torch.zeros(N, 2, 2), feat=graph.ndata["feat"].double())
graph.ndata["a name"] = torch.zeros(N)
want = ["'cube' has shape [50, 2, 2]", "'feat' comes back as float32, not float64", "'a name': its name"]
text = said(g.from_dgl, graph, "s", force=True)
assert len(text) == 1 and all(w in text[0] for w in want) and "edge_" not in text[0], text
raises(ValueError, "'cube' has shape [50, 2, 2]", g.from_dgl, graph, "n", strict=True)
assert said(g.from_dgl, graph, "s", force=True, strict=True, exclude=["cube", "a name", "feat"]) == []
text = said(g.from_dgl, dgl.batch([homogeneous(), homogeneous()]), "s", force=True)
assert text == ["from_dgl: a store cannot hold everything: 2 graphs of a batch become one"] and g.Store("s").count() == 2 * N, text
graph = homogeneous()
graph.ndata["x"] = graph.ndata["feat"]
raises(ValueError, "from_dgl: 'feat' and 'x' are both x in a store: exclude one", g.from_dgl, graph, "n")
graph = several()
graph.nodes["item"].data["label"] = torch.zeros(7, dtype=torch.long)
raises(ValueError, "from_dgl: label of item, user, and a store has labels of one node type: say label_type", g.from_dgl, graph, "n")
raises(ValueError, "labels of one node type: 'thing' has none", g.from_dgl, graph, "n", label_type="thing")
assert said(g.from_dgl, graph, "s", force=True, label_type="user") == \
    ["from_dgl: a store cannot hold everything: 'label' of item: a store has labels of one node type"]
graph = homogeneous()
graph.ndata["feat"][3, 0] = torch.nan
raises(ValueError, "x of 'node': [3, 0] is nan", g.from_dgl, graph, "n")
assert not os.path.exists("n")
EOP
done_testing
