# SPDX-License-Identifier: Apache-2.0
"""dgl_graphs.py: writes graphs with dgl.save_graphs: good-NAME.dgl and the same arrays as good-NAME.npz, and bad-NAME.dgl with
bad-NAME.txt, what the message has to say."""
import inspect

import dgl
import numpy as np
import torch

torch.manual_seed(1)
N, E = 300, 900


def arrays(g):
    """The arrays of a graph by type, edges in the order of their ids."""
    a = {}
    for t in g.ntypes:
        t_ = "node" if t == "_N" else t
        a["%s/num_nodes" % t_] = np.int64(g.num_nodes(t))
        a.update({"%s/%s" % (t_, k): v.numpy() for k, v in sorted(g.nodes[t].data.items())})
    for s, r, d in g.canonical_etypes:
        u, v = g.edges(order="eid", etype=(s, r, d))
        t_ = "node/to/node" if r == "_E" else "%s/%s/%s" % (s, r, d)
        a["%s/edge_index" % t_] = torch.stack([u, v]).numpy()
        a.update({"%s/%s" % (t_, k): v.numpy() for k, v in sorted(g.edges[s, r, d].data.items())})
    return a


def good(name, g, saved=None, labels=None, **how):
    if how and "formats" not in inspect.signature(dgl.save_graphs).parameters: # before DGL 1.0
        saved, how = g.formats(how["formats"]), {}
    dgl.save_graphs("good-%s.dgl" % name, [g if saved is None else saved], labels, **how)
    np.savez("good-%s.npz" % name, **arrays(g))


def bad(name, graphs, text):
    dgl.save_graphs("bad-%s.dgl" % name, graphs)
    with open("bad-%s.txt" % name, "w") as f:
        f.write(text + "\n")


def ends(a, b, n):
    return torch.randint(0, a, (n,)), torch.randint(0, b, (n,))


plain = dgl.graph(ends(N, N, E), num_nodes=N)
plain.ndata.update(feat=torch.rand(N, 7), label=torch.randint(0, 5, (N,)), train_mask=torch.rand(N) < 0.5, score=torch.rand(N).double())
plain.ndata["val_mask"] = ~plain.ndata["train_mask"]
plain.edata.update(feat=torch.rand(E, 3), weight=torch.rand(E), w=torch.rand(E).half())
typed = dgl.heterograph({("user", "buys", "item"): ends(90, 70, E), ("item", "in", "shop"): ends(70, 8, 200),
                         ("user", "knows", "user"): ends(90, 90, 50)}, {"user": 90, "item": 75, "shop": 8})
typed.nodes["user"].data.update(feat=torch.rand(90, 4), label=torch.randint(0, 3, (90,)), test_mask=torch.rand(90) < 0.2)
typed.nodes["item"].data["price"] = torch.rand(75, 2)
typed.edges["buys"].data["t"] = torch.arange(E)
for name, g in ("plain", plain), ("typed", typed):
    good(name, g)
    good(name + "-int", g.int())
    for form in "coo", "csr", "csc":
        good("%s-%s" % (name, form), g, formats=form)
    good(name + "-formats", g, formats=["csr", "csc"])
good("labels", plain, labels={"whole": torch.ones(1)})
good("turned", plain.reverse(copy_edata=True), saved=plain.formats("csc").reverse(copy_edata=True))
good("induced", dgl.node_subgraph(plain, torch.arange(100)))
bad("two", [plain, plain], "a file of 2 graphs of DGL, of which a store holds one; save the one that is meant: dgl.save_graphs")
