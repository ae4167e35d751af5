# gnn-partition: stores of k parts are proved sound and equal to the whole, whatever the method.
. "$GNN_TOP/tests/lib.sh"

gnn-import -q sbm:nodes=3000,classes=6 -o whole || exit 1

for k in 1 2 4 7 33; do
    check "metis, k = $k" gnn-partition --metrics m$k -k $k -o p$k whole
    check "k = $k is proved" gnn-inspect --verify --against whole p$k
done
check "random, k = 5" gnn-partition --method random -k 5 -o r5 whole
check "random is even" sh -c 'gnn-partition --force --method random -k 5 -o r5 whole | grep -q "balance   nodes  *1\.0000"'
check "random is proved" gnn-inspect --verify --against whole r5
gnn-partition -q -k 5 --method random --force -o r5 whole >quiet
check "-q prints nothing" test ! -s quiet
gnn-import -q sbm:nodes=40 -o few
check "more parts than nodes" gnn-partition -k 45 --method metis -o p45 few
check "is proved" gnn-inspect --verify --against few p45

# The result depends on the graph and the seed, not on parts or threads.
check "again, one thread" gnn-partition -j 1 -k 7 -o again whole
check "same bytes" gnn-inspect --diff --ignore provenance p7 again
check "from parts" gnn-partition -k 7 -o from4 p4
check "same bytes from parts" gnn-inspect --diff --ignore provenance p7 from4
check "put together" gnn-partition -k 1 -o together p33
check "the whole, byte for byte" gnn-inspect --diff --ignore provenance whole together
check "another seed" gnn-partition --seed 2 -k 7 -o seed2 whole
status 1 "other parts" gnn-inspect --diff --ignore provenance p7 seed2
check "but the same graph" gnn-inspect --diff --original p7 seed2

check "provenance names both programs" sh -c 'gnn-inspect p7 | grep -c "^  by " | grep -qx 2'
gnn-partition -q --no-provenance -k 2 -o noprov whole
check "--no-provenance" sh -c 'gnn-inspect noprov | grep -c "^  by " | grep -qx 1'

# Without edge ids: they follow from the order, so nothing is lost.
check "--no-edge-ids" gnn-partition --no-edge-ids --method random -k 5 -o bare whole
check "is proved" gnn-inspect --verify --against whole bare
check "saves 8 bytes an edge" test "$(cat bare/part-*.gnb | wc -c)" -lt $(($(cat r5/part-*.gnb | wc -c) - 8 * 14000))
check "another number of parts" gnn-partition -k 7 -o from5 bare
check "has the ids again" gnn-inspect --diff --ignore provenance p7 from5
check "put together" gnn-partition -k 1 --force -o together bare
check "the whole, byte for byte" gnn-inspect --diff --ignore provenance whole together
check "samples without edge ids" gnn-sample -q -f 3,2 -b 500 -o b.bare bare
gnn-sample -q -f 3,2 -b 500 -o b.r5 r5
check "are the same" gnn-inspect --diff --original b.r5 b.bare --store r5 --store bare
status 2 "cannot have edge ids" gnn-sample -f 3,2 -b 500 --edge-ids -o b.none bare
mv err said
check "says why" grep -q "bare: was partitioned without edge ids" said
gnn-import -q sbm:nodes=100,weights=1 -o weighted
status 2 "not with fields of edges" gnn-partition --no-edge-ids -k 2 -o x weighted
mv err said
check "says so" grep -q "have fields, which are found by id" said

# Constraints.
check "balance of nodes, edges and train" gnn-partition -k 4 --balance nodes,edges,train --metrics mb -o b4 whole
check "is proved" gnn-inspect --verify --against whole b4
check "metrics are JSON with the figures" perl -ne '
    /"parts":4/ && /"balance":\{"nodes":([\d.]+),"edges":([\d.]+),"train":([\d.]+)/ && $1 < 1.1 && $2 < 1.1 && $3 < 1.1 &&
    /"pairs_cut":\d+/ && /"volume":\d+/ && /"halo":\d+/ && /"metis_seconds":/ && /"peak_bytes":\d+/ and $good = 1;
    END { exit !$good }' mb
check "volume" gnn-partition -k 4 --objective vol -o v4 whole
check "is proved" gnn-inspect --verify --against whole v4

# Files.
seq 0 2999 | awk '{ print int($1 / 1000) }' >third
check "--from a file" gnn-partition --from third -o f3 whole
check "is proved" gnn-inspect --verify --against whole f3
check "has three parts" sh -c 'gnn-inspect f3 | grep -q "3 parts"'
check "--from stdin, with room" sh -c 'gnn-partition -k 9 --from - -o f9 whole <third'
check "is proved" gnn-inspect --verify --against whole f9
bad() { # NAME PATTERN FILE [OPTION...]
    name=$1 pattern=$2 file=$3
    shift 3
    status 3 "bad file: $name" gnn-partition --from "$file" "$@" -o bad whole
    mv err err.bad
    check "says: $pattern" grep -q -- "$pattern" err.bad
}
head -n 2999 third >short
sed '17s/.*/x/' third >letter
sed '18s/.*/-1/' third >negative
bad "too short" "ends after line 2999" short
bad "no number" "letter: line 17: not a partition number" letter
bad "negative" "line 18: not a partition number" negative
bad "too high" "line 1001: partition number 1 is" third -k 1
echo 0 >>third
bad "too long" "line 3001: the graph has only 3000 nodes" third
status 3 "no such file" gnn-partition --from absent -o bad whole
check "nothing is left behind" test -z "$(find . -name 'bad*')"

# Usage.
for args in "-o x whole" "-k 0 -o x whole" "-k 4 whole" "-k 4 -o x" "-k 4 -o x --method kway whole" "-k 4 -o x --objective max whole" \
    "-k 4 -o x --balance cats whole" "-k 4 -o x --imbalance 1 whole" "-k 4 -o x --method random --balance edges whole" \
    "-k 4 -o p4 whole" "-k 70000 -o x whole" "--from third --method metis -o x whole" \
    "--from third --seed 3 -o x whole" "-k 4 -o x --method random --imbalance 1.1 whole"; do
    # shellcheck disable=SC2086
    status 2 "usage: $args" gnn-partition $args
done
status 3 "no such store" gnn-partition -k 2 -o x absent
check "nothing is left" test ! -e x
done_testing
