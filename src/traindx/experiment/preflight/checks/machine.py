"""Time and memory."""

from __future__ import annotations

import numpy as np

from traindx.core.facts import number
from traindx.core.nouns import Number
from traindx.core.number_text import lasting, lasting_each
from traindx.evidence.case import Case
from traindx.experiment.preflight.check import CheckAnswer, failed, passed, unknown
from traindx.experiment.preflight.observations import MEASURED, UNTOUCHED, Flight
from traindx.experiment.preflight.planned_length import steps_of_epoch, steps_planned

_PARTS = {
    "data_wait_s": "waiting for data",
    "forward_s": "forward",
    "backward_s": "backward",
    "optimizer_s": "optimizer",
}


def throughput(flight: Flight) -> CheckAnswer:
    case = flight.undisturbed
    pace = middle(case, "step_s") if case is not None else None
    if case is None or pace is None or pace <= 0:
        return unknown(flight.why_not(UNTOUCHED) or "no step was timed")
    numbers: dict[str, Number] = {"step_s": pace, "steps_per_s": 1 / pace, "threads": flight.threads}
    text = f"{pace * 1000:.3g} ms a step"
    batch = case.number("batch_size")
    if batch:
        numbers["samples_per_s"] = batch / pace
        text += f", {batch / pace:,.0f} samples/s"
    shares = {name: share for name in _PARTS if (share := _share(case, name, pace)) is not None}
    if shares:
        rest = max(0.0, 1.0 - sum(shares.values()))
        listed = ", ".join(f"{_PARTS[name]} {share:.0%}" for name, share in shares.items())
        text += f"; {listed}, other {rest:.0%}"
        numbers.update(
            {name.removesuffix("_s") + "_share": round(share, 3) for name, share in shares.items()}
        )
    return passed(f"{text} ({flight.threads} thread{'s' if flight.threads != 1 else ''}).", **numbers)


def middle(case: Case, name: str) -> float | None:
    """The middle of a time, the first steps left out: they warm up."""
    curve = case.curve(name)
    if curve is None or len(curve) < 3:
        return None
    return float(np.median(curve.y[min(5, len(curve) // 3) :]))


def _share(case: Case, name: str, pace: float) -> float | None:
    part = middle(case, name)
    return min(1.0, part / pace) if part is not None else None


_ROOM = 0.8
_WITH_GRADIENTS = 2.0
_TIGHT = 0.05
_ROUNDED = 1_000_000


def memory(flight: Flight) -> CheckAnswer:
    measured = flight.measure("memory")
    free, total = number(measured, "free"), number(measured, "total")
    if free is None or not total:
        return unknown(str(measured.get("why") or flight.why_not(MEASURED) or "it was not measured"))
    device = str(measured.get("device", "cpu"))
    numbers: dict[str, Number] = {"free": free, "total": total}
    text = f"{_size(free)} of {_size(total)} free on {device} while training"
    batch, kept_bytes = number(measured, "batch"), number(measured, "kept")
    half, less = number(measured, "half"), number(measured, "kept_half")
    if batch and kept_bytes and half and less and batch > half and kept_bytes > less:
        sample_bytes = (kept_bytes - less) / (batch - half)
        largest = batch + _ROOM * free / (_WITH_GRADIENTS * sample_bytes)
        numbers |= {"batch": batch, "bytes_per_sample": sample_bytes, "largest_batch": int(largest)}
        text += f"; a sample takes {_size(sample_bytes)}, so {_largest(largest)} would fit (now {batch:.0f})"
    if free < _TIGHT * total:
        return failed(
            f"{text}: little is left.",
            do="Take a smaller batch, or accumulate.",
            cause="memory_bound",
            **numbers,
        )
    return passed(f"{text}.", **numbers)


def _largest(batch: float) -> str:
    """Two digits: more are not known."""
    if batch >= _ROUNDED:
        return "over a million"
    digits = max(0, len(str(int(batch))) - 2)
    return f"about {int(batch) // 10**digits * 10**digits:,}"


def _size(count: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if count < 1000 or unit == "TB":
            return f"{count:.3g} {unit}"
        count /= 1000
    return ""


def whole_time(flight: Flight) -> CheckAnswer:
    case, attempt = flight.untouched, flight.attempts.get(UNTOUCHED)
    timed = flight.undisturbed
    pace = _pace(timed) if timed is not None else None
    if case is None or attempt is None or pace is None:
        return unknown(flight.why_not(UNTOUCHED) or "no step was timed")
    numbers: dict[str, Number] = {"seconds_per_step": pace}
    if attempt.ended == "finished":
        text = f"the script ends by itself after {attempt.steps:,} steps and {lasting(attempt.seconds)}."
        return passed(text, **numbers, steps=attempt.steps, seconds=attempt.seconds)
    planned = steps_planned(case)
    if planned is not None:
        total = planned[0] * pace
        text = f"at most about {lasting(total)}: {planned[1]} at {lasting_each(pace)}."
        return passed(text, **numbers, seconds=total, steps=planned[0])
    steps = steps_of_epoch(case)
    if steps:
        text = f"about {lasting(steps * pace)} an epoch of {steps:,.0f} steps; how many epochs is not known."
        return passed(text, **numbers, steps_per_epoch=steps)
    return unknown(f"{lasting_each(pace)} a step; how many steps there will be is not known", **numbers)


def _pace(case: Case) -> float | None:
    """Seconds from step to step with everything between: validation, logging, saving."""
    loss = case.curve("loss")
    times = loss.series.times if loss is not None else None
    if times is not None and times.size >= 10:
        first = min(5, times.size // 3)
        return float((times[-1] - times[first]) / (times.size - 1 - first))
    return middle(case, "step_s")
