# SPDX-License-Identifier: Apache-2.0
# Files that PyTorch, NumPy and PyG write are read back as what they hold, in all protocols and containers.
. "$GNN_TOP/tests/lib.sh"
py=${GNN_PEERS:-python3}
program=$GNN_B/tests/unit/test_torch_file
"$py" -B -c 'import torch' 2>err || { skip "files of PyTorch" "torch is not installed"; done_testing; }
[ -x "$program" ] || { skip "files of PyTorch" "test_torch_file is not built (make unit)"; done_testing; }
"$py" -B -W ignore "$GNN_TOP/tests/peers/torch_files.py" "$program" >results 2>err || { _not_ok "all files are written" && sed 's/^/# /' err | tail -n 20; }
while IFS='|' read -r verdict name seen; do
    case $verdict in
    ok) _ok "$name" ;;
    skip) skip "$name" "$seen" ;;
    *) _not_ok "$name" && echo "# $seen" ;;
    esac
done <results
check "files were compared" grep -q '^ok' results
done_testing
