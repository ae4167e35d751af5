# SPDX-License-Identifier: Apache-2.0
# Samples that the library draws in the interpreter's process are those of gnn-sample, and hold nothing that they should not.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/python/lib.sh"

gnn-import -q sbm:nodes=600,degree=9 -o one || exit 1
gnn-partition -q -k 3 -o three one || exit 1
gnn-import -q -o typed igbh:scale=0.00001 || exit 1
mkdir programs && ln -s "$GNN_BIN"/* programs || exit 1
PROGRAMS=$PWD/programs LIBRARY=$GNN_BIN
export PROGRAMS LIBRARY
cat >by.py <<'EOP'
from helpers import *
from gnntools import _lib


def use(library):
    """The library or the programs, in stores that are opened from now on."""
    os.environ["GNN_BIN"] = os.environ["LIBRARY" if library else "PROGRAMS"]
    _lib.library.cache_clear()
    assert (_lib.library() is not None) == library
EOP
by() { { echo 'from by import *' && cat; } >by.in; py "$1" <by.in; }

by "batches of the library are those of the program, array by array, call by call" <<'EOP'
cases = [("one", {}), ("one", dict(frontier="new", edge_ids=True)), ("one", dict(replace=True)), ("one", dict(labor=True)),
         ("one", dict(disjoint=True)), ("one", dict(induced=True)), ("three", dict(edge_ids=True)),
         ("three", dict(original_ids=True)), ("typed", dict(edge_ids=True)), ("one", dict(threads=2))]
for path, options in cases:
    drawn = []
    for library in True, False:
        use(library)
        store = g.Store(path)
        drawn.append([store.batch(np.arange(n), [4, 3], seed=5, **options) for n in (1, 40, 7)])
        assert bool(children()) != library, path
        store.close()
    for a, b in zip(*drawn):
        assert same(a, b) and a.header["sampling"] == b.header["sampling"] and a.batch_size == b.batch_size, (path, options)
        for x, y in zip(a.blocks(), b.blocks()):
            assert x._replace(indptr=0, indices=0, id=0) == y._replace(indptr=0, indices=0, id=0)
            use(True)
            by_library = x.coo()
            use(False)
            assert np.array_equal(by_library, x.coo()) and by_library.dtype == np.int64
EOP
by "arrays of the library's batches may be written to, and outlive the store" <<'EOP'
use(True)
store = g.Store("one")
kept = [store.batch([i], [3, 3]) for i in range(200)]
want = [b.copy() for b in kept]
store.close()
del store
gc.collect()
assert all(same(a, b) for a, b in zip(kept, want))
array = kept[0].n_id()
del kept
gc.collect()
array[:] = 7
assert (array == 7).all() and same(pickle.loads(pickle.dumps(want[3])), want[3])
EOP
by "options that only gnn-sample has, or that are wrong, are its own" <<'EOP'
use(True)
store = g.Store("one")
raises(g.ProgramError, "gnn-sample: unknown option '--fanuot'", store.batch, [1], [3], fanuot=3)
raises(g.ProgramError, "gnn-sample: --layer-dependency requires --labor", store.batch, [1], [3], layer_dependency=True)
raises(ValueError, "repeated", store.batch, [1, 1], [3])
assert store.batch([1], [3], graph_memory=None).batch_size == 1 and not children()
assert store.batch([1], [3], zstd=3).batch_size == 1 and len(children()) == 1
store.close()
assert not children()
EOP
by "forks and threads draw for themselves" <<'EOP'
use(True)
store = g.Store("one")
batch = store.batch([1, 2], [3])
want = batch.copy()
pid = os.fork()
if pid == 0:
    code = 1
    try:
        assert same(batch, want) and store.batch([1, 2], [3]).batch_size == 2
        del batch
        store.close()
        gc.collect()
        code = 0
    finally:
        os._exit(code)
assert os.waitpid(pid, 0)[1] == 0
drawn = {}
threads = [threading.Thread(target=lambda i=i: drawn.setdefault(i, [store.batch([i], [3, 3]) for _ in range(20)])) for i in range(4)]
[t.start() for t in threads], [t.join() for t in threads]
assert sorted(drawn) == [0, 1, 2, 3] and all(b.n_id()[0] == i for i, batches in drawn.items() for b in batches)
assert len({b.step for batches in drawn.values() for b in batches}) == 80
EOP
by "a store that is replaced or cut is noticed" <<'EOP'
import shutil
use(True)
shutil.copytree("one", "moving")
store = g.Store("moving")
store.batch([1, 2], [3])
shutil.rmtree("moving")
shutil.copytree("three", "moving")
raises(gnb.Error, "changed or replaced since it was opened", store.batch, [1, 2], [3])
store.close()
raises(gnb.Error, "changed or replaced since it was opened", store.batch, [1, 2], [3])
EOP
printf '%s\n' 'a	r	12' '12	r	b c' 'b c	r	a' '3	r	12' '0	r	3' >names.tsv
gnn-import -q --directed -o named names.tsv || exit 1
by "positions are positions where nodes have numbers as names" <<'EOP'
use(True)
store = g.Store("named")
assert all(store.batch([i], [2]).n_id()[0] == i for i in range(5)) and not children()
EOP
check 'libgnn.so loads oneDNN in no process that only samples' "$python" -c '
import gnntools
gnntools.Store("one").sample([1, 2], [3])
maps = open("/proc/self/maps").read()
assert "libgnn.so" in maps and "dnnl" not in maps'
done_testing
