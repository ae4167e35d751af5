# SPDX-License-Identifier: Apache-2.0
"""What the link examples of DGL and PyG tell their models, and what that costs: batches of DGL's loader are written as a stream, in
which gnn-inspect --leaks counts; and both train models, with and without the leak, which are measured on the same test links.
usage: bench-leaks.py GRAPH [SEEDS]   (a store of one type node/to/node whose edges have their reverses; torch, DGL, PyG, xxhash)

DGL: examples/pytorch/graphsage/link_pred.py (mean SAGE of 3 layers, fan-outs 15, 10, 5, all edges as links, one negative each), and
what its `exclude` may be. PyG: examples/link_pred.py (GCN of two layers, full batch), and RandomLinkSplit's disjoint_train_ratio."""
import itertools
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torch.nn.functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "interop"))
import gnb

LINKS, BATCH, EPOCHS = "node/to/node", 512, 15
KINDS = ("link_edges", "reverse_edges", "short_ends", "true_negatives")


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def auc(positive, negative):
    both = np.concatenate([positive, negative])
    _, rank, count = np.unique(both, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[rank]
    n = len(positive)
    return (rank[:n].sum() - n * (n + 1) / 2) / n / len(negative)


class Data:
    """A split of the graph: the edges that carry messages, the links of its sets, and test pairs that are no links."""

    def __init__(self, graph, place, seed):
        self.store = os.path.join(place, "split%d" % seed)
        run("gnn-import", "-q", "--seed", str(seed), "--split-links", LINKS + "=85/5/10", "-o", self.store, graph)
        npz = self.store + ".npz"
        run("gnn-inspect", "--raw", "--export", npz, self.store)
        a = np.load(npz)
        pointers, self.source = (a["edge/%s/%s" % (LINKS, n)].astype("i8") for n in ("indptr", "indices"))
        self.nodes, self.x = len(pointers) - 1, torch.tensor(a["node/node/x"])
        self.target = np.repeat(np.arange(self.nodes), np.diff(pointers))
        self.sets = {n: a["split/links/" + n].astype("i8") for n in ("train", "valid", "test")}
        edges = {*zip(self.source.tolist(), self.target.tolist())}
        for u, v in np.concatenate(list(self.sets.values())).tolist():
            edges |= {(u, v), (v, u)}
        rng = np.random.default_rng(seed)
        pairs = (tuple(rng.integers(self.nodes, size=2).tolist()) for _ in itertools.count())
        self.none = np.array(list(itertools.islice((p for p in pairs if p[0] != p[1] and p not in edges), len(self.sets["test"]))))

    def measure(self, h):
        """The area under the ROC curve of the test links, by dot products."""
        score = [(h[p[:, 0]] * h[p[:, 1]]).sum(1).numpy() for p in (self.sets["test"], self.none)]
        return auc(*score)


# ---- DGL ----
def dgl_loader(data, exclude):
    import dgl
    g = dgl.graph((data.source, data.target), num_nodes=data.nodes)
    g.ndata["x"] = data.x
    place = {e: i for i, e in enumerate(zip(data.source.tolist(), data.target.tolist()))}
    back = torch.tensor([place[v, u] for u, v in zip(data.source.tolist(), data.target.tolist())])
    s = dgl.dataloading.as_edge_prediction_sampler(
        dgl.dataloading.NeighborSampler([15, 10, 5], prefetch_node_feats=["x"]), exclude=exclude,
        reverse_eids=back if exclude == "reverse_id" else None, negative_sampler=dgl.dataloading.negative_sampler.PerSourceUniform(1))
    return g, dgl.dataloading.DataLoader(g, torch.arange(g.num_edges()), s, batch_size=BATCH, shuffle=True)


def frame(step, batch):
    """A batch of DGL's as gnn-sample writes one: the columns of gnb(5)."""
    nodes, pairs, none, blocks = batch
    out = [("key", np.array([0, step, 0, 0], "u8"))]
    out += [("seeds", np.array([pairs.num_edges()], "u8")), ("nodes/node", nodes.numpy().astype("u4"))]
    out += [("counts/node", np.array([blocks[-1].num_dst_nodes()] + [b.num_src_nodes() for b in blocks[::-1]], "u8"))]
    out += [("pair/input", pairs.edata["_ID"].numpy().astype("u8"))]
    for name, g in ("pair", pairs), ("negative", none):
        out.append((name, np.stack([e.numpy() for e in g.edges()], 1).astype("u4")))
    for hop, b in enumerate(blocks[::-1]):
        source, target = (e.numpy() for e in b.edges())
        order = np.argsort(target, kind="stable")
        out.append(("hop/%d/%s/indptr" % (hop, LINKS), np.searchsorted(target[order], np.arange(b.num_dst_nodes() + 1)).astype("u4")))
        out.append(("hop/%d/%s/indices" % (hop, LINKS), source[order].astype("u4")))
    return out


def dgl_leaks(data, exclude):
    """The counts of gnn-inspect in an epoch of DGL's batches."""
    stream = data.store + ".gnb"
    run("gnn-sample", "-q", "-f", "5,10,15", "-b", str(BATCH), "--links", LINKS, "--split", "edges", "--negatives", "binary:1",
        "-o", stream, data.store)
    with open(stream, "rb") as f:
        header = next(iter(gnb.read_frames(f)))[1]
    frames = [frame(i, b) for i, b in enumerate(dgl_loader(data, exclude)[1])]
    with open(stream, "wb") as f:
        gnb.write_frames(f, header, frames)
    return counts(data, stream)


def counts(data, stream):
    out = subprocess.run(["gnn-inspect", "--json", "--leaks", "--against", data.store, stream], stdout=subprocess.PIPE, check=False).stdout
    x = json.loads(out)
    return [x[k]["count"] for k in KINDS]


def dgl_train(data, exclude):
    """The AUC of the last epoch's links, as seen in training, and of the test links."""
    import dgl.nn.pytorch as nn
    g, loader = dgl_loader(data, exclude)
    width = [data.x.shape[1], 256, 256, 256]
    layers = torch.nn.ModuleList(nn.SAGEConv(a, b, "mean") for a, b in zip(width, width[1:]))
    best = torch.optim.Adam(layers.parameters(), lr=5e-4)

    def embed(blocks, h):
        for i, (layer, b) in enumerate(zip(layers, blocks)):
            h = layer(b, h)
            h = F.relu(h) if i < 2 else h
        return h

    for _ in range(EPOCHS):
        seen = [], []
        for _, pairs, none, blocks in loader:
            h = embed(blocks, blocks[0].srcdata["x"])
            score = [(h[e[0]] * h[e[1]]).sum(1) for e in (pairs.edges(), none.edges())]
            loss = F.binary_cross_entropy_with_logits(torch.cat(score), torch.cat([torch.ones(len(score[0])), torch.zeros(len(score[1]))]))
            best.zero_grad()
            loss.backward()
            best.step()
            for s, x in zip(seen, score):
                s.append(x.detach().numpy())
    with torch.no_grad():
        return auc(*map(np.concatenate, seen)), data.measure(embed([g] * 3, data.x))


# ---- PyG ----
def pyg_train(data, disjoint):
    """Likewise; the epoch is that of the best validation links. disjoint: the share of the links that carries no messages."""
    from torch_geometric.nn import GCNConv
    from torch_geometric.utils import negative_sampling
    links = torch.tensor(data.sets["train"].T)
    links = links[:, torch.randperm(links.shape[1])]
    n = int(disjoint * links.shape[1])
    asked, carry = (links[:, :n], links[:, n:]) if n else (links, links)
    carry, every = (torch.cat([e, e.flip(0)], 1) for e in (carry, links))
    first, second = GCNConv(data.x.shape[1], 128), GCNConv(128, 64)
    parameters = torch.nn.ModuleList([first, second])
    best = torch.optim.Adam(parameters.parameters(), lr=0.01)

    def embed(edges):
        return second(first(data.x, edges).relu(), edges)

    top = -1, 0, 0
    for _ in range(100):
        h = embed(carry)
        none = negative_sampling(every, data.nodes, asked.shape[1], method="sparse")
        score = [(h[e[0]] * h[e[1]]).sum(1) for e in (asked, none)]
        loss = F.binary_cross_entropy_with_logits(torch.cat(score), torch.cat([torch.ones(len(score[0])), torch.zeros(len(score[1]))]))
        best.zero_grad()
        loss.backward()
        best.step()
        with torch.no_grad():
            h = embed(every)
            valid = data.sets["valid"]
            value = auc((h[valid[:, 0]] * h[valid[:, 1]]).sum(1).numpy(), (h[none[0]] * h[none[1]]).sum(1).numpy())
            top = max(top, (value, auc(*(s.detach().numpy() for s in score)), data.measure(h)))
    return top[1:]


def tell(name, leaks, values):
    seen, test = np.array(values).T
    print("%s: %s; %.3f, %.3f (%.3f)" % (name, leaks, seen.mean(), test.mean(), test.std(ddof=len(test) > 1)), flush=True)


def main(graph, seeds=5):
    with tempfile.TemporaryDirectory() as place:
        splits = [Data(graph, place, seed) for seed in range(1, int(seeds) + 1)]
        print("of split 1: %d edges carry messages, %d links are trained on" % (len(splits[0].source), len(splits[0].sets["train"])))
        print("of an epoch: " + ", ".join(KINDS) + "; mean AUC of %s splits: in training, of test links (deviation)" % seeds, flush=True)
        for disjoint in 0, 0.3:
            tell("PyG, disjoint_train_ratio=%s" % disjoint, "none" if disjoint else "all links", [pyg_train(d, disjoint) for d in splits])
        for exclude in None, "self", "reverse_id":
            tell("DGL, exclude=%s" % exclude, dgl_leaks(splits[0], exclude), [dgl_train(d, exclude) for d in splits])


if __name__ == "__main__":
    torch.manual_seed(1)
    main(*sys.argv[1:])
