# SPDX-License-Identifier: Apache-2.0
"""A graph store: its schema, its rows by id, and samples, from the library or a program that stays."""
from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, Union

import numpy as np

from . import _lib, gnb
from ._child import Pipeline, words
from .stream import Batch, Stream

Ids = Union[np.ndarray, Sequence[int], Any]  # or a tensor of torch
Fanout = Union[Sequence[int], dict]
_RESIDENT = 4  # producers for different fan-outs and options that a store keeps
_REPEATED = "seeds: some are repeated, and would be merged: leave them out, or use disjoint=True"
_REPLACED = "{}: changed or replaced since it was opened: open the store again"
_MANY = 1 << 14  # rows from which two threads copy
_threads: tuple[int, ThreadPoolExecutor] | None = None


def is_tensor(ids: Any) -> bool:
    """Whether it is a tensor of torch, which is not imported for this."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(ids, torch.Tensor)


def id_array(ids: Any, count: int, what: str = "ids") -> np.ndarray:
    """Ids below count as a contiguous array of one dimension. IndexError and TypeError name what is wrong."""
    if is_tensor(ids):
        ids = ids.detach().cpu().numpy()
    ids = np.asarray(ids)
    if ids.dtype == bool:
        if ids.shape != (count,):
            raise IndexError(f"{what}: a mask of shape {list(ids.shape)}; there are {count} nodes")
        return np.flatnonzero(ids)
    if not len(ids) if ids.ndim else False:
        return np.empty(0, np.int64)
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        raise TypeError(f"{what}: {ids.dtype} of shape {list(ids.shape)}; expected integers in one dimension, or a "
                        "mask")
    low, high = int(ids.min()), int(ids.max())
    if low < 0 or high >= count:
        at = int(np.flatnonzero((ids < 0) | (ids >= count))[0])
        raise IndexError(f"{what}[{at}] is {int(ids[at])}: there are {count} nodes, from 0")
    return np.ascontiguousarray(ids)


def seeds_text(ids: np.ndarray, named: bool, disjoint: bool, times: Ids | None = None) -> bytes:
    """Seeds as gnn-sample reads them. A node's name may look like a position, but not like one with so many zeros."""
    text, keys = map(("%024d" if named else "%d").__mod__, ids.tolist()), ids.tolist()
    if times is not None:
        times = np.asarray(times)
        if times.shape != ids.shape or times.dtype.kind not in "iuf" or np.isnan(times).any():
            raise ValueError(f"times: {times.dtype} of shape {list(times.shape)}; expected a number for each of "
                             f"{len(ids)} seeds, and no NaN")
        text, keys = (f"{i} {t!r}" for i, t in zip(text, times.tolist())), list(zip(keys, times.tolist()))
    if not disjoint and len(set(keys)) != len(ids):
        raise ValueError(_REPEATED)
    return "\n".join(text).encode()


def fanout_words(fanout: Fanout) -> list[str]:
    """-f of gnn-sample: [15, 10, 5] for every edge type, or {(src, rel, dst) or "src/rel/dst": [15, 10, 5]}."""
    lists = fanout.items() if isinstance(fanout, dict) else [(None, fanout)]
    out = []
    for key, hops in lists:
        text = ",".join(str(int(n)) for n in hops)
        name = "/".join(key) if isinstance(key, (tuple, list)) else key
        out += ["-f", f"{name}={text}" if name else text]
    return out


class Adj(NamedTuple):
    """Edges of a hop. edge_index: int64 (2, e), sources and destinations as positions in n_id; e_id: int64 (e) or None;
    size: how many nodes there are on both sides."""

    edge_index: Any
    e_id: Any
    size: tuple[int, int]


class Rows:
    """The rows of a field, `store.x`: indexing by ids, a mask or a tensor gives a copy of rows, in kind.

    Rows that are stored as int8 with scales are given as the float32 that they stand for.
    """

    def __init__(self, store: Store, name: str):
        self._store, self.name = store, name.partition("/")[2]
        self._parts, self.bf16 = store.arrays(name), name in store.parts[0].bf16
        self._book = np.cumsum([0, *map(len, self._parts)])
        first = self._parts[0]
        self.shape, self.dtype = (int(self._book[-1]), *first.shape[1:]), first.dtype
        self._int8 = store.int8(name)
        if self._int8:
            width = self._int8["width"]
            self.shape, self.dtype = (self.shape[0], *[width] * (width > 0)), np.dtype(np.float32)

    def _numbers(self, rows: np.ndarray) -> np.ndarray:
        """What rows stand for: of int8, elements * scale."""
        return widened(rows, self._int8["width"]) if self._int8 else rows

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, ids: Ids) -> Any:
        tensor = is_tensor(ids)
        ids = id_array(ids, self.shape[0], self.name)
        out = np.empty((len(ids), *self._parts[0].shape[1:]), self._parts[0].dtype)
        if len(self._parts) == 1:
            self._store.parts[0].check()
            _take(self._parts[0], ids, out)
        else:
            owner = np.searchsorted(self._book, ids, "right") - 1
            for p, rows in enumerate(self._parts):
                mine = np.flatnonzero(owner == p)
                if len(mine):
                    self._store.parts[p].check()
                    out[mine] = rows[ids[mine] - self._book[p]]
        out = self._numbers(out)
        return as_tensor(out, self.bf16) if tensor else out

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        self._store.check()
        whole = self._parts[0] if len(self._parts) == 1 else np.concatenate(self._parts)
        return np.array(self._numbers(whole), dtype)


def widened(rows: np.ndarray, width: int) -> np.ndarray:
    """Rows of int8 as float32: each is `width` elements (0: one, in one dimension), padding, and the scale."""
    row = np.dtype({"names": ["elements", "scale"], "formats": [("i1", max(width, 1)), "<f4"],
                    "offsets": [0, rows.shape[1] - 4], "itemsize": rows.shape[1]})
    row = np.ascontiguousarray(rows).view(row)
    out = row["elements"][:, 0] * row["scale"]
    return out if width else out[:, 0]


def as_tensor(a: np.ndarray, bf16: bool = False) -> Any:
    """A tensor of torch over the same memory; unsigned integers as the signed ones of their size."""
    import torch

    t = torch.from_numpy(a.view(f"i{a.itemsize}") if a.dtype.kind == "u" and a.itemsize > 1 else a)
    return t.view(torch.bfloat16) if bf16 else t


def cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _take(rows: np.ndarray, ids: np.ndarray, out: np.ndarray) -> None:
    """out[i] = rows[ids[i]] of ids that are valid."""
    global _threads
    if len(ids) < _MANY or cpus() < 2:
        np.take(rows, ids, 0, out, "clip")
        return
    if _threads is None or _threads[0] != os.getpid():
        _threads = os.getpid(), ThreadPoolExecutor(1, "gnntools")
    half = len(ids) // 2
    other = _threads[1].submit(np.take, rows, ids[half:], 0, out[half:], "clip")
    np.take(rows, ids[:half], 0, out[:half], "clip")
    other.result()


class Store:
    """A store that gnn-import or gnn-partition wrote, opened for reading.

    header and schema are the JSON of store.json (gnb(5)); x is the field x of the labelled node type, or of the only
    one. Arrays are mapped, not read, and cannot be written to. Raises gnb.Error if the store is damaged, or changes
    while it is open. Pickling opens it anew. Threads may share it.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = os.fspath(path)
        try:
            with open(os.path.join(self.path, "store.json"), encoding="utf-8") as file:
                self.header: dict[str, Any] = json.load(file)
            self.schema: dict[str, Any] = self.header["schema"]
            self.identity: str = self.header["identity"]
            parts = self.schema["parts"]
        except (OSError, ValueError, KeyError, TypeError) as why:
            raise gnb.Error(f"{self.path}: not a graph store: {why}; gnn-import makes one") from None
        self.parts = [gnb.Part(os.path.join(self.path, f"part-{p:05d}.gnb")) for p in range(parts)]
        for part in self.parts:
            if part.header["identity"] != self.identity or part.header["schema"] != self.schema:
                raise gnb.Error(f"{part.path}: from another store than store.json")
        if "base" in self.header:
            self._join(self.header["base"])
        self._types = {t["name"]: t for t in self.schema["node_types"]}
        self._rows: dict[tuple[str, str], Rows] = {}
        self._resident: dict[tuple, _Resident] = {}
        self._lock = threading.Lock()

    def _join(self, base: dict[str, str]) -> None:
        """Tensors that this store does not have are those of its base store."""
        other = Store(os.path.join(self.path, base["path"]))
        if other.identity != base["identity"] or "base" in other.header:
            raise gnb.Error(f"{self.path}: its base store {other.path} has changed: identity {other.identity} "
                            f"instead of {base['identity']}")
        for own, of in zip(self.parts, other.parts):
            own.inherit(of)

    def __reduce__(self):
        return Store, (self.path,)

    def __repr__(self) -> str:
        return f"Store({self.path!r})"

    @property
    def node_types(self) -> list[str]:
        return list(self._types)

    @property
    def edge_types(self) -> list[tuple[str, str, str]]:
        return [(e["src"], e["rel"], e["dst"]) for e in self.schema["edge_types"]]

    def type(self, node_type: str | None = None) -> str:
        """A node type, checked; the default is the one with labels, or the only one."""
        name = node_type or self.schema.get("label_type") or (self.node_types[0] if len(self._types) == 1 else None)
        if name not in self._types:
            raise KeyError(f"{self.path}: " + (f"no node type '{name}'; there are {', '.join(self._types)}" if name else
                           f"name a node type: {', '.join(self._types)}"))
        return name

    def count(self, node_type: str | None = None) -> int:
        return self._types[self.type(node_type)]["count"]

    def check(self) -> None:
        """Raises gnb.Error if the files were changed or replaced since they were mapped."""
        for part in self.parts:
            part.check()

    def arrays(self, name: str) -> list[np.ndarray]:
        """An array of all parts."""
        for part in self.parts:
            if name not in part.arrays:
                raise KeyError(f"{part.path}: no '{name}'")
        return [part.arrays[name] for part in self.parts]

    def int8(self, name: str) -> dict[str, Any] | None:
        """The field whose rows an array has, if they are int8 with scales (gnb(5))."""
        for t in self.schema["node_types"]:
            for field in t["fields"]:
                if field.get("scaled") and name == f"node/{t['name']}/{field['name']}":
                    return field
        return None

    def book(self, node_type: str | None = None) -> np.ndarray:
        """u64 (parts+1): part p owns the ids book[p] to book[p+1]-1."""
        name = self.type(node_type)
        book = self.parts[0].arrays.get("book/" + name)
        return np.array([0, self.count(name)], np.uint64) if book is None else book

    def rows(self, field: str, node_type: str | None = None) -> Rows:
        """The rows of a node field, to be indexed by ids. KeyError if the type does not have it."""
        name = self.type(node_type)
        if (name, field) not in self._rows:
            self._rows[name, field] = Rows(self, f"node/{name}/{field}")
        return self._rows[name, field]

    @property
    def x(self) -> Rows:
        return self.rows("x")

    @property
    def y(self) -> Rows:
        return self.rows("y")

    def lookup(self, node_type: str, field: str, ids: Ids) -> Any:
        """Rows of a field by ids (positions in the store), as a copy: an array, or a tensor if the ids are one."""
        return self.rows(field, node_type)[ids]

    def ids(self, node_type: str | None = None) -> np.ndarray:
        """u32 (n): the id that each node had before the store was partitioned."""
        name = self.type(node_type)
        if f"node/{name}/id" not in self.parts[0].arrays:
            return np.arange(self.count(name), dtype=np.uint32)
        return np.concatenate(self.arrays(f"node/{name}/id"))

    def names(self, node_type: str | None = None) -> list[str] | None:
        """The data set's own names of the nodes, or None."""
        at, out = f"node/{self.type(node_type)}/name", []
        if not self.has_names(self.type(node_type)):
            return None
        for names, offsets in zip(self.arrays(at), self.arrays(at + "_offsets")):
            text, ends = names.tobytes(), offsets.tolist()
            out += [text[a:b].decode(errors="surrogateescape") for a, b in zip(ends, ends[1:])]
        return out

    def has_names(self, node_type: str) -> bool:
        return f"node/{node_type}/name" in self.parts[0].arrays

    def set(self, name: str = "train") -> np.ndarray:
        """u32: the members of a set, such as train or 0/train, in the order of the set."""
        s = self.set_info(name)
        at = f"split/{s['split']}/{s['set']}"
        found = np.concatenate(self.arrays(at))
        if at + "/order" in self.parts[0].arrays:
            found = found[np.argsort(np.concatenate(self.arrays(at + "/order")))]
        return found

    def set_info(self, name: str) -> dict[str, Any]:
        """The entry of the schema for a set of nodes: split, set, node_type, count. KeyError if there is none."""
        split, _, last = name.rpartition("/")
        sets = [s for s in self.schema["splits"] if "node_type" in s]
        for s in sets:
            if s["set"] == last and split in ("", s["split"]):
                return s
        have = ", ".join(f"{s['split']}/{s['set']}" for s in sets) or "none"
        raise KeyError(f"{self.path}: no set '{name}'; there are: {have}")

    def batch(self, seeds: Ids, fanout: Fanout, *, node_type: str | None = None, seed: int = 1,
              **options: Any) -> Batch:
        """A batch of these seeds; each call draws anew.

        options are those of gnn-sample(1): frontier="new", edge_ids=True ... The first call with them opens the store
        with libgnn.so, or, where that is not installed, starts a gnn-sample that stays for further calls.
        """
        name = self.type(node_type)
        ids = id_array(seeds, self.count(name), "seeds")
        if not len(ids):
            raise ValueError("seeds: none")
        most = max(1024, 1 << (len(ids) - 1).bit_length())
        if not options.get("disjoint") and len(np.unique(ids)) != len(ids):
            raise ValueError(_REPEATED)
        given = [f"--batch={most}", f"--seed={seed}", f"--seed-type={name}", *words(options)]
        command = ["gnn-sample", "--seeds", "-", *fanout_words(fanout), *given, self.path]
        key = (os.getpid(), *command)
        with self._lock:
            resident = self._resident.pop(key, None) or _Library.open(fanout, given, self) or _Resident(command, self)
            for old in list(self._resident)[:-_RESIDENT + 1]:
                self._resident.pop(old).close()
            batch = resident.ask(ids)
            self._resident[key] = resident  # not if it failed: the next call starts another
        return batch

    def sample(self, seeds: Ids, fanout: Fanout, **options: Any) -> tuple[Any, int, list[Adj]]:
        """(n_id, batch_size, adjs) as Quiver and PyG's NeighborSampler give: adjs from the outermost hop inwards.

        Each hop samples neighbours of all nodes so far. Tensors if the seeds are one, arrays otherwise. For stores of
        one node type and one edge type; batch() is for all others. options: as batch().
        """
        if len(self._types) != 1 or len(self.schema["edge_types"]) != 1:
            raise ValueError(f"{self.path}: has several node or edge types: batch() samples from it")
        batch = self.batch(seeds, fanout, frontier="all", **options)
        counts, adjs = batch.counts().tolist(), []
        give = as_tensor if is_tensor(seeds) else np.asarray
        for block in batch.blocks():
            e_id = None if block.id is None else give(block.id.view(np.int64))
            adjs.append(Adj(give(block.coo()), e_id, (counts[block.hop + 1], counts[block.hop])))
        return give(batch.n_id().astype(np.int64)), batch.batch_size, adjs[::-1]

    def close(self) -> None:
        """Ends the programs that stay. The store can still be used."""
        with self._lock:
            for resident in self._resident.values():
                resident.close()
            self._resident.clear()


class _Library:
    """The library, which answers each list of seeds with a batch."""

    def __init__(self, sampler: _lib.Sampler, store: Store):
        self._sampler, self._store = sampler, store
        if sampler.header["identity"] != store.identity:
            raise gnb.Error(_REPLACED.format(store.path))

    @classmethod
    def open(cls, fanout: Fanout, given: list[str], store: Store) -> _Library | None:
        lists = [f"fanout={text}" for text in fanout_words(fanout)[1::2]]
        sampler = _lib.sampler(store.path, [*lists, *(text[2:] for text in given)])
        return sampler and cls(sampler, store)

    def ask(self, ids: np.ndarray) -> Batch:
        self._store.check()  # no file is cut under the library
        return self._sampler.ask(ids)

    def close(self) -> None:
        self._sampler.close()


class _Resident:
    """A gnn-sample that reads seeds from a pipe and answers each list with a batch."""

    def __init__(self, command: list[str], store: Store):
        self._pipeline, self._identity, self._store = Pipeline([command], feed=True), store.identity, store.path
        self._stream = Stream(self._pipeline)

    def ask(self, ids: np.ndarray) -> Batch:
        try:
            try:
                text = memoryview(b"".join(b"%024d\n" % i for i in ids.tolist()) + b"\n")
                while text:
                    text = text[self._pipeline.input.write(text):]
            except OSError:  # it has gone: reading says why
                pass
            batch = next(self._stream)
            if batch.header["identity"] != self._identity:
                raise gnb.Error(_REPLACED.format(self._store))
            return batch
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._stream.close()
