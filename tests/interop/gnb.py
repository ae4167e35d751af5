# SPDX-License-Identifier: Apache-2.0
"""Reads and writes GNB with NumPy: written from gnb(5) alone, to show that the page is enough.

read_frames(file)    yields (kind, [(name, array)]) of one or several streams, or of a store part
read_store(dir)      returns (header, [{name: array} per part])
write_frames(file, header, frames, align)   HEADER, the frames, END
Sums are checked, and needed for writing, with the module xxhash."""
import json
import math
import os
import struct
import sys

import numpy as np
import promised

try:
    from xxhash import xxh3_64_intdigest as xxh3
except ImportError:
    xxh3 = None

MAGIC = b"\xb7GNB"
HEADER, BATCH, TENSORS, END = 1, 2, 3, 4
# NumPy has no bf16: its bits come as u16.
DTYPE = [None, "u1", "i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f2", "<u2", "<f4", "<f8"]
HEAD, ENTRY = struct.Struct("<4sHHIIQQQIIQQ"), struct.Struct("<BBBBHHQQQQ")


def must(true, what):
    if not true:
        raise ValueError(what)


def exactly(f, n, what):
    b = f.read(n)
    must(len(b) == n, "cut short in " + what)
    return b


def read_frame(f, first):
    """(kind, tensors, bytes, sum) or None at the end of the file; `first` is the sequence number asked for."""
    head = f.read(64)
    if not head:
        return None
    must(len(head) == 64, "cut short in a frame header")
    magic, major, _, kind, ntensors, seq, ntable, npayload, align, r1, r2, total = HEAD.unpack(head)
    must(magic == MAGIC, "no GNB")
    must(major in (1, 2, 3, 4), "major version")
    must(kind in (HEADER, BATCH, TENSORS, END) and align in (64, 4096), "kind or alignment")
    must(r1 == 0 and r2 == 0 and ntensors <= 16384 and ntable <= 64 << 20, "header out of limits")
    must(seq == first, "sequence")
    table = exactly(f, ntable, "a tensor table")
    must(xxh3 is None or xxh3(head[:56] + table) == total, "sum of header and table")
    must((64 + ntable) % align == 0, "padding of the table")
    payload = exactly(f, npayload, "a payload")
    tensors, at, end = [], 0, 0
    for _ in range(ntensors):
        dtype, codec, ndim, z1, nname, z2, offset, stored, raw, hash_ = ENTRY.unpack_from(table, at)
        must(1 <= dtype <= 12 and codec in (0, 1) and ndim <= 4 and z1 == 0 and z2 == 0, "table entry")
        shape = struct.unpack_from("<%dQ" % ndim, table, at + 40)
        name = table[at + 40 + 8 * ndim:][:nname].decode()
        at += (40 + 8 * ndim + nname + 7) // 8 * 8
        must(offset == (end + align - 1) // align * align, "offset of " + name)
        must(not any(payload[end:offset]), "padding before " + name)
        end = offset + stored
        data = payload[offset:end]
        must(len(data) == stored, "size of " + name)
        must(xxh3 is None or xxh3(data) == hash_, "sum of " + name)
        if codec == 1:
            import zstandard  # only packed streams need it
            data = zstandard.ZstdDecompressor().decompress(data, max_output_size=raw)
        must(len(data) == raw == math.prod(shape) * np.dtype(DTYPE[dtype]).itemsize, "shape of " + name)
        tensors.append((name, np.frombuffer(data, DTYPE[dtype]).reshape(shape)))
    must(len(set(n for n, _ in tensors)) == ntensors, "names")
    must(at <= ntable and ntable - at < align and not any(table[at:]), "end of the table")
    must(npayload == (end + align - 1) // align * align and not any(payload[end:]), "end of the payload")
    return kind, tensors, 64 + ntable + npayload, total


def read_frames(f):
    seq = size = 0
    while (frame := read_frame(f, seq)) is not None:
        kind, tensors, n, _ = frame
        must((kind == HEADER) == (seq == 0), "HEADER comes first, and once")
        if kind == HEADER:
            tensors = json.loads(tensors[0][1].tobytes())
        if kind == END:
            must(list(tensors[0][1]) == [seq, size], "totals")
            seq = size = 0
        else:
            seq, size = seq + 1, size + n
        yield kind, tensors
    must(seq == 0, "no END")


def read_stream(path):
    """The header, and the tensors of each batch by name."""
    with open(path, "rb") as f:
        frames = list(read_frames(f))
    return promised.must_be(must, path, frames[0][1], [dict(tensors) for kind, tensors in frames if kind == BATCH])


def read_store(path):
    with open(os.path.join(path, "store.json")) as f:
        header = json.load(f)
    parts = []
    for p in range(header["schema"]["parts"]):
        with open(os.path.join(path, "part-%05d.gnb" % p), "rb") as f:
            frames = list(read_frames(f))
        must([k for k, _ in frames] == [HEADER, TENSORS, END], "frames of a part")
        must(frames[0][1] == header, "header of part %d" % p)
        parts.append(dict(frames[1][1]))
    return header, promised.with_base(must, read_store, path, header, parts)


def write_frame(f, kind, seq, tensors, align, major=1):
    """Returns the frame's bytes and sum."""
    table, payload = b"", b""
    for name, a in tensors:
        data, a = np.ascontiguousarray(a).tobytes(), np.asarray(a)
        code = DTYPE.index(a.dtype.newbyteorder("<").str.replace("|", ""))
        payload += bytes(-len(payload) % align)
        entry = ENTRY.pack(code, 0, a.ndim, 0, len(name.encode()), 0, len(payload), len(data), len(data), xxh3(data))
        entry += struct.pack("<%dQ" % a.ndim, *a.shape) + name.encode()
        table += entry + bytes(-len(entry) % 8)
        payload += data
    table += bytes(-(64 + len(table)) % align)
    payload += bytes(-len(payload) % align)
    head = HEAD.pack(MAGIC, major, 0, kind, len(tensors), seq, len(table), len(payload), align, 0, 0, 0)[:56]
    total = xxh3(head + table)
    f.write(head + struct.pack("<Q", total) + table + payload)
    return 64 + len(table) + len(payload), total


def write_frames(f, header, frames, align=64, kind=BATCH, major=None):
    """Returns the sum of the last frame before END."""
    meta = np.frombuffer(json.dumps(header).encode(), "u1")
    major = major or promised.version(header)
    size, total = write_frame(f, HEADER, 0, [("meta", meta)], align, major)
    for seq, tensors in enumerate(frames, 1):
        n, total = write_frame(f, kind, seq, tensors, align, major)
        size += n
    write_frame(f, END, len(frames) + 1, [("totals", np.array([len(frames) + 1, size], "<u8"))], align, major)
    return total


if __name__ == "__main__":
    for file in sys.argv[1:] or ["/dev/stdin"]:
        with open(file, "rb") as stream:
            print(file, sum(kind == BATCH for kind, _ in read_frames(stream)), "batches")
