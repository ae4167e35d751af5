# SPDX-License-Identifier: Apache-2.0
"""Stores from arrays: from_arrays(). Arrays are NumPy's, or what has their interface, such as tensors on any device.

They are written beside the store as a folder of .npy files (gnn-formats(7)), which gnn-import(1) reads. Bad input is a
ValueError that names the array and the remedy; what gnn-import finds wrong is a ProgramError with its own line.
"""
from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from typing import Any, Iterable, Mapping, Optional, Sequence, Union

import numpy as np

from .run import ProgramError, run_program

EdgeType = tuple[str, str, str]
Fields = Mapping[str, Any]
SETS = {"train": "train", "val": "valid", "valid": "valid", "test": "test"}
MASKS = {"train_mask": "train", "val_mask": "valid", "test_mask": "test"}
_ROWS = 1 << 16  # looked at at a time
_KINDS = {"O": "Python objects", "U": "text", "S": "text", "M": "dates", "m": "durations", "c": "complex numbers"}


def from_arrays(path: str, nodes: Any, edges: Any, *, splits: Any = None, ids: Any = None, task: Optional[str] = None,
                position: bool = False, force: bool = False, options: Sequence[str] = ()) -> str:
    """Makes the store `path` of arrays, and returns path.

    nodes     of one type: their number, or {field: array [N] or [N, F]}; of several: {type: the same}
    edges     of one type (called node/to/node): edge_index, or {"edge_index": integers [2, E], field: array [E] or
              [E, F]}; of several: {(source type, relation, destination type): the same}. Row 0 has the sources.
    splits    {set: node ids or bool mask [N]}, with sets train, val (valid), test; of several types: {type: the same}
    ids       what nodes are called: integers >= 0 or words [N], all different; of several types: {type: the same}
    task      "multiclass", "binary", "multilabel" or "regression", where y does not tell
    position  keep the places of edges in edge_index, as the edge field `position`, unless destinations ascend
    force     replace a store that exists
    options   further options of gnn-import(1), such as "--standardize" or "--self-loops", "add"

    Types stay in the order given, and the position of a node is its row. Fields keep their names and dtypes, except
    x         features of nodes and of edges: float32, or 16 bits if those of all nodes are
    y         labels of one node type: integers from 0 (-1: none), words, floats (a regression), or [N, C] of 0 and 1
    time      of nodes and of edges: int64 or float64; the in-edges of a node are then sorted by time
    weight    of edges: float32
    train_mask, val_mask, test_mask    of nodes, bool [N] or [N, S]: they become the splits "0" to "S-1"

    Raises ValueError for arrays that do not fit, and ProgramError with the last line of gnn-import."""
    if isinstance(edges, Mapping) and all(isinstance(e, tuple) for e in edges):
        return _write(path, nodes, edges, splits or {}, ids or {}, task, position, force, options)
    return _write(path, {"node": nodes}, {("node", "to", "node"): edges}, {"node": splits} if splits else {},
                  {} if ids is None else {"node": ids}, task, position, force, options)


def _write(path: str, nodes: Fields, edges: Mapping[EdgeType, Any], splits: Fields, ids: Fields, task: Optional[str],
           position: bool, force: bool, options: Sequence[str]) -> str:
    fields = {t: dict(f) if isinstance(f, Mapping) else {"num_nodes": f} for t, f in nodes.items()}
    count = {t: _count(t, f) for t, f in fields.items()}
    _check(count, fields, edges, splits, ids)
    if os.path.lexists(path) and not force:
        raise FileExistsError(f"{path}: already exists: force=True replaces a store")
    changes = {"-u", "--undirected", "--dedup", "--self-loops"} & {*options}
    if position and changes:
        raise ValueError(f"{sorted(changes)[0]} adds or removes edges, which then have no positions: position=False")
    halves = {str(getattr(f["x"], "dtype", "")).replace("torch.", "") for f in fields.values() if "x" in f}
    more = {("float16",): ["--dtype", "f16"], ("bfloat16",): ["--dtype", "bf16"]}.get(tuple(halves), [])
    more = more + ([] if {"-u", "--undirected"} & changes else ["--directed"]) + ["--force"] * force
    folder = _Folder(path)
    try:
        counts = ",".join(map(_quoted, count)), ",".join(map(str, count.values()))
        folder.text("raw/num-node-dict", counts, "the node types")
        folder.text("raw/triplet-type-list", (",".join(map(_quoted, e)) for e in edges), "the edge types")
        for e, given in edges.items():
            _add_edges(folder, e, given, "time" in fields[e[0]], position)
        for k, t in enumerate(t for t in count if t in splits or {*MASKS} & {*fields[t]}):
            _add_sets(folder, t, fields[t], splits.get(t, {}), count[t], f"_{k}" if k else "")
        for t in count:
            task = _add_nodes(folder, t, fields[t], count[t], task)
            if t in ids:
                _add_ids(folder, t, ids[t], count[t])
        more += ["--task", task] if task else []
        said = run_program(["gnn-import", "--format", "ogb", *more, *options, "-o", path, folder.path])
    except ProgramError as e:
        raise ProgramError(folder.told(str(e)), e.program, e.status) from None
    finally:
        shutil.rmtree(folder.path, ignore_errors=True)
    for line in said.splitlines():
        if "warning: " in line:
            warnings.warn(folder.told(line.partition("warning: ")[2]), stacklevel=3)
    return path


def numbers(value: Any, what: str) -> np.ndarray:
    """The array of numbers of a value: a tensor, on any device, or whatever NumPy takes; otherwise ValueError."""
    if hasattr(value, "detach"):
        if "strided" not in str(value.layout):
            raise ValueError(f"{what}: a sparse tensor, expected a dense one: call its to_dense()")
        value = value.detach().cpu()
        value = (value.float() if str(value.dtype) == "torch.bfloat16" else value).numpy()
    try:
        a = np.asarray(value)
    except ValueError as why:
        raise ValueError(f"{what}: not an array ({why}): make its rows equally long") from None
    if a.dtype.kind not in "biuf" or a.dtype.itemsize > 8:
        as_what = "np.int64" if a.dtype.kind in "mM" else "np.float32"
        raise ValueError(f"{what}: {_KINDS.get(a.dtype.kind, a.dtype)}, expected numbers: convert them, as by "
                         f".astype({as_what})")
    return a


def _rows(value: Any, n: int, what: str, of: str, finite: bool) -> np.ndarray:
    """Numbers with n rows of one or two dimensions and, if asked, finite."""
    a = numbers(value, what)
    if a.ndim not in (1, 2) or len(a) != n or (a.ndim == 2 and not a.shape[1]):
        raise ValueError(f"{what}: shape {list(a.shape)}, expected [{n}] or [{n}, columns], as there are {n} {of}: "
                         "reshape it, or leave it out")
    for i in range(0, n if finite and a.dtype.kind == "f" else 0, _ROWS):
        bad = np.argwhere(~np.isfinite(a[i:i + _ROWS]))
        if len(bad):
            at = (i + int(bad[0][0]), *map(int, bad[0][1:]))
            raise ValueError(f"{what}: {list(at)} is {a[at]}, expected finite numbers: replace it, as by np.nan_to_num")
    return a


def _count(t: str, fields: dict[str, Any]) -> int:
    n = fields.pop("num_nodes", None)
    if n is None and not fields:
        raise ValueError(f"nodes '{t}': no field tells how many there are: give their number, as num_nodes")
    n = int(len(next(iter(fields.values()))) if n is None else n)
    if not 1 <= n <= 2**32 - 2:
        raise ValueError(f"nodes '{t}': {n} of them, expected 1 to 4294967294{'' if n else ': leave the type out'}")
    return n


def _check(count: Mapping[str, int], fields: Mapping[str, Fields], edges: Mapping[EdgeType, Any], splits: Fields,
           ids: Fields) -> None:
    """What types there are, and whether their names can be those of files."""
    for what, given in (("splits", splits), ("ids", ids)):
        for t in {*given} - {*count}:
            raise ValueError(f"{what} of {t!r}: there is no such node type: {', '.join(count)}")
    if not edges:
        raise ValueError("no edge types: a store has at least one, which may be without edges")
    places: dict[str, EdgeType] = {}
    for e in edges:
        if len(e) != 3 or not {e[0], e[2]} <= {*count}:
            raise ValueError(f"edge type {e!r}: expected (source type, relation, destination type), of the node types "
                             + ", ".join(count))
        _check_name("___".join(e), "edge type")
        if places.setdefault("___".join(e), e) != e:
            raise ValueError(f"edge types {places['___'.join(e)]} and {e} are one with ___ between their parts: rename "
                             "a relation")
    for t in count:
        _check_name(t, "node type")
    labelled = [t for t in fields if "y" in fields[t]]
    if len(labelled) > 1:
        raise ValueError(f"y of '{labelled[0]}' and of '{labelled[1]}': a store has labels of one node type: rename "
                         "the others")


def _check_name(name: Any, what: str, most: int = 240, odd: str = "") -> None:
    parts = name.split("/") if isinstance(name, str) else [""]
    long = isinstance(name, str) and len(name.encode(errors="replace")) > most
    if any(not p or p[0] == "." for p in parts) or long or not name.isprintable() or {*odd} & {*name}:
        raise ValueError(f"{what} {name!r}: cannot be the name of a file: rename it (at most {most} bytes, no control "
                         f"characters, no dot at its start{f', none of {odd!r}' if odd else ''})")


class _Folder:
    """A folder of arrays beside the store."""

    def __init__(self, path: str):
        head, tail = os.path.split(os.path.abspath(path))
        self.path, self.named = tempfile.mkdtemp(prefix=tail + ".arrays.", dir=head), {}

    def _place(self, place: str, what: str) -> str:
        full = os.path.join(self.path, place)
        self.named[place] = what  # what the file is to the user
        os.makedirs(os.path.dirname(full), exist_ok=True)
        return full

    def save(self, place: str, a: np.ndarray, what: str) -> None:
        np.save(self._place(place + ".npy", what), np.ascontiguousarray(a))

    def text(self, place: str, lines: Iterable[str], what: str) -> None:
        with open(self._place(place + ".csv", what), "w", encoding="utf-8", newline="\n") as f:
            f.writelines(line + "\n" for line in lines)

    def told(self, text: str) -> str:
        """A message of gnn-import, in the user's words for its files."""
        for place in sorted(self.named, key=len, reverse=True):
            for name in (f"{self.path}: {place}", f"{self.path}/{place}"):
                text = text.replace(name, self.named[place])
        return text.replace(f"{self.path}: ", "").replace(self.path, "the arrays")


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


def _add_edges(folder: _Folder, t: EdgeType, given: Union[Fields, Any], timed: bool, position: bool) -> None:
    fields = dict(given) if isinstance(given, Mapping) else {"edge_index": given}
    where, what = "raw/relations/" + "___".join(t), f"of {t}"
    if "edge_index" not in fields:
        raise ValueError(f"edges {what}: no 'edge_index' [2, E]")
    e = numbers(fields.pop("edge_index"), f"edge_index {what}")
    if e.ndim != 2 or e.shape[0] != 2 or e.dtype.kind not in "iu":
        turned = ": transpose it (.T)" if e.ndim == 2 and e.shape[1] == 2 else ""
        raise ValueError(f"edge_index {what}: {e.dtype} of shape {list(e.shape)}, expected integers [2, E], sources "
                         f"above destinations{turned or (': .astype(np.int64)' if e.dtype.kind == 'f' else '')}")
    n = e.shape[1]
    if position and (timed or "time" in fields or (e[1, 1:] < e[1, :-1]).any()):
        if "position" in fields:
            raise ValueError(f"position {what}: a field of this name is in the way of the places of edges: rename it, "
                             "or position=False")
        fields["position"] = np.arange(n, dtype=np.int32 if n < 1 << 31 else np.int64)
    folder.save(f"{where}/edge", e.T if n == 2 else e, f"edge_index {what}")  # a file of 2x2 has an edge in each row
    folder.text(f"{where}/num-edge-list", [str(n)], f"the number of edges {what}")
    for name, v in fields.items():
        _check_name(name, f"field {what}", 48, " /=,:.")
        a = _rows(v, n, f"{name} {what}", "edges", name in ("x", "weight", "time"))
        folder.save(f"{where}/edge-feat" if name == "x" else f"{where}/edge_{name}", a, f"{name} {what}")


def _add_sets(folder: _Folder, t: str, fields: dict[str, Any], given: Fields, n: int, end: str) -> None:
    """Masks and sets of a type; `end` tells its splits from those of other types."""
    sets, masks = {SETS.get(name, name): v for name, v in given.items()}, [name for name in MASKS if name in fields]
    for name in masks:
        if MASKS[name] in sets:
            raise ValueError(f"set {MASKS[name]} of '{t}' is given by splits and by {name}: leave one out")
        sets[MASKS[name]] = fields.pop(name)
    for name, v in sets.items():
        what = f"{name} of '{t}'"
        if name not in MASKS.values():
            raise ValueError(f"set {what}: expected train, val or test")
        a = numbers(v, what) if len(v) else np.zeros(0, np.int64)
        is_mask = a.dtype.kind == "b" and a.ndim in (1, 2) and len(a) == n
        if not is_mask and (masks or a.ndim != 1 or a.dtype.kind not in "iu"):
            raise ValueError(f"set {what}: {a.dtype} of shape {list(a.shape)}, expected a bool mask [{n}] or [{n}, "
                             f"splits]{': .astype(bool)' if masks else ', or node ids [M]'}")
        for j in range(a.shape[1] if a.ndim == 2 else 1):
            a_j = a[:, j] if a.ndim == 2 else a
            folder.save(f"split/{j}{end}/{t}/{name}", np.flatnonzero(a_j) if is_mask else a_j, f"set {what}")


def _add_nodes(folder: _Folder, t: str, fields: Fields, n: int, task: Optional[str]) -> Optional[str]:
    """Writes fields and labels. Returns the task, which labels may tell."""
    for name, v in fields.items():
        _check_name(name, f"field of '{t}'", 48, " /=,:.")
        what, stem = f"{name} of '{t}'", {"x": "node-feat", "y": "node-label"}.get(name, f"node_{name}")
        words = np.asarray(v) if name == "y" and not hasattr(v, "detach") else np.zeros(0)
        if words.dtype.kind in "UO" and words.shape == (n,) and any(isinstance(w, str) for w in words[:_ROWS]):
            folder.text(f"raw/{stem}/{t}/{stem}", (_quoted("" if w is None or w != w else str(w)) for w in words), what)
            continue
        a = _rows(v, n, what, "nodes", name in ("x", "time"))
        folder.save(f"raw/{stem}/{t}/{stem}", a, what)
        task = _task_of(a, what) if name == "y" and a.dtype.kind == "f" and not task else task
    return task


def _task_of(y: np.ndarray, what: str) -> str:
    """The task of floats, as PyG's users mean them: a regression, unless they are 0 and 1 in columns."""
    known = y[~np.isnan(y)]
    zero_one = bool(((known == 0) | (known == 1)).all())
    if zero_one and y.ndim == 2 and y.shape[1] > 1:
        return "multilabel"
    if zero_one or (known == np.floor(known)).all():
        raise ValueError(f"{what}: only {'0 and 1' if zero_one else 'whole numbers'} as {y.dtype}: say "
                         f"task='{'binary' if zero_one else 'multiclass'}' or task='regression'")
    return "regression"


def _add_ids(folder: _Folder, t: str, ids: Any, n: int) -> None:
    what, place = f"ids of '{t}'", f"raw/node-id/{t}/node-id"
    a = numbers(ids, what) if hasattr(ids, "detach") else np.asarray(ids)
    odd = -1 if a.dtype.kind in "iu" else next((i for i, w in enumerate(a) if not isinstance(w, str) or not w), -1)
    if a.shape != (n,) or odd >= 0:
        raise ValueError(f"{what}: " + (f"[{odd}] is {a[odd]!r}" if a.shape == (n,) else f"shape {list(a.shape)}")
                         + f", expected [{n}] integers or words: give each node one")
    if a.dtype.kind in "iu":
        folder.save(place, a, what)
    else:
        folder.text(place, map(_quoted, a.tolist()), what)
