# SPDX-License-Identifier: Apache-2.0
# A folder as GraphStorm's gconstruct writes it, made from its description (no file of GraphStorm itself): a partition of DGL beside which
# node_mapping.pt and edge_mapping.pt have original ids by type, and raw_id_mappings/ the users' own, in Parquet.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/python/lib.sh"
refusing=gnn-import
cat >make.py <<'END'
import os
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from dgl_parts_files import *
from torch_save import save, tensor

F = lambda shape, values: ("f", shape, values)
TYPES = [("user", 5, {"feat": F((5, 2), [i / 4 for i in range(10)])}), ("item", 3, {})]
EDGES = [(0, "buys", 1, [(0, 0), (1, 2), (4, 1), (3, 2), (2, 0), (0, 1)], {"rate": F((6,), [1, 2, 3, 4, 5, 6])}), (0, "knows", 0, [(0, 4), (3, 1)], {})]
nids, eids = save_parts("gs", TYPES, EDGES, [[1, 0, 1, 0, 0], [0, 1, 1]])
as_tensor = lambda v: tensor(np.array(v[2], np.int64))
save({t: as_tensor(v) for t, v in nids.items()}, "gs/node_mapping.pt")
save({tuple(t.split(":")): as_tensor(v) for t, v in eids.items()}, "gs/edge_mapping.pt")
os.makedirs("gs/raw_id_mappings/user")
write("gs/raw_id_mappings/user/part-00000.parquet", b"PAR1")
bad = dict(nids, user=("q", (5,), [0, 1, 2, 3, 3]))
save({t: as_tensor(v) for t, v in bad.items()}, "bad.pt")
a = {"user/num_nodes": 5, "user/x": np.arange(10, dtype=np.float32).reshape(5, 2) / 4, "user/part": np.array([1, 0, 1, 0, 0], np.uint16),
     "item/num_nodes": 3, "item/part": np.array([0, 1, 1], np.uint16),
     "user/buys/item/edge_index": np.array(EDGES[0][3]).T, "user/buys/item/rate": np.arange(1, 7, dtype=np.float32),
     "user/knows/user/edge_index": np.array(EDGES[1][3]).T}
np.savez("whole.npz", **a)
END
check 'a folder of GraphStorm is written' "$python" -B make.py "$GNN_TOP/tests/import"
check 'gnn-import reads it' gnn-import --directed -o S gs
cp err said
check 'gnn-import reads the arrays of the graph' gnn-import --directed -o T whole.npz
check 'original ids are those of its mappings' gnn-inspect --diff --ignore provenance S T
check 'gnn-import says nothing of ids of DGL' sh -c '! grep "when it partitioned" said'
check 'gnn-import names the ids that it does not read' grep -q '^gnn-import: gs/raw_id_mappings: not read: ids are the numbers that GraphStorm gave' said
rm -rf S
mv gs/edge_mapping.pt .
check 'gnn-import reads it without the order of edges' gnn-import --directed -o S gs
cp err said
check 'gnn-import says that their order is that of DGL' grep -q 'the order of edges is the one that DGL gave' said
rm -rf S
mv edge_mapping.pt gs
cp bad.pt gs/node_mapping.pt
refuses 3 "^gnn-import: gs/node_mapping.pt: two nodes of type 'user' have original id 3" 'ids that are there twice' gnn-import -o S gs
check 'gnn-import leaves nothing of them' test ! -e S
done_testing
