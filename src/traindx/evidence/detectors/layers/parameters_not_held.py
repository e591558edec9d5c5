"""Parameters that take part in the loss, want a gradient and are in no optimizer.

Told by the graph of the first loss: its parameters against those the optimizer holds, and by the model's
own list. They get gradients and never change. Layers in a plain Python list, a sub-model left out when the
optimizer was made, and an optimizer that was made before a layer was replaced give it.

Of low severity when the weights were loaded before (a pretrained body whose head alone is trained), when
they are few, or when further parameters were added later. Could not look with several optimizers. Silent
about frozen parameters, and about copies in full precision that an optimizer holds in their place.
"""

from traindx.evidence.detector import Case, Detected, Detector, Event, Finding, Place, Runs, Severity, Skipped
from traindx.evidence.detectors._number_text import count, percent, strength
from traindx.evidence.inside import facts, number, words
from traindx.testing.sketch import decay, run

DETECTOR = Detector(title="Parameters in no optimizer", needs=("fact:optimizers",), family="untrained")


def detect(case: Case, *, min_share: float = 0.02, large_share: float = 0.2) -> Detected:
    reach = case.inside.fact("reach")
    if len(case.inside.optimizers) != 1 or not reach:
        return Skipped("a recording of a training with a single optimizer")
    held, free, whole = (number(reach, key) or 0.0 for key in ("held", "free_elements", "elements"))
    names = words(reach, "free")
    if not held or not names or not whole:
        return None
    part = free / whole
    loaded = bool(facts(case.run.facts.get("restored")))
    later = bool(case.inside.events("parameters_added"))
    severity: Severity = (
        "low" if loaded or later or part < min_share else "high" if part >= large_share else "medium"
    )
    listed = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    return Finding(
        f"{len(names)} trainable parameters of the loss ({count(free)} of {count(whole)} numbers, "
        f"{percent(part)}) are in no optimizer and never change: {listed}.",
        "silent_defect",
        severity,
        case.span[0],
        strength=0.3 if severity == "low" else strength(part, min_share, large_share),
        numbers={"untrained_share": percent(part), "untrained": listed},
        places=tuple(Place(layer=name.rpartition(".")[0] or name) for name in names[:1] if "(" not in name),
    )


def _facts(held: int, free: list[str], free_elements: int) -> dict[str, object]:
    return {
        "optimizers": [{"class": "Adam", "parameters": held}],
        "reach": {
            "parameters": held + len(free),
            "elements": 5000,
            "held": held,
            "free": free,
            "free_elements": free_elements,
            "outside": 0,
        },
    }


def fires() -> Runs:
    loss = {"loss": decay(50, 2.0, 1.0)}
    yield run(loss, facts=_facts(2, ["enc.0.weight", "enc.0.bias"], 4000))
    yield run(loss, facts=_facts(2, ["parameter (64x64)"], 4096))


def silent() -> Runs:
    loss = {"loss": decay(50, 2.0, 1.0)}
    yield run(loss, facts=_facts(6, [], 0))
    yield run(loss, facts=_facts(0, ["copied.weight"], 5000))
    several = _facts(2, ["critic.0.weight"], 4000) | {"optimizers": [{"class": "Adam"}, {"class": "Adam"}]}
    yield run(loss, facts=several, events=[Event("mode", "", 1.0)])
