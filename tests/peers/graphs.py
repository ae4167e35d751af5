# SPDX-License-Identifier: Apache-2.0
"""Small graphs on which samplers are compared, and what a sampler has to pick in them, written from the manuals alone.

graph(KIND)    is the same in each process: KIND names a graph, and after + what has times: edges, nodes or both. In a typed graph
               only nodes have times: those of the types a and b or, with both, of all types.
reference()    looks at each in-edge of each node: slow, and with nothing to optimise
An edge of a batch is (hop, type, destination, source, edge): a destination is (tree, time, node), where tree and time may be None;
a source is a node, and an edge is its position in the input."""
import os

import numpy as np


class Graph:
    """Nodes by type, edges by (source type, relation, destination type); fields are arrays in the order of the input."""

    def __init__(self, nodes, edges, time=None):
        self.nodes, self.edges, self.time = nodes, edges, time or {}
        self.typed = len(edges) > 1

    def effective(self, key):
        """An edge exists once its source does, too; None if neither has a time."""
        e, born = self.edges[key], self.time.get(key[0])
        given = [t for t in (e.get("time"), None if born is None else born[e["src"]]) if t is not None]
        return np.maximum.reduce(given) if given else None

    def stored(self, key):
        """The order of gnn-import: by destination, then by time, then as in the input."""
        time, dst = self.effective(key), self.edges[key]["dst"]
        return np.lexsort((dst,) if time is None else (time, dst))


NODE = ("node", "to", "node")


def pairs(r, sources, destinations, n, loops):
    """Few sources, so that many edges are parallel; the last node of either side has no edge."""
    src, dst = r.integers(0, sources - 1, n), r.integers(0, destinations - 1, n)
    src[:n // 4], dst[:n // 4] = r.integers(0, 4, n // 4), r.integers(0, 6, n // 4)
    if loops:
        src[-5:] = dst[-5:]
    return {"src": src, "dst": dst}


def plain(r):
    e = pairs(r, 40, 40, 230, True)
    e["weight"] = r.integers(0, 4, 230)
    e["heavy"] = r.integers(1, 9, 230)
    return {"node": 40}, {NODE: e}


def typed(r):
    nodes = {"a": 30, "b": 20, "c": 9}
    edges = {}
    for key, n in {("a", "x", "a"): 90, ("b", "of", "a"): 80, ("a", "in", "b"): 70, ("c", "tag", "a"): 40}.items():
        edges[key] = pairs(r, nodes[key[0]], nodes[key[2]], n, key[0] == key[2])
    return nodes, edges


def matrix(r):
    """A matrix that is not square, and its reverse edges: types with weights."""
    nodes = {"row": 20, "column": 15}
    cell, weight = r.permutation(19 * 14)[:90], r.integers(0, 4, 90)
    row, column = cell % 19, cell // 19
    return nodes, {("row", "to", "column"): {"src": row, "dst": column, "weight": weight},
                   ("column", "rev_to", "row"): {"src": column, "dst": row, "weight": weight}}


def star(times, weights, many=1):
    """In-edges of node 0, from a node each."""
    n = len(times) * many
    return {"node": n + 1}, {NODE: {"src": 1 + np.arange(n), "dst": np.zeros(n, "i8"), "time": np.tile(times, many),
                                    "weight": np.tile(weights, many)}}


def graph(kind):
    name, _, timed = kind.partition("+")
    r = np.random.default_rng(5)
    nodes, edges = {
        "plain": plain, "back": plain, "typed": typed, "matrix": matrix,
        # Times that are not sorted, but seem to be if one looks only at the ends.
        "star": lambda _: star([1, 9, 2, 3, 4], [1, 0, 0, 0, 2]),
        "wide": lambda _: star([1, 9, 2, 3, 4], [1, 0, 0, 0, 2], 500),
        # The example of PyG's issue 7794.
        "7794": lambda _: ({"node": 3}, {NODE: {"src": np.array([1, 0, 1, 1, 2]), "dst": np.array([0, 1, 2, 0, 0]),
                                                "time": np.array([1, 2, 3, 4, 5])}}),
    }[name](r)
    for e in edges.values():
        if name == "back":
            e["src"], e["dst"] = e["dst"], e["src"]
        if timed in ("edges", "both", "real") and name != "typed":
            e["time"] = r.integers(-8, 12, len(e["src"])) * (0.37 if timed == "real" else 1)
    born = {t: r.integers(-9, 9, n) for t, n in nodes.items() if t != "c" or timed == "both"} if timed in ("nodes", "both") else {}
    return Graph(nodes, edges, born)


def write(g, path):
    """What gnn-import reads: PATH.npz, the files of a typed graph in PATH, or PATH.mtx, whose reverse edges it adds."""
    if "row" in g.nodes:
        e = next(iter(g.edges.values()))
        with open(path + ".mtx", "w") as f:
            f.write("%%%%MatrixMarket matrix coordinate integer general\n%d %d %d\n" % (*g.nodes.values(), len(e["src"])))
            f.writelines("%d %d %d\n" % (i + 1, j + 1, w) for i, j, w in zip(e["src"], e["dst"], e["weight"]))
        return
    if not g.typed:
        e = g.edges[NODE]
        fields = {"edge_" + name if name in ("weight", "time") else name: e[name] for name in e if name not in ("src", "dst")}
        born = {"time": g.time["node"]} if g.time else {}
        np.savez(path + ".npz", edge_index=np.stack([e["src"], e["dst"]]), num_nodes=g.nodes["node"], given=np.arange(len(e["src"])),
                 **fields, **born)
        return

    def file(name, *lines):
        os.makedirs(os.path.dirname(os.path.join(path, "raw", name)), exist_ok=True)
        with open(os.path.join(path, "raw", name), "w") as f:
            f.writelines(",".join(map(str, line)) + "\n" for line in lines)

    file("num-node-dict.csv", g.nodes, g.nodes.values())
    file("triplet-type-list.csv", *g.edges)
    for key, e in g.edges.items():
        file("relations/%s/edge.csv" % "___".join(key), *zip(e["src"], e["dst"]))
        file("relations/%s/num-edge-list.csv" % "___".join(key), [len(e["src"])])
    for t, time in g.time.items():
        file("node_time/%s/node_time.csv" % t, *([x] for x in time))


def may_pick(g, how, key, node, time):
    """The in-edges of a node that may be picked, in the order of the store."""
    e, when, rule = g.edges[key], g.effective(key), how.get("time")
    at = [i for i in g.stored(key) if e["dst"][i] == node]
    if rule and when is not None:
        early = np.less_equal if rule["rule"] == "le" else np.less
        at = [i for i in at if early(when[i], time) and ("window" not in rule or when[i] >= time - rule["window"])]
    if how.get("weight") in e:
        at = [i for i in at if e[how["weight"]][i] > 0]
    return at


def pick(at, how, fanout):
    if fanout < 0 or (len(at) <= fanout and not how["replace"]) or not at:
        return at
    assert not fanout or (how.get("time", {}).get("latest") and not how["replace"]), "left to chance: this is no case for a comparison"
    return at[len(at) - fanout:]


def reference(g, how, seeds):
    """The edges of a batch. `how` is the key sampling of the header in gnb(5); seeds are (node, time)."""
    found = {t: [] for t in g.nodes}
    for tree, (node, time) in enumerate(seeds):
        entry = (tree if how.get("disjoint") else None, time, node)
        found[how["seed_type"]] += [entry] * (entry not in found[how["seed_type"]])
    edges, begin = [], {t: 0 for t in g.nodes}
    hops = how["fanout"][:-1] if how.get("induced") else how["fanout"]
    for hop, fanouts in enumerate(hops):
        frontier = {t: found[t][begin[t] if how["frontier"] == "new" else 0:] for t in g.nodes}
        begin = {t: len(found[t]) for t in g.nodes}
        for key, fanout in zip(g.edges, fanouts):
            for to in frontier[key[2]]:
                for i in pick(may_pick(g, how, key, to[2], to[1]), how, fanout):
                    src = int(g.edges[key]["src"][i])
                    edges.append((hop, key, to, src, int(i)))
                    entry = to[:2] + (src,)
                    found[key[0]] += [entry] * (entry not in found[key[0]])
    return induced(g, how, found) if how.get("induced") else edges


def induced(g, how, found):
    """All edges among the entries of each type that were found."""
    known = {t: set(x) for t, x in found.items()}
    edges = []
    for key, fanout in zip(g.edges, how["fanout"][-1]):
        for to in found[key[2]] if fanout else []:
            for i in may_pick(g, how, key, to[2], to[1]):
                src = int(g.edges[key]["src"][i])
                if to[:2] + (src,) in known[key[0]]:
                    edges.append((len(how["fanout"]) - 1, key, to, src, int(i)))
    return edges
