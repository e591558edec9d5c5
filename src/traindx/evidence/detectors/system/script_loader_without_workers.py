"""The loader that the training waits for works in the training's own process.

Found when the recording shows that steps wait for data, and the loader of the training loop has
`num_workers=0`, its default: batches are prepared while nothing is trained.

A sign: the wait itself is reported by `data_wait`. Silent without a recorded wait: small data need no
workers. Known mistake: a wait that is spent on moving data to the device.
"""

from collections.abc import Iterator

from traindx.core.units import detector
from traindx.evidence.detector import Case, Detector, Finding, Skipped
from traindx.evidence.detectors._script import (
    Edit,
    Places,
    Training,
    code,
    place,
    replaced,
    script,
    segment,
    where,
)
from traindx.evidence.detectors._script.loops import inner
from traindx.evidence.inputs import first_answer
from traindx.source.values import Made, number, options
from traindx.testing.sketch import noisy, run

DETECTOR = Detector(title="no workers", needs=("data_wait_s", "step_s"), family="loader_workers")


def detect(case: Case, training: Training) -> Places:
    waits = first_answer(detector("data_wait"), case)
    if isinstance(waits, Skipped):
        return waits
    loaders = _training_loaders(training)
    if not loaders:
        return Skipped("a loader that feeds the training loop")
    if waits is None or waits.severity == "low":
        return []
    return [_finding(loader) for loader in loaders if _workers(loader) == 0 and loader.spot is not None]


def _training_loaders(training: Training) -> list[Made]:
    """The loaders that the loops with backward passes run over, if all their options are known."""
    loops = [loop for iteration in training.iterations for loop in iteration.step.event.loops]
    values = [value for loop in loops for value in options(inner(loop.over))]
    calls = [value for value in values if isinstance(value, Made) and value.kind == "call"]
    return list({id(call): call for call in calls if call.short == "DataLoader" and not call.open}.values())


def _workers(loader: Made) -> float | None:
    workers = loader.argument(5, "num_workers")
    return 0.0 if workers is None else number(workers)


def _finding(loader: Made) -> Finding:
    assert loader.spot is not None
    text = (
        f"{where(loader.spot)}: {code(loader.spot)} has 0 workers: its batches are prepared while nothing is "
        "trained, and the steps wait for them."
    )
    return Finding(text, severity="low", places=(place(loader.spot),), edits=_edit(loader))


def _edit(loader: Made) -> tuple[Edit, ...]:
    written = segment(loader.spot)
    if "num_workers" in loader.keywords or not written.endswith(")") or len(loader.args) > 5:
        return ()
    assert loader.spot is not None
    return replaced(loader.spot, f"{written[:-1]}, num_workers=4)", "ask")


def _case(loader: str, wait: float) -> Case:
    recorded = run({"data_wait_s": noisy([wait] * 60, 0.1), "step_s": noisy([0.6] * 60, 0.05)})
    return Case(recorded, script(setup=f"loader = {loader}"))


def fires() -> Iterator[Case]:
    yield _case("DataLoader(data, 32, shuffle=True)", 0.4)
    yield _case("DataLoader(data, 32, num_workers=0)", 0.4)


def silent() -> Iterator[Case]:
    yield _case("DataLoader(data, 32, shuffle=True)", 0.001)
    yield _case("DataLoader(data, 32, num_workers=4)", 0.4)
    yield _case("make_loader()", 0.4)
