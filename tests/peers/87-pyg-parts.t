# SPDX-License-Identifier: Apache-2.0
# Folders that PyG's Partitioner writes give the store of the graph that was split, bit for bit, and its parts.
. "$GNN_TOP/tests/lib.sh"
py=${GNN_PEERS:-python3}
"$py" -B -W ignore -c 'import torch, torch_geometric.distributed' 2>err || { skip "folders of PyG" "torch_geometric is not installed"; done_testing; }
check 'all folders are written' "$py" -B -W ignore "$GNN_TOP/tests/peers/pyg_parts.py"
for f in plain bare edge-times typed; do
    rm -rf S T
    check "gnn-import reads the folder $f" gnn-import --directed --map =part -o S "$f"
    cp err said
    check "gnn-import leaves out nothing of $f" sh -c '! grep "not read" said'
    check "gnn-import reads the graph $f" gnn-import --directed -o T "$f.pt"
    check "the folder $f gives the store of the graph" gnn-inspect --diff --ignore provenance S T
done
rm -rf S T P Q
check 'gnn-import reads times of nodes' gnn-import --directed -o S node-times
check 'nodes have times and parts' sh -c 'gnn-inspect S | grep -q "60: part i64, x f32\[5\], time i64"'
check 'gnn-import keeps the parts of the folder' gnn-import --directed -o T typed
check 'gnn-partition takes them' gnn-partition -q --from field:part -o P T
"$py" -B -W ignore -c 'import torch
for t in "paper", "author":
    print("\n".join(str(int(p)) for p in torch.load("typed/g-partitions/node_map/%s.pt" % t)))' >parts.txt
check 'gnn-partition takes the same from a file' gnn-partition -q --from parts.txt -o Q T
check 'both are the same' gnn-inspect --diff --ignore provenance P Q
done_testing
