"""Whether a training suffers: what turns a state of its layers or settings into trouble."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traindx.evidence.case import Case

_FEW = 20
_NO_BETTER = 0.97
_FAR_ABOVE = 4.0
_HALF = 0.5


class Harm:
    """What a run loses, by its training loss where that measures progress."""

    def __init__(self, case: Case) -> None:
        self._case = case

    @cached_property
    def suffers(self) -> bool:
        """Whether the loss did not come down, or not under a constant answer."""
        loss = self._case.loss
        if loss is None or self._case.surrogate:
            return False
        if len(loss) < _FEW:
            return loss.broken > len(loss)
        level = self._case.task.constant_loss
        if level is not None and loss.tail >= _NO_BETTER * level:
            return True
        return not loss.course.came_down() and not 0 <= loss.tail < _HALF * loss.head

    def learned(self, *, share: float = 0.1) -> bool:
        """Whether the training loss came down by a share of its start."""
        loss = self._case.loss
        return loss is not None and loss.course.came_down(share=share)

    @property
    def starts_far_above(self) -> bool:
        """Whether the first loss is several times that of a constant answer."""
        loss, level = self._case.loss, self._case.task.constant_loss
        return loss is not None and len(loss) > 0 and level is not None and loss.head > _FAR_ABOVE * level

    @cached_property
    def held_up(self) -> bool:
        """Whether the loss stood still for the first part of the run although it could fall later."""
        loss = self._case.loss
        return loss is not None and not self._case.surrogate and loss.course.held_up()

    def slow(self, *, bend: float = 0.6) -> bool:
        """Whether the loss falls like a ramp that has not bent yet."""
        loss = self._case.loss
        return loss is not None and not self._case.surrogate and loss.course.ramps(bend=bend)
