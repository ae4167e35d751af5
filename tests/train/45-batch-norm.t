# SPDX-License-Identifier: Apache-2.0
# Batch norm: exact resume, the same from pipes and parts. That evaluation is what gnn-predict does is in 30-pyg.t.
. "$GNN_TOP/tests/lib.sh"
gnn-import -q -o s sbm:nodes=1500,degree=8,features=12 && gnn-partition -q -k 3 -o k3 s && gnn-import -q -o h sbm:nodes=400,types=3 || exit 1
while read -r rule kind fields; do
    S="-f 4,4,3 -b 100 --eval valid --epochs 5 --frontier $rule"
    M="-m $kind --hidden 16 --batch-norm --residual --lr 0.01 --dropout 0.3 --no-provenance -q"
    T="--store k3 $S $M"
    rm -rf ck
    check "gnn-train -m $kind trains with batch norm" gnn-train $T -o ref
    check "gnn-train -m $kind writes the same model with batch norm in two runs" sh -c "gnn-train $T -o again && cmp ref again"
    check "gnn-train -m $kind trains with batch norm from a pipe" sh -c "gnn-sample $S k3 | gnn-gather -F $fields k3 | gnn-train $M -o piped"
    check "gnn-train -m $kind writes the same model with batch norm from a pipe and from --store" cmp ref piped
    check "gnn-train -m $kind trains with batch norm and checkpoints" gnn-train $T --checkpoint ck --checkpoint-every 13 -o part
    check "gnn-train -m $kind writes the same model with batch norm with and without checkpoints" cmp ref part
    rm -rf ck
    check "gnn-train -m $kind trains three of five epochs with batch norm" gnn-train $T --epochs 3 --checkpoint ck --checkpoint-every 13 -o part
    check "gnn-train -m $kind resumes with batch norm" gnn-train $T --checkpoint ck --resume -o resumed
    check "gnn-train -m $kind resumes with the same bits, those of the best epoch's running statistics among them" cmp ref resumed
done <<END
all sage x,y
new gcn x,y,degree
END
status 3 "gnn-train --resume refuses a checkpoint that was made with another norm" \
    gnn-train $T --no-batch-norm --layer-norm --checkpoint ck --resume -o x
status 2 "gnn-train refuses --layer-norm together with --batch-norm" gnn-train --store s --layer-norm --batch-norm -o x

M="--hidden 16 --batch-norm --lr 0.01 --dropout 0 --no-provenance -q"
gnn-train --store s -f 4,4 -b 100 --epochs 4 --eval none $M -o from || exit 1
check "gnn-train --init trains a model with batch norm at a learning rate of 0" \
    gnn-train --store s -f 4,4 -b 100 --epochs 1 --eval none $M --lr 0 --init from -o after
status 1 "gnn-train updates the running statistics at a learning rate of 0" cmp from after
# Where a batch has a single row it has no variance, and the running statistics do, and stay what they are.
check "gnn-train trains with batch norm on batches of a single row" \
    gnn-train --store s -f 0,3 -b 1 --epochs 1 --eval none $M --lr 0 --init from -o single
check "gnn-train leaves the running statistics as they are for batches of a single row" /usr/bin/python3 -c '
import struct
a, b = (f[8 + struct.unpack("<Q", f[:8])[0]:] for f in (open(name, "rb").read() for name in ("from", "single")))
exit(a != b)'
check "gnn-train trains with batch norm on a graph of several node types" gnn-train --store h -f 3,3 -b 50 --epochs 2 $M -o typed
check "gnn-predict runs a model with batch norm on a graph of several node types" gnn-predict h typed -q -o typed.npy
done_testing
