"""Weight decay goes into Adam as an L2 term, where it is divided by the gradients' size like all else.

A circumstance: weights with large gradients are hardly decayed. `AdamW` decouples the two. Read from the
optimizers of a recording, else from the script, else from the configuration. Counts from a weight decay of
{min_weight_decay} on. Silent for AdamW, Adam with `decoupled_weight_decay`, and other optimizers. Known
mistakes: none; it is rarely what is wrong.
"""

from collections.abc import Iterator

from traindx.evidence.detector import (
    Case,
    Detected,
    Detector,
    Fact,
    Finding,
    Place,
    Run,
    Skipped,
    facts,
    number,
)
from traindx.evidence.detectors._number_text import text
from traindx.evidence.detectors._script import Script, Training, place, script
from traindx.source.roles import is_optimizer
from traindx.source.values import Const
from traindx.source.values import number as constant
from traindx.testing.sketch import run

DETECTOR = Detector(
    title="Adam with L2",
    needs=("fact:optimizers|script|setting:weight_decay",),
    family="weight_decay_form",
)
_ADAMS = ("Adam", "NAdam", "RAdam", "Adamax")


def detect(case: Case, training: Training | None = None, *, min_weight_decay: float = 1e-4) -> Detected:
    observers = [list(_recorded(case)), list(_written(training)) if training else [], list(_configured(case))]
    optimizers = next((seen for seen in observers if seen), None)
    if optimizers is None:
        return Skipped("the optimizer and its weight decay")
    for name, decay, places in optimizers:
        if name in _ADAMS and decay >= min_weight_decay:
            sentence = f"{name} adds weight decay {text(decay)} to the gradients; AdamW decouples it."
            return Finding(sentence, numbers={"weight_decay": decay}, places=places)
    return None


def _recorded(case: Case) -> Iterator[tuple[str, float, tuple[Place, ...]]]:
    for optimizer in case.inside.optimizers:
        decays = [_decay(group) for group in facts(optimizer.get("groups"))]
        yield str(optimizer.get("class")), max(decays, default=0.0), ()


def _decay(group: Fact) -> float:
    return 0.0 if group.get("decoupled_weight_decay") is True else number(group, "weight_decay") or 0.0


def _written(training: Training) -> Iterator[tuple[str, float, tuple[Place, ...]]]:
    """The optimizers that a script builds; a decay that is not written as a number counts as none."""
    for event in training.trace.calls:
        if not is_optimizer(event.value):
            continue
        decoupled = event.value.keywords.get("decoupled_weight_decay")
        plain = decoupled is None or (isinstance(decoupled, Const) and decoupled.value is False)
        decay = constant(event.value.argument(4, "weight_decay")) if plain else None
        yield event.value.short, decay or 0.0, (place(event.spot),)


def _configured(case: Case) -> Iterator[tuple[str, float, tuple[Place, ...]]]:
    decay, optimizer = case.number("weight_decay"), case.word("optimizer").rpartition(".")[2]
    if decay is not None and optimizer:
        name = next((name for name in _ADAMS if name.lower() == optimizer), optimizer)
        yield name, decay, ()


def fires() -> Iterator[Run | Script]:
    yield run({}, facts={"optimizers": [{"class": "Adam", "groups": [{"lr": 1e-3, "weight_decay": 0.01}]}]})
    yield run({}, settings={"optimizer": "torch.optim.Adam", "weight_decay": 0.01})
    yield script(optimizer="torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=0.01)")


def silent() -> Iterator[Run | Script]:
    yield run({}, facts={"optimizers": [{"class": "AdamW", "groups": [{"lr": 1e-3, "weight_decay": 0.01}]}]})
    yield run({}, facts={"optimizers": [{"class": "Adam", "groups": [{"lr": 1e-3, "weight_decay": 0}]}]})
    yield run({}, settings={"optimizer": "adamw", "weight_decay": 0.01})
    yield script(optimizer="torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)")
    yield script()
