# SPDX-License-Identifier: Apache-2.0
"""PyG's loaders over gnn-sample: change the import, and nothing else.

    from gnntools.pyg import NeighborLoader            # was: from torch_geometric.loader import NeighborLoader

Neither pyg-lib nor torch-sparse is needed: a child process samples, while this one fills the batches. Needs torch and
PyG, of any version.
"""
from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Callable

import torch
from torch import Tensor
from torch.utils.data import DataLoader
from torch_geometric.data import HeteroData

from . import _pyg_data, _pyg_pad
from ._child import Pipeline, text_file
from ._pyg_data import ONE, Graph
from .store import cpus, fanout_words, id_array, seeds_text
from .stream import Batch, Stream

_told = set()


def _tell(name: str, why: str) -> None:
    """Says once that an argument has no effect, and why."""
    if name not in _told:
        _told.add(name)
        warnings.warn(f"gnntools.pyg: {name} has no effect: {why}", stacklevel=4)


def _fanouts(num_neighbors: Any, graph: Graph) -> dict[Any, list[int]]:
    """The number of neighbours in each hop by edge type, -1 for all."""
    default, by_type = getattr(num_neighbors, "default", None), getattr(num_neighbors, "values", None)
    if isinstance(num_neighbors, dict) or not isinstance(by_type, dict):
        by_type = num_neighbors
    if isinstance(by_type, dict):
        by_type = {tuple(k.to_tuple()) if hasattr(k, "to_tuple") else tuple(k): v for k, v in by_type.items()}
        for key in by_type:
            if key not in graph.edges:
                have = ", ".join(map(repr, graph.edges))
                raise ValueError(f"num_neighbors: the graph has no edge type {key!r}; it has {have}")
        for key in graph.edges:
            if by_type.setdefault(key, default) is None:
                raise ValueError(f"num_neighbors: edge type {key!r} is missing")
    else:
        by_type = dict.fromkeys(graph.edges, by_type)
    lists = {key: [max(int(n), -1) for n in v] for key, v in by_type.items()}
    if len({len(v) for v in lists.values()}) > 1 or not min(map(len, lists.values())):
        raise ValueError("num_neighbors: each edge type needs a number for each hop, and there must be a hop "
                         f"(got {num_neighbors!r})")
    return lists


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
    n = _pyg_data.part_of(graph.data, kind).num_nodes
    if given is None:
        return kind, torch.arange(n), None
    given = torch.as_tensor(given)
    nodes = torch.from_numpy(id_array(given, n, "input_nodes").astype("int64"))
    return kind, nodes, nodes if given.dtype == torch.bool else None


class NeighborLoader(DataLoader):
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
        _refuse(data, transform_sampler_output, neighbor_sampler, kwargs)
        how = "induced" if not directed else getattr(subgraph_type, "value", subgraph_type)
        if how not in ("directional", "bidirectional", "induced"):
            raise ValueError(f"subgraph_type: {subgraph_type!r} is none of directional, bidirectional, induced")
        if temporal_strategy not in ("uniform", "last"):
            raise ValueError(f"temporal_strategy: {temporal_strategy!r} is neither uniform nor last")
        if input_time is not None and time_attr is None:
            raise ValueError("input_time: requires time_attr")
        if not 0 <= rank < world_size:
            raise ValueError(f"rank {rank} of world_size {world_size}: ranks are from 0 to world_size-1")
        if is_sorted:
            _tell("is_sorted", "edges are sorted in any case")
        self._graph = _pyg_data.graph_of(data, time_attr, weight_attr, temporal_strategy == "last")
        if how == "bidirectional" and isinstance(self._graph.data, HeteroData):
            raise NotImplementedError("subgraph_type='bidirectional' is there for graphs of one node type and one "
                                      "edge type only")
        self.data, self.input_nodes, self.input_time, self.transform = data, input_nodes, input_time, transform
        self.filter_per_worker, self.rank, self.world_size = filter_per_worker, rank, world_size
        self._type, self._nodes, self._input_id = _input_nodes(input_nodes, self._graph)
        self._times = None
        if time_attr is not None:
            self._times = _seed_times(self._graph, self._type, self._nodes, input_time, time_attr)
        self._disjoint = bool(disjoint) or time_attr is not None
        if not self._disjoint and self._nodes.unique().numel() < self._nodes.numel():
            raise NotImplementedError("input_nodes: a node is there twice, which needs disjoint=True: each then has a "
                                      "tree of its own")
        self._how, self._edge_ids = how, bool(edge_ids)
        fanouts = _fanouts(num_neighbors, self._graph)
        self._options = ["--frontier", "new", "--seed-type", self._graph.nodes[self._type]]
        self._options += fanout_words(fanouts[ONE] if ONE in fanouts else fanouts)
        for option, given in (("--replace", replace), ("--disjoint", self._disjoint), ("--induced", how == "induced"),
                              ("--original-ids", self._graph.places)):
            self._options += [option] * bool(given)
        if weight_attr is not None and max(map(max, fanouts.values())) >= 0:
            self._options += ["--weight", self._graph.weight]
        if time_attr is not None:
            self._options += ["--time-rule", "le"] + ["--latest"] * (temporal_strategy == "last")
        self._verified = not self._graph.in_store  # what this process has just written needs no sums
        if world_size > 1 and kwargs.get("generator") is None:
            kwargs["generator"] = torch.Generator().manual_seed(0)
        super().__init__(range(self._nodes.numel()), collate_fn=self._collate, **kwargs)
        self._sizes = None
        if pad:
            self._sizes = _pyg_pad.sizes(self._graph, self._type, getattr(self.batch_sampler, "batch_size", None),
                                         fanouts, self._disjoint, replace, how)

    def _collate(self, index: Tensor | Sequence[int]) -> Any:
        """The batch of these positions in input_nodes."""
        for batch in self._epoch([index], 0, 0, 1):
            return batch

    __call__ = _collate

    def __len__(self) -> int:
        """Batches of an epoch, of this rank."""
        steps = super().__len__()
        return steps // self.world_size if self.drop_last else len(range(self.rank, steps, self.world_size))

    def __iter__(self) -> Iterator[Any]:
        """An epoch. A program samples it, which ends with the iterator."""
        threads = 0 if self.filter_per_worker is False else min(self.num_workers, cpus())
        return self._epoch(self._index_sampler, threads, self.rank, self.world_size)

    def __repr__(self) -> str:
        return "NeighborLoader()"

    def _epoch(self, lists: Any, threads: int, rank: int, world: int) -> Iterator[Any]:
        seed = torch.empty((), dtype=torch.int64).random_(generator=self.generator).item()  # where torch draws
        lists = [torch.as_tensor(x, dtype=torch.int64).view(-1) for x in lists]
        if self.drop_last:
            lists = lists[:len(lists) // world * world]
        mine = lists[rank::world]
        if not mine:
            return
        graph = self._graph
        graph.store.check()
        if not graph.in_store:
            graph.data, graph.columns = self.data, _pyg_data.columns_of(self.data)  # attributes may come and go
        self._ids = self._edge_ids or any(graph.columns[key] for key in graph.edges)
        command = ["gnn-sample", "-q", "--no-provenance", graph.store.path, *self._options, "--seeds", "-", "--seed",
                   str(seed), "-b", str(max(map(len, lists))), "-j", str(max(1, min(self.num_workers, cpus())))]
        command += ["--edge-ids"] * self._ids + ["--no-verify"] * self._verified
        command += ["--steps", f"{rank}::{world}"] * (world > 1)
        with text_file(self._seeds(lists)) as seeds:
            stream = Stream(Pipeline([command], feed=seeds))
        with stream:
            if stream.header["identity"] != graph.store.identity:
                raise RuntimeError(f"{graph.store.path}: another store than when the loader was made")
            yield from _filled(self._fill, mine, stream, threads, threads * (self.prefetch_factor or 1))
            if next(stream, None) is not None:  # this look finds out how the program ended
                raise RuntimeError("gnn-sample: wrote more batches than those that were asked for")
        self._verified = True

    def _seeds(self, lists: list[Tensor]) -> bytes:
        """Seeds of each batch and, with times, these; between two batches there is an empty line."""
        named = self._graph.store.has_names(self._graph.nodes[self._type])
        if not all(map(len, lists)):
            raise ValueError("batch_sampler: a batch without nodes")
        if self._sizes is not None and max(map(len, lists)) > self._sizes.batch_size:
            raise ValueError(f"pad=True: a batch of {max(map(len, lists))} nodes, more than batch_size")
        return b"\n\n".join(seeds_text(self._nodes[x].numpy(), named, self._disjoint,
                                       None if self._times is None else self._times[x].numpy()) for x in lists)

    def _fill(self, index: Tensor, sampled: Batch | None) -> Any:
        """The batch of these positions, from the arrays that gnn-sample wrote."""
        if sampled is None:
            raise RuntimeError("gnn-sample: wrote fewer batches than those that were asked for")
        s = _pyg_data.read_sampled(sampled, self._graph, self._ids)
        if not torch.equal(s.node[self._type][:sampled.batch_size], self._nodes[index]):
            raise RuntimeError(f"gnn-sample: step {sampled.step} begins with other seeds than those asked for")
        if self._how == "bidirectional":
            s = _pyg_data.make_bidirectional(s)
        elif self._how == "induced":
            s = s._replace(nodes_by_hop={}, edges_by_hop={})
        out = _pyg_data.make_batch(self._graph, s, self._edge_ids)
        part = _pyg_data.part_of(out, self._type)
        part.input_id = index if self._input_id is None else self._input_id[index]
        if self.input_time is not None:
            part.seed_time = self._times[index]
        part.batch_size = index.numel()
        if self._sizes is not None:
            _pyg_pad.pad(out, part, s, self._graph, self._sizes)
        if self.transform is not None:
            out = self.transform(out)
        return out.pin_memory() if self.pin_memory and torch.cuda.is_available() else out


def _filled(fill: Callable, lists: list[Tensor], stream: Stream, threads: int, ahead: int) -> Iterator[Any]:
    """fill(list, batch) for each list and its batch (None: the stream has ended); in threads, up to `ahead` ahead."""
    if not threads:
        for index in lists:
            yield fill(index, next(stream, None))
        return
    reader, pool = (ThreadPoolExecutor(n, "gnntools") for n in (1, threads))  # a stream is read by one thread
    waiting: deque[Future[Any]] = deque()

    def begin(index: Tensor) -> None:
        batch = reader.submit(next, stream, None)
        waiting.append(pool.submit(lambda: fill(index, batch.result())))

    try:
        for index in lists[:ahead]:
            begin(index)
        for index in lists[ahead:] + [None] * len(waiting):
            yield waiting.popleft().result()
            if index is not None:
                begin(index)
    finally:
        reader.shutdown(cancel_futures=True)  # waits for the batch that is being read
        pool.shutdown(cancel_futures=True)


def _refuse(data: Any, transform_sampler_output: Any, neighbor_sampler: Any, kwargs: dict[str, Any]) -> None:
    """What PyG's loader has and this one has not, by name; and what has no effect."""
    for name, given in ("transform_sampler_output", transform_sampler_output), ("neighbor_sampler", neighbor_sampler):
        if given is not None:
            raise NotImplementedError(f"{name} is not there: a program samples; transform is called with each batch")
    if isinstance(data, (tuple, list)):
        raise NotImplementedError("a FeatureStore and a GraphStore cannot be sampled: give a Data, a HeteroData or a "
                                  "store")
    if kwargs.get("batch_size", 1) is None:
        raise NotImplementedError("batch_size=None: give a number, or a batch_sampler")
    for name in ("dataset", "collate_fn"):  # as PyG's loader
        kwargs.pop(name, None)
    for name, why in (("worker_init_fn", "workers are threads"), ("multiprocessing_context", "workers are threads"),
                      ("persistent_workers", "threads start in no time"), ("timeout", "a program that ends says so")):
        if kwargs.get(name):
            _tell(name, why)
    if kwargs.get("pin_memory") and not torch.cuda.is_available():
        _tell("pin_memory", "there is no accelerator")


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
    times = _pyg_data.part_of(graph.data, kind)[time_attr]
    return _pyg_data.pick(times, graph.rows(kind, nodes), 0, graph.memory).cpu()
