# SPDX-License-Identifier: Apache-2.0
# Any number of ranks learns the same.
. "$GNN_TOP/tests/ranks/setup.sh"
gnn-import -q -o S sbm:nodes=4000,degree=10,features=16 || { _not_ok "gnn-import makes the graph"; done_testing; }
gnn-partition -q -k 4 -o P S || _not_ok "gnn-partition makes 4 parts"
opts='-f 6,6 -b 100 --epochs 5 --eval valid --eval test --hidden 32 --dropout 0.2 --lr 0.01 --no-layer-norm'
check 'gnn-train learns in one process' gnn-train -q --store S $opts --metrics m1 -o one
for many in $(choice '1 2 3 4' 3); do
    check "gnn-train learns on $many ranks" ranks $many gnn-train -q --store P $opts --metrics m$many.json -o t$many
    /usr/bin/python3 - m1 m$many.json >cmp.txt 2>&1 <<'PY'
import json, sys
a, b = ([json.loads(l) for l in open(f)] for f in sys.argv[1:])
x, y = ([e for e in s if e["event"] == "step"] for s in (a, b))
assert len(x) == len(y) > 100, (len(x), len(y))
worst = max(abs(p["loss"] - q["loss"]) / abs(p["loss"]) for p, q in zip(x[:100], y[:100]))
assert worst < 1e-4, worst
p, q = ([e for e in s if e["event"] == "epoch"] for s in (a, b))
assert all(u["seeds"] == v["seeds"] and u["steps"] == v["steps"] for u, v in zip(p, q))
assert all(abs(u["valid"]["accuracy"] - v["valid"]["accuracy"]) < 0.01 for u, v in zip(p, q))
print("worst", worst)
PY
    check "gnn-train on $many ranks has the losses of 100 steps and the accuracies of one process" grep "^worst " cmp.txt
    sed 's/^/# /' cmp.txt
done
seq 0 149 >few.ids
seq 150 449 >more.ids
check 'gnn-import makes a set of 150 nodes' gnn-import -q -o F --split train=few.ids,valid=more.ids sbm:nodes=4000,degree=10,features=16
gnn-partition -q -k 4 -o FP F
gnn-train --store F -f 2,2 --epochs 1 --eval none --hidden 8 -o m 2>&1 | grep 'gnn-settings(7)' >one.hint
ranks 4 gnn-train --store FP -f 2,2 --epochs 1 --eval none --hidden 8 -o m 2>&1 | grep 'gnn-settings(7)' >four.hint
check 'gnn-train counts the labels of classes on 4 ranks' sh -c 'test -s one.hint && cmp one.hint four.hint'
check 'gnn-train on 4 ranks learns from batches in which some ranks have no seed' \
    ranks 4 gnn-train -q --store FP -f 4,4 -b 3 --no-shuffle --epochs 1 --eval none --lr 0.01 --dropout 0 --no-layer-norm \
    --hidden 8 --metrics few.json -o few
gnn-train -q --store F -f 4,4 -b 3 --no-shuffle --epochs 1 --eval none --lr 0.01 --dropout 0 --no-layer-norm --hidden 8 --metrics one.json -o few1
check 'gnn-train has the losses of one process although some ranks have no seed' /usr/bin/python3 -c '
import json
a, b = ([json.loads(l)["loss"] for l in open(f) if json.loads(l)["event"] == "step"] for f in ("one.json", "few.json"))
assert len(a) == len(b) == 50 and all(abs(x - y) <= 1e-3 * abs(x) for x, y in zip(a, b)), max(abs(x - y) / abs(x) for x, y in zip(a, b))'

# Regression: metrics are of the labels of all ranks, also where a rank has none.
gnn-import -q -o SR sbm:nodes=2000,degree=10,targets=2 && gnn-partition -q -k 4 -o PR SR || _not_ok "gnn-partition makes 4 parts of a regression"
opts='-f 5,5 -b 50 --epochs 2 --eval valid --hidden 16 --lr 0.01 --dropout 0 --no-layer-norm'
turns=0
for m in rmse r2 mae; do
    turn 3 || continue
    check "gnn-train learns a regression in one process with --metric $m" gnn-train -q --store SR $opts --metric $m --metrics r1.json -o rone
    check "gnn-train learns a regression on 4 ranks with --metric $m" ranks 4 gnn-train -q --store PR $opts --metric $m --metrics r4.json -o rfour
    check "gnn-train on 4 ranks has the losses of a regression and the $m of one process" /usr/bin/python3 -c '
import json, sys
a, b = ([json.loads(l) for l in open(f)] for f in ("r1.json", "r4.json"))
x, y = ([e[s][sys.argv[1]] for e in r if e["event"] == "epoch" for s in ("train", "valid")] for r in (a, b))
assert len(x) == len(y) == 4 and all(abs(p - q) <= 1e-3 * abs(p) for p, q in zip(x, y)), (x, y)
x, y = ([e["loss"] for e in r if e["event"] == "step"] for r in (a, b))
assert len(x) == len(y) == 48 and all(abs(p - q) <= 1e-4 * abs(p) for p, q in zip(x, y)), (x, y)' $m
done

# Weights of classes: the divisor is the sum over all ranks, and balanced weights are of all ranks' labels.
turns=1
for w in 1,0,3,0.5 balanced; do
    turn 2 || continue
    opts="-f 5,5 -b 60 --epochs 1 --eval none --hidden 16 --lr 0.01 --dropout 0 --no-layer-norm --class-weights $w"
    check "gnn-train learns in one process with --class-weights $w" gnn-train -q --store S $opts --metrics w1.json -o wone
    check "gnn-train learns on 4 ranks with --class-weights $w" ranks 4 gnn-train -q --store P $opts --metrics w4.json -o wfour
    check "gnn-train on 4 ranks has the losses of one process with --class-weights $w" /usr/bin/python3 -c '
import json
x, y = ([json.loads(l)["loss"] for l in open(f) if json.loads(l)["event"] == "step"] for f in ("w1.json", "w4.json"))
assert len(x) == len(y) == 40 and all(abs(p - q) <= 1e-4 * abs(p) for p, q in zip(x, y)), (x, y)'
done
opts='-f 4,4 -b 3 --no-shuffle --epochs 1 --eval none --hidden 8 --class-weights 1,0,0,2'
check 'gnn-train on 4 ranks weights classes in batches in which some ranks have no seed' ranks 4 gnn-train -q --store FP $opts -o few

# Batch norm: statistics are those of one rank's batch, and so is what is learned.
opts='-f 6,6,4 -b 100 --epochs 4 --eval valid --hidden 32 --lr 0.01 --dropout 0.2 --batch-norm'
# One epoch: later, what rounding let fall on the other side of a ReLU may have grown to percents.
check 'gnn-train learns with batch norm in one process' gnn-train -q --store S $opts --epochs 1 --metrics b1 -o bone
cat >gap.py <<'PY'
import json, sys
sys.path.insert(0, "%s/tests/interop" % sys.argv[1])
import numpy as np
a, b = ([json.loads(l) for l in open(f)] for f in sys.argv[2:4])
x, y = ([e["loss"] for e in s if e["event"] == "step"] for s in (a, b))
assert len(x) == len(y) > 20
worst = max(abs(p - q) / abs(p) for p, q in zip(x, y))
p, q = ([e["valid"] for e in s if e["event"] == "epoch"] for s in (a, b))
last = max(abs(u["loss"] - v["loss"]) / u["loss"] for u, v in zip(p, q))
def load(path):
    raw = open(path, "rb").read()
    n = int.from_bytes(raw[:8], "little")
    head = json.loads(raw[8:8 + n])
    return {k: np.frombuffer(raw, {"F32": "f4", "I64": "i8"}[v["dtype"]], int(np.prod(v["shape"], dtype=int)), 8 + n + v["data_offsets"][0])
            for k, v in head.items() if k != "__metadata__"}
m, n = load(sys.argv[4]), load(sys.argv[5])
running = [k for k in m if "running" in k or k.endswith(".eps")]
assert (len(running) >= 2 or any(k.endswith(("lin.weight", ".att", "comp")) for k in m)) and all((m[k] == n[k]).all() for k in m if "batches" in k)
apart = max(np.abs(m[k] - n[k]).max() / np.abs(m[k]).max() for k in running) if running else 0
print("losses apart by %.1e, evaluations by %.1e, running statistics and eps by %.1e" % (worst, last, apart))
assert worst < float(sys.argv[6]) and last < 10 * float(sys.argv[6]) and apart < float(sys.argv[6])
PY
gap() { /usr/bin/python3 gap.py "$GNN_TOP" "$@" >cmp.txt 2>&1; _r=$?; sed 's/^/# /' cmp.txt; return $_r; }
turns=0
for many in 4 2; do
    turn 2 || continue
    check "gnn-train learns with batch norm on $many ranks" ranks $many gnn-train -q --store P $opts --epochs 1 --metrics b$many.json -o b$many
    gap b1 b$many.json bone b$many 1e-4
    check "gnn-train with batch norm on $many ranks has the losses and running statistics of one process" test $? -eq 0
done
check 'gnn-train learns with batch norm on 4 ranks without interruption' ranks 4 gnn-train -q --no-provenance --store P $opts -o a
few='-f 4,4 -b 3 --no-shuffle --epochs 1 --eval valid --hidden 8 --batch-norm --dropout 0 --lr 0.001'
check 'gnn-train learns with batch norm on 4 ranks from batches in which some ranks have no seed' \
    ranks 4 gnn-train -q --store FP $few --metrics few.json -o few
gnn-train -q --store F $few --metrics one.json -o few1
gap one.json few.json few1 few 1e-3
check 'gnn-train with batch norm has the losses and running statistics of one process although some ranks have no seed' test $? -eq 0
check 'gnn-train on 4 ranks learns a part of the epochs with batch norm and leaves a checkpoint' \
    ranks 4 gnn-train -q --no-provenance --store P $opts --epochs 3 --checkpoint B --checkpoint-every 30 -o part
check 'gnn-train --resume on 4 ranks goes on with batch norm' ranks 4 gnn-train -q --no-provenance --store P $opts --checkpoint B --resume -o resumed
check 'gnn-train --resume on 4 ranks ends with the same bits with batch norm' cmp a resumed
ranks 3 gnn-sample -q P -f 6,6,4 -b 100 --epochs 4 --eval valid -o 's.%r.gnb' && ranks 3 gnn-gather -q P -i 's.%r.gnb' -o 'g.%r.gnb'
status 3 'gnn-train --batch-norm on ranks refuses batches drawn without --count-once' \
    ranks 3 gnn-train -q -i 'g.%r.gnb' --hidden 32 --batch-norm -o from-streams
mv err said
check 'gnn-train --batch-norm says that gnn-sample --count-once draws the batches it needs' grep -q 'use gnn-sample --count-once' said
ranks 3 gnn-sample -q P -f 6,6,4 -b 100 --epochs 4 --eval valid --count-once -o 's.%r.gnb' && ranks 3 gnn-gather -q P -i 's.%r.gnb' -o 'g.%r.gnb'
check 'gnn-train --batch-norm on 3 ranks learns from streams' \
    ranks 3 gnn-train -q -i 'g.%r.gnb' --hidden 32 --lr 0.01 --dropout 0.2 --batch-norm --no-provenance -o from-streams
check 'gnn-train --batch-norm on 3 ranks learns from the store' ranks 3 gnn-train -q --store P $opts --no-provenance -o from-store
check 'gnn-train --batch-norm on 3 ranks writes the same model from streams and from the store' cmp from-streams from-store

# Other models. GIN: the gradient of eps is a sum over all ranks' nodes, and so are the statistics of the batch norm within its layers.
gnn-import -q -o SH sbm:nodes=9000,types=3,features=12 && gnn-partition -q -k 3 -o PH SH || _not_ok "gnn-partition makes 3 parts of a graph of several types"
turns=0
for o in '-m gin --train-eps --no-layer-norm' '-m gin --train-eps --batch-norm' '--encoder 16 --ffn --head 8 --no-layer-norm' \
    '--jk cat --head 0 --activation elu --batch-norm' '--aggr max --normalize --project --no-layer-norm' \
    '-m gat --heads 4 --attention-dropout 0.3 --no-layer-norm' '-m gatv2 --heads 2 --share-weights --no-layer-norm' \
    '-m rgcn --bases 2 --no-layer-norm' '-m hgt --heads 4 --head 0 --no-layer-norm'; do
    turn 3 || continue
    one=S parts=P
    [ "${o%% --bases*}" != '-m rgcn' ] || one=SH parts=PH
    opts="-f 6,6 -b 100 --epochs 1 --eval valid --hidden 32 --lr 0.01 --dropout 0 $o"
    check "one process trains with $o" gnn-train -q --store $one $opts --metrics g1 -o gone
    check "3 ranks train with $o" ranks 3 gnn-train -q --no-provenance --store $parts $opts --metrics g3 -o g3.st
    gap g1 g3 gone g3.st 1e-3
    check "3 ranks learn what one process learns with $o" test $? -eq 0
    check "3 ranks train again with $o" ranks 3 gnn-train -q --no-provenance --store $parts $opts -o again
    check "3 ranks give the same bits again with $o" cmp g3.st again
done

# Edge weights: a rank's degrees and loops are those of the whole graph.
perl -e 'print "source,target,weight\n"; print $_ % 900, ",", ($_ * 37 + int($_ / 7)) % 900, ",", $_ % 5 / 4, "\n" for 1 .. 9000' >e.csv
perl -e 'print $_ % 3, "\n" for 1 .. 900' >y.csv
perl -e 'print join(",", $_ % 3, $_ % 5, $_ % 7), "\n" for 1 .. 900' >x.csv
gnn-import -q -u --labels y.csv --features x.csv --split random:0.8,0.1,0.1 -o SW e.csv && gnn-partition -q -k 4 -o PW SW || _not_ok "gnn-partition makes 4 parts of a graph with weights"
opts='-m gcn --edge-weight weight -f 6,6 -b 30 --epochs 1 --eval valid --hidden 8 --lr 0.01 --dropout 0 --batch-norm'
check "one process trains with edge weights" gnn-train -q --store SW $opts --metrics w1 -o wone
check "3 ranks train with edge weights" ranks 3 gnn-train -q --no-provenance --store PW $opts --metrics w3 -o w3.st
gap w1 w3 wone w3.st 1e-3
check "3 ranks learn what one process learns with edge weights" test $? -eq 0

gnn-import -q --directed "$GNN_TOP/tests/train/data/weighted.npz" -o SF && gnn-partition -q -k 4 --method random -o PF SF || _not_ok "gnn-partition makes 4 parts of a graph with features of edges"
turns=1
for o in '-m gine --train-eps' '-m gat --heads 2 --conv-residual' '-m gatv2 --heads 2'; do
    turn 3 || continue
    opts="$o --edge-features -f 6,6 -b 1 --epochs 2 --eval valid --hidden 8 --lr 0.01 --dropout 0 --no-layer-norm"
    check "one process trains $o with features of edges" gnn-train -q --store SF $opts --metrics f1 -o fone
    check "3 ranks train $o with features of edges" ranks 3 gnn-train -q --no-provenance --store PF $opts --metrics f3 -o f3.st
    gap f1 f3 fone f3.st 1e-3
    check "3 ranks learn what one process learns with $o and features of edges" test $? -eq 0
done

status 2 '2 ranks refuse batch norm of rows before the first layer' \
    ranks 2 gnn-train -q --store P -f 6,6 --ffn --batch-norm -o x
mv err said
check '2 ranks say that layer norm would do' grep -q 'batch norm before the first layer .* --layer-norm' said

# Streams instead of a store.
check 'gnn-sample -o s.%r.gnb on 3 ranks writes a stream for each rank' \
    ranks 3 sh -c 'r=$OMPI_COMM_WORLD_RANK; exec gnn-sample -q P -f 6,6 -b 100 --epochs 2 --eval valid -o "s.%r.gnb"'
check 'gnn-gather on 3 ranks gathers the streams of the ranks' ranks 3 gnn-gather -q P -i 's.%r.gnb' -o 'g.%r.gnb'
check 'gnn-train on 3 ranks learns from the streams of the ranks' ranks 3 gnn-train -q -i 'g.%r.gnb' --hidden 32 --no-provenance -o from-streams
check 'gnn-train on 3 ranks learns from the store' \
    ranks 3 gnn-train -q --store P -f 6,6 -b 100 --epochs 2 --eval valid --hidden 32 --no-provenance -o from-store
check 'gnn-train on 3 ranks writes the same model from streams and from the store' cmp from-streams from-store

# Checkpoints: killed, and gone on with, also with another number of ranks.
opts='-f 6,6 -b 100 --epochs 4 --eval valid --patience 0 --hidden 32 --lr 0.01 --dropout 0 --no-layer-norm --no-provenance --seed 3'
check 'gnn-train learns on 4 ranks without interruption' ranks 4 gnn-train -q --store P $opts --metrics whole.json -o whole
turns=0
for sig in USR1 TERM; do
    turn 2 || continue
    rm -rf C
    : >said
    more=
    [ $sig = USR1 ] || more=--batch-norm
    mpirun --quiet -n 4 $note gnn-train -v --store P $opts $more --epochs 4000 --keep last --checkpoint C -o never 2>said &
    pid=$!
    until grep -q 'epoch 1' said || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
    kill -$sig "$(cat pid.1)" # one of them
    wait $pid
    rc=$?
    check "gnn-train ends on all ranks with status 75 when one of them gets SIG$sig ($rc)" logged said test $rc -eq 75
    check "gnn-train leaves a checkpoint and no model when one rank gets SIG$sig" sh -c 'test -e C/checkpoint.safetensors && test ! -e never'
done
# Without checkpoints, rank 0 writes the best model so far.
for sig in TERM:143 USR1:138; do
    turn 2 || continue
    rm -f best
    : >said # of the signal before, which is looked at before mpirun begins a new one
    mpirun --quiet -n 3 $note gnn-train --store P $opts --epochs 4000 -o best 2>said &
    pid=$!
    until grep -q 'epoch 4' said || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
    kill -${sig%:*} "$(cat pid.2)"
    wait $pid
    rc=$?
    check "gnn-train without checkpoints ends on all ranks by SIG${sig%:*} ($rc)" logged said test $rc -eq ${sig#*:}
    b=$(sed -n "s/^gnn-train: .*stopped by SIG${sig%:*} in epoch .*; best is the model of epoch \([0-9]*\), the best so far$/\1/p" said)
    check "gnn-train on 3 ranks trains for ${b:-?} epochs and one" ranks 3 gnn-train -q --store P $opts --epochs $((b + 1)) -o want
    check "gnn-train on 3 ranks writes the best model so far when one gets SIG${sig%:*}" cmp best want
done
# A signal to one rank before all ranks are there: it comes at a call of malloc, in MPI_Init or before.
early() { # CALL SIGNAL OPTION...
    rm -rf C
    _fault="LD_PRELOAD=$GNN_B/shim.so FAULT_OP=malloc FAULT_N=$1 FAULT_SIGNAL=$2"
    shift 2
    mpirun --quiet -n 1 env $_fault gnn-train -q --store P $opts "$@" : -n 1 gnn-train -q --store P $opts "$@"
}
turns=0
for call in 1 1000 4000; do
    turn 3 || continue
    status 75 "gnn-train ends with status 75 on two ranks when one gets SIGUSR1 at call $call of malloc" \
        early $call 10 --epochs 4000 --keep last --checkpoint C -o never
    check "gnn-train leaves a checkpoint when one rank gets SIGUSR1 at call $call" sh -c 'test -e C/checkpoint.safetensors && test ! -e never'
done
# MPI writes to connections of ranks that may be gone; what it makes of that counts, and not the signal.
status 0 'gnn-train on two ranks is not ended by SIGPIPE' early 4000 13 -o piped
rm -rf C
check 'gnn-train on 4 ranks learns a part of the epochs with a checkpoint every 50 steps' \
    ranks 4 gnn-train -q --store P $opts --epochs 3 --checkpoint C --checkpoint-every 50 -o part
check 'gnn-train --resume on 4 ranks goes on from the checkpoint' ranks 4 gnn-train -q --store P $opts --checkpoint C --resume -o resumed
check 'gnn-train --resume on 4 ranks writes the same model as without interruption' cmp whole resumed
rm -rf C
check 'gnn-train on 4 ranks leaves a checkpoint for other numbers of ranks' \
    ranks 4 gnn-train -q --store P $opts --epochs 2 --checkpoint C --checkpoint-every 50 -o part
cp -r C D
check 'gnn-train --resume on 2 ranks goes on from the checkpoint of 4 ranks' \
    ranks 2 gnn-train -q --store P $opts --checkpoint C --resume --metrics went2 -o resumed
check 'gnn-train --resume in one process goes on from the checkpoint of 4 ranks' \
    gnn-train -q --store P $opts --checkpoint D --resume --metrics went1 -o resumed
for many in 1 2; do # the epochs that are left, as the 4 ranks had them
    check "gnn-train --resume on $many of 4 ranks goes on with the same losses" /usr/bin/python3 -c '
import json, sys
a, b = ([json.loads(l) for l in open(f)] for f in ("whole.json", sys.argv[1]))
at = lambda s: {(e["epoch"], e["step"]): e["loss"] for e in s if e["event"] == "step"}
a, b, p, q = at(a), at(b), {e["epoch"]: e["valid"]["loss"] for e in a if e["event"] == "epoch"}, {e["epoch"]: e["valid"]["loss"] for e in b if e["event"] == "epoch"}
assert len(b) > 20 and 3 in q and all(abs(a[k] - v) < 1e-3 * v for k, v in b.items()) and all(abs(p[k] - v) < 1e-3 * v for k, v in q.items()), (len(b), q)' went$many
done

# Convolutions along which no rank has had an edge: the list, and the record of the training, are those of one process.
gnn-import -q -o two sbm:nodes=600,classes=3,types=2 && gnn-partition -q -k 2 -o P2 two || _not_ok "gnn-partition makes 2 parts of several types"
opts='-f t0/to/t0=5,5 -f t0/up/t1=2,2 --hidden 8 --epochs 2 --dropout 0'
of_training() { gnn-inspect --json "$1" | sed -n '/"untrained"/,/"parameters"/p'; }
check 'gnn-train with few fan-outs trains in one process' gnn-train -q --store P2 $opts -o left1
check 'gnn-train with few fan-outs trains on 2 ranks' ranks 2 gnn-train -q --store P2 $opts -o left2
check 'gnn-train on 2 ranks leaves out what one process does' test "$(of_training left1)" = "$(of_training left2)"
check 'that is something' sh -c "gnn-inspect left2 | grep -q 'left out in layer 0, 1$'"

# Products in bf16: ranks learn the same each time, what one process learns but for sums in another order, and other than in f32.
opts='-f 5,5 -b 100 --epochs 1 --eval none --hidden 32 --lr 0.01 --no-provenance'
for what in 'minibatches' 'full batches'; do
    [ "$what" = minibatches ] || opts='--full-batch --layers 2 --epochs 5 --eval none --hidden 32 --lr 0.01 --no-provenance'
    check "gnn-train learns $what in bf16 in one process" gnn-train -q --store P $opts --precision bf16 --metrics b1.json -o b1
    check "gnn-train learns $what in bf16 on 2 ranks" ranks 2 gnn-train --store P $opts --precision bf16 --metrics b2.json -o b2
    cp err said
    check "gnn-train learns $what in bf16 on 2 ranks again" ranks 2 gnn-train -q --store P $opts --precision bf16 -o b3
    check "gnn-train learns $what in f32 on 2 ranks" ranks 2 gnn-train -q --store P $opts --metrics f2.json -o f2
    check "ranks write the same model of $what in bf16 twice, and another one in f32" sh -c 'cmp b2 b3 && ! cmp -s b2 f2'
    check "the losses of $what in bf16 are those of one process, and near those in f32" /usr/bin/python3 -c '
import json
a, b, f = ([json.loads(l)["loss"] for l in open(n) if json.loads(l)["event"] == "step"] for n in ("b1.json", "b2.json", "f2.json"))
assert len(a) == len(b) == len(f) >= 5, (len(a), len(b), len(f))
worst = [max(abs(x - y) / abs(x) for x, y in zip(a, c)) for c in (b, f)]
assert worst[0] < 1e-3 and 0 < worst[1] < 0.03, worst'
    check "ranks say at most once that a processor has no products of bf16" test "$(grep -c 'no matrix products of bf16' said)" -le 1
done
done_testing
