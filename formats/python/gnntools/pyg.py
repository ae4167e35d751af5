# SPDX-License-Identifier: Apache-2.0
"""PyG's loaders over gnn-sample: change the import, and nothing else.

    from gnntools.pyg import NeighborLoader            # was: from torch_geometric.loader import NeighborLoader
    from gnntools.pyg import LinkNeighborLoader        # was: from torch_geometric.loader import LinkNeighborLoader

Neither pyg-lib nor torch-sparse is needed: a child process samples, while this one fills the batches. Needs torch and
PyG, of any version.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Callable

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from . import _pyg_data
from ._pyg_data import ONE, Graph, Sampled, part_of
from ._pyg_loader import SampledLoader
from .store import id_array, seeds_text
from .stream import Batch


def _input_nodes(given: Any, graph: Graph) -> tuple[str | None, Tensor, Tensor | None]:
    """The node type (None in a Data), ids int64 [n], and what is told of them as input_id if not their position."""
    typed, kind = isinstance(graph.data, HeteroData), None
    if typed and given is None:
        raise ValueError("input_nodes: a graph of several types needs a node type, or a pair of it and nodes")
    if isinstance(given, str):
        if typed and given in graph.nodes:
            kind, given = given, None
        else:
            try:
                of = graph.store.set_info(given)["node_type"]
                kind, given = of if typed else None, graph.store.ids(of)[graph.store.set(given)].astype("int64")
            except KeyError as why:
                raise ValueError(f"input_nodes: no node type {given!r}, and {why.args[0]}") from None
    elif typed:
        if not isinstance(given, (list, tuple)) or len(given) != 2 or given[0] not in graph.nodes:
            have = ", ".join(map(repr, graph.nodes))
            raise ValueError(f"input_nodes: expected a node type and nodes; node types are {have}")
        kind, given = given
    n = part_of(graph.data, kind).num_nodes
    if given is None:
        return kind, torch.arange(n), None
    given = torch.as_tensor(given)
    nodes = torch.from_numpy(id_array(given, n, "input_nodes").astype("int64"))
    return kind, nodes, nodes if given.dtype == torch.bool else None


class NeighborLoader(SampledLoader):
    """PyG's NeighborLoader: batches of `batch_size` seeds and the neighbours sampled for them, as Data or HeteroData.

    data: a Data or HeteroData, whose edges are written to a temporary store when the loader is made; or a store: its
    path, or a gnntools.Store. All arguments of PyG's class and of torch's DataLoader are taken, positional ones in the
    same order, and batches have the same keys, dtypes and shapes: n_id and e_id int64 (e_id: columns of
    `data.edge_index`), edge_index int64 [2, E], and rows of all attributes of nodes and edges. Differences:

    - Nothing needs pyg-lib: times, weights, `disjoint` and induced subgraphs work as they are.
    - num_workers: threads of the child process, and threads here that fill batches while others are used, each as many
      as there are cores at most. Transforms then run at once, as in PyG; `filter_per_worker=False` leaves them to the
      caller's thread.
    - Draws follow torch's generator: after the same torch.manual_seed, seeds come in the order of PyG's loader, and
      batches are the same for each num_workers.
    - A node that is given twice in a batch needs `disjoint=True`, which gives each a tree of its own.
    - A store that gnn-partition divided gives the batches of the whole one: ids are those before it was divided.
    - The loader can be pickled and copied. A copy samples by itself; that of a Data writes a store of its own.
    - edge_ids=False leaves e_id out, which makes batches faster.
    - pad=True gives all batches one size, as torch_geometric.transforms.Pad does: the most nodes of each type and edges
      of each edge type that batch_size and num_neighbors can reach in this graph, and one node of each type more. What
      is added follows what was sampled. Its rows are 0 (False in masks), its edges join the first node that was added
      of each type, and its `batch` is the loader's batch_size. `pad_node_mask` and `pad_edge_mask` are False there.
      num_sampled_nodes and num_sampled_edges count it in the last hop, so that their sums are the sizes, and
      trim_to_layer works. input_id and seed_time have batch_size rows. `batch_size` of a batch stays the number of its
      seeds: only the last one may have less, unless drop_last. Transforms get padded batches. Tensors are copied.
    - rank, world_size: yields each world_size-th batch from the rank-th on, of those that one process would get. All
      ranks need the same arguments and `generator`, in the same state; the default for several ranks has the seed 0. A
      sampler of one's own must give the same order on all. len() counts this rank's batches: the first ranks may have
      one more (use torch's Join, or drop_last=True, which leaves these batches out). Input_nodes that were divided
      among ranks, as in PyG's examples, need neither: torch.distributed is not asked.

    Raises ValueError for arguments that do not fit, NotImplementedError for those of PyG that are not there, and
    gnntools.ProgramError with the line of the program that failed.
    """

    def __init__(
        self,
        data: Any,
        num_neighbors: Sequence[int] | dict[tuple[str, str, str], Sequence[int]],
        input_nodes: Any = None,
        input_time: Tensor | None = None,
        replace: bool = False,
        subgraph_type: Any = "directional",
        disjoint: bool = False,
        temporal_strategy: str = "uniform",
        time_attr: str | None = None,
        weight_attr: str | None = None,
        transform: Callable | None = None,
        transform_sampler_output: Callable | None = None,
        is_sorted: bool = False,
        filter_per_worker: bool | None = None,
        neighbor_sampler: Any = None,
        directed: bool = True,
        *,
        edge_ids: bool = True,
        pad: bool = False,
        rank: int = 0,
        world_size: int = 1,
        **kwargs: Any,
    ) -> None:
        if input_time is not None and time_attr is None:
            raise ValueError("input_time: requires time_attr")
        self.input_nodes, self.input_time = input_nodes, input_time
        super().__init__(
            data, num_neighbors, replace=replace, subgraph_type=subgraph_type, disjoint=disjoint,
            temporal_strategy=temporal_strategy, time_attr=time_attr, weight_attr=weight_attr, transform=transform,
            transform_sampler_output=transform_sampler_output, is_sorted=is_sorted,
            filter_per_worker=filter_per_worker, neighbor_sampler=neighbor_sampler, directed=directed,
            edge_ids=edge_ids, pad=pad, rank=rank, world_size=world_size, **kwargs)

    def _take_seeds(self, time_attr: str | None) -> tuple[int, list[str]]:
        self._type, self._nodes, self._input_id = _input_nodes(self.input_nodes, self._graph)
        self._times = None
        if time_attr is not None:
            self._times = _seed_times(self._graph, self._type, self._nodes, self.input_time, time_attr)
        if not self._disjoint and self._nodes.unique().numel() < self._nodes.numel():
            raise NotImplementedError("input_nodes: a node is there twice, which needs disjoint=True: each then has a "
                                      "tree of its own")
        return self._nodes.numel(), ["--seed-type", self._graph.nodes[self._type]]

    def _roots(self, size: int) -> dict[Any, int]:
        return {self._type: size}

    def _seeds(self, lists: list[Tensor]) -> bytes:
        """Seeds of each batch and, with times, these; between two batches there is an empty line."""
        named = self._graph.store.has_names(self._graph.nodes[self._type])
        return b"\n\n".join(seeds_text(self._nodes[x].numpy(), named, self._disjoint,
                                       None if self._times is None else self._times[x].numpy()) for x in lists)

    def _add_seeds(self, out: Any, index: Tensor, sampled: Batch, s: Sampled) -> list[tuple[Any, str, int]]:
        if not torch.equal(s.node[self._type][:sampled.batch_size], self._nodes[index]):
            raise RuntimeError(f"gnn-sample: step {sampled.step} begins with other seeds than those asked for")
        part = part_of(out, self._type)
        part.input_id = index if self._input_id is None else self._input_id[index]
        if self.input_time is not None:
            part.seed_time = self._times[index]
        part.batch_size = index.numel()
        size = self._sizes.batch_size if self._sizes is not None else 0
        return [(part, name, size) for name in ("input_id", "seed_time")]


def _seed_times(graph: Graph, kind: str | None, nodes: Tensor, given: Tensor | None, time_attr: str) -> Tensor:
    """The time of each seed: those given, or those of the nodes."""
    if given is not None:
        times = torch.as_tensor(given).cpu()
        if times.shape != nodes.shape:
            raise ValueError(f"input_time: {times.numel()} times for {nodes.numel()} input_nodes")
        return times
    if time_attr not in [name for name, _ in graph.columns[kind]]:
        whose = "nodes" if kind is None else f"nodes of type {kind!r}"
        raise ValueError(f"input_time is missing: {whose} have no attribute {time_attr!r}")
    times = part_of(graph.data, kind)[time_attr]
    return _pyg_data.pick(times, graph.rows(kind, nodes), 0, graph.memory).cpu()


def _link_type(given: Any, types: Sequence[Any]) -> tuple[Any, Any]:
    """The edge type (ONE in a Data) that edge_label_index names among these, and the links that it has, or None."""
    if list(types) == [ONE]:
        return ONE, given
    kind, links = None, None
    if isinstance(given, (list, tuple)) and given:
        kind, links = (given, None) if isinstance(given[0], str) else given if len(given) == 2 else (None, None)
    found = [k for k in types if kind is not None and tuple(kind) in (k, (k[0], k[2]))]
    if len(found) != 1:
        raise ValueError("edge_label_index: expected an edge type, or a pair of it and links; edge types are "
                         f"{', '.join(map(repr, types))}")
    return found[0], links


def _input_links(given: Any, graph: Graph) -> tuple[Any, Tensor]:
    """The edge type (ONE in a Data), and heads and tails, int64 [2, n]."""
    key, given = _link_type(given, list(graph.edges))
    links = torch.as_tensor(_pyg_data.all_edges(graph, key) if given is None else given).as_subclass(Tensor)
    if links.dim() != 2 or links.shape[0] != 2:
        raise ValueError(f"edge_label_index: of shape {list(links.shape)}; expected [2, n]")
    ends = [id_array(links[i], part_of(graph.data, key[2 * i]).num_nodes, f"edge_label_index[{i}]") for i in (0, 1)]
    return key, torch.from_numpy(np.stack(ends).astype("int64"))


def _negatives(given: Any, ratio: float | None) -> tuple[str | None, float, dict[str, Any]]:
    """PyG's neg_sampling and neg_sampling_ratio: "binary", "triplet" or None, how many for each link, and weights."""
    names = ("mode", "amount", "src_weight", "dst_weight")
    if ratio is not None and ratio != 0:
        given = ("binary", ratio)
    if given is None:
        return None, 0, {}
    if isinstance(given, str):
        given = {"mode": given}
    elif isinstance(given, (list, tuple)):
        if len(given) > len(names):
            raise ValueError(f"neg_sampling: {len(given)} arguments; expected at most {', '.join(names)}")
        given = dict(zip(names, given))
    elif not isinstance(given, dict):
        given = {name: getattr(given, name) for name in names if hasattr(given, name)}
    mode, amount = getattr(given.get("mode"), "value", given.get("mode")), given.get("amount", 1)
    if mode not in ("binary", "triplet") or not set(given) <= set(names):
        raise ValueError(f"neg_sampling: {mode!r}, with {', '.join(given)}: expected a mode, binary or triplet, and an "
                         "amount")
    if not amount > 0 or (mode == "triplet" and amount != math.ceil(amount)):
        raise ValueError(f"neg_sampling: amount {amount}: expected a number > 0, for triplets a whole one")
    weights = {name: given[name] for name in names[2:] if given.get(name) is not None}
    if mode == "triplet" and "src_weight" in weights:
        raise ValueError("neg_sampling: src_weight: triplets have the sources of links")
    return mode, math.ceil(amount) if mode == "triplet" else amount, weights


def _weight_fields(weights: dict[str, Any], data: Any, given: Any) -> tuple[dict[Any, dict[str, Any]], dict[str, str]]:
    """Fields of nodes that weights of negatives become, by node type, and their names; a store has them."""
    stored = not isinstance(data, (Data, HeteroData))
    for name, weight in weights.items():
        if isinstance(weight, str) != stored:
            expected = "a field of nodes of the store, by its name" if stored else "a weight for each node"
            raise ValueError(f"neg_sampling: {name}: expected {expected}")
    if stored or not weights:
        return {}, dict(weights)
    key, _ = _link_type(given, data.edge_types if isinstance(data, HeteroData) else [ONE])
    fields: dict[Any, dict[str, Any]] = {}
    for name, weight in weights.items():
        kind = key[0 if name == "src_weight" else 2]
        rows, count = torch.as_tensor(weight).detach().cpu().view(-1), part_of(data, kind).num_nodes
        if len(rows) != count or not bool((rows >= 0).all()):
            raise ValueError(f"neg_sampling: {name}: expected a number >= 0 for each of {count} nodes")
        fields.setdefault(kind, {})[name] = rows.numpy()
    return fields, {name: name for name in weights}


class LinkNeighborLoader(SampledLoader):
    """PyG's LinkNeighborLoader: batches of `batch_size` links, negatives, and the neighbours sampled for their ends.

    data and all that is not named here are as of NeighborLoader. All arguments of PyG's class are taken, positional
    ones in the same order. neg_sampling: PyG's NegativeSampling, a dict or tuple of its arguments, or its mode.
    Batches have the keys, dtypes and shapes of PyG's, and no batch_size:

    - input_id int64 [P]: places in edge_label_index. With time_attr and disjoint, `batch`.
    - Without triplets: edge_label_index int64 [2, P+N], local numbers, positives first; edge_label (with negatives:
      float32 ones and zeros, or those given, 1 more if the least of all is 0, and zeros; without negatives, only those
      given); edge_label_time, where negative i has that of positive i modulo P.
    - Triplets: src_index [P], dst_pos_index [P], dst_neg_index [P, K], or [P] for one; seed_time.

    Further arguments, and differences:

    - exclude: "self": no batch has the edges of its positives, so that no model reads the answer; "reverse": nor those
      in the other direction, in the edge type itself or in its reverse (gnn-links(7)). They are left out before
      neighbours are drawn. With times, only edges that have the time of their link are.
    - strict=True: no negative is an edge of the graph, or a node with itself. PyG does not look.
    - disjoint: both ends of a link and its negatives share one tree, which has each node once. In PyG, each end has a
      copy and neighbours of its own, and with fractional amounts, ends of a link may have different values in `batch`.
    - src_weight and dst_weight of NegativeSampling name fields of nodes, if data is a store.
    - Negatives among nodes with times of which some are later than a link are not there.
    - Batches of a batch_sampler have one size; the last one may have less.
    - pad=True: rows that are added to labels are 0, and `pad_link_mask`, beside input_id, is False there.
    """

    def __init__(
        self,
        data: Any,
        num_neighbors: Sequence[int] | dict[tuple[str, str, str], Sequence[int]],
        edge_label_index: Any = None,
        edge_label: Tensor | None = None,
        edge_label_time: Tensor | None = None,
        replace: bool = False,
        subgraph_type: Any = "directional",
        disjoint: bool = False,
        temporal_strategy: str = "uniform",
        neg_sampling: Any = None,
        neg_sampling_ratio: float | None = None,
        time_attr: str | None = None,
        weight_attr: str | None = None,
        transform: Callable | None = None,
        transform_sampler_output: Callable | None = None,
        is_sorted: bool = False,
        filter_per_worker: bool | None = None,
        neighbor_sampler: Any = None,
        directed: bool = True,
        *,
        exclude: str = "none",
        strict: bool = False,
        edge_ids: bool = True,
        pad: bool = False,
        rank: int = 0,
        world_size: int = 1,
        **kwargs: Any,
    ) -> None:
        if (edge_label_time is None) != (time_attr is None):
            raise ValueError("edge_label_time and time_attr require each other")
        self._mode, self._amount, weights = _negatives(neg_sampling, neg_sampling_ratio)
        if self._mode == "triplet" and edge_label is not None:
            raise ValueError("edge_label: triplets have no labels")
        if strict and self._mode is None:
            raise ValueError("strict: requires neg_sampling")
        if strict and self._mode == "binary" and weights:
            raise ValueError("strict: pairs that are no edges are drawn uniformly, not by src_weight and dst_weight")
        if exclude not in ("none", "self", "reverse"):
            raise ValueError(f"exclude: {exclude!r} is none of none, self, reverse")
        self.edge_label_index, self.neg_sampling, self.exclude, self.strict = (
            edge_label_index, neg_sampling, exclude, bool(strict))
        self._labels, self._times = (None if x is None else torch.as_tensor(x).cpu()
                                     for x in (edge_label, edge_label_time))
        fields, self._weights = _weight_fields(weights, data, edge_label_index)
        super().__init__(
            data, num_neighbors, replace=replace, subgraph_type=subgraph_type, disjoint=disjoint,
            temporal_strategy=temporal_strategy, time_attr=time_attr, weight_attr=weight_attr, transform=transform,
            transform_sampler_output=transform_sampler_output, is_sorted=is_sorted,
            filter_per_worker=filter_per_worker, neighbor_sampler=neighbor_sampler, directed=directed,
            edge_ids=edge_ids, pad=pad, rank=rank, world_size=world_size, fields=fields, **kwargs)

    def _take_seeds(self, time_attr: str | None) -> tuple[int, list[str]]:
        self._type, self._links = _input_links(self.edge_label_index, self._graph)
        count = self._links.shape[1]
        for name, given in ("edge_label", self._labels), ("edge_label_time", self._times):
            if given is not None and given.shape[:1] != (count,):
                raise ValueError(f"{name}: of shape {list(given.shape)} for {count} links")
        if self._mode == "binary" and self._labels is not None and count and self._labels.min() == 0:
            self._labels = self._labels + 1
        if self._times is not None and count:
            self._refuse_late(time_attr)
        options = ["--links", self._graph.edges[self._type], "--exclude", self.exclude]
        if self._mode is not None:
            options += ["--negatives", f"{self._mode}:{self._amount}"] + ["--strict"] * self.strict
            options += ["--negative-end", "both" if self._mode == "binary" else "tail"]
        if self._weights:
            words = [self._weights.get(name, "uniform") for name in ("src_weight", "dst_weight")]
            options += ["--negative-weight", ",".join(words) if self._mode == "binary" else words[1]]
        return count, options

    def _refuse_late(self, time_attr: Any) -> None:
        ends = {"binary": (self._type[0], self._type[2]), "triplet": (self._type[2],)}.get(self._mode, ())
        for kind in ends:
            if time_attr in [name for name, _ in self._graph.columns[kind]]:
                rows = part_of(self._graph.data, kind)[time_attr]
                last = _pyg_data.pick(rows, torch.arange(len(rows)), 0, self._graph.memory).max()
                if last > self._times.min():
                    raise NotImplementedError(
                        f"neg_sampling: nodes have {time_attr!r} up to {last}, and links from {self._times.min()} on: "
                        "negatives are not limited to nodes that are there at the time of the link")

    def _count(self, links: int) -> int:
        """How many negatives a batch has."""
        return math.ceil(links * self._amount)

    def _roots(self, size: int) -> dict[Any, int]:
        roots = dict.fromkeys((self._type[0], self._type[2]), 0)
        roots[self._type[0]] += size + (self._count(size) if self._mode == "binary" else 0)
        roots[self._type[2]] += size + self._count(size)
        return roots

    def _seeds(self, lists: list[Tensor]) -> bytes:
        if any(len(x) != len(lists[0]) for x in lists[:-1]) or len(lists[-1]) > len(lists[0]):
            raise NotImplementedError("batch_sampler: batches of links need one size; only the last may have less")
        at = torch.cat(lists)
        rows = [f"%0{24 * self._graph.store.has_names(self._graph.nodes[self._type[i]])}d" for i in (0, 2)]
        columns = [*self._links[:, at].tolist()]
        if self._times is not None:
            rows, columns = [*rows, "%r"], [*columns, self._times[at].tolist()]
        return "\n".join(map(" ".join(rows).__mod__, zip(*columns))).encode()

    def _add_seeds(self, out: Any, index: Tensor, sampled: Batch, s: Sampled) -> list[tuple[Any, str, int]]:
        links, (head, _, tail) = index.numel(), self._type
        local = np.concatenate([sampled.arrays[name] for name in ("pair", "negative") if name in sampled.arrays])
        both = torch.from_numpy(np.ascontiguousarray(local.T).astype(np.int64))
        ends = torch.stack([s.node[t][both[i, :links]] for i, t in enumerate((head, tail))])
        if not torch.equal(ends, self._links[:, index]):
            raise RuntimeError(f"gnn-sample: step {sampled.step} has other links than those asked for")
        part, more = part_of(out, self._type), both.shape[1] - links
        labels, times = (None if x is None else x[index] for x in (self._labels, self._times))
        rows = [(part, "input_id", index)]
        if self._mode == "triplet":
            part.edge_label_index = part.edge_label_time = None  # which the graph may have, and no batch has
            of_head, of_tail = part_of(out, head), part_of(out, tail)
            rows += [(of_head, "src_index", both[0, :links]), (of_tail, "dst_pos_index", both[1, :links]),
                     (of_tail, "dst_neg_index", both[1, links:].view(links, -1).squeeze(-1)),
                     (of_head, "seed_time", times), (of_tail, "seed_time", times)]
        else:
            if self._mode == "binary":
                labels = torch.ones(links) if labels is None else labels
                labels = torch.cat([labels, labels.new_zeros((more, *labels.shape[1:]))])
                times = None if times is None else times[torch.arange(links + more) % links]
            rows += [(part, "edge_label_index", both), (part, "edge_label", labels), (part, "edge_label_time", times)]
        for place, name, value in rows:
            place[name] = value
        if self._sizes is None:
            return []
        size = self._sizes.batch_size
        every = size + (self._count(size) if self._mode == "binary" else 0)
        part.pad_link_mask = torch.ones(both.shape[1] if self._mode == "binary" else links, dtype=torch.bool)
        long = {"edge_label_index", "edge_label", "edge_label_time"}
        return [(place, name, every if name in long else size) for place, name, _ in rows] + [
            (part, "pad_link_mask", every)]
