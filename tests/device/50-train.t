# gnn-train and gnn-predict on devices that are emulated: the CPU's losses, the same bits each time, whatever brings the batches.
. "$GNN_TOP/tests/lib.sh"
emu=$GNN_B/emu/bin
export GNN_FAKE_DEVICES=2
gnn-import -q -o s sbm:nodes=400,degree=7,features=12
gnn-import -q -o h sbm:nodes=200,types=3
gnn-partition -q -k 3 -o s3 s
how="-f 4,3 -b 20"
steps() { grep '"event": *"step"' "$1" | grep -o '"loss":[-0-9.e+]*' | cut -d: -f2; }
# near A B: losses agree to 1e-4
near() {
    steps "$1" >la
    steps "$2" >lb
    [ -s la ] && [ "$(wc -l <la)" -eq "$(wc -l <lb)" ] &&
        paste la lb | awk '{ d = $1 - $2; d = d < 0 ? -d : d; if (d > 1e-4 * ($1 > 1 ? $1 : 1)) { print; bad = 1 } } END { exit bad }'
}
# trains NAME GRAPH OPTIONS...: near the CPU, and two runs that differ in the order of everything give the same bits
trains() {
    _name=$1 _g=$2
    shift 2
    _t="-q --no-provenance --store $_g $how --hidden 8 --epochs 2 --keep last --eval none --lr 0.01 --dropout 0 --no-layer-norm $*"
    # shellcheck disable=SC2086
    if gnn-train $_t -o cpu.st --metrics cpu.json && GNN_FAKE_SEED=1 "$emu/gnn-train" $_t --device cuda -o a.st --metrics a.json 2>err &&
        GNN_FAKE_SEED=7 "$emu/gnn-train" $_t --device cuda:1,0 -o b.st 2>>err && cmp a.st b.st >>err && near cpu.json a.json >>err; then
        _ok "$_name"
    else
        _not_ok "$_name"
        sed 's/^/# /' err
    fi
}
trains "SAGE" s
trains "SAGE, new nodes only, norm, residual, dropout" s --frontier new --layer-norm --residual --dropout 0.4 --dropout-input 0.1
trains "SAGE, batch norm, dropout" s --batch-norm --dropout 0.3 --eval valid
check "batch norm, stopped half-way" "$emu/gnn-train" -q --no-provenance --store s $how --hidden 8 --epochs 2 --keep last --batch-norm --lr 0.01 --dropout 0.3 --eval valid --device cuda --checkpoint B --checkpoint-every 23 -o c.st
check "and gone on with" "$emu/gnn-train" -q --no-provenance --store s $how --hidden 8 --epochs 2 --keep last --batch-norm --lr 0.01 --dropout 0.3 --eval valid --device cuda --checkpoint B --resume -o c.st
check "the same model" cmp a.st c.st
check "batch norm, predicting on the device" "$emu/gnn-predict" -q --device cuda s a.st --output-kind probs -o p.npy
check "and on the CPU" gnn-predict -q s a.st --output-kind probs -o q.npy
check "the same to 1e-4" perl "$GNN_TOP/tests/train/npygap.pl" p.npy q.npy 1e-4
trains "GCN, narrowed features, unit rows" s --model gcn --dtype bf16 --feature-norm row
trains "several types" h --dropout 0.3
trains "several parts, clipping, AdamW, a schedule" s3 --optimizer adamw --clip 0.5 --schedule cosine --dropout 0.2
trains "SGD, evaluation" s --optimizer sgd --momentum 0.9 --eval valid
trains "a cache of some rows, the graph in the host's memory" s
cp a.st model.st
T="-q --no-provenance --hidden 8 --epochs 2 --keep last --lr 0.01 --dropout 0 --no-layer-norm"
check "few rows on the devices" "$emu/gnn-train" $T --eval none --store s $how --device cuda:0,1 --cache 0.2 --cache-policy shard --graph-memory uva -o c.st
check "the same model" cmp model.st c.st

check "where the library knows no way to add a bias" env GNN_FAKE_NO_BIAS=1 "$emu/gnn-train" $T --eval none --store s $how --device cuda -o c.st
check "the same model" cmp model.st c.st
valid() { "$emu/gnn-train" $T --store s $how --device cuda --eval valid --metrics m.json -o x && grep -o '"valid":{[^}]*}' m.json; }
valid >want.txt
GNN_FAKE_NO_BIAS=1 valid >got.txt
check "and the same evaluations, which leave ReLU to it" sh -c 'test -s want.txt && cmp want.txt got.txt'
rm x

# Precisions that the library does not have for every product: the next finer one takes their place, which is said once.
in_precision() { # OUT PRECISION ENVIRONMENT
    env "$3" "$emu/gnn-train" --no-provenance --hidden 8 --epochs 2 --keep last --eval none --lr 0.01 --dropout 0 --no-layer-norm --store s $how --device cuda --precision "$2" --metrics m.json -o "$1" 2>said
}
for p in f32 tf32 bf16; do
    check "in $p" in_precision $p.st $p A=
    check "$p: nothing is said of precision" sh -c '! grep -i cublas said'
done
check "three precisions are three models" sh -c '! cmp -s f32.st tf32.st && ! cmp -s tf32.st bf16.st && cmp f32.st model.st'
check "bf16 that the library refuses" in_precision c.st bf16 GNN_FAKE_NO_BF16=0
check "is tf32" cmp tf32.st c.st
check "and is said once" sh -c 'test $(grep -c "^gnn-train: cuBLASLt cannot multiply ([0-9]*, [0-9]*) by ([0-9]*, 8) in bf16: such products are computed in tf32$" said) -eq 1'
check "also in the metrics" sh -c 'test $(grep -c "\"event\": *\"precision\"" m.json) -eq 1'
check "bf16 that it refuses for results 8 wide" in_precision c.st bf16 GNN_FAKE_NO_BF16=8
check "is neither tf32 nor bf16" sh -c '! cmp -s c.st tf32.st && ! cmp -s c.st bf16.st && grep -q "in bf16: such products are computed in tf32" said'
for p in tf32 bf16; do
    check "$p that could not use tensor cores" in_precision c.st $p GNN_FAKE_NO_TENSOR=1
    check "is f32" cmp f32.st c.st
    check "and is said" grep -q "in $p: such products are computed in f32" said
done

check "what operations take is told on request" in_precision c.st f32 GNN_DEBUG_TIME=1
check "by name" sh -c 'grep -q "^gnn-train: product (rows, 12) by (12, 8): [1-9][0-9]* times, [0-9.]* ms$" said && grep -q "\"event\": *\"operation\"" m.json'
check "of the same model" cmp f32.st c.st

# By pipes: batches that stay on the device, that come from there, that come from the CPU.
for transport in cuda inline; do
    check "by pipes, $transport" sh -c "$emu/gnn-sample -q --no-provenance $how --epochs 2 --device cuda --transport $transport s |
        $emu/gnn-gather -q --no-provenance --device cuda --transport $transport s | $emu/gnn-train -q --no-provenance --hidden 8 --keep last --lr 0.01 --dropout 0 --no-layer-norm --device cuda -o c.st"
    check "the same model" cmp model.st c.st
done
check "from the CPU" sh -c "gnn-sample -q --no-provenance $how --epochs 2 s | gnn-gather -q --no-provenance s | $emu/gnn-train -q --no-provenance --hidden 8 --keep last --lr 0.01 --dropout 0 --no-layer-norm --device cuda:1 -o c.st"
check "the same model" cmp model.st c.st

# Stopped and resumed.
long="-q --no-provenance --store s $how --hidden 8 --epochs 6 --keep last --eval none --device cuda --lr 0.01 --no-layer-norm --dropout 0.2"
check "a run" "$emu/gnn-train" $long -o want.st
check "with checkpoints" "$emu/gnn-train" $long --checkpoint D --checkpoint-every 7 -o c.st
check "the same model" cmp want.st c.st
check "from the last of them" "$emu/gnn-train" $long --checkpoint D --resume -o c.st
check "the same model" cmp want.st c.st
long="$long --epochs 40"
for k in 1 30 200; do
    rm -rf D m.json
    "$emu/gnn-train" $long --checkpoint D --metrics m.json -o x.st 2>err &
    pid=$!
    until [ "$(grep -c '"event": *"step"' m.json 2>/dev/null)" -ge $k ] || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
    kill $pid
    wait $pid
    status 75 "stopped after step $k" sh -c "exit $?"
    check "goes on" "$emu/gnn-train" $long --checkpoint D --resume -o "x$k.st"
done
check "and ends where others end" sh -c 'cmp x1.st x30.st && cmp x1.st x200.st'

# Prediction: layers on the device, or as many as fit.
floats() { od -An -v -w4 -t f4 -j 128 "$1"; }
alike() { # two arrays of floats, to 1e-5
    floats "$1" >fa
    floats "$2" >fb
    [ -s fa ] && paste fa fb | awk '{ d = $1 - $2; if (d > 1e-5 || d < -1e-5 || NF != 2) bad = 1 } END { exit bad }'
}
gnn-import -q -o l sbm:nodes=1500,degree=4,features=64
for g in s s3 h l; do
    gnn-train -q --store $g $how --hidden 8 --epochs 1 --keep last --eval none --lr 0.01 --dropout 0 --no-layer-norm -o m.st
    gnn-predict -q --output-kind probs -o cpu.npy $g m.st
    "$emu/gnn-predict" -q --device cuda --output-kind probs -o dev.npy $g m.st
    check "predicts for $g" alike cpu.npy dev.npy
done
# The least memory that will do holds chunks of rows and edges, and no table.
rm -f dev.npy
k=1340
until GNN_FAKE_MEMORY=${k}00000 "$emu/gnn-predict" -q --device cuda --output-kind probs -o dev.npy l m.st 2>err || [ $k -gt 1400 ]; do k=$((k + 3)); done
check "tables in the host's memory ($((k / 10)) MB)" alike cpu.npy dev.npy
gnn-predict -q --output-kind embeddings -o cpu.npy s model.st
check "embeddings" "$emu/gnn-predict" -q --device cuda:1 --output-kind embeddings -o dev.npy s model.st
check "are the same" alike cpu.npy dev.npy

"$emu/gnn-train" $T --eval none -v --store s --device cuda --epochs 1 --graph-memory uva --hidden 4 -o x 2>said
check "where the graph is, is told" grep -q "^gnn-train: graph: .* MB in host memory" said
check "and what the cache held" grep -q '^gnn-train: rows: local' said
rm x

# What cannot be.
status 2 "a precision of the CPU" gnn-train $T --eval none --store s --precision tf32 -o x
status 2 "a cache of the CPU" gnn-train $T --eval none --store s --cache 0.1 -o x
status 2 "a cache for a stream" "$emu/gnn-train" -q --device cuda --cache 0.1 -o x
status 4 "no device" env GNN_FAKE_DEVICES=0 "$emu/gnn-train" $T --eval none --store s --device cuda -o x
status 1 "no memory" env GNN_FAKE_MEMORY=40960 "$emu/gnn-train" $T --eval none --store s --device cuda -o x
status 1 "no memory for a chunk" env GNN_FAKE_MEMORY=8200000 "$emu/gnn-predict" -q --device cuda -o x s model.st
cp err said
check "which is said" grep -q 'a chunk' said
check "nothing is left" test ! -e x
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
        k=$((k + calls / 30 + 1))
    done
    check "$_name: calls that fail end it ($calls calls)" test $bad -eq 0
}
sweep training "$emu/gnn-train" -q --store s -f 3,2 -b 60 --hidden 4 --epochs 1 --keep last --eval none --lr 0.01 --dropout 0 --no-layer-norm --device cuda:0,1
sweep prediction "$emu/gnn-predict" -q --device cuda s model.st
done_testing
