# SPDX-License-Identifier: Apache-2.0
"""Tables of Parquet as CSV that gnn-import(1) reads, batch by batch. pyarrow is imported when it is needed."""
from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, Optional

ENDS = (".parquet", ".parq", ".pq")
UNITS = ("s", "ms", "us", "ns")  # of times
_CONTROL = r"[\x00-\x1f\x7f]+"


class Refused(Exception):
    """What cannot be read; the text is one line. `status`: of the exit, as that of gnn-import."""

    def __init__(self, text: str, status: int = 3):
        super().__init__(text)
        self.status = status


def parts(path: str) -> list[str]:
    """The files of a table: one, or those of a folder, in the order of their names. None: it is not Parquet."""
    if os.path.isdir(path):
        return [os.path.join(path, n) for n in sorted(os.listdir(path)) if n.endswith(ENDS) and n[0] not in "._"]
    try:
        with open(path, "rb") as f:
            return [path] if f.read(4) == b"PAR1" or path.endswith(ENDS) else []
    except OSError:
        return [path] if path.endswith(ENDS) else []


class Source:
    """A table of one or more files of the same columns, of which those of a `lenient` one may lack some."""

    def __init__(self, path: str, files: Sequence[str], lenient: bool = False):
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.path, self.names, self.files = path, files, []
        for name in files:
            try:
                self.files.append(pq.ParquetFile(name))
            except (pa.ArrowException, OSError) as why:
                text = os.strerror(why.errno) if getattr(why, "errno", None) else str(why).splitlines()[0]
                raise Refused(f"{name}: {text}") from None
        self.schema = max((f.schema_arrow for f in self.files), key=len)
        self.meta = {k.decode(): v for k, v in (self.schema.metadata or {}).items()}
        self.columns = self.schema.names
        if len({*self.columns}) < len(self.columns):
            raise Refused(f"{path}: two columns have one name: {', '.join(self.columns)}")
        mine = {n: self.schema.field(n).type for n in self.columns}
        for name, f in zip(files, self.files):
            other = {n: f.schema_arrow.field(n).type for n in f.schema_arrow.names}
            odd = [n for n in {**mine, **other} if mine.get(n) != other.get(n) and not (lenient and n not in other)]
            if odd:
                raise Refused(f"{name}: column '{odd[0]}' is not as in the other files of the table: "
                              f"{other.get(odd[0], 'absent')}, and {mine.get(odd[0], 'absent')} there")

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[int, Any]]:
        """The number of the file, and its next rows."""
        import pyarrow as pa

        for i, f in enumerate(self.files):
            try:
                for b in f.iter_batches(columns=[c for c in columns if c in f.schema_arrow.names]):
                    yield i, b
            except (pa.ArrowException, OSError) as why:
                raise Refused(f"{self.names[i]}: {str(why).splitlines()[0]}") from None


class Column:
    """A column, which is called `to` in CSV. `key`: it holds ids, and is refused if it cannot."""

    def __init__(self, source: Source, name: str, to: str, key: bool = False):
        import pyarrow.types as t

        self.name, self.to, self.what, self.width = name, to, f"{source.path}: column '{name}'", 0
        self.first: Optional[int] = None  # of times, in ns
        self.real = False  # a cell with a point has been written: all others are real numbers, too
        self.type = source.schema.field(name).type
        kind = self.type.value_type if t.is_dictionary(self.type) else self.type
        words = t.is_string(kind) or t.is_large_string(kind) or str(kind) == "string_view"
        number = t.is_integer(kind) or t.is_floating(kind) or t.is_decimal(kind)
        if key and not words and not number:
            raise Refused(f"{self.what}: {kind}, expected ids: integers or words")
        self.kind = ("words" if key else "text") if words else "key" if key else self._kind(kind, number)

    def _kind(self, kind: Any, number: bool) -> str:
        import pyarrow.types as t

        lists = t.is_list(kind) or t.is_large_list(kind) or t.is_fixed_size_list(kind)
        if lists and (t.is_floating(kind.value_type) or t.is_integer(kind.value_type)):
            return "list"
        if t.is_date(kind) or t.is_timestamp(kind):
            return "time"
        if t.is_floating(kind):
            return "real"
        if number or t.is_boolean(kind) or t.is_time(kind) or t.is_duration(kind):
            return "number"
        if t.is_null(kind):
            return "text"
        raise Refused(f"{self.what}: {kind}, which no store has: --map ={self.name} leaves it out")

    def head(self) -> list[str]:
        """Names in CSV: a list has a column for each of its numbers."""
        return [f"{self.to}_{i}" for i in range(self.width)] if self.kind == "list" else [self.to]

    def look(self, a: Any, unit: int) -> int:
        """Finds the width of lists and the first time; returns the unit, `unit` or a finer one, in which times are
        whole."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.kind == "list":
            lengths = pc.unique(pc.list_value_length(a)).drop_null().to_pylist()
            self.width = self.width or (lengths[0] if lengths else 0)
            if any(n != self.width or not n for n in lengths):
                raise Refused(f"{self.what}: empty lists, or lists of different lengths, which no store has: --map "
                              f"={self.name} leaves it out")
        else:
            a = a.cast(pa.timestamp("s")) if pa.types.is_date(a.type) else a
            own, n = UNITS.index(a.type.unit), a.cast(pa.int64()).drop_null().to_numpy(zero_copy_only=False)
            while unit < own and (n % 1000 ** (own - unit)).any():
                unit += 1
            if len(n):
                first = int(n.min()) * 1000 ** (3 - own)
                self.first = first if self.first is None else min(first, self.first)
        return unit

    def cells(self, a: Any, unit: str) -> list[Any]:
        """What CSV has of some rows: an array for each name of head()."""
        import pyarrow as pa
        import pyarrow.compute as pc

        t = pa.types
        a = a.dictionary_decode() if t.is_dictionary(a.type) else a
        if self.kind == "list":
            return self._reals([pc.list_element(a, i) for i in range(self.width)])
        if self.kind == "real":
            return self._reals([a])
        if self.kind in ("words", "text"):
            return [self._words(a.cast(pa.large_string()))]
        try:
            if self.kind == "time":
                return [a.cast(pa.timestamp(unit, getattr(a.type, "tz", None))).cast(pa.int64())]
            if self.kind == "key":
                return [a if t.is_integer(a.type) else a.cast(pa.int64())]
        except pa.ArrowInvalid as why:
            raise Refused(f"{self.what}: {str(why).splitlines()[0]}") from None
        to = (pa.int8() if t.is_boolean(a.type) else pa.string() if t.is_decimal(a.type) else pa.int32()
              if t.is_time32(a.type) else pa.int64() if t.is_time(a.type) or t.is_duration(a.type) else a.type)
        return [a.cast(to)]

    def _words(self, a: Any) -> Any:
        import pyarrow.compute as pc

        odd = a.filter(pc.match_substring_regex(a, _CONTROL))
        if len(odd) and self.kind == "words":
            raise Refused(f"{self.what}: an id has a control character: {odd[0].as_py()!r}")
        return pc.replace_substring_regex(a, _CONTROL, " ") if len(odd) else a

    def _reals(self, cells: list[Any]) -> list[Any]:
        """CSV has 1.0 as 1: the first cells get a point, by which gnn-import knows real numbers."""
        import pyarrow as pa
        import pyarrow.compute as pc

        cells = [a.cast(pa.float32()) if pa.types.is_float16(a.type) else a for a in cells]
        if self.real or not all(pa.types.is_floating(a.type) and len(a) > a.null_count for a in cells):
            return cells
        self.real = True
        return [pc.replace_substring_regex(a.cast(pa.string()), r"^(-?\d+)$", r"\1.0") for a in cells]


class Table:
    """Columns of a source, and the CSV file that they become. A row without one of `keys`, which are edges' ends, is
    left out. Columns may be made: `row`, its number; `set`, by `sets` of the files; `time`, the same for all rows, for
    which `early` asks."""

    def __init__(self, source: Source, csv: str, columns: Sequence[Column], row: str = "", sets: Sequence[str] = (),
                 early: bool = False, keys: Sequence[str] = ()):
        self.source, self.csv, self.columns, self.keys = source, csv, columns, keys
        self.row, self.sets, self.early = row, sets, early
        self.without: list[int] = []  # rows that are left out

    def look(self, unit: int) -> int:
        """As that of its columns."""
        seen = [c for c in self.columns if c.kind in ("list", "time")]
        for _, b in self.source.batches([c.name for c in seen]) if seen else ():
            for c in seen:
                unit = c.look(b.column(c.name), unit) if c.name in b.schema.names else unit
        return unit

    def write(self, unit: str, first: Optional[int]) -> None:
        """`first`: the time of rows that have none; None: there are no times at all."""
        import pyarrow as pa
        import pyarrow.csv as csv

        made = {self.row: None, "set": self.sets or None, "time": first if self.early else None}
        head = [*filter(None, [self.row]), *(n for c in self.columns for n in c.head()),
                *(n for n in ("set", "time") if made[n] is not None)]
        at = 0
        with open(self.csv, "wb") as f:
            csv.write_csv(pa.table([pa.nulls(0, pa.string())] * len(head), names=head), f)
            for i, b in self.source.batches([c.name for c in self.columns]):
                same = [self.sets[i] if n == "set" else first for n in head if made.get(n) is not None]
                rows = self._rows(at, b, unit, head, same)
                at += b.num_rows
                csv.write_csv(rows, f, csv.WriteOptions(include_header=False))

    def _rows(self, at: int, b: Any, unit: str, head: list[str], same: list) -> Any:
        import numpy as np
        import pyarrow as pa

        cells = [pa.array(np.arange(at, at + b.num_rows))] if self.row else []
        for c in self.columns:
            there = c.name in b.schema.names
            cells += c.cells(b.column(c.name), unit) if there else [pa.nulls(b.num_rows, pa.int64())] * len(c.head())
        rows = pa.table(cells + [pa.array([v] * b.num_rows) for v in same], names=head)
        if not self.keys:
            return rows
        known = np.all([rows[k].is_valid().to_numpy() for k in self.keys], 0)
        self.without += (np.flatnonzero(~known) + at).tolist()
        return rows.filter(pa.array(known))

    def row_of(self, k: int) -> int:
        """The row of the source that is the k-th of those that are not left out; both count from 0."""
        for w in self.without:
            k += w <= k
        return k
