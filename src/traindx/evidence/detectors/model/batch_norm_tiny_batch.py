"""Batch normalisation takes its statistics over a handful of samples.

Seen from a batch of {max_batch_size} down when the model holds `BatchNorm1d`, which normalises over the
samples alone; a defect from {defect_batch_size} down. In images the points of a picture count as well:
`BatchNorm2d` and larger are a sign only.

Silent for larger batches and for other normalisations.
Known mistakes: batch norm in eval mode throughout, which uses stored statistics.
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.sampled import part
from traindx.testing.sketch import run

DETECTOR = Detector(title="Batch norm over a tiny batch", needs=("fact:models",), family="batch_size")


def detect(case: Case, *, max_batch_size: int = 4, defect_batch_size: int = 2) -> Detected:
    kinds = [kind for model in case.inside.models for kind in part(model, "normalisation")]
    norms = sorted({kind for kind in kinds if "BatchNorm" in kind})
    batch = case.number("batch_size") or _batch(case)
    if not norms:
        return Skipped()
    if batch is None:
        return Skipped("the batch size")
    if batch > max_batch_size:
        return None
    bare = "BatchNorm1d" in norms
    defect = bare and batch <= defect_batch_size
    return Finding(
        f"{' and '.join(norms)} takes its mean and spread over batches of {batch:g}.",
        symptom="silent_defect" if defect else None,
        severity="medium" if defect else "low",
        strength=1.0 if defect else 0.7 if bare else 0.5,
        numbers={"batch_size": batch},
    )


def _batch(case: Case) -> float | None:
    """The batch as the loss saw it."""
    for loss in case.inside.losses:
        first = str(loss.get("output_shape", "")).split("x")[0]
        if first.isdigit():
            return float(first)
    return None


def fires() -> Runs:
    norms = {"models": [{"class": "Net", "normalisation": {"BatchNorm1d": 2}}]}
    yield run({"loss": [2.0, 1.0]}, settings={"batch_size": 2}, facts=norms)
    yield run({"loss": [2.0, 1.0]}, facts={**norms, "losses": [{"output_shape": "4x10"}]})


def silent() -> Runs:
    norms = {"models": [{"class": "Net", "normalisation": {"BatchNorm2d": 2}}]}
    yield run({"loss": [2.0, 1.0]}, settings={"batch_size": 32}, facts=norms)
    layer = {"models": [{"class": "Net", "normalisation": {"LayerNorm": 2}}]}
    yield run({"loss": [2.0, 1.0]}, settings={"batch_size": 1}, facts=layer)
