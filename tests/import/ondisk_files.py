# SPDX-License-Identifier: Apache-2.0
"""ondisk_files.py: writes OnDiskDatasets as the documentation of GraphBolt (DGL 2.1) describes them, and without it: d, of one type; t, of several;
l, with sets of links, and indexes as DGL 2.3 has them; and the arrays of the same graphs as d.npz and t.npz."""
import os

import numpy as np
from torch_save import save, tensor

rng = np.random.default_rng(1)


def put(path, a):
    """Writes an array in the format of its name."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    if path.endswith(".csv"):
        np.savetxt(path, a.T, "%d", ",")
    elif path.endswith(".pt"):
        save(tensor(a), path)
    else:
        np.save(path, a)


def ends(a, b, n):
    return np.stack([rng.integers(0, a, n), rng.integers(0, b, n)])


def write(folder, yaml, files):
    for path, a in files.items():
        put("%s/%s" % (folder, path), a)
    with open(folder + "/metadata.yaml", "w") as f:
        f.write(yaml)


e, x, w, score, born = ends(20, 20, 60), rng.random((20, 3), np.float32), rng.random(60).astype(np.float32), rng.random(20), np.arange(20) + 1900
y = np.full(20, np.nan)
y[:14] = np.arange(14) % 4
write("d", """# A comment.
dataset_name: small
graph:
  nodes:
    - num: 20
  edges:
    - format: csv
      path: edges/e.csv
  feature_data:
    - {domain: node, name: born, format: numpy, path: data/born.npy}
feature_data:
  - domain: node
    name: feat
    format: numpy
    in_memory: false
    path: ./data//feat.npy
  - domain: edge
    type: null
    name: weight
    format: torch
    path: data/weight.pt
  - domain: node
    name: score
    format: numpy
    in_memory: true
    path: data/score.npy
tasks:
  - name: "node_classification"
    num_classes: 4
    train_set:
      - data:
          - {name: seed_nodes, format: numpy, in_memory: true, path: set/train.npy}
          - {name: labels, format: numpy, path: set/train-y.npy}
    validation_set:
      - data:
          - {name: seeds, format: torch, path: set/valid.pt}
          - {name: labels, format: numpy, path: set/valid-y.npy}
    test_set:
      - type:
        data:
          - {name: seeds, format: numpy, path: set/test.npy}
""", {"edges/e.csv": e, "data/feat.npy": x, "data/weight.pt": w, "data/score.npy": score, "data/born.npy": born, "set/train.npy": np.arange(10),
      "set/train-y.npy": y[:10].astype(np.int64), "set/valid.pt": np.arange(10, 14), "set/valid-y.npy": y[10:14].astype(np.int64),
      "set/test.npy": np.arange(14, 20).astype(np.int32)})
np.savez("d.npz", **{"node/num_nodes": 20, "node/to/node/edge_index": e, "node/born": born, "node/feat": x, "node/to/node/weight": w, "node/score": score,
                     "node/node_classification.train_idx": np.arange(10), "node/node_classification.valid_idx": np.arange(10, 14),
                     "node/node_classification.test_idx": np.arange(14, 20), "node/y": y})

buys, knows, price = ends(7, 5, 30), ends(7, 7, 12), rng.random((5, 2), np.float32)
ids, kinds = np.array([0, 3, 4]), np.array([[1, 0], [0, 1], [1, 1]], np.float32)
target = np.full((7, 2), np.nan)
target[ids] = kinds
write("t", """graph:
  nodes:
    - type: user
      num: 7
    - type: item
      num: 5
  edges:
    - type: "user:buys:item"
      format: csv
      path: buys.csv
    - type: "user:knows:user"
      format: numpy
      path: knows.npy
feature_data:
  - {domain: node, type: item, name: price, format: numpy, path: price.npy}
  - {domain: edge, type: "user:knows:user", name: since, format: numpy, path: since.npy}
tasks:
  - name: kind
    train_set:
      - type: user
        data:
          - {name: seeds, format: numpy, path: users.npy}
          - {name: labels, format: numpy, path: kinds.npy}
""", {"buys.csv": buys, "knows.npy": knows, "price.npy": price, "since.npy": np.arange(12), "users.npy": ids, "kinds.npy": kinds})
np.savez("t.npz", **{"user/num_nodes": 7, "item/num_nodes": 5, "user/buys/item/edge_index": buys, "user/knows/user/edge_index": knows, "item/price": price,
                     "user/knows/user/since": np.arange(12), "user/kind.train_idx": ids, "user/y": target})

pairs = np.unique(ends(12, 12, 60), axis=1).T
train, valid, test = pairs[:20], pairs[20:25], pairs[25:30]
tails, more = rng.integers(0, 12, (5, 3)), rng.integers(0, 12, (5, 3))
mixed = np.concatenate([test, np.stack([np.repeat(test[:, 0], 3), more.reshape(-1)], 1)])
bits, indexes = np.arange(20) < 5, np.concatenate([np.arange(5), np.repeat(np.arange(5), 3)])
write("l", """graph: {nodes: [{num: 12}], edges: [{format: csv, path: e.csv}]}
tasks:
  - name: link prediction
    train_set:
      - data: [{name: node_pairs, format: numpy, path: train.npy}]
    validation_set:
      - data:
          - {name: seeds, format: numpy, path: valid.npy}
          - {name: negative_dsts, format: numpy, path: tails.npy}
    test_set:
      - data:
          - {name: seeds, format: numpy, path: mixed.npy}
          - {name: labels, format: numpy, path: bits.npy}
          - {name: indexes, format: numpy, path: indexes.npy}
""", {"e.csv": pairs.T, "train.npy": train, "valid.npy": valid, "tails.npy": tails, "mixed.npy": mixed, "bits.npy": bits.astype(np.int8),
      "indexes.npy": indexes})
for name, a in {"train": train, "valid": valid, "test": test, "tails": tails, "more": more}.items():
    np.save(name + ".npy", a)
for name, a in {"odd": [0, 1, 2, 3, 4, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4], "far": [0, 3, 40], "negative": [0, -3, 4], "short": [0, 3],
                "real": [0.0, 3.0, 4.0], "again": [0, 3, 0], "triples": [[0, 1, 2]] * 3, "ones": [1] * 20, "classes": [0, 1, 2, 3, 4] * 4,
                "wide": [[0, 0]] * 20, "none": [[]] * 20, "zeros": [0] * 20, "empty": []}.items():
    put("put/%s.npy" % name, np.zeros((0, 2), np.int64) if name == "empty" else np.array(a, np.int64 if name == "none" else None))
