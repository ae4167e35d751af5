# SPDX-License-Identifier: Apache-2.0
"""Reads GNB, the format of graph stores and batch streams (gnb(5)), with NumPy alone.

This file needs nothing else of gnn-tools and may be copied into a project.

    for frame in Frames("batches.gnb"):        # a path, bytes, or a binary file such as a pipe
        frame.arrays["nodes/node"]             # NumPy arrays, not copied where the file can be mapped
    Part("graph/part-00000.gnb").arrays["node/node/x"]

Sums are verified if the module xxhash is there; `verified` says so. NumPy has no bf16: such arrays are uint16 and their
names are in `bf16`; widen() makes them float32. All that is wrong with an input raises Error, a ValueError that names
the place.
"""
from __future__ import annotations

import json
import math
import mmap
import os
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO, Callable, NamedTuple, Union

import numpy as np

try:
    from xxhash import xxh3_64_intdigest as _sum
except ImportError:
    _sum = None

MAGIC = b"\xb7GNB"
HEADER, BATCH, TENSORS, END = 1, 2, 3, 4
NONE = 0xFFFFFFFF  # in a walk: after its end
_DTYPE = [None] + [np.dtype(t) for t in "u1 i1 <u2 <i2 <u4 <i4 <u8 <i8 <f2 <u2 <f4 <f8".split()]
_BF16 = 10
_HEAD, _ENTRY = struct.Struct("<4sHHIIQQQIIQQ"), struct.Struct("<BBBBHHQQQQ")
Source = Union[str, os.PathLike, bytes, bytearray, memoryview, mmap.mmap, BinaryIO]
Resolve = Callable[[bytes, int], np.ndarray]


class Error(ValueError):
    """Something is wrong with a stream or a store; the text names the place and, if there is one, the remedy."""


class Cut(Error):
    """The input ends before its END frame."""


class Frame(NamedTuple):
    """One frame. The arrays are as in gnb(5), little-endian, and not writable where they are a mapped store's."""

    kind: int
    major: int
    arrays: dict[str, np.ndarray]
    bf16: frozenset[str]
    sum: int


def sum_is(data: Any, digest: int) -> bool:
    """Whether this is the sum of the data; True if there is no xxhash."""
    return _sum is None or _sum(data) == digest


def widen(a: np.ndarray) -> np.ndarray:
    """bf16 bits (uint16, any shape) as float32, exactly."""
    return (a.astype(np.uint32) << 16).view(np.float32)


def edge_name(edge_type: dict[str, Any]) -> str:
    """src/rel/dst of an edge type of a schema."""
    return f"{edge_type['src']}/{edge_type['rel']}/{edge_type['dst']}"


def _version(header: dict[str, Any]) -> int:
    """The version of GNB that a stream or a store of this header has."""
    drawn, sets = header.get("sampling"), header["schema"].get("splits", ())
    if any(f.get("scaled") for t in header["schema"]["node_types"] for f in t["fields"]):
        return 4
    if drawn is None:
        return 4 if any(s.get("split") == "candidates-ragged" for s in sets) else 1
    if any(s.get("negatives", {}).get("ragged") for s in drawn.get("splits", ())):
        return 4
    return 3 if "links" in drawn else 1 + any(drawn.get(key) for key in ("disjoint", "time", "induced"))


class Frames:
    """Iterates the BATCH and TENSORS frames of one stream, of several in a row, or of a part of a store.

    source: a path (mapped if it is a file), an object with a buffer, or a binary file that is read in order.
    resolve: gives the bytes that a reference describes (codec 2), as an array of uint8; without it that is an error.
    writable: a mapped file's arrays may be written to, which the file never sees.
    verify: the sums of tensors, not only those of tables.
    header: the JSON of the last HEADER; reading it first waits for the stream to begin. Raises Error; not thread-safe.
    """

    def __init__(self, source: Source, *, name: str | None = None, resolve: Resolve | None = None,
                 writable: bool = True, verify: bool = True):
        path = isinstance(source, (str, os.PathLike))
        self.name = str(name or (source if path else getattr(source, "name", "stream")))
        self.verified = _sum is not None
        self.header_sum = 0
        self.resolve, self._memory, self._file, self._verify = resolve, None, None, verify
        self._at = self._start = self._seq = self._major = 0
        self._header: dict | None = None
        if path:
            source = _open(os.fspath(source), writable)
        if hasattr(source, "readinto") and not isinstance(source, mmap.mmap):
            self._file = source
        else:
            self._memory = np.frombuffer(source, np.uint8) if len(source) else np.empty(0, np.uint8)

    @property
    def live(self) -> bool:
        """Whether frames are read as they come."""
        return self._file is not None

    @property
    def header(self) -> dict[str, Any]:
        if self._header is None:
            self._first()
        return self._header

    def _first(self) -> None:
        frame = self._frame()
        if frame is None:
            raise Cut(f"{self.name}: empty: it is no stream")
        self._begin(frame)

    def __iter__(self) -> Iterator[Frame]:
        return self

    def __next__(self) -> Frame:
        if self._header is None:
            self._first()
        while True:
            frame = self._frame()
            if frame is None:
                if self._seq:
                    raise Cut(f"{self.name}: ends after {self._seq} frames, at byte {self._at}, without END: "
                              "its producer died, or it was cut; write it again")
                raise StopIteration
            if self._seq == 0:
                self._begin(frame)
            elif frame.kind == END:
                self._end(frame)
            elif frame.kind == HEADER:
                self._fail("a second HEADER before END")
            else:
                self._seq += 1
                return frame

    def _fail(self, text: str, kind: type = Error) -> None:
        raise kind(f"{self.name}: frame {self._seq}, byte {self._at}: {text}")

    def _begin(self, frame: Frame) -> None:
        meta = frame.arrays.get("meta")
        if frame.kind != HEADER or meta is None or meta.dtype != np.uint8 or meta.ndim != 1:
            self._fail("a stream begins with HEADER, which this is not")
        try:
            header = json.loads(meta.tobytes())
            version = _version(header)
            header["schema"]["node_types"], header["identity"]
        except (ValueError, KeyError, TypeError, AttributeError) as why:
            self._fail(f"the header is not the JSON of gnb(5): {why}")
        if frame.major != version:
            self._fail(f"version {frame.major} does not fit its header")
        old = self._header
        if old and any(old.get(key) != header.get(key) for key in ("identity", "schema", "sampling")):
            self._fail("the next stream is of another store or sampled otherwise")
        self._header, self.header_sum = header, frame.sum
        self._seq = 1

    def _end(self, frame: Frame) -> None:
        totals = frame.arrays.get("totals")
        if totals is None or totals.tolist() != [self._seq, self._before - self._start]:
            self._fail("END counts other frames or bytes: something is missing")
        self._seq, self._start = 0, self._at

    def _take(self, n: int, what: str, first: bool = False) -> np.ndarray | None:
        """The next n bytes; with `first`, None at the end of the input."""
        if self._memory is not None:
            data = self._memory[self._at:self._at + n]
            got = len(data)
        else:
            data, got = np.empty(n, np.uint8), 0
            view = memoryview(data)
            while got < n:
                more = self._file.readinto(view[got:])
                if not more:
                    break
                got += more
        if first and not got:
            return None
        if got < n:
            self._fail(f"cut short in {what}: {got} of {n} bytes", Cut)
        self._at += n
        return data

    def _frame(self) -> Frame | None:
        self._before = self._at
        head = self._take(64, "the header of a frame", True)
        if head is None:
            return None
        magic, major, _, kind, tensors, seq, ntable, npayload, align, r1, r2, total = _HEAD.unpack(head)
        if magic != MAGIC:
            self._fail(f"no GNB: it begins with {magic!r}, not {MAGIC!r}")
        if major not in (1, 2, 3, 4):
            self._fail(f"version {major} of GNB: this reader knows 1 to 4; a newer gnn-tools reads it")
        if self._seq and major != self._major:
            self._fail(f"version {major} in a stream of version {self._major}")
        if kind not in (HEADER, BATCH, TENSORS, END) or align not in (64, 4096) or r1 or r2 or tensors > 16384:
            self._fail("the header of the frame is damaged")
        if seq != self._seq:
            self._fail(f"sequence number {seq}: frames are missing or repeated")
        if (64 + ntable) % align or npayload % align or ntable > 64 << 20 or (kind == HEADER and npayload > 9 << 20):
            self._fail("the header of the frame is damaged")
        self._major = major
        table = self._take(ntable, "the table of tensors").tobytes()
        if not sum_is(head[:56].tobytes() + table, total):
            self._fail("the sum of the frame's header is wrong: it is damaged")
        at, payload = self._at, self._take(npayload, "the payload")
        arrays, bf16 = self._tensors(table, payload, tensors, align, at)
        return Frame(kind, major, arrays, frozenset(bf16), total)

    def _tensors(self, table: bytes, payload: np.ndarray, n: int, align: int, base: int) -> tuple[dict, list]:
        arrays: dict[str, np.ndarray] = {}
        bf16, at, end, size, view = [], 0, 0, len(payload), memoryview(payload)
        for _ in range(n):
            if at + 40 > len(table):
                self._fail("the table of tensors is damaged")
            dtype, codec, ndim, z1, nname, z2, offset, stored, raw, digest = _ENTRY.unpack_from(table, at)
            body = at + 40 + 8 * ndim
            if not 1 <= dtype <= 12 or codec > 2 or ndim > 4 or z1 or z2 or not nname or body + nname > len(table):
                self._fail("the table of tensors is damaged")
            shape = struct.unpack_from(f"<{ndim}Q", table, at + 40)
            try:
                name = table[body:body + nname].decode()
            except UnicodeDecodeError:
                self._fail("a tensor's name is not UTF-8")
            at = (body + nname + 7) & ~7
            if name in arrays:
                self._fail(f"two tensors '{name}'")
            want = math.prod(shape) * _DTYPE[dtype].itemsize
            if offset != (end + align - 1) & -align or offset + stored > size or raw != want:
                self._fail(f"tensor '{name}' (shape {list(shape)}) does not fit its bytes")
            if end < offset and view[end:offset].tobytes().strip(b"\0"):
                self._fail(f"bytes between tensors, before '{name}'")
            end = offset + stored
            data = payload[offset:end]
            if self._verify and codec != 2 and not sum_is(data, digest):
                raise Error(f"{self.name}: tensor '{name}', byte {base + offset}: its sum is wrong: it is damaged")
            if codec:
                data = self._decode(name, codec, data, raw)
            elif stored != raw:
                self._fail(f"tensor '{name}' (shape {list(shape)}) does not fit its bytes")
            arrays[name] = data.view(_DTYPE[dtype]).reshape(shape)
            if dtype == _BF16:
                bf16.append(name)
        if at > len(table) or size != (end + align - 1) & -align:
            self._fail("the table of tensors does not fit its frame")
        return arrays, bf16

    def _decode(self, name: str, codec: int, data: np.ndarray, raw: int) -> np.ndarray:
        if codec == 2:
            if self.resolve is None:
                self._fail(f"tensor '{name}' is in memory that its producer shares with another program")
            return self.resolve(data.tobytes(), raw)
        try:
            from zstandard import ZstdDecompressor
        except ImportError:
            self._fail(f"tensor '{name}' is compressed: install the module zstandard, or write the stream without -z")
        try:
            out = ZstdDecompressor().decompress(data.tobytes(), max_output_size=max(raw, 1))
        except Exception as why:
            self._fail(f"tensor '{name}': {why}")
        if len(out) != raw:
            self._fail(f"tensor '{name}' does not decompress to its size")
        return np.frombuffer(bytearray(out), np.uint8)


def _open(path: str, writable: bool) -> mmap.mmap | BinaryIO | bytes:
    """A file mapped, private to this process if it is writable; anything else open for reading."""
    file = open(path, "rb", buffering=0)
    try:
        size = os.fstat(file.fileno()).st_size
        if not os.path.isfile(path):
            return file
        access = mmap.ACCESS_COPY if writable else mmap.ACCESS_READ
        memory = mmap.mmap(file.fileno(), size, access=access) if size else b""
    except BaseException:
        file.close()
        raise
    file.close()
    return memory


class Part:
    """A partition file of a store, mapped: `header` (dict), `arrays` (not writable) and `bf16`.

    The sums of the payload are verified by verify() only, which reads all of it.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = os.fspath(path)
        before = os.stat(self.path)
        frames = Frames(self.path, writable=False, verify=False)
        self.header, found = frames.header, list(frames)
        if [f.kind for f in found] != [TENSORS]:
            raise Error(f"{self.path}: not a part of a store: a stream of batches is read by Frames")
        self.arrays, self.bf16, self.verified = found[0].arrays, found[0].bf16, frames.verified
        self._memory, self._stamp = frames._memory, _stamp(before)
        self._base: Part | None = None

    def inherit(self, base: Part) -> None:
        """Takes what the same partition of the base store has, and this one not."""
        own = set(self.arrays)
        for name, array in base.arrays.items():
            edges = name.startswith("edge/") and name.rpartition("/")[0] + "/indptr" in own
            if not (name in own or edges or name.startswith("halo/")):
                self.arrays[name] = array
                self.bf16 |= {name} & set(base.bf16)
        self._base = base

    def check(self) -> None:
        """Raises Error if the file was changed since it was mapped: reading one that was cut would end the process."""
        try:
            same = _stamp(os.stat(self.path)) == self._stamp
        except OSError:
            same = False
        if not same:
            raise Error(f"{self.path}: changed or replaced since it was opened: open the store again")
        if self._base:
            self._base.check()

    def verify(self) -> None:
        """Raises Error unless the sums of all tensors are right, and if there is no xxhash."""
        if _sum is None:
            raise Error(f"{self.path}: sums need the module xxhash; gnn-inspect --verify needs none")
        self.check()
        for _ in Frames(self._memory, name=self.path):
            pass
        if self._base:
            self._base.verify()


def _stamp(s: os.stat_result) -> tuple[int, int, int, int]:
    return s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns
