# SPDX-License-Identifier: Apache-2.0
"""Graphs that loaders of gnntools.pyg sample, and batches of them as PyG's Data and HeteroData."""
from __future__ import annotations

import copy
import math
import mmap
import os
import warnings
import weakref
from multiprocessing.util import Finalize
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from ._child import temporary_folder
from .arrays import from_arrays
from .convert import edge_attribute, edges_back, split_masks
from .store import Rows, Store, as_tensor
from .stream import Batch, Block

ONE = (None, None, None)  # the edge type of a Data
LARGE = 1 << 20  # bytes of an array from which its memory is used again
KEPT = 1 << 30  # bytes that wait to be used again at most


class Memory:
    """Memory of batches, used again when their last tensor is gone: new pages cost more than gathering rows does."""

    def __init__(self) -> None:
        self._free: list[mmap.mmap] = []

    def empty(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
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


def column(store: Store, name: str) -> Tensor | Rows:
    """An array of a store, mapped: a tensor, or the rows of several partitions or of int8 with scales."""
    if len(store.parts) > 1 or store.int8(name):
        return Rows(store, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it cannot be written to: batches are copies
        return as_tensor(store.parts[0].arrays[name], name in store.parts[0].bf16)


class Graph:
    """What is sampled: a store, and the Data or HeteroData of which each batch is a part.

    store: what is sampled. data: with whole attributes; those of a store are mapped, not read.
    nodes: the store's name of each node type (of None, in a Data). edges: that of each edge type (of ONE, in a Data).
    columns: of each node type and edge type, the attributes whose rows are picked: name and dimension.
    position: of an edge type, where its edges of the store are in `edge_index`, unless that is their order.
    places: of each type of which a batch has ids from before the store was divided, the rows that have them.
    in_store: whether attributes of edges are in the order of the store. weight: the store's name of the weights.
    args: of graph_of(), after the data, by which a pickled graph is made anew.
    """

    def __init__(self, store: Store, data: Any, nodes: dict[Any, str], edges: dict[Any, str], weight: str | None,
                 in_store: bool, args: tuple):
        self.store, self.data, self.nodes, self.edges, self.weight = store, data, nodes, edges, weight
        self.in_store, self.args, self.memory = in_store, args, Memory()
        self.columns: dict[Any, list[tuple[str, int]]] = {} if in_store else columns_of(data)
        places = {key: f"edge/{name}/position" for key, name in edges.items()}
        self.position = {key: column(store, name) for key, name in places.items() if name in store.parts[0].arrays}
        self.places: dict[Any, Tensor] = {}

    def __reduce__(self) -> tuple:
        return graph_of, (self.store if self.in_store else self.data, *self.args)

    def rows(self, key: Any, ids: Tensor) -> Tensor:
        """Where nodes or edges of a type are in its columns."""
        return self.places[key][ids] if key in self.places else ids


def all_edges(graph: Graph, key: Any) -> Tensor:
    """The ends of all edges of a type, int64 [2, E], as e_id counts them."""
    if not graph.in_store:
        return part_of(graph.data, key).edge_index
    ids = {name: graph.store.ids(name).astype(np.int64) for name in graph.store.node_types}
    return edges_back(graph.store, list(graph.edges).index(key), ids, False, bare=True)["edge_index"]


class Sampled(NamedTuple):
    """Nodes and edges of a batch, by type: ids int64 [N]; tree int64 [N], if each seed has one of its own; how many
    nodes and edges were found by hop; edge_index int64 [2, E]; ids of edges in the store int64 [E]."""
    node: dict[Any, Tensor]
    tree: dict[Any, Tensor]
    nodes_by_hop: dict[Any, list[int]]
    index: dict[Any, Tensor]
    edge: dict[Any, Tensor | None]
    edges_by_hop: dict[Any, list[int]]


def read_sampled(batch: Batch, graph: Graph, ids: bool) -> Sampled:
    """What was sampled, copied. ids: whether edges have ids."""
    out = Sampled({}, {}, {}, {}, {}, {})
    blocks: dict[str, list[Block]] = {name: [] for name in graph.edges.values()}
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
    """Edges of a Data in both directions, each once, ordered by target, then by source, with ids of sampled ones."""
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
    if isinstance(value, Rows):
        return value[index]
    if not isinstance(value, Tensor):
        return value[index.to(value.device)]
    shape = (index.numel(), *value.shape[1:])
    plain = value.device.type == "cpu" and value.layout == torch.strided and not value.requires_grad
    if dim or not math.prod(shape) or not plain:
        return torch.index_select(value, dim, index.to(value.device))
    out = torch.from_numpy(memory.empty((math.prod(shape) * value.element_size(),), np.uint8))
    return torch.index_select(value, 0, index, out=out.view(value.dtype).view(shape))


def part_of(data: Any, key: Any) -> Any:
    """What a Data or HeteroData has of a node type or edge type."""
    return data if key in (None, ONE) else data[key]


def make_batch(graph: Graph, s: Sampled, edge_ids: bool) -> Any:
    """What was sampled of graph.data: a Data or HeteroData with the keys of PyG's loader, but for those of seeds."""
    out, ids = copy.copy(graph.data), {}

    def fill(part: Any, key: Any, rows: Tensor) -> None:
        source = part_of(graph.data, key)
        for name, dim in graph.columns[key]:
            part[name] = pick(source[name], rows, dim, graph.memory)

    for t, node in s.node.items():
        part = part_of(out, t)
        if "num_nodes" in part:
            part.num_nodes = node.numel()
        fill(part, t, graph.rows(t, node))
    for key, index in s.index.items():
        part, edge = part_of(out, key), s.edge[key]
        part.edge_index = index.to(part.edge_index.device) if "edge_index" in part else index
        if edge is not None:
            rows = graph.rows(key, edge)
            ids[key] = pick(graph.position[key], rows, 0, graph.memory).long() if key in graph.position else edge
            fill(part, key, rows if graph.in_store else ids[key])
    for name, values in (("n_id", s.node), ("e_id", ids if edge_ids else {})):
        for key, value in values.items():
            if name not in part_of(out, key):  # as an attribute of the user's
                part_of(out, key)[name] = value
    for name, values in (("batch", s.tree), ("num_sampled_nodes", s.nodes_by_hop),
                         ("num_sampled_edges", s.edges_by_hop)):
        for key, value in values.items():
            part_of(out, key)[name] = value
    return out


def columns_of(data: Any) -> dict[Any, list[tuple[str, int]]]:
    """What has a row for each node or edge in a Data or HeteroData, and in which dimension."""
    kinds = [(store._key, store, store.is_node_attr) for store in data.node_stores]
    kinds += [(store._key or ONE, store, store.is_edge_attr) for store in data.edge_stores]
    return {key: [(name, data.__cat_dim__(name, value, store)) for name, value in store.items()
                  if name not in ("num_nodes", "edge_index") and is_column(name)] for key, store, is_column in kinds}


def graph_of(data: Any, time_attr: str | None, weight_attr: str | None, latest: bool, fields: Any) -> Graph:
    """The graph of a Data or HeteroData, whose edges go into a store that is removed with the graph, or of a store.
    fields: further ones of nodes, {node type: {name: array}}, which go into that store, too; a store has its own.

    Raises ValueError, gnb.Error and ProgramError for what cannot be sampled.
    """
    if isinstance(data, (Data, HeteroData)):
        return _graph_of_data(data, time_attr, weight_attr, latest, fields)
    if not isinstance(data, (str, os.PathLike, Store)):
        raise TypeError(f"expected a Data, a HeteroData or a store (got {type(data).__name__})")
    return _graph_of_store(data if isinstance(data, Store) else Store(data), time_attr, weight_attr, latest, fields)


def _edge_time(data: Any, key: Any, store: Any, attr: str) -> Tensor | None:
    """The time of each edge: its own, or that of its source; None if neither has one."""
    source = store if key == ONE else data[key[0]]
    if attr in store and (key != ONE or store.is_edge_attr(attr)):
        return store[attr]
    if attr in source and (key != ONE or store.is_node_attr(attr)):
        return source[attr].cpu()[store.edge_index[0].cpu()]
    return None


def _times(data: Any, stores: dict[Any, Any], attr: str, latest: bool) -> dict[Any, Tensor]:
    """Times of all edges; those of types without times come before all others, so that they are never left out."""
    found = {key: _edge_time(data, key, store, attr) for key, store in stores.items()}
    given = [t for t in found.values() if t is not None]
    if not given:
        raise ValueError(f"time_attr: {attr!r} is an attribute of neither nodes nor edges")
    if isinstance(data, HeteroData) and any(attr in s for s in data.edge_stores) and any(
            attr in s for s in data.node_stores):
        raise ValueError(f"time_attr: {attr!r} is an attribute of both nodes and edges")
    if latest and len(given) < len(found):
        without = ", ".join(repr(k) for k, t in found.items() if t is None)
        raise NotImplementedError(f"temporal_strategy='last': edges without {attr!r} have no last ones: {without}")
    kind = torch.float64 if any(t.is_floating_point() for t in given) else torch.int64
    least = (torch.finfo if kind.is_floating_point else torch.iinfo)(kind).min
    return {key: torch.full((store.edge_index.shape[1],), least, dtype=kind) if found[key] is None
            else found[key].cpu().to(kind).view(-1) for key, store in stores.items()}


def _graph_of_data(data: Any, *args: Any) -> Graph:
    time_attr, weight_attr, latest, fields = args
    stores = {store._key or ONE: store for store in data.edge_stores}
    for key, store in stores.items():
        if "adj_t" in store or "adj" in store or "edge_index" not in store:
            of = "" if key == ONE else f"edge type {key!r}: "
            raise ValueError(f"{of}no edge_index: give one in place of adj_t")
    if weight_attr is not None and not any(weight_attr in store for store in stores.values()):
        raise ValueError(f"weight_attr: edges have no attribute {weight_attr!r}")
    times = _times(data, stores, time_attr, latest) if time_attr is not None else {}
    nodes, edges = {store._key: store._key or "node" for store in data.node_stores}, {}
    for key, store in stores.items():
        arrays = edges[("node", "to", "node") if key == ONE else key] = {
            "edge_index": store.edge_index.as_subclass(Tensor).cpu().numpy()}
        if key in times:
            arrays["time"] = times[key].numpy()
        if weight_attr is not None and weight_attr in store:
            arrays["weight"] = store[weight_attr].detach().cpu().view(-1).numpy()
    folder, remove = temporary_folder("gnntools-")
    try:
        rows = {name: {"num_nodes": int(part_of(data, t).num_nodes), **fields.get(t, {})} for t, name in nodes.items()}
        path = from_arrays(os.path.join(folder, "store"), rows, edges, position=True)
        graph = Graph(Store(path), data, nodes, dict(zip(stores, map("/".join, edges))), "weight", False, args)
    except BaseException:
        remove()
        raise
    Finalize(graph, remove, exitpriority=0)  # also as a worker ends, and not in a fork
    return graph


def _graph_of_store(store: Store, *args: Any) -> Graph:
    """The Data or HeteroData that to_pyg() gives, but with mapped attributes and without edges."""
    (time_attr, weight_attr, *_), schema = args, store.schema
    weight = {"edge_weight": "weight"}.get(weight_attr, weight_attr)
    if weight is not None and weight not in [f["name"] for t in schema["edge_types"] for f in t["fields"]]:
        raise ValueError(f"weight_attr: {store.path}: edges have no field {weight!r}")
    if time_attr is not None and (time_attr not in ("time", "edge_time")
                                  or not any("order" in t for t in schema["edge_types"])):
        raise ValueError(f"time_attr: {store.path}: edges are not ordered by {time_attr!r}; 'time' orders them where "
                         "it is there")
    typed = len(store.node_types) > 1 or len(store.edge_types) > 1
    data = HeteroData() if typed else Data()
    graph = Graph(store, data, {t if typed else None: t for t in store.node_types},
                  {t if typed else ONE: "/".join(t) for t in store.edge_types}, weight, True, args)
    of_nodes = [(key, "node/" + name, t) for (key, name), t in zip(graph.nodes.items(), schema["node_types"])]
    of_edges = [(key, "edge/" + name, t) for (key, name), t in zip(graph.edges.items(), schema["edge_types"])]
    for key, where, t in of_nodes + of_edges:
        at, attributes = part_of(data, key), {}
        for name in (f["name"] for f in t["fields"]):
            if "name" in t and name == "y":
                y = as_tensor(np.concatenate(store.arrays(f"{where}/y")))
                attributes[name] = y.long() if schema["task"] in ("multiclass", "binary") else y.float()
            elif "name" in t:
                attributes[name] = column(store, f"{where}/{name}")
            elif name != "effective_time" and (name != "position" or key not in graph.position):
                attributes[edge_attribute(name, typed)] = column(store, f"{where}/{name}")
        if "name" in t:
            masks = split_masks(store, t["name"], np.arange(t["count"]))
            attributes.update((name, torch.from_numpy(m)) for name, m in masks.items())
            at.num_nodes = t["count"]
        for name, value in attributes.items():
            at[name] = value
        graph.columns[key] = [(name, 0) for name in attributes]
        if f"{where}/id" in store.parts[0].arrays and ("name" in t or attributes or key in graph.position):
            ids = np.concatenate(store.arrays(f"{where}/id"))
            place = np.zeros(len(ids), np.int64)
            place[ids] = np.arange(len(ids))
            graph.places[key] = torch.from_numpy(place)
    return graph
