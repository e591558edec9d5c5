"""The running statistics of batch normalisation are still those it starts with.

A mean of 0 and a variance of 1 throughout, or a count of 0 batches, in a model whose other weights have
moved: the layers never saw a training batch in training mode, or their statistics were not restored. In
evaluation the model then normalises by numbers that have nothing to do with its data. Silent about layers
that keep no running statistics, and about checkpoints in which everything is as initialised.
"""

from traindx.evidence.detector import Detected, Detector, Finding, Place, Run, Runs, Skipped
from traindx.evidence.detectors._weights import matrices_of, rows_of, sketch
from traindx.testing.sketch import run as sketched

DETECTOR = Detector(
    title="Running statistics never updated", needs=("fact:weights",), family="norm_statistics"
)


def detect(run: Run, *, min_layers: int = 1) -> Detected:
    rows = {row["name"]: row for row in rows_of(run)}
    means = [row for row in rows.values() if row["kind"] == "norm_mean" and row["size"] > 1]
    if len(means) < min_layers:
        return Skipped("running statistics of batch normalisation")
    variances = {row["layer"]: row for row in rows.values() if row["kind"] == "norm_variance"}
    unused = [
        row
        for row in means
        if row["zero_share"] >= 1
        and (other := variances.get(row["layer"]))
        and other["min"] == other["max"] == 1
    ]
    compared = [row for row in matrices_of(run) if row.get("testable")]
    untrained = bool(compared) and all(row["initial"] for row in compared)
    if not unused or untrained:
        return None
    return Finding(
        text=f"The running mean and variance of {len(unused)} of {len(means)} batch normalisations are still "
        f"0 and 1, as at the start: {', '.join(row['layer'] for row in unused[:3])}.",
        symptom="silent_defect",
        severity="high",
        numbers={"layers": len(unused), "layers_all": len(means)},
        places=tuple(Place(layer=row["layer"]) for row in unused[:3]),
    )


def _norm(mean_zeros: float) -> dict[str, dict[str, object]]:
    return {
        "bn.running_mean": {"kind": "norm_mean", "size": 64, "zero_share": mean_zeros},
        "bn.running_var": {"kind": "norm_variance", "size": 64, "min": 1.0, "max": 1.0},
    }


def fires() -> Runs:
    yield sketched({}, facts=sketch({"a.weight": {}, **_norm(1.0)}))


def silent() -> Runs:
    yield sketched({}, facts=sketch({"a.weight": {}, **_norm(0.0)}))
    yield sketched({}, facts=sketch({"a.weight": {"testable": True, "initial": "uniform, He"}, **_norm(1.0)}))
