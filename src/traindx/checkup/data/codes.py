"""Codes of a column that mean other things in the second part than in the first."""

from __future__ import annotations

from typing import Any

import numpy as np

from traindx.checkup.data.part import DataPart
from traindx.core.nouns import FloatArray, IntArray

_KINDS = (3, 30)
_ROWS_LEAST = 5  # of each code, in each part
_COLUMNS_MOST = 64


def permuted_codes(first: DataPart, second: DataPart) -> list[dict[str, Any]]:
    """One fact for each column whose codes fit how often they occur, and what they say of the target, far
    better once they are exchanged among one another.

    `direct` (of the codes that would be exchanged) and `exchanged` (of all) are mean squares of the
    differences in standard errors: 1 is chance.
    """
    targets = _outcome(first, second)
    if targets is None or first.array or second.array:
        return []
    facts = []
    names = [name for name in (*first.names, *first.words) if name in (*second.names, *second.words)]
    for name in names[:_COLUMNS_MOST]:
        if name != first.target and (codes := _codes(first, second, name)) is not None:
            fact = _exchange(codes, targets)
            if fact:
                labels = [
                    first.shown(name, int((codes[0] == code).argmax())) for code in range(fact["kinds"])
                ]
                pairs = [f"{labels[a]} as {labels[b]}" for a, b in fact.pop("pairs")]
                facts.append({"column": name, **fact, "renamed": pairs[:8]})
    return facts


def _outcome(first: DataPart, second: DataPart) -> tuple[FloatArray, FloatArray] | None:
    """The targets as one number for each row: of classes, whether it is the most common one."""
    labels = [part.words.get(part.target) for part in (first, second)]
    if labels[0] is not None and labels[1] is not None:
        values, counts = np.unique(np.array(labels[0], dtype=str), return_counts=True)
        common = values[counts.argmax()]
        return tuple((np.array(column, dtype=str) == common).astype(float) for column in labels)
    numbers = [part.column(part.target) for part in (first, second)]
    if numbers[0] is None or numbers[1] is None:
        return None
    return numbers[0], numbers[1]


def _codes(first: DataPart, second: DataPart, name: str) -> tuple[IntArray, IntArray] | None:
    """The values of a column as numbers from 0, where both parts have the same few, all of them often."""
    columns = []
    for part in (first, second):
        values = part.column(name)
        column = np.array(part.words[name], dtype=str) if values is None else values
        if values is not None and not (np.isfinite(values).all() and (values == np.round(values)).all()):
            return None
        columns.append(column)
    if columns[0].dtype.kind != columns[1].dtype.kind:
        return None
    kinds = [np.unique(column, return_counts=True) for column in columns]
    if (
        not _KINDS[0] <= len(kinds[0][0]) <= _KINDS[1]
        or min(counts.min() for _, counts in kinds) < _ROWS_LEAST
    ):
        return None
    if list(kinds[0][0]) != list(kinds[1][0]):
        return None
    return tuple(np.searchsorted(kinds[0][0], column) for column in columns)  # type: ignore[return-value]


def _exchange(codes: tuple[IntArray, IntArray], targets: tuple[FloatArray, FloatArray]) -> dict[str, Any]:
    """How well the codes agree as they are, and in the order of what they say of the target."""
    sides = [_table(column[np.isfinite(target)], target[np.isfinite(target)])
             for column, target in zip(codes, targets, strict=True)]  # fmt: skip
    kinds = len(sides[0])
    if any(len(side) != kinds or (side[:, 3] <= 0).any() for side in sides):
        return {}
    order = [np.argsort(side[:, 2]) for side in sides]
    match = np.empty(kinds, np.int64)
    match[order[0]] = order[1]
    if (match == np.arange(kinds)).all():
        return {}
    shares, errors = zip(*((side[:, 0], side[:, 1]) for side in sides), strict=True)
    effects, spreads = zip(*((side[:, 2], side[:, 3]) for side in sides), strict=True)
    moved = match != np.arange(kinds)
    found: dict[str, Any] = {"kinds": kinds, "moved": int(moved.sum())}
    for key, to, kept in (("direct", np.arange(kinds), moved), ("exchanged", match, moved | True)):
        for what, values, their_errors in (("shares", shares, errors), ("effects", effects, spreads)):
            squares = (values[0] - values[1][to]) ** 2 / (
                their_errors[0] ** 2 + their_errors[1][to] ** 2 + 1e-300
            )
            found[f"{key}_{what}"] = float(squares[kept].mean())
    found["pairs"] = [(int(a), int(b)) for a, b in enumerate(match) if a != b]
    return found


def _table(codes: IntArray, target: FloatArray) -> FloatArray:
    """For each code its share and mean target, with their standard errors."""
    count = np.bincount(codes).astype(float)
    share = count / count.sum()
    mean = np.bincount(codes, target) / np.maximum(1, count)
    within = target - mean[codes]
    spread = float(np.sqrt((within**2).mean()))
    columns = [
        share,
        np.sqrt(share * (1 - share) / count.sum()),
        mean,
        spread / np.sqrt(np.maximum(1, count)),
    ]
    return np.column_stack(columns)
