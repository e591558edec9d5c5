"""What becomes of the weights over several checkpoints of one training."""

import numpy as np

from traindx.core.facts import facts, number
from traindx.evidence.detector import Cases, Detected, Detector, Finding, Place, Run, Skipped
from traindx.evidence.detectors._number_text import percent, text
from traindx.evidence.detectors._weights import checkpoint, matrices_of, rows_of


@Detector("Weights shrink away", needs=("fact:moved",), family="weight_size")
def weights_shrank(
    run: Run,
    *,
    max_left: float = 0.1,
    max_left_if_normalised: float = 1e-3,
    max_gain: float = 0.15,
) -> Detected:
    """A layer's weights shrink towards nothing from checkpoint to checkpoint.

    Compares the norms of the weight matrices of the first and the last checkpoint. Seen when a layer has
    {max_left:%} or less of its norm left, its gain has come down to {max_gain} or less (initialisations give
    0.3 to 1.5), and it does not come back in the later half of the checkpoints: decay outweighs the gradient
    there, or no gradient arrives.

    Silent about embeddings, adapters, layers that are being pruned (their weights become 0 one by one), and,
    down to {max_left_if_normalised:%}, models with normalisations, behind which the scale is free.
    """
    rows = {row["name"]: row for row in matrices_of(run, embeddings=False)}
    left = {
        name: after / before
        for row in facts(run.facts.get("moved"))
        if (name := str(row["name"])) in rows
        and (before := number(row, "norm_before"))
        and (after := number(row, "norm_after")) is not None
    }
    if not left:
        return Skipped("two checkpoints with weight matrices in common")
    normalised = any(row["kind"] in ("norm", "norm_variance") for row in rows_of(run))
    most = max_left_if_normalised if normalised else max_left
    faded = [
        name
        for name, share in left.items()
        if share <= most
        and rows[name]["gain"] <= max_gain
        and rows[name]["zero_share"] < 0.5
        and "lora" not in name.lower()
        and _stays(run, name, 2 * most)
    ]
    if not faded:
        return None
    worst = min(faded, key=lambda name: left[name])
    typical = float(np.median(list(left.values())))
    return Finding(
        text=f"The weights of {worst} have shrunk to {percent(left[worst])} of their norm between the first "
        f"and the last checkpoint (a gain of {text(rows[worst]['gain'])}); the typical one of {len(left)} "
        f"matrices has {percent(typical)}.",
        symptom="silent_defect",
        severity="medium",
        numbers={"left": left[worst], "layers": len(faded), "layers_all": len(left)},
        places=tuple(Place(layer=rows[name]["layer"]) for name in faded[:3]),
    )


def _stays(run: Run, name: str, most: float) -> bool:
    """Whether the norm is this share of the first one throughout the later half of the checkpoints."""
    series = run.series.get(f"weight_norm/{name}")
    norms = series.values[np.isfinite(series.values)] if series is not None else np.empty(0)
    return len(norms) < 3 or bool((norms[len(norms) // 2 :] <= most * norms[0]).all())


def _film(left: float, **row: object) -> Run:
    moved = [{"name": "0.weight", "matrix": True, "norm_before": 5.0, "norm_after": 5.0 * left}]
    moved.append({"name": "2.weight", "matrix": True, "norm_before": 5.0, "norm_after": 6.0})
    return checkpoint({"0.weight": {"gain": left * 0.6, **row}, "2.weight": {}}, moved=moved)


def cases() -> Cases:
    yield from weights_shrank.fires(_film(0.01))
    yield from weights_shrank.silent(_film(0.5), _film(0.05, gain=0.4), _film(0.05, zero_share=0.9))
