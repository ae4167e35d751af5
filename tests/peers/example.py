#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""example.py SEED SCRIPT ARGS...: runs a training script as it is, with data sets in memory in the place of those that PyG downloads.

They have the shape of what they stand for (Reddit, ogbn-products, OGB_MAG), and are a few thousand nodes that are the same in each run:
two in three edges join nodes of one class, and features tell classes only in part, so that what is learnt depends on neighbours."""
import os
import sys
import types

import torch
import torch_geometric
import torch_geometric.datasets
from torch_geometric.data import Data, HeteroData

CLASSES, WIDTH, NODES = 7, 16, 2400
draw = torch.Generator().manual_seed(0)


def labels(n):
    return torch.randint(0, CLASSES, (n,), generator=draw)


def features(y):
    return 0.7 * torch.nn.functional.one_hot(y, WIDTH) + torch.randn(len(y), WIDTH, generator=draw)


def edges(y_source, y_target, n):
    """About n edges."""
    pairs = torch.stack([torch.randint(0, len(y), (5 * n,), generator=draw) for y in (y_source, y_target)])
    alike = y_source[pairs[0]] == y_target[pairs[1]]
    return pairs[:, alike | (torch.rand(5 * n, generator=draw) < 1 / 12)]


def masked(data):
    part = torch.rand(NODES, generator=draw)
    data.train_mask, data.val_mask, data.test_mask = part < 0.6, (part >= 0.6) & (part < 0.8), part >= 0.8
    return data


class Reddit:
    num_features, num_classes = WIDTH, CLASSES

    def __init__(self, *args, **kwargs):
        y = labels(NODES)
        half = edges(y, y, 6 * NODES)
        self.data = masked(Data(x=features(y), edge_index=torch.cat([half, half.flip(0)], 1), y=y))

    def __getitem__(self, i):
        return self.data


class Products(Reddit):
    def get_idx_split(self):
        return {k: self.data[f"{m}_mask"].nonzero().view(-1) for k, m in (("train", "train"), ("valid", "val"), ("test", "test"))}

    def __getitem__(self, i):
        return Data(x=self.data.x, edge_index=self.data.edge_index, y=self.data.y[:, None], num_nodes=NODES)


class OGB_MAG(Reddit):
    def __init__(self, *args, transform=None, **kwargs):
        y = {"paper": labels(NODES), "author": labels(1500), "institution": labels(200), "field_of_study": labels(300)}
        data = HeteroData({t: {"x": features(y[t])} for t in y})
        data["paper"].y = y["paper"]
        masked(data["paper"])
        for s, r, t, n in (("author", "affiliated_with", "institution", 2000), ("author", "writes", "paper", 9000),
                           ("paper", "cites", "paper", 9000), ("paper", "has_topic", "field_of_study", 6000)):
            data[s, r, t].edge_index = edges(y[s], y[t], n)
        self.data = transform(data) if transform else data


class Evaluator:
    def __init__(self, name):
        pass

    def eval(self, given):
        return {"acc": float((given["y_true"] == given["y_pred"]).float().mean())}


seed = int(sys.argv[1])
sys.argv = sys.argv[2:]
torch_geometric.datasets.Reddit, torch_geometric.datasets.OGB_MAG = Reddit, OGB_MAG
ogb = types.ModuleType("ogb.nodeproppred")
ogb.PygNodePropPredDataset, ogb.Evaluator = Products, Evaluator
sys.modules["ogb"], sys.modules["ogb.nodeproppred"] = types.ModuleType("ogb"), ogb
torch_geometric.seed_everything = lambda given: torch.manual_seed(seed)  # also where a script says one
torch.manual_seed(seed)
torch.set_num_threads(1)
main = types.ModuleType("__main__")
main.__file__ = os.path.abspath(sys.argv[0])
# PyG's Sequential imports the script that calls it by its name, which would run all of it once more.
sys.modules["__main__"] = sys.modules[os.path.basename(sys.argv[0])[:-3]] = main
with open(sys.argv[0]) as script:
    exec(compile(script.read(), sys.argv[0], "exec"), main.__dict__)
