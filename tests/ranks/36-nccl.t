# SPDX-License-Identifier: Apache-2.0
# Ranks whose gradients are summed on their devices, which are emulated, and NCCL with them: what is asked of it, when it is not to be
# had, and what happens when it fails.
. "$GNN_TOP/tests/ranks/setup.sh"
train=$GNN_B/emu/bin/gnn-train
gnn-import -q -o S sbm:nodes=500,degree=6,features=12,classes=5
gnn-partition -q -k 4 -o P S
opts='-f 3,3 -b 100 --epochs 1 --hidden 8 --lr 0.01 --dropout 0 --no-layer-norm --eval none --no-provenance --keep last'
# on RANKS DEVICES SETTING ARGUMENTS...: SETTING is evaluated by each rank, whose number is $r
on() {
    _n=$1 _d=$2 _set=$3
    shift 3
    GNN_FAKE_DEVICES=$_d ranks "$_n" sh -c "r=\$OMPI_COMM_WORLD_RANK; export GNN_FAKE_SEED=\$((7 + r)); $_set exec timeout 600 $train --store P --device cuda \"\$@\"" sh "$@"
}
log='export GNN_FAKE_NCCL_LOG=calls.$r;'

# Three batches: how many labels they have, and the gradients of two layers, 12 -> 8 and 8 -> 5, two matrices and a bias each, in multiples
# of 16. The last layer is first.
steps=3
up() { echo $((($1 + 15) / 16 * 16)); }
expected() { # RANK RANKS
    echo new
    [ "$1" -ne 0 ] || echo id
    echo "join $1 of $2"
    for _s in $(seq $steps); do printf 'sum 1 f64\nsum %d f32\nsum %d f32\n' $((2 * $(up 40) + $(up 5))) $((2 * $(up 96) + $(up 8))); done
    echo leave
    echo free
}
for many in 2 4; do
    rm -f calls.*
    check "gnn-train learns on $many ranks with $many devices and NCCL" on $many $many "$log" $opts --metrics m.$many -q -o model.$many
    for r in $(seq 0 $((many - 1))); do
        expected $r $many >want
        check "gnn-train on $many ranks asks NCCL on rank $r for the right joins and sums" diff want calls.$r
    done
    check "gnn-train on $many ranks records in its metrics that NCCL sums the gradients" grep -q '"event": *"sums", *"by": *"nccl"' m.$many
done
check 'gnn-train learns once more on 2 ranks with NCCL' on 2 2 '' $opts -q -o again
check 'gnn-train on 2 ranks with NCCL writes the same model in two runs' cmp model.2 again

# without NAME WHY RANKS DEVICES SETTING: the host sums, for the reason that all ranks tell
without() {
    rm -f calls.*
    status 0 "gnn-train learns where $1" on $3 $4 "$log $5" $opts -v --metrics m -o host
    cp err said
    check "gnn-train says why the host sums where $1" grep -q "^gnn-train: .*$3 ranks are summed by the host, not by NCCL: $2" said
    check "gnn-train records in its metrics why the host sums where $1" grep -q "\"by\": *\"host\", *\"why\": *\"$2" m
    check "gnn-train lets no rank join NCCL where $1" sh -c '! grep -h join calls.*'
}
without 'two ranks share a device' 'ranks 0 and 1 share a device' 2 1 ''
without 'two pairs of four ranks share devices' 'ranks 0 and 2 share a device' 4 2 ''
without 'one rank has no NCCL' 'rank 1: /nowhere: cannot open' 2 2 'test $r = 0 || export GNN_NCCL=/nowhere;'
without 'GNN_NCCL is none' 'rank 0: GNN_NCCL is none' 2 2 'export GNN_NCCL=none;'
without 'ranks have different versions of NCCL' 'rank 1 has NCCL 2.27.3, rank 0 2.28.9' 2 2 'test $r = 0 || export GNN_FAKE_NCCL_VERSION=22703;'
agree() { # two models, to 1e-4
    /usr/bin/python3 - "$@" <<'PY'
import json, struct, sys
def read(path):
    b = open(path, "rb").read()
    n = struct.unpack("<Q", b[:8])[0]
    return b[8 + n:]
a, b = (read(f) for f in sys.argv[1:])
x, y = (struct.unpack("<%df" % (len(v) // 4), v) for v in (a, b))
assert len(x) == len(y) > 200 and max(abs(p - q) for p, q in zip(x, y)) < 1e-4
PY
}
check 'gnn-train writes the same model with NCCL and with sums on the host, to 1e-4' agree model.2 host

# ends WANT PATTERN NAME RANKS SETTING ARGUMENTS...: the status, one line of ours, and no model
# On a busy machine other ranks speak, too, before they are ended: at most a line from each.
ends() {
    _want=$1 _pattern=$2 _title=$3 _many=$4 _setting=$5
    shift 5
    rm -f never calls.*
    on $_many $_many "$log $_setting" $opts -q -o never "$@" >out 2>err
    _rc=$?
    if [ $_rc -eq "$_want" ] && grep -q "^gnn-train: .*$_pattern" err && [ "$(grep -c '^gnn-train:' err)" -le $_many ] && [ ! -e never ]; then
        _ok "$_title"
    else
        _not_ok "$_title (status $_rc)"
        grep -v '^-*$' err | head -n 5 | sed 's/^/# /'
    fi
}
ends 5 'rank 1: NCCL: connecting the ranks: unhandled system error.*GNN_NCCL=none' 'gnn-train ends on all ranks when NCCL cannot join one of them' \
    2 'test $r = 0 || export GNN_FAKE_NCCL_FAIL=0;' --timeout 600
ends 1 'notdir' 'gnn-train ends on all ranks when one fails after it has joined NCCL' 2 ': >notdir;' --timeout 600 --checkpoint notdir
ends 5 'rank 1: NCCL: summing: unhandled system error' 'gnn-train ends on all ranks when NCCL fails to sum' \
    2 'test $r = 0 || export GNN_FAKE_NCCL_FAIL=3;' --timeout 600
check 'gnn-train ends NCCL by an abort when it fails to sum' grep -q abort calls.1
ends 5 'no answer from the other ranks for 20 seconds (NCCL all-reduce)' "gnn-train ends on all ranks when the device of one of them hangs" \
    4 'test $r != 2 || export GNN_FAKE_NCCL_HANG=4;' --timeout 20
check "gnn-train ends NCCL by an abort on the ranks that wait for a device that hangs" \
    sh -c 'test "$(grep -l abort calls.0 calls.1 calls.3 | wc -l)" -ge 1'
check "gnn-train asks NCCL for no more sums after a device hangs" sh -c 'test "$(grep -c sum calls.0)" = 4'

# A process that stops, and one that is killed, while sums are made: rank 0's device never comes to the third, so they are.
lose() { # SIGNAL
    rm -f never calls.*
    mpirun --quiet -n 2 sh -c "r=\$OMPI_COMM_WORLD_RANK; $log test \$r != 0 || export GNN_FAKE_NCCL_HANG=3; export GNN_FAKE_DEVICES=2; echo \$\$ >pid.\$r; exec $train --store P --device cuda $opts -q --timeout 20 -o never" >out 2>lost.txt &
    pid=$!
    until [ "$(grep -s -c sum calls.1)" = 3 ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
    sleep 0.5
    kill "-$1" "$(cat pid.1)"
    wait $pid
    rc=$?
}
lose STOP
check "gnn-train ends with status 5 and names the rank that stopped ($rc)" \
    logged lost.txt sh -c "test $rc -eq 5 && grep -q '^gnn-train: rank 0: rank 1 did not answer for 20 seconds' lost.txt && ! test -e never"
lose KILL
check "gnn-train ends on all ranks when one of them is killed ($rc)" logged lost.txt sh -c "test $rc -ne 0 && ! test -e never"
done_testing
