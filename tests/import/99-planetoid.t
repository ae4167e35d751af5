# SPDX-License-Identifier: Apache-2.0
# Planetoid's raw files are a graph with its split; what does not fit together is refused by name.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/python/lib.sh"
refusing=gnn-import
for p in "${GNN_PEERS-}" "$python" /usr/bin/python3; do [ -n "$p" ] && "$p" -c 'import scipy.sparse' 2>err && break; done
"$p" -c 'import scipy.sparse' 2>err || { skip "files of Planetoid" "SciPy is not installed"; done_testing; }
write() { "$p" -B "$GNN_TOP/tests/import/planetoid.py" "$@"; }
for f in toy gap; do
    check "files are written: $f" write "$f" "$f"
    rm -rf S T
    check "gnn-import reads the files: $f" gnn-import --directed -o S "$f"
    check "gnn-import reads the arrays: $f" gnn-import --directed -o T "$f.npz"
    check "both are the same store: $f" gnn-inspect --diff --ignore provenance S T
done
bad() { # FAULT TEXT
    rm -rf d S
    check "files with the fault $1 are written" write d "$1"
    refuses 3 "$2" "the fault $1" gnn-import -o S d
    check "gnn-import leaves nothing of $1" test ! -e S
}
bad columns 'd: ind.toy.allx has 9 columns, and tx 8'
bad rows 'd: ind.toy.tx has 39 rows, and test.index 40'
bad labels 'allx, ally and y have 600, 599 and 12 rows'
bad list 'd: ind.toy.graph: no dict of lists'
bad index 'ind.toy.allx: indptr, indices, data and shape do not fit together'
bad class 'ind.toy.ty: neither a csr_matrix nor an array'
bad early 'ind.toy.test.index: node 599 is one of allx'
write d
printf '601\nx\n' >d/ind.toy.test.index
refuses 3 'd: ind.toy.test.index: line 2: no number of a node' 'a word in test.index' gnn-import -o S d
: >d/ind.toy.test.index
refuses 3 'd/ind.toy.test.index: empty' 'an empty test.index' gnn-import -o S d
write d
rm d/ind.toy.ally
refuses 3 'd: ind.toy.ally is missing' 'a file that is missing' gnn-import -o S d
write d
printf '\200\2cposix\nsystem\nU\011touch ran\205R.' >d/ind.toy.ty
refuses 3 'ind.toy.ty: .*posix.system' 'a pickle that runs a program' gnn-import -o S d
check 'nothing was run' test ! -e ran
write d
tar cf d.tar d
refuses 3 "an archive of Planetoid's raw files: unpack it first" 'an archive' gnn-import -o S d.tar
if "$p" -W ignore -c 'import torch_geometric' 2>err; then
    "$p" -B -W ignore -c 'import torch
from torch_geometric.io import read_planetoid_data
torch.save(read_planetoid_data("toy", "toy"), "toy.pt")'
    rm -rf S T
    check 'gnn-import reads what PyG makes of the files' gnn-import --directed -o S toy.pt
    check 'gnn-import removes what PyG removes' gnn-import --directed --dedup --self-loops remove -o T toy
    gnn-inspect S | grep -v 'split\|by \|store' >pyg
    gnn-inspect T | grep -v 'split\|by \|store' >ours
    check 'both have the same types and numbers' cmp pyg ours
else
    skip 'what PyG makes of the files' 'torch_geometric is not installed'
fi
done_testing
