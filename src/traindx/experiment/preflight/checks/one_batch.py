"""One batch, repeated for ever, can be learned by heart.

The arm trains on its first batch only, dropout off where it was on. Passes when the loss comes down to
near zero or to the floor that the targets set (label smoothing, soft targets, equal inputs with different
targets), or when nearly all answers are right. Fails when the loss hardly moves, rises or breaks. Between
the two it cannot tell: a low rate needs more steps, augmentation and batch statistics keep a loss up.
"""

from __future__ import annotations

import numpy as np

from traindx.core.nouns import Number
from traindx.core.number_text import short
from traindx.evidence.case import Case
from traindx.evidence.inside import facts
from traindx.experiment.preflight.arm_differences import start_and_end, still_falling
from traindx.experiment.preflight.check import Answer, Item, failed, passed, unknown
from traindx.experiment.preflight.observations import ONE_BATCH, Flight, told

ITEM = Item(title="One batch can be overfitted", group="learning", order=2)
_DONE, _RIGHT = 0.1, 0.97
_STUCK = 0.9
_STEPS_LEAST = 60
_DO = (
    "A model that cannot learn one batch by heart cannot learn the data: look at the other failures, then "
    "at the learning rate ('traindx lr-find')."
)


def look(flight: Flight) -> Answer:
    case = flight.case(ONE_BATCH)
    if case is None:
        return unknown(flight.why_not(ONE_BATCH))
    if case.surrogate or len(case.inside.optimizers) > 1:
        return unknown("several optimizers or a surrogate loss: its level does not tell")
    loss = flight.losses(ONE_BATCH)
    if loss.size < 10:
        return unknown(f"only {loss.size} steps were made", steps=int(loss.size))
    if not np.isfinite(loss).all():
        at = int(np.argmax(~np.isfinite(loss))) + 1
        return failed(f"on one batch the loss is no longer finite at step {at:,}.", do=_DO, step=at)
    start, end = start_and_end(loss)
    floor, chance = _bounds(flight, start)
    numbers: dict[str, Number] = {"start": start, "end": end, "floor": floor, "steps": int(loss.size)}
    fell = f"loss {short(start)} → {short(end)} in {loss.size:,} steps on one batch"
    known = f", floor {short(floor)}" if floor else ""
    right = _right(case)
    if right is not None:
        numbers["right_share"] = right
        known += f", {right:.0%} right"
    if chance > floor and (end - floor) <= _DONE * (chance - floor):
        return passed(f"{fell}{known}.", **numbers)
    if right is not None and right >= _RIGHT:
        return passed(f"{fell}{known}.", **numbers)
    composed = len(facts(flight.measure("start").get("calls"))) > 1
    return _not_done(case, loss, fell + known, numbers, (start, end, floor), composed=composed)


def _not_done(
    case: Case,
    loss: np.ndarray,
    fell: str,
    numbers: dict[str, Number],
    levels: tuple[float, float, float],
    *,
    composed: bool,
) -> Answer:
    start, end, floor = levels
    if start <= floor or start <= 0:
        return unknown(f"{fell}: a loss that starts at its floor, or below zero, does not tell.", **numbers)
    if loss.size < _STEPS_LEAST:
        return unknown(f"{fell}: too few to tell.", **numbers)
    if composed:
        return unknown(
            f"{fell}: several losses are summed, and what of them must fall is not known.", **numbers
        )
    if end > 1.5 * start:
        return failed(f"{fell}: it rises.", do=_DO, cause="lr_too_high", **numbers)
    if still_falling(loss):
        return unknown(f"{fell}, and still falling: more steps would tell (--steps).", **numbers)
    if (end - floor) > _STUCK * (start - floor) and case.inside.losses:
        return failed(f"{fell}: it is stuck.", do=_DO, cause="", **numbers)
    return unknown(f"{fell}: it stops above zero, and what holds it there is not known.", **numbers)


def _right(case: Case) -> float | None:
    """The share of right answers at the last looks."""
    curve = case.curve("output/right_share")
    return float(np.median(curve.y[-3:])) if curve is not None and len(curve) >= 3 else None


def _bounds(flight: Flight, start: float) -> tuple[float, float]:
    """The lowest loss that the first batch allows, and what a constant answer gives or the start if lower.

    Both on the scale that is trained on.
    """
    calls = facts(flight.measure("start").get("calls"))
    if len(calls) != 1:
        return 0.0, start
    floor, constant, value = (told(calls[0], key) for key in ("floor", "constant", "value"))
    ratio = start / value if value and value > 0 else 0.0
    if not 0.5 < ratio < 2.0 or floor is None or constant is None:
        return 0.0, start
    return floor * ratio, min(start, constant * ratio) if constant > floor else start
