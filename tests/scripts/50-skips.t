# SPDX-License-Identifier: Apache-2.0
# A test that is skipped is named in the runner's output, and neither its status nor its output is lost. One that hangs is ended, and one
# that leaves something behind fails.
. "$GNN_TOP/tests/lib.sh"
cat >some.t <<'T'
echo 'ok 1 - what works'
echo 'ok 2 - real data # SKIP no GNN_DATA'
echo 1..2
T
cat >bad.t <<'T'
echo 'ok 1 - a'
echo '# before: d'
echo 'not ok 2 - b'
echo '# because of c'
echo 1..2
exit 3
T
check 'run.sh passes when a test skips a check' env TMPDIR="$PWD" sh "$GNN_TOP/tests/run.sh" "$PWD/some.t"
cp out runner
check 'run.sh names the check that is skipped, and why' grep -q '^skipped: .*some.t: real data: no GNN_DATA$' runner
check 'run.sh names nothing but the check that is skipped' sh -c '[ "$(grep -c ^skipped: runner)" -eq 1 ]'
check 'run.sh ends its output with the result' sh -c 'tail -n 1 runner | grep -qx "Result: PASS"'
printf '%s\n' 'ok 1 - differs: another system is wrong' 'ok 2 - differs: a third # SKIP not there' 1..2 >differing
echo "cat $PWD/differing" >other.t
check 'run.sh passes where other systems are known to differ' env TMPDIR="$PWD" sh "$GNN_TOP/tests/run.sh" "$PWD/other.t"
cp out runner
check 'run.sh names what is known to differ, if it was compared' sh -c '[ "$(grep ^differs runner)" = "differs: another system is wrong" ]'
status 1 'run.sh fails when a test ends with a failing status' env TMPDIR="$PWD" sh "$GNN_TOP/tests/run.sh" "$PWD/bad.t"
cp out runner
check 'run.sh says after the summary what failed and why' sh -c 'sed "1,/^Test Summary/d" runner | grep -A 2 "^failed: .*bad.t: not ok 2 - b$" | tail -n 2 | tr "\n" , | grep -qx "# before: d,# because of c,"'
check 'run.sh ends its output with the result of a failure' sh -c 'tail -n 1 runner | grep -qx "Result: FAIL"'
check 'one.sh keeps the directory of a test that fails' sh -c 'ls -d gnn-test.*/d'

# fails NAME PATTERN TEST: the pattern is in what the runner says at its end
fails() {
    # Sleeps as nothing else on this machine does.
    printf '%s\n' '. "$GNN_TOP/tests/lib.sh"' "$3" 'check "the last" true' done_testing | sed "s/sleep 30[1-5]/&.$$/" >leaving.t
    status 1 "run.sh fails when a test $1" env TMPDIR="$PWD" GNN_PATIENCE=3 sh "$GNN_TOP/tests/run.sh" "$PWD/leaving.t"
    sed '1,/^Test Summary/d' out >runner
    check "run.sh says that a test $1" grep -q -- "$2" runner
}
fails 'hangs' '^# nothing was said for 3 seconds' 'check "waits" sh -c "echo this far; sleep 301"'
check 'run.sh says what a test that hangs was doing' grep -q '^#   [0-9]*: sleep 301' runner
check 'run.sh shows what a test that hangs has written' grep -q '^#   this far' runner
fails 'leaves a process' '^#   [0-9]*: sleep 302' 'setsid sleep 302 &'
fails 'leaves a process without its environment' '^#   [0-9]*: sleep 303' 'env -i setsid sleep 303 &'
fails 'leaves a process of a process that has ended' '^#   [0-9]*: sleep 304' '(env -i setsid sh -c "sleep 304 & sleep 0.1" &)'
fails 'leaves a process that goes on talking' '^failed: .*the test leaves no process' '(while echo "# on"; do sleep 0.3; done) &'
fails 'closes its output and hangs' '^# nothing was said for 3 seconds' 'exec >&- 2>&-; sleep 305'
check 'run.sh says what a test was doing that has closed its output' grep -q '^#   [0-9]*: sleep 305' runner
fails 'leaves a temporary file' '^#   tmp.left' 'echo >"$TMPDIR/tmp.left"'
check 'run.sh ends what a test leaves' test -z "$(grep -alsE "^sleep.30[1-5]\.$$" /proc/[0-9]*/cmdline)"
done_testing
