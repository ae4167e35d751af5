# The link between two hosts is slow, and then cut.
. "$GNN_TOP/tests/ranks/two-hosts.sh"
gnn-import -q -o S sbm:nodes=3000,degree=12,features=8 && gnn-partition -q -k 4 -o P S || { _not_ok inputs; done_testing; }
learn='-q --no-provenance --store P -f 5,5 -b 100 --eval valid --patience 0 --hidden 16 --lr 0.01 --dropout 0 --no-layer-norm'
check 'one host' ranks 4 gnn-train $learn --epochs 40 -o want
hosts slow 30mbit
check 'a slow link' on_hosts 4 gnn-train $learn --timeout 60 --epochs 3 -o slow
check 'a slow link: on one host' ranks 4 gnn-train $learn --epochs 3 -o fast
check 'a slow link: the same model' cmp slow fast
hosts down
hosts up

# cut_link NAME TIMEOUT: pulls the cable from under a run; milliseconds until the last rank was gone are in `took'.
cut_link() {
    rm -rf C
    on_hosts 4 gnn-train $learn --timeout $2 --epochs 4000 --keep last --checkpoint C --checkpoint-every 20 -o never >cut.out 2>cut.err &
    pid=$!
    until [ -e C/checkpoint.safetensors ] || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
    sleep 0.3
    check "$1: 4 ranks work" test "$(there gnn-train | wc -l)" -eq 4
    hosts cut
    from=$(date +%s%N)
    until [ -z "$(there gnn-train)" ] || [ $(($(date +%s%N) - from)) -gt 120000000000 ]; do sleep 0.05; done
    took=$((($(date +%s%N) - from) / 1000000))
    echo "# $1: the last rank was gone after $took ms"
}
# soon NAME TIMEOUT: within the time-out and 2 seconds, where the machine does nothing else (GNN_IDLE=1); elsewhere 60 seconds more
soon() { check "$1: all ranks end after the time-out of $2 seconds" test $took -le $((1000 * ($2 + $([ -n "${GNN_IDLE-}" ] && echo 2 || echo 60)))); }
# mpirun itself waits for ever for the host that is not there.
cut_link 'a cut link' 20
soon 'a cut link' 20
check 'a cut link: one names the others' grep -q 'rank 0: ranks 2 and 3 did not answer for 20 seconds' cut.err
check 'a cut link: MPI says nothing' sh -c '! grep -v "^gnn-train: \|^Killed" cut.err'
check 'a cut link: no model' test ! -e never
hosts down
wait $pid 2>/dev/null
hosts up
# Unless it asks whether that is there.
export OMPI_MCA_oob_tcp_keepalive_time=1 OMPI_MCA_oob_tcp_keepalive_intvl=1 OMPI_MCA_oob_tcp_keepalive_probes=2
cut_link 'mpirun with keepalive' 20
soon 'mpirun with keepalive' 20
from=$(date +%s)
while kill -0 $pid 2>/dev/null && [ $(($(date +%s) - from)) -lt 100 ]; do sleep 0.1; done
kill -9 $pid 2>/dev/null && _not_ok 'mpirun with keepalive ends' || _ok 'mpirun with keepalive ends'
wait $pid
rc=$?
check "mpirun with keepalive: status $rc" test $rc -ne 0
check 'mpirun with keepalive: no model' test ! -e never
check 'on one host it goes on' ranks 4 gnn-train $learn --epochs 40 --checkpoint C --resume -o again
check 'on one host it goes on: to the same model' cmp again want
done_testing
