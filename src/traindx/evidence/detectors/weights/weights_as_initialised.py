"""Layers are distributed exactly as initialisation leaves them, while others have moved.

A uniform initialisation ends at its bound: after training some weights are outside of it. A normal one has
a known spread, which training changes. The test asks that all values of a layer fit the initialisation of
its kind (PyTorch's default, Glorot, He, spread 0.02) in bound, spread and shape, its bias too, and takes
layers of 100 values (uniform) or 40,000 (normal) and more. A normalisation counts when all its scales are 1
and all its shifts 0.

Seen when layers that fit are next to layers that do not; where all of them fit, nothing was trained or
loaded. Known mistakes: layers frozen at random on purpose; a training of very few steps at a tiny learning
rate.
"""

from typing import Any

from traindx.evidence.detector import Detected, Detector, Finding, Place, Run, Runs, Skipped
from traindx.evidence.detectors._weights import matrices_of, rows_of, sketch
from traindx.testing.sketch import run as sketched

DETECTOR = Detector(title="Weights as initialised", needs=("fact:weights",), family="untrained")


def detect(run: Run, *, min_layers: int = 1) -> Detected:
    rows = [row for row in matrices_of(run, embeddings=False) if row.get("testable")]
    if len(rows) < min_layers:
        return Skipped("weight matrices that are large enough to compare with their initialisation")
    fit = [row for row in rows if row["initial"]]
    if not fit:
        return None
    moved = len(rows) - len(fit) or _norms_moved(rows_of(run))
    if not moved and _at_step_zero(run):
        return None
    names = ", ".join(row["name"] for row in fit[:3])
    what = (
        f"{len(fit)} of {len(rows)} weight matrices are as initialisation leaves them ({fit[0]['initial']}): "
        f"{names}; the others have moved."
        if moved
        else f"All {len(rows)} weight matrices that can be compared are as initialisation leaves them "
        f"({fit[0]['initial']}): nothing was trained or loaded."
    )
    return Finding(
        text=what,
        symptom="silent_defect" if moved else "not_learning",
        severity="medium",
        numbers={"layers": len(fit), "layers_all": len(rows)},
        places=tuple(Place(layer=row["layer"]) for row in fit[:3]),
    )


def _norms_moved(rows: list[dict[str, Any]]) -> bool:
    """Whether a normalisation has other scales or shifts than it starts with."""
    scales = any(row["kind"] == "norm" and not row["min"] == row["max"] == 1 for row in rows)
    return scales or any(row["kind"] == "norm_bias" and row["zero_share"] < 1 for row in rows)


def _at_step_zero(run: Run) -> bool:
    """Whether the checkpoint says itself that it is of the start."""
    checkpoint = run.facts.get("checkpoint")
    counters = checkpoint.get("counters") if isinstance(checkpoint, dict) else None
    return isinstance(counters, dict) and bool(counters) and max(counters.values()) == 0


_FITS = {"testable": True, "initial": "uniform, Glorot"}


def fires() -> Runs:
    yield sketched({}, facts=sketch({"a.weight": _FITS, "b.weight": {"testable": True}}))
    yield sketched({}, facts=sketch({"a.weight": _FITS, "b.weight": _FITS}))


def silent() -> Runs:
    yield sketched({}, facts=sketch({"a.weight": {"testable": True}, "b.weight": {"testable": True}}))
    start = {"counters": {"step": 0}}
    yield sketched({}, facts=sketch({"a.weight": _FITS, "b.weight": _FITS}, checkpoint=start))
