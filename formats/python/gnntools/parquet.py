# SPDX-License-Identifier: Apache-2.0
"""gnn-import(1) of tables that are Parquet:

    python3 -m gnntools.parquet [option ...] -o STORE [input ...]

Options and inputs are those of gnn-import, where a FILE, also of --tables, may be a Parquet file, or a folder of files
that are one table. Inputs that RelBench wrote say by themselves how they are joined: a folder of tables (db), and
one of train.parquet, val.parquet and test.parquet, which is a task. Tables become CSV beside the store, which
gnn-import reads; gnn-formats(7) has the rules. Needs pyarrow.
"""
from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from typing import Any, Optional

from ._child import ProgramError, temporary_folder
from ._parquet import UNITS, Column, Refused, Source, Table, parts
from .run import run_program

_FILES = ("nodes", "edges", "features", "labels")  # options with a FILE
_NAMES = ("map", "encode", "time", "weight", "columns")  # options with names of columns
_SETS = {"train": "train", "val": "valid", "test": "test"}  # RelBench's files of a task
_LABEL = re.compile(r"(y|labels?|class|target|nodelabel|set|split)\d*", re.I)
_KEYS = {"id", "nodeid", "node", "key", "nid", "vertexid", "vertex", "name"}


class _Command:
    """A command line of gnn-import, whose tables of Parquet become CSV files in a folder."""

    def __init__(self, words: Sequence[str], folder: str):
        given = _options(words)
        self.folder, self.tables, self.words = folder, [], []
        self.maps = [each.partition("=")[::2] for option, v in given if option == "map" for each in v.split(",")]
        self.excluded = {old for new, old in self.maps if not new}
        self.named = {c for option, v in given if option in _NAMES for c in re.split(r"[=,/]|\.\.", v)}
        self.left: dict[str, list[str]] = {}
        folders = {v: _relbench(v) for option, v in given if not option}
        self.types = {t for tables in folders.values() for t in tables}
        self.task = any(_is_task(tables) for tables in folders.values())
        for option, value in given:
            if option in _FILES:
                self.words += [f"--{option}", self._file(option, value)]
            elif not option and folders[value]:
                self._add_relbench(value, folders[value])
            elif option != "map":
                self.words += [f"--{option}", value] if option else [self._input(value)]
        if any(folders.values()) and not {"-u", "--undirected", "--directed"} & {*words}:
            self.words.append("--directed")
        self.quiet = bool({"-q", "--quiet"} & {*words})

    def run(self) -> None:
        """Writes the tables and runs gnn-import. ProgramError as run_program() raises it."""
        unit = 0
        for t in self.tables:
            unit = t.look(unit)
        times = [c.first for t in self.tables for c in t.columns if c.first is not None]
        for t in self.tables:
            t.write(UNITS[unit], min(times) // 1000 ** (3 - unit) if times else None)
            if t.without:
                names = " or ".join(c.name for c in t.columns if c.to in t.keys)
                rows, are = ("rows", "are no edges") if len(t.without) > 1 else ("row", "is no edge")
                self._say(f"{t.source.path}: {len(t.without)} {rows} without {names} {are}")
        for path, names in self.left.items():
            self._say(f"{path}: left out, as they hold text: {', '.join(map(repr, names))} (--encode makes features of "
                      "them)")
        if unit:
            self._say(f"times are integers, {UNITS[unit]} since 1970, as not all are whole seconds")
        run_program(["gnn-import", *self.words, *self._map_words()], _Shown(self.tables))

    def _say(self, text: str) -> None:
        if not self.quiet:
            print(f"gnntools.parquet: {text}", file=sys.stderr)

    def _map_words(self) -> list[str]:
        """--map with the names of CSV, without columns that are not there any more."""
        lists = {c.name: c.head() for t in self.tables for c in t.columns if c.kind == "list"}
        there = {n for t in self.tables for n in t.source.columns}
        return [word for new, old in self.maps if new or old not in there for word in
                ("--map", f"{new}={lists[old][0]}..{lists[old][-1]}" if lists.get(old) else f"{new}={old}")]

    def _add(self, source: Source, name: str, columns: Sequence[Column], **made: Any) -> str:
        """Another table; returns the path of its CSV file. What it leaves out is told."""
        csv = os.path.join(self.folder, f"{len(self.tables)}-{re.sub('[^A-Za-z0-9]+', '_', name)}.csv")
        self.tables.append(Table(source, csv, columns, **made))
        return csv

    def _columns(self, source: Source, keys: Sequence[str], ids: Sequence[str] = (), roles: bool = False,
                 without: Sequence[str] = ()) -> list[Column]:
        """Those that are read: of text only what an option names, what may be `ids` and, with `roles`, what has labels
        or sets by its name. The others are told."""
        left_out = {*self.excluded, *without}
        columns = [Column(source, n, n, n in keys) for n in source.columns if n not in left_out]
        for c in columns:
            c.kind = "words" if c.kind == "text" and c.name in ids else c.kind
        text = [c.name for c in columns if c.kind == "text" and c.name not in self.named
                and not (roles and _LABEL.fullmatch(c.name))]
        if text:
            self.left[source.path] = text
        return [c for c in columns if c.name not in text]

    # ---- tables that options name ----

    def _file(self, option: str, value: str) -> str:
        """The value of an option, with a CSV file in the place of Parquet."""
        kind, equals, path = value.partition("=") if "=" in value else ("", "", value)
        files, columns = parts(path), ""
        if not files and ":" in path:
            path, _, columns = path.rpartition(":")
            files = parts(path)
        if not files:
            return value
        source, edges = Source(path, files), option == "edges"
        keys = [_by_number(source, k) for k in columns.split(",")] if columns else []
        odd = [k for k in keys if k and k not in source.columns]
        if odd:
            raise Refused(f"{path}: there is no column '{odd[0]}'; there are: {', '.join(source.columns)}", 2)
        only = edges and columns != ",".join(keys)  # of columns by numbers, no others are read
        without = [n for n in source.columns if only and n not in keys]
        ids = [n for i, n in enumerate(source.columns) if not keys and (edges or not i or _is_key(n, kind))]
        csv = self._add(source, kind or option, self._columns(source, keys, ids, not edges, without),
                        keys=keys if edges else ())
        return kind + equals + csv + (":" + ",".join(keys if keys[0] else ["0"]) if keys else "")

    def _input(self, value: str) -> str:
        """An input, which is a table of edges if it is Parquet, whose text may be of ids or relations."""
        files = parts(value)
        if not files:
            return value
        source = Source(value, files)
        return self._add(source, "edges", self._columns(source, (), source.columns))

    # ---- tables of RelBench ----

    def _add_relbench(self, path: str, tables: dict[str, Source]) -> None:
        task = _is_task(tables)
        for name, source in tables.items():
            own, time, to = (json.loads(source.meta.get(k, b"null")) for k in ("pkey_col", "time_col",
                                                                              "fkey_col_to_pkey_table"))
            missing = [t for t in (to or {}).values() if t not in self.types]
            if missing:
                raise Refused(f"{source.path}: its rows are about the table '{missing[0]}', which is in none of the "
                              "inputs: name the folder db, too", 2)
            keys = [own] if own else []
            columns = self._columns(source, keys, (), task or not self.task, [*to])
            rest = [c for c in columns if c.name != time]
            for c in columns:
                taken = c.name.lower() == "time" or (self.task and _LABEL.fullmatch(c.name))
                c.to = ("time" if c.name == time else "y" if task and len(rest) == 1
                        else f"{name}_{c.name}" if taken and not task else c.name)
            row, sets = "" if own else "row", [_SETS[_stem(n)] for n in source.names] if task else ()
            csv = self._add(source, name, columns, row=row, sets=sets)
            self.words += ["--nodes", f"{name}={csv}:{own or row}"]
            for column, of in to.items():
                self._add_key(source, name, own, None if task else time, column, of)

    def _add_key(self, source: Source, name: str, own: Optional[str], time: Optional[str], column: str,
                 of: str) -> None:
        """The edges of a foreign key, in both directions, with the time of the row or, if that has none, the first of
        all. Those of a task lead to its rows; they are there at any time, as what has a time is the question."""
        task = _is_task({name: source})
        ends = [Column(source, n, to, True) for n, to in ((own, "row"), (column, "key")) if n]
        ends += [Column(source, time, "time")] if time else []
        csv = self._add(source, f"{name}-{column}", ends, row="" if own else "row", early=not time, keys=["key"])
        self.words += [] if task else ["--edges", f"{name}/f2p_{column}/{of}={csv}:row,key"]
        self.words += ["--edges", f"{of}/rev_f2p_{column}/{name}={csv}:key,row"]


class _Shown:
    """Where gnn-import's messages go: to standard error, with the names and rows of Parquet in place of CSV."""

    def __init__(self, tables: Sequence[Table]):
        self.tables, self.line = tables, ""

    def write(self, text: str) -> None:
        *lines, self.line = (self.line + text).split("\n")
        for line in lines:
            for t in self.tables:
                line = re.sub(re.escape(t.csv) + r": line (\d+)",
                              lambda m, t=t: f"{t.source.path}: row {t.row_of(int(m[1]) - 2) + 1}", line)
                line = line.replace(t.csv, t.source.path)
            if line.strip("\r\033[K "):
                print(line, file=sys.stderr)

    def flush(self) -> None:
        sys.stderr.flush()


def _options(words: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of an option with names or files, and its value; ("", word) for each other word; of --tables, what the list
    has."""
    out, it = [], iter(words)
    for word in it:
        name, equals, value = word[2:].partition("=") if word[:2] == "--" else ("", "", "")
        if name == "tables":
            out += _listed(value if equals else next(it, ""))
        elif name in (*_FILES, *_NAMES):
            out.append((name, value if equals else next(it, "")))
        else:
            out.append(("", word))
            if word in ("-o", "--output"):
                out.append(("", next(it, "")))
    return out


def _listed(path: str) -> list[tuple[str, str]]:
    """The options of a list of tables; one that gnn-import refuses is left to it."""
    try:
        with open(path, encoding="utf-8") as f:
            members = json.load(f)
        folder, known = os.path.dirname(path), {*_FILES, "map", "encode"}
        if {*members} <= known:
            return [(option, key + "=" + (os.path.join(folder, value) if option in _FILES else value))
                    for option, values in members.items() for key, value in values.items()]
    except (OSError, ValueError, AttributeError, TypeError):
        pass
    return [("tables", path)]


def _relbench(path: str) -> dict[str, Source]:
    """The tables of a folder that RelBench wrote, by name; those of a task are one, by the name of the folder."""
    files = parts(path) if os.path.isdir(path) else []
    tables = {_stem(f): Source(f, [f]) for f in files}
    if not files or not all("fkey_col_to_pkey_table" in t.meta for t in tables.values()):
        return {}
    if {*tables} <= {*_SETS}:
        files.sort(key=lambda f: [*_SETS].index(_stem(f)))
        return {os.path.basename(os.path.abspath(path)): Source(path, files, lenient=True)}
    return tables


def _is_task(tables: dict[str, Source]) -> bool:
    return any({*map(_stem, t.names)} <= {*_SETS} for t in tables.values())


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


def _by_number(source: Source, column: str) -> str:
    """The name of a column that is given by its number; "" for 0, which is none."""
    if column in source.columns or not column.isdigit() or int(column) > len(source.columns):
        return column
    return source.columns[int(column) - 1] if int(column) else ""


def _is_key(column: str, kind: str) -> bool:
    plain = re.sub("[^a-z0-9]", "", column.lower())
    return plain in _KEYS or plain in (kind.lower(), kind.lower() + "id")


def main(words: Sequence[str]) -> int:
    """Runs the command; returns the status of the exit, which is gnn-import's."""
    if not words or words[0] in ("-h", "--help"):
        print(__doc__.strip(), file=sys.stdout if words else sys.stderr)
        return 0 if words else 2
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        print("gnntools.parquet: Parquet is read by the package pyarrow, which is not here: pip install pyarrow",
              file=sys.stderr)
        return 1
    output = next((b for a, b in zip(words, words[1:]) if a in ("-o", "--output")), ".")
    remove = None
    try:
        folder, remove = temporary_folder(os.path.abspath(output) + ".tables.")
        _Command(words, folder).run()
    except OSError as why:
        print(f"gnntools.parquet: {why.filename or output}: {why.strerror or why}", file=sys.stderr)
        return 1
    except Refused as why:
        print(f"gnntools.parquet: {why}", file=sys.stderr)
        return why.status
    except ProgramError as why:
        if why.status is None:
            print(f"gnntools.parquet: {why}", file=sys.stderr)
        return why.status if why.status and why.status > 0 else 1
    finally:
        if remove:
            remove()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
