# SPDX-License-Identifier: Apache-2.0
"""glt_parts.py: writes folders of GLT's Partitioner, and the arrays of the same graphs as .npz. Of graphlearn-torch only Python is used: its compiled
module, which needs a PyTorch of its own, does not take part in writing."""
import importlib.util
import sys
import types
from unittest.mock import MagicMock

import numpy as np


def lacks(what):
    sys.stderr.write("lacks: %s is not installed\n" % what)
    sys.exit(1)


try:
    import torch
except ImportError:
    lacks("torch")
FOUND = importlib.util.find_spec("graphlearn_torch")
if not FOUND:
    lacks("graphlearn-torch")
HOME = FOUND.submodule_search_locations[0]
compiled = MagicMock(__spec__=None)
sys.modules.update({"graphlearn_torch.py_graphlearn_torch": compiled, "torch_sparse": MagicMock()})
for name in "", ".partition": # packages whose other modules are not run
    package = types.ModuleType("graphlearn_torch" + name)
    package.__path__ = [HOME + name.replace(".", "/")]
    sys.modules["graphlearn_torch" + name] = package
sys.modules["graphlearn_torch"].py_graphlearn_torch = compiled
from graphlearn_torch.partition.frequency_partitioner import FrequencyPartitioner  # noqa: E402 pylint: disable=wrong-import-position
from graphlearn_torch.partition.random_partitioner import RandomPartitioner  # noqa: E402 pylint: disable=wrong-import-position

torch.manual_seed(3)


def book(path):
    return torch.load(path + ".pt").numpy()


def plain(name, nodes, edges, write):
    ends, x, attr, weight = torch.randint(0, nodes, (2, edges)), torch.rand(nodes, 3), torch.rand(edges, 2), torch.rand(edges)
    write(name, 2, nodes, ends, node_feat=x, edge_feat=attr, edge_weights=weight, chunk_size=7).partition()
    np.savez(name + ".npz", **{"node/part": book(name + "/node_pb"), "node/x": x, "node/to/node/edge_index": ends, "node/to/node/weight": weight,
                               "node/to/node/edge_attr": attr})


def hot(*args, **options):
    return FrequencyPartitioner(*args, probs=[torch.rand(args[2]) for _ in range(args[1])], cache_ratio=0.2, **options)


plain("plain", 60, 200, RandomPartitioner)
plain("cold", 60, 200, hot)
count = {"paper": 70, "author": 50}
number = {("author", "writes", "paper"): 120, ("paper", "cites", "paper"): 90}
index = {e: torch.stack([torch.randint(0, count[e[0]], (n,)), torch.randint(0, count[e[2]], (n,))]) for e, n in number.items()}
nodes_x = {t: torch.rand(n, 4) for t, n in count.items()}
edges_x = {e: torch.rand(n, 1) for e, n in number.items()}
RandomPartitioner("typed", 2, count, index, node_feat=nodes_x, edge_feat=edges_x, edge_assign_strategy="by_dst", chunk_size=16).partition()
arrays = {}
for t in count:
    arrays.update({t + "/part": book("typed/node_pb/" + t), t + "/x": nodes_x[t]})
for e in number:
    arrays.update({"/".join(e) + "/edge_index": index[e], "/".join(e) + "/edge_attr": edges_x[e]})
np.savez("typed.npz", **arrays)
