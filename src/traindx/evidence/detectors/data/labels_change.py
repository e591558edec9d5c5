"""The same input comes with another label than before.

Samples are known again by a print of their values. Seen when a fifth of those that came again had another
class than the first time: inputs were shuffled without their labels, or labels are drawn anew.

Silent under {min_repeats} samples that came again, for inputs of under {min_features} features, where samples
repeat within a batch (few possible inputs), and for real-valued targets. Known mistakes: labels that are
random on purpose.
"""

from typing import Any

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped, number
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.sampled import odd_objective
from traindx.testing.sketch import run

DETECTOR = Detector(title="Labels change between passes", needs=("fact:samples",), family="label_sense")


def detect(
    case: Case,
    *,
    changed_share: float = 0.2,
    min_repeats: int = 20,
    min_features: int = 4,
    max_duplicates_share: float = 0.02,
) -> Detected:
    samples = case.inside.fact("samples")
    came, changed = number(samples, "came_again"), number(samples, "relabelled")
    if came is None or changed is None or came < min_repeats or odd_objective(case):
        return Skipped(f"at least {min_repeats} samples with a class that came again")
    if (number(samples, "features") or 0) < min_features:
        return Skipped()
    if (number(samples, "twice_in_a_batch") or 0) > max_duplicates_share * (number(samples, "taken") or 1):
        return Skipped()
    if changed < changed_share * came:
        return None
    sentence = (
        f"{percent(changed / came)} of the samples that came again had another label than the first time."
    )
    return Finding(sentence, "silent_defect", "high", numbers={"relabelled": changed, "came_again": came})


def _facts(**told: int) -> dict[str, Any]:
    return {"samples": {"taken": 2000, "twice_in_a_batch": 0, "features": 20, **told}}


def fires() -> Runs:
    yield run({}, facts=_facts(came_again=200, relabelled=160))


def silent() -> Runs:
    yield run({}, facts=_facts(came_again=900, relabelled=0))
    yield run({}, facts=_facts(came_again=8, relabelled=6))
    yield run({}, facts={"samples": {"taken": 100, "came_again": 90, "relabelled": 60, "features": 2}})
