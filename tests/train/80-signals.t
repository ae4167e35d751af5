# SPDX-License-Identifier: Apache-2.0
# A signal in the middle of a matrix product: always a checkpoint and status 75, at whatever instruction it arrives.
. "$GNN_TOP/tests/lib.sh"
gnn-import -q -o S sbm:nodes=2000,degree=20,features=300 || exit 1
stop() { # SIGNAL TENTHS: so much after the first step
    rm -rf C M m
    gnn-train -q --store S -f 10,10 --hidden 64 --epochs 0:100000 --eval none --checkpoint C -o M --metrics m 2>stop.err &
    _pid=$!
    until grep -qs '"event": *"step"' m || ! kill -0 $_pid 2>/dev/null; do sleep 0.05; done
    perl -e 'select undef, undef, undef, $ARGV[0] / 10' "$2"
    kill -s "$1" $_pid
    wait $_pid
}
for try in 1 2 3 4 5 6 7 8 9 10 11 12; do
    [ $((try % 2)) -eq 0 ] && sig=TERM || sig=USR1
    status 75 "gnn-train ends with status 75 on SIG$sig in the middle of a step, try $try" stop $sig "$(awk "BEGIN { print 3 + $try * 0.7 }")"
    check "gnn-train leaves a checkpoint and no model on SIG$sig, try $try" test -s C/checkpoint.safetensors -a ! -e M
done

# Signals are held from the first instruction of the program on, which runs itself anew before it does anything else: at whatever
# allocation they come, the first step is done. A second SIGUSR1 changes nothing; it comes in the same place of the second run.
early() { # SIGNAL CALL OPTION...
    _sig=$1 _call=$2
    shift 2
    rm -rf C M
    : >stop.err # of the run before, which is looked at below
    env -u GOMP_SPINCOUNT -u OMP_WAIT_POLICY LD_PRELOAD="$GNN_B/shim.so" FAULT_OP=malloc FAULT_N="$_call" FAULT_SIGNAL="$_sig" \
        gnn-train -q --store S -f 3,3 --hidden 8 --epochs 0:100000 --eval none "$@" -o M
}
if [ -n "${GNN_SAN-}" ]; then
    skip 'gnn-train ends with status 75 on a signal before it has begun' 'the sanitizer allocates memory'
else
    FAULT_COUNT=$PWD/calls early 0 0 --checkpoint C --epochs 1
    for call in 1 2 $(awk '{ for (i = 1; i <= 8; i++) print int($1 * i / 9) }' calls); do
        status 75 "gnn-train ends with status 75 on SIGUSR1 at the start, call $call of malloc" early 10 $call --checkpoint C
        check "gnn-train leaves a checkpoint and no model on SIGUSR1 at the start, call $call" test -s C/checkpoint.safetensors -a ! -e M
    done
    status 138 'gnn-train without checkpoints ends by SIGUSR1 at the start' early 10 1
    check 'gnn-train --resume goes on from the checkpoint of a signal at the start' early 0 0 --checkpoint C --resume --epochs 2
fi

# While the checkpoint is written a signal comes that ends programs: for the first time, as when the time is over, or for the second.
insist() { # SIGNAL NUMBER-OF-ANOTHER
    rm -rf C M
    : >stop.err # of the run before, which is looked at below
    env LD_PRELOAD="$GNN_B/shim.so" FAULT_OP=fsync FAULT_N=1 FAULT_SIGNAL="$2" FAULT_SLOW=2 \
        gnn-train --store S -f 3,3 --hidden 8 --epochs 0:100000 --eval none --checkpoint C -o M 2>stop.err &
    _pid=$!
    until grep -q 'epoch 1:' stop.err || ! kill -0 $_pid; do sleep 0.1; done
    kill -s "$1" $_pid
    wait $_pid
}
for two in 'USR1 10' 'USR1 15' 'TERM 10'; do
    status 75 "gnn-train ends with status 75 on SIG${two% *} and signal ${two#* } while it writes the checkpoint" insist $two
    check "gnn-train leaves its checkpoint on SIG${two% *} and signal ${two#* }" test -s C/checkpoint.safetensors -a ! -e M
done
status 143 'gnn-train ends at once on a second SIGTERM' insist TERM 15
check 'gnn-train leaves no file on a second SIGTERM' sh -c 'test ! -e M && ! ls C/*safetensors* 2>/dev/null'
check 'gnn-train ends well on SIGUSR1 while it writes the model, when nothing is left to stop' \
    env LD_PRELOAD="$GNN_B/shim.so" FAULT_OP=fsync FAULT_N=1 FAULT_SIGNAL=10 \
    gnn-train -q --store S -f 3,3 --hidden 8 --epochs 1 --eval none --checkpoint C -o M
check 'gnn-train leaves the model on SIGUSR1 while it writes it' test -s M

# Whoever should read its messages has ceased to, as mpirun does before it kills its ranks: there is time to save all the same.
# Who waits for the reader all the same dies when that ends.
mkfifo stuck
unread() { # SIGNAL OPTION...
    _sig=$1
    shift
    rm -rf C M m
    perl -e 'open my $f, "<", "stuck"; open my $g, ">", "open"; sleep 1 while -e "open" && $n++ < 300' &
    _reader=$!
    gnn-train --store S -f 2,2 -b 1000 --hidden 4 --epochs 0:100000 --patience 0 --metrics m "$@" -o M 2>stuck &
    _pid=$!
    _was=0
    until _now=$(wc -l 2>/dev/null <m) && [ "$_now" -gt 300 ] && [ "$_now" -eq $_was ] || ! kill -0 $_pid 2>/dev/null; do _was=${_now:-0} && sleep 1; done
    kill -s "$_sig" $_pid
    wait $_pid
    _rc=$?
    rm -f open
    wait $_reader
    return $_rc
}
status 75 'gnn-train ends with status 75 when nobody reads its messages' unread TERM --checkpoint C
check 'gnn-train leaves a checkpoint when nobody reads its messages' test -s C/checkpoint.safetensors -a ! -e M
status 143 'gnn-train without checkpoints ends by the signal when nobody reads its messages' unread TERM
check 'gnn-train leaves its model when nobody reads its messages' test -s M

# Ctrl-C reaches all programs of a pipeline at once, so that the batches are cut, too; they come slowly, so that
# training waits for the rest of one.
cat >group.sh <<'T'
trap : TERM
: >started
gnn-sample -q -f 3,3 -b 20 --epochs 0:100000 S | gnn-gather -q S |
    perl -e '$/ = \30000; while (<STDIN>) { syswrite STDOUT, $_; select undef, undef, undef, 0.005 }' |
    gnn-train -q --hidden 64 "$@" -o M
echo "${PIPESTATUS[*]}" >statuses
T
group() { # FILE OPTION...: the status of gnn-train, if the signal comes after FILE
    rm -rf C M statuses started
    _file=$1
    shift
    perl -e 'setpgrp; exec @ARGV' bash group.sh "$@" 2>group.err &
    _pid=$!
    until [ -e "$_file" ] || ! kill -0 $_pid 2>/dev/null; do sleep 0.1; done
    sleep 0.4
    kill -s TERM -- "-$_pid"
    wait $_pid
    return "$(cut -d' ' -f4 statuses)"
}
for try in 1 2 3; do
    status 75 "gnn-train ends with status 75 on a signal to its whole pipeline, try $try" \
        group C/checkpoint.safetensors --checkpoint C --checkpoint-every 1
    check "gnn-train leaves no model on a signal to its whole pipeline, try $try" test ! -e M
    status 143 "gnn-train without checkpoints ends with status 143 on a signal to its whole pipeline, try $try" group started
    check "a pipeline without checkpoints leaves a model and one message on a signal, or neither, try $try" \
        test "$(ls M 2>/dev/null | wc -l)" -eq "$(grep -c ^gnn- group.err)"
done
done_testing
