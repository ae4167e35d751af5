# SPDX-License-Identifier: Apache-2.0
"""PyG's loaders over gnn-sample: change the import, and nothing else.

    from gnntools.pyg import NeighborLoader            # was: from torch_geometric.loader import NeighborLoader

Neither pyg-lib nor torch-sparse is needed: a child process samples, while this one fills the batches. Needs torch and
PyG, of any version.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from . import _pyg_data
from ._pyg_data import Graph, Sampled, part_of
from ._pyg_loader import SampledLoader
from .store import id_array, seeds_text
from .stream import Batch


def _input_nodes(given: Any, graph: Graph) -> tuple[str | None, Tensor, Tensor | None]:
    """The node type (None in a Data), ids int64 [n], and what is told of them as input_id if not their position."""
    typed, kind = isinstance(graph.data, HeteroData), None
    if typed and given is None:
        raise ValueError("input_nodes: a graph of several types needs a node type, or a pair of it and nodes")
    if isinstance(given, str):
        if typed and given in graph.nodes:
            kind, given = given, None
        else:
            try:
                of = graph.store.set_info(given)["node_type"]
                kind, given = of if typed else None, graph.store.ids(of)[graph.store.set(given)].astype("int64")
            except KeyError as why:
                raise ValueError(f"input_nodes: no node type {given!r}, and {why.args[0]}") from None
    elif typed:
        if not isinstance(given, (list, tuple)) or len(given) != 2 or given[0] not in graph.nodes:
            have = ", ".join(map(repr, graph.nodes))
            raise ValueError(f"input_nodes: expected a node type and nodes; node types are {have}")
        kind, given = given
    n = part_of(graph.data, kind).num_nodes
    if given is None:
        return kind, torch.arange(n), None
    given = torch.as_tensor(given)
    nodes = torch.from_numpy(id_array(given, n, "input_nodes").astype("int64"))
    return kind, nodes, nodes if given.dtype == torch.bool else None


class NeighborLoader(SampledLoader):
    """PyG's NeighborLoader: batches of `batch_size` seeds and the neighbours sampled for them, as Data or HeteroData.

    data: a Data or HeteroData, whose edges are written to a temporary store when the loader is made; or a store: its
    path, or a gnntools.Store. All arguments of PyG's class and of torch's DataLoader are taken, positional ones in the
    same order, and batches have the same keys, dtypes and shapes: n_id and e_id int64 (e_id: columns of
    `data.edge_index`), edge_index int64 [2, E], and rows of all attributes of nodes and edges. Differences:

    - Nothing needs pyg-lib: times, weights, `disjoint` and induced subgraphs work as they are.
    - num_workers: threads of the child process, and threads here that fill batches while others are used, each as many
      as there are cores at most. Transforms then run at once, as in PyG; `filter_per_worker=False` leaves them to the
      caller's thread.
    - Draws follow torch's generator: after the same torch.manual_seed, seeds come in the order of PyG's loader, and
      batches are the same for each num_workers.
    - A node that is given twice in a batch needs `disjoint=True`, which gives each a tree of its own.
    - A store that gnn-partition divided gives the batches of the whole one: ids are those before it was divided.
    - The loader can be pickled and copied. A copy samples by itself; that of a Data writes a store of its own.
    - edge_ids=False leaves e_id out, which makes batches faster.
    - pad=True gives all batches one size, as torch_geometric.transforms.Pad does: the most nodes of each type and edges
      of each edge type that batch_size and num_neighbors can reach in this graph, and one node of each type more. What
      is added follows what was sampled. Its rows are 0 (False in masks), its edges join the first node that was added
      of each type, and its `batch` is the loader's batch_size. `pad_node_mask` and `pad_edge_mask` are False there.
      num_sampled_nodes and num_sampled_edges count it in the last hop, so that their sums are the sizes, and
      trim_to_layer works. input_id and seed_time have batch_size rows. `batch_size` of a batch stays the number of its
      seeds: only the last one may have less, unless drop_last. Transforms get padded batches. Tensors are copied.
    - rank, world_size: yields each world_size-th batch from the rank-th on, of those that one process would get. All
      ranks need the same arguments and `generator`, in the same state; the default for several ranks has the seed 0. A
      sampler of one's own must give the same order on all. len() counts this rank's batches: the first ranks may have
      one more (use torch's Join, or drop_last=True, which leaves these batches out). Input_nodes that were divided
      among ranks, as in PyG's examples, need neither: torch.distributed is not asked.

    Raises ValueError for arguments that do not fit, NotImplementedError for those of PyG that are not there, and
    gnntools.ProgramError with the line of the program that failed.
    """

    def __init__(
        self,
        data: Any,
        num_neighbors: Sequence[int] | dict[tuple[str, str, str], Sequence[int]],
        input_nodes: Any = None,
        input_time: Tensor | None = None,
        replace: bool = False,
        subgraph_type: Any = "directional",
        disjoint: bool = False,
        temporal_strategy: str = "uniform",
        time_attr: str | None = None,
        weight_attr: str | None = None,
        transform: Callable | None = None,
        transform_sampler_output: Callable | None = None,
        is_sorted: bool = False,
        filter_per_worker: bool | None = None,
        neighbor_sampler: Any = None,
        directed: bool = True,
        *,
        edge_ids: bool = True,
        pad: bool = False,
        rank: int = 0,
        world_size: int = 1,
        **kwargs: Any,
    ) -> None:
        if input_time is not None and time_attr is None:
            raise ValueError("input_time: requires time_attr")
        self.input_nodes, self.input_time = input_nodes, input_time
        super().__init__(
            data, num_neighbors, replace=replace, subgraph_type=subgraph_type, disjoint=disjoint,
            temporal_strategy=temporal_strategy, time_attr=time_attr, weight_attr=weight_attr, transform=transform,
            transform_sampler_output=transform_sampler_output, is_sorted=is_sorted,
            filter_per_worker=filter_per_worker, neighbor_sampler=neighbor_sampler, directed=directed,
            edge_ids=edge_ids, pad=pad, rank=rank, world_size=world_size, **kwargs)

    def _take_seeds(self, time_attr: str | None) -> tuple[int, list[str]]:
        self._type, self._nodes, self._input_id = _input_nodes(self.input_nodes, self._graph)
        self._times = None
        if time_attr is not None:
            self._times = _seed_times(self._graph, self._type, self._nodes, self.input_time, time_attr)
        if not self._disjoint and self._nodes.unique().numel() < self._nodes.numel():
            raise NotImplementedError("input_nodes: a node is there twice, which needs disjoint=True: each then has a "
                                      "tree of its own")
        return self._nodes.numel(), ["--seed-type", self._graph.nodes[self._type]]

    def _roots(self, size: int) -> dict[Any, int]:
        return {self._type: size}

    def _seeds(self, lists: list[Tensor]) -> bytes:
        """Seeds of each batch and, with times, these; between two batches there is an empty line."""
        named = self._graph.store.has_names(self._graph.nodes[self._type])
        return b"\n\n".join(seeds_text(self._nodes[x].numpy(), named, self._disjoint,
                                       None if self._times is None else self._times[x].numpy()) for x in lists)

    def _add_seeds(self, out: Any, index: Tensor, sampled: Batch, s: Sampled) -> list[tuple[Any, str, int]]:
        if not torch.equal(s.node[self._type][:sampled.batch_size], self._nodes[index]):
            raise RuntimeError(f"gnn-sample: step {sampled.step} begins with other seeds than those asked for")
        part = part_of(out, self._type)
        part.input_id = index if self._input_id is None else self._input_id[index]
        if self.input_time is not None:
            part.seed_time = self._times[index]
        part.batch_size = index.numel()
        size = self._sizes.batch_size if self._sizes is not None else 0
        return [(part, name, size) for name in ("input_id", "seed_time")]


def _seed_times(graph: Graph, kind: str | None, nodes: Tensor, given: Tensor | None, time_attr: str) -> Tensor:
    """The time of each seed: those given, or those of the nodes."""
    if given is not None:
        times = torch.as_tensor(given).cpu()
        if times.shape != nodes.shape:
            raise ValueError(f"input_time: {times.numel()} times for {nodes.numel()} input_nodes")
        return times
    if time_attr not in [name for name, _ in graph.columns[kind]]:
        whose = "nodes" if kind is None else f"nodes of type {kind!r}"
        raise ValueError(f"input_time is missing: {whose} have no attribute {time_attr!r}")
    times = part_of(graph.data, kind)[time_attr]
    return _pyg_data.pick(times, graph.rows(kind, nodes), 0, graph.memory).cpu()
