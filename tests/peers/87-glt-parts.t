# SPDX-License-Identifier: Apache-2.0
# Folders that the Partitioner of GraphLearn-for-PyTorch writes give the store of the graph that was split, and its parts.
. "$GNN_TOP/tests/lib.sh"
py=${GNN_PEERS:-python3}
"$py" -B -W ignore "$GNN_TOP/tests/peers/glt_parts.py" >out 2>err || {
    grep -q '^lacks: ' err || check 'GLT writes its folders' false
    skip "folders of GLT" "$(sed -n 's/^lacks: //p' err)"
    done_testing
}
for f in plain cold typed; do
    rm -rf S T
    check "gnn-import reads the folder $f" gnn-import --directed -o S "$f"
    cp err said
    check "gnn-import leaves out no data of $f" sh -c '! grep "not read" said | grep -v cache_'
    check "gnn-import reads the graph $f" gnn-import --directed -o T "$f.npz"
    check "the folder $f gives the store of the graph" gnn-inspect --diff --ignore provenance S T
done
check 'gnn-partition takes the parts' gnn-partition -q --from field:part -o P S
check 'the store has two partitions' sh -c 'gnn-inspect P | grep -q "2 partitions"'
done_testing
