# SPDX-License-Identifier: Apache-2.0
# from_arrays makes stores of arrays, and refuses in one exception what does not fit.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/python/lib.sh"
cat >graph.py <<'EOP'
import os, warnings
from helpers import *
warnings.simplefilter("error")
rng = np.random.default_rng(1)
N, E = 40, 300
EDGES = rng.integers(0, N, (2, E))
X = rng.standard_normal((N, 5)).astype("f4")
Y = rng.integers(0, 3, N)
HALF = np.arange(N) < 20

def make(nodes, edges, **kw):
    return g.Store(g.from_arrays("s", nodes, edges, force=True, **kw))

def sources(s, e="node/to/node"):
    """(source, destination, place in the store) of each edge"""
    a = s.parts[0].arrays
    dst = np.repeat(np.arange(len(a[f"edge/{e}/indptr"]) - 1), np.diff(a[f"edge/{e}/indptr"].astype(int)))
    return a[f"edge/{e}/indices"].astype(int), dst

def left():
    return [f for f in os.listdir(".") if f.startswith("s.") or f.startswith("n.")]
EOP
says() { # NAME: as py, with graph.py
    printf '%s\n' 'from graph import *' >head
    cat >>head
    PYTHONPATH=$PYTHONPATH:. py "$1" <head
    : >head
}
says "a graph of one type: rows, edges, places and sets" <<'EOP'
fields = {"x": X, "y": Y, "year": np.arange(N, dtype="i2"), "train_mask": HALF, "test_mask": ~HALF}
s = make(fields, {"edge_index": EDGES, "weight": np.arange(E) + 0.5, "kind": np.arange(E, dtype="u1")}, position=True)
assert np.array_equal(s.x[np.arange(N)], X) and np.array_equal(np.asarray(s.y), Y)
assert s.rows("year").dtype == np.int16 and np.array_equal(np.asarray(s.rows("year")), fields["year"])
a, (src, dst) = s.parts[0].arrays, sources(s)
place = a["edge/node/to/node/position"]
assert sorted(place) == list(range(E)) and np.array_equal(EDGES[:, place], [src, dst])
assert np.array_equal(a["edge/node/to/node/weight"], place + np.float32(0.5)) and np.array_equal(a["edge/node/to/node/kind"], place.astype("u1"))
assert s.set("train").tolist() == list(range(20)) and s.set("0/test").tolist() == list(range(20, N)) and left() == []
EOP
says "a graph of several types, with odd names, in the order given" <<'EOP'
types = {'b "é" ,;/x': {"x": X}, "a": N}
edges = {("a", "to it", 'b "é" ,;/x'): EDGES, ('b "é" ,;/x', "r", "a"): {"edge_index": EDGES[:, :2], "x": np.ones((2, 3))}, ("a", "none", "a"): np.zeros((2, 0), int)}
s = make(types, edges)
assert s.node_types == list(types) and s.edge_types == list(edges), (s.node_types, s.edge_types)
assert [e["count"] for e in s.schema["edge_types"]] == [E, 2, 0]
src, dst = sources(s, 'a/to it/b "é" ,;/x')
assert sorted(zip(src, dst)) == sorted(zip(*EDGES.tolist()))
src, dst = sources(s, 'b "é" ,;/x/r/a')
assert sorted(zip(src, dst)) == sorted(zip(*EDGES[:, :2].tolist()))
EOP
says "places are kept where edges are not in order, or have times" <<'EOP'
order = EDGES[:, np.argsort(EDGES[1], kind="stable")]
has = lambda s: [f["name"] for f in s.schema["edge_types"][0]["fields"] if f["name"] == "position"]
assert has(make(N, EDGES, position=True)) and not has(make(N, EDGES)) and not has(make(N, order, position=True))
s = make(N, {"edge_index": order, "time": np.arange(E)[::-1].copy()}, position=True)
assert has(s) and np.array_equal(order[:, s.parts[0].arrays["edge/node/to/node/position"]], sources(s))
assert has(make({"time": np.arange(N)}, order, position=True))
EOP
says "any layout and byte order of arrays" <<'EOP'
want = make({"x": X, "y": Y}, EDGES).identity
for x in np.asfortranarray(X), X.astype(">f4"), np.repeat(X, 2, 0)[::2], X.astype("f8"), X.tolist():
    assert make({"x": x, "y": Y}, EDGES).identity == want
X.flags.writeable = EDGES.flags.writeable = False
for e in EDGES.astype("i4"), EDGES.astype(">u8"), np.asfortranarray(EDGES), np.ascontiguousarray(EDGES.T).T, EDGES.tolist():
    assert make({"x": X, "y": Y}, e).identity == want
EOP
says "splits by mask, by ids, and several of them" <<'EOP'
masks = np.stack([HALF, ~HALF], 1)
s = make({"x": X, "train_mask": masks, "val_mask": ~masks}, EDGES)
assert s.set("1/train").tolist() == list(range(20, N)) == s.set("0/valid").tolist()
s = make({"x": X}, EDGES, splits={"train": [3, 1], "val": HALF & (np.arange(N) > 4), "test": []})
assert s.set("train").tolist() == [3, 1] and s.set("valid").tolist() == list(range(5, 20)) and not len(s.set("test"))
s = make({"a": {"train_mask": HALF, "x": X}, "b": {"test_mask": masks, "x": X}}, {("a", "r", "b"): EDGES})
assert [(i["split"], i["set"], i["node_type"], i["count"]) for i in s.schema["splits"]] == \
    [("0", "train", "a", 20), ("0_1", "test", "b", 20), ("1_1", "test", "b", 20)], s.schema["splits"]
EOP
says "ids that are numbers and words come back" <<'EOP'
ids = rng.permutation(10**6)[:N]
assert np.array_equal(make(N, EDGES, ids=ids).parts[0].arrays["node/node/key"], ids)
words = [f' {i} "q", é' for i in range(N)]
assert make(N, EDGES, ids=words).names() == words == make({"n": N}, {("n", "r", "n"): EDGES}, ids={"n": np.array(words)}).names()
EOP
says "labels of every task" <<'EOP'
task = lambda y, **kw: (lambda s: (s.schema["task"], s.schema["classes"]))(make({"y": y}, EDGES, **kw))
assert task(Y) == ("multiclass", 3) and task(Y > 0) == ("binary", 2) and task(np.where(Y == 2, -1, Y)) == ("binary", 2)
assert task(X) == ("regression", 5) and task(X[:, 0]) == ("regression", 1) and task((X > 0).astype("f4")) == ("multilabel", 5)
assert task((Y > 0) * 1.0, task="regression") == ("regression", 1) and task((Y > 0) * 1.0, task="binary") == ("binary", 2)
s = make({"y": np.array(["cat", "dog", None], object)[Y]}, EDGES)
assert s.schema["class_names"] == ["cat", "dog"] and np.array_equal(np.asarray(s.y), np.where(Y == 2, -1, Y))
EOP
says "16-bit features, options of gnn-import, and its warnings" <<'EOP'
assert make({"x": X.astype("f2")}, EDGES).x.dtype == np.float16
s = make({"x": X, "train_mask": HALF}, EDGES, options=["--standardize", "-u", "--self-loops", "remove"])
assert abs(np.asarray(s.x)[:20].mean(0)).max() < 1e-6 and s.schema["edge_types"][0]["count"] > E
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    make({"x": np.arange(5 * N).reshape(N, 5) + 2**24 + 1}, EDGES)
assert [w.filename for w in seen] == [os.path.abspath("graph.py")] and "x of 'node': x is stored as f32" in str(seen[0].message), seen[0]
EOP
says "bad arrays are one ValueError with the place and the remedy" <<'EOP'
def bad(text, nodes, edges=EDGES, kind=ValueError, **kw):
    raises(kind, text, g.from_arrays, "n", nodes, edges, **kw)
    assert not os.path.exists("n") and left() == []
nan = X.copy()
nan[7, 2] = np.nan
bad("x of 'node': [7, 2] is nan, expected finite numbers: replace it", {"x": nan})
bad("x of 'node': shape [39, 5], expected [40] or [40, columns], as there are 40 nodes", {"y": Y, "x": X[1:]})
bad("shape [40, 1, 5]", {"x": X[:, None]})
bad("shape [40, 0]", {"x": X[:, :0]})
bad("x of 'node': Python objects, expected numbers: convert them, as by .astype(np.float32)", {"x": X.astype(object)})
bad("x of 'node': complex numbers", {"x": X + 0j})
bad("time of 'node': dates, expected numbers: convert them, as by .astype(np.int64)", {"time": np.zeros(N, "M8[s]")})
bad("x of 'node': not an array", {"x": [[1, 2], [3]] * 20})
bad("edge_index of ('node', 'to', 'node'): int64 of shape [300, 2], expected integers [2, E], sources above destinations: transpose it", N, EDGES.T)
bad("float64 of shape [2, 300], expected integers [2, E], sources above destinations: .astype(np.int64)", N, EDGES * 1.0)
bad("no 'edge_index'", N, {"weight": np.ones(E)})
bad("weight of ('node', 'to', 'node'): [2] is inf", N, {"edge_index": EDGES, "weight": np.where(np.arange(E) == 2, np.inf, 1)})
bad("time of ('node', 'to', 'node'): shape [3]", N, {"edge_index": EDGES, "time": np.arange(3)})
bad("set train of 'node': bool of shape [39], expected a bool mask [40] or [40, splits]: .astype(bool)", {"x": X, "train_mask": HALF[1:]})
bad("set train of 'node': float64 of shape [2], expected a bool mask [40] or [40, splits], or node ids [M]", N, splits={"train": [0.5, 1]})
bad("set train of 'node': uint8 of shape [40], expected a bool mask", {"x": X, "train_mask": HALF.astype("u1")})
bad("set tran of 'node': expected train, val or test", N, splits={"tran": [1]})
bad("set train of 'node' is given by splits and by train_mask", {"train_mask": HALF}, splits={"train": [1]})
bad("nodes 'node': 0 of them, expected 1 to 4294967294: leave the type out", 0, np.zeros((2, 0), int))
bad("no field tells how many there are", {})
bad("no edge types", {"a": N}, {})
bad("edge type ('a', 'r', 'b'): expected (source type, relation, destination type), of the node types a", {"a": N}, {("a", "r", "b"): EDGES})
bad("are one with ___ between their parts", {"a": N, "b": N, "a___b": N}, {("a___b", "c", "a"): EDGES, ("a", "b___c", "a"): EDGES})
for name in "a/../b", ".a", "a//b", "a\n", 7:
    bad("type %r: cannot be the name of a file: rename it" % name, {name: N, "a": N}, {("a", "r", "a"): EDGES})
bad("cannot be the name of a file", {"x" * 250: N, "a": N}, {("a", "r", "a"): EDGES})
for name in "a b", "a.b", "a/b", "x" * 49, "a=b":
    bad("field of 'node' %r: cannot be the name" % name, {"x": X, name: Y})
bad("y of 'a' and of 'b'", {"a": {"y": Y}, "b": {"y": Y}}, {("a", "r", "b"): EDGES})
bad("y of 'node': only 0 and 1 as float64: say task='binary' or task='regression'", {"y": HALF * 1.0})
bad("y of 'node': only whole numbers as float64: say task='multiclass'", {"y": Y * 1.0})
bad("ids of 'node': [1] is None, expected [40] integers or words", N, ids=["a", None] + ["b"] * 38)
bad("ids of 'node': shape [3]", N, ids=[1, 2, 3])
bad("ids of 'b': there is no such node type: a", {"a": N}, {("a", "r", "a"): EDGES}, ids={"b": [1]})
bad("position of ('node', 'to', 'node'): a field of this name", N, {"edge_index": EDGES, "position": np.arange(E)}, position=True)
bad("--dedup adds or removes edges", N, position=True, options=["--dedup"])
EOP
says "what gnn-import finds is its own line, in the user's words" <<'EOP'
def bad(text, *args, **kw):
    why = raises(g.ProgramError, text, g.from_arrays, "n", *args, **kw)
    assert why.program == "gnn-import" and not os.path.exists("n") and left() == [] and "arrays." not in str(why), why
    assert "\n" not in str(why)
bad("gnn-import: edge_index of ('node', 'to', 'node'): edge 3: a negative id -1", 5, [[0, 1, -1], [1, 2, 3]])
bad("gnn-import: edge_index of ('node', 'to', 'node'): edge 2: id 5, but there are 5 nodes of type node", 5, [[0, 5, 2], [1, 2, 3]])
bad("gnn-import: ids of 'node': row 3: the id 7 is there twice", 3, [[0], [1]], ids=[7, 5, 7])
bad("gnn-import: ids of 'node': line 2: the id 'a' is there twice", 3, [[0], [1]], ids=["a", "a", "b"])
bad("gnn-import: y of 'node': row 1: ", {"y": np.array([-5, 1, 2])}, [[0], [1]])
bad("node 3 is also in", {"x": X, "train_mask": HALF, "val_mask": np.arange(N) == 3}, EDGES)
bad("set train of 'node': row 1: no node 99", N, EDGES, splits={"train": [99]})
bad("field name 'id' is reserved", {"id": Y}, EDGES)
bad("unknown option '--nope'", N, EDGES, options=["--nope"])
g.from_arrays("n", N, EDGES)
raises(FileExistsError, "n: already exists: force=True replaces a store", g.from_arrays, "n", N, EDGES)
raises(FileNotFoundError, "no/dir", g.from_arrays, "no/dir/s", N, EDGES)
EOP
done_testing
