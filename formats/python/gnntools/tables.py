# SPDX-License-Identifier: Apache-2.0
"""Stores from tables of nodes and edges that are joined by ids: from_tables()."""
from __future__ import annotations

import os
import re
import warnings
from typing import Any, Iterable, Mapping, Optional, Sequence

import numpy as np

from .arrays import MASKS, SETS, from_arrays
from .store import Store

_KEYS = ("id", "node_id", "node", "key", "nid", "vertex_id", "vertex", "name")
_ENDS = (("source", "src", "from", "head", "u", "source_id", "src_id", "from_id"),
         ("target", "dst", "to", "tail", "v", "target_id", "dst_id", "to_id"))
_SETS = {**SETS, "dev": "valid"}
_FEATURE = re.compile(r"(?:x|f|feat|feature)_?(\d+)|(\d+)")


def from_tables(path: str, nodes: Any, edges: Any, *, key: Any = None, ends: Any = None, x: Any = None, y: Any = None,
                split: Any = None, exclude: Sequence[str] = (), task: Optional[str] = None, **options: Any) -> Store:
    """Makes the store `path` of tables, and opens it. Nodes have the order of their rows, and their ids as names.

    nodes, edges  tables: data frames of pandas or polars, tables of pyarrow, paths of Parquet files, or {column:
                  array}. Of one type, a table each; nodes may be None: then they are those that the edges name. Of
                  several types, {type: table or None} and {(source type, relation, destination type): table}.
    key           the column of ids in nodes, integers >= 0 or words; the default is one called id, TYPE, TYPE_id,
                  node_id, node, key, nid, vertex_id, vertex or name; without one, the ids are 0, 1, 2 and so on
    ends          the two columns of ids in edges; the default are those called source, src, from, head, u, SOURCETYPE
                  or SOURCETYPE_id, and target, dst, to, tail, v, DESTINATIONTYPE or DESTINATIONTYPE_id
    x             the columns of features; the default are a column x of lists, or x0, f1, feat_2, feature3, 4
    y             the column of labels, numbers or words; the default is one called y, label, class or target
    split         the column with each node's set, train, valid (val, dev), test or none; by default split or set
    exclude       columns to leave out without a word
    task, force, options    as in from_arrays()

    Of several types, key, x, y and split are {type: columns}, and ends {edge type: columns}. Other columns of numbers,
    such as time and weight, are fields as in from_arrays(); times that are dates become the integers that they are
    stored as. Other columns of text are left out, and a warning names them. Raises ValueError for an id that is there
    twice, missing, or in edges but not in nodes."""
    if not (isinstance(edges, Mapping) and all(isinstance(e, tuple) for e in edges)):
        nodes, edges = {"node": nodes}, {("node", "to", "node"): edges}
        key, x, y, split = ({} if v is None else {"node": v} for v in (key, x, y, split))
        ends = {} if ends is None else {next(iter(edges)): ends}
    left: list[str] = []
    links = {e: _Table(t, f"edges {e}") for e, t in edges.items()}
    pairs = {e: _ends(t, e, (ends or {}).get(e)) for e, t in links.items()}
    types = dict.fromkeys([*nodes, *(t for e in edges for t in (e[0], e[2]))])
    fields, ids, index = {}, {}, {}
    for t in types:
        used = [pairs[e][side] for e in edges for side in (0, 1) if e[2 * side] == t]
        chosen = [(d or {}).get(t) for d in (key, x, y, split)]
        ids[t], fields[t] = _nodes(nodes.get(t), t, used, chosen, exclude, task, left)
        index[t] = _Index(ids[t], t)
        if not isinstance(ids[t], np.ndarray):
            del ids[t]
    out = {}
    for e, t in links.items():
        both = [index[e[2 * side]].find(pairs[e][side], f"edges {e}, column '{t.ends[side]}'") for side in (0, 1)]
        out[e] = {"edge_index": np.stack(both), **t.numbers([*t.ends, *exclude], left)}
    from_arrays(path, fields, out, ids=ids, task=task, **options)
    if left:
        warnings.warn(f"from_tables: left out: {', '.join(left)}", stacklevel=2)
    return Store(path)


class _Table:
    """Columns of a table as arrays: numbers [N] or [N, F], or objects that are words or None."""

    def __init__(self, table: Any, what: str):
        self.what, self.ends = what, ()
        if isinstance(table, (str, os.PathLike)):
            table = _parquet(os.fspath(table))
        table = table.collect() if hasattr(table, "collect") else table
        self.table, self.names = table, list(getattr(table, "column_names", getattr(table, "columns", table)))
        odd = [n for n in self.names if not isinstance(n, str)]
        if odd or len({*self.names}) < len(self.names):
            raise ValueError(f"{what}: columns called {self.names}: give each a name of its own that is a str")

    def choose(self, given: Optional[str], known: Iterable[str], what: str) -> Optional[str]:
        if given is not None and given not in self.names:
            raise ValueError(f"{self.what}: no column {given!r} ({what}); there are: {', '.join(self.names)}")
        found = [n for n in self.names if n.lower() in {k.lower() for k in known}]
        if given is None and len(found) > 1:
            raise ValueError(f"{self.what}: columns {' and '.join(found)}: say which is {what}")
        return given or (found[0] if found else None)

    def column(self, name: str) -> np.ndarray:
        col, what = self.table[name], f"{self.what}, column '{name}'"
        if hasattr(col, "combine_chunks"):  # pyarrow
            col = col.combine_chunks()
            col = col.dictionary_decode() if hasattr(col, "dictionary_decode") else col
            missing = col.null_count > 0
            a = col.to_numpy(zero_copy_only=False)
        else:
            missing = col.null_count() if hasattr(col, "null_count") else hasattr(col, "isna") and col.isna().any()
            a = col.to_numpy() if hasattr(col, "to_numpy") else np.asarray(col)
        if a.dtype.kind == "M":
            if np.isnat(a).any():
                raise ValueError(f"{what}: a date is missing: drop its row, or leave the column out")
            return a.astype(np.int64)
        if a.dtype.kind in "UT":
            a = a.astype(object)
        if a.dtype.kind == "O":
            known = [v for v in a if not _is_missing(v)]
            if known and all(isinstance(v, (bool, int, float, np.number, np.bool_)) for v in known):
                a = np.array([np.nan if _is_missing(v) else v for v in a])
                missing = len(known) < len(a)
            elif known and all(isinstance(v, (list, tuple, np.ndarray)) for v in known):
                a = np.array([np.asarray(v) for v in a])
            elif all(isinstance(v, str) for v in known):
                return np.array([None if _is_missing(v) else v for v in a] + [None], object)[:-1]
        if missing and a.dtype.kind == "f" and (abs(a) > 2**53).any():
            raise ValueError(f"{what}: integers beyond 2^53 with some missing: fill them in")
        return a

    def numbers(self, without: Sequence[str], left: list[str]) -> dict[str, np.ndarray]:
        """All columns of numbers; those of words are told as left out."""
        columns = {n: self.column(n) for n in self.names if n not in without}
        left += [f"column '{n}' of {self.what}" for n, a in columns.items() if a.dtype.kind == "O"]
        return {n: a for n, a in columns.items() if a.dtype.kind != "O"}


def _is_missing(v: Any) -> bool:
    return v is None or (isinstance(v, float) and v != v) or type(v).__name__ in ("NAType", "NaTType")


def _parquet(path: str) -> Any:
    for module, name in (("pyarrow.parquet", "read_table"), ("polars", "read_parquet"), ("pandas", "read_parquet")):
        try:
            return getattr(__import__(module, fromlist=["x"]), name)(path)
        except ImportError:
            continue
    raise ValueError(f"{path}: nothing here reads Parquet: pip install pyarrow, or polars")


def _ends(table: _Table, e: tuple, given: Optional[Sequence[str]]) -> list[np.ndarray]:
    own = [[t, f"{t}_id"] if e[0] != e[2] else [] for t in (e[0], e[2])]
    table.ends = tuple(table.choose(given[i] if given else None, [*_ENDS[i], *own[i]], what)
                       for i, what in enumerate(("the source", "the target")))
    if None in table.ends:
        raise ValueError(f"{table.what}: columns {', '.join(table.names)}: say which two are the ends, as ends")
    return [table.column(n) for n in table.ends]


def _nodes(given: Any, t: str, used: list[np.ndarray], chosen: list, exclude: Sequence[str], task: Optional[str],
           left: list[str]) -> tuple[Any, dict]:
    """Ids of a type (an array; a number if they are 0, 1, 2 and so on) and its fields."""
    if given is None:
        if not used:
            raise ValueError(f"nodes '{t}': None, and no edges name any: give a table, or leave the type out")
        if len({a.dtype.kind == "O" for a in used}) > 1:
            raise ValueError(f"nodes '{t}': some edges have words as ids and others numbers: make them alike")
        words = used[0].dtype.kind == "O"
        named = np.concatenate(used)
        ids = np.array([*dict.fromkeys(named), None], object)[:-1] if words else np.unique(named)
        return ids, {"num_nodes": len(ids)}
    table, (key, x, y, split) = _Table(given, f"nodes '{t}'"), chosen
    key = table.choose(key, [t, f"{t}_id"], "the ids")
    key = key or next((n for k in _KEYS for n in table.names if n.lower() == k), None)
    y = table.choose(y, ("y", "label", "class", "target"), "the labels")
    split = table.choose(split, ("split", "set"), "the split")
    x = list([x] if isinstance(x, str) else x or (["x"] if "x" in table.names else _features(table.names)))
    for n in x:
        table.choose(n, (), "of the features")
    fields = table.numbers([n for n in (key, y, split, *x, *exclude) if n], left)
    if x:
        parts = [table.column(n) for n in x]
        fields["x"] = parts[0] if len(parts) == 1 and parts[0].ndim == 2 else np.stack(parts, 1)
    if y:
        a = fields["y"] = table.column(y)
        gone = np.isnan(a) if a.dtype.kind == "f" and a.ndim == 1 and task != "regression" else np.zeros(1, bool)
        if gone.any() and (a[~gone] % 1 == 0).all():
            fields["y"] = np.where(gone, -1, a).astype(np.int64)  # classes, of which some are missing
    if split:
        fields.update(_masks(table, split))
    n = len(table.column(table.names[0]))
    return table.column(key) if key else n, {"num_nodes": n, **fields}


def _features(names: list[str]) -> list[str]:
    found = [(int(m.group(1) or m.group(2)), n) for n in names if (m := _FEATURE.fullmatch(n.lower()))]
    return [n for _, n in sorted(found)]


def _masks(table: _Table, split: str) -> dict[str, np.ndarray]:
    a = table.column(split)
    odd = next((v for v in a if v is not None and v not in _SETS), None)
    if odd is not None:
        raise ValueError(f"{table.what}, column '{split}': {odd!r}, expected train, valid, test or nothing: split=... "
                         "names another column")
    sets = np.array([_SETS.get(v, "") for v in a])
    return {mask: sets == s for mask, s in MASKS.items() if (sets == s).any()}


class _Index:
    """Finds the rows of ids."""

    def __init__(self, ids: Any, t: str):
        self.t, self.words = t, isinstance(ids, np.ndarray) and ids.dtype.kind == "O"
        self.n = len(ids) if isinstance(ids, np.ndarray) else ids
        if isinstance(ids, np.ndarray) and not self.words and ids.dtype.kind not in "iu":
            raise ValueError(f"ids of '{t}': {ids.dtype}, expected integers or words, none of them missing: convert "
                             "them, or fill them in")
        if self.words:
            self.at = {w: i for i, w in enumerate(ids)}
            twice = next((w for i, w in enumerate(ids) if self.at[w] != i), None) if len(self.at) < len(ids) else None
            if None in self.at:
                raise ValueError(f"ids of '{t}': [{self.at[None]}] is missing: fill it in, or drop the row")
        else:
            keys = ids if isinstance(ids, np.ndarray) else np.arange(ids)
            self.order = np.argsort(keys, kind="stable")
            self.keys = keys[self.order]
            same = np.flatnonzero(self.keys[1:] == self.keys[:-1])
            twice = self.keys[same[0]] if len(same) else None
        if twice is not None:
            raise ValueError(f"ids of '{t}': {twice!r} is there twice: leave one row of it")

    def find(self, ids: np.ndarray, what: str) -> np.ndarray:
        if (ids.dtype.kind == "O") != self.words or (not self.words and ids.dtype.kind not in "iu"):
            raise ValueError(f"{what}: {'text' if ids.dtype.kind == 'O' else ids.dtype}, but the ids of '{self.t}' are "
                             f"{'words' if self.words else 'integers'}: make them alike, with none missing")
        if self.words:
            at = np.fromiter((self.at.get(w, -1) for w in ids), np.int64, len(ids))
        else:
            k = np.minimum(np.searchsorted(self.keys, ids), self.n - 1)
            at = np.where(self.keys[k] == ids, self.order[k], -1)
        if (at < 0).any():
            row = int((at < 0).argmax())
            raise ValueError(f"{what}: row {row}: {ids[row]!r} is no id of '{self.t}': add it to the nodes, or leave "
                             "the row out")
        return at
