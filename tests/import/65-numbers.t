# SPDX-License-Identifier: Apache-2.0
# Numbers keep their values: integers of text and arrays as i64, exactly; types follow from how numbers are written or declared, not
# from the values that happen to occur; and what f32 does not hold is said.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-import
imp() { gnn-import --no-provenance --force "$@"; }
dump() { perl "$GNN_TOP/tests/import/dump.pl" S/part-00000.gnb "$@"; }
npy() { perl "$GNN_TOP/tests/import/npy.pl" "$@"; }
holds() { # WHAT KEY FIELD TYPE VALUES: the field has this type and these values
    check "gnn-import reads $1 as $4" sh -c 'tr -d " \n" <S/store.json | grep -q "\"name\":\"$1\",\"dtype\":\"$2\""' - "$3" "$4"
    dump "$2" "$3" >got
    printf '%s\n' "$5" >want
    check "gnn-import keeps $1" cmp want got
}
t=node/to/node

# ---- columns of tables ----
printf 'source,target,tweet,when\n1,0,1234567890123456789,9007199254740993\n0,1,-9223372036854775808,1\n2,2,9223372036854775807,0\n' >big.csv
check 'gnn-import reads integers beyond 2^53 in a table' imp -o S big.csv
holds 'integers of 64 bits in a column' $t tweet i64 '0 1 1234567890123456789
1 0 -9223372036854775808
2 2 9223372036854775807'
holds 'integers beyond 2^53 beside small ones' $t when i64 '0 1 9007199254740993
1 0 1
2 2 0'
check 'gnn-import reads times beyond 2^53 in a table' imp --time tweet -o S big.csv
holds 'times beyond 2^53 in a table' $t time i64 '0 1 1234567890123456789
1 0 -9223372036854775808
2 2 9223372036854775807'
check 'gnn-import sorts and merges edges with integers beyond 2^53' imp -u --dedup --self-loops add -o S big.csv
holds 'integers beyond 2^53 of merged edges' $t when i64 '0 0 0
0 1 9007199254740993
1 0 1
1 1 0
2 2 0'
printf 'source,target,"a",b,c\n0,1, "9007199254740993" ,+7,2\n1,0,-9007199254740993,"8",3\n' >quoted.csv
check 'gnn-import reads integers in quotes' imp --columns source=source,target=target,a=a,b=b -o S quoted.csv
holds 'integers in quotes' $t a i64 '0 1 -9007199254740993
1 0 9007199254740993'

# Types are those that the spelling declares.
printf 'source,target,a,b,c,time\n0,1,1.0,1,16777217,5.0\n1,0,2.0,2.5,0.5,6.0\n' >spelled.csv
check 'gnn-import reads numbers with points' imp -o S spelled.csv
holds 'whole numbers with points' $t a f32 '0 1 2
1 0 1'
holds 'a fraction among integers' $t b f32 '0 1 2.5
1 0 1'
holds 'an integer of 25 bits beside a fraction' $t c f64 '0 1 0.5
1 0 16777217'
holds 'whole times with points' $t time f64 '0 1 6
1 0 5'
printf 'source,target,a,b,c\n0,1,1e-50,1,1e300\n1,0,0.5,,1\n' >range.csv
check 'gnn-import reads numbers beyond the range of f32' imp -o S range.csv
holds 'a number that f32 makes 0' $t a f64 '0 1 0.5
1 0 1e-50'
holds 'a missing value' $t b f32 '0 1 NaN
1 0 1'
holds 'a number that f32 makes infinite' $t c f64 '0 1 1
1 0 1e+300'

bad() { # NAME VALUE VALUE: a column of these
    printf 'source,target,%s\n0,1,%s\n1,0,%s\n' "$1" "$2" "$3" >bad.csv
}
for v in 0.5 '' nan 1e2 inf; do
    bad code 9007199254740993 "$v"
    refuses 3 'bad.csv: line 2: code 9007199254740993: .*does not hold' "an integer beyond 2^53 beside '$v'" imp -o T bad.csv
    bad code "$v" 9007199254740993
    refuses 3 'bad.csv: line 3: code 9007199254740993: .*does not hold' "an integer beyond 2^53 after '$v'" imp -o T bad.csv
done
bad time 0.5 9007199254740993
refuses 3 'line 3: time 9007199254740993' 'a time beyond 2^53 beside a fraction' imp -o T bad.csv
bad time 0.5 9007199254740994
check 'gnn-import accepts a time beyond 2^53 that f64 holds beside a fraction' imp -o S bad.csv
bad code 0.5 9007199254740994
check 'gnn-import accepts an integer beyond 2^53 that f64 holds beside a fraction' imp -o S bad.csv
holds 'an integer that f64 holds' $t code f64 '0 1 9.00719925474099e+15
1 0 0.5'
for v in 9223372036854775808 18446744073709551615 -9223372036854775809 100000000000000000000; do
    bad code 1 $v
    refuses 3 "bad.csv: line 3: code $v is outside" "the integer $v, beyond i64" imp -o T bad.csv
done
check 'gnn-import leaves no store where it refuses numbers' test ! -e T

# ---- fields of nodes and edges in the layout of OGB ----
mkdir -p o/raw
printf '0,1\n1,2\n2,0\n' >o/raw/edge.csv
echo 3 >o/raw/num-edge-list.csv
echo 3 >o/raw/num-node-list.csv
printf '9007199254740993\n-1\n5\n' >o/raw/node_code.csv
printf '9007199254740993\n1234567890123456789\n7\n' >o/raw/edge_time.csv
printf '0.5\n1\n2\n' >o/raw/edge_cost.csv
check 'gnn-import reads integers beyond 2^53 in fields of nodes and edges' imp -o S o
holds 'integers of nodes beyond 2^53 in text' node/node code i64 '9007199254740993
-1
5'
holds 'times of edges beyond 2^53 in text' $t time i64 '0 2 7
1 0 9007199254740993
2 1 1234567890123456789'
holds 'fractions of edges in text' $t cost f32 '0 2 2
1 0 0.5
2 1 1'
printf '9007199254740993\n0.5\n5\n' >o/raw/node_code.csv
refuses 3 'node_code.csv: line 1: code 9007199254740993' 'an integer of a node beyond 2^53 beside a fraction' imp -o T o
printf '1\n18446744073709551615\n5\n' >o/raw/node_code.csv
refuses 3 'node_code.csv: line 2: code 18446744073709551615 is outside' 'an integer of a node beyond i64' imp -o T o
rm o/raw/node_code.csv
printf '1\n\n9007199254740993\n' >o/raw/edge_time.csv
refuses 3 'edge_time.csv: fewer rows than edges' 'a blank line among times' imp -o T o
printf '1\n2.5\n9007199254740993\n' >o/raw/edge_time.csv
refuses 3 'edge_time.csv: line 3: time 9007199254740993' 'a time of an edge beyond 2^53 beside a fraction' imp -o T o

# ---- arrays ----
mkdir a
echo '0 1 1 2 2 0 0 2' | npy a/edges.npy '<i8' '4, 2'
echo '9007199254740993 -9223372036854775808 5' | npy a/node_code.npy '<i8' '3,'
echo '9007199254740993 9223372036854775807 5 6' | npy a/edge_code.npy '<u8' '4,'
echo '1 2 3 4' | npy a/edge_stamp.npy '<f8' '4,'
echo '1 2 3' | npy a/time.npy '<f8' '3,'
check 'gnn-import reads integers beyond 2^53 in arrays' imp -o S a
holds 'integers of nodes beyond 2^53 in an array' node/node node_code i64 '9007199254740993
-9223372036854775808
5'
holds 'unsigned integers of edges in an array' $t edge_code i64 '0 2 5
1 0 9007199254740993
2 0 6
2 1 9223372036854775807'
holds 'whole numbers of an array of doubles' $t edge_stamp f32 '0 2 3
1 0 1
2 0 4
2 1 2'
holds 'whole times of an array of doubles' node/node time f64 '1
2
3'
echo '16777217 0.5 1 1' | npy a/edge_stamp.npy '<f8' '4,'
check 'gnn-import reads an array of doubles that f32 does not hold' imp -o S a
holds 'doubles that f32 does not hold' $t edge_stamp f64 '0 2 1
1 0 16777217
2 0 1
2 1 0.5'
echo '1 18446744073709551615 5 6' | npy a/edge_code.npy '<u8' '4,'
refuses 3 'edge_code.npy: element 2 ' 'an unsigned integer beyond i64' imp -o T a
rm a/edge_code.npy

# ---- what is stored as f32 in any case ----
says() { # PATTERN WHAT IMPORT-ARGUMENT...
    pattern=$1 what=$2
    shift 2
    check "gnn-import reads $what" imp -o S "$@"
    cp err said
    check "gnn-import says what becomes of $what" grep -q "warning: .*$pattern" said
}
echo '1e-50 1 2e-60 3' | npy a/edge_weight.npy '<f8' '4,'
says 'edge_weight.npy: weight is .* f32.* 2 become 0, the first of them 1e-50\|edge_weight.npy: .*2 become 0, .*e-50$' 'weights too small for f32' a
echo '16777217 1 2 3' | npy a/edge_weight.npy '<i8' '4,'
says 'edge_weight.npy: .*1 whole ones are rounded, the first of them 16777217$' 'weights of 25 bits' a
echo '9007199254740993 1 2 3' | npy a/edge_weight.npy '<i8' '4,'
says 'edge_weight.npy: .*1 whole ones are rounded' 'weights beyond 2^53' a
echo '0.1 16777216 0 -3' | npy a/edge_weight.npy '<f8' '4,'
check 'gnn-import reads weights that f32 holds or rounds' imp -o S a
cp err said
check 'gnn-import says nothing of fractions that are rounded' sh -c '! grep -q "stored as f32" said'
echo '1 2 3 16777217 5 6' | npy a/x.npy '<i8' '3, 2'
says 'x.npy: x .*1 whole ones are rounded, the first of them 16777217$' 'features of 25 bits' a
printf '1,2\n33554433,0\n1e-50,3\n' >x.csv
rm a/x.npy
says 'x.csv: x .*1 become 0 and 1 whole ones are rounded, the first of them 33554433$' 'features of text that f32 does not hold' \
    --features x.csv a
printf 'source,target,weight\n0,1,1e-50\n1,0,3\n' >w.csv
says 'w.csv: weight .*1 become 0' 'a weight of a table that is too small for f32' w.csv
printf '%%%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 2 16777217\n2 1 3\n' >w.mtx
says 'w.mtx: weight .*1 whole ones are rounded' 'a weight of a matrix of 25 bits' w.mtx
printf '2 1 1\n2 16777217\n1 16777217\n' >w.graph
says 'w.graph: weight .*2 whole ones are rounded' 'a weight of a METIS graph of 25 bits' w.graph
printf '16777217\n2\n3\n' >y.csv
says 'y.csv: the label .*1 whole ones are rounded' 'numbers to predict of 25 bits' --labels y.csv --task regression a
done_testing
