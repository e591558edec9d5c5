"""Memory to spare, and about the largest batch that fits.

What a forward pass keeps for the backward one is counted for the first batch and for half of it; the
difference is what one more sample takes. The largest batch is what the free memory of the device holds,
with room for gradients of the kept values. An estimate: libraries take more than is counted.
"""

from __future__ import annotations

from traindx.core.nouns import Number
from traindx.experiment.preflight.check import Answer, Item, failed, passed, unknown
from traindx.experiment.preflight.observations import MEASURED, Flight, told

ITEM = Item(title="Memory is enough", group="machine", order=2)
_ROOM = 0.8
_WITH_GRADIENTS = 2.0
_TIGHT = 0.05
_ROUNDED = 1_000_000


def look(flight: Flight) -> Answer:
    measured = flight.measure("memory")
    free, whole = told(measured, "free"), told(measured, "total")
    if free is None or not whole:
        return unknown(str(measured.get("why") or flight.why_not(MEASURED) or "it was not measured"))
    device = str(measured.get("device", "cpu"))
    numbers: dict[str, Number] = {"free": free, "total": whole}
    text = f"{_size(free)} of {_size(whole)} free on {device} while training"
    batch, kept = told(measured, "batch"), told(measured, "kept")
    half, less = told(measured, "half"), told(measured, "kept_half")
    if batch and kept and half and less and batch > half and kept > less:
        each = (kept - less) / (batch - half)
        largest = batch + _ROOM * free / (_WITH_GRADIENTS * each)
        numbers |= {"batch": batch, "bytes_per_sample": each, "largest_batch": int(largest)}
        text += f"; a sample takes {_size(each)}, so {_largest(largest)} would fit (now {batch:.0f})"
    if free < _TIGHT * whole:
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
