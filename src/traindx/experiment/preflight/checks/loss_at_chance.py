"""The loss at initialisation is what chance predicts for this loss and these labels.

The loss function itself is asked, with the targets of the first batch and its own settings (weights,
smoothing, reduction), what it gives for answers that know nothing: equal odds or zeros, and the best
constant (class shares, the mean of the targets). An untrained model lies near them. Fails far above: then
the outputs are large from the start, or inputs or targets are. Far below, without loaded weights, is told
as odd.
"""

from __future__ import annotations

from dataclasses import replace

from traindx.core.nouns import Number
from traindx.core.number_text import short
from traindx.evidence.inside import Fact, facts
from traindx.experiment.preflight.check import Answer, Item, failed, passed, unknown
from traindx.experiment.preflight.observations import Flight, told

ITEM = Item(title="Loss at initialisation is at chance", group="start", order=1)
_CLASSES = frozenset(
    {"cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits"}
)
# Random logits of spread s cost about s * s / 2 beyond chance, and a last layer by He's rule has 1.4 to 2;
# random outputs may be a few times the targets.
_MOST_CLASSES, _MOST_REAL = 2.0, 5.0
_SLACK = 1.0
_SOMEWHAT = 1.4
_LOW = 0.5
_DO = "Look at the scale of the last layer, of the inputs and of the targets."


def look(flight: Flight) -> Answer:
    measured = flight.measure("start")
    calls = [one for one in facts(measured.get("calls")) if told(one, "even") is not None]
    if not calls:
        whys = [str(one["why"]) for one in facts(measured.get("calls")) if one.get("why")]
        return unknown(
            str(measured.get("why") or next(iter(whys), "the loss is none of torch's own functions"))
        )
    answers = [_judged(flight, call) for call in calls]
    worst = min(answers, key=lambda answer: ("fail", "unknown", "pass").index(answer.status))
    return (
        replace(worst, text=f"{worst.text} (the worst of {len(calls)} losses)") if len(calls) > 1 else worst
    )


def _judged(flight: Flight, call: Fact) -> Answer:
    function = str(call.get("function"))
    value, even, best = (told(call, key) for key in ("value", "even", "constant"))
    if value is None:
        return failed(f"the first {function} is not finite, before any step.", do=_DO, cause="unstable_math")
    even, best = even or 0.0, best or 0.0
    high = max(even, best)
    by_class = function in _CLASSES
    numbers: dict[str, Number] = {"loss": value, "even": even, "constant": best}
    what = "equal odds" if by_class else "zeros"
    text = f"{function} {short(value)}; {what} give {short(even)}, the best constant {short(best)}"
    limit = (_MOST_CLASSES if by_class else _MOST_REAL) * high
    if call.get("reduction") == "mean" and by_class:
        limit += _SLACK
    if high > 0 and value > limit:
        return failed(
            f"{text}: {short(round(value / high, 1))} times chance before the first step.",
            do=_DO,
            cause="unnormalised_inputs" if "inputs_unscaled" in flight.findings else "bad_init",
            **numbers,
        )
    if by_class and value < _LOW * best:
        case = flight.untouched
        if case is not None and facts(case.run.facts.get("restored")):
            return passed(f"{text}: below chance, weights were loaded.", **numbers)
        return unknown(
            f"{text}: far below chance. Loaded weights, or the target is among the inputs.", **numbers
        )
    if by_class and value > _SOMEWHAT * high:
        text += ": somewhat above chance, the outputs start large"
    return passed(f"{text}.", **numbers)
