"""Whether targets depend on inputs: how well simple predictors do on samples that were left out.

A ridge regression and a vote of neighbours, each sample left out in turn, against shuffled targets. A third,
on products of two features, only says whether there is any relation.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from traindx.observe.arrays import Values

_NEIGHBOURS, _BESIDE = 12, 6
_SHUFFLES = 24
_CLASSES = 64
# Features one by one: with fewer than this no single one is odd, with more they are pixels or words.
_FEW, _MANY = 4, 64
_SIDE = 3


def relation(inputs: Values, targets: Values, *, classes: bool) -> dict[str, float]:
    """`told`: how well targets are predicted; `by_chance`, `spread`: the same of shuffled ones."""
    with np.errstate(all="ignore"):
        features = _standard(inputs.astype(np.float64))
        kinds, targets = np.unique(targets, return_inverse=True) if classes else (None, targets)
        if features.shape[1] == 0 or (kinds is not None and not 2 <= kinds.size <= _CLASSES):
            return {}
        answers = np.eye(kinds.size)[targets] if kinds is not None else _of_one_scale(targets)
        if not answers.any():
            return {}
        near = _nearest(features)
        hat = _hat(features)
        scores = [_measure(answers, near, hat, kinds is not None)]
        draw = np.random.default_rng(0)
        for _ in range(_SHUFFLES):
            scores.append(_measure(answers[draw.permutation(len(answers))], near, hat, kinds is not None))
        best = _best(scores)
        best |= {"samples": float(len(answers)), "classes": float(kinds.size if kinds is not None else 0)}
        if targets.ndim > 1:
            best["targets"] = float(targets.shape[1])
        if kinds is not None:
            best |= _odd_labels(answers, near) | _mutual(answers, near)
        best |= _one_feature(features, answers, kinds is not None)
        best["linked"] = _linked(answers, near, hat, _hat_of_products(features))
    return {key: round(float(value), 5) for key, value in best.items() if np.isfinite(value)}


def _best(scores: list[tuple[float, float]]) -> dict[str, float]:
    """Of the two predictors, the one that stands out more from chance."""
    table = np.array(scores)
    chance, spread = table[1:].mean(0), table[1:].std(0) + 1e-3
    stands_out = (table[0] - chance) / spread
    at = int(stands_out.argmax())
    return {"told": table[0, at], "by_chance": chance[at], "spread": spread[at], "z": stands_out[at]}


def _standard(values: Values) -> Values:
    values = np.where(np.isfinite(values), values, 0.0)
    spread = values.std(0)
    varies = spread > 1e-9 * (1 + np.abs(values.mean(0)))
    scaled: Values = (values[:, varies] - values[:, varies].mean(0)) / spread[varies]
    return np.clip(scaled, -5, 5)


def _of_one_scale(targets: Values) -> Values:
    """Real targets about their means, in units of what they spread together; zeros where they do not."""
    columns = targets.reshape(len(targets), -1)
    columns = np.where(np.isfinite(columns), columns, 0.0)
    centred: Values = columns - columns.mean(0)
    spread = float(centred.std())
    if not spread > 1e-9 * (1 + float(np.abs(columns).max())):
        return np.zeros_like(centred)
    return np.clip(centred / spread, -5.0, 5.0)


def _nearest(features: Values) -> npt.NDArray[np.intp]:
    squares = (features * features).sum(1)
    apart = squares[:, None] + squares[None] - 2 * features @ features.T
    np.fill_diagonal(apart, np.inf)
    count = min(_NEIGHBOURS, len(features) - 1)
    part = np.argpartition(apart, count - 1, axis=1)[:, :count]
    order = np.take_along_axis(apart, part, 1).argsort(1)
    nearest: npt.NDArray[np.intp] = np.take_along_axis(part, order, 1)
    return nearest


def _hat(features: Values) -> Values:
    """The matrix that turns targets into the predictions of a ridge regression."""
    wide = np.hstack([features, np.ones((len(features), 1))])
    inner = wide.T @ wide + 0.05 * len(wide) * np.eye(wide.shape[1])
    hat: Values = wide @ np.linalg.solve(inner, wide.T)
    return hat


def _hat_of_products(features: Values) -> Values:
    """The same on all products of two features, which separates classes where no straight line does."""
    alike = (features @ features.T) ** 2
    alike = alike - alike.mean(0) - alike.mean(1)[:, None] + alike.mean()
    usual = np.diag(alike).mean()
    if not usual > 0:
        return np.zeros_like(alike)
    hat: Values = np.linalg.solve(alike + usual * np.eye(len(alike)), alike).T
    return hat


def _left_out(hat: Values, answers: Values) -> Values:
    leverage = np.diag(hat)[:, None]
    predictions: Values = (hat @ answers - leverage * answers) / (1 - leverage)
    return predictions


def _linked(answers: Values, near: npt.NDArray[np.intp], *hats: Values) -> float:
    """By how many deviations the answers agree with the targets more (or less) than with shuffled ones.

    Finer than counts of right answers, which rare classes hardly change.
    """
    centred = answers - answers.mean(0)
    draw = np.random.default_rng(1)
    orders = [np.arange(len(answers)), *(draw.permutation(len(answers)) for _ in range(_SHUFFLES))]
    table = np.array([_agreements(centred[order], near, hats) for order in orders])
    spread = table[1:].std(0)
    z_scores = np.where(spread > 0, (table[0] - table[1:].mean(0)) / np.where(spread > 0, spread, 1.0), 0.0)
    return float(z_scores[np.abs(z_scores).argmax()])


def _agreements(targets: Values, near: npt.NDArray[np.intp], hats: tuple[Values, ...]) -> list[float]:
    predictions = [targets[near].mean(1), *(_left_out(hat, targets) for hat in hats)]
    return [
        float((prediction * targets).sum() / max(np.linalg.norm(prediction), 1e-12))
        for prediction in predictions
    ]


def _measure(answers: Values, near: npt.NDArray[np.intp], hat: Values, classes: bool) -> tuple[float, float]:
    votes, lines = answers[near].mean(1), _left_out(hat, answers)
    if classes:
        right = answers.argmax(1)
        return float((votes.argmax(1) == right).mean()), float((lines.argmax(1) == right).mean())
    return 1 - float(((votes - answers) ** 2).mean()), 1 - float(((lines - answers) ** 2).mean())


def _one_feature(features: Values, answers: Values, classes: bool) -> dict[str, float]:
    """How well the best feature predicts targets `alone`, and the others `without` it."""
    if not _FEW <= features.shape[1] <= _MANY:
        return {}
    scores = [_along(column, answers, classes) for column in features.T]
    best = int(np.argmax(scores))
    other_features = np.delete(features, best, axis=1)
    without = max(_measure(answers, _nearest(other_features), _hat(other_features), classes))
    return {"alone": scores[best], "without": without, "feature": float(best)}


def _along(column: Values, answers: Values, classes: bool) -> float:
    """How well its neighbours in the order of one feature predict a sample's target."""
    sorted_ = answers[np.argsort(column + 1e-9 * np.random.default_rng(0).standard_normal(len(column)))]
    padded = np.pad(sorted_, ((_SIDE, _SIDE), (0, 0)))
    count = len(sorted_)
    neighbours = [padded[at : at + count] for at in range(2 * _SIDE + 1) if at != _SIDE]
    votes = np.mean(neighbours, axis=0)
    if classes:
        return float((votes.argmax(1) == sorted_.argmax(1)).mean())
    return 1 - float(((votes - sorted_) ** 2).mean())


def _odd_labels(answers: Values, near: npt.NDArray[np.intp]) -> dict[str, float]:
    """The share of samples whose neighbours agree on another label, and whether such samples lie together.

    Where classes overlap, odd labels lie together at the border (`together` well above 1); wrong labels
    lie anywhere.
    """
    votes = answers[near].mean(1)
    voted = votes.argmax(1)
    odd = voted != answers.argmax(1)
    share = float(odd.mean())
    if not 0 < share < 1:
        return {"odd_share": share}
    around = odd[near[:, :_BESIDE]].mean(1)
    # Labels of one class may be wrong more often than those of another: each is held to its own.
    usual = np.array([odd[voted == kind].mean() for kind in voted[odd]])
    return {"odd_share": share, "together": float(around[odd].mean() / usual.mean())}


def _mutual(answers: Values, near: npt.NDArray[np.intp]) -> dict[str, float]:
    """How well half of a sample's neighbours predict the labels of the other half, for 1 as well as its own.

    About 1 where neighbours are of one class and some labels are wrong: its own is one of theirs. Far less
    where neighbours predict little: then they have nothing in common but to be near to the sample.
    """
    truth = answers.argmax(1)
    own_agreement, neighbour_agreement, chance = 0.0, 0.0, 0.0
    for voters, rest in ((near[:, 0::2], near[:, 1::2]), (near[:, 1::2], near[:, 0::2])):
        voted = answers[voters].mean(1).argmax(1)
        own_agreement += float((voted == truth).mean())
        neighbour_agreement += float((truth[rest] == voted[:, None]).mean())
        chance += float(answers.mean(0)[voted].mean())
    return (
        {"mutual": (neighbour_agreement - chance) / (own_agreement - chance)}
        if own_agreement - chance > 0.05
        else {}
    )
