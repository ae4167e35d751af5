# SPDX-License-Identifier: Apache-2.0
# --precision bf16 on the CPU: results are others than in f32, near them, and the same each time.
. "$GNN_TOP/tests/lib.sh"
gnn-import -q -o g sbm:nodes=800,degree=5,features=20,classes=3,train=0.6,valid=0.2 || exit 1
gnn-import -q -o typed igbh:scale=0.00002,features=8 || exit 1
plain="--no-provenance -q -b 128 --epochs 1 --eval none -j2"
pair() { # NAME OPTIONS...: f32.st in f32, and one.st and two.st in bf16
    _of=$1
    shift
    # shellcheck disable=SC2086
    check "gnn-train trains $_of in f32 and bf16" sh -c 'gnn-train "$@" -o f32.st && gnn-train "$@" --precision bf16 -o one.st &&
        gnn-train "$@" --precision bf16 -o two.st' sh $plain "$@"
    check "gnn-train writes another model of $_of in bf16 than in f32" sh -c '! cmp -s f32.st one.st'
    check "gnn-train writes the same model of $_of in bf16 twice" cmp one.st two.st
}
for m in sage gcn gin 'gat --heads 2' 'gatv2 --heads 2' 'hgt --heads 2 --head 0 --encoder 16' 'rgcn --bases 2' 'sage --aggr max --project'; do
    # shellcheck disable=SC2086
    pair "$m" --store g -f 4,4 --hidden 16 -m $m
done
pair 'a typed graph' --store typed -f 3,3 --hidden 16
pair 'a decoder of links' --store g --links node/to/node --negatives binary:1 -f 4,4 --hidden 16 --decoder mlp
full="--no-provenance -q --epochs 3 -j2 --full-batch --layers 2 --hidden 16 --store g"
# shellcheck disable=SC2086
check 'gnn-train trains full batches in bf16' sh -c 'gnn-train "$@" -o f32.st && gnn-train "$@" --precision bf16 -o one.st &&
    gnn-train "$@" --precision bf16 -o two.st && ! cmp -s f32.st one.st && cmp one.st two.st' sh $full

# What the two learn is alike.
learn="--no-provenance --store g -f 5,5 --hidden 32 -b 128 --epochs 6 --keep last"
for p in f32 bf16; do
    # shellcheck disable=SC2086
    gnn-train $learn --precision $p --metrics $p.json -o $p.st 2>$p.said || _not_ok "gnn-train learns in $p"
done
near() { # A B SHARE: two numbers
    awk -v a="$1" -v b="$2" -v s="$3" 'BEGIN { d = a > b ? a - b : b - a; exit !(a > 0 && d <= s * a) }'
}
loss() { sed -n 's/.*"event":"epoch","epoch":5.*"loss":\([0-9.]*\),"lr".*/\1/p' "$1.json"; }
check 'the loss of the last epoch in bf16 is within 3 % of that in f32' near "$(loss f32)" "$(loss bf16)" 0.03
check 'the losses are not the same' test "$(loss f32)" != "$(loss bf16)"

# A checkpoint goes on as if nothing had happened.
# shellcheck disable=SC2086
check 'gnn-train resumes in bf16' sh -c 'gnn-train -q "$@" --epochs 3 --precision bf16 --checkpoint c -o part.st &&
    gnn-train -q "$@" --precision bf16 --checkpoint c --resume -o rest.st' sh $learn
check 'gnn-train --resume in bf16 writes the model of one run' cmp bf16.st rest.st

# Exact inference keeps rows of layers in bf16.
probs() { gnn-predict -q "$1" "$2" --output-kind probs -o "$3.npy" --precision "$4" --memory "${5-0}"; }
close() { # A B: arrays of probabilities, and whether these are others, by 0.03 at most
    /usr/bin/python3 - "$1" "$2" <<'PY'
import struct, sys
def rows(path):
    b = open(path, "rb").read()
    at = 10 + struct.unpack("<H", b[8:10])[0]
    return struct.unpack("<%df" % ((len(b) - at) // 4), b[at:])
a, b = map(rows, sys.argv[1:])
worst = max(abs(x - y) for x, y in zip(a, b))
print(worst)
sys.exit(not (len(a) == len(b) and 0 < worst < 0.03))
PY
}
gnn-partition -k 3 g -o parts >/dev/null || exit 1
all_ways() { probs g m.st f32 f32 && probs g m.st one bf16 && probs g m.st two bf16 1 && probs parts m.st three bf16; }
for m in sage gcn gin 'gat --heads 2' 'gatv2 --heads 2' 'hgt --heads 2 --head 0 --encoder 16' 'rgcn --bases 2' 'sage --aggr max' \
    'sage --project --normalize' 'sage --hidden 48,16 --batch-norm --residual --residual-projection' 'gcn --head 0 --jk max'; do
    # shellcheck disable=SC2086
    gnn-train $plain --store g -f 4,4,4 --hidden 16 -m $m -o m.st || _not_ok "gnn-train trains $m"
    check "gnn-predict predicts with $m, in memory, in files, and of parts" all_ways
    check "gnn-predict writes in bf16 of $m nearly what it writes in f32" close f32.npy one.npy
    check "gnn-predict writes in bf16 of $m the same from files" cmp one.npy two.npy
    check "gnn-predict writes in bf16 of $m nearly the same of parts" close f32.npy three.npy
done
check 'gnn-predict writes embeddings in bf16' gnn-predict -q g m.st --output-kind embeddings -o e.npy --precision bf16

# Predictions.
predict() { gnn-predict -q g bf16.st --output-kind probs -o "$1.npy" --precision "$2"; }
for p in f32 bf16; do check "gnn-predict predicts in $p" predict $p $p; done
predict two bf16
check 'gnn-predict writes the same in bf16 twice' cmp bf16.npy two.npy
check 'gnn-predict writes in bf16 what it writes in f32 to 0.03' close f32.npy bf16.npy
check 'gnn-predict predicts on batches in bf16' gnn-predict -q --store g bf16.st --precision bf16 --split valid -o b.npy

# Features of other types, and the same as floats: those of bf16 are not rounded.
for t in bf16 f16 int8; do
    gnn-import -q -o "g$t" --dtype $t sbm:nodes=800,degree=5,features=20,classes=3,train=0.6,valid=0.2 || exit 1
    check "gnn-predict predicts from features in $t" probs "g$t" bf16.st "$t" bf16
    check "gnn-predict predicts from features in $t nearly what it does from f32" close f32.npy "$t.npy"
done
check 'gnn-predict predicts from features in bf16 what it does from f32 in bf16' cmp bf16.npy two.npy

# Processors without products of bf16 say so once; ONEDNN_MAX_CPU_ISA makes any such a processor.
lacks='this processor has no matrix products of bf16 (AMX or AVX512-BF16): inputs are rounded to bf16, and multiplied in f32, which saves no time'
ONEDNN_MAX_CPU_ISA=AVX2
export ONEDNN_MAX_CPU_ISA
# shellcheck disable=SC2086
gnn-train $learn --precision bf16 --metrics m.json -o old.st 2>said
check 'gnn-train says once that the processor has no products of bf16' test "$(grep -cxF "gnn-train: $lacks" said)" -eq 1
check 'gnn-train records it once in its metrics' test "$(grep -cF "\"event\":\"precision\",\"note\":\"$lacks\"" m.json)" -eq 1
gnn-predict -n g old.st --split valid --precision bf16 2>said
check 'gnn-predict says so, too' test "$(grep -cxF "gnn-predict: $lacks" said)" -eq 1
cp m.json bf16.json
check 'the loss there is that of products in bf16, but for sums in another order' near "$(loss f32)" "$(loss bf16)" 0.03
unset ONEDNN_MAX_CPU_ISA
check 'nothing is said of products in f32' sh -c '! grep -q bf16 f32.said'

# What cannot be.
refusing=gnn-train
# shellcheck disable=SC2086
refuses 2 '.-precision tf32 requires --device: the CPU has f32 and bf16' '--precision tf32 on the CPU' gnn-train $learn --precision tf32 -o x
export CUDA_VISIBLE_DEVICES=
# shellcheck disable=SC2086
refuses 2 'matrix products in tf32 require a GPU: the CPU has f32 and bf16' '--precision tf32 with --device auto and no GPU' \
    gnn-train $learn --device auto --precision tf32 -o x
refusing=gnn-predict
refuses 2 '.-precision tf32 requires --device' '--precision tf32 on the CPU' gnn-predict g bf16.st -n --precision tf32
check 'nothing was written' test ! -e x

# 3.4e38 is a number in f32, and infinite in bf16.
perl -e 'open E, ">e"; print E join("", map { "$_\t" . ($_ + 1) . "\n" } 0 .. 38); open Y, ">y"; print Y join("", map { $_ % 2 . "\n" } 0 .. 39);
    open S, ">train"; print S "$_\n" for 0 .. 39;
    open X, ">x1"; print X join("", map { $_ % 2 ? "1 2\n" : "2 1\n" } 0 .. 39);
    open X, ">x2"; print X join("", map { $_ == 7 ? "3.4e38 0\n" : $_ % 2 ? "1 2\n" : "2 1\n" } 0 .. 39)'
import() { gnn-import -q -o "$1" e --nodes 40 --features "$2" --labels y --task binary --split train=train || exit 1; }
import small x1 && import huge x2
gnn-train -q --store small -f 3 -b 40 --epochs 1 --lr 1e-6 --eval none -o tiny.st
check 'gnn-predict takes 3.4e38 in f32' gnn-predict -q huge tiny.st -o h.npy
refuses 1 'not finite' 'outputs that are infinite in bf16' gnn-predict -q huge tiny.st -o h2.npy --precision bf16
refusing=gnn-train
refuses 1 'not finite in epoch 0, step 0' 'a loss that is infinite in bf16' \
    gnn-train -q --store huge -f 3 -b 40 --epochs 1 --lr 1e-6 --eval none --precision bf16 -o h.st
check 'nothing was written of infinite numbers' sh -c '! ls h2.npy h.st 2>/dev/null | grep .'
done_testing
