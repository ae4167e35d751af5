# SPDX-License-Identifier: Apache-2.0
"""The models of gnn-train(1) as a PyTorch module, made of PyG's layers; gnn-models(7) has the formulas.

    model = load_model("model.safetensors").eval()     # load_model(..., dropout=0.5) is for further training
    outputs = model(x, edge_index)                     # tensors as in PyG; with several types, dicts as in HeteroData
    save_model(model, "tuned.safetensors")

A model that uses weights or features of edges takes them as a third argument. The outputs are those of the labelled
node type, before softmax or sigmoid. For a type without features, only the number of rows is used. Edges of the types
in model.untrained[layer], which training never saw there, are left out. Parameters have the names that they have in the
file. x are features as a store has them: of a model whose model.standardized["paper"] is {"mean": [...], "scale":
[...]}, the rows of papers are (x - mean) / scale. model.class_names is None where classes are numbers. A description
that this module cannot represent raises NotImplementedError.
"""
import json
import torch
import torch.nn.functional as F
import torch_geometric.nn as pyg
from torch.nn import Identity, Linear, Module, ModuleList
from .weights import read_weights

# Layers: a function that makes PyG's module from the edge type, the widths of sources, destinations and results, and
# options; then the names of these options.
def gin_mlp(m, src, out):
    return pyg.MLP([src, out, out], act=m.act, norm=m.norm, norm_kwargs=NORMS[m.norm])

def gat(conv):
    def make(m, r, src, dst, out, heads=1, last_heads="mean", attention_dropout=0.0, self_loops=True,
             conv_residual=False, **o):
        mean = len(m.convs) + 1 == len(m.d["width"]) and not m.d["head"] and last_heads == "mean"
        return conv(src if m.plain else (src, dst), out if mean else out // heads, heads, concat=not mean,
                    dropout=attention_dropout, add_self_loops=self_loops and r[0] == r[2], residual=conv_residual, **o)
    return make

class HGT(pyg.HGTConv):  # of types that have rows; with one node type and edge type, it takes tensors, as others do
    def __init__(self, width, relations, out, **o):
        super().__init__(width, out, ([*width], [*relations]), **o)
        self.kept = [r for r in relations if r[0] in width and r[2] in width]
        self.made = [*dict.fromkeys(t for s, r, t in self.kept)]
        self.dst_node_types = {*self.made}
        for t in {*width} - self.dst_node_types:
            del self.out_lin.lins[t], self.skip[t]
        for r in {*relations} - {*self.kept}:
            del self.p_rel["__".join(r)]

    def forward(self, x, edges):
        s, r, t = self.edge_types[0]
        return super().forward(x, {r: edges[r] for r in self.kept}) if isinstance(x, dict) else \
            super().forward({t: x}, {(s, r, t): edges})[t]

class RGCN(pyg.RGCNConv):  # its nodes are the concatenated rows of all types
    def __init__(self, width, relations, out, bases=None):
        self.kinds, self.made = [*relations], [t for t in width if any(t in r[::2] for r in relations)]
        super().__init__(width[self.made[0]], out, len(relations), bases)

    def forward(self, x, edges):
        if not isinstance(x, dict):
            return super().forward(x, edges, torch.zeros_like(edges[0]))
        counts = [len(x[t]) for t in self.made]
        first = dict(zip(self.made, torch.tensor([0, *counts]).cumsum(0)))
        moved = [edges[s, r, t] + torch.stack([first[s], first[t]]).to(edges[s, r, t].device)[:, None]
                 for s, r, t in self.kinds]
        kinds = torch.cat([torch.full_like(e[0], k) for k, e in enumerate(moved)])
        rows = super().forward(torch.cat([x[t] for t in self.made]), torch.cat(moved, 1), kinds)
        return dict(zip(self.made, rows.split(counts)))

JOINT = {"hgt": HGT, "rgcn": RGCN}  # layers in which one module computes all edge types

GAT = "heads", "last_heads", "negative_slope", "attention_dropout", "self_loops", "conv_residual"
class GCN(pyg.GCNConv):  # of edges that it leaves out, only the nodes' degrees count
    def forward(self, x, edges, edge_weight=None, left_out=False):
        if left_out:
            edges, edge_weight = pyg.conv.gcn_conv.gcn_norm(edges, edge_weight, len(x), dtype=x.dtype)
            loops = edges[0] == edges[1]
            own = edge_weight.new_zeros(len(x)).index_put((edges[0, loops],), edge_weight[loops])
            return self.lin(x) * own[:, None] + self.bias
        return super().forward(x, edges, edge_weight)

def edges_of(m, l, edges, data):  # of layer l: those that were in training; their data; what GCN needs of others
    out, gcn, key = m.untrained[l], m.d["kind"] == "gcn", m.edge + "_dict" * (not m.plain)
    keep = {r: slice(0 if r in out and not gcn else None) for r in m.relations}
    if m.plain:
        (k,) = keep.values()
        return edges[:, k], ({key: data[k]} if m.edge else {}) | ({"left_out": True} if out and gcn else {})
    more = {key: {r: rows[keep[r]] for r, rows in data.items()}} if m.edge else {}
    more |= {"left_out_dict": dict.fromkeys(out, True)} if out and gcn else {}
    return {r: edges[r][:, k] for r, k in keep.items()}, more

LAYERS = {
    "sage": [lambda m, r, src, dst, out, **o: pyg.SAGEConv((src, dst), out, **o), "aggr", "normalize", "project"],
    "gcn": [lambda m, r, src, dst, out, **o: GCN(src, out, **o)],
    "gin": [lambda m, r, src, dst, out, **o: pyg.GINConv(gin_mlp(m, src, out), **o), "train_eps"],
    "gine": [lambda m, r, src, dst, out, **o: pyg.GINEConv(gin_mlp(m, src, out), **o), "train_eps"],
    "gat": [gat(pyg.GATConv), *GAT],
    "gatv2": [gat(pyg.GATv2Conv), *GAT, "share_weights"],
    "hgt": [None, "heads"],
    "rgcn": [None, "bases"],
}

NORMS = {"layer_norm": {"mode": "node"}, "batch_norm": {"allow_single_element": True}, None: {}}
KNOWN = ("version kind width layer_norm batch_norm residual residual_projection activation encoder ffn jk head "
         "feature_norm task target node_types edge_types edge_weight edge_features class_names untrained").split()
ACTIVATIONS = {"relu": F.relu, "elu": F.elu, "leaky": F.leaky_relu}
VALUES = {"version": [1], "kind": LAYERS, "activation": ACTIVATIONS, "jk": [None, "cat", "max"],
          "feature_norm": ["none", "row"]}

class GnnModel(Module):
    def __init__(self, description, dropout=0.0):
        super().__init__()
        d, self.dropout = {**dict.fromkeys(KNOWN), "head": [], "activation": "relu", **description}, dropout
        self.description, self.metadata = description, {}  # for save_model()
        self.d, self.types = d, {t["name"]: t["features"] for t in d["node_types"]}
        self.plain, names, widths = len(self.types) == len(d["edge_types"]) == 1, list(self.types), d["width"]
        make, *options = LAYERS.get(d["kind"], [None])
        self.relations = {(names[s], name, names[t]): {"edge_dim": w for w in more if w}
                          for s, name, t, *more in d["edge_types"]}
        self.target, self.class_names = names[d["target"]], d["class_names"]
        self.standardized = {t["name"]: t.get("standardized") for t in d["node_types"]}
        self.edge = "edge_weight" if d["edge_weight"] else "edge_attr" if d["edge_features"] else ""
        unknown = [f"{k} {d[k]}" for k, values in VALUES.items() if d[k] not in values]
        unknown += sorted({*d} - {*KNOWN} - {*options})
        if unknown := unknown + [f"name {n}" for r in self.relations for n in r if "#" in n or "___" in n]:
            raise NotImplementedError(", ".join(unknown))
        self.untrained = [[[*self.relations][r] for r in l] for l in d["untrained"] or [[]] * len(widths)]
        self.act, self.norm = ACTIVATIONS[d["activation"]], next((n for n in NORMS if n and d[n]), None)
        resolver = pyg.resolver.normalization_resolver
        norm = lambda w: resolver(self.norm, w, **NORMS[self.norm]) if self.norm else Identity()
        self.encoder = self.each(lambda w: Linear(w or 1, d["encoder"]), self.types if d["encoder"] else {})
        width = {t: d["encoder"] or w or 1 for t, w in self.types.items()}
        self.convs, self.norms, self.skips, self.ffns = (ModuleList() for _ in range(4))
        for l, out in enumerate(widths):  # a type has rows if an edge type leads to it from a type that has rows
            given, hidden = {k: d[k] for k in options if k in d}, l + 1 < len(widths) or d["head"]
            if d["kind"] in JOINT:
                conv = JOINT[d["kind"]](width, self.relations, out, **given)
                made = dict.fromkeys(conv.made, out)
            else:
                relations = {r: o for r, o in self.relations.items() if r[0] in width and r[2] in width}
                convs = {r: make(self, r, width[r[0]], width[r[2]], out, **o, **given) for r, o in relations.items()}
                conv = [*convs.values()][0] if self.plain else pyg.HeteroConv(convs, aggr="sum")
                made = dict.fromkeys([t for s, r, t in relations], out)
            skip = {t: width[t] for t in made if width[t] == out or d["residual_projection"]}
            skip = skip if hidden and d["residual"] else {}
            self.convs.append(conv)
            self.norms.append(self.each(norm, width if d["ffn"] else made if hidden else {}))
            self.skips.append(self.each(lambda w: Identity() if w == out else Linear(w, out, bias=False), skip))
            self.ffns.append(self.each(lambda w: pyg.MLP([w, w, w], act=self.act, norm=None, dropout=dropout),
                                       made if hidden and d["ffn"] else {}))
            width = made
        self.jk = pyg.JumpingKnowledge(d["jk"]) if d["jk"] else None
        width = {self.target: sum(widths) if d["jk"] == "cat" else out} if d["jk"] else width
        self.norms.append(self.each(norm, width if d["head"] and d["ffn"] else {}))
        head = [Linear(a, b) for a, b in zip([width[self.target], *d["head"]], d["head"])]
        self.head, self.lin = ModuleList(head[:-1]), head[-1] if head else Identity()

    @classmethod
    def load(cls, path, dropout=0.0):
        metadata, state = read_weights(path)
        if "gnn" not in metadata:
            raise ValueError(f"{path}: a state dict, which does not say of what model: load_state_dict() of that model "
                             "takes it")
        model = cls(json.loads(metadata["gnn"]), dropout)
        names, model.metadata = {model.file_name(k): k for k in model.state_dict()}, metadata
        model.load_state_dict({names.get(k, k): v for k, v in state.items()}, strict=True)
        return model

    def file_name(self, name):  # of a parameter: PyG's ModuleDict replaces dots and more in names of types
        for t in self.types:
            name = name.replace(f".{pyg.module_dict.ModuleDict.to_internal_key(t)}.", f".{t}.")
        return name

    def each(self, make, widths):  # one module per node type
        modules = {t: make(w) for t, w in widths.items()}
        return modules[self.target] if self.plain and modules else pyg.module_dict.ModuleDict(modules)

    def run(self, each, x, then=lambda rows: rows):
        modules = each.items() if isinstance(each, pyg.module_dict.ModuleDict) else [(self.target, each)]
        return {t: then(module(x[t])) for t, module in modules}

    def forward(self, x, edge_index, edge_data={}):
        drop = lambda rows: F.dropout(self.act(rows), self.dropout, self.training)
        x, layers = {self.target: x} if self.plain else x, []
        x = {t: x[t] if width else x[t].new_ones(len(x[t]), 1) for t, width in self.types.items()}
        if self.d["feature_norm"] == "row":
            x = {t: rows / rows.sum(1, keepdim=True).clamp(min=1) for t, rows in x.items()}
        x.update(self.run(self.encoder, x, drop))
        for l, (conv, norm, skip, ffn) in enumerate(zip(self.convs, self.norms, self.skips, self.ffns)):
            edges, more = edges_of(self, l, edge_index, edge_data)
            u = self.run(norm, x) if self.d["ffn"] else x
            y = {self.target: conv(u[self.target], edges, **more)} if self.plain else conv(u, edges, **more)
            y.update(self.run(ffn, y))
            y.update({t: y[t] + rows for t, rows in self.run(skip, x).items()})
            x = y if self.d["ffn"] else {**y, **self.run(norm, y, drop)}
            layers.append(x[self.target])
        x[self.target] = self.jk(layers) if self.jk else layers[-1]
        y = self.run(self.norms[-1], x).get(self.target, x[self.target])
        for lin in self.head:
            y = drop(lin(y))
        return self.lin(y)
