# SPDX-License-Identifier: Apache-2.0
# A folder of the Partitioner of PyG is the graph that was split, in its order; what does not fit together is refused by name.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/python/lib.sh"
refusing=gnn-import
# shellcheck disable=SC2120
folder() { PYTHONPATH=$GNN_TOP/tests/import "$python" -B "$GNN_TOP/tests/import/pyg_folder.py" "$@"; }
check 'a folder is written' folder
check 'gnn-import reads the folder' gnn-import --directed -o S d
cp err said
check 'gnn-import leaves out nothing' sh -c '! grep "not read" said'
check 'gnn-import reads the arrays of the graph' gnn-import --directed -o T g.npz
check 'both are the same store' gnn-inspect --diff --ignore provenance S T
check 'gnn-partition takes the parts' gnn-partition -q --from field:part -o P S
check 'the store has two partitions' sh -c 'gnn-inspect P | grep -q "2 partitions"'
refusing=gnn-partition
refuses 2 "nodes of type paper of S have no field 'pert' of one integer each; did you mean 'part'?" 'a field that is not there' gnn-partition --from field:pert -o Q S
refuses 2 "no field 'x' of one integer each" 'a field of numbers' gnn-partition --from field:x -o Q S
refusing=gnn-import
status 3 'gnn-partition refuses numbers above -k' gnn-partition -q -k 1 --from field:part -o Q S
check 'gnn-partition leaves nothing' test ! -e Q
check 'gnn-import reads the parts alone' gnn-import --directed -o U d/g-partitions
check 'they have no labels' sh -c '! gnn-inspect U | grep -q "task "'
bad() { # FAULT TEXT
    rm -rf S
    check "a folder with the fault $1 is written" folder "$1"
    refuses 3 "$2" "the fault $1" gnn-import -o S d
    check "gnn-import leaves nothing of $1" test ! -e S
}
bad twice 'part_1/graph.pt: paper/cites/paper/ids: [0-9]* is there twice'
bad range 'part_1/graph.pt: paper/cites/paper/ids: 21 is none of 9'
bad before 'part_1/graph.pt: paper/cites/paper/ids: 3 is none of 9'
bad rows 'part_1/graph.pt: paper/cites/paper/src: [0-9]* rows for [0-9]* ids'
bad feature 'part_1/node_feats.pt: paper/x: missing, or no tensor'
bad dtype 'part_1/node_feats.pt: paper/x: another dtype or shape of rows than in part_0'
bad width 'part_1/node_feats.pt: paper/x: another dtype or shape'
bad type 'part_1/graph.pt: author/writes/paper/edge_id: missing'
bad ids 'part_1/node_feats.pt: paper/id: no vector of int64'
bad order 'part_1/edge_feats.pt: paper/cites/paper/global_id: other edges than those of graph.pt'
bad fewer 'all parts together have 4 nodes of author/, and the map has 5'
bad beyond 'node_map of paper/: row [0-9]* is no part of 2'
bad other 'part_0 has [0-9] nodes of paper/, and 7 by the map'
bad labels 'label.pt: 6 labels, and not just one node type has as many nodes'
bad parts 'part_2/graph.pt is missing'
bad hetero 'META.json: is_hetero is neither true nor false'
bad list 'META.json: an edge type is no list of three names'
bad json 'META.json: JSON: '
folder
rm d/g-partitions/edge_map/author__writes__paper.pt
refuses 3 'edge_map/author__writes__paper.pt is missing' 'a folder without a map' gnn-import -o S d
folder
head -c 300 d/g-partitions/part_0/graph.pt >cut
mv cut d/g-partitions/part_0/graph.pt
refuses 3 'd/g-partitions/part_0/graph.pt: ' 'a folder with a file that is cut' gnn-import -o S d
folder
tar cf d.tar d
refuses 3 'an archive of a folder of PyG.s Partitioner: unpack it first' 'an archive of a folder' gnn-import -o S d.tar
echo text >d/notes.txt
echo text >d/g-partitions/other
check 'gnn-import reads a folder with other files' gnn-import --directed -o S d
cp err said
check 'gnn-import names what it does not read' grep -q 'not read: g-partitions/other, notes.txt' said
check 'the store is the same' gnn-inspect --diff --ignore provenance S T
done_testing
