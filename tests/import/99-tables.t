# SPDX-License-Identifier: Apache-2.0
# Several tables are one graph: --edges for each edge type, --nodes for the nodes of a type, joined by ids.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-import
imp() { gnn-import --no-provenance --directed --force "$@"; }
gives() { # WHAT KEY FIELD VALUES
    perl "$GNN_TOP/tests/import/dump.pl" S/part-00000.gnb "$2" "$3" >got
    printf '%s\n' "$4" >want
    check "$1" cmp want got
}
printf 'id,age,city,y\nu1,30,Rome,1\nu2,25,Oslo,0\nu3,41,Rome,1\n' >users.csv
printf 'sku;price\n9;2\n7;1.5\n11;3\n' >items.csv
printf 'user,sku,amount,time\nu1,7,2,10\nu2,9,1,11\nu1,11,5,12\nu3,7,1,13\n' >buys.csv
printf 'a b\nu1 u2\nu2 u3\n' >follows.txt
check 'gnn-import reads two tables of nodes and two of edges' imp --nodes user=users.csv:id --nodes item=items.csv:sku \
    --edges user/buys/item=buys.csv:user,sku --edges user/follows/user=follows.txt:a,b -o S
cp err said
gnn-inspect S >got.txt
for line in 'nodes  user *3: y i32, age i64' 'nodes  item *3: price f32' 'user/buys/item *4: amount i64, time i64; in-edges ordered by time' 'user/follows/user *2$' \
    'task   binary of user'; do
    check "the store has $line" grep -q "$line" got.txt
done
check 'it says how each table was read' grep -q 'buys.csv: read as: edges by name; line 1 is the header; amount = column 3' said
check 'it says what it left out' grep -q "users.csv: .*left out, as they hold text: 'city'" said
gives 'items have the order of their numbers' node/item price '1.5
2
3'
gives 'edges find their sources by words, and their targets by numbers' user/buys/item indices '0 0 0
0 2 2
1 1 1
2 0 0'

# Plain integers: the same store as of one table
printf '5 3\n3 9\n9 5\n2 3\n' >e.txt
check 'gnn-import reads a table of numbers' imp -o T e.txt
check 'gnn-import reads it with --edges' imp --edges node/to/node=e.txt -o S
check 'both are the same store' gnn-inspect --diff S T
check 'gnn-import reads it by numbers of columns' imp --edges node/to/node=e.txt:1,2 -o S
check 'it is the same store by numbers of columns' gnn-inspect --diff S T
printf 'from,to,weight,note\nb,a,1,x\na,c,2,y\nc,b,3,z\n' >w.csv
check 'gnn-import reads a table of words' imp --map =note -o T w.csv
check 'gnn-import reads it with --edges' imp --map =note --edges node/to/node=w.csv -o S
check 'both are the same store of words' gnn-inspect --diff S T
printf 'to,from,weight,note\na,b,1,x\nc,a,2,y\nb,c,3,z\n' >v.csv
check 'gnn-import reads columns the other way' imp --map =note --edges node/to/node=v.csv:from,to -o S
named() { gnn-inspect --export - --format csv --edges node/to/node "$1" | sort; }
named S >got
named T >want
check 'it has the same edges the other way' cmp want got
check 'they have names and weights' grep -qx 'b,a,1' got

# Types without a table of nodes share their ids
printf '10 1\n20 2\n' >ab.txt
printf '2 x\n3 y\n' >bc.txt
check 'gnn-import joins types that only edges name' imp --edges a/to/b=ab.txt --edges b/to/c=bc.txt -o S
gnn-inspect S >got.txt
for line in 'nodes  a *2' 'nodes  b *3' 'nodes  c *2'; do check "the store has $line" grep -q "$line" got.txt; done
gives 'ids are words where one table has words' b/to/c indices '0 1 1
1 2 2'
printf 'id,age\nu1,30\nu2,25\nu3,41\n' >members.csv
printf 'row,user,time,label,split\n1,u1,2024-01-05,1,train\n2,u1,2024-02-05,0,test\n3,u3,2024-01-07,1,valid\n' >churn.csv
check 'gnn-import reads a task as a type of its own' imp --nodes user=members.csv:id --nodes churn=churn.csv:row --edges user/asked/churn=churn.csv:2,1 -o S
gnn-inspect S >got.txt
for line in 'nodes  churn *3: y i32, time i64' 'edges  user/asked/churn *3' 'split  file/train *1  of churn' 'split  file/test *1  of churn' 'task   binary of churn'; do
    check "the store has $line" grep -q "$line" got.txt
done

# The same in a file
mkdir sub
cp users.csv items.csv buys.csv follows.txt sub
cat >sub/shop.json <<'EOF'
{"nodes": {"user": "users.csv:id", "item": "items.csv:sku"},
 "edges": {"user/buys/item": "buys.csv:user,sku", "user/follows/user": "follows.txt:a,b"}}
EOF
check 'gnn-import reads tables that a file lists' imp --tables sub/shop.json -o S
check 'gnn-import reads them by options' imp --nodes user=users.csv:id --nodes item=items.csv:sku \
    --edges user/buys/item=buys.csv:user,sku --edges user/follows/user=follows.txt:a,b -o T
check 'it is the same store as by options' gnn-inspect --diff S T
check 'options may be beside it' imp --tables sub/shop.json --encode city=one-hot --map x=price -o S

# Text as features
printf 'id,age,city,about\nu1,30,Rome,Likes  cats; likes Cats\nu2,25,Oslo,\nu3,41,NA,dogs\n' >people.csv
check 'gnn-import encodes columns' imp --nodes user=people.csv:id --map x=age --encode city=one-hot --encode user/about=hash:8 --edges user/follows/user=follows.txt:a,b -o S
cp err said
check 'it says so' grep -q "features: 'age'; encoded as features: 'city', 'about'" said
check 'features have columns for each value and each place' sh -c 'gnn-inspect S | grep -q "x f32.11."'
perl "$GNN_TOP/tests/import/dump.pl" S/part-00000.gnb node/user x >got
check 'one-hot has the values in the order of their bytes' sh -c 'cut -d" " -f1-3 got | tr "\n" ";" | grep -qx "30 0 1;25 1 0;41 0 0;"'
check 'a bag of words has the counts of words, at length 1, and a missing one is 0' perl -e 'my @r = map { my @f = split; shift @f for 1..3; [@f] } <>;
    my @n = map { my $s = 0; $s += $_ ** 2 for @$_; $s } @r; my @c = grep { abs > 1e-6 } @{$r[0]};
    exit !(abs($n[0] - 1) < 1e-6 && $n[1] == 0 && abs($n[2] - 1) < 1e-6 && @c >= 1 && @c <= 2 && (@c == 1 || abs(abs($c[0]) - abs($c[1])) < 1e-6))' got
{ echo id,v; for i in $(seq 5000); do echo "$i,v$i"; done; } >many.csv
printf '1 2\n' >e12.txt

# Headers of Neo4j
printf 'personId:ID(Person),name,age:int,:LABEL\np1,Ann,30,Person\np2,Bob,25,Person\n' >persons.csv
printf ':START_ID(Person),:END_ID(Person),since:int,:TYPE\np1,p2,3,KNOWS\np2,p1,4,KNOWS\n' >knows.csv
check 'gnn-import reads tables of Neo4j' imp --nodes Person=persons.csv --map =:TYPE --edges Person/KNOWS/Person=knows.csv -o S
check 'fields have no types in their names' sh -c 'gnn-inspect S | grep -q "2: age i64" && gnn-inspect S | grep -q "2: since i64"'
check 'gnn-import reads a lone table of them' imp --nodes persons.csv --map =:TYPE -o S knows.csv

# Bad input
bad() { # STATUS TEXT WHAT OPTION...
    st=$1 text=$2 what=$3
    shift 3
    rm -rf X
    refuses "$st" "$text" "$what" gnn-import -o X "$@"
    check "gnn-import leaves nothing of $what" test ! -e X
}
printf 'user,sku\nu1,7\nu9,9\n' >unknown.csv
bad 3 "unknown.csv: line 3: users.csv has no row for the source 'u9'" 'a source that is in no table' --nodes user=users.csv:id --nodes item=items.csv:sku --edges user/buys/item=unknown.csv:user,sku
printf 'user,sku\nu1,7\nu2,8\n' >unknown.csv
bad 3 "unknown.csv: line 3: items.csv has no row for the target '8'" 'a target that is in no table' --nodes user=users.csv:id --nodes item=items.csv:sku --edges user/buys/item=unknown.csv:user,sku
printf 'user,sku\nu1,7\nu2,09\n' >unknown.csv
bad 3 "line 3: items.csv has no row for the target '09'" 'a number with a zero before it' --nodes user=users.csv:id --nodes item=items.csv:sku --edges user/buys/item=unknown.csv:user,sku
printf '1 2\n2 3\n' >n.txt
printf 'id\n1\n2\n' >ids.txt
bad 3 "n.txt: line 2: ids.txt has no row for the target '3'" 'a number that is in no table' --nodes v=ids.txt:id --edges v/to/v=n.txt
bad 2 'expected SRC/REL/DST=FILE' 'no type' --edges e.txt
bad 2 'expected SRC/REL/DST before the =' 'two words of a type' --edges a/b=e.txt
bad 2 'expected two columns, of sources and of targets' 'one column' --edges a/b/c=w.csv:from
bad 2 'and an INPUT exclude each other' 'an input beside' --edges a/b/c=e.txt e.txt
bad 2 'and --edge-type exclude each other' 'an edge type beside' --edges a/b/c=e.txt --edge-type a/b/c
bad 2 'with --edges, TYPE=FILE says of which type' 'a table of nodes of no type' --edges a/b/c=e.txt --nodes users.csv:id
bad 3 'absent: cannot open' 'a file that is not there' --edges a/b/c=absent
bad 2 "w.csv: there is no column 'frm'; did you mean 'from'" 'a column that is not there' --map =note --edges a/b/c=w.csv:frm,to
bad 3 'reads text tables, and this is npz' 'an array' --edges "a/b/c=$GNN_TOP/tests/import/corpus/good-fortran.npy"
cat users.csv >twice.csv
echo u1,3,Rome,0 >>twice.csv
bad 3 'twice.csv: line 5: node .u1. has a row already' 'a node with two rows' --nodes user=twice.csv:id --edges user/follows/user=follows.txt:a,b
bad 3 "knows.csv: line 2: not a number 'KNOWS', in column 4 (--map =:TYPE leaves it out)" 'relations in a column' --edges Person/KNOWS/Person=knows.csv
printf '{"nodes": {"user": 3}, "edges": {}}' >bad.json
bad 3 "bad.json: 'user' of 'nodes' is no text" 'a list with a number' --tables bad.json
printf '{"node": {}}' >bad.json
bad 3 "bad.json: 'node' is none of nodes, edges" 'a list with another member' --tables bad.json
printf '{"nodes": {}}' >bad.json
bad 2 'it has no "edges"' 'a list without edges' --tables bad.json
printf '{"nodes": {' >bad.json
bad 3 'bad.json: JSON: ' 'a list that is cut' --tables bad.json
bad 3 'absent.json: ' 'a list that is not there' --tables absent.json
bad 2 "no table of nodes has such a column" 'a column that is not there to encode' --nodes user=people.csv:id --encode town=one-hot --edges user/follows/user=follows.txt:a,b
bad 2 'expected COLUMN=one-hot or COLUMN=hash:N' 'no way to encode' --nodes user=people.csv:id --encode city=two-hot --edges user/follows/user=follows.txt:a,b
bad 2 'expected COLUMN=one-hot or COLUMN=hash:N' 'a width of 0' --nodes user=people.csv:id --encode city=hash:0 --edges user/follows/user=follows.txt:a,b
bad 2 'the column has the ids' 'ids to encode' --nodes user=people.csv:id --encode id=one-hot --edges user/follows/user=follows.txt:a,b
bad 2 'is named by --map, too' 'a column with two uses' --nodes user=people.csv:id --map x=city --encode city=one-hot --edges user/follows/user=follows.txt:a,b
bad 3 "column 'v' has more than 4096 values, too many for one-hot" 'too many values' --nodes n=many.csv:id --encode v=one-hot --edges n/to/n=e12.txt
printf 'id,label\na,x\nb,y\n' >ul.csv
printf 'id,label\np,1\nq,0\n' >il.csv
printf 'a,p\nb,q\n' >ui.csv
bad 3 'il.csv: labels of item, and there are those of user: a store has those of one node type' 'numbers as labels of a second type' --nodes user=ul.csv:id --nodes item=il.csv:id --edges user/buys/item=ui.csv
bad 3 'ul.csv: labels of user, and there are those of item: a store has those of one node type' 'words as labels of a second type' --nodes item=il.csv:id --nodes user=ul.csv:id --edges user/buys/item=ui.csv
bad 2 '--encode does not apply to the format generator' 'a generator' --encode city=one-hot rmat:scale=3
done_testing
