# SPDX-License-Identifier: Apache-2.0
# Every member of a data set is read, or named: fields of edges and nodes in OGB's layout, and what nobody reads. And what a layout
# says of the edges' direction holds only while the edges do not contradict it.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-import
imp() { gnn-import --no-provenance --directed --force "$@"; }
dump() { perl "$GNN_TOP/tests/import/dump.pl" S/part-00000.gnb "$@"; }
npy() { perl "$GNN_TOP/tests/import/npy.pl" "$@"; }
gives() { # WHAT KEY FIELD VALUES
    dump "$2" "$3" >got
    printf '%s\n' "$4" >want
    check "gnn-import reads $1" cmp want got
}
r=d/raw/relations
typed() {
    rm -rf d
    mkdir -p $r/user___buys___item $r/item___sold_to___user d/raw/node-label/item d/raw/node-feat/user d/raw/node_year/user
    printf '%s\n' user,item 3,4 >d/raw/num-node-dict.csv
    printf '%s\n' user,buys,item item,sold_to,user >d/raw/triplet-type-list.csv
    printf '%s\n' 0,0 1,0 1,2 2,3 >$r/user___buys___item/edge.csv
    printf '%s\n' 0,0 0,1 2,1 3,2 >$r/item___sold_to___user/edge.csv
    echo 4 >$r/user___buys___item/num-edge-list.csv
    echo 4 >$r/item___sold_to___user/num-edge-list.csv
    printf '%s\n' 0 1 2 1 >d/raw/node-label/item/node-label.csv
    printf '%s\n' 1,2 3,4 5,6 >d/raw/node-feat/user/node-feat.csv
    printf '%s\n' 7 8 9 >d/raw/node_year/user/node_year.csv
}
typed
printf '%s\n' 0.5,1 0,2 1,1 3,3 >$r/user___buys___item/edge-feat.csv
printf '%s\n' 9007199254740993 2 3 4 >$r/user___buys___item/edge_time.csv
printf '%s\n' 0.5 2 3 4 >$r/item___sold_to___user/edge_weight.csv
printf '%s\n' 5 6 7 8 | gzip >$r/item___sold_to___user/edge_count.csv.gz
printf '%s\n' 0 0 0 0 >$r/item___sold_to___user/edge_reltype.csv
echo 3 >d/raw/node-feat/user/num-node-list.csv
check 'gnn-import reads fields of typed edges' imp -o S d
cp err said
check 'gnn-import names no member where all are read' sh -c '! grep -q "not read" said'
gives 'times of typed edges' user/buys/item time '0 1 2
0 0 9007199254740993
2 1 3
3 2 4'
for at in 1:0 9007199254740992:1 9007199254740993:2; do
    echo "0 ${at%:*}" >seeds
    rm -f B
    check "gnn-sample draws from typed edges up to the time ${at%:*}" \
        gnn-sample -q --seeds seeds --time-rule le -f user/buys/item=5 -b 1 -o B S
    check "gnn-sample finds ${at#*:} edges up to the time ${at%:*}" sh -c 'gnn-inspect B | grep -q "mean edges of each hop: $1$"' - "${at#*:}"
done
gives 'weights of typed edges' item/sold_to/user weight '0 0 0.5
1 0 2
1 2 3
2 3 4'
gives 'a compressed field of typed edges' item/sold_to/user count '0 0 5
1 0 6
1 2 7
2 3 8'
gives 'a field of typed nodes' node/user year '7
8
9'
check 'gnn-import makes edge-feat.csv the features of edges' \
    perl -MJSON::PP -e 'local $/; open my $f, "<", "S/store.json"; my $t = decode_json(<$f>)->{schema}{edge_types};
        my %w = map { ($_->{name}, $_->{width}) } @{$t->[0]{fields}}; exit !($w{x} == 2 && @{$t->[1]{fields}} == 2)'
check 'gnn-import sorts typed edges by their times' grep -q '"order": *"time"' S/store.json
check 'gnn-import --map renames a field of typed edges' imp --map weight=count,=edge_weight -o S d
gives 'a renamed field of typed edges' item/sold_to/user weight '0 0 5
1 0 6
1 2 7
2 3 8'

more() { # FILE LINE...
    file=$1
    shift
    mkdir -p "$(dirname "$file")"
    printf '%s\n' "$@" >"$file"
}
typed
more $r/user___buys___item/edge_time.csv 1 2 3
refuses 3 'edge_time.csv: fewer rows than edges' 'too few times of typed edges' imp -o T d
more $r/user___buys___item/edge_time.csv 1 2 3 4 5
refuses 3 'edge_time.csv: more rows than edges' 'too many times of typed edges' imp -o T d
more $r/user___buys___item/edge_time.csv 1 2 x 4
refuses 3 'edge_time.csv: line 3: not a number' 'a word as a time of typed edges' imp -o T d
more $r/user___buys___item/edge_time.csv 1 2 nan 4
refuses 3 'edge_time.csv: row 3: time is missing' 'a missing time of typed edges' imp -o T d
typed
more d/raw/node_year/user/num-node-list.csv 4
refuses 3 'num-node-list.csv: 4 nodes, but there are 3 of type user' 'another number of nodes beside a field' imp -o T d
typed
more d/split/random/nodetype-has-split.csv user,item False,True
refuses 3 'd: split/random/item/train.csv is missing' 'a split that a list promises' imp -o T d
for f in relations/user___buys___item/edge_time.txt relations/user___likes___item/edge.csv relations/user___buys___item/edge-attr.csv \
    edge_time.csv node_year.csv node-feat.csv node-feat/user/node-feat.txt node_year/user/node_year.csv.bak \
    relations/user___buys___item/sub/edge_time.csv node-label/user/edges.csv; do
    typed
    more d/raw/$f 1 2 3 4
    refuses 3 "d: raw/$f: no member of this name is read (--map =" "the member $f that nobody reads" imp -o T d
    stem=${f##*/}
    check "gnn-import --map leaves out $f" imp --map "=${stem%%.*}" -o S d
done
typed
more d/raw/node-feat/shop/node-feat.csv 1
refuses 3 'node-feat/shop/node-feat.csv: no such node type' 'features of a node type that there is not' imp -o T d
typed
more d/mapping/item2name.csv a b c d
more d/RELEASE_v1.txt x
check 'gnn-import reads a data set with members that are not needed' imp -o S d
cp err said
check 'gnn-import names a member that it does not read' grep -q 'mapping/item2name.csv' said
check 'gnn-import names another one' grep -q 'RELEASE_v1.txt' said
for i in 1 2 3 4 5 6 7 8; do more d/mapping/$i.csv x; done
check 'gnn-import reads a data set with many members that are not needed' imp -o S d
cp err said
check 'gnn-import counts many members that it does not read' grep -q '[0-9] more members are not read' said
check 'gnn-import names five of them' test "$(grep -c ' is not read$' said)" -eq 5
imp -q -o S d
check 'gnn-import -q names none of them' test ! -s err

# One type of nodes.
mkdir -p h/raw
printf '%s\n' 0,1 1,2 2,0 >h/raw/edge.csv
echo 3 >h/raw/num-edge-list.csv
echo 3 >h/raw/num-node-list.csv
more h/raw/edge_time.csv 3 2 1
more h/raw/edge-feat.csv 1,1 2,2 3,3
more h/raw/node_time.csv 1 1 1
check 'gnn-import reads fields of one type of edges' imp -o S h
check 'gnn-import --map tells fields of edges from fields of nodes' imp --map since=node_time,=edge-feat -o S h
gives 'a renamed field of nodes' node/node since '1
1
1'
gives 'times of edges beside a renamed field of nodes' node/to/node time '0 2 1
1 0 3
2 1 2'
more h/raw/edge-weight.csv 1 2 3
refuses 3 'raw/edge-weight.csv: no member of this name is read' 'a member with another sign in its name' imp -o T h
check 'gnn-import leaves no store where it refused' test ! -e T

# ---- direction ----
hetero() { # FILE EDGE...: the members of the heterophilous graph data sets
    file=$1
    shift
    rm -rf m
    mkdir m
    echo "$*" | npy m/edges.npy '<i8' "$(($# / 2)), 2"
    echo '1 2 3 4' | npy m/node_features.npy '<f4' '4, 1'
    echo '0 1 0 1' | npy m/node_labels.npy '<i8' '4,'
    for s in train val test; do echo '0 0 0 0' | npy m/${s}_masks.npy '|b1' '1, 4'; done
    rm -rf "$file"
    mv m "$file"
}
asis() { # NAME EDGES IMPORT-ARGUMENT...
    what=$1 want=$2
    shift 2
    check "gnn-import reads $what" gnn-import --force --metrics m.json -o S "$@"
    cp err said
    check "gnn-import makes $want edges of $what" grep -q "\"edges\":$want,\"self" m.json
}
hetero once 0 1 1 2 2 3
asis 'edges that are listed once' 6 once
check 'gnn-import says that it reads edges in both directions' grep -q 'read in both directions' said
asis 'edges that are listed once with --directed' 3 --directed once
hetero twice 0 1 1 0 2 3 3 2
asis 'edges that are listed twice' 4 twice
hetero some 0 1 1 0 1 2 2 3 3 3
refuses 3 'some: 50.00 % of the edges node/to/node have their reverse, so .*--directed keeps .* -u --dedup adds' \
    'a layout that lists edges once with some that have their reverse' gnn-import -o T some
refuses 3 'some: 50.00 %' 'it with --dedup' gnn-import --dedup -o T some
check 'gnn-import leaves no store of it' test ! -e T
asis 'edges, some of which have their reverse, with --directed' 5 --directed some
asis 'edges, some of which have their reverse, with -u --dedup' 7 -u --dedup some
hetero g_directed 0 1 1 0 1 2 2 3
asis 'edges that are directed by their name' 4 g_directed
check 'gnn-import says that edges are directed by their name' grep -q 'g_directed is directed by its name' said
asis 'edges that are directed by their name with -u --dedup' 6 -u --dedup g_directed
hetero Directed_x 0 1 1 2 2 3
asis 'edges without reverses that are directed by their name' 3 Directed_x
hetero undirected 0 1 1 2 2 3
asis 'edges that are undirected by their name' 6 undirected
done_testing
