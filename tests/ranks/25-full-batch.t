# SPDX-License-Identifier: Apache-2.0
# Full batches go on with another number of ranks. tests/full compares what models learn on ranks.
. "$GNN_TOP/tests/ranks/setup.sh"
gnn-import -q -o W sbm:nodes=600,degree=8,features=6 && gnn-partition -q -k 5 -o w W || _not_ok 'gnn-import and gnn-partition make a store'
learn='-q --full-batch --store w --hidden 8 --layers 3 --lr 0.01 --no-provenance'
check 'gnn-train --full-batch keeps a checkpoint on 3 ranks' ranks 3 gnn-train $learn --checkpoint C --checkpoint-every 1 --epochs 2 -o part
check 'gnn-train --full-batch resumes on 2 ranks' ranks 2 gnn-train $learn --checkpoint C --resume --epochs 5 -o got
check 'gnn-train --full-batch learns in one process' gnn-train $learn --epochs 5 -o want
check 'gnn-train --full-batch resumes on another number of ranks to the same model' cmp want got
done_testing
