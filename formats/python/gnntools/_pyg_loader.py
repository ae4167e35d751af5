# SPDX-License-Identifier: Apache-2.0
"""What the loaders of gnntools.pyg share: an epoch of batches that a gnn-sample finds, and its arguments."""
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
from .store import cpus, fanout_words
from .stream import Batch, Stream

_told = set()


def _tell(name: str, why: str) -> None:
    """Says once that an argument has no effect, and why."""
    if name not in _told:
        _told.add(name)
        warnings.warn(f"gnntools.pyg: {name} has no effect: {why}", stacklevel=5)


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


class SampledLoader(DataLoader):
    """A DataLoader over positions among seeds. What seeds are, a class says that has:

    _take_seeds(time_attr): how many seeds there are, and options of gnn-sample for them, from attributes set before.
    _seeds(lists): text for gnn-sample, with the seeds at these positions, a list for each batch.
    _roots(size): of each type, how many nodes a batch of so many seeds begins with at most.
    _add_seeds(out, index, sampled, s): gives a batch what it says of its seeds; returns what pad() makes longer.
    """

    def __init__(
        self,
        data: Any,
        num_neighbors: Any,
        *,
        replace: bool,
        subgraph_type: Any,
        disjoint: bool,
        temporal_strategy: str,
        time_attr: str | None,
        weight_attr: str | None,
        transform: Callable | None,
        transform_sampler_output: Callable | None,
        is_sorted: bool,
        filter_per_worker: bool | None,
        neighbor_sampler: Any,
        directed: bool,
        edge_ids: bool,
        pad: bool,
        rank: int,
        world_size: int,
        fields: dict[Any, dict[str, Any]] | None = None,
        **kwargs: Any,
    ) -> None:
        _refuse(data, transform_sampler_output, neighbor_sampler, is_sorted, kwargs)
        how = "induced" if not directed else getattr(subgraph_type, "value", subgraph_type)
        if how not in ("directional", "bidirectional", "induced"):
            raise ValueError(f"subgraph_type: {subgraph_type!r} is none of directional, bidirectional, induced")
        if temporal_strategy not in ("uniform", "last"):
            raise ValueError(f"temporal_strategy: {temporal_strategy!r} is neither uniform nor last")
        if not 0 <= rank < world_size:
            raise ValueError(f"rank {rank} of world_size {world_size}: ranks are from 0 to world_size-1")
        self._graph = _pyg_data.graph_of(data, time_attr, weight_attr, temporal_strategy == "last", fields or {})
        if how == "bidirectional" and isinstance(self._graph.data, HeteroData):
            raise NotImplementedError("subgraph_type='bidirectional' is there for graphs of one node type and one "
                                      "edge type only")
        self.data, self.transform, self.filter_per_worker = data, transform, filter_per_worker
        self.rank, self.world_size = rank, world_size
        self._disjoint = bool(disjoint) or time_attr is not None
        self._how, self._edge_ids = how, bool(edge_ids)
        count, options = self._take_seeds(time_attr)
        fanouts = _fanouts(num_neighbors, self._graph)
        self._options = ["--frontier", "new", *options, *fanout_words(fanouts[ONE] if ONE in fanouts else fanouts)]
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
        super().__init__(range(count), collate_fn=self._collate, **kwargs)
        self._sizes = None
        if pad:
            size = getattr(self.batch_sampler, "batch_size", None)
            if size is None:
                raise ValueError("pad=True: requires batch_size, or a batch_sampler with the attribute batch_size")
            self._sizes = _pyg_pad.sizes(self._graph, size, self._roots(size), fanouts, self._disjoint, replace, how)

    def _collate(self, index: Tensor | Sequence[int]) -> Any:
        """The batch at these positions."""
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
        return f"{type(self).__name__}()"

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
        if self._sizes is not None and max(map(len, lists)) > self._sizes.batch_size:
            raise ValueError(f"pad=True: a batch of {max(map(len, lists))} seeds, more than batch_size")
        if not all(map(len, lists)):
            raise ValueError("batch_sampler: a batch without seeds")
        with text_file(self._seeds(lists)) as seeds:
            stream = Stream(Pipeline([command], feed=seeds))
        with stream:
            if stream.header["identity"] != graph.store.identity:
                raise RuntimeError(f"{graph.store.path}: another store than when the loader was made")
            yield from _filled(self._fill, mine, stream, threads, threads * (self.prefetch_factor or 1))
            if next(stream, None) is not None:  # this look finds out how the program ended
                raise RuntimeError("gnn-sample: wrote more batches than those that were asked for")
        self._verified = True

    def _fill(self, index: Tensor, sampled: Batch | None) -> Any:
        """The batch of these positions, from the arrays that gnn-sample wrote."""
        if sampled is None:
            raise RuntimeError("gnn-sample: wrote fewer batches than those that were asked for")
        s = _pyg_data.read_sampled(sampled, self._graph, self._ids)
        if self._how == "bidirectional":
            s = _pyg_data.make_bidirectional(s)
        elif self._how == "induced":
            s = s._replace(nodes_by_hop={}, edges_by_hop={})
        out = _pyg_data.make_batch(self._graph, s, self._edge_ids)
        longer = self._add_seeds(out, index, sampled, s)
        if self._sizes is not None:
            _pyg_pad.pad(out, longer, s, self._graph, self._sizes)
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


def _refuse(data: Any, transform_sampler_output: Any, neighbor_sampler: Any, is_sorted: bool,
            kwargs: dict[str, Any]) -> None:
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
    if is_sorted:
        _tell("is_sorted", "edges are sorted in any case")
    if kwargs.get("pin_memory") and not torch.cuda.is_available():
        _tell("pin_memory", "there is no accelerator")
