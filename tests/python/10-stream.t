# SPDX-License-Identifier: Apache-2.0
# The Python package reads streams and stores as the programs write them.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/python/lib.sh"

gnn-import -q sbm:nodes=600 -o one || exit 1
gnn-partition -q -k 3 -o three one || exit 1
gnn-sample -q -f 5,3 -b 64 --epochs 2 --edge-ids one | gnn-gather -q -o batches.gnb one || exit 1

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
done_testing
