"""Weights were loaded that do not fit the model.

`load_state_dict(strict=False)` says nothing when names differ: the model keeps its random weights. Seen
when both sides have names that the other lacks (a prefix such as `module.` is the usual reason). High when
nothing fitted, medium when half or more is missing.

Silent when the file merely lacks a new head, or holds more than is wanted, and about what is loaded after
the training.
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Run, Runs, Skipped
from traindx.evidence.detectors._number_text import text
from traindx.evidence.inside import facts, number, words
from traindx.testing.sketch import decay, run

DETECTOR = Detector(title="Weights not restored", needs=("fact:optimizers",), family="restored_state")


def detect(case: Case, *, missing_share: float = 0.5) -> Detected:
    loads = facts(case.run.facts.get("restored"))
    if not loads:
        return Skipped()
    last = case.run.last_step or 0.0
    for load in loads:
        missing, wanted = number(load, "missing") or 0.0, number(load, "wanted") or 0.0
        strange, step = number(load, "unexpected") or 0.0, number(load, "step") or 0.0
        if not (missing and strange and wanted) or missing < missing_share * wanted or step >= last > 0:
            continue
        names = words(load, "missing_names"), words(load, "unexpected_names")
        example = f" ({names[1][0]} in the file, {names[0][0]} in the model)" if all(names) else ""
        return Finding(
            f"Of {text(wanted)} tensors that the model wants {text(missing)} were not in what was loaded, "
            f"which holds {text(strange)} others{example}: they keep their random values.",
            "silent_defect",
            "high" if missing >= wanted else "medium",
            case.span[0],
            numbers={"missing": text(missing)},
        )
    return None


def _run(missing: int, unexpected: int) -> Run:
    load = {"keys": 4, "missing": missing, "unexpected": unexpected, "wanted": 4, "step": 0}
    return run({"loss": decay(60, 2.0, 0.5)}, facts={"optimizers": [{}], "restored": [load]})


def fires() -> Runs:
    yield _run(4, 4)


def silent() -> Runs:
    yield _run(2, 0)
    yield _run(0, 3)
    yield _run(1, 1)
