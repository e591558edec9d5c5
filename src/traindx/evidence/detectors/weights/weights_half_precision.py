"""A training's checkpoint holds its weights in half precision, without a copy in full.

Updates below about a thousandth (float16) or a hundredth (bfloat16) of a weight are lost when they are
added to it. Seen when {half_share:%} of the weights of a checkpoint with an optimizer's state are of 16
bits or less. A sign only: large batches and rates may make up for it. Silent about weights alone, which are
often saved so.
"""

from traindx.evidence.detector import Detected, Detector, Finding, Run, Runs, Skipped
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.detectors._weights import matrices_of, sketch
from traindx.testing.sketch import run as sketched

DETECTOR = Detector(
    title="Weights in half precision", needs=("fact:weights", "fact:optimizer_state"), family="precision"
)


def detect(run: Run, *, half_share: float = 0.9) -> Detected:
    rows = matrices_of(run)
    total = sum(row["size"] for row in rows)
    if not total:
        return Skipped("a weight matrix")
    half = [
        row for row in rows if row["dtype"] in ("float16", "bfloat16") or row["dtype"].startswith("float8")
    ]
    share = sum(row["size"] for row in half) / total
    if share < half_share:
        return None
    return Finding(
        text=f"{percent(share)} of the weights are stored as {half[0]['dtype']} together with the "
        "optimizer's state: small updates are lost in them.",
        numbers={"half_share": share},
    )


_STATE = [{"groups": [{"lr": 1e-3}], "steps": [9, 9], "rows": [{"name": "exp_avg/0"}]}]


def fires() -> Runs:
    yield sketched({}, facts=sketch({"a.weight": {"dtype": "bfloat16"}}, optimizer_state=_STATE))


def silent() -> Runs:
    yield sketched({}, facts=sketch({"a.weight": {}}, optimizer_state=_STATE))
    yield sketched({}, facts=sketch({"a.weight": {"dtype": "bfloat16"}}))
