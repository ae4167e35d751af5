# SPDX-License-Identifier: Apache-2.0
# gnn-inspect and gnn-partition when memory runs out, in the ways that tests/faults does not run them.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/faults/sweep.sh"
OMP_NUM_THREADS=1
export OMP_NUM_THREADS
gnn-import -q sbm:nodes=120,degree=4,features=4 -o S
gnn-partition -q -k 3 -o P3 S
gnn-sample -q -f 3,2 -b 32 -o B S
gnn-sample -q -f 3,2 -b 32 -o B3 P3
gnn-import -q -o T sbm:nodes=120,degree=4,features=4,times=1
seq 0 119 | awk '{ print $1, 4 * $1 }' | gnn-sample -q -f 3,2 -b 32 --seeds - --time-rule le -o BT T
seq 0 119 | awk '{ print $1 % 2 }' >parts
sweep "gnn-partition --from of partitions ends cleanly when malloc fails" malloc P -- gnn-partition -q -j 1 --from parts -o P P3
sweep "gnn-partition --balance ends cleanly when malloc fails" malloc P -- gnn-partition -q -j 1 -k 3 --balance nodes,edges,train -o P S
sweep "gnn-inspect -t -s ends cleanly when malloc fails" malloc - -- gnn-inspect -t -s P3
sweep "gnn-inspect -t of a stream ends cleanly when malloc fails" malloc - -- gnn-inspect -t B
sweep "gnn-inspect --verify --against of a stream ends cleanly when malloc fails" malloc - -- gnn-inspect --verify --against P3 B3
sweep "gnn-inspect --leaks ends cleanly when malloc fails" malloc - -- gnn-inspect --leaks --against T BT
gnn-import -q --split-links node/to/node=80/10/10 -o L T
gnn-sample -q -f 3,2 -b 32 --links node/to/node --negatives binary:1 --strict --exclude reverse --eval valid --disjoint --induced -o BL L
sweep "gnn-inspect --leaks of links ends cleanly when malloc fails" malloc - -- gnn-inspect --leaks --against L BL
sweep "gnn-inspect --leaks of a split ends cleanly when malloc fails" malloc - -- gnn-inspect --leaks L
sweep "gnn-inspect --diff --original of streams ends cleanly when malloc fails" malloc - -- gnn-inspect --diff --original --store P3 B B3
sweep "gnn-inspect --edges ends cleanly when malloc fails" malloc - -- gnn-inspect --edges node/to/node P3
sweep "gnn-inspect --export ends cleanly when malloc fails" malloc e.npz -- gnn-inspect --export e.npz P3
done_testing
