"""A setting of the optimizer that is written in the script is far outside what makes sense.

Seen for a learning rate of 0.3 or more with Adam and its kin, of 3 or more with SGD (50 where gradients
are clipped), of 1e-7 or less with either; momentum of 1 or more, or negative; weight decay of 0.1 or more
with SGD and L2 Adam, of 2 or more with AdamW; dropout of 0.9 or more.

What else a script needs to work with such a number the source does not show: a sign. Silent when the
number is not known. Known mistake: a rate that a schedule or a scaled loss makes right.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.case import Case
from traindx.core import Finding, Skipped
from traindx.detectors.script._samples import script
from traindx.detectors.script._words import Looked, first, training_of, where
from traindx.script import Script
from traindx.script.anchors_of_loop import optimizers, origin
from traindx.script.mending import place
from traindx.script.values import Made, Spot, Value, number, options
from traindx.units import Detector

DETECTOR = Detector(title="extreme setting", needs=("script",), family="script_setting")


def detect(case: Case) -> Finding | Skipped | None:
    return first(case, __name__, look(case))


def look(case: Case) -> Looked:
    """Every place where it is seen."""
    training = training_of(case)
    if training is None:
        return Skipped("a script that can be followed")
    made = [one for one in optimizers(training) if one.kind == "call"]
    drops = [e.value for e in training.trace.events if e.value.name.startswith("torch.nn.Dropout")]
    if not made and not drops:
        return Skipped("an optimizer that the script makes")
    clipped = any(e.value.short.startswith("clip_grad") for e in training.trace.events)
    found: dict[int, Finding] = {}
    for one in made:
        for name, value, low, high in _limits(one, clipped=clipped):
            for way in options(value):
                told, spot = number(way), origin(way)
                if told is not None and spot is not None and not low < told < high:
                    found.setdefault(id(spot.node), _finding(spot, name, told, low, high))
    for drop in drops:
        share, spot = number(drop.argument(0, "p")), origin(drop.argument(0, "p"))
        if share is not None and spot is not None and share >= 0.9:
            found.setdefault(id(spot.node), _finding(spot, "dropout", share, -1.0, 0.9))
    return [*found.values()]


def _limits(made: Made, *, clipped: bool) -> list[tuple[str, Value | None, float, float]]:
    """Settings with the ends of what is believable, exclusive."""
    name = made.short.lower()
    plain = "sgd" in name
    if not plain and "adam" not in name and "rmsprop" not in name:
        return []
    highest = 0.3 if not plain else 50.0 if clipped else 3.0
    decay = 2.0 if name == "adamw" else 0.1
    limits: list[tuple[str, Value | None, float, float]] = [
        ("lr", made.argument(1, "lr", "learning_rate"), 1e-7, highest),
        ("weight_decay", made.argument(-1, "weight_decay"), -1e-12, decay),
    ]
    if plain:
        limits.append(("momentum", made.argument(2, "momentum"), -1e-12, 1.0))
    return limits


def _finding(spot: Spot, name: str, told: float, low: float, high: float) -> Finding:
    side = f"{high:g} or more" if told >= high else f"{max(low, 0):g} or less"
    text = f"{where(spot)}: {name} is {told:g}; {side} seldom works."
    return Finding(text, severity="low", places=(place(spot),), numbers={name: told})


def fires() -> Iterator[Script]:
    yield script(optimizer="torch.optim.Adam(model.parameters(), lr=1.0)")
    yield script(setup="RATE = 10", optimizer="torch.optim.SGD(model.parameters(), lr=RATE)")
    yield script(optimizer="torch.optim.SGD(model.parameters(), lr=0.1, momentum=1.2)")


def silent() -> Iterator[Script]:
    yield script()
    yield script(optimizer="torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9)")
    yield script(optimizer="torch.optim.AdamW(model.parameters(), lr=find_rate(), weight_decay=0.3)")
