# SPDX-License-Identifier: Apache-2.0
"""Graphs that loaders of gnntools.pyg sample, and batches of them as PyG's Data and HeteroData."""
from __future__ import annotations

import copy
import math
import mmap
import os
import shutil
import tempfile
import warnings
import weakref
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from .arrays import from_arrays
from .convert import edge_attribute, split_masks
from .store import Store, as_tensor
from .stream import Batch, Block

ONE = (None, None, None)  # the edge type of a Data
LARGE = 1 << 20  # bytes of an array from which its memory is used again
KEPT = 1 << 30  # bytes that wait to be used again at most


class Memory:
    """Memory of batches that is used again when their last tensor is gone: new pages cost more than gathering rows into them."""

    def __init__(self) -> None:
        self._free: List[mmap.mmap] = []

    def empty(self, shape: Tuple[int, ...], dtype: Any) -> np.ndarray:
        size = math.prod(shape) * np.dtype(dtype).itemsize
        if size < LARGE:
            return np.empty(shape, dtype)
        for memory in sorted(self._free, key=len):
            if size <= len(memory) <= 4 * size:
                try:
                    self._free.remove(memory)
                    break
                except ValueError:  # another thread has it
                    pass
        else:
            memory = mmap.mmap(-1, size + size // 8, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            if hasattr(mmap, "MADV_HUGEPAGE"):
                memory.madvise(mmap.MADV_HUGEPAGE)
        lease = np.frombuffer(memory, np.uint8, size)  # each view of it keeps it
        weakref.finalize(lease, self._give_back, memory).atexit = False
        return lease.view(dtype).reshape(shape)

    def _give_back(self, memory: mmap.mmap) -> None:
        self._free.append(memory)
        while sum(map(len, self._free)) > KEPT:
            self._free.pop(0)


def mapped(a: np.ndarray, bf16: bool = False) -> Tensor:
    """An array of a store as a tensor."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it cannot be written to: batches are copies
        return as_tensor(a, bf16)


class Graph:
    """What is sampled: a store, and the Data or HeteroData of which each batch is a part.

    store: what is sampled. data: with whole attributes; those of a store are mapped, not read.
    nodes: the store's name of each node type (of None, in a Data). edges: that of each edge type (of ONE, in a Data).
    columns: of each node type and edge type, the attributes whose rows are picked: name and dimension.
    position: of an edge type, where its edges of the store are in `edge_index`, unless that is their order.
    in_store: whether attributes of edges are in the order of the store. weight: the store's name of the weights.
    """

    def __init__(self, store: Store, data: Any, nodes: Dict[Any, str], edges: Dict[Any, str], weight: Optional[str], in_store: bool):
        self.store, self.data, self.nodes, self.edges, self.weight, self.in_store = store, data, nodes, edges, weight, in_store
        self.memory = Memory()
        self.columns: Dict[Any, List[Tuple[str, int]]] = {} if in_store else columns_of(data)
        arrays = store.parts[0].arrays
        places = {key: arrays.get("edge/%s/position" % name) for key, name in edges.items()}
        self.position = {key: mapped(place) for key, place in places.items() if place is not None}


class Sampled(NamedTuple):
    """Nodes and edges of a batch, by type: ids int64 [N]; tree int64 [N], if each seed has one of its own; how many nodes and edges were
    found by hop; edge_index int64 [2, E]; ids of edges in the store int64 [E]."""
    node: Dict[Any, Tensor]
    tree: Dict[Any, Tensor]
    nodes_by_hop: Dict[Any, List[int]]
    index: Dict[Any, Tensor]
    edge: Dict[Any, Optional[Tensor]]
    edges_by_hop: Dict[Any, List[int]]


def read_sampled(batch: Batch, graph: Graph, ids: bool) -> Sampled:
    """What was sampled, copied. ids: whether edges have ids."""
    out = Sampled({}, {}, {}, {}, {}, {})
    blocks: Dict[str, List[Block]] = {name: [] for name in graph.edges.values()}
    for block in batch.blocks():
        blocks["/".join(block[1:4])].append(block)
    for t, name in graph.nodes.items():
        out.node[t] = torch.from_numpy(batch.n_id(name).astype(np.int64))
        if "tree/" + name in batch.arrays:
            out.tree[t] = torch.from_numpy(batch.arrays["tree/" + name].astype(np.int64))
        counts = batch.counts(name).astype(np.int64).tolist()
        out.nodes_by_hop[t] = [b - a for a, b in zip([0] + counts, counts)]
    for key, name in graph.edges.items():
        total, at = sum(len(b.indices) for b in blocks[name]), 0
        index, edge = graph.memory.empty((2, total), np.int64), graph.memory.empty((total,), np.int64) if ids else None
        by_hop = out.edges_by_hop[key] = [0] * len(batch.header["sampling"]["fanout"])
        for b in blocks[name]:
            end, rows = at + len(b.indices), len(b.indptr) - 1
            index[0, at:end] = b.indices
            index[1, at:end] = np.repeat(np.arange(b.first, b.first + rows), np.diff(b.indptr))
            if edge is not None:
                edge[at:end] = b.id
            by_hop[b.hop], at = end - at, end
        out.index[key], out.edge[key] = torch.from_numpy(index), None if edge is None else torch.from_numpy(edge)
    return out


def make_bidirectional(s: Sampled) -> Sampled:
    """Edges of a Data in both directions, each once, ordered by target, then by source; ids are those of edges that were sampled."""
    (row, col), edge, n = s.index[ONE], s.edge[ONE], max(1, s.node[None].numel())
    one, inverse = torch.unique(torch.cat([col * n + row, row * n + col]), return_inverse=True)
    index = torch.stack([one % n, one.div(n, rounding_mode="floor")])
    if edge is not None:
        edge = edge.new_empty(one.numel()).scatter_(0, inverse, torch.cat([edge, edge]))
    return s._replace(index={ONE: index}, edge={ONE: edge}, nodes_by_hop={}, edges_by_hop={})


def pick(value: Any, index: Tensor, dim: int, memory: Memory) -> Any:
    """Rows `index` of a tensor, an array or a TensorFrame, as a copy on its device."""
    if isinstance(value, np.ndarray):
        return torch.from_numpy(np.take(value, index.numpy(), axis=dim))
    if not isinstance(value, Tensor):
        return value[index.to(value.device)]
    shape = (index.numel(), *value.shape[1:])
    if dim or not math.prod(shape) or value.device.type != "cpu" or value.layout != torch.strided or value.requires_grad:
        return torch.index_select(value, dim, index.to(value.device))
    out = torch.from_numpy(memory.empty((math.prod(shape) * value.element_size(),), np.uint8)).view(value.dtype).view(shape)
    return torch.index_select(value, 0, index, out=out)


def _fill(out: Any, source: Any, columns: List[Tuple[str, int]], index: Tensor, memory: Memory) -> None:
    for name, dim in columns:
        out[name] = pick(source[name], index, dim, memory)


def make_batch(graph: Graph, s: Sampled, edge_ids: bool) -> Any:
    """The part of graph.data that was sampled: a Data or HeteroData with the keys of PyG's NeighborLoader, but for those of seeds."""
    out = copy.copy(graph.data)
    typed, user = isinstance(out, HeteroData), {}
    for t, node in s.node.items():
        part, source = (out[t], graph.data[t]) if typed else (out, graph.data)
        if "num_nodes" in (source if typed else source._store):
            part.num_nodes = node.numel()
        _fill(part, source, graph.columns[t], node, graph.memory)
    for key, index in s.index.items():
        part, source = (out[key], graph.data[key]) if typed else (out, graph.data)
        part.edge_index = index.to(source.edge_index.device) if "edge_index" in source else index
        edge = s.edge[key]
        if edge is not None and key in graph.position:
            edge = pick(graph.position[key], edge, 0, graph.memory).long()
        user[key] = edge
        _fill(part, source, graph.columns[key], s.edge[key] if graph.in_store else edge, graph.memory)
    for t, node in s.node.items():
        part = out[t] if typed else out
        if "n_id" not in part:
            part.n_id = node
    for key, edge in user.items():
        part = out[key] if typed else out
        if edge_ids and edge is not None and "e_id" not in part:
            part.e_id = edge
    for name, values in (("batch", s.tree), ("num_sampled_nodes", s.nodes_by_hop), ("num_sampled_edges", s.edges_by_hop)):
        for t, value in values.items():
            setattr(out[t] if typed else out, name, value)
    return out


def columns_of(data: Any) -> Dict[Any, List[Tuple[str, int]]]:
    """What has a row for each node or edge in a Data or HeteroData, and in which dimension."""
    typed = isinstance(data, HeteroData)
    nodes = [(t, data[t]) for t in data.node_types] if typed else [(None, data._store)]
    edges = [(t, data[t]) for t in data.edge_types] if typed else [(ONE, data._store)]
    found: Dict[Any, List[Tuple[str, int]]] = {}
    for (key, store), is_row in [(x, "is_node_attr") for x in nodes] + [(x, "is_edge_attr") for x in edges]:
        found[key] = [(name, data.__cat_dim__(name, value, store)) for name, value in store.items()
                      if name not in ("num_nodes", "edge_index") and getattr(store, is_row)(name)]
    return found


def graph_of(data: Any, time_attr: Optional[str], weight_attr: Optional[str], latest: bool) -> Graph:
    """The graph of a Data or HeteroData, whose edges go into a store that is removed with the graph, or of a store.

    Raises ValueError, gnb.Error and ProgramError for what cannot be sampled.
    """
    if isinstance(data, (Data, HeteroData)):
        return _graph_of_data(data, time_attr, weight_attr, latest)
    if not isinstance(data, (str, os.PathLike, Store)):
        raise TypeError("expected a Data, a HeteroData or a store (got %s)" % type(data).__name__)
    return _graph_of_store(data if isinstance(data, Store) else Store(data), time_attr, weight_attr)


def _remove(path: str, pid: int) -> None:
    if os.getpid() == pid:  # a fork leaves the store to its parent
        shutil.rmtree(path, ignore_errors=True)


def _edge_time(data: Any, key: Any, store: Any, attr: str) -> Optional[Tensor]:
    """The time of each edge: its own, or that of its source; None if neither has one."""
    source = store if key == ONE else data[key[0]]
    own, of_node = attr in store and (key != ONE or store.is_edge_attr(attr)), attr in source and (key != ONE or store.is_node_attr(attr))
    return store[attr] if own else source[attr].cpu()[store.edge_index[0].cpu()] if of_node else None


def _times(data: Any, stores: Dict[Any, Any], attr: str, latest: bool) -> Dict[Any, Tensor]:
    """Times of all edges; those of types without times come before all others, so that they are never left out."""
    found = {key: _edge_time(data, key, store, attr) for key, store in stores.items()}
    given = [t for t in found.values() if t is not None]
    if not given:
        raise ValueError("time_attr: %r is an attribute of neither nodes nor edges" % attr)
    if isinstance(data, HeteroData) and any(attr in s for s in stores.values()) and any(attr in s for s in data.node_stores):
        raise ValueError("time_attr: %r is an attribute of both nodes and edges" % attr)
    if latest and len(given) < len(found):
        raise NotImplementedError("temporal_strategy='last': edges without %r have no last ones: %s" % (
            attr, ", ".join(repr(k) for k, t in found.items() if t is None)))
    real = any(t.is_floating_point() for t in given)
    least = torch.finfo(torch.float64).min if real else torch.iinfo(torch.int64).min
    return {key: torch.full((store.edge_index.shape[1],), least, dtype=torch.float64 if real else torch.int64) if found[key] is None
            else found[key].cpu().to(torch.float64 if real else torch.int64).view(-1) for key, store in stores.items()}


def _graph_of_data(data: Any, time_attr: Optional[str], weight_attr: Optional[str], latest: bool) -> Graph:
    typed = isinstance(data, HeteroData)
    stores = {key: data[key] for key in data.edge_types} if typed else {ONE: data._store}
    for key, store in stores.items():
        if "adj_t" in store or "adj" in store or "edge_index" not in store:
            raise ValueError("%sno edge_index: give one in place of adj_t" % ("edge type %r: " % (key,) if typed else ""))
    if weight_attr is not None and not any(weight_attr in store for store in stores.values()):
        raise ValueError("weight_attr: edges have no attribute %r" % weight_attr)
    times = _times(data, stores, time_attr, latest) if time_attr is not None else {}
    edges = {}
    for key, store in stores.items():
        edges[key] = {"edge_index": store.edge_index.as_subclass(Tensor).cpu().numpy()}
        if key in times:
            edges[key]["time"] = times[key].numpy()
        if weight_attr is not None and weight_attr in store:
            edges[key]["weight"] = store[weight_attr].detach().cpu().view(-1).numpy()
    nodes = {t: int(data[t].num_nodes) for t in data.node_types} if typed else int(data.num_nodes)
    folder = tempfile.mkdtemp(prefix="gnntools-")
    try:
        path = from_arrays(os.path.join(folder, "store"), nodes, edges if typed else edges[ONE], position=True)
        graph = Graph(Store(path), data, {t: t for t in nodes} if typed else {None: "node"},
                      {k: "/".join(k) for k in edges} if typed else {ONE: "node/to/node"}, "weight", False)
    except BaseException:
        _remove(folder, os.getpid())
        raise
    weakref.finalize(graph, _remove, folder, os.getpid())
    return graph


def _graph_of_store(store: Store, time_attr: Optional[str], weight_attr: Optional[str]) -> Graph:
    """The Data or HeteroData that to_pyg() gives, but with mapped attributes and without edges."""
    schema, part = store.schema, store.parts[0]
    weight = {"edge_weight": "weight"}.get(weight_attr, weight_attr)
    if len(store.parts) > 1:
        raise NotImplementedError("%s: has %d partitions: give the store that gnn-partition divided" % (store.path, len(store.parts)))
    if weight is not None and weight not in [f["name"] for t in schema["edge_types"] for f in t["fields"]]:
        raise ValueError("weight_attr: %s: edges have no field %r" % (store.path, weight))
    if time_attr is not None and (time_attr not in ("time", "edge_time") or not any("order" in t for t in schema["edge_types"])):
        raise ValueError("time_attr: %s: edges are not ordered by %r; 'time' orders them where it is there" % (store.path, time_attr))
    typed = len(store.node_types) > 1 or len(store.edge_types) > 1
    data = HeteroData() if typed else Data()
    graph = Graph(store, data, {t if typed else None: t for t in store.node_types},
                  {t if typed else ONE: "/".join(t) for t in store.edge_types}, weight, True)
    of_nodes = [(key, "node/" + name, t) for (key, name), t in zip(graph.nodes.items(), schema["node_types"])]
    of_edges = [(key, "edge/" + name, t) for (key, name), t in zip(graph.edges.items(), schema["edge_types"])]
    for key, where, t in of_nodes + of_edges:
        at, attributes = data[key] if typed else data, {}
        for name in (f["name"] for f in t["fields"]):
            value = mapped(part.arrays["%s/%s" % (where, name)], "%s/%s" % (where, name) in part.bf16)
            if "name" in t:
                classes = name == "y" and schema["task"] in ("multiclass", "binary")
                attributes[name] = value.long() if classes else value.float() if name == "y" else value
            elif name != "effective_time" and (name != "position" or key not in graph.position):
                attributes[edge_attribute(name, typed)] = value
        if "name" in t:
            attributes.update((name, torch.from_numpy(m)) for name, m in split_masks(store, t["name"], np.arange(t["count"])).items())
            at.num_nodes = t["count"]
        for name, value in attributes.items():
            at[name] = value
        graph.columns[key] = [(name, 0) for name in attributes]
    return graph
