# SPDX-License-Identifier: Apache-2.0
"""planetoid.py DIR [gap | FAULT]: writes files of Planetoid as those of 2016 are, and the arrays of the same graph as DIR.npz; needs SciPy. With gap,
two nodes are in no file."""
import os
import pickle
import sys
from collections import defaultdict

import numpy as np
import scipy.sparse as sp

DIR, FAULT = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
ALL, TEST, TRAIN, F, C = 600, 40, 12, 9, 4
gap = [3, 7] if FAULT == "gap" else []
N = ALL + TEST + len(gap)
rng = np.random.default_rng(1)
test = rng.permutation(np.delete(np.arange(ALL, N), gap))
x, y = (rng.random((N, F)) < 0.4).astype(np.float32), np.eye(C, dtype=np.int32)[rng.integers(0, C, N)]
x[[ALL + g for g in gap]], y[[ALL + g for g in gap]] = 0, 0
graph = defaultdict(list)
for u in range(N):
    graph[u] = [int(v) for v in rng.integers(0, N, 3)]
files = {"x": sp.csr_matrix(x[:TRAIN]), "allx": sp.csr_matrix(x[:ALL]), "tx": sp.csr_matrix(x[test]), "y": y[:TRAIN], "ally": y[:ALL], "ty": y[test],
         "graph": graph}
if FAULT == "columns":
    files["tx"] = sp.csr_matrix(x[test][:, 1:])
if FAULT == "rows":
    files["tx"] = sp.csr_matrix(x[test][1:])
if FAULT == "labels":
    files["ally"] = y[1:ALL]
if FAULT == "list":
    files["graph"] = [1, 2]
if FAULT == "index":
    files["allx"].indices[0] = F
if FAULT == "class":
    files["ty"] = {"a": 1}
os.makedirs(DIR, exist_ok=True)
for name, value in files.items():
    with open("%s/ind.toy.%s" % (DIR, name), "wb") as f:
        pickle.dump(value, f, 2)
with open(DIR + "/ind.toy.test.index", "w", encoding="ascii") as f:
    f.writelines("%d\n" % t for t in (test if FAULT != "early" else test - 1))
label = y.argmax(1)
label[y.sum(1) == 0] = -1
pairs = np.array([(u, v) for u in graph for v in graph[u]])
np.savez(DIR + ".npz", x=x, y=label, src=pairs[:, 0], dst=pairs[:, 1], train_idx=np.arange(TRAIN), val_idx=np.arange(TRAIN, TRAIN + 500), test_idx=test)
