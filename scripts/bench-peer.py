# SPDX-License-Identifier: Apache-2.0
"""Times a peer's neighbour sampling on the graph that `gnn-inspect --export` wrote: fan-outs 15,10,5, batches of
1024, one thread, one epoch of the training set or 60 batches. usage: bench-peer.py torch_geometric|dgl FILE.npz"""
import sys
import time
import warnings

import numpy as np
import torch

warnings.simplefilter("ignore")
peer, path = sys.argv[1:]
arrays = np.load(path)
edge = next(k[: -len("/indptr")] for k in arrays.files if k.startswith("edge/") and k.endswith("/indptr"))
train = next(torch.from_numpy(arrays[k].astype(np.int64)) for k in arrays.files if k.endswith("/train"))
indptr = torch.from_numpy(arrays[edge + "/indptr"].astype(np.int64))
sources = torch.from_numpy(arrays[edge + "/indices"].astype(np.int64))
torch.set_num_threads(1)

if peer == "torch_geometric":
    import torch_geometric
    from torch_geometric.loader import NeighborLoader

    version = torch_geometric.__version__
    n = indptr.numel() - 1
    targets = torch.repeat_interleave(torch.arange(n), indptr[1:] - indptr[:-1])
    data = torch_geometric.data.Data(edge_index=torch.stack([sources, targets]), num_nodes=n)
    loader = NeighborLoader(data, num_neighbors=[15, 10, 5], batch_size=1024, input_nodes=train, shuffle=True)

    def edges(batch):
        return batch.edge_index.shape[1]
elif peer == "dgl":
    import dgl

    version = dgl.__version__
    graph = dgl.graph(("csc", (indptr, sources, torch.arange(0))))
    sampler = dgl.dataloading.NeighborSampler([5, 10, 15])  # its list starts at the features
    loader = dgl.dataloading.DataLoader(graph, train, sampler, batch_size=1024, shuffle=True)

    def edges(batch):
        return sum(block.num_edges() for block in batch[2])
else:
    sys.exit("bench-peer: unknown peer " + peer)


def rate():
    total, start = 0, time.perf_counter()
    for step, batch in enumerate(loader):
        if step == 2:  # the first batches pay for building
            total, start = 0, time.perf_counter()
        total += edges(batch)
        if step == 62:
            break
    return total / (time.perf_counter() - start) / 1e6


try:
    print(f"{peer} {version}: {rate():.2f} M edges/s on one thread")
except ImportError as why:
    print(f"{peer} {version}: skipped, {why}")
