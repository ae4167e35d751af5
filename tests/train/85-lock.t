# One training at a time keeps its checkpoints in a directory: a second one is refused, or waits if it is to go on from there.
. "$GNN_TOP/tests/lib.sh"
gnn-import -q -o S sbm:nodes=300,degree=6,features=16 || { _not_ok inputs; done_testing; }
train='gnn-train -q --no-provenance --store S -f 3,2 -b 64 --eval none --hidden 8 --checkpoint C'
says() { grep -q -e "$1" err && _ok "$2" || { _not_ok "$2"; sed 's/^/# /' err; }; }
begin() { # in the background, until it has the directory
    rm -rf C
    $train --epochs 0:100000000 -o never 2>first.err &
    first=$!
    until [ -s C/checkpoint.lock ] || ! kill -0 $first 2>/dev/null; do sleep 0.05; done
}
check 'alone' $train --epochs 0:200 -o alone
check 'leaves no lock' test ! -e C/checkpoint.lock
begin
status 1 'a second one is refused' timeout 600 $train -o M
says "^gnn-train: C: locked by process $first on $(uname -n), which writes its checkpoints there\$" 'and told who has it'
check 'nothing but the lock is there' test "$(ls C)" = checkpoint.lock -a ! -e M
kill -KILL $first
wait $first 2>/dev/null
check 'a killed one leaves its lock' test -s C/checkpoint.lock
check 'which does not hold the next one up' $train --epochs 0:200 -o M
check 'that removes it' test ! -e C/checkpoint.lock
check 'and has the model' cmp alone M
rm -rf C
$train --epochs 0:200 --checkpoint-every 1 -o never 2>first.err &
first=$!
until [ -e C/checkpoint.safetensors ] || ! kill -0 $first 2>/dev/null; do sleep 0.01; done
kill -STOP $first
rm -f M
gnn-train --no-provenance --store S -f 3,2 -b 64 --eval none --hidden 8 --checkpoint C --resume --epochs 0:200 -o M 2>second.err >second.out &
second=$!
i=0
until grep -q waiting second.err || [ $i -gt 600 ]; do sleep 0.1; i=$((i + 1)); done
cp second.err err
says "^gnn-train: C: locked by process $first on .*; waiting$" 'one that goes on waits for the one before, and says so'
kill -TERM $first
kill -CONT $first
wait $first
rc=$?
[ $rc -eq 75 ] && _ok 'that one ends with its checkpoint' || _not_ok "that one ends with its checkpoint: status $rc"
check 'the one that waited goes on' wait $second
check 'and ends with the same model' cmp alone M
mkdir bad && ln -s ../S/store.json bad/checkpoint.lock && cp S/store.json was
status 1 'a link in the place of the lock' gnn-train -q --store S -f 3,2 --epochs 1 --checkpoint bad -o x
mkdir bad2 && mkfifo bad2/checkpoint.lock
status 1 'a pipe in the place of the lock' timeout 600 gnn-train -q --store S -f 3,2 --epochs 1 --checkpoint bad2 -o x
check 'is not followed' cmp was S/store.json
mkdir planted && ln -s ../S/store.json planted/checkpoint.safetensors.tmp && ln -s ../precious planted/checkpoint.safetensors && echo gold >precious
check 'links in the place of a checkpoint' gnn-train -q --store S -f 3,2 --epochs 1 --hidden 8 --checkpoint planted --checkpoint-every 1 -o x
check 'are not followed either' sh -c 'cmp was S/store.json && grep -qx gold precious && test ! -L planted/checkpoint.safetensors'
status 3 'no checkpoint directory is made for a store that is not there' gnn-train -q --store none --epochs 1 --checkpoint D -o x
check 'no directory' test ! -e D
done_testing
