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
    check "a pipeline without checkpoints leaves no model and no message on a signal, try $try" sh -c 'test ! -e M && ! grep ^gnn- group.err'
done
done_testing
