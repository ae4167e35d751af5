# SPDX-License-Identifier: Apache-2.0
# What models of version 0.2 predict stays what it was, and what they do not say of their training is named. Made by version 0.2 (10d8622)
# from stores of tests/interop/v0.1, each with its predictions (.npy, gnn-predict --output-kind probs), by
#   gnn-train --no-provenance --store STORE -b 4 --epochs 2 --eval valid --hidden 4, and of
#   sage     store   -f 3,2
#   residual labels  -f 3,2,2 --residual
#   norm     labels  -f 3,2 --batch-norm
#   gcn, gin whole   -f 3,2 -m gcn, -m gin
. "$GNN_TOP/tests/lib.sh"
for f in v0.1/written v0.1/more v0.2/models; do
    gzip -dc "$GNN_TOP/tests/interop/$f.tar.gz" | tar xf - || exit 1
done
cat >near.pl <<'PERL'
sub numbers { open my $f, "<:raw", shift or die; local $/; my $d = <$f>; unpack "f<*", substr $d, 10 + unpack "v", substr $d, 8, 2 }
my @a = numbers shift; my @b = numbers shift;
@a && @a == @b or die "other sizes\n"; abs($a[$_] - $b[$_]) < 1e-5 or die "$_: $a[$_] $b[$_]\n" for 0 .. $#a;
PERL
unsaid='written by a version that did not record what training saw: all convolutions count as trained$'
while read -r name s layer hops; do
    m=models/$name.st
    check "gnn-inspect --verify finds model $name of version 0.2 sound" gnn-inspect --verify $m
    gnn-inspect $m >shown
    check "gnn-inspect shows model $name of version 0.2" grep -q "^  layers $layer, widths 4, " shown
    check "gnn-inspect shows no record of training of model $name, which has none" sh -c '! grep "trained on" shown'
    check "gnn-predict applies model $name of version 0.2" gnn-predict --output-kind probs -o now.npy $s $m
    cp err said
    check "gnn-predict says what model $name of version 0.2 does not" grep -q "^gnn-predict: $m: $unsaid" said
    check "gnn-predict predicts with model $name what version 0.2 did" perl near.pl models/$name.npy now.npy
    check "gnn-predict -n reports on each set with model $name" sh -c 'gnn-predict -n --metrics m.json "$1" "$2" && test "$(grep -c "\"event\":\"score\"" m.json)" = 3' - $s $m
    refusing=gnn-predict
    refuses 2 "^gnn-predict: --store: $m does not say how to draw batches: .* by another program or version: gnn-predict $s $m$" \
        "batches as of model $name of version 0.2, which does not say" gnn-predict -n --store $s $m
    check "gnn-train --init goes on with model $name of version 0.2" gnn-train --store $s -f $hops -b 4 --epochs 1 --init $m -o more.st
    cp err said
    check "gnn-train --init says what model $name of version 0.2 does not" grep -q "^gnn-train: $m: $unsaid" said
    check "gnn-train --init takes the layers of model $name of version 0.2" sh -c 'gnn-inspect more.st | grep -q "^  layers $1, widths 4, "' - "$layer"
    check "gnn-predict applies what came of model $name of version 0.2" sh -c 'gnn-predict -n "$1" more.st 2>said && ! grep "did not record" said' - $s
done <<'.'
sage store sage 3,2
residual labels sage 3,2,2
norm labels sage 3,2
gcn whole gcn 3,2
gin whole gin 3,2
.
refusing=gnn-train
refuses 2 '^gnn-train: --model differs from the model of --init models/gin.st, which has gin: leave it out$' 'other layers than those of a model of version 0.2' \
    gnn-train --store whole -f 3,2 -m sage --init models/gin.st -o bad
# A checkpoint of version 0.1 predicts with its best model, and says what it does not record.
gzip -dc "$GNN_TOP/tests/interop/v0.1/trained.tar.gz" | tar xf - || exit 1
check 'gnn-predict applies a checkpoint of version 0.1' gnn-predict -n store trained/checkpoint.safetensors
cp err said
check 'gnn-predict says which model of a checkpoint of version 0.1 that is' grep -q 'a checkpoint: predicting with the model of epoch 0, its best$' said
check 'gnn-predict says what a checkpoint of version 0.1 does not' grep -q "trained/checkpoint.safetensors: $unsaid" said
done_testing
