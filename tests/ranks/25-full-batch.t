# SPDX-License-Identifier: Apache-2.0
# Full batches on any number of ranks make the same model, to the bit.
. "$GNN_TOP/tests/ranks/setup.sh"
perl -e 'srand 4; print "source,target,weight\n"; printf "%d,%d,%.3f\n", int rand 601, int rand 580, .1 + rand for 1 .. 6000; print "5,5,2\n"' >e.csv
perl -e 'print $_ % 3, "\n" for 1 .. 601' >y.csv
perl -e 'srand 5; print join(",", $_ % 3 + rand, rand, 1), "\n" for 1 .. 601' >x.csv
# Partition 0 has one node, 1 none that has edges or a label set; the others share the rest.
perl -e 'print $_ == 9 ? 0 : $_ >= 585 ? 1 : 2 + $_ % 3, "\n" for 0 .. 600' >assign
import() { gnn-import -q --directed --labels y.csv --features x.csv --split random:0.5,0.25,0.25 -o "$@"; }
import W e.csv && gnn-partition -q --from assign -o w W && import X --map x=weight e.csv && gnn-partition -q --from assign -o x X &&
    gnn-import -q -o T sbm:nodes=300,types=3,features=6 && gnn-partition -q -k 5 -o t T ||
    _not_ok 'gnn-import and gnn-partition make stores'
learn='-q --full-batch --hidden 8 --epochs 3 --layers 3 --lr 0.01 --no-provenance'
while read -r s opts <&4; do # mpirun would read standard input
    turn 4 || continue
    check "gnn-train --full-batch $opts learns in one process" gnn-train $learn --store $s -o m0 $opts
    for many in 1 $(choice '2 3 4 5' '2 5'); do
        check "gnn-train --full-batch $opts learns on $many ranks" ranks $many gnn-train $learn --store $s -o m$many $opts
        check "gnn-train --full-batch $opts makes the model of one process on $many" cmp m0 m$many
    done
done 4<<EOF
w -m sage --batch-norm
w -m sage --aggr max --eval none
w -m gcn --edge-weight weight --metric f1-macro
w -m gin --batch-norm --train-eps
x -m gine --edge-features --batch-norm
t -m sage --encoder 4 --ffn --jk cat --head 5 --class-weights balanced
t -m rgcn --bases 2 --encoder 6
t -m sage --jk max --head 0 --residual
x -m gat --heads 2 --edge-features --attention-dropout 0.3
x -m gatv2 --heads 2 --edge-features --attention-dropout 0.3
t -m hgt --heads 2 --head 0 --layer-norm
w -m sage --batch-norm --boundary 0.4
w -m gcn --edge-weight weight --boundary 0.2 --message-dtype bf16
t -m rgcn --bases 2 --encoder 6 --boundary 0.5 --remote-rows all
x -m gine --edge-features --message-dtype bf16
x -m gat --heads 2 --edge-features --message-dtype bf16 --remote-rows keep
t -m hgt --heads 2 --head 0 --message-dtype bf16
EOF
gnn-train $learn --store w -m gat --heads 2 -o m1 || _not_ok 'gnn-train learns in one process'
for how in '--remote-rows keep' '--remote-rows all' '--pipeline-depth 3'; do
    check "gnn-train --full-batch $how learns on 4 ranks" ranks 4 gnn-train $learn --store w -m gat --heads 2 $how -o m4
    check "gnn-train --full-batch $how makes the model of one rank on 4" cmp m1 m4
done
check 'gnn-train --full-batch keeps a checkpoint on 3 ranks' ranks 3 gnn-train $learn --store w --checkpoint C --checkpoint-every 1 --epochs 2 -o part
check 'gnn-train --full-batch resumes on 2 ranks' ranks 2 gnn-train $learn --store w --checkpoint C --resume --epochs 5 -o got
check 'gnn-train --full-batch learns in one process' gnn-train $learn --store w --epochs 5 -o want
check 'gnn-train --full-batch resumes on another number of ranks to the same model' cmp want got
done_testing
