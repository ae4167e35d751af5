#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""sparse.py STORE OUT EDGES: a store of one partition like STORE, but with so many edges, all from node 0, shared evenly by the
nodes. Their sources are a hole of the file, which takes no space on the disk. All sums hold but that of the hole. Needs libxxhash,
which gnn-tools is linked with; gnb(5) has the format."""
import ctypes, ctypes.util, json, os, struct, sys

HEAD, ENTRY = struct.Struct("<4sHHIIQQQIIQQ"), struct.Struct("<BBBBHHQQQQ")
ALIGN = 4096
lib = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
lib.XXH3_64bits.restype, lib.XXH3_64bits.argtypes = ctypes.c_uint64, [ctypes.c_char_p, ctypes.c_size_t]


def xxh3(data):
    return lib.XXH3_64bits(bytes(data), len(data))


def read_frame(data, at):
    """(kind, [(dtype, shape, name, bytes)], the frame's end)"""
    _, _, _, kind, ntensors, _, ntable, npayload, _, _, _, _ = HEAD.unpack_from(data, at)
    table, payload, tensors = at + 64, at + 64 + ntable, []
    for _ in range(ntensors):
        dtype, _, ndim, _, nname, _, offset, stored, _, _ = ENTRY.unpack_from(data, table)
        shape = struct.unpack_from("<%dQ" % ndim, data, table + 40)
        name = data[table + 40 + 8 * ndim:][:nname]
        tensors.append((dtype, shape, name, data[payload + offset:payload + offset + stored]))
        table += (40 + 8 * ndim + nname + 7) // 8 * 8
    return kind, tensors, payload + npayload


def write_frame(f, kind, seq, tensors):
    """The frame's sum. The bytes of a tensor may be a number: that of the bytes of a hole."""
    table, at, places = b"", 0, []
    for dtype, shape, name, data in tensors:
        at += -at % ALIGN
        n = data if isinstance(data, int) else len(data)
        entry = ENTRY.pack(dtype, 0, len(shape), 0, len(name), 0, at, n, n, 0 if isinstance(data, int) else xxh3(data))
        entry += struct.pack("<%dQ" % len(shape), *shape) + name
        table += entry + bytes(-len(entry) % 8)
        places.append(at)
        at += n
    table += bytes(-(64 + len(table)) % ALIGN)
    at += -at % ALIGN
    head = HEAD.pack(b"\xb7GNB", 1, 0, kind, len(tensors), seq, len(table), at, ALIGN, 0, 0, 0)[:56]
    total, start = xxh3(head + table), f.tell()
    f.write(head + struct.pack("<Q", total) + table)
    for place, (_, _, _, data) in zip(places, tensors):
        if not isinstance(data, int):
            f.seek(start + 64 + len(table) + place)
            f.write(data)
    f.seek(start + 64 + len(table) + at)
    f.truncate()
    return total


def main():
    store, out, edges = sys.argv[1], sys.argv[2], int(sys.argv[3])
    data = open(store + "/part-00000.gnb", "rb").read()
    kind, (meta,), at = read_frame(data, 0)
    header, (_, tensors, at) = json.loads(meta[3]), read_frame(data, at)
    end = read_frame(data, at)
    header["schema"]["edge_types"][0]["count"] = edges
    nodes = header["schema"]["node_types"][0]["count"]
    for i, (dtype, shape, name, _) in enumerate(tensors):
        if name == b"edge/node/to/node/indptr":
            tensors[i] = (dtype, shape, name, struct.pack("<%dQ" % (nodes + 1), *[edges * v // nodes for v in range(nodes + 1)]))
        if name == b"edge/node/to/node/indices":
            tensors[i] = (dtype, (edges,), name, 4 * edges)
    os.mkdir(out)
    with open(out + "/part-00000.gnb", "w+b") as f:
        sums = write_frame(f, 3, 1, tensors)  # only for the sum, which the header needs
        text = json.dumps(header["schema"], separators=(",", ":")).encode()
        header["identity"] = "%016x" % xxh3(text + struct.pack("<Q", sums))
        f.seek(0)
        f.truncate()
        text = json.dumps(header, separators=(",", ":")).encode()
        write_frame(f, 1, 0, [(meta[0], (len(text),), meta[2], text)])
        write_frame(f, 3, 1, tensors)
        write_frame(f, 4, 2, [(end[1][0][0], end[1][0][1], end[1][0][2], struct.pack("<2Q", 2, f.tell()))])
    with open(out + "/store.json", "w") as f:
        json.dump(header, f)


main()
