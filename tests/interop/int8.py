# SPDX-License-Identifier: Apache-2.0
"""Rows of int8 with scales, from their description in gnb(5) alone. usage: int8.py COMMAND ARGUMENT..."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
import gnb


def whole(store, name, node="node"):
    """A tensor of nodes in the order of original ids."""
    _, parts = gnb.read_store(store)
    rows = np.concatenate([p[name] for p in parts])
    if "node/%s/id" % node not in parts[0]:
        return rows
    out = np.empty_like(rows)
    out[np.concatenate([p["node/%s/id" % node] for p in parts])] = rows
    return out


def rows(store):
    """The features of a store as they lie there: its field, and of int8 elements and scales; else None and None."""
    header, _ = gnb.read_store(store)
    x = whole(store, "node/node/x")
    (field,) = [f for f in header["schema"]["node_types"][0]["fields"] if f["name"] == "x"]
    if not field.get("scaled"):
        return field, x, None
    columns = max(field["width"], 1)
    at = -(-columns // 4) * 4
    assert field["dtype"] == "i8" and x.dtype == np.uint8 and x.shape[1:] == (at + 4,), (field, x.shape)
    assert not x[:, columns:at].any(), "padding"
    elements = np.ascontiguousarray(x[:, :columns]).view("i1")
    return field, elements if field["width"] else elements[:, 0], np.ascontiguousarray(x[:, at:]).view("<f4")[:, 0]


def numbers(store):
    """What the features of a store stand for, as f32."""
    _, x, scale = rows(store)
    return x.astype("f4") if scale is None else x.astype("f4") * scale.reshape(-1, *[1] * (x.ndim - 1))


def quantised(store, of):
    """The rows of `store` are those of `of` as int8, as the manual says."""
    x, (_, got, scale) = numbers(of), rows(store)
    f32 = x.reshape(len(x), -1)
    want = (np.abs(f32).max(1) / np.float32(127)).astype("f4")
    assert np.array_equal(scale, want), "scales"
    safe = np.where(want > 0, want, np.float32(1)).astype("f8")
    q = np.rint(f32.astype("f8") / safe[:, None])
    assert np.array_equal(q.astype("i1").reshape(got.shape), got), "elements"
    assert np.abs(q).max() == 127 and (want == 0).sum() == (~f32.any(1)).sum()
    off = np.abs(numbers(store).reshape(f32.shape).astype("f8") - f32).max(1)
    print("%.3g" % (100 * (off[want > 0] / np.abs(f32).max(1)[want > 0]).max()))


def gathered(store, stream, dtype="<f4"):
    """Each batch of a stream has the numbers of its nodes."""
    x, n = numbers(store), 0
    if dtype == "bf16":
        u = x.view("u4")
        x, dtype = ((u + 0x7fff + (u >> 16 & 1)) >> 16).astype("<u2"), "<u2"
    x = x.astype(dtype)
    for batch in gnb.read_stream(stream)[1]:
        nodes = batch.get("node/node/id", batch["nodes/node"])
        got = batch["node/node/x"]
        assert got.dtype == np.dtype(dtype) and np.array_equal(got, x[nodes]), "rows"
        n += len(got)
    assert n > 0


def exported(store, npz):
    got = np.load(npz)["x"]
    assert got.dtype == np.float32 and np.array_equal(got, numbers(store))


def edges(npz):
    """Features with zeros, ties, the ends of the range, and a column for d = 1."""
    r = np.random.default_rng(5)
    n, d = 90, 37
    x = r.normal(size=(n, d)).astype("f4") * np.exp2(r.integers(-60, 60, (n, 1))).astype("f4")
    x[3] = x[50] = 0
    x[4] = r.integers(-254, 255, d) / np.float32(2)
    x[4, 0] = 127
    x[5, 1] = np.finfo("f4").max / 2
    x[6] = -0.0
    index = np.stack([r.integers(0, n, 400), r.integers(0, n, 400)])
    y = r.integers(0, 3, n)
    np.savez(npz + ".npz", x=x, edge_index=index, y=y)
    np.savez(npz + "1.npz", x=x[:, :1], edge_index=index, y=y)
    np.savez(npz + "0.npz", x=x[:, 0], edge_index=index, y=y)
    for name, value in (("nan", np.nan), ("inf", -np.inf)):
        bad = x.copy()
        bad[41, 12] = value
        np.savez(npz + name + ".npz", x=bad, edge_index=index, y=y)


def python(store, out, package):
    """The Python package gives the same numbers."""
    sys.path.insert(0, package)
    import gnntools

    s, x = gnntools.Store(store), numbers(store)
    ids = s.ids() if s.schema["parts"] > 1 else np.arange(len(x))
    assert s.x.dtype == np.float32 and np.array_equal(np.asarray(s.x), x[ids])
    assert np.array_equal(s.x[np.array([5, 0, 5])], x[ids[[5, 0, 5]]])
    for batch in gnntools.gnb.Frames(out):
        break


if __name__ == "__main__":
    {f.__name__: f for f in (quantised, gathered, exported, edges, python)}[sys.argv[1]](*sys.argv[2:])
