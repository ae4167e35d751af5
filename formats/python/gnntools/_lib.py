# SPDX-License-Identifier: Apache-2.0
"""libgnn.so by ctypes, where it is installed beside the programs: samples of seeds without a program."""
from __future__ import annotations

import ctypes
import functools
import json
import os
import sys
import sysconfig
from collections.abc import Sequence

import numpy as np

from ._child import ProgramError, find
from .stream import Batch

_POINTERS = "graph_open batches_sample_seeds batch_tensor tensor_data"
_TEXTS = "error batches_header batch_tensor_name tensor_dtype"
_USAGE = -3
_NUMPY = {"u": "u", "i": "i", "f": "f", "bf": "u"}


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL | None:
    """The library of the programs that find() finds, or None. It is not looked for again."""
    try:
        folder = os.path.dirname(find("gnn-sample"))
    except ProgramError:
        return None
    multiarch = sysconfig.get_config_var("MULTIARCH")
    for name in ("../libgnn.so", "../lib/libgnn.so.0", f"../lib/{multiarch}/libgnn.so.0",
                 "../lib/gnn-tools/libgnn-tools.so"):  # of the tree, make install, Debian, pip
        path = os.path.join(folder, name)
        if sys.byteorder == "little" and os.path.isfile(path):
            lib = ctypes.CDLL(path)
            for f in _POINTERS.split():
                getattr(lib, "gnn_" + f).restype = ctypes.c_void_p
            for f in _TEXTS.split():
                getattr(lib, "gnn_" + f).restype = ctypes.c_char_p
            lib.gnn_tensor_shape.restype = ctypes.c_uint64
            return lib
    return None


def _fail(lib: ctypes.CDLL) -> ProgramError:
    return ProgramError(lib.gnn_error().decode(errors="replace"), "libgnn.so", lib.gnn_error_status())


class _Owner:
    """A batch of the library's, given back when the last of its arrays is gone; not by a fork of the process."""

    def __init__(self, lib: ctypes.CDLL, batch: ctypes.c_void_p):
        self._lib, self._batch, self._pid = lib, batch, os.getpid()

    def __del__(self):
        if self._pid == os.getpid():
            self._lib.gnn_batch_put(self._batch)


class _View:
    """The elements of a tensor, as NumPy asks for them."""

    def __init__(self, owner: _Owner, data: int, kind: str, shape: tuple[int, ...]):
        self.owner = owner
        self.__array_interface__ = {"version": 3, "data": (data, False), "typestr": kind, "shape": shape}


class Sampler:
    """Batches of seeds, drawn in this process. It goes on by itself: after a fork, only its parent's may be used."""

    def __init__(self, lib: ctypes.CDLL, path: str, options: Sequence[str]):
        self._lib, self._pid, self._graph, self._batches = lib, os.getpid(), None, None
        self._graph = ctypes.c_void_p(lib.gnn_graph_open(os.fsencode(path), None))
        if self._graph:
            texts = (ctypes.c_char_p * (len(options) + 1))(*map(os.fsencode, options), None)
            self._batches = ctypes.c_void_p(lib.gnn_batches_sample_seeds(self._graph, texts))
        if not self._batches:
            raise _fail(lib)
        self.header = json.loads(lib.gnn_batches_header(self._batches))

    def ask(self, seeds: np.ndarray) -> Batch:
        """The batch of these seeds. ProgramError if it fails: nothing can be asked any more."""
        lib, batch = self._lib, ctypes.c_void_p()
        seeds = np.ascontiguousarray(seeds, np.uint64)
        if lib.gnn_batches_of(self._batches, ctypes.c_void_p(seeds.ctypes.data), ctypes.c_uint64(len(seeds)),
                              ctypes.byref(batch)):
            raise _fail(lib)
        owner, arrays, bf16 = _Owner(lib, batch), {}, set()
        while name := lib.gnn_batch_tensor_name(batch, len(arrays)):
            t = ctypes.c_void_p(lib.gnn_batch_tensor(batch, name))
            kind = lib.gnn_tensor_dtype(t).decode()
            shape = tuple(lib.gnn_tensor_shape(t, i) for i in range(lib.gnn_tensor_ndim(t)))
            base = kind.rstrip("0123456789")
            kind = f"<{_NUMPY[base]}{int(kind[len(base):]) // 8}"
            arrays[name.decode()] = (np.asarray(_View(owner, lib.gnn_tensor_data(t), kind, shape)) if all(shape)
                                     else np.empty(shape, kind))
            if base == "bf":
                bf16.add(name.decode())
        return Batch(self.header, arrays, frozenset(bf16))

    def close(self) -> None:
        if self._pid == os.getpid():
            self._lib.gnn_batches_free(self._batches)
            self._lib.gnn_graph_close(self._graph)
        self._batches = self._graph = None

    __del__ = close


def sampler(path: str, options: Sequence[str]) -> Sampler | None:
    """A sampler, or None where there is no library, or options are of the program only, or wrong: that says how."""
    lib = library()
    try:
        return Sampler(lib, path, options) if lib else None
    except ProgramError as why:
        if why.status != _USAGE:
            raise
        return None


def coo(first: int, indptr: np.ndarray, indices: np.ndarray, out: np.ndarray) -> bool:
    """Fills out, int64 (2, e), with the edges of a block; False without the library."""
    lib = library()
    if lib is None or not all(a.flags.c_contiguous and a.dtype == np.uint32 for a in (indptr, indices)):
        return False
    lib.gnn_block_coo(ctypes.c_uint32(first), ctypes.c_uint64(len(indptr) - 1),
                      *(ctypes.c_void_p(a.ctypes.data) for a in (indptr, indices, out)))
    return True
