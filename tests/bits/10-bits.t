# SPDX-License-Identifier: Apache-2.0
# The programs produce the same bits as when tests/bits/all.txt was recorded: see run.sh. One in three quick cases, which make bits has
# all of; in the wider tiers all.
. "$GNN_TOP/tests/lib.sh"
bits=$GNN_TOP/tests/bits
if wide; then list=all; else list=quick && export GNN_BITS_SHARE=3; fi
sh "$bits/run.sh" $list >said 2>&1 &
many=
while kill -0 $! 2>/dev/null; do # minutes: signs of life for the runner
    had=$many
    many=$(find "$TMPDIR"/gnn-bits.*/sum -type f 2>/dev/null | wc -l)
    [ "$many" = "$had" ] || echo "# $many cases"
    sleep 2
done
wait $!
rc=$?
check 'the cases were run' sh -c "test $rc -le 1 && grep -q '^$list: [1-9][0-9]* cases run, ' said"
grep ': ' said | grep -v '^skipped: ' | sed 's/^/# /' | head -n 40
[ $rc -le 1 ] || done_testing
sh "$bits/run.sh" list $list >cases
for group in $(sed -n 's/^\([a-z]*\) .*/\1/p' cases | sort -u); do
    total=$(grep -c "^$group " cases)
    sed -n "s/^skipped: $group: \([0-9]*\) cases: \(.*\)/\1 \2/p" said >left
    skipped=$(awk '{ n += $1 } END { print n + 0 }' left)
    while read -r many why; do skip "$group: $many of $total cases" "$why"; done <left
    [ "$skipped" -lt "$total" ] || continue
    check "$group: $((total - skipped)) cases have the recorded bits" sh -c "! grep '^$group .*: ' said"
done
# Were the programs to differ, it would be said.
unset GNN_BITS_SHARE
sed 's/^\(partition s -k 4 --method [a-z]*\t\)../\1xx/' "$bits/all.txt" >list
status 1 'other bits are found' env GNN_BITS_LIST="$PWD/list" sh "$bits/run.sh" quick 'partition s -k 4 --method'
check 'and named' test "$(grep -c '^partition s -k 4 --method [a-z]*: differs$' out)" -eq 4
done_testing
