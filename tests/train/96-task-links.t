# SPDX-License-Identifier: Apache-2.0
# gnn-train --task links: a store of any kind, split where it has no sets of links; and negatives of evaluated sets.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-train
gnn-import -q -o g sbm:nodes=500,degree=12,features=8 || exit 1
learn='-f 4,2 -b 256 --epochs 2 --hidden 8 --no-provenance'
check 'gnn-train --task links learns the links of a plain store' gnn-train --store g --task links $learn --metrics m.json -o m
cp err said
for what in 'split by pairs of nodes, at random, into the store m\.split: train [0-9]*, valid [0-9]*, test [0-9]* (gnn-import' \
    'set valid, which chooses the epoch, and set test' 'negatives binary:1 --strict' 'eval-negatives triplet:20' 'exclude reverse' \
    'selects the epoch, by mrr-realistic' 'best epoch [01], valid mrr-realistic 0\.[0-9]*, test mrr-realistic 0\.'; do
    check "gnn-train --task links says: $what" grep -q "$what" said
done
check 'the split is a store, as gnn-import writes it' \
    sh -c 'gnn-import -q --split-links node/to/node=85/5/10 -o s g && gnn-inspect --diff --ignore provenance s m.split'
gnn-train -q --store s --links node/to/node --eval valid --eval test $learn -o n
check 'the model is that of --links and this split' gnn-inspect --diff --ignore provenance m n
check 'a second run takes the same split' gnn-train --store g --task links $learn -o m
cp err said
check 'a second run says so' grep -q 'split as in m\.split' said
check 'the second model is the first' gnn-inspect --diff m n
mkdir once
for i in 1 2 3 4; do
    gnn-train -q --store g --task links $learn -o once/m >"once/$i" 2>&1 || echo "$i: $?" >>once/bad &
done
wait
check 'four runs at once make one split and learn from it' sh -c 'cat once/[1-4]; ! test -e once/bad && gnn-inspect --diff --ignore provenance s once/m.split && gnn-inspect --diff m once/m'
check 'a store with sets of links is not split again' gnn-train --store s --task links $learn -o o
status 1 'no split is beside that model' test -e o.split
gnn-import -q -o other sbm:nodes=400,degree=8,features=8
check 'options of links need no --links beside --task links' \
    gnn-train --store g --task links --negatives triplet:3 --strict --exclude self --eval-negatives binary:1 $learn -o p
gnn-train -q --store s --links node/to/node --negatives triplet:3 --strict --exclude self --eval-negatives binary:1 --eval valid --eval test $learn -o q
check 'and have the same effect' gnn-inspect --diff --ignore provenance p q
refuses 2 '--strict requires --links' 'options of links for labels' gnn-train --store g --strict $learn -o z
refuses 2 'cannot be used with --links' 'balanced seeds for links' gnn-train --store g --task links --seed-balance $learn -o z
refuses 3 'x\.split: exists, and is no split of the links' 'a store of another graph in the place of the split' \
    sh -c "cp -r other x.split && gnn-train --store g --task links $learn -o x"
refuses 3 'm\.split: exists, and is no split of the links' 'a split of another store' gnn-train --store other --task links $learn -o m
refuses 3 'y\.split' 'a file in the place of the split' sh -c "echo >y.split && gnn-train --store g --task links $learn -o y"
refuses 2 '-o FILE is missing' 'no name for the split' sh -c "gnn-train --store g --task links $learn >/dev/null"
refuses 2 'requires --store' 'a stream' sh -c 'gnn-train --task links -o z </dev/null'
refuses 2 'cannot be used with --links' 'labels of links' gnn-train --store g --task labels --links node/to/node $learn -o z
refuses 2 'cannot be used with --full-batch' 'full batches' gnn-train --store g --task links --full-batch --epochs 1 -o z
status 1 'what is refused has written no split' test -e z.split
for o in '--eval nosuch' '--metric rmse' '--head 4' '--eval-negatives triplet:70000' '-f 5,x' '--hidden 0' '--device cuda:7' '--init nothing'; do
    gnn-train --store g --task links $learn $o -o z 2>err
    case $? in 1 | 2 | 3 | 4) _ok "gnn-train --task links refuses $o" ;; *) _not_ok "gnn-train --task links refuses $o" ;; esac
    status 1 "a run that is refused for $o leaves no split" test -e z.split
done

# hits@K needs K negatives.
refuses 2 'eval-negatives triplet:50' 'hits of fewer negatives than K' gnn-train --store g --task links $learn --metric hits@50 -o z
check 'with K negatives of evaluated sets it has them' gnn-train --store g --task links $learn --metric hits@50 --eval-negatives triplet:50 -o hits

# The type: the only one, or the only one that is no reverse.
printf '%s\n' user,item 1,10 1,11 2,10 2,12 3,11 3,13 4,12 4,13 1,12 2,13 3,10 4,11 5,10 5,11 6,12 6,13 7,10 7,13 8,11 8,12 >bought.csv
gnn-import -q -u --edge-type user/buys/item --columns source=user,target=item -o shop bought.csv
check 'gnn-train --task links finds the type whose reverses are another' gnn-train --store shop --task links $learn -o shop.m
check 'which is that of --links, too' gnn-train --store shop --task links --links user/buys/item $learn -o shop.m
cp err said
status 1 'reverses that are excluded are no reason to warn' grep -q 'are not excluded' said
# Reverses under another name are found if they are exactly these, and otherwise tell the links.
raw=data/raw/relations there=user___buys___item back=item___sold_to___user
mkdir -p $raw/$there $raw/$back
printf '%s\n' user,item 20,20 >data/raw/num-node-dict.csv
printf '%s\n' user,buys,item item,sold_to,user >data/raw/triplet-type-list.csv
awk 'BEGIN { for (i = 0; i < 20; i++) for (k = 0; k < 3; k++) print i "," (i + k * k) % 20 }' >$raw/$there/edge.csv
awk -F, '{ print $2 "," $1 }' $raw/$there/edge.csv >$raw/$back/edge.csv
echo 60 | tee $raw/$there/num-edge-list.csv >$raw/$back/num-edge-list.csv
gnn-import -q -o exact data
check 'gnn-train --task links finds the type whose reverses have a name of their own' gnn-train --store exact --task links $learn -o exact.m
cp err said
check 'and excludes them' grep -q 'and their reverses are not among its edges (--exclude reverse)' said
check 'and splits both types' sh -c 'gnn-inspect exact.m.split | grep -c "edges .* 51\\b" | grep -qx 2'
sed -i '60s/.*/0,19/' $raw/$back/edge.csv
gnn-import -q -o named data
check 'gnn-train learns links whose reverses are not named' gnn-train --store named --links user/buys/item $learn -o named.m
cp err said
check 'and warns of them' grep -q "warning: edges 'item/sold_to/user' are not excluded: .* as gnn-import --reverse-of can say" said
check 'and says why none of their edges carried a message, as a batch has all links' \
    grep -q 'user/buys/item; edges that are links of a batch are excluded from it: -b below' said
gnn-import -q -o many sbm:nodes=300,degree=6,types=3
refuses 2 'several edge types: --links S/R/D names' 'several types' gnn-train --store many --task links $learn -o z

# Times.
awk 'BEGIN { srand(3); print "source,target,time"; for (i = 0; i < 3000; i++) print int(200 * rand()) "," int(200 * rand()) "," i }' >told.csv
gnn-import -q --directed -o told told.csv
check 'gnn-train --task links splits by time where edges have times' gnn-train --store told --task links $learn -o told.m
cp err said
for what in 'split by time' 'time-rule lt'; do check "gnn-train says: $what" grep -q -e "$what" said; done
status 1 'edges of a time to come need not be excluded' grep -q exclude said
gnn-train --store told.m.split --links node/to/node $learn --negatives binary:1 -o lt.m 2>said
check 'sets with times take what is earlier, also without --task' grep -q 'are earlier than it (--time-rule lt)' said
gnn-train --store told.m.split --task links --time-rule any $learn -o any.m 2>said
status 1 'but not with --time-rule any' grep -q 'time-rule lt' said
check 'which excludes the links instead' grep -q 'exclude reverse' said
gnn-sample -f 3 --links node/to/node --split valid -b 50 -o lt.gnb told.m.split 2>said
check 'gnn-sample does so, too' grep -q 'are earlier than it (--time-rule lt)' said
check 'and its batches say so' sh -c "gnn-inspect lt.gnb | grep -q -e '--time-rule lt'"
gnn-sample -f 3 --links node/to/node --split valid -b 50 --time-rule any -o any.gnb told.m.split 2>said
status 1 'unless it is turned off' sh -c "grep -q 'time-rule lt' said || gnn-inspect any.gnb | grep -q 'drawn.*--time-rule'"

# Strict negatives are the default, however many there are.
gnn-train --store shop --task links $learn --negatives triplet:2 -o strict.m 2>said
check 'gnn-train --task links draws strict negatives, whatever --negatives says' grep -q '(--strict)' said
gnn-train --store shop --task links $learn --negatives triplet:2 --no-strict -o any2.m 2>said
status 1 'but with --no-strict' grep -q -e '--strict' said

# Negatives of evaluated sets are others than those of the trained one.
draw='--links node/to/node --split train --eval valid -f 3 -b 100 --strict'
check 'gnn-sample --eval-negatives draws other negatives for evaluated sets' \
    gnn-sample -q s $draw --negatives binary:0.5 --eval-negatives triplet:7 -o e.gnb
check 'gnn-inspect --verify accepts them' gnn-inspect --verify e.gnb --against s
/usr/bin/python3 - <<'PY' >counts.txt 2>&1
import os, sys
sys.path.insert(0, os.environ["GNN_TOP"] + "/tests/interop")
import gnb
header, batches = gnb.read_stream("e.gnb")
for b in batches:
    p, n = len(b["pair"]), len(b["negative"])
    assert n == (7 * p if b["key"][2] else (p + 1) // 2), (b["key"], p, n)
print("kinds", sorted({int(b["key"][2]) for b in batches}), header["sampling"]["links"]["eval_negatives"])
PY
check 'each set has its own: half as many as links, and seven of each' grep -qx 'kinds \[0, 1\] triplet:7' counts.txt
refuses 2 'requires --negatives' 'negatives of evaluated sets alone' gnn-sample s $draw --eval-negatives binary:1 -o z
refuses 2 'requires --eval' 'negatives of sets that are not evaluated' \
    gnn-sample s -f 2 --links node/to/node --negatives binary:1 --eval-negatives binary:1 -o z
refuses 2 'has no effect: no set is evaluated' 'negatives of none' \
    gnn-train --store s --links node/to/node --eval none --eval-negatives binary:1 $learn -o z
refuses 2 'expected binary:A' 'negatives of no kind' gnn-sample s $draw --negatives binary:1 --eval-negatives pairs:3 -o z
done_testing
