# SPDX-License-Identifier: Apache-2.0
# bench_gpu on a device that is emulated, where no number means anything: its parts and rows, and what becomes of a row that fails.
. "$GNN_TOP/tests/lib.sh"
bench=$GNN_B/emu/tests/gpu/bench_gpu
refusing=bench_gpu
names() { sed -n 's/^| \([^|]*\) | .*/\1/p' "$1"; }

status 0 "bench_gpu measures all parts" "$bench" 700
cp out all
names all >rows
check "every row has its number" sh -c '! grep -v "^#" all | grep "not measured\|nan\|inf"'
"$bench" --parts >parts
for p in $(cat parts); do
    status 0 "bench_gpu measures the part $p alone" "$bench" 700 "$p"
    names out >>alone
done
check "the parts together have all rows" cmp rows alone
status 0 "bench_gpu measures two parts" "$bench" 700 passes limits
names out >two
check "they are measured in the order asked for" sh -c 'sed -n "1p;\$p" two | paste -sd, | grep -q "^bias and activation: ReLU, [0-9]* rows, 256 columns,copy, device to pinned host$"'
refuses 2 "no part 'nonsense'" "a part that it does not have" "$bench" 700 passes nonsense
refuses 2 "expected a count of rows from 100 on, not '7x'" "rows that are no count" "$bench" 7x
refuses 4 'no CUDA device' "to measure without a device" env GNN_FAKE_DEVICES=0 "$bench" 700

# One call of the runtime fails, in the middle of all: one row says so, and all others are there.
calls=$(GNN_FAKE_FAIL=0 "$bench" 700 2>&1 >/dev/null | sed -n 's/^fake device: \([0-9]*\) calls$/\1/p')
status 1 "bench_gpu fails where a row has no number" env GNN_FAKE_FAIL=$((${calls:-0} / 2)) "$bench" 700
cp out one
names one >left
check "all rows are there nevertheless" cmp rows left
check "one of them says why it has no number" \
    sh -c '[ "$(grep -c "| not measured: CUDA: .*a failure that was asked for | |$" one)" -eq 1 ]'
# Memory for one part, but not for the other.
status 1 "bench_gpu fails where there is too little memory for a part" env GNN_FAKE_MEMORY=4500000 "$bench" 700 gather latency
cp out short
check "each row of that part says so" \
    sh -c '[ "$(grep -c "^| .* | not measured: not enough device memory: [0-9]* bytes for a benchmark | |$" short)" -eq 10 ]'
check "the next part has its numbers" grep -q '^| launch of a kernel | [0-9.]* us' short

status 0 "bench_gpu goes without cuBLASLt" "$bench" 100 epilogues
cp out without
check "the part about epilogues says that it is not there" grep -q '^| epilogues of cuBLASLt | not here: ' without
if grep -q 'built without CUDA' without; then
    skip "what epilogues compute is judged" 'built without CUDA'
    done_testing
fi
status 0 "bench_gpu measures the epilogues of a library that has them" env GNN_FAKE_LT=1 "$bench" 100 epilogues
cp out lt
check "none of them is wrong" sh -c '! grep "WRONG\|OTHER\|another\|not measured" lt'
row='(256, 5) by (5, 100)'
for want in "BIAS, layer 0, added: (5, 100) by (100, 256), f32 | [0-9.]* us, the best of 2 ways of 3, .* right | [0-9.]* + [0-9.]* us apart" \
    "RELU_AUX_BIAS, layer 2, added: (2, 256) by (256, 47), bf16 | .* right, mask in rows of bits | " \
    "DRELU_BGRAD, inputs, many rows: (5, 256) by (256, 256), rows of bf16 | .* right | [0-9.]* us without" \
    "BGRADA, weights of layer 0: $row, f32 | .* right | " "BGRADB, weights of layer 0: $row, tf32 | .* right | " \
    "BGRADB, weights of layer 0: $row, f32 | none: asking for a way: status 15 | [0-9.]* + [0-9.]* us apart"; do
    check "it has the row ${want%%,*}" grep -q "^| epilogue $want" lt
done
calls=$(GNN_FAKE_LT=1 GNN_FAKE_FAIL=0 "$bench" 100 epilogues 2>&1 >/dev/null | sed -n 's/^fake device: \([0-9]*\) calls$/\1/p')
status 1 "a call that fails is not taken for an epilogue that is not there" env GNN_FAKE_LT=1 GNN_FAKE_FAIL=$((${calls:-0} / 2)) "$bench" 100 epilogues
names lt >rows
names out >left
check "the rows of epilogues are all there nevertheless" cmp rows left
status 0 "bench_gpu measures the epilogues of a library that is wrong" env GNN_FAKE_LT=2 "$bench" 100 epilogues
cp out wrong
check "products without an epilogue are right" sh -c '! grep "^| epilogue DEFAULT.*WRONG" wrong && grep -q "^| epilogue DEFAULT.* right" wrong'
check "a bias that is not added is seen" sh -c '! grep "^| epilogue [A-Z_]*BIAS.* right" wrong'
check "another order of the mask is seen" sh -c '! grep "in rows of bits" wrong && grep -q "RELU_AUX_BIAS.*mask in another order" wrong'
check "another order of the mask is seen in ReLU's gradient" sh -c '! grep "^| epilogue DRELU.* right" wrong'
check "sums of the wrong matrix are seen" sh -c 'grep "^| epilogue BGRAD[AB].*us, the best" wrong >sums && [ -s sums ] && ! grep -v "sums WRONG" sums'
done_testing
