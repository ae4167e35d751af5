# SPDX-License-Identifier: Apache-2.0
# A folder that DGL's partition_graph writes is imported as the graph that was partitioned, bit for bit if original ids are known, and
# otherwise in DGL's ids; and gnn-partition makes the same parts of it.
. "$GNN_TOP/tests/lib.sh"
py=${GNN_PEERS:-python3}
"$py" -B -W ignore -c 'import dgl' 2>err || { skip "partitions of DGL" "dgl is not installed"; done_testing; }
check 'all folders are written' "$py" -B -W ignore "$GNN_TOP/tests/peers/dgl_parts.py"
for npz in good-*.npz; do
    folder=${npz%.npz}
    input=$folder
    case $folder in *-json) input=$folder/g.json ;; esac
    rm -rf S T
    # shellcheck disable=SC2046 # options and their files
    check "gnn-import reads $folder" gnn-import --directed $(cat "$folder.opts") -o S "$input"
    cp err said
    check "gnn-import reads the arrays of $folder" gnn-import --directed -o T "$npz"
    check "$folder gives the store that its arrays give" gnn-inspect --diff --ignore provenance S T
    case $folder in
    *-pt | *-npy | *-beside | *-inside | *-kept) check "gnn-import says nothing of ids of $folder" sh -c '! grep "when it partitioned" said' ;;
    esac
done
case $("$py" -B -W ignore -c 'import dgl; print(dgl.__version__)') in
0.*) ;;
*)
    rm -rf S
    check 'gnn-import reads a folder without original ids' gnn-import -o S good-plain-2
    cp err said
    check 'gnn-import says that ids are those of DGL' grep -q 'g.json: ids of nodes, and the order of edges, are those that DGL gave' said
    ;;
esac
for name in plain-2 typed-3; do
    [ -d "good-$name-beside" ] || continue
    rm -rf S P
    check "gnn-import reads $name" gnn-import --directed -o S "good-$name-beside"
    check "gnn-partition keeps the parts of $name" gnn-partition --from field:part -o P S
    check "partitions of $name are sound" gnn-inspect --verify P
done
done_testing
