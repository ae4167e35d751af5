# SPDX-License-Identifier: Apache-2.0
# A job that is suspended for longer than its time-out, as by Slurm or from the terminal, goes on when it is resumed: nobody has had the
# time to answer. One rank that stands still for as long is lost (10-kill.t).
. "$GNN_TOP/tests/ranks/setup.sh"
gnn-import -q -o S sbm:nodes=3000,degree=12,features=8 && gnn-partition -q -k 3 -o P S ||
    { _not_ok "gnn-import and gnn-partition make the store"; done_testing; }
learn='-q --no-provenance --store P -f 5,5 -b 100 --hidden 16 --lr 0.01 --dropout 0 --no-layer-norm --eval none --epochs 200 --timeout 10'
check 'gnn-train learns on 3 ranks that are not suspended' ranks 3 gnn-train $learn -o want
for i in $(choice '1 2 3' 1); do
    rm -f pid.*
    ranks 3 $note gnn-train $learn --checkpoint C$i --checkpoint-every 20 -o got >run.txt 2>&1 &
    job=$!
    until [ -e C$i/checkpoint.safetensors ] || ! kill -0 $job 2>/dev/null; do sleep 0.05; done
    sleep 0.0$i
    pids=$(cat pid.*)
    check "the 3 ranks of gnn-train take SIGSTOP in run $i" kill -STOP $pids
    sleep 15
    check "the 3 ranks of gnn-train take SIGCONT after 15 seconds in run $i" kill -CONT $pids
    wait $job
    rc=$?
    check "gnn-train ends well after its suspension in run $i: status $rc" logged run.txt test $rc -eq 0
    check "gnn-train writes the same model after its suspension in run $i" cmp got want
done
done_testing
