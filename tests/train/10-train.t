# SPDX-License-Identifier: Apache-2.0
# gnn-train: the same model from a pipe, from --store, from any checkpoint; learning; refusals.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-train
gnn-import sbm:nodes=3000 -o s || exit 1
S="-f 5,5 --frontier new -b 256 --eval valid --eval test"
M="--hidden 32 --lr 0.01 --dropout 0.3 --dropout-input 0.1 --layer-norm --no-provenance -q"

check "gnn-train trains from a store" gnn-train --store s $S $M --epochs 0:8 -o ref.safetensors --metrics m.json
check "gnn-train lowers the loss and raises the accuracy over the epochs" perl -MJSON::PP -ne '
    $j = decode_json($_); next unless $j->{event} eq "epoch"; push @l, $j->{loss}; $v = $j->{valid}{accuracy};
    END { exit !(@l == 8 && $l[7] < 0.6 * $l[0] && $v > 0.8) }' m.json
check "gnn-train runs a second time with the same options" gnn-train --store s $S $M --epochs 0:8 -o again.safetensors
check "gnn-train writes the same model in two runs with the same options" cmp ref.safetensors again.safetensors
check "gnn-train trains with three prefetching threads" gnn-train --store s $S $M --epochs 0:8 --prefetch 3 -o more.safetensors
check "gnn-train --prefetch does not change the model" cmp ref.safetensors more.safetensors

gnn-sample s -f 5,5 -b 256 --eval valid --eval test --epochs 0:8 --frontier new --shuffle -o st.gnb || exit 1
check "gnn-train trains from a pipe of batches" sh -c "gnn-gather s -i st.gnb | gnn-train $M -o pipe.safetensors"
check "gnn-train writes the same model from a pipe and from --store" cmp ref.safetensors pipe.safetensors
gnn-gather s -i st.gnb -o g.gnb || exit 1

gnn-partition -k 3 --method random s -o k3 >/dev/null || exit 1
check "gnn-train trains from a store of three parts" gnn-train --store k3 $S $M --epochs 0:8 -o k3.safetensors
check "gnn-train writes the same model from a store of three parts as from one" cmp ref.safetensors k3.safetensors
S1="-f 5,5 -b 256 --eval valid --eval test --epochs 0:8 --frontier new"
check "gnn-train trains from a pipe over a store of three parts" sh -c "gnn-sample k3 $S1 | gnn-gather k3 | gnn-train $M -o k3.safetensors"
check "gnn-train writes the same model although a pipe over three parts carries other node ids" cmp ref.safetensors k3.safetensors
gnn-partition -k 4 s -o k4 -q || exit 1
check "gnn-train trains from a pipe that is gathered in two steps over four parts" \
    sh -c "gnn-sample k4 $S1 | gnn-gather k4 -F y | gnn-gather k4 -F x | gnn-train $M -o k4.safetensors"
check "gnn-train writes the same model from four parts that are gathered in two steps" cmp ref.safetensors k4.safetensors
status 3 "gnn-train refuses dropout on batches of a partitioned store without original ids" sh -c "gnn-sample k4 $S1 | gnn-train $M -o y.safetensors"
check "gnn-train trains from batches that gnn-sample --original-ids drew from four parts" \
    sh -c "gnn-sample k4 --original-ids $S1 | gnn-gather k4 | gnn-train $M -o k4.safetensors"
check "gnn-train writes the same model from batches with original ids" cmp ref.safetensors k4.safetensors
check "gnn-train trains from a store with --frontier all" gnn-train --store s $S --frontier all $M --epochs 0:8 -o all.safetensors
check "gnn-train trains from a pipe with the frontier policy all" sh -c "gnn-sample s -f 5,5 -b 256 --eval valid --eval test --epochs 0:8 |
    gnn-gather s | gnn-train $M -o allpipe.safetensors"
check "gnn-train writes the same model with --frontier all from a pipe and from --store" cmp all.safetensors allpipe.safetensors

# kill -9 anywhere, go on, end with the same bytes; from a store and from a stream
for k in 1 2 3 4; do
    for how in "--store s $S --epochs 0:8" "-i g.gnb"; do
        rm -rf ck
        gnn-train $how $M --checkpoint ck --checkpoint-every "$k" -o x.safetensors &
        pid=$!
        until [ -e ck/checkpoint.safetensors ] || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
        sleep "0.0$((k * 2 - 1))"
        kill -9 $pid 2>/dev/null
        wait $pid 2>/dev/null
        rm -f x.safetensors
        check "gnn-train resumes after kill -9 with a checkpoint every $k steps ($how)" gnn-train $how $M --checkpoint ck --resume -o x.safetensors
        check "gnn-train writes the same model with and without the kill, every $k steps ($how)" cmp ref.safetensors x.safetensors
    done
done

# A signal: finish the step, checkpoint, 75.
for sig in TERM USR1; do
    rm -rf ck x.safetensors begun
    mkfifo pipe 2>/dev/null
    gnn-train -i pipe $M --checkpoint ck -o x.safetensors --metrics begun 2>err & pid=$!
    rm -f killed
    # The rest of the stream comes when the signal has been sent; that is sent when training has begun.
    (head -c 2000000 g.gnb; until [ -e killed ]; do sleep 0.02; done; tail -c +2000001 g.gnb) 2>/dev/null >pipe & feed=$!
    until grep -qs '"event":"step"' begun || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
    kill -$sig $pid
    : >killed
    wait $pid
    check "gnn-train ends with status 75 on SIG$sig" test $? -eq 75
    wait $feed 2>/dev/null
    check "gnn-train leaves no model on SIG$sig" test ! -e x.safetensors
    check "gnn-train resumes from the checkpoint that SIG$sig left" gnn-train -i g.gnb $M --checkpoint ck --resume -o x.safetensors
    check "gnn-train writes the same model after SIG$sig and --resume" cmp ref.safetensors x.safetensors
done

status 3 "gnn-train --resume refuses a checkpoint that was made with another learning rate" \
    gnn-train -i g.gnb $M --lr 0.5 --checkpoint ck --resume -o y.safetensors
mv err said
check "gnn-train names the option that differs from the checkpoint's" grep -q "the checkpoint was made with --lr 0.01, and this run has --lr 0.5$" said
# One bit of a moment: nothing else would tell.
cp -r ck damaged
perl -e 'open F, "+<:raw", $ARGV[0]; seek F, -4000, 2; read F, $_, 1; seek F, -4000, 2; print F $_ ^ "\1"' damaged/checkpoint.safetensors
status 3 "gnn-train --resume refuses a checkpoint with one bit flipped" gnn-train --store s $S $M --checkpoint damaged --resume -o y.safetensors
mv err said
check "gnn-train reports the wrong checksum of a damaged checkpoint in one line" \
    sh -c 'grep -qx "gnn-train: damaged/checkpoint.safetensors: damaged: its checksum is [0-9a-f]*, that of its bytes [0-9a-f]*" said'
perl -e 'open F, "+<:raw", $ARGV[0]; local $/; $_ = <F>; s/"gnn_checksum":"/"gnn_checksun":"/; seek F, 0, 0; print F $_' damaged/checkpoint.safetensors
status 3 "gnn-train --resume refuses a checkpoint without its checksum" gnn-train --store s $S $M --checkpoint damaged --resume -o y.safetensors
# A checkpoint fits any way that leads to the same model, and no other.
half="--hidden 32 --lr 0.01 --dropout 0.3 --dropout-input 0.1 --layer-norm --no-provenance -q --checkpoint way"
way() { rm -rf way && gnn-train --store k3 $S $half --checkpoint-every 20 --epochs 4 -o x.safetensors; }
check "gnn-train trains half of the epochs from three parts and leaves a checkpoint" way
check "gnn-train resumes from a pipe what it began from three parts" \
    sh -c "gnn-sample k3 $S1 | gnn-gather k3 | gnn-train $half --resume -o x.safetensors"
check "gnn-train writes the same model when it resumes from a pipe as in one run" cmp ref.safetensors x.safetensors
way
status 3 "gnn-train --resume refuses features of another type than the checkpoint's" \
    gnn-train --store k3 $S --dtype f16 --epochs 8 $half --resume -o y.safetensors
mv err said
check "gnn-train says of which types the features are" \
    grep -qx 'gnn-train: way/checkpoint.safetensors: the checkpoint was made with features of node of f32, and this run has f16 (--dtype)' said
status 3 "gnn-train --resume refuses evaluated sets in another order than the checkpoint's" \
    gnn-train --store k3 -f 5,5 --frontier new -b 256 --eval test --eval valid --epochs 8 $half --resume -o y.safetensors
# Where checkpoints cannot be kept is said before the work.
: >plain
for d in plain plain/below nowhere/below; do
    status 1 "gnn-train refuses --checkpoint $d, where no directory can be" \
        gnn-train --store s $S $M --epochs 1 --checkpoint $d -o y.safetensors --metrics n.json
    mv err said
    check "gnn-train names $d as the place where no checkpoint can be kept" grep -q "^gnn-train: $d: " said
    check "gnn-train trains no epoch before it refuses --checkpoint $d" test ! -s n.json
done

gnn-sample s -f 5,5 -b 256 --eval valid --eval test --epochs 7:8 --frontier new --shuffle | gnn-gather s >late.gnb
rm -rf ck
gnn-train --store s $S $M --epochs 0:6 --checkpoint ck -o x.safetensors || exit 1
status 3 "gnn-train --resume refuses a stream that begins after the checkpoint's epoch" \
    gnn-train -i late.gnb $M --checkpoint ck --resume -o y.safetensors
check "gnn-train writes no model when --resume is refused" test ! -e y.safetensors

status 2 "gnn-train refuses an unknown --optimizer" gnn-train --store s --optimizer rprop -o y.safetensors
status 2 "gnn-train refuses --patience with --eval none" gnn-train --store s --eval none --patience 3 -o y.safetensors
status 2 "gnn-train refuses --metric roc-auc for a task of several classes" gnn-train --store s --metric roc-auc -o y.safetensors
status 2 "gnn-train refuses --schedule cosine for a stream of unknown length" gnn-train -i g.gnb --schedule cosine -o y.safetensors
for o in "-f 3" "-b 7" "--split valid" "--eval test" "--frontier new" -r --no-shuffle --drop-last "--dtype f16" "--prefetch 2" --no-verify; do
    status 2 "gnn-train refuses $o without --store" gnn-train -i g.gnb $o -o y.safetensors
done
status 2 "gnn-train refuses --momentum with the default optimizer Adam" gnn-train -i g.gnb --momentum 0.9 -o y.safetensors
status 2 "gnn-train refuses --step-factor without --schedule step" gnn-train -i g.gnb --step-factor 0.1 -o y.safetensors
status 2 "gnn-train refuses --step-epochs without --schedule step" gnn-train -i g.gnb --step-epochs 3 -o y.safetensors
for r in 0 2: 3:3 4:2; do status 2 "gnn-train refuses --epochs $r" gnn-train --store s --epochs $r -o y.safetensors; done
printf 'from,to\n0,1\n1,2\n' >e.csv
printf '0\n1\n1\n' >y.txt
gnn-import -q --directed --labels y.txt -o nosplit e.csv || exit 1
refuses 2 'no splits (gnn-import --split' "a store without splits" gnn-train --store nosplit -o y.safetensors
refuses 2 '--epochs requires' "--epochs for a stream" gnn-train -i g.gnb --epochs 0:3 -o y.safetensors
status 2 "gnn-train refuses a list of --hidden widths that does not fit the number of hops" gnn-train -i g.gnb --hidden 8,8 -o y.safetensors
refuses 3 'gnn-gather' "a stream without features" gnn-train -i st.gnb -o y.safetensors
status 3 "gnn-train -m gcn refuses a stream without degrees" gnn-train -m gcn -i g.gnb -o y.safetensors
status 3 "gnn-train refuses a stream that is cut off" sh -c "head -c 100000 g.gnb | gnn-train $M -o y.safetensors"
check "gnn-train writes no model from a stream that is cut off" test ! -e y.safetensors

check "gnn-train -m gcn trains from a pipe with degrees" sh -c "gnn-gather s -F x,y,degree -i st.gnb | gnn-train -m gcn $M -o gp.safetensors"
check "gnn-train -m gcn trains from a store" gnn-train -m gcn --store s $S $M --epochs 0:8 -o gs.safetensors
check "gnn-train -m gcn writes the same model from a pipe and from --store" cmp gp.safetensors gs.safetensors
eps() { # FILE: eps of both layers
    /usr/bin/python3 -c 'import json, struct, sys
b = open(sys.argv[1], "rb").read(); n = int.from_bytes(b[:8], "little"); h = json.loads(b[8:8 + n])
print([struct.unpack_from("<f", b, 8 + n + h["convs.%d.eps" % l]["data_offsets"][0])[0] for l in range(2)])' "$1"
}
G="-m gin --store s $S $M"
check "gnn-train -m gin trains" gnn-train $G --epochs 0:8 -o gin.safetensors
check "gnn-train -m gin leaves eps at 0" test "$(eps gin.safetensors)" = '[0.0, 0.0]'
check "gnn-train -m gin trains with --train-eps" gnn-train $G --train-eps --epochs 0:8 -o eps.safetensors
eps eps.safetensors >eps.txt
check "gnn-train --train-eps changes eps of each layer" \
    /usr/bin/python3 -c 'a, b = eval(open("eps.txt").read()); assert abs(a) > 1e-3 and abs(b) > 1e-3, (a, b)'
check "gnn-train -m gin trains from a pipe over three parts" \
    sh -c "gnn-sample k3 $S1 | gnn-gather k3 | gnn-train -m gin --train-eps $M -o x.safetensors"
check "gnn-train -m gin writes the same model from a pipe over three parts and from --store" cmp eps.safetensors x.safetensors
rm -rf ck
check "gnn-train -m gin trains for half of the epochs" gnn-train $G --train-eps --epochs 0:4 --checkpoint ck --checkpoint-every 20 -o x.safetensors
status 3 "gnn-train --resume refuses a checkpoint of --train-eps without that option" gnn-train $G --epochs 0:8 --checkpoint ck --resume -o x.safetensors
check "gnn-train -m gin resumes" gnn-train $G --train-eps --epochs 0:8 --checkpoint ck --resume -o x.safetensors
check "gnn-train -m gin writes the same model after --resume" cmp eps.safetensors x.safetensors
check "gnn-train -m gin starts from another model's parameters" gnn-train $G --epochs 0:1 --init eps.safetensors -o x.safetensors
check "gnn-train -m gin keeps the eps of --init constant" sh -c 'test "$1" = "$(cat eps.txt)"' sh "$(eps x.safetensors)"
refuses 2 '--train-eps requires --model gin' "--train-eps without -m gin" gnn-train --train-eps --store s $S $M --epochs 0:1 -o y.safetensors
check "gnn-train trains with --patience 2" \
    gnn-train --store s $S --hidden 8 --epochs 0:60 --lr 0.05 --dropout 0 --no-layer-norm --patience 2 -o e.safetensors --metrics e.json -q
check "gnn-train --patience stops before the last epoch" grep -q '"stopped_early":true' e.json
check "gnn-train trains with SGD, clipping, a cosine schedule, warm-up, weight decay and residual connections" \
    gnn-train --store s -b 256 --eval valid --hidden 8,8 -f 4,4,4 --epochs 0:3 --optimizer sgd --momentum 0.9 --clip 1 \
    --schedule cosine --warmup 0.5 --weight-decay 1e-4 --residual --keep last --metric f1-macro -q -o o.safetensors
# rates NAME WANTED OPTIONS...: the learning rate of each of four epochs of one step
rates() {
    name=$1 want=$2
    shift 2
    gnn-train --store s --eval none -b 1800 -f 2 --epochs 0:4 --lr 1e-3 -q --metrics lr.json -o lr.safetensors "$@" || exit 1
    got=$(perl -MJSON::PP -ne '$j = decode_json($_); printf "%.4f ", 1e3 * $j->{lr} if $j->{event} eq "epoch"' lr.json)
    check "gnn-train uses the right learning rates $name: $got" test "$got" = "$want "
}
rates "with a constant rate" "1.0000 1.0000 1.0000 1.0000"
rates "with --warmup" "0.5000 1.0000 1.0000 1.0000" --warmup 2
rates "with --schedule step" "1.0000 1.0000 0.1000 0.1000" --schedule step --step-epochs 2 --step-factor 0.1
rates "with --schedule cosine" "1.0000 0.8536 0.5000 0.1464" --schedule cosine
check "gnn-train --init starts from the parameters of a model" \
    gnn-train --store s $S $M --epochs 0:1 --init ref.safetensors --metrics i.json -o i.safetensors
check "gnn-train --init starts with the loss of a trained model" perl -MJSON::PP -e '
    sub first { open my $f, "<", $_[0]; my ($step) = grep { /"event":"step"/ } <$f>; return decode_json($step)->{loss} }
    exit !(first("i.json") < 0.6 * first("m.json"))'
gnn-import -q -o no-valid sbm:nodes=300,train=0.5,valid=0
check 'gnn-train trains on a store without a set valid' gnn-train --store no-valid --epochs 1 -o no-valid.safetensors
mv err said
check 'gnn-train says that it evaluates nothing' grep -q 'no set valid to evaluate on: all epochs are trained' said
check 'gnn-train --eval none says nothing about that' gnn-train --store no-valid --epochs 1 --eval none -o n.safetensors
mv err said
check 'gnn-train --eval none is what was meant' sh -c '! grep "no set" said'
done_testing
