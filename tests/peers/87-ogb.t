# SPDX-License-Identifier: Apache-2.0
# What OGB writes is read by gnn-import as OGB's own loaders read it.
. "$GNN_TOP/tests/lib.sh"
py=${GNN_PEERS:-python3}
"$py" -B -W ignore -c 'import torch, xxhash, ogb.io' >out 2>err || { skip "archives of OGB" "ogb is not installed"; done_testing; }
"$py" -B -W ignore "$GNN_TOP/tests/peers/ogb_archives.py" >results 2>err || { _not_ok "all archives are read" && sed 's/^/# /' err | tail -n 20; }
while IFS='|' read -r verdict name seen; do
    [ "$verdict" = ok ] && _ok "$name" || { _not_ok "$name" && echo "# $seen"; }
done <results
check "archives were compared" grep -q '^ok' results
done_testing
