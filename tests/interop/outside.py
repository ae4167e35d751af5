# SPDX-License-Identifier: Apache-2.0
"""A program outside the tree, by ctypes: what tests/interop/outside.c does, beside the NumPy reader of streams.
usage: outside.py LIBRARY STORE STREAM"""
import ctypes
import sys

import numpy as np

import gnb

lib = ctypes.CDLL(sys.argv[1])
for name in ("graph_open", "batches_sample", "batches_gather", "batch_tensor", "tensor_data"):
    getattr(lib, "gnn_" + name).restype = ctypes.c_void_p
for name in ("error", "tensor_dtype", "batch_tensor_name"):
    getattr(lib, "gnn_" + name).restype = ctypes.c_char_p
lib.gnn_tensor_shape.restype = lib.gnn_tensor_size.restype = ctypes.c_uint64


def options(*words):
    return (ctypes.c_char_p * (len(words) + 1))(*map(str.encode, words), None)


def there(pointer):
    if not pointer:
        sys.exit(lib.gnn_error().decode())
    return ctypes.c_void_p(pointer)


def array(t):
    kind = lib.gnn_tensor_dtype(t).decode()
    shape = [lib.gnn_tensor_shape(t, i) for i in range(lib.gnn_tensor_ndim(t))]
    data = ctypes.string_at(ctypes.c_void_p(lib.gnn_tensor_data(t)), lib.gnn_tensor_size(t))
    return np.frombuffer(data, f"<{kind[0]}{int(kind[1:]) // 8}").reshape(shape)


g = there(lib.gnn_graph_open(sys.argv[2].encode(), None))
drawn = there(lib.gnn_batches_sample(g, options("fanout=5,3", "batch=20", "epochs=2", "edge-ids", "seed=7")))
drawn = there(lib.gnn_batches_gather(drawn, g, options("fields=x,y", "dtype=f16")))
batch = ctypes.c_void_p()
_, expected = gnb.read_stream(sys.argv[3])
for k, tensors in enumerate(expected):
    assert lib.gnn_batches_next(drawn, ctypes.byref(batch)) == 0, lib.gnn_error()
    names = []
    while name := lib.gnn_batch_tensor_name(batch, len(names)):
        names.append(name.decode())
        a = array(ctypes.c_void_p(lib.gnn_batch_tensor(batch, name)))
        b = tensors[names[-1]]
        assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes(), (k, names[-1])
    assert sorted(names) == sorted(tensors), (k, names)
    lib.gnn_batch_put(batch)
assert lib.gnn_batches_next(drawn, ctypes.byref(batch)) == 1, lib.gnn_error()
lib.gnn_batches_free(drawn)
lib.gnn_graph_close(g)
print(len(expected))
