# SPDX-License-Identifier: Apache-2.0
"""Stores from graphs of other libraries: from_pyg, from_dgl, from_scipy; and back: to_pyg.

What a store cannot hold is left out, and a warning names it all; strict=True makes that a ValueError. from_arrays() and
from_tables() make stores of one's own data.
"""
from __future__ import annotations

import re
import warnings
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from . import gnb
from .arrays import MASKS, from_arrays, numbers
from .run import path_of
from .store import Store, as_tensor

_PLAIN = ("node", "to", "node")  # the edge type of a graph whose types have no names
# What attributes of nodes and of edges are called in a store, if something else. Integers as features of edges keep
# their name, as x is float32.
_PYG: tuple[dict, dict] = {}, {"edge_attr": "x", "edge_weight": "weight", "edge_time": "time"}
_DGL = {"feat": "x", "label": "y"}, {"feat": "x", "w": "weight"}
_MASK_OF = {v: k for k, v in MASKS.items()}


def from_pyg(data: Any, path: str, *, exclude: Sequence[str] = (), label_type: Optional[str] = None,
             strict: bool = False, **options: Any) -> Store:
    """Makes the store `path` of a torch_geometric.data.Data or HeteroData, and opens it.

    Nodes keep their numbers, and edges their places, in the edge field `position` where needed. Attributes of nodes and
    edges become fields of the same name and dtype, but edge_attr (if it is float), edge_weight and edge_time become the
    edge fields x, weight and time, and train_mask, val_mask and test_mask the splits. y, x and time are as in
    from_arrays(), whose ids, task, force and options are options here, too.

    exclude     attributes to leave out without a word
    label_type  of several types: the node type whose labels are stored, if several have some
    strict      raise ValueError instead of warning of what a store cannot hold: attributes of the graph, of more than
                two dimensions, that are no numbers, or whose dtype or shape to_pyg() would not give back"""
    from torch_geometric.data import Data, HeteroData

    if not isinstance(data, (Data, HeteroData)):
        raise ValueError(f"from_pyg: a {type(data).__name__}, expected Data or HeteroData: from_arrays() takes arrays")
    graph, rest = _Graph("from_pyg", _PYG, exclude), {}
    if isinstance(data, HeteroData):
        graph.nodes = {t: (data[t].num_nodes, dict(data[t])) for t in data.node_types}
        graph.edges, rest = {e: dict(data[e]) for e in data.edge_types}, data._global_store
    else:
        node, edge = {}, {}
        for k, v in data.to_dict().items():
            of_edges = k in ("edge_index", "adj_t") or data.is_edge_attr(k)
            (edge if of_edges else node if data.is_node_attr(k) or k == "num_nodes" else rest)[k] = v
        graph.nodes, graph.edges = {"node": (data.num_nodes, node)}, {_PLAIN: edge}
    graph.lost = [f"'{k}' is of the graph as a whole" for k in rest if k not in exclude]
    return graph.store(path, label_type, strict, options)


def from_dgl(graph: Any, path: str, *, exclude: Sequence[str] = (), label_type: Optional[str] = None,
             strict: bool = False, **options: Any) -> Store:
    """Makes the store `path` of a DGLGraph, of one or of several types, and opens it.

    Nodes keep their numbers, and edges their ids as places (see from_pyg). Node data feat and label become x and y,
    edge data feat (if it is float), w and weight become x and weight, train_mask, val_mask and test_mask the splits,
    and all others fields of the same name. exclude, label_type, strict and options are those of from_pyg()."""
    import dgl

    if not isinstance(graph, dgl.DGLGraph) or graph.is_block:
        hint = ": give the graph that it was sampled from" if hasattr(graph, "is_block") else ""
        raise ValueError(f"from_dgl: a {type(graph).__name__}, expected a DGLGraph{hint}")
    out, plain = _Graph("from_dgl", _DGL, exclude), graph.canonical_etypes == [("_N", "_E", "_N")]
    out.nodes = {"node" if plain else t: (graph.num_nodes(t), dict(graph.nodes[t].data)) for t in graph.ntypes}
    for e in graph.canonical_etypes:
        ends = [numbers(end, f"edges of {e}") for end in graph.edges(etype=e, order="eid")]
        out.edges[_PLAIN if plain else e] = {**graph.edges[e].data, "edge_index": np.stack(ends)}
    if graph.batch_size > 1:
        out.lost.append(f"{graph.batch_size} graphs of a batch become one")
    return out.store(path, label_type, strict, options)


class _Graph:
    """A graph of another library: attributes by type, and what of them a store cannot hold."""

    def __init__(self, whose: str, renamed: tuple[dict, dict], exclude: Sequence[str]):
        self.whose, self.renamed, self.exclude = whose, renamed, exclude
        self.lost: list[str] = []
        self.nodes: dict[str, tuple[Optional[int], dict]] = {}
        self.edges: dict[tuple, dict] = {}

    def store(self, path: str, label_type: Optional[str], strict: bool, options: dict) -> Store:
        y = next((k for k, name in self.renamed[0].items() if name == "y"), "y")
        labelled = [t for t, (_, given) in self.nodes.items() if y in given and y not in self.exclude]
        if label_type not in labelled and (label_type or len(labelled) > 1):
            given = f": {label_type!r} has none" if label_type else ": say label_type"
            raise ValueError(f"{self.whose}: {y} of {', '.join(labelled) or 'no node type'}, and a store has labels of "
                             f"one node type{given}")
        nodes, edges = {}, {}
        for t, (n, given) in self.nodes.items():
            if n is None:
                raise ValueError(f"{self.whose}: nothing tells how many nodes '{t}' has: set its num_nodes")
            given = {k: v for k, v in given.items() if k != "num_nodes"}
            if label_type not in (None, t) and given.pop(y, None) is not None and y not in self.exclude:
                self.lost.append(f"'{y}' of {t}: a store has labels of one node type")
            nodes[t] = {"num_nodes": n, **self._fields(0, given, n, self._of(t), options.get("task"))}
        for e, given in self.edges.items():
            index = self._edge_index(given, self._of(e))
            edges[e] = {"edge_index": index, **self._fields(1, given, index.shape[-1], self._of(e), None)}
        text = f"{self.whose}: a store cannot hold everything: " + "; ".join(self.lost)
        if self.lost and strict:
            raise ValueError(text + " (exclude=[...] leaves attributes out, strict=False keeps what can be kept)")
        if self.lost:
            warnings.warn(text, stacklevel=3)
        if _PLAIN in edges and options.get("ids") is not None:
            options = {**options, "ids": {"node": options["ids"]}}
        return Store(from_arrays(path, nodes, edges, position=True, **options))

    def _of(self, t: Any) -> str:
        return "" if _PLAIN in self.edges else f" of {t}"

    def _edge_index(self, given: dict, what: str) -> np.ndarray:
        """edge_index, which is taken out of the attributes of edges, as is adj_t."""
        if "adj_t" in given and "edge_index" not in given:
            given.update(_pairs_of(given.pop("adj_t")))
            self.lost.append(f"'adj_t'{what} comes back as 'edge_index'")
        if "edge_index" not in given:
            raise ValueError(f"{self.whose}: no edge_index{what}: a store has edges, of which there may be 0")
        return numbers(given.pop("edge_index"), f"edge_index{what}")

    def _fields(self, side: int, given: Mapping[str, Any], n: int, what: str, task: Optional[str]) -> dict[str, Any]:
        """Attributes of nodes (side 0) or edges (side 1), under the names that a store has for them."""
        out, source = {}, {}
        for k, v in given.items():
            a = self._array(k, v, n, what) if k not in self.exclude else None
            if a is None:
                continue
            name = self.renamed[side].get(k, k)
            name = k if side and name == "x" and a.dtype.kind != "f" else name
            if source.setdefault(name, k) != k:
                raise ValueError(f"{self.whose}: '{source[name]}'{what} and '{k}' are both {name} in a store: exclude "
                                 "one")
            out[name] = v if name == "x" else a  # x as it is: a tensor's dtype may be one that NumPy has not
            self._note(side, k, name, a, what, task)
        return out

    def _array(self, k: str, v: Any, n: int, what: str) -> Optional[np.ndarray]:
        """An attribute that a store can hold; None, and told, if there is no such thing."""
        try:
            a = numbers(v, f"'{k}'{what}")
        except ValueError as why:
            return self.lost.append(str(why).partition(": convert")[0])
        if re.search(r"[\s/=,:.]|.{49}", k):
            return self.lost.append(f"'{k}'{what}: its name")
        if a.ndim not in (1, 2) or len(a) != n or (a.ndim == 2 and not a.shape[1]):
            return self.lost.append(f"'{k}'{what} has shape {list(a.shape)}")
        return a

    def _note(self, side: int, k: str, name: str, a: np.ndarray, what: str, task: Optional[str]) -> None:
        """Tells of a dtype, a shape or a name that to_pyg() does not give back."""
        to, column = _kept(a.dtype), a.ndim == 2 and a.shape[1] == 1
        if name == "x" or (side and name == "weight"):
            to = "float16" if not side and a.dtype == np.float16 else "float32"
        elif name == "time":
            to = "float64" if a.dtype.kind == "f" else "int64"
        elif not side and name == "y":
            whole = a.dtype.kind in "iub" and task != "regression" and (a.ndim == 1 or column)
            to = "int64" if whole else "float32"
        elif not side and name in MASKS:
            to = str(a.dtype)
        if str(a.dtype) != to:
            self.lost.append(f"'{k}'{what} comes back as {to}, not {a.dtype}")
        if a.ndim == 1 if name == "x" else column:
            self.lost.append(f"'{k}'{what} comes back as [{len(a)}{', 1' if name == 'x' else ''}]")
        if side and self.renamed is _PYG and edge_attribute(name, _PLAIN not in self.edges) != k:
            self.lost.append(f"'{k}'{what} comes back as '{edge_attribute(name, _PLAIN not in self.edges)}'")


def _kept(dtype: np.dtype) -> str:
    """The dtype in which to_pyg() gives a field."""
    return {"bool": "uint8", "uint16": "int32", "uint32": "int64", "uint64": "int64"}.get(str(dtype), str(dtype))


def edge_attribute(name: str, hetero: bool) -> str:
    """PyG's name of an edge field."""
    return "time" if name == "time" and hetero else next((k for k, v in _PYG[1].items() if v == name), name)


def _pairs_of(adj_t: Any) -> dict[str, Any]:
    """edge_index, and edge_weight or edge_attr, of a transposed adjacency matrix: torch_sparse's, or torch's own."""
    import torch

    if isinstance(adj_t, torch.Tensor):
        coo = adj_t.to_sparse_coo().coalesce()
        (row, col), value = coo.indices(), coo.values()
        value = None if bool((value == 1).all()) else value
    else:
        row, col, value = adj_t.coo()
    more = {} if value is None else {"edge_weight" if value.dim() == 1 else "edge_attr": value}
    return {"edge_index": torch.stack([col, row]), **more}


def to_pyg(store: Any, hetero: Optional[bool] = None) -> Any:
    """The graph of a store (a path or Store) in memory, as PyG's Data, or HeteroData if it has several types.

    hetero=True gives HeteroData in any case. Nodes and edges have the order in which they came into the store, edges
    that of their field `position` if there is one, and otherwise that of destinations. The edge fields x, weight and
    time are edge_attr, edge_weight and edge_time (HeteroData: time); labels are int64, or float32 where a node has
    several or for a regression; splits are masks, several of them in columns. A warning names what the graph cannot
    hold: names of nodes and of classes, and means of standardized features."""
    import torch
    from torch_geometric.data import Data, HeteroData

    store, lost = store if isinstance(store, Store) else Store(path_of(store)), []
    schema = store.schema
    plain = len(store.node_types) == len(store.edge_types) == 1
    if hetero is False and not plain:
        raise ValueError(f"{store.path}: {len(store.node_types)} node types and {len(store.edge_types)} edge types: "
                         "HeteroData holds them")
    hetero = not plain if hetero is None else hetero
    data, ids = HeteroData() if hetero else Data(), {t: store.ids(t).astype(np.int64) for t in store.node_types}
    for i, e in enumerate(store.edge_types):
        for k, v in edges_back(store, i, ids, hetero).items():
            (data[e] if hetero else data)[k] = v
    for t in schema["node_types"]:
        at, order = data[t["name"]] if hetero else data, ids[t["name"]]
        if not t["fields"]:
            at.num_nodes = t["count"]
        for f in t["fields"]:
            at[f["name"]] = _tensor(_placed(np.asarray(store.rows(f["name"], t["name"])), order), f)
            if "standardized" in f:
                lost.append(f"{f['name']} of {t['name']} is standardized, and its means and deviations are left out")
        if "y" in at and t["name"] == schema.get("label_type"):
            at.y = at.y.long() if schema["task"] in ("multiclass", "binary") else at.y.float()
        if store.names(t["name"]) is not None:
            lost.append(f"the names of {t['name']} are left out: Store.names() has them")
        for k, v in split_masks(store, t["name"], order).items():
            at[k] = torch.from_numpy(v)
    if schema.get("class_names"):
        lost.append(f"classes are numbers: {', '.join(schema['class_names'][:20])} are 0 and so on")
    if lost:
        warnings.warn(f"to_pyg: {store.path}: " + "; ".join(lost), stacklevel=2)
    return data


def _placed(rows: np.ndarray, place: np.ndarray) -> np.ndarray:
    """out[place[i]] = rows[i]"""
    out = np.empty_like(rows)
    out[place] = rows
    return out


def _tensor(a: np.ndarray, field: Mapping[str, Any]) -> Any:
    half = field["dtype"] == "bf16"
    return as_tensor(np.ascontiguousarray(a if half else a.astype(_kept(a.dtype), copy=False)), half)


def edges_back(store: Store, i: int, ids: Mapping[str, np.ndarray], hetero: bool, *, bare: bool = False
               ) -> dict[str, Any]:
    """edge_index and, unless bare, fields of edge type i in the order of to_pyg(). ids: those of the nodes by type."""
    import torch

    e = store.schema["edge_types"][i]
    key = f"edge/{gnb.edge_name(e)}/"
    names = [f["name"] for f in e["fields"] if not bare or f["name"] == "position"]
    got = {name: np.concatenate([p.arrays[key + name] for p in store.parts])
           for name in ["indices", "id", *names] if key + name in store.parts[0].arrays}
    degree = np.concatenate([np.diff(p.arrays[key + "indptr"].astype(np.int64)) for p in store.parts])
    index = np.stack([ids[e["src"]][got.pop("indices")], ids[e["dst"]][np.repeat(np.arange(len(degree)), degree)]])
    place, position = got.pop("id", None), got.get("position", np.zeros(0))
    if position.dtype.kind == "i" and np.array_equal(np.sort(position, axis=0), np.arange(index.shape[1])):
        place = got.pop("position", None)
    if place is None:  # as the unpartitioned store had them
        place = np.argsort(np.argsort(index[1], kind="stable"), kind="stable")
    place = place.astype(np.int64)
    if e.get("order") == "effective_time":  # which the import made
        got.pop("effective_time", None)
    fields = {f["name"]: f for f in e["fields"]}
    out = {"edge_index": torch.from_numpy(np.ascontiguousarray(_placed(index.T, place).T))}
    return {**out, **{edge_attribute(k, hetero): _tensor(_placed(v, place), fields[k]) for k, v in got.items()}}


def split_masks(store: Store, node_type: str, order: np.ndarray) -> dict[str, np.ndarray]:
    """Splits as masks: of several splits that are numbered, [N, S]; of others with names, MASK_SPLIT."""
    sets = [s for s in store.schema["splits"] if s.get("node_type") == node_type]
    splits = list(dict.fromkeys(s["split"] for s in sets))
    numbered = all(re.fullmatch(r"\d+(_\d+)?", s) for s in splits)
    splits.sort(key=lambda s: int(s.partition("_")[0]) if numbered else 0)  # 10 comes after 9
    out: dict[str, np.ndarray] = {}
    for s in sets:
        name = _MASK_OF.get(s["set"], s["set"] + "_mask")
        name += "" if numbered or len(splits) == 1 else "_" + s["split"]
        m = out.setdefault(name, np.zeros((len(order), len(splits) if numbered else 1), bool))
        m[order[store.set(f"{s['split']}/{s['set']}")], splits.index(s["split"]) if numbered else 0] = True
    return {k: m[:, 0].copy() if m.shape[1] == 1 else m for k, m in out.items()}


def from_scipy(matrix: Any, path: str, nodes: Any = None, **options: Any) -> Store:
    """Makes the store `path` of a sparse matrix of SciPy, and opens it. Entry (i, j) is an edge from i to j.

    Values become the edge field weight, unless all are 1. nodes: fields of the nodes, {field: array}. A matrix that is
    not square has edges from the node type row to the node type column, and nodes is {"row": fields, "column": fields}.
    Options are those of from_arrays(). Raises ValueError for entries that are there twice."""
    coo = matrix.tocoo()
    if matrix.tocsr().nnz != coo.nnz:
        raise ValueError("from_scipy: entries that are there twice: matrix.sum_duplicates() adds them up")
    edges = {"edge_index": np.stack([coo.row, coo.col])}
    if not (coo.data == 1).all():
        edges["weight"] = coo.data
    n, m = coo.shape
    if n == m:
        from_arrays(path, {"num_nodes": n, **(nodes or {})}, edges, **options)
    else:
        sides = {t: {"num_nodes": k, **(nodes or {}).get(t, {})} for t, k in (("row", n), ("column", m))}
        from_arrays(path, sides, {("row", "to", "column"): edges}, **options)
    return Store(path)
