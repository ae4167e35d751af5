# SPDX-License-Identifier: Apache-2.0
"""PyG's loaders over gnn-sample: change the import, and nothing else.

    from gnntools.pyg import NeighborLoader            # was: from torch_geometric.loader import NeighborLoader

Neither pyg-lib nor torch-sparse is needed: a child process samples, while this one fills the batches. Needs torch and PyG, of any version.
"""
from __future__ import annotations

import os
import queue
import threading
import warnings
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import torch
from torch import Tensor
from torch.utils.data import DataLoader
from torch_geometric.data import HeteroData

from . import _pyg_data
from ._child import text_file
from ._pyg_data import ONE, Graph
from .store import fanout_words, id_array
from .stream import Stream

EdgeType = Tuple[str, str, str]
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
_told = set()


def _tell(name: str, why: str) -> None:
    """Says once that an argument has no effect, and why."""
    if name not in _told:
        _told.add(name)
        warnings.warn("gnntools.pyg: %s has no effect: %s" % (name, why), stacklevel=4)


def _fanouts(num_neighbors: Any, graph: Graph) -> Tuple[List[str], bool]:
    """Options of gnn-sample, and whether all neighbours are taken in all hops."""
    default = getattr(num_neighbors, "default", None)
    values = getattr(num_neighbors, "values", num_neighbors) if not isinstance(num_neighbors, dict) else num_neighbors
    if isinstance(values, dict):
        by_type = {tuple(k.to_tuple()) if hasattr(k, "to_tuple") else tuple(k): v for k, v in values.items()}
        for key in by_type:
            if key not in graph.edges:
                raise ValueError("num_neighbors: the graph has no edge type %r; it has %s" % (key, ", ".join(map(repr, graph.edges))))
        for key in graph.edges:
            if by_type.setdefault(key, default) is None:
                raise ValueError("num_neighbors: edge type %r is missing" % (key,))
    else:
        by_type = {key: values for key in graph.edges}
    lists = {key: [max(int(n), -1) for n in v] for key, v in by_type.items()}
    if len({len(v) for v in lists.values()}) > 1 or not min(map(len, lists.values())):
        raise ValueError("num_neighbors: each edge type needs a number for each hop, and there must be a hop (got %r)" % (num_neighbors,))
    words = fanout_words(lists[ONE] if ONE in lists else lists)
    return words, all(n < 0 for v in lists.values() for n in v)


def _input_nodes(given: Any, graph: Graph) -> Tuple[Optional[str], Tensor, Optional[Tensor]]:
    """The node type (None in a Data), node ids int64 [n], and what is told of them as input_id if it is not their position."""
    typed, kind = isinstance(graph.data, HeteroData), None
    if typed and given is None:
        raise ValueError("input_nodes: a graph of several types needs a node type, or a pair of it and nodes")
    if isinstance(given, str):
        if typed and given in graph.nodes:
            kind, given = given, None
        else:
            try:
                kind, given = graph.store.set_info(given)["node_type"] if typed else None, graph.store.set(given).astype("int64")
            except KeyError as why:
                raise ValueError("input_nodes: no node type %r, and %s" % (given, why.args[0])) from None
    elif typed:
        if not isinstance(given, (list, tuple)) or len(given) != 2 or given[0] not in graph.nodes:
            raise ValueError("input_nodes: expected a node type and nodes; node types are %s" % ", ".join(map(repr, graph.nodes)))
        kind, given = given
    n = graph.data[kind].num_nodes if typed else graph.data.num_nodes
    if given is None:
        return kind, torch.arange(n), None
    given = torch.as_tensor(given)
    nodes = torch.from_numpy(id_array(given, n, "input_nodes").astype("int64"))
    return kind, nodes, nodes if given.dtype == torch.bool else None


class NeighborLoader(DataLoader):
    """PyG's NeighborLoader: batches of `batch_size` seeds and the neighbours that were sampled for them, as Data or HeteroData.

    data: a Data or HeteroData, whose edges are written to a temporary store when the loader is made; or a store: its path, or a
    gnntools.Store. All arguments of PyG's class and of torch's DataLoader are taken, positional ones in the same order, and batches have
    the same keys, dtypes and shapes: n_id and e_id int64 (e_id: columns of `data.edge_index`), edge_index int64 [2, E], and rows of all
    attributes of nodes and edges. Differences:

    - Nothing needs pyg-lib: times, weights, `disjoint` and induced subgraphs work as they are.
    - num_workers: threads of the child process, and threads here that fill batches while others are used, each as many as there are
      cores at most. Transforms then run at once, as in PyG; `filter_per_worker=False` leaves them to the caller's thread.
    - Draws follow torch's generator: after the same torch.manual_seed, seeds come in the order of PyG's loader, and batches are the
      same for each num_workers.
    - A node that is given twice needs `disjoint=True`, which gives each a tree of its own.
    - edge_ids=False leaves e_id out, which makes batches faster.

    Raises ValueError for arguments that do not fit, NotImplementedError for those of PyG that are not there, and gnntools.ProgramError
    with the line of the program that failed.
    """

    def __init__(
        self,
        data: Any,
        num_neighbors: Union[Sequence[int], Dict[EdgeType, Sequence[int]]],
        input_nodes: Any = None,
        input_time: Optional[Tensor] = None,
        replace: bool = False,
        subgraph_type: Any = "directional",
        disjoint: bool = False,
        temporal_strategy: str = "uniform",
        time_attr: Optional[str] = None,
        weight_attr: Optional[str] = None,
        transform: Optional[Callable] = None,
        transform_sampler_output: Optional[Callable] = None,
        is_sorted: bool = False,
        filter_per_worker: Optional[bool] = None,
        neighbor_sampler: Any = None,
        directed: bool = True,
        *,
        edge_ids: bool = True,
        **kwargs: Any,
    ) -> None:
        _refuse(data, transform_sampler_output, neighbor_sampler, kwargs)
        how = "induced" if not directed else getattr(subgraph_type, "value", subgraph_type)
        if how not in ("directional", "bidirectional", "induced"):
            raise ValueError("subgraph_type: %r is none of directional, bidirectional, induced" % (subgraph_type,))
        if temporal_strategy not in ("uniform", "last"):
            raise ValueError("temporal_strategy: %r is neither uniform nor last" % (temporal_strategy,))
        if input_time is not None and time_attr is None:
            raise ValueError("input_time: requires time_attr")
        if is_sorted:
            _tell("is_sorted", "edges are sorted in any case")
        self._graph = _pyg_data.graph_of(data, time_attr, weight_attr, temporal_strategy == "last")
        if how == "bidirectional" and isinstance(self._graph.data, HeteroData):
            raise NotImplementedError("subgraph_type='bidirectional' is there for graphs of one node type and one edge type only")
        self.data, self.input_nodes, self.input_time, self.transform = data, input_nodes, input_time, transform
        self.filter_per_worker = filter_per_worker
        self._type, self._nodes, self._input_id = _input_nodes(input_nodes, self._graph)
        self._times = None if time_attr is None else _seed_times(self._graph, self._type, self._nodes, input_time, time_attr)
        self._disjoint = bool(disjoint) or time_attr is not None
        if not self._disjoint and self._nodes.unique().numel() < self._nodes.numel():
            raise NotImplementedError("input_nodes: a node is there twice, which needs disjoint=True: each then has a tree of its own")
        self._how, self._edge_ids = how, bool(edge_ids)
        fanout, every = _fanouts(num_neighbors, self._graph)
        self._options = [*fanout, "--frontier", "new", "--seed-type", self._graph.nodes[self._type]]
        for option, given in (("--replace", replace), ("--disjoint", self._disjoint), ("--induced", how == "induced")):
            self._options += [option] * bool(given)
        if weight_attr is not None and not every:
            self._options += ["--weight", self._graph.weight]
        if time_attr is not None:
            self._options += ["--time-rule", "le"] + ["--latest"] * (temporal_strategy == "last")
        self._verified = not self._graph.in_store  # what this process has just written needs no sums
        super().__init__(range(self._nodes.numel()), collate_fn=self._collate, **kwargs)

    def _collate(self, index: Union[Tensor, Sequence[int]]) -> Any:
        """The batch of these positions in input_nodes."""
        for batch in self._epoch([index], 0):
            return batch

    __call__ = _collate

    def __iter__(self) -> Iterator[Any]:
        """An epoch. A program samples it, which ends with the iterator."""
        return self._epoch(self._index_sampler, 0 if self.filter_per_worker is False else min(self.num_workers, CORES))

    def __repr__(self) -> str:
        return "NeighborLoader()"

    def _epoch(self, lists: Any, threads: int) -> Iterator[Any]:
        seed = torch.empty((), dtype=torch.int64).random_(generator=self.generator).item()  # where torch draws, so that seeds agree
        lists = [torch.as_tensor(x, dtype=torch.int64).view(-1) for x in lists]
        if not lists:
            return
        self._graph.store.check()
        if not self._graph.in_store:
            self._graph.data = self.data
            self._graph.columns = _pyg_data.columns_of(self.data)  # attributes may have come and gone
        self._ids = self._edge_ids or any(self._graph.columns[key] for key in self._graph.edges)
        given = 0
        with text_file(self._seeds(lists)) as seeds:
            stream = Stream(self._command(seeds.fileno(), len(lists[0]), seed), pass_fds=[seeds.fileno()])
        with stream:
            if stream.header["identity"] != self._graph.store.identity:
                raise RuntimeError("%s: another store than when the loader was made" % self._graph.store.path)
            for batch in _threaded(self._fill, lists, stream, threads, self.prefetch_factor) if threads else map(self._fill, lists, stream):
                given += 1
                yield batch
            if given < len(lists) or next(stream, None) is not None:  # the last look finds out how the program ended
                raise RuntimeError("gnn-sample: wrote other batches than those that were asked for")
        self._verified = True

    def _command(self, fd: int, batch_size: int, seed: int) -> List[str]:
        command = ["gnn-sample", "-q", "--no-provenance", self._graph.store.path, "--seeds", "/dev/fd/%d" % fd, "--seed", str(seed)]
        command += ["-b", str(batch_size), "-j", str(max(1, min(self.num_workers, CORES))), *self._options]
        return command + ["--edge-ids"] * self._ids + ["--no-verify"] * self._verified

    def _seeds(self, lists: List[Tensor]) -> bytes:
        """Lines for --seeds: a node and, with times, its time."""
        sizes = {x.numel() for x in lists[:-1]} | {max(x.numel() for x in lists)}
        if len(sizes) > 1:
            raise NotImplementedError("batch_sampler: all batches but the last one must have the same size (got %s)" % sorted(sizes))
        at = torch.cat(lists)
        if not self._disjoint and at.numel() and int(at.bincount().max()) > 1:
            raise NotImplementedError("sampler: gives a node twice in an epoch, which needs disjoint=True: each then has a tree of its own")
        nodes = map(str, self._nodes[at].tolist())
        lines = nodes if self._times is None else ("%s %r" % line for line in zip(nodes, self._times[at].tolist()))
        return "\n".join(lines).encode()

    def _fill(self, index: Tensor, sampled: Any) -> Any:
        """The batch of these positions, from the arrays that gnn-sample wrote."""
        s = _pyg_data.read_sampled(sampled, self._graph, self._ids)
        if not torch.equal(s.node[self._type][:index.numel()], self._nodes[index]):
            raise RuntimeError("gnn-sample: step %d begins with other seeds than those that were asked for" % sampled.step)
        if self._how == "bidirectional":
            s = _pyg_data.make_bidirectional(s)
        elif self._how == "induced":
            s = s._replace(nodes_by_hop={}, edges_by_hop={})
        out = _pyg_data.make_batch(self._graph, s, self._edge_ids)
        part = out if self._type is None else out[self._type]
        part.input_id = index if self._input_id is None else self._input_id[index]
        if self.input_time is not None:
            part.seed_time = self._times[index]
        part.batch_size = index.numel()
        if self.transform is not None:
            out = self.transform(out)
        return out.pin_memory() if self.pin_memory and torch.cuda.is_available() else out


def _threaded(fill: Callable, lists: List[Tensor], stream: Any, threads: int, each: int) -> Iterator[Any]:
    """fill(list, batch) in threads, up to so many batches for each ahead of the caller, who gets them in order."""
    ready: "queue.Queue[Future[Any]]" = queue.Queue(max(1, threads * each))
    stop = threading.Event()

    def put(future: "Future[Any]") -> None:
        while not stop.is_set():
            try:
                return ready.put(future, timeout=0.05)
            except queue.Full:
                pass

    def read() -> None:
        last: "Future[Any]" = Future()
        try:
            for index, batch in zip(lists, stream):
                put(pool.submit(fill, index, batch))
                if stop.is_set():
                    return
            last.set_exception(StopIteration())
        except BaseException as why:
            last.set_exception(why)
        put(last)

    pool = ThreadPoolExecutor(threads, "gnntools")
    reader = threading.Thread(target=read, name="gnntools", daemon=True)
    reader.start()
    try:
        while True:
            future = ready.get()
            if isinstance(future.exception(), StopIteration):
                return
            yield future.result()
    finally:
        stop.set()
        reader.join(2)  # it waits for the next batch at most
        pool.shutdown(wait=False, cancel_futures=True)


def _refuse(data: Any, transform_sampler_output: Any, neighbor_sampler: Any, kwargs: Dict[str, Any]) -> None:
    """What PyG's loader has and this one has not, by name; and what has no effect."""
    for name, given in (("transform_sampler_output", transform_sampler_output), ("neighbor_sampler", neighbor_sampler)):
        if given is not None:
            raise NotImplementedError("%s is not there: a program samples; transform is called with each batch" % name)
    if isinstance(data, (tuple, list)):
        raise NotImplementedError("a FeatureStore and a GraphStore cannot be sampled: give a Data, a HeteroData or a store")
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


def _seed_times(graph: Graph, kind: Optional[str], nodes: Tensor, given: Optional[Tensor], time_attr: str) -> Tensor:
    """The time of each seed: those given, or those of the nodes."""
    if given is not None:
        times = torch.as_tensor(given).cpu()
        if times.shape != nodes.shape:
            raise ValueError("input_time: %d times for %d input_nodes" % (times.numel(), nodes.numel()))
        return times
    if time_attr not in [name for name, _ in graph.columns[kind]]:
        raise ValueError("input_time is missing: %s have no attribute %r" % (
            "nodes" if kind is None else "nodes of type %r" % kind, time_attr))
    return (graph.data if kind is None else graph.data[kind])[time_attr].cpu()[nodes]
