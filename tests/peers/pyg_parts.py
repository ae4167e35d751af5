# SPDX-License-Identifier: Apache-2.0
"""pyg_parts.py: graphs that the Partitioner of PyG splits, as folders NAME, and the same graphs as NAME.pt. Parts are drawn at random in place of
METIS, which PyG does not bring."""
import os

import torch
from torch_geometric.data import Data, HeteroData
from torch_geometric.distributed import Partitioner
from torch_geometric.loader import ClusterData

PARTS, N, E = 3, 60, 300
ClusterData._metis = lambda self, edge_index, n: torch.randint(0, self.num_parts, (n,), generator=torch.Generator().manual_seed(3))
torch.manual_seed(1)


def split(name, data, seeds=None, beside="g-"):
    """Everything that the example of PyG writes; seeds: of which labels and sets are."""
    Partitioner(data, PARTS, "%s/%spartitions" % (name, beside)).generate_partition()
    if seeds is not None:
        os.makedirs("%s/%slabel" % (name, beside))
        torch.save(seeds.y, "%s/%slabel/label.pt" % (name, beside))
        for word in "train", "val":
            ids = seeds["%s_mask" % word].nonzero().view(-1)
            os.makedirs("%s/%s%s-partitions" % (name, beside, word))
            for i, some in enumerate(ids.chunk(PARTS)):
                torch.save(some.clone(), "%s/%s%s-partitions/partition%d.pt" % (name, beside, word, i))
            seeds["%s_idx" % word] = ids
            del seeds["%s_mask" % word]
    torch.save(data, name + ".pt")


mask = torch.rand(N) < 0.4
index = torch.randint(0, N, (2, E))
plain = Data(x=torch.rand(N, 5), edge_index=index, edge_attr=torch.rand(E, 2), y=torch.randint(0, 4, (N,)), train_mask=mask, val_mask=~mask)
split("plain", plain, plain)
split("bare", Data(x=torch.rand(N, 5), edge_index=index), beside="")
split("edge-times", Data(x=torch.rand(N, 5), edge_index=index, edge_time=torch.arange(E).flip(0)))
split("node-times", Data(time=torch.arange(N).flip(0), x=torch.rand(N, 5), edge_index=index))
typed = HeteroData()
for t, n in ("paper", N), ("author", 40):
    typed[t].x = torch.rand(n, 4)
typed["paper"].y, typed["paper"].train_mask, typed["paper"].val_mask = plain.y, mask, ~mask
for e, k in (("author", "writes", "paper"), 200), (("paper", "cites", "paper"), 150), (("paper", "rev", "author"), 90):
    typed[e].edge_index = torch.stack([torch.randint(0, typed[e[0]].num_nodes, (k,)), torch.randint(0, typed[e[2]].num_nodes, (k,))])
    typed[e].edge_attr = torch.rand(k, 3)
split("typed", typed, typed["paper"])
