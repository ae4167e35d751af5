# SPDX-License-Identifier: Apache-2.0
"""Stores from graphs of other libraries: from_pyg, from_dgl, from_scipy; and back: to_pyg.

What a store cannot hold is left out, and a warning names it all; strict=True makes that a ValueError. from_arrays() and from_tables()
make stores of one's own data.
"""
from __future__ import annotations

import re
import warnings
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from . import gnb
from .arrays import MASKS, from_arrays, numbers
from .run import path_of
from .store import Store

# PyG's names of edge attributes, and a store's. Integers as edge_attr stay edge_attr, as x is float32.
_EDGE = {"edge_attr": "x", "edge_weight": "weight", "edge_time": "time"}
_MASK_OF = {"train": "train_mask", "valid": "val_mask", "test": "test_mask"}


class _Told:
    """What does not come back as it was."""

    def __init__(self, strict: bool):
        self.strict, self.lost = strict, []

    def add(self, what: str) -> None:
        self.lost.append(what)

    def close(self, whose: str) -> None:
        text = f"{whose}: a store cannot hold everything: " + "; ".join(self.lost)
        if self.lost and self.strict:
            raise ValueError(text + " (exclude=[...] leaves attributes out, strict=False keeps what can be kept)")
        if self.lost:
            warnings.warn(text, stacklevel=3)


def from_pyg(data: Any, path: str, *, exclude: Sequence[str] = (), label_type: Optional[str] = None, ids: Any = None,
             task: Optional[str] = None, strict: bool = False, force: bool = False, options: Sequence[str] = ()) -> Store:
    """Makes the store `path` of a torch_geometric.data.Data or HeteroData, and opens it.

    Nodes keep their numbers, and edges their places, in the edge field `position` where needed. Attributes of nodes and edges become
    fields of the same name and dtype, but edge_attr (if it is float), edge_weight and edge_time become the edge fields x, weight and
    time, and train_mask, val_mask and test_mask the splits. y, x and time are as in from_arrays(), which has the other arguments too.

    exclude     attributes to leave out without a word
    label_type  of HeteroData: the node type whose y is stored, if several have one
    strict      raise ValueError instead of warning of what a store cannot hold: attributes of the graph, of more than two dimensions,
                that are no numbers, or whose dtype or shape to_pyg() would not give back"""
    from torch_geometric.data import Data, HeteroData

    if not isinstance(data, (Data, HeteroData)):
        raise ValueError(f"from_pyg: a {type(data).__name__}, expected Data or HeteroData: from_arrays() takes arrays")
    hetero, told = isinstance(data, HeteroData), _Told(strict)
    nodes = {t: dict(data[t]) if hetero else {} for t in (data.node_types if hetero else ["node"])}
    edges = {e: dict(data[e]) if hetero else {} for e in (data.edge_types if hetero else [("node", "to", "node")])}
    graph = [k for k in (data._global_store if hetero else data.keys()) if k not in exclude]
    for k in [] if hetero else list(graph):
        if data.is_edge_attr(k) or k in ("edge_index", "adj_t"):
            edges["node", "to", "node"][k] = data[k]
        elif data.is_node_attr(k) or k == "num_nodes":
            nodes["node"][k] = data[k]
        else:
            continue
        graph.remove(k)
    told.lost += [f"'{k}' is of the graph as a whole" for k in graph]
    labelled = [t for t in nodes if "y" in nodes[t] and "y" not in exclude]
    if len(labelled) > 1 and label_type not in labelled:
        raise ValueError(f"from_pyg: y of {', '.join(labelled)}, and a store has labels of one node type: say label_type")
    for t in nodes:
        count = data[t].num_nodes if hetero else data.num_nodes
        if count is None:
            raise ValueError(f"from_pyg: nothing tells how many nodes '{t}' has: set its num_nodes")
        kept = {k: v for k, v in nodes[t].items() if k not in exclude and k != "num_nodes"}
        if label_type and label_type != t and kept.pop("y", None) is not None:
            told.add(f"'y' of {t}: a store has labels of one node type")
        nodes[t] = {"num_nodes": count, **_nodes_of(kept, count, f" of {t}" if hetero else "", task, told)}
    for e in edges:
        edges[e] = _edges_of({k: v for k, v in edges[e].items() if k not in exclude}, e, hetero, told)
    told.close("from_pyg")
    ids = ids if ids is None or hetero else {"node": ids}
    from_arrays(path, nodes, edges, ids=ids, task=task, position=True, force=force, options=options)
    return Store(path)


def _attribute(k: str, v: Any, n: int, what: str, told: _Told) -> Optional[np.ndarray]:
    """An attribute that a store can hold; None, and told, if there is no such thing."""
    try:
        a = numbers(v, f"'{k}'{what}")
    except ValueError as why:
        return told.add(str(why).partition(": convert")[0])
    if a.ndim not in (1, 2) or len(a) != n or (a.ndim == 2 and not a.shape[1]) or re.search(r"[\s/=,:.]|.{49}", k):
        return told.add(f"'{k}'{what}" + (f" has shape {list(a.shape)}" if not re.search(r"[\s/=,:.]|.{49}", k) else ": its name"))
    return a


def _note(k: str, a: np.ndarray, what: str, to: str, flat: bool, told: _Told) -> None:
    """Tells of a dtype or a shape that is not kept. flat: [N, 1] becomes [N]; otherwise [N] becomes [N, 1]."""
    if str(a.dtype) != to:
        told.add(f"'{k}'{what} comes back as {to}, not {a.dtype}")
    if a.ndim == (2 if flat else 1) and (not flat or a.shape[1] == 1):
        told.add(f"'{k}'{what} comes back as [{len(a)}{'' if flat else ', 1'}]")


def _kept(dtype: np.dtype) -> str:
    """The dtype in which to_pyg() gives a field."""
    return {"bool": "uint8", "uint16": "int32", "uint32": "int64", "uint64": "int64"}.get(str(dtype), str(dtype))


def _nodes_of(given: Mapping[str, Any], n: int, what: str, task: Optional[str], told: _Told) -> dict[str, Any]:
    out = {}
    for k, v in given.items():
        a = _attribute(k, v, n, what, told)
        if a is None:
            continue
        out[k] = v if k == "x" else a  # x as it is: a tensor's dtype may be one that NumPy has not
        if k in MASKS:
            if a.ndim == 2 and a.shape[1] == 1:
                told.add(f"'{k}'{what} comes back as [{n}]")
        elif k == "y":
            whole = a.dtype.kind in "iub" and task != "regression"
            _note(k, a, what, "int64" if whole and (a.ndim == 1 or a.shape[1] == 1) else "float32", True, told)
        elif k == "x":
            _note(k, a, what, "float16" if a.dtype == np.float16 else "float32", False, told)
        else:
            _note(k, a, what, _kept(a.dtype) if k != "time" else "float64" if a.dtype.kind == "f" else "int64", True, told)
    return out


def _edges_of(given: dict[str, Any], e: tuple, hetero: bool, told: _Told) -> dict[str, Any]:
    what = f" of {e}" if hetero else ""
    if "adj_t" in given and "edge_index" not in given:
        given = {**_pairs_of(given["adj_t"]), **{k: v for k, v in given.items() if k != "adj_t"}}
        told.add(f"'adj_t'{what} comes back as 'edge_index'")
    if "edge_index" not in given:
        raise ValueError(f"from_pyg: no edge_index{what}: a store has edges, of which there may be 0")
    index = numbers(given.pop("edge_index"), f"edge_index{what}")
    out = {"edge_index": index}
    for k, v in given.items():
        a = _attribute(k, v, index.shape[-1], what, told)
        if a is None:
            continue
        name = _EDGE.get(k, k) if k != "edge_attr" or a.dtype.kind == "f" else k
        back = edge_attribute(name, hetero)
        if name in out:
            raise ValueError(f"from_pyg: '{k}'{what} and '{back}' are both {name} in a store: exclude one")
        out[name] = a
        _note(k, a, what, "float32" if name in ("x", "weight") else "float64" if name == "time" and a.dtype.kind == "f" else _kept(a.dtype),
              name != "x", told)
        if back != k:
            told.add(f"'{k}'{what} comes back as '{back}'")
    return out


def edge_attribute(name: str, hetero: bool) -> str:
    """PyG's name of an edge field."""
    return "time" if name == "time" and hetero else next((k for k, v in _EDGE.items() if v == name), name)


def _pairs_of(adj_t: Any) -> dict[str, Any]:
    """edge_index, and edge_weight or edge_attr, of a transposed adjacency matrix: torch_sparse's, or a sparse tensor of torch."""
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
    """The graph of a store (a path or Store) in memory, as a torch_geometric.data.Data, or HeteroData if it has several types.

    hetero=True gives HeteroData in any case. Nodes and edges have the order in which they came into the store, edges that of their field
    `position` if there is one, and otherwise that of destinations. The edge fields x, weight and time are edge_attr, edge_weight and
    edge_time (HeteroData: time); labels are int64, or float32 where a node has several or for a regression; splits are masks, several
    of them in columns. A warning names what the graph cannot hold: names of nodes and of classes, and means of standardized features."""
    import torch
    from torch_geometric.data import Data, HeteroData

    store, told = store if isinstance(store, Store) else Store(path_of(store)), _Told(False)
    schema = store.schema
    plain = len(store.node_types) == len(store.edge_types) == 1
    if hetero is False and not plain:
        raise ValueError(f"{store.path}: {len(store.node_types)} node types and {len(store.edge_types)} edge types: HeteroData holds them")
    hetero = not plain if hetero is None else hetero
    data, ids = HeteroData() if hetero else Data(), {t: store.ids(t).astype(np.int64) for t in store.node_types}
    for i, e in enumerate(store.edge_types):
        for k, v in _edges_back(store, i, ids, hetero).items():
            (data[e] if hetero else data)[k] = v
    for t in schema["node_types"]:
        at, order = data[t["name"]] if hetero else data, ids[t["name"]]
        if not t["fields"]:
            at.num_nodes = t["count"]
        for f in t["fields"]:
            at[f["name"]] = _tensor(_placed(np.asarray(store.rows(f["name"], t["name"])), order), f)
            if "standardized" in f:
                told.add(f"{f['name']} of {t['name']} is standardized, and its means and deviations are left out")
        if "y" in at and t["name"] == schema.get("label_type"):
            at.y = at.y.long() if schema["task"] in ("multiclass", "binary") else at.y.float()
        if store.names(t["name"]) is not None:
            told.add(f"the names of {t['name']} are left out: Store.names() has them")
        for k, v in split_masks(store, t["name"], order).items():
            at[k] = torch.from_numpy(v)
    if schema.get("class_names"):
        told.add(f"classes are numbers: {', '.join(schema['class_names'][:20])} are 0 and so on")
    if told.lost:
        warnings.warn(f"to_pyg: {store.path}: " + "; ".join(told.lost), stacklevel=2)
    return data


def _placed(rows: np.ndarray, place: np.ndarray) -> np.ndarray:
    """out[place[i]] = rows[i]"""
    out = np.empty_like(rows)
    out[place] = rows
    return out


def _tensor(a: np.ndarray, field: Mapping[str, Any]) -> Any:
    import torch

    t = torch.from_numpy(np.ascontiguousarray(a if field["dtype"] == "bf16" else a.astype(_kept(a.dtype), copy=False)))
    return t.view(torch.bfloat16) if field["dtype"] == "bf16" else t


def _edges_back(store: Store, i: int, ids: Mapping[str, np.ndarray], hetero: bool) -> dict[str, Any]:
    import torch

    e = store.schema["edge_types"][i]
    key = f"edge/{gnb.edge_name(e)}/"
    got = {name: np.concatenate([p.arrays[key + name] for p in store.parts])
           for name in ["indices", "id", *(f["name"] for f in e["fields"])] if key + name in store.parts[0].arrays}
    degree = np.concatenate([np.diff(p.arrays[key + "indptr"].astype(np.int64)) for p in store.parts])
    index = np.stack([ids[e["src"]][got.pop("indices")], ids[e["dst"]][np.repeat(np.arange(len(degree)), degree)]])
    place, position = got.pop("id", None), got.get("position", np.zeros(0))
    if position.ndim == 1 and position.dtype.kind == "i" and np.array_equal(np.sort(position), np.arange(index.shape[1])):
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
    sets = [s for s in store.schema["splits"] if s["node_type"] == node_type]
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

    Values become the edge field weight, unless all are 1. nodes: fields of the nodes, {field: array}. A matrix that is not square has
    edges from the node type row to the node type column, and nodes is {"row": fields, "column": fields}. Options are those of
    from_arrays(). Raises ValueError for entries that are there twice."""
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


def from_dgl(graph: Any, path: str, *, exclude: Sequence[str] = (), strict: bool = False, **options: Any) -> Store:
    """Makes the store `path` of a DGLGraph, and opens it: node data feat and label become x and y, edge data feat, w and weight become x
    and weight, masks become splits, and all others fields of the same name. Options are those of from_arrays()."""
    told, nodes, edges = _Told(strict), {}, {}
    names = ({"feat": "x", "label": "y"}, {"feat": "x", "w": "weight"})
    for t in graph.ntypes:
        data = {names[0].get(k, k): v for k, v in graph.nodes[t].data.items() if k not in exclude}
        nodes[t] = {"num_nodes": graph.num_nodes(t), **_nodes_of(data, graph.num_nodes(t), f" of {t}", options.get("task"), told)}
    for e in graph.canonical_etypes:
        data = {names[1].get(k, k): v for k, v in graph.edges[e].data.items() if k not in exclude}
        src, dst = (numbers(ends, f"edges of {e}") for ends in graph.edges(etype=e, order="eid"))
        edges[e] = {"edge_index": np.stack([src, dst])}
        for k, v in data.items():
            a = _attribute(k, v, len(src), f" of {e}", told)
            if a is not None:
                edges[e][k] = a
    told.lost = [s for s in told.lost if " comes back as " not in s]
    told.close("from_dgl")
    from_arrays(path, nodes, edges, position=True, **options)
    return Store(path)
