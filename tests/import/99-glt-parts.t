# SPDX-License-Identifier: Apache-2.0
# A folder of the Partitioner of GraphLearn-for-PyTorch, as it is described, is the graph that was split; what does not fit together is refused by
# name. tests/peers/87-glt-parts.t reads what GLT writes.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/python/lib.sh"
refusing=gnn-import
# shellcheck disable=SC2120
folder() {
    rm -rf d S
    PYTHONPATH=$GNN_TOP/tests/import "$python" -B "$GNN_TOP/tests/import/glt_folder.py" "$@"
}
for f in types homo old; do
    check "a folder is written: $f" folder $f
    check "gnn-import reads the folder: $f" gnn-import --directed -o S d
    cp err said
    check "gnn-import leaves out nothing: $f" sh -c '! grep "not read" said'
    check "gnn-import reads the arrays of the graph: $f" gnn-import --force --directed -o T g.npz
    check "both are the same store: $f" gnn-inspect --diff --ignore provenance S T
done
check 'gnn-partition takes the parts' gnn-partition -q --from field:part -o P S
check 'the store has two partitions' sh -c 'gnn-inspect P | grep -q "2 partitions"'
check 'a folder with copies of features is written' folder copies
check 'gnn-import reads it' gnn-import --directed -o S d
cp err said
check 'gnn-import says that it does not read the copies' grep -q 'not read: .*cache_feats.pt, .*cache_ids.pt' said
check 'the store is the same' gnn-inspect --diff --ignore provenance S T
bad() { # FAULT TEXT
    check "a folder with the fault $1 is written" folder "$1"
    refuses 3 "$2" "the fault $1" gnn-import -o S d
    check "gnn-import leaves nothing of $1" test ! -e S
}
bad twice 'part1/node_feat/paper/ids: paper/ids: 1 is there twice'
bad range 'part1/node_feat/paper/ids: paper/ids: 70 is none of 7'
bad fewer 'all parts together have 6 nodes of paper/, and the map has 7'
bad float 'part1/node_feat/paper/ids: no vectors of int64'
bad rows 'part1/node_feat/paper/feats: 1 rows for 2 ids'
bad width 'part1/node_feat/paper/feats: paper/x: another dtype or shape of rows than in part0'
bad ends 'part1/graph/author__writes__paper/rows: 1 rows for 2 ids'
bad cached 'graph/paper__cites__paper/rows.pt: edges of all parts in one file (graph_caching) have no ids'
bad parts 'part2/node_feat/paper/ids: .pkl and .pt are missing'
bad lost 'part1/node_feat/paper/ids: .pkl and .pt are missing'
bad book 'edge_pb/author__writes__paper.pt is missing'
bad beyond 'node_pb of paper/: row 1 is no part of 2'
bad real 'node_pb of paper/: no tensor of integers, one for each'
bad name 'META: a type has no name, .* or a name that is not UTF-8'
bad nul 'META: a type has no name'
bad kind "META: data_cls is neither 'homo' nor 'hetero'"
bad tuple 'META: an edge type is no list of three names'
bad list 'META: node_types or edge_types is no list of 1 to 1024'
bad number 'META: num_parts is no number from 1 to 65536'
bad rest 'part1/node_feat/paper/feats.pkl: the pickle from byte [0-9]* on: byte 2: .* is cut short'
bad storage 'part1/node_feat/paper/feats.pkl: a tensor: it has no storage'
bad array 'part1/node_feat/paper/feats.pkl: no tensor'
bad system 'part1/node_feat/paper/feats.pkl: the pickle from byte 0 on: byte 2: .*posix.system'
check 'nothing was run' test ! -e ran
folder
tar cf d.tar d
refuses 3 'an archive of a folder of GLT.s Partitioner: unpack it first' 'an archive of a folder' gnn-import -o S d.tar
printf '\200\2cposix\nsystem\nU\011touch ran\205R.' >d/g-partitions/META
refuses 3 'META: byte 2: .*posix.system' 'a META that runs a program' gnn-import -o S d
check 'nothing was run by META' test ! -e ran
done_testing
