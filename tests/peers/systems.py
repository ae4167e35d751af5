# SPDX-License-Identifier: Apache-2.0
"""What the samplers of PyG and DGL pick: each function takes a graph and edges as in graphs.py, `how` as in the header of gnb(5),
and seeds as a list of (node, time). Seeds without times have None. A system is imported by the first that needs it."""
import warnings

import numpy as np

warnings.filterwarnings("ignore")


class Lacks(Exception):
    """The system is not installed, or has nothing of the kind."""


def shifted(how, seeds, own):
    """The times at which a system that knows one rule picks what another rule picks: times here are whole numbers."""
    rule = how["time"]["rule"]
    return [t + (0 if rule == own or how.get("as_is") else 1 if rule == "le" else -1) for _, t in seeds]


def tensor(a, dtype="i8"):
    import torch
    return torch.from_numpy(np.ascontiguousarray(a, dtype))


def times(a):
    return tensor(a, "i8" if np.asarray(a).dtype.kind == "i" else "f8")


def pyg_data(g):
    from torch_geometric.data import Data, HeteroData
    data = HeteroData() if g.typed else Data()
    for t, n in g.nodes.items():
        (data[t] if g.typed else data).num_nodes = n
        if t in g.time:
            (data[t] if g.typed else data).time = tensor(g.time[t])
    for key, e in g.edges.items():
        part = data[key] if g.typed else data
        part.edge_index = tensor(np.stack([e["src"], e["dst"]]))
        for name in ("weight", "heavy"):
            if name in e:
                part[name] = tensor(e[name], "f4")
        if "time" in e:
            part.edge_time = times(e["time"])
    return data


def pyg(g, how, seeds):
    """NeighborLoader, which samples neighbours of new nodes only. Its temporal batches are always of a tree for each seed."""
    try:
        from torch_geometric.loader import NeighborLoader
        from torch_geometric.typing import WITH_PYG_LIB
    except ImportError:
        raise Lacks("torch_geometric is not installed")
    if not WITH_PYG_LIB:
        raise Lacks("pyg-lib is not installed")
    ids, args = tensor([v for v, _ in seeds]), {}
    if how.get("time"):
        if "window" in how["time"]:
            raise Lacks("PyG has no windows (pytorch_geometric#10593)")
        args["time_attr"] = "edge_time" if any("time" in e for e in g.edges.values()) else "time"
        args["temporal_strategy"] = "last" if how["time"]["latest"] else "uniform"
        if "seeds" not in how["time"]:
            args["input_time"] = times(shifted(how, seeds, "le"))
    fans = [[-1] * len(f) if how.get("all_types") else list(f) for f in zip(*how["fanout"])]
    loader = NeighborLoader(pyg_data(g), dict(zip(g.edges, fans)) if g.typed else fans[0], batch_size=len(seeds),
                            input_nodes=(how["seed_type"], ids) if g.typed else ids, replace=how["replace"],
                            disjoint=bool(how.get("disjoint")), weight_attr=how.get("weight"), is_sorted=bool(how.get("is_sorted")), **args)
    batch, edges = next(iter(loader)), []
    for key in g.edges:
        part = batch[key] if g.typed else batch
        src, dst = ((batch[t] if g.typed else batch) for t in (key[0], key[2]))
        hops = part.num_sampled_edges
        for hop, (u, v), i in zip(np.repeat(np.arange(len(hops)), hops), part.edge_index.T.tolist(), part.e_id.tolist()):
            tree = None if getattr(dst, "batch", None) is None else int(dst.batch[v])
            assert tree is None or tree == int(src.batch[u]), "an edge between trees"
            time = seeds[tree][1] if how.get("time") else None
            edges.append((int(hop), key, (tree, time, int(dst.n_id[v])), int(src.n_id[u]), i))
    return edges


def pyg_khop(g, how, seeds):
    """k_hop_subgraph: all nodes that lead to a seed in so many hops, and all edges among them. NeighborLoader's induced subgraphs need
    torch-sparse."""
    try:
        from torch_geometric.utils import k_hop_subgraph
    except ImportError:
        raise Lacks("torch_geometric is not installed")
    e = g.edges["node", "to", "node"]
    both = tensor(np.stack([e["src"], e["dst"]]))
    mask = k_hop_subgraph(tensor([v for v, _ in seeds]), len(how["fanout"]) - 1, both, num_nodes=g.nodes["node"])[3]
    return [(len(how["fanout"]) - 1, ("node", "to", "node"), (None, None, int(both[1, i])), int(both[0, i]), int(i)) for i in mask.nonzero()]


def dgl_graph(g):
    try:
        import dgl
    except Exception as e:
        raise Lacks("dgl cannot be imported: %s" % e)
    a = dgl.heterograph({k: (tensor(e["src"]), tensor(e["dst"])) for k, e in g.edges.items()}, g.nodes)
    for key, e in g.edges.items():
        for name in ("weight", "heavy", "time"):
            if name in e:
                a.edges[key].data[name] = tensor(e[name], "f4")
    return dgl, a


def dgl_fans(g, how):
    """DGL's list begins with the hop that is farthest from the seeds."""
    return [dict(zip(g.edges, f)) if g.typed else f[0] for f in reversed(how["fanout"])]


def dgl_nodes(how, seeds):
    import torch
    ids = torch.tensor([v for v, _ in seeds])
    return {how["seed_type"]: ids}


def dgl_sampler(g, how, seeds, make):
    if how.get("time") or how.get("disjoint"):
        raise Lacks("DGL has neither times nor trees")
    dgl, a = dgl_graph(g)
    ids, edges = dgl_nodes(how, seeds), []
    _, _, blocks = make(dgl.dataloading).sample(a, ids if g.typed else ids["node"])
    for hop, block in enumerate(reversed(blocks)):
        for key in block.canonical_etypes:
            u, v = block.edges(etype=key)
            src, dst = block.srcnodes[key[0]].data[dgl.NID][u], block.dstnodes[key[2]].data[dgl.NID][v]
            ids = block.edges[key].data[dgl.EID]
            edges += [(hop, key, (None, None, y), x, i) for x, y, i in zip(src.tolist(), dst.tolist(), ids.tolist())]
    return edges


def dgl(g, how, seeds, fused=True):
    return dgl_sampler(g, how, seeds, lambda d: d.NeighborSampler(dgl_fans(g, how), prob=how.get("weight"), replace=how["replace"], fused=fused))


def dgl_unfused(g, how, seeds):
    return dgl(g, how, seeds, fused=False)


def dgl_labor(g, how, seeds):
    return dgl_sampler(g, how, seeds, lambda d: d.LaborSampler(dgl_fans(g, how)))


def dgl_shadow(g, how, seeds):
    """ShaDowKHopSampler, in which the seeds of a batch share a subgraph."""
    dgl, a = dgl_graph(g)
    ids, edges = dgl_nodes(how, seeds), []
    fans = [dict(zip(g.edges, f)) if g.typed else f[0] for f in reversed(how["fanout"][:-1])]
    _, _, part = dgl.dataloading.ShaDowKHopSampler(fans).sample(a, ids if g.typed else ids["node"])
    for key in part.canonical_etypes:
        u, v = part.edges(etype=key)
        src, dst, own = part.nodes[key[0]].data[dgl.NID][u], part.nodes[key[2]].data[dgl.NID][v], part.edges[key].data[dgl.EID]
        edges += [(len(how["fanout"]) - 1, key, (None, None, y), x, i) for x, y, i in zip(src.tolist(), dst.tolist(), own.tolist())]
    return edges


def one_hop(dgl, frontier, turn=False):
    """The edges that a function of dgl.sampling returns as a graph; turn swaps their ends."""
    u, v = frontier.edges()
    if turn:
        u, v = v, u
    ids = frontier.edata[dgl.EID].tolist()
    return [(0, ("node", "to", "node"), (None, None, y), x, i) for x, y, i in zip(u.tolist(), v.tolist(), ids)]


def dgl_out(g, how, seeds):
    """Out-edges in the graph whose edges lead the other way."""
    for e in g.edges.values():
        e["src"], e["dst"] = e["dst"], e["src"]
    dgl, a = dgl_graph(g)
    return one_hop(dgl, dgl.sampling.sample_neighbors(a, dgl_nodes(how, seeds)["node"], how["fanout"][0][0], edge_dir="out"), True)


def dgl_topk(g, how, seeds):
    """The latest in-edges, at a time after all edges: DGL has no rule for other times."""
    dgl, a = dgl_graph(g)
    t = max(t for _, t in seeds)
    edges = one_hop(dgl, dgl.sampling.select_topk(a, how["fanout"][0][0], "time", dgl_nodes(how, seeds)["node"]))
    return [(hop, key, (None, t, to[2]), src, i) for hop, key, to, src, i in edges]


def graphbolt_graph(g):
    """All types share one numbering of nodes; the in-edges of a node are sorted by type."""
    try:
        import dgl.graphbolt as gb
    except Exception as e:
        raise Lacks("dgl.graphbolt cannot be imported: %s" % e)
    offset = dict(zip(g.nodes, np.cumsum([0, *g.nodes.values()])))
    join = lambda f: np.concatenate([np.asarray(f(k, e)) for k, e in g.edges.items()])
    src, dst = join(lambda k, e: e["src"] + offset[k[0]]), join(lambda k, e: e["dst"] + offset[k[2]])
    given, etype = join(lambda k, e: np.arange(len(e["src"]))), np.repeat(np.arange(len(g.edges)), [len(e["src"]) for e in g.edges.values()])
    order = np.lexsort((etype, dst))
    data = {gb.ORIGINAL_EDGE_ID: tensor(given[order])}
    for name, dtype in (("weight", "f4"), ("heavy", "f4"), ("time", "i8")):
        if all(name in e for e in g.edges.values()):
            data[name] = tensor(join(lambda k, e: e[name])[order], dtype)
    n = sum(g.nodes.values())
    born = {"born": tensor(np.concatenate(list(g.time.values())))} if len(g.time) == len(g.nodes) else {}
    names = {"node_type_offset": tensor([*offset.values(), n]), "type_per_edge": tensor(etype[order]),
             "node_type_to_id": {t: i for i, t in enumerate(g.nodes)},
             "edge_type_to_id": {":".join(k): i for i, k in enumerate(g.edges)}} if g.typed else {}
    return gb, gb.fused_csc_sampling_graph(tensor(np.searchsorted(dst[order], np.arange(n + 1))), tensor(src[order]),
                                           node_attributes=born, edge_attributes=data, **names), data, born


def graphbolt_batch(gb, g, how, seeds, sample):
    import torch
    items, names = (torch.tensor([v for v, _ in seeds]),), ("seed_nodes",)
    if how.get("time"):
        items, names = (*items, torch.tensor(shifted(how, seeds, "lt"))), (*names, "timestamp")
    items = gb.ItemSet(items, names=names)
    items = gb.ItemSetDict({how["seed_type"]: items}) if g.typed else items
    return next(iter(sample(gb.ItemSampler(items, batch_size=len(seeds)))))


def graphbolt(g, how, seeds, layer=False):
    """GraphBolt keeps no times in its batches: a source has the time of its destination."""
    import torch
    if how.get("disjoint") or how.get("time", {}).get("latest"):
        raise Lacks("GraphBolt has neither trees nor latest edges")
    if "window" in how.get("time", {}):
        raise Lacks("GraphBolt 2.1 has no windows; later ones are open, those of gnn-sample are closed (dgl#7467)")
    gb, graph, data, born = graphbolt_graph(g)
    fans = [torch.tensor(f) for f in reversed(how["fanout"])]
    args = {"replace": how["replace"], "prob_name": how.get("weight")}
    if how.get("time"):
        args.update(edge_timestamp_attr_name="time" if "time" in data else None, node_timestamp_attr_name="born" if born else None)
    kind = "temporal_sample_neighbor" if how.get("time") else "sample_layer_neighbor" if layer else "sample_neighbor"
    batch = graphbolt_batch(gb, g, how, seeds, lambda pipe: getattr(pipe, kind)(graph, fans, **args))
    edges, time = [], {how["seed_type"]: [t if how.get("time") else None for _, t in seeds]}
    for hop, sub in enumerate(reversed(batch.sampled_subgraphs)):
        pick = (lambda x, k: x[k]) if g.typed else (lambda x, k: x)
        later = {t: list(time.get(t, [])) for t in g.nodes}
        for key in g.edges:
            csc = pick(sub.sampled_csc, ":".join(key))
            rows, columns = pick(sub.original_row_node_ids, key[0]), pick(sub.original_column_node_ids, key[2])
            ids = pick(sub.original_edge_ids, ":".join(key))
            later[key[0]] += [None] * (len(rows) - len(later[key[0]]))
            for v in range(len(columns)):
                for at in range(int(csc.indptr[v]), int(csc.indptr[v + 1])):
                    u, when = int(csc.indices[at]), time[key[2]][v]
                    later[key[0]][u] = when
                    edges.append((hop, key, (None, when, int(columns[v])), int(rows[u]), int(ids[at])))
        time = later
    return edges


def graphbolt_layer(g, how, seeds):
    return graphbolt(g, how, seeds, layer=True)
