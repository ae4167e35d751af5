# SPDX-License-Identifier: Apache-2.0
# A run that a signal stops keeps what it has: the best model so far without checkpoints, else a checkpoint whose best model predicts. A run
# that has ended goes on from its end.
. "$GNN_TOP/tests/lib.sh"
export OMP_NUM_THREADS=1
gnn-import -q -o S sbm:nodes=1500,degree=10,features=16 && gnn-import -q -o L sbm:nodes=30000,degree=3,features=16 || { _not_ok 'gnn-import makes the graph'; done_testing; }
train='gnn-train --no-provenance --hidden 16 --patience 0'
store='--store S -f 5,5 -b 64'
says() { check "$2" grep -qx -e "$1" said; }
# stop SIGNAL FROM COMMAND...: the status after the signal, which comes when the metrics in mm have what FROM matches
stop() {
    _sig=$1 _from=$2
    shift 2
    rm -f mm
    perl -e '$SIG{$_} = "DEFAULT" for qw(INT HUP); exec @ARGV' "$@" --metrics mm 2>said &
    _pid=$!
    until grep -qs -e "$_from" mm || ! kill -0 $_pid 2>/dev/null; do sleep 0.02; done
    kill -s "$_sig" $_pid
    wait $_pid
}
best() { sed -n 's/.* the model of epoch \([0-9]*\), the best so far$/\1/p' said; }
# A signal may come between two epochs, too.
somewhere='\(in epoch [0-9]* of 10000000, after [0-9]* of its 15 steps\|after epoch [0-9]* of 10000000\)'
fifth=event.:.epoch.,.epoch.:4
fourth=event.:.step.,.epoch.:0,.step.:3
for sig in INT:130 TERM:143 HUP:129 USR1:138; do
    rm -f m
    status ${sig#*:} "gnn-train ends by SIG${sig%:*}" stop ${sig%:*} $fifth $train $store --epochs 10000000 -o m
    says "gnn-train: stopped by SIG${sig%:*} $somewhere; m is the model of epoch [0-9]*, the best so far" \
        "gnn-train says where SIG${sig%:*} stopped it, and what it has written"
    check "gnn-train writes an end to its metrics on SIG${sig%:*}" grep -q '"event":"end".*"stopped":true' mm
    b=$(best)
    check "gnn-train writes the model of epoch ${b:-?}, as a run that ends there" $train -q $store --epochs 0:$((b + 1)) -o want
    check "gnn-train writes the best model so far on SIG${sig%:*}" cmp m want
done
check 'gnn-predict takes the model of a run that was stopped' gnn-predict -q -n S m
status 143 'gnn-train of full batches ends by SIGTERM' stop TERM $fifth $train --full-batch --store S --epochs 10000000 -o full
b=$(best)
$train -q --full-batch --store S --epochs $((b + 1)) -o want
check 'gnn-train of full batches writes the best model so far' cmp full want
status 143 'gnn-train --keep last ends by SIGTERM' stop TERM $fifth $train $store --keep last --epochs 10000000 -o last
says '.* last is the model of the last step' 'gnn-train --keep last says that it has written the last model'
status 143 'gnn-train --eval none ends by SIGTERM' stop TERM $fourth $train --store L -f 5,5 -b 1 --hidden 256 --eval none --epochs 10000000 -o none
says '.* in epoch 0 of .*; none is the model of the last step' 'gnn-train --eval none writes the model of the last step in its first epoch'
rm -f first
early="$train --store L -f 5,5 -b 1 --hidden 256 --epochs 10000000 -o first"
status 143 'gnn-train ends by SIGTERM in its first epoch' stop TERM $fourth $early
says '.* first is the model of the last step, as no epoch has been evaluated' 'gnn-train says that no epoch has been evaluated'
check 'gnn-predict takes a model of the first epoch' gnn-predict -q -n L first
echo old >first
status 143 'gnn-train ends by SIGTERM in its first epoch although there is a file' stop TERM $fourth $early
says '.* no epoch is complete, so its steps are lost, and first is as it was' 'gnn-train says what is lost'
check 'gnn-train leaves the file of before when it is stopped in its first epoch' grep -qx old first
status 143 'gnn-train ends by SIGTERM when it writes to standard output' stop TERM $fifth sh -c "exec $train $store --epochs 10000000 \"\$@\" >out.st" sh
says '.*; stdout is the model of epoch [0-9]*, the best so far' 'gnn-train says that standard output is the model'
check 'gnn-predict takes the model of standard output' gnn-predict -q -n S out.st

# A pipeline, all programs of which get the signal of a terminal.
cat >group.sh <<'T'
trap : INT
gnn-sample -q -f 5,5 -b 64 --epochs 10000000 --eval valid S | gnn-gather -q S | gnn-train --no-provenance --hidden 16 --patience 0 --metrics mm -o m 2>said
echo "${PIPESTATUS[*]}" >statuses
T
for try in 1 2 3; do
    rm -f m mm
    perl -e 'setpgrp; $SIG{INT} = "DEFAULT"; exec @ARGV' bash group.sh &
    pid=$!
    until grep -qs $fifth mm || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
    kill -s INT -- "-$pid"
    wait $pid
    # A program that is about to end by the signal may first find that its reader has ended.
    check "Ctrl-C ends all programs of a pipeline, try $try" grep -Eqx '1(30|41) 1(30|41) 130' statuses
    b=$(best)
    $train -q $store --epochs $((b + 1)) -o want
    check "gnn-train writes the best model so far on Ctrl-C in a pipeline, try $try" cmp m want
done

# timeout(1) sends its signal to the program and then to the group that it is in, which is one request.
for after in 0 0 0 0.01 0.2; do
    rm -f m mm
    status 143 "gnn-train ends by SIGTERM, twice from a process after $after s" perl -e '
        my $after = shift;
        my $pid = fork;
        $pid or open(STDERR, ">", "said") && exec @ARGV or die;
        select undef, undef, undef, 0.02 until `grep -s -c event.:.epoch mm` > 4;
        kill TERM => $pid;
        select undef, undef, undef, $after;
        kill TERM => $pid;
        waitpid $pid, 0;
        exit 128 + ($? & 127)' $after $train $store --epochs 10000000 -o m --metrics mm
    says 'gnn-train: stopped by SIGTERM .*, the best so far' "gnn-train says what it keeps after both, $after s apart"
    check "gnn-train writes the best model, $after s apart" gnn-predict -q -n S m
done

# A second signal, and one that has to wait.
slow() { env LD_PRELOAD="$GNN_B/shim.so" FAULT_OP=fsync FAULT_N=1 FAULT_SLOW="$1" $train $store --epochs 10000000 -o m --metrics mm 2>said & }
twice() {
    rm -f mm
    slow 30
    _pid=$!
    until grep -qs $fifth mm || ! kill -0 $_pid 2>/dev/null; do sleep 0.02; done
    kill -TERM $_pid
    until grep -q 'a second signal' said || ! kill -0 $_pid 2>/dev/null; do sleep 0.02; done
    [ -z "${1-}" ] || kill -TERM $_pid
    wait $_pid
}
echo old >m
status 143 'gnn-train ends at once on a second SIGTERM' twice again
check 'gnn-train says after a second that it is stopping' grep -q '^gnn-train: stopping' said
check 'gnn-train leaves the file of before on a second SIGTERM' grep -qx old m

# Checkpoints.
rm -rf C m
status 75 'gnn-train --checkpoint ends with status 75' stop INT $fifth $train $store --epochs 10000000 --checkpoint C -o m
says "gnn-train: stopped $somewhere; the checkpoint is in C, with the model of epoch [0-9]*, the best so far" \
    'gnn-train --checkpoint says what the checkpoint has'
check 'gnn-train --checkpoint writes no model when it is stopped' test ! -e m
b=$(best)
$train -q $store --epochs $((b + 1)) -o want
gnn-predict -q --output-kind probs -o probs S want
check 'gnn-predict takes a checkpoint' sh -c 'gnn-predict --output-kind probs -o got S C/checkpoint.safetensors 2>said'
check 'gnn-predict of a checkpoint predicts with its best model' cmp probs got
says "gnn-predict: C/checkpoint.safetensors: a checkpoint: predicting with the model of epoch $b, its best" 'gnn-predict says which model of a checkpoint it takes'
rm -rf C
stop INT $fourth $train --store L -f 5,5 -b 1 --hidden 256 --epochs 9 --checkpoint C -o m
check 'gnn-predict takes a checkpoint of the first epoch' sh -c 'gnn-predict -o got S C/checkpoint.safetensors 2>said'
says 'gnn-predict: .*: predicting with the model of its last step, in epoch 0, as no epoch has been evaluated' 'gnn-predict says that no epoch has been evaluated'
for how in "$store" "$store --eval none" '--full-batch --store S --eval-every 2'; do
    rm -rf C
    check "gnn-train $how ends with a checkpoint" $train -q $how --epochs 4 --checkpoint C -o m
    cp m four
    check "gnn-train $how --resume has nothing to do after the end" $train -q $how --epochs 4 --checkpoint C --resume -o m --metrics mm
    check "gnn-train $how --resume writes the same model then, without a step" sh -c 'cmp m four && ! grep "event\":\"step" mm'
    check "gnn-train $how --resume goes on from the end" $train $how --epochs 7 --checkpoint C --resume -o m --metrics mm
    check "gnn-train $how --resume makes only the steps of later epochs" sh -c 'grep -q "event\":\"step\",\"epoch\":6" mm && ! grep "event\":\"step\",\"epoch\":[0-3]" mm'
    $train -q $how --epochs 7 -o want
    check "gnn-train $how --resume writes the model of a run of all epochs" cmp m want
done
rm -rf C
check 'a pipeline ends with a checkpoint' sh -c "gnn-sample -q -f 5,5 -b 64 --epochs 3 --eval valid S | gnn-gather -q S | $train -q --checkpoint C -o m"
check 'a longer pipeline goes on from there' sh -c "gnn-sample -q -f 5,5 -b 64 --epochs 7 --eval valid S | gnn-gather -q S | $train -q --checkpoint C --resume --metrics mm -o m"
$train -q $store --epochs 7 -o want
check 'a longer pipeline writes the model of a run of all epochs' cmp m want
# Early stopping is the run's own.
rm -rf C
patient="gnn-train --no-provenance --hidden 16 --lr 0.1 $store --epochs 60"
$patient -q --patience 2 --checkpoint C -o m --metrics mm
made=$(grep -c '"event":"epoch"' mm)
check "gnn-train stops early ($made epochs) and leaves a checkpoint" test "$made" -lt 60 -a -s C/checkpoint.safetensors
check 'gnn-train --resume with the same patience stops there' $patient --patience 2 --checkpoint C --resume -o again --metrics mm
check 'gnn-train --resume writes the same model, and makes no step' sh -c 'cmp m again && ! grep "event\":\"step" mm'
check 'gnn-train --resume with more patience goes on' $patient -q --patience 60 --checkpoint C --resume -o m --metrics mm
$patient -q --patience 60 -o want
check 'gnn-train --resume with more patience writes the model of a run with that' cmp m want
# What has the checkpoint's name but is none stays.
refusing=gnn-train
for kind in m S/store.json; do
    rm -rf C && mkdir C && cp $kind C/checkpoint.safetensors
    refuses 3 '^gnn-train: C/checkpoint.safetensors: not a checkpoint, and would be replaced' "to replace $kind by a checkpoint" $train -q $store --epochs 1 --checkpoint C -o x
    check "gnn-train leaves $kind in the place of its checkpoint" cmp $kind C/checkpoint.safetensors
done
done_testing
