"""One JSON document that holds a training: histories of any shape.

Read are: a list of row objects; an object of lists (`{"loss": [...], "val_loss": [...]}`), nested
or not; a list of numbers in a file that is called like a metric; an object of objects keyed by row
number, as data frames write them, either way round; data frames in split form; TensorBoard's JSON
download (`[[wall time, step, value], ...]`); and a single object of results when it has a counter and
a metric. The single values around a history are its configuration. Shorter lists that divide the
longest (validation every few epochs) are spread over it. A document that is cut off is read up to the
cut.

A configuration file holds none of these and is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath

import numpy as np

from traindx.core import names
from traindx.core.nouns import Unreadable
from traindx.core.units import Bundle, Claim, Reader
from traindx.logs import generic, jsons
from traindx.logs.log import Column, Log
from traindx.logs.log_file import HEAD_BYTES, File
from traindx.logs.tables import Table, as_number

_NOT_METRICS = ("package.json", "package-lock.json", "tokenizer.json", "tsconfig.json", "vocab.json")
Series = dict[str, list[object]]
_FEWEST = 4


def claim(file: File) -> Claim | None:
    """A document in which a history is found."""
    if file.head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"[") or file.name in _NOT_METRICS:
        return None
    try:
        whole = len(file.head) < HEAD_BYTES
        document = _load(file.head) if whole else jsons.load_torn(file.head)
        logs = list(_logs(document, file))
    except Unreadable:
        return None
    return Claim(file.shown) if any(log.columns for log in logs) else None


def read(bundle: Bundle) -> list[Log]:
    """The trainings in one document."""
    file = bundle.files[0]
    logs = list(_logs(jsons.load_file(file), file))
    if not logs:
        raise Unreadable("no history of a training in this JSON")
    return logs


def _load(data: bytes) -> object:
    try:
        return jsons.load(data)
    except Unreadable:
        return jsons.load_torn(data)


def _logs(document: object, file: File) -> Iterator[Log]:
    """Every history in a document: rows first, else lists, else single results."""
    if _is_download(document):
        assert isinstance(document, list)
        label = PurePath(file.name).stem.rpartition("tag-")[2]
        cut = np.fromiter((as_number(cell) or 0.0 for point in document for cell in point), float).reshape(
            -1, 3
        )
        yield Log([Column(label, cut[:, 1], cut[:, 2], cut[:, 0])])
        return
    if isinstance(document, list) and len(document) >= _FEWEST and not any(map(_nested, document)):
        # The values of one metric alone: the file's name says which.
        table = jsons.table_of_lists({PurePath(file.name).stem: document})
        if table.values and generic.is_training(table):
            yield from generic.logs(table)
        return
    config: dict[str, object] = {}
    if isinstance(document, Mapping) and not _frame(document):
        config = {str(k): v for k, v in document.items() if not isinstance(v, list) and not _frame(v)}
    has_rows = False
    for rows in _row_lists(document, 4):
        table = jsons.table_of(rows)
        if table.values and generic.is_training(table):
            has_rows = True
            yield from generic.logs(table, config=config)
    if has_rows or not isinstance(document, Mapping):
        return
    lists = _lists(document)
    log = _log_of_lists(lists, {k: v for k, v in config.items() if k not in _roots(lists)})
    if log is not None:
        yield log
        return
    cells = {n: x for n, v in jsons.flatten_row(document) if not isinstance(v, bool | str)
             and (x := as_number(v)) is not None}  # fmt: skip
    if cells and generic.has_result(cells):
        yield _log_of_results(cells)


def _is_download(document: object) -> bool:
    if not isinstance(document, list) or not document:
        return False
    triples = all(isinstance(p, list) and len(p) == 3 and not any(map(_nested, p)) for p in document)
    return triples and (as_number(document[0][0]) or 0.0) > 1e9


def _nested(value: object) -> bool:
    return isinstance(value, list | Mapping)


def _row_lists(value: object, depth: int) -> Iterator[list[jsons.Row]]:
    """Lists of objects, and frames keyed by row number, anywhere in the upper levels."""
    if isinstance(value, list):
        if value and all(isinstance(row, Mapping) for row in value):
            yield value
        elif depth and len(value) <= 20:
            for inner in value:
                yield from _row_lists(inner, depth - 1)
    elif isinstance(value, Mapping):
        rows = _frame(value)
        if rows:
            yield rows
        elif depth:
            for inner in value.values():
                yield from _row_lists(inner, depth - 1)


def _frame(value: object) -> list[jsons.Row]:
    """Rows of a data frame written as `{column: {row: cell}}`, `{row: {column: cell}}` or in split form."""
    if not isinstance(value, Mapping) or not value:
        return []
    titles, data = value.get("columns"), value.get("data")
    if isinstance(titles, list) and isinstance(data, list) and all(isinstance(r, list) for r in data):
        return [dict(zip(map(str, titles), row, strict=False)) for row in data]
    inner = list(value.values())
    if not all(isinstance(cells, Mapping) and cells for cells in inner):
        return []
    if all(str(key).isdecimal() for cells in inner for key in cells):
        keys = sorted({str(key) for cells in inner for key in cells}, key=float)
        return [{str(name): cells.get(key) for name, cells in value.items()} for key in keys]
    if all(str(key).isdecimal() for key in value):
        ordered = sorted(value, key=lambda key: float(str(key)))
        has_counter = any(names.counter_rank(str(name)) is not None for name in inner[0])
        return [{**({} if has_counter else {"index": float(str(k))}), **value[k]} for k in ordered]
    return []


def _lists(document: Mapping[str, object]) -> Series:
    """Lists of numbers below any level, by the path to them; a level that all share is left out."""
    lists: Series = {}
    for name, value in jsons.flatten_row(document):
        if isinstance(value, list) and value and all(v is None or as_number(v) is not None for v in value):
            lists[name] = value
    while lists:
        tops = {name.partition("/")[0] for name in lists}
        if len(tops) > 1 or not all("/" in name for name in lists) or names.split_of(next(iter(tops))):
            break
        lists = {name.partition("/")[2]: values for name, values in lists.items()}
    return lists


def _roots(lists: Series) -> set[str]:
    return {name.partition("/")[0] for name in lists}


def _log_of_lists(lists: Series, config: dict[str, object]) -> Log | None:
    longest = max((len(values) for values in lists.values()), default=0)
    if longest < 2:
        return None
    even = {name: values for name, values in lists.items() if len(values) == longest}
    table = jsons.table_of_lists(even)
    if not _is_history(lists, table):
        return None
    logs = generic.logs(table, config=config)
    log = logs[0] if logs else Log([], axis="row", config=config)
    base = next((c.steps for c in log.columns if c.steps.size == longest), np.arange(longest, dtype=float))
    for name, values in lists.items():
        if name in even or len(logs) > 1:
            continue
        cells = [as_number(v) for v in values]
        there = np.array([cell is not None for cell in cells])
        stride, rest = divmod(longest, len(values))
        steps = base[stride - 1 :: stride] if not rest else base[: len(values)]
        if stride > 1 and not rest:
            log.notes.append(f"{name}: {len(values)} values taken as every {stride}th of {longest}")
        numbers = np.array([np.nan if cell is None else cell for cell in cells])
        log.columns.append(Column(name, steps[there], numbers[there]))
    return log


def _is_history(lists: Series, table: Table) -> bool:
    if table.values and generic.is_training(table):
        return True
    columns = {name: np.zeros(1) for name in lists}
    return generic.is_training(Table({**columns, "epoch": np.zeros(1)}, {})) if len(lists) > 1 else False


def _log_of_results(cells: dict[str, float]) -> Log:
    counters = sorted((names.counter_rank(n.rpartition("/")[2]) or 0, n.count("/"), n) for n in cells
                      if names.counter_rank(n.rpartition("/")[2]) is not None)  # fmt: skip
    counter = counters[0][2]
    at = np.array([cells[counter]])
    columns = [Column(name, at, np.array([value])) for name, value in cells.items() if name != counter]
    return Log(
        columns,
        axis=names.axis_of(counter.rpartition("/")[2]) or "step",
        notes=["only final values, no history"],
    )


READER = Reader("json", "JSON document with a training history", 71, claim, read)
