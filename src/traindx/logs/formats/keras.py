"""Keras: what CSVLogger writes, and saved `History` objects as JSON or CSV.

CSVLogger files are known by their header whatever they are called: `epoch`, then the metrics and each
`val_` twin in alphabetical order; another order is a table of somebody's own. `NA` (a metric that an
epoch did not log) is a gap, `nan` a value; `\\r\\r\\n` line ends, other separators, a data frame's
unnamed index column and files without an epoch column (the row counts) are read. Trainings appended
to one file are separated where the epoch starts again.

A history in JSON is a dict of lists or, from a data frame, a dict of dicts keyed by the epoch;
`{"history": ..., "params": ...}` gives its parameters as configuration. Validation lists that are
shorter by a whole factor were logged every so many epochs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import numpy as np

from traindx.core import names
from traindx.core.nouns import FloatArray, Unreadable
from traindx.core.units import Bundle, Claim, Reader
from traindx.logs import csvs, jsons
from traindx.logs.layouts import header
from traindx.logs.log import Column, Log
from traindx.logs.log_file import HEAD_BYTES, File
from traindx.logs.tables import logs_from_table

_Curve = tuple[FloatArray, FloatArray]

_NAME = re.compile(r"[A-Za-z]\w*")
_INDEX = "Unnamed: 0"
_ANYBODYS = frozenset({"loss", "lr", "learning_rate"})
_FIRST_LIST = re.compile(rb'\s*\{\s*"[^"\n]{1,100}"\s*:\s*[\[{]')


def claim(file: File) -> Claim | None:
    """A CSVLogger header, or a JSON object that is a history."""
    if _FIRST_LIST.match(file.head[:4096]):
        return Claim(file.shown) if _is_history(file) else None
    return Claim(file.shown) if _is_logger_header(header(file)) else None


def read(bundle: Bundle) -> Iterator[Log]:
    """The trainings in one file."""
    for file in bundle.files:
        if _FIRST_LIST.match(file.head[:4096]):
            yield _history_log(file)
            continue
        table = csvs.read_table(file)
        index = next((name for name in table.values if name.lower() == "epoch"), _INDEX)
        if index != _INDEX:
            table.values.pop(_INDEX, None)
        yield from logs_from_table(table, step=index, axis="epoch")


def _is_logger_header(columns: tuple[str, ...]) -> bool:
    """Plain metric names with `loss` among them: CSVLogger's order, or a history's twins without an epoch.

    CSVLogger sorts what an epoch logged, the `val_` twins by themselves. Of a header that anybody may
    write (`epoch,loss,val_loss`) nothing is taken, nor one with what Keras does not log (times, norms).
    """
    metrics = columns[1:] if columns[:1] == ("",) else columns
    if "loss" not in metrics or not all(map(_NAME.fullmatch, metrics)):
        return False
    counters = [name for name in metrics if names.counter_rank(name) is not None]
    twins = [name for name in metrics if name.startswith("val_") and name[4:] in metrics]
    if counters and (counters != ["epoch"] or metrics[0] != "epoch"):
        return False
    if not counters:
        return bool(twins)
    logged = metrics[1:]
    in_order = list(logged) == sorted(logged, key=lambda name: (name.startswith("val_"), name))
    telling = [name for name in logged if name.removeprefix("val_") not in _ANYBODYS]
    return (in_order or list(logged) == sorted(logged)) and bool(telling) and not any(map(_unlogged, telling))


def _unlogged(name: str) -> bool:
    metric = names.METRICS.get(names.understand(name).metric)
    return metric is not None and metric.goal == "none"


def _is_history(file: File) -> bool:
    if file.size > HEAD_BYTES and len(file.head) < HEAD_BYTES:
        return False
    try:
        document = jsons.load(file.head) if len(file.head) < HEAD_BYTES else jsons.load_torn(file.head)
    except Unreadable:
        return False
    if not isinstance(document, dict):
        return False
    curves = _curves(document)
    metrics = [name for name in curves if names.understand(name).metric in ("loss", "accuracy")]
    other_keys = _history_part(document).keys() - curves.keys()
    if any(names.axis_of(name) == "step" for name in curves):
        return False
    return bool(metrics) and len(other_keys) <= len(curves)


def _history_part(document: Mapping[str, object]) -> Mapping[str, object]:
    inner = document.get("history")
    return inner if isinstance(inner, dict) else document


def _curves(document: Mapping[str, object]) -> dict[str, _Curve]:
    """Each metric with its epochs; what is no list of numbers is left out."""
    curves = {str(name): _curve(values) for name, values in _history_part(document).items()}
    return {name: curve for name, curve in curves.items() if curve is not None}


def _curve(values: object) -> _Curve | None:
    if isinstance(values, list):
        epochs, cells = np.arange(len(values), dtype=float), jsons.column_of(values)
    elif isinstance(values, dict) and all(str(key).isdecimal() for key in values):
        epochs, cells = np.array([float(str(key)) for key in values]), jsons.column_of(list(values.values()))
    else:
        return None
    if cells is None:
        return None
    numbers, there = cells
    return (epochs, numbers) if there is None else (epochs[there], numbers[there])


def _history_log(file: File) -> Log:
    """A history as one log; a counter list in it gives the epochs."""
    document = jsons.load_file(file)
    if not isinstance(document, dict):
        raise Unreadable("the JSON has no history of a training")
    curves = _curves(document)
    whole = max((values.size for _, values in curves.values()), default=0)
    counter = next((n for n in curves if names.axis_of(n) == "epoch" and curves[n][1].size == whole), None)
    count = curves.pop(counter) if counter else None
    log = Log([], axis="epoch")
    for name, (epochs, values) in curves.items():
        stride = _stride(values.size, whole, document)
        places = _counter_at(epochs, count) if stride == 1 else (epochs + 1) * stride - 1
        log.columns.append(Column(name, places, values))
        if stride > 1:
            had = f"{name} has {values.size} values for {whole} epochs"
            log.notes.append(f"{had}: taken as logged every {stride} epochs")
    params = document.get("params")
    log.config = {**params} if isinstance(params, dict) and params.keys().isdisjoint(curves) else {}
    return log


def _counter_at(epochs: FloatArray, count: _Curve | None) -> FloatArray:
    """The epochs according to a counter among the metrics."""
    if count is None:
        return epochs
    order = np.argsort(count[0], kind="stable")
    counted_epochs, counts = count[0][order], count[1][order]
    at = np.minimum(np.searchsorted(counted_epochs, epochs), counted_epochs.size - 1)
    return np.where(counted_epochs[at] == epochs, counts[at], epochs)


def _stride(size: int, whole: int, document: Mapping[str, object]) -> int:
    """Every how many epochs a list that is shorter than the others was logged."""
    from_list = any(isinstance(values, list) for values in _history_part(document).values())
    return whole // size if from_list and 1 < size < whole and whole % size == 0 else 1


READER = Reader("keras", "Keras CSVLogger or History", 40, claim, read)
