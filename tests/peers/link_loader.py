# SPDX-License-Identifier: Apache-2.0
"""Compares gnntools.pyg.LinkNeighborLoader with PyG's LinkLoader over a sampler of its own that takes all neighbours, which needs no
pyg-lib: what PyG makes of links, labels, times and negatives is PyG's code. Its negatives are those that ours has drawn.
Prints lines as loader.py does."""
import math
import os
import pickle
import subprocess
import tempfile
import warnings
from collections import deque

import torch
from loader import ALL, Uneven, agree, batches, difference, is_, plain, print_case, refuses, typed, unsound
from torch_geometric.data import Data, HeteroData
from torch_geometric.loader import LinkLoader
from torch_geometric.sampler import BaseSampler, HeteroSamplerOutput, NegativeSampling, SamplerOutput
from torch_geometric.sampler.neighbor_sampler import edge_sample
from torch_geometric.transforms import RandomLinkSplit

from gnntools._child import find
from gnntools.arrays import from_arrays
from gnntools.pyg import LinkNeighborLoader as Ours

warnings.simplefilter("ignore")
drawn = deque()  # negatives, in the order in which PyG asks for them
sample = NegativeSampling.sample
NegativeSampling.sample = lambda self, n, endpoint, num_nodes: drawn.popleft()
BUYS, REV, CITES = ("an author", "wrote", "paper"), ("paper", "rev_wrote", "an author"), ("paper", "cites", "paper")


class AllNeighbors(BaseSampler):
    """PyG's sampler with a fan-out of all neighbours, by what its documentation says; a tree for each end if disjoint."""
    edge_permutation = None

    def __init__(self, data, hops, disjoint):
        self.typed, self.hops, self.disjoint = isinstance(data, HeteroData), hops, disjoint
        self.edges = {k: data[k].edge_index for k in data.edge_types} if self.typed else {(None, None, None): data.edge_index}
        self.count = {t: data[t].num_nodes for t in data.node_types} if self.typed else data.num_nodes
        self.types = data.node_types if self.typed else [None]

    def sample_from_edges(self, index, neg_sampling=None):
        return edge_sample(index, self.sample, self.count, self.disjoint, None, neg_sampling)

    def sample(self, seed, time):
        seed, trees = seed if self.typed else {None: seed}, 0
        nodes, batch, number = {t: [] for t in self.types}, {t: [] for t in self.types}, {t: {} for t in self.types}
        found, out = {k: ([], [], []) for k in self.edges}, {k: [] for k in self.edges}

        def add(t, tree, node):
            key = (tree if self.disjoint else 0, node)
            if key not in number[t]:
                number[t][key] = len(nodes[t])
                nodes[t].append(node)
                batch[t].append(tree)
            return number[t][key]

        for t in self.types:
            for node in seed[t].tolist() if t in seed else ():
                add(t, trees, node)
                trees += 1
        begin, sizes = dict.fromkeys(self.types, 0), {t: [len(nodes[t])] for t in self.types}
        for _ in range(self.hops):
            end = {t: len(nodes[t]) for t in self.types}
            for key, (src, dst) in self.edges.items():
                before = len(found[key][0])
                for i in range(begin[key[2]], end[key[2]]):
                    for e in (dst == nodes[key[2]][i]).nonzero().view(-1).tolist():
                        for to, v in zip(found[key], (add(key[0], batch[key[2]][i], int(src[e])), i, e)):
                            to.append(v)
                out[key].append(len(found[key][0]) - before)
            begin = end
            for t in self.types:
                sizes[t].append(len(nodes[t]) - end[t])
        row, col, edge = ({k: torch.tensor(v[i], dtype=torch.long) for k, v in found.items()} for i in range(3))
        node, of = ({t: torch.tensor(v[t], dtype=torch.long) for t in self.types} for v in (nodes, batch))
        parts = [node, row, col, edge, of if self.disjoint else None, sizes, out]
        if self.typed:
            return HeteroSamplerOutput(*parts)
        return SamplerOutput(*(next(iter(p.values())) if p is not None else None for p in parts))


def ends(data, batch, given):
    """The part of a batch with the links, and the parts with their heads and tails."""
    if isinstance(data, Data):
        return batch, batch, batch
    key = given if isinstance(given[0], str) else given[0]
    return batch[key], batch[key[0]], batch[key[2]]


def negatives(data, batch, given):
    """The ids of heads (None for triplets) and tails of a batch's negatives."""
    part, src, dst = ends(data, batch, given)
    if "dst_neg_index" in dst:
        return None, dst.n_id[dst.dst_neg_index.view(-1)]
    index = part.edge_label_index[:, part.input_id.numel():]
    return src.n_id[index[0]], dst.n_id[index[1]]


def misplaced(data, batch, given, links):
    """Where positives are not those that input_id names, or None."""
    part, src, dst = ends(data, batch, given)
    p = part.input_id.numel()
    local = torch.stack([src.src_index, dst.dst_pos_index]) if "src_index" in src else part.edge_label_index[:, :p]
    seen = torch.stack([src.n_id[local[0]], dst.n_id[local[1]]])
    return None if torch.equal(seen, links[:, part.input_id]) else seen


def alike(a, b):
    """As difference(), but of values: dtypes, and shapes where there is a row for each link."""
    for x, y in zip(a.stores, b.stores):
        for key, v in x.items():
            if isinstance(v, torch.Tensor):
                rows = key in ("input_id", "seed_time", "src_index") or "edge_label" in key or key.startswith("dst_")
                same = v.dtype == y[key].dtype and (v.shape == y[key].shape if rows else v.dim() == y[key].dim()) if key in y else False
                if not same:
                    return "%s: %s and %s" % (key, v, y[key] if key in y else "nothing")
        if list(x.keys()) != list(y.keys()):
            return "keys %s and %s" % (list(x.keys()), list(y.keys()))
    return None


def same(name, data, given=None, neg_sampling=None, disjoint=False, time_attr=None, neg_sampling_ratio=None, **kw):
    """All batches are those of PyG's code; with trees, they have the same keys, dtypes and shapes."""
    own = dict(neg_sampling=neg_sampling, neg_sampling_ratio=neg_sampling_ratio)
    ours = batches(Ours, data, ALL, given, disjoint=disjoint, time_attr=time_attr, **own, **kw)
    if isinstance(data, Data):
        links = data.edge_index if given is None else given
    else:
        key, links = (given, None) if isinstance(given[0], str) else given
        links = data[key].edge_index if links is None else links
    wrong = [unsound(data, b) for b in ours] + [misplaced(data, b, given, links) for b in ours]
    print_case(name + ": rows and links are those of the graph", [w for w in wrong if w is not None])
    if neg_sampling is not None or neg_sampling_ratio:
        drawn.extend(x for b in ours for x in negatives(data, b, given) if x is not None)
    trees = disjoint or time_attr is not None
    theirs = batches(LinkLoader, data, AllNeighbors(data, len(ALL), trees), given, **own, **kw)
    found = [(alike if trees else difference)(a, b) for a, b in zip(theirs, ours)]
    print_case(name + (": keys, dtypes and shapes as PyG" if trees else ": as PyG"),
               list(filter(None, found)) + ["%d and %d batches" % (len(theirs), len(ours))] * (len(theirs) != len(ours)))
    is_(name + ": PyG has asked for all negatives", not drawn)
    drawn.clear()
    return ours


def modes():
    """Each kind of negatives, and names of them."""
    return (("no negatives", {}), ("binary", {"neg_sampling": "binary"}), ("a ratio", {"neg_sampling_ratio": 2}),
            ("a ratio of 0", {"neg_sampling_ratio": 0.0}), ("a part", {"neg_sampling": NegativeSampling("binary", .3)}),
            ("a dict", {"neg_sampling": {"mode": "binary", "amount": 1.5}}), ("triplets", {"neg_sampling": "triplet"}),
            ("three each", {"neg_sampling": NegativeSampling("triplet", 3)}), ("a tuple", {"neg_sampling": ("triplet", 2.0)}))


def homogeneous():
    d = plain()
    for name, kw in modes():
        same(name, d, batch_size=32, **kw)
        same(name + ", shuffled", d, batch_size=32, shuffle=True, drop_last=True, **kw)
        same(name + ", in trees", d, batch_size=32, disjoint=True, **kw)
        same(name + ", with times", d, batch_size=32, time_attr="edge_time", edge_label_time=d.edge_time + 1, **kw)
        same(name + ", one link", d, torch.tensor([[3], [4]]), batch_size=32, **kw)
    for name, kw in (x for x in modes()[1:6] if x[0] != "a ratio of 0"):
        b = next(iter(Ours(d, ALL, batch_size=60, **kw)))
        (head, tail), p = negatives(d, b, None), b.input_id.numel()
        one, two = (not torch.equal(x, d.edge_index[i][torch.arange(len(x)) % p]) for i, x in enumerate((head, tail)))
        is_("both ends of negatives are drawn: " + name, one and two)
    few = torch.stack([torch.arange(20), torch.arange(20).flip(0)])
    for name, label in (
        ("classes from 0", torch.arange(20) % 3), ("classes from 1", torch.arange(20) % 3 + 1), ("numbers", torch.rand(20) + 1),
        ("columns", torch.arange(40.).view(20, 2)), ("bytes", torch.arange(20, dtype=torch.uint8)),
    ):
        for kind, kw in modes()[:2]:
            same("%s as labels, %s" % (name, kind), d, few, batch_size=7, edge_label=label, **kw)
    b = next(iter(Ours(d, ALL, few, torch.arange(20) % 3, batch_size=20, neg_sampling="binary")))
    is_("labels begin at 1, negatives have 0", b.edge_label.tolist() == [i % 3 + 1 for i in range(20)] + [0] * 20, b.edge_label)
    split = RandomLinkSplit(is_undirected=False, add_negative_train_samples=False)(Data(x=d.x, edge_index=d.edge_index))[0]
    split.edge_label_time = torch.arange(3)
    for name, kw in modes():  # what the graph has of links is no part of a batch
        same("a graph with links of its own, %s" % name, split, split.edge_label_index, batch_size=32, **kw)
        if "triplet" not in str(kw):
            same("and its labels, %s" % name, split, split.edge_label_index, batch_size=32, edge_label=split.edge_label, **kw)
    seen = torch.cat([b.input_id for b in Ours(d, [3, 2], batch_size=32, shuffle=True, neg_sampling="binary")])
    is_("an epoch has each link once", torch.equal(seen.sort().values, torch.arange(120)))
    is_("len() counts batches", (len(Ours(d, ALL, batch_size=32)), len(Ours(d, ALL, batch_size=32, drop_last=True))) == (4, 3))
    loader = Ours(d, ALL, batch_size=4)
    print_case("a call gives the batch of some positions", list(filter(None, [
        misplaced(d, loader([5, 2, 2, 9, 7]), (), d.edge_index), unsound(d, loader([5, 2]))])))


def several_types():
    d = typed()
    for kind, given in (("two node types", BUYS), ("one node type", CITES), ("a type and None", (REV, None)),
                        ("links that are no edges", (BUYS, torch.stack([torch.arange(20), torch.arange(20) + 9])))):
        for name, kw in modes():
            same("several types: %s, %s" % (kind, name), d, given, batch_size=32, shuffle=True, **kw)
            same("several types: %s, %s, in trees" % (kind, name), d, given, batch_size=32, disjoint=True, **kw)
    for name, kw in modes():
        d[CITES].when = torch.arange(90)
        same("several types: times, %s" % name, d, CITES, batch_size=32, time_attr="when", edge_label_time=torch.arange(90), **kw)
    two = next(iter(Ours(d, ALL, ("tag", "an author"), batch_size=9)))
    is_("an edge type by its node types", two["tag", "of", "an author"].input_id.numel() == 9)


def trees():
    """Ends and negatives of a link share a tree, and see nothing that is later than it."""
    d, t = plain(), typed()
    for name, data, given, kw in (
        ("one type", d, None, {"time_attr": "edge_time", "edge_label_time": d.edge_time}), ("typed", t, BUYS, {}),
        ("the latest", d, None, {"time_attr": "edge_time", "edge_label_time": d.edge_time, "temporal_strategy": "last"}),
    ):
        for mode, amount in ("binary", 1), ("binary", .3), ("binary", 1.5), ("triplet", 2):
            wrong = []
            for b in batches(Ours, data, [3, 2], given, batch_size=32, disjoint=True, neg_sampling=(mode, amount), shuffle=True, **kw):
                part, src, dst = ends(data, b, given)
                p = part.input_id.numel()
                if mode == "binary":
                    of = torch.arange(p + math.ceil(p * amount)) % p
                    wrong += [not torch.equal(x.batch[i], of) for x, i in zip((src, dst), part.edge_label_index)]
                else:
                    of = torch.arange(p)
                    wrong += [not torch.equal(src.batch[src.src_index], of), not torch.equal(dst.batch[dst.dst_pos_index], of),
                              not torch.equal(dst.batch[dst.dst_neg_index], of[:, None].expand(-1, 2))]
                if kw:
                    times = d.edge_time[b.input_id]
                    label = b.edge_label_time if mode == "binary" else b.seed_time
                    wrong += [not torch.equal(label, times[of]), (b.edge_time > times[b.batch[b.edge_index[1]]]).any()]
                if (b.batch if data is d else dst.batch).max() != p - 1:
                    wrong.append("batch")
            print_case("a tree has the ends of a link and its negatives: %s, %s %s" % (name, mode, amount), list(filter(None, wrong)))


def removed():
    """exclude and strict."""
    d, t = plain(), typed()
    back = {"none": [], "self": [0], "reverse": [0, 1]}
    for name, data, given in ("one type", d, None), ("typed", t, BUYS):
        counts = {}
        for exclude, which in back.items():
            wrong, counts[exclude] = [], 0
            for b in batches(Ours, data, ALL, given, batch_size=16, exclude=exclude, neg_sampling="binary"):
                part, src, dst = ends(data, b, given)
                label = part.edge_label_index[:, :part.input_id.numel()]
                pairs = {tuple(x) for x in torch.stack([src.n_id[label[0]], dst.n_id[label[1]]], 1).tolist()}
                forward = torch.stack([src.n_id[part.edge_index[0]], dst.n_id[part.edge_index[1]]], 1).tolist()
                of_head, of_tail = (b if data is d else b[REV]).edge_index.flip(0)
                backward = torch.stack([src.n_id[of_head], dst.n_id[of_tail]], 1)
                sides = [forward, backward.tolist()]
                wrong += [e for i in which for e in sides[i] if tuple(e) in pairs]
                counts[exclude] += len(forward) + len(sides[1])
            print_case("exclude=%r: batches have no such edges, %s" % (exclude, name), wrong)
        is_("more edges are excluded with each, %s" % name, counts["none"] > counts["self"] > counts["reverse"], counts)
        edges = {tuple(e) for e in (d.edge_index if data is d else t[BUYS].edge_index).t().tolist()}
        for mode in "binary", "triplet":
            seen = {}
            for strict in True, False:
                seen[strict] = []
                for b in batches(Ours, data, [2], given, batch_size=16, neg_sampling=(mode, 5), strict=strict):
                    part, src, dst = ends(data, b, given)
                    head, tail = negatives(data, b, given)
                    head = src.n_id[src.src_index].repeat_interleave(5) if head is None else head
                    seen[strict] += [e for e in zip(head.tolist(), tail.tolist()) if e in edges or (data is d and e[0] == e[1])]
            print_case("strict negatives are no edges: %s, %s" % (name, mode), seen[True])
            is_("others are, some of them: %s, %s" % (name, mode), seen[False])


def weighed():
    """src_weight and dst_weight: nodes of negatives have the law of those that PyG draws."""
    d, t = plain(), typed()
    for name, data, given in ("one type", d, None), ("typed", t, BUYS):
        _, src, dst = ends(data, data, given)
        heads, tails = torch.zeros(src.num_nodes), torch.zeros(dst.num_nodes)
        heads[3], heads[7], tails[2:5] = 0.5, 1.5, torch.tensor([1.0, 2, 5])
        for mode, w in ("binary", (heads, tails)), ("binary", (None, tails)), ("binary", (heads, None)), ("triplet", (None, tails)):
            how = NegativeSampling(mode, 40, *w)
            got = [negatives(data, b, given) for b in batches(Ours, data, [1], given, batch_size=16, neg_sampling=how)]
            for ids, end, nodes in zip(zip(*got), ("src", "dst"), (src, dst)):
                if ids[0] is not None:
                    ids, n = torch.cat(ids), nodes.num_nodes
                    ours, theirs = (torch.bincount(x, minlength=n) for x in (ids, sample(how, ids.numel(), end, n)))
                    apart = ((ours - theirs) ** 2 / (ours + theirs).clamp(min=1)).sum()  # chi-square, of `free` degrees
                    free = ((ours + theirs) > 0).sum() - 1
                    is_("%s, %s %s: %s nodes have the law of PyG's" % (name, mode, [v is not None for v in w], end),
                        apart < free + 5 * (2 * free) ** 0.5 and not theirs[ours == 0].any() and not ours[theirs == 0].any(), (ours, theirs))
    with tempfile.TemporaryDirectory() as folder:
        path, heavy = os.path.join(folder, "weighed"), torch.arange(30)
        from_arrays(path, {"x": d.x, "popularity": heavy}, {"edge_index": d.edge_index}, position=True)
        ids = {}
        for who, data, w in ("a store", path, "popularity"), ("a Data", d, heavy):
            ids[who] = [negatives(d, b, None)[1] for b in batches(Ours, data, [1], batch_size=16, neg_sampling=("triplet", 9, None, w))]
        is_("a field of a store draws as the weights of a Data do", all(map(torch.equal, ids["a store"], ids["a Data"])))
        refuses("weights that a store does not have", "by its name", path, ALL, cls=Ours, neg_sampling=("triplet", 1, None, heavy))


def mistakes():
    d, t = plain(), typed()
    def no(name, why, *args, **kw):
        refuses(name, why, *args, cls=Ours, **kw)
    no("times without time_attr", "require each other", d, ALL, edge_label_time=d.edge_time)
    no("time_attr without times", "require each other", d, ALL, time_attr="edge_time")
    no("labels of triplets", "triplets have no labels", d, ALL, edge_label=torch.ones(120), neg_sampling="triplet")
    no("another number of labels", "edge_label: of shape [3] for 120 links", d, ALL, edge_label=torch.ones(3))
    no("another number of times", "for 120 links", d, ALL, edge_label_time=torch.ones(3), time_attr="edge_time")
    no("weights of sources of triplets", "src_weight", d, ALL, neg_sampling=("triplet", 1, torch.ones(30)))
    no("weights of fewer nodes", "each of 30 nodes", d, ALL, neg_sampling=NegativeSampling("triplet", 1, None, torch.ones(29)))
    no("weights below 0", "dst_weight", d, ALL, neg_sampling=NegativeSampling("binary", 1, None, -torch.ones(30)))
    no("a field that a Data does not have", "a weight for each node", d, ALL, neg_sampling=("binary", 1, "degree"))
    no("weights of strict pairs", "drawn uniformly", d, ALL, strict=True, neg_sampling=("binary", 1, torch.ones(30)))
    no("another mode", "'pairs'", d, ALL, neg_sampling="pairs")
    no("a name that is none of neg_sampling's", "how", d, ALL, neg_sampling={"mode": "binary", "how": 1})
    no("an amount of 0", "amount 0", d, ALL, neg_sampling={"mode": "binary", "amount": 0})
    no("triplets with a part", "whole", d, ALL, neg_sampling={"mode": "triplet", "amount": 1.5})
    no("too many negatives", "65536", d, ALL, neg_sampling=("triplet", 65537))
    no("strict without negatives", "requires neg_sampling", d, ALL, strict=True)
    no("another exclusion", "'both'", d, ALL, exclude="both")
    no("a reverse that is not there", "reverse", t, ALL, edge_label_index=("tag", "of", "an author"), exclude="reverse")
    no("links of one row", "expected [2, n]", d, ALL, edge_label_index=torch.arange(9))
    no("a link that leads out", "edge_label_index[1][2] is 30", d, ALL, edge_label_index=torch.tensor([[0, 1, 2], [1, 2, 30]]))
    no("links of real numbers", "expected integers", d, ALL, edge_label_index=torch.rand(2, 5))
    no("a HeteroData without an edge type", "expected an edge type", t, ALL)
    no("an edge type that is not there", "expected an edge type", t, ALL, edge_label_index=("a", "b", "c"))
    no("two edge types of two node types", "expected an edge type", t, ALL, edge_label_index="paper")
    no("transform_sampler_output", "transform_sampler_output", d, ALL, transform_sampler_output=lambda x: x)
    no("a sampler of PyG", "neighbor_sampler", d, ALL, neighbor_sampler=object())
    no("uneven batches", "need one size", d, ALL, batch_sampler=[[1], [2, 3], [4]])
    no("a last batch that is larger", "need one size", d, ALL, batch_sampler=[[1], [2, 3]])
    no("an empty batch", "a batch without seeds", d, ALL, batch_sampler=[[1], []])
    no("a larger batch than padding", "more than batch_size", d, ALL, pad=True, batch_sampler=Uneven(2))
    no("negatives among nodes that are later", "not limited to nodes", d, ALL, time_attr="time", edge_label_time=torch.zeros(120).long(),
       neg_sampling="triplet")
    late = batches(Ours, d, ALL, time_attr="time", edge_label_time=torch.full((120,), 99), neg_sampling="binary", batch_size=99)
    is_("negatives among nodes that are all there", len(late) == 2)


def shared():
    """What the loader shares with NeighborLoader: workers, ranks, copies, stores, padding."""
    d, t = plain(), typed()
    kw = {"batch_size": 16, "shuffle": True, "neg_sampling": ("binary", 1.5)}
    want = batches(Ours, d, [3, 2], **kw)
    for workers in 1, 2:
        agree("batches are the same with %d workers" % workers, want, batches(Ours, d, [3, 2], num_workers=workers, **kw))
    torch.manual_seed(3)
    agree("a pickled loader gives the same batches", want, list(pickle.loads(pickle.dumps(Ours(d, [3, 2], **kw)))))
    whole = list(Ours(d, [3, 2], generator=torch.Generator().manual_seed(0), **kw))
    loaders = [Ours(d, [3, 2], rank=r, world_size=3, **kw) for r in range(3)]
    agree("ranks have the batches of one process", [b for r in range(3) for b in whole[r::3]], [b for x in loaders for b in x])
    is_("len() is that of a rank", [len(x) for x in loaders] == [3, 3, 2])
    done = batches(Ours, d, [3, 2], transform=lambda b: b.update({"done": 1}) or b, **kw)
    is_("a transform gets each batch", all(b.done for b in done))
    for how in "induced", "bidirectional":
        b = next(iter(Ours(d, ALL, subgraph_type=how, **kw)))
        print_case("%s subgraphs" % how, list(filter(None, [misplaced(d, b, (), d.edge_index)])))
    heavy = batches(Ours, d, [2], weight_attr="heavy", replace=True, **kw)
    print_case("weights and replacement", list(filter(None, (unsound(d, b) for b in heavy))))
    with tempfile.TemporaryDirectory() as folder:
        one, many = os.path.join(folder, "one"), os.path.join(folder, "many")
        from_arrays(one, {"x": d.x}, {"edge_index": d.edge_index}, position=True)
        from_arrays(many, {k: {"x": t[k].x} for k in t.node_types}, {k: t[k].edge_index for k in t.edge_types}, position=True)
        small = Data(x=d.x, edge_index=d.edge_index, num_nodes=30)
        want = batches(Ours, small, ALL, **kw)
        named = batches(Ours, many, ALL, edge_label_index=BUYS, **kw)
        for parts in 0, 1, 3:
            names = [path + str(parts) * bool(parts) for path in (one, many)]
            for path, name in zip((one, many), names):
                if parts:
                    subprocess.run([find("gnn-partition"), "-q", "-k", str(parts), "-o", name, path], check=True)
            got = batches(Ours, names[0], ALL, **kw)
            for b in got + want:
                b.num_nodes = None  # which a Data has if it was given
            agree("a store gives what its Data gives, %d partitions" % parts, want, got)
            agree("and one of several types, %d partitions" % parts, named, batches(Ours, names[1], ALL, edge_label_index=BUYS, **kw))
        words = os.path.join(folder, "words")
        from_arrays(words, {"x": d.x}, {"edge_index": d.edge_index}, position=True, ids=[str(29 - i) for i in range(30)])
        from_arrays(words + "2", {"x": d.x}, {"edge_index": d.edge_index}, position=True, ids=["n%d" % i for i in range(30)])
        for path in words, words + "2":
            got = batches(Ours, path, ALL, **kw)
            print_case("nodes with names", list(filter(None, (misplaced(d, b, (), d.edge_index) for b in got))))
    for name, data, given, more in (
        ("binary", d, None, {}), ("typed", t, BUYS, {}), ("triplets", d, None, {"neg_sampling": ("triplet", 2)}),
        ("typed triplets", t, BUYS, {"neg_sampling": "triplet"}), ("no negatives", d, None, {"neg_sampling": None}),
        ("trees", d, None, {"disjoint": True}), ("typed trees", t, CITES, {"disjoint": True}),
        ("times", d, None, {"time_attr": "edge_time", "edge_label_time": d.edge_time}),
    ):
        got = batches(Ours, data, [3, 2], given, pad=True, **dict(kw, **more))
        bare = batches(Ours, data, [3, 2], given, **dict(kw, **more))
        shapes = {str([(k, v.shape) for s in b.stores for k, v in s.items() if isinstance(v, torch.Tensor)]) for b in got}
        is_("padded batches have one size: " + name, len(shapes) == 1, shapes)
        wrong = []
        for a, b in zip(got, bare):
            part, mask = ends(data, b, given)[0], ends(data, a, given)[0].pad_link_mask
            n = part.edge_label_index.shape[1] if "edge_label_index" in part else part.input_id.numel()
            wrong += [] if mask[:n].all() and not mask[n:].any() else ["mask"]
            for x, y in zip(a.stores, b.stores):
                for key, v in y.items():
                    if isinstance(v, torch.Tensor):
                        dim = int(key == "edge_label_index" or key in ("edge_index", "pair_index"))
                        head, rest = x[key].narrow(dim, 0, v.shape[dim]), x[key].narrow(dim, v.shape[dim], x[key].shape[dim] - v.shape[dim])
                        zero = key in ("edge_index", "batch") or not rest.any()
                        wrong += [] if torch.equal(head, v) and zero else [key]
        print_case("what is added follows the batch: " + name, wrong)


if __name__ == "__main__":
    for run in homogeneous, several_types, trees, removed, weighed, mistakes, shared:
        run()
