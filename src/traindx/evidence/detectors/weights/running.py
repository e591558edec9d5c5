"""Running statistics of normalisations against the weights in front of them."""

from math import sqrt
from typing import Any

from traindx.evidence.detector import Cases, Detected, Detector, Finding, Place, Run, Skipped
from traindx.evidence.detectors._number_text import text
from traindx.evidence.detectors._weights import checkpoint, matrices_of, rows_of


@Detector("Running variance out of proportion", needs=("fact:weights",), family="norm_statistics")
def norm_statistics_far(run: Run, *, max_input: float = 1e5, max_inside: float = 1e3) -> Detected:
    """The running variance of a normalisation is far too large for the weights in front of it.

    A layer whose weights have gain g makes a variance of (g times the size of its inputs) squared, so that
    the root of the running variance over the gain is the size of the inputs the statistics have seen. Seen
    when that is {max_input} and more (images of 16 bits end at 65,535), or {max_inside} and more for a layer
    whose inputs come from another normalisation. One batch of absurd values leaves this for good, or inputs
    that nobody scaled: in evaluation, where the statistics count, all usual inputs then look alike.

    Silent about normalisations without a layer in front (those are there to scale raw inputs) and about
    statistics that are Inf or NaN, which is another finding.
    """
    rows = rows_of(run)
    sizes = {
        row["name"]: _inputs(run, rows, at) for at, row in enumerate(rows) if row["kind"] == "norm_variance"
    }
    known = {name: size for name, size in sizes.items() if size is not None}
    if not known:
        return Skipped("running variances with a weight matrix in front")
    far = {
        name: size for name, (size, inner) in known.items() if size >= (max_inside if inner else max_input)
    }
    if not far:
        return None
    worst = max(far, key=lambda name: far[name])
    row = next(row for row in rows if row["name"] == worst)
    return Finding(
        text=f"The running variance of {row['layer']} is {text(row['mean'])} on average: with the weights in "
        f"front of it, that takes inputs of {text(far[worst])} ({len(far)} of {len(known)} normalisations "
        "are so). A batch of absurd values went in, or inputs that were never scaled; in evaluation usual "
        "inputs vanish in it.",
        symptom="silent_defect",
        severity="high",
        numbers={"inputs": far[worst], "layers": len(far), "layers_all": len(known)},
        places=(Place(layer=row["layer"]),),
    )


def _inputs(run: Run, rows: list[dict[str, Any]], at: int) -> tuple[float, bool] | None:
    """The size of the inputs that a running variance tells of, and whether a normalisation made them."""
    row = rows[at]
    matrices = {matrix["name"]: matrix for matrix in matrices_of(run, embeddings=False)}
    before = [matrices[other["name"]] for other in rows[:at] if other["name"] in matrices]
    front = next((matrix for matrix in reversed(before) if matrix["rows"] == row["size"]), None)
    if front is None or front["gain"] <= 0 or row["nonfinite"] or not row["mean"] or row["mean"] < 0:
        return None
    start = [other["name"] for other in rows].index(front["name"])
    earlier = {other["size"] for other in rows[:start] if other["kind"] == "norm_variance"}
    channels = front["shape"][1] if len(front["shape"]) > 1 else 0
    return sqrt(row["mean"]) / front["gain"], channels in earlier


def _conv(variance: float, inner: bool = False) -> Run:
    first: dict[str, dict[str, object]] = {
        "0.weight": {},
        "1.running_var": {"kind": "norm_variance", "size": 64, "mean": 1.0 if inner else variance},
    }
    second: dict[str, dict[str, object]] = {
        "2.weight": {},
        "3.running_var": {"kind": "norm_variance", "size": 64, "mean": variance if inner else 0.2},
    }
    return checkpoint({**first, **second})


def cases() -> Cases:
    yield from norm_statistics_far.fires(_conv(1e10), _conv(1e7, inner=True))
    yield from norm_statistics_far.silent(_conv(0.3), _conv(1e4), _conv(300.0, inner=True))
    raw: dict[str, object] = {"kind": "norm_variance", "size": 30, "mean": 1e12}
    yield from norm_statistics_far.silent(checkpoint({"bn.running_var": raw, "a.weight": {}}))
