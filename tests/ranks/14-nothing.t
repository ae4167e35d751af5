# SPDX-License-Identifier: Apache-2.0
# A rank that has nothing prints no shares of it, and what a rank's stream holds is called its share.
. "$GNN_TOP/tests/ranks/setup.sh"
printf 'id,f0,y,set\n0,1,0,train\n1,3,1,valid\n2,5,1,test\n3,1,0,test\n' >n.csv && printf 'source,target\n1,0\n' >e.csv
printf '0\n0\n1\n1\n' >parts
gnn-import -q -o S --nodes n.csv e.csv && gnn-partition -q --from parts -o P S || { _not_ok 'gnn-import makes a graph'; done_testing; }
check 'gnn-sample draws on two ranks' ranks 2 gnn-sample -v P -f 2,2 -o 'r.%r.gnb' --metrics 'm.%r'
cp err said
# Rank 0 has the seed, node 0, which finds node 1.
check 'gnn-sample -v has shares of what rank 0 has' grep -q 'rank 0: frontier nodes after the seeds: [1-9][0-9]*, 0 of them (0.0 %) remote; of these, in the halo 0, requested 0$' said
check 'gnn-sample -v has no shares of what rank 1 has not' grep -q 'rank 1: frontier nodes after the seeds: 0, 0 of them remote; of these, in the halo 0, requested 0$' said
check 'gnn-gather gathers on two ranks' ranks 2 gnn-gather -v P -i 'r.%r.gnb' -o 'g.%r.gnb'
cp err said
check 'gnn-gather -v has shares of what rank 0 has' grep -q 'rank 0: rows: 2, 0 of them (0.0 %) remote; of these, replicated here 0, fetched 0, ' said
check 'gnn-gather -v has no shares of what rank 1 has not' grep -q 'rank 1: rows: 0, 0 of them remote; of these, replicated here 0, fetched 0, ' said
check 'no figure is not a number' sh -c '! grep -i "nan\|inf " said m.0 m.1'
check 'gnn-sample --count adds up both' ranks 2 gnn-sample -c P -f 2,2
cp out sums
check 'gnn-sample --count has the seed of one rank, and the nodes of both' sh -c 'grep -qx "seeds 1" sums && grep -qx "nodes 2" sums && grep -qx "batches 1" sums'
gnn-inspect r.1.gnb >share
check "gnn-inspect says whose share a rank's stream is" grep -q '^  rank   1 of 2: what follows is its share$' share
check "gnn-inspect has the means of that share" grep -q 'mean nodes after each hop: 0 0 0$' share
check "gnn-inspect --json has the rank" sh -c 'gnn-inspect --json r.1.gnb | tr -d " \n" | grep -q "\"share_of\":{\"rank\":1,\"ranks\":2}"'
gnn-sample -q -f 2,2 -o one.gnb P
check "gnn-inspect has no rank of one process" sh -c '! gnn-inspect one.gnb | grep "rank "'
refusing=gnn-gather
refuses 2 '^gnn-gather: --plan: the batches are the share of rank 0 of 2: plan with those of a single process$' "a plan of a rank's share" \
    gnn-gather --plan --cache 0.5 -i r.0.gnb P
done_testing
