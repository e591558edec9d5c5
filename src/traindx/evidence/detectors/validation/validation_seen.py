"""Samples of the validation data were among those trained on.

Samples are known again by a print of their values. Seen when known ones turn up in at least half of the
validation batches looked at, as many as the part of the training data that was looked at lets expect.

Silent where training samples repeat among themselves (few possible inputs, windows of a text; a few in a
thousand are enough to doubt all but a majority of known ones), for inputs of under {min_features} features,
and where some validation batches hold only known samples and others none: then the training data are
evaluated as well. So it is where the loss picks some of the model's answers by a mask or an index: the nodes
of a graph are all given at every step. An evaluation that the script does not call validation or test is a
sign only. Known mistakes: the training data called validation on purpose.
"""

from typing import Any

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped, number
from traindx.evidence.detectors._number_text import count, percent
from traindx.evidence.sampled import ends, odd_objective, part
from traindx.testing.sketch import run

DETECTOR = Detector(title="Validation data seen in training", needs=("fact:samples",), family="leak")

_PICKS = frozenset({"Index", "IndexSelect", "MaskedSelect"})


def detect(
    case: Case,
    *,
    known_share: float = 0.02,
    min_known: int = 6,
    batch_share: float = 0.75,
    min_features: int = 4,
    max_duplicates_share: float = 0.02,
    max_duplicates_if_few: float = 0.002,
) -> Detected:
    samples = case.inside.fact("samples")
    held_out = part(samples, "validation")
    taken, known = number(held_out, "taken"), number(held_out, "known")
    seen, trained = number(held_out, "batches"), number(samples, "taken")
    if not taken or known is None or not seen or not trained or odd_objective(case):
        return Skipped("inputs of training and of validation")
    if any(_PICKS.intersection(ends(loss)[:2]) for loss in case.inside.losses):
        return Skipped("samples that are all trained on: the loss picks some of the answers")
    alike = (number(samples, "twice_in_a_batch") or 0.0) / trained
    if (number(samples, "features") or 0) < min_features or alike > (
        max_duplicates_share if known > 0.5 * taken else max_duplicates_if_few
    ):
        return Skipped()
    distinct = number(held_out, "distinct") or taken
    repeats = taken / max(1.0, distinct)
    if known / repeats < min_known or known < known_share * taken:
        return None
    if (number(held_out, "batches_with_known") or 0) < batch_share * seen:
        return None
    named = _named(case)
    return Finding(
        f"{percent(known / taken)} of the checked validation samples were among the {count(trained)} "
        "training samples checked.",
        symptom="silent_defect" if named else None,
        severity="high" if named else "low",
        strength=1.0 if named else 0.3,
        numbers={"known": known, "share": known / taken},
    )


def _named(case: Case) -> bool:
    """Whether the script itself tells of validation: what was only observed may be the training data."""
    series = case.run.series
    return any(
        name.startswith("observed/") or (name.startswith(("val/", "test/")) and one.source != name)
        for name, one in series.items()
    )


def _facts(known: int, with_known: int, **other: int) -> dict[str, Any]:
    held_out = {
        "batches": 10,
        "batches_with_known": with_known,
        "taken": 640,
        "distinct": 300,
        "known": known,
    }
    samples = {"taken": 900, "distinct": 700, "twice_in_a_batch": 0, "came_again": 200, "features": 20}
    return {"samples": {**samples, "validation": held_out, **other}}


def fires() -> Runs:
    yield run({"observed/val/loss": [1.0, 0.5]}, facts=_facts(500, 10))
    yield run({}, facts=_facts(120, 10))


def silent() -> Runs:
    yield run({}, facts=_facts(0, 0))
    yield run({}, facts=_facts(400, 5))
    yield run({}, facts=_facts(400, 10, twice_in_a_batch=300))
    yield run({"observed/val/loss": [1.0, 0.5]}, facts=_facts(85, 10, twice_in_a_batch=13))
    yield run({}, facts=_facts(400, 10, features=2))
    picked = [{"function": "nll_loss", "after_layers": ["Index", "LogSoftmax", "Mm"]}]
    yield run({"observed/val/loss": [1.0, 0.5]}, facts={**_facts(640, 10), "losses": picked})
