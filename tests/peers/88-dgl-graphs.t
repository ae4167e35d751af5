# SPDX-License-Identifier: Apache-2.0
# A graph that DGL saves is imported to the same store as its arrays in an .npz, and what is not one graph is refused by name.
. "$GNN_TOP/tests/lib.sh"
py=${GNN_PEERS:-python3}
"$py" -B -W ignore -c 'import dgl' 2>err || { skip "graphs of DGL" "dgl is not installed"; done_testing; }
check 'all files are written' "$py" -B -W ignore "$GNN_TOP/tests/peers/dgl_graphs.py"
same() { # WHAT FILE ARRAYS OPTION...: both make the same store
    what=$1 file=$2 arrays=$3
    shift 3
    rm -rf S T
    check "gnn-import reads $what" gnn-import --directed "$@" -o S "$file"
    cp err said
    check "gnn-import reads the arrays of $what" gnn-import --directed "$@" -o T "$arrays"
    check "$what gives the store that its arrays give" gnn-inspect --diff --ignore provenance S T
}
for f in good-*.dgl; do
    name=${f%.dgl}
    same "$name" "$f" "$name.npz"
    case $name in
    good-labels) check 'gnn-import names labels of the whole graph' grep -q 'not read: whole (a label of the whole graph)' said ;;
    *) check "gnn-import leaves out nothing of $name" sh -c '! grep "not read" said' ;;
    esac
done
same 'fields that --map names' good-plain.dgl good-plain.npz --map time=score --map =w
gzip -k good-plain.dgl good-typed-csr.dgl
same 'a compressed file' good-plain.dgl.gz good-plain.npz
same 'a compressed file of CSR' good-typed-csr.dgl.gz good-typed.npz
mkdir d
cp good-plain.dgl d
tar cf d.tar d
same 'a file in an archive' d.tar:d/good-plain.dgl good-plain.npz
for f in bad-*.txt; do
    name=${f%.txt}
    rm -rf S
    status 3 "gnn-import refuses $name" gnn-import -o S "$name.dgl"
    cp err said
    check "gnn-import says in one line what $name is" sh -c '[ "$(wc -l <said)" -eq 1 ] && grep -q "^gnn-import: $1.dgl: .*$(cat "$1.txt")" said' - "$name"
    grep -q "^gnn-import: $name.dgl: .*$(cat "$name.txt")" said || sed 's/^/# /' said
    check "gnn-import leaves nothing of $name" test ! -e S
done
done_testing
