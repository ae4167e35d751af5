# SPDX-License-Identifier: Apache-2.0
# An OnDiskDataset gives the graph, features, sets and labels that GraphBolt itself has of it once it has preprocessed and loaded it.
. "$GNN_TOP/tests/lib.sh"
py=${GNN_PEERS:-python3}
"$py" -B -W ignore -c 'import dgl.graphbolt' 2>err || { skip "data sets of GraphBolt" "dgl.graphbolt cannot be imported"; done_testing; }
check 'GraphBolt loads all data sets' "$py" -B -W ignore "$GNN_TOP/tests/peers/ondisk.py"
for npz in *.npz; do
    name=${npz%.npz}
    rm -rf S T
    check "gnn-import reads $name" gnn-import --directed -o S "$name"
    cp err said
    check "gnn-import reads the arrays that GraphBolt has of $name" gnn-import --directed -o T "$npz"
    check "$name gives the store that these arrays give" gnn-inspect --diff --ignore provenance S T
    rm -rf S
    check "gnn-import reads $name where GraphBolt has been" gnn-import --directed -o S "$name-made"
    cp err made
    check 'it says that it does not read what GraphBolt made' grep -q "$name-made/preprocessed: not read: GraphBolt made it" made
    check "$name gives the same store there" gnn-inspect --diff --ignore provenance S T
    check 'both give the same messages' sh -c 'grep -v -e "preprocessed: " -e "edges/s" -e "MB" made | sed "s/-made//g" >a; grep -v -e "edges/s" -e "MB" said >b; diff a b'
done
for name in links kinds; do
    type=node/to/node
    [ $name = links ] || type=thing/to/thing
    rm -rf S L M
    check "gnn-import reads $name" gnn-import --directed -o S "$name"
    cp err said
    check "gnn-import names the option that reads links of $name" grep -qF -e "--split-links $type=graphbolt:$name STORE" said
    check "gnn-import reads links of $name" gnn-import --split-links "$type=graphbolt:$name" -o L S
    check "gnn-import reads the links that GraphBolt has of $name" gnn-import \
        --split-links "$type=train=$name.train.npy,valid=$name.valid.npy,test=$name.test.npy" \
        --negatives "valid=$name.valid.neg.npy,test=$name.test.neg.npy" -o M S
    check "links of $name are those that GraphBolt has" gnn-inspect --diff --ignore provenance L M
done
done_testing
