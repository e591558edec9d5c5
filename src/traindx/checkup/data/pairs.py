"""Two parts of one data set, such as training and validation: rows in both, and columns that differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from traindx.checkup.data.codes import permuted_codes
from traindx.checkup.data.identity import near_texts, shared_identities, times_between
from traindx.checkup.data.part import DataPart, evenly, is_identity
from traindx.checkup.data.small_model import row_keys
from traindx.checkup.data.targets import is_rich
from traindx.core.nouns import FloatArray

_ROWS_MOST = 4_000
_SPLITS = ("train", "", "val", "test")


def pair_facts(parts: Sequence[DataPart]) -> list[dict[str, Any]]:
    """One fact for each two parts of the same columns; the first is the one for training."""
    ordered = sorted(parts, key=lambda part: _SPLITS.index(part.split))
    facts = []
    for first, second in combinations(ordered[:8], 2):
        if not _alike(first, second):
            continue
        fact: dict[str, Any] = {"first": first.name, "second": second.name, "rows": len(second)}
        fact["splits"] = [first.split, second.split]
        fact |= _shared_rows(first, second) | _near_rows(first, second) | _classes(first, second)
        if not first.array:
            fact |= shared_identities(first, second) | times_between(first, second)
        fact["shifted"] = _shifted_columns(first, second)
        fact["permuted"] = permuted_codes(first, second)
        facts.append(fact)
    return facts


def _alike(first: DataPart, second: DataPart) -> bool:
    names = [{*part.names, *part.words} - {part.target} for part in (first, second)]
    if first.array or second.array:
        widths = [int(part.numbers.shape[1]) - bool(part.target) for part in (first, second)]
        return widths[0] == widths[1] > 1
    return len(names[0] & names[1]) >= max(1, 0.8 * max(map(len, names)))


def _shared_rows(first: DataPart, second: DataPart) -> dict[str, Any]:
    """Rows of the second part whose inputs the first has too, apart from what is too short to be unlike."""
    if not (is_rich(first) and is_rich(second)):
        return {}
    if not first.keys and not first.array:
        common = {*first.names, *first.words} & {*second.names, *second.words}
        first, second = _only(first, common), _only(second, common)
    long = [_is_long(part) for part in (first, second)]
    keys = [row_keys(part) for part in (first, second)]
    first_rows = {key: at for at, (key, fine) in enumerate(zip(keys[0], long[0], strict=True)) if fine}
    shared = [
        at for at, (key, fine) in enumerate(zip(keys[1], long[1], strict=True)) if fine and key in first_rows
    ]
    if not shared:
        return {"shared": 0}
    pairs = [[int(first.rows[first_rows[keys[1][at]]]), int(second.rows[at])] for at in shared[:4]]
    return {"shared": len(shared), "shared_rows": pairs}


def _only(part: DataPart, names: set[str]) -> DataPart:
    from dataclasses import replace

    common_names = [name for name in part.names if name in names]
    words = {name: part.words[name] for name in sorted(part.words) if name in names}
    matrix = part.matrix(common_names)
    return replace(part, names=tuple(common_names), numbers=matrix, words=words)


def repeated_rows(part: DataPart) -> list[tuple[int, int]]:
    """Rows whose inputs and target an earlier one has, with that one; not what is equal by accident."""
    keys, id_column = row_keys(part), _names_rows(part)
    if not keys or not (id_column or is_rich(part)):
        return []
    if id_column:
        column = part.words.get(id_column, part.column(id_column))
        assert column is not None
        keys = [hash((key, column[at])) for at, key in enumerate(keys)]
    words, values = part.words.get(part.target), part.column(part.target)
    first_seen: dict[tuple[int, Any], int] = {}
    pairs = []
    for at, (key, fine) in enumerate(zip(keys, _is_long(part), strict=True)):
        target = words[at] if words is not None else None if values is None else float(values[at])
        earlier = first_seen.setdefault((key, target), at)
        if fine and earlier != at:
            pairs.append((earlier, at))
    return pairs


def _names_rows(part: DataPart) -> str:
    """The column that names most rows by itself: an id."""
    for name in (*part.words, *part.names):
        column = part.words.get(name, part.column(name))
        if name == part.target or column is None or not is_identity(name):
            continue
        if len(set(column)) > 0.5 * len(column):
            return name
    return ""


def repeats(part: DataPart) -> dict[str, Any]:
    """How many rows of a part repeat an earlier one."""
    pairs = repeated_rows(part)
    if not pairs:
        return {}
    rows = [[int(part.rows[a]), int(part.rows[b])] for a, b in pairs[:4]]
    return {
        "table": part.name,
        "repeated": len(pairs),
        "rows": len(part),
        "repeated_rows": rows,
        "named": bool(_names_rows(part)),
    }


def _is_long(part: DataPart) -> list[bool]:
    texts = part.texts
    return [True] * len(part) if texts is None else [len(text.split()) >= 5 for text in texts]


def _near_rows(first: DataPart, second: DataPart) -> dict[str, Any]:
    """Rows of the second that are all but equal to one of the first, where rows of the first never are."""
    texts = first.texts, second.texts
    if texts[0] is not None and texts[1] is not None:
        pairs = near_texts(texts[0], texts[1])
        copies = len(repeated_rows(first)) / max(1, len(first))
        rows = [[int(first.rows[a]), int(second.rows[b])] for a, b in pairs[:4]]
        return {
            "near": len(pairs),
            "near_of": min(len(second), 4_000),
            "near_rows": rows,
            "near_inside": copies,
        }
    names = [name for name in first.inputs if name in second.names] if not first.array else first.inputs
    if first.texts is not None or (len(names) < 3 and not first.array):
        return {}
    matrices = [_scaled(part, first, names) for part in (first, second)]
    if matrices[0].shape[1] != matrices[1].shape[1] or matrices[0].shape[1] < 3:
        return {}
    a, b = (_sampled(matrix) for matrix in matrices)
    across, inside = _nearest(b, a, same=False), _nearest(a[: len(b)], a, same=True)
    usual_distance = float(np.median(inside))
    if usual_distance <= 0:
        return {}
    limit = 0.02 * usual_distance
    close = (across < limit) & (across > 1e-9 * usual_distance)
    return {"near": int(close.sum()), "near_of": len(b), "near_inside": float((inside < limit).mean())}


def _scaled(part: DataPart, ruler: DataPart, names: Sequence[str]) -> FloatArray:
    if part.array:
        width = part.numbers.shape[1] - bool(part.target)
        values, base = part.numbers[:, :width], ruler.numbers[:, :width]
    else:
        values, base = part.matrix(names), ruler.matrix(names)
    middle, scale = np.nanmean(base, axis=0), np.nanstd(base, axis=0)
    fine = np.isfinite(scale) & (scale > 0)
    return np.asarray(np.nan_to_num((values[:, fine] - middle[fine]) / scale[fine]))


def _sampled(matrix: FloatArray) -> FloatArray:
    return np.asarray(matrix[evenly(len(matrix), _ROWS_MOST)])


def _nearest(rows: FloatArray, among: FloatArray, *, same: bool) -> FloatArray:
    """The distance to the nearest row; of the same rows, to the nearest other one."""
    squares = (among**2).sum(1)
    distances = np.empty(len(rows))
    for start in range(0, len(rows), 500):
        block = rows[start : start + 500]
        apart = (block**2).sum(1)[:, None] + squares[None] - 2 * block @ among.T
        if same:
            apart[np.arange(len(block)), np.arange(start, start + len(block))] = np.inf
        distances[start : start + 500] = np.sqrt(np.maximum(0.0, apart.min(1)))
    return distances


def _classes(first: DataPart, second: DataPart) -> dict[str, Any]:
    """Classes that only one of them has, and how far the shares of the classes are apart."""
    counts: list[dict[str, int]] = []
    for part in (first, second):
        labels = part.labels
        if labels is None:
            return {}
        counts.append(dict(zip(part.class_names, np.bincount(labels).tolist(), strict=False)))
    every = sorted({*counts[0], *counts[1]})
    sizes = [max(1, sum(class_counts.values())) for class_counts in counts]
    apart = 0.5 * sum(abs(counts[0].get(c, 0) / sizes[0] - counts[1].get(c, 0) / sizes[1]) for c in every)
    unseen = {name: n for name, n in counts[1].items() if name not in counts[0]}
    absent = {name: n for name, n in counts[0].items() if name not in counts[1]}
    return {"unseen_classes": unseen, "absent_classes": absent, "classes_apart": apart}


def _shifted_columns(first: DataPart, second: DataPart) -> list[dict[str, Any]]:
    """Columns of which middle and spread differ by far more than samples of one source do."""
    shifts: list[tuple[float, dict[str, Any]]] = []
    names = first.inputs if not first.array else first.inputs[:256]
    for at, name in enumerate(names):
        values = first.column(name)
        second_values = second.numbers[:, at] if first.array else second.column(name)
        if values is None or second_values is None or second.is_key(name):
            continue
        quarters = [
            np.nanquantile(sample, (0.25, 0.5, 0.75))
            for sample in (values, second_values)
            if np.isfinite(sample).any()
        ]
        if len(quarters) < 2 or len(np.unique(values)) <= 20:
            continue
        widths = [float(quantiles[2] - quantiles[0]) for quantiles in quarters]
        if min(widths) <= 0:
            continue
        middles = [float(quantiles[1]) for quantiles in quarters]
        ratio = widths[1] / widths[0]
        shift = (middles[1] - middles[0]) / max(widths[0], 1e-300)
        if max(ratio, 1 / ratio) >= 1.4 or abs(shift) >= 1:
            fact = {"column": name, "ratio": ratio, "shift": shift, "first": middles[0], "second": middles[1]}
            shifts.append((-abs(math.log(ratio)) - abs(shift), fact))
    if len(names) > 64 and len(shifts) < 0.3 * len(names):
        return []  # of so many columns a few differ by chance
    return [fact for _, fact in sorted(shifts, key=lambda entry: entry[0])][:20]
