# SPDX-License-Identifier: Apache-2.0
# gnntools.pyg.NeighborLoader gives what PyG's gives, key by key, where nothing is left to chance.
. "$GNN_TOP/tests/lib.sh"
py=${GNN_PEERS:-python3}
if ! "$py" -B -c 'import torch_geometric' 2>err; then
    skip "the loader of gnntools beside PyG's" "torch_geometric is not installed"
    done_testing
fi
"$py" -B "$GNN_TOP/tests/peers/loader.py" >results 2>err || { _not_ok "all cases are run" && sed 's/^/# /' err | tail -n 20; }
: >lacks
while IFS='|' read -r verdict name seen; do
    case $verdict in
    ok) _ok "$name" ;;
    skip) echo "$seen" >>lacks ;;
    *) _not_ok "$name" && echo "# $seen" ;;
    esac
done <results
sort lacks | uniq -c | while read -r times why; do echo "$times of the comparisons with PyG's loader|$why"; done >missing
while IFS='|' read -r name why; do skip "$name" "$why"; done <missing
check "cases were compared" test -s results
done_testing
