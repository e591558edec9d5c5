"""Adam's second moments of some parameters are exactly zero after steps were taken.

The second moment is an average of squared gradients: exactly 0 after {min_steps} steps means that every
gradient of the parameter was 0. It is cut off from the loss, or its units are dead. Silent about moments
that are partly zero (rare words of an embedding) and about other optimizers.
"""

from traindx.evidence.detector import Detected, Detector, Finding, Run, Runs, Skipped
from traindx.evidence.detectors._weights import moment_rows, sketch
from traindx.testing.sketch import run as sketched

DETECTOR = Detector(title="Optimizer moments zero", needs=("fact:optimizer_state",), family="untrained")


def detect(run: Run, *, min_steps: int = 5) -> Detected:
    squares = [row for row in moment_rows(run) if row["name"].startswith("exp_avg_sq/") and row["size"] > 1]
    if not squares:
        return Skipped("second moments of Adam")
    if max((row["steps"] for row in squares), default=0) < min_steps:
        return None
    zero = [row for row in squares if row["zero_share"] >= 1]
    if not zero:
        return None
    names = ", ".join(row["name"].partition("/")[2] for row in zero[:5])
    return Finding(
        text=f"The gradients of {len(zero)} of {len(squares)} parameters were 0 in all "
        f"{zero[0]['steps']:,.0f} steps: Adam's second moments of parameters {names} are exactly 0.",
        symptom="silent_defect",
        severity="high",
        numbers={"parameters": len(zero), "parameters_all": len(squares)},
    )


def _state(steps: int, zeros: float) -> list[dict[str, object]]:
    rows = [
        {"name": f"exp_avg_sq/{at}", "size": 64, "nonfinite": 0, "min": 0.0, "zero_share": share}
        for at, share in enumerate((0.0, zeros))
    ]
    return [{"groups": [{"lr": 1e-3}], "steps": [steps, steps], "parameters": 2, "rows": rows}]


def fires() -> Runs:
    yield sketched({}, facts=sketch({"a.weight": {}}, optimizer_state=_state(100, 1.0)))


def silent() -> Runs:
    yield sketched({}, facts=sketch({"a.weight": {}}, optimizer_state=_state(100, 0.9)))
    yield sketched({}, facts=sketch({"a.weight": {}}, optimizer_state=_state(1, 1.0)))
