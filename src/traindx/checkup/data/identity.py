"""What ties rows of two parts together besides their inputs: an id, a group, the moment, most of a text."""

from __future__ import annotations

import re
import zlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from traindx.checkup.data.part import DataPart, is_identity, moments
from traindx.checkup.data.small_model import group_means
from traindx.core.nouns import FloatArray

_GROUPS_LEAST, _ROWS_LEAST = 20, 40
_SHINGLE, _BANDS, _TEXTS_MOST = 3, 6, 4_000
_ALIKE = 0.7
_WORD = re.compile(r"\w+")


def shared_identities(first: DataPart, second: DataPart) -> dict[str, Any]:
    """The id that most rows of the second part share with the first, and whether it says the target."""
    best: dict[str, Any] = {}
    for name in [*first.words, *first.names]:
        if name in (first.target, second.target) or not is_identity(name):
            continue
        values = [_values(part, name) for part in (first, second)]
        if values[0] is None or values[1] is None or _both_count(values[0], values[1]):
            continue
        first_values = set(values[0].tolist())
        if len(first_values) < _GROUPS_LEAST or len(values[1]) < _ROWS_LEAST:
            continue
        shared = [value in first_values for value in values[1].tolist()]
        share = float(np.mean(shared))
        if share > best.get("id_share", 0.0):
            best = {"id_column": name, "id_share": share, "id_rows": int(sum(shared))}
            best |= {"id_groups": len(first_values), "id_group_rows": len(values[0]) / len(first_values)}
            best |= {"id_example": str(values[1][int(np.argmax(shared))])[:40]}
            best |= {"id_says": _says_target(first, values[0])}
    return best


def _values(part: DataPart, name: str) -> np.ndarray | None:
    if name in part.words:
        return np.array(part.words[name], dtype=str)
    values = part.column(name)
    if values is None or not np.isfinite(values).all() or (values != np.round(values)).any():
        return None
    return values.astype(np.int64)


def _both_count(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether both merely number their own rows."""
    return all(
        values.dtype.kind == "i" and len(np.unique(values)) == len(values) == int(np.ptp(values)) + 1
        for values in (first, second)
    )


def _says_target(part: DataPart, groups: np.ndarray) -> float:
    """How much of the target's variation the other rows of a group explain: 0 to 1."""
    labels, values = part.labels, part.column(part.target)
    if labels is None and values is None:
        return 0.0
    truth = np.eye(int(labels.max()) + 1)[labels] if labels is not None else _ranks(values)[:, None]
    codes = np.unique(groups, return_inverse=True)[1]
    counts = np.bincount(codes)
    if counts.max() < 2:
        return 0.0
    fine = counts[codes] > 1
    explained = group_means(codes, truth)[fine] - truth.mean(0)
    centred = truth[fine] - truth.mean(0)
    return float(max(0.0, (centred * explained).sum() / max(1e-300, float((centred**2).sum()))))


def _ranks(values: FloatArray | None) -> FloatArray:
    assert values is not None
    order = np.argsort(np.argsort(np.nan_to_num(values)))
    return np.asarray(order / max(1, len(order) - 1))


def times_between(first: DataPart, second: DataPart) -> dict[str, Any]:
    """Whether rows of the second part lie between those of the first in time, and what neighbours share."""
    for name in [*first.words, *first.names]:
        times = [moments(part, name) for part in (first, second)]
        if times[0] is None or times[1] is None or min(len(times[0]), len(times[1])) < _ROWS_LEAST:
            continue
        low, high = float(times[0].min()), float(times[0].max())
        if len(np.unique(times[0])) < _ROWS_LEAST or high <= low:
            continue
        inside = (times[1] >= low) & (times[1] <= high)
        fact = {
            "time_column": name,
            "time_inside": float(inside.mean()),
            "time_before": float((times[1] < low).mean()),
        }
        alike = _alike_in_time(first, second, times[0], times[1])
        return fact | ({"time_alike": alike} if alike is not None else {})
    return {}


def _alike_in_time(first: DataPart, second: DataPart, before: FloatArray, after: FloatArray) -> float | None:
    """How alike the targets of a row and of the training row nearest in time are: 0 by chance, 1 equal."""
    at = _nearest_time(before, after)
    labels = [part.labels for part in (first, second)]
    if labels[0] is not None and labels[1] is not None:
        names = [
            np.array(part.class_names)[codes]
            for part, codes in zip((first, second), labels, strict=True)
            if codes is not None
        ]
        chance = sum(
            float((names[0] == name).mean() * (names[1] == name).mean()) for name in set(names[0].tolist())
        )
        return float(((names[0][at] == names[1]).mean() - chance) / max(1e-9, 1 - chance))
    values = [part.column(part.target) for part in (first, second)]
    if values[0] is None or values[1] is None:
        return None
    pair = np.stack([values[0][at], values[1]])
    pair = pair[:, np.isfinite(pair).all(0)]
    if pair.shape[1] < _ROWS_LEAST or min(pair.std(axis=1)) == 0:
        return None
    return float(np.corrcoef(_ranks(pair[0]), _ranks(pair[1]))[0, 1])


def _nearest_time(before: FloatArray, after: FloatArray) -> np.ndarray:
    order = np.argsort(before)
    ordered = before[order]
    insertion = np.clip(np.searchsorted(ordered, after), 1, len(ordered) - 1)
    nearer = np.abs(ordered[insertion - 1] - after) <= np.abs(ordered[insertion] - after)
    return np.asarray(order[np.where(nearer, insertion - 1, insertion)])


def near_texts(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of texts of both lists that share most of their runs of three words, and are not equal."""
    shingles = [_shingles(text) for text in first[:_TEXTS_MOST]]
    pairs = []
    places: Mapping[int, list[int]] = _by_sketch(shingles)
    for at, text in enumerate(second[:_TEXTS_MOST]):
        text_shingles = _shingles(text)
        candidates = {index for number in sorted(text_shingles)[:_BANDS] for index in places.get(number, ())}
        for index in candidates:
            together = len(text_shingles & shingles[index]) / max(1, len(text_shingles | shingles[index]))
            if together >= _ALIKE and first[index].strip().lower() != text.strip().lower():
                pairs.append((index, at))
                break
    return pairs


def _shingles(text: str) -> set[int]:
    words = _WORD.findall(text.lower())[:600]
    if len(words) < 3 * _SHINGLE:
        return set()
    return {zlib.crc32(" ".join(words[i : i + _SHINGLE]).encode()) for i in range(len(words) - _SHINGLE + 1)}


def _by_sketch(sets: Sequence[set[int]]) -> dict[int, list[int]]:
    """The texts by their smallest numbers: alike texts share some of them."""
    places: dict[int, list[int]] = defaultdict(list)
    for at, shingles in enumerate(sets):
        for number in sorted(shingles)[:_BANDS]:
            places[number].append(at)
    return places
