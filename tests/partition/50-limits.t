# SPDX-License-Identifier: Apache-2.0
# --imbalance is kept by every method, or what exceeds it is said; no partition is empty as long as there are enough nodes.
. "$GNN_TOP/tests/lib.sh"

perl -e 'print "$_ ", $_ + 1, "\n" for 0 .. 48' >path.txt                                               # fewer than 2 nodes each
printf '0 1\n1 2\n0 2\n2 3\n3 4\n3 5\n4 5\n' >small.txt                                                 # METIS makes 3, 3, 0
perl -e 'for $c (0 .. 9) { for $i (0 .. 4) { print $c * 5 + $i, " ", $c * 5 + $_, "\n" for $i + 1 .. 4 } }' >cliques.txt # components
perl -e 'print "0 $_\n" for 1 .. 99' >star.txt
for g in path small cliques star; do gnn-import -q -u -o $g $g.txt || exit 1; done
gnn-import -q -o mesh rmat:scale=10,edges=6,classes=3,features=0 --split random:0.2,0.2,0.6

owned() { # METRICS: the ratio of nodes
    sed -n 's/.*"balance":{"nodes":\([0-9.]*\).*/\1/p' "$1"
}
# The largest partition has at most the larger of limit and average rounded up.
within() { # NODES K RATIO
    awk -v n="$1" -v k="$2" -v r="$3" 'BEGIN { up = int((n + k - 1) / k); most = int(n * 1.03 / k); if (up > most) most = up; exit !(r * n / k <= most + 0.01) }'
}
for case in path:50:30 path:50:17 path:50:49 small:6:3 small:6:4 small:6:5 cliques:50:3 cliques:50:7 cliques:50:20 star:100:7 star:100:60 star:100:99 mesh:1024:200; do
    g=${case%%:*} k=${case##*:} nodes=${case#*:}
    nodes=${nodes%:*}
    for m in metis fennel ldg; do
        gnn-partition --force --metrics m -k $k --method $m -o p $g >table 2>said
        check "gnn-partition --method $m -k $k keeps --imbalance on $g: $(owned m)" within $nodes $k "$(owned m)"
        check "gnn-partition --method $m -k $k leaves no partition of $g empty" sh -c '! grep -q "partitions ha[a-z]* no nodes" said'
    done
done
check "gnn-inspect --verify finds repaired partitions to be the graph of the whole" gnn-inspect --verify --against mesh p
for m in metis fennel; do
    gnn-partition -q --force --metrics m -k 20 --two-level 4,5 --method $m -o p cliques
    check "gnn-partition --method $m --two-level 4,5 keeps --imbalance: $(owned m)" within 50 20 "$(owned m)"
    gnn-partition --force --metrics m --two-level 7,7 --method $m -o p path >table 2>said
    check "gnn-partition --method $m --two-level 7,7 leaves none of 49 partitions of 50 nodes empty" sh -c '! grep -q "partitions ha[a-z]* no nodes" said'
done

# What was moved is said; the same for any number of threads and however the input is partitioned.
gnn-partition --force --metrics m -k 3 -o p small >table
check "gnn-partition says what METIS exceeded and how many nodes were moved" \
    sh -c 'grep -q "^limit     METIS.s own partitions have up to 1.5000 times the average" table && grep -q "^moved     2 nodes" table'
check "gnn-partition --metrics has what METIS exceeded and how many nodes were moved" grep -q '"moved":2,.*"metis_ratio":1.5' m
gnn-partition -q --force -j 1 -k 30 -o p path
gnn-partition -q -j 3 -k 30 -o p3 path
check "gnn-partition moves the same nodes with more threads" gnn-inspect --diff --ignore provenance p p3
gnn-partition -q --method random -k 7 -o r7 path
gnn-partition -q --force -k 30 -o p3 r7
check "gnn-partition moves the same nodes of a store of partitions" gnn-inspect --diff --ignore provenance p p3
gnn-partition --force --metrics m -k 4 -o p mesh >table
check "gnn-partition moves nothing where the limit is kept" sh -c '! grep -q "^moved\|^limit" table && grep -q "\"moved\":0," m'

# What cannot be kept is said with its figure.
gnn-partition --force -k 7 --balance edges -o p star 2>said >table
check "gnn-partition says that the edges of a hub exceed --imbalance" grep -q 'warning: --imbalance 1.03 is exceeded: edges 3.5 times the average' said
gnn-partition --force -k 30 -o p path 2>said >table
check "gnn-partition says that an average of 1.67 nodes is rounded up" grep -q 'too few to divide into 30 partitions within --imbalance 1.03: nodes 1.2 times the average' said
gnn-partition -q --force -k 30 -o p path 2>said
check "gnn-partition -q says nothing of limits" test ! -s said
for how in "-k 60 --method metis" "-k 60 --method fennel" "-k 60 --method random"; do
    # shellcheck disable=SC2086
    gnn-partition --force $how -o p path 2>said >table
    check "gnn-partition $how counts the partitions that 50 nodes leave empty" grep -q 'warning: 10 of 60 partitions have no nodes: ranks that own only such have no work' said
done
seq 50 | sed 's/.*/0/; 50s/0/8/' >few
gnn-partition --from few -o f path 2>said >table
check "gnn-partition --from counts the empty partitions of the file" grep -q 'warning: 7 of 9 partitions have no nodes' said
seq 1024 | awk '{ print $1 <= 8 ? $1 - 1 : 8 }' >lone
gnn-partition --from lone -o l mesh 2>said >table
check "gnn-partition counts partitions without seeds" grep -q 'of 9 partitions have no node of .train.: ranks that own only such have no seeds' said

# Several node types: those with fewer nodes than partitions are no constraints, and the others are even.
perl -e 'printf "%d,%d\n", $_ % 400, ($_ * 7 + 3) % 3 for 0 .. 1999' >buys.csv
gnn-import -q --edge-type user/buys/item -o buys buys.csv
perl -e 'print "$_,$_\n" for 0 .. 3' >pairs.csv
gnn-import -q --edge-type user/buys/item -o pairs pairs.csv
even() { # TYPE MOST FILE
    awk -v t="$1" -v most="$2" '$1 == "balance" && $2 == t { found = 1; good = $3 <= most } END { exit !(found && good) }' "$3"
}
for m in metis fennel ldg; do
    gnn-partition --force -k 4 --balance types --method $m -o p buys >table 2>said
    check "gnn-partition --balance types --method $m makes the large type even" even user 1.03 table
    check "gnn-partition --balance types --method $m says that 3 nodes are too few" grep -q 'too few to divide into 4 partitions within --imbalance 1.03: item' said
done
gnn-import -q --no-provenance -o igbh igbh:scale=0.00002
gnn-partition --force -k 4 --balance types --metrics m -o p igbh >table 2>said
check "gnn-partition --balance types with METIS makes the papers of IGBH even" even paper 1.0301 table
check "gnn-partition --balance types with METIS makes the authors of IGBH even" even author 1.0301 table
check "gnn-partition --balance types with METIS exceeds nothing" sh -c '! grep -q exceeded said'
check "gnn-inspect --verify finds partitions with even types to be the graph of the whole" gnn-inspect --verify --against igbh p
gnn-partition --force -k 6 --method random -o p pairs >table 2>said
check "gnn-partition --method random leaves no partition empty where each type has fewer nodes than partitions" sh -c '! grep -q "partitions ha[a-z]* no nodes" said'
check "gnn-partition --method random still spreads each type" sh -c '[ "$(grep -c "^balance   \(user\|item\)  *1.5000" table)" = 2 ]'

# Several constraints, and many partitions.
for k in 5 40; do
    gnn-partition --force -k $k --balance nodes,edges,train --imbalance 1.1 --metrics m -o p mesh >table 2>said
    check "gnn-partition -k $k --balance nodes,edges,train keeps the limit or says what exceeds it" perl -e '
        open F, "table"; while (<F>) { $most = $2 if /^balance +(nodes|edges|train) +([\d.]+)/ && $2 > $most }
        open S, "said"; $said = join "", <S>; exit !($most <= 1.1001 || $said =~ /exceeded|too few/)'
done
if [ -n "${GNN_DATA:-}" ]; then
    gnn-import -q -o acm "$GNN_DATA/acm.zip"
    gnn-partition --force -k 8 --balance nodes,edges -o p acm >table 2>said
    check "gnn-partition moves nodes of METIS's partitions of acm until nodes and edges are even" \
        sh -c 'grep -q "^parts     8 (metis)" table && grep -q "^moved " table && ! grep -q exceeded said'
    for what in nodes edges; do check "gnn-partition makes $what of acm even" even $what 1.0301 table; done
    check "gnn-partition cuts less of acm than a quarter" awk '/^pairs cut/ { exit !($3 < $5 / 4) }' table
else
    skip "gnn-partition moves nodes of METIS's partitions of acm until nodes and edges are even" "GNN_DATA is not set"
fi
done_testing
