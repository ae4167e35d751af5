# SPDX-License-Identifier: Apache-2.0
# Losses, outputs and parameters that are not finite end the run with one line that names the place; metrics that are not
# defined choose nothing; a signal ends a process that waits.
. "$GNN_TOP/tests/lib.sh"
gnn-import -q -o g sbm:nodes=24,degree=3,features=2,classes=2,train=0.7,valid=0.3 || exit 1
says() { # STATUS PATTERN NAME COMMAND...: the status, one line, which has the pattern, and nothing written
    _want=$1 _pattern=$2 _name=$3
    shift 3
    timeout 600 "$@" >out 2>err
    _rc=$?
    if [ $_rc -eq "$_want" ] && [ "$(wc -l <err)" -eq 1 ] && grep -q "$_pattern" err && [ ! -s out ] && [ ! -e o ]; then _ok "$_name"; else
        _not_ok "$_name (status $_rc)"
        sed 's/^/# /' err
    fi
    rm -rf o
}
big="--dropout 0 --no-layer-norm --optimizer sgd --lr 1e6 -f 2,2,2,2 -b 1000 --hidden 64 -j1 -q -o o"
says 1 'not finite in epoch 1, step 0 of set valid' 'gnn-train stops at an evaluated loss that is not finite' \
    gnn-train --store g $big --eval valid --epochs 2
says 1 'not finite in epoch 1, step 0 of set valid' 'gnn-train stops at an evaluated loss that is not finite with --metric accuracy' \
    gnn-train --store g $big --eval valid --epochs 2 --metric accuracy
says 1 'not finite in epoch [0-9]*, step 0:' 'gnn-train stops at a training loss that is not finite' gnn-train --store g $big --eval none --epochs 90

# A path of 40 nodes. The last ten of labels `same` have one class.
perl -e 'open E, ">e"; print E join("", map { "$_\t" . ($_ + 1) . "\n" } 0 .. 38);
    open Y, ">y"; print Y join("", map { $_ % 2 . "\n" } 0 .. 39);
    open S, ">same"; print S join("", map { ($_ < 30 ? $_ % 2 : 1) . "\n" } 0 .. 39);
    sub rows { my ($file, $row) = @_; open X, ">$file"; print X join("", map { $row->($_) } 0 .. 39) }
    rows("x", sub { $_ % 2 ? "1 2\n" : "2 1\n" }); rows("huge", sub { $_ % 3 ? "2e35 -1e35\n" : "-1e35 1e35\n" });
    rows("f3", sub { $_ == 3 ? "1e6 1\n" : "1 2\n" }); rows("f37", sub { $_ == 37 ? "1e6 1\n" : "1 2\n" });
    rows("max37", sub { $_ == 37 ? "3e38 3e38\n" : "1 2\n" });
    open T, ">train"; print T "$_\n" for 0 .. 29; open T, ">valid"; print T "$_\n" for 30 .. 39'
import() { # STORE FEATURES LABELS
    gnn-import -q -o "$1" e --nodes 40 --features "$2" --labels "$3" --task binary --split train=train,valid=valid || exit 1
}
import good x y && import inf huge y && import one x same && import bad3 f3 y && import half37 f37 y && import bad37 max37 y
gnn-partition -q -k 3 --method random -o parts bad37 || exit 1
small="--dropout 0 --no-layer-norm -f 3,3 -b 100 --hidden 8 -j1 -q -o o"

# Weights that overflow in the very last step, whose own loss is finite.
says 1 'parameter convs.*not finite.*after epoch 0, step 0' 'gnn-train stops at weights that are not finite after the last step' \
    gnn-train --store inf $small --eval none --epochs 1 --optimizer sgd --lr 1e5
says 1 'parameter convs.*not finite.*after epoch 0, step 0' 'gnn-train stops at weights that are not finite before it writes a checkpoint' \
    gnn-train --store inf $small --eval none --epochs 2 --optimizer sgd --lr 1e5 --checkpoint C --checkpoint-every 1
check 'gnn-train writes no checkpoint with weights that are not finite' test ! -e C/checkpoint.safetensors
# A feature that half precision cannot hold is infinite there.
says 1 'not finite in epoch 0, step 0:' 'gnn-train --dtype f16 stops at an infinite feature of a training batch' \
    gnn-train --store bad3 $small --eval none --dtype f16 --epochs 1
for m in gcn gin 'gat --heads 2' 'gatv2 --heads 2 --no-self-loops' rgcn 'rgcn --bases 2' 'hgt --heads 2 --head 0' 'sage --aggr max' 'sage --aggr sum --normalize' 'sage --project'; do
    says 1 'not finite in epoch 0, step 0:' "gnn-train -m $m stops at an infinite feature" gnn-train --store bad3 $small -m $m --eval none --dtype f16 --epochs 1
done
says 1 'not finite in epoch 0, step 0 of set valid' 'gnn-train --dtype f16 stops at an infinite feature of an evaluated batch' \
    gnn-train --store half37 $small --dtype f16 --epochs 1 --eval valid
check 'gnn-train leaves no checkpoint and no model after values that are not finite' sh -c '! ls -d o o.tmp* 2>/dev/null | grep .'

# ROC-AUC of one class is not defined: no epoch is the best one.
check 'gnn-train trains where the metric of the evaluated set is not defined' \
    gnn-train --store one -f 3,3 --hidden 8 --lr 0.01 --dropout 0 --no-layer-norm --epochs 3 --eval valid --no-provenance -o best
mv err said
check 'gnn-train says that the metric is not defined in any epoch' \
    grep -q 'roc-auc of set valid is not defined in any epoch: writing the model of the last epoch' said
gnn-train --store one -f 3,3 --hidden 8 --lr 0.01 --dropout 0 --no-layer-norm --epochs 3 --eval valid --keep last --no-provenance -q -o last
check 'gnn-train keeps the last model where the metric is not defined in any epoch' cmp best last
check 'gnn-train --patience 1 trains where the metric is not defined' \
    gnn-train --store one -f 3,3 --hidden 8 --lr 0.01 --dropout 0 --no-layer-norm --epochs 5 --eval valid --patience 1 -q -o p --metrics p.json
check 'gnn-train --patience does not count epochs where the metric is not defined' sh -c 'grep -c "\"event\":\"epoch\"" p.json | grep -qx 5'
check 'gnn-predict says that ROC-AUC is not defined for a single class' \
    sh -c 'gnn-predict one best -n --split valid 2>&1 | grep -q "roc-auc not defined, loss [0-9]"'

# gnn-predict: the node, by its original id, for any number of parts.
gnn-train --store good -f 3,3 --hidden 8 --epochs 3 --eval none --dropout 0 --no-layer-norm --lr 5 -q -o m || exit 1
for s in bad37 parts; do
    says 1 'the output of node 37 is not finite' "gnn-predict names node 37, whose class is not finite, in store $s" gnn-predict -q $s m -o o
    says 1 'the output of node 37 is not finite' "gnn-predict names node 37, whose embedding is not finite, in store $s" \
        gnn-predict -q --output-kind embeddings $s m -o o
    says 1 'the output of node 37 is not finite' "gnn-predict names node 37, whose score is not finite, in store $s" \
        gnn-predict -q -n --split valid $s m
done

# One signal ends it while it waits for a batch that does not come.
mkfifo pipe
gnn-sample -q good -f 3,3 -b 8 --epochs 1 | gnn-gather -q good >b.gnb
gnn-train -q -i pipe --hidden 8 --checkpoint C -o o >said 2>&1 & pid=$!
exec 9>pipe
head -c 3000 b.gnb >&9
# Until it has read all that there is.
emptied() { perl -e 'open F, ">&=9" or exit 1; for (1 .. 6000) { my $n = pack "L", 0; ioctl F, 0x541b, $n or exit 1; exit 0 if !unpack "L", $n; select undef, undef, undef, 0.1 } exit 1'; } # FIONREAD
emptied || exit 1
perl -e 'select undef, undef, undef, 0.3'
check 'gnn-train waits for the rest of a batch' kill -0 $pid
kill -TERM $pid
perl -e 'sleep 600; kill KILL => $ARGV[0]' $pid & guard=$! # one process, so that none is left to hold the output open
wait $pid
_rc=$?
kill $guard 2>/dev/null
check "gnn-train ends at one signal while it waits, with a checkpoint (status $_rc)" logged said test $_rc -eq 75
exec 9>&-
check 'gnn-train leaves no model after that signal' sh -c '! ls -d o o.tmp* 2>/dev/null | grep .'
done_testing
