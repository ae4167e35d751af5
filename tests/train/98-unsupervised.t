# SPDX-License-Identifier: Apache-2.0
# Unsupervised GraphSAGE: a model that has learned which nodes are neighbours has embeddings that tell their classes, which it has
# not seen.
. "$GNN_TOP/tests/lib.sh"
gnn-import -q --no-provenance -o s sbm:nodes=1000,classes=4,degree=12,features=16
gnn-partition -q --no-provenance -k 3 -o p s
check "gnn-train learns all edges without labels" gnn-train -q --store s --links node/to/node --negatives binary:1 -f 10,10 -b 256 --hidden 32 --epochs 5 --no-provenance -o m
check "gnn-predict writes the embeddings of all nodes" gnn-predict -q --output-kind embeddings -o z.npy s m
gnn-predict -q --output-kind embeddings -o zp.npy p m
gnn-inspect s --raw --export s.npz
check "classes are told by the nearest mean of embeddings, better than by features" /usr/bin/python3 -c '
import numpy as np
z, a = np.load("z.npy"), np.load("s.npz")
y, x = a["node/node/y"], a["node/node/x"]
known = np.arange(len(y)) % 2 == 0
def right(v):
    mean = np.stack([v[known & (y == c)].mean(0) for c in range(4)])
    return (((v[~known, None] - mean) ** 2).sum(2).argmin(1) == y[~known]).mean()
assert z.shape == (1000, 32) and right(z) > 0.95 > 0.8 > right(x), (right(z), right(x))
assert np.allclose(z, np.load("zp.npy"), atol=1e-4)'
done_testing
