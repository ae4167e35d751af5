# SPDX-License-Identifier: Apache-2.0
"""Times a peer's neighbour sampling on the graph that `gnn-inspect --raw --export` wrote: fan-outs 15,10,5, batches of
1024, one thread, 60 batches or a shorter epoch, uniformly or by an edge field; GraphBolt's without its data loader.
usage: bench-peer.py torch_geometric|dgl|graphbolt FILE.npz [FIELD]"""
import sys
import time
import warnings

import numpy as np
import torch

warnings.simplefilter("ignore")
peer, path, field = (sys.argv[1:] + [None])[:3]
arrays = np.load(path)
edge = next(k[: -len("/indptr")] for k in arrays.files if k.startswith("edge/") and k.endswith("/indptr"))
train = next(torch.from_numpy(arrays[k].astype(np.int64)) for k in arrays.files if k.endswith("/train"))
indptr = torch.from_numpy(arrays[edge + "/indptr"].astype(np.int64))
sources = torch.from_numpy(arrays[edge + "/indices"].astype(np.int64))
weights = field and torch.from_numpy(arrays[edge + "/" + field].astype(np.float32))
torch.set_num_threads(1)

if peer == "torch_geometric":
    import torch_geometric
    from torch_geometric.loader import NeighborLoader

    version = torch_geometric.__version__
    n = indptr.numel() - 1
    targets = torch.repeat_interleave(torch.arange(n), indptr[1:] - indptr[:-1])
    data = torch_geometric.data.Data(edge_index=torch.stack([sources, targets]), num_nodes=n)
    if field:
        data[field] = weights
    loader = NeighborLoader(
        data, num_neighbors=[15, 10, 5], batch_size=1024, input_nodes=train, shuffle=True, weight_attr=field
    )

    def edges(batch):
        return batch.edge_index.shape[1]
elif peer == "dgl":
    import dgl

    version = dgl.__version__
    graph = dgl.graph(("csc", (indptr, sources, torch.arange(0))))
    if field:
        graph.edata[field] = weights
    sampler = dgl.dataloading.NeighborSampler([5, 10, 15], prob=field)  # its list starts at the features
    loader = dgl.dataloading.DataLoader(graph, train, sampler, batch_size=1024, shuffle=True)

    def edges(batch):
        return sum(block.num_edges() for block in batch[2])
elif peer == "graphbolt":
    import dgl
    import dgl.graphbolt as gb

    version = dgl.__version__
    graph = gb.fused_csc_sampling_graph(indptr, sources, edge_attributes={field: weights} if field else None)

    def batches():
        for seeds in train[torch.randperm(train.numel())].split(1024):
            blocks = []
            for fanout in (15, 10, 5):
                block = graph.sample_neighbors(seeds, torch.tensor([fanout]), probs_name=field).sampled_csc
                blocks.append(block)
                seeds, _ = gb.unique_and_compact_csc_formats(block, seeds)
            yield blocks

    loader = batches()

    def edges(batch):
        return sum(block.indices.numel() for block in batch)
else:
    sys.exit("bench-peer: unknown peer " + peer)


def rate():
    total, start = 0, time.perf_counter()
    for step, batch in enumerate(loader):
        total += edges(batch)
        if step == 2:  # the first batches pay for building
            total, start = 0, time.perf_counter()
        if step == 62:
            break
    return total / (time.perf_counter() - start) / 1e6


try:
    print(f"{peer} {version}{', by ' + field if field else ''}: {rate():.2f} M edges/s on one thread")
except ImportError as why:
    print(f"{peer} {version}: skipped, {why}")
