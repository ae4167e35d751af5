# SPDX-License-Identifier: Apache-2.0
# GraphBolt's samplers and gnn-sample --frontier all pick the same edges, where nothing is left to chance.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/peers/setup.sh"
stores plain plain+edges plain+nodes plain+both typed matrix typed+both star wide
printf '0 4\n' >star

all() { same graphbolt "$@"; }
all plain ids "all in-edges, with parallel edges and self-loops" -f -1,-1,-1
all plain ids "fan-outs that no node exceeds" -f 99,99,99
all plain ids "the first fan-out is that of the seeds, the last one in GraphBolt's list" -f -1,0
all plain ids "--replace takes all in-edges once, if all are asked for" -f -1,-1 -r
all plain ids "no edge of weight 0, though fan-outs exceed degrees" -f 99,99 --weight weight
all plain ids "no edge of weight 0, though one hop takes all" -f -1,99 --weight weight
all typed a "all in-edges of each type" -f -1,-1,-1 --seed-type a
all typed a "fan-outs of types, one of them 0" -f 99,99 -f b/of/a=0,-1 -f a/in/b=-1,0 --seed-type a
all matrix rows "no edge of weight 0, of several types" -f 99,99,99 --weight weight --seed-type row
same graphbolt_layer plain ids "LABOR with fan-outs that no node exceeds" -f 99,99 --labor
all plain+edges times "windows" -f -1 --time-rule lt --window 4

for rule in lt le; do
    for k in edges nodes both; do
        all plain+$k times "times of $k, $rule" -f -1 --time-rule $rule
        all plain+$k times "times of $k, $rule, and a fan-out that no node exceeds" -f 99 --time-rule $rule
        same_set graphbolt plain+$k times "times of $k, $rule, in three hops" -f -1,-1,-1 --time-rule $rule
    done
    same_set graphbolt typed+both atimes "times of nodes of several types, $rule" -f -1,-1,-1 --time-rule $rule --seed-type a
    all plain+edges times "--replace takes all edges of the past once, if all are asked for, $rule" -f -1 -r --time-rule $rule
    all plain+edges times "times and weights, $rule" -f 99 --time-rule $rule --weight weight
    differs 'raises: vector::reserve' graphbolt wide star \
        "GraphBolt fails to pick all edges by time ($rule) in a row of 2500; GraphBolt is wrong: it tries its fast path for such rows (dgl#7078) with the fan-out -1" \
        -f -1 --time-rule $rule
    all wide star "times in a row of 2500 in-edges, $rule, and a fan-out above those that may be picked" -f 2200 --time-rule $rule
    all wide star "times and weights in a row of 2500 in-edges, $rule" -f 2200 --time-rule $rule --weight weight
done
all star star "times that are not sorted in the input" -f -1 --time-rule lt

differs 'more: again' graphbolt plain twice \
    "GraphBolt samples a seed that is given twice twice, gnn-sample once; neither is wrong, as GraphBolt keeps both (dgl#4737)" -f -1
differs 'more: again' graphbolt plain+edges times \
    "GraphBolt has a node at a time several times in a batch and samples each of them, gnn-sample merges them; neither is wrong, but GraphBolt's batches are larger (dgl#7291)" \
    -f -1,-1 --time-rule lt
differs 'less: time == seed_time' graphbolt+as_is plain+edges times \
    "GraphBolt has one rule, lt, which rules out edges at the time of the seed; neither is wrong, but with le GraphBolt needs times + 1" -f -1 --time-rule le
compare
done_testing
