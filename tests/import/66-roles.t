# SPDX-License-Identifier: Apache-2.0
# Names decide what an array is, and its length does not; values outside their role are refused, with their place.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-import
imp() { gnn-import --no-provenance --directed --force "$@"; }
dump() { perl "$GNN_TOP/tests/import/dump.pl" S/part-00000.gnb "$@"; }
npy() { perl "$GNN_TOP/tests/import/npy.pl" "$@"; }
has() { # nodes|edges FIELD: the store's only node type or edge type has the field
    perl -MJSON::PP -e 'my ($of, $name) = @ARGV; local $/; open my $f, "<", "S/store.json" or die; my $s = decode_json(<$f>)->{schema};
        exit !grep { $_->{name} eq $name } @{$s->{$of eq "nodes" ? "node_types" : "edge_types"}[0]{fields}}' "$1" "$2"
}
# A ring: as many edges as nodes.
ring() {
    rm -rf ring
    mkdir ring
    echo '0 1 1 2 2 3 3 4 4 0' | npy ring/edges.npy '<i8' '5, 2'
}
five() { echo '5 6 7 8 9' | npy "ring/$1.npy" "${2-<i8}" '5,'; } # NAME
is() { # nodes|edges FIELD WHAT IMPORT-ARGUMENT...
    of=$1 field=$2 what=$3
    shift 3
    check "gnn-import reads $what" imp -o S "$@"
    check "gnn-import makes $what the field $field of $of" has "$of" "$field"
}
for a in edge_id edge_label edge_mask edge_train_mask edge_y edge_type; do
    ring
    five $a
    is edges $a "$a of a ring" ring
done
for a in node_id node_year node_mask node_index; do
    ring
    five $a
    is nodes $a "$a of a ring" ring
done
for a in edge_attr edge_feat edge_features; do
    ring
    five $a
    is edges x "$a of a ring" ring
done
ring
five edge_weight
is edges weight 'edge_weight of a ring' ring
ring
five weight
is edges weight 'weight of a ring' ring
for a in edge_time node_time; do
    ring
    five $a
    is ${a%_time}s time "$a of a ring" ring
done
ring
five x
five edge_x
is nodes x 'x of a ring' ring
check 'gnn-import makes edge_x of a ring the field x of edges' has edges x
ring
echo '0 0 1 0 1' | npy ring/y.npy '<i8' '5,'
echo '1 1 0 0 0' | npy ring/train_mask.npy '|b1' '5,'
is nodes y 'labels and a mask of a ring' ring
check 'gnn-import makes a mask of a ring a set of nodes' grep -q '"set": "train"' S/store.json

# A name that says nothing.
for a in time id timestamp batch pos n_id e_id node edge year; do
    ring
    five $a
    refuses 3 "ring: $a.npy: 5 rows, but there are as many nodes as edges: --map node_$a=$a or edge_$a=$a" "$a of a ring" imp -o T ring
    f=node_$a
    [ $a != time ] || f="time"
    is nodes $f "$a of a ring as one of nodes" --map node_$a=$a ring
    f=edge_$a
    [ $a != time ] || f="time"
    is edges $f "$a of a ring as one of edges" --map edge_$a=$a ring
    check "gnn-import leaves out $a of a ring" imp --map =$a -o S ring
done
ring
five edge_when
refuses 3 "--map node_time=edge_when or edge_time=edge_when" 'a name that --map takes from an array of edges' imp --map time=edge_when -o T ring
is edges time 'an array under a mapped name' --map edge_time=edge_when ring
is nodes time 'an array of edges that is said to be of nodes' --map node_time=edge_when ring
ring
five foo
is edges x 'an array under the name edge_attr' --map edge_attr=foo ring
is edges weight 'an array under the name edge_weight' --map edge_weight=foo ring
is nodes y 'an array under the name labels' --map labels=foo ring
is nodes x 'an array under the name node_feat' --map node_feat=foo ring

# With another number of edges, the name still decides.
more() { # NAME ROWS: an array beside five nodes and six edges
    rm -rf more
    mkdir more
    echo '0 1 1 2 2 3 3 4 4 0 0 2' | npy more/edges.npy '<i8' '6, 2'
    perl -e 'print join " ", 1 .. $ARGV[0]' "$2" | npy "more/$1.npy" '<i8' "$2,"
}
more edge_id 5
refuses 3 'edge_id.npy: 5 rows for 6 edges' 'edge_id with a row for each node' imp -o T more
more node_id 6
refuses 3 'node_id.npy: 6 rows for 5 nodes' 'node_id with a row for each edge' imp -o T more
more y 6
refuses 3 'y.npy: 6 rows, which is the number of edges, while their nodes are 0 to 4' 'labels with a row for each edge' imp -o T more
is edges edge_y 'labels of edges' --map edge_y=y more
is nodes y 'labels of a node without edges' --nodes 6 more
more ptr 3
refuses 3 'ptr.npy: 3 rows fit neither' 'an array of another length' imp -o T more
more when 5
is nodes when 'an array with a row for each node' more
more when 6
is edges when 'an array with a row for each edge' more
more num_edges 1
refuses 3 'num_edges.npy: 1 edge, but there are 6' 'another number of edges than there are' imp -o T more

# A sparse matrix.
csr() { # PREFIX COLUMNS SHAPE: of three rows with an entry each
    echo '0 1 2 3' | npy "$1_indptr.npy" '<i8' '4,'
    echo "$2" | npy "$1_indices.npy" '<i8' '3,'
    echo "$3" | npy "$1_shape.npy" '<i8' '2,'
}
rm -rf sparse
mkdir sparse
csr sparse/adj '1 2 0' '3 3'
echo '7 8 9' | npy sparse/edge_id.npy '<i8' '3,'
refuses 3 'edge_id.npy: the edges of a sparse matrix have no fields' 'a field of the entries of a matrix' imp -o T sparse
rm sparse/edge_id.npy
echo '7 8 9' | npy sparse/time.npy '<i8' '3,'
refuses 3 'time.npy: 3 rows, but there are as many nodes as edges' 'a name that says nothing beside a matrix' imp -o T sparse
is nodes time 'times of the rows of a matrix' --map node_time=time sparse

# Of one that is not square, attr_* are features of its rows; its columns may have their own.
rm -rf oblong
mkdir oblong
csr oblong/adj '1 2 3' '3 4'
csr oblong/attr '0 1 1' '3 2'
echo '1 70000 2' | npy oblong/attr_data.npy '<f4' '3,'
printf '%s\n' 1,2,3 4,5,6 7,8,9 10,11,12 >columns
check 'gnn-import reads features of rows and of columns' imp -q -o S --features column=columns oblong
[ "$(dump node/row x | tr '\n' ';')" = '1 0;0 70000;0 2;' ] && [ "$(dump node/column x | tr '\n' ';')" = '1 2 3;4 5 6;7 8 9;10 11 12;' ] &&
    _ok 'each has its own' || _not_ok "each has its own: $(dump node/row x | tr '\n' ';') $(dump node/column x | tr '\n' ';')"
refuses 3 'oblong: row 2, column 2: 70000 is too large for f16' 'a feature of a matrix that f16 does not hold' imp -o T --dtype f16 oblong

# ---- masks ----
mask() { # DTYPE VALUE...
    type=$1
    shift
    ring
    echo "$*" | npy ring/val_mask.npy "$type" '5,'
}
mask '<i8' 0 1 2 0 0
refuses 3 'val_mask.npy: row 3: 2 is not 0 or 1' 'a mask with a 2' imp -o T ring
mask '<i8' 0 3 4 1 2
refuses 3 'val_mask.npy: row 2: 3 is not 0 or 1' 'ids as a mask' imp -o T ring
mask '<f8' 0 1 nan 0 0
refuses 3 'val_mask.npy: row 3: nan is not 0 or 1' 'a mask with nan' imp -o T ring
mask '<f8' 0 1 0.5 0 0
refuses 3 'val_mask.npy: row 3: 0.5 is not 0 or 1' 'a mask with a fraction' imp -o T ring
mask '<i8' 0 -1 0 0 0
refuses 3 'val_mask.npy: row 2: -1 is not 0 or 1' 'a mask with -1' imp -o T ring
mask '|u1' 0 255 0 0 0
refuses 3 'val_mask.npy: row 2: 255 is not 0 or 1' 'a mask with 255' imp -o T ring
mask '<f4' 0 1 0 0 1
check 'gnn-import accepts a mask of floats' imp -o S ring

# ---- labels ----
printf '0 1\n1 2\n2 3\n3 0\n' >e.txt
y() { printf '%s\n' "$@" >y.csv; } # LINE...
no() { # PATTERN WHAT OPTION...
    pattern=$1 what=$2
    shift 2
    refuses 3 "y.csv: $pattern" "$what" imp "$@" --labels y.csv -o T e.txt
}
y 0,1 1,0 0,2 1,1
no 'row 3, column 2: label 2 is outside 0 to 1' 'a 2 among several labels'
y 1,-1 -1,1 1,1 -1,-1
no 'row 1, column 2: label -1 is outside 0 to 1 (nan for none); -1 stands' 'several labels of 1 and -1'
no 'row 1, column 2: label -1' 'several labels of 1 and -1 for --task multilabel' --task multilabel
check 'gnn-import takes several numbers of 1 and -1 for a regression' imp --task regression --labels y.csv -o S e.txt
y 1,0 inf,1 1,1 0,0
no 'row 2, column 1: label inf is outside' 'inf among several labels'
y 1,0 0,1 1,1 0,-inf
no 'row 4, column 2: label -inf is outside' '-inf among several labels'
y 1,0 0.5,nan , 0,0.25
check 'gnn-import accepts probabilities and unknown labels' imp --labels y.csv -o S e.txt
y nan,nan , nan, ,nan
no 'no node has a label' 'unknown labels only'
for v in 0 1; do
    perl -e 'print $ARGV[0] + $_, ",", $_ % 2, "\n" for 0 .. 3' $v >y.csv
    no 'column 1 is the ids of the nodes' "ids from $v on beside a label"
    no 'column 1 is the ids of the nodes' "ids from $v on beside a number to predict" --task regression
done
printf '10 20\n20 30\n30 40\n40 10\n' >keys.txt
y 10,1 20,0 30,1 40,0
refuses 3 'y.csv: column 1 is the ids of the nodes' 'ids of the data set beside a label' imp --task regression --labels y.csv -o T keys.txt
for t in auto binary multiclass; do
    y 0 1 -2 1
    no "row 3: '-2' is not a class" "a class -2 for --task $t" --task $t
    y 0 1 0.5 1
    no "row 3: '0.5' is not a class" "a fraction as class for --task $t" --task $t
    y 0 1 inf 1
    no "row 3: 'inf' is not a class" "an infinite class for --task $t" --task $t
    y 0 1 1000000000 1
    no "row 3: '1000000000' is not a class (0 to 65535" "an id as class for --task $t" --task $t
done
y 1 -1 1 -1
no 'the labels are 1 and -1, but the classes are 0 and 1' 'classes 1 and -1'
check 'gnn-import --task binary accepts nodes of class 1 and nodes without a label' imp --task binary --labels y.csv -o S e.txt
y 1 -1 0 nan
check 'gnn-import accepts -1 and nan for no label' imp --labels y.csv -o S e.txt
dump node/node y >got
printf '1\n-1\n0\n-1\n' >want
check 'gnn-import stores -1 for no label' cmp want got
y 1.5 -1 nan 2
check 'gnn-import takes -1 for a number to predict' imp --task regression --labels y.csv -o S e.txt
dump node/node y >got
printf '1.5\n-1\nNaN\n2\n' >want
check 'gnn-import stores nan for a number that is not known' cmp want got
y nan 1 inf 2
no 'row 3: label inf is infinite' 'an infinite number to predict' --task regression

warns() { # PATTERN WHAT IMPORT-ARGUMENT...
    pattern=$1 what=$2
    shift 2
    check "gnn-import accepts $what" imp -o S "$@"
    cp err said
    check "gnn-import warns of $what" grep -q "warning: .*$pattern" said
}
y 0 1 2 3
warns 'each node has a class of its own, in order: are these ids' 'classes that count the nodes' --labels y.csv e.txt
y 0 900 2 2
warns '901 classes for 4 nodes that have a label' 'more classes than nodes' --labels y.csv e.txt
y 0,5 1,7 2,5 3,1
warns 'y.csv: column 1 of the features x is the ids of the nodes' 'ids among features' --features y.csv:0 e.txt
y 10,5 20,7 30,5 40,1
warns 'y.csv: column 1 of the features x is the ids of the nodes' 'ids of the data set among features' --features y.csv:0 keys.txt
y 5,0 7,1 5,2 1,3
check 'gnn-import accepts features' imp -o S --features y.csv e.txt
cp err said
check 'gnn-import warns of no ids where there are none' sh -c '! grep -q "is the ids" said'
check 'gnn-import leaves no store where it refused' test ! -e T
done_testing
