"""No gradient reaches some parameters of a model.

Backward passes over a few batches gave {min_parameters} or more parameters no gradient at all: they are not
used, or are cut off from the loss by `detach()`, `no_grad()` or an operation without a gradient. Silent
about parameters that need no gradient (frozen ones).
"""

from traindx.evidence.detector import Detected, Detector, Finding, Place, Run, Runs, facts
from traindx.testing.sketch import run as sketched

DETECTOR = Detector(title="Parameters without gradient", needs=("fact:gradients",), family="untrained")


def detect(run: Run, *, min_parameters: int = 1) -> Detected:
    rows = facts(run.facts["gradients"])
    lost = [str(row["name"]) for row in rows if row.get("reached") is False]
    if len(lost) < min_parameters:
        return None
    return Finding(
        text=f"No gradient reaches {len(lost)} of {len(rows)} parameters: {', '.join(lost[:3])}.",
        symptom="silent_defect",
        severity="high",
        numbers={"parameters": len(lost), "parameters_all": len(rows)},
        places=tuple(Place(layer=name.rpartition(".")[0]) for name in lost[:3]),
    )


def _of(*reached: bool) -> Run:
    return sketched(
        {}, facts={"gradients": [{"name": f"{at}.weight", "reached": one} for at, one in enumerate(reached)]}
    )


def fires() -> Runs:
    yield _of(True, False)


def silent() -> Runs:
    yield _of(True, True)
    yield _of(True)
