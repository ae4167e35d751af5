# SPDX-License-Identifier: Apache-2.0
"""Files of DGL, from the description of their bytes in formats/dgl_file.h and without DGL.

An array is (type, shape, values), with a type of struct: q i4 as i, B, f, e, d. A node type is (name, count, {name: array}); an
edge type is (source, name, destination, edges, {name: array}), numbers of node types and pairs of ids. tests/peers compares with
what DGL writes."""
import os
import struct

COO, CSR, CSC = 1, 2, 4
KINDS = {"b": (0, 8), "h": (0, 16), "i": (0, 32), "q": (0, 64), "B": (1, 8), "e": (2, 16), "f": (2, 32), "d": (2, 64)}


def u64(*values):
    return struct.pack(f"<{len(values)}Q", *values)


def text(s):
    return u64(len(s.encode())) + s.encode()


def array(type, shape, values):
    data = struct.pack(f"<{len(values)}{type}", *values)
    head = struct.pack("<QQiiiBBH", 0xDD5E40F096B4A13F, 0, 1, 0, len(shape), *KINDS[type], 1)
    return head + u64(*shape, len(data)) + data


def ids(values, type="q"):
    return array(type, (len(values),), values)


def tensors(named):
    return u64(len(named)) + b"".join(text(k) + array(*v) for k, v in named.items())


def coo(rows, cols, pairs, type="q", order=()):
    pairs = [pairs[i] for i in order] if order else pairs
    head = u64(0xDD61FFD305DFF127, cols, rows)
    return head + ids([u for u, _ in pairs], type) + ids([v for _, v in pairs], type) + ids(order, type) + bytes(2)


def csr(rows, cols, pairs, type="q"):
    order = sorted(range(len(pairs)), key=lambda i: pairs[i][0])
    offsets = [sum(u < row for u, _ in pairs) for row in range(rows + 1)]
    head = u64(0xDD6CD31205DFF127, cols, rows)
    return head + ids(offsets, type) + ids([pairs[i][1] for i in order], type) + ids(order, type) + bytes(1)


def types(n, pairs):
    return u64(0xDD3C5FFE20046ABF) + csr(n, n, pairs)


def edges(rows, cols, pairs, forms, type, order):
    two = types(1, [(0, 0)]) if rows == cols else types(2, [(0, 1)])
    out = u64(0xDD2E60F0F6B4A127, 1 << 32 | forms, 1 << 32 | 7)
    if forms & COO:
        out += two + coo(rows, cols, pairs, type, order)
    if forms & CSR:
        out += two + csr(rows, cols, pairs, type)
    if forms & CSC:
        out += two + csr(cols, rows, [(v, u) for u, v in pairs], type)
    return out


def graph(ntypes, etypes, forms=COO, type="q", order=()):
    """The bytes of one graph; `order`: in which COO lists the edges of the first type."""
    count = [n for _, n, _ in ntypes]
    out = u64(0xDD589FBE35224ABF) + types(len(ntypes), [(s, d) for s, _, d, _, _ in etypes]) + u64(len(etypes))
    for i, (s, _, d, pairs, _) in enumerate(etypes):
        out += edges(count[s], count[d], pairs, forms, type, () if i else order)
    out += u64(len(count), *count)
    out += u64(len(ntypes)) + b"".join(tensors(t) for *_, t in ntypes) + u64(len(etypes)) + b"".join(tensors(t) for *_, t in etypes)
    return out + u64(len(ntypes)) + b"".join(text(t[0]) for t in ntypes) + u64(len(etypes)) + b"".join(text(t[1]) for t in etypes)


def save_graphs(graphs, labels=None, version=2):
    """The bytes of dgl.save_graphs."""
    labels = tensors(labels or {})
    at, places = 4096 + 8 + len(labels), []
    head = u64(0xDD2E4FF046B4A13F, version, 2, len(graphs)).ljust(4096, b"\0") + u64(at) + labels
    for g in graphs:
        places.append(at)
        at += len(g)
    blob = u64(len(places), *places)
    return head + b"".join(graphs) + u64(len(blob)) + blob + u64(len(blob))


def save_tensors(named):
    """The bytes of dgl.data.utils.save_tensors."""
    return u64(0xDD5A9FBE3FA2443F, len(named)) + tensors(named)


def save_npy(folder, named):
    """Arrays as files FOLDER/NAME.npy."""
    descr = {"q": "<i8", "i": "<i4", "h": "<i2", "b": "|i1", "B": "|u1", "H": "<u2", "e": "<f2", "f": "<f4", "d": "<f8"}
    for name, (type, shape, values) in named.items():
        path = os.path.join(folder, name + ".npy")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        head = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (descr[type], "".join("%d," % n for n in shape))
        with open(path, "wb") as f:
            f.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head) + 1) + head.encode() + b"\n" + struct.pack(f"<{len(values)}{type}", *values))


def arrays(ntypes, etypes):
    """What a graph holds, for save_npy."""
    named = {}
    for name, n, fields in ntypes:
        named["%s/num_nodes" % name] = ("q", (), [n])
        named.update({"%s/%s" % (name, k): v for k, v in fields.items()})
    for s, name, d, pairs, fields in etypes:
        name = "%s/%s/%s" % (ntypes[s][0], name, ntypes[d][0])
        for k, end in enumerate(("src", "dst")):
            named["%s/%s" % (name, end)] = ("q", (len(pairs),), [p[k] for p in pairs])
        named.update({"%s/%s" % (name, k): v for k, v in fields.items()})
    return named


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)
