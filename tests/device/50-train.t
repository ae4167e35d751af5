# SPDX-License-Identifier: Apache-2.0
# gnn-train and gnn-predict on devices that are emulated: the CPU's losses, the same bits each time, whatever brings the batches.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/device/train.sh"
gnn-import -q -o s sbm:nodes=400,degree=7,features=12
gnn-import -q -o h sbm:nodes=200,types=3
gnn-partition -q -k 3 -o s3 s
how="-f 4,3 -b 20" of=5
trains "SAGE" s
trains "SAGE with --frontier new, layer norm, residual connections and dropout" \
    s --frontier new --layer-norm --residual --dropout 0.4 --dropout-input 0.1
turns=0
trains "SAGE with batch norm and dropout" s --batch-norm --dropout 0.3 --eval valid
check "gnn-train learns with batch norm on a device and leaves a checkpoint" \
    "$emu/gnn-train" -q --no-provenance --store s $how --hidden 8 --epochs 2 --keep last --batch-norm --lr 0.01 \
    --dropout 0.3 --eval valid --device cuda --checkpoint B --checkpoint-every 23 -o c.st
check "gnn-train --resume goes on with batch norm on a device" \
    "$emu/gnn-train" -q --no-provenance --store s $how --hidden 8 --epochs 2 --keep last --batch-norm --lr 0.01 \
    --dropout 0.3 --eval valid --device cuda --checkpoint B --resume -o c.st
check "gnn-train --resume with batch norm on a device writes the same model as without interruption" cmp a.st c.st
predicts "a model with batch norm" s
epochs=1
trains "GCN with bf16 features and --feature-norm row" s --model gcn --dtype bf16 --feature-norm row
trains "GIN from several parts with --train-eps and dropout" s3 --model gin --train-eps --dropout 0.2
predicts "a GIN" s3
trains "GIN for several node types with batch norm and residual connections" h --model gin --batch-norm --residual --eval valid
perl -e 'print "source,target,weight\n"; print $_ % 200, ",", ($_ * 37 + int($_ / 7)) % 200, ",", $_ % 5 / 4, "\n" for 1 .. 1500' >e.csv
perl -e 'print $_ % 3, "\n" for 1 .. 200' >y.csv
perl -e 'print join(",", $_ % 3, $_ % 5, $_ % 7), "\n" for 1 .. 200' >x.csv
gnn-import -q -u --labels y.csv --features x.csv --split random:0.5,0.25,0.25 -o w e.csv
gnn-partition -q -k 3 -o w3 w
trains "GCN with edge weights from several parts" w3 --model gcn --edge-weight weight --dropout 0.2 --eval valid
predicts "a GCN with edge weights" w3 w
gnn-import -q --directed "$GNN_TOP/tests/train/data/weighted.npz" -o wf
gnn-partition -q -k 3 --method random -o wf3 wf
trains "GINE with features of edges from several parts" wf3 --model gine --edge-features --train-eps --dropout 0.2 --eval valid
predicts "a GINE" wf3 wf
trains "GINE with batch norm and --frontier new" wf --model gine --edge-features --batch-norm --frontier new
trains "GAT with features of edges from several parts" wf3 --model gat --heads 4 --edge-features --attention-dropout 0.2 --eval valid
predicts "a GAT with features of edges" wf3 wf
trains "GAT with features of edges, --frontier new and without self-loops" wf --model gat --edge-features --no-self-loops --frontier new --batch-norm
trains "GATv2 with features of edges from several parts" wf3 --model gatv2 --heads 4 --edge-features --attention-dropout 0.2 --eval valid
predicts "a GATv2 with features of edges" wf3 wf
trains "GATv2 with features of edges, --frontier new and without self-loops" wf --model gatv2 --edge-features --no-self-loops --frontier new --batch-norm
trains "GAT with heads and dropout" s3 --model gat --heads 4 --dropout 0.2
predicts "a GAT" s3
# Sums of raw rows 64 rows at a time on the CPU, and on a device all at once.
gnn-import -q --split random:0.03,0.1,0.1 -o wide sbm:nodes=4000,degree=7,features=512
epochs=1 trains "GAT with wide rows" wide -b 40 --model gat --heads 16 --hidden 512 --optimizer sgd --lr 0.1
epochs=1 trains "GAT with wide rows behind an encoder" wide -b 40 --model gat --heads 16 --hidden 512 --encoder 512 --optimizer sgd --lr 0.1
# Where all neighbours' scores are on one side of leaky, the gradient of att_dst is 0 but for rounding, which Adam would scale up.
trains "GAT for several node types with --conv-residual" h --model gat --heads 2 --conv-residual --layer-norm --dropout 0.2 --eval valid \
    --optimizer sgd --lr 0.1
predicts "a GAT with --conv-residual" h
trains "GATv2 for several node types with dropout of edges and batch norm" \
    h --model gatv2 --heads 2 --attention-dropout 0.3 --frontier new --batch-norm --eval valid
predicts "a GATv2" h
trains "HGT for several node types with an encoder and a head" h --model hgt --heads 2 --encoder 8 --head 0 --dropout 0.2 --eval valid
predicts "an HGT" h
trains "HGT from several parts with batch norm and --frontier new" s3 --model hgt --heads 2 --head 0 --batch-norm --frontier new
trains "an encoder, feed-forward blocks with batch norm and dropout, and a head" \
    s3 --encoder 10 --ffn --head 6 --batch-norm --dropout 0.2 --eval valid
trains "jumping knowledge of several node types with ELU and a residual with a projection" \
    h --jk cat --head 0 --activation elu --residual --residual-projection --dropout 0.2
predicts "jumping knowledge" h
trains "jumping knowledge by maximum with leaky ReLU" s --jk max --head 0 --activation leaky --dropout 0.2
trains "SAGE with --aggr max, --normalize, --project and dropout from several parts" s3 --aggr max --normalize --project --dropout 0.2
predicts "maxima of projected sources" s3
trains "SAGE for several node types with --aggr sum, --normalize and batch norm" h --aggr sum --normalize --batch-norm --lr 0.001
trains "SAGE for several node types with --aggr max" h --aggr max --eval valid
for o in '' '--bases 2 --batch-norm --residual --dropout 0.2'; do
    trains "R-GCN $o" h --model rgcn $o --eval valid
    predicts "R-GCN $o" h
done
trains "from a graph of several node types" h --dropout 0.3
gnn-import -q -o reg sbm:nodes=400,degree=7,features=12,targets=3
trains "a regression with evaluation" reg --eval valid --metric r2
trains "with weights of classes" s --class-weights 1,2,0,0.5
gnn-import -q -o bin sbm:nodes=300,classes=2
trains "two classes with balanced weights" bin --class-weights balanced
trains "from several parts with clipping, AdamW and a cosine schedule" s3 --optimizer adamw --clip 0.5 --schedule cosine --dropout 0.2
trains "by SGD with momentum and evaluation" s --optimizer sgd --momentum 0.9 --eval valid
epochs=2
turns=0
trains "plain SAGE once more for the checks below" s
cp a.st model.st
T="-q --no-provenance --hidden 8 --epochs 2 --keep last --lr 0.01 --dropout 0 --no-layer-norm"
check "gnn-train learns with a sharded cache of a fifth of the rows and the graph in the memory of the host" \
    "$emu/gnn-train" $T --eval none --store s $how --device cuda:0,1 --cache 0.2 --cache-policy shard --graph-memory uva -o c.st
check "gnn-train writes the same model with a small cache and the graph in the memory of the host" cmp model.st c.st

check "gnn-train learns where cuBLASLt cannot add a bias" env GNN_FAKE_NO_BIAS=1 "$emu/gnn-train" $T --eval none --store s $how --device cuda -o c.st
check "gnn-train writes the same model where cuBLASLt cannot add a bias" cmp model.st c.st
valid() { "$emu/gnn-train" $T --store s $how --device cuda --eval valid --metrics m.json -o x && grep -o '"valid":{[^}]*}' m.json; }
valid >want.txt
GNN_FAKE_NO_BIAS=1 valid >got.txt
check "gnn-train evaluates the same where cuBLASLt cannot add a bias and ReLU" sh -c 'test -s want.txt && cmp want.txt got.txt'
rm x

# Precisions that the library does not have for every product: the next finer one takes their place, which is said once.
in_precision() { # OUT PRECISION ENVIRONMENT
    env "$3" "$emu/gnn-train" --no-provenance --hidden 8 --epochs 2 --keep last --eval none --lr 0.01 --dropout 0 --no-layer-norm --store s $how --device cuda --precision "$2" --metrics m.json -o "$1" 2>said
}
for p in f32 tf32 bf16; do
    check "gnn-train learns with --precision $p" in_precision $p.st $p A=
    check "gnn-train says nothing of products in another precision than $p" sh -c '! grep -i cublas said'
done
check "gnn-train writes different models with f32, tf32 and bf16" sh -c '! cmp -s f32.st tf32.st && ! cmp -s tf32.st bf16.st && cmp f32.st model.st'
check "gnn-train --precision bf16 learns where cuBLASLt refuses bf16" in_precision c.st bf16 GNN_FAKE_NO_BF16=0
check "gnn-train writes the model of tf32 where cuBLASLt refuses bf16" cmp tf32.st c.st
check "gnn-train says once which products it computes in tf32 instead of bf16" \
    sh -c 'test $(grep -c "^gnn-train: cuBLASLt cannot multiply ([0-9]*, [0-9]*) by ([0-9]*, 8) in bf16: such products are computed in tf32$" \
        said) -eq 1'
check "gnn-train records once in its metrics that a product has another precision" sh -c 'test $(grep -c "\"event\": *\"precision\"" m.json) -eq 1'
check "gnn-train --precision bf16 learns where cuBLASLt refuses bf16 for results 8 wide" in_precision c.st bf16 GNN_FAKE_NO_BF16=8
check "gnn-train computes only the products that cuBLASLt refuses in bf16 in tf32" \
    sh -c '! cmp -s c.st tf32.st && ! cmp -s c.st bf16.st && grep -q "in bf16: such products are computed in tf32" said'
for p in tf32 bf16; do
    check "gnn-train --precision $p learns where cuBLASLt cannot use tensor cores" in_precision c.st $p GNN_FAKE_NO_TENSOR=1
    check "gnn-train --precision $p writes the model of f32 where cuBLASLt cannot use tensor cores" cmp f32.st c.st
    check "gnn-train --precision $p says that it computes products in f32" grep -q "in $p: such products are computed in f32" said
done

check "gnn-train learns with GNN_DEBUG_TIME=1" in_precision c.st f32 GNN_DEBUG_TIME=1
check "gnn-train with GNN_DEBUG_TIME=1 says how long each operation takes" \
    sh -c 'grep -q "^gnn-train: matrix product (rows, 12) by (12, 8): [1-9][0-9]* times, [0-9.]* ms, [0-9.]* MB at least$" said && grep -q "\"event\": *\"operation\"" m.json'
check "gnn-train with GNN_DEBUG_TIME=1 writes the same model" cmp f32.st c.st
# moves NAME BYTES NODES... OPTIONS...: what the operation must move in one batch, a formula of the batch's nodes n0, n1, n2 and edges e1, e2
moves() {
    gnn-sample -q --no-provenance $fan -b 1000 -o one s
    gnn-inspect one | awk '/mean nodes/ { sub(/.*: */, ""); n = split($0, v); for (i = 1; i <= n; i++) printf "-v n%d=%d ", i - 1, v[i] }
        /mean edges/ { sub(/.*: */, ""); n = split($0, v); for (i = 1; i <= n; i++) printf "-v e%d=%d ", i, v[i] }' >counts
    GNN_DEBUG_TIME=1 "$emu/gnn-train" -q --store s $fan -b 1000 ${layers?} --epochs 1 --keep last --eval none --dropout 0 --no-layer-norm \
        --device cuda --metrics m.json -o c.st $3 || return
    awk $(cat counts) "BEGIN { print $2 }" >want
    sed -n 's/.*"event": *"operation", *"name": *"'"$1"'".*"bytes": *\([0-9]*\).*/\1/p' m.json >got
    cmp want got
}
fan='-f 4,3' layers='--hidden 8'
# There must be: the nodes that the hop has found, as sources, and as many rows as its edges need at least, given the fan-out.
check "GNN_DEBUG_TIME=1 tells the bytes of sums: rows that must be read, offsets and edges, of one sum and a gradient" \
    moves 'aggregation, 8 columns' '4 * (8 * (2 * n2 + int((e2 + 2) / 3)) + int((e2 + 2) / 3) + n2 - n1 + 2 * e2)'
check "GNN_DEBUG_TIME=1 tells the bytes of products, of which one is added" moves 'matrix product (rows, 12) by (12, 8)' '4 * (n2 * (12 + 8) + n1 * (12 + 2 * 8) + 2 * 12 * 8)'
fan='-f 4' layers='' # one layer of 2 heads of 4 columns, where each destination is a source, too
sources='(n1 - n0 > n0 ? n1 - n0 : n0)' rows='int((e1 + 3) / 4)'
check "GNN_DEBUG_TIME=1 tells the bytes of attention" \
    moves attention "4 * ($sources * (8 + 2) + e1 + $rows + n0 * (2 + 8 + 4))" '--model gat --heads 2'
check "GNN_DEBUG_TIME=1 tells the bytes of the gradients of attention, by source" moves 'attention, backward, by source' \
    "4 * (n1 * (8 + 2) + n1 - n0 + e1 * (1 + 2) + $sources * (8 + 2) + n0 * (8 + 2 + 6))" '--model gat --heads 2'
check "GNN_DEBUG_TIME=1 tells the bytes of the gradients of attention, by destination" \
    moves 'attention, backward, by destination' "4 * (n0 * 2 + $rows + e1 * 2)" '--model gat --heads 2'
check "GNN_DEBUG_TIME=1 tells the bytes of GATv2's attention" \
    moves attention "4 * ($sources * 8 + e1 + $rows + n0 * (8 + 8 + 4))" '--model gatv2 --heads 2'

# By pipes: batches that stay on the device, that come from there, that come from the CPU.
for transport in cuda inline; do
    check "gnn-train learns on a device from a pipe with --transport $transport" \
        sh -c "$emu/gnn-sample -q --no-provenance $how --epochs 2 --device cuda --transport $transport s |
        $emu/gnn-gather -q --no-provenance --device cuda --transport $transport s | $emu/gnn-train -q --no-provenance --hidden 8 --keep last --lr 0.01 --dropout 0 --no-layer-norm --device cuda -o c.st"
    check "gnn-train writes the same model from a pipe with --transport $transport as from --store" cmp model.st c.st
done
check "gnn-train learns on a device from a pipe of batches that the CPU drew" \
    sh -c "gnn-sample -q --no-provenance $how --epochs 2 s | gnn-gather -q --no-provenance s |
        $emu/gnn-train -q --no-provenance --hidden 8 --keep last --lr 0.01 --dropout 0 --no-layer-norm --device cuda:1 -o c.st"
check "gnn-train writes the same model from a pipe of batches that the CPU drew as from --store" cmp model.st c.st

# Stopped and resumed.
long="-q --no-provenance --store s $how --hidden 8 --epochs 6 --keep last --eval none --device cuda --lr 0.01 --no-layer-norm --dropout 0.2"
check "gnn-train learns six epochs on a device" "$emu/gnn-train" $long -o want.st
check "gnn-train learns six epochs on a device with checkpoints" "$emu/gnn-train" $long --checkpoint D --checkpoint-every 7 -o c.st
check "gnn-train on a device writes the same model with and without checkpoints" cmp want.st c.st
check "gnn-train --resume goes on from the last checkpoint on a device" "$emu/gnn-train" $long --checkpoint D --resume -o c.st
check "gnn-train --resume on a device writes the same model as without interruption" cmp want.st c.st
wide && stops='1 30 200' long="$long --epochs 40" || stops='1 30' long="$long --epochs 12"
steps() { test "0$(grep -c '"event": *"step"' m.json 2>/dev/null)" -ge "$1"; } # at first there is no file
for k in $stops; do
    rm -rf D m.json
    "$emu/gnn-train" $long --checkpoint D --metrics m.json -o x.st 2>err &
    pid=$!
    until steps $k || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
    kill $pid
    wait $pid
    status 75 "gnn-train on a device ends with status 75 when it is stopped after step $k" sh -c "exit $?"
    check "gnn-train --resume on a device goes on after it was stopped after step $k" "$emu/gnn-train" $long --checkpoint D --resume -o "x$k.st"
done
check "gnn-train --resume on a device writes the same model wherever it was stopped" sh -c 'for k in $1; do cmp x1.st x$k.st || exit; done' sh "$stops"

# Prediction: layers on the device, or as many as fit.
floats() { od -An -v -w4 -t f4 -j 128 "$1"; }
alike() { # two arrays of floats, to 1e-5
    floats "$1" >fa
    floats "$2" >fb
    [ -s fa ] && paste fa fb | awk '{ d = $1 - $2; if (d > 1e-5 || d < -1e-5 || NF != 2) bad = 1 } END { exit bad }'
}
gnn-import -q -o l sbm:nodes=1500,degree=4,features=64
turns=0
for g in s s3 h l; do
    turn 3 || continue
    gnn-train -q --store $g $how --hidden 8 --epochs 1 --keep last --eval none --lr 0.01 --dropout 0 --no-layer-norm -o m.st
    gnn-predict -q --output-kind probs -o cpu.npy $g m.st
    "$emu/gnn-predict" -q --device cuda --output-kind probs -o dev.npy $g m.st
    check "gnn-predict on a device agrees with the CPU to 1e-5 for store $g" alike cpu.npy dev.npy
done
# The least memory that will do holds chunks of rows and edges, and no table.
rm -f dev.npy
k=1340
until GNN_FAKE_MEMORY=${k}00000 "$emu/gnn-predict" -q --device cuda --output-kind probs -o dev.npy l m.st 2>err || [ $k -gt 1400 ]; do k=$((k + 3)); done
check "gnn-predict on a device agrees with the CPU with tables in the memory of the host ($((k / 10)) MB)" alike cpu.npy dev.npy
gnn-predict -q --output-kind embeddings -o cpu.npy s model.st
check "gnn-predict writes embeddings on a device" "$emu/gnn-predict" -q --device cuda:1 --output-kind embeddings -o dev.npy s model.st
check "gnn-predict on a device agrees with the CPU to 1e-5 for embeddings" alike cpu.npy dev.npy
for kind in probs embeddings; do
    gnn-predict -q --store s --output-kind $kind --metrics cpu.json --split valid -o cpu.npy model.st
    check "gnn-predict --store --output-kind $kind runs on a device" \
        "$emu/gnn-predict" -q --device cuda --store s --output-kind $kind --metrics dev.json --split valid -o dev.npy model.st
    check "gnn-predict --store on a device agrees with the CPU to 1e-5 for $kind" alike cpu.npy dev.npy
    for f in cpu dev; do grep '"event":"score"' $f.json | grep -oE '"(set|nodes|accuracy)":[^,}]*' >$f.figures; done
    check "gnn-predict --store on a device has the figures of the CPU" sh -c '[ $(wc -l <cpu.figures) -eq 3 ] && cmp cpu.figures dev.figures'
    gnn-sample -q -f 4,3 -b 60 --no-shuffle s | gnn-gather -q s >g.gnb
    gnn-predict -q --output-kind $kind -o cpu.npy model.st <g.gnb
    check "gnn-predict reads a stream on a device" "$emu/gnn-predict" -q --device cuda --output-kind $kind -o dev.npy -i g.gnb model.st
    check "gnn-predict on a stream on a device agrees with the CPU to 1e-5 for $kind" alike cpu.npy dev.npy
done

"$emu/gnn-train" $T --eval none -v --store s --device cuda --epochs 1 --graph-memory uva --hidden 4 -o x 2>said
check "gnn-train -v says that the graph is in the memory of the host" grep -q "^gnn-train: graph: .* MB in host memory" said
check "gnn-train -v says where the rows were found" grep -q '^gnn-train: rows: local' said
rm x

for p in f32 tf32 bf16; do
    check "gnn-predict on a device predicts in $p" "$emu/gnn-predict" -q --device cuda --precision $p --output-kind probs -o $p.npy s model.st
done
check "gnn-predict on a device writes other outputs in bf16 than in tf32 and f32" sh -c '! cmp -s f32.npy tf32.npy && ! cmp -s tf32.npy bf16.npy && ! cmp -s f32.npy bf16.npy'
check "gnn-predict on a device says which products it makes in tf32" \
    sh -c 'GNN_FAKE_NO_BF16=0 "$1" -q --device cuda --precision bf16 --output-kind probs --metrics m.json -o c.npy s model.st &&
        cmp c.npy tf32.npy && grep -q "\"event\":\"precision\"" m.json' sh "$emu/gnn-predict"

# What cannot be.
status 2 "gnn-train refuses --precision without --device" gnn-train $T --eval none --store s --precision tf32 -o x
status 2 "gnn-train refuses --cache without --device" gnn-train $T --eval none --store s --cache 0.1 -o x
status 2 "gnn-train refuses --cache for a stream" "$emu/gnn-train" -q --device cuda --cache 0.1 -o x
status 4 "gnn-train --device cuda fails without a device" env GNN_FAKE_DEVICES=0 "$emu/gnn-train" $T --eval none --store s --device cuda -o x
status 1 "gnn-train fails when the device has too little memory" \
    env GNN_FAKE_MEMORY=40960 "$emu/gnn-train" $T --eval none --store s --device cuda -o x
status 1 "gnn-predict fails when the device has too little memory for a chunk" \
    env GNN_FAKE_MEMORY=8200000 "$emu/gnn-predict" -q --device cuda -o x s model.st
cp err said
check "gnn-predict says that the device has too little memory for a chunk" grep -q 'a chunk' said
check "gnn-train and gnn-predict leave no output on a device when they fail" test ! -e x
sweep() { # NAME PROGRAM...: calls of the run-time that fail
    _name=$1 bad=0 k=1
    shift
    GNN_FAKE_FAIL=0 "$@" -o x 2>err
    calls=$(sed -n 's/fake device: \([0-9]*\) calls/\1/p' err)
    while [ $k -le "$calls" ]; do
        rm -f x
        GNN_FAKE_FAIL=$k timeout 600 "$@" -o x 2>err
        rc=$?
        [ $rc -eq 4 ] && [ ! -e x ] && [ "$(grep -vc '^==[0-9]*==WARNING: ASan' err)" -eq 1 ] || { bad=$((bad + 1)); echo "# call $k: $rc"; sed 's/^/# /' err; }
        k=$((k + calls / $(wide && echo 30 || echo 6) + 1))
    done
    check "$_name ends with status 4 and one line on a device, whichever of $calls calls to it fails" test $bad -eq 0
}
sweep gnn-train "$emu/gnn-train" -q --store s -f 3,2 -b 60 --hidden 4 --epochs 1 --keep last --eval none --lr 0.01 \
    --dropout 0 --no-layer-norm --device cuda:0,1
sweep gnn-predict "$emu/gnn-predict" -q --device cuda s model.st
done_testing
