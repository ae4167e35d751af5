# SPDX-License-Identifier: Apache-2.0
# The link between two hosts is slow, and then cut.
. "$GNN_TOP/tests/ranks/two-hosts.sh"
gnn-import -q -o S sbm:nodes=3000,degree=12,features=8 && gnn-partition -q -k 4 -o P S ||
    { _not_ok "gnn-import and gnn-partition make the store"; done_testing; }
learn='-q --no-provenance --store P -f 5,5 -b 100 --eval valid --patience 0 --hidden 16 --lr 0.01 --dropout 0 --no-layer-norm'
check 'gnn-train learns on 4 ranks of one host' ranks 4 gnn-train $learn --epochs 40 -o want
hosts slow 30mbit
check 'gnn-train learns on two hosts over a slow link' on_hosts 4 gnn-train $learn --timeout 60 --epochs 3 -o slow
check 'gnn-train learns three epochs on one host' ranks 4 gnn-train $learn --epochs 3 -o fast
check 'gnn-train writes the same model over a slow link as on one host' cmp slow fast
hosts down
hosts up

# cut_link NAME TIMEOUT: pulls the cable from under a run; milliseconds until the last rank was gone are in `took'. What
# ranks say is in cut.0, cut.1, ...; what mpirun says of its own accord is not theirs.
cut_link() {
    rm -rf C cut.*
    on_hosts 4 sh -c 'exec "$@" 2>"cut.$OMPI_COMM_WORLD_RANK"' - gnn-train $learn --timeout $2 --epochs 4000 --keep last --checkpoint C \
        --checkpoint-every 20 -o never >mpirun.out 2>&1 &
    pid=$!
    until [ -e C/checkpoint.safetensors ] || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
    sleep 0.3
    check "gnn-train works on 4 ranks before $1" test "$(there gnn-train | wc -l)" -eq 4
    hosts cut
    from=$(date +%s%N)
    until [ -z "$(there gnn-train)" ]; do sleep 0.05; done
    took=$((($(date +%s%N) - from) / 1000000))
    echo "# $1: the last rank was gone after $took ms"
}
# soon NAME TIMEOUT: within the time-out and 2 seconds, where the machine does nothing else (GNN_IDLE=1); elsewhere they only end
soon() { check "gnn-train ends on all ranks after $1, within its time-out of $2 seconds on an idle machine" \
    test -z "${GNN_IDLE-}" -o $took -le $((1000 * ($2 + 2))); }
# mpirun itself waits for ever for the host that is not there.
cut_link 'the link is cut' 20
soon 'the link is cut' 20
check 'gnn-train names the ranks that a cut link keeps from answering' grep -q 'rank 0: ranks 2 and 3 did not answer for 20 seconds' cut.0
grep -hv '^gnn-train: ' cut.* | sed 's/^/# beside this, a rank said: /'
check 'gnn-train keeps MPI from explaining a cut link' sh -c '! grep -- ------ cut.*'
check 'gnn-train leaves no model when the link is cut' test ! -e never
hosts down
wait $pid 2>/dev/null
hosts up
# Unless it asks whether that is there.
export OMPI_MCA_oob_tcp_keepalive_time=1 OMPI_MCA_oob_tcp_keepalive_intvl=1 OMPI_MCA_oob_tcp_keepalive_probes=2
cut_link 'the link is cut under an mpirun with keepalive' 20
soon 'the link is cut under an mpirun with keepalive' 20
from=$(date +%s)
while kill -0 $pid 2>/dev/null && [ $(($(date +%s) - from)) -lt 100 ]; do sleep 0.1; done
kill -9 $pid 2>/dev/null && _not_ok 'mpirun with keepalive ends when the link is cut' || _ok 'mpirun with keepalive ends when the link is cut'
wait $pid
rc=$?
check "mpirun with keepalive ends with status $rc, which is not 0, when the link is cut" test $rc -ne 0
check 'gnn-train under an mpirun with keepalive leaves no model when the link is cut' test ! -e never
check 'gnn-train --resume goes on with one host after the link was cut' ranks 4 gnn-train $learn --epochs 40 --checkpoint C --resume -o again
check 'gnn-train --resume writes the same model after the link was cut' cmp again want
done_testing
