"""The optimizer holds another model than the one that is trained.

Seen when none of the parameters behind the loss is in the optimizer, and none of those it holds ever had a
gradient: the model was made anew, copied or replaced after the optimizer had been built. Every step is taken
and nothing changes.

Silent when the optimizer's parameters do get gradients (copies in full precision, filled by hand).
"""

from traindx.evidence.detector import Case, Detected, Detector, Event, Finding, Run, Runs, Skipped, number
from traindx.testing.sketch import noisy, run

DETECTOR = Detector(
    title="Optimizer of another model",
    needs=("fact:optimizers",),
    family="untrained",
    explains=("no_gradient_at_all", "parameters_without_gradient"),
)


def detect(case: Case) -> Detected:
    reach = case.inside.fact("reach")
    if len(case.inside.optimizers) != 1 or not reach:
        return Skipped("a recording of a training with a single optimizer")
    leaves, held, outside = (number(reach, key) or 0.0 for key in ("parameters", "held", "outside"))
    unreached = any(number(event.data, "reached") == 0 for event in case.inside.events("no_gradient"))
    if not leaves or held or not outside or not unreached:
        return None
    sentence = (
        f"The loss is computed from {leaves:g} parameters, none of which the optimizer holds; the "
        f"{outside:g} it does hold never had a gradient: it was built for another model."
    )
    return Finding(sentence, "silent_defect", "high", case.span[0], numbers={"untrained_share": "100 %"})


def _run(held: int, reached: int) -> Run:
    reach = {"parameters": 6, "elements": 500, "held": held, "free": ["a"], "free_elements": 9, "outside": 6}
    event = Event("no_gradient", "no gradient reached 0, 2", 4.0, {"layers": ["0"], "reached": reached})
    facts = {"optimizers": [{"class": "SGD"}], "reach": reach}
    return run({"loss": noisy([1.4] * 60, 0.05)}, facts=facts, events=[event])


def fires() -> Runs:
    yield _run(0, 0)


def silent() -> Runs:
    yield _run(6, 0)
    yield _run(0, 6)
