# SPDX-License-Identifier: Apache-2.0
# Pickles that call programs, lie about their size or contain themselves are refused, each in a line, in little memory; nothing of them is run or opened.
. "$GNN_TOP/tests/lib.sh"
command -v python3 >/dev/null || { skip "hostile pickles" "no python3"; done_testing; }
many=$(python3 -B "$GNN_TOP/tests/fuzz/hostile.py" files) || many=0
check "there are hostile pickles ($many)" [ "$many" -ge 200 ]
# 512 MB are for the program and its libraries, whatever the files say; sanitizers reserve terabytes.
most=524288
[ -z "${GNN_SAN-}" ] || most=unlimited
refused() {
    left=$many
    for f in files/*; do
        # shellcheck disable=SC3045
        (ulimit -v $most && exec gnn-import -o S "$f") >out 2>err.one
        rc=$?
        if [ $rc -ne 3 ] || [ -s out ] || [ "$(wc -l <err.one)" -ne 1 ] || ! grep -q "^gnn-import: $f: " err.one; then
            echo "$f: status $rc" && cat err.one
        else
            left=$((left - 1))
        fi
    done
    [ "$left" -eq 0 ]
}
check 'all are refused with status 3, in one line that names the file' refused
check 'nothing was run or written' sh -c '! test -e ran && ! test -e S'
if [ -z "${GNN_SAN-}" ] && command -v strace >/dev/null && strace -o trace true 2>err; then
    opened() { # the files that are written, created, executed or connected to, other than the program itself
        for f in files/global-0*.pt files/call-*.pkl files/stack-0*.pkl files/bomb.pt; do
            strace -f -o trace -e trace=execve,execveat,openat,open,creat,connect,unlink,rename gnn-import -o S "$f" 2>err
            sed -n '2,$p' trace | grep 'exec\|O_WRONLY\|O_RDWR\|O_CREAT\|creat(\|connect(\|unlink(\|rename(' | grep -v '/dev/shm\|/proc/self' && return 1
        done
        return 0
    }
    check 'nothing is executed, connected to or opened for writing' opened
else
    skip 'what is executed and opened' 'strace is not installed, or may not be used'
fi
done_testing
