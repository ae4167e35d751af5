# SPDX-License-Identifier: Apache-2.0
# TGB's tables and negatives are read by gnn-import as TGB's own loader reads them.
. "$GNN_TOP/tests/lib.sh"
py=${GNN_PEERS:-python3}
"$py" -B -W ignore -c 'import torch, xxhash, tgb.linkproppred.dataset, tgb.linkproppred.negative_generator' >out 2>err || { skip "tables of TGB" "py-tgb is not installed"; done_testing; }
"$py" -B -W ignore "$GNN_TOP/tests/peers/tgb_tables.py" >results 2>err || { _not_ok "all tables are read" && sed 's/^/# /' err | tail -n 20; }
while IFS='|' read -r verdict name seen; do
    [ "$verdict" = ok ] && _ok "$name" || { _not_ok "$name" && echo "# $seen"; }
done <results
check "tables were compared" grep -q '^ok' results
done_testing
