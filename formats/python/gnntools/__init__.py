# SPDX-License-Identifier: Apache-2.0
"""gnn-tools for Python: sampled batches of a graph store as arrays, from programs that run beside the interpreter.

Pure Python over NumPy. torch, PyG, DGL and pandas are imported by the functions that need them, in whatever version.
"""
from importlib import import_module
from typing import Any

from . import gnb
from ._child import ProgramError
from .dataset import Loader
from .store import Store
from .stream import Batch, Block, Stream

# What is imported when it is used first, and its module.
_LATER = {"from_arrays": "arrays", "from_dgl": "convert", "from_pyg": "convert", "from_scipy": "convert",
          "from_tables": "tables", "load_model": "weights", "predict": "run", "save_model": "weights",
          "to_pyg": "convert", "train": "run"}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module("." + _LATER[name], __name__), name)
    if name != "__version__":
        raise AttributeError(f"module 'gnntools' has no attribute '{name}'")
    from importlib.metadata import PackageNotFoundError, version

    for wheel in ("gnn-tools", "gnn-tools-cuda"):
        try:
            return version(wheel)
        except PackageNotFoundError:
            pass
    return "unknown"


__all__ = ["Batch", "Block", "Loader", "ProgramError", "Store", "Stream", "gnb", *_LATER]
