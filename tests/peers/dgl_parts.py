# SPDX-License-Identifier: Apache-2.0
"""dgl_parts.py: partitions graphs with DGL. good-NAME is the folder, good-NAME.npz the arrays that its store must have, and
good-NAME.opts the options of gnn-import. Older versions of DGL, to 0.5, are used as far as they go."""
import inspect
import json
import os
import shutil

import dgl
import numpy as np
import torch

torch.manual_seed(1)
N, E = 300, 900
OPTIONS = inspect.signature(dgl.distributed.partition_graph).parameters
# Before DGL 1.0, the graphs of parts have the original ids.
TOLD = dgl.__version__.startswith("0.")


def ends(a, b, n):
    return torch.randint(0, a, (n,)), torch.randint(0, b, (n,))


def by_types(g, ids, edges):
    """Tensors of return_mapping by type: of a graph without types there is one; before DGL 1.1, types of edges are relations."""
    if not isinstance(ids, dict):
        return {(g.canonical_etypes if edges else g.ntypes)[0]: ids}
    return {g.to_canonical_etype(k) if edges else k: v for k, v in ids.items()}


def counts(g, folder, parts, which):
    """How many nodes or edges of each type the parts have."""
    with open(folder + "/g.json") as f:
        ranges = json.load(f)[which]
    if isinstance(ranges, list): # DGL 0.5: where parts end
        ranges = {"_N": [[b, e] for b, e in zip([0] + ranges, ranges)]}
    n = {k: [e - b for b, e in v] for k, v in ranges.items()}
    return n if which == "node_map" else {c: n.get(":".join(c), n.get(c[1], n.get("_N"))) for c in g.canonical_etypes}


def spread(n):
    """Of each new id of a type, its part."""
    return torch.repeat_interleave(torch.arange(len(n)), torch.tensor(n))


def mapping(g, folder, parts):
    """What return_mapping=True would give, from the graphs of the parts."""
    nids, eids = torch.empty(g.num_nodes(), dtype=torch.int64), torch.empty(g.num_edges(), dtype=torch.int64)
    for p in range(parts):
        part = dgl.load_graphs("%s/part%d/graph.dgl" % (folder, p))[0][0]
        for new, data, own in (nids, part.ndata, "inner_node"), (eids, part.edata, "inner_edge"):
            own = data[own].bool()
            new[data["_ID"][own]] = data["orig_id"][own]
    return nids, eids


def arrays(g, nids, eids, part, new_nodes, new_edges):
    """The arrays of a graph by type: in original ids, or in DGL's."""
    a, back = {}, {}
    for t in g.ntypes:
        t_ = "node" if t == "_N" else t
        inverse = torch.argsort(nids[t])
        rows, back[t] = (nids[t], inverse) if new_nodes else (torch.arange(g.num_nodes(t)),) * 2
        a["%s/num_nodes" % t_] = np.int64(g.num_nodes(t))
        a.update({"%s/%s" % (t_, k): v[rows].numpy() for k, v in sorted(g.nodes[t].data.items())})
        a["%s/part" % t_] = (part[t] if new_nodes else part[t][inverse]).numpy().astype("<u2")
    for c in g.canonical_etypes:
        s, r, d = c
        t_ = "node/to/node" if r == "_E" else "%s/%s/%s" % c
        u, v = g.edges(order="eid", etype=c)
        e = eids[c] if new_edges else torch.arange(g.num_edges(c))
        a["%s/edge_index" % t_] = torch.stack([back[s][u[e]], back[d][v[e]]]).numpy()
        a.update({"%s/%s" % (t_, k): x[e].numpy() for k, x in sorted(g.edges[c].data.items())})
    return a


def save(name, folder, a, opts=""):
    np.savez("good-%s.npz" % name, **a)
    with open("good-%s.opts" % name, "w") as f:
        f.write(opts + "\n")
    if folder != "good-" + name:
        shutil.copytree(folder, "good-" + name)


def key(k):
    return ":".join(k) if isinstance(k, tuple) else k


def good(name, g, parts, **how):
    folder = "good-" + name
    if "return_mapping" in OPTIONS:
        nids, eids = dgl.distributed.partition_graph(g.local_var(), "g", parts, folder, return_mapping=True, **how)
    else:
        dgl.distributed.partition_graph(g.local_var(), "g", parts, folder, **how)
        nids, eids = mapping(g, folder, parts)
    part = {t: spread(n) for t, n in counts(g, folder, parts, "node_map").items()}
    epart = {c: spread(n) for c, n in counts(g, folder, parts, "edge_map").items()}
    torch.save(nids, "nids.pt")
    torch.save(eids, "eids.pt")
    if not isinstance(nids, dict):
        np.save("nids.npy", nids.numpy())
        np.save("eids.npy", eids.numpy())
    nids, eids = by_types(g, nids, False), by_types(g, eids, True)
    both = nids, eids, part
    save(name, folder, arrays(g, *both, not TOLD, not TOLD))
    save(name + "-json", folder, arrays(g, *both, not TOLD, not TOLD))
    save(name + "-pt", folder, arrays(g, *both, False, False), "--orig-nids nids-%s.pt --orig-eids eids-%s.pt" % (name, name))
    for what in "nids", "eids":
        os.rename(what + ".pt", "%s-%s.pt" % (what, name))
        if os.path.exists(what + ".npy"):
            os.rename(what + ".npy", "%s-%s.npy" % (what, name))
    if "_N" in g.ntypes:
        save(name + "-npy", folder, arrays(g, *both, False, False), "--orig-nids nids-%s.npy --orig-eids eids-%s.npy" % (name, name))
    if not TOLD:
        save(name + "-nodes", folder, arrays(g, *both, False, True), "--orig-nids nids-%s.pt" % name)
    save(name + "-beside", folder, arrays(g, *both, False, False))
    dgl.data.utils.save_tensors("good-%s-beside/orig_nids.dgl" % name, nids)
    dgl.data.utils.save_tensors("good-%s-beside/orig_eids.dgl" % name, {key(k): v for k, v in eids.items()})
    save(name + "-inside", folder, arrays(g, *both, False, False))
    for p in range(parts): # as dispatch_data.py saves them
        own = {t: nids[t][part[t] == p] for t in g.ntypes}
        dgl.data.utils.save_tensors("good-%s-inside/part%d/orig_nids.dgl" % (name, p), own)
        own = {key(c): eids[c][epart[c] == p] for c in g.canonical_etypes}
        dgl.data.utils.save_tensors("good-%s-inside/part%d/orig_eids.dgl" % (name, p), own)


plain = dgl.graph(ends(N, N, E), num_nodes=N)
plain.ndata.update(feat=torch.rand(N, 7), label=torch.randint(0, 5, (N,)), train_mask=torch.rand(N) < 0.5, score=torch.rand(N).double())
plain.edata.update(feat=torch.rand(E, 3), w=torch.rand(E).half())
typed = dgl.heterograph({("user", "buys", "item"): ends(90, 70, E), ("item", "in", "shop"): ends(70, 8, 200),
                         ("user", "knows", "user"): ends(90, 90, 150), ("item", "sold-to", "user"): ends(70, 90, 100)},
                        {"user": 90, "item": 75, "shop": 8})
typed.nodes["user"].data.update(feat=torch.rand(90, 4), label=torch.randint(0, 3, (90,)), test_mask=torch.rand(90) < 0.2)
typed.nodes["item"].data["price"] = torch.rand(75, 2)
typed.edges["buys"].data["t"] = torch.arange(E)
typed.edges["knows"].data["weight"] = torch.rand(150)
for name, g in (("plain", plain), ("typed", typed)) if "return_mapping" in OPTIONS else (("plain", plain),):
    good(name + "-1", g, 1)
    good(name + "-2", g, 2)
    good(name + "-3", g, 3, part_method="random", num_hops=2)
    if "use_graphbolt" in OPTIONS:
        good(name + "-bolt", g, 2, use_graphbolt=True, store_eids=True, store_inner_node=True, store_inner_edge=True)
if "reshuffle" in OPTIONS: # ids stay as they are
    dgl.distributed.partition_graph(plain.local_var(), "g", 3, "good-kept", reshuffle=False)
    order = torch.arange(N)
    save("kept", "good-kept", arrays(plain, {"_N": order}, {}, {"_N": torch.from_numpy(np.load("good-kept/node_map.npy"))}, False, False))
