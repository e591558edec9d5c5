"""Whether a training suffers: what turns a state of its layers or settings into trouble."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from traindx.core.nouns import Finding
from traindx.evidence.course import Standstill
from traindx.evidence.curve import shares

if TYPE_CHECKING:
    from traindx.evidence.case import Case

_FEW = 20
_NO_BETTER = 0.97
_FAR_ABOVE = 4.0
_HALF = 0.5
# A fall within the last third that says that a training was cut off.
_STEEP = 0.1
_CLEAR_SHARE = 0.2
# A gradient below this share of the loss cannot move it; a rate below these is small for nearly any model.
_NO_GRADIENT = 0.02
_SMALL_LR = 3e-6
_MEDIOCRE = 0.75
_STANDS = 12
# A validation that shows what a training reached: so many evaluations, so much of a fall, so near its best.
_EVALUATIONS, _CLEAR_FALL, _NEAR_BEST = 4, 0.15, 0.02
_USUAL_LOSS = (0.05, 15.0)
# Nearly all of the validation data is answered right from such a score on, or at such a share of the loss of
# a constant answer; of numbers, nearly all of their variance is explained.
_SOLVED, _LEFT, _LEFT_OF_VARIANCE = 0.95, 0.08, 0.02
_OF_ANSWERS = ("accuracy", "f1", "map50")
# The rise of a score that was learned, and the fall of one that has not fallen.
_CLEAR_SCORE, _SLACK = 0.05, 0.02
# The loss of a language model that knows little more than how frequent each token is.
_FREQUENCIES_ALONE, _NATS = 0.6, 5.0
_NO_SCHEDULE = ("constant", "none", "no", "fixed")
# Symptoms that are harm themselves: without it there is none.
_EFFECTS = frozenset({"not_learning", "slow_convergence", "underfitting"})
# What a finding may do to a training (`Detector.harms`).
_KINDS: Mapping[str, Callable[[Harm], bool]] = {
    "learning": lambda harm: harm.suffers,
    "units": lambda harm: harm.suffers or harm.far_from_good,
    "start": lambda harm: harm.suffers or harm.held_up,
    "pace": lambda harm: harm.suffers or harm.slow(),
    "numbers": lambda harm: harm.suffers or harm.breaks,
    "progress": lambda harm: not harm.learned(),
    "fit": lambda harm: harm.has_room,
    "calm": lambda harm: not harm.ends_at_best,
    "generalising": lambda harm: not harm.solved,
}


class Harm:
    """What a run loses, by its training loss where that measures progress."""

    def __init__(self, case: Case) -> None:
        self._case = case

    def weighed(self, finding: Finding, kind: str) -> Finding:
        """A finding with the severity it has in this run: low where no harm of its kind came of it.

        What is at rest has no course that could show harm: there a finding keeps its own."""
        if not kind or self._case.inside.checked or _KINDS[kind](self):
            return finding
        symptom = None if finding.symptom in _EFFECTS else finding.symptom
        return replace(finding, symptom=symptom, severity="low")

    @property
    def breaks(self) -> bool:
        """Whether the loss became NaN or Inf."""
        loss = self._case.loss
        return loss is not None and loss.broken > 0

    @cached_property
    def suffers(self) -> bool:
        """Whether the loss did not come down, or not under a constant answer.

        Not where the model answers better than simple ones do, however much its loss jumps."""
        loss = self._case.loss
        if loss is None or self._case.surrogate or self._case.level.beats_simple():
            return False
        if len(loss) < _FEW:
            return loss.broken > len(loss)
        level = self._case.task.constant_loss
        if level is not None and loss.tail >= _NO_BETTER * level:
            return True
        return not loss.course.came_down() and not 0 <= loss.tail < _HALF * loss.head

    @property
    def hardly_moved(self) -> bool:
        """Whether the loss did not come down, nothing says that the model does well, and no clear fall is
        hidden by the noise of single batches."""
        loss = self._case.loss
        if loss is None or len(loss) < _FEW or not self.suffers or self._case.level.well:
            return False
        return loss.head - loss.tail < _CLEAR_SHARE * abs(loss.head)

    def learned(self, *, share: float = 0.1) -> bool:
        """Whether the training loss came down by a share of its start."""
        loss = self._case.loss
        return loss is not None and loss.course.came_down(share=share)

    @cached_property
    def ends_at_best(self) -> bool:
        """Whether the validation loss came down clearly and ends where it was best: what shook the training
        on its way there cost nothing."""
        val = self._case.val_loss
        if val is None or len(val) < _EVALUATIONS or val.broken or self.breaks:
            return False
        first, last, best = float(val.y[0]), float(val.y[-1]), float(val.y.min())
        fall = first - best
        return fall >= _CLEAR_FALL * abs(first) and last - best <= _NEAR_BEST * fall

    @cached_property
    def solved(self) -> bool:
        """Whether nearly all of the validation data is answered right: what little was lost since is none."""
        case = self._case
        if any(self._solved_by(name) for name in _OF_ANSWERS):
            return True
        val, guess, classes = case.val_loss, case.task.guess_loss, len(case.task.class_shares)
        if val is None or not len(val) or guess is None or classes == 1:
            return False
        return val.tail <= (_LEFT if classes else _LEFT_OF_VARIANCE) * guess

    def _solved_by(self, name: str) -> bool:
        """Whether a score on validation data ends near 1 and near its best, and was learned."""
        score = shares(self._case.val(name))
        if score is None or score.size < 2:
            return False
        end = float(np.median(score[-3:]))
        learned = end - float(score[0]) > _CLEAR_SCORE or self._beats_majority(end)
        return end >= _SOLVED and learned and float(score.max()) - end <= _SLACK

    def _beats_majority(self, score: float) -> bool:
        """Whether a share of right answers is more than one class gives: by the recorded classes, else by a
        validation loss lower than answering a class of that share every time would cost."""
        classes, val = self._case.task.class_shares, self._case.val_loss
        if classes:
            return 1.0 - score <= _HALF * (1.0 - max(classes.values()))
        wrong = 1.0 - score
        cost = -(score * math.log(score) + wrong * math.log(wrong)) if 0 < score < 1 else 0.0
        return val is not None and len(val) > 0 and 0 < val.best < cost

    @property
    def has_room(self) -> bool:
        """Whether more can be expected.

        Not of a fine-tuning on classes, whose labels agree only so far, not where the rest is noise, and not
        of a model that is far ahead of simple ones.
        """
        level, task = self._case.level, self._case.task
        tuned = task.fine_tuned and task.classes is not None
        return not (tuned or level.beats_simple() or level.far_ahead or level.has_all_there_is())

    @property
    def starts_far_above(self) -> bool:
        """Whether the first loss is several times that of a constant answer."""
        loss, level = self._case.loss, self._case.task.constant_loss
        return loss is not None and len(loss) > 0 and level is not None and loss.head > _FAR_ABOVE * level

    @cached_property
    def held_up(self) -> bool:
        """Whether the loss stood still for the first part of the run although it could fall later.

        Not where the rest of the run was enough for all that."""
        loss = self._case.loss
        if loss is None or self._case.surrogate or (self.ends_at_best and self._case.level.good):
            return False
        return loss.course.held_up()

    @property
    def unfinished(self) -> bool:
        """Whether the loss stood still at first and ended in the middle of its fall, far from good: what the
        training can reach does not show."""
        loss = self._case.loss
        falls = loss is not None and len(loss) >= _FEW and loss.course.late_fall > _STEEP
        return falls and self.held_up and not self._case.level.well

    def slow(self, *, bend: float = 0.6) -> bool:
        """Whether the loss falls like a ramp that has not bent yet."""
        loss = self._case.loss
        return loss is not None and not self._case.surrogate and loss.course.ramps(bend=bend)

    @cached_property
    def standstill(self) -> Standstill | None:
        """Where the training loss stopped, if it had come down before and stands for long."""
        loss = self._case.loss
        if loss is None or self._case.surrogate or len(loss) < _STANDS:
            return None
        fell = loss.head - loss.tail > max(0.05 * abs(loss.head), 3 * loss.noise)
        return loss.course.standstill() if fell or loss.course.starts_late else None

    @property
    def far_from_good(self) -> bool:
        """Whether more than half of the first loss is left at the end, and no score is good."""
        loss = self._case.loss
        high = loss is not None and len(loss) >= _FEW and loss.tail >= _HALF * loss.head > 0
        return high and not self._case.surrogate and not self._case.level.good

    @cached_property
    def norm_at_standstill(self) -> float | None:
        """The gradient norm since the loss stopped."""
        norm, stop = self._case.grad_norm, self.standstill
        if norm is None or stop is None or len(norm) < 3:
            return None
        same_axis = self._case.loss is not None and norm.axis == self._case.loss.axis
        values = norm.after(stop.since) if same_axis else norm.y[len(norm) // 2 :]
        return float(np.median(values)) if values.size else None

    @cached_property
    def constant_lr(self) -> float | None:
        """The one learning rate of the whole run but its warm-up; None where it changes or is not known."""
        case = self._case
        if case.lr is not None and len(case.lr) >= 3:
            rates = case.lr.y[len(case.lr) // 5 :]
            constant = float(np.ptp(rates)) <= 1e-3 * float(rates[-1]) and case.lr.y.max() <= 1.01 * rates[-1]
            return float(rates[-1]) if constant else None
        configured = case.number("lr")
        return configured if configured is not None and case.word("schedule") in _NO_SCHEDULE else None

    @cached_property
    def stuck(self) -> bool:
        """Whether the loss stands still where the log itself shows that it should not.

        The gradient is gone; the rate is far too small; or the rate never decayed and the result is poor.
        """
        case, stop, loss = self._case, self.standstill, self._case.loss
        if stop is None or loss is None or not loss.head > 0 or case.level.good:
            return False
        remaining = stop.level / loss.head
        norm = self.norm_at_standstill
        if self.gradient_gone and remaining >= 0.3:
            return True
        if self.lr_gone and remaining >= 0.3 and stop.share >= 0.4:
            return True
        if self.constant_lr is None or stop.share < 0.4:
            return False
        gradient = norm is not None and 0.1 <= norm <= 10.0
        if self.constant_lr < _SMALL_LR * (10.0 if gradient else 1.0) and remaining >= 0.3:
            return True
        return stop.share >= _HALF and self.mediocre and remaining >= 0.25

    @cached_property
    def lr_gone(self) -> bool:
        """Whether for a good part of the run hardly anything was left of the learning rate."""
        rate = self._case.lr
        if rate is None or len(rate) < 8 or not rate.y.max() > 0:
            return False
        return float((rate.y <= 1e-3 * rate.y.max()).mean()) >= 0.4

    @cached_property
    def gradient_gone(self) -> bool:
        """Whether hardly any gradient is left where the loss stands.

        Next to the loss, and next to what the norm was at first or to what is usual for losses of this size.
        """
        norm, stop, curve = self.norm_at_standstill, self.standstill, self._case.grad_norm
        if norm is None or stop is None or curve is None or not 0 <= norm < _NO_GRADIENT * stop.level:
            return False
        first = float(np.median(curve.y[: max(3, len(curve) // 10)]))
        return norm < 0.1 * first or (norm < 0.01 and _USUAL_LOSS[0] < stop.level < _USUAL_LOSS[1])

    @cached_property
    def mediocre(self) -> bool:
        """Whether scores are logged, and the best of them says that much is left to gain."""
        scores = self._case.level.scores
        return bool(scores) and max(scores) < _MEDIOCRE

    @cached_property
    def undecided(self) -> Standstill | None:
        """A standstill that may be the floor of the task or a training that is stuck: nothing says which.

        Decided where a score is good, the rate came down as planned, the loss is that of a language model
        that has learned more than how frequent each token is or of a fine-tuning (they end high), or the
        training was recorded and held against simple models that do better than guesses.
        """
        case, stop, loss = self._case, self.standstill, self._case.loss
        compared = case.level.against_simple is not None and not case.level.says_nothing
        decided = case.inside.recorded and compared
        if stop is None or loss is None or decided or loss.course.starts_late:
            return None
        lowered = case.lr is not None and len(case.lr) > 2 and case.lr.y[-1] < _HALF * case.lr.y.max()
        speaks = case.task.predicts_tokens and not _FREQUENCIES_ALONE * loss.head < stop.level > _NATS
        ends_high = speaks or case.task.fine_tuned or bool(case.traits)
        if case.level.good or lowered or ends_high or not loss.head > 0:
            return None
        return stop if stop.share >= _HALF and stop.level > 0.4 * loss.head else None
