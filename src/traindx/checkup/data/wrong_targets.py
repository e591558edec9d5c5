"""Targets that contradict what the other rows say of them: single rows, and groups of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from traindx.checkup.data.part import DataPart
from traindx.checkup.data.small_model import LeftOut, answers, features
from traindx.core.nouns import BoolArray, FloatArray, IntArray

_NEIGHBOURS = 9
_LISTED = 12
_FAR, _FAR_BESIDE = 6.0, 3.0
_SLIP = 0.12  # of a power of ten, on its logarithm
_SWAPPED_ROWS, _SWAPPED_SHARE = 5, 0.6


def wrong_labels(part: DataPart, model: LeftOut) -> dict[str, Any]:
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
    fact |= _one_way(part, model, agreed & is_wrong, margin)
    return fact | _noisy_group(part, model)


def _one_way(part: DataPart, model: LeftOut, wrong: BoolArray, margin: FloatArray) -> dict[str, Any]:
    """The two classes of which most rows of the one are taken for the other, as surely as rows of that are.

    Surely is with a margin that three quarters of the rows have that are rightly of that class: where
    classes overlap, errors have less.
    """
    labels, predicted = model.labels, model.predicted.argmax(1)
    assert labels is not None
    size = model.predicted.shape[1]
    least = np.full(size, np.inf)
    for kind in range(size):
        right = (predicted == kind) & (labels == kind)
        if right.any():
            least[kind] = np.quantile(margin[right], 0.25)
    sure = wrong & (margin >= least[predicted])
    counts = np.bincount(labels[sure] * size + predicted[sure], minlength=size * size)
    order = np.argsort(-counts)
    labelled, rather = divmod(int(order[0]), size)
    rows = np.flatnonzero(sure & (labels == labelled) & (predicted == rather))
    names = part.class_names
    return {
        "moved": int(counts[order[0]]),
        "moved_next": int(counts[order[1]]),
        "moved_of": int((labels == labelled).sum()),
        "moved_classes": [names[labelled][:40], names[rather][:40]],
        "moved_rows": [int(part.rows[model.at[at]]) for at in rows[:8]],
    }


def _margin(model: LeftOut) -> FloatArray:
    """How far the likeliest class of each row is above the second."""
    ordered = np.sort(model.predicted, axis=1)
    margin: FloatArray = ordered[:, -1] - ordered[:, -2]
    return margin


def far_targets(part: DataPart, model: LeftOut) -> dict[str, Any]:
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
        **_slipped(truth[far], [model.predicted[far, 0], np.median(truth[neighbours[far]], axis=1)]),
        "suspects": listed,
        "suspected": len(far),
    }


def _slipped(values: FloatArray, expected: list[FloatArray]) -> dict[str, float]:
    """How many numbers are one power of ten times what the model or their neighbours say, and which."""
    powers = np.zeros(len(values))
    for others in expected:
        alike = values * others > 0
        logs = np.log10(values[alike] / others[alike])
        tens = np.round(logs)
        powers[alike] = np.where(np.abs(logs - tens) < _SLIP, tens, powers[alike])
    kinds, counts = np.unique(powers[powers != 0], return_counts=True)
    if not len(kinds):
        return {"slipped": 0, "slip": 0.0}
    return {"slipped": int(counts.max()), "slip": float(10 ** kinds[counts.argmax()])}


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
