"""The optimizer steps, and no parameter it holds ever has a gradient.

Either `backward` was never called, or the loss hangs on none of the parameters (`.item()`, `detach`, a new
tensor), or the gradients are cleared between `backward` and `step`. Which one, is read from the graph of the
loss: whether the held parameters are behind it.

In a log: the gradient norm is exactly 0 in all of at least {min_points} values, and the loss does not fall.

Less clear when gradients are there and all zero. Silent as soon as one parameter had a gradient in one
sample, and about gradients that fp16 rounds to zero.
"""

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Event, Finding, Run, Runs, Skipped
from traindx.evidence.detectors.numerics.fp16_without_scaler import half_precision
from traindx.evidence.inside import number, words
from traindx.testing.sketch import noisy, run

DETECTOR = Detector(title="No gradient at all", needs=("recording|grad_norm",), family="untrained")


def detect(case: Case, *, doubtful_strength: float = 0.6, min_points: int = 10) -> Detected:
    if not case.inside.recorded:
        return _logged_zero(case, min_points)
    if not case.inside.optimizers or (case.run.last_step or 0) < 4:
        return Skipped("a recording of an optimizer that steps")
    told = [event for event in case.inside.events("no_gradient") if number(event.data, "reached") == 0]
    if not told or any((curve.y > 0).any() for curve in case.inside.layers("grad_norm").values()):
        return None
    norm = case.grad_norm
    if norm is not None and (norm.y > 0).any():
        return None
    cut = bool(words(told[-1].data, "cut_off"))
    if not cut and half_precision(case):
        return None
    reach = case.inside.fact("reach")
    linked = (number(reach, "held") or 0.0) > 0
    if linked:
        why = "though the loss is computed from them: they are cleared between backward and step"
    elif case.loss is None or "loss" not in case.run.series:
        why = "backward was not called before it"
    else:
        why = "the loss on which backward is called hangs on none of them"
    layers = words(told[-1].data, "layers")
    return Finding(
        f"The optimizer steps, but no gradient is there in any of its {len(layers)} layers; {why}.",
        "silent_defect",
        "high",
        case.span[0],
        strength=1.0 if cut else doubtful_strength,
        numbers={"untrained_share": "100 %", "cleared": str(linked).lower()},
    )


def _logged_zero(case: Case, min_points: int) -> Finding | Skipped | None:
    """A log in which the gradient norm is exactly 0 all along, and the loss stays where it is."""
    norm = case.grad_norm
    if norm is None or len(norm) < min_points or case.surrogate:
        return Skipped(f"a recording, or at least {min_points} values of the gradient norm")
    if norm.broken or norm.y.any() or case.harm.learned(share=0.02):
        return None
    return Finding(
        f"The gradient norm is exactly 0 in all {len(norm)} logged values, and the loss does not fall: no "
        "gradient reaches the parameters.",
        "not_learning",
        "high",
        float(norm.x[0]),
        series=norm.name,
    )


def _run(reached: int, norms: list[float], held: int = 4) -> Run:
    data = {"layers": ["0", "2"], "cut_off": ["0.weight", "2.weight"], "reached": reached}
    event = Event("no_gradient", "no gradient reached 0, 2", 4.0, data)
    facts = {"optimizers": [{"class": "SGD"}], "reach": {"parameters": 4, "held": held}}
    series = {"loss": noisy([1.4] * 60, 0.05), "grad_norm/0": np.array(norms)}
    return run(series, facts=facts, events=[event])


def fires() -> Runs:
    yield _run(0, [0.0, 0.0, 0.0])
    yield _run(0, [], held=0)
    yield run({"grad_norm": [0.0] * 30, "loss": noisy([2.3] * 30, 0.01)})


def silent() -> Runs:
    yield _run(2, [0.0, 0.0, 0.0])
    yield _run(0, [0.0, 0.1, 0.2])
