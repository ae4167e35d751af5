#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""temporal.py FILE DTYPE NODES EDGES: an .npz of a random graph whose nodes and edges have few different times, some edges of the
weight 0, and a set of seeds."""
import sys

import numpy as np

path, dtype, nodes, edges = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
r = np.random.default_rng(7)
scale = 1 if dtype == "i8" else 0.37
np.savez(path,
         edge_index=r.integers(0, nodes, (2, edges)),
         edge_time=(r.integers(-40, 60, edges) * scale).astype(dtype),
         edge_weight=r.integers(0, 9, edges),
         time=(r.integers(-50, 60, nodes) * scale).astype(dtype),
         x=r.standard_normal((nodes, 5)).astype("f4"),
         y=r.integers(0, 3, nodes),
         train_mask=np.arange(nodes) % 2 == 0,
         val_mask=np.arange(nodes) % 14 == 7,
         num_nodes=nodes)
