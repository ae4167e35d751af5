# SPDX-License-Identifier: Apache-2.0
# The demo, on a small archive: it says before each step how long that takes, and needs no terminal.
. "$GNN_TOP/tests/lib.sh"
if [ -n "$(sh "$GNN_TOP/scripts/install-deps.sh" --missing)" ]; then
    skip 'the demo runs without a terminal' 'it would install packages'
    done_testing
fi
mkdir lists
awk 'BEGIN {
    for (i = 0; i < 400; i++) {
        c = i % 4
        printf "Package: p%d\nSection: s%d\nDescription: %s %s\n", i, c, i % 3 ? "word" c : "word", "word" i % 7
        printf "Depends: p%d, p%d\n\n", (i + 4) % 400, (i * 5 + 8 * c) % 400
    }
}' >lists/x_dists_y_main_binary-amd64_Packages
# Neither a terminal nor anything in the environment; nothing is built.
check 'the demo runs without a terminal' env -i PATH=/usr/bin:/bin GNN_BIN="$GNN_BIN" LISTS="$PWD/lists" \
    setsid sh "$GNN_TOP/scripts/demo.sh" demo
cp out told && cp err epochs
check 'the demo says before each step how long it takes' sh -c '
    awk "/^\\$ / { steps++ } /^# .*(seconds|minutes)/ { said++ } END { print steps, said; exit !(steps == 6 && said == 6) }" told'
check 'the demo shows each epoch of both trainings' sh -c 'test "$(grep -c "^gnn-train: epoch" epochs)" -eq 24'
exact=$(sed -n 's/.*"event":"score".*"accuracy":\([0-9.]*\).*/\1/p' demo/predict.ndjson | awk '{ printf "%.1f", 100 * $1 }')
sampled=$(sed -n 's/.*"event":"end".*"test":{"accuracy":\([0-9.]*\).*/\1/p' demo/edges.ndjson | awk '{ printf "%.1f", 100 * $1 }')
check 'the demo says that the accuracy of gnn-predict is exact' grep -q "^test accuracy with edges *$exact %  exact: " told
check 'the demo says that the accuracy of gnn-train is sampled' grep -q "^  as gnn-train measured it *$sampled %  sampled: " told
check 'the demo prints plain text' sh -c '! LC_ALL=C grep -q "[^ -~]" told'
done_testing
