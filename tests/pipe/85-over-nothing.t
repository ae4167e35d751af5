# SPDX-License-Identifier: Apache-2.0
# What shares, means and rates of gnn-inspect, gnn-partition, gnn-sample, gnn-gather and its plan are over; of nothing they are not
# defined: null in JSON and metrics, and neither 0 nor 1 in text.
. "$GNN_TOP/tests/lib.sh"
says() { # NAME REGEX FILE
    check "$1" grep -q -e "$2" "$3"
}
hushed() { # NAME REGEX FILE
    check "$1" sh -c '! grep -e "$1" "$2"' - "$2" "$3"
}

# A path of four nodes, 0 > 1 > 2 > 3, by hand.
printf 'source,target\n0,1\n1,2\n2,3\n' >path.csv
printf 'id,f0,f1,y,set\n0,1,2,0,train\n1,3,4,-1,valid\n2,5,9,1,train\n3,7,1,1,test\n' >path.nodes
check 'gnn-import makes a path' gnn-import -q -o path --nodes path.nodes path.csv
gnn-inspect -s path >out.path
says 'in-degrees of a path: of 4 nodes, one has none' 'in-degree  min 0, median 1, mean 0.75, max 1, zero 1$' out.path
says 'no edge of a path has its reverse' 'node/to/node: directed, 0.00 % have their reverse; self-loops 0' out.path
says 'the mean of features is over 8 numbers' 'node/node/x: min 1, mean 4, max 9$' out.path
says 'the mean of labels is over those that are known' 'node/node/y: min 0, mean 0.666667, max 1; of 3 labels, and 1 not known$' out.path
says 'members of classes are those with a label' 'members of each class: 1 2$' out.path
says 'nodes without a label are counted' 'nodes without a label: 1$' out.path
printf '0\n0\n1\n1\n' >halves
check 'gnn-partition halves a path' sh -c 'gnn-partition --from halves -o halves.s --metrics p.json path >out.halves 2>err.halves'
says 'one of 3 edges is cut' '^cut       1 of 3 edges (33.33 %)$' out.halves
says 'one of 4 nodes is in a halo' '25.00 % of 4$' out.halves
says 'two of 3 edges are in one of 2 partitions' '^balance   edges  *1.3333  (largest partition 2)$' out.halves
says 'seeds are divided evenly' '^balance   train  *1.0000  (largest partition 1)$' out.halves
says 'metrics have the same shares' '"cut_percent":33.3333333333333[0-9]*,"halo_percent":25.0[,}]' p.json
# Batches of one seed: {0} finds nothing, {2} finds 1, and that finds 0.
gnn-sample -q -f 1,1 -b 1 -o path.gnb path
gnn-inspect path.gnb >out.gnb
says 'means of nodes are over 2 batches' 'mean nodes after each hop: 1 1.5 2$' out.gnb
says 'means of edges are over 2 batches' 'mean edges of each hop: 0.5 1$' out.gnb
gnn-gather --plan --cache 0,0.5 --cache-order degree --metrics plan.json -i path.gnb path >out.plan
says 'of the 4 rows of an epoch, 2 of its 2 batches have 2 on average' '2 rows expected, 2 measured in 2 batches' out.plan
says 'a cache of nothing misses all' '^degree  *0  *0  *0.0  *100.00%  *100.00%$' out.plan
# By out-degree, rows 0 and 1 are cached; 2 is read once.
# It is expected at 1 / 3.5, as a row that is a seed and a neighbour is taken for independent of itself.
says 'a cache of rows 0 and 1 misses one row of 4' '^degree  *0.5  *2  *0.0  *28.57%  *25.00%$' out.plan

# No edge: no direction, no share of reverses or of what is cut.
printf 'source,target\n' >none.csv
printf 'id,f0,y,set\n0,1,0,train\n1,3,1,valid\n2,5,1,test\n' >three.nodes
gnn-import -o edgeless --nodes three.nodes --metrics i.json none.csv 2>said.i
says 'gnn-import says nothing of the direction of no edge' 'node/to/node: 0 edges, 0 self-loops' said.i
says 'metrics of gnn-import have no direction of no edge' '"direction":null,"reversed_edges":0,"reverse_share":null' i.json
gnn-inspect -s edgeless >out.s
gnn-inspect -s --json edgeless | tr -d ' \n' >json.s
says 'gnn-inspect says nothing of the direction of no edge' 'node/to/node: self-loops 0, parallel edges 0$' out.s
says 'gnn-inspect --json has no direction of no edge' '"direction":null,"reversed_edges":0,"reverse_share":null' json.s
printf 'source,target\n0,0\n1,1\n' >loops.csv
gnn-import -o loops --nodes three.nodes loops.csv 2>said.i
says 'gnn-import says nothing of the direction of loops' 'node/to/node: 2 edges, 2 self-loops' said.i
gnn-inspect -s loops >out.s
says 'gnn-inspect says nothing of the direction of loops' 'node/to/node: self-loops 2, parallel edges 0$' out.s
for m in metis fennel random; do
    check "gnn-partition --method $m divides nodes without edges" sh -c "gnn-partition --method $m -k 2 -o $m.s --metrics p.json edgeless >out.p 2>err.p"
    says "gnn-partition --method $m: no share of no edges is cut" '^cut       0 of 0 edges$' out.p
    says "gnn-partition --method $m: the balance of no edges is not defined" '^balance   edges  *-  (there are none)$' out.p
    says "gnn-partition --method $m --metrics has null for both" '"edges":null.*"cut_percent":null,"halo_percent":0.0[,}]' p.json
    hushed "gnn-partition --method $m has no figure of nothing" 'nan\|inf\|0 of 0 .*%' out.p
done
check 'gnn-partition --balance edges warns of nothing where there are none' sh -c \
    'gnn-partition -q --balance nodes,edges --imbalance 2 --force -k 2 -o metis.s edgeless 2>err.p && ! grep edges err.p'

# A node type without nodes; and one without features, from which the batches begin.
check 'gnn-import makes a type without nodes' sh -c 'gnn-import -q -o typed --edge-type user/buys/item --nodes user=three.nodes none.csv'
gnn-inspect -s typed >out.s
gnn-inspect -s --json typed | tr -d ' \n' >json.s
says 'gnn-inspect has no degrees of no node' 'in-degree  not defined: there are no such nodes$' out.s
says 'gnn-inspect --json has null for these' '"in_degree":{"min":null,"median":null,"mean":null,"max":null,"zero":0}' json.s
says 'gnn-inspect has the degrees of the others' 'out-degree min 0, median 0, mean 0, max 0, zero 3$' out.s
gnn-partition -k 2 -o typed2 --metrics p.json typed >out.p 2>err.p
says 'gnn-partition: the balance of no node is not defined' '^balance   item  *-  (there are none)$' out.p
says 'gnn-partition --metrics has null for it' '"item":null' p.json
printf 'id,y,set\n0,0,train\n1,1,train\n' >bare.nodes && printf 'id,f0\n0,1\n1,2\n' >item.nodes
gnn-import -q -o bare --edge-type user/buys/item --nodes user=bare.nodes --nodes item=item.nodes none.csv
gnn-sample -q -f 2 -b 2 -o bare.gnb bare
gnn-gather --plan --cache 0,0.5,1 --metrics plan.json -i bare.gnb bare >out.plan
says 'the plan of batches without a row of features counts none' '0 rows expected, 0 measured in 1 batch' out.plan
check 'no share of no row is missed, by any cache' test "$(grep -c '^\(degree\|access\) .* -  *-$' out.plan)" = 6
check 'metrics have null for these' test "$(grep -c '"expected_miss":null,"measured_miss":null' plan.json)" = 6
hushed 'no share is printed for them' '%' out.plan

# A feature that is no number in any row.
/usr/bin/python3 -c '
import numpy as np
np.savez("nan.npz", edge_index=np.array([[0, 1], [1, 0]]), node_w=np.array([np.nan, np.nan], "f4"))' &&
    gnn-import -q -o nan nan.npz && gnn-inspect -s nan >out.s && gnn-inspect -s --json nan | tr -d ' \n' >json.s
if [ -s json.s ] && [ -d nan ]; then
    says 'gnn-inspect has no mean of no number' 'node/node/node_w: no number, 2 NaN, 0 infinite of 2$' out.s
    says 'gnn-inspect --json has null for it' '"min":null,"mean":null,"max":null,"values":2,"nan":2' json.s
else
    skip 'gnn-inspect has no mean of no number' 'no numpy'
fi

# A stream of no batch.
gnn-sample -q -f 2,2 --seeds - -o no.gnb path
gnn-inspect no.gnb >out.s
gnn-inspect --json no.gnb | tr -d ' \n' >json.s
hushed 'gnn-inspect has no means over no batch' mean out.s
says 'gnn-inspect --json has null for them' '"mean_nodes":\[null,null,null\],"mean_edges":\[null,null\]' json.s
gnn-sample -f 2,2 --seeds - -c --metrics m.json path >out.s
says 'gnn-sample --count has no rate of no batch' '^rate not defined$' out.s
hushed 'gnn-sample --count has no time of the first of no batch' 'first batch' out.s
says 'gnn-sample --metrics has null for these' '"first_batch_seconds":null,"edges_per_second":null,"batches_per_second":null' m.json
gnn-gather -c -i no.gnb --metrics m.json path >out.s
says 'gnn-gather --count has no rate of no batch' '^rate not defined$' out.s
says 'gnn-gather --metrics has null for it' '"first_batch_seconds":null,"edges_per_second":null,"batches_per_second":null' m.json
gnn-sample --walk-length 3 --seeds - -c path >out.s
says 'gnn-sample --count has no rate of no walk' '^rate not defined$' out.s
refusing=gnn-train
refuses 3 'there was no batch to train on' 'a stream of no batch' sh -c 'gnn-gather -q -i no.gnb path | gnn-train -o bad'
# Walks have steps, not edges.
gnn-sample --walk-length 3 -b 2 -c --metrics m.json path >out.s
says 'gnn-sample --metrics has the rate of steps of walks' '"steps_per_second":[0-9]' m.json
hushed 'gnn-sample --metrics has no rate of edges of walks' edges_per_second m.json
gnn-sample -q --walk-length 3 -b 2 -o walk.gnb path
gnn-inspect walk.gnb >out.s
hushed 'gnn-inspect has no means of edges of walks' 'mean edges' out.s

# Without seeds, nothing is accessed.
gnn-import -q --split random:0,0.5,0.5 -o seedless rmat:scale=5,features=3,classes=2
refusing=gnn-partition
refuses 2 "^gnn-partition: --split: set 'train' of seedless is empty: no seed would access anything$" 'accesses of no seed' \
    gnn-partition -q --method access -k 2 -o bad seedless
check 'nothing is left of what was refused' test ! -e bad
done_testing
