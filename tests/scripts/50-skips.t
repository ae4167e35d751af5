# SPDX-License-Identifier: Apache-2.0
# A test that is skipped is named in the runner's output, and neither its status nor its output is lost.
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
done_testing
