# SPDX-License-Identifier: Apache-2.0
"""Streams of batches as NumPy arrays: from files, pipes, and programs, whose shared memory is used in place."""
from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import select
import socket
import struct
import warnings
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, Callable, NamedTuple

import numpy as np

from . import _check, gnb
from ._child import PATIENCE, Pipeline

_MESSAGE = struct.Struct("<IIQ")
_CONNECT, _OFFER, _ACCEPT, _RELEASE = 0x68424E47, 0x6F424E47, 0x74424E47, 0x62424E47
_SEALS, _NO_SHRINK = 1034, 2


class Block(NamedTuple):
    """The edges of one type that were sampled in one hop.

    indptr: u32 (m+1), the in-edges of m destinations, which are the nodes first .. first+m-1 of n_id(dst).
    indices: u32 (e), the sources, as positions in n_id(src). id: u64 (e), edge ids, or None without edge_ids.
    """

    hop: int
    src: str
    rel: str
    dst: str
    first: int
    indptr: np.ndarray
    indices: np.ndarray
    id: np.ndarray | None

    def coo(self) -> np.ndarray:
        """int64 (2, e): sources and destinations as positions in n_id."""
        from . import _lib  # which makes batches, too
        out = np.empty((2, len(self.indices)), np.int64)
        if _lib.coo(self.first, self.indptr, self.indices, out):
            return out
        out[0] = self.indices
        rows = np.diff(self.indptr)
        out[1] = np.repeat(np.arange(self.first, self.first + len(rows)), rows)
        return out


class Batch:
    """One batch. `arrays` are those of gnb(5) by their names; they belong to this batch and may be written to.

    header: the JSON of the stream's header. epoch, step, split (its name), rank: which batch it is.
    bf16: names of arrays of bf16 bits.
    Arrays may lie in memory that a program shares; it is given back when the last of them is gone.
    """

    __slots__ = ("header", "arrays", "bf16", "epoch", "step", "split", "rank", "__weakref__")
    kind = "batch"

    def __init__(self, header: dict[str, Any], arrays: dict[str, np.ndarray], bf16: frozenset[str] = frozenset()):
        self.header, self.arrays, self.bf16 = header, arrays, bf16
        self.epoch, self.step, split, self.rank = map(int, arrays["key"])
        self.split = header["sampling"]["splits"][split]["name"]

    def __reduce__(self):
        return Batch, (self.header, {name: np.array(a) for name, a in self.arrays.items()}, self.bf16)

    def __repr__(self) -> str:
        nodes = ", ".join(f"{t['name']}: {len(self.n_id(t['name']))}" for t in self.header["schema"]["node_types"])
        return (f"Batch(epoch={self.epoch}, step={self.step}, split={self.split!r}, batch_size={self.batch_size}, "
                f"nodes={{{nodes}}})")

    @property
    def seed_type(self) -> str:
        return self.header["sampling"]["seed_type"]

    @property
    def batch_size(self) -> int:
        """The number of seeds (of links: of their different nodes), which are the first of n_id(seed_type)."""
        return int(self.arrays["counts/" + self.seed_type][0])

    def n_id(self, node_type: str | None = None) -> np.ndarray:
        """u32 (n): ids of the nodes of a type (default: of the seeds), seeds first."""
        return self.arrays["nodes/" + (node_type or self.seed_type)]

    def counts(self, node_type: str | None = None) -> np.ndarray:
        """u64 (hops+1): how many of the nodes were known after each hop."""
        return self.arrays["counts/" + (node_type or self.seed_type)]

    def field(self, name: str, node_type: str | None = None) -> np.ndarray | None:
        """Rows of a node field, such as x, in the order of n_id (y: of the seeds), or None if the batch has none."""
        return self.arrays.get(f"node/{node_type or self.seed_type}/{name}")

    def blocks(self) -> Iterator[Block]:
        """The sampled edges, from the seeds outwards: hop by hop, edge types in the order of the schema."""
        sampling = self.header["sampling"]
        last = len(sampling["fanout"]) - 1
        for hop in range(last + 1):
            for e in self.header["schema"]["edge_types"]:
                name = f"hop/{hop}/{gnb.edge_name(e)}/"
                indptr = self.arrays.get(name + "indptr")
                if indptr is None:
                    continue
                new = sampling["frontier"] == "new" and hop and not (sampling.get("induced") and hop == last)
                first = int(self.counts(e["dst"])[hop - 1]) if new else 0
                yield Block(hop, e["src"], e["rel"], e["dst"], first, indptr, self.arrays[name + "indices"],
                            self.arrays.get(name + "id"))

    def copy(self) -> Batch:
        """The same in memory of its own."""
        return self.__reduce__()[0](*self.__reduce__()[1])


class _Importer:
    """The reader's end of gnb(5)'s TRANSPORT: maps what the writer of a pipe shares, and gives its slots back.

    held: the slots of which arrays exist. kept: those that are never given back, as a fork of the process has them too.
    lease: what the arrays of the current frame hold on to.
    """

    alive: weakref.WeakSet[_Importer] = weakref.WeakSet()

    def __init__(self, file: BinaryIO, header_sum: int):
        self.slots, self.memory, self.descriptor = 0, None, -1
        self.held: dict[int, weakref.ref] = {}
        self.kept: set[int] = set()
        self.sock = self.lease = self.bytes = None
        try:
            self.pipe = file.fileno()
            s = os.fstat(self.pipe)
            self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self.sock.connect(f"\0gnn-handoff/{s.st_dev:x}/{s.st_ino:x}")
            _, uid, _ = struct.unpack("3i", self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            if uid != os.geteuid():
                raise OSError("another user")
            self.sock.send(_MESSAGE.pack(_CONNECT, 0, header_sum))
            _Importer.alive.add(self)
        except (OSError, AttributeError):  # nobody offers any, or this is no Linux
            self.hang_up()

    def hang_up(self) -> None:
        if self.sock is not None:
            self.sock.close()
        self.sock = None

    def wait(self) -> None:
        """Waits for the next frame, and answers an offer of memory meanwhile."""
        while self.sock is not None and not self.slots:
            poll = select.poll()
            poll.register(self.pipe, select.POLLIN)
            poll.register(self.sock, select.POLLIN)
            if self.sock.fileno() not in [fd for fd, _ in poll.poll()]:
                return
            try:
                self._answer()
            except OSError:
                self.hang_up()

    def _answer(self) -> None:
        text, fds, _, _ = socket.recv_fds(self.sock, _MESSAGE.size, 1)
        try:
            what, slots, _ = _MESSAGE.unpack(text) if len(text) == _MESSAGE.size else (0, 0, 0)
            if len(fds) != 1 or what != _OFFER or not 2 <= slots <= 64 or not fcntl.fcntl(fds[0], _SEALS) & _NO_SHRINK:
                return self.hang_up()
            self.sock.send(_MESSAGE.pack(_ACCEPT, 0, 0))
            self.slots, self.descriptor = slots, fds.pop()
        finally:
            for fd in fds:
                os.close(fd)

    def resolve(self, reference: bytes, raw: int) -> np.ndarray:
        """The bytes that a reference names, which stay as they are while an array of them exists."""
        if not self.slots or len(reference) != 24:
            raise gnb.Error("a reference to memory that the producer shares with another program")
        offset, digest, slot, flags = struct.unpack("<QQII", reference)
        if self.lease is None and slot < self.slots and slot not in self.held and slot not in self.kept:
            size = os.fstat(self.descriptor).st_size
            if self.memory is None or size > len(self.memory):
                self.memory = mmap.mmap(self.descriptor, size)
            self.lease = (ctypes.c_ubyte * len(self.memory)).from_buffer(self.memory)
            self.slot, self.bytes, me = slot, np.frombuffer(self.lease, np.uint8), weakref.ref(self)
            self.held[slot] = weakref.ref(self.lease, lambda _: _give_back(me, slot))
        if self.lease is None or slot != self.slot or offset % 64 or offset + raw > len(self.bytes) or flags > 1:
            raise gnb.Error("a reference to shared memory that is out of range, or was not given back")
        data = self.bytes[offset:offset + raw]
        if flags & 1 and not gnb.sum_is(data, digest):
            raise gnb.Error("the sum of a tensor in shared memory is wrong: it is damaged")
        return data

    def full(self) -> bool:
        """Whether all slots are held, so that the current frame's must go back at once."""
        return len(set(self.held) | self.kept) >= self.slots

    def __del__(self):
        self.hang_up()
        if self.descriptor >= 0:
            os.close(self.descriptor)


def _give_back(me: weakref.ref[_Importer], slot: int) -> None:
    importer = me()
    if importer is None or importer.sock is None:
        return
    importer.held.pop(slot, None)
    if slot not in importer.kept:
        try:
            importer.sock.send(_MESSAGE.pack(_RELEASE, slot, 0), socket.MSG_DONTWAIT)
        except OSError:  # a writer that has gone needs nothing back
            pass


def _fork(child: bool) -> None:
    """A child process sees the batches that are there when it is forked: their memory is not used again."""
    for importer in list(_Importer.alive):
        importer.kept |= set(importer.held)
        if child:
            importer.hang_up()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=lambda: _fork(False), after_in_child=lambda: _fork(True))


class Stream:
    """Iterates the batches of a stream, once.

    source: a path; a descriptor or binary file (a pipe); or a command, or several joined by pipes, as lists of words.
    header: the JSON of the stream's header (reading it waits for the stream to begin). verified: whether sums are
    verified, for which the module xxhash must be there. Batches hold arrays of their own or of memory shared with the
    program; there is no limit on how many are kept, but those beyond two are copied.
    Raises gnb.Error for a bad stream; ProgramError, with the program's own last line, if one fails. One thread at a
    time.
    """

    def __init__(self, source: str | os.PathLike | int | BinaryIO | Sequence | Pipeline, *,
                 pass_fds: Sequence[int] = ()):
        self._importer: _Importer | None = None
        self._check: _check.Check | None = None
        self._pid, self._ended, self._closed = os.getpid(), False, False
        if isinstance(source, (list, tuple)):
            source = Pipeline([source] if source and isinstance(source[0], str) else source, pass_fds=pass_fds)
        elif isinstance(source, int):
            source = os.fdopen(source, "rb", buffering=0)
        self._pipeline = source if isinstance(source, Pipeline) else None
        self._source = source.output if self._pipeline else source
        self._frames = gnb.Frames(self._source, name=" | ".join(source.names) if self._pipeline else None)

    @property
    def header(self) -> dict[str, Any]:
        return self._frames.header if self._check else self._guard(self._begin)

    @property
    def verified(self) -> bool:
        return self._frames.verified

    def _begin(self) -> dict[str, Any]:
        header = self._frames.header
        if self._check is None:
            if header.get("content") != "batches":
                raise gnb.Error(f"{self._frames.name}: a store, not a stream of batches: open it with Store")
            self._check = _check.Check(header, self._frames.name)
            if self._frames.live:
                self._importer = _Importer(self._source, self._frames.header_sum)
                self._frames.resolve = self._importer.resolve
            if self._pipeline:
                self._pipeline.tell()
            elif not self.verified:
                warnings.warn("sums of the stream are not verified: the module xxhash is not installed", stacklevel=4)
        return header

    def __iter__(self) -> Iterator[Batch]:
        return self

    def __next__(self) -> Batch:
        return self._guard(self._next)

    def _next(self) -> Batch:
        header = self._begin()
        if self._importer:
            self._importer.wait()
        frame = next(self._frames)
        if frame.kind != gnb.BATCH:
            raise gnb.Error(f"{self._frames.name}: a frame that is no batch")
        arrays, bf16 = frame.arrays, frame.bf16
        if self._importer and self._importer.lease is not None:
            whole = self._importer.full()
            arrays = {name: np.array(a) if whole or not _check.is_field(name) else a for name, a in arrays.items()}
            del frame
            self._importer.lease = self._importer.bytes = None
        self._check(arrays)
        return Batch(header, arrays, bf16)

    def _guard(self, step: Callable[[], Any]) -> Any:
        """Does a step; if it fails, or the stream ends, a program that failed is the reason, and all is closed."""
        if self._ended:
            raise StopIteration
        if self._pid != os.getpid():
            raise RuntimeError("this stream was started before the process was forked: start one in each process")
        if self._closed:
            raise ValueError(f"{self._frames.name}: the stream was closed")
        try:
            return step()
        except (StopIteration, gnb.Cut) as why:
            self._ended = isinstance(why, StopIteration)
            failure = self._pipeline.failure(None if self._ended else PATIENCE) if self._pipeline else None
            if self._pipeline and failure is None:
                self._pipeline.tell()
            self.close()
            if failure:
                raise failure from None
            raise
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Ends the programs. Batches that were yielded stay as they are."""
        self._closed = True
        if self._pipeline:
            self._pipeline.close()
        elif self._frames.live and self._pid == os.getpid():
            self._source.close()
        if self._importer:
            self._importer.hang_up()
        self._importer = self._frames.resolve = None

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_) -> None:
        self.close()
