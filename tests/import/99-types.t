# SPDX-License-Identifier: Apache-2.0
# Arrays whose names begin with types, TYPE/FIELD and SRC/REL/DST/FIELD, are a graph of several types, the same as in OGB's layout.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-import
imp() { gnn-import --no-provenance --directed --force "$@"; }
npy() { mkdir -p "$(dirname "$1")" && perl "$GNN_TOP/tests/import/npy.pl" "$@"; }
a=user/buys/item b=item/sold_to/user
ogb() {
    rm -rf d
    r=d/raw/relations
    mkdir -p d/raw
    printf '%s\n' 'item,user' 4,3 >d/raw/num-node-dict.csv
    printf '%s\n' item,sold_to,user user,buys,item >d/raw/triplet-type-list.csv
    echo 0 1 1 2 0 0 2 3 | npy $r/user___buys___item/edge.npy '<i8' '2,4'
    echo 3 1 0 2 | npy $r/item___sold_to___user/edge.npy '<i8' '2,2'
    echo 4 >$r/user___buys___item/num-edge-list.csv
    echo 2 >$r/item___sold_to___user/num-edge-list.csv
    echo 1 2 3 4 5 6 | npy d/raw/node-feat/user/node-feat.npy '<f4' '3,2'
    echo 0 2 1 -1 | npy d/raw/node-label/item/node-label.npy '<i8' '4,'
    echo 7 8 9 10 | npy d/raw/node_year/item/node_year.npy '<i4' '4,'
    echo 5 1 0 2 | npy $r/user___buys___item/edge_time.npy '<i8' '4,'
}
# An array of 2 by 2 has an edge in each column here, as edge_index has.
arrays() {
    rm -rf g
    echo 0 1 1 2 0 0 2 3 | npy g/$a/edge_index.npy '<i8' '2,4'
    echo 3 0 1 2 | npy g/$b/edge_index.npy '<i8' '2,2'
    echo 5 1 0 2 | npy g/$a/time.npy '<i8' '4,'
    echo 1 2 3 4 5 6 | npy g/user/x.npy '<f4' '3,2'
    echo 0 2 1 -1 | npy g/item/y.npy '<i8' '4,'
    echo 7 8 9 10 | npy g/item/year.npy '<i4' '4,'
}
ogb
check 'gnn-import reads the layout of OGB' imp -o T d
arrays
check 'gnn-import reads a directory of types' imp -o S g
check 'it is the same store' gnn-inspect --diff S T
echo 2 | npy g/$b/num_edges.npy '<i8' ''
echo 4 | npy g/item/num_nodes.npy '<i8' ''
mkdir outer && cp -r g outer
check 'gnn-import reads types below another directory' imp -o S outer
check 'it is the same store with counts' gnn-inspect --diff S T
tar cf g.tar g
check 'gnn-import reads types in an archive' imp -o S g.tar
check 'it is the same store from an archive' gnn-inspect --diff S T
rm -r outer g/$a/edge_index.npy
echo 0 1 1 2 | npy g/$a/src.npy '<i8' '4,'
echo 0 0 2 3 | npy g/$a/dst.npy '<i8' '4,'
check 'gnn-import reads sources and destinations' imp -o S g
check 'it is the same store from two vectors' gnn-inspect --diff S T

# Splits, and labels and fields that --map names
echo 1 0 0 1 | npy g/item/train_mask.npy '|b1' '4,'
echo 1 2 | npy g/item/val_idx.npy '<i8' '2,'
echo 0 | npy g/user/test_idx.npy '<i8' '1,'
echo 1 1 0 | npy g/user/class.npy '<i8' '3,'
check 'gnn-import reads splits of types' imp -o S --map y=user/class --map =item/y --map made=year g
gnn-inspect S >got
for line in 'mask/train *2  of item' 'ids/valid *2  of item' 'ids/test *1  of user' 'item  *4: made i32' 'user *3: .*y i32' 'of user, 2 classes'; do
    check "the store has $line" grep -q "$line" got
done

# The number of nodes by edges alone
rm -rf g
echo 0 5 1 2 | npy g/$a/edge_index.npy '<i8' '2,2'
echo 2 0 | npy g/$b/edge_index.npy '<i8' '2,1'
check 'gnn-import counts nodes by edges' imp -o S g
gnn-inspect S >got
check 'a type has as many nodes as its largest id says' sh -c 'grep -q "nodes  item *3" got && grep -q "nodes  user *6" got'

# Bad input
bad() { # TEXT WHAT OPTION...
    text=$1 what=$2
    shift 2
    rm -rf S
    refuses 3 "$text" "$what" gnn-import -o S "$@" g
    check "gnn-import leaves nothing of $what" test ! -e S
    arrays
}
arrays
echo 0 1 2 | npy g/user/y.npy '<i8' '3,'
bad 'labels of two node types, item and user, .*--map =user/y leaves these out' 'labels of two types'
echo 0 1 | npy g/item/year.npy '<i8' '2,'
bad 'item/year.npy: 2 rows for 4 nodes (--map =item/year leaves it out)' 'a field of too few nodes'
echo 0 1 | npy g/$a/time.npy '<i8' '2,'
bad 'buys/item/time.npy: 2 rows for 4 edges (--map =user/buys/item/time leaves it out)' 'a field of too few edges'
echo 0 1 | npy g/$a/edge_label_index.npy '<i8' '2,1'
check 'gnn-import leaves out what --map says' imp --map =$a/edge_label_index -o S g
check 'it is the same store without' gnn-inspect --diff S T
arrays
echo 9 0 1 2 | npy g/$b/edge_index.npy '<i8' '2,2'
bad 'sold_to/user/edge_index.npy: edge 1: id 9, but there are 4 nodes of type item' 'an id that is too large'
echo 3 | npy g/$b/num_edges.npy '<i8' ''
bad 'num_edges.npy: 3 edges, but there are 2' 'another number of edges'
echo -1 | npy g/item/num_nodes.npy '<i8' ''
bad 'num_nodes.npy' 'a negative number of nodes'
echo 1 2 | npy g/$b/src.npy '<i8' '2,'
echo 1 2 | npy g/$b/dst.npy '<i8' '2,'
bad 'item/sold_to/user has edges twice' 'edges twice'
rm g/$b/edge_index.npy
echo 1 2 | npy g/$b/weight.npy '<f4' '2,'
bad 'item/sold_to/user has no edges: expected edge_index, or src and dst' 'a type without edges'
echo 1 | npy g/user/features.npy '<f4' '1,'
bad "both 'user/features.npy' and 'user/x.npy' are x" 'features twice'
echo 1 | npy g/user/deep/name.npy '<f4' '1,'
check 'gnn-import says what it does not read' imp -o S g
cp err said
check 'it names the array' grep -q 'user/deep/name.npy is not read' said
status 2 'gnn-import refuses --nodes N' imp -o S --nodes 9 g
cp err said
check 'it says what to do' grep -q 'TYPE/num_nodes' said
done_testing
