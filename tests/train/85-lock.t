# SPDX-License-Identifier: Apache-2.0
# One training at a time keeps its checkpoints in a directory: a second one is refused, or waits if it is to go on from there.
. "$GNN_TOP/tests/lib.sh"
gnn-import -q -o S sbm:nodes=300,degree=6,features=16 || { _not_ok 'gnn-import makes the graph'; done_testing; }
train='gnn-train -q --no-provenance --store S -f 3,2 -b 64 --eval none --hidden 8 --checkpoint C'
says() { grep -q -e "$1" err && _ok "$2" || { _not_ok "$2"; sed 's/^/# /' err; }; }
begin() { # in the background, until it has the directory
    rm -rf C
    $train --epochs 0:100000000 -o never 2>first.err &
    first=$!
    until [ -s C/checkpoint.lock ] || ! kill -0 $first 2>/dev/null; do sleep 0.05; done
}
check 'gnn-train --checkpoint trains alone in a directory' $train --epochs 0:200 -o alone
check 'gnn-train leaves no lock in its checkpoint directory' test ! -e C/checkpoint.lock
begin
status 1 'gnn-train refuses a checkpoint directory that another process has locked' timeout 600 $train -o M
says "^gnn-train: C: locked by process $first on $(uname -n), which writes its checkpoints there\$" \
    'gnn-train names the process that has locked the checkpoint directory'
check 'gnn-train leaves nothing but the lock when it is refused' test "$(ls C)" = checkpoint.lock -a ! -e M
kill -KILL $first
wait $first 2>/dev/null
check 'gnn-train leaves its lock behind when it is killed' test -s C/checkpoint.lock
check 'gnn-train trains in a directory with the lock of a killed process' $train --epochs 0:200 -o M
check 'gnn-train removes the lock of a killed process' test ! -e C/checkpoint.lock
check 'gnn-train writes the same model although a lock was left' cmp alone M
rm -rf C
$train --epochs 0:200 --checkpoint-every 1 -o never 2>first.err &
first=$!
until [ -e C/checkpoint.safetensors ] || ! kill -0 $first 2>/dev/null; do sleep 0.01; done
kill -STOP $first
rm -f M
gnn-train --no-provenance --store S -f 3,2 -b 64 --eval none --hidden 8 --checkpoint C --resume --epochs 0:200 -o M 2>second.err >second.out &
second=$!
until grep -q waiting second.err || ! kill -0 $second 2>/dev/null; do sleep 0.1; done
cp second.err err
says "^gnn-train: C: locked by process $first on .*; waiting$" 'gnn-train --resume waits for the process that has locked the directory, and says so'
kill -TERM $first
kill -CONT $first
wait $first
rc=$?
check "gnn-train ends with status 75 on SIGTERM while another one waits for its lock ($rc)" logged first.err test $rc -eq 75
check 'gnn-train --resume goes on once the lock is free' logged second.err wait $second
check 'gnn-train --resume writes the same model after it has waited for the lock' cmp alone M
mkdir bad && cp S/store.json was && cp was target && ln -s ../target bad/checkpoint.lock
status 1 'gnn-train refuses a symbolic link in the place of its lock' gnn-train -q --store S -f 3,2 --epochs 1 --checkpoint bad -o x
says '^gnn-train: bad/checkpoint.lock: not a regular file: cannot be locked$' 'gnn-train says that a link is no file to lock'
mkdir bad2 && mkfifo bad2/checkpoint.lock
status 1 'gnn-train refuses a FIFO in the place of its lock' timeout 600 gnn-train -q --store S -f 3,2 --epochs 1 --checkpoint bad2 -o x
check 'gnn-train writes nothing through a symbolic link in the place of its lock' cmp was target
mkdir planted && ln -s ../S/store.json planted/checkpoint.safetensors.tmp && ln -s ../precious planted/checkpoint.safetensors && echo gold >precious
check 'gnn-train replaces symbolic links in the place of its checkpoint' \
    gnn-train -q --store S -f 3,2 --epochs 1 --hidden 8 --checkpoint planted --checkpoint-every 1 -o x
check 'gnn-train writes nothing through symbolic links in the place of its checkpoint' \
    sh -c 'cmp was S/store.json && grep -qx gold precious && test ! -L planted/checkpoint.safetensors'
# What has the lock's name but is none is somebody's data.
refusing=gnn-train
hold() { rm -rf held && mkdir held && "$@" && cp held/checkpoint.lock was; }
for kind in 'ln precious held/checkpoint.lock' 'cp precious held/checkpoint.lock' 'cp alone held/checkpoint.lock' \
    "sh -c 'echo process 1 on host >held/checkpoint.lock'"; do
    eval "hold $kind"
    refuses 1 '^gnn-train: held/checkpoint.lock: not a lock' "what is no lock in its place: $kind" \
        gnn-train -q --store S -f 3,2 --epochs 1 --hidden 8 --checkpoint held -o x
    check "gnn-train leaves what it refuses to lock as it is: $kind" sh -c 'cmp was held/checkpoint.lock && grep -qx gold precious'
done
rm -rf held && mkdir held && printf 'process 1 on host' >held/checkpoint.lock
check 'gnn-train takes the lock of a process that was killed, whatever that is' gnn-train -q --store S -f 3,2 --epochs 1 --hidden 8 --checkpoint held -o x
check 'gnn-train removes the lock of a process that was killed' test ! -e held/checkpoint.lock
# A file that comes to have the lock's name while it is held is not removed with it.
begin
cp precious other && mv other C/checkpoint.lock
kill -TERM $first
wait $first
check 'gnn-train leaves a file that has taken the place of its lock' grep -qx gold C/checkpoint.lock
rm -rf C
status 3 'gnn-train refuses --checkpoint together with a store that does not exist' gnn-train -q --store none --epochs 1 --checkpoint D -o x
check 'gnn-train makes no checkpoint directory for a store that does not exist' test ! -e D
done_testing
