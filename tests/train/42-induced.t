# SPDX-License-Identifier: Apache-2.0
# Training on induced edges: as many layers as asked for, from a stream or a store, with and without interruptions.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-train
export OMP_NUM_THREADS=1
gnn-import -q -o s sbm:nodes=1500,degree=12,features=8
gnn-import -q -o h sbm:nodes=700,types=3,weights=1,features=6
gnn-partition -q -k 3 -o s3 s
learn='-q --hidden 8 --no-provenance --dropout 0.2'
while read -r s fields opts; do
    for how in '--induced' '--induced --disjoint' '--induced --frontier new'; do
        turn 2 || continue
        rm -f a b
        gnn-train $learn --store $s $how -f 6,4 -b 60 --layers 3 --epochs 2 --eval valid $opts -o a
        gnn-sample -q $s $how -f 6,4 -b 60 --epochs 2 --eval valid --edge-ids | gnn-gather -q $s -F $fields |
            gnn-train $learn --layers 3 $opts -o b
        check "gnn-train $how $opts makes the model of a pipeline" cmp a b
        gnn-train $learn --store $s $how -f 6,4 -b 60 --layers 3 --epochs 2 --eval valid --prefetch 3 $opts -o b
        check "gnn-train $how $opts does not depend on threads" cmp a b
    done
done <<.
s x,y -m sage
s x,y,degree -m gcn --batch-norm
s x,y -m gat --heads 2 --attention-dropout 0.2
h x,y -m hgt --heads 2
.
how='--induced --disjoint -f 6,4 -b 60 --eval valid'
check 'gnn-train --induced learns without a break' gnn-train $learn --layers 4 --store s $how --epochs 2 -o want
check 'gnn-predict --layer-wise takes the model' sh -c 'gnn-predict -q --layer-wise s want -o p.npy && test $(wc -c <p.npy) -gt 1500'
gnn-train $learn --store s --induced -f 6,4 -b 60 --epochs 1 -o two
check 'a model has two layers unless told' sh -c 'gnn-inspect two | grep -q "layers sage, widths 8"'
refuses 2 'requires --full-batch, --induced or --clusters' '--layers for hops' gnn-train -q --store s -f 6,4 --layers 3 -o x
refuses 2 'requires --full-batch, --induced or --clusters' '--layers for a stream of hops' \
    sh -c 'gnn-sample -q s -f 6,4 | gnn-gather -q s | gnn-train -q --layers 3 -o x'
refuses 2 'has no effect with --full-batch' '--induced with --full-batch' gnn-train -q --store s --full-batch --induced -o x
refuses 2 'a stream determines this' '--induced for a stream' sh -c 'gnn-sample -q s -f 6,4 | gnn-gather -q s | gnn-train -q --induced -o x'
check "nothing is left of what was refused" test -z "$(ls -d x x.* 2>/dev/null)"
done_testing
