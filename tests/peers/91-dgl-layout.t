# SPDX-License-Identifier: Apache-2.0
# Folders of gnn-partition --layout dgl are loaded by DGL, and are what its partition_graph writes of the same graph and the same parts:
# JSON, ids, graphs with their copies, features, masks and original ids.
. "$GNN_TOP/tests/lib.sh"
py=${GNN_PEERS:-python3}
"$py" -B -W ignore -c 'import dgl; v = dgl.__version__.split("."); raise SystemExit((int(v[0]), int(v[1])) < (2, 1))' 2>err || {
    skip "the layout of DGL" "dgl 2.1 is not installed"
    done_testing
}
loads() { # STORE HOW OPTION...
    store=$1 how=$2
    shift 2
    rm -rf P theirs
    check "gnn-partition $* writes $store for DGL" gnn-partition --layout dgl "$@" -o P "$store"
    # shellcheck disable=SC2086 # a word or none
    check "DGL loads $store of $*${how:+, which it could not write}" "$py" -B -W ignore "$GNN_TOP/tests/peers/dgl_layout.py" P "$store.npz" $how
    cp out shown
    check "DGL has compared $store of $*" grep -q '^P: [0-9]* parts, loaded' shown
}
check 'a graph of several types is made' "$py" -B -W ignore "$GNN_TOP/tests/peers/dgl_layout.py" make
check 'gnn-import reads a graph of several types' gnn-import --directed -o typed typed.npz
gnn-import -q -o sbm sbm:nodes=1500,weights=1
gnn-import -q -o rmat rmat:scale=9,edges=4,features=3
for store in typed sbm rmat; do
    check "gnn-inspect writes the arrays of $store" gnn-inspect --export "$store.npz" "$store"
done
loads typed '' -k 1
loads typed '' -k 3 --balance types
loads typed loaded -k 60 # parts without nodes, or edges, of some types
loads sbm '' -k 1
check 'DGL has made a DistGraph of one part' grep -q '^P: a DistGraph of one part' shown
loads sbm '' -k 4
check 'the folder has copies of nodes and edges' grep -q '^P: 4 parts, [1-9][0-9]* copies of nodes, [1-9][0-9]* of edges' shown
loads rmat '' -k 5 --method fennel # directed
done_testing
