"""A small model of a part's target: what each row's own inputs say of it, learned from the other rows.

Ridge regression on the inputs and on random waves of them (a kernel machine), with the left-out answer of
every row in closed form. Classes are answered by shares: the left-out probability of each.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from traindx.checkup.data.part import DataPart, evenly
from traindx.core.nouns import FloatArray, IntArray

_ROWS_MOST, _WAVES, _WORDS = 6_000, 300, 600
_WIDTHS = (0.5, 1.0, 2.0)
_PENALTIES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)
_CLASSES_ONE_HOT = 20


@dataclass(frozen=True, eq=False)
class LeftOut:
    """What the other rows say: `predicted` has a column for each class, or one of real numbers.

    `at` are the rows of the part that were used: copies are left out, since a copy knows the answer.
    """

    at: IntArray
    predicted: FloatArray
    truth: FloatArray
    labels: IntArray | None

    @property
    def score(self) -> float:
        """The share of classes that is right, or of the variance that is explained."""
        if self.labels is not None:
            return float((self.predicted.argmax(1) == self.labels).mean())
        error = float(((self.truth - self.predicted) ** 2).mean())
        return 1 - error / max(float(self.truth.var()), 1e-300)

    @property
    def chance(self) -> float:
        if self.labels is None:
            return 0.0
        return float(np.bincount(self.labels).max() / len(self.labels))

    @property
    def z(self) -> float:
        """How far the score is above chance, in standard errors."""
        n = len(self.at)
        if self.labels is not None:
            spread = math.sqrt(self.chance * (1 - self.chance) / n)
            return (self.score - self.chance) / max(1e-9, spread)
        return self.score * math.sqrt(n) / 2

    @property
    def fit(self) -> FloatArray:
        """For each row how well its target fits what the others say, less what is usual for its class."""
        if self.labels is None:
            error = np.abs(self.truth - self.predicted)[:, 0] / max(float(self.truth.std()), 1e-300)
            return float(np.median(error)) - np.minimum(error, 3.0)
        is_right = (self.predicted.argmax(1) == self.labels).astype(float)
        usual_fit = np.bincount(self.labels, is_right) / np.maximum(1, np.bincount(self.labels))
        fit: FloatArray = is_right - usual_fit[self.labels]
        return fit


def answers(part: DataPart, *, without: Sequence[str] = (), shift: int = 0) -> LeftOut | None:
    """The left-out answers for the target of a part; None where there is nothing to learn from.

    With a `shift`, of the target that is so many rows further down.
    """
    inputs = features(part, without)
    labels, values = part.labels, part.column(part.target)
    if inputs is None or (labels is None and values is None):
        return None
    at = _distinct(part)
    if shift:
        at = at[(at + shift >= 0) & (at + shift < len(part))]
    if labels is not None:
        used_labels = labels[at + shift]
        truth = np.eye(int(labels.max()) + 1)[used_labels]
    else:
        assert values is not None
        used_labels, truth = None, values[at + shift][:, None]
        fine = np.isfinite(truth[:, 0])
        at, truth = at[fine], truth[fine]
    if len(at) < 100 or float(truth.std(0).max(initial=0.0)) == 0:
        return None
    best: FloatArray | None = None
    error = np.inf
    for candidate in _candidates(inputs[at], part.texts is not None):
        predicted, its_error = _left_out(candidate, truth)
        if its_error < error:
            best, error = predicted, its_error
    assert best is not None
    return LeftOut(at, best, truth, used_labels)


def features(part: DataPart, without: Sequence[str] = ()) -> FloatArray | None:
    """The inputs as numbers of about equal scale; None without any."""
    columns = []
    for name in part.inputs:
        if name not in without:
            columns += _number_features(part.numbers[:, part.names.index(name)])
    for name, codes in part.groups.items():
        if name in part.words and name not in without and codes.max() < _CLASSES_ONE_HOT:
            columns += list(np.eye(int(codes.max()) + 1)[codes].T)
    texts = part.texts
    if texts is not None:
        columns += list(bags(texts).T)
    return np.column_stack(columns) if columns else None


def _number_features(values: FloatArray) -> list[FloatArray]:
    """By ranks, so that a few odd values do not matter; a second column says where it is missing."""
    present = np.isfinite(values)
    if not present.any() or (float(np.ptp(values[present])) == 0 and present.all()):
        return []
    middle = float(np.median(values[present]))
    low, high = np.quantile(values[present], (0.01, 0.99))
    clipped = np.clip(np.where(present, values, middle), low, high)
    scale = float(clipped.std())
    columns = [(clipped - clipped.mean()) / scale] if scale > 0 else []
    return columns if present.all() else [*columns, 2.0 * present - 1.0]


def bags(texts: Sequence[str]) -> FloatArray:
    """Which words a text holds, hashed, weighted by how rare they are."""
    counts = np.zeros((len(texts), _WORDS))
    for row, text in enumerate(texts):
        for word in set(text.lower().split()[:400]):
            counts[row, zlib.crc32(word.encode()) % _WORDS] = 1.0
    weight = np.log((1 + len(texts)) / (1 + counts.sum(0)))
    counts *= weight
    return np.asarray(counts / np.maximum(1e-9, np.linalg.norm(counts, axis=1, keepdims=True)) * 5)


def _distinct(part: DataPart) -> IntArray:
    """The first of equal rows, at most so many, in order."""
    keys = row_keys(part)
    first = np.unique(np.array(keys), return_index=True)[1] if keys else np.arange(len(part))
    first.sort()
    return first[evenly(len(first), _ROWS_MOST)]


def row_keys(part: DataPart) -> list[int]:
    """A number for the inputs of each row: equal for equal inputs."""
    if part.keys:
        return list(part.keys)
    inputs = part.inputs
    words = [column for name, column in part.words.items() if name != part.target and not part.is_key(name)]
    if not inputs and not words:
        return []
    matrix = np.round(part.matrix(inputs), 12)
    tails = [tuple(w[i].lower().strip() for w in words) for i in range(len(part))]
    return [hash((row.tobytes(), tail)) for row, tail in zip(matrix + 0.0, tails, strict=True)]


def group_means(groups: IntArray, truth: FloatArray) -> FloatArray:
    """For each row the mean of `truth` over the other rows of its group; 0 where there are none."""
    sums = np.zeros((int(groups.max()) + 1, truth.shape[1]))
    np.add.at(sums, groups, truth)
    counts = np.bincount(groups)[groups]
    means: FloatArray = (sums[groups] - truth) / np.maximum(1, counts - 1)[:, None]
    return means


def _candidates(inputs: FloatArray, text: bool) -> list[FloatArray]:
    """A plane, and planes in random waves of three widths."""
    candidates = [inputs]
    if text:
        return candidates
    random = np.random.default_rng(0)
    sampled = inputs[random.choice(len(inputs), min(200, len(inputs)), replace=False)]
    apart = np.sqrt(((sampled[:, None] - sampled[None]) ** 2).sum(-1))
    usual_distance = float(np.median(apart[apart > 0])) if (apart > 0).any() else 1.0
    waves = random.normal(size=(inputs.shape[1], _WAVES))
    phases = random.uniform(0, 2 * np.pi, _WAVES)
    for width in _WIDTHS:
        curved = np.cos(inputs @ waves / (usual_distance * width) + phases)
        candidates.append(np.hstack([inputs, curved * np.sqrt(2)]))
    return candidates


def _left_out(inputs: FloatArray, truth: FloatArray) -> tuple[FloatArray, float]:
    """The answer for each row by ridge regression on all others, at the best penalty, and its error."""
    inputs = inputs - inputs.mean(0)
    mean = truth.mean(0)
    values, vectors = np.linalg.eigh(inputs.T @ inputs / len(inputs))
    values = np.maximum(values, 0.0)
    turned = inputs @ vectors
    projection = turned.T @ (truth - mean) / len(inputs)
    best, error = truth * 0 + mean, float(((truth - mean) ** 2).mean())
    for penalty in _PENALTIES:
        shrunk = 1 / (values + penalty)
        fitted = turned @ (projection * shrunk[:, None])
        weight = (turned**2 @ shrunk) / len(inputs) + 1 / len(inputs)
        residual = (truth - mean - fitted) / np.maximum(1e-3, 1 - weight)[:, None]
        if (its_error := float((residual**2).mean())) < error:
            best, error = truth - residual, its_error
    return best, error
