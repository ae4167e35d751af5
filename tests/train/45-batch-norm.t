# Batch norm: exact resume, the same from pipes and parts. That evaluation is what gnn-predict does is in 30-pyg.t.
. "$GNN_TOP/tests/lib.sh"
gnn-import -q -o s sbm:nodes=1500,degree=8,features=12 && gnn-partition -q -k 3 -o k3 s && gnn-import -q -o h sbm:nodes=400,types=3 || exit 1
while read -r rule kind fields; do
    S="-f 4,4,3 -b 100 --eval valid --epochs 5 --frontier $rule"
    M="-m $kind --hidden 16 --batch-norm --residual --lr 0.01 --dropout 0.3 --no-provenance -q"
    T="--store k3 $S $M"
    rm -rf ck
    check "$kind: trains" gnn-train $T -o ref
    check "$kind: the same bits again" sh -c "gnn-train $T -o again && cmp ref again"
    check "$kind: by pipe" sh -c "gnn-sample $S k3 | gnn-gather -F $fields k3 | gnn-train $M -o piped"
    check "$kind: the same bytes" cmp ref piped
    check "$kind: with checkpoints" gnn-train $T --checkpoint ck --checkpoint-every 13 -o part
    check "$kind: they change nothing" cmp ref part
    rm -rf ck
    check "$kind: a part of the run" gnn-train $T --epochs 3 --checkpoint ck --checkpoint-every 13 -o part
    check "$kind: gone on with" gnn-train $T --checkpoint ck --resume -o resumed
    check "$kind: the same bytes, the best epoch's statistics among them" cmp ref resumed
done <<END
all sage x,y
new gcn x,y,degree
END
status 3 "a checkpoint made with another norm is refused" gnn-train $T --no-batch-norm --layer-norm --checkpoint ck --resume -o x
status 2 "layer norm and batch norm" gnn-train --store s --layer-norm --batch-norm -o x

M="--hidden 16 --batch-norm --lr 0.01 --dropout 0 --no-provenance -q"
gnn-train --store s -f 4,4 -b 100 --epochs 4 --eval none $M -o from || exit 1
check "from a model's parameters, nothing learned" gnn-train --store s -f 4,4 -b 100 --epochs 1 --eval none $M --lr 0 --init from -o after
status 1 "but the statistics go on" cmp from after
# Where a batch has a single row it has no variance, and the running statistics do, and stay what they are.
check "single rows" gnn-train --store s -f 0,3 -b 1 --epochs 1 --eval none $M --lr 0 --init from -o single
check "leave the statistics alone" cmp from single
check "several types" gnn-train --store h -f 3,3 -b 50 --epochs 2 $M -o typed
check "several types: predicts" gnn-predict h typed -q -o typed.npy
done_testing
