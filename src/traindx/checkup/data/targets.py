"""The target of a part against its inputs: equal inputs, shifted rows, blocks of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from traindx.checkup.data.giveaway import giveaway
from traindx.checkup.data.group_scale import group_scale
from traindx.checkup.data.part import DataPart, evenly
from traindx.checkup.data.small_model import LeftOut, answers, row_keys
from traindx.checkup.data.wrong_targets import far_targets, wrong_labels
from traindx.core.nouns import BoolArray, FloatArray, IntArray

_COLUMNS_MOST = 512
_SHIFTS = (-3, -2, -1, 1, 2, 3)


def target_facts(part: DataPart, in_time: Callable[[], bool]) -> dict[str, Any] | None:
    """What is measured of a part's target; None where it has none."""
    labels, values = part.labels, part.column(part.target)
    if labels is None and values is None:
        return None
    fact: dict[str, Any] = {"table": part.name, "column": part.target, "rows": len(part)}
    if labels is not None:
        counts = np.bincount(labels)
        names = part.class_names
        fact["classes"] = {names[i][:60]: int(n) for i, n in enumerate(counts) if i < len(names)}
        fact["in_order"] = _in_order(labels)
    fact |= _contradictions(part, labels) | group_scale(part)
    if not in_time():
        return fact
    model = answers(part)
    if model is None:
        return fact
    fact |= {"score": model.score, "chance": model.chance, "z": float(model.z), "measured": len(model.at)}
    if model.z < 4:
        return fact | _shifted(part, model, in_time)
    fact |= _block(part, model)
    if in_time():
        fact |= wrong_labels(part, model) if labels is not None else far_targets(part, model)
    if in_time():
        fact |= giveaway(part, model)
    return fact


def _in_order(labels: IntArray) -> float:
    """The share of neighbours of one class, beyond what a shuffled file would have: 1 is sorted."""
    shares = np.bincount(labels) / len(labels)
    chance = float((shares**2).sum())
    return float(((labels[1:] == labels[:-1]).mean() - chance) / max(1e-9, 1 - chance))


def _contradictions(part: DataPart, labels: IntArray | None) -> dict[str, Any]:
    """Equal inputs with different classes."""
    keys = row_keys(part)
    if labels is None or not keys or not is_rich(part):
        return {}
    classes: dict[int, set[int]] = {}
    rows: dict[int, list[int]] = {}
    for at, (key, label) in enumerate(zip(keys, labels, strict=True)):
        classes.setdefault(key, set()).add(int(label))
        rows.setdefault(key, []).append(at)
    odd = [key for key, class_set in classes.items() if len(class_set) > 1]
    if not odd:
        return {}
    pairs = Counter(tuple(sorted(classes[key]))[:2] for key in odd)
    (first, second), count = pairs.most_common(1)[0]
    names = part.class_names
    return {
        "contradicting": sum(len(rows[key]) for key in odd),
        "contradicting_inputs": len(odd),
        "contradicting_rows": [int(part.rows[i]) for key in odd[:4] for i in rows[key]][:8],
        "contradicting_classes": f"{names[first]} and {names[second]}",
        "contradicting_of_those": count,
    }


def is_rich(part: DataPart) -> bool:
    """Whether two rows are hardly ever equal by accident."""
    texts = part.texts
    if texts is not None:
        return bool(np.median([len(text.split()) for text in texts[:500]]) >= 5)
    bits, inputs = 0.0, part.inputs
    for name in [inputs[at] for at in evenly(len(inputs), _COLUMNS_MOST)] if inputs else ():
        counts = np.unique(part.numbers[:, part.names.index(name)], return_counts=True)[1] / len(part)
        bits -= float(np.log2((counts**2).sum()))
    return bool(bits > 2 * np.log2(max(2, len(part))) + 8)


def _shifted(part: DataPart, model: LeftOut, in_time: Callable[[], bool]) -> dict[str, Any]:
    """Where inputs say nothing of their own target: whether they say that of a row above or below."""
    if _own_order(model):
        return {}
    models: dict[int, LeftOut] = {}
    for shift in _SHIFTS:
        shifted_model = answers(part, shift=shift) if in_time() else None
        if shifted_model is not None:
            models[shift] = shifted_model
    if not models:
        return {}
    shift, best = max(models.items(), key=lambda item: item[1].z)
    if best.z < 8:
        return {"shifts_tried": len(models)}
    return {"shift": shift, "shifted_score": best.score, "shifted_z": float(best.z)}


def _own_order(model: LeftOut) -> bool:
    """Whether targets resemble their neighbours': then a shift of them says little."""
    values = model.truth - model.truth.mean(0)
    together = float((values[1:] * values[:-1]).sum() / max(1e-300, float((values**2).sum())))
    return bool(together > 5 / np.sqrt(len(values)))


def _block(part: DataPart, model: LeftOut) -> dict[str, Any]:
    """The stretch of rows whose targets fit least to what the other rows say."""
    fit = model.fit
    fit = fit - fit.mean()
    sums = np.concatenate([[0.0], np.cumsum(fit)])
    highest = np.maximum.accumulate(sums)
    end = int(np.argmin(sums - highest))
    start = int(np.argmax(sums[: end + 1]))
    length, n = end - start, len(fit)
    if length < max(30, n // 100) or length > 0.7 * n:
        return {}
    inside = np.zeros(n, bool)
    inside[start:end] = True
    usual_spread = float(fit[~inside].std())
    z = float(
        (fit[~inside].mean() - fit[inside].mean())
        / max(1e-9, usual_spread * np.sqrt(1 / length + 1 / (n - length)))
    )
    if z < 5:
        return {}
    scores = [_score_of(model, rows) for rows in (inside, ~inside)]
    chance = _score_of(model, inside, constant=True)
    fact: dict[str, Any] = {
        "block_first": int(part.rows[model.at[start]]),
        "block_last": int(part.rows[model.at[end - 1]]),
        "block_rows": length,
        "block_z": z,
        "block_score": scores[0],
        "block_elsewhere": scores[1],
        "block_chance": chance,
    }
    shifts = {shift: _shifted_score(part, model, start, end, shift) for shift in _SHIFTS}
    shift, score = max(shifts.items(), key=lambda item: item[1])
    if score - max(chance, scores[0]) > 0.5 * (scores[1] - chance):
        fact |= {"block_shift": shift, "block_shifted_score": score}
    return fact


def _score_of(model: LeftOut, rows: BoolArray, *, constant: bool = False) -> float:
    if model.labels is not None:
        labels = model.labels[rows]
        if constant:
            return float(np.bincount(labels).max() / len(labels))
        return float((model.predicted[rows].argmax(1) == labels).mean())
    if constant:
        return 0.0
    return _explained(model.truth[rows], model.predicted[rows])


def _explained(truth: FloatArray, predicted: FloatArray) -> float:
    """The share of the spread of the targets that predictions explain, by medians."""
    spread, residual = np.median(np.abs(truth - np.median(truth))), np.median(np.abs(truth - predicted))
    return float(1 - residual**2 / max(1e-300, spread**2))


def _shifted_score(part: DataPart, model: LeftOut, start: int, end: int, shift: int) -> float:
    """How well the answers of a stretch fit the targets so many rows further down."""
    inner = np.arange(start + 3, end - 3)
    at = model.at[inner] + shift
    if model.labels is not None:
        labels = part.labels
        assert labels is not None
        return float((model.predicted[inner].argmax(1) == labels[at]).mean())
    values = part.column(part.target)
    assert values is not None
    return _explained(values[at], model.predicted[inner, 0])
