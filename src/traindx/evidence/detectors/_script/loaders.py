"""The loaders of a script: which feed the training, and with how many workers."""

from __future__ import annotations

from traindx.evidence.detectors._script.loops import inner
from traindx.source.execution import Event
from traindx.source.training import Training
from traindx.source.values import Made, number, options


def loaders(training: Training) -> list[Event]:
    """Every DataLoader the script makes, whose options are all known."""
    made = (e for e in training.trace.events if e.value.kind == "call" and e.value.short == "DataLoader")
    return [event for event in made if not event.value.open]


def training_loaders(training: Training) -> list[Made]:
    """The loaders that the loops with backward passes run over."""
    found: dict[int, Made] = {}
    for iteration in training.iterations:
        for loop in iteration.step.event.loops:
            for one in options(inner(loop.over)):
                if (
                    isinstance(one, Made)
                    and one.kind == "call"
                    and one.short == "DataLoader"
                    and not one.open
                ):
                    found.setdefault(id(one), one)
    return list(found.values())


def workers(loader: Made) -> float | None:
    """How many worker processes a loader has; None when it is not known."""
    given = loader.argument(5, "num_workers")
    return 0.0 if given is None else number(given)
