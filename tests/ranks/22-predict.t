# SPDX-License-Identifier: Apache-2.0
# gnn-predict --store on several ranks: the rows and figures of one process, in one file.
. "$GNN_TOP/tests/ranks/setup.sh"
refusing=gnn-predict
gnn-import -q -o S sbm:nodes=2000,degree=10,features=16 && gnn-partition -q -k 4 -o P S || { _not_ok "gnn-import makes the graph"; done_testing; }
gnn-train -q --store S -f 6,6 -b 100 --epochs 3 --eval valid --eval test --hidden 16 --lr 0.01 -o m.st || exit 1
gnn-predict -q --store S m.st --output-kind values -o all.npy
gnn-predict -q --store S m.st --split test --split valid --metrics one.json -o one.csv
figures() { grep '"event":"score"' "$1" | sed 's/"t":[^,]*,//' | grep -oE '"(set|nodes|accuracy)":[^,}]*'; }
figures one.json >one
for many in $(choice '2 3 4' '3'); do
    check "gnn-predict --store writes all nodes on $many ranks" ranks "$many" gnn-predict -q --store P m.st --output-kind values -o ranks.npy
    check "gnn-predict on $many ranks writes the array of one process to 1e-6" perl "$GNN_TOP/tests/train/npygap.pl" all.npy ranks.npy 1e-6
    check "gnn-predict --split works on $many ranks" ranks "$many" gnn-predict -q --store P m.st --split test --split valid --metrics many.json -o many.csv
    figures many.json >many
    check "gnn-predict on $many ranks has the figures of one process" cmp one many
    cut -d, -f1,2,4 one.csv >rows && cut -d, -f1,2,4 many.csv >ranked
    check "gnn-predict on $many ranks writes ids, classes and sets of one process in their order" cmp rows ranked
done
check 'gnn-predict -n reports on ranks, where some have no seed of a batch' ranks 4 gnn-predict -n --store P m.st --split valid --metrics few.json
check 'gnn-predict -n writes the score of a set once' sh -c 'test "$(grep -c score few.json)" -eq 1'
# Clusters are disjoint on ranks; ROC-AUC is of the outputs of all.
gnn-import -q -o B sbm:nodes=1000,classes=2 && gnn-partition -q -k 4 -o BP B || exit 1
gnn-train -q --store BP --clusters 2 --disjoint --layers 2 --epochs 2 --eval valid --hidden 8 -o c.st
gnn-predict -q -n --store BP c.st --split test --metrics one.json && ranks 2 gnn-predict -q -n --store BP c.st --split test --metrics many.json
figures one.json >one && figures many.json >many
check 'gnn-predict on ranks has the figures of one process on clusters' cmp one many
# Features are converted on ranks as for training.
gnn-train -q --store S -f 6,6 -b 100 --epochs 2 --eval valid --hidden 16 --dtype bf16 -o d.st
gnn-predict -q -n --store S d.st --split test --metrics one.json && ranks 2 gnn-predict -q -n --store P d.st --split test --metrics many.json
figures one.json >one && figures many.json >many
check 'gnn-predict on ranks converts features as training did' cmp one many
refuses 2 'several ranks require batches: gnn-predict --store STORE MODEL' 'layer-wise inference on ranks' ranks 2 gnn-predict P m.st -o x.npy
refuses 2 'several ranks require --store' 'streams on ranks' ranks 2 gnn-predict -i x m.st -o x.npy
gnn-train -q --store P --links node/to/node -f 2,2 --epochs 1 --hidden 8 -o l.st
echo 1 2 >pair
check 'one pair is predicted on ranks, one of which has none' ranks 2 gnn-predict -q --store P --seeds pair l.st -o x.csv
check 'in one line' test "$(grep -c ^1,2, x.csv)" = 1
check 'its embeddings are an array' ranks 2 gnn-predict -q --store P --seeds pair --output-kind embeddings l.st -o x.npy
check 'of two ends' /usr/bin/python3 -c 'import numpy as np; assert np.load("x.npy").shape == (1, 2, 8)'
ranks 2 gnn-sample -q -f 6,6 -b 100 --split test -o 't.%r.gnb' P && ranks 2 gnn-gather -q -i 't.%r.gnb' -o 'u.%r.gnb' P
cat >sum.sh <<'SH'
for r in 0 1; do gnn-predict -q -i u.$r.gnb m.st -o u.$r.csv || exit 1; done
[ "$(cat u.0.csv u.1.csv | grep -c ',test$')" -eq 400 ]
SH
check "gnn-predict reads each rank's stream by itself" sh sum.sh
done_testing
