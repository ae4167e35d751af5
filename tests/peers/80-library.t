# SPDX-License-Identifier: Apache-2.0
# libgnn.so trains in a process of PyTorch, which has another oneDNN, and neither changes what the other computes.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/peers/setup.sh"
if ! "$py" -B -c 'import torch' 2>err; then
    skip "libgnn.so beside PyTorch" "torch is not installed"
    done_testing
fi
gnn-import -q -o store sbm:nodes=300 || exit 1
gnn-train -q --store store -f 5,3 --hidden 16 --epochs 3 --eval none -o want.safetensors || exit 1
cat >train.py <<'P'
import ctypes
import sys

import torch

x, w = torch.randn(512, 512), torch.randn(8, 8, 3, 3)
before = x @ x, torch.nn.functional.conv2d(x.reshape(4, 8, 128, 64), w)
lib = ctypes.CDLL(sys.argv[1])
lib.gnn_graph_open.restype = ctypes.c_void_p
lib.gnn_error.restype = ctypes.c_char_p
g = ctypes.c_void_p(lib.gnn_graph_open(b"store", None))
options = (ctypes.c_char_p * 4)(b"fanout=5,3", b"hidden=16", b"epochs=3", None)
assert lib.gnn_train(g, b"got.safetensors", options, None, None) == 0, lib.gnn_error()
lib.gnn_graph_close(g)
after = x @ x, torch.nn.functional.conv2d(x.reshape(4, 8, 128, 64), w)
assert all(map(torch.equal, before, after))
maps = open("/proc/self/maps").read()
assert "libdnnl.so" in maps and "libtorch_cpu" in maps
P
check 'libgnn.so trains beside PyTorch, whose products stay as they are' "$py" -B train.py "$GNN_B/libgnn.so"
check 'its model is the one of gnn-train' gnn-inspect --diff --ignore provenance got.safetensors want.safetensors
done_testing
