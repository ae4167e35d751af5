# SPDX-License-Identifier: Apache-2.0
# Graphs of PyG, SciPy and DGL become stores, and to_pyg gives them back key by key, also from partitions.
. "$GNN_TOP/tests/lib.sh"
GNN_PYTHON=${GNN_PEERS-}
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
says dgl "graphs of DGL" <<'EOP'
import dgl
graph = dgl.graph((torch.tensor([0, 1, 2]), torch.tensor([2, 0, 0])), num_nodes=4)
graph.ndata.update(feat=torch.randn(4, 2), label=torch.tensor([0, 1, 1, 0]), train_mask=torch.tensor([1, 1, 0, 0]).bool())
graph.edata["w"] = torch.rand(3)
d = g.to_pyg(g.from_dgl(graph, "s", force=True))
assert torch.equal(d.x, graph.ndata["feat"]) and torch.equal(d.y, graph.ndata["label"]) and torch.equal(d.train_mask, graph.ndata["train_mask"])
assert torch.equal(d.edge_index, torch.stack(graph.edges(order="eid"))) and torch.equal(d.edge_weight, graph.edata["w"])
EOP
done_testing
