# SPDX-License-Identifier: Apache-2.0
"""gnn-tools for Python: sampled batches of a graph store as arrays, from programs that run beside the interpreter.

Pure Python over NumPy. torch, PyG, DGL and pandas are imported by the functions that need them, in whatever version.
"""
from . import gnb
from ._child import ProgramError
from .dataset import Loader
from .store import Store
from .stream import Batch, Block, Stream


def __getattr__(name: str) -> str:
    if name != "__version__":
        raise AttributeError(f"module 'gnntools' has no attribute '{name}'")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("gnn-tools")
    except PackageNotFoundError:
        return "unknown"


__all__ = ["Batch", "Block", "Loader", "ProgramError", "Store", "Stream", "gnb"]
