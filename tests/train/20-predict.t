# SPDX-License-Identifier: Apache-2.0
# gnn-predict: kinds of output, order of rows, scores, refusals.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-predict
gnn-import sbm:nodes=2000 -o s && gnn-partition -k 3 s -o k3 >/dev/null || exit 1
gnn-train --store s -f 5,5,5 --hidden 24,12 -b 256 --epochs 0:4 --lr 0.01 --dropout 0 --no-layer-norm -q -o m.st || exit 1
head_of() { head -c 128 "$1" | tr -d '\0' | LC_ALL=C sed -n 's/.*\({.*}\).*/\1/p'; }

check "gnn-predict writes classes and scores two splits" gnn-predict s m.st -o c.npy --metrics j.json --split valid --split test
check "gnn-predict writes classes as one i32 a node" test "$(head_of c.npy)" = "{'descr': '<i4', 'fortran_order': False, 'shape': (2000,), }"
check "gnn-predict --metrics has a score of each split" sh -c "grep -c '\"event\":\"score\"' j.json | grep -qx 2"
check "gnn-predict writes probabilities" gnn-predict s m.st -o p.npy --output-kind probs
check "gnn-predict writes probabilities that sum to one and are largest at the predicted class" perl -e '
    sub data { open my $f, "<:raw", $_[0]; local $/; my $a = <$f>; return substr $a, 10 + unpack "v", substr $a, 8, 2 }
    my @p = unpack "f<*", data("p.npy"); my @c = unpack "l<*", data("c.npy");
    for my $i (0 .. $#c) {
        my ($s, $best) = (0, 0);
        for my $j (0 .. 3) { $s += $p[4 * $i + $j]; $best = $j if $p[4 * $i + $j] > $p[4 * $i + $best] }
        exit 1 if abs($s - 1) > 1e-5 || $best != $c[$i];
    }
    exit !(@c == 2000)'
check "gnn-predict writes embeddings" gnn-predict s m.st -o e.npy --output-kind embeddings
check "gnn-predict writes as embeddings what enters the last layer" \
    test "$(head_of e.npy)" = "{'descr': '<f4', 'fortran_order': False, 'shape': (2000, 12), }"
check "gnn-predict reads a store of three parts" gnn-predict k3 m.st -o c3.npy
check "gnn-predict writes the nodes of three parts in their original order" cmp c.npy c3.npy
check "gnn-predict --no-original-order reads a store of three parts" gnn-predict k3 m.st -o s3.npy --no-original-order
check "gnn-predict --no-original-order writes the nodes in another order than the original one" sh -c "! cmp -s s3.npy c.npy"
gnn-predict s m.st --output-kind probs --memory 20k -o p2.npy 2>said
check "gnn-predict --memory says how much was in files" grep -q "^gnn-predict: [0-9.]*[1-9][0-9.]* MB were written to temporary files in " said
check "gnn-predict --memory 20k writes the same bytes from tables in files" cmp p.npy p2.npy
gnn-predict s m.st --output-kind probs -j 1 -o p1.npy
check "gnn-predict writes the same array to a pipe as to a file" sh -c "gnn-predict s m.st | cmp - c.npy"
check "gnn-predict -j 1 agrees with several threads to 1e-6" perl "$GNN_TOP/tests/train/npygap.pl" p.npy p1.npy 1e-6

for bytes in 0 7 100 4000; do
    head -c $bytes m.st >cut.st
    status 3 "gnn-predict refuses a model that is cut to $bytes bytes" gnn-predict s cut.st -o x.npy
done
for at in 4 9 4000; do
    perl -e 'open F, "<:raw", "m.st"; local $/; $_ = <F>; substr($_, $ARGV[0], 1) ^= "\x04"; print' $at >flip.st
    status 3 "gnn-predict refuses a model with a bit flipped in byte $at" gnn-predict s flip.st -o x.npy
done
check "gnn-predict leaves no array when it refuses a model" test ! -e x.npy
status 3 "gnn-predict refuses an array in the place of a model" gnn-predict s c.npy -o x.npy
status 3 "gnn-predict refuses a model file that does not exist" gnn-predict s none.st -o x.npy
status 2 "gnn-predict refuses --split with the name of no set" gnn-predict s m.st -n --split nowhere
status 2 "gnn-predict refuses --metric roc-auc for a task of several classes" gnn-predict s m.st -n --split test --metric roc-auc
status 2 "gnn-predict refuses two models" gnn-predict s m.st m.st -o x.npy
status 2 "gnn-predict refuses --metric without --split" gnn-predict s m.st -o x --metric loss
status 2 "gnn-predict refuses --no-original-order with -n, which writes no array" gnn-predict s m.st -n --no-original-order
status 2 "gnn-predict refuses a command line without a model" gnn-predict s -o x.npy
gnn-import sbm:nodes=100,features=3 -o other || exit 1
refuses 3 'features' "a store with other features than the model's" gnn-predict other m.st -o x.npy
done_testing
