"""The loader that the training waits for works in the training's own process.

Seen when the recording shows that steps wait for data, and the loader of the training loop has
`num_workers=0`, its default: data are made while nothing is trained.

A sign: the wait itself is told by `data_wait`. Silent without a recorded wait: small data need no workers.
Known mistake: a wait that is spent on moving data to the device.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.core.nouns import Edit, Finding, Run, Skipped
from traindx.core.units import Detector
from traindx.evidence.case import Case
from traindx.evidence.detectors._script.loaders import training_loaders, workers
from traindx.evidence.detectors._script.samples import script
from traindx.evidence.detectors._script.words import NO_LOOP, Looked, code, first, training_of, where
from traindx.evidence.detectors.system import data_wait
from traindx.source.edit_pieces import place, replaced, segment
from traindx.source.values import Made

DETECTOR = Detector(title="no workers", needs=("script", "data_wait_s", "step_s"), family="loader_workers")


def detect(case: Case) -> Finding | Skipped | None:
    return first(case, __name__, look(case))


def look(case: Case) -> Looked:
    """Every place where it is seen."""
    training = training_of(case)
    if training is None:
        return NO_LOOP
    waits = data_wait.detect(case)
    if isinstance(waits, Skipped):
        return waits
    feeding = training_loaders(training)
    if not feeding:
        return Skipped("a loader that feeds the training loop")
    if waits is None or waits.severity == "low":
        return []
    alone = [one for one in feeding if workers(one) == 0]
    return [_finding(one) for one in alone if one.spot is not None]


def _finding(loader: Made) -> Finding:
    assert loader.spot is not None
    text = (
        f"{where(loader.spot)}: {code(loader.spot)} has 0 workers: its data are made while nothing is "
        "trained, and the steps wait for them."
    )
    return Finding(text, severity="low", places=(place(loader.spot),), edits=_edit(loader))


def _edit(loader: Made) -> tuple[Edit, ...]:
    written = segment(loader.spot)
    if (
        loader.spot is None
        or "num_workers" in loader.keywords
        or not written.endswith(")")
        or len(loader.args) > 5
    ):
        return ()
    return replaced(loader.spot, f"{written[:-1]}, num_workers=4)", "ask")


def _case(loader: str, wait: float) -> Case:
    from traindx.testing.sketch import noisy, run

    recorded: Run = run({"data_wait_s": noisy([wait] * 60, 0.1), "step_s": noisy([0.6] * 60, 0.05)})
    return Case(recorded, script(setup=f"loader = {loader}"))


def fires() -> Iterator[Case]:
    yield _case("DataLoader(data, 32, shuffle=True)", 0.4)
    yield _case("DataLoader(data, 32, num_workers=0)", 0.4)


def silent() -> Iterator[Case]:
    yield _case("DataLoader(data, 32, shuffle=True)", 0.001)
    yield _case("DataLoader(data, 32, num_workers=4)", 0.4)
    yield _case("make_loader()", 0.4)
