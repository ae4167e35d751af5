# SPDX-License-Identifier: Apache-2.0
# Training on a device: whichever call of the run-time fails, the run ends and leaves nothing behind. (What it gives when
# none fails is emu/tests/gpu/check_train.)
. "$GNN_TOP/tests/lib.sh"
once=$GNN_B/emu/tests/gpu/check_train
export GNN_FAKE_FAIL=0
check "check_train runs on an emulated device" sh -c "$once once >said 2>calls"
calls=$(sed -n 's/.*fake device: \([0-9]*\) calls/\1/p' calls)
check "check_train stops with a checkpoint" grep -q '^-7 $' said
bad=0 k=1
while [ "$k" -le "$calls" ]; do
    rm -rf ckpt
    GNN_FAKE_FAIL=$k timeout 600 "$once" once >said 2>calls
    rc=$? # 98: something was not freed
    { [ $rc -eq 0 ] && grep -Eq '^-5 .|^-7 $' said; } || { bad=$((bad + 1)) && echo "# call $k: status $rc, $(cat said)"; }
    k=$((k + (k < 100 ? 7 : 83)))
done
check "check_train ends cleanly and frees everything, whichever of $calls calls to the device fails" test "$bad" -eq 0 -a "$calls" -gt 500
done_testing
