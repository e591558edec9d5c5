"""The loaders of a script, and how many workers they have."""

from __future__ import annotations

from traindx.source.execution import Event
from traindx.source.training import Training
from traindx.source.values import Made, number


def loaders(training: Training) -> list[Event]:
    """Every DataLoader the script makes, whose options are all known."""
    made = (e for e in training.trace.events if e.value.kind == "call" and e.value.short == "DataLoader")
    return [event for event in made if not event.value.open]


def workers(loader: Made) -> float | None:
    """How many worker processes a loader has; None when it is not known."""
    given = loader.argument(5, "num_workers")
    return 0.0 if given is None else number(given)
