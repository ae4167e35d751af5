# SPDX-License-Identifier: Apache-2.0
# Which sets figures are of: gnn-predict reports on the split that the model was trained on, and says so; it and gnn-train warn of
# sets that share nodes with the training set; gnn-train says which set selects the epoch.
. "$GNN_TOP/tests/lib.sh"
/usr/bin/python3 - <<'PY' || exit 1
import numpy as np
r = np.random.default_rng(3)
n, k = 300, 3
def mask(part):  # in each of three splits, other nodes
    m = np.zeros((n, k), bool)
    for s in range(k):
        m[np.roll(np.arange(n), 100 * s)[part], s] = True
    return m
np.savez("g.npz", node_features=r.standard_normal((n, 4)).astype("f4"), node_labels=r.integers(0, 3, n), edges=r.integers(0, n, (900, 2)),
         train_masks=mask(slice(0, 150)).T, val_masks=mask(slice(150, 220)).T, test_masks=mask(slice(220, 300)).T)
PY
gnn-import -q --directed -o s g.npz && gnn-partition -q -k 3 --method random -o s3 s && gnn-import -q -o other sbm:nodes=300,classes=3,features=4 || exit 1
train() { gnn-train --hidden 8 --epochs 2 --lr 0.01 -f 3,3 "$@"; }
says() { check "$1" grep -q -- "$2" said; }

check "gnn-train trains on 2/train" train --store s --split 2/train -o m.st
cp err said
says "gnn-train says which set selects the epoch, and by what" '^gnn-train: set 2/valid selects the epoch, by accuracy$'
check "gnn-train warns of nothing" sh -c '! grep "warning" said'
check "gnn-predict -n reports on a store of several splits" gnn-predict -n s m.st --metrics j.json
cp err said
says "gnn-predict says which split the sets are of" 'sets are of split 2, which m.st was trained on'
check "gnn-predict reports on the three sets of that split" test "$(grep -o '^gnn-predict: [0-9a-z/]*: accuracy' said | tr '\n' ' ')" = \
    "gnn-predict: 2/train: accuracy gnn-predict: 2/valid: accuracy gnn-predict: 2/test: accuracy "
check "gnn-predict warns of nothing" sh -c '! grep "warning" said'
check "gnn-predict --split test takes the set of that split" gnn-predict -n --split test s m.st
cp err said
says "gnn-predict names it" '^gnn-predict: 2/test: accuracy'
check "gnn-predict has the same figures for a store of three partitions" sh -c "gnn-predict -n --split test s3 m.st 2>parts; grep '2/test' said >a; grep '2/test' parts | cmp - a"
check "gnn-predict --split 0/test takes another split's" gnn-predict -n --split 0/test s m.st
cp err said
shared=$(/usr/bin/python3 -c 'import numpy as np
z = np.load("g.npz")
print((z["train_masks"][2] & z["test_masks"][0]).sum())')
says "gnn-predict says how many of its nodes were trained on" "warning: $shared of the 80 nodes of set 0/test are in set 2/train, which the model was trained on"
gnn-predict -n --split 0/test s3 m.st 2>said
says "gnn-predict says so for a store of three partitions" "warning: $shared of the 80 nodes of set 0/test"
gnn-predict -q -o t.csv s m.st
check "the table of gnn-predict has the sets of that split" sh -c "cut -d, -f4 t.csv | tail -n +2 | sort | uniq -c | tr -s ' ' | tr '\n' ';' | grep -qx ' 80 test; 150 train; 70 valid;'"
train --store s --split 1/valid --eval none -q -o v.st && gnn-predict -n --split 1/valid s v.st 2>said
says "gnn-predict says that a set which is not called train was trained on" 'warning: the model was trained on set 1/valid'

# Without a record, and on another graph, the first split is what there is.
/usr/bin/python3 "$GNN_TOP/tests/train/forge.py" m.st . <<'PY' || exit 1
meta.pop("training")
PY
gnn-predict -n s 1 2>said
says "gnn-predict says that a model of before has no record of its training" '^gnn-predict: 1: written by a version that did not record what training saw: all convolutions count as trained'
says "gnn-predict then reports on the first split, and says so" 'sets are of split 0, the first: 1 does not say'
gnn-predict -n other m.st 2>said
says "gnn-predict reports on the one split of another graph" '^gnn-predict: test: accuracy'
check "gnn-predict warns of nothing on another graph" sh -c '! grep "warning" said'

check "gnn-train evaluates test first" train --store s --split 2/train --eval test --eval 2/valid -o x.st
cp err said
says "gnn-train warns of a set called test that selects the epoch" 'warning: figures of set test will be better than those of unknown nodes'
says "gnn-train warns of one that shares nodes with the training set" "warning: set test, which selects the epoch, shares $shared nodes with set 2/train, which is trained on"
train --store s3 --split 2/train --eval 2/valid --eval 0/test -o x.st 2>said
says "gnn-train warns of an evaluated set that shares nodes, in three partitions" "warning: set 0/test, which is evaluated, shares $shared nodes with set 2/train"
check "gnn-train warns of no set called test that does not select the epoch" sh -c '! grep "will be better" said'
train --store s --split 2/train --eval 2/test --keep last --patience 0 -o x.st 2>said
check "gnn-train says nothing of selection where the last epoch is written" sh -c '! grep "selects the epoch" said'
gnn-sample -q s --split 2/train --eval 2/test -f 3,3 --epochs 0:2 | gnn-gather -q s | gnn-train --hidden 8 -o x.st 2>said
says "gnn-train says which set of a stream selects the epoch" 'set 2/test selects the epoch, by accuracy'
says "gnn-train warns of a stream's set called test" 'warning: figures of set 2/test will be better'

# A set is named once, by whatever name.
refusing=gnn-predict
refuses 2 '^gnn-predict: --split: set 0/test is named twice$' 'a set twice' gnn-predict -n --split 0/test --split 0/test s m.st
refuses 2 'is named twice$' 'a set by two names' gnn-predict -n --split 2/test --split test s m.st
refuses 2 'is named twice$' 'a set twice for batches' gnn-predict -n --split test --split test --store s m.st
gnn-sample -q s --split 2/train --eval 2/test -f 3,3 | gnn-gather -q -o stream s
refuses 2 '^gnn-predict: --split: set 2/test is named twice$' 'a set of a stream twice' gnn-predict -n --split 2/test --split 2/test -i stream m.st
refusing=gnn-sample
refuses 2 "set 'test' is named twice (--eval)$" 'a set to evaluate twice' gnn-sample -q -f 3 --split train --eval test --eval valid --eval test -o bad s
refusing=gnn-train
refuses 2 "set '0/test' is named twice (--eval)$" 'a set to evaluate by two names' train --store s --split train --eval test --eval 0/test -o bad
refusing=gnn-partition
refuses 2 "^gnn-partition: --balance: 'train' is named twice$" 'a set to balance twice' gnn-partition -q -k 2 --balance train,train -o bad s
check 'nothing is left of what was refused' test ! -e bad
done_testing
