# SPDX-License-Identifier: Apache-2.0
# A full device, descriptors that are closed, a terminal.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/pipe/setup.sh"
on_full() { status 1 "$1 fails where stdout is full" sh -c "$1 >/dev/full"; says_one "$1 says in one line that stdout is full"; }
no_stdout() { status 1 "$1 fails where stdout is closed" sh -c "$1 >&-"; says_one "$1 says in one line that stdout is closed"; }
for c in 'gnn-sample -f 2 S' 'gnn-gather -i B S' 'gnn-gather --plan --cache 0.1 -i B S' 'gnn-predict -o - S M' \
    'gnn-inspect S' 'gnn-inspect --help' 'gnn-train --version'; do
    on_full "$c"
    no_stdout "$c"
done
for c in 'gnn-gather -o X S' 'gnn-train -q -o X' 'gnn-inspect'; do
    status 1 "$c fails where stdin is closed" sh -c "$c <&-"
    says_one "$c says in one line that stdin is closed"
    absent X "$c leaves no result where stdin is closed"
done
# With stderr closed nothing can be said, but the result is the same and no file takes its number.
check 'gnn-gather works where stderr is closed' sh -c 'gnn-gather --no-provenance -v -o X -i B S 2>&-'
same X G 'gnn-gather writes the same bytes where stderr is closed'
sh -c 'gnn-gather -o Y -i /nonexistent S 2>&-'
check 'gnn-gather ends with the same status where stderr is closed' test $? -eq 3
sh -c 'gnn-sample -q --no-provenance -f 5,5 -b 256 -o Z S <&- 2>&-'
same Z B 'gnn-sample writes the same bytes where stdin and stderr are closed'

if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1; then
    script -qec 'gnn-sample -f 2 S' /dev/null >term 2>&1 </dev/null
    check 'gnn-sample refuses to write batches to a terminal' sh -c '[ $1 -eq 2 ] && grep -q "refusing to write binary" term' - $?
    script -qec 'gnn-gather -o X2 S' /dev/null >term 2>&1 </dev/null
    check 'gnn-gather refuses to read batches from a terminal' sh -c '[ $1 -eq 2 ] && grep -q "is a terminal" term' - $?
    TERM=xterm script -qec 'gnn-train --no-provenance --hidden 8 -o M2 -i G' /dev/null >term 2>&1 </dev/null
    check 'gnn-train shows progress on a terminal' grep -q "$(printf '\033\\[K')" term
    TERM=dumb script -qec 'gnn-train --no-provenance --hidden 8 -o M4 -i G' /dev/null >term 2>&1 </dev/null
    check 'gnn-train shows no progress on a terminal that cannot clear lines' sh -c '! grep -q "$(printf "\033")" term && grep -q "epoch 0: loss" term'
else
    skip 'gnn-sample, gnn-gather and gnn-train know terminals' 'no script(1)'
fi
# A limit on the size of files is an error like a full disk, not a signal.
status 1 'gnn-gather fails where a file may not grow' sh -c 'ulimit -f 8 && gnn-gather -q -o X3 -i B S'
says_one 'gnn-gather says in one line that a file may not grow'
absent X3 'gnn-gather leaves no result where a file may not grow'
gnn-train --no-provenance --hidden 8 -o M3 -i G --progress always 2>told >printed
check 'gnn-train --progress always shows progress in a file' grep -q "$(printf '\r')" told
gnn-train --no-provenance --hidden 8 -o M3 -i G 2>told >printed
check 'gnn-train shows no progress in a file' sh -c '! grep -q "$(printf "\r")" told printed'
same M M3 'gnn-train makes the same model with and without progress'
done_testing
