# SPDX-License-Identifier: Apache-2.0
"""An epoch of batches per iteration, from gnn-sample and gnn-gather."""
from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

from . import gnb
from ._child import Pipeline, text_file, words
from .store import Fanout, Ids, Store, fanout_words, id_array, seeds_text
from .stream import Batch, Stream


class Loader:
    """Iterates the batches of an epoch; each iteration is the next one unless set_epoch or load_state_dict says so.

    store: a Store or its path. fanout: [15, 10, 5] from the seeds outwards, or a dict by edge type.
    The seeds are a set of the store (`split`, such as "train" or "0/train") or `seeds`: ids of `seed_type` or a mask,
    with `times`, one for each, where the time rule asks for them. They are shuffled in each epoch if `shuffle`, by
    default if they are a set. A batch depends on the store, the seeds, `seed`, the epoch and the step alone.
    fields: what gnn-gather adds (default: x and y, if there are any); () for none. gather: its other options, such as
    {"dtype": "f16"}. rank, world: yields steps rank, rank+world, ...; the last ranks may have one batch less.
    threads: of each of the two programs (default: one samples, two gather). verify: the sums of the store, once.
    options: any other option of gnn-sample(1) by name: edge_ids=True, frontier="new", replace=True, weight="w",
    disjoint=True, time_rule="le", latest=True, window=10, drop_last=True, clusters=4 (with fanout=None) ...
    In a worker of torch's DataLoader (batch_size=None) it yields the worker's share of the steps; it is an
    IterableDataset if torch was imported before it was made.
    Raises gnb.Error, ProgramError; IndexError, TypeError, ValueError, KeyError for seeds and sets that are not there.
    """

    def __init__(self, store: Store | str | os.PathLike, fanout: Fanout | None, *, split: str = "train",
                 seeds: Ids | None = None, seed_type: str | None = None, times: Ids | None = None,
                 batch_size: int = 1024, shuffle: bool | None = None, seed: int = 1,
                 fields: Sequence[str] | None = None, gather: dict | None = None, rank: int = 0, world: int = 1,
                 threads: int | None = None, verify: bool = True, **options: Any):
        self.store = store if isinstance(store, Store) else Store(store)
        if not 0 <= rank < world:
            raise ValueError(f"rank {rank} of world {world}: ranks are from 0 to world-1")
        self.batch_size, self.rank, self.world, self.seed = int(batch_size), rank, world, seed
        self._verify, self._threads = verify, threads
        self._fields, self._gather, self._options = fields, dict(gather or {}), dict(options)
        self._text: bytes | None = None
        if seeds is None:
            info = self.store.set_info(split)
            self.seed_type, n = info["node_type"], info["count"]
            self._seeds = ["--split", f"{info['split']}/{info['set']}"]
            shuffle = shuffle is not False
        else:
            self.seed_type = self.store.type(seed_type)
            ids = id_array(seeds, self.store.count(self.seed_type), "seeds")
            n = len(ids)
            self._seeds, named = ["--seed-type", self.seed_type], self.store.has_names(self.seed_type)
            self._text = seeds_text(ids, named, bool(options.get("disjoint")), times)
        self.shuffle = bool(shuffle)
        clusters = options.get("clusters")
        self._command = [*(fanout_words(fanout) if fanout is not None else []),
                         *([] if clusters else ["-b", str(self.batch_size)]),
                         "--shuffle" if self.shuffle else "--no-shuffle", "--seed", str(seed), *words(options)]
        of, size = (len(self.store.parts), clusters) if clusters else (n, self.batch_size)
        self._total = of // size if options.get("drop_last") else -(-of // size)
        self._next = self._at = (0, 0)
        self._open: weakref.WeakSet[Stream] = weakref.WeakSet()
        self._register()

    def _register(self) -> None:
        data = sys.modules.get("torch.utils.data")
        if data is not None:
            data.IterableDataset.register(type(self))

    def __getstate__(self) -> dict:
        return {name: value for name, value in self.__dict__.items() if name != "_open"}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state, _open=weakref.WeakSet())
        self._register()

    def __len__(self) -> int:
        """Batches per epoch of this rank."""
        return len(range(self.rank, self._total, self.world))

    def set_epoch(self, epoch: int) -> None:
        """The epoch of the next iteration; those after it follow."""
        self._next = self._at = (int(epoch), 0)

    def state_dict(self) -> dict[str, Any]:
        """Where the latest iteration is: after load_state_dict, the next one goes on with the batch that follows."""
        return {"epoch": self._at[0], "step": self._at[1], **self._same()}

    def _same(self) -> dict[str, Any]:
        return {"identity": self.store.identity, "command": self._command, "rank": self.rank, "world": self.world}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on after the batch where state_dict was called. ValueError for a state of a loader of other batches."""
        for key, value in self._same().items():
            if state.get(key) != value:
                raise ValueError(f"the state is of a loader with another {key}: {state.get(key)}, not {value}")
        self._next = self._at = (int(state["epoch"]), int(state["step"]))

    def close(self) -> None:
        """Ends iterations that are not complete. The loader can be used again."""
        for stream in list(self._open):
            stream.close()

    def __iter__(self) -> Iterator[Batch]:
        worker, workers = _worker()
        (epoch, step), stride = self._next, self.world * workers
        self._at, self._next = (epoch, step), (epoch + 1, 0)
        first = self.rank + self.world * (step * workers + worker)
        return self._run(epoch, step, first, stride) if first < self._total else iter(())

    def _note(self, epoch: int, step: int, batch: Batch) -> Batch:
        self._at = (epoch, step)
        return batch

    def _run(self, epoch: int, step: int, first: int, stride: int) -> Iterator[Batch]:
        more, seeds, fds = [] if self._verify else ["--no-verify"], [], []
        if self._threads:
            more += ["-j", str(self._threads)]
        if self._text is not None:
            file = text_file(self._text)
            seeds, fds = ["--seeds", f"/dev/fd/{file.fileno()}"], [file.fileno()]
        commands = [["gnn-sample", *self._command, *self._seeds, *seeds, "--epochs", f"{epoch}:{epoch + 1}",
                     "--steps", f"{first}::{stride}", *more, self.store.path]]
        if self._fields is None or len(self._fields):
            fields = ["-F", ",".join(self._fields)] if self._fields else []
            commands.append(["gnn-gather", *fields, *words(self._gather), *more, self.store.path])
        with Stream(Pipeline(commands, pass_fds=fds)) as stream:
            self._open.add(stream)
            if fds:
                file.close()
            if stream.header["identity"] != self.store.identity:
                raise gnb.Error(f"{self.store.path}: changed or replaced since it was opened: open the store again")
            try:
                while True:
                    step += 1
                    yield self._note(epoch, step, next(stream))  # and no name holds it until the next one has come
            except StopIteration:
                pass
        self._verify = False  # once is enough: the files are the same, or their identity is another
        self._at = (epoch + 1, 0)


def _worker() -> tuple[int, int]:
    """This process's number among torch's data workers, and how many there are."""
    data = sys.modules.get("torch.utils.data")
    info = data.get_worker_info() if data is not None else None
    return (info.id, info.num_workers) if info else (0, 1)
