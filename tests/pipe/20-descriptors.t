# A full device, descriptors that are closed, a terminal.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/pipe/setup.sh"
on_full() { status 1 "full: $1" sh -c "$1 >/dev/full"; says_one 'in one line'; }
no_stdout() { status 1 "no stdout: $1" sh -c "$1 >&-"; says_one 'in one line'; }
for c in 'gnn-sample -f 2 S' 'gnn-gather -i B S' 'gnn-predict -o - S M' 'gnn-inspect S' 'gnn-inspect --help' 'gnn-train --version'; do
    on_full "$c"
    no_stdout "$c"
done
for c in 'gnn-gather -o X S' 'gnn-train -q -o X' 'gnn-inspect'; do
    status 1 "no stdin: $c" sh -c "$c <&-"
    says_one 'in one line'
    absent X 'leaves nothing'
done
# With stderr closed nothing can be said, but the result is the same and no file takes its number.
check 'no stderr: works' sh -c 'gnn-gather --no-provenance -v -o X -i B S 2>&-'
same X G 'no stderr: same result'
sh -c 'gnn-gather -o Y -i /nonexistent S 2>&-'
[ $? -eq 3 ] && _ok 'no stderr: same status' || _not_ok 'no stderr: same status'
sh -c 'gnn-sample -q --no-provenance -f 5,5 -b 256 -o Z S <&- 2>&-'
same Z B 'neither stdin nor stderr: same result'

if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1; then
    script -qec 'gnn-sample -f 2 S' /dev/null >term 2>&1 </dev/null
    [ $? -eq 2 ] && grep -q 'refusing to write binary' term && _ok 'no binary to a terminal' || _not_ok 'no binary to a terminal'
    script -qec 'gnn-gather -o X2 S' /dev/null >term 2>&1 </dev/null
    [ $? -eq 2 ] && grep -q 'is a terminal' term && _ok 'no binary from a terminal' || _not_ok 'no binary from a terminal'
    script -qec 'gnn-train --no-provenance --hidden 8 -o M2 -i G' /dev/null >term 2>&1 </dev/null
    grep -q "$(printf '\033\\[K')" term && _ok 'progress on a terminal' || _not_ok 'progress on a terminal'
else
    skip 'terminals' 'no script(1)'
fi
# A limit on the size of files is an error like a full disk, not a signal.
status 1 'a file may not grow' sh -c 'ulimit -f 8 && gnn-gather -q -o X3 -i B S'
says_one 'in one line'
absent X3 'leaves nothing'
gnn-train --no-provenance --hidden 8 -o M3 -i G --progress always 2>err >out
grep -q "$(printf '\r')" err && _ok 'progress if asked for' || _not_ok 'progress if asked for'
gnn-train --no-provenance --hidden 8 -o M3 -i G 2>err >out
grep -q "$(printf '\r')" err out && _not_ok 'no progress elsewhere' || _ok 'no progress elsewhere'
same M M3 'the terminal made no difference'
done_testing
