# SPDX-License-Identifier: Apache-2.0
"""A script of a user of PyG, on a graph of its own: prints the loss of each epoch and the accuracy. usage: sage.py one|typed|temporal"""
import sys

import torch
import torch.nn.functional as F
from torch_geometric.data import Data, HeteroData
from torch_geometric.loader import NeighborLoader
from torch_geometric.nn import SAGEConv, to_hetero

kind = sys.argv[1]
draw = torch.Generator().manual_seed(0)


def edges(y_source, y_target, n):
    """Two in three edges join nodes of one class."""
    source = torch.randint(0, len(y_source), (3 * n,), generator=draw)
    target = torch.randint(0, len(y_target), (3 * n,), generator=draw)
    keep = (y_source[source] == y_target[target]) | (torch.rand(3 * n, generator=draw) < .1)
    return torch.stack([source, target])[:, keep]


def features(y):
    return F.one_hot(y, 8).float() + torch.randn(len(y), 8, generator=draw)


y, options = torch.randint(0, 5, (2000,), generator=draw), {}
mask = torch.rand(2000, generator=draw) < .6
if kind == "one":
    data = Data(x=features(y), edge_index=edges(y, y, 20000), y=y, train_mask=mask)
elif kind == "temporal":  # until 50, which is when nodes are asked for, edges tell more than later; the latest of them are taken
    later = torch.randint(0, 2000, (2, 20000), generator=draw)
    early = edges(y, y, 20000)
    time = torch.cat([torch.randint(0, 51, early.shape[1:], generator=draw), torch.randint(51, 99, (20000,), generator=draw)])
    data = Data(x=features(y), edge_index=torch.cat([early, later], 1), y=y, train_mask=mask, time=time)
    options = {"time_attr": "time", "input_time": torch.full((int(mask.sum()),), 50), "temporal_strategy": "last"}
else:
    of_author = torch.randint(0, 5, (900,), generator=draw)
    data = HeteroData({"paper": {"x": features(y), "y": y, "train_mask": mask}, "author": {"x": features(of_author)}})
    data["paper", "cites", "paper"].edge_index = edges(y, y, 8000)
    data["author", "wrote", "paper"].edge_index = edges(of_author, y, 8000)
    data["paper", "by", "author"].edge_index = data["author", "wrote", "paper"].edge_index.flip(0)


class Sage(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = SAGEConv((-1, -1), 32), SAGEConv((-1, -1), 5)

    def forward(self, x, edge_index):
        return self.second(F.dropout(self.first(x, edge_index).relu(), .3, self.training), edge_index)


nodes = ("paper", data["paper"].train_mask) if kind == "typed" else data.train_mask
loader = NeighborLoader(data, num_neighbors=[5, 5], input_nodes=nodes, batch_size=128, shuffle=True, num_workers=1, **options)
model = to_hetero(Sage(), data.metadata()) if kind == "typed" else Sage()


def outputs(batch):
    if kind == "typed":
        out = model(batch.x_dict, batch.edge_index_dict)["paper"]
        return out[:batch["paper"].batch_size], batch["paper"].y[:batch["paper"].batch_size]
    return model(batch.x, batch.edge_index)[:batch.batch_size], batch.y[:batch.batch_size]


outputs(next(iter(loader)))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(1, 9):
    total = right = seen = 0
    for batch in loader:
        optimizer.zero_grad()
        out, labels = outputs(batch)
        loss = F.cross_entropy(out, labels)
        loss.backward()
        optimizer.step()
        total, right, seen = total + float(loss) * len(out), right + int((out.argmax(1) == labels).sum()), seen + len(out)
    print(f"Epoch: {epoch:02d}, Loss: {total / seen:.4f}, Train: {right / seen:.4f}")
