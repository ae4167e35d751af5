# SPDX-License-Identifier: Apache-2.0
"""Times full-batch epochs of DGL on the graph that `gnn-inspect --raw --export` wrote: three layers with batch norm and dropout
0.5 between them, Adam. Prints the seconds of the fastest epoch but the first, and the peak memory beyond what the program
takes before there is a graph, in MB. usage: bench-peer-full.py sage|gat FILE.npz THREADS EPOCHS"""
import resource
import sys
import time
import warnings

import dgl
import dgl.nn
import numpy as np
import torch
from torch import nn

warnings.simplefilter("ignore")
kind, path, threads, epochs = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
torch.set_num_threads(threads)


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def read_graph(arrays):
    edge = next(k[: -len("/indptr")] for k in arrays.files if k.startswith("edge/") and k.endswith("/indptr"))
    indptr = arrays[edge + "/indptr"].astype(np.int64)
    sources = arrays[edge + "/indices"].astype(np.int64)
    nodes = len(indptr) - 1
    targets = np.repeat(np.arange(nodes), np.diff(indptr))
    if kind == "gat":  # one self-loop a node
        other = sources != targets
        sources = np.concatenate([sources[other], np.arange(nodes)])
        targets = np.concatenate([targets[other], np.arange(nodes)])
    # Attention asks DGL for the edges by source or as pairs, too.
    formats = ["csc", "coo"] if kind == "gat" else ["csc", "csr"]
    graph = dgl.graph((torch.from_numpy(sources), torch.from_numpy(targets)), num_nodes=nodes).formats(formats)
    graph.create_formats_()
    return graph


class Net(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        if kind == "sage":
            made = [256, 256]
            self.layers = nn.ModuleList(dgl.nn.SAGEConv(a, b, "mean") for a, b in zip([width] + made, made + [classes]))
        else:
            made = [512, 512]
            self.layers = nn.ModuleList(dgl.nn.GATConv(a, b, 4) for a, b in zip([width] + made, [128, 128, classes]))
        self.norms = nn.ModuleList(nn.BatchNorm1d(w) for w in made)

    def forward(self, graph, x):
        for i, layer in enumerate(self.layers):
            x = layer(graph, x)
            if kind == "gat":
                x = x.flatten(1) if i < 2 else x.mean(1)
            if i < 2:
                x = nn.functional.dropout(torch.relu(self.norms[i](x)), 0.5)
        return x


before = peak()
arrays = np.load(path)
graph = read_graph(arrays)
x = torch.from_numpy(arrays[next(k for k in arrays.files if k.endswith("/x"))])
y = torch.from_numpy(arrays[next(k for k in arrays.files if k.endswith("/y"))].astype(np.int64)).view(-1)
seeds = torch.from_numpy(arrays[next(k for k in arrays.files if k.endswith("/train"))].astype(np.int64))
net = Net(x.shape[1], int(y.max()) + 1)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
seconds = []
for _ in range(epochs):
    start = time.perf_counter()
    loss = nn.functional.cross_entropy(net(graph, x)[seeds], y[seeds])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    seconds.append(time.perf_counter() - start)
print(f"{min(seconds[1:]):.3f} {peak() - before:.0f}")
