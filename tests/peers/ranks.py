# SPDX-License-Identifier: Apache-2.0
"""Two processes train together with torch's DistributedDataParallel over gloo, each with a NeighborLoader of gnntools.
Prints a line for each case, as loader.py. usage: ranks.py (starts the ranks itself)"""
import os
import sys
import tempfile

import torch
import torch.distributed as dist
from loader import Ours, agree, is_, plain
from torch.nn.parallel import DistributedDataParallel
from torch_geometric.nn import GraphSAGE

WORLD = 2


def model():
    torch.manual_seed(0)
    return GraphSAGE(3, 8, num_layers=2, out_channels=4)


def loss_of(net, batch):
    out = net(batch.x, batch.edge_index)[:batch.batch_size]
    return torch.nn.functional.cross_entropy(out, batch.y[:batch.batch_size])


def train(net, loader, epochs=2):
    """The batches that were seen."""
    optimizer, seen = torch.optim.SGD(net.parameters(), lr=0.1), []
    for _ in range(epochs):
        for batch in loader:
            optimizer.zero_grad()
            loss_of(net, batch).backward()
            optimizer.step()
            seen.append(batch)
    return seen


def together(loader, join):
    """Trains; returns the batches of all ranks, and all ranks' weights."""
    net = DistributedDataParallel(model())
    if join:
        with net.join():
            seen = train(net, loader)
    else:
        seen = train(net, loader)
    weights = torch.cat([p.detach().view(-1) for p in net.parameters()])
    everyone = [None] * WORLD
    dist.all_gather_object(everyone, (seen, weights))
    return [e[0] for e in everyone], [e[1] for e in everyone]


def alone(batches):
    """The weights after steps whose gradients are means over the ranks' batches."""
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in batches:
        optimizer.zero_grad()
        torch.stack([loss_of(net, b) for b in step]).mean().backward()
        optimizer.step()
    return torch.cat([p.detach().view(-1) for p in net.parameters()])


def run(rank, path):
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    d = plain()
    dist.init_process_group("gloo", init_method="file://" + path, rank=rank, world_size=WORLD)
    torch.manual_seed(rank)  # as scripts do for dropout

    def make(nodes=torch.arange(26), **kw):
        return Ours(d, [3, 2], nodes, batch_size=4, shuffle=True, **kw)
    me = {"rank": rank, "world_size": WORLD}
    uneven = make(**me)
    seen, weights = together(uneven, join=True)
    if rank == 0:
        whole = make(generator=torch.Generator().manual_seed(0))
        epochs = [list(whole), list(whole)]
        is_("two processes: an uneven end", [len(s) for s in seen] == [8, 6] and len(uneven) == 4)
        for r in range(WORLD):
            want = [b for e in epochs for b in e[r::WORLD]]
            agree("two processes: rank %d has every second batch" % r, want, seen[r])
        is_("two processes: weights are the same after an uneven end", torch.equal(*weights))
    even = make(drop_last=True, num_workers=1, **me)
    seen, weights = together(even, join=False)
    if rank == 0:
        is_("two processes: drop_last gives both as many batches", [len(s) for s in seen] == [6, 6] and len(even) == 3)
        want = alone(zip(*seen))
        is_("two processes train as one does with both batches", torch.allclose(weights[0], want, atol=1e-6)
            and torch.equal(*weights), (weights[0] - want).abs().max())
    nodes = torch.arange(28).chunk(WORLD)[rank]  # as PyG's examples divide them
    seen, weights = together(make(nodes), join=False)
    if rank == 0:
        ids = [sorted(torch.cat([b.n_id[:b.batch_size] for b in s[:4]]).tolist()) for s in seen]
        is_("two processes: input_nodes that were divided", ids == [list(range(14)), list(range(14, 28))])
        is_("two processes: weights are the same with divided input_nodes", torch.equal(*weights))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(run, (os.path.join(folder, "meet"),), nprocs=WORLD)
    sys.exit(0)
