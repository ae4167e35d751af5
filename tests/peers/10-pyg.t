# SPDX-License-Identifier: Apache-2.0
# PyG's NeighborLoader and gnn-sample --frontier new pick the same edges, where nothing is left to chance.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/peers/setup.sh"
stores plain plain+edges plain+nodes plain+both plain+real typed typed+nodes matrix star 7794
printf '0 5\n' >star
new() { same pyg "$@" --frontier new; }

new plain ids "all in-edges, with parallel edges and self-loops" -f -1,-1,-1
new plain ids "fan-outs that no node exceeds" -f 99,99,99
new plain ids "the first fan-out is that of the seeds" -f -1,0
new plain ids "--replace takes all in-edges once, if all are asked for" -f -1,-1 -r
new plain ids "a tree for each seed" -f -1,-1,-1 --disjoint
new plain twice "a tree for each of equal seeds" -f -1,-1 --disjoint
new plain ids "positive weights, and fan-outs that no node exceeds" -f 99,99 --weight heavy
new typed a "all in-edges of each type" -f -1,-1,-1 --seed-type a
new typed a "fan-outs of types, one of them 0" -f 99,99 -f b/of/a=0,-1 -f a/in/b=-1,0 --seed-type a
new typed a "a tree for each seed, with several types" -f -1,-1,-1 --disjoint --seed-type a

for rule in le lt; do
    new plain+edges times "times of edges, $rule" -f -1,-1,-1 --time-rule $rule --disjoint
    new plain+edges times "times of edges, $rule, and fan-outs that no node exceeds" -f 99,99 --time-rule $rule --disjoint
    new plain+edges times "the latest edges, $rule" -f 3,2,1 --time-rule $rule --latest --disjoint
    new plain+nodes times "times of nodes, $rule" -f -1,-1,-1 --time-rule $rule --disjoint
    new plain+nodes times "the latest nodes, $rule" -f 3,2,1 --time-rule $rule --latest --disjoint
    new typed+nodes atimes "times of nodes of several types, $rule" -f -1,-1,-1 -f c/tag/a=0,0,0 --time-rule $rule --disjoint --seed-type a
    new typed+nodes atimes "the latest nodes of several types, $rule" -f 2,2,2 -f c/tag/a=0,0,0 --time-rule $rule --latest --disjoint --seed-type a
    same_set pyg plain+edges times "times of edges, $rule, where seeds share what they have in common" -f -1,-1 --time-rule $rule --frontier new
done
new plain+edges times "--replace takes all edges of the past once, if all are asked for" -f -1,-1 -r --time-rule le --disjoint
new plain+nodes ids "seeds at their own times" -f -1,-1 --time-rule le --seed-time time --disjoint
same pyg plain+edges times "windows" -f -1 --time-rule le --window 4 --disjoint --frontier new
printf '1 1\n' >bug
new 7794 bug "the example of pytorch_geometric#7794" -f -1 --time-rule le --disjoint
new star star "times that are not sorted in the input" -f -1 --time-rule le --disjoint

differs 'less: hop > 0' pyg plain ids "PyG samples nodes once, in the hop after they are found, as --frontier new does; neither is wrong" -f -1,-1 --frontier all
differs garbled pyg plain twice \
    "PyG names wrong sources if a seed is given twice; PyG is wrong: pyg-lib numbers seeds with repetitions, but sources without" -f -1 --frontier new
zero="PyG picks edges of weight 0"
differs 'more: weight == 0' pyg plain ids "$zero if the fan-out exceeds the in-degree; PyG is wrong: what has no weight has no probability" -f 99 --weight weight --frontier new
differs 'more: weight == 0' pyg matrix rows "$zero of several types, too" -f 99 --weight weight --frontier new --seed-type row
differs 'more: weight == 0' pyg star star "$zero if too few others are left; PyG is wrong: the keys by which it picks are then all infinite (pyg-lib#270)" -f 3 --weight weight --frontier new
differs 'more: time == seed_time' pyg+as_is plain+edges times \
    "PyG has one rule, le, which picks edges at the time of the seed (pyg-lib#187); neither is wrong, but with lt PyG needs times - 1" -f -1 --time-rule lt --disjoint --frontier new
differs 'more: source_time > seed_time' pyg plain+both times \
    "PyG looks at times of edges or of nodes, gnn-sample at both; PyG is wrong: it picks sources that do not exist yet" -f -1 --time-rule le --disjoint --frontier new
differs 'more: time > seed_time' pyg+is_sorted star star \
    "PyG does not check what is_sorted=True claims and picks edges of the future, gnn-import sorts; PyG is wrong to look at the ends of rows only (pyg-lib#108)" -f -1 --time-rule le --disjoint --frontier new
differs 'more: time is None and source_time is None' pyg+all_types typed+nodes atimes \
    "PyG picks edges of types without times at any time, gnn-sample refuses to guess; neither is wrong" \
    -f -1 -f c/tag/a=0 --time-rule le --disjoint --frontier new --seed-type a
status 2 "gnn-sample asks for times of all edges that it samples" gnn-sample typed+nodes.store -f -1 --time-rule le --seeds atimes --seed-type a -o x
differs 'raises: expected scalar type Long' pyg plain+real times "PyG refuses times that are real numbers; PyG lacks them" -f -1 --time-rule le --disjoint --frontier new
differs 'raises: not yet supported' pyg plain+edges times "PyG refuses weights together with times; PyG lacks this" -f 99 --time-rule le --weight heavy --disjoint --frontier new
compare
done_testing
