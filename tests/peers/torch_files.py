# SPDX-License-Identifier: Apache-2.0
"""torch_files.py PROGRAM: writes files with pickle, torch.save and PyG, and compares what test_torch_file prints of them with what
they hold. One line a file: ok, skip or "not ok"|name|what was seen."""
import collections
import pickle
import subprocess
import sys

import numpy as np
import torch

PROGRAM = sys.argv[1]
NAMES = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "bool": "bool"}


def array(kind, shape, data, dense):
    kind = NAMES.get(kind, kind.replace("uint", "u").replace("int", "i"))
    return "%s[%s]%s=%s" % (kind, ", ".join(map(str, shape)), "" if dense else "~", data.hex())


def tensor(t):
    data = t.detach().contiguous()
    data = data.view(torch.int16).numpy() if t.dtype == torch.bfloat16 else data.numpy()
    return array(str(t.dtype).split(".")[1], t.shape, data.tobytes(), t.is_contiguous() or not t.numel())


def parts(begin, items, end):
    items = list(items)
    return begin + ", ".join(items) + ("," if len(items) == 1 and end == ")" else "") + end


def text(v):
    """As tests/pickle_repr.h writes it."""
    if isinstance(v, torch.Tensor):
        return tensor(v)
    if isinstance(v, (np.ndarray, np.generic)):
        v = np.asarray(v)
        # What is contiguous in neither order is written as if it was.
        return array(str(v.dtype), v.shape, v.tobytes(), v.flags.c_contiguous or not v.flags.f_contiguous or not v.size)
    if isinstance(v, dict):
        return parts("{", (text(k) + ": " + text(x) for k, x in v.items()), "}")
    if isinstance(v, tuple):
        return parts("(", map(text, v), ")")
    if isinstance(v, list):
        return parts("[", map(text, v), "]")
    if isinstance(v, (set, frozenset)):
        return parts("set{", map(text, v), "}")
    if isinstance(v, (bytes, bytearray)):
        return "b'%s'" % v.hex()
    if isinstance(v, float):
        return "%.17g" % v
    if isinstance(v, type) or callable(v):
        return "<%s.%s>" % (v.__module__, v.__name__)
    return repr(v)


def shown(path):
    run = subprocess.run([PROGRAM, path], capture_output=True, text=True)
    return run.stdout.rstrip("\n") + run.stderr


def verdict(name, good, seen):
    print("%s|%s|%s" % ("ok" if good else "not ok", name, seen[:1000]))


def same(name, value, path):
    seen, want = shown(path), text(value)
    at = next((i for i in range(min(len(seen), len(want))) if seen[i] != want[i]), min(len(seen), len(want)))
    verdict(name, seen == want, "at %d: %r, not %r" % (at, seen[at:at + 200], want[at:at + 200]))


def holds(name, path, *pieces):
    seen = shown(path)
    verdict(name, all(p in seen for p in pieces), "%r is not in %s" % ([p for p in pieces if p not in seen], seen))


def plain():
    return {"none": None, "yes": True, "int": [0, 255, 256, 65535, 65536, -1, 2**31, -2**31, 2**63 - 1, -2**63], "float": [0.1, -2.5, 1e300],
            "text": ["", "abc", "a" * 300, "\u00e4\u20ac"], "bytes": [b"", b"abc\xff", bytes(range(256)), bytearray(b"\x80x")],
            "tuple": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)], "set": [set(), {7}, frozenset(), frozenset([8])],
            "ordered": collections.OrderedDict(a=1, b=2), "default": collections.defaultdict(list, {1: [2]}), "many": list(range(5000)),
            "pairs": {str(i): i for i in range(3000)}, ("a", "to", "b"): "key"}


def arrays():
    out = {k: np.arange(6).astype(k).reshape(2, 3) for k in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "?")}
    out.update(fortran=np.asfortranarray(np.arange(24.).reshape(2, 3, 4)), part=np.arange(20)[3:17:2], scalar=np.float32(1.5), index=np.int64(-7),
               zero=np.array(3), empty=np.zeros((0, 4), "f4"), bytes=np.arange(256, dtype="u1"), transposed=np.arange(6).reshape(2, 3).T)
    return out


def tensors():
    kinds = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)
    out = {str(k): (torch.arange(6) % 2).to(k).reshape(3, 2) for k in kinds}
    x = torch.arange(24.).reshape(2, 3, 4)
    out.update(view=x[1], column=x[:, 1], transposed=x.permute(2, 0, 1), whole=x, scalar=torch.tensor(5), empty=torch.zeros(0, 3),
               parameter=torch.nn.Parameter(torch.ones(2)), edge_index=torch.tensor([[0, 1], [1, 2]]).t(), size=torch.Size([1, 2]), array=np.arange(3))
    return out


def pickles():
    for p in 2, 3, 4, 5:
        for what, value in ("plain values", plain()), ("arrays", arrays()):
            with open("f.pkl", "wb") as f:
                pickle.dump(value, f, protocol=p)
            same("%s in a pickle of protocol %d" % (what, p), value, "f.pkl")


def saved():
    for p in 2, 3, 4, 5:
        for zipped in True, False:
            for what, value in ("plain values", plain()), ("tensors", tensors()):
                torch.save(value, "f.pt", pickle_protocol=p, _use_new_zipfile_serialization=zipped)
                same("%s in %s of protocol %d" % (what, "an archive" if zipped else "a legacy file", p), value, "f.pt")
    with_attribute = torch.arange(3)
    with_attribute.note = "attribute"
    torch.save([with_attribute], "f.pt")
    same("a tensor with an attribute", [with_attribute], "f.pt")
    torch.save(torch.eye(2).to_sparse_csr(), "f.pt")
    holds("a sparse tensor is an object that has its parts", "f.pt", "torch._utils._rebuild_sparse_tensor(", "i64[3]=", "f32[2]=0000803f0000803f")
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    torch.save(model.state_dict(), "f.pt")
    same("a state dict", dict(model.state_dict()), "f.pt")
    x = torch.arange(1000.)
    torch.save([x[i:i + 10] for i in range(0, 1000, 10)], "f.pt")
    same("views of one storage", [x[i:i + 10] for i in range(0, 1000, 10)], "f.pt")


def refused():
    torch.save(torch.nn.Linear(1, 1), "f.pt")
    holds("a whole module is refused by its name", "f.pt", "data.pkl: byte", "global 'torch.nn.modules.linear.Linear' is not one that is read")
    torch.jit.script(torch.nn.Linear(1, 1)).save("f.pt")
    holds("an archive of TorchScript is refused", "f.pt", "an archive of TorchScript", "torch.save or numpy.savez")
    torch.save({"x": torch.ones(1).expand(1000)}, "f.pt")
    holds("an expanded tensor is refused", "f.pt", "!a tensor: it has more elements than its data hold")
    torch.save({"x": torch.ones(1, dtype=torch.complex64)}, "f.pt")
    holds("complex numbers are refused", "f.pt", "global 'torch.ComplexFloatStorage' is not one that is read")
    with open("f.pkl", "wb") as f:
        pickle.dump(subprocess.Popen, f)
    holds("a class that runs programs is refused", "f.pkl", "global 'subprocess.Popen' is not one that is read")


def pyg():
    try:
        from torch_geometric.data import Data, HeteroData, InMemoryDataset, TemporalData
    except ImportError:
        print("skip|files of PyG|torch_geometric is not installed")
        return
    x, edges = torch.rand(4, 2), torch.tensor([[0, 1, 2], [1, 2, 3]])
    one = Data(x=x, edge_index=edges, y=torch.tensor([0, 1, 0, 1]), train_mask=torch.tensor([True, False, True, False]))
    torch.save(one, "f.pt")
    holds("a Data of PyG", "f.pt", "'x': " + text(x), "'edge_index': " + text(edges), "'train_mask': bool[4]", "GlobalStorage")
    typed = HeteroData()
    typed["a"].x, typed["b"].num_nodes = x, 3
    typed["a", "to", "b"].edge_index = edges
    torch.save(typed, "f.pt")
    holds("a HeteroData of PyG", "f.pt", "'x': " + text(x), "('a', 'to', 'b')", "'edge_index': " + text(edges), "'num_nodes': 3")
    torch.save(TemporalData(src=edges[0], dst=edges[1], t=torch.arange(3), msg=torch.ones(3, 2)), "f.pt")
    holds("a TemporalData of PyG", "f.pt", "'src': " + text(edges[0]), "'dst': " + text(edges[1]), "'msg': f32[3, 2]")
    try:
        from torch_geometric import EdgeIndex, Index
        torch.save([EdgeIndex(edges, sparse_size=(4, 4), sort_order="row"), Index([0, 1, 1], dim_size=3)], "f.pt")
        holds("EdgeIndex and Index of PyG", "f.pt", "[%s, %s]" % (text(edges), text(torch.tensor([0, 1, 1]))))
    except ImportError:
        print("skip|EdgeIndex and Index of PyG|this PyG does not have them")
    for what, data in ("Data", [one]), ("HeteroData", [typed]), ("two Data", [one, one]):
        InMemoryDataset.save(data, "f.pt")
        holds("a data set of %s of PyG" % what, "f.pt", "'edge_index': ", "f32[", "<torch_geometric.data.")
    torch.save((one, {"x": torch.tensor([0, 4])}), "f.pt")
    holds("a data set as older PyG wrote them", "f.pt", "'x': " + text(x), "{'x': i64[2]=")


for part in pickles, saved, refused, pyg:
    part()
