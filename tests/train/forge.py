#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""forge.py MODEL DIR <EDITS: a model with each edit, under a checksum that holds, as DIR/1, DIR/2, ...

An edit is a line of Python. d is the model's description, meta the other metadata, t maps a tensor's name to [dtype, shape, bytes]; text(f) and
head(f) replace the description and the file's header as JSON text by what f makes of them. Needs libxxhash, which
gnn-tools is linked with."""
import ctypes, ctypes.util, json, struct, sys


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def digits(data):
    xxh = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
    xxh.XXH3_128bits.restype, xxh.XXH3_128bits.argtypes = Hash128, [ctypes.c_char_p, ctypes.c_size_t]
    h = xxh.XXH3_128bits(data, len(data))
    return b"%016x%016x" % (h.high, h.low)


def forge(model, edit):
    n = struct.unpack("<Q", model[:8])[0]
    header, data = json.loads(model[8:8 + n]), model[8 + n:]
    meta = header.pop("__metadata__")
    d, changes = json.loads(meta["gnn"]), {}
    t = {k: [v["dtype"], v["shape"], data[slice(*v["data_offsets"])]] for k, v in header.items()}
    exec(edit, {"d": d, "t": t, "meta": meta, "struct": struct,
                "text": lambda f: changes.update(text=f), "head": lambda f: changes.update(head=f)})
    meta["gnn"] = changes.get("text", str)(json.dumps(d, separators=(",", ":")))
    meta["gnn_checksum"] = "0" * 32
    out, at = {"__metadata__": meta}, 0
    for k, (dtype, shape, b) in t.items():
        out[k] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(b)]}
        at += len(b)
    h = changes.get("head", str)(json.dumps(out, separators=(",", ":"))).encode()
    h += b" " * (-(8 + len(h)) % 64)
    f = struct.pack("<Q", len(h)) + h + b"".join(v[2] for v in t.values())
    return f.replace(b"0" * 32, digits(f), 1)


def main():
    with open(sys.argv[1], "rb") as f:
        model = f.read()
    for k, edit in enumerate(sys.stdin, 1):
        with open(f"{sys.argv[2]}/{k}", "wb") as f:
            f.write(forge(model, edit.strip()))


main()
