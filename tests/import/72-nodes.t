# SPDX-License-Identifier: Apache-2.0
# Tables of nodes: rows are found by id, in any order; what is wrong is named with its line.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-import
imp() { gnn-import -q --directed --no-provenance "$@"; }
values() { perl "$GNN_TOP/tests/import/dump.pl" "$1/part-00000.gnb" node/node "$2" | tr '\n' ';'; }
is() { # NAME STORE FIELD ROWS
    [ "$(values "$2" "$3")" = "$4" ] && _ok "$1" || _not_ok "$1: $(values "$2" "$3")"
}
seen() { gnn-inspect "$1" | grep -q -- "$2"; }
says() { # NAME STATUS PATTERN ARGUMENT...: one line that says so
    what=$1 want=$2 pattern=$3
    shift 3
    status "$want" "gnn-import refuses $what" imp "$@" -o bad
    what="gnn-import says what is wrong with $what"
    [ "$(wc -l <err)" -eq 1 ] && grep -q -e "$pattern" err && _ok "$what" || _not_ok "$what"
}
shuffled() { # FILE: its header, and its rows in another order
    head -1 "$1"
    tail -n +2 "$1" | sort -r
}

printf 'source,target\n5,9\n9,20\n20,5\n20,9\n' >e.csv
printf 'a\tr\tb\nb\tr\tc d\nc d\tr\ta\n' >t.tsv

# A table with all that it may have.
cat >n.csv <<END
id,f0,f1,label,set,year,title
20,0.5,1,1,train,2001,"Twenty, a title"
5,0.25,2,0,valid,1999,Five
9,.5,3,,,1998,Nine
33,1e3,4,0,test,2010,lone
END
shuffled n.csv >m.csv
check 'gnn-import --nodes reads a table of nodes' imp --nodes n.csv e.csv -o N
check 'gnn-import --nodes reads it in another order' imp --nodes m.csv e.csv -o M
check 'another order of rows gives the same store' cmp N/part-00000.gnb M/part-00000.gnb
is 'nodes are in the order of their ids, those without edges included' N key '5;9;20;33;'
is 'features are those of the ids' N x '0.25 2;0.5 3;0.5 1;1000 4;'
is 'labels are those of the ids, and may be missing' N y '0;-1;1;0;'
is 'other numbers are fields' N year '1999;1998;2001;2010;'
check 'a column of sets makes a split' seen N 'file/valid  *1 '
check 'text is left out' sh -c '! gnn-inspect N | grep title'
gnn-import --directed --nodes n.csv e.csv -o told 2>told.err
check 'gnn-import says what it took each column for' \
    grep -q "n.csv: read as ids: 'id'; features: 'f0', 'f1'; labels: 'label'; sets: 'set'; fields: 'year'; left out, as they hold text: 'title'" told.err

# The same with names.
sed 's/^20,/c d,/; s/^5,/a,/; s/^9,/b,/; s/^33,/0/' n.csv | sed 's/^01e3/zz,1e3/' >nn.csv
shuffled nn.csv >mm.csv
check 'gnn-import --nodes reads a table of named nodes' imp --nodes nn.csv t.tsv -o NN
check 'gnn-import --nodes reads it in another order' imp --nodes mm.csv t.tsv -o MM
check 'another order of rows gives the same store, with names' cmp NN/part-00000.gnb MM/part-00000.gnb
is 'features are those of the names' NN x '0.25 2;0.5 3;0.5 1;1000 4;'
printf 'zb\nza\nid-less\na\n' >list
check 'gnn-import --nodes reads a list of names' imp --nodes list t.tsv -o NL
sort list >list2
check 'gnn-import --nodes reads the list in another order' imp --nodes list2 t.tsv -o NL2
check 'names without edges are in the order of their bytes' cmp NL/part-00000.gnb NL2/part-00000.gnb

printf 'id,x\n9,1\n5,2\n20,3\n99999999999999999999,4\n' >huge.csv
check 'an id of 2^63 and more is a word, and so are all' imp --nodes huge.csv e.csv -o U
check 'and its node has no edges' sh -c 'gnn-inspect U | grep -q "node  *4:"'
printf 'id,x\n9,1\n5,NA\n20,3\n' >na.csv
says 'a feature that is NA' 3 "na.csv: line 3: 'x' is missing or nan" --nodes na.csv e.csv
printf 'id,x,y\n9,1,2\n5,3,70000\n20,1,1\n' >wide.csv
says 'a feature of a table that is too large for f16' 3 "wide.csv: node '5', feature 2: 70000 is too large for f16" \
    --features wide.csv:id --dtype f16 e.csv

# Two node types in one table.
printf '%s\n' user,item,rating 1,1,5 1,7,3 2,7,4 >bought.csv
printf '%s\n' id,age 2,31 1,47 9,11 >users.csv
printf '%s\n' item_id,label 1,0 3,1 7,1 >items.csv
two() { imp --edge-type user/buys/item --nodes user=users.csv --nodes item=items.csv "$@"; }
check 'gnn-import --edge-type reads two node types' two bought.csv -o TT
check 'users and items are apart' sh -c 'gnn-inspect TT | grep -q "user  *3: age" && gnn-inspect TT | grep -q "item  *3: y"'
[ "$(perl "$GNN_TOP/tests/import/dump.pl" TT/part-00000.gnb user/buys/item rating | tr '\n' ';')" = '0 0 5;2 0 3;2 1 4;' ] &&
    _ok 'edges lead from users to items' || _not_ok 'edges lead from users to items'
check 'gnn-import -u adds the reverse' gnn-import -q -u --edge-type user/buys/item bought.csv -o TU
check 'as a type of its own' seen TU item/rev_buys/user
sed '2,$s/^/u/; 2,$s/,/,i/' bought.csv >named.csv
sed '2,$s/^/u/' users.csv >named-users.csv
check 'gnn-import reads two node types with names' imp --edge-type user/buys/item --nodes user=named-users.csv named.csv -o TN
printf 'item,user\nx,u1\nx,u2\ny,x\n' >swapped.csv
check 'the same name may be of both types' imp --edge-type user/buys/item --columns source=user,target=item swapped.csv -o TS
check 'and is then two nodes' sh -c 'gnn-inspect TS | grep -q "user  *3" && gnn-inspect TS | grep -q "item  *2"'
check 'gnn-import --edge-type names types' imp --edge-type paper/cites/paper e.csv -o TC
check 'of nodes and edges' seen TC 'paper/cites/paper  *4'
check 'gnn-import --split takes sets of the type with labels' two --split train=items.csv bought.csv -o TL
printf '%s\n' id,v 7,1 1,2 >item-x.csv
printf '%s\n' 1 2 >user-x.csv
check 'gnn-import --features takes TYPE=FILE' imp --edge-type user/buys/item --features item=item-x.csv --features user=user-x.csv bought.csv -o TF
check 'features are those of their types' sh -c 'gnn-inspect TF | grep -q "user  *2: x" && gnn-inspect TF | grep -q "item  *2: x"'
says 'a table of no type' 2 'users.csv: several node types: TYPE=users.csv says of which it is; node types: user, item' \
    --edge-type user/buys/item --nodes users.csv bought.csv
says 'features of no type' 2 'items.csv: several node types: TYPE=items.csv says of which it is' --edge-type user/buys/item --labels items.csv bought.csv
says 'a type that is not there' 2 "users.csv: there is no node type 'usr'; did you mean 'user'?" \
    --edge-type user/buys/item --nodes usr=users.csv bought.csv
says 'a type of edges that is none' 2 'user/buys: expected SRC/REL/DST' --edge-type user/buys bought.csv
says 'one count for two types' 2 'there are two node types' --edge-type user/buys/item --nodes 9 bought.csv
says 'a type of edges for triples' 2 '--edge-type does not apply' --edge-type a/b/c t.tsv

# Roles by --map; times; more than one label; masks.
cat >p.csv <<END
paper_id,w1,w2,w3,field,born
9,1,2,3,1,1.5
5,4,5,6,0,2
20,7,8,9,1,3
END
check 'gnn-import --map takes columns of a table of nodes' imp --map x=w1..w3,y=field --time born --nodes p.csv e.csv -o P
is '--map x=FIRST..LAST takes all columns between' P x '4 5 6;1 2 3;7 8 9;'
is '--map y=COLUMN takes labels' P y '0;1;1;'
is '--time takes times of nodes' P time '2;1.5;3;'
says 'a --map of a column that is not there' 2 'has nothing of that name' --map y=feild --nodes p.csv e.csv
printf 'id,y0,y1,train_mask,test_mask\n9,1,0,1,0\n5,1,1,0,True\n20,0,0,1,False\n' >q.csv
check 'gnn-import reads several labels and masks' imp --nodes q.csv e.csv -o Q
is 'several columns of labels are a multilabel task' Q y '1 1;1 0;0 0;'
check 'masks are sets' seen Q 'file/train  *2 '
printf 'Id,Label\n9,AI\n5,DB\n20,AI\n' >w.csv
check 'gnn-import reads classes that are words' imp --nodes w.csv e.csv -o W
is 'classes are numbered in the order of their names' W y '1;0;0;'
printf 'n9,1\nn5,2\n' >two.csv
printf 'id,big\n9,9007199254740993\n5,-9223372036854775808\n20,9223372036854775807\n' >big.csv
check 'gnn-import reads large integers of nodes' imp --nodes big.csv e.csv -o B
is 'large integers of nodes are exact' B big '-9223372036854775808;9007199254740993;9223372036854775807;'
printf 'key;x\n9;1\n5;2\n20;3\n' >semi.csv
check 'gnn-import reads a table with semicolons' imp --nodes semi.csv e.csv -o S
printf 'paper,node\n9,1\n5,2\n20,3\n' >two_ids.csv
check 'gnn-import --nodes FILE:COLUMN names the ids' imp --nodes two_ids.csv:paper e.csv -o T
is 'a column of ids that is not chosen is a field' T node '2;1;3;'
check 'gnn-import --nodes FILE:NUMBER names the ids' imp --nodes two_ids.csv:1 e.csv -o T1
check 'FILE:NUMBER and FILE:COLUMN are the same' cmp T/part-00000.gnb T1/part-00000.gnb

# What is wrong with a table.
bad() { # NAME PATTERN TEXT: a table of that text is refused
    printf '%b' "$3" >b.csv
    says "$1" "${4:-3}" "$2" --nodes b.csv e.csv
}
bad 'a row twice' "b.csv: line 5: node '9' has a row already, in line 2" 'id,x\n9,1\n5,2\n20,3\n9,4\n'
bad 'nodes without a row' "b.csv: 2 of 3 nodes have no row, the first of them '9'" 'id,x\n5,2\n'
bad 'features that are missing' "b.csv: line 3: 'x' is missing or nan" 'id,x\n9,1\n5,\n20,3\n'
bad 'features that are no numbers' "b.csv: line 3: 'x' is no number: 'two'" 'id,x\n9,1\n5,two\n20,3\n'
bad 'truth values among features' "b.csv: line 3: 'x' is no number: 'False'; write 1 and 0" 'id,x\n9,1\n5,False\n20,3\n'
bad 'an id that is missing' "b.csv: line 3: column 1: the id is empty" 'id,x\n9,1\n,2\n20,3\n'
bad 'an id that is nan' "b.csv: line 3: ids are numbers, and not 'nan'" 'id,x\n9,1\nnan,2\n20,3\n'
bad 'an id that is negative' "b.csv: line 3: ids are numbers, and not '-5'" 'id,x\n9,1\n-5,2\n20,3\n'
bad 'an id with a NUL' "b.csv: line 3: a byte of value 0, which is no text" 'id,y\n9,1\n5\0000,2\n'
bad 'an id with a control character' "b.csv: line 3: column 1: the id has a control character: '5\\\\u0001'" 'id,y\n9,1\n5\0001,2\n'
bad 'an id in Latin-1' "b.csv: line 3: column 1: the id is not UTF-8: 'M\\\\xfcller' (if it is Latin-1, iconv" 'id,y\n9,1\nM\0374ller,0\n'
bad 'a row that is cut' 'b.csv: line 4: 1 field instead of 2' 'id,x\n9,1\n5,2\n20'
bad 'a header and no rows' 'b.csv: a header line, and no rows' 'id,x\n'
bad 'an empty table' 'b.csv: no rows' ''
bad 'a table without ids' "b.csv: none of its 2 columns is called like ids: --nodes b.csv:COLUMN names it; columns: a, b" 'a,b\n9,1\n5,2\n20,3\n'
bad 'a table without a header' 'b.csv: no header, and none of its 2 columns' '9,1\n5,2\n20,3\n'
bad 'two columns of ids' "b.csv: 'id' and 'ID' are both called like ids" 'id,ID\n9,1\n'
bad 'a set that is none' "b.csv: line 2: no set is 'trian'" 'id,set\n9,trian\n'
bad 'a mask that is none' "b.csv: line 2: a mask is '2': expected 0 or 1" 'id,train_mask\n9,2\n'
bad 'a label that no task takes' "b.csv: line 3: '0.5' is not a class" 'id,y\n9,1\n5,0.5\n'
bad 'labels that are words and numbers' 'b.csv: the label in line 3 is a word, and that in line 2 a number' 'id,y\n9,1\n5,a\n'
printf 'id,set\n9,train\n5,\n20,\n' >in.csv && sed 's/5,/5,NULL/; s/20,/20,N\/A/' in.csv >missing.csv
check 'a set may be missing' gnn-import -q --no-provenance --directed --nodes in.csv -o IN e.csv
check 'a set may be missing in words' gnn-import -q --no-provenance --directed --nodes missing.csv -o MISSING e.csv
check 'both ways are the same' cmp IN/part-00000.gnb MISSING/part-00000.gnb
printf 'Id,Label\n9,ann\n5,bob\n20,cid\n' >gephi.csv
gnn-import --directed --nodes gephi.csv -o G e.csv 2>G.err
check 'labels that differ are names, and left out' grep -q "left out, as they hold text: 'Label'" G.err
says 'names that are given as labels' 3 'gephi.csv: the labels of all nodes differ, as names do' --labels gephi.csv e.csv
bad 'coordinates' 'b.csv: columns x and y are features and labels, or coordinates' 'id,x,y\n9,1,0\n5,1,0\n20,1,1\n'
bad 'a field called twice' "b.csv: node type 'node' has two fields called 'a'" 'id,a,a\n9,1,2\n5,1,2\n20,1,2\n'
bad 'an integer that no type holds' 'b.csv: line 2: a 9223372036854775808 is outside' 'id,a\n9,9223372036854775808\n5,1\n20,1\n'
printf '9,1\n5,2\n20,3\n' >b.csv
says 'a table of several columns without names' 3 'b.csv: no header says what its 2 columns are' --nodes b.csv:1 e.csv
says 'a column that is not there' 2 "n.csv: there is no column 'idd'; did you mean 'id'?" --nodes n.csv:idd e.csv
says 'a file that is not there' 3 'nope.csv: ' --nodes nope.csv e.csv
says 'a node type that is not there' 2 "n.csv: there is no node type 'user'; node types: node" --nodes user=n.csv e.csv
says 'a count and a table' 2 '--nodes 7 and --nodes n.csv exclude each other' --nodes 7 --nodes n.csv e.csv
says 'a count of 0' 2 '--nodes 0: expected a count' --nodes 0 e.csv
says 'a device' 2 '/dev/null: not a file' --nodes /dev/null e.csv
mkdir empty
says 'an empty directory' 3 'empty: ' --nodes empty e.csv
mkfifo fifo
: >fifo &
says 'an empty FIFO' 3 'fifo: ' --nodes fifo:id e.csv
check 'nothing is left of stores that were refused' test ! -e bad

# Features and labels by id.
printf 'name,x0,x1\nb,1,2\nc d,3,4\na,5,6\n' >x.csv
printf 'c d,1\na,0\n' >y.csv
printf 'c d\nb\n' >train
check 'gnn-import takes features, labels and sets of named nodes' imp --features x.csv --labels y.csv --split train=train t.tsv -o F
is 'rows of --features are found by name' F x '5 6;1 2;3 4;'
is 'rows of --labels are found by name, and may be missing' F y '0;-1;1;'
check 'sets are found by name' seen F 'file/train  *2 '
check 'gnn-import --features FILE:COLUMN names the ids' imp --features x.csv:name t.tsv -o F2
printf '20,1\n9,0\n5,1\n' >idl.csv
says 'a first column that may be ids' 3 'idl.csv: column 1 is the ids of the nodes, .*--labels idl.csv:1 finds rows by it, idl.csv:0 takes' --labels idl.csv e.csv
check 'gnn-import --labels FILE:1 finds rows by it' imp --labels idl.csv:1 e.csv -o L
is 'rows are found by their first column' L y '1;0;1;'
check 'gnn-import --labels FILE:0 takes it for a label' imp --labels idl.csv:0 --task regression e.csv -o L0
is 'rows are in order, and the first column a label like others' L0 y '20 1;9 0;5 1;'
printf ',0,1\n20,2,3\n5,3,4\n9,0,0\n' >pandas.csv
check 'gnn-import reads the index of pandas' imp --features pandas.csv e.csv -o PD
is 'an index that has all ids has the ids' PD x '3 4;0 0;2 3;'
printf 'a,b\n1,2\n3,4\n5,6\n' >head.csv
check 'gnn-import reads features in order, below a header' imp --features head.csv e.csv -o H
is 'a header is no row' H x '1 2;3 4;5 6;'
printf 'label\nAI\nDB\nAI\n' >words
check 'gnn-import reads labels below a header' imp --labels words e.csv -o HL
is 'a header is no label' HL y '0;1;0;'
printf 'id,y\nzz,1\n' >y2.csv
says 'an id that no node has' 3 "y2.csv: line 2: no node has the id 'zz': ids are in 'id' (FILE:COLUMN" --labels y2.csv t.tsv
printf 'id,x\n5,1\n9,2\n' >x2.csv
says 'features of some nodes' 3 "x2.csv: 1 of 3 nodes have no row, the first of them '20'" --features x2.csv e.csv
printf 'v\n1\n2\n' >short
says 'too few rows' 3 'short: 2 rows for 3 nodes' --features short e.csv
printf 'v\n1\n2\n3\n4\n' >long
says 'too many rows' 3 'long: line 5: more rows than the 3 nodes' --features long e.csv
printf '' >none
says 'an empty file of features' 3 'none: no rows' --features none e.csv
printf 'id\n5\n' >ids
says 'ids and nothing else' 3 'ids: a column of ids and no other' --labels ids e.csv
printf '1,2\n3,4\n5,6\n' >rows.csv
gnn-import --directed -o R --features rows.csv t.tsv 2>rows.err
check 'gnn-import warns of rows in the order of named nodes' grep -q 'warning: rows.csv: rows are taken in the order in which the edges name' rows.err

# Sets by id.
printf 'x,id\n1,20\n0,5\n' >two
check 'gnn-import --split takes the column of ids' imp --split train=two e.csv -o S1
check 'gnn-import --split takes FILE:COLUMN' imp --split train=two:id e.csv -o S2
check 'gnn-import --split takes the same ids' cmp S1/part-00000.gnb S2/part-00000.gnb
says 'a column that has no ids' 3 "two: line 2: no node has the id '1'" --split train=two:x e.csv
says 'a column that is not there' 2 "two: there is no column 'nid'; did you mean 'id'?" --split train=two:nid e.csv
printf 'a\nnobody\n' >un
says 'a name that no node has' 3 "un: line 2: no node has the id 'nobody'" --split train=un t.tsv
printf 'a\nb\na\n' >du
says 'a name twice' 3 'du: split file/train: node a is a duplicate, in lines 1 and 3' --split train=du t.tsv
says 'a set without a column of ids' 2 'two: none of its 2 columns is called like ids' --split train=two:0 e.csv
printf 'a "b"\tr\tb\n' >quoted.tsv
printf '"a ""b"""\n' >quoted
check 'a first name with quotes in it is one' imp --split train=quoted --format triples quoted.tsv -o S5
check 'that name is in the set' seen S5 'file/train  *1 '
printf 'name\nb\n' >named
check 'a header above names is no name' imp --split train=named t.tsv -o S3
printf 'name\tr\tb\n' >t2.tsv
check 'a name is no header if a node has it' imp --split train=named --format triples t2.tsv -o S4
check 'both names are in the set' seen S4 'file/train  *2 '
# Tables that speak of other nodes, and columns without a name.
printf 'source,target\n001,002\n002,003\n' >zeros.csv
printf 'id,label\n1,A\n2,B\n3,A\n' >lost.csv
says 'ids none of which is in the edges' 3 "lost.csv: none of its ids is in the edges, which have '001': its first is '1'" --nodes lost.csv zeros.csv
printf 'id,label\n7,A\n8,B\n' >away.csv
says 'numbers none of which is in the edges' 3 "away.csv: none of its ids is in the edges: its first is '7'" --nodes away.csv e.csv
printf 'id,label\n7,A\n8,B\n20,A\n' >some.csv
gnn-import --directed -o SOME --nodes some.csv e.csv 2>some.err
check 'gnn-import says how many nodes are in no edge' grep -q '2 of 5 nodes are in no edge' some.err
printf 'id,label\n7.0,A\n20.0,B\n' >real.csv
says 'ids that are no integers' 3 "real.csv: line 2: ids are numbers, and not '7.0'" --nodes real.csv e.csv
printf ',f1,label\nb,1,A\na,2,B\nc d,3,A\n' >index.csv
check 'gnn-import --nodes reads an index of pandas that has words' imp --nodes index.csv t.tsv -o IX
is 'an index of words has the ids' IX x '2;1;3;'
printf ',f1,label\n0,1,A\n1,2,B\n2,3,A\n' >index.csv
says 'an index of numbers' 3 'index.csv: none of its 3 columns is called like ids' --nodes index.csv e.csv
printf ',f1,f2\n0,1,2\n1,3,4\n2,5,6\n' >count.csv
check 'gnn-import --features leaves out an index that has no ids' imp --features count.csv e.csv -o CT
is 'a column without a name is no feature' CT x '1 2;3 4;5 6;'
printf 'id,when\n5,2020-01-01\n9,2020-01-02\n20,2020-01-03\n' >dates.csv
printf 'id,when\n5,2020-01-01\n9,Monday\n20,2020-01-03\n' >days.csv
says 'text that --map names' 3 "days.csv: line 3: 'when' as 'time' is no number and no date like 2024-01-03" --map time=when --nodes days.csv e.csv
printf 'id,when\n5,2020-01-01\n9,7\n20,2020-01-03\n' >days.csv
says 'dates and numbers of nodes' 3 'days.csv: time is a date in line 2 and a number in line 3' --map time=when --nodes days.csv e.csv
check 'gnn-import reads dates of nodes' gnn-import --no-provenance --directed --force --map time=when --nodes dates.csv -o dated e.csv
cp err said.dates
check 'gnn-import says how' grep -q 'dates.csv: dates of time are read as seconds since 1970-01-01' said.dates
printf 'id,train_mask,test_mask\n5,1,0\n9,1,1\n20,0,1\n' >both.csv
says 'a node in two sets' 3 'both.csv: line 3: a node in two sets' --nodes both.csv e.csv
printf 'id,Paid Amount\n5,1\n9,1\n20,0\n' >blank.csv
says 'a column that cannot be a field' 3 "blank.csv: field name 'Paid Amount' has a blank.*--map NEW='Paid Amount'" --nodes blank.csv e.csv
says 'rows without ids' 2 'dates.csv:0: rows are found by ids' --nodes dates.csv:0 e.csv
done_testing
