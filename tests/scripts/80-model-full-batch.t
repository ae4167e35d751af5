# SPDX-License-Identifier: Apache-2.0
# The model of full batches on many hosts: what gnn-fullbatch(7) prints is what the script computes, and its parts behave as they should.
. "$GNN_TOP/tests/lib.sh"
model="/usr/bin/python3 $GNN_TOP/scripts/model-full-batch.py"
sed -n 's/ Ta / /g; s/^\.It \([0-9][0-9. ]*\)$/\1/p' "$GNN_TOP/man/gnn-fullbatch.7" >printed
for m in sage gat; do
    $model --model $m --hosts 1,8,32,64,128 | sed 's/^ *//; s/  */ /g' >>computed
done
check 'model-full-batch.py computes five rows of each model' test "$(wc -l <computed)" = 10
check 'gnn-fullbatch(7) has the rows that model-full-batch.py computes' cmp printed computed
check 'one host sends nothing' sh -c "$model --hosts 1 | awk '{ exit \$4 != 0 }'"
check 'a slower link makes messages slower, and nothing else' sh -c "{ $model --hosts 16; $model --hosts 16 --link-rate 10 --latency 4e-5; } |
    awk 'NR == 1 { p = \$2; r = \$3; m = \$4 } END { d = \$4 / m - 2; exit !(p == \$2 && r == \$3 && d * d < 1e-4) }'"
check 'a better partitioning makes messages and memory smaller' sh -c "{ $model --hosts 16; $model --hosts 16 --halo 0.1; } |
    awk 'NR == 1 { m = \$4; g = \$6 } END { exit !(\$4 < m / 4 && \$6 < g) }'"
status 2 'model-full-batch.py refuses a model that it does not know' $model --model gin
done_testing
