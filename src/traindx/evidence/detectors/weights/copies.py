"""A second set of the model's weights in one checkpoint."""

from traindx.evidence.detector import (
    Cases,
    Detected,
    Detector,
    Fact,
    Finding,
    Place,
    Run,
    Skipped,
    facts,
    number,
)
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.detectors._weights import checkpoint


@Detector("Copy of the weights out of scale", needs=("fact:copies",), family="weight_copies")
def copy_out_of_scale(
    run: Run, *, max_ratio: float = 0.6, min_cosine: float = 0.8, most_apart: float = 2.0
) -> Detected:
    """The second copy of the weights in a checkpoint is the first one, but many times smaller.

    Compares two parts of a checkpoint whose matrices have the same names and shapes (`model.*`, `ema.*`).
    Seen when the matrices agree in direction (a cosine of {min_cosine} or more), while all of them, within a
    factor of {most_apart}, have {max_ratio} or less of the norm. An average that was started at 0 and not
    divided by 1 - decay^steps does that: evaluated or exported, it gives outputs that are far too small.

    Silent about averages as they should be, whose norms are a little smaller since noise averages out, about
    master copies, and about parts that merely have the same shapes: towers, teachers, moments.
    """
    pairs = [pair for pair in facts(run.facts.get("copies")) if number(pair, "ratio") is not None]
    if not pairs:
        return Skipped("two sets of the model's weights")
    for pair in pairs:
        low, ratio, high, cosine = (
            number(pair, key) or 0.0 for key in ("ratio_low", "ratio", "ratio_high", "cosine")
        )
        small, large = str(pair["second"]), str(pair["first"])
        if ratio > 1:
            low, ratio, high, small, large = 1 / high, 1 / ratio, 1 / low, large, small
        if low <= 0 or cosine < min_cosine or high > max_ratio or high > most_apart * low:
            continue
        return Finding(
            text=f"The weights in `{small}` are those in `{large}` at {percent(ratio)} of their size, in all "
            f"{pair['matrices']} matrices alike: an average that started at 0 and was not corrected for it.",
            symptom="silent_defect",
            severity="high",
            numbers={"ratio": ratio, "cosine": cosine},
            places=(Place(layer=small),),
        )
    return None


def _pair(ratio: float, cosine: float, apart: float = 1.02) -> list[Fact]:
    sizes = {"ratio_low": ratio / apart, "ratio": ratio, "ratio_high": ratio * apart, "cosine": cosine}
    return [{"first": "model", "second": "ema", "matrices": 6, **sizes}]


def cases() -> Cases:
    rows: dict[str, dict[str, object]] = {"model.a.weight": {}, "ema.a.weight": {}}
    yield from copy_out_of_scale.fires(
        checkpoint(rows, copies=_pair(0.03, 0.99)), checkpoint(rows, copies=_pair(30.0, 0.99))
    )
    yield from copy_out_of_scale.silent(
        checkpoint(rows, copies=_pair(0.96, 0.99)),
        checkpoint(rows, copies=_pair(0.1, 0.02)),
        checkpoint(rows, copies=_pair(0.3, 0.9, 4.0)),
    )
