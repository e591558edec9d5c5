"""The moments of an optimizer in a checkpoint are NaN, Inf or negative where they are squares.

One such moment makes the next step NaN for its parameter, and from there for the whole model: the training
cannot be resumed from this file. Silent about a checkpoint without an optimizer's state.
"""

from traindx.evidence.detector import Detected, Detector, Finding, Run, Runs
from traindx.evidence.detectors._weights import moment_rows, sketch
from traindx.testing.sketch import run as sketched

DETECTOR = Detector(title="Optimizer moments broken", needs=("fact:optimizer_state",), family="nonfinite")


def detect(run: Run, *, min_values: int = 1) -> Detected:
    rows = moment_rows(run)
    broken = [row for row in rows if row["nonfinite"] >= min_values]
    negative = [row for row in rows if "sq" in row["name"].partition("/")[0] and (row["min"] or 0) < 0]
    if not broken and not negative:
        return None
    worst = (broken or negative)[0]
    what = "NaN or Inf" if broken else "negative squares"
    return Finding(
        text=f"{len(broken or negative)} of {len(rows)} tensors of the optimizer's state hold {what}, first "
        f"{worst['name']}: the next step makes weights NaN.",
        symptom="nonfinite",
        severity="critical",
        numbers={"tensors": len(broken or negative), "tensors_all": len(rows)},
    )


def _state(**row: object) -> list[dict[str, object]]:
    healthy = {"name": "exp_avg_sq/0", "size": 64, "nonfinite": 0, "min": 0.0, "max": 1e-4, "zero_share": 0.0}
    return [{"groups": [{"lr": 1e-3}], "steps": [100, 100], "parameters": 1, "rows": [{**healthy, **row}]}]


def fires() -> Runs:
    yield sketched({}, facts=sketch({"a.weight": {}}, optimizer_state=_state(nonfinite=2)))
    yield sketched({}, facts=sketch({"a.weight": {}}, optimizer_state=_state(min=-1.0)))


def silent() -> Runs:
    yield sketched({}, facts=sketch({"a.weight": {}}, optimizer_state=_state()))
    yield sketched({}, facts=sketch({"a.weight": {}}, optimizer_state=_state(zero_share=0.5)))
