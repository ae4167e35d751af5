#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""change.py FILE TO CODE: writes a stream with the header h and the batches b, dictionaries of arrays, that Python code has changed;
of another version, if the code sets major."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
import gnb

with open(sys.argv[1], "rb") as f:
    frames = list(gnb.read_frames(f))
h, b = frames[0][1], [{n: a.copy() for n, a in t} for k, t in frames if k == gnb.BATCH]
major = None
exec(sys.argv[3])
with open(sys.argv[2], "wb") as f:
    gnb.write_frames(f, h, [list(x.items()) for x in b], major=major)
