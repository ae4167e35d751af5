# SPDX-License-Identifier: Apache-2.0
"""Writes the graph that `gnn-inspect --raw --export` wrote as an OGB data set in the binary layout, uncompressed.
usage: bench-ogb.py FILE.npz DIR"""
import gzip
import os
import sys
import zipfile

import numpy as np

path, top = sys.argv[1:]
arrays = np.load(path)
edge = next(k[: -len("/indptr")] for k in arrays.files if k.startswith("edge/") and k.endswith("/indptr"))


def write(z, name, shape, chunks):
    """One member, of which only a chunk is in memory."""
    with z.open(name + ".npy", "w", force_zip64=True) as f:
        for i, c in enumerate(chunks):
            if i == 0:
                np.lib.format.write_array_header_1_0(f, {"descr": c.dtype.str, "fortran_order": False, "shape": shape})
            f.write(c.tobytes())


def pieces(a, dtype):
    return (a[i:i + (1 << 20)].astype(dtype) for i in range(0, len(a), 1 << 20))


def targets(indptr):
    for i in range(0, len(indptr) - 1, 1 << 14):
        d = np.diff(indptr[i:i + (1 << 14) + 1].astype(np.int64))
        yield np.repeat(np.arange(i, i + len(d)), d)


def both(indptr, indices):
    yield from pieces(indices, np.int64)
    yield from targets(indptr)


os.makedirs(top + "/raw")
os.makedirs(top + "/split/random")
indptr, indices = arrays[edge + "/indptr"], arrays[edge + "/indices"]
with zipfile.ZipFile(top + "/raw/data.npz", "w") as z:
    write(z, "edge_index", (2, len(indices)), both(indptr, indices))
    write(z, "num_nodes_list", (1,), [np.array([len(indptr) - 1])])
    write(z, "num_edges_list", (1,), [np.array([len(indices)])])
    del indices
    x = arrays["node/node/x"]
    write(z, "node_feat", x.shape, pieces(x, np.float32))
with zipfile.ZipFile(top + "/raw/node-label.npz", "w") as z:
    y = arrays["node/node/y"]
    write(z, "node_label", (len(y), 1), pieces(y, np.int64))
for name in ("train", "valid", "test"):
    ids = arrays["split/random/" + name]
    with gzip.open("%s/split/random/%s.csv.gz" % (top, name), "wt", compresslevel=1) as f:
        f.write("".join("%d\n" % i for i in ids))
