# SPDX-License-Identifier: Apache-2.0
# The Python package reads streams and stores as the programs write them.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/python/lib.sh"

gnn-import -q sbm:nodes=600 -o one || exit 1
gnn-partition -q -k 3 -o three one || exit 1
gnn-sample -q -f 5,3 -b 64 --epochs 2 --edge-ids -o plain.gnb one && gnn-gather -q -i plain.gnb -o batches.gnb one || exit 1

py "a stream from a file is what the independent reader reads" <<'EOP'
sys.path.insert(0, TOP + "/tests/interop")
import gnb as other
header, theirs = other.read_stream("batches.gnb")
stream = g.Stream("batches.gnb")
ours = list(stream)
assert stream.header == header and len(ours) == len(theirs) > 2
for a, b in zip(ours, theirs):
    assert list(a.arrays) == list(b) and all(np.array_equal(a.arrays[n], b[n]) and a.arrays[n].dtype == b[n].dtype for n in b)
EOP
py "a stream comes by a pipe, a descriptor, and a command, with and without shared memory" <<'EOP'
want = list(g.Stream("batches.gnb"))
sample = ["gnn-sample", "-q", "-f", "5,3", "-b", "64", "--epochs", "2", "--edge-ids", "one"]
for how in "inline", "auto", "shm":
    got = list(g.Stream([sample, ["gnn-gather", "-q", "--transport", how, "one"]]))
    assert len(got) == len(want) and all(map(same, got, want)), how
assert all(map(same, g.Stream(os.open("batches.gnb", os.O_RDONLY)), want))
with subprocess.Popen(["cat", "batches.gnb"], stdout=subprocess.PIPE) as cat:
    assert all(map(same, g.Stream(cat.stdout), want))
EOP
py "a program reads seeds from a file as from a pipe: an empty line ends a batch, the same node may be in others" <<'EOP'
from gnntools._child import Pipeline, text_file
for lists in [[5, 1, 2], [9], [1, 5, 0, 7]], [[3]]:
    with text_file("\n\n".join("\n".join(map(str, x)) for x in lists).encode()) as file:
        stream = g.Stream(Pipeline([["gnn-sample", "-q", "-f", "3", "-b", "4", "--seeds", "-", "one"]], feed=file))
    assert [b.n_id()[:b.batch_size].tolist() for b in stream] == lists
EOP
py "rows of edges are the same in a store and in its partitions" <<'EOP'
from gnntools.store import Rows
whole, parts = (Rows(g.Store(path), "edge/node/to/node/indices") for path in ("one", "three"))
assert whole.shape == parts.shape and np.array_equal(np.asarray(parts)[[9, 2, 9]], parts[[9, 2, 9]])
three, ids = g.Store("three"), g.Store("three").ids()
at = [int(p.arrays["edge/node/to/node/indptr"][-1]) for p in three.parts]
assert sum(at) == len(parts) and np.array_equal(parts[[at[0], at[0] - 1]], [three.parts[1].arrays["edge/node/to/node/indices"][0],
                                                                          three.parts[0].arrays["edge/node/to/node/indices"][-1]])
EOP
py "parts of a store are what the independent reader reads" <<'EOP'
sys.path.insert(0, TOP + "/tests/interop")
import gnb as other
for path in "one", "three":
    header, parts = other.read_store(path)
    store = g.Store(path)
    assert store.header == header and len(store.parts) == len(parts)
    for a, b in zip(store.parts, parts):
        assert list(a.arrays) == list(b) and all(np.array_equal(a.arrays[n], b[n]) for n in b)
        a.verify() if a.verified else None
EOP
py "rows by id are the same in a store and in its partitions" <<'EOP'
one, three = g.Store("one"), g.Store("three")
ids = three.ids()
assert sorted(ids.tolist()) == list(range(600)) and np.array_equal(one.x[ids], three.x[np.arange(600)])
assert np.array_equal(one.lookup("node", "y", ids[:50]), three.y[np.arange(50)])
assert np.array_equal(ids[three.set("train")], one.set("train")) and np.array_equal(np.asarray(one.x)[[5, 5]], one.x[[5, 5]])
EOP
py "a loader gives the batches of the programs, epoch by epoch" <<'EOP'
want = list(g.Stream("batches.gnb"))
loader = g.Loader("one", [5, 3], batch_size=64, edge_ids=True)
got = list(loader) + list(loader)
assert len(got) == 2 * len(loader) == len(want) and all(map(same, got, want))
EOP
gnn-import -q sbm:nodes=700,types=3,weights=1 -o typed || exit 1
printf '%s\n' from,to,time 1,0,10 2,0,20 3,0,30 4,2,15 4,2,25 0,1,5 >told.csv
gnn-import -q --directed --columns source=from,target=to,time=time -o told told.csv || exit 1
gnn-partition -q -k 8 -o eight one || exit 1
py "batches of every kind of sampling pass the checks and are what the independent reader reads" <<'EOP'
sys.path.insert(0, TOP + "/tests/interop")
import gnb as other
def kind(store, *words):
    with open("kind.gnb", "wb") as file:
        sample = subprocess.run([os.environ["GNN_BIN"] + "/gnn-sample", "-q", *words, store], stdout=subprocess.PIPE, check=True).stdout
        subprocess.run([os.environ["GNN_BIN"] + "/gnn-gather", "-q", store], input=sample, stdout=file, check=True)
    header, theirs = other.read_stream("kind.gnb")
    ours = list(g.Stream("kind.gnb"))
    assert len(ours) == len(theirs) > 0
    for a, b in zip(ours, theirs):
        assert list(a.arrays) == list(b) and all(np.array_equal(a.arrays[n], b[n]) for n in b)
        pickle.loads(pickle.dumps(a)), repr(a), list(a.blocks())
    return ours
for store in "typed", "three":
    for frontier in "all", "new":
        for more in [], ["--replace"], ["--disjoint"], ["--induced"], ["--labor"], ["--edge-ids"]:
            kind(store, "-f", "3,2,-1", "-b", "40", "--frontier", frontier, *more)
kind("typed", "-f", "3,2", "--weight", "weight", "--eval", "valid")
open("seeds", "w").write("0 25\n1 25\n0 12\n")
for more in [], ["--disjoint"], ["--latest"], ["--hop-time", "edge"], ["--induced"]:
    kind("told", "-f", "3,3", "--time-rule", "lt", "--seeds", "seeds", *more)
kind("one", "--walk-length", "5", "-b", "50"), kind("one", "--walk-length", "5", "--pairs", "2", "-b", "50", "--walks-per-seed", "3")
for store, edge in ("one", "node/to/node"), ("typed", "/".join(g.Store("typed").edge_types[-1])):
    for more in [], ["--negatives", "binary:0.3", "--negative-end", "both"], ["--negatives", "triplet:3", "--strict", "--disjoint"]:
        got = kind(store, "-f", "3,2", "-b", "50", "--links", edge, "--split", "edges", *more)
        assert len(np.unique(np.concatenate([b.arrays["pair/input"] for b in got]))) == sum(len(b.arrays["pair"]) for b in got)
kind("eight", "--clusters", "3"), kind("eight", "--clusters", "3", "--disjoint"), kind("one", "-f", "3", "--seed-balance", "-b", "50")
EOP
py "a packed stream is read with the module zstandard, and without it names it" <<'EOP'
want = list(g.Stream("batches.gnb"))
with open("packed.gnb", "wb") as file:
    subprocess.run([os.environ["GNN_BIN"] + "/gnn-gather", "-q", "-z", "3", "-i", "plain.gnb", "one"], stdout=file, check=True)
try:
    import zstandard
    assert all(map(same, g.Stream("packed.gnb"), want))
except ImportError:
    pass
sys.modules["zstandard"] = None
raises(gnb.Error, "install the module zstandard", lambda: list(g.Stream("packed.gnb")))
EOP
py "bf16 is widened exactly, and f16 is f16" <<'EOP'
for dtype in "bf16", "f16":
    batch = next(iter(g.Loader("one", [3], gather={"dtype": dtype})))
    x, want = batch.field("x"), g.Store("one").x[batch.n_id()]
    if dtype == "bf16":
        assert "node/node/x" in batch.bf16 and x.dtype == np.uint16
        x = gnb.widen(x)
    assert x.shape == want.shape and np.allclose(x.astype("f4"), want, rtol=1e-2)
EOP
py "the reader of the format is one file that needs no other, of at most 400 lines" <<'EOP'
import shutil
os.mkdir("alone")
shutil.copy(TOP + "/formats/python/gnntools/gnb.py", "alone/gnb.py")
code = "import gnb, sys; n = sum(1 for f in gnb.Frames('batches.gnb')); p = gnb.Part('one/part-00000.gnb'); print(n, len(p.arrays)); assert not [m for m in sys.modules if m.startswith('gnntools')]"
out = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": "alone"}, check=True, capture_output=True, text=True).stdout
assert out.split()[0] == str(len(list(g.Stream("batches.gnb"))))
assert len(open("alone/gnb.py").readlines()) <= 400
EOP
done_testing
