"""The scheduler counts epochs and is stepped per batch, or the other way round.

Seen when a schedule whose length is the number of epochs (T_max, milestones or step size within it), or
that decays by a tenth or more per step, is stepped inside the loop over batches; and when one whose
length is counted in batches (a product with `len(loader)`, OneCycleLR) is stepped once per epoch.

Silent when the script has one loop only, and when lengths are not plain. Known mistake: an epoch of very
few batches with a schedule tuned to it.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.case import Case
from traindx.core import Finding, Skipped
from traindx.detectors.script._samples import script
from traindx.detectors.script._words import NO_LOOP, Looked, code, first, training_of, where
from traindx.script import Script
from traindx.script.mending import place
from traindx.script.trace import Event, Loop
from traindx.script.training import Training
from traindx.script.values import Items, Made, Value, number, options, parents
from traindx.units import Detector

DETECTOR = Detector(title="scheduler at the wrong pace", needs=("script",), family="script_schedule")
_COSINE = "scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max={})"
_BODY = (
    "optimizer.zero_grad()\nloss = criterion(model(x), y)\nloss.backward()\noptimizer.step()\n"
    "scheduler.step()"
)


def detect(case: Case) -> Finding | Skipped | None:
    return first(case, __name__, look(case))


def look(case: Case) -> Looked:
    """Every place where it is seen."""
    training = training_of(case)
    if training is None or not training.iterations:
        return NO_LOOP
    nested = [one for one in training.iterations if len(one.step.event.loops) > 1]
    if not nested or not training.scheduler_steps:
        return Skipped("a scheduler stepped in a loop over epochs and batches")
    found: dict[int, Finding] = {}
    for event in training.scheduler_steps:
        for made in options(event.value.receiver):
            iteration = next((one for one in nested if set(one.step.event.loops) & set(event.loops)), None)
            if isinstance(made, Made) and made.kind == "call" and iteration is not None and not event.arms:
                why = _wrong(training, made, event, iteration.loop, iteration.step.event.loops)
                if why:
                    found.setdefault(id(event.spot.node), _finding(event, made, why))
    return [*found.values()]


def _wrong(training: Training, made: Made, event: Event, batches: Loop, loops: tuple[Loop, ...]) -> str:
    """What is wrong with where a schedule is stepped; empty when nothing is sure."""
    del training
    per_batch = batches in event.loops
    epochs = _turns(loops[loops.index(batches) - 1]) if batches in loops[1:] else None
    if per_batch:
        return _meant_for_epochs(made, epochs)
    if _counts_batches(made):
        return "its length is counted in batches, and it is stepped once per epoch: it hardly moves"
    return ""


def _turns(loop: Loop) -> float | None:
    """How often a loop over a range runs."""
    over = loop.over
    if not isinstance(over, Made) or over.name not in ("range", "trange") or not over.args:
        return None
    return number(over.args[-1] if len(over.args) < 3 else over.args[1])


def _meant_for_epochs(made: Made, epochs: float | None) -> str:
    length = number(_length(made))
    if made.short == "ExponentialLR":
        gamma = number(made.argument(1, "gamma"))
        if gamma is not None and gamma <= 0.97:
            return f"it multiplies the rate by {gamma:g} at every batch"
        return ""
    if epochs is None or length is None or epochs < 2:
        return ""
    if made.short in ("CosineAnnealingLR", "PolynomialLR", "LinearLR") and length == epochs:
        return f"its length of {length:g} is the number of epochs, and it is stepped per batch"
    if made.short in ("StepLR", "MultiStepLR") and length < epochs:
        return f"its {length:g} steps lie within the {epochs:g} epochs, and it is stepped per batch"
    return ""


def _length(made: Made) -> Value | None:
    """How long a schedule is, in its own steps."""
    place_of = {
        "CosineAnnealingLR": "T_max",
        "StepLR": "step_size",
        "MultiStepLR": "milestones",
        "PolynomialLR": "total_iters",
        "LinearLR": "total_iters",
    }
    value = made.argument(1, place_of.get(made.short, "total_steps"))
    if isinstance(value, Items) and value.items and not value.open:
        return value.items[-1]
    return value


def _counts_batches(made: Made) -> bool:
    """Whether the length of a schedule is a product with the number of batches."""
    if made.short == "OneCycleLR" and "steps_per_epoch" in made.keywords:
        per_epoch = made.keywords["steps_per_epoch"]
        return number(per_epoch) != 1
    names = ("total_steps", "T_max", "num_training_steps", "total_iters")
    values = [made.keywords[name] for name in names if name in made.keywords]
    if made.short == "CosineAnnealingLR" and len(made.args) > 1:
        values.append(made.args[1])
    return any(_has_length(value) for value in values)


def _has_length(value: Value, depth: int = 4) -> bool:
    """Whether a product holds `len(loader)`."""
    if isinstance(value, Made) and value.kind == "call" and value.name == "len":
        inner = value.args[0] if value.args else None
        return isinstance(inner, Made) and inner.short == "DataLoader"
    product = isinstance(value, Made) and value.kind == "operator" and value.name == "Mult"
    return product and depth > 0 and any(_has_length(one, depth - 1) for one in parents(value))


def _finding(event: Event, made: Made, why: str) -> Finding:
    at = f" of line {made.spot.line}" if made.spot is not None else ""
    text = f"{where(event.spot)}: {code(event.spot)} steps the {made.short}{at}: {why}."
    places = [place(event.spot)] + ([place(made.spot)] if made.spot is not None else [])
    return Finding(text, "silent_defect", "medium", places=tuple(places))


def fires() -> Iterator[Script]:
    yield script(after=_COSINE.format("5"), body=_BODY)
    yield script(after="scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)", body=_BODY)
    yield script(after="scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2)", body=_BODY)
    yield script(
        after="loader = DataLoader(data)\n" + _COSINE.format("5 * len(loader)"), end="scheduler.step()"
    )


def silent() -> Iterator[Script]:
    yield script(after=_COSINE.format("5"), end="scheduler.step()")
    yield script(after="loader = DataLoader(data)\n" + _COSINE.format("5 * len(loader)"), body=_BODY)
    yield script(after="scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1000)", body=_BODY)
    yield script(
        after="scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.999)", body=_BODY
    )
    yield script(
        after=_COSINE.format("5"), body=_BODY.replace("scheduler.step()", "if i == 0: scheduler.step()")
    )
