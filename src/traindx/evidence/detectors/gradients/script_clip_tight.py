"""The limit that gradients are clipped to is so low that little is left of any step.

Seen for `clip_grad_norm_` with a limit of `lowest` or less written in the script.

A sign: with Adam and its kin the size of gradients hardly matters, and losses may be small themselves. Silent
when the number is not known. Known mistake: parameters whose gradients are that small by nature.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.core.nouns import Finding, Skipped
from traindx.core.units import Detector
from traindx.evidence.case import Case
from traindx.evidence.detectors._script.samples import script
from traindx.evidence.detectors._script.words import Looked, code, first, training_of, where
from traindx.source import Script
from traindx.source.anchors_of_loop import origin
from traindx.source.edit_pieces import place
from traindx.source.values import number

DETECTOR = Detector(title="tight clipping", needs=("script",), family="script_clip_limit")
_BODY = (
    "optimizer.zero_grad()\ncriterion(model(x), y).backward()\n"
    "nn.utils.clip_grad_norm_(model.parameters(), {})\noptimizer.step()"
)


def detect(case: Case, *, lowest: float = 0.01) -> Finding | Skipped | None:
    return first(case, __name__, look(case, lowest=lowest))


def look(case: Case, *, lowest: float = 0.01) -> Looked:
    """Every place where it is seen."""
    training = training_of(case)
    if training is None:
        return Skipped("a script that can be followed")
    clips = [
        e for e in training.trace.events if e.value.short == "clip_grad_norm_" and e.value.kind == "call"
    ]
    limits = [(e, e.value.argument(1, "max_norm")) for e in clips]
    known = [(e, given, told) for e, given in limits if (told := number(given)) is not None]
    if not known:
        return Skipped("a limit of the gradients that the script shows")
    found: dict[int, Finding] = {}
    for event, given, told in known:
        spot = origin(given) or event.spot
        if 0 < told <= lowest:
            text = f"{where(spot)}: {code(event.spot)} cuts all gradients down to a norm of {told:g}."
            places = (place(spot), place(event.spot))
            found.setdefault(id(spot.node), Finding(text, severity="low", places=places))
    return [*found.values()]


def fires() -> Iterator[Script]:
    yield script(body=_BODY.format("1e-3"))
    yield script(setup="LIMIT = 0.001", body=_BODY.format("LIMIT"))


def silent() -> Iterator[Script]:
    yield script(body=_BODY.format("1.0"))
    yield script(body=_BODY.format("0.1"))
    yield script(body=_BODY.format("limit"))
    yield script()
