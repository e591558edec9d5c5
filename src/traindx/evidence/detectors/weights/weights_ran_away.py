"""Weights grew many times over between two checkpoints.

Compares the norms of the weight matrices of the first and the last checkpoint. Seen when the typical layer,
or any layer that did not start next to zero, has grown {growth_factor} times: trainings that go well rarely
grow beyond three times. Silent about matrices whose first norm is below {min_norm}.
"""

import numpy as np

from traindx.evidence.detector import Detected, Detector, Finding, Place, Run, Runs, Skipped, facts, number
from traindx.evidence.detectors._number_text import strength, times
from traindx.evidence.detectors._weights import sketch
from traindx.testing.sketch import run as sketched

DETECTOR = Detector(title="Weights ran away", needs=("fact:moved",), family="weight_size")


def detect(run: Run, *, growth_factor: float = 10.0, min_norm: float = 0.05) -> Detected:
    growth = {
        str(row["name"]): after / before
        for row in facts(run.facts.get("moved"))
        if row.get("matrix")
        and (before := number(row, "norm_before")) is not None
        and (after := number(row, "norm_after")) is not None
        and before >= min_norm
    }
    if not growth:
        return Skipped("two checkpoints with weight matrices in common")
    worst = max(growth, key=lambda name: growth[name])
    if growth[worst] < growth_factor:
        return None
    return Finding(
        text=f"The weights of {worst} grew {times(growth[worst])} between the first and the last checkpoint; "
        f"the typical one of {len(growth)} matrices grew {times(float(np.median(list(growth.values()))))}.",
        symptom="divergence",
        severity="high",
        strength=strength(growth[worst], growth_factor, 10 * growth_factor),
        numbers={"weight_growth": growth[worst]},
        places=(Place(layer=worst.rpartition(".")[0]),),
    )


def _moved(after: float, before: float = 1.0) -> list[dict[str, object]]:
    return [{"name": "0.weight", "matrix": True, "norm_before": before, "norm_after": after, "equal": False}]


def fires() -> Runs:
    yield sketched({}, facts=sketch({"0.weight": {}}, moved=_moved(50.0)))


def silent() -> Runs:
    yield sketched({}, facts=sketch({"0.weight": {}}, moved=_moved(3.0)))
    yield sketched({}, facts=sketch({"0.weight": {}}, moved=_moved(1.0, 1e-3)))
