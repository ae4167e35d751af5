# SPDX-License-Identifier: Apache-2.0
"""Training and prediction by gnn-train(1) and gnn-predict(1), with their progress and their metrics.

    history = train("graph", "model.safetensors", fanout=[10, 5], hidden=64, epochs=20)  # [{"epoch": 0, "loss": ...}]
    out = predict("graph", "model.safetensors", split="test")                            # out.rows, out.metrics

Options of the programs are named arguments, with _ for -: True is --NAME and False --no-NAME; a list of numbers is
joined by commas, a list of anything else repeats the option, as in eval=["valid", "test"]; so does a dict, as in
fanout={"user/buys/item": [10, 5]}; a range A to B is A:B. None leaves an option out. gnn-train(1) and gnn-predict(1)
describe them; an unknown one raises ProgramError.
"""
from __future__ import annotations

import json
import os
import select
import sys
import tempfile
import warnings
from typing import Any, NamedTuple, Optional, Sequence

import numpy as np

from ._child import Pipeline, ProgramError, words

_ERASE = "\r\033[K"  # what a program writes before it rewrites its line of progress


class Predictions(NamedTuple):
    """rows: NumPy array with a row for each node, in the order in which the nodes came into the store; None if `output`
    is a table. metrics: a dict for each set, with "set", "nodes", "labels", "loss" and the metric."""

    rows: Optional[np.ndarray]
    metrics: list[dict]


def train(store: Any, model: str, *, progress: Optional[bool] = None, **options: Any) -> list[dict]:
    """Trains a model on a store (a path or Store) and writes it to the file `model`, which load_model() reads.

    Returns a dict for each epoch: "epoch", "loss", "lr", "seeds", "edges", "best", seconds as "train_s", and for each
    evaluated set a dict of its figures. progress shows a line that is rewritten, on stderr; the default is to do so on
    a terminal and in a notebook. An interrupt (Ctrl-C) lets gnn-train write the best model so far, or its checkpoint,
    before KeyboardInterrupt is raised. Raises ProgramError with the last line of gnn-train."""
    command = ["gnn-train", "--store", path_of(store), "-o", model, *option_list(options)]
    return _metrics(command, progress, "epoch")


def predict(store: Any, model: str, output: Optional[str] = None, *, progress: Optional[bool] = None,
            **options: Any) -> Predictions:
    """Computes the output of a model for all nodes of its labelled type, from all neighbours.

    output_kind="classes" (the default), "probs", "embeddings" or "values"; split="test" or a list of sets asks for
    metrics. output, if it is given, keeps the rows: as .npy, or as a table (.csv) with the nodes' own ids. Raises
    ProgramError with the last line of gnn-predict."""
    with tempfile.TemporaryDirectory(prefix="gnn-predict.") as folder:
        out = output or os.path.join(folder, "rows.npy")
        command = ["gnn-predict", "-o", out, *option_list(options), path_of(store), model]
        metrics = _metrics(command, progress, "score")
        return Predictions(None if out.endswith(".csv") else np.load(out), metrics)


def path_of(store: Any) -> str:
    """The path of a store, given as such or as an object that has it."""
    return os.fspath(getattr(store, "path", store))


def option_list(options: dict[str, Any]) -> list[str]:
    """Named arguments as options of a program."""
    return words({"no_" + k if v is False else k: True if v is False else v if v is None or v is True else _values(v)
                  for k, v in options.items()})


def _values(value: Any) -> list[str]:
    if isinstance(value, range):
        return [f"{value.start}:{value.stop}"]
    if isinstance(value, dict):
        return [f"{k}={v}" for k, each in value.items() for v in _values(each)]
    if isinstance(value, (list, tuple, np.ndarray)):
        each = [str(v) for v in value]
        return each if any(isinstance(v, (str, os.PathLike)) for v in value) else [",".join(each)]
    return [str(value)]


def run_program(command: Sequence[str], show: Any = None) -> str:
    """Runs a program to its end and returns what it said on stderr, which goes to `show` meanwhile, if that is given.
    ProgramError with its last line, if it fails."""
    return _run(command, show)[1]


def _metrics(command: list[str], progress: Optional[bool], event: str) -> list[dict]:
    """What a program reports of these events. Its warnings are Python's, unless they are shown with its progress."""
    if progress is None:
        progress = sys.stderr.isatty() or "ipykernel" in sys.modules
    command = [*command, "--metrics", "-", "--progress", "always" if progress else "never"]
    out, said = _run(command, sys.stderr if progress else None)
    for line in [] if progress else said.splitlines():
        if "warning: " in line:
            warnings.warn(line.partition("warning: ")[2], stacklevel=3)
    metrics = [m for m in map(json.loads, out.splitlines()) if m["event"] == event]
    return [{k: v for k, v in m.items() if k not in ("v", "stage", "t", "event")} for m in metrics]


def _run(command: Sequence[str], show: Any) -> tuple[bytes, str]:
    """A program's standard output, and what it said, which goes to `show` meanwhile. It gets interrupts, too."""
    child, out, shown, width, stopped = Pipeline([command]), bytearray(), 0, 0, None
    try:
        more = True
        while more:
            try:
                if select.select([child.output], [], [], 0.1)[0]:
                    got = os.read(child.output.fileno(), 1 << 16)
                    more = bool(got)
                    out += got
                text = child.said(shown)
                shown += len(text)
                width = _show(text.decode(errors="replace"), width, show) if show is not None else 0
            except KeyboardInterrupt as why:
                if stopped:
                    raise
                stopped = why
                child.interrupt()
        why = child.failure(60.0)
        said = child.said().decode(errors="replace")
        if show is not None:
            _show(child.said(shown).decode(errors="replace") + _ERASE, width, show)
    finally:
        child.close()
    if stopped:
        raise stopped
    if why:
        raise ProgramError(str(why).replace("\033[K", ""), why.program, why.status)
    return bytes(out), said


def _show(text: str, width: int, file: Any) -> int:
    """Writes text, with blanks for the control sequence of an empty line, which notebooks do not know. Returns the
    line's width."""
    for i, piece in enumerate(text.split(_ERASE)):
        file.write(("\r" + " " * width + "\r" if i else "") + piece)
        width = len(piece.rpartition("\n")[2]) + (0 if i or "\n" in piece else width)
    file.flush()
    return width
