"""How good the model is at the end of a run: its scores, what simple models reach on the same samples, and
the gap between training and validation on every metric that exists on both sides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from traindx.core.facts import number, sizes
from traindx.core.kinds import loss_kind
from traindx.evidence import stats
from traindx.evidence.curve import Curve, shares
from traindx.evidence.sampled import COMPARING, late, odd_objective, one_target_each, part, sampled
from traindx.evidence.scores import ANSWER_ERRORS, SCORES

if TYPE_CHECKING:
    from traindx.evidence.case import Case

# Scores between 0 and 1 (or 0 and 100) that say how good a model is.
_SHARES = ("accuracy", "auc", "f1", "map50")
# Scores that may exist for training and for validation data, the usual first.
_BOTH_SIDES = ("accuracy", "f1", "auc", "iou", "dice", "r2", "precision", "recall")
# Scores whose rise says that a training gets somewhere, and a rise that needs no further test.
_RISING, _CLEAR_GAIN = ("accuracy", "f1", "auc", "r2", "map50"), 0.05
# Scores on validation data that show what was learned, and how many evaluations show it.
_LEARNED, _EVALUATIONS = (*SCORES, "score", "reward", *ANSWER_ERRORS), 4
# A first validation loss so far below the first training loss was learned before; a rise since that counts.
_BELOW, _SOME_RISE = 0.8, 0.1
_GOOD = 0.85
_HEAVY_DROPOUT = 0.8
_AS_GOOD = 0.05
_SOMETHING = 0.2
_FAR_AHEAD = 0.3


@dataclass(frozen=True)
class AgainstSimple:
    """Shares of right answers or of explained variance: what simple models reach, what the model reached."""

    simple: float
    reached: float
    z: float
    classes: bool
    step: float

    @property
    def as_good(self) -> bool:
        """Whether the model reaches what simple ones do, to within a little."""
        return self.reached >= self.simple - _AS_GOOD


@dataclass(frozen=True)
class Gap:
    """One score on training and on validation data at the end of the run, as shares of one."""

    metric: str
    train: float
    validation: float
    curve: Curve

    @property
    def size(self) -> float:
        return self.train - self.validation


class Level:
    """Where a run ended between answers without a look at the input and perfect ones."""

    def __init__(self, case: Case) -> None:
        self._case = case

    @cached_property
    def good(self) -> bool:
        """Whether a score says the model does well, whatever the loss does."""
        return any(_GOOD <= score <= 1 for score in self.scores)

    @cached_property
    def well(self) -> bool:
        """Whether the model does well by any measure: its scores, its recorded answers, simple models."""
        return self.good or self.answers_right or self.beats_simple()

    @cached_property
    def confirmed(self) -> bool | None:
        """Whether validation data show that something was learned: a loss that came down, a score that rose
        or is good, or a loss far below the first training loss from the first evaluation on.

        None where too few evaluations are logged to show it."""
        case = self._case
        sides = [case.val_loss, *(case.val(name) for name in _LEARNED)]
        curves = [curve for curve in sides if curve is not None and len(curve) >= _EVALUATIONS]
        if not curves or case.surrogate:
            return None
        good = any(score >= _GOOD for score in self.validation_scores) or self.beats_simple()
        return good or case.harm.solved or any(map(_improved, curves)) or self._learned_before()

    def _learned_before(self) -> bool:
        """Whether the validation loss was far below the first training loss at once, and stayed there."""
        train, val = self._case.loss, self._case.val_loss
        if train is None or val is None or not len(train) or not len(val):
            return False
        first = float(val.y[0])
        return 0 < first <= _BELOW * float(train.y[0]) and val.tail <= (1.0 + _SOME_RISE) * first

    @cached_property
    def improves(self) -> bool:
        """Whether a score rises beyond its noise, or the validation loss falls."""
        case = self._case
        scores = [side for name in _RISING for side in (case.curve(name), case.val(name))]
        for curve in (curve for curve in (*scores, case.val_loss) if curve is not None and len(curve) >= 4):
            higher = curve.goal == "higher"
            gain = curve.tail - curve.head if higher else curve.head - curve.tail
            clear = higher and gain > _CLEAR_GAIN
            if gain > 2.0 * curve.noise and (clear or stats.trend(curve.x, curve.y).p < 0.05):
                return True
        return False

    @cached_property
    def scores(self) -> Sequence[float]:
        """The last level of each score between 0 and 1, on training and on validation data."""
        curves = [self._case.curve(name) or self._only_part(name) for name in _SHARES]
        return [
            *(_end(curve) for curve in curves if curve is not None and len(curve)),
            *self.validation_scores,
        ]

    def _only_part(self, name: str) -> Curve | None:
        """The one part of a score that is logged (`f1/entity`): of several none stands for the whole."""
        parts = [key for key in self._case.names if key.startswith(f"{name}/")]
        return self._case.curve(parts[0]) if len(parts) == 1 and parts[0] != "accuracy/top5" else None

    @cached_property
    def validation_scores(self) -> Sequence[float]:
        """The last level of each score between 0 and 1 on validation data."""
        curves = [self._case.val(name) for name in _SHARES]
        return [_end(curve) for curve in curves if curve is not None and len(curve)]

    @cached_property
    def answers_right(self) -> bool:
        """Whether the answers of the model on its training batches end up mostly right."""
        case = self._case
        right, explained = sampled(case, "output/right_share", 2), sampled(case, "output/explained", 2)
        top = sampled(case, "target/top_share")
        if right is not None:
            base = float(np.median(top.y)) if top is not None else 0.5
            return late(right) >= 0.5 + 0.5 * max(base, 0.6)
        return explained is not None and late(explained) >= 0.8

    @cached_property
    def gaps(self) -> Sequence[Gap]:
        """Every score that exists on both sides, the usual first."""
        gaps = []
        for metric in _BOTH_SIDES:
            curve = self._case.val(metric)
            sides = [shares(self._case.curve(metric)), shares(curve)]
            ends = [float(np.median(side[-max(1, side.size // 10) :])) for side in sides if side is not None]
            if len(ends) == 2 and curve is not None:
                gaps.append(Gap(metric, ends[0], ends[1], curve))
        return gaps

    @cached_property
    def against_simple(self) -> AgainstSimple | None:
        """The model next to a straight line and a vote of neighbours on the recorded samples.

        None where outputs and targets do not allow the comparison.
        """
        case = self._case
        relation = part(case.inside.fact("samples"), "relation")
        simple, z, classes = (number(relation, key) for key in ("told", "z", "classes"))
        right = sampled(case, "output/right_share" if classes else "output/explained", 3)
        odd = odd_objective(case) or not self._same_targets or (not classes and not self._compares)
        reached = self._reached_by_log(bool(classes)) + ([late(right)] if right is not None else [])
        if simple is None or z is None or not reached or odd:
            return None
        step = float(right.x[-1]) if right is not None else case.run.last_step or 0.0
        return AgainstSimple(simple, max(reached), z, bool(classes), step)

    @property
    def says_nothing(self) -> bool:
        """Whether the model was held against simple ones, and none of them does much better than guesses:
        then nothing shows whether more could be learned."""
        comparison = self.against_simple
        if comparison is None:
            return False
        guessed = max(self._case.task.class_shares.values(), default=0.0) if comparison.classes else 0.0
        return max(comparison.reached, comparison.simple) - guessed < _SOMETHING * (1.0 - guessed)

    @property
    def far_ahead(self) -> bool:
        """Whether the model finds a good part of what simple models leave."""
        found = self.against_simple
        return found is not None and found.reached - found.simple >= _FAR_AHEAD * (1.0 - found.simple)

    def beats_simple(self, *, slack: float = 0.02, z: float = 5.0) -> bool:
        """Whether simple models find something in the inputs, and the model has got all of it."""
        comparison = self.against_simple
        return (
            comparison is not None and comparison.z >= z and comparison.reached >= comparison.simple + slack
        )

    def has_all_there_is(self, *, near: float = 0.6, faint: float = 0.25) -> bool:
        """Whether the model gets as little from the inputs as simple models do: all of it, or most of it and
        the validation loss came down."""
        comparison, val = self.against_simple, self._case.val_loss
        if comparison is None or not 0 < comparison.simple <= faint:
            return False
        if comparison.reached >= comparison.simple and not comparison.classes:
            return True
        if val is None or len(val) < 8:
            return False
        learned = val.trend.p < 1e-3 and val.tail < val.head - 2 * val.noise
        return learned and comparison.reached >= near * comparison.simple

    def held_down_by_dropout(self, *, share: float = 0.3) -> bool:
        """Whether dropout is in all that is known of the answers: no validation shows what it hides."""
        unvalidated = self._case.val_loss is None and self._case.val("accuracy") is None
        return unvalidated and share <= self._dropout < _HEAVY_DROPOUT

    @property
    def _same_targets(self) -> bool:
        """Whether the loss compares with the targets that simple models predict: as many for each sample."""
        columns = number(part(self._case.inside.fact("samples"), "relation"), "targets")
        shapes = [sizes(loss.get("target_shape")) for loss in self._case.inside.losses]
        if columns is None or len(shapes) != 1:
            return one_target_each(self._case)
        return math.prod(shapes[0][1:]) == columns

    @property
    def _compares(self) -> bool:
        """Whether the outputs are the numbers that the targets are."""
        return all(loss_kind(loss) in COMPARING for loss in self._case.inside.losses)

    def _reached_by_log(self, classes: bool) -> list[float]:
        """How right the model is by what was logged: scores, or the losses against the targets' spread."""
        case = self._case
        score = "accuracy" if classes else "r2"
        held_out = case.val(score) if self._dropout < _HEAVY_DROPOUT else None
        scores = [_end(curve) for curve in (case.curve(score), held_out) if curve is not None and len(curve)]
        spread = sampled(case, "target/std")
        squared = [loss_kind(loss) == "mse" for loss in case.inside.losses]
        if classes or spread is None or squared != [True] or not one_target_each(case):
            return scores
        variance = float(np.median(spread.y)) ** 2
        ends = [curve.tail for curve in (case.loss, case.val_loss) if curve is not None and len(curve)]
        return scores + [1.0 - end / variance for end in ends if end > 0 and variance > 0]

    @cached_property
    def _dropout(self) -> float:
        """The largest share of units that a model drops."""
        rates = [model.get("dropout") for model in self._case.inside.models]
        numbers = [rate for part in rates if isinstance(part, list | tuple) for rate in part]
        return max((rate for rate in numbers if isinstance(rate, float)), default=0.0)


def _improved(curve: Curve) -> bool:
    return curve.course.improved()


def _end(curve: Curve) -> float:
    return curve.tail / (100.0 if curve.y.max() > 1.5 else 1.0)
