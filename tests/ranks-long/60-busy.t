# SPDX-License-Identifier: Apache-2.0
# Ranks on a machine whose processors other programs want too: each question that brings nothing must not give a whole slice away.
. "$GNN_TOP/tests/ranks/setup.sh"
gnn-import -q -o S sbm:nodes=3000,degree=12,features=8 && gnn-partition -q -k 4 -o P S ||
    { _not_ok "gnn-import and gnn-partition make the store"; done_testing; }
learn='-q --no-provenance --store P -f 5,5 -b 100 --hidden 16 --epochs 10 --eval none --lr 0.01 --dropout 0 --no-layer-norm'
hogs=
trap '[ -z "$hogs" ] || kill $hogs' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
for i in $(seq $(($(env -u OMP_NUM_THREADS nproc) + 1))); do
    yes >/dev/null &
    hogs="$hogs $!"
done
from=$(date +%s%N)
# 6 seconds; with a sched_yield at each question minutes. Other programs than these may be there as well, unless GNN_IDLE=1.
check 'gnn-train learns on 4 ranks beside programs that use all processors' \
    ranks 4 timeout -s KILL $([ -n "${GNN_IDLE-}" ] && echo 60 || echo 600) gnn-train $learn -o busy
echo "# $((($(date +%s%N) - from) / 1000000)) ms"
kill $hogs
hogs=
wait 2>/dev/null
check 'gnn-train learns on 4 ranks of a machine that does nothing else' ranks 4 gnn-train $learn -o alone
check 'gnn-train writes the same model on a busy machine as on an idle one' cmp busy alone
done_testing
