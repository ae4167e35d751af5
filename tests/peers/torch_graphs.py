# SPDX-License-Identifier: Apache-2.0
"""torch_graphs.py: writes graphs with torch.save and PyG: good-NAME.pt and the same arrays as good-NAME.npz, and bad-NAME.pt with bad-NAME.txt,
what the message has to say."""
import os
import warnings

import numpy as np
import torch
from torch_geometric.data import Data, HeteroData, InMemoryDataset, TemporalData

warnings.simplefilter("ignore")
torch.manual_seed(1)
N, E = 300, 900
EDGES = torch.randint(0, N, (2, E))
EDGES[0, 0] = N - 1


def good(name, value, arrays, **how):
    if value is not None:
        torch.save(value, "good-%s.pt" % name, **how)
    np.savez("good-%s.npz" % name, **{k: v.numpy() if torch.is_tensor(v) else np.asarray(v) for k, v in arrays.items()})


def bad(name, value, text, **how):
    if value is not None:
        torch.save(value, "bad-%s.pt" % name, **how)
    with open("bad-%s.txt" % name, "w") as f:
        f.write(text + "\n")


class System:
    def __reduce__(self):
        return os.system, ("touch ran",)


mask = torch.rand(N) < 0.5
full = dict(x=torch.rand(N, 7), edge_index=EDGES, y=torch.randint(0, 5, (N,)), edge_attr=torch.rand(E, 3), train_mask=mask, val_mask=~mask)
good("data", Data(**full), full)
good("legacy", Data(**full), full, _use_new_zipfile_serialization=False)
good("legacy4", Data(**full), full, _use_new_zipfile_serialization=False, pickle_protocol=4)
good("protocol4", Data(**full), full, pickle_protocol=4)
good("dict", full, full)
good("arrays", {k: v.numpy() for k, v in full.items()}, full)
good("pair", (Data(**full), None), full)
good("slices", (Data(**full), {k: torch.tensor([0, E if "edge" in k else N]) for k in full}), full)
InMemoryDataset.save([Data(**full)], "good-dataset.pt")
good("dataset", None, full)
good("sizes", (Data(**full).to_dict(), None, {"num_node_labels": 0}, Data), full)
turned = EDGES.t().contiguous().t()
assert not turned.is_contiguous()
good("turned", Data(edge_index=turned, x=full["x"].t().contiguous().t()), dict(edge_index=EDGES, x=full["x"]))
good("int32", Data(edge_index=EDGES.int(), y=full["y"].int()[:, None]), dict(edge_index=EDGES, y=full["y"][:, None]))
good("nodes", Data(edge_index=EDGES, num_nodes=N + 20), dict(edge_index=EDGES, num_nodes=N + 20))
good("edges", Data(edge_index=EDGES), dict(edge_index=EDGES))
good("half", Data(edge_index=EDGES, x=full["x"].half()), dict(edge_index=EDGES, x=full["x"].half()))
good("bf16", Data(edge_index=EDGES, x=full["x"].bfloat16()), dict(edge_index=EDGES, x=full["x"].bfloat16().float()))
good("view", Data(edge_index=EDGES, x=torch.rand(2 * N, 9)[::2, 1:8].copy_(full["x"])), dict(edge_index=EDGES, x=full["x"]))
good("fields", Data(edge_index=EDGES, edge_time=torch.arange(E), edge_weight=full["edge_attr"][:, 0], node_id=torch.arange(N) * 3),
     dict(edge_index=EDGES, edge_time=torch.arange(E), edge_weight=full["edge_attr"][:, 0], node_id=np.arange(N) * 3))
good("others", Data(edge_index=EDGES, name="a graph", none=None, tags=["a", "b"]), dict(edge_index=EDGES))

# Several types: the names of their arrays begin with them.
def by_end(pairs):
    return pairs[:, pairs[1].argsort(stable=True)]  # as stores have them: from_pyg then keeps no positions


typed = HeteroData()
typed["paper"].x, typed["paper"].y, typed["paper"].train_mask = full["x"], full["y"], mask
typed["author"].num_nodes, typed["author"].year = 40, torch.arange(40)
typed["a b.c"].num_nodes = 9
writes, cites, at = by_end(torch.stack([EDGES[0] % 40, EDGES[1]])), by_end(EDGES.flip(0)), by_end(EDGES % 9)
typed["author", "writes", "paper"].edge_index, typed["author", "writes", "paper"].edge_attr = writes, full["edge_attr"]
typed["paper", "cites", "paper"].edge_index, typed["paper", "cites", "paper"].time = cites, torch.arange(E)
typed["author", "rev at", "a b.c"].edge_index, typed["author", "rev at", "a b.c"].edge_weight = at, torch.rand(E)
types = {"paper/x": full["x"], "paper/y": full["y"], "paper/train_mask": mask, "author/num_nodes": 40, "author/year": torch.arange(40), "a b.c/num_nodes": 9,
         "author/writes/paper/edge_index": writes, "author/writes/paper/edge_attr": full["edge_attr"], "paper/cites/paper/edge_index": cites,
         "paper/cites/paper/time": torch.arange(E), "author/rev at/a b.c/edge_index": at,
         "author/rev at/a b.c/edge_weight": typed["author", "rev at", "a b.c"].edge_weight}
good("types", typed, types)
good("types-legacy", typed, types, _use_new_zipfile_serialization=False)
good("types-dict", typed.to_dict(), types)
InMemoryDataset.save([typed], "good-types-set.pt")
good("types-set", None, types)
good("types-pair", (typed, None), types)
ends = HeteroData()
ends["a", "to", "b"].edge_index = EDGES
good("types-ends", ends, {"a/to/b/edge_index": EDGES})
events = dict(src=EDGES[0], dst=EDGES[1], t=torch.arange(E), msg=torch.rand(E, 4), y=mask.repeat(3).long())
named = dict(src=EDGES[0], dst=EDGES[1], edge_time=events["t"], edge_attr=events["msg"], edge_y=events["y"])
good("events", TemporalData(**events), named)
InMemoryDataset.save([TemporalData(**events)], "good-events-set.pt")
good("events-set", None, named)

sparse = torch.sparse_coo_tensor(EDGES, torch.ones(E), (N, N)).to_sparse_csr()
wrong = HeteroData()
wrong["paper"].x, wrong["paper", "cites", "paper"].adj_t = full["x"], sparse
bad("types-sparse", wrong, "paper/cites/paper/adj_t is a sparse tensor, .*save edge_index in its place")
wrong = HeteroData()
wrong["paper"].y, wrong["author"].y, wrong["author", "to", "paper"].edge_index = full["y"], full["y"], EDGES
bad("types-labels", wrong, "labels of two node types, paper and author")
wrong = HeteroData()
wrong["a/b"].x, wrong["a/b", "to", "a/b"].edge_index = full["x"], EDGES
bad("types-slash", wrong, "the str 'a/b' is no type")
bad("types-nodes", {"_global_store": {}, "a": {"x": full["x"]}}, "no edge type")
bad("types-pairs", {"a": {"x": full["x"]}, ("a", "a"): {"edge_index": EDGES}}, "a tuple of 2 is no type")
InMemoryDataset.save([typed, typed], "bad-types-two.pt")
bad("types-two", None, "a data set of 2 graphs of PyG")
InMemoryDataset.save([Data(**full), Data(**full)], "bad-two.pt")
bad("two", None, "a data set of 2 graphs of PyG, .*dataset\\[0\\]")
bad("list", [Data(**full), Data(**full)], "holds a list of 2, not a graph")
bad("tensor", EDGES, "holds a tensor, not a graph: expected a Data, HeteroData or TemporalData of PyG")
bad("sparse", Data(adj_t=sparse, x=full["x"]), "adj_t is a sparse tensor, .*save edge_index in its place")
bad("features", Data(edge_index=EDGES, x=full["x"].to_sparse()), "x is a sparse tensor, .*to_dense")
bad("noedges", Data(x=full["x"]), "x: edges must have shape")
bad("range", Data(edge_index=EDGES, num_nodes=N - 5), "edge_index: ")
bad("system", {"edge_index": EDGES, "y": System()}, "posix.system")
torch.save(torch.nn.Linear(1, 1).state_dict(), "bad-model.pt")
bad("model", None, "no array of edges")
for name, how in ("cut", {}), ("cutlegacy", {"_use_new_zipfile_serialization": False}):
    bad(name, Data(**full), "cut short\\|damaged\\|ends", **how)
    os.truncate("bad-%s.pt" % name, os.path.getsize("bad-%s.pt" % name) - 100)
