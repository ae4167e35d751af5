# SPDX-License-Identifier: Apache-2.0
# gnn-partition: stores of k parts are proved sound and equal to the whole, whatever the method.
. "$GNN_TOP/tests/lib.sh"
refusing='gnn-sample --edge-ids'

gnn-import -q sbm:nodes=3000,classes=6 -o whole || exit 1

for k in 1 2 4 7 33; do
    check "gnn-partition --method metis -k $k makes partitions" gnn-partition --metrics m$k -k $k -o p$k whole
    check "gnn-inspect --verify finds $k partitions to be the graph of the whole" gnn-inspect --verify --against whole p$k
done
check "gnn-partition --method random -k 5 makes partitions" gnn-partition --method random -k 5 -o r5 whole
check "gnn-partition --method random makes even partitions" \
    sh -c 'gnn-partition --force --method random -k 5 -o r5 whole | grep -q "balance   nodes  *1\.0000"'
check "gnn-inspect --verify finds random partitions to be the graph of the whole" gnn-inspect --verify --against whole r5
gnn-partition -q -k 5 --method random --force -o r5 whole >quiet
check "gnn-partition -q prints nothing" test ! -s quiet
gnn-import -q sbm:nodes=40 -o few
check "gnn-partition makes more partitions than nodes" gnn-partition -k 45 --method metis -o p45 few
check "gnn-inspect --verify finds more partitions than nodes to be the graph of the whole" gnn-inspect --verify --against few p45

# The result depends on the graph and the seed, not on parts or threads.
check "gnn-partition -j 1 -k 7 makes partitions" gnn-partition -j 1 -k 7 -o again whole
check "gnn-partition -k 7 gives the same bytes with one thread" gnn-inspect --diff --ignore provenance p7 again
check "gnn-partition -k 7 makes partitions of 4 partitions" gnn-partition -k 7 -o from4 p4
check "gnn-partition -k 7 gives the same bytes from 4 partitions as from the whole" gnn-inspect --diff --ignore provenance p7 from4
check "gnn-partition -k 1 puts 33 partitions together" gnn-partition -k 1 -o together p33
check "gnn-partition -k 1 makes of 33 partitions the store that they came from" gnn-inspect --diff --ignore provenance whole together
check "gnn-partition --seed 2 makes partitions" gnn-partition --seed 2 -k 7 -o seed2 whole
status 1 "gnn-partition --seed 2 makes other partitions" gnn-inspect --diff --ignore provenance p7 seed2
check "gnn-partition --seed 2 makes partitions of the same graph" gnn-inspect --diff --original p7 seed2

check "the provenance of partitions names gnn-import and gnn-partition" sh -c 'gnn-inspect p7 | grep -c "^  by " | grep -qx 2'
gnn-partition -q --no-provenance -k 2 -o noprov whole
check "gnn-partition --no-provenance leaves no provenance" sh -c 'gnn-inspect noprov | grep -c "^  by " | grep -qx 1'

# Without edge ids: they follow from the order, so nothing is lost.
check "gnn-partition --no-edge-ids makes partitions" gnn-partition --no-edge-ids --method random -k 5 -o bare whole
check "gnn-inspect --verify finds partitions without edge ids to be the graph of the whole" gnn-inspect --verify --against whole bare
check "gnn-partition --no-edge-ids saves 8 bytes an edge" test "$(cat bare/part-*.gnb | wc -c)" -lt $(($(cat r5/part-*.gnb | wc -c) - 8 * 14000))
check "gnn-partition -k 7 makes partitions of partitions without edge ids" gnn-partition -k 7 -o from5 bare
check "gnn-partition gives partitions of partitions without edge ids their ids again" gnn-inspect --diff --ignore provenance p7 from5
check "gnn-partition -k 1 puts partitions without edge ids together" gnn-partition -k 1 --force -o together bare
check "gnn-partition -k 1 makes of partitions without edge ids the store that they came from" gnn-inspect --diff --ignore provenance whole together
check "gnn-sample draws from partitions without edge ids" gnn-sample -q -f 3,2 -b 500 -o b.bare bare
gnn-sample -q -f 3,2 -b 500 -o b.r5 r5
check "gnn-sample draws the same from partitions with and without edge ids" gnn-inspect --diff --original b.r5 b.bare --store r5 --store bare
refuses 2 "bare: was partitioned without edge ids" "partitions without edge ids" gnn-sample -f 3,2 -b 500 --edge-ids -o b.none bare
gnn-import -q sbm:nodes=100,weights=1 -o weighted
refusing='' refuses 2 "have fields, which are found by id" "a store with fields of edges" gnn-partition --no-edge-ids -k 2 -o x weighted

# Constraints.
check "gnn-partition --balance nodes,edges,train makes partitions" gnn-partition -k 4 --balance nodes,edges,train --metrics mb -o b4 whole
check "gnn-inspect --verify finds balanced partitions to be the graph of the whole" gnn-inspect --verify --against whole b4
check "gnn-partition --metrics reports balance, cut, volume, halo, time and memory" perl -ne '
    /"parts":4/ && /"balance":\{"nodes":([\d.]+),"edges":([\d.]+),"train":([\d.]+)/ && $1 < 1.1 && $2 < 1.1 && $3 < 1.1 &&
    /"pairs_cut":\d+/ && /"volume":\d+/ && /"halo":\d+/ && /"metis_seconds":/ && /"peak_bytes":\d+/ and $good = 1;
    END { exit !$good }' mb
check "gnn-partition --objective vol makes partitions" gnn-partition -k 4 --objective vol -o v4 whole
check "gnn-inspect --verify finds partitions by volume to be the graph of the whole" gnn-inspect --verify --against whole v4

# Files.
seq 0 2999 | awk '{ print int($1 / 1000) }' >third
check "gnn-partition --from reads partitions from a file" gnn-partition --from third -o f3 whole
check "gnn-inspect --verify finds partitions from a file to be the graph of the whole" gnn-inspect --verify --against whole f3
check "gnn-partition --from makes as many partitions as the file names" sh -c 'gnn-inspect f3 | grep -q "3 partitions"'
check "gnn-partition --from - -k 9 reads partitions from stdin" sh -c 'gnn-partition -k 9 --from - -o f9 whole <third'
check "gnn-inspect --verify finds partitions from stdin to be the graph of the whole" gnn-inspect --verify --against whole f9
bad() { # NAME PATTERN FILE [OPTION...]
    name=$1 pattern=$2 file=$3
    shift 3
    status 3 "gnn-partition --from refuses $name" gnn-partition --from "$file" "$@" -o bad whole
    mv err err.bad
    check "gnn-partition --from says what is wrong with $name" grep -q -- "$pattern" err.bad
}
head -n 2999 third >short
sed '17s/.*/x/' third >letter
sed '18s/.*/-1/' third >negative
bad "a file that is too short" "ends after line 2999" short
bad "a word among numbers" "letter: line 17: not a partition number" letter
bad "a negative number" "line 18: not a partition number" negative
bad "a number that is too high" "line 1001: partition number 1 is" third -k 1
echo 0 >>third
bad "a file that is too long" "line 3001: the graph has only 3000 nodes" third
status 3 "gnn-partition --from refuses a file that is not there" gnn-partition --from absent -o bad whole
check "gnn-partition --from leaves nothing of what it refuses" test -z "$(find . -name 'bad*')"

# Usage.
for args in "-o x whole" "-k 0 -o x whole" "-k 4 whole" "-k 4 -o x" "-k 4 -o x --method kway whole" "-k 4 -o x --objective max whole" \
    "-k 4 -o x --balance cats whole" "-k 4 -o x --imbalance 1 whole" "-k 4 -o x --method random --balance edges whole" \
    "-k 4 -o p4 whole" "-k 70000 -o x whole" "--from third --method metis -o x whole" \
    "--from third --seed 3 -o x whole" "-k 4 -o x --method random --imbalance 1.1 whole"; do
    # shellcheck disable=SC2086
    status 2 "gnn-partition refuses $args" gnn-partition $args
done
status 3 "gnn-partition refuses a store that is not there" gnn-partition -k 2 -o x absent
check "gnn-partition leaves no store where it refuses its options" test ! -e x
done_testing
