# SPDX-License-Identifier: Apache-2.0
"""Times gnntools.pyg.NeighborLoader and gnntools.Store beside PyG on the same Data: fan-outs 15,10,5, batches of 1024, in turns (ours,
theirs, ours, theirs ...), loaders each with its best number of workers. A ratio is theirs over ours; of the rounds, the middle one and the
range are shown.
usage: bench-loader.py STORE [ROUNDS [BATCHES]]   STORE is of one type, as `gnn-import products:` makes it; GNN_BIN: the programs
Where malloc gives memory back to the system after each step, torch spends most of a step on page faults; so run it with
MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=100000000000 MALLOC_TOP_PAD_=268435456 in the environment."""
import os
import statistics
import sys
import time
import warnings

import numpy as np
import torch
import torch.nn.functional as F
import torch_geometric
from torch_geometric.data import Data
from torch_geometric.loader import NeighborLoader as Theirs
from torch_geometric.nn import SAGEConv
from torch_geometric.typing import WITH_PYG_LIB

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "formats", "python"))
from gnntools import Store  # noqa: E402
from gnntools.pyg import NeighborLoader as Ours  # noqa: E402

warnings.simplefilter("ignore")
FANOUT, BATCH = [15, 10, 5], 1024
rounds, batches = (int(a) for a in (sys.argv[2:] + ["3", "30"][len(sys.argv) - 2:]))


def whole(path):
    """The store's graph as a Data with all edges, as a user of PyG holds it, and its training set."""
    store = Store(path)
    arrays = store.parts[0].arrays
    edge = next(k[:-len("/indptr")] for k in arrays if k.startswith("edge/") and k.endswith("/indptr"))
    rows = np.diff(arrays[edge + "/indptr"]).astype(np.int64)
    index = np.stack([arrays[edge + "/indices"].astype(np.int64), np.repeat(np.arange(len(rows)), rows)])
    fields = {name: torch.from_numpy(np.array(arrays["node/node/" + name])) for name in ("x", "y")}
    data = Data(edge_index=torch.from_numpy(index), x=fields["x"], y=fields["y"].long())
    return data, torch.from_numpy(store.set("train").astype(np.int64))


def seconds(loader, each=lambda batch: None):
    """For a batch; the first three pay for starting."""
    start, n = 0.0, 0
    for n, batch in enumerate(loader):
        each(batch)
        if n == 2:
            start = time.perf_counter()
        if n == 2 + batches:
            break
    return (time.perf_counter() - start) / (n - 2)


def first(make):
    start = time.perf_counter()
    loader = make()
    next(iter(loader))
    return time.perf_counter() - start


def report(what, asked, a, b, note=("", "")):
    """a, b: seconds of ours and of theirs, by round."""
    ratio = [y / x for x, y in zip(a, b)]
    text = "%-36s asked %3s x, reached %5.2f x (%.2f to %.2f): ours %7.1f ms%s, theirs %7.1f ms%s"
    ours, theirs = (1e3 * statistics.median(t) for t in (a, b))
    print(text % (what, asked, statistics.median(ratio), min(ratio), max(ratio), ours, note[0], theirs, note[1]), flush=True)


def compare(what, asked, ours, theirs, each=lambda batch: None):
    """ours, theirs: loaders by number of workers. Finds the best numbers, then takes turns."""
    best = []
    for side in ours, theirs:
        times = {w: seconds(loader, each) for w, loader in side.items()}
        best.append(min(times, key=times.get))
    a, b = [], []
    for _ in range(rounds):
        a.append(seconds(ours[best[0]], each))
        b.append(seconds(theirs[best[1]], each))
    report(what, asked, a, b, [" a batch with %d workers" % w for w in best])


def compare_calls(what, asked, ours, theirs, calls=10):
    """ours, theirs: functions of the number of the call."""
    times = [], []
    for turn in range(rounds + 1):
        for side, function in zip(times, (ours, theirs)):
            start = time.perf_counter()
            for i in range(calls):
                function(i)
            if turn:  # the first pays for starting
                side.append((time.perf_counter() - start) / calls)
    report(what, asked, *times)


def compare_store(store, data, train):
    """Calls of a Store beside PyG's operator and torch's indexing."""
    arrays = store.parts[0].arrays
    edge = next(k[:-len("/indptr")] for k in arrays if k.startswith("edge/") and k.endswith("/indptr"))
    indptr, indices = (torch.from_numpy(arrays[edge + "/" + k].astype(np.int64)) for k in ("indptr", "indices"))
    mixed = train[torch.randperm(len(train))]
    part = [mixed[i * BATCH:(i + 1) * BATCH] for i in range(10)]
    if WITH_PYG_LIB:
        compare_calls("Store.sample of 1024 seeds", "6", lambda i: store.sample(part[i], FANOUT),
                      lambda i: torch.ops.pyg.neighbor_sample(indptr, indices, part[i], FANOUT, None, None, None, None, True))
    ids = torch.randint(data.num_nodes, (100000,))
    compare_calls("rows of 10^5 ids", "0.8", lambda i: store.x[ids], lambda i: data.x[ids])


class Sage(torch.nn.Module):
    """GraphSAGE of PyG's layers, by products of CSR matrices, in which each layer computes what the next one reads."""

    def __init__(self, sizes):
        super().__init__()
        self.convs = torch.nn.ModuleList(SAGEConv(a, b) for a, b in zip(sizes, sizes[1:]))

    def forward(self, batch):
        x, edges = batch.x, batch.edge_index
        for i, conv in enumerate(self.convs):
            left = len(self.convs) - i
            n, m = sum(batch.num_sampled_nodes[:left]), sum(batch.num_sampled_edges[:left])
            x = x[:sum(batch.num_sampled_nodes[:left + 1])]
            indptr = torch.zeros(n + 1, dtype=torch.int64)
            torch.cumsum(torch.bincount(edges[1, :m], minlength=n), 0, out=indptr[1:])
            x = conv((x, x[:n]), torch.sparse_csr_tensor(indptr, edges[0, :m], torch.ones(m), size=(n, len(x))))
            x = x.relu() if left > 1 else x
        return x


def trainer(data):
    model = Sage([data.x.shape[1], 256, 256, int(data.y.max()) + 1])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    def step(batch):
        optimizer.zero_grad()
        F.cross_entropy(model(batch)[:batch.batch_size], batch.y[:batch.batch_size]).backward()
        optimizer.step()
    return step


def main():
    data, train = whole(sys.argv[1])
    bare = Data(edge_index=data.edge_index, num_nodes=data.num_nodes)
    peers = "PyG %s%s, torch %s" % (torch_geometric.__version__, " with pyg-lib" if WITH_PYG_LIB else "", torch.__version__)
    print("%s, %d cores; %d nodes, %d edges" % (peers, os.cpu_count(), data.num_nodes, data.num_edges), flush=True)
    kw = {"batch_size": BATCH, "input_nodes": train, "shuffle": True}
    opened = Store(sys.argv[1])
    for what, cls, graph in ("ours, a store", Ours, opened), ("ours, a Data", Ours, data), ("theirs", Theirs, data):
        print("first batch after the constructor, %s: %.2f s" % (what, first(lambda: cls(graph, FANOUT, **kw))), flush=True)  # noqa: B023

    def loaders(cls, graph, **more):
        made = cls(graph, FANOUT, **kw, **more)
        made = {0: made}
        for w in 1, 2:
            sampler = {"neighbor_sampler": made[0].node_sampler} if cls is Theirs else {}
            made[w] = cls(graph, FANOUT, num_workers=w, **kw, **more, **sampler)
        return made

    theirs, theirs_bare = loaders(Theirs, data), loaders(Theirs, bare)
    ours, ours_bare = loaders(Ours, data), loaders(Ours, bare)
    compare("loading, with features", "4", ours, theirs)
    compare("loading, without features", "8", ours_bare, theirs_bare)
    compare("loading, without features and e_id", "10", loaders(Ours, bare, edge_ids=False), theirs_bare)
    compare("training PyG's SAGE, CSR products", "1.5", ours, theirs, trainer(data))
    compare_store(opened, data, train)


main()
