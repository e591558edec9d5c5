"""CSV, TSV and blank-separated tables of any origin.

The delimiter (comma, semicolon, tab, bar, blanks) and the header are learned from the first lines.
Padded, quoted, repeated and empty header cells, ragged rows, comments, percent signs, thousands
separators, decimal commas, a header that comes again after a restart, UTF-16 and odd line ends are
read. An empty cell and a word are gaps, a literal `nan` is a value. A column of words like
`phase` gives the split of its rows. TensorBoard's CSV download (`Wall time,Step,Value`) takes the
metric's name from the file name. Stable-Baselines3's `monitor.csv` (`r,l,t`) is read by episode.

A table needs a counter (`step`, `epoch`, ...), names of metrics, or nothing but a metric's one column
to be taken for a training: data sets are left alone. Without a header the file name must contain a
word for a metric.
"""

from __future__ import annotations

import os
import re
from pathlib import PurePath

import numpy as np

from traindx.core import names
from traindx.core.nouns import BoolArray, FloatArray
from traindx.core.units import Bundle, Claim, Reader
from traindx.logs import csvs, generic
from traindx.logs.layouts import SPACE
from traindx.logs.log import Log
from traindx.logs.log_file import File
from traindx.logs.tables import Table

_SUFFIXES = (".csv", ".tsv", ".tab", ".dat")
_PLAIN_SUFFIXES = ("", ".log", ".txt", ".out", ".data", ".res")
# A header of 100,000 columns does not fit into the head.
_WIDE_BYTES = 8 << 20
_METRIC_FILE = re.compile(
    r"loss|acc|metric|train|valid|eval|history|curve|learning|reward|perplexity|error", re.I
)
_TAG = re.compile(r"(?:^|-)tag-(?P<tag>.+)$")
# Columns of the monitor of Gym and Stable-Baselines3: reward, length and time of an episode.
_MONITOR = {"r": "reward", "l": "episode_length", "t": "time"}
_BINARY = re.compile(rb"[\x01-\x06\x0e-\x1a]")


def claim(file: File) -> Claim | None:
    """A table whose columns are those of a training."""
    start = file.head[:4096]
    if start.lstrip()[:1] in (b"{", b"[", b"<") or _BINARY.search(start):
        return None
    listed = file.name.lower().endswith(_SUFFIXES)
    if not listed and os.path.splitext(file.name)[1].lower() not in _PLAIN_SUFFIXES:
        return None
    wide = listed and b"\n" not in file.head and file.size > len(file.head)
    peek = csvs.peek(file.read(_WIDE_BYTES) if wide else file.head)
    if peek is None or not peek.table.values:
        return None
    if not listed and (peek.words > 0.2 or peek.ragged > 0.1 or not peek.layout.named):
        return None
    if peek.layout.delimiter == SPACE and (peek.words > 0.05 or peek.ragged > 0.1):
        return None
    if not peek.layout.named and (peek.ragged or not _METRIC_FILE.search(file.name)):
        return None
    table = _titled(peek.table, file, headed=peek.layout.named)
    return Claim(file.shown) if generic.is_training(table) else None


def read(bundle: Bundle) -> list[Log]:
    """All trainings in one table."""
    file = bundle.files[0]
    table = csvs.read_table(file)
    headed = not all(name.startswith("column ") for name in table.values)
    return generic.logs(_titled(table, file, headed=headed))


def _titled(table: Table, file: File, *, headed: bool) -> Table:
    """Names for a table that has none of its own: from the file's name, a first column that counts."""
    stem = PurePath(file.name).stem
    tag = _TAG.search(stem)
    label = (tag["tag"] if tag else stem).strip()
    values, present = dict(table.values), dict(table.present)
    if values and not headed:
        columns = list(values)
        first = values[columns[0]]
        if first.size > 2 and not np.isfinite(first[0]) and _counts(first[1:]):
            # The header that pandas writes over an index and a column without names: `,0`.
            values = {name: column[1:] for name, column in values.items()}
            present = {name: column[1:] for name, column in present.items() if name != columns[0]}
            first = values[columns[0]]
        if len(columns) > 1 and columns[0] not in present and _counts(first):
            _rename(values, present, columns[0], "step")
            columns = columns[1:]
        if len(columns) == 1:
            _rename(values, present, columns[0], label)
    if list(values)[: len(_MONITOR)] == list(_MONITOR):
        for letter, title in _MONITOR.items():
            _rename(values, present, letter, title)
        values["episode"] = np.arange(1.0, values["reward"].size + 1.0)
    clocks = ("wall time", "timestamp")
    other_columns = [n for n in values if names.counter_rank(n) is None and n.lower() not in clocks]
    if headed and len(other_columns) == 1 and other_columns[0].lower() in ("value", "values", "y"):
        _rename(values, present, other_columns[0], label)
    return Table(values, present, table.labels)


def _rename(values: dict[str, FloatArray], present: dict[str, BoolArray], old: str, new: str) -> None:
    values[new] = values.pop(old)
    if old in present:
        present[new] = present.pop(old)


def _counts(values: FloatArray) -> bool:
    return values.size >= 2 and bool((np.diff(values) > 0).all() and (values == np.round(values)).all())


READER = Reader("csv", "CSV, TSV or blank-separated table", 72, claim, read)
