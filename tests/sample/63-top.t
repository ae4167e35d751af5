# SPDX-License-Identifier: Apache-2.0
# gnn-sample --top: the neighbours with the largest values of a field of edges.
. "$GNN_TOP/tests/lib.sh"
python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || { skip 'gnn-sample --top picks by a field' 'no numpy'; done_testing; }
smp() { gnn-sample -q --no-provenance "$@"; }
look() { "$python" "$GNN_TOP/tests/sample/top.py" "$@"; }
refusing=gnn-sample
# Fields of several types: many equal values, numbers that a double cannot hold, negative ones.
printf 'source,target,time,w,near,half\n' >told.csv
awk 'BEGIN { srand(5); for (i = 0; i < 4000; i++) printf "%d,%d,%d,%d,%d,%.3f\n", rand() * 200, rand() * 200, rand() * 5000, rand() * 4, rand() * 1e6, rand() - 0.5 }' >>told.csv
gnn-import -q --directed -o t told.csv
gnn-partition -q -k 3 -o t3 t
seq 0 199 | awk '{ print $1, 900 + 20 * $1 }' >asked
gnn-import -q -o h sbm:nodes=400,degree=30,types=3,weights=1
gnn-partition -q -k 2 -o h2 h

for how in '--top w' '--top near' '--top half' '--top w --disjoint' '--top w --frontier new' '--top near --induced --disjoint' \
    '--top w --time-rule le' '--top near --time-rule lt --window 900' '--top half --time-rule le --disjoint --hop-time edge --frontier new'; do
    field=${how#--top } field=${field%% *}
    case $how in *time-rule*) seeds=asked ;; *) seeds=ids && cut -d' ' -f1 asked >ids ;; esac
    smp t -f 6,4 -b 30 --seeds $seeds $how --edge-ids -o one
    case $how in
    *induced*) ;;
    *) check "gnn-sample $how picks the largest" look t one $field ;;
    esac
    check "gnn-inspect finds batches of $how sound" gnn-inspect --verify one --against t
    smp t -f 6,4 -b 30 --seeds $seeds $how --edge-ids -j3 -o many
    check "gnn-sample $how -j3 draws the bytes of one thread" cmp one many
    smp t3 -f 6,4 -b 30 --seeds $seeds $how --edge-ids --original-ids -o many
    check "gnn-sample $how draws the same from 3 partitions" gnn-inspect --diff --original --store t --store t3 one many
done
smp t -f 90,-1 -b 30 --seeds ids --top near --edge-ids -o one
check 'with a fan-out beyond any degree, and with all, edges come in the order of the store' gnn-inspect --verify one --against t
smp t -f -1,-1 -b 30 --seeds ids --edge-ids -o all
for f in one all; do gnn-inspect --export $f.npz $f && mkdir $f.d && (cd $f.d && unzip -q ../$f.npz && find . -name '*.npy' | sort | xargs cksum) >$f.sums; done
check 'and are those without --top' cmp one.sums all.sums
awk 'BEGIN { print "source,target,v"; for (i = 1; i < 3000; i++) print i ",0," (i * 7919) % 3001 }' >hub.csv
gnn-import -q --directed -o hub hub.csv
echo 0 >zero
smp hub -f 1500 -b 1 --seeds zero --top v --edge-ids -o one
check 'a destination may pick more than a group holds' look hub one v 1
smp h -f 5,3 -b 40 --top weight --edge-ids -o one
smp h2 -f 5,3 -b 40 --top weight --edge-ids -o many
check 'gnn-sample --top of several edge types draws the same from 2 partitions' gnn-inspect --diff --original --store h --store h2 one many
check 'gnn-sample --top of several edge types picks the largest' look h one weight
check 'gnn-inspect names the rule' sh -c 'gnn-inspect one | grep -q -e "--top weight"'

# Kept, trained and predicted.
smp t -f 6,4 -b 30 --seeds ids --top near --edge-ids -o one
smp t -f 6,4 -b 30 --seeds ids --top near --edge-ids --keep-index -o keeping
smp t -f 6,4 -b 30 --seeds ids --top near --edge-ids -o with
check 'an order that is kept changes no byte' sh -c 'test -e t.index/top-near-0-0/store.json && cmp one keeping && cmp one with'
gnn-import -q -o s sbm:nodes=500,degree=20,weights=1
gnn-train -q --no-provenance --store s -f 4,3 --top weight --epochs 2 --hidden 8 -o a.safetensors
gnn-sample -q s -f 4,3 --top weight --epochs 2 --eval valid | gnn-gather -q s | gnn-train -q --no-provenance --hidden 8 -o b.safetensors
check 'gnn-train --top makes the model of a pipeline' gnn-inspect --diff --ignore provenance a.safetensors b.safetensors
refusing=gnn-predict
refuses 2 'was trained with --top: layer-wise inference would use all neighbours alike' 'layer-wise inference of a model that saw the largest' gnn-predict s a.safetensors -o x.npy
check 'gnn-predict predicts on such batches' gnn-predict -q --store s a.safetensors -o p.npy

# What is refused.
refusing=gnn-sample
refuses 2 'no edge type .* has a field .z.\|no .*field .z.' 'a field that is not there' smp t -f 3 --seeds ids --top z -o x
refuses 2 'top near has no effect: all neighbours are taken' 'a rule where all are taken' smp t -f -1 --seeds ids --top near -o x
for o in --replace '--weight w' --labor --clusters=2; do
    refuses 2 'top' "--top with $o" smp t $(case $o in --cl*) ;; *) echo -f 3 --seeds ids ;; esac) --top near $o -o x
done
refuses 2 'latest cannot be used with --top' '--top with --latest' smp t -f 3 --seeds asked --time-rule le --latest --top near -o x
refuses 2 'top cannot be used with --walk-length' 'walks by a field' smp t --walk-length 3 --seeds ids --top near -o x
printf 'source,target,v\n0,1,1\n1,2,nan\n2,0,3\n' >nan.csv
gnn-import -q --directed -o nan nan.csv
refuses 3 "nan/part-00000.gnb: tensor 'edge/node/to/node/v' has values that are NaN (at edge [0-9]*" 'values without an order' smp nan -f 1 --seeds zero --top v -o x
done_testing
