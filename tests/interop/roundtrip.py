# SPDX-License-Identifier: Apache-2.0
"""What 10-numpy.t asks of gnb.py. usage: roundtrip.py COMMAND ARGUMENT..."""
import json
import os
import sys
import urllib.parse

import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
import gnb


def members(npz):
    """Arrays by the names of their tensors; no name leads anywhere but into the archive's directory."""
    z = np.load(npz)
    for k in z.files:
        assert all(c not in ("", ".", "..") for c in k.split("/")) and "\\" not in k, k
    return {urllib.parse.unquote(k): z[k] for k in z.files}


def export(store, npz):
    """The reader and gnn-inspect --export see the same tensors."""
    _, parts = gnb.read_store(store)
    want = members(npz)
    seen = 0
    for p, tensors in enumerate(parts):
        for name, a in tensors.items():
            b = want[("part-%d/" % p if len(parts) > 1 else "") + name]
            assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes(), name
            seen += 1
    assert seen == len(want)


def copy(store, out, *changes):
    """Writes a store that C has to find sound, and the same; or with changed elements (PART/TENSOR=INDEX=VALUE)
    and right sums, or without a tensor (PART/TENSOR)."""
    header, parts = gnb.read_store(store)
    for change in changes:
        name, *at = change.split("=")
        part, name = name.split("/", 1)
        if at:
            parts[int(part)][name] = parts[int(part)][name].copy()
            parts[int(part)][name].reshape(-1)[int(at[0])] = float(at[1]) if at[1] == "nan" else int(at[1])
        else:
            del parts[int(part)][name]
    os.mkdir(out)
    files = ["%s/part-%05d.gnb" % (out, p) for p in range(len(parts))]
    for final in (False, True):
        schema = json.dumps(header["schema"], separators=(",", ":"), ensure_ascii=False).encode()
        for file, tensors in zip(files, parts):
            with open(file, "wb") as f:
                total = gnb.write_frames(f, header, [list(tensors.items())], 4096, gnb.TENSORS)
            schema += total.to_bytes(8, "little")
        header["identity"] = "%016x" % gnb.xxh3(schema)
    with open(out + "/store.json", "w") as f:
        json.dump(header, f)


def stream(store, out):
    """Two batches of one hop over a store of one node type and one part: all in-edges of two seeds each."""
    header, (part,) = gnb.read_store(store)
    node = header["schema"]["node_types"][0]["name"]
    edge = header["schema"]["edge_types"][0]
    key = "%s/%s/%s" % (edge["src"], edge["rel"], edge["dst"])
    indptr, indices = part["edge/%s/indptr" % key], part["edge/%s/indices" % key]
    frames = []
    for step in range(2):
        nodes, ptr, index = [2 * step, 2 * step + 1], [0], []
        for v in (2 * step, 2 * step + 1):
            for u in indices[indptr[v]:indptr[v + 1]].tolist():
                if u not in nodes:
                    nodes.append(u)
                index.append(nodes.index(u))
            ptr.append(len(index))
        frames.append([("key", np.array([0, step, 0, 0], "<u8")), ("nodes/" + node, np.array(nodes, "<u4")),
                       ("counts/" + node, np.array([2, len(nodes)], "<u8")),
                       ("hop/0/%s/indptr" % key, np.array(ptr, "<u4")),
                       ("hop/0/%s/indices" % key, np.array(index, "<u4"))])
    header["content"] = "batches"
    header["sampling"] = {
        "seed": "%016x" % 0, "fanout": [[-1]], "batch_size": 2, "frontier": "all", "replace": False, "shuffle": False,
        "drop_last": False, "edge_ids": False, "original_ids": False, "seed_type": node,
        "splits": [{"name": "train", "steps": 2, "seeds": 4}]}
    with open(out, "wb") as f:
        gnb.write_frames(f, header, frames)


def batches(file, npz):
    """The batches that the reader finds are those that gnn-inspect --export finds."""
    want, n, seen = members(npz), 0, 0
    with open(file, "rb") as f:
        for kind, tensors in gnb.read_frames(f):
            if kind != gnb.BATCH:
                continue
            for name, a in tensors:
                b = want["batch-%d/%s" % (n, name)]
                assert a.shape == b.shape and a.tobytes() == b.tobytes(), name
                seen += 1
            n += 1
    assert n and seen == len(want)


if __name__ == "__main__":
    {"export": export, "copy": copy, "stream": stream, "batches": batches}[sys.argv[1]](*sys.argv[2:])
