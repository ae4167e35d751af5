# SPDX-License-Identifier: Apache-2.0
# gnntools.pyg.NeighborLoader gives what PyG's gives, key by key, where nothing is left to chance.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/peers/setup.sh"
if ! "$py" -B -c 'import torch_geometric' 2>err; then
    skip "the loader of gnntools beside PyG's" "torch_geometric is not installed"
    done_testing
fi
mkdir left
export TMPDIR="$PWD/left"
"$py" -B "$GNN_TOP/tests/peers/loader.py" >results 2>err || { _not_ok "all cases are run" && sed 's/^/# /' err | tail -n 20; }
"$py" -B -W ignore "$GNN_TOP/tests/peers/ranks.py" >>results 2>err || { _not_ok "two processes train together" && sed 's/^/# /' err | tail -n 20; }
verdicts "the comparisons with PyG's loader"
check "cases were compared" test -s results
check "two processes trained together" grep -q '|two processes train as one' results
check "no store of a loader is left" sh -c '! find left -name "gnntools-*" | grep .'
done_testing
