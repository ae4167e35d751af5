# SPDX-License-Identifier: Apache-2.0
# Which way edges run: counted, said, obeyed where the input says it, and no edge is doubled that has its reverse.
. "$GNN_TOP/tests/lib.sh"

edges() { gnn-inspect --json "$1" | sed -n '/edge_types/,/splits/s/.*"count": \([0-9]*\).*/\1/p' | tr '\n' ' '; }
has() { # NAME STORE WANT: as many edges of each type
    check "$1" test "$(edges "$2")" = "$3 "
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

imp "gnn-import reads edges of one direction" one.txt
says "gnn-import warns that no edge has its reverse" 'warning: node/to/node: 0.00 % of the edges have their reverse: .* -u; .* --directed'
says "gnn-import counts edges of one direction" 'node/to/node: 199 edges, directed, 0.00 % have their reverse, 0 self-loops, 0 parallel$'
check "gnn-import --metrics counts edges of one direction" \
    grep -q '"name":"node/to/node","edges":199,"self_loops":0,"parallel_edges":0,"direction":"directed","reversed_edges":0' m.json
has "gnn-import adds no reverse edges unless it is told to" S 199
imp "gnn-import --directed reads edges of one direction" --directed one.txt
quiet "gnn-import --directed does not warn of edges of one direction"
imp "gnn-import -q reads edges of one direction" -q one.txt
check "gnn-import -q says nothing of edges of one direction" test ! -s said
imp "gnn-import -u reads edges of one direction" -u one.txt
says "gnn-import -u makes edges of one direction symmetric" '398 edges, symmetric, 0 self-loops'
quiet "gnn-import -u does not warn of edges of one direction"
has "gnn-import -u doubles edges of one direction" S 398
imp "gnn-import reads edges of both directions" both.txt
says "gnn-import finds edges of both directions symmetric" '398 edges, symmetric, 0 self-loops'
quiet "gnn-import does not warn of edges of both directions"
cp -r S both.gnn
imp "gnn-import -u reads edges of both directions" -u both.txt
says "gnn-import -u says that it adds no reverses to edges of both directions" '-u adds no reverses: all edges have them already'
check "gnn-import -u makes the same store of edges of both directions" gnn-inspect --diff --ignore provenance S both.gnn
imp "gnn-import -u --sort-memory 64k reads edges of both directions" -u --sort-memory 64k both.txt
check "gnn-import -u --sort-memory 64k makes the same store of edges of both directions" gnn-inspect --diff --ignore provenance S both.gnn
rm -rf S
status 2 "gnn-import -u refuses edges of which nearly all have their reverse" gnn-import -u -o S nearly.txt
mv err said
check "gnn-import -u refuses nearly symmetric edges in one line" test "$(wc -l <said)" = 1
says "gnn-import -u says how many edges have their reverse, and what to do" \
    'nearly.txt: 99.75 % of the edges node/to/node have their reverse already: .* -u --dedup'
check "gnn-import -u leaves no store of nearly symmetric edges" test ! -e S
imp "gnn-import -u --dedup reads nearly symmetric edges" -u --dedup nearly.txt
says "gnn-import -u --dedup makes nearly symmetric edges symmetric" '398 edges, symmetric'
has "gnn-import -u --dedup stores no edge twice" S 398
imp "gnn-import reads loops, reverses and duplicates" odd.txt
says "gnn-import counts loops, reverses and duplicates" '203 edges, directed, 1.49 % have their reverse, 2 self-loops, 2 parallel$'
gnn-inspect -s S >said
says "gnn-inspect -s counts loops, reverses and duplicates" 'node/to/node: directed, 1.49 % have their reverse; self-loops 2, parallel edges 2$'
check "gnn-inspect -s --json counts edges like gnn-import --metrics" perl -MJSON::PP -e '
    my ($a) = @{decode_json(scalar `gnn-inspect -s --json S`)->{statistics}{edges}};
    my ($b) = @{decode_json(scalar `cat m.json`)->{edge_types}};
    $a->{$_} eq $b->{$_} or die "$_\n" for qw(name self_loops parallel_edges direction reversed_edges reverse_share)'
imp "gnn-import -u reads loops, reverses and duplicates" -u odd.txt
says "gnn-import -u counts reverses of duplicates as duplicates" '404 edges, symmetric, 2 self-loops, 5 parallel$'
gnn-inspect -s S >said
says "gnn-inspect -s counts reverses of duplicates as duplicates" 'symmetric; self-loops 2, parallel edges 5$'
imp "gnn-import -u --dedup --self-loops add reads loops, reverses and duplicates" -u --dedup --self-loops add odd.txt
says "gnn-import counts a loop a node and no duplicate after --dedup --self-loops add" '598 edges, symmetric, 200 self-loops, 0 parallel$'
gnn-inspect -s S >said
says "gnn-inspect -s counts a loop a node and no duplicate after --dedup --self-loops add" 'symmetric; self-loops 200, parallel edges 0$'
imp "gnn-import --self-loops remove reads loops, reverses and duplicates" --self-loops remove odd.txt
says "gnn-import --self-loops remove leaves no loop" '201 edges, directed, 1.49 % have their reverse, 0 self-loops, 1 parallel$'
gnn-partition -q -k 3 -o parts both.gnn || exit 1
gnn-inspect -s parts >said
says "gnn-inspect -s counts the edges of partitions like those of the whole" 'symmetric; self-loops 0, parallel edges 0$'
status 2 "gnn-import refuses -u with --directed" gnn-import -u --directed -o S one.txt

# What the input says of itself.
printf '%%%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n' >sym.mtx
imp "gnn-import reads a symmetric matrix" sym.mtx
says "gnn-import says that a symmetric matrix has both directions" 'sym.mtx: a symmetric matrix: each entry is an edge in both directions'
has "gnn-import stores both directions of a symmetric matrix" S 4
imp "gnn-import -u reads a symmetric matrix" -u sym.mtx
has "gnn-import -u adds nothing to a symmetric matrix" S 4
imp "gnn-import --directed reads a symmetric matrix" --directed sym.mtx
has "gnn-import --directed stores only the entries of a symmetric matrix" S 2
printf '3 2\n2\n1 3\n2\n' >path.graph
imp "gnn-import -u reads a METIS graph" -u -v path.graph
says "gnn-import -u -v says that a METIS graph lists both directions" 'a METIS graph, which lists each edge in both directions'
has "gnn-import -u adds nothing to a METIS graph" S 4
printf 'a\tr\tb\nb\tr\tc\n' >kg.txt
imp "gnn-import reads triples" kg.txt
quiet "gnn-import does not warn that triples are directed"
imp "gnn-import generates rmat:" rmat:scale=8,edges=1
quiet "gnn-import does not warn that the edges of rmat: are directed"

# Two types that are each other's reverses.
mkdir -p t/raw/relations/a___ab___b t/raw/relations/b___ba___a
printf 'a,ab,b\nb,ba,a\n' >t/raw/triplet-type-list.csv
printf 'a,b\n3,4\n' >t/raw/num-node-dict.csv
printf 'a,b\nFalse,False\n' | tee t/raw/nodetype-has-feat.csv >t/raw/nodetype-has-label.csv
printf '0,3\n1,2\n2,0\n' >t/raw/relations/a___ab___b/edge.csv
printf '2,1\n0,2\n3,0\n' >t/raw/relations/b___ba___a/edge.csv
for d in a___ab___b b___ba___a; do echo 3 >t/raw/relations/$d/num-edge-list.csv; done
imp "gnn-import -u reads two types that are each other's reverses" -u t
has "gnn-import -u adds nothing to types that are each other's reverses" S "3 3"
says "gnn-import -u says that it adds nothing to types that are each other's reverses" '-u adds no reverses: all edges have them already'
imp "gnn-import reads two types that are each other's reverses" t
says "gnn-import finds types that are each other's reverses" '^gnn-import: b/ba/a: these edges are the reverses of a/ab/b$'
check "gnn-inspect says so" sh -c "gnn-inspect S | grep -q 'b/ba/a  *3; reverses of a/ab/b'"
check "and gnn-inspect --json" sh -c "gnn-inspect --json S | grep -q '\"reverse_of\": *\"a/ab/b\"'"
check "and partitions" sh -c "gnn-partition -q -k 2 --method random -o P S && gnn-inspect P | grep -q '; reverses of a/ab/b'"
imp "gnn-import --reverse-of says which of them has the reverses" --reverse-of a/ab/b=b/ba/a t
check "and gnn-inspect, too" sh -c "gnn-inspect S | grep -q 'a/ab/b  *3; reverses of b/ba/a'"
printf '2,1\n0,2\n3,1\n' >t/raw/relations/b___ba___a/edge.csv
imp "gnn-import -u reads two types that are not each other's reverses" -u t
has "gnn-import -u adds the reverses of types that are not each other's" S "3 3 3 3"
imp "gnn-import reads two types that are not each other's reverses" t
status 1 "gnn-import does not take them for that" grep -q 'are the reverses' said
imp "gnn-import --reverse-of reads reverses that are not complete" --reverse-of b/ba/a=a/ab/b t
says "and warns" 'warning: --reverse-of: the edges b/ba/a are not exactly the reverses of a/ab/b'
refusing=gnn-import
refuses 2 "'b/ba/a' have other reverses, too, 'a/rev_ba/b'" 'reverses that -u adds beside named ones' gnn-import -u --reverse-of b/ba/a=a/ab/b -o x t
refuses 2 "no edge type 'b/bo/a'; did you mean 'b/ba/a'" 'a type that there is not' gnn-import --reverse-of b/bo/a=a/ab/b -o x t
refuses 2 'expected S/R/D=D/Q/S' 'one type' gnn-import --reverse-of b/ba/a -o x t
refuses 2 'must be of another type' 'a type as its own reverse' gnn-import --reverse-of b/ba/a=b/ba/a -o x t
refuses 2 "'a/ab/b' and 'b/ba/a' are each other's reverses" 'reverses that are named twice' \
    gnn-import --reverse-of b/ba/a=a/ab/b --reverse-of a/ab/b=b/ba/a -o x t
refuses 2 'cannot be used with --split-links' 'a store' gnn-import --reverse-of b/ba/a=a/ab/b --split-links a/ab/b=80/10/10 -o x S

# More edges than are kept: from a sample, which is said.
imp "gnn-import --sort-memory 256k reads more edges than it keeps" --sort-memory 256k rmat:scale=14,edges=16
says "gnn-import estimates from a sample how many of many edges have their reverse" \
    'edges, directed, about [0-9.]* % have their reverse, .* (estimated from [0-9]*)$'

if [ -n "${GNN_DATA:-}" ]; then
    imp "gnn-import reads tolokers" "$GNN_DATA/tolokers.npz"
    says "gnn-import says that it reads tolokers in both directions" \
        'tolokers.npz: has the members of the heterophilous graph data sets: each edge is read in both directions'
    has "gnn-import stores both directions of tolokers" S 1038000
    imp "gnn-import -u reads tolokers" -u "$GNN_DATA/tolokers.npz"
    has "gnn-import -u adds nothing to tolokers" S 1038000
    imp "gnn-import --directed reads tolokers" --directed "$GNN_DATA/tolokers.npz"
    has "gnn-import --directed stores only the edges of tolokers" S 519000
    imp "gnn-import reads bitcoin-otc" "$GNN_DATA/bitcoin-otc.csv"
    says "gnn-import counts the reverses in bitcoin-otc" '35592 edges, directed, 79.23 % have their reverse, 0 self-loops, 0 parallel$'
    imp "gnn-import -u reads acm" -u "$GNN_DATA/acm.zip"
    has "gnn-import -u adds no type to acm, which has both directions" S "13407 13407 4019 4019"
else
    skip "gnn-import finds the directions of real graphs" "GNN_DATA is not set"
fi
done_testing
