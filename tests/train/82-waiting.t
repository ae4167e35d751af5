# SPDX-License-Identifier: Apache-2.0
# One signal ends a program that waits for its input, its output or a lock: by that signal, or with status 75 where there are steps to keep.
. "$GNN_TOP/tests/lib.sh"
gnn-import -q -o S sbm:nodes=2000,degree=20,features=30 && gnn-sample -q -f 3,3 -b 100 --epochs 3 S | gnn-gather -q -o all S &&
    mkfifo in sink || { _not_ok 'gnn-import and gnn-gather make the input'; done_testing; }
trap 'kill -KILL $pid $guard $feeder $first 2>/dev/null' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
pid='' guard='' feeder='' first=''
# start PROGRAM...: in the background, where shells ignore SIGINT, and nohup SIGHUP
start() {
    perl -e '$SIG{$_} = "DEFAULT" for qw(INT HUP); exec @ARGV' "$@" 2>said &
    pid=$!
    until grep -qs '^gnn-' /proc/$pid/comm || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done # what comes earlier, the shell takes
}
# ends SIGNAL: the status after one signal; 137 if it goes on
ends() {
    perl -e 'sleep 200; kill 9, @ARGV' $pid &
    guard=$!
    kill -s "$1" $pid
    wait $pid
    _rc=$?
    kill -KILL $guard 2>/dev/null
    wait $guard 2>/dev/null
    pid=''
    return $_rc
}
# A signal may come before the program waits, or then: either way it is the end. It gets a moment for the latter.
waiting() { sleep 0.5; }
feed() { # FIFO BYTES: so much of the batches, and then nothing more; the FIFO stays open
    perl -e 'open F, "+>", $ARGV[0]; open A, "all"; read A, $t, $ARGV[1]; syswrite F, $t or $ARGV[1] == 0 or die; sleep 1000' "$1" "$2" &
    feeder=$!
}
fed() { kill -KILL $feeder; wait $feeder 2>/dev/null; feeder=''; }
train='gnn-train -q --no-provenance --hidden 8 --checkpoint C -o M'
clean() { rm -rf C M m && mkdir C; }
no_more() { check "$1 leaves nothing behind when SIG$2 ends it, waiting for $3" test -z "$(ls -A C M x 2>/dev/null | grep -v '^C:$')"; }
size=$(wc -c <all)
for sig in TERM:143 INT:130 USR1:138 HUP:129; do
    by=${sig#*:} sig=${sig%:*}
    clean
    start $train -i in
    waiting
    status $by "gnn-train --checkpoint ends by SIG$sig while nobody opens its FIFO" ends $sig
    no_more gnn-train $sig 'a FIFO to be opened'
    for bytes in 0 100 3000; do # not even the header; a part of it; at most a part of the first batch
        clean
        feed in $bytes
        start $train -i in
        waiting
        status $by "gnn-train --checkpoint ends by SIG$sig while it waits for more than the first $bytes bytes" ends $sig
        no_more gnn-train $sig "more than $bytes bytes"
        fed
    done
    # After steps there is something to keep; it waits between two batches or in one.
    for bytes in $((size / 2)) $((size / 2 + 5000)) $((size - 64)); do
        clean
        feed in $bytes
        start $train -i in --metrics m
        until grep -qs '"event": *"step"' m || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
        waiting
        status 75 "gnn-train --checkpoint ends with status 75 on SIG$sig while it waits for more than $bytes bytes" ends $sig
        check "gnn-train leaves a checkpoint on SIG$sig while it waits for more than $bytes bytes" test -s C/checkpoint.safetensors -a ! -e M
        fed
    done
    # It has a checkpoint to go on from, and waits for where that ends.
    cp C/checkpoint.safetensors was
    feed in 30000
    start $train -i in --resume
    waiting
    ends $sig
    rc=$?
    check "gnn-train --resume ends with status 75 or by SIG$sig while it waits for the rest of the batches ($rc)" test $rc -eq 75 -o $rc -eq $by
    check "gnn-train --resume leaves its checkpoint on SIG$sig while it waits" test -s C/checkpoint.safetensors
    fed
    check "gnn-train --resume goes on after SIG$sig" $train -i all --resume
done
check 'gnn-train writes the model' gnn-train -q --no-provenance --hidden 8 -i all -o want
check 'gnn-train --resume writes the same model after it was ended while it waited' cmp M want

# Batches by reference, from a program that stands still.
for sig in TERM USR1; do
    clean
    mkfifo batches 2>/dev/null
    gnn-sample -q -f 3,3 -b 100 --epochs 0:1000000 S 2>/dev/null | gnn-gather -q --transport shm -o batches S 2>/dev/null &
    feeder=$!
    start $train -i batches --metrics m
    until grep -qs '"event": *"step"' m || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
    kill -STOP $feeder
    waiting
    status 75 "gnn-train --checkpoint ends with status 75 on SIG$sig while gnn-gather stands still" ends $sig
    kill -KILL $feeder
    wait $feeder 2>/dev/null
done
feeder=''

# A lock.
clean
gnn-train -q --store S -f 3,3 --hidden 8 --epochs 0:1000000 --eval none --checkpoint C --checkpoint-every 1 -o never 2>first.err &
first=$!
until [ -s C/checkpoint.safetensors ] || ! kill -0 $first 2>/dev/null; do sleep 0.05; done
kill -STOP $first
for sig in TERM:143 INT:130 USR1:138; do
    start gnn-train --store S -f 3,3 --hidden 8 --epochs 0:1000000 --eval none --checkpoint C --resume --timeout 600 -o x
    until grep -q waiting said || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
    status ${sig#*:} "gnn-train --resume ends by SIG${sig%:*} while it waits for the lock of another" ends ${sig%:*}
done
kill -KILL $first
wait $first 2>/dev/null
first=''

# The other end of an output may be missing as well.
sample='gnn-sample -q -f 3,3 -b 100 --epochs 0:100000'
gnn-sample -q -f 3,3 -b 100 S >drawn
while read -r what program; do
    for sig in TERM:143 INT:130; do
        clean
        # shellcheck disable=SC2086
        start $program
        waiting
        status ${sig#*:} "${program%% *} ends by SIG${sig%:*} while it waits for $what" ends ${sig%:*}
        no_more "${program%% *}" ${sig%:*} "$what"
    done
done <<T
a-reader-of-its-model $train --store S -f 3,3 --epochs 1 --eval none -o sink
a-reader-of-its-metrics $train --store S -f 3,3 --epochs 1 --eval none --metrics sink
a-reader-of-its-metrics gnn-train -q --hidden 8 -i all --metrics sink -o M
a-writer-of-its-batches gnn-train -q --hidden 8 -i in -o M
a-writer-of-its-batches gnn-gather -q -i in -o x S
a-reader-of-its-batches gnn-gather -q -i drawn -o sink S
a-reader-of-its-batches $sample -o sink S
a-writer-of-its-seeds gnn-sample -q -f 3,3 --seeds in -o x S
a-writer-of-its-partitions gnn-partition -q --from in -o x S
a-writer-of-its-stream gnn-inspect in
a-writer-of-its-stream gnn-inspect --export x in
a-reader-of-its-arrays gnn-inspect --export sink all
a-reader-of-its-metrics gnn-predict --metrics sink -o x want S
T
feed in 3000
for sig in TERM:143 INT:130 USR1:138; do
    start gnn-gather -q -i in -o x S
    waiting
    status ${sig#*:} "gnn-gather ends by SIG${sig%:*} while it waits for the rest of a batch" ends ${sig%:*}
    start gnn-inspect --verify in
    waiting
    status ${sig#*:} "gnn-inspect ends by SIG${sig%:*} while it waits for the rest of a batch" ends ${sig%:*}
done
fed
check 'the programs leave nothing behind' sh -c '! ls x M *.tmp* 2>/dev/null'
done_testing
