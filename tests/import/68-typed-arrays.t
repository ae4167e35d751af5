# SPDX-License-Identifier: Apache-2.0
# OGB's heterogeneous layout with NumPy arrays in place of CSV files, and with the ids of nodes.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-import
imp() { gnn-import --no-provenance --directed --force "$@"; }
npy() { mkdir -p "$(dirname "$1")" && perl "$GNN_TOP/tests/import/npy.pl" "$@"; }
gives() { # WHAT KEY FIELD VALUES
    perl "$GNN_TOP/tests/import/dump.pl" S/part-00000.gnb "$2" "$3" >got
    printf '%s\n' "$4" >want
    check "gnn-import reads $1" cmp want got
}
r=d/raw/relations a=user___buys___item b=item___sold_to___user
lists() {
    rm -rf d
    mkdir -p $r/$a $r/$b
    printf '%s\n' '"user",item' 3,4 >d/raw/num-node-dict.csv
    printf '%s\n' user,buys,item item,sold_to,user >d/raw/triplet-type-list.csv
    echo 4 >$r/$a/num-edge-list.csv
    echo 2 >$r/$b/num-edge-list.csv
}
texts() {
    lists
    printf '%s\n' 0,0 1,0 1,2 2,3 >$r/$a/edge.csv
    printf '%s\n' 3,1 0,2 >$r/$b/edge.csv
    mkdir -p d/raw/node-feat/user d/raw/node-label/item d/raw/node_year/item d/split/s/item
    printf '%s\n' 1,2 3,4 5,6 >d/raw/node-feat/user/node-feat.csv
    printf '%s\n' 0 2 1 -1 >d/raw/node-label/item/node-label.csv
    printf '%s\n' 7 8 9 10 >d/raw/node_year/item/node_year.csv
    printf '%s\n' 5 1 0 2 >$r/$a/edge_time.csv
    printf '%s\n' 0 2 >d/split/s/item/train.csv
    printf '%s\n' 1 >d/split/s/item/valid.csv
    printf '%s\n' 3 >d/split/s/item/test.csv
}
arrays() {
    lists
    echo 0 1 1 2 0 0 2 3 | npy $r/$a/edge.npy '<i8' '2,4'
    echo 3 1 0 2 | npy $r/$b/edge.npy '<i4' '2,2'
    echo 1 2 3 4 5 6 | npy d/raw/node-feat/user/node-feat.npy '<f8' '3,2'
    echo 0 2 1 -1 | npy d/raw/node-label/item/node-label.npy '<i8' '4,'
    echo 7 8 9 10 | npy d/raw/node_year/item/node_year.npy '<i8' '4,'
    echo 5 1 0 2 | npy $r/$a/edge_time.npy '<i4' '4,'
    echo 0 2 | npy d/split/s/item/train.npy '<i8' '2,'
    echo 1 | npy d/split/s/item/valid.npy '<u4' '1,'
    echo 3 | npy d/split/s/item/test.npy '<i8' '1,'
}
texts
check 'gnn-import reads a typed graph of texts' imp -o S d
mv S T
arrays
check 'gnn-import reads a typed graph of arrays' imp -o S d
check 'it is the same' diff -r S T
gives 'an array of 2 by 2 with an edge in each row' item/sold_to/user indices '1 3 3
2 0 0'

# Types of fields
echo 1 255 0 7 | npy $r/$a/edge_kind.npy '|u1' '4,'
echo 1 0 1 1 | npy $r/$a/edge_reltype.npy '|b1' '4,'
echo 1 2 -3 4 | npy d/raw/node_small/item/node_small.npy '<i4' '4,'
rm -r d/split/s/item/valid.npy d/split/s/item/test.npy
check 'gnn-import reads arrays of several types, and a set alone' imp -o S d
check 'fields keep the types of their arrays' perl -MJSON::PP -e 'local $/; open my $f, "<", "S/store.json"; my $s = decode_json(<$f>)->{schema};
    my %e = map { ($_->{name}, $_->{dtype}) } @{$s->{edge_types}[0]{fields}}; my %n = map { ($_->{name}, $_->{dtype}) } @{$s->{node_types}[1]{fields}};
    exit !($e{kind} eq "u8" && $e{reltype} eq "u8" && $e{time} eq "i64" && $n{small} eq "i32" && $n{y} eq "i32" && @{$s->{splits}} == 1)'
gives 'a field of bytes, sorted along by time' user/buys/item kind '0 1 255
0 0 1
2 1 0
3 2 7'
gives 'what OGB calls edge_reltype as an array' user/buys/item reltype '0 1 0
0 0 1
2 1 1
3 2 1'
gives 'a field of small integers' node/item small '1
2
-3
4'
check 'gnn-inspect --verify finds nothing' gnn-inspect --verify S
check 'gnn-sample takes such fields along' sh -c 'gnn-sample -q --edge-ids -f -1 -b 9 --split train S >B && gnn-gather -q --fields y,kind,reltype,small S <B >G && gnn-inspect --verify G'
check 'gnn-partition takes such fields along' gnn-partition -q -k 2 -o P S
check 'gnn-inspect --verify finds nothing in partitions' gnn-inspect --verify P

# Ids
texts
mkdir -p d/raw/node-id/item
printf '%s\n' '"a ""b"""' '" c,d "' e '#7' >d/raw/node-id/item/node-id.csv
echo 20 10 0 | npy d/raw/node-id/user/node-id.npy '<i8' '3,'
check 'gnn-import reads ids' imp -o S d
gives 'ids that are numbers, in their order' node/user key '20
10
0'
check 'gnn-inspect --verify finds ids in order' gnn-inspect --verify S
check 'gnn-train makes a model' gnn-train -q --store S -f 2,2 --hidden 8 --epochs 1 --eval none -o m
check 'gnn-predict writes ids' gnn-predict -q -o p.csv S m
cut -d, -f1-2 p.csv | sed 's/,[^,"]*$//' >ids
printf '%s\n' id '"a ""b"""' '" c,d "' e '#7' >want
check 'they are those of the input, in its order' cmp want ids
printf '%s\n' id,score 0,3 10,2 20,1 >score.csv
check 'gnn-import joins a table by ids that do not ascend' imp --nodes user=score.csv -o S d
gives 'rows that ids find' node/user score '1
2
3'
echo 0 1 2 | npy d/raw/node-id/user/node-id.npy '<i8' '3,'
check 'gnn-import reads ids that are the numbers of nodes' imp -o S d
check 'it does not store them' sh -c '! perl "$GNN_TOP/tests/import/dump.pl" S/part-00000.gnb node/user key 2>/dev/null'

wrong() { # WHY WHAT
    refuses 3 "$1" "$2" imp -o N d
    check 'and leaves nothing' test ! -e N
}
echo 20 10 20 | npy d/raw/node-id/user/node-id.npy '<i8' '3,'
wrong 'node-id.npy: row 3: the id 20 is there twice' 'the same number twice'
echo 20 -1 3 | npy d/raw/node-id/user/node-id.npy '<i8' '3,'
wrong 'node-id.npy: row 2: a negative id -1' 'a negative id'
echo 20 3 | npy d/raw/node-id/user/node-id.npy '<i8' '2,'
wrong 'node-id.npy: 2 ids for 3 nodes' 'too few ids'
echo 1.5 2 3 | npy d/raw/node-id/user/node-id.npy '<f8' '3,'
wrong 'node-id.npy: element 1 is not a whole number' 'ids with a fraction'
rm d/raw/node-id/user/node-id.npy
printf '%s\n' a b a c >d/raw/node-id/item/node-id.csv
wrong "node-id.csv: line 3: the id 'a' is there twice" 'the same word twice'
printf '%s\n' a b '""' c >d/raw/node-id/item/node-id.csv
wrong 'node-id.csv: line 3: column 1: the id is empty' 'an empty word'
printf '%s\n' a b c >d/raw/node-id/item/node-id.csv
wrong 'node-id.csv: 3 ids for 4 nodes' 'too few words'
printf '%s\n' a b c d >d/raw/node-id/item/node-id.csv
echo 1 2 3 4 | npy d/raw/node-id/item/node-id.npy '<i8' '4,'
wrong 'node-id.npy: these nodes have ids already' 'two lists of ids'
arrays
echo 0 1 1 2 0 0 2 4 | npy $r/$a/edge.npy '<i8' '2,4'
wrong 'edge.npy: edge 4: id 4, but there are 4 nodes of type item' 'an edge to a node that is not there'
arrays
echo 0 1 1 | npy $r/$a/edge_time.npy '<i8' '3,'
wrong 'edge_time.npy: 3 rows for 4 edges' 'too few times'
done_testing
