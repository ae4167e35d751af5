# SPDX-License-Identifier: Apache-2.0
# A graph that PyTorch or PyG saves is imported to the same store as its arrays in an .npz, and what is not one graph is refused by name.
. "$GNN_TOP/tests/lib.sh"
py=${GNN_PEERS:-python3}
"$py" -B -W ignore -c 'import torch, torch_geometric' 2>err || { skip "graphs of PyTorch and PyG" "torch_geometric is not installed"; done_testing; }
check 'all files are written' "$py" -B -W ignore "$GNN_TOP/tests/peers/torch_graphs.py"
same() { # WHAT FILE ARRAYS OPTION...: both make the same store
    what=$1 file=$2 arrays=$3
    shift 3
    rm -rf S T
    check "gnn-import reads $what" gnn-import --directed "$@" -o S "$file"
    cp err said
    check "gnn-import reads the arrays of $what" gnn-import --directed "$@" -o T "$arrays"
    check "$what gives the store that its arrays give" gnn-inspect --diff --ignore provenance S T
}
for f in good-*.pt; do
    name=${f%.pt}
    same "$name" "$f" "$name.npz"
    case $name in
    good-others) check 'gnn-import names attributes that are no arrays' grep -q 'not read: name (the str .a graph.), tags (a list of 2)' said ;;
    *) check "gnn-import leaves out nothing of $name" sh -c '! grep "not read" said' ;;
    esac
done
same 'fields that --map and --time name' good-fields.pt good-fields.npz --map edge_x=edge_weight --map =node_id --time edge_time
gzip -k good-data.pt good-turned.pt
same 'a compressed file' good-data.pt.gz good-data.npz
same 'a compressed file with other strides' good-turned.pt.gz good-turned.npz
mkdir d
cp good-data.pt d
tar cf d.tar d
same 'a file in an archive' d.tar:d/good-data.pt good-data.npz
check 'from_pyg makes a store of several types' env PYTHONPATH="$GNN_TOP/formats/python" "$py" -B -W ignore -c 'import torch, gnntools
graph = torch.load("good-types.pt")
del graph["paper", "cites", "paper"].time, graph["paper"].train_mask  # with times from_pyg keeps positions; its splits have another name
torch.save(graph, "types.pt")
gnntools.from_pyg(graph, "F")'
rm -rf S
check 'gnn-import reads what from_pyg was given' gnn-import -o S types.pt
check 'from_pyg gives the same store' gnn-inspect --diff --ignore provenance S F
rm -rf S T
check 'gnn-import takes features from a file' gnn-import --directed --features good-data.pt:x -o S good-edges.pt
check 'features come from a file' sh -c 'gnn-inspect S | grep -q "x.*7"'
for f in bad-*.txt; do
    name=${f%.txt}
    rm -rf S
    status 3 "gnn-import refuses $name" gnn-import -o S "$name.pt"
    cp err said
    check "gnn-import says in one line what $name is" sh -c '[ "$(wc -l <said)" -eq 1 ] && grep -q "^gnn-import: $1.pt: .*$(cat "$1.txt")" said' - "$name"
    grep -q "^gnn-import: $name.pt: .*$(cat "$name.txt")" said || sed 's/^/# /' said
    check "gnn-import leaves nothing of $name" test ! -e S
done
check 'nothing of a file is run' test ! -e ran
rm -rf S
check 'gnn-import reads a FIFO' sh -c 'mkfifo f.pt && { cat good-data.pt >f.pt & gnn-import --directed -o S f.pt; }'
check 'it gives the same store' sh -c 'gnn-import --directed -o T good-data.pt && gnn-inspect --diff --ignore provenance S T'
done_testing
