# SPDX-License-Identifier: Apache-2.0
# DGL's NeighborSampler and gnn-sample --frontier all pick the same edges, where nothing is left to chance.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/peers/setup.sh"
stores plain plain+edges back typed matrix
sed 's/$/ 99/' ids >late

for how in dgl dgl_unfused; do
    same $how plain ids "all in-edges, with parallel edges and self-loops" -f -1,-1,-1
    same $how plain ids "fan-outs that no node exceeds" -f 99,99,99
    same $how plain ids "the first fan-out is that of the seeds, the last one in DGL's list" -f -1,0
    same $how plain ids "--replace takes all in-edges once, if all are asked for" -f -1,-1 -r
    same $how plain ids "no edge of weight 0, though fan-outs exceed degrees" -f 99,99 --weight weight
    same $how plain ids "no edge of weight 0, though one hop takes all" -f -1,99 --weight weight
    same $how typed a "all in-edges of each type" -f -1,-1,-1 --seed-type a
    same $how typed a "fan-outs of types, one of them 0" -f 99,99 -f b/of/a=0,-1 -f a/in/b=-1,0 --seed-type a
    same $how matrix rows "no edge of weight 0, of several types" -f 99,99,99 --weight weight --seed-type row
    differs 'more: again' $how plain twice \
        "DGL samples a seed that is given twice twice, gnn-sample once ($how); DGL is wrong to take such seeds (dgl#4512, dgl#4737)" -f -1
done
differs 'more: hop > 0' dgl plain ids "DGL samples all nodes in each hop, as --frontier all does; neither is wrong" -f -1,-1 --frontier new
same dgl_labor plain ids "LABOR with fan-outs that no node exceeds" -f 99,99 --labor
same dgl_out back ids "out-edges are the in-edges of the graph that leads the other way" -f -1
same dgl_topk plain+edges late "select_topk picks the latest edges" -f 3 --time-rule le --latest
compare
done_testing
