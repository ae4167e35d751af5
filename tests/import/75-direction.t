# Which way edges run: counted, said, obeyed where the input says it, and no edge is doubled that has its reverse.
. "$GNN_TOP/tests/lib.sh"

edges() { gnn-inspect --json "$1" | sed -n '/edge_types/,/splits/s/.*"count": \([0-9]*\).*/\1/p' | tr '\n' ' '; }
has() { # NAME STORE WANT: as many edges of each type
    check "$1: $3" test "$(edges "$2")" = "$3 "
}
says() { check "$1" grep -q -- "$2" said; }
quiet() { check "$1" sh -c '! grep -q warning said'; }
imp() { # NAME ARGUMENT...
    _what=$1
    shift
    rm -rf S
    check "$_what" gnn-import --metrics m.json -o S "$@"
    mv err said
}

# A path of 200 nodes, one direction of each edge; both; both but for one edge of 398; and a loop and a doubled edge more.
for i in $(seq 0 198); do echo "$i $((i + 1))"; done >one.txt
awk '{ print; print $2, $1 }' one.txt >both.txt
sed '$d' both.txt >nearly.txt
{ cat one.txt; echo '5 5'; echo '3 4'; echo '4 3'; echo '5 5'; } >odd.txt

imp "one direction" one.txt
says "warns" 'warning: node/to/node: 0.00 % of the edges have their reverse: .* -u; .* --directed'
says "counts" 'node/to/node: 199 edges, directed, 0.00 % have their reverse, 0 self-loops, 0 parallel$'
check "and in --metrics" grep -q '"name":"node/to/node","edges":199,"self_loops":0,"parallel_edges":0,"direction":"directed","reversed_edges":0' m.json
has "it is as it was" S 199
imp "told that it is directed" --directed one.txt
quiet "no warning"
imp "told to be silent" -q one.txt
check "nothing is said" test ! -s said
imp "undirected" -u one.txt
says "is symmetric" '398 edges, symmetric, 0 self-loops'
quiet "no warning"
has "twice the edges" S 398
imp "both directions" both.txt
says "are symmetric" '398 edges, symmetric, 0 self-loops'
quiet "no warning"
cp -r S both.gnn
imp "both directions, and -u" -u both.txt
says "which adds none" '-u adds no reverses: all edges have them already'
check "the same store" gnn-inspect --diff --ignore provenance S both.gnn
imp "both directions, -u, in little memory" -u --sort-memory 64k both.txt
check "the same store again" gnn-inspect --diff --ignore provenance S both.gnn
rm -rf S
status 2 "nearly all have their reverse, and -u" gnn-import -u -o S nearly.txt
mv err said
check "one line" test "$(wc -l <said)" = 1
says "says how many, and what to do" 'nearly.txt: 99.75 % of the edges node/to/node have their reverse already: .* -u --dedup'
check "nothing is left" test ! -e S
imp "nearly all, -u --dedup" -u --dedup nearly.txt
says "adds what is missing" '398 edges, symmetric'
has "no edge twice" S 398
imp "a loop, a reverse and a double" odd.txt
says "are counted" '203 edges, directed, 1.49 % have their reverse, 2 self-loops, 2 parallel$'
gnn-inspect -s S >said
says "by gnn-inspect too" 'node/to/node: directed, 1.49 % have their reverse; self-loops 2, parallel edges 2$'
check "in JSON as in --metrics" perl -MJSON::PP -e '
    my ($a) = @{decode_json(scalar `gnn-inspect -s --json S`)->{statistics}{edges}};
    my ($b) = @{decode_json(scalar `cat m.json`)->{edge_types}};
    $a->{$_} eq $b->{$_} or die "$_\n" for qw(name self_loops parallel_edges direction reversed_edges reverse_share)'
imp "undirected" -u odd.txt
says "reverses of doubles are doubles" '404 edges, symmetric, 2 self-loops, 5 parallel$'
gnn-inspect -s S >said
says "by gnn-inspect too" 'symmetric; self-loops 2, parallel edges 5$'
imp "once each, with loops" -u --dedup --self-loops add odd.txt
says "are counted so" '598 edges, symmetric, 200 self-loops, 0 parallel$'
gnn-inspect -s S >said
says "by gnn-inspect too" 'symmetric; self-loops 200, parallel edges 0$'
imp "without loops" --self-loops remove odd.txt
says "there are none" '201 edges, directed, 1.49 % have their reverse, 0 self-loops, 1 parallel$'
gnn-partition -q -k 3 -o parts both.gnn || exit 1
gnn-inspect -s parts >said
says "parts count like the whole" 'symmetric; self-loops 0, parallel edges 0$'
status 2 "-u and --directed" gnn-import -u --directed -o S one.txt

# What the input says of itself.
printf '%%%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n' >sym.mtx
imp "a symmetric matrix" sym.mtx
says "is obeyed, and says so" 'sym.mtx: a symmetric matrix: each entry is an edge in both directions'
has "in both directions" S 4
imp "a symmetric matrix, and -u" -u sym.mtx
has "no more than that" S 4
imp "a symmetric matrix as it stands" --directed sym.mtx
has "has its entries" S 2
printf '3 2\n2\n1 3\n2\n' >path.graph
imp "a METIS graph, and -u" -u -v path.graph
says "has both already" 'a METIS graph, which lists each edge in both directions'
has "and keeps them" S 4
printf 'a\tr\tb\nb\tr\tc\n' >kg.txt
imp "triples" kg.txt
quiet "are directed, without a warning"
imp "a generator" rmat:scale=8,edges=1
quiet "makes directed edges without a warning"

# Two types that are each other's reverses.
mkdir -p t/raw/relations/a___ab___b t/raw/relations/b___ba___a
printf 'a,ab,b\nb,ba,a\n' >t/raw/triplet-type-list.csv
printf 'a,b\n3,4\n' >t/raw/num-node-dict.csv
printf 'a,b\nFalse,False\n' | tee t/raw/nodetype-has-feat.csv >t/raw/nodetype-has-label.csv
printf '0,3\n1,2\n2,0\n' >t/raw/relations/a___ab___b/edge.csv
printf '2,1\n0,2\n3,0\n' >t/raw/relations/b___ba___a/edge.csv
for d in a___ab___b b___ba___a; do echo 3 >t/raw/relations/$d/num-edge-list.csv; done
imp "two types of each other's reverses, and -u" -u t
has "get no more" S "3 3"
says "which is said" '-u adds no reverses: all edges have them already'
printf '2,1\n0,2\n3,1\n' >t/raw/relations/b___ba___a/edge.csv
imp "two types that are not, and -u" -u t
has "get theirs" S "3 3 3 3"

# More edges than are kept: from a sample, which is said.
imp "more than is counted" --sort-memory 256k rmat:scale=14,edges=16
says "is estimated" 'edges, directed, about [0-9.]* % have their reverse, .* (estimated from [0-9]*)$'

if [ -n "${GNN_DATA:-}" ]; then
    imp "a data set of undirected pairs" "$GNN_DATA/tolokers.npz"
    says "is obeyed, and says so" 'tolokers.npz: has the members of the heterophilous graph data sets: each edge is read in both directions'
    has "both directions of each" S 1038000
    imp "the same with -u" -u "$GNN_DATA/tolokers.npz"
    has "no more than that" S 1038000
    imp "the same as it stands" --directed "$GNN_DATA/tolokers.npz"
    has "its own edges" S 519000
    imp "trust between people" "$GNN_DATA/bitcoin-otc.csv"
    says "is counted exactly" '35592 edges, directed, 79.23 % have their reverse, 0 self-loops, 0 parallel$'
    imp "a typed graph with both directions, and -u" -u "$GNN_DATA/acm.zip"
    has "no type twice" S "13407 13407 4019 4019"
else
    skip "real graphs" "GNN_DATA is not set"
fi
done_testing
