# SPDX-License-Identifier: Apache-2.0
# What the Python package starts, holds and leaves: programs, shared memory, forks, pickles, states.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/python/lib.sh"

gnn-import -q sbm:nodes=4000,features=64 -o one || exit 1
# Without libgnn.so beside them.
mkdir programs && ln -s "$GNN_BIN"/* programs || exit 1
GNN_BIN=$PWD/programs

py "rows of features are not copied from the program's memory" <<'EOP'
stream = g.Stream([["gnn-sample", "-q", "-f", "5,3", "-b", "400", "one"], ["gnn-gather", "-q", "--transport", "shm", "one"]])
batch = next(stream)
x = batch.field("x")
at = x.__array_interface__["data"][0]
assert any(int(a, 16) <= at < int(b, 16) for a, b in (line.split()[0].split("-") for line in open("/proc/self/maps") if "gnn-handoff" in line))
assert x.flags.writeable and np.array_equal(x, g.Store("one").x[batch.n_id()])
EOP
py "a batch that is kept keeps its values while others follow, and when the programs have gone" <<'EOP'
store = g.Store("one")
for keep in 1, 2, 3, 100:
    kept = []
    for batch in g.Loader(store, [5, 3], batch_size=100):
        kept = [*kept, batch][-keep:]
        assert all(np.array_equal(b.field("x"), store.x[b.n_id()]) for b in kept)
    assert len(kept) == min(keep, 24) and all(np.array_equal(b.field("x"), store.x[b.n_id()]) for b in kept)
EOP
py "list(loader) has all batches; shared memory goes with the last of them" <<'EOP'
store, loader = g.Store("one"), g.Loader("one", [5, 3], batch_size=100)
batches = list(loader)
assert len(batches) == len(loader) == 24 and shared() and not children()
assert all(np.array_equal(b.field("x"), store.x[b.n_id()]) for b in batches)
del batches
gc.collect()
assert not shared()
EOP
py "writing to a batch changes no other batch, now or later" <<'EOP'
store = g.Store("one")
for batch in g.Loader(store, [5, 3], batch_size=100):
    assert np.array_equal(batch.field("x"), store.x[batch.n_id()])
    for a in batch.arrays.values():
        a[...] = 0
EOP
py "the pipe serves where there is no shared memory" <<'EOP'
want = list(g.Loader("one", [5, 3], batch_size=100))
got = list(g.Loader("one", [5, 3], batch_size=100, transport="inline", gather={"transport": "inline"}))
assert all(map(same, got, want)) and len(got) == len(want)
EOP
if unshare -rm true 2>/dev/null; then
    check "64 MB of /dev/shm, as in Docker, are enough" unshare -rm sh -c "mount -t tmpfs -o size=64m none /dev/shm && exec $python -c '
import gnntools as g
assert len(list(g.Loader(\"one\", [-1, -1], batch_size=100))) == 24 '"
else
    skip "64 MB of /dev/shm, as in Docker, are enough" "no user namespaces: nothing is put there anyway"
fi
py "nothing is put into /dev/shm" <<'EOP'
before = set(os.listdir("/dev/shm"))
loader = iter(g.Loader("one", [5, 3], batch_size=100))
for batch in range(5):
    next(loader)
names = [os.readlink(f"/proc/{p}/fd/{fd}") for p in children() for fd in os.listdir(f"/proc/{p}/fd")]
assert any("memfd:gnn-handoff" in n for n in names) and not any(n.startswith("/dev/shm") for n in names)
EOP
py "a loader that is left half-read ends its programs: by break, del, close, and an exception" <<'EOP'
def begin():
    loader = iter(g.Loader("one", [5, 3], batch_size=20))
    next(loader)
    assert len(children()) == 2
    return loader
loader = begin()
del loader
assert not children() and not shared()
for batch in g.Loader("one", [5, 3], batch_size=20):
    break
del batch
assert not children() and not shared()
whole = g.Loader("one", [5, 3], batch_size=20)
a, b = iter(whole), iter(whole)
next(a), next(b)
assert len(children()) == 4
whole.close()
assert not children()
raises(ValueError, "was closed", next, a)
assert len(list(whole)) == len(whole)
with g.Stream(["gnn-sample", "-f", "5", "-b", "2", "one"]) as stream:
    next(stream)
assert not children()
raises(ValueError, "was closed", next, stream)
raises(ZeroDivisionError, "", lambda: [1 / 0 for _ in g.Loader("one", [5, 3], batch_size=20)])
gc.collect()
assert not children() and not shared()
EOP
cat >leave.py <<'EOP'
from helpers import *
loader = iter(g.Loader("one", [5, 3], batch_size=20))
next(loader)
store = g.Store("one")
store.sample([1, 2], [3])
print(*children(), flush=True)
if sys.argv[1] == "exit":
    sys.exit(0)
if sys.argv[1] == "error":
    raise SystemError
os.kill(os.getpid(), signal.SIGKILL)
EOP
gone() { # HOW: all children of leave.py end after it
    "$python" leave.py "$1" >pids 2>/dev/null
    [ "$(wc -w <pids)" -eq 3 ] || return 1
    for try in $(seq 50); do
        ls -d $(sed 's|[0-9]*|/proc/&|g' pids) >/dev/null 2>&1 || break
        sleep 0.1
    done
    for pid in $(cat pids); do [ ! -d "/proc/$pid" ] || grep -q '^State:.Z' "/proc/$pid/status" || return 1; done
}
for how in exit error kill; do
    check "programs end with an interpreter that ends by: $how" gone $how
done
py "Ctrl-C stops the loader and not the programs behind its back; the next epoch works" <<'EOP'
loader = g.Loader("one", [5, 3], batch_size=2)
store = g.Store("one")
store.sample([1], [2])
caught = threading.Event()
def press():
    time.sleep(0.3)
    os.killpg(0, signal.SIGINT)
    while not caught.wait(10):  # Python loses an interrupt that comes while it calls back for a dead weak reference
        os.killpg(0, signal.SIGINT)
os.setpgid(0, 0)
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell starts in the background
try:
    threading.Thread(target=press).start()  # which a machine that is busy takes longer for than for the press
    while True:
        for batch in loader:
            pass
except KeyboardInterrupt:
    caught.set()
batch = None
gc.collect()
assert len(children()) == 1, "the sampler that stays is in a session of its own"
store.sample([1], [2])
assert len(list(loader)) == len(loader)
EOP
py "Ctrl-C while programs are started leaves none of them" <<'EOP'
loader = g.Loader("one", [5, 3], batch_size=4000)
signal.signal(signal.SIGINT, signal.default_int_handler)
# Another process presses: a thread would need Python's lock, which is held while a program is started.
other = subprocess.Popen(["perl", "-ne", "select undef, undef, undef, $_; kill INT => getppid"], stdin=subprocess.PIPE, bufsize=0)
for i in range(40):
    try:
        other.stdin.write(b"%f\n" % (0.02 + i / 500))
        end = time.monotonic() + 5
        while time.monotonic() < end:
            for batch in loader:
                pass
    except KeyboardInterrupt:
        pass
    batch = None
    gc.collect()
    assert children() == [str(other.pid)], i
other.stdin.close()
other.wait()
EOP
py "two loaders and two iterations of one loader do not disturb each other" <<'EOP'
a, b = g.Loader("one", [5, 3], batch_size=100), g.Loader("one", [4], batch_size=100, seed=2)
alone = [list(a), list(b)]
a.set_epoch(0), b.set_epoch(0)
together = list(zip(a, b))
assert all(same(x, y) for x, (y, _) in zip(alone[0], together)) and all(same(x, y) for x, (_, y) in zip(alone[1], together))
a.set_epoch(0)
first = iter(a)
next(first)
second = list(a)
assert [x.epoch for x in second] == [1] * 24 and [x.epoch for x in first] == [0] * 23
EOP
py "a fork starts programs of its own and leaves those of its parent; batches keep their values in both" <<'EOP'
store, loader = g.Store("one"), g.Loader("one", [5, 3], batch_size=100)
running = iter(loader)
batch, want = next(running), None
store.sample([1, 2], [3])
want = batch.copy()
pid = os.fork()
if pid == 0:
    code = 1
    try:
        raises(RuntimeError, "before the process was forked", next, running)
        assert len(list(loader)) == 24 and len(store.sample([1, 2, 3], [3])[0]) >= 3 and same(batch, want)
        time.sleep(0.3)
        assert same(batch, want)
        code = 0
    finally:
        del batch, running
        gc.collect()
        os._exit(code)
rest = list(running)
assert os.waitpid(pid, 0)[1] == 0 and len(rest) == 23 and same(batch, want)
assert all(np.array_equal(b.field("x"), store.x[b.n_id()]) for b in rest)
assert len(store.sample([1, 2], [3])[0]) >= 2
EOP
py "loaders, stores and batches are pickled, and work in spawned and forked processes" <<'EOP'
import multiprocessing
loader = g.Loader("one", [5, 3], seeds=np.arange(0, 500, 2), batch_size=100, shuffle=True)
iter(loader)
want = list(loader)
if __name__ == "__main__":
    assert all(map(same, pickle.loads(pickle.dumps(want)), want))
    copy = pickle.loads(pickle.dumps(loader))
    copy.set_epoch(1)
    assert all(map(same, copy, want))
    for how in "fork", "spawn":
        loader.set_epoch(1)
        with multiprocessing.get_context(how).Pool(1) as pool:
            assert all(map(same, pool.apply(list, (loader,)), want)), how
EOP
py "a state goes on in the middle of an epoch with the same batches" <<'EOP'
def make(**kw):
    return g.Loader("one", [5, 3], batch_size=100, edge_ids=True, **kw)
for kw in {}, dict(rank=1, world=3), dict(seeds=np.arange(1, 2000, 3), shuffle=True):
    loader = make(**kw)
    whole = [*loader, *loader, *loader]
    n = len(loader)
    for stop in 0, 1, n - 1, n, n + 2:
        loader, seen = make(**kw), []
        while len(seen) < stop:
            for batch in loader:
                seen.append(batch)
                if len(seen) == stop:
                    break
        state = pickle.loads(pickle.dumps(loader.state_dict()))
        again = make(**kw)
        again.load_state_dict(state)
        rest = [*again, *again][:len(whole) - stop]
        assert len(rest) >= n and all(map(same, seen + rest, whole)), (kw, stop)
raises(ValueError, "another command", make(seed=2).load_state_dict, make().state_dict())
raises(ValueError, "another rank", make(rank=1, world=2).load_state_dict, make(rank=0, world=2).state_dict())
EOP
py "ranks take every n-th step, uneven ends included, and have len() of them" <<'EOP'
whole = list(g.Loader("one", [5, 3], batch_size=100))
for world in 2, 5, 24, 30:
    ranks = [g.Loader("one", [5, 3], batch_size=100, rank=r, world=world) for r in range(world)]
    parts = [list(r) for r in ranks]
    assert [len(p) for p in parts] == [len(r) for r in ranks] and sum(map(len, parts)) == 24
    assert all(same(b, whole[b.step]) and b.step % world == r for r, p in enumerate(parts) for b in p)
EOP
py "drop_last, a set without shuffling, and one of several sets" <<'EOP'
store = g.Store("one")
loader = g.Loader(store, [3], batch_size=1000, drop_last=True)
assert len(loader) == 2 == len(list(loader))
loader = g.Loader(store, [3], split="random/valid", batch_size=300, shuffle=False)
assert np.array_equal(np.concatenate([b.n_id()[:b.batch_size] for b in loader]), store.set("valid"))
assert list(g.Loader(store, [3], seeds=[5, 3], fields=()))[0].n_id()[:2].tolist() == [5, 3]
EOP
py "a sample comes from a program that stays, in lists of any size, drawn anew" <<'EOP'
store = g.Store("one")
n_id, size, adjs = store.sample([7, 5, 9], [4, 3])
pids = children()
assert size == 3 and n_id[:3].tolist() == [7, 5, 9] and len(pids) == 1 and len(adjs) == 2
assert adjs[0].size[1] == adjs[1].size[0] and adjs[1].size[1] == 3 and adjs[0].size[0] == len(n_id)
edges = set()
for n in 1, 2, 3, 1000, 1024, 1:
    n_id, size, adjs = store.sample(np.arange(n), [4, 3], edge_ids=True) if n == 3 else store.sample(np.arange(n), [4, 3])
    assert size == n and np.array_equal(n_id[:n], np.arange(n)) and len(set(n_id.tolist())) == len(n_id)
    for a in adjs:
        assert a.edge_index.dtype == np.int64 and a.edge_index[0].max() < a.size[0] and a.edge_index[1].max() < a.size[1]
assert pids[0] in children()
one, two = store.batch([1, 2, 3], [3]), store.batch([1, 2, 3], [3])
assert one.step != two.step and one.batch_size == two.batch_size == 3
assert not any(same(one, b) for b in [two])
os.kill(int(pids[0]), signal.SIGKILL)
raises(g.ProgramError, "SIGKILL", store.sample, [7, 5], [4, 3])
assert len(store.sample([7, 5], [4, 3])[0]) >= 2  # another was started
store.close()
assert not children()
EOP
py "edges of a sample are edges of the graph, with the ids that the store gives them" <<'EOP'
store = g.Store("one")
part = store.parts[0].arrays
indptr, indices = part["edge/node/to/node/indptr"], part["edge/node/to/node/indices"]
for frontier in "all", "new":
    batch = store.batch(np.arange(50), [5, 4], edge_ids=True, frontier=frontier)
    n_id, count = batch.n_id(), 0
    for block in batch.blocks():
        src, dst = block.coo()
        assert np.array_equal(indices[block.id], n_id[src])
        assert (indptr[n_id[dst]] <= block.id).all() and (block.id < indptr[n_id[dst] + 1]).all()
        count += len(src)
    assert count > 200
EOP
printf '%s\n' 'a	r	12' '12	r	b c' 'b c	r	a' '3	r	12' '0	r	3' >names.tsv
gnn-import -q --directed -o named names.tsv || exit 1
py "positions are positions where nodes have numbers as names" <<'EOP'
store = g.Store("named")
names = store.names()
assert names == ["a", "12", "b c", "3", "0"] or sorted(names) == sorted(["a", "12", "b c", "3", "0"])
for i in range(5):
    assert store.batch([i], [2]).n_id()[0] == i
assert [b.n_id()[0] for b in g.Loader(store, [2], seeds=[3, 0, 4], batch_size=1)] == [3, 0, 4]
EOP
done_testing
