# Payloads in shared memory: the same results as through the pipe, whoever reads, dies or is refused something.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/pipe/setup.sh"
shim=$GNN_B/shim.so
touch started
gnn-import -q -o L sbm:nodes=20000,degree=8,features=64
sample="gnn-sample -q --no-provenance -f 5,5 -b 256 --epochs 0:3"
train="gnn-train -q --no-provenance --hidden 8"
$sample -o LB L && gnn-gather -q --no-provenance -o LG -i LB L && $train -o LM -i LG || { _not_ok inputs; done_testing; }
# shared FILE: whether the program that wrote these metrics sent batches by reference
shared() { grep -q '"shared_batches":[1-9]' "$1" && _ok "$2" || _not_ok "$2"; }
unshared() { grep -q '"shared_batches":0' "$1" && _ok "$2" || _not_ok "$2"; }
sockets() { grep -c gnn-handoff /proc/net/unix; }
settled() { # nothing of a transport is left, if need be after a moment
    for _i in 1 2 3 4 5 6 7 8 9 10; do
        _left=$(sockets)
        [ "$_left" -gt "$before" ] || return 0
        sleep 0.2
    done
    return 1
}
before=$(sockets)

for how in inline auto shm; do
    check "a pipeline, $how" sh -c "$sample --transport $how --metrics ms L | gnn-gather -q --no-provenance --transport $how --metrics mg L | $train -o M.$how"
    same M.$how LM "$how: the same model"
    if [ $how = inline ]; then
        unshared ms 'sampled batches went through the pipe'
        unshared mg 'and so did gathered ones'
    else
        shared ms 'sampled batches in shared memory'
        shared mg 'and gathered ones'
    fi
done
gnn-sample -q --no-provenance --transport shm -j 3 -f 5,5 -b 256 --epochs 0:3 L | gnn-gather -q --no-provenance -j 4 L >X
same X LG 'more threads than slots'
gnn-gather -q --no-provenance --transport shm -i LB L | gnn-inspect --verify - >out 2>err && grep -q 'checksums right' out &&
    _ok 'gnn-inspect verifies it' || _not_ok 'gnn-inspect verifies it'
check 'and finds no difference' sh -c 'gnn-gather -q --no-provenance --transport shm -i LB L | gnn-inspect --diff - LG'
gnn-gather -q --no-provenance --transport shm -i LB L | gnn-inspect --export X.npz - && gnn-inspect --export Y.npz LG
same X.npz Y.npz 'and exports the same'

# Who reads is not one of us: bytes as in a file.
gnn-gather -q --no-provenance --metrics mg -i LB L | cat >X
same X LG 'through cat into a file'
unshared mg 'without references'
gnn-gather -q --no-provenance --metrics mg -i LB L >X
same X LG 'straight into a file'
gnn-gather -q --no-provenance --metrics mg -i LB L | tee X | $train -o M.tee
same X LG 'tee keeps the stream'
same M.tee LM 'and passes it on'
unshared mg 'without references'
mkfifo fifo
gnn-gather -q --no-provenance --transport shm --metrics mg -o fifo -i LB L &
$train -o M.fifo -i fifo
wait $!
same M.fifo LM 'through a named pipe'
shared mg 'with references'
cat LG LG LG >three
(cat LG; gnn-gather -q --no-provenance -i LB L; gnn-gather -q --no-provenance --transport shm --metrics mg -i LB L) | $train -o M.three
$train -o M.want -i three
same M.three M.want 'joined streams, some with references'
shared mg 'the last had'
quiet_pipe 'a reader that leaves' gnn-gather -q -i LB L

# Options that cannot be.
status 2 'shm into a file' gnn-gather -q --transport shm -o X2 -i LB L
says_one 'in one line'
absent X2 'leaves nothing'
status 2 'shm and compression' gnn-gather -q --transport shm -z 1 -o X2 -i LB L
status 2 'a transport for nothing' gnn-gather -q --transport shm --count -i LB L
status 2 'the name of the option in 0.1.0' gnn-gather -q --handoff shm -o X2 -i LB L
status 2 'an unknown way' gnn-sample -q -f 2 --transport cuda L
status 1 'shm to a program that is not ours' sh -c '{ gnn-gather -q --transport shm -i LB L; echo $? >rc; } | cat >X2; exit "$(cat rc)"'
says_one 'in one line'

rm -f X2
# What the system refuses.
if [ -n "${GNN_SAN-}" ]; then skip 'refused calls' 'the sanitizer owns them'; else
    for op in memfd socket send; do
        env FAULT_OP=$op FAULT_N=1 FAULT_STICKY=1 FAULT_ERR=1 LD_PRELOAD="$shim" gnn-gather -q --no-provenance --metrics mg -i LB L |
            $train -o M.$op
        same M.$op LM "the writer may not $op: the same model"
        unshared mg 'through the pipe'
        status 1 "shm, and the writer may not $op" sh -c "{ env FAULT_OP=$op FAULT_N=1 FAULT_STICKY=1 FAULT_ERR=1 LD_PRELOAD=$shim gnn-gather -q --transport shm -i LB L; echo \$? >rc; } |
            $train -o X2 2>/dev/null; exit \"\$(cat rc)\""
        says_one 'in one line'
        absent X2 'and no model'
        [ $op != memfd ] || continue
        gnn-gather -q --no-provenance --metrics mg -i LB L |
            env FAULT_OP=$op FAULT_N=1 FAULT_STICKY=1 FAULT_ERR=1 LD_PRELOAD="$shim" $train -o M.$op
        same M.$op LM "the reader may not $op: the same model"
    done
    gnn-gather -q --no-provenance --metrics mg -i LB L | sh -c "ulimit -v 8000000 && $train -o M.v"
    same M.v LM 'a reader without address room'
    unshared mg 'through the pipe'
    bad=0
    for k in 1 5 10 20 25 30 35 40 45 50 55 60 70 80 90 100 120 140 160; do
        for side in w r; do
            fault="env FAULT_OP=malloc FAULT_N=$k LD_PRELOAD=$shim"
            [ $side = w ] && writer=$fault reader= || writer='' reader=$fault
            { timeout 600 $writer gnn-gather -q --no-provenance --fields x -i LB L 2>ew; echo $? >rcw; } | { timeout 600 $reader gnn-gather -q --no-provenance --fields y -o X3 L 2>er; echo $? >rcr; }
            case $side$(cat rcw)/$(cat rcr) in w0/0 | w1/3 | r0/0 | r141/1) ;; r0/1 | r1/1) ;; *) bad=$((bad + 1)); echo "# malloc $k $side: $(cat rcw) $(cat rcr) $(cat ew er)" ;; esac
            rm -f X3
        done
    done
    [ $bad -eq 0 ] && _ok 'memory runs out on either side' || _not_ok "memory runs out on either side ($bad)"
fi

# Either side is killed, or both, at any moment.
wrong=0 hit=0
for i in $(seq 1 24); do
    rm -f p.* X4
    sh -c 'echo $$ >p.0; exec gnn-sample -q -f 5,5 -b 256 --epochs 0:100000 --transport shm L' 2>e0 |
        { sh -c 'echo $$ >p.1; exec gnn-gather -q --transport shm L' 2>e1; echo $? >rc1; } |
        { sh -c 'echo $$ >p.2; exec gnn-train -q --hidden 8 -o X4' >/dev/null 2>e2; echo $? >rc2; } &
    while [ ! -s p.0 ] || [ ! -s p.1 ] || [ ! -s p.2 ]; do sleep 0.01; done
    sleep "$(awk -v i=$i 'BEGIN { printf "%.3f", (i * 37 % 48) / 100 }')"
    case $((i % 4)) in
    0) kill -9 "$(cat p.0)" ;;
    1) kill -9 "$(cat p.1)" ;;
    2) kill -9 "$(cat p.2)" ;;
    3) kill -9 "$(cat p.0)" "$(cat p.1)" "$(cat p.2)" ;;
    esac
    hit=$((hit + 1))
    wait $!
    # A cut stream is status 3 downstream, a reader that is gone death by SIGPIPE upstream.
    case $((i % 4))/$(cat rc1)/$(cat rc2) in
    0/3/3 | 1/137/3 | 2/141/137 | 3/137/137) ;;
    *) wrong=$((wrong + 1)); echo "# $i: $((i % 4)) statuses $(cat rc1) $(cat rc2): $(cat e0 e1 e2)" ;;
    esac
    [ ! -e X4 ] || wrong=$((wrong + 1))
    kill -0 "$(cat p.0)" "$(cat p.1)" "$(cat p.2)" 2>/dev/null && wrong=$((wrong + 1))
done
[ $wrong -eq 0 ] && [ $hit -eq 24 ] && _ok 'killed 24 times' || _not_ok "killed $hit times, $wrong of them wrong"
settled && _ok 'nothing is left of it' || _not_ok "left: $(sockets) sockets, before $before"
[ "$(find /dev/shm -newer started -name '*gnn*' ! -name 'vader_*')" ] && _not_ok 'something in /dev/shm' || _ok 'nothing in /dev/shm'

done_testing
