# SPDX-License-Identifier: Apache-2.0
# The Python package names what is wrong with streams, stores, programs and seeds, and where.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/python/lib.sh"

gnn-import -q sbm:nodes=600 -o one || exit 1
gnn-import -q sbm:nodes=20000,features=64 -o big || exit 1
gnn-partition -q -k 3 -o three one || exit 1
gnn-sample -q -f 5,3 -b 64 one | gnn-gather -q -o batches.gnb one || exit 1

py "a stream that is cut anywhere is an error, from a file and from a pipe" <<'EOP'
whole = open("batches.gnb", "rb").read()
frames = [i for i in range(0, len(whole), 64) if whole[i:i + 4] == gnb.MAGIC]
assert len(frames) > 5
cuts = sorted({0, 1, 63, 64, 65, len(whole) - 1, len(whole) - 64, *frames[1:], *(f + 64 for f in frames[1:3]), *(f - 1 for f in frames[1:])})
for at in cuts:
    open("cut.gnb", "wb").write(whole[:at])
    raises(gnb.Cut, "cut.gnb", lambda: list(g.Stream("cut.gnb")))
for at in cuts[::4]:
    with subprocess.Popen(["head", "-c", str(at), "batches.gnb"], stdout=subprocess.PIPE) as head:
        raises(gnb.Cut, "", lambda: list(g.Stream(head.stdout)))
EOP
py "a changed byte is an error or leaves the batches as they are, never a crash" <<'EOP'
whole, rng = open("batches.gnb", "rb").read(), np.random.default_rng(1)
want = list(g.Stream("batches.gnb"))
gnb._sum = None  # the checks alone, as where there is no xxhash
found = 0
for at in [*range(0, 64), *range(64, 1200, 7), *rng.integers(0, len(whole), 300).tolist()]:
    bad = bytearray(whole)
    bad[at] ^= int(rng.integers(1, 256))
    try:
        got = list(g.Stream(io.BytesIO(bad)))
    except gnb.Error:
        found += 1
        continue
    for a in got:
        for block in a.blocks():
            assert block.indptr[-1] == len(block.indices) and (not len(block.indices) or block.indices.max() < len(a.n_id(block.src)))
assert found > 100, found
EOP
py "with xxhash, every changed byte is found" <<'EOP'
if gnb._sum is None:
    sys.exit(0)
whole, rng = open("batches.gnb", "rb").read(), np.random.default_rng(2)
for at in rng.integers(0, len(whole), 100).tolist():
    bad = bytearray(whole)
    bad[at] ^= 1
    try:
        list(gnb.Frames(bad))
    except gnb.Error:
        continue
    assert not whole[at] and 6 <= at % 64 < 8 or whole[at - at % 64:][:4] == gnb.MAGIC, at  # the minor version, which readers ignore
EOP
py "another version is named, and what reads it" <<'EOP'
whole = bytearray(open("batches.gnb", "rb").read())
whole[4] = 5
raises(gnb.Error, "version 5 of GNB", lambda: list(gnb.Frames(whole)))
whole[4] = 2
raises(gnb.Error, "version 2 does not fit", lambda: list(gnb.Frames(whole))) if gnb._sum is None else raises(gnb.Error, "sum", lambda: list(gnb.Frames(whole)))
EOP
py "other files are named as what they are" <<'EOP'
open("text", "w").write("0 1\n" * 100)
open("empty", "w")
raises(gnb.Error, "no GNB", lambda: list(g.Stream("text")))
raises(gnb.Cut, "empty", lambda: list(g.Stream("empty")))
raises(FileNotFoundError, "nothing", lambda: g.Stream("nothing"))
raises(gnb.Error, "open it with Store", lambda: list(g.Stream("one/part-00000.gnb")))
raises(gnb.Error, "not a graph store", g.Store, "nothing")
raises(gnb.Error, "not a part of a store", gnb.Part, "batches.gnb")
EOP
py "references to another program's memory are no stream to keep" <<'EOP'
stream = g.Stream(["gnn-sample", "-q", "-f", "10,10", "--transport", "shm", "-b", "1000", "big"])
stream.header
stream._importer.wait()
stream._frames.resolve = None
raises(gnb.Error, "shares with another program", next, stream)
EOP
py "a program that fails says why by its own last line" <<'EOP'
for options, text in (dict(split="nope"), "no set 'nope'"), (dict(weight="w"), "gnn-sample: "), (dict(no_such=1), "no-such"):
    kind = KeyError if "split" in options else g.ProgramError
    raises(kind, text, lambda: list(g.Loader("one", [5, 3], **options)))
why = raises(g.ProgramError, "gnn-gather: ", lambda: list(g.Loader("one", [5], fields=["z"])))
assert why.program == "gnn-gather" and why.status == 2 and "\n" not in str(why)
raises(g.ProgramError, "not found", g.Stream, ["gnn-nothing"])
assert type(pickle.loads(pickle.dumps(why))) is g.ProgramError and pickle.loads(pickle.dumps(why)).status == 2
assert not children()
EOP
py "a program that is killed raises at once, whichever it is, and leaves nothing" <<'EOP'
for name in "gnn-sample", "gnn-gather":
    loader = iter(g.Loader("big", [10, 10], batch_size=20))
    next(loader)
    pids = children()
    assert len(pids) == 2
    pid = next(p for p in pids if open(f"/proc/{p}/comm").read().strip() == name)
    os.kill(int(pid), signal.SIGKILL)
    start = time.monotonic()
    raises(g.ProgramError, f"{name}: killed by SIGKILL", lambda: list(loader))
    assert time.monotonic() - start < 2 + 8 and not children()
EOP
py "seeds that are wrong are refused, and the place is named" <<'EOP'
def loader(seeds, **kw):
    return g.Loader("one", [5, 3], seeds=seeds, **kw)
raises(IndexError, "seeds[1] is -1: there are 600 nodes", loader, [3, -1])
raises(IndexError, "seeds[2] is 600", loader, np.array([0, 1, 600]))
raises(TypeError, "float", loader, np.array([0.5, 1]))
raises(TypeError, "shape [2, 2]", loader, np.zeros((2, 2), int))
raises(IndexError, "mask of shape [3]", loader, np.array([True, False, True]))
raises(ValueError, "repeated", loader, [1, 2, 1])
raises(ValueError, "times: ", loader, [1, 2], times=[1])
raises(ValueError, "no NaN", loader, [1, 2], times=[0.5, float("nan")])
raises(ValueError, "repeated", loader, [1, 2, 1], times=[5, 5, 5])
loader([1, 2, 1], times=[5, 5, 6]), loader([1, 2, 1], disjoint=True)
raises(ValueError, "rank 2 of world 2", loader, [1, 2], rank=2, world=2)
store = g.Store("one")
for bad in [600], [-1], np.array([1 << 40]):
    raises(IndexError, "there are 600 nodes", store.x.__getitem__, bad)
    raises(IndexError, "there are 600 nodes", store.sample, bad, [3])
raises(KeyError, "no node type 'paper'", store.lookup, "paper", "x", [1])
raises(KeyError, "no 'node/node/z'", store.lookup, "node", "z", [1])
raises(ValueError, "repeated", store.sample, [1, 1], [3])
assert np.array_equal(store.x[np.arange(600) % 7 == 0], store.x[np.arange(0, 600, 7)]) and store.x[[]].shape == (0, 16)
EOP
py "arrays of a store cannot be written to; those of a batch can, and the stream's file does not change" <<'EOP'
store = g.Store("one")
raises(ValueError, "read-only", store.parts[0].arrays["node/node/x"].__setitem__, 0, 1)
before = open("batches.gnb", "rb").read()
for batch in g.Stream("batches.gnb"):
    batch.field("x")[:] = 7
assert open("batches.gnb", "rb").read() == before
EOP
gnn-import -q sbm:nodes=600,degree=9 -o other || exit 1
py "a store that is replaced is noticed: by rows, by samples, by the next epoch" <<'EOP'
import shutil
shutil.copytree("one", "moving")
store = g.Store("moving")
loader = g.Loader(store, [5, 3], batch_size=64)
running = iter(loader)
first = next(running)
store.sample([1, 2], [3])
shutil.rmtree("moving")
shutil.copytree("other", "moving")
raises(gnb.Error, "changed or replaced since it was opened", store.x.__getitem__, [1])
raises(gnb.Error, "changed or replaced since it was opened", iter(loader).__next__)
store.close()
raises(gnb.Error, "changed or replaced since it was opened", store.sample, [1, 2], [3])
assert 1 + len(list(running)) == len(loader)  # what runs has its own hold of the files
g.Store("moving").x[[1]]
EOP
py "a part that is cut under the reader is an error, not a crash" <<'EOP'
import shutil
shutil.copytree("big", "short")
store = g.Store("short")
loader = iter(g.Loader(store, [10, 10], batch_size=20))
next(loader)
os.truncate("short/part-00000.gnb", 4096)
raises(gnb.Error, "changed or replaced", store.x.__getitem__, [19999])
why = raises((gnb.Error, g.ProgramError), "", lambda: list(loader))
assert "part-00000.gnb" in str(why) or "killed" not in str(why), why
raises(gnb.Error, "part-00000.gnb", g.Store, "short")
EOP
py "parts of different stores are refused" <<'EOP'
import shutil
shutil.copytree("three", "mixed")
shutil.copy("one/part-00000.gnb", "mixed/part-00001.gnb")
raises(gnb.Error, "mixed/part-00001.gnb: from another store", g.Store, "mixed")
EOP
py "links that lead out of a batch, or are not as many as the header says, are refused" <<'EOP'
from gnntools._check import Check
stream = g.Stream(["gnn-sample", "-q", "-f", "3", "-b", "9", "--links", "node/to/node", "--negatives", "triplet:2", "one"])
good = next(stream).arrays
check, n = Check(stream.header, "here"), len(good["nodes/node"])
roots = int(good["counts/node"][0])
check(good)
for name, bad, text in (
    ("pair", good["pair"] + np.uint32(roots), "'pair' leads out"), ("pair", good["pair"].astype("i4"), "'pair' is no list of 9 pairs"),
    ("pair", good["pair"][:0], "no 'pair'"), ("pair", np.zeros((10, 2), "u4"), "more links"), ("pair", np.zeros(9, "u4"), "no 'pair'"),
    ("pair/input", good["pair/input"][:3], "no 'pair/input'"), ("negative", good["negative"][:17], "'negative' is no list of 18 pairs"),
    ("negative", good["negative"] + np.uint32(n), "'negative' leads out"),
):
    raises(gnb.Error, text, check, {**good, name: bad})
for name in "pair", "pair/input", "negative":
    raises(gnb.Error, f"'{name}'", check, {k: v for k, v in good.items() if k != name})
for change in {"type": "a/b/c"}, {"negatives": "triplet:inf"}, {"negatives": "triplet:many"}:
    header = {**stream.header, "sampling": {**stream.header["sampling"], "links": {**stream.header["sampling"]["links"], **change}}}
    raises(gnb.Error, "the header is damaged", Check, header, "here")
EOP
done_testing
