"""The untrained model."""

from __future__ import annotations

from dataclasses import replace

from traindx.core.facts import Fact, facts, number
from traindx.core.nouns import Number
from traindx.core.number_text import short
from traindx.evidence.case import Case
from traindx.experiment.preflight.check import CheckAnswer, failed, passed, unknown
from traindx.experiment.preflight.observations import Flight

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


def loss_at_chance(flight: Flight) -> CheckAnswer:
    measured = flight.measure("start")
    calls = [call for call in facts(measured.get("calls")) if number(call, "even") is not None]
    if not calls:
        whys = [str(call["why"]) for call in facts(measured.get("calls")) if call.get("why")]
        return unknown(
            str(measured.get("why") or next(iter(whys), "the loss is none of torch's own functions"))
        )
    answers = [_judged(flight, call) for call in calls]
    worst = min(answers, key=lambda answer: ("fail", "unknown", "pass").index(answer.status))
    return (
        replace(worst, text=f"{worst.text} (the worst of {len(calls)} losses)") if len(calls) > 1 else worst
    )


def _judged(flight: Flight, call: Fact) -> CheckAnswer:
    function = str(call.get("function"))
    value, even, best = (number(call, key) for key in ("value", "even", "constant"))
    if value is None:
        return failed(f"the first {function} is not finite, before any step.", do=_DO, cause="unstable_math")
    even, best = even or 0.0, best or 0.0
    high = max(even, best)
    by_class = function in _CLASSES
    numbers: dict[str, Number] = {"loss": value, "even": even, "constant": best}
    baseline = "equal odds" if by_class else "zeros"
    text = f"{function} {short(value)}; {baseline} give {short(even)}, the best constant {short(best)}"
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


def outputs_fit_loss(case: Case) -> CheckAnswer:
    losses = case.inside.losses
    if not losses:
        return unknown("the loss is none of torch's own functions")
    loss = losses[0]
    text = f"{loss.get('function')} of {loss.get('output_shape')} against {loss.get('target_shape')}"
    layers = loss.get("after_layers")
    if isinstance(layers, list) and layers:
        text += f", the output straight from {layers[0]}"
    others_text = f" and {len(losses) - 1} more" if len(losses) > 1 else ""
    return passed(f"{text}{others_text}.", losses=len(losses))


def activations_healthy(case: Case) -> CheckAnswer:
    spread = {
        name: float(curve.y[0]) for name, curve in case.inside.layers("activation_std").items() if len(curve)
    }
    if not spread:
        return unknown("no layer's output could be sampled")
    first, last = next(iter(spread)), list(spread)[-1]
    text = f"spread {short(spread[first])} behind {first}, {short(spread[last])} behind {last}"
    numbers: dict[str, Number] = {"layers": len(spread), "first": spread[first], "last": spread[last]}
    zeros = [c.y[0] for c in case.inside.layers("activation_zero_share").values() if len(c)]
    if zeros:
        numbers["zero_share"] = float(max(zeros))
        text += f"; at most {max(zeros):.0%} zeros"
    return passed(f"{text} ({len(spread)} sampled).", **numbers)


def gradients_healthy(case: Case) -> CheckAnswer:
    norms = {name: float(c.y[0]) for name, c in case.inside.layers("grad_norm").items() if len(c)}
    if not norms:
        return unknown("no layer's gradient could be sampled")
    small, large = min(norms, key=lambda name: norms[name]), max(norms, key=lambda name: norms[name])
    return passed(
        f"norms from {short(norms[small])} ({small}) to {short(norms[large])} ({large}); "
        f"{len(norms)} layers.",
        layers=len(norms),
        smallest=norms[small],
        largest=norms[large],
    )
