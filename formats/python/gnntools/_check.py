# SPDX-License-Identifier: Apache-2.0
"""Checks that the arrays of a batch are what gnb(5) and its header promise, so that indexing by them is safe."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import gnb

_IDS = {"id", "name", "name_offsets", "y"}


def is_field(name: str) -> bool:
    """Whether any bits are valid there: rows of a field, but not labels."""
    first, _, rest = name.partition("/")
    last = rest.rpartition("/")[2]
    return (first == "node" and last not in _IDS) or (first == "hop" and last not in ("id", "indptr", "indices"))


class Check:
    """Checks batches of one header: called with their arrays, raises gnb.Error with the name of the array."""

    def __init__(self, header: dict[str, Any], place: str):
        schema, self.place = header["schema"], place
        try:
            self.sampling = s = header["sampling"]
            self.fanout, self.seed_type = [[int(n) for n in hop] for hop in s["fanout"]], s["seed_type"]
            self.splits, self.batch_size = [str(x["name"]) for x in s["splits"]], int(s["batch_size"])
            self.new, nodes = s["frontier"] == "new", schema["node_types"]
            self.types = {t["name"]: int(t["count"]) for t in nodes}
            self.edges = [(gnb.edge_name(e), e["src"], e["dst"]) for e in schema["edge_types"]]
            self.node_fields = [(f"node/{t['name']}/{f['name']}", t["name"]) for t in nodes for f in t["fields"]]
            self.edge_fields = {gnb.edge_name(e): [f["name"] for f in e["fields"]] for e in schema["edge_types"]}
            self.classes = int(schema.get("classes", 0))
            self.ranks = "ranks" in s
            self.links, self.roots = s.get("links"), {self.seed_type: self.batch_size}
            if self.links:
                self.ends = [(src, dst) for name, src, dst in self.edges if name == self.links["type"]][0]
                drawn = [self.links.get(x) for x in ("negatives", "eval_negatives")]
                self.amount = [float((x or drawn[0] or ":0").partition(":")[2].split(":")[0] or 0) for x in drawn]
                self.given = [(x.get("negatives"), int(x["seeds"])) for x in s["splits"]]
                most = max(self._negatives(self.batch_size, split, step) for split, x in enumerate(s["splits"])
                           for step in range(min(int(x["steps"]), 2) or 1)) + 1
                self.roots = dict.fromkeys(self.ends, 2 * (self.batch_size + most))
            self.types[self.seed_type], [self.types[end] for e in self.edges for end in e[1:]]
            if any(len(hop) != len(self.edges) for hop in self.fanout):
                raise ValueError("a fan-out for each edge type")
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as why:
            raise gnb.Error(f"{place}: the header is damaged: {why!r}") from None
        self.label = f"node/{schema.get('label_type')}/y" if schema.get("task") == "multiclass" else None
        self.walks, self.clusters = s.get("walks"), s.get("clusters")
        first = len(self.fanout) if self.walks else len(self.fanout) - 1 if s.get("induced") else 0
        self.blocks = range(first, len(self.fanout))

    def _negatives(self, links: int, split: int, step: int) -> int:
        """Those of the links of a step, drawn or given."""
        given, every = self.given[split]
        if not given:
            return math.ceil(links * self.amount[split > 0])
        if "each" in given:
            return links * int(given["each"])
        first, shared = step * self.batch_size, int(given["shared"])
        return shared * (first + links) // every - shared * first // every

    def _own_negatives(self, arrays: dict, split: int, step: int) -> int:
        """Those of this rank's links: of a global batch, negative i is of positive i modulo their number."""
        at, every = arrays.get("pair/at"), arrays.get("seeds", [0])[0]
        self.must(at is not None and at.dtype == np.uint32 and at.shape == arrays["pair"].shape[:1], "no 'pair/at'")
        self.must((at[1:] > at[:-1]).all() and (not len(at) or at[-1] < every), "'pair/at' leads out of the batch")
        many, rest = divmod(self._negatives(int(every), split, step), max(int(every), 1))
        return len(at) * many + int((at < rest).sum())

    def must(self, true: Any, what: str) -> None:
        if not true:
            raise gnb.Error(f"{self.place}: batch {self.key}: {what}: damaged, or not written by gnn-tools")

    def __call__(self, arrays: dict[str, np.ndarray]) -> None:
        key = arrays.get("key")
        self.key = "?"
        self.must(key is not None and key.dtype == np.uint64 and key.shape == (4,), "no key")
        self.key = f"{key[0]}:{key[1]}"
        self.must(key[2] < len(self.splits), "a split that the header does not have")
        counts = {name: self._nodes(arrays, name, count) for name, count in self.types.items()}
        for hop in self.blocks:
            for (name, src, dst), fanout in zip(self.edges, self.fanout[hop]):
                self._block(arrays, hop, name, counts[src], counts[dst], fanout)
        for name, node_type in self.node_fields:
            if name in arrays:
                rows = counts[node_type][0 if name.endswith("/y") else -1]
                self.must(arrays[name].shape[:1] == (rows,), f"'{name}' has not {rows} rows")
        y = arrays.get(self.label)
        if y is not None and len(y):
            good = y.dtype == np.int32 and y.min() >= -1 and y.max() < self.classes
            self.must(good, f"'{self.label}' has values that are no class")
        n = counts[self.seed_type][-1]
        for name in ("walk", "pair") if self.walks else ():
            a = arrays.get(name)
            good = a is None or not a.size or a.max() < n or (a[a != gnb.NONE] < n).all()
            self.must(good, f"'{name}' leads out of the batch")
        if self.links:
            self._links(arrays, [counts[end][0] for end in self.ends])

    def _links(self, arrays: dict, roots: list[int]) -> None:
        p, given = arrays.get("pair"), arrays.get("pair/input")
        good = p is not None and p.ndim == 2 and (0 if self.ranks else 1) <= len(p) <= self.batch_size
        self.must(good, "no 'pair', or more links than promised")
        step, split = int(arrays["key"][1]), int(arrays["key"][2])
        negatives = (self._own_negatives(arrays, split, step) if self.ranks
                     else self._negatives(len(p), split, step))
        self.must(given is not None and given.dtype == np.uint64 and given.shape == (len(p),), "no 'pair/input'")
        for name, n in ("pair", len(p)), ("negative", negatives):
            a = arrays.get(name, np.empty((0, 2), np.uint32))
            self.must(a.dtype == np.uint32 and a.shape == (n, 2), f"'{name}' is no list of {n} pairs")
            self.must(not n or (a.max(0) < roots).all(), f"'{name}' leads out of what the batch begins with")

    def _nodes(self, arrays: dict, name: str, count: int) -> list[int]:
        nodes, counts = arrays.get("nodes/" + name), arrays.get("counts/" + name)
        self.must(nodes is not None and nodes.dtype == np.uint32 and nodes.ndim == 1, f"no 'nodes/{name}'")
        good = counts is not None and counts.dtype == np.uint64 and counts.shape == (len(self.fanout) + 1,)
        self.must(good, f"no 'counts/{name}'")
        n = counts.tolist()
        self.must(n == sorted(n) and n[-1] == len(nodes), f"'counts/{name}' does not fit 'nodes/{name}'")
        self.must(n[0] <= self.roots.get(name, 0), f"more seeds of '{name}' than promised")
        self.must(not len(nodes) or nodes.max() < count, f"'nodes/{name}' has ids that the store does not have")
        for kind, rows in ("tree/", n[-1]), ("time/", n[-1]), ("draws/", n[0]), ("counted/", n[max(len(n) - 2, 0)]):
            a = arrays.get(kind + name)
            self.must(a is None or a.shape == (rows,), f"'{kind}{name}' has not {rows} rows")
        return n

    def _block(self, arrays: dict, hop: int, name: str, src: list[int], dst: list[int], fanout: int) -> None:
        at = f"hop/{hop}/{name}/"
        induced = self.sampling.get("induced")
        first = dst[hop - 1] if self.new and hop and not induced else 0
        rows = dst[-1] if induced else dst[hop] - first
        indptr, indices = arrays.get(at + "indptr"), arrays.get(at + "indices")
        if indptr is None:
            return self.must(not rows or not fanout, f"no '{at}indptr'")
        good = indptr.dtype == np.uint32 and indptr.shape == (rows + 1,)
        good = good and not indptr[0] and (indptr[1:] >= indptr[:-1]).all()
        self.must(good, f"'{at}indptr' is no list of offsets of {rows} rows")
        edges = int(indptr[-1])
        good = indices is not None and indices.dtype == np.uint32 and indices.shape == (edges,)
        self.must(good, f"'{at}indices' has not {edges} edges")
        self.must(not edges or indices.max() < src[-1 if induced else hop + 1], f"'{at}indices' leads out of the batch")
        for field in ["id", *self.edge_fields[name]]:
            good = at + field not in arrays or arrays[at + field].shape[:1] == (edges,)
            self.must(good, f"'{at}{field}' has not {edges} rows")
