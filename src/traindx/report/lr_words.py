"""What a range test says, in sentences: for the terminal, the picture and the JSON."""

from __future__ import annotations

from traindx.experiment.lr_find.answer import Estimate, RangeAnswer
from traindx.report.text import rounded

_NEXT = {
    "flat": "Check that gradients reach the weights (traindx run), or try --from/--to beyond these rates.",
    "noisy": "Give more --steps or --seeds, or larger batches.",
    "no_edge": "Try --to with a larger rate; every rate up to here is stable so far.",
    "diverges_at_once": "Try --from with a smaller rate, and check the scale of inputs and targets.",
    "not_finite": "The rate is not the cause: traindx run traces where the first NaN comes from.",
    "too_few_steps": "Give the script more epochs or smaller batches for the test.",
    "seeds_disagree": "Give more --seeds or --steps; until then stay well below the lower end.",
}


def headline(answer: RangeAnswer) -> str:
    """The result in one line."""
    if not answer.found or answer.low is None or answer.high is None:
        return f"no supported answer: {answer.reason}"
    return f"suggested learning rate: {rate(answer.low.value)} to {rate(answer.high.value)}"


def advice(answer: RangeAnswer) -> str:
    """What to do where there is no answer."""
    return _NEXT.get(answer.verdict, "")


def standing(answer: RangeAnswer) -> str:
    """Where the current rate is, in factors."""
    if answer.current is None:
        return ""
    here = f"{rate(answer.current)}"
    if answer.low is None or answer.high is None or answer.edge is None:
        return here
    match answer.standing:
        case "unstable":
            beyond, over = answer.current / answer.edge.value, answer.current / answer.high.value
            return (
                f"{here}: beyond what is stable, {_times(beyond)} the largest stable rate "
                f"and {_times(over)} the upper end of the range"
            )
        case "too_high":
            return (
                f"{here}: too high, {_times(answer.current / answer.high.value)} the upper end of the range"
            )
        case "too_low":
            factor = _times(answer.low.value / answer.current)
            return f"{here}: too low, the lower end of the range is {factor} it"
        case _:
            return f"{here}: inside the range"


def interval(estimate: Estimate) -> str:
    """`0.05 to 0.2`."""
    if estimate.high == float("inf"):
        return f"{rate(estimate.low)} or more"
    return f"{rate(estimate.low)} to {rate(estimate.high)}"


def rate(value: float) -> str:
    """Two digits: a range test knows no more."""
    return rounded(value)


def _times(factor: float) -> str:
    return f"{float(f'{factor:.2g}'):,g} times"
