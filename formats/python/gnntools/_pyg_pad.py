# SPDX-License-Identifier: Apache-2.0
"""Batches of one size (pad=True): the most nodes and edges that a recipe can give, and what fills the rest."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ._pyg_data import Graph, Sampled, part_of


class Sizes(NamedTuple):
    """Seeds of a batch, and its nodes and edges by type."""
    batch_size: int
    nodes: dict[Any, int]
    edges: dict[Any, int]


def sizes(graph: Graph, batch_size: int, roots: dict[Any, int], fanouts: dict[Any, list[int]], trees: bool,
          replace: bool, how: str) -> Sizes:
    """The most of everything: limited by fan-outs and the largest in-degrees hop by hop, and by the graph, whose nodes
    and edges are in a batch once, or once in each tree."""
    copies = batch_size if trees else 1
    most = {t: copies * graph.store.count(name) for t, name in graph.nodes.items()}
    ends = {key: (key[0], key[2]) for key in graph.edges}
    each, edges, degree = {}, dict.fromkeys(graph.edges, 0), {}
    for key, name in graph.edges.items():
        parts = [part.arrays[f"edge/{name}/indptr"] for part in graph.store.parts]
        degree[key] = max((int(np.diff(p).max()) for p in parts if len(p) > 1), default=0)
        every = degree[key]
        each[key] = [every if n < 0 else every and n if replace else min(n, every) for n in fanouts[key]]
    new = {t: min(roots.get(t, 0), most[t]) for t in most}
    nodes = dict(new)
    for hop in range(len(next(iter(fanouts.values())))):
        found = {key: new[dst] * each[key][hop] for key, (_, dst) in ends.items()}
        new = {t: min(most[t], sum(n for key, n in found.items() if ends[key][0] == t)) for t in most}
        nodes = {t: min(most[t], n + new[t]) for t, n in nodes.items()}
        edges = {key: n + found[key] for key, n in edges.items()}
    for key, name in graph.edges.items():
        inside = nodes[ends[key][1]] * (degree[key] if how == "induced" else max(each[key]))
        if not replace or how == "induced":
            inside = min(inside, copies * sum(len(part.arrays[f"edge/{name}/indices"]) for part in graph.store.parts))
        edges[key] = inside if how == "induced" else min(inside, edges[key]) * (2 if how == "bidirectional" else 1)
    return Sizes(batch_size, {t: n + 1 for t, n in nodes.items()}, edges)


def pad(out: Any, seeds: list[tuple[Any, str, int]], s: Sampled, graph: Graph, to: Sizes) -> None:
    """Gives a batch these sizes. seeds: what has rows of seeds: the part of the batch, the name, and how many."""
    own = {name for _, name, _ in seeds}
    for key, index in s.index.items():
        part, n = part_of(out, key), index.shape[1]
        first = [[s.node[t].numel()] for t in (key[0], key[2])]  # the nodes that are added
        add = part.edge_index.new_tensor(first).expand(2, to.edges[key] - n)
        part.edge_index = torch.cat([part.edge_index, add], 1)
        columns = [c for c in graph.columns[key] if c[0] not in own]
        _pad_rows(part, [*columns, ("e_id", 0)], n, to.edges[key], "edge", 0)
    for t, node in s.node.items():
        part, columns = part_of(out, t), [c for c in graph.columns[t] if c[0] not in own]
        _pad_rows(part, [*columns, ("n_id", 0), ("batch", 0)], node.numel(), to.nodes[t], "node", to.batch_size)
        if "num_nodes" in part:
            part.num_nodes = to.nodes[t]
    for part, name, size in seeds:
        if name in part:
            part[name] = _longer(name, part[name], int(name == "edge_label_index"), size, 0)


def _pad_rows(part: Any, columns: list[tuple[str, int]], n: int, size: int, what: str, tree: int) -> None:
    for name, dim in dict(columns).items():
        if name in part:
            part[name] = _longer(name, part[name], dim, size, tree if name == "batch" else 0)
    part[f"pad_{what}_mask"] = torch.arange(size) < n
    if f"num_sampled_{what}s" in part:
        by_hop = part[f"num_sampled_{what}s"]
        part[f"num_sampled_{what}s"] = [*by_hop[:-1], by_hop[-1] + size - n]


def _longer(name: str, value: Any, dim: int, size: int, fill: int) -> Tensor:
    if not isinstance(value, Tensor):
        raise NotImplementedError(f"pad=True: {name} is no tensor")
    shape = list(value.shape)
    shape[dim] = size - shape[dim]
    return torch.cat([value, value.new_full(shape, fill)], dim)
