# SPDX-License-Identifier: Apache-2.0
# The k-th allocation fails: status 1 and one line, or it was not needed; never a result that is wrong or half there.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/faults/sweep.sh"
. "$GNN_TOP/tests/faults/runs.sh"
check 'the programs make the inputs of failing runs' inputs
for p in $programs; do
    sweep "$(call_of "$p") ends cleanly when malloc fails" malloc "$(out_of "$p")" -- $(run_of "$p")
done
done_testing
