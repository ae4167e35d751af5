# SPDX-License-Identifier: Apache-2.0
# Payloads in shared memory: the same results as through the pipe, whoever reads, dies or is refused something.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/pipe/setup.sh"
shim=$GNN_B/shim.so
touch started
gnn-import -q -o L sbm:nodes=20000,degree=8,features=64
sample="gnn-sample -q --no-provenance -f 5,5 -b 256 --epochs 0:3"
train="gnn-train -q --no-provenance --hidden 8"
$sample -o LB L && gnn-gather -q --no-provenance -o LG -i LB L && $train -o LM -i LG || {
    _not_ok 'gnn-sample, gnn-gather and gnn-train make the inputs of this test'
    done_testing
}
# shared FILE NAME: whether the program that wrote these metrics sent batches by reference
shared() { check "$2" grep -q '"shared_batches":[1-9]' "$1"; }
unshared() { check "$2" grep -q '"shared_batches":0' "$1"; }
sockets() { # those of this test's programs: others may run beside them
    perl -e 'open my $f, "<", "/proc/net/unix" or die; my %ours = map { (split)[6] => 1 } grep { /gnn-handoff/ } <$f>;
        print scalar(grep { (readlink($_) // "") =~ /^socket:\[(\d+)\]$/ && $ours{$1} } map { glob "$_/fd/*" }
            grep { (readlink("$_/cwd") // "") eq $ENV{PWD} } glob "/proc/[0-9]*")'
}
settled() { # nothing of a transport is left, if need be after a moment
    for _i in 1 2 3 4 5 6 7 8 9 10; do
        _left=$(sockets)
        [ "$_left" -gt 0 ] || return 0
        sleep 0.2
    done
    return 1
}

for how in inline auto shm; do
    check "a pipeline works with --transport $how" \
        sh -c "$sample --transport $how --metrics ms L | gnn-gather -q --no-provenance --transport $how --metrics mg L | $train -o M.$how"
    same M.$how LM "a pipeline trains the same model with --transport $how"
    if [ $how = inline ]; then
        unshared ms 'gnn-sample --transport inline sends batches through the pipe'
        unshared mg 'gnn-gather --transport inline sends batches through the pipe'
    else
        shared ms "gnn-sample --transport $how sends batches in shared memory"
        shared mg "gnn-gather --transport $how sends batches in shared memory"
    fi
done
gnn-sample -q --no-provenance --transport shm -j 3 -f 5,5 -b 256 --epochs 0:3 L | gnn-gather -q --no-provenance -j 4 L >X
same X LG 'gnn-gather writes the same with more threads than slots of shared memory'
check 'gnn-inspect --verify finds batches in shared memory sound' \
    sh -c 'gnn-gather -q --no-provenance --transport shm -i LB L | gnn-inspect --verify - >told && grep -q "checksums right" told'
check 'gnn-inspect --diff finds batches in shared memory equal to those in a file' \
    sh -c 'gnn-gather -q --no-provenance --transport shm -i LB L | gnn-inspect --diff - LG'
gnn-gather -q --no-provenance --transport shm -i LB L | gnn-inspect --export X.npz - && gnn-inspect --export Y.npz LG
same X.npz Y.npz 'gnn-inspect --export writes the same from batches in shared memory'

# Who reads is not one of us: bytes as in a file.
gnn-gather -q --no-provenance --metrics mg -i LB L | cat >X
same X LG 'gnn-gather writes the same through cat into a file'
unshared mg 'gnn-gather sends nothing in shared memory to cat'
gnn-gather -q --no-provenance --metrics mg -i LB L >X
same X LG 'gnn-gather writes the same straight into a file'
gnn-gather -q --no-provenance --metrics mg -i LB L | tee X | $train -o M.tee
same X LG 'gnn-gather writes the same through tee'
same M.tee LM 'gnn-train makes the same model of what tee passes on'
unshared mg 'gnn-gather sends nothing in shared memory to tee'
mkfifo fifo
gnn-gather -q --no-provenance --transport shm --metrics mg -o fifo -i LB L &
$train -o M.fifo -i fifo
wait $!
same M.fifo LM 'gnn-train makes the same model through a FIFO'
shared mg 'gnn-gather sends batches in shared memory through a FIFO'
cat LG LG LG >three
(cat LG; gnn-gather -q --no-provenance -i LB L; gnn-gather -q --no-provenance --transport shm --metrics mg -i LB L) | $train -o M.three
$train -o M.want -i three
same M.three M.want 'gnn-train makes the same model of joined streams of which one is in shared memory'
shared mg 'gnn-gather sends batches in shared memory behind other streams'
quiet_pipe gnn-gather gnn-gather -q -i LB L

# Options that cannot be.
status 2 'gnn-gather --transport shm refuses to write into a file' gnn-gather -q --transport shm -o X2 -i LB L
says_one 'gnn-gather --transport shm refuses to write into a file in one line'
absent X2 'gnn-gather --transport shm leaves no file that it refuses'
status 2 'gnn-gather refuses --transport shm with compression' gnn-gather -q --transport shm -z 1 -o X2 -i LB L
status 2 'gnn-gather refuses --transport without a result' gnn-gather -q --transport shm --count -i LB L
status 2 'gnn-gather no longer has --handoff, the name of --transport in 0.1.0' gnn-gather -q --handoff shm -o X2 -i LB L
status 2 'gnn-sample refuses an unknown transport' gnn-sample -q -f 2 --transport cuda L
status 1 'gnn-gather --transport shm fails where cat reads' \
    sh -c '{ gnn-gather -q --transport shm -i LB L; echo $? >rc; } | cat >X2; exit "$(cat rc)"'
says_one 'gnn-gather --transport shm says in one line that another program reads'

rm -f X2
# What the system refuses.
for op in memfd socket send; do
    env FAULT_OP=$op FAULT_N=1 FAULT_STICKY=1 FAULT_ERR=1 LD_PRELOAD="$shim" gnn-gather -q --no-provenance --metrics mg -i LB L |
        $train -o M.$op
    same M.$op LM "a pipeline trains the same model where gnn-gather may not $op"
    unshared mg "gnn-gather sends batches through the pipe where it may not $op"
    status 1 "gnn-gather --transport shm fails where it may not $op" \
        sh -c "{ env FAULT_OP=$op FAULT_N=1 FAULT_STICKY=1 FAULT_ERR=1 LD_PRELOAD=$shim gnn-gather -q --transport shm -i LB L; echo \$? >rc; } |
        $train -o X2 2>/dev/null; exit \"\$(cat rc)\""
    says_one "gnn-gather --transport shm says in one line that it may not $op"
    absent X2 "gnn-train leaves no model where gnn-gather --transport shm may not $op"
    [ $op != memfd ] || continue
    gnn-gather -q --no-provenance --metrics mg -i LB L |
        env FAULT_OP=$op FAULT_N=1 FAULT_STICKY=1 FAULT_ERR=1 LD_PRELOAD="$shim" $train -o M.$op
    same M.$op LM "a pipeline trains the same model where gnn-train may not $op"
done
gnn-gather -q --no-provenance --transport shm -i LB L | env FAULT_OP=send FAULT_N=2 FAULT_SLOW=7 LD_PRELOAD="$shim" $train -o M.slow
same M.slow LM 'gnn-gather --transport shm waits for a reader that takes long to map its memory'
if [ -n "${GNN_SAN-}" ]; then skip 'a pipeline runs in little memory, and ends cleanly when malloc fails' 'the sanitizer allocates memory'; else
    gnn-gather -q --no-provenance --metrics mg -i LB L | sh -c "ulimit -v 8000000 && $train -o M.v"
    same M.v LM 'a pipeline trains the same model where gnn-train has little address space'
    unshared mg 'gnn-gather sends batches through the pipe where gnn-train has little address space'
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
    [ $bad -eq 0 ] && _ok 'a pipeline ends cleanly when malloc fails on either side' ||
        _not_ok "a pipeline does not end cleanly when malloc fails on either side, $bad times"
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
[ $wrong -eq 0 ] && [ $hit -eq 24 ] && _ok 'a pipeline of which a program is killed fails, 24 times' ||
    _not_ok "a pipeline of which a program is killed fails, $hit times, $wrong of them wrong"
settled && _ok 'killed programs leave no socket' || _not_ok "killed programs leave $_left sockets"
check 'killed programs leave nothing in /dev/shm' test -z "$(find /dev/shm -newer started -name '*gnn*' ! -name 'vader_*')"

done_testing
