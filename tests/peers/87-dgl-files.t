# SPDX-License-Identifier: Apache-2.0
# Graphs and tensors that DGL writes are read back as what they hold, in all forms; and DGL reads what the tests write.
. "$GNN_TOP/tests/lib.sh"
py=${GNN_PEERS:-python3}
program=$GNN_B/tests/unit/test_dgl_file
"$py" -B -c 'import dgl' 2>err || { skip "files of DGL" "dgl is not installed"; done_testing; }
[ -x "$program" ] || { skip "files of DGL" "test_dgl_file is not built (make unit)"; done_testing; }
"$py" -B -W ignore "$GNN_TOP/tests/peers/dgl_files.py" "$program" >results 2>err || { _not_ok "all files are written" && sed 's/^/# /' err | tail -n 20; }
while IFS='|' read -r verdict name seen; do
    case $verdict in
    ok) _ok "$name" ;;
    skip) skip "$name" "$seen" ;;
    *) _not_ok "$name" && echo "# $seen" ;;
    esac
done <results
check "files were compared" grep -q '^ok' results
done_testing
