"""The target of a part against its inputs: rows that contradict the rest, blocks of rows, groups, shifts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from traindx.checkup.data.part import DataPart
from traindx.checkup.data.small_model import LeftOut, answers, features, group_means, row_keys
from traindx.core.nouns import BoolArray, FloatArray, IntArray

_SHIFTS = (-3, -2, -1, 1, 2, 3)
_NEIGHBOURS = 9
_LISTED = 12
_ALONE_MOST = 200
_FAR, _FAR_BESIDE = 6.0, 3.0
_SWAPPED_ROWS, _SWAPPED_SHARE = 5, 0.6


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
    fact |= _contradictions(part, labels)
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
        fact |= _noise(part, model) if labels is not None else _far_targets(part, model)
    if in_time():
        fact |= _giveaway(part, model)
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
    if part.keys and part.numbers.shape[1] > 8:
        return True
    texts = part.texts
    if texts is not None:
        return bool(np.median([len(text.split()) for text in texts[:500]]) >= 5)
    bits = 0.0
    for name in part.inputs:
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


def _noise(part: DataPart, model: LeftOut) -> dict[str, Any]:
    """Labels that the model is sure are others, and that their neighbours contradict; by group as well."""
    labels = model.labels
    inputs = features(part)
    if labels is None or inputs is None or len(model.at) < 200:
        return {}
    margin = _margin(model)
    votes = _votes(inputs[model.at], labels)
    agreed = votes.argmax(1) == model.predicted.argmax(1)
    sure = agreed & (margin >= np.quantile(margin[agreed], 0.5)) if agreed.any() else agreed
    is_wrong = model.predicted.argmax(1) != labels
    surest = sure & (margin >= np.quantile(margin[sure], 0.6)) if sure.any() else sure
    fact: dict[str, Any] = {
        "sure": int(sure.sum()),
        "sure_wrong": int((sure & is_wrong).sum()),
        "surest": int(surest.sum()),
        "surest_wrong": int((surest & is_wrong).sum()),
    }
    label_probability = model.predicted[np.arange(len(labels)), labels]
    odd = np.flatnonzero(is_wrong & agreed & (margin >= 0.3 * np.median(margin)))
    odd = odd[np.argsort(label_probability[odd] - model.predicted[odd].max(1))]
    names = part.class_names
    fact["suspects"] = [
        {
            "row": int(part.rows[model.at[i]]),
            "label": names[int(labels[i])][:40],
            "rather": names[int(model.predicted[i].argmax())][:40],
        }
        for i in odd[:_LISTED]
    ]
    fact["suspected"] = len(odd)
    return fact | _noisy_group(part, model)


def _margin(model: LeftOut) -> FloatArray:
    """How far the likeliest class of each row is above the second."""
    ordered = np.sort(model.predicted, axis=1)
    margin: FloatArray = ordered[:, -1] - ordered[:, -2]
    return margin


def _far_targets(part: DataPart, model: LeftOut) -> dict[str, Any]:
    """Numbers that are far from what the other rows say of them, and from those of the nearest rows."""
    inputs = features(part)
    if inputs is None or len(model.at) < 200:
        return {}
    truth, residual = model.truth[:, 0], (model.truth - model.predicted)[:, 0]
    neighbours = _neighbours(inputs[model.at])
    deviation = truth - np.median(truth[neighbours], axis=1)
    spreads = [
        float(np.median(np.abs(values - np.median(values)))) * 1.4826
        for values in (residual, deviation, truth)
    ]
    if min(spreads) <= 0:
        return {}
    odd = (np.abs(residual) > _FAR * spreads[0]) & (np.abs(deviation) > _FAR_BESIDE * spreads[1])
    if truth.min() > 0:  # what grows with the number itself is no error
        ratio = np.log(truth) - np.log(np.median(truth[neighbours], axis=1))
        odd &= np.abs(ratio) > _FAR * float(np.median(np.abs(ratio))) * 1.4826
    far = np.flatnonzero(odd)
    far = far[np.argsort(-np.abs(residual[far]))]
    listed = [
        {
            "row": int(part.rows[model.at[i]]),
            "label": f"{truth[i]:.4g}",
            "rather": f"{model.predicted[i, 0]:.4g}",
        }
        for i in far[:_LISTED]
    ]
    # Of a noise that has long tails by nature, few values are this far and many are a little nearer.
    between = int(((np.abs(residual) > 3.5 * spreads[0]) & (np.abs(residual) <= _FAR * spreads[0])).sum())
    clear = 1 - (spreads[0] / spreads[2]) ** 2
    return {
        "far": len(far),
        "far_between": between,
        "far_clear": clear,
        "suspects": listed,
        "suspected": len(far),
    }


def _neighbours(inputs: FloatArray) -> IntArray:
    """The nearest other rows of each row."""
    squares = (inputs**2).sum(1)
    nearest = np.empty((len(inputs), _NEIGHBOURS), np.int64)
    for start in range(0, len(inputs), 500):
        stop = min(len(inputs), start + 500)
        apart = squares[None] - 2 * inputs[start:stop] @ inputs.T
        apart[np.arange(stop - start), np.arange(start, stop)] = np.inf
        nearest[start:stop] = np.argpartition(apart, _NEIGHBOURS, axis=1)[:, :_NEIGHBOURS]
    return nearest


def _votes(inputs: FloatArray, labels: IntArray) -> FloatArray:
    """How the nearest other rows are labelled."""
    classes = np.eye(int(labels.max()) + 1)
    return np.asarray(classes[labels[_neighbours(inputs)]].sum(1))


def _noisy_group(part: DataPart, model: LeftOut) -> dict[str, Any]:
    """The value of a column among whose rows the sure answers are contradicted far more often.

    Sure is a model that does not know the groups: one that does is unsure where their labels are wrong.
    """
    groups_of = part.groups
    word_groups = [name for name in groups_of if name in part.words]
    plain = answers(part, without=word_groups) if word_groups else model
    if plain is None or plain.labels is None or not groups_of:
        return {}
    margin = _margin(plain)
    sure = margin >= np.quantile(margin, 0.6)
    by_plain = plain.predicted.argmax(1)
    is_wrong_to_both = (by_plain != plain.labels) & (model.predicted.argmax(1) != model.labels)
    best: dict[str, Any] = {}
    for name, codes in groups_of.items():
        groups = codes[model.at]
        for code in np.unique(groups):
            inside = (groups == code) & sure
            outside = (groups != code) & sure
            if inside.sum() < 25 or outside.sum() < 25:
                continue
            swapped = _swapped(by_plain[inside], plain.labels[inside])
            is_wrong = by_plain != plain.labels if swapped else is_wrong_to_both
            rates = [float(is_wrong[side].mean()) for side in (inside, outside)]
            pooled = float(is_wrong[inside | outside].mean())
            spread = np.sqrt(pooled * (1 - pooled) * (1 / inside.sum() + 1 / outside.sum()))
            z = float((rates[0] - rates[1]) / max(1e-9, spread))
            if z > best.get("group_z", 5.0):
                column = part.words.get(name)
                values = part.column(name)
                first = int(np.flatnonzero(codes == code)[0])
                value = (
                    column[first] if column is not None else f"{0.0 if values is None else values[first]:g}"
                )
                best = {"group_column": name, "group": value[:60], "group_rows": int((codes == code).sum())}
                best |= {"group_wrong": rates[0], "others_wrong": rates[1], "group_z": z}
                class_names = part.class_names
                pairs = [f"{class_names[a]} as {class_names[b]}" for a, b in swapped.items()]
                best["group_swapped"] = ", ".join(pairs)[:120]
    return best


def _swapped(predicted: IntArray, labels: IntArray) -> dict[int, int]:
    """The classes whose names were exchanged among one another: what most rows of each are labelled instead.

    Empty without such an exchange. A model that knows the group learns it and finds nothing wrong.
    """
    size = int(max(predicted.max(), labels.max())) + 1
    counts = np.bincount(predicted * size + labels, minlength=size * size).reshape(size, size)
    most = {
        kind: int(row.argmax())
        for kind, row in enumerate(counts)
        if row.sum() >= _SWAPPED_ROWS and row.max() >= _SWAPPED_SHARE * row.sum()
    }
    moved = {kind: label for kind, label in most.items() if kind != label}
    return moved if len(moved) > 1 and set(moved) == set(moved.values()) else {}


def _giveaway(part: DataPart, model: LeftOut) -> dict[str, Any]:
    """The column that alone predicts the target best, what all others reach, and whether its gaps say it."""
    labels = model.labels
    best: tuple[float, str, bool] = (0.0, "", False)
    for name in part.inputs[:_ALONE_MOST]:
        values = part.numbers[:, part.names.index(name)]
        for only_gaps in (True, False):
            score = _alone(values, labels, model, only_gaps=only_gaps)
            if score is not None and score > best[0] + (0.0 if only_gaps else 0.01):
                best = (score, name, only_gaps)
    for name, codes in part.groups.items():
        if name in part.words and name not in (part.target,):
            score = _by_cells(codes[model.at], model)
            if score > best[0] + 0.01:
                best = (score, name, False)
    score, name, gaps = best
    if not name or score < 0.9:
        return {}
    without_column = answers(part, without=(name,))
    one_to_one = labels is not None and _renames(part, name, model)
    return {
        "alone": score,
        "alone_column": name,
        "alone_by_gaps": gaps,
        "alone_renames": one_to_one,
        "without": max(without_column.score, without_column.chance)
        if without_column is not None
        else model.chance,
        "without_z": float(without_column.z) if without_column is not None else 0.0,
    }


def _renames(part: DataPart, name: str, model: LeftOut) -> bool:
    """Whether a column is the target under another name: one value for each class."""
    values = part.column(name)
    codes = part.groups[name] if values is None else np.unique(values, return_inverse=True)[1]
    pairs = {(int(a), int(b)) for a, b in zip(codes[model.at], model.labels, strict=True)}  # type: ignore[arg-type]
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def _alone(values: FloatArray, labels: IntArray | None, model: LeftOut, *, only_gaps: bool) -> float | None:
    values = values[model.at]
    present = np.isfinite(values)
    if only_gaps:
        if present.all() or labels is None:
            return None
        return _by_cells(present.astype(np.int64), model)
    if not present.any() or float(np.ptp(values[present])) == 0:
        return None
    distinct = np.unique(values[present])
    if len(distinct) > 40:
        edges = np.unique(np.quantile(values[present], np.linspace(0, 1, 41)[1:-1]))
        cells = np.searchsorted(edges, np.where(present, values, 0.0))
    else:
        cells = np.searchsorted(distinct, np.where(present, values, distinct[0]))
    return _by_cells(np.where(present, cells + 1, 0), model)


def _by_cells(cells: IntArray, model: LeftOut) -> float:
    """How well the other rows of the same cell predict the target."""
    truth, cell_means = model.truth, group_means(cells, model.truth)
    if model.labels is not None:
        shared = np.bincount(cells)[cells] > 1
        return float(((cell_means.argmax(1) == model.labels) & shared).mean())
    return float(1 - ((truth - cell_means) ** 2).mean() / max(1e-300, float(truth.var())))
