# SPDX-License-Identifier: Apache-2.0
"""folder_seeds.py OUT: writes the seeds of fuzz_folder.c into the directory OUT. Works in the current directory, which should be empty; needs NumPy, and
SciPy for Planetoid's files."""
import json
import os
import pickle
import runpy
import shutil
import sys

import numpy as np
import scipy.sparse as sp

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../import"))
from torch_save import save, tensor  # noqa: E402 pylint: disable=wrong-import-position

OUT = os.path.abspath(sys.argv[1])


def pack(name, folder):
    """The files of a folder, as the target reads them."""
    out = bytearray()
    for path, _, files in sorted(os.walk(folder)):
        for file in sorted(files):
            full = os.path.join(path, file)
            rel = os.path.relpath(full, folder).encode()
            with open(full, "rb") as f:
                data = f.read()
            out += bytes([len(rel)]) + rel + len(data).to_bytes(4, "little") + data
    with open(os.path.join(OUT, name), "wb") as f:
        f.write(out)
    shutil.rmtree(folder)


def texts(folder, files):
    os.makedirs(folder, exist_ok=True)
    for name, text in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)


def arrays(folder, files):
    for name, a in files.items():
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        np.save(os.path.join(folder, name), a)


def pyg_one_type():
    n, ends = np.array([0, 1, 0, 1]), np.array([[0, 1, 2, 3, 0], [1, 2, 3, 0, 2]])
    for p in range(2):
        ids, mine = np.flatnonzero(n == p), np.flatnonzero(n[ends[1]] == p)
        os.makedirs("d/part_%d" % p)
        save({"edge_id": tensor(mine), "row": tensor(ends[0][mine]), "col": tensor(ends[1][mine]), "size": (4, 4)}, "d/part_%d/graph.pt" % p)
        save({"global_id": tensor(ids), "feats": {"x": tensor(np.ones((len(ids), 2), np.float32))}, "time": tensor(np.arange(4))},
             "d/part_%d/node_feats.pt" % p)
        save({"global_id": tensor(mine), "feats": {}, "edge_time": tensor(mine)}, "d/part_%d/edge_feats.pt" % p)
    save(tensor(n), "d/node_map.pt")
    save(tensor(n[ends[1]]), "d/edge_map.pt")
    texts("d", {"META.json": json.dumps({"num_parts": 2, "node_types": None, "edge_types": None, "is_hetero": False, "is_sorted": True})})


def planetoid():
    n, test = 505, [504, 503]
    graph = {i: [i + 1, 0] for i in range(0, 40, 20)}
    x = sp.csr_matrix((np.ones(2, np.float32), ([0, 1], [0, 1])), (n - 2, 2))
    files = {"x": x[:2], "allx": x, "tx": x[:2], "y": np.eye(2, dtype=np.int8), "ally": np.ones((n - 2, 2), np.int8), "ty": np.eye(2, dtype=np.int8),
             "graph": graph}
    for a in (x, files["x"], files["tx"]):
        a.indptr, a.indices = a.indptr.astype(np.int32), a.indices.astype(np.int32)
    os.makedirs("d")
    for name, value in files.items():
        with open("d/ind.a." + name, "wb") as f:
            pickle.dump(value, f, 2)
    texts("d", {"ind.a.test.index": "".join("%d\n" % t for t in test)})


def jodie():
    rows = ["%d,%d,%d,%d,0.5,%d" % (i % 3, i % 2, i, i % 2, i) for i in range(6)]
    texts("d", {"wiki.csv": "\n".join(["user_id,item_id,timestamp,state_label,comma_separated_list_of_features"] + rows) + "\n"})


SHOP = {"users.csv": "id,age,city,y\nu1,30,Rome,1\nu2,,Oslo,0\nu3,41,Rome,1\n", "items.csv": "sku;price\n9;2\n7;1.5\n11;3\n",
        "buys.csv": "user,sku,amount,time\nu1,7,2,10\nu2,9,1,11\nu1,11,5,12\n", "follows.txt": "a b\nu1 u2\nu2 u3\n"}
LISTED = {"nodes": {"user": "users.csv:id", "item": "items.csv:sku"}, "edges": {"user/buys/item": "buys.csv:user,sku", "user/follows/user": "follows.txt:a,b"},
          "encode": {"city": "one-hot"}}
NEO4J = {"persons.csv": "personId:ID(Person),name,age:int,:LABEL\np1,Ann,30,Person\np2,Bob,25,Person\n",
         "knows.csv": ":START_ID(Person),:END_ID(Person),since:int\np1,p2,3\np2,p1,4\n"}

sys.argv = [""]
runpy.run_path(os.path.join(HERE, "../import/pyg_folder.py"))
pack("pyg-typed", "d")
pyg_one_type()
pack("pyg-plain", "d")
for kind in "types", "homo", "old":
    sys.argv = ["", kind]
    runpy.run_path(os.path.join(HERE, "../import/glt_folder.py"))
    pack("glt-" + kind, "d")
planetoid()
pack("planetoid", "d")
arrays("d", {"paper/x": np.ones((3, 2), np.float32), "paper/y": np.arange(3), "paper/train_mask": np.array([True, False, False]),
             "author/num_nodes": np.array(2), "author/writes/paper/edge_index": np.array([[0, 1, 1], [2, 0, 1]]),
             "author/writes/paper/time": np.arange(3), "paper/cites/paper/src": np.array([0, 1]), "paper/cites/paper/dst": np.array([1, 2])})
pack("arrays-typed", "d")
arrays("d", {"edges": np.array([[0, 1], [1, 2], [2, 0]]), "x": np.ones((3, 2)), "y": np.arange(3), "train_idx": np.arange(2), "edge_weight": np.ones(3)})
pack("arrays-plain", "d")
jodie()
pack("jodie", "d")
jodie()
with open("d/ns.pkl", "wb") as out_file:
    pickle.dump({(i % 3, 3 + i % 2, i): np.array([3, 4]) for i in range(3)}, out_file)
pack("jodie-candidates", "d")
texts("d", dict(SHOP, **{"tables.json": json.dumps(LISTED)}))
pack("tables", "d")
texts("d", dict(SHOP, **{"tables.json": json.dumps(dict(LISTED, encode={"user/city": "hash:4"}, features={"item": "items.csv"}))}))
pack("tables-hash", "d")
texts("d", dict(NEO4J, **{"tables.json": json.dumps({"nodes": {"Person": "persons.csv"}, "edges": {"Person/KNOWS/Person": "knows.csv"}})}))
pack("tables-neo4j", "d")
texts("d", {"ab.txt": "10 1\n20 2\n", "bc.txt": "2 x\n3 y\n", "tables.json": json.dumps({"edges": {"a/to/b": "ab.txt", "b/to/c": "bc.txt"}})})
pack("tables-bare", "d")
texts("d", {"train.txt": "a\tr\tb\nb\ts\tc\n", "valid.txt": "a\ts\tc\n", "test.txt": "c\tr\ta\n"})
pack("triples", "d")
