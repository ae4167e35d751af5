#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""forge.py STREAM NAME: STREAM, of random walks, with one thing wrong; without NAME, what can be."""
import copy
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
import gnb


def said(**members):
    return lambda header, batch: header["sampling"]["walks"].update(members)


def walked(row, column, value):
    def change(header, batch):
        batch["walk"][row, column] = value
    return change


def without(header, batch):
    del batch["walk"]


def fewer(header, batch):
    batch["walk"] = batch["walk"][:-1]


def no_hops(header, batch):
    header["sampling"]["fanout"] = []


def narrow(header, batch):
    batch["walk"] = batch["walk"][:, 1:]


def wide_fanout(header, batch):
    header["sampling"]["fanout"] = [[2]]


def drawn_once(header, batch):
    header["sampling"]["replace"] = False


WRONG = {
    "length-0": said(length=0), "length-2.5": said(length=2.5), "length-65536": said(length=65536), "length": said(length=3),
    "per-seed-0": said(per_seed=0), "restart-1": said(restart=1), "restart-negative": said(restart=-0.5), "p-0": said(p=0),
    "q-101": said(q=101), "window-negative": said(window=-1), "pairs": said(window=2), "fan-out-2": wide_fanout,
    "not-replaced": drawn_once, "missing": without, "fewer": fewer, "no-hops": no_hops, "many": said(per_seed=1 << 28), "narrow": narrow, "a-node-too-many": walked(1, 3, 1 << 30),
    "no-seed": walked(0, 0, 0xFFFFFFFF), "on-after-the-end": walked(2, 4, 0xFFFFFFFF),
}


def main(path, name=None):
    if not name:
        print("\n".join(WRONG))
        return
    with open(path, "rb") as f:
        frames = list(gnb.read_frames(f))
    header = copy.deepcopy(frames[0][1])
    batches = [{n: np.array(a) for n, a in t} for kind, t in frames if kind == gnb.BATCH]
    WRONG[name](header, batches[0])
    with open("forged", "wb") as f:
        gnb.write_frames(f, header, [list(b.items()) for b in batches])


main(*sys.argv[1:])
