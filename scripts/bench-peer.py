# SPDX-License-Identifier: Apache-2.0
"""What bench-peers.py asks of another system: does it, on the graph of a store, and answers with a line of JSON.
usage: bench-peer.py STORE SYSTEM [WHAT [KEY=VALUE]...]
SYSTEM is torch, pyg, dgl, graphbolt or gnntools; without WHAT, requests are read from stdin, one a line. PYTHONPATH has gnntools, GNN_BIN
the programs. An answer has "value" (edges, steps or bytes a second, or seconds), or "error", and what else there is to know.
Batches to gather or to train on are those of gnn-tools, in files; their sampling is not timed. Rates leave out the first batches."""
import itertools
import json
import os
import sys
import time
import warnings

STARTED = time.time()
import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from gnntools import Store, Stream  # noqa: E402
from torch import nn  # noqa: E402

warnings.simplefilter("ignore")
FANOUT, BATCH, HIDDEN, HEADS = [15, 10, 5], 1024, 256, 4
WARM = 2  # batches and steps that pay for starting


def tensor(a, dtype=None):
    """Of an array that may be mapped, and may be unsigned; without a copy where its type stays."""
    a = a if dtype is None else a.astype(dtype, copy=False)
    return torch.from_numpy(a if a.flags.writeable else np.asarray(a).view())


class Graph:
    """The arrays of a store of one type, as tensors that are made when they are first asked for."""

    def __init__(self, path):
        self.store = Store(path)
        self.arrays = self.store.parts[0].arrays
        self.edge = next(k[: -len("indptr")] for k in self.arrays if k.startswith("edge/") and k.endswith("/indptr"))
        self.split, self.kept = "train", {}

    def keep(self, name, make):
        if name not in self.kept:
            self.kept[name] = make()
        return self.kept[name]

    def edges(self, name, dtype=np.int64):
        return self.keep((name, dtype), lambda: tensor(self.arrays[self.edge + name], dtype))

    @property
    def indptr(self):
        return self.edges("indptr")

    @property
    def indices(self):
        return self.edges("indices")

    @property
    def targets(self):
        return self.keep("targets", lambda: torch.repeat_interleave(torch.arange(self.nodes), self.indptr.diff()))

    @property
    def nodes(self):
        return self.store.count()

    def rows(self, name, dtype):
        return self.keep(name, lambda: tensor(self.arrays["node/" + self.store.type() + "/" + name], dtype))

    @property
    def x(self):
        return self.rows("x", np.float32)

    @property
    def y(self):
        return self.rows("y", np.int64).view(-1)

    @property
    def train(self):
        return self.keep("train", lambda: tensor(self.store.set(self.split), np.int64))

    @property
    def classes(self):
        return self.keep("classes", lambda: int(self.y.max()) + 1)


class Rounds:
    """Batches of seeds without an end, in a new order in each epoch."""

    def __init__(self, train):
        self.train = train

    def __iter__(self):
        while True:
            yield from self.train[torch.randperm(len(self.train))].split(BATCH)


def timed(each, over, n):
    """each(item) of the first n items after some that pay for starting: the sum of what it returns, and seconds."""
    total, start = 0, 0.0
    for i, item in enumerate(itertools.islice(over, n + WARM)):
        if i == WARM:
            total, start = 0, time.perf_counter()
        total += each(item) or 0
    return total, time.perf_counter() - start


def endless(loader):
    while True:
        yield from loader


class Sampled:
    """A batch of gnn-tools as tensors: n_id, x, y of the seeds, and of each hop rows' start, indptr and indices."""

    def __init__(self, batch):
        self.n_id = tensor(batch.n_id(), np.int64)
        self.x, self.y = (None if batch.field(k) is None else tensor(np.array(batch.field(k))) for k in "xy")
        self.y = None if self.y is None else self.y.view(-1)[: batch.batch_size].long()
        self.counts = batch.counts().astype(int).tolist()
        self.pairs = None
        self.hops = [(b.first, tensor(b.indptr, np.int64), tensor(b.indices, np.int64)) for b in batch.blocks()]


def read(path, n):
    """The first n batches of a file of gnn-tools."""
    with Stream(path) as stream:
        return [Sampled(b) for b in itertools.islice(stream, n)]


class Net(nn.Module):
    """Layers of a system; a batch gives each layer its input rows and edges, see layers()."""

    def __init__(self, system, model, width, classes, norms=False):
        super().__init__()
        sizes = [width, HIDDEN, HIDDEN, classes]
        self.system, self.model = system, model
        self.layers = nn.ModuleList(system.layer(model, a, b, i == 2) for i, (a, b) in enumerate(zip(sizes, sizes[1:])))
        self.norms = nn.ModuleList(nn.BatchNorm1d(HIDDEN) for _ in range(2)) if norms else None

    def forward(self, x, graphs):
        for i, layer in enumerate(self.layers):
            x = self.system.apply(self.model, layer, graphs[i], x)
            x = x.flatten(1) if i < 2 or x.dim() == 2 else x.mean(1)
            if i < 2:
                x = F.relu(self.norms[i](x) if self.norms else x)
                x = F.dropout(x, 0.5) if self.norms else x
        return x


def mlp(a, b):
    return nn.Sequential(nn.Linear(a, b), nn.ReLU(), nn.Linear(b, b))


class System:
    """What all systems can do; each adds what it can."""

    name = "torch"

    def __init__(self, path):
        self.graph = Graph(path)
        self.kept = {}

    def threads(self, n):
        torch.set_num_threads(n)

    def held(self, path, n):
        if len(self.kept.get(path, ())) < n:
            self.kept[path] = read(path, n)
        return self.kept[path][:n]

    def do_times(self, seeds=24 * BATCH):
        """Prints seeds with times anywhere between the first edge and the last, as gnn-sample reads them."""
        times = self.graph.edges("time")
        ids = torch.randperm(self.graph.nodes)[:seeds]
        at = torch.randint(int(times.min()), int(times.max()) + 1, (len(ids),))
        print("\n".join("%d %d" % pair for pair in zip(ids.tolist(), at.tolist())))
        sys.exit(0)

    def do_gather(self, batches, threads=1, fresh=0, turns=3):
        """Rows of the features of batches, into one buffer, or into fresh memory: bytes a second."""
        self.threads(threads)
        ids, x = [b.n_id for b in self.held(batches, 12)], self.graph.x
        out = torch.empty(max(map(len, ids)), x.shape[1])

        def each(n_id):
            if fresh:
                torch.index_select(x, 0, n_id)
            else:
                torch.index_select(x, 0, n_id, out=out[: len(n_id)])
            return len(n_id) * x.shape[1] * x.element_size()

        total, seconds = timed(each, (i for _ in range(turns) for i in ids), turns * len(ids) - WARM)
        return {"value": total / seconds}

    def trainer(self, model, width, classes, how="stock", precision="f32", norms=False):
        """A function of rows, graphs, labels and, unless they are the first, their rows, which takes a training step."""
        torch.manual_seed(1)
        self.how = how
        net = Net(self, model, width, classes, norms)
        optimizer = torch.optim.Adam(net.parameters(), lr=0.003)
        forward = torch.compile(net, dynamic=True) if how == "compile" else net

        def step(x, graphs, y, rows=None):
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bf16"):
                out = forward(x, graphs)
            F.cross_entropy((out[: len(y)] if rows is None else out[rows]).float(), y).backward()
            optimizer.step()

        return step

    def do_step(self, batches, model="sage", threads=1, how="stock", precision="f32", steps=6):
        """Seconds of a training step on batches that are held in memory."""
        self.threads(threads)
        held = self.held(batches, steps)
        key = model, how, precision
        if key not in self.kept:
            self.kept[key] = self.trainer(model, held[0].x.shape[1], self.graph.classes, how, precision)
        self.how, self.model, step = how, model, self.kept[key]
        _, seconds = timed(lambda b: step(b.x, self.blocks(b), b.y), endless(held), steps)
        return {"value": seconds / steps}

    def do_epoch(self, model="sage", threads=2, how="stock", split="train", steps=40):
        """Seconds of a step in which batches are also sampled and gathered, and how long this process took until the first was done."""
        self.threads(threads)
        self.graph.split = split
        step = self.trainer(model, self.graph.x.shape[1], self.graph.classes, how)
        first = []

        def each(batch):
            step(*batch)
            if not first:
                first.append(time.time() - STARTED)

        _, seconds = timed(each, self.batches(), steps)
        return {"value": seconds / steps, "first": first[0]}


class Pyg(System):
    name = "PyG"

    def __init__(self, path):
        super().__init__(path)
        import torch_geometric.nn
        from torch_geometric.typing import WITH_PYG_LIB
        self.nn, self.pyg = torch_geometric.nn, torch_geometric
        if WITH_PYG_LIB:
            import pyg_lib  # noqa: F401

    def op(self, seeds, disjoint=False, weight=None, times=None, seed_times=None):
        return torch.ops.pyg.neighbor_sample(self.graph.indptr, self.graph.indices, seeds, FANOUT, None, times, seed_times, weight, True, False,
                                             True, disjoint, "uniform", False)

    def do_sample(self, threads=1, rule="uniform", batches=24):
        """pyg-lib's operator, which has one thread; with more, PyG's loader with as many workers."""
        self.threads(1)
        g = self.graph
        if threads > 1:
            loader = self.loader(False, threads)
            total, seconds = timed(lambda b: b.edge_index.shape[1], endless(loader), batches)
            return {"value": total / seconds}
        more = {}
        if rule == "weight":
            more["weight"] = g.edges("weight", np.float32)
        if rule == "time":
            more.update(disjoint=True, times=g.edges("time"))
        low, high = (int(f(more["times"])) for f in (torch.min, torch.max)) if rule == "time" else (0, 0)

        def each(seeds):
            if rule == "time":
                more["seed_times"] = torch.randint(low, high + 1, (len(seeds),))
            return self.op(seeds, **more)[0].numel()

        total, seconds = timed(each, Rounds(g.train), batches)
        return {"value": total / seconds}

    def do_walk(self, length=10, batches=40):
        self.threads(1)
        g = self.graph

        def each(seeds):
            walks = torch.ops.pyg.random_walk(g.indptr, g.indices, seeds, length, 1.0, 1.0)
            return walks.numel() - len(seeds)

        total, seconds = timed(each, Rounds(g.train), batches)
        return {"value": total / seconds}

    def do_metis(self, parts=4):
        g = self.graph
        start = time.perf_counter()
        part = torch.ops.pyg.metis(g.indptr, g.indices, parts, None, None, False)
        seconds = time.perf_counter() - start
        cut = (part[g.indices] != part[g.targets]).float().mean().item()
        return {"value": seconds, "cut": 100 * cut}

    # Layers, as PyG has them, of destinations that are the first of the sources; or with products of CSR matrices.
    def layer(self, model, a, b, last):
        if model == "sage":
            return self.nn.SAGEConv(a, b)
        if model == "gcn":
            return self.nn.GCNConv(a, b)
        if model == "gin":
            return self.nn.GINConv(mlp(a, b))
        kind = self.nn.GATConv if model == "gat" else self.nn.GATv2Conv
        return kind(a, b, HEADS, concat=False) if last else kind(a, b // HEADS, HEADS)

    def apply(self, model, layer, graph, x):
        n, m, edges = graph
        x = x[:m]
        if self.how != "csr":
            return layer(x, edges)[:n] if model == "gcn" else layer((x, x[:n]), edges)
        if model != "gcn":
            if x.dtype != edges.dtype:  # autocast converts no matrix
                edges = torch.sparse_csr_tensor(edges.crow_indices(), edges.col_indices(), edges.values().to(x.dtype), size=(n, m))
            return layer((x, x[:n]), edges)
        # D^-1/2 (A + I) D^-1/2 (x W), by a product
        sources, degree = edges.col_indices(), edges.crow_indices().diff() + 1.0
        scale = torch.ones(m)
        scale[:n] = degree.rsqrt()
        values = scale[sources] * torch.repeat_interleave(scale[:n], edges.crow_indices().diff())
        h = layer.lin(x)
        return torch.sparse_csr_tensor(edges.crow_indices(), sources, values, size=(n, m)) @ h + h[:n] / degree[:, None] + layer.bias

    def graphs(self, counts, edges, targets):
        """For each layer, the numbers of its destinations and sources, and the edges: pairs or, for products, a CSR matrix."""
        out = []
        for hops in range(len(counts) - 1, 0, -1):
            n, m, e = counts[hops - 1], counts[hops], sum(edges[:hops])
            pairs = targets[:, :e]
            if self.how == "csr":
                indptr = torch.zeros(n + 1, dtype=torch.int64)
                torch.cumsum(torch.bincount(pairs[1], minlength=n), 0, out=indptr[1:])
                pairs = torch.sparse_csr_tensor(indptr, pairs[0], torch.ones(e), size=(n, m))
            out.append((n, m, pairs))
        return out

    def blocks(self, b):
        if b.pairs is None:
            targets = [first + torch.repeat_interleave(torch.arange(len(p) - 1), p.diff()) for first, p, _ in b.hops]
            b.pairs = torch.stack([torch.cat([i for _, _, i in b.hops]), torch.cat(targets)])
        return self.graphs(b.counts, [len(indices) for _, _, indices in b.hops], b.pairs)

    def loader(self, features, workers=0, kind=None, **more):
        g = self.graph
        data = self.pyg.data.Data(edge_index=torch.stack([g.indices, g.targets]), num_nodes=g.nodes)
        if features:
            data.x, data.y = g.x, g.y
        kind = kind or self.pyg.loader.NeighborLoader
        return kind(data, FANOUT, batch_size=BATCH, input_nodes=g.train, shuffle=True, num_workers=workers,
                    **({"is_sorted": True} if kind is self.pyg.loader.NeighborLoader else {}), **more)

    def tensors(self, b):
        counts = list(itertools.accumulate(b.num_sampled_nodes))
        return b.x, self.graphs(counts, b.num_sampled_edges, b.edge_index), b.y[: b.batch_size].view(-1).long()

    def batches(self):
        return map(self.tensors, endless(self.loader(True)))

    def loaders(self, features):
        return {w: self.loader(features, w) for w in (0, 1, 2)}

    def do_load(self, features=1, train=0, batches=20):
        """Seconds of a batch of the loader, with its best number of workers; train: with a step of SAGE by products."""
        self.threads(torch.get_num_threads())
        key = "loaders", features
        if key not in self.kept:
            self.kept[key] = self.loaders(bool(features))
        step = train and self.trainer("sage", self.graph.x.shape[1], self.graph.classes, "csr")
        each = (lambda b: step(*self.tensors(b))) if train else (lambda b: None)
        taken = {}
        for workers, loader in self.kept[key].items():
            if self.kept.get((key, train, "best"), workers) == workers:
                it = endless(loader)
                taken[workers] = timed(each, it, batches)[1] / batches
                it.close()
        self.kept[key, train, "best"] = best = min(taken, key=taken.get)
        return {"value": taken[best], "note": "%d workers" % best}

    def do_call(self, calls=10):
        """Seconds of sampling one batch by the operator."""
        self.threads(torch.get_num_threads())
        return {"value": timed(lambda seeds: self.op(seeds) and None, Rounds(self.graph.train), calls)[1] / calls}

    def do_rows(self, calls=20):
        ids = torch.randint(self.graph.nodes, (100000,))
        x = self.graph.x
        return {"value": timed(lambda _: x[ids] is None, range(calls + WARM), calls)[1] / calls}

    def do_infer(self, threads=2):
        """Outputs of SAGE for all nodes, layer by layer, by products of the whole graph's CSR matrix: seconds."""
        self.threads(threads)
        g, self.how = self.graph, "csr"
        net = Net(self, "sage", g.x.shape[1], g.classes).eval()
        whole = g.nodes, g.nodes, torch.sparse_csr_tensor(g.indptr, g.indices, torch.ones(len(g.indices)), size=(g.nodes, g.nodes))
        with torch.inference_mode():
            start = time.perf_counter()
            net(g.x, [whole] * 3)
            return {"value": time.perf_counter() - start}


class Gnntools(Pyg):
    """gnn-tools from Python, in the environment of PyG: what rows of loaders compare."""

    name = "gnn-tools"

    def loaders(self, features):
        from gnntools.pyg import NeighborLoader
        if features:
            return {w: NeighborLoader(self.graph.store, FANOUT, batch_size=BATCH, input_nodes=self.graph.train, shuffle=True, num_workers=w)
                    for w in (0, 1, 2)}
        return {2: self.loader(False, 2, NeighborLoader)}  # of a Data, for which each loader makes a store

    def do_call(self, calls=10):
        return {"value": timed(lambda seeds: self.graph.store.sample(seeds, FANOUT) and None, Rounds(self.graph.train), calls)[1] / calls}

    def do_rows(self, calls=20):
        ids, x = torch.randint(self.graph.nodes, (100000,)), self.graph.store.x
        return {"value": timed(lambda _: x[ids] is None, range(calls + WARM), calls)[1] / calls}


class Dgl(System):
    name = "DGL"

    def __init__(self, path):
        super().__init__(path)
        import dgl
        import dgl.nn
        self.dgl = dgl

    def threads(self, n):
        torch.set_num_threads(n)
        self.dgl.utils.set_num_threads(n)

    def whole(self, weight=None):
        def make():
            g = self.graph
            made = self.dgl.graph(("csc", (g.indptr, g.indices, torch.arange(0))))
            if weight:
                made.edata[weight] = g.edges(weight, np.float32)
            return made
        return self.graph.keep(("dgl", weight), make)

    def do_sample(self, threads=1, rule="uniform", fanout="15,10,5", batches=24):
        """Samplers without a loader, whose lists of fan-outs start at the features: edges a second, and of LABOR seconds of a batch."""
        self.threads(threads)
        g, kinds = self.whole("weight" if rule == "weight" else None), self.dgl.dataloading
        hops = [int(n) for n in fanout.split(",")][::-1]
        if rule == "labor":
            sampler = kinds.LaborSampler(hops)
        elif rule == "induced":
            sampler = kinds.ShaDowKHopSampler(hops)
        else:
            sampler = kinds.NeighborSampler(hops, prob="weight" if rule == "weight" else None)

        def each(seeds):
            out = sampler.sample(g, seeds)[2]
            return out.num_edges() if rule == "induced" else sum(b.num_edges() for b in out)

        total, seconds = timed(each, Rounds(self.graph.train), batches)
        return {"value": seconds / batches if rule == "labor" else total / seconds, "edges": total / batches}

    def do_walk(self, length=10, node2vec="", batches=20):
        self.threads(1)
        g, walk = self.whole(), self.dgl.sampling

        def each(seeds):
            if node2vec:
                out = walk.node2vec_random_walk(g, seeds, *map(float, node2vec.split(",")), length)
            else:
                out = walk.random_walk(g, seeds, length=length)[0]
            return out.numel() - len(seeds)

        total, seconds = timed(each, Rounds(self.graph.train), batches)
        return {"value": total / seconds}

    def do_metis(self, parts=4):
        start = time.perf_counter()
        part = self.dgl.metis_partition_assignment(self.whole(), parts)
        seconds = time.perf_counter() - start
        cut = (part[self.graph.indices] != part[self.graph.targets]).float().mean().item()
        return {"value": seconds, "cut": 100 * cut}

    def layer(self, model, a, b, last):
        kinds = self.dgl.nn
        if model == "sage":
            return kinds.SAGEConv(a, b, "mean")
        if model == "gcn":
            return kinds.GraphConv(a, b, allow_zero_in_degree=True)
        if model == "gin":
            return kinds.GINConv(mlp(a, b), "sum")
        kind = kinds.GATConv if model == "gat" else kinds.GATv2Conv
        return kind(a, b if last else b // HEADS, HEADS, allow_zero_in_degree=True)

    def apply(self, model, layer, graph, x):
        x = x[: graph.num_src_nodes()]
        return layer(graph, (x, x[: graph.num_dst_nodes()]) if graph.is_block else x)

    def blocks(self, b):
        """Made anew for each step: what is computed of a batch when it is first used is part of each step of an epoch."""
        ids = "gat" in self.model  # without ids of edges, its products with values fail
        return [self.dgl.create_block(("csc", (p, i, torch.arange(len(i) if ids else 0))), num_src_nodes=b.counts[h + 1], num_dst_nodes=b.counts[h])
                for h, (_, p, i) in enumerate(b.hops)][::-1]

    def batches(self):
        g = self.whole()
        sampler = self.dgl.dataloading.NeighborSampler(FANOUT[::-1])
        loader = self.dgl.dataloading.DataLoader(g, self.graph.train, sampler, batch_size=BATCH, shuffle=True)
        for n_id, seeds, blocks in endless(loader):
            yield self.graph.x[n_id], blocks, self.graph.y[seeds]

    def do_full(self, model="sage", threads=2, epochs=3):
        """Seconds of the fastest epoch but the first, of full batches with batch norm and dropout."""
        self.threads(threads)
        g = self.whole()
        if model == "gat":
            g = g.add_self_loop()
        g = g.formats(["csc", "csr", "coo"] if model == "gat" else ["csc", "csr"])
        g.create_formats_()
        step, taken = self.trainer(model, self.graph.x.shape[1], self.graph.classes, norms=True), []
        seeds = self.graph.train
        for _ in range(epochs):
            start = time.perf_counter()
            step(self.graph.x, [g] * 3, self.graph.y[seeds], seeds)
            taken.append(time.perf_counter() - start)
        return {"value": min(taken[1:])}

    def do_infer(self, threads=2):
        """Outputs of SAGE for all nodes, layer by layer, of the whole graph: seconds."""
        self.threads(threads)
        g = self.whole()
        net = Net(self, "sage", self.graph.x.shape[1], self.graph.classes).eval()
        with torch.inference_mode():
            start = time.perf_counter()
            net(self.graph.x, [g] * 3)
            return {"value": time.perf_counter() - start}


class GraphBolt(Dgl):
    name = "GraphBolt"

    def __init__(self, path):
        super().__init__(path)
        import dgl.graphbolt
        self.bolt = dgl.graphbolt

    def fused(self, fields=()):
        def make():
            g = self.graph
            kinds = {"weight": np.float32, "time": np.int64}
            more = {"edge_attributes": {k: g.edges(k, kinds[k]) for k in fields}} if fields else {}
            return self.bolt.fused_csc_sampling_graph(g.indptr, g.edges("indices", np.int32), **more)
        return self.graph.keep(("graphbolt", fields), make)

    def do_sample(self, threads=1, rule="uniform", fanout="15,10,5", batches=24):
        self.threads(threads)
        g = self.fused((rule,) if rule in ("weight", "time") else ())
        hops = [torch.tensor([int(n)]) for n in fanout.split(",")]
        times = self.graph.edges("time") if rule == "time" else None
        low, high = (int(times.min()), int(times.max())) if rule == "time" else (0, 0)

        def each(seeds):
            edges, seeds = 0, seeds.int()
            stamps = torch.randint(low, high + 1, (len(seeds),)) if rule == "time" else None
            for k in hops:
                if rule == "time":
                    block = g.temporal_sample_neighbors(seeds, stamps, k, edge_timestamp_attr_name="time").sampled_csc
                    seeds, _, stamps = self.bolt.compact_csc_format(block, seeds, stamps)
                else:
                    draw = g.sample_layer_neighbors if rule == "labor" else g.sample_neighbors
                    block = draw(seeds, k, probs_name="weight" if rule == "weight" else None).sampled_csc
                    seeds, _ = self.bolt.unique_and_compact_csc_formats(block, seeds)
                edges += block.indices.numel()
            return edges

        total, seconds = timed(each, Rounds(self.graph.train), batches)
        return {"value": seconds / batches if rule == "labor" else total / seconds, "edges": total / batches}

    def batches(self):
        bolt, g = self.bolt, self.graph
        while True:
            pipe = bolt.ItemSampler(bolt.ItemSet((g.train.int(), g.y[g.train]), names=("seed_nodes", "labels")), batch_size=BATCH, shuffle=True)
            pipe = pipe.sample_neighbor(self.fused(), FANOUT)
            for batch in bolt.DataLoader(pipe):
                yield g.x[batch.input_nodes.long()], batch.blocks, batch.labels


def read_text(path):
    """A table of edges as pandas and SciPy read it into a CSR matrix: seconds, without their import."""
    import pandas
    import scipy.sparse
    start = time.perf_counter()
    table = pandas.read_csv(path, sep="\t", header=None)
    n = int(table.to_numpy().max()) + 1
    scipy.sparse.coo_matrix((np.ones(len(table), np.float32), (table[1], table[0])), shape=(n, n)).tocsr()
    return {"value": time.perf_counter() - start}


KINDS = {"torch": System, "pyg": Pyg, "gnntools": Gnntools, "dgl": Dgl, "graphbolt": GraphBolt}


def answer(system, words):
    """What a request gives, as a line."""
    given = dict(w.split("=", 1) for w in words[1:])
    try:
        out = getattr(system, "do_" + words[0])(**{k: int(v) if v.isdigit() else v for k, v in given.items()})
    except Exception as why:  # a peer's failure is a result
        out = {"error": (str(why).strip().splitlines() or [type(why).__name__])[0][:200]}
    print(json.dumps(out), flush=True)


def main():
    path, kind, *words = sys.argv[1:]
    if words[:1] == ["text"]:
        print(json.dumps(read_text(path)))
        return
    system = KINDS[kind](path)
    for line in [" ".join(words)] if words else sys.stdin:
        answer(system, line.split())


if __name__ == "__main__":
    main()
