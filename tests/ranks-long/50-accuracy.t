# SPDX-License-Identifier: Apache-2.0
# Several ranks train as good models as one (tests/train/50-accuracy.t): short runs of scripts/accuracy.sh.
. "$GNN_TOP/tests/ranks/setup.sh"
for run in 'cora 2' 'cora 4' 'amazon-computers 4'; do
    if [ -n "${GNN_DATA:-}" ]; then
        check "gnn-train reaches the promised accuracy of $run ranks" env RANKS="${run#* }" sh "$GNN_TOP/scripts/accuracy.sh" --quick "${run% *}"
        sed 's/^/# /' out
    else
        skip "gnn-train reaches the promised accuracy of $run ranks" "GNN_DATA is not set"
    fi
done
done_testing
