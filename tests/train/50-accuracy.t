# SPDX-License-Identifier: Apache-2.0
# Short runs of scripts/accuracy.sh: one seed or split each, with a margin. The fourth data set, amazon-computers, takes as
# long as these together and is left to `make bench`. One in `make check`.
. "$GNN_TOP/tests/lib.sh"
for d in cora acm tolokers; do
    turn 3 || continue
    if [ -n "${GNN_DATA:-}" ]; then
        check "gnn-train reaches the promised accuracy on $d" sh "$GNN_TOP/scripts/accuracy.sh" --quick $d
    else
        skip "gnn-train reaches the promised accuracy on $d" "GNN_DATA is not set"
    fi
done
done_testing
