# gnn-predict: kinds of output, order of rows, scores, refusals.
. "$GNN_TOP/tests/lib.sh"
gnn-import sbm:nodes=2000 -o s && gnn-partition -k 3 s -o k3 >/dev/null || exit 1
gnn-train --store s -f 5,5,5 --hidden 24,12 -b 256 --epochs 0:4 --lr 0.01 --dropout 0 --no-layer-norm -q -o m.st || exit 1
head_of() { head -c 128 "$1" | tr -d '\0' | LC_ALL=C sed -n 's/.*\({.*}\).*/\1/p'; }

check "classes" gnn-predict s m.st -o c.npy --metrics j.json --split valid --split test
check "are one i32 a node" test "$(head_of c.npy)" = "{'descr': '<i4', 'fortran_order': False, 'shape': (2000,), }"
check "scores are in the metrics" sh -c "grep -c '\"event\":\"score\"' j.json | grep -qx 2"
check "probabilities" gnn-predict s m.st -o p.npy --output-kind probs
check "sum to one, and the largest is the class" perl -e '
    sub data { open my $f, "<:raw", $_[0]; local $/; my $a = <$f>; return substr $a, 10 + unpack "v", substr $a, 8, 2 }
    my @p = unpack "f<*", data("p.npy"); my @c = unpack "l<*", data("c.npy");
    for my $i (0 .. $#c) {
        my ($s, $best) = (0, 0);
        for my $j (0 .. 3) { $s += $p[4 * $i + $j]; $best = $j if $p[4 * $i + $j] > $p[4 * $i + $best] }
        exit 1 if abs($s - 1) > 1e-5 || $best != $c[$i];
    }
    exit !(@c == 2000)'
check "embeddings" gnn-predict s m.st -o e.npy --output-kind embeddings
check "are what enters the last layer" test "$(head_of e.npy)" = "{'descr': '<f4', 'fortran_order': False, 'shape': (2000, 12), }"
check "of three parts" gnn-predict k3 m.st -o c3.npy
check "come in the original order" cmp c.npy c3.npy
check "or in that of the store" gnn-predict k3 m.st -o s3.npy --no-original-order
check "which is another" sh -c "! cmp -s s3.npy c.npy"
gnn-predict s m.st --output-kind probs --memory 20k -o p2.npy
check "tables in files give the same bytes" cmp p.npy p2.npy
gnn-predict s m.st --output-kind probs -j 1 -o p1.npy
check "to a pipe" sh -c "gnn-predict s m.st | cmp - c.npy"
check "one thread agrees to 1e-6" perl "$GNN_TOP/tests/train/npygap.pl" p.npy p1.npy 1e-6

for bytes in 0 7 100 4000; do
    head -c $bytes m.st >cut.st
    status 3 "a model cut to $bytes bytes" gnn-predict s cut.st -o x.npy
done
for at in 4 9 4000; do
    perl -e 'open F, "<:raw", "m.st"; local $/; $_ = <F>; substr($_, $ARGV[0], 1) ^= "\x04"; print' $at >flip.st
    status 3 "a model with a bit flipped, byte $at" gnn-predict s flip.st -o x.npy
done
check "no array after a failure" test ! -e x.npy
status 3 "not a model" gnn-predict s c.npy -o x.npy
status 3 "no model" gnn-predict s none.st -o x.npy
status 2 "an unknown set" gnn-predict s m.st -n --split nowhere
status 2 "roc-auc of several classes" gnn-predict s m.st -n --split test --metric roc-auc
status 2 "two models" gnn-predict s m.st m.st -o x.npy
status 2 "a metric of no set" gnn-predict s m.st -o x --metric loss
status 2 "an order of no array" gnn-predict s m.st -n --no-original-order
status 2 "no model given" gnn-predict s -o x.npy
gnn-import sbm:nodes=100,features=3 -o other || exit 1
status 3 "other features" gnn-predict other m.st -o x.npy
mv err said
check "says which" grep -q 'features' said
done_testing
