"""Any file of data -> parts. Nothing is executed: no pickles; of large files a sample of rows is read."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import IO, Any

import numpy as np

from traindx.checkup.data.part import MOST_ROWS, DataPart, from_words, is_target_array, split_of, windows
from traindx.core import files
from traindx.core.nouns import IntArray, Unreadable

_BYTES_MOST = 64 << 20
_ARRAY_MOST = 1 << 30
_COLUMNS_MOST = 2_000
_CELL_MOST = 20_000
_RECORDS_LEAST, _LIST_MOST, _POOLED_MOST = 8, 64, 256
# Of a folder; a JSON document may hold records, settings or statistics, and is read where it is named.
TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".arrow", ".npz", ".npy", ".txt")


def read_file(path: str) -> list[DataPart]:
    """The parts of one file; raises Unreadable with one line."""
    ending = os.path.splitext(path)[1].lower()
    reader = _READERS.get(ending)
    if reader is None:
        raise Unreadable(f"{path}: files of this kind are not read ({ending or 'no ending'})")
    try:
        return [part for part in reader(path) if len(part)]
    except Unreadable:
        raise
    except (OSError, ValueError, KeyError, EOFError, TypeError, RecursionError, csv.Error) as error:
        raise Unreadable(f"{path}: it cannot be read ({_reason(error)})") from None
    except (zipfile.BadZipFile, NotImplementedError, MemoryError, RuntimeError) as error:
        raise Unreadable(f"{path}: it is damaged or too large ({_reason(error)})") from None


def _reason(error: Exception) -> str:
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text).splitlines()[0][:200].rstrip(".")


def _lines(path: str) -> tuple[list[str], IntArray, int]:
    """Lines, their numbers, and about how many there are: of a large file, stretches spread over it."""
    with files.opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size <= _BYTES_MOST:
            lines = file.read(size).decode("utf-8-sig", "replace").splitlines()
            return lines, np.arange(len(lines)), len(lines)
        step = _BYTES_MOST // 16
        lines = []
        rows: list[int] = []
        length = 0.0
        for at in np.linspace(0, size - step, 16).astype(int):
            file.seek(at)
            block = file.read(step).decode("utf-8", "replace").splitlines()
            block = block[1 if at else 0 : -1]
            length = length or step / max(1, len(block))
            rows += range(int(at / length), int(at / length) + len(block))
            lines += block
        return lines, np.array(rows), int(size / length)


def _table(path: str) -> Iterable[DataPart]:
    """Values separated by commas, tabs or semicolons; without a header the columns are numbered."""
    lines, rows, total = _lines(path)
    if not lines:
        return
    head = lines[0]
    mark = max("\t,;|", key=head.count)
    csv.field_size_limit(_CELL_MOST * 10)
    keep = np.concatenate([[0], 1 + windows(len(lines) - 1)]).astype(np.int64)
    body = "\n".join(lines) if len(keep) == len(lines) else "\n".join(lines[i] for i in keep)
    cells = [row for row in csv.reader(io.StringIO(body), delimiter=mark) if row]
    if not cells or not head.count(mark):
        yield from _one_column(path, lines, rows, total)
        return
    first = cells[0]
    has_header = not any(_is_number(cell) for cell in first) and len(set(first)) == len(first)
    names = [cell.strip() for cell in first] if has_header else [f"column {i + 1}" for i in range(len(first))]
    if len(names) > _COLUMNS_MOST:
        raise Unreadable(f"{path}: it has {len(names):,} columns; at most {_COLUMNS_MOST:,} are read")
    body_cells = [row for row in cells[1 if has_header else 0 :] if len(row) == len(names)]
    at = rows[keep][1 if has_header else 0 :] - int(has_header)
    at = at[: len(body_cells)] if len(at) >= len(body_cells) else np.arange(len(body_cells))
    columns = {name: [row[i][:_CELL_MOST] for row in body_cells] for i, name in enumerate(names)}
    yield from_words(os.path.basename(path), path, columns, at, total - int(has_header))


def _one_column(path: str, lines: Sequence[str], rows: IntArray, total: int) -> Iterable[DataPart]:
    """A value or a text for each line."""
    keep = windows(len(lines))
    name = "label" if is_target_array(path) else "text"
    yield from_words(
        os.path.basename(path), path, {name: [lines[i][:_CELL_MOST] for i in keep]}, rows[keep], total
    )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _json_lines(path: str) -> Iterable[DataPart]:
    lines, rows, total = _lines(path)
    records = []
    for i in windows(len(lines)):
        try:
            row = json.loads(lines[i])
        except ValueError:
            continue
        if isinstance(row, Mapping):
            records.append((int(rows[i]), row))
    if not records:
        raise Unreadable(f"{path}: no line of it is a JSON object")
    yield from_words(
        os.path.basename(path),
        path,
        columns_of([row for _, row in records]),
        np.array([at for at, _ in records]),
        total,
    )


def _json(path: str) -> Iterable[DataPart]:
    """The lists of records in a document, at its top or under a key; settings and statistics hold none."""
    with files.opened(path) as file:
        if os.fstat(file.fileno()).st_size > _BYTES_MOST:
            raise Unreadable(f"{path}: it is too large to be read whole; JSON lines are read in part")
        document = json.loads(file.read(_BYTES_MOST).decode("utf-8-sig", "replace"))
    tables = document if isinstance(document, Mapping) else {"": document}
    for key, records in tables.items():
        if isinstance(records, list) and len(records) >= _RECORDS_LEAST and _are_records(records):
            keep = windows(len(records))
            name = os.path.basename(path) + (f":{key}" if key else "")
            yield from_words(name, path, columns_of([records[i] for i in keep]), keep, len(records))


def _are_records(records: Sequence[Any]) -> bool:
    return all(isinstance(record, Mapping) for record in records)


def columns_of(records: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Records as columns of text; a short list of numbers that is in all of them becomes several."""
    columns: dict[str, list[str]] = {}
    for name in list(dict.fromkeys(name for record in records[:200] for name in record))[:_COLUMNS_MOST]:
        values = [record.get(name) for record in records]
        if not isinstance(values[0], list | dict):
            columns[str(name)] = [_cell(value) for value in values]
        elif (width := _width(values)) and len(columns) + width <= _COLUMNS_MOST:
            lists = [value for value in values if isinstance(value, list)]
            columns |= {f"{name}[{at}]": [_cell(numbers[at]) for numbers in lists] for at in range(width)}
    return columns


def _width(values: Sequence[Any]) -> int:
    """The length of lists of numbers that are all as long; 0 for any other values."""
    if not all(isinstance(value, list) for value in values):
        return 0
    widths = {len(value) for value in values}
    plain = all(isinstance(number, int | float) for value in values for number in value)
    return widths.pop() if len(widths) == 1 and max(widths) <= _LIST_MOST and plain else 0


def _cell(value: object) -> str:
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, bool) else str(value)[:_CELL_MOST]


def _parquet(path: str) -> Iterable[DataPart]:
    try:
        arrow: Any = import_module("pyarrow")
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError:
        raise Unreadable(f"{path}: Parquet and Arrow need pyarrow: pip install pyarrow") from None
    if path.endswith(".arrow"):
        with arrow.memory_map(path) as source:
            try:
                table = arrow.ipc.open_stream(source).read_all()
            except arrow.ArrowInvalid:
                table = arrow.ipc.open_file(source).read_all()
    else:
        opened = parquet.ParquetFile(path)
        total = opened.metadata.num_rows
        batches = opened.iter_batches(batch_size=min(total, 5 * MOST_ROWS) or 1)
        table = arrow.Table.from_batches([next(batches)]) if total else opened.schema_arrow.empty_table()
    keep = windows(table.num_rows)
    plain = [
        name for name in table.column_names if not (arrow.types.is_nested(table.schema.field(name).type))
    ]
    records = table.select(plain).take(arrow.array(keep)).to_pylist()
    if records:
        yield from_words(os.path.basename(path), path, columns_of(records), keep, table.num_rows)


def _npy(path: str) -> Iterable[DataPart]:
    with files.opened(path) as file:
        yield from parts_of_arrays(path, {"": _first_rows(file)})


def _first_rows(file: IO[bytes]) -> np.ndarray:
    """The array of a `.npy` file; of a very large one the first rows."""
    version = np.lib.format.read_magic(file)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = header(file)
    size = dtype.itemsize * math.prod(shape[1:])
    if fortran or not shape or size * shape[0] <= _ARRAY_MOST:
        file.seek(0)
        return np.asarray(np.load(file, allow_pickle=False))
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are not loaded")
    rows = _ARRAY_MOST // size
    return np.frombuffer(file.read(rows * size), dtype).reshape(rows, *shape[1:])


def _npz(path: str) -> Iterable[DataPart]:
    arrays = {}
    with files.opened(path) as file:
        with zipfile.ZipFile(file) as archive:
            sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
        file.seek(0)
        loaded = np.load(file, allow_pickle=False)
        for name in loaded.files[:200]:
            if sizes.get(name + ".npy", 0) <= _ARRAY_MOST:
                arrays[name] = loaded[name]
    yield from parts_of_arrays(path, arrays)


def parts_of_arrays(path: str, arrays: Mapping[str, np.ndarray]) -> list[DataPart]:
    """Arrays with as many rows belong together: inputs with the target that is named like them."""
    usable = {
        name: array
        for name, array in arrays.items()
        if array.ndim >= 1 and array.dtype.kind in "biufUS" and len(array) >= 8
    }
    parts = [_array_part(path, name, array) for name, array in usable.items()]
    return joined_targets(parts)


def _array_part(path: str, name: str, array: np.ndarray) -> DataPart:
    keep = windows(len(array))
    label = os.path.basename(path) + (f":{name}" if name else "")
    rows = np.asarray(array[keep] if len(keep) < len(array) else array)
    stem = name or os.path.splitext(os.path.basename(path))[0]
    if array.dtype.kind in "US":
        return DataPart(
            label, path, keep, len(array), np.empty((len(rows), 0)), (), {stem: [str(cell) for cell in rows]},
            split=split_of(label), target=stem if is_target_array(stem) else "",
        )  # fmt: skip
    flat = rows.reshape(len(rows), -1)
    keys = tuple(hash(row.tobytes()) for row in flat) if flat.shape[1] > 1 else ()
    small = pooled(rows) if flat.shape[1] > _COLUMNS_MOST or rows.ndim > 2 else flat
    names = (stem,) if small.shape[1] == 1 else tuple(f"{stem}[{i}]" for i in range(small.shape[1]))
    target = stem if small.shape[1] == 1 and is_target_array(stem) else ""
    return DataPart(
        label, path, keep, len(array), small.astype(np.float64), names, target=target,
        split=split_of(label), array=stem, keys=keys,
    )  # fmt: skip


def pooled(rows: np.ndarray) -> np.ndarray:
    """Every so-many-th element of each row: enough to compare samples."""
    flat = rows.reshape(len(rows), -1)
    stride = max(1, -(-flat.shape[1] // _POOLED_MOST))
    return flat[:, ::stride]


def joined_targets(parts: Sequence[DataPart]) -> list[DataPart]:
    """Targets of a file or array of their own are put to the inputs of as many rows and the same split."""
    targets = [part for part in parts if part.target and len(part.names) + len(part.words) == 1]
    joined: list[DataPart] = []
    used_ids: set[int] = set()
    for part in parts:
        if any(part is target for target in targets):
            continue
        fitting = [
            target
            for target in targets
            if target.total == part.total
            and target.split == part.split
            and os.path.dirname(target.path) == os.path.dirname(part.path)
        ]
        if part.target or len(fitting) != 1:
            joined.append(part)
            continue
        used_ids.add(id(fitting[0]))
        joined.append(with_target(part, fitting[0]))
    return joined + [target for target in targets if id(target) not in used_ids]


def with_target(part: DataPart, target: DataPart) -> DataPart:
    """The inputs with their targets, row by row."""
    from dataclasses import replace

    if target.words:
        return replace(part, words={**part.words, **target.words}, target=target.target)
    return replace(
        part,
        numbers=np.hstack([part.numbers, target.numbers]),
        names=(*part.names, *target.names),
        target=target.target,
    )


_READERS: Mapping[str, Callable[[str], Iterable[DataPart]]] = {
    ".csv": _table, ".tsv": _table, ".txt": _table, ".jsonl": _json_lines, ".ndjson": _json_lines,
    ".json": _json, ".parquet": _parquet, ".arrow": _parquet, ".npz": _npz, ".npy": _npy,
}  # fmt: skip
