# SPDX-License-Identifier: Apache-2.0
"""What tests of the package import: the package itself and what they ask of it."""
# ruff: noqa: F401
import gc
import io
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np

import gnntools as g
from gnntools import gnb

TOP = os.environ["GNN_TOP"]


def raises(kind, text, call, *args, **kw):
    """The exception of this kind, whose text contains `text`."""
    try:
        result = repr(call(*args, **kw))
    except kind as why:
        assert text in str(why), f"{why!r} does not say {text!r}"
        return why
    raise AssertionError(f"no {kind}, but {result[:200]}")


def same(a, b):
    """Whether two batches have the same arrays."""
    return list(a.arrays) == list(b.arrays) and all(np.array_equal(x, b.arrays[name]) for name, x in a.arrays.items())


def children():
    """Process ids of this process's children, also of those that are dead and not waited for."""
    with open(f"/proc/self/task/{threading.get_native_id()}/children") as f:
        return f.read().split()


def shared():
    """How much of this process's address space is memory of other programs, in bytes."""
    with open("/proc/self/maps") as f:
        ranges = [line.split()[0].split("-") for line in f if "gnn-handoff" in line]
    return sum(int(b, 16) - int(a, 16) for a, b in ranges)
