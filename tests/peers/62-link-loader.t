# SPDX-License-Identifier: Apache-2.0
# gnntools.pyg.LinkNeighborLoader gives what PyG's code gives, key by key, for the same negatives.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/peers/setup.sh"
if ! "$py" -B -c 'import torch_geometric' 2>err; then
    skip "the link loader of gnntools beside PyG's" "torch_geometric is not installed"
    done_testing
fi
mkdir left
export TMPDIR="$PWD/left"
"$py" -B "$GNN_TOP/tests/peers/link_loader.py" >results 2>err || { _not_ok "all cases are run" && sed 's/^/# /' err | tail -n 20; }
verdicts "the comparisons with PyG's link loader"
check "cases were compared" test -s results
check "no store of a loader is left" sh -c '! find left -name "gnntools-*" | grep .'
done_testing
